package randgraph

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/importer/modpy"
	"github.com/nnsoc/nnsoc/importer/vectors"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
)

// TestSpecs: a written specification is read back as the same model with the
// same values, for every variant and for graphs.
func TestSpecs(t *testing.T) {
	var cases []*Case
	for i, v := range Variants() {
		r := rand.New(rand.NewPCG(5, uint64(i)))
		b := newBuilder(Standard(), &kinds[0])
		for try := 0; try < maxTries && !b.add(v, &source{rng: r}); try++ {
		}
		cases = append(cases, b.finish())
	}
	g := require.V(NewGenerator(2, nil))(t)
	for i := 3; i < 100; i += 4 {
		c := require.V(g.Case(i, nil))(t)
		cases = append(cases, c)
	}
	for _, c := range cases {
		var b strings.Builder
		require.NoError(t, WriteSpec(&b, c, c.Name), c.Variants)
		f, err := modpy.Parse("V1_3/find.mod.py", []byte(b.String()))
		if err != nil {
			t.Errorf("%v: %v\n%.2000s", c.Variants, err, b.String())
			continue
		}
		want := require.V(Vector(c))(t)
		if len(f.Cases) != 1 {
			t.Errorf("%v: %d cases", c.Variants, len(f.Cases))
			continue
		}
		if what := differ(want, f.Cases[0]); what != "" {
			t.Errorf("%v: %s differs\n%.2000s", c.Variants, what, b.String())
		}
	}
}

// differ names the differences between two cases apart from names and the order of operands.
func differ(a, b *vectors.Case) string {
	if b.Model == nil {
		return "a malformed case: " + b.Malformed.Error()
	}
	for k, l := range [2][2][]vectors.Value{{a.Inputs, b.Inputs}, {a.Outputs, b.Outputs}} {
		what := [2]string{"input", "output"}[k]
		if len(l[0]) != len(l[1]) {
			return "the number of " + what + "s"
		}
		for i := range l[0] {
			x, y := l[0][i], l[1][i]
			if x.Type != y.Type || len(x.Dimensions) > 0 && !slices.Equal(x.Dimensions, y.Dimensions) || !bytes.Equal(x.Data, y.Data) {
				return what
			}
		}
	}
	if len(a.Model.Referenced) != len(b.Model.Referenced) {
		return "the number of subgraphs"
	}
	for i := range a.Model.Referenced {
		if what := graphsDiffer(&a.Model.Referenced[i], &b.Model.Referenced[i]); what != "" {
			return "subgraph: " + what
		}
	}
	return graphsDiffer(&a.Model.Main, &b.Model.Main)
}

func graphsDiffer(g, h *nn.Subgraph) string {
	if len(g.Inputs) != len(h.Inputs) || len(g.Outputs) != len(h.Outputs) {
		return "the number of inputs or outputs"
	}
	if len(g.Operations) != len(h.Operations) {
		return "the number of operations"
	}
	for i := range g.Operations {
		p, q := g.Operations[i], h.Operations[i]
		if p.Type != q.Type || len(p.Inputs) != len(q.Inputs) || len(p.Outputs) != len(q.Outputs) {
			return "operation " + p.Type.String()
		}
		for k, x := range append(p.Inputs[:len(p.Inputs):len(p.Inputs)], p.Outputs...) {
			y := append(q.Inputs[:len(q.Inputs):len(q.Inputs)], q.Outputs...)[k]
			if what := operandsDiffer(&g.Operands[x], &h.Operands[y]); what != "" {
				return "operand of " + p.Type.String() + ": " + what
			}
		}
	}
	return ""
}

func operandsDiffer(o, p *nn.Operand) string {
	known := o.Known()
	switch {
	case o.Type != p.Type:
		return "type"
	case o.Lifetime != p.Lifetime:
		return "lifetime " + o.Lifetime.String() + " " + p.Lifetime.String()
	case known && len(o.Dimensions) > 0 && !slices.Equal(o.Dimensions, p.Dimensions):
		return "dimensions"
	case o.Scale != p.Scale || o.ZeroPoint != p.ZeroPoint:
		return "quantization"
	case o.IsConst() && !bytes.Equal(o.Data, p.Data):
		return "data"
	case (o.Channel == nil) != (p.Channel == nil):
		return "channel quantization"
	}
	if o.Channel != nil {
		if o.Channel.Dim != p.Channel.Dim || len(o.Channel.Scales) != len(p.Channel.Scales) {
			return "channel quantization"
		}
		for i, s := range o.Channel.Scales {
			if s != p.Channel.Scales[i] {
				return "channel scale"
			}
		}
	}
	return ""
}
