package refcpu

import (
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/refcpu/internal/gemm"
	"github.com/nnsoc/nnsoc/refcpu/internal/kernel"
)

// denseKernels are the matrix products.
var denseKernels = []operation{
	{op: nn.OpFullyConnected, prepare: read(prepareFullyConnected)},
	{op: nn.OpBatchMatmul, prepare: read(prepareBatchMatmul)},
}

// prepareFullyConnected is FULLY_CONNECTED: a plain matrix product.
func prepareFullyConnected(v opspec.View, _ *nn.Operation, f opspec.FullyConnected) (Kernel, error) {
	if isFloat(f.Type) {
		return lazy(v, func(v opspec.View) (*gemm.FloatWeights, error) {
			return floatWeightsOf(v, f.Weights, f.Bias, f.Depth, f.Units, f.Act)
		}, func(x *Run, w *gemm.FloatWeights) error {
			in := x.floats(f.Input, &x.shared)
			out, done := x.floatsOut(f.Output, &x.shared)
			x.Parallel(f.Batch, 4, func(worker, lo, hi int) {
				w.Product(out, in, nil, &x.arenas[worker], lo, hi)
			})
			done()
			return nil
		})
	}
	q, err := f.Quant(v)
	if err != nil {
		return nil, err
	}
	return lazy(v, func(v opspec.View) (*gemm.QuantWeights, error) {
		return quantWeightsOf(v, f.Weights, f.Bias, f.Type, f.Depth, f.Units, &q)
	}, func(x *Run, w *gemm.QuantWeights) error {
		in := x.unsigned(f.Input, w.XFlip)
		var gather gemm.GatherRow
		if f.Depth%4 != 0 {
			gather = func(dst []byte, r int) {
				copy(dst, in[r*f.Depth:(r+1)*f.Depth])
				clear(dst[f.Depth:])
			}
		}
		x.Parallel(f.Batch, 4, func(worker, lo, hi int) {
			w.Product(x.Bytes(f.Output), in, f.Depth, gather, &x.arenas[worker], lo, hi, x.prog.roundOnce)
		})
		return nil
	})
}

// prepareBatchMatmul is BATCH_MATMUL. Sums run over the depth in ascending
// order; TENSOR_INT32 wraps around.
func prepareBatchMatmul(v opspec.View, _ *nn.Operation, m opspec.BatchMatmul) (Kernel, error) {
	const grain = 1 << 14 // multiply-accumulates worth a thread
	rows, step := m.Batch*m.Rows, 1+grain/(m.Depth*m.Cols)
	switch {
	case isFloat(m.Type):
		return func(x *Run) error {
			a, b := x.floats(m.A, &x.shared), x.floats(m.B, &x.shared)
			out, done := x.floatsOut(m.Output, &x.shared)
			x.Parallel(rows, step, func(_, lo, hi int) {
				for r := lo; r < hi; r++ {
					productRow(&m, r, out[r*m.Cols:(r+1)*m.Cols], a, b, kernel.AddRows, kernel.DotFloat)
				}
			})
			done()
			return nil
		}, nil
	case m.Type == nn.TensorInt32:
		return func(x *Run) error {
			a, b, out := x.int32s(m.A), x.int32s(m.B), x.int32s(m.Output)
			x.Parallel(rows, step, func(_, lo, hi int) {
				for r := lo; r < hi; r++ {
					productRow(&m, r, out[r*m.Cols:(r+1)*m.Cols], a, b, kernel.AddRowsInt, kernel.DotInt)
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
	return func(x *Run) error {
		a, b := x.centred(m.A, q.InZero), x.centred(m.B, q.FilterZero)
		out := x.Bytes(m.Output)
		x.Parallel(rows, step, func(worker, lo, hi int) {
			sums := x.arenas[worker].Ints(m.Cols)
			for r := lo; r < hi; r++ {
				productRow(&m, r, sums, a, b, kernel.AddRowsInt, kernel.DotInt)
				for k, s := range sums {
					out[r*m.Cols+k] = byte(min(max(mult.Apply(s)+q.OutZero, q.Lo), q.Hi))
				}
			}
		})
		return nil
	}, nil
}

// centred is an 8-bit quantized operand without its zero point.
func (x *Run) centred(i uint32, zero int32) []int32 {
	t, in := x.view.Operands[i].Type, x.Bytes(i)
	out := x.shared.Ints(len(in))
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
