package lower

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
	"github.com/nnsoc/nnsoc/nn"
)

// clients are the tensors that exchange data with the client for model inputs or
// outputs: where the storage differs from the operand's type, a tensor of that type
// and a conversion.
func (l *Lowering) clients(operands []uint32, input bool) ([]*layout.Tensor, error) {
	var out []*layout.Tensor
	for _, x := range operands {
		o := &l.graph.Operands[x]
		if input && (o.IsConst() || o.Lifetime == nn.NoValue) { // a parameter, or left out
			out = append(out, nil)
			continue
		}
		if !o.Known() && !l.view.Final || o.Type.IsScalar() {
			return nil, knownShape.Broken("operand %d, an input or output, is %s of shape %v", x, o.Type, o.Dimensions)
		}
		t, err := l.Value(x)
		if err != nil {
			return nil, fmt.Errorf("operand %d: %w", x, err)
		}
		if o.Type == nn.TensorFloat32 && t.Elem == layout.F16 {
			c := l.Temporary(layout.F32, t.N)
			l.op = l.neighbour(x, input)
			if input {
				l.Convert(c, t)
			} else {
				l.Convert(t, c)
			}
			t = c
		}
		out = append(out, t)
	}
	return out, nil
}

// neighbour is the operation that a conversion is charged to: the first reader of a
// model input, the writer of an output.
func (l *Lowering) neighbour(x uint32, input bool) int {
	for i := range l.graph.Operations {
		list := l.graph.Operations[i].Outputs
		if input {
			list = l.graph.Operations[i].Inputs
		}
		for _, y := range list {
			if x == y {
				return l.graph.Origin[i]
			}
		}
	}
	return 0
}
