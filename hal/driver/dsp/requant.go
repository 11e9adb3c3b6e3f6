package dsp

import (
	"github.com/nnsoc/nnsoc/hal/opspec"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// Requantization turns 32-bit accumulators into bytes:
//
//	out = clamp(RDPOT(SRDHM(acc << left, m), right) + zero, lo, hi)
//
// SRDHM is two multiplications (even and odd halves). RDPOT rounds halves away
// from zero: adding the sign and then rounding halves up is the same, and the
// narrowing shift does the latter.

// requant is the requantization of one operation in the unsigned domain.
type requant struct {
	mult         []opspec.Multiplier // one, or one per channel
	zero, lo, hi int32
	half         *halfRequant  // nil: the definition
	short        *shortRequant // before the others
}

func newRequant(mult []opspec.Multiplier, zero, lo, hi, bias int32) requant {
	return requant{mult: mult, zero: zero + bias, lo: lo + bias, hi: hi + bias}
}

// requantKind is what the generated code depends on.
type requantKind struct {
	perChannel bool
	left       bool // some multiplier shifts left
	whole      bool // some multiplier shifts neither way: nothing to round
	far        bool // one multiplier shifts right by more than the 15 of the narrowing shift
	clamp      bool // bounds narrower than a byte
	half       bool // by products of halves; none of the above but clamp holds
	positive   bool // what rounds a negative value is below the bounds, so halves may go up
	plain      bool // zero point 0
	short      bool // with half: a byte and a fraction
	fromZero   bool // with short: no 128 to add
}

func (q *requant) kind() requantKind {
	k := requantKind{clamp: q.lo > 0 || q.hi < 255, half: q.half != nil || q.short != nil, short: q.short != nil}
	k.fromZero = k.short && q.short.from == 0
	if k.half {
		return k
	}
	k.perChannel, k.positive, k.plain = len(q.mult) > 1, q.lo >= q.zero, q.zero == 0
	for _, m := range q.mult {
		k.left = k.left || m.Shift > 0
		k.whole = k.whole || m.Shift >= 0
		k.far = k.far || m.Shift < -15
	}
	return k
}

// tag names the kind in kernel names.
func (k requantKind) tag() string {
	s := ""
	for _, f := range []struct {
		on bool
		c  string
	}{{k.perChannel, "c"}, {k.left, "l"}, {k.whole, "w"}, {k.far, "f"}, {k.clamp, "k"}, {k.half, "h"}, {k.positive, "p"}, {k.plain, "z"}, {k.short, "s"}, {k.fromZero, "0"}} {
		if f.on {
			s += f.c
		}
	}
	return "q" + s
}

// Words of the parameter block.
const (
	parMult = iota
	parZero // twice, as halves
	parLo   // four times, as bytes
	parHi
	parLeft
	parFirst // right shift before the narrowing one
	parRight
	parBox // of the inputs that a step ahead reads: width and height, stride
	parStride
	parHigh // of the form with halves, twice, as halves
	parLow
	parAdd
	parRowStep // of a window, for kernels that do not know it
	parWords
)

// params is the parameter block.
func (q *requant) params() []uint32 {
	w := make([]uint32, parWords)
	m := q.mult[0]
	w[parMult] = uint32(m.M)
	w[parZero] = uint32(q.zero&0xffff) * 0x10001
	w[parLo] = uint32(q.lo) * 0x01010101
	w[parHi] = uint32(q.hi) * 0x01010101
	w[parLeft] = uint32(max(m.Shift, 0))
	right := max(-m.Shift, 0)
	if right > 15 {
		w[parFirst] = uint32(right - 1)
		right = 1
	}
	w[parRight] = uint32(right)
	if q.short != nil {
		q.short.params(w)
	} else if h := q.half; h != nil {
		w[parHigh], w[parLow], w[parAdd] = uint32(h.high)*0x10001, uint32(h.low)*0x10001, uint32(h.add)
	}
	return w
}

// vectors per accumulator that a per-channel kernel reads: multiplier, right
// shift minus one, and the left shift where there is one.
func (k requantKind) vectors() int {
	switch {
	case !k.perChannel:
		return 0
	case k.left:
		return 3
	}
	return 2
}

// channelWords are the words of one lane of those vectors.
func (q *requant) channelWords(ch int) [3]uint32 {
	if ch >= len(q.mult) {
		return [3]uint32{}
	}
	m := q.mult[ch]
	return [3]uint32{uint32(m.M), uint32(int32(max(-m.Shift, 0) - 1)), uint32(max(m.Shift, 0))}
}

// requantRegs is the requantization in a kernel.
type requantRegs struct {
	requantKind
	a             *asm
	mult          codegen.Reg
	zero, lo, hi  codegen.Reg
	leftBy, first codegen.Reg // shifts of the one multiplier
	right         codegen.Reg
	c31           codegen.Reg
	high, low     codegen.Reg // of the form with halves, whose third constant is zero (add)
	fifteen       codegen.Reg // its shift, where a kernel keeps it
	c128          codegen.Reg // of the short form
}

// requantSetup loads what stays in registers for the whole kernel.
func (a *asm) requantSetup(k requantKind, par codegen.Reg) *requantRegs {
	r := &requantRegs{requantKind: k, a: a}
	switch {
	case k.short:
		r.shortSetup(par)
	case k.half:
		r.halfSetup(par)
	case !k.perChannel:
		r.mult = a.splat(a.word(par, parMult, "mult"), "mult")
		if k.left {
			r.leftBy = a.word(par, parLeft, "left")
		}
		if k.far {
			r.first = a.word(par, parFirst, "first")
		}
	}
	if !k.half && (k.perChannel || !k.whole) {
		r.c31 = a.imm(31)
		r.right = a.r8("right")
		if k.perChannel {
			a.op(hexagon.A2_tfrsi, r.right, 1)
		} else {
			a.op(hexagon.L2_loadri_io, r.right, par, 4*parRight).Loads(aliasConst)
		}
	}
	if !k.half && !k.plain {
		r.zero = a.splat(a.word(par, parZero, "zero"), "zero")
	}
	if k.clamp {
		r.lo = a.splat(a.word(par, parLo, "lo"), "lo")
		r.hi = a.splat(a.word(par, parHi, "hi"), "hi")
	}
	return r
}

// channelVectors are the per-channel vectors of one accumulator.
type channelVectors struct {
	mult, shift, left codegen.Reg
	// shiftAt and shiftOff are where the shift is loaded from for its packet, where it is
	// in no register.
	shiftAt  codegen.Reg
	shiftOff int
}

// channelVectorsAt loads the per-channel vectors of accumulator j of n from a header in
// which they lie kind by kind, off bytes behind base.
func (r *requantRegs) channelVectorsAt(base codegen.Reg, off, j, n int) channelVectors {
	var l channelVectors
	if !r.perChannel {
		return l
	}
	at := func(k int, name string) codegen.Reg {
		return r.a.vload(base, off+(k*n+j)*vecBytes, aliasConst, name)
	}
	l.mult, l.shift = at(0, "mult"), at(1, "shift")
	if r.left {
		l.left = at(2, "left")
	}
	return l
}

// scale is SRDHM(x << left, m).
func (r *requantRegs) scale(x codegen.Reg, l channelVectors) codegen.Reg {
	a := r.a
	m := r.mult
	if r.perChannel {
		m = l.mult
	}
	if r.left {
		y := a.v("shifted")
		if r.perChannel {
			a.op(hexagon.V6_vaslwv, y, x, l.left)
		} else {
			a.op(hexagon.V6_vaslw, y, x, r.leftBy)
		}
		x = y
	}
	return a.mulHigh(x, m)
}

// mulHigh is SRDHM(x, m): (x*m + 2^30) >> 31, saturated.
func (a *asm) mulHigh(x, m codegen.Reg) codegen.Reg {
	y := a.v("product")
	a.op(hexagon.V6_vmpyewuh, y, x, m)
	a.op(hexagon.V6_vmpyowh_rnd_sacc, y, x, m)
	return y
}

// narrow rounds two scaled vectors and interleaves them as halves: x in the
// even lanes, y in the odd ones.
func (r *requantRegs) narrow(x, y codegen.Reg, lx, ly channelVectors) codegen.Reg {
	h := r.a.v("half")
	r.narrowTo(h, x, y, lx, ly)
	return h
}

func (r *requantRegs) narrowTo(h, x, y codegen.Reg, lx, ly channelVectors) {
	a := r.a
	if !r.perChannel && r.whole {
		a.op(hexagon.V6_vsatwh, h, y, x)
		return
	}
	for i, v := range [2]codegen.Reg{x, y} {
		switch {
		case !r.perChannel:
			if !r.positive {
				a.op(hexagon.V6_vasrw_acc, v, v, r.c31)
			}
			if r.far {
				a.op(hexagon.V6_vasrw, v, v, r.first)
			}
		default:
			l := [2]channelVectors{lx, ly}[i]
			if r.whole {
				r.roundLanes(v, l)
			} else if !r.positive {
				a.op(hexagon.V6_vasrw_acc, v, v, r.c31)
			}
			if l.shiftAt.Valid() {
				a.opTmp(aliasConst, 2, l.shiftAt, l.shiftOff, hexagon.V6_vasrwv, v, v, a.v("shift"))
			} else {
				a.op(hexagon.V6_vasrwv, v, v, l.shift)
			}
		}
	}
	a.op(hexagon.V6_vasrwhrndsat, h, y, x, r.right)
}

// roundLanes adds the sign of v only in lanes that shift right. Lanes that do
// not are doubled by the shift of -1 that follows and halved again by the
// narrowing one, so they are bounded first; 2^29 is far beyond every byte.
func (r *requantRegs) roundLanes(v codegen.Reg, l channelVectors) {
	a := r.a
	keep, sign := a.v("keep"), a.v("sign")
	a.op(hexagon.V6_vasrw, keep, l.shift, r.c31)
	a.op(hexagon.V6_vnot, keep, keep)
	a.op(hexagon.V6_vasrw, sign, v, r.c31)
	a.op(hexagon.V6_vand, sign, sign, keep)
	a.op(hexagon.V6_vaddw, v, v, sign)
	// v is bounded in all lanes when some shift by nothing: lanes that shift right
	// by n have |v| below 2^31 and may exceed 2^29, so only the others are bounded.
	bound := a.splat(a.imm(1<<29), "bound")
	q := a.q("shifts")
	low := a.v("low")
	a.op(hexagon.V6_vgtw, q, a.zero(), l.shift)
	a.op(hexagon.V6_vminw, low, v, bound)
	neg := a.splat(a.imm(-(1 << 29)), "bound")
	a.op(hexagon.V6_vmaxw, low, low, neg)
	a.op(hexagon.V6_vmux, v, q, low, v)
}

// finish adds the zero point to two vectors of halves, saturates to bytes and
// clamps. Interleaved: x goes to even bytes, y to odd ones; otherwise each is
// dealt first (its even halves, then its odd ones) and y follows x.
func (r *requantRegs) finish(x, y codegen.Reg, interleaved bool) codegen.Reg {
	for _, v := range [2]codegen.Reg{x, y} {
		r.settle(v, interleaved)
	}
	return r.join(x, y, interleaved)
}

// settle adds the zero point to a vector of halves and deals it.
func (r *requantRegs) settle(v codegen.Reg, interleaved bool) {
	if r.zero.Valid() && !r.half {
		r.a.op(hexagon.V6_vaddhsat, v, v, r.zero)
	}
	if !interleaved {
		r.a.op(hexagon.V6_vdealh, v, v)
	}
}

// join makes bytes of two vectors of halves that are settled.
func (r *requantRegs) join(x, y codegen.Reg, interleaved bool) codegen.Reg {
	a := r.a
	out := a.v("bytes")
	if interleaved {
		a.op(hexagon.V6_vsathub, out, y, x)
	} else {
		a.op(hexagon.V6_vpackhub_sat, out, y, x)
	}
	return r.bounded(out)
}

// bounded applies the bounds.
func (r *requantRegs) bounded(out codegen.Reg) codegen.Reg {
	if r.clamp {
		r.a.op(hexagon.V6_vmaxub, out, out, r.lo)
		r.a.op(hexagon.V6_vminub, out, out, r.hi)
	}
	return out
}

// pack requantizes four accumulators into one vector of bytes. Interleaved:
// byte 4i+k of the result comes from lane i of the accumulator j whose
// lanePhase[j] is k; otherwise the accumulators follow each other. vectorsOf(j)
// is asked shortly before accumulator j is used.
func (r *requantRegs) pack(acc [4]codegen.Reg, vectorsOf func(j int) channelVectors, interleaved bool) codegen.Reg {
	if r.half {
		x := []codegen.Reg{r.a.v("half"), r.a.v("half")}
		r.halves(acc, x)
		return r.scaleHalves(x, interleaved)
	}
	var h [2]codegen.Reg
	for i := range h {
		l0, l1 := vectorsOf(2*i), vectorsOf(2*i+1)
		x, y := r.scale(acc[2*i], l0), r.scale(acc[2*i+1], l1)
		h[i] = r.narrow(x, y, l0, l1)
	}
	return r.finish(h[0], h[1], interleaved)
}

// noChannelVectors is for kernels without per-channel multipliers.
func noChannelVectors(int) channelVectors { return channelVectors{} }

// keepChannelVectors loads the vectors of n accumulators once, when the registers are
// there: the plain per-channel form. The others load them again at each use.
func (r *requantRegs) keepChannelVectors(n int, load func(j int) channelVectors) func(j int) channelVectors {
	if r.left || r.whole {
		return load
	}
	all := make([]channelVectors, n)
	for j := range all {
		all[j] = load(j)
	}
	return func(j int) channelVectors { return all[j] }
}

// lanePhase[j] is the byte within each group of four that accumulator j holds
// after interleaving; widening instructions spread bytes the same way. It is its own inverse.
var lanePhase = [4]int{0, 2, 1, 3}
