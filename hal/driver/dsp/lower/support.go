package lower

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/driver/dsp/layout"
	"github.com/nnsoc/nnsoc/hal/driver/dsp/step"
	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/nn"
)

// What is supported is what lowers: support queries lower one operation after the other by
// itself, with inputs from nowhere, and throw the steps away.

// Lowers lowers operation i by itself, and returns why it cannot be lowered. A DEQUANTIZE and
// its QUANTIZE are one table.
func (l *Lowering) Lowers(i int) error {
	op := &l.graph.Operations[i]
	if err := l.alone(i); err != nil {
		return err
	}
	if op.Type != nn.OpDequantize {
		return nil
	}
	for j := range l.graph.Operations {
		if user := &l.graph.Operations[j]; user.Type == nn.OpQuantize && l.graph.Input(user) == op.Outputs[0] {
			if err := l.alone(j); err != nil {
				return fmt.Errorf("its QUANTIZE is not supported: %w", err)
			}
		}
	}
	return nil
}

// alone lowers operation i with inputs from nowhere.
func (l *Lowering) alone(i int) error {
	op := &l.graph.Operations[i]
	l.op, l.list, l.Consts = l.graph.Origin[i], step.List{}, nil
	l.forget()
	for _, x := range op.Inputs {
		if o := &l.graph.Operands[x]; carried(o.Type) && o.Known() && o.Lifetime != nn.NoValue && !o.IsConst() {
			if isBytes(o.Type) {
				l.values[x] = l.NewTensor("", layout.ShapeOf(o.Dimensions), 0, zeroOf(o))
				continue
			}
			l.clients[x] = l.denseTensor(x)
		}
	}
	if op.Type == nn.OpQuantize {
		if from, ok := dequantized(l.graph, op); ok {
			o := &l.graph.Operands[from]
			l.values[from] = l.NewTensor("", layout.ShapeOf(o.Dimensions), 0, zeroOf(o))
		}
	}
	return l.operation(op)
}

// pairs reports why an operation is not half of such a table.
func pairs(g *graph.Graph, op *nn.Operation) error {
	if op.Type == nn.OpDequantize {
		return onlyRequantizes(g, op)
	}
	if _, ok := dequantized(g, op); !ok {
		return onePair.Broken("input 0 is %s", g.Operands[g.Input(op)].Type)
	}
	return nil
}
