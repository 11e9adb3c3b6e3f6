package dsp

import (
	"encoding/binary"
	"fmt"

	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
	"github.com/nnsoc/nnsoc/isa/build"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// lowerPack lowers PACK: inputs side by side along a new axis.
func lowerPack(l *lowering, op *nn.Operation) error {
	c, err := l.view.Pack(op)
	if err != nil {
		return err
	}
	size, row, before := l.sizeOf(c.Output), 0, 0
	for _, n := range c.Sizes {
		row += n * size
	}
	out := l.flatResult(c.Output)
	for i, x := range c.Inputs {
		in, err := l.flat(x)
		if err != nil {
			return err
		}
		at, n := before, c.Sizes[i]*size
		before += n
		if n == 0 {
			continue
		}
		err = l.move("pack", out, in, c.Outer, func(put func(to, from, n int)) {
			for k := range c.Outer {
				put(k*row+at, k*n, n)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// lowerMirrorPad lowers MIRROR_PAD: in each row of the result the input's row is
// one run and what mirrors it an element each.
func lowerMirrorPad(l *lowering, op *nn.Operation) error {
	p, err := l.view.MirrorPad(op)
	if err != nil {
		return err
	}
	in, err := l.flat(p.Input)
	if err != nil {
		return err
	}
	last, size := len(p.Dims)-1, l.sizeOf(p.Input)
	n, width, before := int(p.In[last]), int(p.Dims[last]), p.Before[last]
	rows := int(nn.Elements(p.Dims)) / width
	return l.move("mirror", l.flatResult(p.Output), in, rows*(width-n+1), func(put func(to, from, n int)) {
		for row := range rows {
			from, rest, stride := 0, row, n
			for d := last - 1; d >= 0; d-- {
				from += p.Source(d, rest%int(p.Dims[d])) * stride
				rest /= int(p.Dims[d])
				stride *= int(p.In[d])
			}
			to := row * width
			for i := range width {
				switch {
				case i == before:
					put((to+i)*size, from*size, n*size)
				case i < before || i >= before+n:
					put((to+i)*size, (from+p.Source(last, i))*size, size)
				}
			}
		}
	})
}

// lowerDensify lowers DENSIFY. The places of the values follow from its lists,
// which are parameters.
func lowerDensify(l *lowering, op *nn.Operation) error {
	d, err := l.view.Densify(op)
	if err != nil {
		return err
	}
	in, err := l.flat(d.Values)
	if err != nil {
		return err
	}
	n := nn.Elements(d.Dims)
	if n > maxPositions {
		return fmt.Errorf("shape %v: at most %d elements", d.Dims, maxPositions)
	}
	for _, v := range d.Levels {
		for _, x := range [2]uint32{v.Segments, v.Indices} {
			if x == opspec.None {
				continue
			}
			if _, err := l.view.Data(x); err != nil {
				return err
			}
		}
	}
	o, size := &l.graph.Operands[d.Values], l.sizeOf(d.Values)
	from := make([]int32, n) // 1 + value of each place
	pieces := 0
	err = d.Walk(func(x uint32) []int32 {
		data := l.graph.Operands[x].Data
		list := make([]int32, len(data)/4)
		for i := range list {
			list[i] = int32(binary.LittleEndian.Uint32(data[4*i:]))
		}
		return list
	}, in.bytes()/size, func(value, at int) {
		from[at] = int32(value + 1)
		pieces++
	})
	if err != nil {
		return err
	}
	fill := uint32(uint16(o.ZeroPoint)) * 0x10001
	if size == 1 {
		fill = uint32(byte(o.ZeroPoint)) * ones
		if signedBytes(o.Type) {
			fill ^= 0x80 * ones
		}
	}
	out := l.flatResult(d.Output)
	l.fillFlat(out, fill)
	return l.move("densify", out, in, pieces, func(put func(to, from, n int)) {
		for at := 0; at < len(from); at++ {
			if from[at] == 0 {
				continue
			}
			n := 1
			for at+n < len(from) && from[at+n] == from[at]+int32(n) {
				n++
			}
			put(at*size, int(from[at]-1)*size, n*size)
			at += n - 1
		}
	})
}

// lowerRank lowers RANK: a constant, which the program stores.
func lowerRank(l *lowering, op *nn.Operation) error {
	rank, err := l.view.Rank(op)
	if err != nil {
		return err
	}
	l.fillFlat(l.flatResult(op.Outputs[0]), uint32(rank))
	return nil
}

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
	l.addStep("dot", []*tensor{a, b, bias}, []*tensor{acc}, func(l *lowering, s *step) error {
		var table []uint32
		for r := range rows {
			table = append(table, a.addr+uint32(r*width), b.addr+uint32(r/m.Rows*m.Cols*width), bias.addr, acc.addr+uint32(4*r*m.Cols), uint32(m.Cols))
		}
		kern := dotKernel{width / vecBytes}
		code, err := l.kernel(kern.name(), kern.generate)
		if err != nil {
			return err
		}
		l.launchTable(s, code, table, dotWords, splatHalf(zeroA), splatHalf(zeroB))
		return nil
	})
	rq := newRequant(q.Mult, q.OutZero, q.Lo, q.Hi, unsignedBias(l.graph.Operands[m.Output].Type))
	return l.rescale(l.flatResult(m.Output), acc, &rq, rows*m.Cols)
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
	l.addStep("matmul", []*tensor{a, right}, []*tensor{out}, func(l *lowering, s *step) error {
		kern, err := l.kernel("matmul_words", generateMatmulWords)
		if err != nil {
			return err
		}
		var table []uint32
		for r := range rows {
			batch, row := r/m.Rows, r%m.Rows
			at, step := (batch*m.Rows+row)*m.Depth, 1
			if m.AdjA {
				at, step = batch*m.Rows*m.Depth+row, m.Rows
			}
			for v := 0; v < pitch; v += vecBytes {
				table = append(table, a.addr+uint32(4*at), uint32(4*step), right.addr+uint32(batch*m.Depth*pitch+v),
					uint32(pitch), uint32(m.Depth), out.addr+uint32(r*pitch+v))
			}
		}
		l.launchTable(s, kern, table, matmulEntry)
		return nil
	})
	return l.move("result", l.flatResult(m.Output), out, rows, func(put func(to, from, n int)) {
		for r := range rows {
			put(r*4*m.Cols, r*pitch, 4*m.Cols)
		}
	})
}

// matmulEntry is the words of an entry of the kernel below: the first element
// of a row and the distance of the next, a vector of columns, the distance of the
// rows, their number, the result.
const matmulEntry = 6

// generateMatmulWords writes the kernel that adds up rows of words times the
// words of another row. Arguments: table, entries.
func generateMatmulWords(a *asm) {
	in := a.args("table", "entries")
	table, entries := in[0], in[1]
	a.repeat(entries, func() {
		x, step := a.word(table, 0, "x"), a.word(table, 1, "step")
		y, pitch, depth := a.word(table, 2, "y"), a.word(table, 3, "pitch"), a.word(table, 4, "depth")
		out := a.word(table, 5, "out")
		a.bump(table, 4*matmulEntry)
		sum := a.v("sum")
		a.op(hexagon.V6_vassign, sum, a.zero())
		a.loop0(depth, func() {
			e := a.r("element")
			a.op(hexagon.L2_loadri_io, e, x, 0).Loads(aliasIn)
			a.op(hexagon.A2_add, x, x, step)
			row := a.vload(y, 0, aliasIn, "row")
			a.op(hexagon.A2_add, y, y, pitch)
			a.op(hexagon.V6_vaddw, sum, sum, a.mulWords(a.splat(e, "element"), row))
		})
		a.vstore(out, 0, sum, aliasOut)
	})
	a.ret()
}

// mulWords is the low half of 32-bit products: the crossed product of low and
// high halves, shifted, and all of x times the low half of y.
func (a *asm) mulWords(x, y build.Reg) build.Reg {
	p := a.v("product")
	a.op(hexagon.V6_vmpyieoh, p, x, y)
	a.op(hexagon.V6_vmpyiewuh_acc, p, x, y)
	return p
}
