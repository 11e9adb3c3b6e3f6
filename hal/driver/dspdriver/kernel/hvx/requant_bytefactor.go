package hvx

import (
	"math"

	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
	"github.com/nnsoc/nnsoc/nn/fixedpoint"
)

// A factor of a signed byte and a fraction climbs most stairs as well as one of
// two halfwords (requant_halfword.go), in fewer instructions:
//
//	x   = sat16(acc - centre)                  result 0 or 128 begins near x = 0
//	v   = (x*low + 2^14 >> 15) + add
//	out = clamp(sat8(x*high + v + 2^(shift-1) >> shift) + 0 or 128)
//
// sat8 is to unsigned bytes where 0 is added, to signed ones otherwise. The former saves an
// instruction, the latter covers staircases of twice the length.
//
// Again the steps are compared one by one when a model is prepared.

// byteFactorForm are the constants of that form.
type byteFactorForm struct {
	high   int32 // 1..127
	low    int32 // within 2^14 of 0
	add    int32
	shift  int
	centre int32
	from   int32 // 0 or 128
}

// shortTries is how many centres are tried on both sides, each with shortLows
// fractions on both sides of the exact one.
const (
	shortTries = 48
	shortLows  = 1
)

// fraction is what v adds for the fraction of the factor.
func (h *byteFactorForm) fraction(x int64) int64 { return (x*int64(h.low) + 1<<14) >> 15 }

// fits reports whether no intermediate sum leaves its half, which the ends decide.
func (h *byteFactorForm) fits() bool {
	for _, x := range [2]int64{math.MinInt16, math.MaxInt16} {
		if v := h.fraction(x) + int64(h.add); v < math.MinInt16 || v > math.MaxInt16 {
			return false
		}
	}
	return true
}

// findByteFactor looks for constants with the same steps; lo < hi are the bounds of
// the result.
func findByteFactor(m fixedpoint.Multiplier, zero, lo, hi int32) (byteFactorForm, bool) {
	if lo >= hi || lo < 0 || hi > 255 || m.M <= 0 {
		return byteFactorForm{}, false
	}
	if h, ok := shortFrom(m, zero, lo, hi, 0); ok {
		return h, true
	}
	return shortFrom(m, zero, lo, hi, 128)
}

// shortFrom looks for those where a result begins near x = 0.
func shortFrom(m fixedpoint.Multiplier, zero, lo, hi, from int32) (byteFactorForm, bool) {
	middle := firstOf(m, zero, from)
	scale := math.Ldexp(float64(m.M), m.Shift-31)
	shift := min(15, int(math.Floor(math.Log2(127/scale))))
	if shift < 1 || middle < math.MinInt32/2 || middle > math.MaxInt32/2 {
		return byteFactorForm{}, false
	}
	var steps [255]int64
	for k := lo + 1; k <= hi; k++ {
		if steps[k-1] = firstOf(m, zero, k); steps[k-1]-middle < math.MinInt16+shortTries || steps[k-1]-middle > math.MaxInt16-shortTries {
			return byteFactorForm{}, false
		}
	}
	factor := math.Ldexp(scale, shift)
	high := math.Round(factor)
	low := math.Round((factor - high) * (1 << 15))
	for try := range (2*shortTries + 1) * (2*shortLows + 1) {
		h := byteFactorForm{high: int32(high), low: int32(low) + ZigZag(try%(2*shortLows+1)), shift: shift,
			from: from, centre: int32(middle) + ZigZag(try/(2*shortLows+1))}
		least, most := int64(math.MinInt16), int64(math.MaxInt16)
		for i := lo; i < hi && least <= most; i++ {
			edge := int64(i+1-from)<<shift - 1<<(shift-1)
			x := steps[i] - int64(h.centre)
			least = max(least, edge-x*int64(h.high)-h.fraction(x))
			x--
			most = min(most, edge-1-x*int64(h.high)-h.fraction(x))
		}
		if least > most {
			continue
		}
		if h.add = int32(least + (most-least)/2); h.high >= 1 && h.fits() {
			return h, true
		}
	}
	return byteFactorForm{}, false
}

// ZigZag returns term n of the sequence 0, 1, -1, 2, -2, ...
func ZigZag(n int) int32 {
	if n%2 == 1 {
		return int32(n/2 + 1)
	}
	return -int32(n / 2)
}

// UseByteFactor switches from the form with halfwords to the short one where it exists.
func (q *Requant) UseByteFactor(limit int64) {
	if h, ok := oneFactor(q, findByteFactor); ok && inWord(limit, h.centre) {
		q.byteFactor = &h
	}
}

// params fills the words of the parameter block.
func (h *byteFactorForm) params(w []uint32) {
	w[parHigh] = (uint32(h.high) | 1<<8) * 0x10001
	w[parLow] = uint32(uint16(h.low)) * 0x10001
	w[parAdd] = uint32(uint16(h.add)) * 0x10001
	w[parRight] = uint32(h.shift)
}

// byteFactorSetup loads the constants: high and low stay in scalar registers.
func (r *Requantizer) byteFactorSetup(par codegen.Reg) {
	a := r.a
	r.high, r.low = a.Word(par, parHigh, "high"), a.Word(par, parLow, "low")
	r.Zero = a.Splat(a.Word(par, parAdd, "add"), "add")
	r.right = a.R8("shift")
	a.Op(hexagon.L2_loadri_io, r.right, par, 4*parRight).Loads(AliasConst)
	if !r.FromZero {
		r.Fifteen = a.Imm8(0)
		r.c128 = a.Splat(a.Imm(-0x7f7f7f80), "128")
	}
}

// StoreBytes stores bytes of halfwords, which are the low vectors of pairs.
func (r *Requantizer) StoreBytes(x [2]codegen.Reg, base codegen.Reg, off int) {
	r.a.StoreResult(r.Bytes(r.a.V("bytes"), x), AliasOut, base, off)
}

// Bytes makes bytes of halfwords, which are the low vectors of pairs. It returns the
// last instruction.
func (r *Requantizer) Bytes(out codegen.Reg, x [2]codegen.Reg) (last *codegen.Instr) {
	a := r.a
	var u, t, h [2]codegen.Reg
	for i := range u {
		u[i], t[i], h[i] = a.V("fraction"), a.VV("sum"), a.V("half")
		a.Op(hexagon.V6_vmpyhsrs, u[i], Lo(x[i]), r.low)
	}
	for i := range u {
		a.Op(hexagon.V6_vaddh, Hi(x[i]), u[i], r.Zero)
		a.Op(hexagon.V6_vmpahb, t[i], x[i], r.high)
	}
	for i := range u {
		a.Op(hexagon.V6_vasrwhrndsat, h[i], Hi(t[i]), Lo(t[i]), r.right)
	}
	if r.FromZero {
		last = a.Op(hexagon.V6_vsathub, out, h[1], h[0])
	} else {
		a.Op(hexagon.V6_vasrhbsat, out, h[1], h[0], r.Fifteen)
		last = a.Op(hexagon.V6_vxor, out, out, r.c128)
	}
	if r.Clamp {
		a.Op(hexagon.V6_vmaxub, out, out, r.lo)
		last = a.Op(hexagon.V6_vminub, out, out, r.hi)
	}
	return last
}
