package dsp

import (
	"math"

	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// affine is the quantization of a tensor as it is stored.
type affine struct {
	scale  float32
	zero   int32
	lo, hi int32
}

// affineOf is the quantization of a flat tensor.
func affineOf(o *nn.Operand) affine {
	switch o.Type {
	case nn.TensorQuant16Asymm:
		return affine{o.Scale, o.ZeroPoint, 0, math.MaxUint16}
	case nn.TensorQuant16Symm:
		return affine{o.Scale, 0, math.MinInt16, math.MaxInt16}
	}
	return affine{o.Scale, zeroOf(o), 0, math.MaxUint8}
}

// reals are the values of all stored bytes.
func (q affine) reals() []uint32 {
	t := make([]uint32, 256)
	for i := range t {
		t[i] = math.Float32bits(q.scale * float32(int32(i)-q.zero))
	}
	return t
}

// quantize is the stored value nearest to a float; a NaN gives the least.
func quantize(a *hvx.Builder, v codegen.Reg, q affine) codegen.Reg {
	x := a.FDiv(v, a.Float(q.scale))
	i := a.Into(hexagon.A2_addsat, a.Round(x), a.Imm(int(q.zero)))
	i = a.Into(hexagon.A2_min, i, a.Imm(int(q.hi)))
	i = a.Into(hexagon.A2_max, i, a.Imm(int(q.lo)))
	return a.Into(hexagon.C2_muxri, a.Compare(hexagon.F2_sfcmpuo, x, x), int(q.lo), i)
}

// corners loads four values of 16 bits and makes floats of them.
func corners(a *hvx.Builder, at codegen.Reg, q affine) [4]codegen.Reg {
	var r [4]codegen.Reg
	for i := range r {
		r[i] = halfReal(a, at, 2*i, q, hvx.AliasIn)
	}
	return r
}

func halfReal(a *hvx.Builder, at codegen.Reg, off int, q affine, alias uint16) codegen.Reg {
	v, load := a.R("stored"), hexagon.L2_loadruh_io
	if q.lo < 0 {
		load = hexagon.L2_loadrh_io
	}
	a.Op(load, v, at, off).Loads(alias)
	return a.FMul(a.FloatOf(a.Add(v, -int(q.zero))), a.Float(q.scale))
}

// byteReal looks up the value of the byte at base + index.
func byteReal(a *hvx.Builder, base, index, table codegen.Reg) codegen.Reg {
	v, f := a.R("stored"), a.R("real")
	a.Op(hexagon.L4_loadrub_rr, v, base, index, 0).Loads(hvx.AliasIn)
	a.Op(hexagon.L4_loadri_rr, f, table, v, 2).Loads(hvx.AliasConst)
	return f
}

// indexed is base + i * size.
func indexed(a *hvx.Builder, base, i codegen.Reg, size int) codegen.Reg {
	r := a.CopyOf(base)
	a.Op(hexagon.M2_maci, r, i, a.Imm(size))
	return r
}

// fail notes that an input is not valid; the word at bad starts at 0.
func fail(a *hvx.Builder, bad codegen.Reg) {
	a.Op(hexagon.S2_storeri_io, bad, 0, a.Imm(1)).Stores(hvx.AliasOut)
}

// checkRegion goes to next unless a box stands upright within 2^24 and, where
// there are images, belongs to one of them.
func checkRegion(a *hvx.Builder, r [4]codegen.Reg, batch codegen.Reg, images int, bad codegen.Reg, next codegen.Label) {
	ok := a.Into(hexagon.C2_muxii, a.FAtLeast(r[2], r[0]), 1, 0)
	check := func(p codegen.Reg) { ok = a.Into(hexagon.C2_muxri, p, 0, ok) }
	both := func(p codegen.Reg) {
		fails := a.P("fails")
		a.Op(hexagon.C2_not, fails, p)
		check(fails)
	}
	both(a.FAtLeast(r[3], r[1]))
	if images > 0 {
		far, near := a.Float(1<<24), a.Float(-1<<24)
		check(a.FLess(far, r[2]))
		check(a.FLess(far, r[3]))
		check(a.FLess(r[0], near))
		check(a.FLess(r[1], near))
		check(a.Compare(hexagon.C2_cmpgtu, batch, a.Imm(images-1)))
	}
	a.If(a.Compare(hexagon.C2_cmpeqi, ok, 0), func() {
		fail(a, bad)
		a.Op(hexagon.J2_jump, next)
	})
}

// invalid makes the word that a kernel sets when an input is not valid.
func (l *lowering) invalid(reason string) *tensor {
	bad := l.newFlat("invalid", vecBytes, 1)
	bad.keep = true
	l.faults = append(l.faults, fault{l.op, bad, reason})
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
func (l *lowering) launchRange(s *step, k *hvx.Linked, items int, frames *tensor, block ...uint32) {
	at := l.constWords(block)
	var args [][]uint32
	for t, r := range l.spread(items) {
		args = append(args, []uint32{at, uint32(r[0]), uint32(r[1]), frames.addr + uint32(t*(frames.bytes()/l.threads))})
	}
	l.launch(s, k, args)
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
