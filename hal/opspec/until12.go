package opspec

import (
	"fmt"
	"slices"

	"github.com/nnsoc/nnsoc/hal/nn"
)

// ranksUntil12 demands one of the ranks of input 0, as far as it is known.
func ranksUntil12(ranks ...int) func(*Args) error {
	return func(a *Args) error {
		r := len(a.View.Operands[a.Op.Inputs[0]].Dimensions)
		if r == 0 || slices.Contains(ranks, r) {
			return nil
		}
		return fmt.Errorf("%s: rank %d of the input needs HAL 1.2", a.Op.Type, r)
	}
}

// productScaleUntil12 demands that the scale of a quantized output is above the scale of
// the products of input and filter.
func productScaleUntil12(a *Args) error {
	x, w, y := a.quantOf(a.Op.Inputs[0]), a.quantOf(a.Op.Inputs[1]), a.quantOf(a.Op.Outputs[0])
	if a.Key != nn.TensorQuant8Asymm || y.Scale > x.Scale*w.Scale {
		return nil
	}
	return fmt.Errorf("%s: output scale %g at most %g x %g needs HAL 1.2", a.Op.Type, y.Scale, x.Scale, w.Scale)
}

// oneQuantUntil12 demands that all quantized inputs that repeat have the quantization of
// the output.
func oneQuantUntil12(a *Args) error {
	if a.Key != nn.TensorQuant8Asymm {
		return nil
	}
	y := a.quantOf(a.Op.Outputs[0])
	for i, x := range a.Variadic() {
		if q := a.quantOf(x); q.Scale != y.Scale || q.ZeroPoint != y.ZeroPoint {
			return fmt.Errorf("%s: input %d has another quantization than the output, which needs HAL 1.2", a.Op.Type, i)
		}
	}
	return nil
}

// zeroPoint0Until12 demands that what a quantized operation pads with is 0.
func zeroPoint0Until12(a *Args) error {
	if z := a.quantOf(a.Op.Inputs[0]).ZeroPoint; a.Key == nn.TensorQuant8Asymm && z != 0 {
		return fmt.Errorf("%s: zero point %d of the input needs HAL 1.2", a.Op.Type, z)
	}
	return nil
}

func (a *Args) quantOf(x uint32) *nn.Operand { return &a.View.Operands[x] }
