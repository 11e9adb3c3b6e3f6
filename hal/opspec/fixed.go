package opspec

import (
	"math"
	"math/bits"
)

// Fixed-point functions on int32 values with a given number of integer bits
// (Qi.f, f = 31 - i). They follow gemmlowp's public definitions bit for bit,
// because quantized SOFTMAX, LOGISTIC and TANH are defined through them.

// one is 1 in Q0.31, saturated.
const one = math.MaxInt32

// scalePOT multiplies by 2^n: saturating for n > 0, rounding for n < 0.
func scalePOT(x int32, n int) int32 {
	if n <= 0 {
		return RDPOT(x, -n)
	}
	limit := int32(1)<<uint(31-n) - 1
	switch {
	case x > limit:
		return math.MaxInt32
	case x < -limit:
		return math.MinInt32
	}
	return x << uint(n)
}

// expSteps are round(exp(-2^e) * 2^31) for e = -2 .. 4.
var expSteps = [...]int32{1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242}

const (
	expEighth = 1895147668 // exp(-1/8) in Q0.31
	oneThird  = 715827883  // 1/3 in Q0.31
)

// expQuarter is exp(a) for a in [-1/4, 0), Q0.31 to Q0.31: a Taylor polynomial
// of degree 4 around -1/8.
func expQuarter(a int32) int32 {
	x := a + 1<<28
	x2 := SRDHM(x, x)
	x3 := SRDHM(x2, x)
	x4 := SRDHM(x2, x2)
	// x^4/24 + x^3/6 + x^2/2 = ((x^4/4 + x^3)/3 + x^2)/2
	tail := RDPOT(SRDHM(RDPOT(x4, 2)+x3, oneThird)+x2, 1)
	return expEighth + SRDHM(expEighth, x+tail)
}

// ExpNegative is exp(a) for a <= 0 given with intBits (at most 5) integer bits;
// the result is Q0.31.
func ExpNegative(a int32, intBits int) int32 {
	if a >= 0 {
		return one
	}
	frac := uint(31 - intBits)
	quarter := int32(1) << (frac - 2)
	part := a&(quarter-1) - quarter // in [-1/4, 0)
	result := expQuarter(scalePOT(part, intBits))
	rest := part - a // a multiple of 1/4
	for i, step := range expSteps {
		e := i - 2
		if e < intBits && rest&(1<<(frac+uint(e))) != 0 {
			result = SRDHM(result, step)
		}
	}
	return result
}

const (
	fortyEight17 = 1515870810  // 48/17 in Q2.29
	minus32by17  = -1010580540 // -32/17 in Q2.29
)

// reciprocal is 2/(1+a) in Q2.29 for a in [0, 1) given in Q0.31: three Newton
// steps from the linear estimate 48/17 - 32/17 d with d = (1+a)/2.
func reciprocal(a int32) int32 {
	sum := int64(a) + one
	d := int32((sum + 1) / 2)
	if sum < 0 {
		d = int32((sum - 1) / 2)
	}
	x := int32(fortyEight17) + SRDHM(d, minus32by17)
	for range 3 {
		miss := int32(1<<29) - SRDHM(d, x)
		x += scalePOT(SRDHM(x, miss), 2)
	}
	return x
}

// OneOverOnePlus is 1/(1+a) for a in [0, 1), Q0.31 to Q0.31.
func OneOverOnePlus(a int32) int32 { return scalePOT(reciprocal(a), 1) }

// Logistic is 1/(1+exp(-a)), Q4.27 to Q0.31.
func Logistic(a int32) int32 {
	switch {
	case a == 0:
		return 1 << 30
	case a > 0:
		return OneOverOnePlus(ExpNegative(-a, 4))
	}
	return one - OneOverOnePlus(ExpNegative(a, 4))
}

// Tanh is the hyperbolic tangent, Q4.27 to Q0.31: (1-e)/(1+e), e = exp(-2|a|).
func Tanh(a int32) int32 {
	if a == 0 {
		return 0
	}
	m := a
	if a > 0 {
		m = -a
	}
	// The bits of m in Q4.27 are those of 2m in Q5.26.
	t := scalePOT(reciprocal(ExpNegative(m, 5))-1<<29, 2)
	if a < 0 {
		return -t
	}
	return t
}

// inputRadius is the largest input that a left shift keeps inside intBits
// integer bits.
func inputRadius(intBits, left int) int32 {
	max := int64(1<<uint(intBits)-1) << uint(31-intBits)
	if left > 62 {
		return 0
	}
	return int32(min(max>>uint(left), math.MaxInt32))
}

// reciprocalOfSum splits 1/sum, sum in Q12.19, into a Q0.31 factor in (1/2, 1]
// and a right shift.
func reciprocalOfSum(sum int32) (scale int32, over int) {
	headroom := bits.LeadingZeros32(uint32(sum))
	shifted := int32(uint32(sum)<<uint(headroom) - 1<<31)
	return OneOverOnePlus(shifted), 12 - headroom
}

// InverseSqrt is 1/sqrt(x) for an integer x > 0 as a multiplier, by five Newton
// steps in Q3.28 on x brought into [1/4, 1); quantized L2_NORMALIZATION is
// defined through it. x <= 1 gives almost 1.
func InverseSqrt(x int32) Multiplier {
	if x <= 1 {
		return Multiplier{math.MaxInt32, 0}
	}
	shift := 11
	for x >= 1<<29 {
		x /= 4
		shift++
	}
	// Left-align by an even number of bits; half of it is in [1/4, 1) in Q3.28.
	pairs := (bits.LeadingZeros32(uint32(x))-1)/2 - 1
	shift -= pairs
	x <<= uint(2 * pairs)
	const threeHalves = 3 << 27 // 3/2 in Q3.28
	half := RDPOT(x>>1, 1)
	r := int32(1 << 28)
	for range 5 {
		cube := scalePOT(SRDHM(SRDHM(r, r), r), 6) // Q9.22 to Q3.28
		r = scalePOT(SRDHM(threeHalves, r)-SRDHM(half, cube), 3)
	}
	// Times sqrt(1/2).
	r = SRDHM(r, 1518500250)
	if shift < 0 {
		r <<= uint(-shift)
		shift = 0
	}
	return Multiplier{r, -shift}
}
