package refcpu

import (
	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
)

// prepareMean is MEAN. Quantized: the integer sum divided by the count,
// truncated.
func prepareMean(v opspec.View, op *nn.Operation) (kern, error) {
	m, err := v.Mean(op)
	if err != nil {
		return nil, err
	}
	if isFloat(m.Type) {
		return func(x *run) error {
			in := x.floats(m.Input, &x.shared)
			out, done := x.floatsOut(m.Output, &x.shared)
			clear(out)
			reduceIndex(&m, func(o, i int) { out[o] += in[i] })
			for i := range out {
				out[i] /= float32(m.Count)
			}
			done()
			return nil
		}, nil
	}
	return func(x *run) error {
		in, out := x.bytes(m.Input), x.bytes(m.Output)
		sums := make([]int64, len(out))
		reduceIndex(&m, func(o, i int) { sums[o] += int64(quantOf(m.Type, in[i])) })
		for i, s := range sums {
			out[i] = byte(s / int64(m.Count))
		}
		return nil
	}, nil
}

// reduceIndex calls f for each input element, in order, with the output
// element it is reduced into.
func reduceIndex(m *opspec.Mean, f func(out, in int)) {
	rank := len(m.In)
	if rank == 0 {
		f(0, 0)
		return
	}
	stride := make([]int, rank) // of the output, 0 along reduced dimensions
	n := 1
	for d := rank - 1; d >= 0; d-- {
		if !m.Reduce[d] {
			stride[d] = n
			n *= int(m.In[d])
		}
	}
	total := int(nn.Elements(m.In))
	index := make([]int, rank)
	out := 0
	for i := range total {
		f(out, i)
		for d := rank - 1; d >= 0; d-- {
			index[d]++
			out += stride[d]
			if index[d] < int(m.In[d]) {
				break
			}
			out -= stride[d] * index[d]
			index[d] = 0
		}
	}
}
