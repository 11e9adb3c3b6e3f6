package dsp

import (
	"fmt"

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
	s, err := l.intoSlabs(in, m.In, m.Reduce, 1)
	if err != nil {
		return err
	}
	k, bound := foldKernel(hexagon.V6_vmaxub), uint32(255*ones)
	if op.Type == nn.OpReduceMin || op.Type == nn.OpReduceAll {
		k = foldKernel(hexagon.V6_vminub)
	}
	if m.Type == nn.TensorBool8 {
		bound = ones
	}
	l.slabStep("reduce", k, l.flatResult(m.Output), s, bound)
	return nil
}

// wordsOf is a flat value as words, less a constant for bytes.
func (l *lowering) wordsOf(in *tensor, i uint32, zero int32) *tensor {
	if l.sizeOf(i) == 4 {
		return in
	}
	out := l.newFlat(in.name+" as words", in.bytes(), 4)
	l.flatStep("widen", widenWordsKernel(), out, []*tensor{in}, uint32(zero))
	return out
}

// along is the flat words of an operation along one axis, in slabs.
func (l *lowering) along(i uint32, outer, depth, inner int, zero int32) (slabs, error) {
	in, err := l.flat(i)
	if err != nil {
		return slabs{}, err
	}
	dims := []uint32{uint32(outer), uint32(depth), uint32(inner)}
	return l.intoSlabs(l.wordsOf(in, i, zero), dims, []bool{false, true, false}, 4)
}

// lowerArg lowers ARGMAX and ARGMIN.
func lowerArg(l *lowering, op *nn.Operation) error {
	r, err := l.view.Along(op)
	if err != nil {
		return err
	}
	s, err := l.along(r.Input, r.Outer, r.Depth, r.Inner, 0)
	if err != nil {
		return err
	}
	l.slabStep("arg", argKernel(op.Type == nn.OpArgmin), l.flatResult(r.Output), s, 1)
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
	s, err := l.along(r.Input, r.Outer, r.Depth, r.Inner, zeroOf(&l.graph.Operands[r.Input]))
	if err != nil {
		return err
	}
	scaled := s
	scaled.t = l.newFlat("normalized", s.pitch*s.count, 1)
	l.slabStep("normalize", normKernel(), scaled.t, s)
	back := l.newFlat("normalized rows", s.count*s.rows, 4)
	err = l.moveFlat("rows", back, scaled.t, 4, []moveDim{
		{r.Outer, 4 * r.Inner, 4 * r.Depth * r.Inner}, {r.Depth, s.pitch, 4 * r.Inner}, {r.Inner, 4, 4}}, 0, 0)
	if err != nil {
		return err
	}
	// The result's zero point is 128 in stored bytes of either type.
	l.flatStep("narrow", narrowWordsKernel(), l.flatResult(r.Output), []*tensor{back}, 128)
	return nil
}
