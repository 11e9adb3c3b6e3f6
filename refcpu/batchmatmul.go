package refcpu

import (
	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
)

// prepareBatchMatmul is BATCH_MATMUL. Sums run over the depth in ascending
// order; TENSOR_INT32 wraps around.
func prepareBatchMatmul(v opspec.View, op *nn.Operation) (kern, error) {
	m, err := v.BatchMatmul(op)
	if err != nil {
		return nil, err
	}
	const grain = 1 << 14 // multiply-accumulates worth a thread
	rows, step := m.Batch*m.Rows, 1+grain/(m.Depth*m.Cols)
	switch {
	case isFloat(m.Type):
		return func(x *run) error {
			a, b := x.floats(m.A, &x.shared), x.floats(m.B, &x.shared)
			out, done := x.floatsOut(m.Output, &x.shared)
			x.parallel(rows, step, func(_, lo, hi int) {
				for r := lo; r < hi; r++ {
					productRow(&m, r, out[r*m.Cols:(r+1)*m.Cols], a, b, addRows, dotFloat)
				}
			})
			done()
			return nil
		}, nil
	case m.Type == nn.TensorInt32:
		return func(x *run) error {
			a, b, out := x.int32s(m.A), x.int32s(m.B), x.int32s(m.Output)
			x.parallel(rows, step, func(_, lo, hi int) {
				for r := lo; r < hi; r++ {
					productRow(&m, r, out[r*m.Cols:(r+1)*m.Cols], a, b, addRowsInt, dotInt)
				}
			})
			return nil
		}, nil
	}
	q, err := m.Quant(v)
	if err != nil {
		return nil, err
	}
	mult := q.Multiplier(0)
	return func(x *run) error {
		a, b := x.centred(m.A, q.InZero), x.centred(m.B, q.FilterZero)
		out := x.bytes(m.Output)
		x.parallel(rows, step, func(worker, lo, hi int) {
			sums := x.arenas[worker].ints(m.Cols)
			for r := lo; r < hi; r++ {
				productRow(&m, r, sums, a, b, addRowsInt, dotInt)
				for k, s := range sums {
					out[r*m.Cols+k] = byte(min(max(mult.Apply(s)+q.OutZero, q.Lo), q.Hi))
				}
			}
		})
		return nil
	}, nil
}

// centred is an 8-bit quantized operand without its zero point.
func (x *run) centred(i uint32, zero int32) []int32 {
	t, in := x.view.Operands[i].Type, x.bytes(i)
	out := x.shared.ints(len(in))
	for k, b := range in {
		out[k] = quantOf(t, b) - zero
	}
	return out
}

// productRow computes row r of all batches: dst = sum over k of a[k] * b[k].
func productRow[T float32 | int32](m *opspec.BatchMatmul, r int, dst, a, b []T, add func(dst, b, a []T, step, n int), dot func(a, b []T, step int) T) {
	batch, row := r/m.Rows, r%m.Rows
	b = b[batch*m.Depth*m.Cols : (batch+1)*m.Depth*m.Cols]
	a = a[batch*m.Rows*m.Depth : (batch+1)*m.Rows*m.Depth]
	at, step := row*m.Depth, 1
	if m.AdjA {
		at, step = row, m.Rows
	}
	if m.AdjB {
		for c := range dst {
			dst[c] = dot(a[at:], b[c*m.Depth:(c+1)*m.Depth], step)
		}
		return
	}
	clear(dst)
	add(dst, b, a[at:], step, m.Depth)
}
