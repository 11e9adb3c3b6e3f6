package dsp

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/elementwise"
	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/reduction"
	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
)

// lowerTopK lowers TOPK_V2: rows in lanes, the next best of each row again and
// again.
func lowerTopK(l *lowering, op *nn.Operation) error {
	t, err := l.view.TopK(op)
	if err != nil {
		return err
	}
	in, err := l.flat(t.Input)
	if err != nil {
		return err
	}
	size := l.sizeOf(t.Input)
	if t.Depth > reduction.MaxIndex && size == 1 { // indexes of two bytes are not enough
		in, size = l.wordsOf(in, t.Input, 0), 4
	}
	s, err := l.intoSlices(in, []uint32{uint32(t.Rows), uint32(t.Depth)}, []bool{false, true}, size)
	if err != nil {
		return err
	}
	wide := s.pitch / size * 4 // from index to index of a row
	if int64(wide)*int64(t.K) > maxArena {
		return fmt.Errorf("%d values of each of %d rows need too much memory", t.K, t.Rows)
	}
	values, indices := l.newFlat("best values", s.pitch*t.K, 1), l.newFlat("best indexes", wide*t.K, 1)
	l.addStep("topk", []*tensor{s.t}, []*tensor{values, indices}, topKWork{size, s, values, indices, t, wide})
	rows := func(out, from *tensor, size, pitch int) error {
		return l.moveFlat("rows", out, from, size, []moveDim{{t.Rows, size, size * t.K}, {t.K, pitch, size}}, 0, 0)
	}
	if err := rows(l.flatResult(t.Indices), indices, 4, wide); err != nil {
		return err
	}
	if size == l.sizeOf(t.Values) {
		return rows(l.flatResult(t.Values), values, size, s.pitch)
	}
	best := l.newFlat("values", t.Rows*t.K, 4)
	if err := rows(best, values, 4, s.pitch); err != nil {
		return err
	}
	l.flatStep("narrow", elementwise.NarrowWords{}, l.flatResult(t.Values), []*tensor{best}, 0)
	return nil
}

// topKWork lists the greatest values of rows and where they are.
type topKWork struct {
	size    int
	s       reductionSlices
	values  *tensor
	indices *tensor
	t       opspec.TopK
	wide    int
}

func (w topKWork) Launch(l *launcher, _ rowRange) error {
	var k hvx.Kernel = reduction.TopK{}
	if w.size == 1 {
		k = reduction.TopKBytes{}
	}
	kern, err := l.linked(k)
	if err != nil {
		return err
	}
	var table []uint32
	for v := 0; v < w.s.pitch; v += vecBytes {
		table = append(table, w.s.t.addr+uint32(v), w.values.addr+uint32(v), w.indices.addr+uint32(v/w.size*4), uint32(w.t.K))
	}
	l.launchTable(kern, table, 4, uint32(w.s.count), uint32(w.s.pitch), uint32(w.wide))
	return nil
}
