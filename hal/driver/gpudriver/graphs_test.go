package gpudriver

import (
	"regexp"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/testvectors/randgraph"
)

// TestRandomGraphs: random models of all operations have the reference's results, integers and
// quantized values to the bit.
func TestRandomGraphs(t *testing.T) {
	o := randgraph.Options{Seed: 26, Count: 600, Exact: true, Functional: true}
	if testing.Short() {
		o.Count = 100
	}
	r := require.V(randgraph.Run(newDevice(t), o))(t)
	for _, f := range r.Failures {
		t.Errorf("%+v", f)
	}
	if r.Passed < o.Count*9/10 {
		t.Errorf("%d of %d models ran", r.Passed, o.Count)
	}
}

// TestRandomFixedCells: LSTM cells in fixed point with any of their optional parts are the
// reference's to the bit.
func TestRandomFixedCells(t *testing.T) {
	names := regexp.MustCompile("^QUANTIZED_(16BIT_)?LSTM$")
	count := 120
	if testing.Short() {
		count = 40
	}
	r := require.V(randgraph.Run(newDevice(t), randgraph.Options{Seed: 31, Count: count, Operations: names, Exact: true, Functional: true}))(t)
	for _, f := range r.Failures {
		t.Errorf("%+v", f)
	}
	require.Same(t, count, r.Passed, "models that ran and passed")
}
