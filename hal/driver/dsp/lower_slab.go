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
	k, one := argBytesKernel(op.Type == nn.OpArgmin), uint32(ones)
	if size == 4 || r.Depth > maxIndex {
		in, size = l.wordsOf(in, r.Input, 0), 4
		k, one = argKernel(op.Type == nn.OpArgmin), 1
	}
	s, err := l.intoSlabs(in, []uint32{uint32(r.Outer), uint32(r.Depth), uint32(r.Inner)}, []bool{false, true, false}, size)
	if err != nil {
		return err
	}
	l.slabStep("arg", k, l.flatResult(r.Output), s, one)
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
	s, err := l.intoSlabs(in, []uint32{uint32(r.Outer), uint32(r.Depth), uint32(r.Inner)}, []bool{false, true, false}, 1)
	if err != nil {
		return err
	}
	scaled := l.newFlat("normalized", s.pitch*s.count, 1)
	// The result's zero point is 128 in stored bytes of either type.
	l.slabStep("normalize", normKernel(), scaled, s, splatHalf(zeroOf(&l.graph.Operands[r.Input])), splatHalf(128))
	return l.moveFlat("rows", l.flatResult(r.Output), scaled, 1, []moveDim{
		{r.Outer, r.Inner, r.Depth * r.Inner}, {r.Depth, s.pitch, r.Inner}, {r.Inner, 1, 1}}, 0, 0)
}
