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
	Refusal         string // why the device refuses the expansion, "" if it does not
}

// Expands reports whether the pass has expanded the operation.
func (c *Choice) Expands() bool { return c.Refusal == "" && c.Expanded < c.Legal }

// Single returns the graph of one operation of g, which reads what is not constant from outside.
// ok is false where a parameter or a shape is not known.
func (g *Graph) Single(op *nn.Operation) (alone *Graph, ok bool) {
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
