package modpy

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/x448/float16"

	"github.com/nnsoc/nnsoc/importer/vectors"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/testvectors/nnapi"
)

// specOf writes a case as a specification that expands to it alone.
type specOf struct {
	strings.Builder
}

// literal is the value of an operand as Python source.
func literal(t nn.OperandType, data []byte) string {
	var out []string
	for size := t.ElementBytes(); size > 0 && len(data) >= size; data = data[size:] {
		f := 0.0
		switch t {
		case nn.Float32, nn.TensorFloat32:
			f = float64(math.Float32frombits(binary.LittleEndian.Uint32(data)))
		case nn.Float16, nn.TensorFloat16:
			f = float64(float16.Frombits(binary.LittleEndian.Uint16(data)).Float32())
		default:
			out = append(out, values(t, data[:size]))
			continue
		}
		switch {
		case math.IsNaN(f) || math.IsInf(f, 0):
			out = append(out, fmt.Sprintf("float('%v')", f))
		case f == 0 && math.Signbit(f):
			out = append(out, "-0.0")
		default:
			out = append(out, fmt.Sprint(f))
		}
	}
	return "[" + strings.Join(out, ", ") + "]"
}

func numbersOfDims(d []uint32) string { return strings.ReplaceAll(fmt.Sprint(d), " ", ", ") }

// graph declares the operands of g and names the model m.
func (s *specOf) graph(g *nn.Subgraph, m string, ignored map[uint32]bool) {
	for i := range g.Operands {
		o := &g.Operands[i]
		scale := fmt.Sprintf("%v, %d", o.Scale, o.ZeroPoint)
		extra := ""
		if c := o.Channel; c != nil {
			var list []string
			for _, v := range c.Scales {
				list = append(list, fmt.Sprint(v))
			}
			extra = fmt.Sprintf(", extraParams=SymmPerChannelQuantParams(%d, [%s])", c.Dim, strings.Join(list, ", "))
		}
		kind := fmt.Sprintf("(%q, %s, %s)", o.Type, numbersOfDims(o.Dimensions), scale)
		v := fmt.Sprintf("%s_%d", m, i)
		switch o.Lifetime {
		case nn.SubgraphInput:
			fmt.Fprintf(s, "%s = Input(%q, %s%s)\n", v, v, kind, extra)
		case nn.SubgraphOutput:
			class := "Output"
			if ignored[uint32(i)] {
				class = "IgnoredOutput"
			}
			fmt.Fprintf(s, "%s = %s(%q, %s%s)\n", v, class, v, kind, extra)
		case nn.TemporaryVariable:
			fmt.Fprintf(s, "%s = Internal(%q, %s%s)\n", v, v, kind, extra)
		case nn.LifetimeSubgraph:
			fmt.Fprintf(s, "%s = SubgraphReference(%q, ref%d)\n", v, v, binary.LittleEndian.Uint32(o.Data))
		case nn.NoValue:
			fmt.Fprintf(s, "%s = Parameter(%q, %s, None%s)\n", v, v, kind, extra)
		default:
			shared := map[bool]string{true: "True", false: "False"}[o.Lifetime == nn.ConstantReference]
			fmt.Fprintf(s, "Configuration.use_shm_for_weights = %s\n", shared)
			fmt.Fprintf(s, "%s = Parameter(%q, %s, %s%s)\n", v, v, kind, literal(o.Type, o.Data), extra)
		}
	}
	list := func(x []uint32) string {
		out := ""
		for _, k := range x {
			out += fmt.Sprintf(", %s_%d", m, k)
		}
		return out
	}
	fmt.Fprintf(s, "%s = Model(%q)\n", m, g.Name)
	for i := range g.Operands {
		fmt.Fprintf(s, "%s.AddOperand(%s_%d)\n", m, m, i)
	}
	for _, op := range g.Operations {
		fmt.Fprintf(s, "%s.Operation(%q%s).To([%s])\n", m, op.Type, list(op.Inputs), strings.TrimPrefix(list(op.Outputs), ", "))
	}
}

func (s *specOf) write(c *vectors.Case) {
	// References are to models that are declared before, so the last are first.
	for i := len(c.Model.Referenced) - 1; i >= 0; i-- {
		s.graph(&c.Model.Referenced[i], fmt.Sprintf("ref%d", i), nil)
	}
	ignored := map[uint32]bool{}
	for i, x := range c.Model.Main.Outputs {
		ignored[x] = c.Outputs[i].Ignored
	}
	s.graph(&c.Model.Main, "main", ignored)
	version := "None"
	if c.MinVersion != "UNKNOWN" {
		version = fmt.Sprintf("%q", c.MinVersion)
	}
	fmt.Fprintf(s, "main.IntroducedIn(%s).RelaxedExecution(%v)\ne = Example({\n", version, map[bool]string{true: "True", false: "False"}[c.Relaxed])
	for i, x := range c.Model.Main.Inputs {
		fmt.Fprintf(s, "  main_%d: %s,\n", x, literal(c.Inputs[i].Type, c.Inputs[i].Data))
	}
	for i, x := range c.Model.Main.Outputs {
		fmt.Fprintf(s, "  main_%d: %s,\n", x, literal(c.Outputs[i].Type, c.Outputs[i].Data))
	}
	s.WriteString("}, model=main)\ne.DisableLifeTimeVariation()\n")
	if c.ExpectFailure {
		s.WriteString("e.ExpectFailure()\n")
	}
	if c.Multinomial != 0 {
		fmt.Fprintf(s, "e.WithMultinomialDistributionTolerance(%v)\n", c.Multinomial)
	}
}

// bare removes the parts that a specification cannot reproduce: the names of operands and cases, and the difference
// between no list and an empty one.
func bare(c *vectors.Case) *vectors.Case {
	d := *c
	d.Name = ""
	m := *c.Model
	m.Name = ""
	graph := func(g nn.Subgraph) nn.Subgraph {
		g.Operands = append([]nn.Operand(nil), g.Operands...)
		for i := range g.Operands {
			g.Operands[i].Name = ""
		}
		return g
	}
	m.Main = graph(m.Main)
	m.Referenced = append([]nn.Subgraph(nil), m.Referenced...)
	for i := range m.Referenced {
		m.Referenced[i] = graph(m.Referenced[i])
	}
	d.Model = &m
	return &d
}

// TestCorpus writes cases of the public corpus as specifications, which must produce the same models and values.
func TestCorpus(t *testing.T) {
	tested := 0
	for n, name := range nnapi.Names() {
		if n%4 != 0 && !strings.Contains(name, "V1_3_cts_only") && !strings.Contains(name, "__while") && !strings.Contains(name, "__if_") {
			continue
		}
		text := require.V(nnapi.Read(name))(t)
		f := require.V(vectors.Read(bytes.NewReader(text)))(t)
		for i, c := range f.Cases {
			if c.Model == nil || i%3 != 0 {
				continue
			}
			var s specOf
			s.write(c)
			g, err := Parse("t.mod.py", []byte(s.String()))
			if err != nil {
				t.Errorf("%s: %v", c.Name, err)
				continue
			}
			if len(g.Cases) != 1 {
				t.Errorf("%s written as a specification gives %d cases", c.Name, len(g.Cases))
				continue
			}
			if diff := cmp.Diff(bare(c), bare(g.Cases[0]), wholeBytes); diff != "" {
				t.Errorf("%s written as a specification (-before +after):\n%s", c.Name, diff)
			}
			tested++
		}
	}
	t.Logf("%d cases", tested)
}

// wholeBytes compares buffers as wholes: they are large.
var wholeBytes = cmp.Comparer(func(a, b []byte) bool { return bytes.Equal(a, b) && (a == nil) == (b == nil) })
