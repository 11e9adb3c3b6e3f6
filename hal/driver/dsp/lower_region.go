package dsp

import (
	"math"

	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/nn"
)

// affineOf is the quantization of a flat tensor.
func affineOf(o *nn.Operand) hvx.Quant {
	switch o.Type {
	case nn.TensorQuant16Asymm:
		return hvx.Quant{Scale: o.Scale, Zero: o.ZeroPoint, Lo: 0, Hi: math.MaxUint16}
	case nn.TensorQuant16Symm:
		return hvx.Quant{Scale: o.Scale, Zero: 0, Lo: math.MinInt16, Hi: math.MaxInt16}
	}
	return hvx.Quant{Scale: o.Scale, Zero: zeroOf(o), Lo: 0, Hi: math.MaxUint8}
}

// invalid makes the word that a kernel sets when an input is not valid.
func (l *lowering) invalid(reason string) *tensor {
	bad := l.newFlat("invalid", vecBytes, 1)
	bad.keep = true
	l.list.faults = append(l.list.faults, fault{l.op, bad, reason})
	return bad
}

// roomFor makes scratch memory of n words for each thread.
func (l *lowering) roomFor(n int) *tensor {
	t := l.newFlat("frames", l.threads*roundUp(4*n, vecBytes), 1)
	return t
}

// launchRange runs a kernel over items divided among the threads. Its arguments
// are a block of addresses, the first item, the one behind the last, and the
// thread's part of frames.
func (l *launcher) launchRange(k *hvx.Linked, items int, frames *tensor, block ...uint32) {
	at := l.constWords(block)
	var args [][]uint32
	for t, r := range l.spread(items) {
		args = append(args, []uint32{at, uint32(r[0]), uint32(r[1]), frames.addr + uint32(t*(frames.bytes()/l.threads))})
	}
	l.launch(k, args)
}

// orderedResult is where a kernel writes the image of an operation's output in
// NHWC order; the returned function puts it into the order of the operand.
func (l *lowering) orderedResult(i uint32, n, h, w, c int, nchw bool) (*tensor, func() error) {
	if !nchw {
		return l.flatResult(i), func() error { return nil }
	}
	t := l.newFlat("NHWC result", n*h*w*c, 1)
	return t, func() error {
		return l.walk("to NCHW", l.flatResult(i), t, []uint32{uint32(n), uint32(c), uint32(h * w)}, []int{h * w * c, 1, c}, 0, 1)
	}
}
