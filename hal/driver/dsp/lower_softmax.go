package dsp

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/softmax"
	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
)

// maxSoftmax bounds the elements of a row: the sum has 12 integer bits.
const maxSoftmax = 4095

func softmaxLimits(s *opspec.Softmax) error {
	if s.Depth > maxSoftmax {
		return fmt.Errorf("over %d elements, at most %d", s.Depth, maxSoftmax)
	}
	return nil
}

func lowerSoftmax(l *lowering, op *nn.Operation) error {
	m, err := l.view.Softmax(op)
	if err != nil {
		return err
	}
	if err := softmaxLimits(&m); err != nil {
		return err
	}
	q, err := m.Quant(l.view)
	if err != nil {
		return err
	}
	in, err := l.value(m.Input)
	if err != nil {
		return err
	}
	// Kernels work along the channels: another axis goes there and back.
	dims, last := m.Dims, len(m.Dims)-1
	if m.Axis != last {
		perm := lastAxis(len(m.Dims), m.Axis)
		in = l.permute(in, dims, perm)
		dims = make([]uint32, len(perm))
		for i, p := range perm {
			dims[i] = m.Dims[p]
		}
	}
	if in.pitch < vecBytes { // rows of whole vectors
		in = l.withPitch(in, vecBytes)
	}
	out := l.newTensor("softmax", in.shape, in.pitch, zeroOf(&l.graph.Operands[m.Output]))
	bytes := roundUp(m.Depth, vecBytes) * 4
	scratch := l.newTensor("scratch", shape{1, 1, l.threads, bytes}, 1, 0)
	scratch.dense = true
	l.addStep("softmax", []*tensor{in}, []*tensor{out, scratch}, softmaxWork{q, m, in, out, scratch})
	l.values[m.Output] = out
	if m.Axis != last {
		l.values[m.Output] = l.permute(out, dims, firstAxis(len(dims), m.Axis))
	}
	return nil
}

// softmaxWork is SOFTMAX along the channels of each position.
type softmaxWork struct {
	q       opspec.SoftmaxQuant
	m       opspec.Softmax
	in      *tensor
	out     *tensor
	scratch *tensor
}

func (w softmaxWork) Launch(l *launcher, _ rowRange) error {
	var exps []uint32
	for _, e := range w.q.ExpTable() {
		exps = append(exps, uint32(e), uint32(opspec.SoftmaxSumTerm(e)))
	}
	expAt := l.constWords(exps)
	k := softmax.Kernel{Depth: w.m.Depth}
	kern, err := l.linked(k)
	if err != nil {
		return err
	}
	var table []uint32
	for n := range w.in.shape.n {
		for y := range w.in.shape.h {
			for x := range w.in.shape.w {
				table = append(table, w.in.at(n, y, x), w.out.at(n, y, x))
			}
		}
	}
	at := l.constWords(table)
	var args [][]uint32
	for t, r := range l.spread(len(table) / 2) {
		args = append(args, []uint32{at + uint32(8*r[0]), uint32(r[1] - r[0]), expAt, w.scratch.at(0, 0, t)})
	}
	l.launch(kern, args)
	return nil
}

// lastAxis is the permutation that moves an axis behind all others.
func lastAxis(rank, axis int) []int {
	var p []int
	for i := range rank {
		if i != axis {
			p = append(p, i)
		}
	}
	return append(p, axis)
}

// firstAxis is its inverse: it moves the last axis back.
func firstAxis(rank, axis int) []int {
	p := make([]int, rank)
	for i, from := range lastAxis(rank, axis) {
		p[from] = i
	}
	return p
}
