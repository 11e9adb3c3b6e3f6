package graph_test

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nnsoc/nnsoc/hal/driver/cpu"
	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/importer/vectors"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/testvectors"
	"github.com/nnsoc/nnsoc/testvectors/randgraph"
)

// TestPassesKeepResults runs models on the reference CPU before and after all passes:
// a sample of the corpus, which has images in NCHW order and constant operands, and
// random graphs, which have activations behind other operations.
func TestPassesKeepResults(t *testing.T) {
	changes := map[string]int{}
	random, err := randgraph.NewGenerator(7, regexp.MustCompile("^(ADD|SUB|MUL|CONV_2D|FULLY_CONNECTED|AVERAGE_POOL_2D|TRANSPOSE|RESHAPE|RELU.*)$"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 60 {
		c, err := random.Case(4*i+3, nil)
		if err != nil {
			t.Fatal(err)
		}
		keepsResult(t, fmt.Sprintf("random graph %d", i), c.Model, c.Inputs, changes)
	}
	for _, name := range []string{graph.ExplicitPadding, graph.FuseActivations} {
		if changes[name] == 0 {
			t.Errorf("%q changed none of the random graphs", name)
		}
	}
	files := testvectors.Files()
	if len(files) == 0 {
		t.Skip("skipped: needs shared data")
	}
	for k := 0; k < len(files); k += 12 {
		f, err := vectors.Load(files[k])
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range f.Cases {
			if c.Model == nil || c.ExpectFailure || i%3 != 0 {
				continue
			}
			var inputs [][]byte
			for _, v := range c.Inputs {
				inputs = append(inputs, v.Data)
			}
			keepsResult(t, c.Name, c.Model, inputs, changes)
		}
	}
	for _, name := range []string{graph.ConvertNCHW, graph.FoldConstants} {
		if changes[name] == 0 {
			t.Errorf("%q changed none of the models", name)
		}
	}
}

// keepsResult runs a model before and after all passes and counts those that changed
// it.
func keepsResult(t *testing.T, name string, m *nn.Model, inputs [][]byte, changes map[string]int) {
	t.Helper()
	g := graph.New(m)
	err := graph.NewPipeline(graph.PassNames()...).Run(g, func(pass string, changed bool, g *graph.Graph) {
		if err := g.Check(); err != nil {
			t.Errorf("%s: after %s: %v", name, pass, err)
		}
		if changed {
			changes[pass]++
		}
	})
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	want, err := cpu.Reference(m, inputs)
	if err != nil {
		return // values that an operation refuses when it executes
	}
	got, err := cpu.Reference(&nn.Model{Main: g.Subgraph, Referenced: m.Referenced, Relaxed: g.Relaxed}, inputs)
	if err != nil {
		t.Errorf("%s: after the passes: %v", name, err)
	} else if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s: the passes change the result:\n%s", name, d)
	}
}
