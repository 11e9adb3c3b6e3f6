package refcpu

import (
	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
)

// prepareQuantize is QUANTIZE: round(x / scale) + zero point, clamped.
func prepareQuantize(v opspec.View, op *nn.Operation) (kern, error) {
	u, err := v.Unary(op)
	if err != nil {
		return nil, err
	}
	o := &v.Operands[u.Output]
	lo, hi := opspec.QuantLimits(o.Type)
	scale, zero := o.Scale, o.ZeroPoint
	return func(x *run) error {
		in, out := x.floats(u.Input, &x.shared), x.bytes(u.Output)
		x.parallel(len(in), 4096, func(_, from, to int) {
			for i := from; i < to; i++ {
				out[i] = byte(opspec.QuantizeValue(in[i], scale, zero, lo, hi))
			}
		})
		return nil
	}, nil
}
