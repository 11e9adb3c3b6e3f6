// Package float is the floating-point arithmetic of RDNA2's vector unit, on any host: nearest even with denormals,
// fused multiply-add rounded once, conversions of halves, and the transcendental unit. Products and quotients pass
// through an explicit conversion so that no Go compiler fuses them.
//
// Values are bit patterns. Functions on halves accept and return them in the low 16 bits.
package float

import "math"

// The NaN of an undefined result.
const (
	NaN32 = 0x7FC00000
	NaN16 = 0x7E00
)

// F32 is the value of a float32.
func F32(u uint32) float32 { return math.Float32frombits(u) }

// Bits32 is the pattern of a float32.
func Bits32(f float32) uint32 { return math.Float32bits(f) }

// F64 is the value of a float64.
func F64(u uint64) float64 { return math.Float64frombits(u) }

// Bits64 is the pattern of a float64.
func Bits64(f float64) uint64 { return math.Float64bits(f) }

// IsNaN32 reports whether a float32 is a NaN.
func IsNaN32(u uint32) bool { return u&0x7FFFFFFF > 0x7F800000 }

// IsNaN64 reports whether a float64 is a NaN.
func IsNaN64(u uint64) bool { return u&(1<<63-1) > 0x7FF<<52 }

// Quiet makes a NaN quiet.
func Quiet(u uint32) uint32 {
	return u | 0x00400000
}

// nanOf2 is the NaN result of a two-operand operation on F32 operands: the
// first NaN operand, quieted, else the default NaN.
func nanOf2(a, b uint32) uint32 {
	if IsNaN32(a) {
		return Quiet(a)
	}
	if IsNaN32(b) {
		return Quiet(b)
	}
	return NaN32
}

// nanOf3 is the same for three operands.
func nanOf3(a, b, c uint32) uint32 {
	if IsNaN32(a) {
		return Quiet(a)
	}
	return nanOf2(b, c)
}

// Add is a+b.
func Add(a, b uint32) uint32 {
	r := Bits32(F32(a) + F32(b))
	if IsNaN32(r) {
		return nanOf2(a, b)
	}
	return r
}

// Sub is a-b.
func Sub(a, b uint32) uint32 {
	r := Bits32(F32(a) - F32(b))
	if IsNaN32(r) {
		return nanOf2(a, b)
	}
	return r
}

// Mul is a*b.
func Mul(a, b uint32) uint32 {
	r := Bits32(float32(F32(a) * F32(b)))
	if IsNaN32(r) {
		return nanOf2(a, b)
	}
	return r
}

// FMA is a*b+c rounded once. The product of two float32 is exact in float64;
// the sum is rounded to odd there, which makes the second rounding harmless.
func FMA(a, b, c uint32) uint32 {
	p := float64(F32(a)) * float64(F32(b))
	r := Bits32(float32(addOdd(p, float64(F32(c)))))
	if IsNaN32(r) {
		return nanOf3(a, b, c)
	}
	return r
}

// addOdd is x+y rounded to odd: exact, or the neighbour whose last bit is 1.
func addOdd(x, y float64) float64 {
	s := x + y
	t := s - x
	e := (x - (s - t)) + (y - t)
	if e == 0 || e != e || math.IsInf(s, 0) {
		return s
	}
	b := math.Float64bits(s)
	if b&1 == 0 {
		// The exact sum is beyond s in the direction of e.
		if (e > 0) == (s > 0) {
			b++
		} else {
			b--
		}
	}
	return math.Float64frombits(b)
}

// Max and Min are maxNum and minNum in IEEE mode: a signalling NaN operand is returned quiet, one quiet NaN yields the
// other operand, and +0 is greater than -0.
func Max(a, b uint32) uint32 { return either(a, b, orderKey(a) >= orderKey(b)) }

// Min is the smaller operand.
func Min(a, b uint32) uint32 { return either(a, b, orderKey(a) <= orderKey(b)) }

// either is a if first, else b; with a NaN operand it is numberOf.
func either(a, b uint32, first bool) uint32 {
	switch {
	case IsNaN32(a) || IsNaN32(b):
		return numberOf(a, b)
	case first:
		return a
	}
	return b
}

// numberOf is the result of a maximum or minimum with a NaN.
func numberOf(a, b uint32) uint32 {
	switch {
	case isSignalling(a):
		return Quiet(a)
	case isSignalling(b):
		return Quiet(b)
	case IsNaN32(a):
		return b
	}
	return a
}

func isSignalling(u uint32) bool { return IsNaN32(u) && u != Quiet(u) }

// orderKey maps float bits to integers in the order of the numbers, -0 < +0.
func orderKey(u uint32) int32 { return int32(u ^ uint32(int32(u)>>31)>>1) }

func orderKey64(u uint64) int64 { return int64(u ^ uint64(int64(u)>>63)>>1) }

// Max64 is Max on float64.
func Max64(a, b uint64) uint64 { return either64(a, b, orderKey64(a) >= orderKey64(b)) }

// Min64 is Min on float64.
func Min64(a, b uint64) uint64 { return either64(a, b, orderKey64(a) <= orderKey64(b)) }

func either64(a, b uint64, first bool) uint64 {
	switch {
	case IsNaN64(a) || IsNaN64(b):
		return numberOf64(a, b)
	case first:
		return a
	}
	return b
}

func numberOf64(a, b uint64) uint64 {
	const quiet = 1 << 51
	switch {
	case IsNaN64(a) && a&quiet == 0:
		return a | quiet
	case IsNaN64(b) && b&quiet == 0:
		return b | quiet
	case IsNaN64(a):
		return b
	}
	return a
}

// Med3 is the median in the order of Max and Min.
func Med3(a, b, c uint32) uint32 {
	if IsNaN32(a) || IsNaN32(b) || IsNaN32(c) {
		return Min(Min(a, b), c)
	}
	return Max(Min(a, b), Min(Max(a, b), c))
}

// Clamp limits to [0,1]; NaN becomes 0.
func Clamp(u uint32) uint32 {
	f := F32(u)
	if !(f > 0) {
		return 0
	}
	if f > 1 {
		return 0x3F800000
	}
	return u
}

// Flush replaces a denormal by a zero of its sign.
func Flush(u uint32) uint32 {
	if u&0x7F800000 == 0 {
		return u & 0x80000000
	}
	return u
}

// FromHalf is exact; a signalling NaN is quieted.
func FromHalf(h uint32) uint32 {
	s := h & 0x8000 << 16
	e := h >> 10 & 31
	m := h & 0x3FF
	switch e {
	case 0:
		if m == 0 {
			return s
		}
		// Normalise: value is m * 2^-24.
		return s | Bits32(float32(m)*(1.0/(1<<24)))
	case 31:
		if m != 0 {
			m |= 0x200
		}
		return s | 0x7F800000 | m<<13
	}
	return s | (e+112)<<23 | m<<13
}

// ToHalf rounds to nearest even.
func ToHalf(u uint32) uint32 {
	s := u >> 16 & 0x8000
	x := u & 0x7FFFFFFF
	switch {
	case x > 0x7F800000:
		return s | 0x7E00 | x>>13&0x1FF
	case x >= 0x477FF000: // rounds beyond 65504
		return s | 0x7C00
	case x < 0x38800000: // below the smallest normal: multiples of 2^-24
		// Adding 0.5 puts the wanted unit at the last bit of the sum.
		return s | (Bits32(F32(x)+0.5) - 0x3F000000)
	}
	x += 0xFFF + x>>13&1
	return s | (x-0x38000000)>>13
}

// ToHalfTrunc rounds toward zero; a finite value never becomes infinite.
func ToHalfTrunc(u uint32) uint32 {
	s := u >> 16 & 0x8000
	x := u & 0x7FFFFFFF
	switch {
	case x > 0x7F800000:
		return s | 0x7E00 | x>>13&0x1FF
	case x == 0x7F800000:
		return s | 0x7C00
	case x >= 0x47800000:
		return s | 0x7BFF
	case x < 0x38800000:
		return s | uint32(F32(x)*(1<<24))
	}
	return s | (x-0x38000000)>>13
}

// oddTo16 rounds a float64 that is exact or rounded to odd to half.
func oddTo16(f float64) uint32 {
	// The float64 to float32 step must not round: make it odd as well.
	r := float32(f)
	if g := float64(r); g != f && f == f {
		b := Bits32(r)
		if b&1 == 0 {
			if (f > g) == (f > 0) {
				b++
			} else {
				b--
			}
		}
		return ToHalf(b)
	}
	return ToHalf(Bits32(r))
}

// hnan is the result r of an operation on two halves, or the NaN that it propagates. Operands widen exactly, and
// float32 is wide enough that rounding twice equals rounding once for sums and products.
func hnan(r, a, b uint32) uint32 {
	if r&0x7FFF > 0x7C00 {
		if a&0x7FFF > 0x7C00 {
			return a&0xFFFF | 0x200
		}
		if b&0x7FFF > 0x7C00 {
			return b&0xFFFF | 0x200
		}
		return NaN16
	}
	return r
}

// AddHalf is a+b on halves.
func AddHalf(a, b uint32) uint32 {
	return hnan(ToHalf(Bits32(F32(FromHalf(a))+F32(FromHalf(b)))), a, b)
}

// SubHalf is a-b on halves.
func SubHalf(a, b uint32) uint32 {
	return hnan(ToHalf(Bits32(F32(FromHalf(a))-F32(FromHalf(b)))), a, b)
}

// MulHalf is a*b on halves.
func MulHalf(a, b uint32) uint32 {
	return hnan(ToHalf(Bits32(float32(F32(FromHalf(a))*F32(FromHalf(b))))), a, b)
}

// FMAHalf is a*b+c on halves, rounded once.
func FMAHalf(a, b, c uint32) uint32 {
	p := float64(F32(FromHalf(a))) * float64(F32(FromHalf(b)))
	r := oddTo16(addOdd(p, float64(F32(FromHalf(c)))))
	if r&0x7FFF > 0x7C00 {
		if a&0x7FFF > 0x7C00 {
			return a&0xFFFF | 0x200
		}
		return hnan(r, b, c)
	}
	return r
}

// MaxHalf is Max on halves.
func MaxHalf(a, b uint32) uint32 { return ToHalf(Max(widen(a), widen(b))) }

// MinHalf is Min on halves.
func MinHalf(a, b uint32) uint32 { return ToHalf(Min(widen(a), widen(b))) }

// Med3Half is Med3 on halves.
func Med3Half(a, b, c uint32) uint32 { return ToHalf(Med3(widen(a), widen(b), widen(c))) }

// widen is FromHalf that leaves a signalling NaN signalling.
func widen(h uint32) uint32 {
	u := FromHalf(h)
	if h&0x7FFF > 0x7C00 && h&0x200 == 0 {
		u &^= 0x00400000
	}
	return u
}

// Transcendental unit: evaluated in float64 with our own series, so that every host computes the same bits, then
// rounded.

// Rcp is 1/x.
func Rcp(u uint32) uint32 {
	if IsNaN32(u) {
		return Quiet(u)
	}
	return Bits32(float32(1 / float64(F32(u))))
}

// Sqrt is the square root.
func Sqrt(u uint32) uint32 {
	if IsNaN32(u) {
		return Quiet(u)
	}
	r := Bits32(float32(math.Sqrt(float64(F32(u)))))
	if IsNaN32(r) {
		return NaN32
	}
	return r
}

// Rsq is 1/sqrt(x).
func Rsq(u uint32) uint32 {
	if IsNaN32(u) {
		return Quiet(u)
	}
	x := float64(F32(u))
	switch {
	case u == 0x80000000:
		return 0xFF800000
	case x < 0:
		return NaN32
	}
	return Bits32(float32(1 / math.Sqrt(x)))
}

// Exp2 is 2 to the power of x.
func Exp2(u uint32) uint32 {
	if IsNaN32(u) {
		return Quiet(u)
	}
	return Bits32(float32(exp2(float64(F32(Flush(u))))))
}

// Log2 is the binary logarithm.
func Log2(u uint32) uint32 {
	if IsNaN32(u) {
		return Quiet(u)
	}
	u = Flush(u)
	if u&0x7FFFFFFF == 0 {
		return 0xFF800000
	}
	if u>>31 != 0 {
		return NaN32
	}
	if u == 0x7F800000 {
		return u
	}
	return Bits32(float32(log2(float64(F32(u)))))
}

// Sin is the sine of x turns: sin(2 pi x). Outside [-256, 256] the unit returns 0, and Cos 1, as the documented domain
// of the hardware ends there.
func Sin(u uint32) uint32 { return fsincos(Flush(u), 0) }

// Cos is the cosine of x turns.
func Cos(u uint32) uint32 { return fsincos(Flush(u), 1) }

func fsincos(u uint32, quarter int) uint32 {
	if IsNaN32(u) {
		return Quiet(u)
	}
	x := float64(F32(u))
	if math.IsInf(x, 0) {
		return NaN32
	}
	if x < -256 || x > 256 {
		if quarter == 0 {
			return 0
		}
		return 0x3F800000
	}
	r := Bits32(float32(sinTurn(x, quarter)))
	if r<<1 == 0 { // of a sine it has the sign of x, of a cosine none
		return u & 0x80000000 * uint32(1-quarter)
	}
	return r
}

// exp2 is 2^x in float64, |relative error| below 1e-16.
func exp2(x float64) float64 {
	if x > 1100 {
		return math.Inf(1)
	}
	if x < -1100 {
		return 0
	}
	n := math.RoundToEven(x)
	t := float64((x - n) * math.Ln2)
	// Taylor series of e^t for |t| <= ln2/2.
	s := 1.0
	for k := 15; k >= 1; k-- {
		s = 1 + float64(float64(s*t)/float64(k))
	}
	return math.Ldexp(s, int(n))
}

// log2 of a positive finite x.
func log2(x float64) float64 {
	m, e := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m *= 2
		e--
	}
	z := (m - 1) / (m + 1)
	z2 := float64(z * z)
	s := 0.0
	for k := 23; k >= 1; k -= 2 {
		s = float64(s*z2) + 1/float64(k)
	}
	return float64(e) + float64(float64(2*z)*float64(s*(1/math.Ln2)))
}

// sinTurn is sin(2 pi (x + quarter/4)).
func sinTurn(x float64, quarter int) float64 {
	n := math.RoundToEven(4 * x)
	f := x - n/4 // within an eighth of a turn, exact
	q := (int(n) + quarter) & 3
	t := float64(f * (2 * math.Pi))
	t2 := float64(t * t)
	var r float64
	if q&1 == 0 {
		s := 1.0
		for k := 19; k >= 3; k -= 2 {
			s = 1 - float64(float64(s*t2)/float64(k*(k-1)))
		}
		r = float64(t * s)
	} else {
		s := 1.0
		for k := 20; k >= 2; k -= 2 {
			s = 1 - float64(float64(s*t2)/float64(k*(k-1)))
		}
		r = s
	}
	if q&2 != 0 {
		return -r
	}
	return r
}
