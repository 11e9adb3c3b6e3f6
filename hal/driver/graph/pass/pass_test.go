package pass

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/internal/require"
)

var update = flag.Bool("update", false, "write the graphs after the passes to testdata")

// TestPasses runs one pass per file of testdata: the graph before, the name of the
// pass as the file's comment, the graph after. A graph without "after" is not changed.
func TestPasses(t *testing.T) {
	files := require.V(filepath.Glob("testdata/*.txtar"))(t)
	seen := map[string]bool{}
	for _, path := range files {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			a := require.V(txtar.ParseFile(path))(t)
			name, _, _ := strings.Cut(string(a.Comment), "\n")
			seen[name] = true
			before, after := file(a, "before"), file(a, "after")
			g := require.V(graph.Parse(before))(t)
			if got := text(t, g); got != before {
				t.Errorf("Text(Parse(before)):\n%s", cmp.Diff(before, got))
			}
			source := g.Clone()
			changed := require.V(NewPipeline(name)[0].Run(g))(t)
			require.Report(t, g.Check())
			require.Equal(t, before, text(t, source), "the pass wrote to a clone of its graph")
			got := text(t, g)
			if changed != (got != before) {
				t.Errorf("the pass says changed = %v", changed)
			}
			if *update {
				a.Files = []txtar.File{{Name: "before", Data: []byte(before)}}
				if got != before {
					a.Files = append(a.Files, txtar.File{Name: "after", Data: []byte(got)})
				}
				require.NoError(t, os.WriteFile(path, txtar.Format(a), 0o666))
				return
			}
			if after == "" {
				after = before
			}
			require.Equal(t, after, got, "after", name)
		})
	}
	for _, p := range passes {
		if !seen[p.Name] {
			t.Errorf("no file of testdata runs %q", p.Name)
		}
	}
}

func file(a *txtar.Archive, name string) string {
	for _, f := range a.Files {
		if f.Name == name {
			return string(f.Data)
		}
	}
	return ""
}

func text(t *testing.T, g *graph.Graph) string {
	var b strings.Builder
	require.NoError(t, g.Text(&b, -1))
	return b.String()
}

// TestPassOrder checks the table against the declared order of its passes.
func TestPassOrder(t *testing.T) {
	at := map[string]int{}
	for i, p := range passes {
		if _, twice := at[p.Name]; twice {
			t.Errorf("%q is in the table twice", p.Name)
		}
		at[p.Name] = i
	}
	for i, p := range passes {
		for _, before := range p.After {
			if j, ok := at[before]; !ok || j >= i {
				t.Errorf("%q must run after %q", p.Name, before)
			}
		}
	}
}

// FuzzParse runs all passes on graphs that Parse accepts: each leaves a valid graph.
func FuzzParse(f *testing.F) {
	f.Add("%0 SUBGRAPH_INPUT TENSOR_QUANT8_ASYMM [1 2] scale 0.5 zero 128\n%1 SUBGRAPH_OUTPUT TENSOR_QUANT8_ASYMM [1 2] scale 0.5 zero 128\nRELU %0 -> %1 ; of 0\ninputs %0\noutputs %1\n")
	f.Add("%0 CONSTANT_COPY TENSOR_QUANT8_SYMM_PER_CHANNEL [2] channel 0 [1 2] data 0102\n")
	f.Add("%0 SUBGRAPH_INPUT TENSOR_QUANT8_CODEBOOK [2] extension 0000803f00000040\n%1 SUBGRAPH_OUTPUT TENSOR_QUANT8_ASYMM [2] scale 0.5\nDECODE_CODEBOOK %0 -> %1 ; of 0\ninputs %0\noutputs %1\n")
	f.Fuzz(func(t *testing.T, s string) {
		g, err := graph.Parse(s)
		if err != nil {
			return
		}
		for _, p := range passes {
			if _, err := p.Run(g); err != nil {
				return
			}
			require.NoError(t, g.Check(), p.Name)
		}
	})
}
