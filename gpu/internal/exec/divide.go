package exec

import (
	"math"

	"github.com/nnsoc/nnsoc/gpu/internal/float"
	"github.com/nnsoc/nnsoc/gpu/internal/state"
)

// Division: the compiler scales both operands of n/d by a power of two when the
// refinement would leave the range of the format, multiplies back in the last
// step, and repairs special cases in v_div_fixup.

type divFormat struct {
	scale    int     // binary exponent of the scale factor
	far      int     // exponent difference at which the quotient nears overflow
	tiny     int     // numerators at or below this exponent are scaled
	least    int     // exponent of the smallest normal number
	smallest float64 // that
}

var (
	div32 = divFormat{scale: 64, far: 96, tiny: 23 - 127, least: -126, smallest: 0x1p-126}
	div64 = divFormat{scale: 128, far: 768, tiny: 53 - 1023, least: -1022, smallest: 0x1p-1022}
)

// divScale returns the scaled copy of s0 (which is the denominator s1 or the
// numerator s2) and whether the quotient must be scaled back.
func divScale(f *divFormat, s0, s1, s2 float64, isNum, isDen bool) (float64, bool) {
	if s1 == 0 || s2 == 0 {
		return math.NaN(), false
	}
	// A quotient that is too small for the format counts as a denormal.
	denormal := func(num, den float64) bool { return !math.IsInf(den, 0) && math.Abs(num/den) < f.smallest }
	only := func(which bool) (float64, bool) {
		if which {
			return math.Ldexp(s0, f.scale), true
		}
		return s0, true
	}
	inverse, quotient := denormal(1, s1), denormal(s2, s1)
	switch {
	case f.exponent(s2)-f.exponent(s1) >= f.far:
		return only(isDen)
	case denormal(s1, 1):
		return math.Ldexp(s0, f.scale), false
	case inverse && quotient:
		return only(isDen)
	case inverse:
		return math.Ldexp(s0, -f.scale), false
	case quotient:
		return only(isNum)
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
			r := math.FMA(float.F64(a), float.F64(b), float.F64(c))
			if scaled {
				k := -128
				if div64.exponent(float.F64(c)) > 0 {
					k = 128
				}
				r = math.Ldexp(r, k)
			}
			v := finishWide(w.Mode, u.Details, nan64(r, a, b, c))
			lo[l], hi[l] = uint32(v), uint32(v>>32)
			continue
		}
		v := float.FMA(uint32(a), uint32(b), uint32(c))
		if scaled && !float.IsNaN32(v) {
			// The unit scales toward the side the quotient left.
			v = float.Bits32(float32(math.Ldexp(float64(float.F32(v)), divBack(uint32(c)))))
		}
		lo[l] = uint32(finishWide(w.Mode, u.Details, uint64(v)))
	}
}

// divBack is the exponent that undoes the scaling of a float32 quotient of
// about q.
func divBack(q uint32) int {
	if div32.exponent(float64(float.F32(q))) > 0 {
		return 64
	}
	return -64
}
