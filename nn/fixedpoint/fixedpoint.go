// Package fixedpoint is the integer arithmetic of quantized operations, which the
// reference, the drivers and their kernels share bit for bit: multipliers with a shift, the
// rounding products and shifts of which they consist, and the functions behind softmax,
// logistic, tanh and normalizations.
//
// Facts: gemmlowp's public definition of the primitives, and the behaviour of the NNAPI
// reference CPU, which is built of them.
package fixedpoint

import (
	"fmt"
	"math"
	"math/bits"
)

// Multiplier is a positive real number as a 31-bit fraction M / 2^31 in
// [0.5, 1) and a power of two: M * 2^(Shift-31). The zero value is 0.
type Multiplier struct {
	M     int32
	Shift int // positive shifts left
}

// QuantizeMultiplier encodes a real multiplier. Values below 2^-32 become 0.
func QuantizeMultiplier(real float64) Multiplier {
	if !(real > 0) || math.IsInf(real, 0) {
		return Multiplier{}
	}
	f, e := math.Frexp(real)
	m := int64(math.Round(f * (1 << 31)))
	if m == 1<<31 {
		m /= 2
		e++
	}
	if e < -31 {
		return Multiplier{}
	}
	return Multiplier{int32(m), e}
}

// Apply multiplies and rounds as the reference does: shift left, double the
// high half of the product with rounding, shift right with rounding.
func (m Multiplier) Apply(x int32) int32 {
	if m.Shift > 0 {
		return SRDHM(x<<uint(m.Shift), m.M)
	}
	return RDPOT(SRDHM(x, m.M), -m.Shift)
}

// ApplySaturating is Apply, except that a left shift that leaves 32 bits
// saturates.
func (m Multiplier) ApplySaturating(x int32) int32 {
	if m.Shift <= 0 {
		return m.Apply(x)
	}
	wide := int64(x) << min(uint(m.Shift), 32)
	return SRDHM(int32(min(max(wide, math.MinInt32), math.MaxInt32)), m.M)
}

// SRDHM is the saturating rounding doubling high multiply: a*b/2^31 rounded to
// nearest, halves upwards. (gemmlowp nudges by the sign and divides towards
// zero, which is the same.) The product of two minimum values saturates.
func SRDHM(a, b int32) int32 {
	return int32(min((int64(a)*int64(b)+1<<30)>>31, math.MaxInt32))
}

// RDPOT divides by 2^n, rounding half away from zero. n is at least 0.
func RDPOT(x int32, n int) int32 {
	if n > 62 {
		return 0
	}
	v := int64(x)
	mask := int64(1)<<uint(n) - 1
	threshold := mask >> 1
	if v < 0 {
		threshold++
	}
	r := v >> uint(n)
	if v&mask > threshold {
		r++
	}
	return int32(r)
}

// SmallerThanOne encodes a multiplier that must be in (0, 1).
func SmallerThanOne(what string, real float64) (Multiplier, error) {
	if !(real > 0 && real < 1) {
		return Multiplier{}, fmt.Errorf("%s %v is not between 0 and 1", what, real)
	}
	m := QuantizeMultiplier(real)
	if m.Shift > 0 {
		return m, fmt.Errorf("%s %v rounds to 1", what, real)
	}
	return m, nil
}

// GreaterThanOne encodes a multiplier that must exceed 1.
func GreaterThanOne(what string, real float64) (Multiplier, error) {
	if !(real > 1) || math.IsInf(real, 0) {
		return Multiplier{}, fmt.Errorf("%s %v is not greater than 1", what, real)
	}
	return QuantizeMultiplier(real), nil
}

// Format is a fixed-point format, named after its fraction bits where a value has no
// integer bits: functions on values with a given number of integer bits (Qi.f) follow
// gemmlowp's public definitions bit for bit, because quantized SOFTMAX, LOGISTIC, TANH and
// the LSTMs are defined through them.
type Format uint8

// The two formats.
const (
	Q31 Format = 31 // int32 values, f = 31 - i
	Q15 Format = 15 // int16 values held in an int32, f = 15 - i
)

// one is 1 in Q0, saturated.
func (q Format) one() int32 { return int32(1<<q - 1) }

// constant rounds a constant given for 32 bits to the width.
func (q Format) constant(c int32) int32 { return RDPOT(c, 31-int(q)) }

// saturate clamps to the width.
func (q Format) saturate(x int64) int32 { return int32(min(max(x, -1<<q), 1<<q-1)) }

// Mul is the rounding doubling high product, a*b/2^f of Q0.
func (q Format) Mul(a, b int32) int32 { return q.saturate((int64(a)*int64(b) + 1<<(q-1)) >> q) }

// Scale multiplies by 2^n: saturating for n > 0, rounding for n < 0.
func (q Format) Scale(x int32, n int) int32 {
	if n <= 0 {
		return RDPOT(x, -n)
	}
	return q.saturate(int64(x) << uint(n))
}

// ExpSteps are round(exp(-2^e) * 2^31) for e = -2 .. 4, the factors of exp.
var ExpSteps = [...]int32{1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242}

// Constants of the functions, of 31 fractional bits but for the last two.
const (
	ExpEighth    = 1895147668  // exp(-1/8) in Q0.31
	OneThird     = 715827883   // 1/3 in Q0.31
	FortyEight17 = 1515870810  // 48/17 in Q2.29
	Minus32by17  = -1010580540 // -32/17 in Q2.29
)

// wrap keeps a sum inside the width, as integer addition does.
func (q Format) wrap(x int32) int32 { return x << (31 - q) >> (31 - q) }

// expQuarter is exp(a) for a in [-1/4, 0), Q0 to Q0: a Taylor polynomial of
// degree 4 around -1/8.
func (q Format) expQuarter(a int32) int32 {
	x := a + 1<<(q-3)
	x2 := q.Mul(x, x)
	x3 := q.Mul(x2, x)
	x4 := q.Mul(x2, x2)
	// x^4/24 + x^3/6 + x^2/2 = ((x^4/4 + x^3)/3 + x^2)/2
	tail := RDPOT(q.Mul(RDPOT(x4, 2)+x3, q.constant(OneThird))+x2, 1)
	e := q.constant(ExpEighth)
	return q.wrap(e + q.Mul(e, x+tail))
}

// ExpNegative is exp(a) for a <= 0 given with intBits (at most 5) integer bits;
// the result is Q0.
func (q Format) ExpNegative(a int32, intBits int) int32 {
	if a >= 0 {
		return q.one()
	}
	frac := uint(int(q) - intBits)
	quarter := int32(1) << (frac - 2)
	part := a&(quarter-1) - quarter // in [-1/4, 0)
	result := q.expQuarter(q.Scale(part, intBits))
	rest := part - a // a multiple of 1/4
	for i, step := range ExpSteps {
		e := i - 2
		if e < intBits && rest&(1<<(frac+uint(e))) != 0 {
			result = q.Mul(result, q.constant(step))
		}
	}
	return result
}

// reciprocal is 2/(1+a) in Q2 for a in [0, 1) given in Q0: three Newton steps
// from the linear estimate 48/17 - 32/17 d with d = (1+a)/2.
func (q Format) reciprocal(a int32) int32 {
	sum := int64(a) + int64(q.one())
	d := int32((sum + 1) / 2)
	if sum < 0 {
		d = int32((sum - 1) / 2)
	}
	x := q.wrap(q.constant(FortyEight17) + q.Mul(d, q.constant(Minus32by17)))
	for range 3 {
		miss := int32(1<<(q-2)) - q.Mul(d, x)
		x = q.wrap(x + q.Scale(q.Mul(x, miss), 2))
	}
	return x
}

// OneOverOnePlus is 1/(1+a) for a in [0, 1), Q0 to Q0.
func (q Format) OneOverOnePlus(a int32) int32 { return q.Scale(q.reciprocal(a), 1) }

// Logistic is 1/(1+exp(-a)) of a value with intBits integer bits, in Q0.
func (q Format) Logistic(a int32, intBits int) int32 {
	switch {
	case a == 0:
		return 1 << (q - 1)
	case a > 0:
		return q.OneOverOnePlus(q.ExpNegative(-a, intBits))
	}
	return q.one() - q.OneOverOnePlus(q.ExpNegative(a, intBits))
}

// Tanh is the hyperbolic tangent of a value with intBits (at most 4) integer
// bits, in Q0: (1-e)/(1+e), e = exp(-2|a|).
func (q Format) Tanh(a int32, intBits int) int32 {
	if a == 0 {
		return 0
	}
	m := a
	if a > 0 {
		m = -a
	}
	// The bits of m are those of 2m with one more integer bit.
	t := q.Scale(q.reciprocal(q.ExpNegative(m, intBits+1))-1<<(q-2), 2)
	if a < 0 {
		return -t
	}
	return t
}

// ExpNegative is Q31's.
func ExpNegative(a int32, intBits int) int32 { return Q31.ExpNegative(a, intBits) }

// oneOverOnePlus is Q31's.
func oneOverOnePlus(a int32) int32 { return Q31.OneOverOnePlus(a) }

// Logistic is Q31's of a Q4.27 value.
func Logistic(a int32) int32 { return Q31.Logistic(a, 4) }

// Tanh is Q31's of a Q4.27 value.
func Tanh(a int32) int32 { return Q31.Tanh(a, 4) }

// InputRadius is the largest input that a left shift keeps inside intBits
// integer bits.
func InputRadius(intBits, left int) int32 {
	max := int64(1<<uint(intBits)-1) << uint(31-intBits)
	if left > 62 {
		return 0
	}
	return int32(min(max>>uint(left), math.MaxInt32))
}

// ReciprocalOfSum splits 1/sum, sum in Q12.19, into a Q0.31 factor in (1/2, 1]
// and a right shift.
func ReciprocalOfSum(sum int32) (scale int32, over int) {
	headroom := bits.LeadingZeros32(uint32(sum))
	shifted := int32(uint32(sum)<<uint(headroom) - 1<<31)
	return oneOverOnePlus(shifted), 12 - headroom
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
		cube := Q31.Scale(SRDHM(SRDHM(r, r), r), 6) // Q9.22 to Q3.28
		r = Q31.Scale(SRDHM(threeHalves, r)-SRDHM(half, cube), 3)
	}
	// Times sqrt(1/2).
	r = SRDHM(r, 1518500250)
	if shift < 0 {
		r <<= uint(-shift)
		shift = 0
	}
	return Multiplier{r, -shift}
}
