package dsp

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/reduction"
)

// reductionSlices is a value laid out in slices.
type reductionSlices struct {
	t           *tensor
	count, rows int // slices, elements of a slice that count
	size        int // bytes of an element
	pitch       int // bytes from slice to slice
}

// intoSlices lays out a value seen as dims; reduced dimensions become slices.
func (l *lowering) intoSlices(in *tensor, dims []uint32, reduced []bool, size int) (reductionSlices, error) {
	s := reductionSlices{count: 1, rows: 1, size: size}
	list := make([]moveDim, len(dims))
	n := size
	for i := len(dims) - 1; i >= 0; i-- {
		d := int(dims[i])
		list[i] = moveDim{d, n, size * s.rows}
		if reduced[i] {
			list[i].dst = s.count // slices; their distance is not known yet
			s.count *= d
		} else {
			s.rows *= d
		}
		n *= d
	}
	if s.count == 0 || s.rows == 0 {
		return s, fmt.Errorf("shape %v has no elements", dims)
	}
	s.pitch = roundUp(s.rows*size, vecBytes)
	if int64(s.pitch)*int64(s.count) > maxArena {
		return s, fmt.Errorf("reduction of %d rows by %d needs too much memory", s.rows, s.count)
	}
	for i := range list {
		if reduced[i] {
			list[i].dst *= s.pitch
		}
	}
	s.t = l.newFlat(in.name+" in slices", s.pitch*s.count, 1)
	return s, l.moveFlat("slices", s.t, in, size, list, 0, 0)
}

// reductionStep launches a kernel over all vectors of rows.
func (l *lowering) reductionStep(name string, f reduction.Function, out *tensor, s reductionSlices, words ...uint32) {
	l.addStep(name, []*tensor{s.t}, []*tensor{out}, reductionWork{f, s, out, words})
}

// reductionWork reduces the slices of every vector of rows.
type reductionWork struct {
	f     reduction.Function
	s     reductionSlices
	out   *tensor
	words []uint32
}

func (w reductionWork) Launch(l *launcher, _ rowRange) error {
	kern, err := l.linked(reduction.Slices{F: w.f})
	if err != nil {
		return err
	}
	var table []uint32
	_, wide := w.f.Form()
	low, high := rowBox(vecBytes, w.s.count, w.s.pitch)
	for v := 0; v < w.s.pitch; v += vecBytes {
		table = append(table, w.s.t.addr+uint32(v), w.out.addr+uint32(v*wide), uint32(w.s.count), uint32(w.s.pitch), low, high)
	}
	l.launchTable(kern, table, reduction.EntryWords, w.words...)
	return nil
}
