package lower

import (
	"fmt"
	"strings"

	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/hal/driver/dsp/layout"
	"github.com/nnsoc/nnsoc/hal/driver/dsp/step"
	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/nn"
)

// What is supported is what lowers: support queries lower one operation after the other by
// itself, with inputs from nowhere, and throw the steps away.

// Has returns why no lowering takes operation i, whatever its parameters are.
func (l *Lowering) Has(i int) error {
	op := &l.graph.Operations[i]
	if base.Choose(l.first, l.view, op) != nil {
		return nil
	}
	if lowerings[op.Type] == nil {
		return fmt.Errorf("%s has no lowering on this DSP", op.Type)
	}
	if err := checkTypes(l.graph, op); err != nil {
		return about(op, err)
	}
	if shift := l.view.OutputShift(op); shift > maxOutputShift {
		return fmt.Errorf("%s: sums are shifted left by %d for the output scale, at most %d on this DSP", op.Type, shift, maxOutputShift)
	}
	return nil
}

// maxOutputShift bounds the left shift of 32-bit sums by a multiplier above 1: vector
// shifts take their count modulo 32.
const maxOutputShift = 30

// Lower lowers operation i by itself, and returns why it cannot be lowered. A DEQUANTIZE and
// its QUANTIZE are one table.
func (l *Lowering) Lower(i int) error {
	op := &l.graph.Operations[i]
	if err := l.alone(i); err != nil {
		return about(op, err)
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

// about prefixes an error with the name of the operation unless it has it.
func about(op *nn.Operation, err error) error {
	if err == nil || strings.HasPrefix(err.Error(), op.Type.String()+":") {
		return err
	}
	return fmt.Errorf("%s: %w", op.Type, err)
}

// checkTypes rejects what this device cannot compute on before shapes and
// values are looked at.
func checkTypes(g *graph.Graph, op *nn.Operation) error {
	a, err := g.View().Bind(op)
	if err != nil {
		return err
	}
	if whole := a.Key == nn.TensorInt32 || a.Key == nn.TensorBool8; whole && !integers[op.Type] {
		return fmt.Errorf("%s has no lowering on this DSP", a.Key)
	}
	for k, list := range [2][]uint32{op.Inputs, op.Outputs} {
		for i, x := range list {
			o := &g.Operands[x]
			if o.Type == nn.TensorFloat32 && floatEdge(op.Type, k) {
				continue
			}
			if o.Type.IsScalar() || storable(o.Type) || k != 1 && o.Lifetime == nn.NoValue {
				continue
			}
			if op.Type == nn.OpQuantize && k == 0 || op.Type == nn.OpDequantize && k == 1 {
				if err := pairs(g, op); err != nil {
					return err
				}
				continue // the two are one table
			}
			return fmt.Errorf("%s %d is %s: this DSP computes on integers", [2]string{"input", "output"}[k], i, o.Type)
		}
	}
	return nil
}

// pairs reports why an operation is not half of such a table.
func pairs(g *graph.Graph, op *nn.Operation) error {
	if op.Type == nn.OpDequantize {
		return onlyRequantizes(g, op)
	}
	if _, ok := dequantized(g, op); !ok {
		return fmt.Errorf("input 0 is %s, of a value that is not only dequantized", g.Operands[g.Input(op)].Type)
	}
	return nil
}
