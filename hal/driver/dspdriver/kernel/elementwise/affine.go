package elementwise

import (
	"math"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
	"github.com/nnsoc/nnsoc/nn/fixedpoint"
	"github.com/nnsoc/nnsoc/nn/quantized"
)

// ADD and SUB rescale both operands and their sum. But for the rounding of the first two,
// to 2^-20 of the larger scale, the result is an affine function of two bytes that is
// rounded once:
//
//	u   = a*lowA + b*lowB + lowC
//	t   = a*highA + b*highB + highC + (u >> 15)
//	out = clamp(t + 2^(shift-1) >> shift)
//
// Constants are searched when a model is prepared, and used where they give the
// reference's result for all 65,536 pairs of bytes. Results of fewer than AffineFrom bytes
// are not worth the search.

// Affine are those constants, with shift+15 fraction bits.
type Affine struct {
	a, b, c int64
	shift   int
}

const AffineFrom = 4 << 10

// affineTries is how many factors next to the exact ones are tried on both sides.
const affineTries = 2

// FindAffine looks for constants; sign is -1 where the second operand is subtracted, else 1.
func FindAffine(q *quantized.Add, sign, bias int32) (Affine, bool) {
	out := math.Ldexp(float64(q.Out.M), q.Out.Shift-31)
	factor := func(m fixedpoint.Multiplier) float64 {
		return math.Ldexp(float64(m.M), m.Shift-31+quantized.AddShift) * out
	}
	ka, kb := factor(q.A), factor(q.B)*float64(sign)
	f := Affine{shift: min(15, int(math.Floor(math.Log2(math.MaxInt16/max(ka, math.Abs(kb))))))}
	if f.shift < 1 {
		return f, false
	}
	var ta, tb [256]int32
	for i := range int32(256) {
		ta[i] = q.A.Apply((i - bias - q.ZeroA) << quantized.AddShift)
		tb[i] = sign * q.B.Apply((i-bias-q.ZeroB)<<quantized.AddShift)
	}
	var want [1 << 16]uint8
	for i := range want {
		want[i] = uint8(min(max(q.Out.Apply(ta[i>>8]+tb[i&255])+q.OutZero, q.Lo), q.Hi) + bias)
	}
	lo, hi := uint8(q.Lo+bias), uint8(q.Hi+bias)
	if q.Lo+bias < 0 || q.Hi+bias > 255 || q.Lo >= q.Hi {
		return f, false
	}
	bits := f.shift + 15
	step := math.Ldexp(1, bits-28)
	for try := range (2*affineTries + 1) * (2*affineTries + 1) {
		f.a = int64(math.Round(math.Ldexp(ka, bits) + step*float64(hvx.ZigZag(try%(2*affineTries+1)))))
		f.b = int64(math.Round(math.Ldexp(kb, bits) + step*float64(hvx.ZigZag(try/(2*affineTries+1)))))
		least, most := int64(math.MinInt64), int64(math.MaxInt64)
		for i, k := range want {
			v := int64(i>>8)*f.a + int64(i&255)*f.b
			edge := int64(k)<<bits - 1<<(bits-1)
			if k > lo {
				least = max(least, edge-v)
			}
			if k < hi {
				most = min(most, edge+1<<bits-1-v)
			}
			if least > most {
				break
			}
		}
		if least > most || least == math.MinInt64 || most == math.MaxInt64 {
			continue
		}
		f.c = least + (most-least)/2
		return f, f.fits()
	}
	return f, false
}

// fits reports whether no sum leaves its word.
func (f *Affine) fits() bool {
	most := func(x int64) bool { return x>>15 >= math.MinInt16 && x>>15 <= math.MaxInt16 }
	high := f.c >> 15
	return most(f.a) && most(f.b) && high > -1<<30 && high < 1<<30
}

// Words of the parameters, behind those of the requantization.
const (
	affineLowA = hvx.ParWords + iota // twice, as halves
	affineLowB
	affineHighA
	affineHighB
	affineLowC
	affineHighC
	affineShift
)

func (f *Affine) Params(rq *hvx.Requant) []uint32 {
	low := func(x int64) uint32 { return hvx.SplatHalfword(int32(x & 0x7fff)) }
	high := func(x int64) uint32 { return hvx.SplatHalfword(int32(x >> 15)) }
	return append(rq.Params(), low(f.a), low(f.b), high(f.a), high(f.b), uint32(f.c&0x7fff), uint32(int32(f.c>>15)), uint32(f.shift))
}

// AffineSum is ADD and SUB in that form.
type AffineSum struct{ Clamp bool }

// Name implements hvx.Kernel.
func (k AffineSum) Name() string { return "affine_" + k.requant().Tag() }

func (k AffineSum) requant() hvx.RequantKind {
	return hvx.RequantKind{Clamp: k.Clamp, Unshifted: true, Plain: true}
}

// Emit implements hvx.Kernel. Arguments: table, entries, parameter block.
func (k AffineSum) Emit(a *hvx.Builder) {
	in := a.Args("table", "entries", "params")
	params := in[2]
	rq := a.RequantSetup(k.requant(), params)
	lowA, lowB := a.Word(params, affineLowA, "low"), a.Word(params, affineLowB, "low")
	highA, highB := a.Word(params, affineHighA, "high"), a.Word(params, affineHighB, "high")
	lowC, highC := a.Splat(a.Word(params, affineLowC, "low"), "low"), a.Splat(a.Word(params, affineHighC, "high"), "high")
	shift, fifteen := a.R8("shift"), a.Imm8(15)
	a.Op(hexagon.L2_loadri_io, shift, params, 4*affineShift).Loads(hvx.AliasConst)
	binaryEntries(a, in[0], in[1], 2, func(pa, pb, po codegen.Reg) {
		var x, y, h [2]codegen.Reg
		halves := func(p codegen.Reg) [2]codegen.Reg {
			v, w := a.V("bytes"), a.VV("wide")
			a.Op(hexagon.V6_vL32b_pi, v, p, 1).Loads(hvx.AliasIn)
			a.Op(hexagon.V6_vzb, w, v)
			return [2]codegen.Reg{hvx.Lo(w), hvx.Hi(w)}
		}
		x, y = halves(pa), halves(pb)
		for i := range h {
			u, t := a.VV("low"), a.VV("sum")
			a.Op(hexagon.V6_vcombine, u, lowC, lowC)
			a.Op(hexagon.V6_vcombine, t, highC, highC)
			a.Op(hexagon.V6_vmpyh_acc, u, x[i], lowA)
			a.Op(hexagon.V6_vmpyh_acc, u, y[i], lowB)
			a.Op(hexagon.V6_vmpyh_acc, t, x[i], highA)
			a.Op(hexagon.V6_vmpyh_acc, t, y[i], highB)
			a.Op(hexagon.V6_vasrw_acc, hvx.Lo(t), hvx.Lo(u), fifteen)
			a.Op(hexagon.V6_vasrw_acc, hvx.Hi(t), hvx.Hi(u), fifteen)
			h[i] = a.V("half")
			a.Op(hexagon.V6_vasrwhrndsat, h[i], hvx.Hi(t), hvx.Lo(t), shift)
		}
		out := a.V("bytes")
		a.Op(hexagon.V6_vsathub, out, h[1], h[0])
		a.Op(hexagon.V6_vS32b_pi, po, 1, rq.Bounded(out)).Stores(hvx.AliasOut)
	})
	a.Ret()
}
