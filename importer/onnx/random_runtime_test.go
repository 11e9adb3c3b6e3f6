package onnx_test

import (
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/importer/onnx/onnxfile"
	"github.com/nnsoc/nnsoc/importer/shapetest"
	"github.com/nnsoc/nnsoc/internal/oracle"
)

// subject is the network as the judges take it.
func (n *network) subject() *subject {
	s := &subject{file: n.bytes(), steps: map[string]float64{}}
	for _, v := range n.inputs {
		s.feeds = append(s.feeds, runtimeTensor{v.name, runtimeTypes[v.of], unsigned(v.dims), rawElements(v.of, v.data)})
	}
	for _, v := range n.values {
		s.steps[v.name] = v.step
		s.halves = s.halves || v.of == onnxfile.Float16
	}
	return s
}

// TestOracleRuntimeRandom holds random networks of a few operators against ONNX Runtime: what it runs, the importer opens
// and the reference runs to the same shapes and numbers, or a table says why not. NNSOC_NETWORKS=FROM:COUNT runs others.
func TestOracleRuntimeRandom(t *testing.T) {
	oracle.Need(t, "node")
	judgeNetworks(t, drawNetwork)
}

// TestOracleRuntimeOpen does so for networks whose shapes, axes and positions are inputs as often as constants.
func TestOracleRuntimeOpen(t *testing.T) {
	oracle.Need(t, "node")
	judgeNetworks(t, drawRuntimeNetwork)
}

func judgeNetworks(t *testing.T, draw func(seed uint64) *network) {
	needRuntime(t)
	from, end := shapetest.Seeds(t, 300)
	var nets []*network
	var subjects []*subject
	for seed := from; seed < end; seed++ {
		n := draw(seed)
		nets, subjects = append(nets, n), append(subjects, n.subject())
	}
	refusals, said, compared := map[string]int{}, map[string]int{}, 0
	for k, v := range judge(t, subjects) {
		if v.Said != "" {
			said[v.Said]++
			continue
		}
		compared++
		err := subjects[k].against(v)
		switch {
		case err == nil:
		case errors.Is(err, errDiffers):
			t.Errorf("network %d: %v\n%s", from+uint64(k), err, nets[k])
		default:
			refusals[err.Error()]++
			t.Logf("network %d: %v\n%s", from+uint64(k), err, nets[k])
		}
	}
	for _, reason := range slices.Sorted(maps.Keys(refusals)) {
		t.Logf("refused %d times: %s", refusals[reason], reason)
	}
	for _, reason := range slices.Sorted(maps.Keys(said)) {
		t.Logf("ONNX Runtime: %d times: %s", said[reason], reason)
	}
	t.Logf("%d networks compared, %d that ONNX Runtime does not run", compared, len(nets)-compared)
}
