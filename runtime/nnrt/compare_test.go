package nnrt

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/compare"
	"github.com/nnsoc/nnsoc/runtime/registry"
)

// TestCompare: a wrong element of each kind in the result of an execution is
// reported.
func TestCompare(t *testing.T) {
	r := require.V(registry.New(testCPU(), &picky{name: "x"}))(t)
	m := model()
	c := require.V(Compile(r, m, "x", CompileOptions{}))(t)
	run := func() *Result {
		res := require.V(c.Execute([][]byte{input()}, ExecuteOptions{}))(t)
		return res
	}
	right := run()
	expected := []compare.Tensor{{Type: nn.TensorFloat32, Dimensions: []uint32{4}, Data: right.Outputs[0]}}
	set := func(v float64) func(*Result) {
		return func(r *Result) { binary.LittleEndian.PutUint32(r.Outputs[0][4:], math.Float32bits(float32(v))) }
	}
	for name, fault := range map[string]func(*Result){
		"finite":   set(7),
		"nan":      set(math.NaN()),
		"infinity": set(math.Inf(-1)),
		"missing":  func(r *Result) { r.Outputs[0] = r.Outputs[0][:12] },
		"extra":    func(r *Result) { r.Outputs[0] = append(r.Outputs[0], 0, 0, 0, 0) },
		"shape":    func(r *Result) { r.Dimensions[0] = []uint32{2, 2} },
		"none":     func(r *Result) { r.Outputs = nil },
		"another":  func(r *Result) { r.Outputs = append(r.Outputs, r.Outputs[0]) },
	} {
		res := run()
		require.NoError(t, compare.Err(Compare(m, expected, res)), "without a fault")
		fault(res)
		require.Check(t, compare.Err(Compare(m, expected, res)) != nil, "%s: not reported", name)
	}
}
