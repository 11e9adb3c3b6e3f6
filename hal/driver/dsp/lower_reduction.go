package dsp

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/elementwise"
	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/reduction"
	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// lowerReduce lowers REDUCE_MAX, REDUCE_MIN, REDUCE_ALL and REDUCE_ANY of bytes.
func lowerReduce(l *lowering, op *nn.Operation) error {
	m, err := l.view.Mean(op)
	if err != nil {
		return err
	}
	in, err := l.flat(m.Input)
	if err != nil {
		return err
	}
	k, bound, least := reduction.Fold{Op: hexagon.V6_vmaxub}, uint32(255*ones), uint32(0)
	if op.Type == nn.OpReduceMin || op.Type == nn.OpReduceAll {
		k, least = reduction.Fold{Op: hexagon.V6_vminub}, 255*ones
	}
	if m.Type == nn.TensorBool8 {
		bound = ones
	}
	dims, reduced := m.In, m.Reduce
	if rows, count, ok := longRows(dims, reduced); ok {
		if in, err = l.foldRows(k, in, rows, count, least, bound); err != nil {
			return err
		}
		dims, reduced = []uint32{uint32(rows), foldedRow}, []bool{false, true}
	}
	s, err := l.intoSlices(in, dims, reduced, 1)
	if err != nil {
		return err
	}
	l.reductionStep("reduce", k, l.flatResult(m.Output), s, bound)
	return nil
}

// foldedRow is the number of values to which a long row is reduced first.
const foldedRow = 4 * vecBytes

// longRows reports whether a reduction is one of few rows of many elements that
// follow each other.
func longRows(dims []uint32, reduced []bool) (rows, count int, ok bool) {
	rows, count = 1, 1
	for i, n := range dims {
		switch {
		case n == 1:
		case reduced[i]:
			count *= int(n)
		case count > 1:
			return 0, 0, false
		default:
			rows *= int(n)
		}
	}
	return rows, count, rows <= 32 && count > 2*foldedRow
}

// foldRows reduces rows to foldedRow values each; what fills the last ones up does
// not count.
func (l *lowering) foldRows(f reduction.Function, in *tensor, rows, count int, fill, bound uint32) (*tensor, error) {
	sliceCount := ceilDiv(count, foldedRow)
	if pitch := sliceCount * foldedRow; pitch != count {
		if int64(rows)*int64(pitch) > maxArena {
			return nil, fmt.Errorf("%d rows of %d values need too much memory", rows, count)
		}
		whole := l.newFlat(in.name+" filled up", rows*pitch, 1)
		l.fillFlat(whole, fill)
		if err := l.moveFlat("rows", whole, in, 1, []moveDim{{rows, count, pitch}, {count, 1, 1}}, 0, 0); err != nil {
			return nil, err
		}
		in = whole
	}
	out := l.newFlat("folded", rows*foldedRow, 1)
	l.addStep("fold", []*tensor{in}, []*tensor{out}, foldWork{f, sliceCount, rows, in, out, bound})
	return out, nil
}

// foldWork reduces long rows to a few values each.
type foldWork struct {
	f          reduction.Function
	sliceCount int
	rows       int
	in         *tensor
	out        *tensor
	bound      uint32
}

func (w foldWork) Launch(l *launcher, _ rowRange) error {
	kern, err := l.linked(reduction.Slices{F: w.f})
	if err != nil {
		return err
	}
	low, high := rowBox(vecBytes, w.sliceCount, foldedRow)
	var table []uint32
	for row := range w.rows {
		for v := 0; v < foldedRow; v += vecBytes {
			table = append(table, w.in.addr+uint32(row*w.sliceCount*foldedRow+v), w.out.addr+uint32(row*foldedRow+v), uint32(w.sliceCount), foldedRow, low, high)
		}
	}
	l.launchTable(kern, table, reduction.EntryWords, w.bound)
	return nil
}

// wordsOf is a flat value as words, less a constant for bytes.
func (l *lowering) wordsOf(in *tensor, i uint32, zero int32) *tensor {
	if l.sizeOf(i) == 4 {
		return in
	}
	out := l.newFlat(in.name+" as words", in.bytes(), 4)
	l.flatStep("widen", elementwise.WidenWords{}, out, []*tensor{in}, uint32(zero))
	return out
}

// lowerArg lowers ARGMAX and ARGMIN.
func lowerArg(l *lowering, op *nn.Operation) error {
	r, err := l.view.Along(op)
	if err != nil {
		return err
	}
	in, err := l.flat(r.Input)
	if err != nil {
		return err
	}
	size := l.sizeOf(r.Input)
	least := op.Type == nn.OpArgmin
	var k reduction.Function = reduction.ArgBytes{Least: least}
	one := uint32(ones)
	if size == 4 || r.Depth > reduction.MaxIndex {
		in, size = l.wordsOf(in, r.Input, 0), 4
		k, one = reduction.Arg{Least: least}, 1
	}
	s, err := l.intoSlices(in, []uint32{uint32(r.Outer), uint32(r.Depth), uint32(r.Inner)}, []bool{false, true, false}, size)
	if err != nil {
		return err
	}
	l.reductionStep("arg", k, l.flatResult(r.Output), s, one)
	return nil
}

// maxNorm bounds the values of a row of L2_NORMALIZATION: their squares add up
// to less than 2^29, where the inverse root needs no shift to the right first.
const maxNorm = (1<<29 - 1) / (255 * 255)

// lowerNorm lowers L2_NORMALIZATION.
func lowerNorm(l *lowering, op *nn.Operation) error {
	r, err := l.view.Along(op)
	if err != nil {
		return err
	}
	if r.Depth > maxNorm {
		return fmt.Errorf("rows of %d values, at most %d", r.Depth, maxNorm)
	}
	in, err := l.flat(r.Input)
	if err != nil {
		return err
	}
	s, err := l.intoSlices(in, []uint32{uint32(r.Outer), uint32(r.Depth), uint32(r.Inner)}, []bool{false, true, false}, 1)
	if err != nil {
		return err
	}
	scaled := l.newFlat("normalized", s.pitch*s.count, 1)
	// The result's zero point is 128 in stored bytes of either type.
	l.reductionStep("normalize", reduction.Norm{}, scaled, s, hvx.SplatHalfword(zeroOf(&l.graph.Operands[r.Input])), hvx.SplatHalfword(128))
	return l.moveFlat("rows", l.flatResult(r.Output), scaled, 1, []moveDim{
		{r.Outer, r.Inner, r.Depth * r.Inner}, {r.Depth, s.pitch, r.Inner}, {r.Inner, 1, 1}}, 0, 0)
}
