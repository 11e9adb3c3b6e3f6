package gpu

import (
	"testing"

	"github.com/nnsoc/nnsoc/testvectors/randgraph"
)

// TestRandomGraphs: random models of all operations have the reference's results, integers and
// quantized values to the bit.
func TestRandomGraphs(t *testing.T) {
	o := randgraph.Options{Seed: 26, Count: 600, Exact: true, Functional: true}
	if testing.Short() {
		o.Count = 100
	}
	r, err := randgraph.Run(newDevice(t), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Failures {
		t.Errorf("%+v", f)
	}
	if r.Passed < o.Count*9/10 {
		t.Errorf("%d of %d models ran", r.Passed, o.Count)
	}
}
