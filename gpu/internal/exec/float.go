package exec

import "math"

// This file defines floating point of the core independent of the host: single
// rounding fused multiply-add, half conversions, and the transcendental unit.
// Products and quotients go through an explicit conversion so that no Go
// compiler fuses them.

const (
	nan32 = 0x7FC00000
	nan16 = 0x7E00
)

func f32(u uint32) float32  { return math.Float32frombits(u) }
func b32(f float32) uint32  { return math.Float32bits(f) }
func f64(u uint64) float64  { return math.Float64frombits(u) }
func b64(f float64) uint64  { return math.Float64bits(f) }
func isNaN32(u uint32) bool { return u&0x7FFFFFFF > 0x7F800000 }
func isNaN64(u uint64) bool { return u&(1<<63-1) > 0x7FF<<52 }
func quiet32(u uint32) uint32 {
	return u | 0x00400000
}

// nanOf2 is the NaN result of a two-operand operation on f32 operands: the
// first NaN operand, quieted, else the default NaN.
func nanOf2(a, b uint32) uint32 {
	if isNaN32(a) {
		return quiet32(a)
	}
	if isNaN32(b) {
		return quiet32(b)
	}
	return nan32
}

func nanOf3(a, b, c uint32) uint32 {
	if isNaN32(a) {
		return quiet32(a)
	}
	return nanOf2(b, c)
}

func fadd(a, b uint32) uint32 {
	r := b32(f32(a) + f32(b))
	if isNaN32(r) {
		return nanOf2(a, b)
	}
	return r
}

func fsub(a, b uint32) uint32 {
	r := b32(f32(a) - f32(b))
	if isNaN32(r) {
		return nanOf2(a, b)
	}
	return r
}

func fmul(a, b uint32) uint32 {
	r := b32(float32(f32(a) * f32(b)))
	if isNaN32(r) {
		return nanOf2(a, b)
	}
	return r
}

// ffma is a*b+c rounded once. The product of two float32 is exact in float64;
// the sum is rounded to odd there, which makes the second rounding harmless.
func ffma(a, b, c uint32) uint32 {
	p := float64(f32(a)) * float64(f32(b))
	r := b32(float32(addOdd(p, float64(f32(c)))))
	if isNaN32(r) {
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
		// The exact sum lies beyond s in the direction of e.
		if (e > 0) == (s > 0) {
			b++
		} else {
			b--
		}
	}
	return math.Float64frombits(b)
}

// fmax32 and fmin32 are IEEE maxNum and minNum: one NaN gives the other operand,
// +0 is greater than -0.
func fmax32(a, b uint32) uint32 {
	if isNaN32(a) {
		if isNaN32(b) {
			return quiet32(a)
		}
		return b
	}
	if isNaN32(b) {
		return a
	}
	if orderKey(a) >= orderKey(b) {
		return a
	}
	return b
}

func fmin32(a, b uint32) uint32 {
	if isNaN32(a) {
		if isNaN32(b) {
			return quiet32(a)
		}
		return b
	}
	if isNaN32(b) {
		return a
	}
	if orderKey(a) <= orderKey(b) {
		return a
	}
	return b
}

// orderKey maps float bits to integers in the order of the numbers, -0 < +0.
func orderKey(u uint32) int32 { return int32(u ^ uint32(int32(u)>>31)>>1) }

func orderKey64(u uint64) int64 { return int64(u ^ uint64(int64(u)>>63)>>1) }

func fmax64(a, b uint64) uint64 {
	switch {
	case isNaN64(a) && isNaN64(b):
		return a | 1<<51
	case isNaN64(a):
		return b
	case isNaN64(b):
		return a
	case orderKey64(a) >= orderKey64(b):
		return a
	}
	return b
}

func fmin64(a, b uint64) uint64 {
	switch {
	case isNaN64(a) && isNaN64(b):
		return a | 1<<51
	case isNaN64(a):
		return b
	case isNaN64(b):
		return a
	case orderKey64(a) <= orderKey64(b):
		return a
	}
	return b
}

func fmed3(a, b, c uint32) uint32 {
	if isNaN32(a) || isNaN32(b) || isNaN32(c) {
		return fmin32(fmin32(a, b), c)
	}
	if m := fmax32(fmax32(a, b), c); m == a {
		return fmax32(b, c)
	} else if m == b {
		return fmax32(a, c)
	}
	return fmax32(a, b)
}

// clampF32 limits to [0,1]; NaN gives 0.
func clampF32(u uint32) uint32 {
	f := f32(u)
	if !(f > 0) {
		return 0
	}
	if f > 1 {
		return 0x3F800000
	}
	return u
}

// flush32 replaces a denormal by a zero of its sign.
func flush32(u uint32) uint32 {
	if u&0x7F800000 == 0 {
		return u & 0x80000000
	}
	return u
}

// f16to32 is exact; a signalling NaN is quieted.
func f16to32(h uint32) uint32 {
	s := h & 0x8000 << 16
	e := h >> 10 & 31
	m := h & 0x3FF
	switch e {
	case 0:
		if m == 0 {
			return s
		}
		// Normalise: value is m * 2^-24.
		return s | b32(float32(m)*(1.0/(1<<24)))
	case 31:
		if m != 0 {
			m |= 0x200
		}
		return s | 0x7F800000 | m<<13
	}
	return s | (e+112)<<23 | m<<13
}

// f32to16 rounds to nearest even.
func f32to16(u uint32) uint32 {
	s := u >> 16 & 0x8000
	x := u & 0x7FFFFFFF
	switch {
	case x > 0x7F800000:
		return s | 0x7E00 | x>>13&0x1FF
	case x >= 0x477FF000: // rounds beyond 65504
		return s | 0x7C00
	case x < 0x38800000: // below the smallest normal: multiples of 2^-24
		// Adding 0.5 puts the wanted unit at the last bit of the sum.
		return s | (b32(f32(x)+0.5) - 0x3F000000)
	}
	x += 0xFFF + x>>13&1
	return s | (x-0x38000000)>>13
}

// f32to16z rounds toward zero; a finite value never becomes infinite.
func f32to16z(u uint32) uint32 {
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
		return s | uint32(f32(x)*(1<<24))
	}
	return s | (x-0x38000000)>>13
}

// oddTo16 rounds a float64 that is exact or rounded to odd to half.
func oddTo16(f float64) uint32 {
	// The float64 to float32 step must not round: make it odd as well.
	r := float32(f)
	if g := float64(r); g != f && f == f {
		b := b32(r)
		if b&1 == 0 {
			if (f > g) == (f > 0) {
				b++
			} else {
				b--
			}
		}
		return f32to16(b)
	}
	return f32to16(b32(r))
}

// Half arithmetic on the low 16 bits: operands widen exactly, float32 is wide
// enough that rounding twice equals rounding once for sums and products.
func hnan(r, a, b uint32) uint32 {
	if r&0x7FFF > 0x7C00 {
		if a&0x7FFF > 0x7C00 {
			return a&0xFFFF | 0x200
		}
		if b&0x7FFF > 0x7C00 {
			return b&0xFFFF | 0x200
		}
		return nan16
	}
	return r
}

func hadd(a, b uint32) uint32 {
	return hnan(f32to16(b32(f32(f16to32(a))+f32(f16to32(b)))), a, b)
}

func hsub(a, b uint32) uint32 {
	return hnan(f32to16(b32(f32(f16to32(a))-f32(f16to32(b)))), a, b)
}

func hmul(a, b uint32) uint32 {
	return hnan(f32to16(b32(float32(f32(f16to32(a))*f32(f16to32(b))))), a, b)
}

func hfma(a, b, c uint32) uint32 {
	p := float64(f32(f16to32(a))) * float64(f32(f16to32(b)))
	r := oddTo16(addOdd(p, float64(f32(f16to32(c)))))
	if r&0x7FFF > 0x7C00 {
		if a&0x7FFF > 0x7C00 {
			return a&0xFFFF | 0x200
		}
		return hnan(r, b, c)
	}
	return r
}

func hmax(a, b uint32) uint32 { return f32to16(fmax32(f16to32(a), f16to32(b))) }
func hmin(a, b uint32) uint32 { return f32to16(fmin32(f16to32(a), f16to32(b))) }

// Transcendental unit: evaluated in float64 with our own series, so that every
// host gives the same bits, then rounded.

func frcp(u uint32) uint32 {
	if isNaN32(u) {
		return quiet32(u)
	}
	return b32(float32(1 / float64(f32(u))))
}

func fsqrt(u uint32) uint32 {
	if isNaN32(u) {
		return quiet32(u)
	}
	r := b32(float32(math.Sqrt(float64(f32(u)))))
	if isNaN32(r) {
		return nan32
	}
	return r
}

func frsq(u uint32) uint32 {
	if isNaN32(u) {
		return quiet32(u)
	}
	x := float64(f32(u))
	switch {
	case u == 0x80000000:
		return 0xFF800000
	case x < 0:
		return nan32
	}
	return b32(float32(1 / math.Sqrt(x)))
}

func fexp2(u uint32) uint32 {
	if isNaN32(u) {
		return quiet32(u)
	}
	return b32(float32(exp2(float64(f32(flush32(u))))))
}

func flog2(u uint32) uint32 {
	if isNaN32(u) {
		return quiet32(u)
	}
	u = flush32(u)
	if u&0x7FFFFFFF == 0 {
		return 0xFF800000
	}
	if u>>31 != 0 {
		return nan32
	}
	if u == 0x7F800000 {
		return u
	}
	return b32(float32(log2(float64(f32(u)))))
}

// fsin and fcos take turns: sin(2 pi x). Outside [-256, 256] the unit gives 0
// and 1, as the documented domain of the hardware ends there.
func fsin(u uint32) uint32 { return fsincos(flush32(u), 0) }
func fcos(u uint32) uint32 { return fsincos(flush32(u), 1) }

func fsincos(u uint32, quarter int) uint32 {
	if isNaN32(u) {
		return quiet32(u)
	}
	x := float64(f32(u))
	if math.IsInf(x, 0) {
		return nan32
	}
	if x < -256 || x > 256 {
		if quarter == 0 {
			return 0
		}
		return 0x3F800000
	}
	if x == 0 && quarter == 0 {
		return u
	}
	return b32(float32(sinTurn(x, quarter)))
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
