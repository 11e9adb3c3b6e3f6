package pass

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/testvectors/randgraph"
)

// variants are what passes see of a graph: all of it, not the shapes of results, those of inputs neither, not the values of
// small parameters, or flags with the opposite value.
var variants = []struct {
	name   string
	forget func(g *graph.Graph)
}{
	{"all known", func(*graph.Graph) {}},
	{"results unknown", func(g *graph.Graph) { forgetShapes(g, nn.TemporaryVariable, nn.SubgraphOutput) }},
	{"shapes unknown", func(g *graph.Graph) { forgetShapes(g, nn.TemporaryVariable, nn.SubgraphOutput, nn.SubgraphInput) }},
	{"parameters unknown", func(g *graph.Graph) {
		for x := range g.Operands {
			if o := &g.Operands[x]; o.IsConst() && (o.Type.IsScalar() || o.Type == nn.TensorInt32) {
				o.Lifetime, o.Data = nn.SubgraphInput, nil
				g.Inputs = append(g.Inputs, uint32(x))
			}
		}
	}},
	{"flags turned over", func(g *graph.Graph) {
		for x := range g.Operands {
			if o := &g.Operands[x]; o.IsConst() && o.Type == nn.Bool {
				o.Data = []byte{1 - o.Data[0]}
			}
		}
	}},
}

func forgetShapes(g *graph.Graph, of ...nn.Lifetime) {
	for x := range g.Operands {
		if o := &g.Operands[x]; !o.Type.IsScalar() && slices.Contains(of, o.Lifetime) {
			o.Dimensions = make([]uint32, len(o.Dimensions))
		}
	}
}

// TestChanges runs every pass on the graphs of all others, as they are and with things that are not known before an
// execution: testdata/changes.txt lists the passes that change each. Every other leaves it as it is, what is left holds,
// and a second run of a pass finds nothing more to do.
func TestChanges(t *testing.T) {
	files := require.V(filepath.Glob("testdata/*.txtar"))(t)
	var out strings.Builder
	for _, path := range files {
		a := require.V(txtar.ParseFile(path))(t)
		for _, v := range variants {
			var names []string
			for i := range passes {
				p := &passes[i]
				g := require.V(graph.Parse(file(a, "before")))(t)
				v.forget(g)
				before := text(t, g)
				at := fmt.Sprintf("%s, %s: %s", filepath.Base(path), v.name, p.Name)
				changed, err := p.Run(g)
				if err != nil {
					names = append(names, p.Name+": "+err.Error())
					continue
				}
				require.Report(t, g.Check(), at)
				if after := text(t, g); changed != (after != before) {
					t.Errorf("%s: changed = %v:\n%s", at, changed, cmp.Diff(before, after))
				}
				if changed {
					names = append(names, p.Name)
					if again, err := p.Run(g); again || err != nil {
						t.Errorf("%s: it changes the graph again, %v", at, err)
					}
				}
			}
			fmt.Fprintf(&out, "%s, %s: %s\n", strings.TrimSuffix(filepath.Base(path), ".txtar"), v.name, strings.Join(names, ", "))
		}
	}
	golden(t, "changes.txt", out.String())
}

// golden holds a text against a file in testdata, or with -update writes it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o666))
	}
	want := require.File(t, path)
	require.Equal(t, string(want), got)
}

// expanded are the operations that passes replace.
var expanded = regexp.MustCompile("^(GROUPED|TRANSPOSE_CONV|BATCH_MATMUL|RNN|LSTM|SVDF|UNIDIR|BIDIR|L2|LOCAL|INSTANCE|RESIZE|MIRROR|SPLIT|PACK|PAD_V2|PRELU|ELU|HARD|LESS|NOT_E)")

// TestRandomGraphs: random graphs, every other one of operations that passes replace, are rewritten as in testdata/random.txt:
// by variant a checksum of their texts after each pass alone and after all in sequence, and of their stages, and the passes
// that change the graph of which all is known.
func TestRandomGraphs(t *testing.T) {
	random := require.V(randgraph.NewGenerator(21, nil))(t)
	some := require.V(randgraph.NewGenerator(22, expanded))(t)
	var out strings.Builder
	for i := range 300 {
		c := require.V([]*randgraph.Generator{random, some}[i%2].Case(i/2, nil))(t)
		fmt.Fprintf(&out, "%s:", c.Name)
		var names []string
		for _, v := range variants {
			texts := crc32.NewIEEE()
			for k := range len(passes) + 1 {
				list := NewPipeline(PassNames()...)
				if k > 0 {
					list = NewPipeline(passes[k-1].Name)
				}
				g := graph.New(c.Model)
				v.forget(g)
				whole := k == 0 // a pass alone that changes nothing has no text
				err := list.Run(g, func(pass string, changed bool, g *graph.Graph) {
					if whole = whole || changed; changed && k == 0 && v.name == variants[0].name {
						names = append(names, pass)
					}
				})
				fmt.Fprintln(texts, k, err)
				if whole {
					require.NoError(t, g.Text(texts, 64))
				}
				if k == 0 && err == nil {
					writeStages(t, texts, g, c)
				}
			}
			fmt.Fprintf(&out, " %08x", texts.Sum32())
		}
		fmt.Fprintf(&out, " %s\n", strings.Join(names, ", "))
	}
	golden(t, "random.txt", out.String())
}

// writeStages prints each operation of a graph alone, its stages, and what they become with values of a model.
func writeStages(t *testing.T, w io.Writer, g *graph.Graph, c *randgraph.Case) {
	const most = 8 // bytes of constants that texts have
	var whole, again strings.Builder
	require.NoError(t, g.Text(&whole, most))
	read := require.V(graph.Outline(whole.String()))(t)
	require.NoError(t, read.Text(&again, most))
	if again.String() != whole.String() {
		t.Errorf("%s: %s", c.Name, cmp.Diff(whole.String(), again.String()))
	}
	for i := range min(len(g.Operations), 8) {
		deferred, err := g.Deferred(&g.Operations[i])
		fmt.Fprintln(w, deferred, err)
		if alone, ok := g.Single(&g.Operations[i]); ok {
			require.NoError(t, alone.Text(w, 0))
		}
	}
	stages, err := g.Stages()
	fmt.Fprintln(w, err)
	for _, s := range stages {
		fmt.Fprintln(w, s.Control, s.Ready())
		require.NoError(t, s.Graph.Text(w, 0))
		values, dims := make([][]byte, len(s.Graph.Inputs)), make([][]uint32, len(s.Graph.Inputs))
		for k, x := range s.Graph.Inputs {
			if int(x) < len(c.Model.Main.Operands) {
				values[k], dims[k] = c.Model.Main.Operands[x].Data, c.Model.Main.Operands[x].Dimensions
			}
			if at := slices.Index(c.Model.Main.Inputs, x); at >= 0 {
				values[k] = c.Inputs[at]
			}
		}
		fmt.Fprintf(w, "%x\n", s.Key(values, dims))
		if bound, err := s.Bind(values, dims); err == nil {
			require.NoError(t, bound.Text(w, 0))
		}
		clear(values)
		fmt.Fprintf(w, "%x\n", s.Key(values, dims))
	}
}

// TestAxisOf: an axis is found again by its extent and that of the following axes.
func TestAxisOf(t *testing.T) {
	for n := range 81 {
		dims := []uint32{1 + uint32(n)%3, 1 + uint32(n)/3%3, 1 + uint32(n)/9%3, 1 + uint32(n)/27}
		inner := 1
		for axis := len(dims) - 1; axis >= 0; axis-- {
			got := axisOf(&opspec.Along{Dims: dims, Depth: int(dims[axis]), Inner: inner})
			if dims[got] != dims[axis] || int(nn.Elements(dims[got+1:])) != inner {
				t.Errorf("axis %d of %v: %d", axis, dims, got)
			}
			inner *= int(dims[axis])
		}
	}
}

// TestLimits: a pass replaces an operation at its limit, and leaves one above it.
func TestLimits(t *testing.T) {
	for _, c := range []struct {
		pass  string
		graph string // of a number <n>
		most  int
	}{
		{ExpandJoins, `%0 SUBGRAPH_INPUT TENSOR_QUANT8_ASYMM [<n>] scale 0.5 zero 128
%1 CONSTANT_COPY TENSOR_INT32 [1 2] data 0000000001000000
%2 CONSTANT_COPY INT32 data 07000000
%3 SUBGRAPH_OUTPUT TENSOR_QUANT8_ASYMM [<n+1>] scale 0.5 zero 128
PAD_V2 %0 %1 %2 -> %3 ; of 0
inputs %0
outputs %3
`, maxSurrounding - 1},
		{ExpandGroupedConv, `%0 SUBGRAPH_INPUT TENSOR_QUANT8_ASYMM [1 1 1 <n>] scale 0.5 zero 128
%1 SUBGRAPH_INPUT TENSOR_QUANT8_ASYMM [<n> 1 1 1] scale 0.5 zero 128
%2 SUBGRAPH_INPUT TENSOR_INT32 [<n>] scale 0.25
%3 CONSTANT_COPY INT32 data 01000000
%4 CONSTANT_COPY INT32 data <data>
%5 CONSTANT_COPY INT32 data 00000000
%6 CONSTANT_COPY BOOL data 00
%7 SUBGRAPH_OUTPUT TENSOR_QUANT8_ASYMM [1 1 1 <n>] scale 1 zero 100
GROUPED_CONV_2D %0 %1 %2 %3 %3 %3 %4 %5 %6 -> %7 ; of 0
inputs %0 %1 %2
outputs %7
`, maxPieces},
	} {
		for _, more := range []int{0, 1} {
			n := c.most + more
			data := hex.EncodeToString(binary.LittleEndian.AppendUint32(nil, uint32(n)))
			g := require.V(graph.Parse(strings.NewReplacer("<n>", fmt.Sprint(n), "<n+1>", fmt.Sprint(n+1), "<data>", data).Replace(c.graph)))(t)
			if changed, err := NewPipeline(c.pass)[0].Run(g); changed != (more == 0) || err != nil {
				t.Errorf("%s of %d: changed %v, %v", c.pass, n, changed, err)
			}
		}
	}
}
