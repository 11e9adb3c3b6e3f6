package refcpu

import (
	"math"

	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
)

// prepareSoftmax is SOFTMAX along one axis.
func prepareSoftmax(v opspec.View, op *nn.Operation) (kern, error) {
	s, err := v.Softmax(op)
	if err != nil {
		return nil, err
	}
	rows := s.Outer * s.Inner
	if isFloat(s.Type) {
		return func(x *run) error {
			in := x.floats(s.Input, &x.shared)
			out, done := x.floatsOut(s.Output, &x.shared)
			x.parallel(rows, 1+1024/max(s.Depth, 1), func(_, lo, hi int) {
				for r := lo; r < hi; r++ {
					at := r/s.Inner*s.Depth*s.Inner + r%s.Inner
					softmaxFloat(out[at:], in[at:], s.Depth, s.Inner, s.Beta)
				}
			})
			done()
			return nil
		}, nil
	}
	q, err := s.Quant(v)
	if err != nil {
		return nil, err
	}
	table := q.ExpTable()
	return func(x *run) error {
		in, out := x.bytes(s.Input), x.bytes(s.Output)
		x.parallel(rows, 1+1024/max(s.Depth, 1), func(_, lo, hi int) {
			for r := lo; r < hi; r++ {
				at := r/s.Inner*s.Depth*s.Inner + r%s.Inner
				softmaxQuant(out[at:], in[at:], s.Depth, s.Inner, s.Type, &q, table)
			}
		})
		return nil
	}, nil
}

func softmaxFloat(out, in []float32, n, step int, beta float32) {
	if n == 0 {
		return
	}
	top := in[0]
	for i := range n {
		top = max(top, in[i*step])
	}
	sum := float32(0)
	for i := range n {
		e := float32(exp(float64((in[i*step] - top) * beta)))
		out[i*step] = e
		sum += e
	}
	for i := range n {
		out[i*step] /= sum
	}
}

func softmaxQuant(out, in []byte, n, step int, t nn.OperandType, q *opspec.SoftmaxQuant, table *[256]int32) {
	if n == 0 {
		return
	}
	top := int32(math.MinInt32)
	for i := range n {
		top = max(top, quantOf(t, in[i*step]))
	}
	sum := int32(0)
	for i := range n {
		sum += opspec.SoftmaxSumTerm(table[top-quantOf(t, in[i*step])])
	}
	scale, shift := opspec.SoftmaxScale(sum)
	for i := range n {
		diff := top - quantOf(t, in[i*step])
		v := q.Lo
		if -diff >= q.DiffMin {
			v = q.Finish(table[diff], scale, shift)
		}
		out[i*step] = byte(v)
	}
}
