package exec

import (
	"math"
	"math/bits"

	"github.com/nnsoc/nnsoc/gpu/internal/float"
)

// Lane functions that are more than one expression.

func popcount(a uint32) uint32      { return uint32(bits.OnesCount32(a)) }
func bits32Reverse(a uint32) uint32 { return bits.Reverse32(a) }
func lo16(a uint32) int32           { return int32(int16(a)) }
func hi16(a uint32) int32           { return int32(a) >> 16 }
func pack16(lo, hi uint32) uint32   { return lo&0xFFFF | hi<<16 }
func sext24(a uint32) int64         { return int64(int32(a<<8) >> 8) }
func floor64(x float64) float64     { return math.Floor(x) }

func ffbhU32(a uint32) uint32 {
	if a == 0 {
		return ^uint32(0)
	}
	return uint32(bits.LeadingZeros32(a))
}

func ffblB32(a uint32) uint32 {
	if a == 0 {
		return ^uint32(0)
	}
	return uint32(bits.TrailingZeros32(a))
}

// ffbhI32 counts from the top to the first bit that differs from the sign.
func ffbhI32(a uint32) uint32 {
	x := a ^ uint32(int32(a)>>31)
	if x == 0 {
		return ^uint32(0)
	}
	return uint32(bits.LeadingZeros32(x))
}

func bfeU32(a, off, n uint32) uint32 { return a >> off & (1<<n - 1) }

func bfeI32(a, off, n uint32) uint32 {
	if n == 0 {
		return 0
	}
	if off+n >= 32 {
		return uint32(int32(a) >> off)
	}
	return uint32(int32(a<<(32-off-n)) >> (32 - n))
}

// permB32 picks four bytes of {a, b}; selectors 8 and up make constants.
func permB32(a, b, sel uint32) uint32 {
	both := uint64(a)<<32 | uint64(b)
	var r uint32
	for i := uint32(0); i < 32; i += 8 {
		var v uint32
		switch s := sel >> i & 255; {
		case s < 8:
			v = uint32(both>>(8*s)) & 255
		case s < 12:
			v = uint32(int64(both<<(48-16*(s-8)))>>63) & 255
		case s == 12:
		default:
			v = 255
		}
		r |= v << i
	}
	return r
}

func maxI32(a, b uint32) uint32 { return uint32(max(int32(a), int32(b))) }
func minI32(a, b uint32) uint32 { return uint32(min(int32(a), int32(b))) }

func addSatU32(a, b uint32) uint32 {
	if s := a + b; s >= a {
		return s
	}
	return ^uint32(0)
}

func subSatU32(a, b uint32) uint32 {
	if a < b {
		return 0
	}
	return a - b
}

func sat32(v int64) uint32 { return uint32(min(max(v, math.MinInt32), math.MaxInt32)) }

// satI16 limits to int16 and returns 16 bits.
func satI16(v int32) uint32 { return uint32(min(max(v, math.MinInt16), math.MaxInt16)) & 0xFFFF }

func sadU8(a, b, c uint32) uint32 {
	for i := 0; i < 32; i += 8 {
		x, y := a>>i&255, b>>i&255
		c += max(x, y) - min(x, y)
	}
	return c
}

// msadU8 is sadU8 without the bytes that are 0 in b.
func msadU8(a, b, c uint32) uint32 {
	for i := 0; i < 32; i += 8 {
		if y := b >> i & 255; y != 0 {
			x := a >> i & 255
			c += max(x, y) - min(x, y)
		}
	}
	return c
}

func dot4I8(a, b uint32) int32 {
	return int32(int8(a))*int32(int8(b)) + int32(int8(a>>8))*int32(int8(b>>8)) +
		int32(int8(a>>16))*int32(int8(b>>16)) + int32(int8(a>>24))*int32(int8(b>>24))
}

func dot4U8(a, b uint32) uint32 {
	return (a&255)*(b&255) + (a>>8&255)*(b>>8&255) + (a>>16&255)*(b>>16&255) + (a>>24)*(b>>24)
}

func dot8I4(a, b uint32) int32 {
	var s int32
	for i := 0; i < 32; i += 4 {
		s += (int32(a<<(28-i)) >> 28) * (int32(b<<(28-i)) >> 28)
	}
	return s
}

func dot8U4(a, b uint32) uint32 {
	var s uint32
	for i := 0; i < 32; i += 4 {
		s += (a >> i & 15) * (b >> i & 15)
	}
	return s
}

// lerpU8 averages bytes, rounding up where the low bit of c's byte is set.
func lerpU8(a, b, c uint32) uint32 {
	var r uint32
	for i := 0; i < 32; i += 8 {
		r |= (a>>i&255 + b>>i&255 + c>>i&1) >> 1 << i
	}
	return r
}

// norm limits a float to [lo, 1] and scales it to an integer.
func norm(a uint32, lo, scale float64) uint32 {
	x := float64(float.F32(a))
	if x != x {
		return 0
	}
	return uint32(int32(math.RoundToEven(min(max(x, lo), 1) * scale)))
}

// dot2F32F16 flushes float32 denormals on the way in and out. The order of its
// additions is not published; low halves first, each rounded once.
func dot2F32F16(a, b, c uint32) uint32 {
	t := float.Flush(float.FMA(float.FromHalf(a&0xFFFF), float.FromHalf(b&0xFFFF), float.Flush(c)))
	return float.Flush(float.FMA(float.FromHalf(a>>16), float.FromHalf(b>>16), t))
}

// via32 is a half operation evaluated in float32.
func via32(f func(uint32) uint32) lane1 {
	return func(a uint32) uint32 { return float.ToHalf(f(float.FromHalf(a & 0xFFFF))) }
}

func round32(a uint32, f func(float64) float64) uint32 {
	if float.IsNaN32(a) {
		return float.Quiet(a)
	}
	return float.Bits32(float32(f(float64(float.F32(a)))))
}

func frndne(a uint32) uint32 { return round32(a, math.RoundToEven) }
func ffloor(a uint32) uint32 { return round32(a, math.Floor) }
func fceil(a uint32) uint32  { return round32(a, math.Ceil) }
func ftrunc(a uint32) uint32 { return round32(a, math.Trunc) }

// ffract is a - floor(a), below 1.
func ffract(a uint32) uint32 {
	if float.IsNaN32(a) {
		return float.Quiet(a)
	}
	x := float64(float.F32(a))
	if math.IsInf(x, 0) {
		return float.NaN32
	}
	return min(float.Bits32(float32(x-math.Floor(x))), 0x3F7FFFFF)
}

// ffractHalf is ffract whose result rounds to a half below 1.
func ffractHalf(a uint32) uint32 {
	f := ffract(a)
	if float.IsNaN32(f) {
		return f
	}
	return min(f, 0x3F7FE000)
}

func fldexp(a, n uint32) uint32 {
	if float.IsNaN32(a) {
		return float.Quiet(a)
	}
	return float.Bits32(float32(ldexp32(a, n)))
}

// ldexp32 is a * 2^n, exact for every result that float32 can hold.
func ldexp32(a, n uint32) float64 {
	return math.Ldexp(float64(float.F32(a)), int(min(max(int32(n), -400), 400)))
}

func ffrexpExp(a uint32) uint32 {
	_, e := math.Frexp(float64(float.F32(a)))
	return uint32(int32(e))
}

func ffrexpMant(a uint32) uint32 {
	if float.IsNaN32(a) {
		return float.Quiet(a)
	}
	m, _ := math.Frexp(float64(float.F32(a)))
	return float.Bits32(float32(m))
}

func cvtI32(a uint32) uint32 {
	if float.IsNaN32(a) {
		return 0
	}
	return cvtI64(float64(float.F32(a)))
}

func cvtI64(x float64) uint32 {
	switch {
	case x != x:
		return 0
	case x >= math.MaxInt32:
		return math.MaxInt32
	case x <= math.MinInt32:
		return 1 << 31
	}
	return uint32(int32(x))
}

func cvtU32(a uint32) uint32 { return cvtU64(float64(float.F32(a))) }

func cvtU64(x float64) uint32 {
	switch {
	case !(x > 0):
		return 0
	case x >= math.MaxUint32:
		return math.MaxUint32
	}
	return uint32(x)
}

// cvtPkU8 rounds a to a byte and inserts it at byte b of c.
func cvtPkU8(a, b, c uint32) uint32 {
	v := uint32(0)
	if x := math.RoundToEven(float64(float.F32(a))); x > 0 {
		v = uint32(min(x, 255))
	}
	sh := 8 * (b & 3)
	return c&^(255<<sh) | v<<sh
}
