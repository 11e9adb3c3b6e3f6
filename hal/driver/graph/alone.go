package graph

import (
	"slices"

	"github.com/nnsoc/nnsoc/nn"
)

// Choice is an operation that a device lowers itself or leaves to a pass, whichever is cheaper.
type Choice struct {
	Origin          int // operation of the model
	Operation       nn.OperationType
	Pass            string
	Legal, Expanded int64  // cycles by the device's cost model
	Refusal         string // why the device does not take what the pass makes, "" if it does
}

// Taken reports whether the pass has expanded the operation.
func (c *Choice) Taken() bool { return c.Refusal == "" && c.Expanded < c.Legal }

// Alone returns the graph of one operation of g, which reads what is not constant from outside.
// ok is false where a parameter or a shape is not known.
func (g *Graph) Alone(op *nn.Operation) (alone *Graph, ok bool) {
	if deferred, err := g.Deferred(op); err != nil || deferred {
		return nil, false
	}
	s := nn.Subgraph{Operands: slices.Clone(g.Operands), Operations: []nn.Operation{*op}, Outputs: slices.Clone(op.Outputs)}
	for _, x := range op.Inputs {
		o := &s.Operands[x]
		if o.IsConst() || o.Lifetime == nn.NoValue || slices.Contains(s.Inputs, x) {
			continue
		}
		if !o.Type.IsScalar() && !o.Known() {
			return nil, false
		}
		o.Lifetime = nn.SubgraphInput
		s.Inputs = append(s.Inputs, x)
	}
	for _, x := range op.Outputs {
		o := &s.Operands[x]
		if !o.Known() {
			return nil, false
		}
		o.Lifetime = nn.SubgraphOutput
	}
	alone = FromSubgraph(&s)
	alone.Table, alone.Relaxed, alone.bound = g.Table, g.Relaxed, true
	return alone, true
}

// Price returns what a device is estimated to take for an operation, by itself and as the pass that
// runs expands it; ok is false where that cannot be told, or where the pass leaves it as it is.
func (g *Graph) Price(op *nn.Operation, passes Pipeline, price func(*Graph) (int64, error)) (c Choice, ok bool) {
	c = Choice{Operation: op.Type, Pass: g.pass.Name}
	from := slices.IndexFunc(passes, func(p Pass) bool { return p.Name == g.pass.Name })
	for _, expanded := range [...]bool{true, false} {
		alone, ok := g.Alone(op)
		if !ok {
			return c, false
		}
		alone.Leaves = func(_ *Graph, _ *nn.Operation, pass string) bool { return expanded && pass == c.Pass }
		if err := passes[from:].Bound().Run(alone, nil); err != nil {
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
