package pass

import (
	"slices"

	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/nn"
)

// Price returns a device's estimates for an operation, by itself and as the pass that
// runs expands it; ok is false where there are none, or where the pass does not change it.
func (l Pipeline) Price(g *graph.Graph, op *nn.Operation, price func(*graph.Graph) (int64, error)) (c graph.Choice, ok bool) {
	c = graph.Choice{Operation: op.Type, Pass: g.Running.Name}
	from := slices.IndexFunc(l, func(p Pass) bool { return p.Name == g.Running.Name })
	for _, expanded := range [...]bool{true, false} {
		alone, ok := g.Single(op)
		if !ok {
			return c, false
		}
		alone.Leaves = func(_ *graph.Graph, _ *nn.Operation, pass string) bool { return expanded && pass == c.Pass }
		if err := l[from:].Bound().Run(alone, nil); err != nil {
			return c, false
		}
		if expanded && len(alone.Operations) == 1 && alone.Operations[0].Type == op.Type {
			return c, false
		}
		cycles, err := price(alone)
		switch {
		case !expanded && err != nil:
			return c, false
		case !expanded:
			c.Legal = cycles
		case err != nil:
			c.Refusal = err.Error()
		default:
			c.Expanded = cycles
		}
	}
	return c, true
}
