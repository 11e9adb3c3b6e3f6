package exec

import (
	"math"
	"math/bits"

	"github.com/nnsoc/nnsoc/isa/ethosu"
)

// smallValue is the magnitude below which a product with a 32-bit scale plus
// any rounding term fits 64 bits.
const smallValue = 1 << 29

// natural is (v*scale + 2^(shift-1)) >> shift, exact, saturated to 64 bits.
func natural(v int64, scale uint32, shift uint8) int64 {
	if v < smallValue && v > -smallValue {
		return (v*int64(scale) + int64(1)<<(shift-1)) >> shift // nothing is added for a shift of 0
	}
	hi, lo := mul128(v, scale)
	lo, carry := bits.Add64(lo, 1<<(shift-1), 0)
	return shift128(hi+int64(carry), lo, shift)
}

// mul128 is v*scale as a signed 128-bit number.
func mul128(v int64, scale uint32) (hi int64, lo uint64) {
	h, l := bits.Mul64(uint64(v), uint64(scale))
	hi = int64(h)
	if v < 0 {
		hi -= int64(scale)
	}
	return hi, l
}

// shift128 is the number >> shift (0..63), rounding down, saturated.
func shift128(hi int64, lo uint64, shift uint8) int64 {
	lo = lo>>shift | uint64(hi)<<(64-shift)
	hi >>= shift
	switch {
	case hi == 0 && lo < 1<<63, hi == -1 && lo >= 1<<63:
		return int64(lo)
	case hi < 0:
		return math.MinInt64
	}
	return math.MaxInt64
}

// divPOT is x / 2^n, ties away from zero.
func divPOT(x int64, n uint8) int64 {
	m := int64(1)<<n - 1
	limit := m >> 1
	if x < 0 {
		limit++
	}
	q := x >> n
	if x&m > limit {
		q++
	}
	return q
}

// rescale is round(v * scale / 2^shift) by a mode of OFM_PRECISION.
func rescale(v int64, scale uint32, shift uint8, mode int) int64 {
	switch mode {
	case ethosu.RoundNatural:
		return natural(v, scale, shift)
	case ethosu.RoundTruncate:
		hi, lo := mul128(v, scale)
		if hi < 0 { // toward zero
			var carry uint64
			lo, carry = bits.Add64(lo, 1<<shift-1, 0)
			hi += int64(carry)
		}
		return shift128(hi, lo, shift)
	}
	s1 := min(shift, 31)
	return divPOT(natural(v, scale, s1), shift-s1)
}

// clamp64 applies lo, then hi.
func clamp64(v, lo, hi int64) int64 { return min(hi, max(lo, v)) }
