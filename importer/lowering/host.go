package lowering

import (
	"slices"

	"github.com/nnsoc/nnsoc/nn"
)

// Host adds an operation of nn.HostExtension and returns its outputs, whose types and shapes, as far as they are known,
// are those of outs. An input None is omitted.
func (g *Graph) Host(op nn.OperationType, outs []nn.Operand, attributes []int64, in ...uint32) []uint32 {
	g.Check(g.budget.Operation())
	if len(attributes) == 0 {
		attributes = []int64{0}
	}
	o := nn.Operation{Type: op}
	for _, x := range in {
		if x == None {
			x = g.NoValue(nn.TensorFloat32)
		}
		o.Inputs = append(o.Inputs, x)
	}
	o.Inputs = append(o.Inputs, g.Int32Tensor(attributes...))
	for _, x := range outs {
		x.Lifetime, x.Data, x.Channel, x.Name = nn.TemporaryVariable, nil, nil, ""
		y := g.Add(x)
		if p := g.Operand(y); p.Known() {
			g.Spend(p.Bytes())
		}
		o.Outputs = append(o.Outputs, y)
	}
	g.Sub.Operations = append(g.Sub.Operations, o)
	return slices.Clone(o.Outputs)
}
