package family

import (
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/launch"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/lower"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// lowerBatchMatmul lowers BATCH_MATMUL: of bytes as dot products of rows with
// transposed columns, of words a column of results per lane.
func lowerBatchMatmul(l *lower.Lowering, _ *nn.Operation, m opspec.BatchMatmul) {
	var in [2]*layout.Tensor
	for i, x := range [2]uint32{m.A, m.B} {
		in[i] = l.Flat(x)
	}
	if m.Type == nn.TensorInt32 {
		matmulWords(l, &m, in[0], in[1])
		return
	}
	q := try.V(m.Quant(l.View()))
	zeroA, zeroB := lower.ZeroOf(&l.Graph.Operands[m.A]), lower.ZeroOf(&l.Graph.Operands[m.B])
	a := matrixRows(l, in[0], m.Batch, m.Rows, m.Depth, m.AdjA, zeroA)
	b := matrixRows(l, in[1], m.Batch, m.Cols, m.Depth, !m.AdjB, zeroB)
	width := layout.RoundUp(m.Depth, layout.VectorBytes)
	rows := m.Batch * m.Rows
	acc, bias := l.NewFlat("accumulators", rows*m.Cols, 4), l.NewFlat("no bias", m.Cols, 4)
	l.FillFlat(bias, 0)
	l.Add("dot", []*layout.Tensor{a, b, bias}, []*layout.Tensor{acc}, launch.MatrixDot{Rows: rows, A: a, Width: width, B: b, Op: m, Bias: bias, Acc: acc, ZeroA: zeroA, ZeroB: zeroB})
	rq := hvx.NewRequant(q.Mult, q.OutZero, q.Lo, q.Hi, lower.UnsignedBias(l.Graph.Operands[m.Output].Type))
	rescale(l, l.FlatResult(m.Output), acc, &rq, rows*m.Cols)
}

// matrixRows lays out matrices of bytes with their rows on vectors, filled with
// the zero point; transposed ones are stored by columns.
func matrixRows(l *lower.Lowering, in *layout.Tensor, batch, rows, depth int, transposed bool, zero int32) *layout.Tensor {
	width := layout.RoundUp(depth, layout.VectorBytes)
	n := int64(batch) * int64(rows) * int64(width)
	maxBytes.Refuse(n > layout.MaxArena, "%d for %d rows of %d values", n, batch*rows, depth)
	out := l.NewFlat(in.Name+" as rows", batch*rows*width, 1)
	l.FillFlat(out, uint32(zero)*hvx.Ones)
	list := []launch.Dim{{N: batch, Src: rows * depth, Dst: rows * width}, {N: rows, Src: depth, Dst: width}, {N: depth, Src: 1, Dst: 1}}
	if transposed {
		list[1].Src, list[2].Src = 1, rows
	}
	l.MoveFlat("rows", out, in, 1, list, 0, 0)
	return out
}

// matmulWords multiplies matrices of words, modulo 2^32.
func matmulWords(l *lower.Lowering, m *opspec.BatchMatmul, a, b *layout.Tensor) {
	pitch := layout.RoundUp(4*m.Cols, layout.VectorBytes)
	n := int64(m.Batch) * int64(max(m.Depth, m.Rows)) * int64(pitch)
	maxBytes.Refuse(n > layout.MaxArena, "%d for matrices of %d columns", n, m.Cols)
	// The second matrix by rows, each on a vector.
	right := l.NewFlat(b.Name+" as rows", m.Batch*m.Depth*pitch, 1)
	list := []launch.Dim{{N: m.Batch, Src: 4 * m.Cols * m.Depth, Dst: m.Depth * pitch}, {N: m.Depth, Src: 4 * m.Cols, Dst: pitch}, {N: m.Cols, Src: 4, Dst: 4}}
	if m.AdjB {
		list[1].Src, list[2].Src = 4, 4*m.Depth
	}
	l.MoveFlat("rows", right, b, 4, list, 0, 0)
	rows := m.Batch * m.Rows
	out := l.NewFlat("products", rows*pitch, 1)
	l.Add("matmul", []*layout.Tensor{a, right}, []*layout.Tensor{out}, launch.MatmulWords{Rows: rows, Op: m, Pitch: pitch, A: a, Right: right, Out: out})
	l.Move("result", l.FlatResult(m.Output), out, rows, func(put func(to, from, n int)) {
		for r := range rows {
			put(r*4*m.Cols, r*pitch, 4*m.Cols)
		}
	})
}

// rescale requantizes n words to bytes.
func rescale(l *lower.Lowering, out, acc *layout.Tensor, rq *hvx.Requant, n int) {
	kind := rq.Kind()
	steps := layout.CeilDiv(n, layout.VectorBytes)
	knownWeights.Refuse(kind.PerChannel && n > layout.MaxConst/64, "%d values", n)
	l.Add("rescale", []*layout.Tensor{acc}, []*layout.Tensor{out}, launch.Rescale{Kind: kind, Rq: rq, Steps: steps, Acc: acc, Out: out})
}
