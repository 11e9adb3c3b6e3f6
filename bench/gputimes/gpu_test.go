package gputimes

import (
	"math"
	"testing"

	"github.com/nnsoc/nnsoc/bench/zoo"
	"github.com/nnsoc/nnsoc/hal/validate"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
)

// TestNetworks: every network of the table is in the zoo, and its kernels are a part of it.
func TestNetworks(t *testing.T) {
	list := require.V(Networks())(t)
	require.Same(t, 13, len(list), "networks")
	for _, n := range list {
		if _, ok := zoo.Find(n.Name); !ok {
			t.Errorf("the zoo has no %s", n.Name)
		}
		if !(n.KernelsMs > 0 && n.KernelsMs < n.Ms) {
			t.Errorf("%s: kernels of %g ms in %g ms", n.Name, n.KernelsMs, n.Ms)
		}
		if r := n.Row(2*n.Ms, n.KernelsMs/2); r.Ratio != 2 || r.KernelsRatio != 0.5 {
			t.Errorf("%s: ratios %g and %g, want 2 and 0.5", n.Name, r.Ratio, r.KernelsRatio)
		}
	}
}

func TestSpread(t *testing.T) {
	s := SpreadOf([]float64{0.5, 0.75, 1, 1.25, 1.5})
	require.Check(t, s.Least == 0.5 && s.Most == 1.5 && math.Abs(s.Median-0.875) <= 1e-9 && s.Worst == 1, "%+v", s)
	if s := SpreadOf([]float64{0.9, 1.5}); s.Worst != 0.5 {
		t.Errorf("%+v", s)
	}
}

// TestModels: the model of each measured kernel is valid, and the operation that counts is the
// kernel's.
func TestModels(t *testing.T) {
	list := require.V(Kernels())(t)
	types := map[string]nn.OperationType{"conv": nn.OpConv2D, "grouped": nn.OpGroupedConv2D, "depthwise": nn.OpDepthwiseConv2D, "average_pool": nn.OpAveragePool2D,
		"max_pool": nn.OpMaxPool2D, "mean": nn.OpMean, "fully_connected": nn.OpFullyConnected}
	for i := 0; i < len(list); i += 7 {
		k := &list[i]
		m := k.model()
		if err := validate.Model(m); err != nil {
			t.Errorf("%+v: %v", k, err)
			continue
		}
		if op := m.Main.Operations[measured].Type; op != types[k.Operation] {
			t.Errorf("%+v: operation %d is %s", k, measured, op)
		}
	}
}
