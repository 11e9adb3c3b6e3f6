// Package floattest defines float arithmetic without regard to speed, for tests of code that has to be fast.
package floattest

import (
	"math"
	"math/big"
	"math/rand/v2"
)

// FMA is a*b+c rounded once.
func FMA(a, b, c float32) float32 {
	x, y, z := float64(a), float64(b), float64(c)
	if x != x || y != y || z != z || math.IsInf(x, 0) || math.IsInf(y, 0) || math.IsInf(z, 0) {
		return float32(x*y + z)
	}
	p := new(big.Float).SetPrec(400).Mul(big.NewFloat(x), big.NewFloat(y))
	p.Add(p, big.NewFloat(z))
	if p.Sign() == 0 {
		return float32(x*y) + c
	}
	f, _ := p.Float32()
	return f
}

// FromHalf is the value of the half in the low 16 bits.
func FromHalf(h uint32) float64 {
	exp, frac := int(h>>10&31), float64(h&1023)
	v := math.Ldexp(1024+frac, exp-25)
	switch {
	case exp == 0:
		v = math.Ldexp(frac, -24)
	case exp == 31 && frac == 0:
		v = math.Inf(1)
	case exp == 31:
		v = math.NaN()
	}
	if h>>15&1 != 0 {
		v = -v
	}
	return v
}

// Half rounds a float64 that is exact, or correct to far more bits than a half
// has, to nearest even.
func Half(x float64) uint32 {
	s := uint32(0)
	if math.Signbit(x) {
		s, x = 0x8000, -x
	}
	switch {
	case x != x:
		return 0x7E00
	case x >= 65520:
		return s | 0x7C00
	}
	e := -14
	if x >= 1.0/16384 {
		e = math.Ilogb(x)
	}
	u := math.Ldexp(1, e-10)
	n := uint32(math.RoundToEven(x / u))
	if x < 1.0/16384 {
		return s | n
	}
	return s | (uint32(e+15)<<10 + n - 1024)
}

// TruncHalf rounds a float32 to a half toward zero.
func TruncHalf(u uint32) uint32 {
	x := float64(math.Float32frombits(u))
	s := u >> 16 & 0x8000
	x = math.Abs(x)
	switch {
	case x != x:
		return 0x7E00
	case math.IsInf(x, 0):
		return s | 0x7C00
	case x >= 65504:
		return s | 0x7BFF
	}
	e := -14
	if x >= 1.0/16384 {
		e = math.Ilogb(x)
	}
	n := uint32(math.Floor(x / math.Ldexp(1, e-10)))
	if x < 1.0/16384 {
		return s | n
	}
	return s | (uint32(e+15)<<10 + n - 1024)
}

// Value mixes the values where float and integer arithmetic has corners
// with random ones.
func Value(r *rand.Rand) uint32 {
	corner := []uint32{
		0, 0x80000000, 1, 0x80000001, 0x7FFFFF, 0x800000, 0x3F800000, 0xBF800000, 0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000,
		0xFF800000, 0x7FC00000, 0x7F800001, 0xFFC12345, 0xFFFFFFFF, 0x7FFFFFFF, 0x3C003C00, 0x7C007BFF, 0x80000001,
		0x00010001, 0x83FF03FF, 0x04000400, 0xFC00FE00, 31, 32, 33, 0x4B000000, 0x3F000000, 0x477FF000, 0x33000001,
	}
	switch r.IntN(4) {
	case 0:
		return corner[r.IntN(len(corner))]
	case 1: // floats of moderate size, so that sums cancel and round
		return math.Float32bits(float32(r.NormFloat64()))
	case 2: // pairs of halves of moderate size
		return Half(r.NormFloat64()) | Half(r.NormFloat64()*8)<<16
	}
	return r.Uint32()
}
