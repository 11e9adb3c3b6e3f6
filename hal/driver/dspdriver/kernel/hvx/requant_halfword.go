package hvx

import (
	"math"
	"sort"

	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
	"github.com/nnsoc/nnsoc/nn/fixedpoint"
)

// Requantization is a staircase with at most 255 steps. Where all of them lie
// within 2^16 of the accumulator, the accumulator less the middle of that window
// saturates to a halfword without losing a step, and products of halfwords, which need
// half the multiplier time of products of words, can form the same staircase:
//
//	x   = sat16(acc - centre)
//	out = clamp((x*high + (x*low >> 15) + add + 2^14) >> 15)
//
// The steps of both are compared one by one when a model is prepared, so the
// results are as the definition has them; where no factor gives the same steps, the
// definition is computed.

// halfwordForm are the constants of that form; the zero point is part of add.
type halfwordForm struct {
	high   int16
	low    int16
	add    int32
	centre int32
}

// product is x*high + (x*low >> 15).
func (h *halfwordForm) product(x int64) int64 { return x*int64(h.high) + x*int64(h.low)>>15 }

// halfTries is how many factors next to the exact one are tried on both sides.
const halfTries = 16

// firstOf is the first accumulator of result k, were there no bounds.
// It is near where real numbers have it.
func firstOf(m fixedpoint.Multiplier, zero, k int32) int64 {
	reaches := func(acc int64) bool { return int64(m.Apply(int32(acc)))+int64(zero) >= int64(k) }
	least, most := int64(math.MinInt32), int64(math.MaxInt32) // most reaches, or nothing does
	guess := math.Ldexp((float64(k-zero)-0.5)/float64(m.M), 31-m.Shift)
	at := int64(min(max(guess, math.MinInt32), math.MaxInt32))
	for far := int64(2); most-least > 2*far; far *= 4 {
		if below := at - far; below > least && !reaches(below) {
			least = below + 1
		}
		if above := at + far; above < most && reaches(above) {
			most = above
		}
	}
	return least + int64(sort.Search(int(most-least), func(i int) bool { return reaches(least + int64(i)) }))
}

// findHalfword looks for constants with the same steps; lo < hi are the bounds of
// the result.
func findHalfword(m fixedpoint.Multiplier, zero, lo, hi int32) (halfwordForm, bool) {
	if lo >= hi || lo < 0 || hi > 255 || m.M <= 0 {
		return halfwordForm{}, false
	}
	steps := make([]int64, 0, 255) // first accumulator of each result above lo
	for k := lo + 1; k <= hi; k++ {
		steps = append(steps, firstOf(m, zero, k))
	}
	first, last := steps[0]-1, steps[len(steps)-1]
	centre := (first + last + 1) >> 1
	if last-first >= 1<<16-1 || centre < math.MinInt32/2 || centre > math.MaxInt32/2 {
		return halfwordForm{}, false
	}
	exact := int64(math.Round(math.Ldexp(float64(m.M), m.Shift-1)))
	for try := range 2*halfTries + 1 {
		factor := exact + int64((try+1)/2)*int64(1-2*(try%2))
		if factor < 1 || factor >= 1<<29 {
			continue
		}
		h := halfwordForm{high: int16(factor >> 15), low: int16(factor & 0x7fff), centre: int32(centre)}
		least, most := int64(math.MinInt32), int64(math.MaxInt32)
		for i, at := range steps {
			edge := int64(int(lo)+1+i)<<15 - 1<<14
			least = max(least, edge-h.product(at-centre))
			most = min(most, edge-1-h.product(at-1-centre))
		}
		if least <= most {
			h.add = int32(least + (most-least)/2)
			return h, true
		}
	}
	return halfwordForm{}, false
}

// UseHalfword switches to the form with halfwords where it exists and accumulators of
// up to limit cannot leave int32 by the centre.
func (q *Requant) UseHalfword(limit int64) {
	if h, ok := oneFactor(q, findHalfword); ok && inWord(limit, h.centre) {
		q.halfword = &h
	}
}

// oneFactor requests a form of a requantization with one multiplier.
func oneFactor[T any](q *Requant, find func(m fixedpoint.Multiplier, zero, lo, hi int32) (T, bool)) (form T, ok bool) {
	if len(q.Mult) != 1 {
		return form, false
	}
	return find(q.Mult[0], q.Zero, max(q.Lo, 0), min(q.Hi, 255))
}

// inWord reports whether accumulators of up to limit stay words less the centre.
func inWord(limit int64, centre int32) bool {
	return limit+int64(max(centre, -centre)) <= math.MaxInt32
}

// Centre is what accumulators start below their bias.
func (q *Requant) Centre() int32 {
	switch {
	case q.byteFactor != nil:
		return q.byteFactor.centre
	case q.halfword != nil:
		return q.halfword.centre
	}
	return 0
}

// halfwordSetup loads the constants; the factors stay in scalar registers or, with
// FactorsInVectors, become vectors.
func (r *Requantizer) halfwordSetup(par codegen.Reg) {
	a := r.a
	r.high, r.low = a.Word(par, parHigh, "high"), a.Word(par, parLow, "low")
	r.Zero = a.Splat(a.Word(par, parAdd, "add"), "add")
}

// FactorsInVectors moves the factors to vector registers, for kernels that need
// scalar ones more.
func (r *Requantizer) FactorsInVectors() {
	if r.Halfword {
		r.high, r.low = r.a.Splat(r.high, "high"), r.a.Splat(r.low, "low")
	}
}

// ToHalfwords makes the accumulators halfwords, two and two.
func (r *Requantizer) ToHalfwords(acc [4]codegen.Reg, to []codegen.Reg) {
	for i, h := range to {
		r.a.Op(hexagon.V6_vsatwh, h, acc[2*i+1], acc[2*i])
	}
}

// ScaleHalfwords is what follows: bytes from halfwords.
func (r *Requantizer) ScaleHalfwords(x []codegen.Reg, interleaved bool) codegen.Reg {
	return r.Finish(r.ScaleHalfword(x[0]), r.ScaleHalfword(x[1]), interleaved)
}

// ScaleHalfword scales a vector of halfwords.
func (r *Requantizer) ScaleHalfword(x codegen.Reg) codegen.Reg {
	a := r.a
	fifteen := r.Fifteen
	if !fifteen.Valid() {
		fifteen = a.Imm8(15)
	}
	mul, mulAcc := hexagon.V6_vmpyh, hexagon.V6_vmpyh_acc
	if r.high.Class() == ClassV {
		mul, mulAcc = hexagon.V6_vmpyhv, hexagon.V6_vmpyhv_acc
	}
	p, t := a.VV("low product"), a.VV("sum")
	a.Op(mul, p, x, r.low)
	a.Op(hexagon.V6_vcombine, t, r.Zero, r.Zero)
	a.Op(hexagon.V6_vasrw_acc, Lo(t), Lo(p), fifteen)
	a.Op(hexagon.V6_vasrw_acc, Hi(t), Hi(p), fifteen)
	a.Op(mulAcc, t, x, r.high)
	h := a.V("half")
	a.Op(hexagon.V6_vasrwhrndsat, h, Hi(t), Lo(t), fifteen)
	return h
}
