package lower

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/step"
	"github.com/nnsoc/nnsoc/nn"
)

// What is supported is what lowers: support queries lower one operation after the other by
// itself, with inputs from nowhere, and throw the steps away.

// Lowers lowers operation i by itself, and returns why it cannot be lowered. A DEQUANTIZE and
// its QUANTIZE are one table.
func (l *Lowering) Lowers(i int) error {
	op := &l.Graph.Operations[i]
	if err := l.lowerOne(i); err != nil {
		return err
	}
	if op.Type != nn.OpDequantize {
		return nil
	}
	for j := range l.Graph.Operations {
		if user := &l.Graph.Operations[j]; user.Type == nn.OpQuantize && l.Graph.Input(user) == op.Outputs[0] {
			if err := l.lowerOne(j); err != nil {
				return fmt.Errorf("its QUANTIZE is not supported: %w", err)
			}
		}
	}
	return nil
}

// lowerOne lowers operation i by itself; nothing produces its inputs.
func (l *Lowering) lowerOne(i int) error {
	op := &l.Graph.Operations[i]
	l.op, l.list, l.Consts = l.Graph.Origin[i], step.List{}, nil
	l.forget()
	for _, x := range op.Inputs {
		if o := &l.Graph.Operands[x]; carried(o.Type) && o.Known() && o.Lifetime != nn.NoValue && !o.IsConst() {
			if isBytes(o.Type) {
				l.Values[x] = l.NewTensor("", layout.ShapeOf(o.Dimensions), 0, ZeroOf(o))
				continue
			}
			l.Clients[x] = l.denseTensor(x)
		}
	}
	if op.Type == nn.OpQuantize {
		if from, ok := Dequantized(l.Graph, op); ok {
			o := &l.Graph.Operands[from]
			l.Values[from] = l.NewTensor("", layout.ShapeOf(o.Dimensions), 0, ZeroOf(o))
		}
	}
	return l.operation(op)
}
