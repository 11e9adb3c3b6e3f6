package hvx

import (
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// Requantizer is the requantization in a kernel.
type Requantizer struct {
	RequantKind
	a             *Builder
	Mult          codegen.Reg
	Zero, lo, hi  codegen.Reg
	leftBy, first codegen.Reg // shifts of the one multiplier
	right         codegen.Reg
	c31           codegen.Reg
	high, low     codegen.Reg // of the form with halfwords, whose third constant is zero (add)
	Fifteen       codegen.Reg // its shift, where a kernel keeps it
	c128          codegen.Reg // of the short form
}

// RequantSetup loads what stays in registers for the whole kernel.
func (b *Builder) RequantSetup(k RequantKind, par codegen.Reg) *Requantizer {
	r := &Requantizer{RequantKind: k, a: b}
	switch {
	case k.ByteFactor:
		r.byteFactorSetup(par)
	case k.Halfword:
		r.halfwordSetup(par)
	case !k.PerChannel:
		r.Mult = b.Splat(b.Word(par, parMult, "mult"), "mult")
		if k.Left {
			r.leftBy = b.Word(par, parLeft, "left")
		}
		if k.LongShift {
			r.first = b.Word(par, parFirst, "first")
		}
	}
	if !k.Halfword && (k.PerChannel || !k.Unshifted) {
		r.c31 = b.Imm(31)
		r.right = b.R8("right")
		if k.PerChannel {
			b.Op(hexagon.A2_tfrsi, r.right, 1)
		} else {
			b.Op(hexagon.L2_loadri_io, r.right, par, 4*parRight).Loads(AliasConst)
		}
	}
	if !k.Halfword && !k.Plain {
		r.Zero = b.Splat(b.Word(par, parZero, "zero"), "zero")
	}
	if k.Clamp {
		r.lo = b.Splat(b.Word(par, parLo, "lo"), "lo")
		r.hi = b.Splat(b.Word(par, parHi, "hi"), "hi")
	}
	return r
}

// ChannelVectors are the per-channel vectors of one accumulator.
type ChannelVectors struct {
	Mult, Shift, Left codegen.Reg
	// ShiftAt and ShiftOff are where the shift is loaded from for its packet, where it is
	// in no register.
	ShiftAt  codegen.Reg
	ShiftOff int
}

// ChannelVectorsAt loads the per-channel vectors of accumulator j of n from a header at
// base + off in which they are stored kind by kind.
func (r *Requantizer) ChannelVectorsAt(base codegen.Reg, off, j, n int) ChannelVectors {
	var l ChannelVectors
	if !r.PerChannel {
		return l
	}
	at := func(k int, name string) codegen.Reg {
		return r.a.Load(base, off+(k*n+j)*VectorBytes, AliasConst, name)
	}
	l.Mult, l.Shift = at(0, "mult"), at(1, "shift")
	if r.Left {
		l.Left = at(2, "left")
	}
	return l
}

// Scale is SRDHM(x << left, m).
func (r *Requantizer) Scale(x codegen.Reg, l ChannelVectors) codegen.Reg {
	a := r.a
	m := r.Mult
	if r.PerChannel {
		m = l.Mult
	}
	if r.Left {
		y := a.V("shifted")
		if r.PerChannel {
			a.Op(hexagon.V6_vaslwv, y, x, l.Left)
		} else {
			a.Op(hexagon.V6_vaslw, y, x, r.leftBy)
		}
		x = y
	}
	return a.MulHigh(x, m)
}

// Narrow rounds two scaled vectors and interleaves them as halfwords: x in the
// even lanes, y in the odd ones.
func (r *Requantizer) Narrow(x, y codegen.Reg, lx, ly ChannelVectors) codegen.Reg {
	h := r.a.V("half")
	r.NarrowTo(h, x, y, lx, ly)
	return h
}

func (r *Requantizer) NarrowTo(h, x, y codegen.Reg, lx, ly ChannelVectors) {
	a := r.a
	if !r.PerChannel && r.Unshifted {
		a.Op(hexagon.V6_vsatwh, h, y, x)
		return
	}
	for i, v := range [2]codegen.Reg{x, y} {
		switch {
		case !r.PerChannel:
			if !r.Positive {
				a.Op(hexagon.V6_vasrw_acc, v, v, r.c31)
			}
			if r.LongShift {
				a.Op(hexagon.V6_vasrw, v, v, r.first)
			}
		default:
			l := [2]ChannelVectors{lx, ly}[i]
			if r.Unshifted {
				r.roundLanes(v, l)
			} else if !r.Positive {
				a.Op(hexagon.V6_vasrw_acc, v, v, r.c31)
			}
			if l.ShiftAt.Valid() {
				a.OpLoading(AliasConst, 2, l.ShiftAt, l.ShiftOff, hexagon.V6_vasrwv, v, v, a.V("shift"))
			} else {
				a.Op(hexagon.V6_vasrwv, v, v, l.Shift)
			}
		}
	}
	a.Op(hexagon.V6_vasrwhrndsat, h, y, x, r.right)
}

// roundLanes adds the sign of v only in lanes that shift right. Lanes that do
// not are doubled by the shift of -1 that follows and halved again by the
// narrowing one, so they are bounded first; 2^29 is far beyond every byte.
func (r *Requantizer) roundLanes(v codegen.Reg, l ChannelVectors) {
	a := r.a
	keep, sign := a.V("keep"), a.V("sign")
	a.Op(hexagon.V6_vasrw, keep, l.Shift, r.c31)
	a.Op(hexagon.V6_vnot, keep, keep)
	a.Op(hexagon.V6_vasrw, sign, v, r.c31)
	a.Op(hexagon.V6_vand, sign, sign, keep)
	a.Op(hexagon.V6_vaddw, v, v, sign)
	// v is bounded in all lanes when some shift by nothing: lanes that shift right
	// by n have |v| below 2^31 and may exceed 2^29, so only the others are bounded.
	bound := a.Splat(a.Imm(1<<29), "bound")
	q := a.Q("shifts")
	low := a.V("low")
	a.Op(hexagon.V6_vgtw, q, a.Zero(), l.Shift)
	a.Op(hexagon.V6_vminw, low, v, bound)
	neg := a.Splat(a.Imm(-(1 << 29)), "bound")
	a.Op(hexagon.V6_vmaxw, low, low, neg)
	a.Op(hexagon.V6_vmux, v, q, low, v)
}

// Finish adds the zero point to two vectors of halfwords, saturates to bytes and
// clamps. Interleaved: x goes to even bytes, y to odd ones; otherwise each is
// de-interleaved first (its even halfwords, then its odd ones) and y follows x.
func (r *Requantizer) Finish(x, y codegen.Reg, interleaved bool) codegen.Reg {
	for _, v := range [2]codegen.Reg{x, y} {
		r.AddZeroPoint(v, interleaved)
	}
	return r.Join(x, y, interleaved)
}

// AddZeroPoint adds the zero point to a vector of halfwords and de-interleaves it (vdeal).
func (r *Requantizer) AddZeroPoint(v codegen.Reg, interleaved bool) {
	if r.Zero.Valid() && !r.Halfword {
		r.a.Op(hexagon.V6_vaddhsat, v, v, r.Zero)
	}
	if !interleaved {
		r.a.Op(hexagon.V6_vdealh, v, v)
	}
}

// Join makes bytes of two vectors of halfwords from AddZeroPoint.
func (r *Requantizer) Join(x, y codegen.Reg, interleaved bool) codegen.Reg {
	a := r.a
	out := a.V("bytes")
	if interleaved {
		a.Op(hexagon.V6_vsathub, out, y, x)
	} else {
		a.Op(hexagon.V6_vpackhub_sat, out, y, x)
	}
	return r.Bounded(out)
}

// Bounded applies the bounds.
func (r *Requantizer) Bounded(out codegen.Reg) codegen.Reg {
	if r.Clamp {
		r.a.Op(hexagon.V6_vmaxub, out, out, r.lo)
		r.a.Op(hexagon.V6_vminub, out, out, r.hi)
	}
	return out
}

// Pack requantizes four accumulators into one vector of bytes. Interleaved:
// byte 4i+k of the result comes from lane i of the accumulator j whose
// LanePhase[j] is k; otherwise the accumulators follow each other. vectorsOf(j)
// is called shortly before accumulator j is used.
func (r *Requantizer) Pack(acc [4]codegen.Reg, vectorsOf func(j int) ChannelVectors, interleaved bool) codegen.Reg {
	if r.Halfword {
		x := []codegen.Reg{r.a.V("half"), r.a.V("half")}
		r.ToHalfwords(acc, x)
		return r.ScaleHalfwords(x, interleaved)
	}
	var h [2]codegen.Reg
	for i := range h {
		l0, l1 := vectorsOf(2*i), vectorsOf(2*i+1)
		x, y := r.Scale(acc[2*i], l0), r.Scale(acc[2*i+1], l1)
		h[i] = r.Narrow(x, y, l0, l1)
	}
	return r.Finish(h[0], h[1], interleaved)
}

// NoChannelVectors is for kernels without per-channel multipliers.
func NoChannelVectors(int) ChannelVectors { return ChannelVectors{} }

// PreloadChannelVectors loads the vectors of n accumulators once, when the registers are
// there: the plain per-channel form. The others load them again at each use.
func (r *Requantizer) PreloadChannelVectors(n int, load func(j int) ChannelVectors) func(j int) ChannelVectors {
	if r.Left || r.Unshifted {
		return load
	}
	all := make([]ChannelVectors, n)
	for j := range all {
		all[j] = load(j)
	}
	return func(j int) ChannelVectors { return all[j] }
}

// LanePhase[j] is the byte within each group of four that accumulator j holds
// after interleaving; widening instructions spread bytes the same way. It is its own inverse.
var LanePhase = [4]int{0, 2, 1, 3}
