// Package simd has the operations common to the parallel lanes of scalar and of vector registers.
package simd

// Bounds of lanes: bytes, halfwords and words, signed and unsigned.
const (
	MinB, MaxB, MaxUB = -1 << 7, 1<<7 - 1, 1<<8 - 1
	MinH, MaxH, MaxUH = -1 << 15, 1<<15 - 1, 1<<16 - 1
	MinW, MaxW, MaxUW = -1 << 31, 1<<31 - 1, 1<<32 - 1
)

// Clamp saturates x.
func Clamp(x, lo, hi int64) int64 {
	if x < lo {
		return lo
	}
	if x > hi {
		return hi
	}
	return x
}

// B is byte i of a scalar register, counted modulo 4.
func B(r uint32, i int) int32 { return int32(int8(r >> (8 * (i & 3)))) }

// UB is B without a sign.
func UB(r uint32, i int) int32 { return int32(uint8(r >> (8 * (i & 3)))) }

// H is halfword i of a scalar register, counted modulo 2.
func H(r uint32, i int) int32 { return int32(int16(r >> (16 * (i & 1)))) }

// UH is H without a sign.
func UH(r uint32, i int) int32 { return int32(uint16(r >> (16 * (i & 1)))) }
