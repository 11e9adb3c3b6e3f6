package lower

import (
	"fmt"

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
	for _, x := range readsOf(l.Graph, op) {
		arrive(l, x)
	}
	return l.operation(op)
}
