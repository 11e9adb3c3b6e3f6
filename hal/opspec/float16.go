package opspec

import "github.com/x448/float16"

// Float16ToFloat32 widens an IEEE 754 binary16 value given as its bits.
func Float16ToFloat32(bits uint16) float32 { return float16.Frombits(bits).Float32() }

// Float32ToFloat16 rounds to binary16, half to even, and returns the bits.
func Float32ToFloat16(v float32) uint16 { return float16.Fromfloat32(v).Bits() }
