package refcpu

import (
	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
)

// prepareMul is MUL.
func prepareMul(v opspec.View, op *nn.Operation) (kern, error) {
	e, err := v.Elementwise(op)
	if err != nil {
		return nil, err
	}
	switch {
	case isFloat(e.Type):
		return binaryFloat(e, func(a, b float32) float32 { return a * b }), nil
	case e.Type == nn.TensorInt32:
		return binaryInt(e, func(a, b int32) int32 { return a * b }), nil
	}
	q, err := e.MulQuant(v)
	if err != nil {
		return nil, err
	}
	return func(x *run) error {
		a, b, out := x.bytes(e.A), x.bytes(e.B), x.bytes(e.Output)
		binaryOp(x, &e, out, a, b, func(a, b byte) byte {
			return byte(q.Apply(quantOf(e.Type, a), quantOf(e.Type, b)))
		})
		return nil
	}, nil
}
