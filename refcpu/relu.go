package refcpu

import (
	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
)

// prepareRelu is RELU, RELU1 and RELU6: a clamp in the input's quantization.
func prepareRelu(v opspec.View, op *nn.Operation) (kern, error) {
	u, err := v.Unary(op)
	if err != nil {
		return nil, err
	}
	act := opspec.UnaryActivation(op.Type)
	if isFloat(u.Type) {
		lo, hi := opspec.FloatActRange(act)
		return unaryFloat(u, func(x float32) float32 { return clampF(x, lo, hi) }), nil
	}
	in := &v.Operands[u.Input]
	lo, hi := opspec.ActRange(act, in.Type, in.Scale, in.ZeroPoint)
	t := new([256]byte)
	for i := range t {
		t[i] = byte(min(max(quantOf(in.Type, byte(i)), lo), hi))
	}
	return unaryTable(u, t), nil
}
