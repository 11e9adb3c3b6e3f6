package refcpu

import (
	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
)

// prepareAdd is ADD. The rescaled terms of a quantized ADD depend on one byte
// each and come from tables.
func prepareAdd(v opspec.View, op *nn.Operation) (kern, error) {
	e, err := v.Elementwise(op)
	if err != nil {
		return nil, err
	}
	switch {
	case isFloat(e.Type):
		return binaryFloat(e, func(a, b float32) float32 { return a + b }), nil
	case e.Type == nn.TensorInt32:
		return binaryInt(e, func(a, b int32) int32 { return a + b }), nil
	}
	return addQuant(v, &e, 1)
}

// addQuant is a quantized ADD, or SUB with a sign of -1.
func addQuant(v opspec.View, e *opspec.Elementwise, sign int32) (kern, error) {
	q, err := e.AddQuant(v)
	if err != nil {
		return nil, err
	}
	var ta, tb [256]int32
	for i := range 256 {
		x := quantOf(e.Type, byte(i))
		ta[i] = q.A.Apply((x - q.ZeroA) << opspec.AddShift)
		tb[i] = sign * q.B.Apply((x-q.ZeroB)<<opspec.AddShift)
	}
	return func(x *run) error {
		a, b, out := x.bytes(e.A), x.bytes(e.B), x.bytes(e.Output)
		x.broadcast(e, func(o, i, j, n, si, sj int) {
			for k := range n {
				s := q.Out.Apply(ta[a[i]]+tb[b[j]]) + q.OutZero
				out[o+k] = byte(min(max(s, q.Lo), q.Hi))
				i += si
				j += sj
			}
		})
		return nil
	}, nil
}
