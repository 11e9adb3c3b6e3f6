package float

import (
	"math"
	"math/big"
)

// Rounding is the direction of rounding, as the fields of register MODE have it.
type Rounding uint8

// Directions.
const (
	Nearest    Rounding = 0 // to even
	Up         Rounding = 1
	Down       Rounding = 2
	TowardZero Rounding = 3
)

// Round32 is x rounded to float32, where x is exact or rounded to odd. nearest is what the operation gives in the mode
// Nearest; it stays where it is no number.
func (m Rounding) Round32(nearest uint32, x float64) uint32 {
	if IsNaN32(nearest) {
		return nearest
	}
	r := float32(x)
	if m.beyond(float64(r), x) {
		r = math.Nextafter32(r, float32(math.Copysign(0, x)))
	} else if m.short(float64(r), x) {
		r = math.Nextafter32(r, float32(math.Inf(sign(x))))
	}
	return Bits32(r)
}

// Round16 is Round32 of a half.
func (m Rounding) Round16(nearest uint32, x float64) uint32 {
	const inf = 0x7C00
	if nearest&0x7FFF > inf {
		return nearest
	}
	r := oddTo16(x)
	// The magnitudes of halves are consecutive integers.
	if v := float64(F32(FromHalf(r))); m.beyond(v, x) {
		r--
	} else if m.short(v, x) {
		r++
	}
	return r
}

// beyond reports whether r, x rounded to nearest, has a magnitude that m does not round x to.
func (m Rounding) beyond(r, x float64) bool {
	return m != Nearest && math.Abs(r) > math.Abs(x) && !m.away(x)
}

// short reports whether r, x rounded to nearest, has too small a magnitude for m.
func (m Rounding) short(r, x float64) bool {
	return math.Abs(r) < math.Abs(x) && m.away(x)
}

// away reports whether m rounds x away from zero.
func (m Rounding) away(x float64) bool {
	return m == Up && x > 0 || m == Down && x < 0
}

func sign(x float64) int {
	if math.Signbit(x) {
		return -1
	}
	return 1
}

// odd is p+c rounded to odd, where p is an exact product. An exact zero of numbers of two signs is -0 where m is Down.
func (m Rounding) odd(p, c float64) float64 {
	s := addOdd(p, c)
	if s == 0 && m == Down && (math.Signbit(p) || math.Signbit(c)) {
		return math.Copysign(0, -1)
	}
	return s
}

// Add32 is Add in this mode, and so the others below.
func (m Rounding) Add32(a, b uint32) uint32 {
	return m.Round32(Add(a, b), m.odd(float64(F32(a)), float64(F32(b))))
}

// Sub32 is a-b.
func (m Rounding) Sub32(a, b uint32) uint32 {
	return m.Round32(Sub(a, b), m.odd(float64(F32(a)), -float64(F32(b))))
}

// Mul32 is a*b.
func (m Rounding) Mul32(a, b uint32) uint32 {
	return m.Round32(Mul(a, b), float64(F32(a))*float64(F32(b)))
}

// FMA32 is a*b+c.
func (m Rounding) FMA32(a, b, c uint32) uint32 { return m.ScaledFMA32(a, b, c, 0) }

// ScaledFMA32 is (a*b+c) * 2^by rounded once, where by is within 64.
func (m Rounding) ScaledFMA32(a, b, c uint32, by int) uint32 {
	x := m.odd(float64(F32(a))*float64(F32(b)), float64(F32(c)))
	return m.Round32(FMA(a, b, c), math.Ldexp(x, by))
}

// half widens a half.
func half(h uint32) float64 { return float64(F32(FromHalf(h & 0xFFFF))) }

// Add16 is a+b on halves.
func (m Rounding) Add16(a, b uint32) uint32 { return m.Round16(AddHalf(a, b), m.odd(half(a), half(b))) }

// Sub16 is a-b on halves.
func (m Rounding) Sub16(a, b uint32) uint32 {
	return m.Round16(SubHalf(a, b), m.odd(half(a), -half(b)))
}

// Mul16 is a*b on halves.
func (m Rounding) Mul16(a, b uint32) uint32 { return m.Round16(MulHalf(a, b), half(a)*half(b)) }

// FMA16 is a*b+c on halves.
func (m Rounding) FMA16(a, b, c uint32) uint32 {
	return m.Round16(FMAHalf(a, b, c), m.odd(half(a)*half(b), half(c)))
}

// ToHalf converts a float32 to a half.
func (m Rounding) ToHalf(u uint32) uint32 { return m.Round16(ToHalf(u), float64(F32(u))) }

// FMA64 is (a*b+c) * 2^by of float64, rounded once. nearest is the result in the mode Nearest, which stays where it is
// no number or an operand is infinite.
func (m Rounding) FMA64(nearest, a, b, c float64, by int) float64 {
	if nearest != nearest || math.IsInf(a, 0) || math.IsInf(b, 0) || math.IsInf(c, 0) {
		return nearest
	}
	const exact = 4400 // bits between the largest and the smallest of a*b and c
	var sum, term big.Float
	sum.SetPrec(exact).SetFloat64(a)
	sum.Mul(&sum, term.SetFloat64(b))
	positive := !sum.Signbit()
	sum.Add(&sum, term.SetFloat64(c))
	if sum.Sign() == 0 {
		// Zeros of one sign keep it.
		if one := !math.Signbit(c); one == positive {
			return math.Copysign(0, float64(sign(c)))
		}
		if m == Down {
			return math.Copysign(0, -1)
		}
		return 0
	}
	sum.SetMantExp(&sum, by)
	r, accuracy := sum.Float64()
	x := float64(sum.Sign())
	// accuracy is Below where r is below the sum.
	switch {
	case m == Nearest || accuracy == big.Exact:
	case (accuracy == big.Above) == (x > 0) && !m.away(x):
		r = math.Nextafter(r, math.Copysign(0, x))
	case (accuracy == big.Below) == (x > 0) && m.away(x):
		r = math.Nextafter(r, math.Inf(sign(x)))
	}
	return r
}
