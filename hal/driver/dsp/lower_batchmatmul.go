package dsp

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/matmul"
	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
)

// lowerBatchMatmul lowers BATCH_MATMUL: of bytes as dot products of rows with
// transposed columns, of words a column of results per lane.
func lowerBatchMatmul(l *lowering, op *nn.Operation) error {
	m, err := l.view.BatchMatmul(op)
	if err != nil {
		return err
	}
	var in [2]*tensor
	for i, x := range [2]uint32{m.A, m.B} {
		if in[i], err = l.flat(x); err != nil {
			return err
		}
	}
	if m.Type == nn.TensorInt32 {
		return l.matmulWords(&m, in[0], in[1])
	}
	q, err := m.Quant(l.view)
	if err != nil {
		return err
	}
	zeroA, zeroB := zeroOf(&l.graph.Operands[m.A]), zeroOf(&l.graph.Operands[m.B])
	a, err := l.matrixRows(in[0], m.Batch, m.Rows, m.Depth, m.AdjA, zeroA)
	if err != nil {
		return err
	}
	b, err := l.matrixRows(in[1], m.Batch, m.Cols, m.Depth, !m.AdjB, zeroB)
	if err != nil {
		return err
	}
	width := roundUp(m.Depth, vecBytes)
	rows := m.Batch * m.Rows
	acc, bias := l.newFlat("accumulators", rows*m.Cols, 4), l.newFlat("no bias", m.Cols, 4)
	l.fillFlat(bias, 0)
	l.addStep("dot", []*tensor{a, b, bias}, []*tensor{acc}, matrixDotWork{rows, a, width, b, m, bias, acc, zeroA, zeroB})
	rq := hvx.NewRequant(q.Mult, q.OutZero, q.Lo, q.Hi, unsignedBias(l.graph.Operands[m.Output].Type))
	return l.rescale(l.flatResult(m.Output), acc, &rq, rows*m.Cols)
}

// matrixDotWork multiplies rows of bytes of one matrix with rows of another.
type matrixDotWork struct {
	rows  int
	a     *tensor
	width int
	b     *tensor
	m     opspec.BatchMatmul
	bias  *tensor
	acc   *tensor
	zeroA int32
	zeroB int32
}

func (w matrixDotWork) Launch(l *launcher, _ rowRange) error {
	var table []uint32
	for r := range w.rows {
		table = append(table, w.a.addr+uint32(r*w.width), w.b.addr+uint32(r/w.m.Rows*w.m.Cols*w.width), w.bias.addr, w.acc.addr+uint32(4*r*w.m.Cols), uint32(w.m.Cols))
	}
	kern := matmul.Dot{Vectors: w.width / vecBytes}
	code, err := l.linked(kern)
	if err != nil {
		return err
	}
	l.launchTable(code, table, matmul.DotWords, hvx.SplatHalfword(w.zeroA), hvx.SplatHalfword(w.zeroB))
	return nil
}

// matrixRows lays out matrices of bytes with their rows on vectors, filled with
// the zero point; transposed ones are stored by columns.
func (l *lowering) matrixRows(in *tensor, batch, rows, depth int, transposed bool, zero int32) (*tensor, error) {
	width := roundUp(depth, vecBytes)
	if n := int64(batch) * int64(rows) * int64(width); n > maxArena {
		return nil, fmt.Errorf("%d rows of %d values need %d bytes, at most %d", batch*rows, depth, n, maxArena)
	}
	out := l.newFlat(in.name+" as rows", batch*rows*width, 1)
	l.fillFlat(out, uint32(zero)*ones)
	list := []moveDim{{batch, rows * depth, rows * width}, {rows, depth, width}, {depth, 1, 1}}
	if transposed {
		list[1].src, list[2].src = 1, rows
	}
	return out, l.moveFlat("rows", out, in, 1, list, 0, 0)
}

// matmulWords multiplies matrices of words, modulo 2^32.
func (l *lowering) matmulWords(m *opspec.BatchMatmul, a, b *tensor) error {
	pitch := roundUp(4*m.Cols, vecBytes)
	if n := int64(m.Batch) * int64(max(m.Depth, m.Rows)) * int64(pitch); n > maxArena {
		return fmt.Errorf("matrices of %d columns need %d bytes, at most %d", m.Cols, n, maxArena)
	}
	// The second matrix by rows, each on a vector.
	right := l.newFlat(b.name+" as rows", m.Batch*m.Depth*pitch, 1)
	list := []moveDim{{m.Batch, 4 * m.Cols * m.Depth, m.Depth * pitch}, {m.Depth, 4 * m.Cols, pitch}, {m.Cols, 4, 4}}
	if m.AdjB {
		list[1].src, list[2].src = 4, 4*m.Depth
	}
	if err := l.moveFlat("rows", right, b, 4, list, 0, 0); err != nil {
		return err
	}
	rows := m.Batch * m.Rows
	out := l.newFlat("products", rows*pitch, 1)
	l.addStep("matmul", []*tensor{a, right}, []*tensor{out}, matmulWordsWork{rows, m, pitch, a, right, out})
	return l.move("result", l.flatResult(m.Output), out, rows, func(put func(to, from, n int)) {
		for r := range rows {
			put(r*4*m.Cols, r*pitch, 4*m.Cols)
		}
	})
}

// matmulWordsWork multiplies matrices of words.
type matmulWordsWork struct {
	rows  int
	m     *opspec.BatchMatmul
	pitch int
	a     *tensor
	right *tensor
	out   *tensor
}

func (w matmulWordsWork) Launch(l *launcher, _ rowRange) error {
	kern, err := l.linked(matmul.Words{})
	if err != nil {
		return err
	}
	var table []uint32
	for r := range w.rows {
		batch, row := r/w.m.Rows, r%w.m.Rows
		at, step := (batch*w.m.Rows+row)*w.m.Depth, 1
		if w.m.AdjA {
			at, step = batch*w.m.Rows*w.m.Depth+row, w.m.Rows
		}
		for v := 0; v < w.pitch; v += vecBytes {
			table = append(table, w.a.addr+uint32(4*at), uint32(4*step), w.right.addr+uint32(batch*w.m.Depth*w.pitch+v),
				uint32(w.pitch), uint32(w.m.Depth), w.out.addr+uint32(r*w.pitch+v))
		}
	}
	l.launchTable(kern, table, matmul.MatmulEntry)
	return nil
}
