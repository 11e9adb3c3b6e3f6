package dsp

import (
	"math"

	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// Scalar arithmetic in single precision, every operation rounded to nearest as
// the reference rounds it, and the control flow of kernels that decide.

// into emits an instruction with one result and returns the result.
func (a *asm) into(op hexagon.Op, args ...any) codegen.Reg {
	r := a.r(op.String())
	a.op(op, append([]any{r}, args...)...)
	return r
}

func (a *asm) fadd(x, y codegen.Reg) codegen.Reg { return a.into(hexagon.F2_sfadd, x, y) }
func (a *asm) fsub(x, y codegen.Reg) codegen.Reg { return a.into(hexagon.F2_sfsub, x, y) }
func (a *asm) fmul(x, y codegen.Reg) codegen.Reg { return a.into(hexagon.F2_sfmpy, x, y) }
func (a *asm) fmax(x, y codegen.Reg) codegen.Reg { return a.into(hexagon.F2_sfmax, x, y) }
func (a *asm) fmin(x, y codegen.Reg) codegen.Reg { return a.into(hexagon.F2_sfmin, x, y) }
func (a *asm) fneg(x codegen.Reg) codegen.Reg    { return a.into(hexagon.S2_togglebit_i, x, 31) }

// real is a register that holds a float.
func (a *asm) real(v float32) codegen.Reg { return a.imm(int(math.Float32bits(v))) }

// ofInt is an integer as a float.
func (a *asm) ofInt(x codegen.Reg) codegen.Reg { return a.into(hexagon.F2_conv_w2sf, x) }

// fdiv is n / d, rounded to nearest: the estimate of 1/d is refined twice, the
// quotient corrected twice by its exact remainder.
func (a *asm) fdiv(n, d codegen.Reg) codegen.Reg {
	r, p := a.r("1/d"), a.p("scale")
	a.op(hexagon.F2_sfrecipa, r, p, n, d)
	num, den := a.into(hexagon.F2_sffixupn, n, d), a.into(hexagon.F2_sffixupd, n, d)
	one := a.real(1)
	for range 2 {
		miss := a.copyOf(one)
		a.op(hexagon.F2_sffms_lib, miss, den, r)
		a.op(hexagon.F2_sffma_lib, r, miss, r)
	}
	q := a.into(hexagon.A2_andir, num, math.MinInt32)
	a.op(hexagon.F2_sffma_lib, q, num, r)
	rest := a.copyOf(num)
	a.op(hexagon.F2_sffms_lib, rest, q, den)
	a.op(hexagon.F2_sffma_lib, q, rest, r)
	rest = a.copyOf(num)
	a.op(hexagon.F2_sffms_lib, rest, q, den)
	a.op(hexagon.F2_sffma_sc, q, rest, r, p)
	return q
}

// floor, ceil and round make integers, halves rounded away from zero. What does
// not fit 32 bits gives the nearest that does.
func (a *asm) floor(x codegen.Reg) codegen.Reg {
	i := a.into(hexagon.F2_conv_sf2w_chop, x)
	return a.stepIf(i, -1, a.fless(x, a.ofInt(i)))
}

func (a *asm) ceil(x codegen.Reg) codegen.Reg {
	i := a.into(hexagon.F2_conv_sf2w_chop, x)
	return a.stepIf(i, 1, a.fless(a.ofInt(i), x))
}

func (a *asm) round(x codegen.Reg) codegen.Reg {
	i := a.into(hexagon.F2_conv_sf2w_chop, x)
	rest := a.fsub(x, a.ofInt(i))
	i = a.stepIf(i, 1, a.fatLeast(rest, a.real(0.5)))
	return a.stepIf(i, -1, a.fatLeast(a.real(-0.5), rest))
}

// stepIf is i + by if p, else i; it saturates.
func (a *asm) stepIf(i codegen.Reg, by int, p codegen.Reg) codegen.Reg {
	return a.into(hexagon.A2_addsat, i, a.into(hexagon.C2_muxii, p, by, 0))
}

// fless is x < y, fatLeast x >= y; false for a NaN.
func (a *asm) fless(x, y codegen.Reg) codegen.Reg    { return a.test(hexagon.F2_sfcmpgt, y, x) }
func (a *asm) fatLeast(x, y codegen.Reg) codegen.Reg { return a.test(hexagon.F2_sfcmpge, x, y) }

// test emits a compare.
func (a *asm) test(op hexagon.Op, args ...any) codegen.Reg {
	p := a.p(op.String())
	a.op(op, append([]any{p}, args...)...)
	return p
}

// set copies src to a register that lives on.
func (a *asm) set(dst, src codegen.Reg) { a.op(hexagon.A2_tfr, dst, src) }

// when runs body if p, unless runs it if not.
func (a *asm) when(p codegen.Reg, body func())   { a.jumpOver(hexagon.J2_jumpf, p, body) }
func (a *asm) unless(p codegen.Reg, body func()) { a.jumpOver(hexagon.J2_jumpt, p, body) }

func (a *asm) jumpOver(jump hexagon.Op, p codegen.Reg, body func()) {
	over := a.f.Label("over")
	a.op(jump, p, over)
	body()
	a.f.Bind(over)
}

// while runs body as long as the test it begins with holds. next leaves out the
// rest of a pass.
func (a *asm) while(cond func() codegen.Reg, body func(next codegen.Label), step func()) {
	head, next, out := a.f.Label("while"), a.f.Label("next"), a.f.Label("done")
	a.f.Bind(head)
	a.op(hexagon.J2_jumpf, cond(), out)
	body(next)
	a.f.Bind(next)
	step()
	a.op(hexagon.J2_jump, head)
	a.f.Bind(out)
}

// each runs body for i up to n, which may be 0 times.
func (a *asm) each(i, n codegen.Reg, body func(next codegen.Label)) {
	a.while(func() codegen.Reg { return a.test(hexagon.C2_cmpgt, n, i) }, body, func() { a.bump(i, 1) })
}

// upTo is each from 0 to a constant.
func (a *asm) upTo(n int, body func(i codegen.Reg)) {
	i := a.copyOf(a.imm(0))
	a.each(i, a.imm(n), func(codegen.Label) { body(i) })
}

// frame is a thread's scratch memory: words that would take too many registers.
type frame struct {
	a    *asm
	base codegen.Reg
}

func (f frame) put(n int, r codegen.Reg) {
	f.a.op(hexagon.S2_storeri_io, f.base, 4*n, r).Stores(aliasScratch)
}

func (f frame) get(n int) codegen.Reg {
	r := f.a.r("frame")
	f.a.op(hexagon.L2_loadri_io, r, f.base, 4*n).Loads(aliasScratch)
	return r
}

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
func (a *asm) quantize(v codegen.Reg, q affine) codegen.Reg {
	x := a.fdiv(v, a.real(q.scale))
	i := a.into(hexagon.A2_addsat, a.round(x), a.imm(int(q.zero)))
	i = a.into(hexagon.A2_min, i, a.imm(int(q.hi)))
	i = a.into(hexagon.A2_max, i, a.imm(int(q.lo)))
	return a.into(hexagon.C2_muxri, a.test(hexagon.F2_sfcmpuo, x, x), int(q.lo), i)
}

// corners loads four values of 16 bits and makes floats of them.
func (a *asm) corners(at codegen.Reg, q affine) [4]codegen.Reg {
	var r [4]codegen.Reg
	for i := range r {
		r[i] = a.halfReal(at, 2*i, q, aliasIn)
	}
	return r
}

func (a *asm) halfReal(at codegen.Reg, off int, q affine, alias uint16) codegen.Reg {
	v, load := a.r("stored"), hexagon.L2_loadruh_io
	if q.lo < 0 {
		load = hexagon.L2_loadrh_io
	}
	a.op(load, v, at, off).Loads(alias)
	return a.fmul(a.ofInt(a.add(v, -int(q.zero))), a.real(q.scale))
}

// byteReal looks up the value of the byte at base + index.
func (a *asm) byteReal(base, index, table codegen.Reg) codegen.Reg {
	v, f := a.r("stored"), a.r("real")
	a.op(hexagon.L4_loadrub_rr, v, base, index, 0).Loads(aliasIn)
	a.op(hexagon.L4_loadri_rr, f, table, v, 2).Loads(aliasConst)
	return f
}

// indexed is base + i * size.
func (a *asm) indexed(base, i codegen.Reg, size int) codegen.Reg {
	r := a.copyOf(base)
	a.op(hexagon.M2_maci, r, i, a.imm(size))
	return r
}

// fail notes that an input is not valid; the word at bad starts at 0.
func (a *asm) fail(bad codegen.Reg) {
	a.op(hexagon.S2_storeri_io, bad, 0, a.imm(1)).Stores(aliasOut)
}

// checkRegion goes to next unless a box stands upright within 2^24 and, where
// there are images, belongs to one of them.
func (a *asm) checkRegion(r [4]codegen.Reg, batch codegen.Reg, images int, bad codegen.Reg, next codegen.Label) {
	ok := a.into(hexagon.C2_muxii, a.fatLeast(r[2], r[0]), 1, 0)
	check := func(p codegen.Reg) { ok = a.into(hexagon.C2_muxri, p, 0, ok) }
	both := func(p codegen.Reg) {
		fails := a.p("fails")
		a.op(hexagon.C2_not, fails, p)
		check(fails)
	}
	both(a.fatLeast(r[3], r[1]))
	if images > 0 {
		far, near := a.real(1<<24), a.real(-1<<24)
		check(a.fless(far, r[2]))
		check(a.fless(far, r[3]))
		check(a.fless(r[0], near))
		check(a.fless(r[1], near))
		check(a.test(hexagon.C2_cmpgtu, batch, a.imm(images-1)))
	}
	a.when(a.test(hexagon.C2_cmpeqi, ok, 0), func() {
		a.fail(bad)
		a.op(hexagon.J2_jump, next)
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
func (l *lowering) launchRange(s *step, k *kernel, items int, frames *tensor, block ...uint32) {
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
