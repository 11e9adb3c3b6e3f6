package dsp

import (
	"fmt"
	"slices"

	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
)

// lowerConcat lowers CONCATENATION: each input is mapped to the output's
// quantization where it differs, and copied to its place.
func lowerConcat(l *lowering, op *nn.Operation) error {
	c, err := l.view.Concat(op)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(c.Inputs, func(i uint32) bool { return l.values[i] != nil }) {
		return l.concatFlat(&c)
	}
	rank := len(c.Dims)
	if rank > 4 {
		return fmt.Errorf("rank %d", rank)
	}
	axis := c.Axis + 4 - rank
	out := l.result(c.Output, 0)
	var at [4]int
	for _, idx := range c.Inputs {
		in, err := l.value(idx)
		if err != nil {
			return err
		}
		i, o := &l.graph.Operands[idx], &l.graph.Operands[c.Output]
		if t := opspec.RequantTable(i, o); t != nil {
			mapped := l.newTensor(in.name+" requantized", in.shape, in.pitch, int32(out.zero))
			l.lookup(mapped, in, storedTable(t, i.Type, o.Type))
			in = mapped
		}
		l.addStep("concat", []*tensor{in}, []*tensor{out}, placeWork{out, in, at})
		at[axis] += [4]int{in.shape.n, in.shape.h, in.shape.w, in.shape.c}[axis]
	}
	return nil
}

// concatFlat is a CONCATENATION of values in flat form.
func (l *lowering) concatFlat(c *opspec.Concat) error {
	row, at := 0, 0
	for _, n := range c.Sizes {
		row += n
	}
	out := l.flatResult(c.Output)
	for k, x := range c.Inputs {
		in, err := l.flat(x)
		if err != nil {
			return err
		}
		i, o := &l.graph.Operands[x], &l.graph.Operands[c.Output]
		if t := opspec.RequantTable(i, o); t != nil {
			in = l.mapped(in, storedTable(t, i.Type, o.Type))
		}
		if err := l.moveFlat("concat", out, in, 1, []moveDim{{c.Outer, c.Sizes[k], row}, {c.Sizes[k], 1, 1}}, at, 0); err != nil {
			return err
		}
		at += c.Sizes[k]
	}
	return nil
}
