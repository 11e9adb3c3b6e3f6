package exec

import (
	"math"

	"github.com/nnsoc/nnsoc/gpu/internal/float"
	"github.com/nnsoc/nnsoc/gpu/internal/state"
)

// Division: the compiler scales both operands of n/d by a power of two when the
// refinement would leave the range of the format, multiplies back in the last
// step, and repairs special cases in v_div_fixup.

// divFormat is a format of operands, with the thresholds of the instructions.
type divFormat struct {
	scale    int     // binary exponent of the scale factor
	far      int     // exponent difference at which the quotient nears overflow
	tiny     int     // numerators at or below this exponent are scaled
	least    int     // exponent of the smallest normal number
	smallest float64 // that

	mantissa int    // bits of the mantissa
	inf      uint64 // the bits of infinity
	nothing  int    // quotients whose exponents differ by less underflow, 0: none is checked
	repair   bool   // whether a quotient that is no number, of numbers, is an overflow
}

var (
	div16 = divFormat{mantissa: 10, inf: 0x7C00}
	div32 = divFormat{scale: 64, far: 96, tiny: 23 - 127, least: -126, smallest: 0x1p-126, mantissa: 23, inf: 0xFF << 23, nothing: -150, repair: true}
	div64 = divFormat{scale: 128, far: 768, tiny: 53 - 1023, least: -1022, smallest: 0x1p-1022, mantissa: 52, inf: 0x7FF << 52, nothing: -1075, repair: true}
)

// divScale returns the scaled copy of s0 (which is the denominator s1 or the
// numerator s2) and whether the quotient must be scaled back.
func divScale(f *divFormat, s0, s1, s2 float64, isNum, isDen bool) (float64, bool) {
	if s1 == 0 || s2 == 0 {
		return math.NaN(), false
	}
	// A quotient that is too small for the format counts as a denormal.
	denormal := func(num, den float64) bool { return !math.IsInf(den, 0) && math.Abs(num/den) < f.smallest }
	only := func(which bool, by int) (float64, bool) {
		if which {
			return math.Ldexp(s0, by), true
		}
		return s0, true
	}
	inverse, quotient := denormal(1, s1), denormal(s2, s1)
	switch {
	case f.exponent(s2)-f.exponent(s1) >= f.far:
		return only(isDen, f.scale)
	case denormal(s1, 1):
		return math.Ldexp(s0, f.scale), false
	case inverse && quotient:
		return only(isDen, -f.scale)
	case inverse:
		return math.Ldexp(s0, -f.scale), false
	case quotient:
		return only(isNum, f.scale)
	case f.exponent(s2) <= f.tiny:
		return math.Ldexp(s0, f.scale), false
	}
	return s0, false
}

// exponent is the exponent field of a number, without the bias.
func (f *divFormat) exponent(x float64) int {
	switch {
	case math.IsInf(x, 0) || x != x:
		return 2 - f.least
	case math.Abs(x) < f.smallest:
		return f.least - 1
	}
	_, e := math.Frexp(x)
	return e - 1
}

// back is the exponent that undoes the scaling of a quotient of about q: the
// unit scales toward the side the quotient left.
func (f *divFormat) back(q float64) int {
	if f.exponent(q) > 0 {
		return f.scale
	}
	return -f.scale
}

// fixup repairs the special cases of a quotient q = num/den computed by
// refinement: signs, infinities, zeros, NaNs, underflow and overflow.
func (f *divFormat) fixup(q, den, num uint64) uint64 {
	magnitude := f.inf | (1<<f.mantissa - 1)
	sign := (den ^ num) & (magnitude + 1)
	quiet := uint64(1) << (f.mantissa - 1)
	d, n := den&magnitude, num&magnitude
	switch {
	case n > f.inf:
		return num | quiet
	case d > f.inf:
		return den | quiet
	case n == 0 && d == 0, n == f.inf && d == f.inf:
		return f.inf | quiet
	case d == 0, n == f.inf:
		return sign | f.inf
	case d == f.inf, n == 0:
		return sign
	case f.nothing != 0 && int(n>>f.mantissa)-int(d>>f.mantissa) < f.nothing:
		return sign
	case f.repair && q&magnitude > f.inf:
		return sign | f.inf
	}
	return q&magnitude | sign
}

// fixupLane is fixup of operands that a lane holds in its low bits.
func fixupLane(f *divFormat) func(q, den, num uint32) uint32 {
	low := uint32(f.inf<<1 | (1<<(f.mantissa+1) - 1))
	return func(q, den, num uint32) uint32 {
		return uint32(f.fixup(uint64(q&low), uint64(den&low), uint64(num&low)))
	}
}

func execDivScale(w *state.Wave, u *state.Op) {
	m := w.Exec()
	double := u.Details.Func.(bool)
	t := &w.Machine.Wide
	for i := range 3 {
		readRow64(w, &t[i], u, i)
	}
	lo := w.Row(u.Dst)
	hi := lo
	if double {
		hi = w.Row(u.Dst + uint32(w.Lanes))
	}
	var flag uint64
	for ; m != 0; m &= m - 1 {
		l := state.FirstLane(m)
		a, b, c := t[0][l], t[1][l], t[2][l]
		if double {
			r, s := divScale(&div64, float.F64(a), float.F64(b), float.F64(c), a == c, a == b)
			v := finishWide(w.Mode, u.Details, nan64(r))
			lo[l], hi[l] = uint32(v), uint32(v>>32)
			if s {
				flag |= 1 << l
			}
			continue
		}
		r, s := divScale(&div32, float64(float.F32(uint32(a))), float64(float.F32(uint32(b))), float64(float.F32(uint32(c))), a == c, a == b)
		lo[l] = float.Bits32(float32(r))
		if float.IsNaN32(lo[l]) {
			lo[l] = float.NaN32
		}
		lo[l] = uint32(finishWide(w.Mode, u.Details, uint64(lo[l])))
		if s {
			flag |= 1 << l
		}
	}
	w.SetMask(uint32(u.MaskDst), flag)
}

// execDivFmas is fma, times a power of two where VCC marks scaled operands.
func execDivFmas(w *state.Wave, u *state.Op) {
	m := w.Exec()
	double := u.Details.Func.(bool)
	t := &w.Machine.Wide
	for i := range 3 {
		readRow64(w, &t[i], u, i)
	}
	vcc := w.Mask(state.VCC)
	lo := w.Row(u.Dst)
	hi := lo
	if double {
		hi = w.Row(u.Dst + uint32(w.Lanes))
	}
	for ; m != 0; m &= m - 1 {
		l := state.FirstLane(m)
		a, b, c := t[0][l], t[1][l], t[2][l]
		scaled := vcc>>l&1 != 0
		if double {
			v := finishWide(w.Mode, u.Details, divFmas64(rounding(w.Mode, state.ResultF64), a, b, c, scaled))
			lo[l], hi[l] = uint32(v), uint32(v>>32)
			continue
		}
		lo[l] = uint32(finishWide(w.Mode, u.Details, uint64(divFmas32(rounding(w.Mode, state.ResultF32), uint32(a), uint32(b), uint32(c), scaled))))
	}
}

// divFmas32 is a*b+c, scaled back where it must be and rounded once.
func divFmas32(m float.Rounding, a, b, c uint32, scaled bool) uint32 {
	by := 0
	if scaled {
		by = div32.back(float64(float.F32(c)))
	}
	return m.ScaledFMA32(a, b, c, by)
}

// divFmas64 is divFmas32 of float64.
func divFmas64(m float.Rounding, a, b, c uint64, scaled bool) uint64 {
	x, y, z := float.F64(a), float.F64(b), float.F64(c)
	sum, by := math.FMA(x, y, z), 0
	if scaled {
		by = div64.back(z)
	}
	r := math.Ldexp(sum, by)
	if m != float.Nearest || scaled && sum != 0 && math.Abs(r) < div64.smallest {
		r = m.FMA64(r, x, y, z, by)
	}
	return nan64(r, a, b, c)
}
