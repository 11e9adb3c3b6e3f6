package exec

import (
	"math"

	"github.com/nnsoc/nnsoc/gpu/internal/float"
	"github.com/nnsoc/nnsoc/gpu/internal/state"
)

// rounding is the direction in which a mode rounds results of a type: a field for single precision, another for halves
// and doubles.
func rounding(mode uint32, k state.Result) float.Rounding {
	if k == state.ResultF32 {
		return float.Rounding(mode & 3)
	}
	return float.Rounding(mode >> 2 & 3)
}

// directed makes the lane functions of instructions that round, for the modes that do not round to nearest. Estimates
// (v_rcp, v_sqrt, ..) and dot products, whose roundings are not published, are the same in every mode.
var directed = map[string]func(m float.Rounding) any{
	"v_add_f32":         func(m float.Rounding) any { return lane2(m.Add32) },
	"v_sub_f32":         func(m float.Rounding) any { return lane2(m.Sub32) },
	"v_subrev_f32":      func(m float.Rounding) any { return lane2(swap(m.Sub32)) },
	"v_mul_f32":         func(m float.Rounding) any { return lane2(m.Mul32) },
	"v_mul_legacy_f32":  func(m float.Rounding) any { return lane2(legacy(m.Mul32)) },
	"v_fma_f32":         func(m float.Rounding) any { return lane3(m.FMA32) },
	"v_fmac_f32":        func(m float.Rounding) any { return lane3(m.FMA32) },
	"v_fmamk_f32":       func(m float.Rounding) any { return lane3(m.FMA32) },
	"v_fmaak_f32":       func(m float.Rounding) any { return lane3(m.FMA32) },
	"v_fma_legacy_f32":  func(m float.Rounding) any { return lane3(fmaLegacy(m.FMA32)) },
	"v_fmac_legacy_f32": func(m float.Rounding) any { return lane3(fmaLegacy(m.FMA32)) },
	"v_ldexp_f32": func(m float.Rounding) any {
		return lane2(func(a, n uint32) uint32 { return m.Round32(float.Quiet(a), ldexp32(a, n)) })
	},
	"v_cvt_f32_i32": func(m float.Rounding) any {
		return lane1(func(a uint32) uint32 { return m.Round32(0, float64(int32(a))) })
	},
	"v_cvt_f32_u32": func(m float.Rounding) any {
		return lane1(func(a uint32) uint32 { return m.Round32(0, float64(a)) })
	},

	"v_add_f16":     func(m float.Rounding) any { return lane2(m.Add16) },
	"v_sub_f16":     func(m float.Rounding) any { return lane2(m.Sub16) },
	"v_subrev_f16":  func(m float.Rounding) any { return lane2(swap(m.Sub16)) },
	"v_mul_f16":     func(m float.Rounding) any { return lane2(m.Mul16) },
	"v_fma_f16":     func(m float.Rounding) any { return lane3(m.FMA16) },
	"v_fmac_f16":    func(m float.Rounding) any { return lane3(m.FMA16) },
	"v_fmamk_f16":   func(m float.Rounding) any { return lane3(m.FMA16) },
	"v_fmaak_f16":   func(m float.Rounding) any { return lane3(m.FMA16) },
	"v_pk_add_f16":  func(m float.Rounding) any { return lane2(pairs(m.Add16)) },
	"v_pk_mul_f16":  func(m float.Rounding) any { return lane2(pairs(m.Mul16)) },
	"v_pk_fma_f16":  func(m float.Rounding) any { return lane3(triples(m.FMA16)) },
	"v_pk_fmac_f16": func(m float.Rounding) any { return lane3(triples(m.FMA16)) },
	"v_cvt_f16_f32": func(m float.Rounding) any { return lane1(m.ToHalf) },
	"v_cvt_f16_u16": func(m float.Rounding) any {
		return lane1(func(a uint32) uint32 { return m.Round16(0, float64(a&0xFFFF)) })
	},
	"v_cvt_f16_i16": func(m float.Rounding) any {
		return lane1(func(a uint32) uint32 { return m.Round16(0, float64(int16(a))) })
	},
	"v_ldexp_f16": func(m float.Rounding) any {
		return lane2(func(a, n uint32) uint32 {
			x := float.FromHalf(a & 0xFFFF)
			return m.Round16(float.ToHalf(float.Quiet(x)), ldexp32(x, uint32(int16(n))))
		})
	},
}

// directedWide is directed of instructions with operands of 64 bits.
var directedWide = map[string]func(m float.Rounding, a, b, c uint64) uint64{
	"v_add_f64": func(m float.Rounding, a, b, _ uint64) uint64 {
		x, y := float.F64(a), float.F64(b)
		return nan64(m.FMA64(x+y, x, 1, y, 0), a, b)
	},
	"v_mul_f64": func(m float.Rounding, a, b, _ uint64) uint64 {
		x, y := float.F64(a), float.F64(b)
		return nan64(m.FMA64(x*y, x, y, zeroOf(a^b), 0), a, b)
	},
	"v_fma_f64": func(m float.Rounding, a, b, c uint64) uint64 {
		x, y, z := float.F64(a), float.F64(b), float.F64(c)
		return nan64(m.FMA64(math.FMA(x, y, z), x, y, z, 0), a, b, c)
	},
	"v_ldexp_f64": func(m float.Rounding, a, b, _ uint64) uint64 {
		x, by := float.F64(a), ldexpBy(b)
		return nan64(m.FMA64(math.Ldexp(x, by), x, 1, zeroOf(a), by), a)
	},
	"v_cvt_f32_f64": func(m float.Rounding, a, _, _ uint64) uint64 {
		if float.IsNaN64(a) {
			return nan32Of(a)
		}
		return uint64(m.Round32(0, float.F64(a)))
	},
}

// zeroOf is a zero of the sign of a.
func zeroOf(a uint64) float64 { return math.Copysign(0, float.F64(a)) }

// swap exchanges the operands of f.
func swap(f func(a, b uint32) uint32) func(a, b uint32) uint32 {
	return func(a, b uint32) uint32 { return f(b, a) }
}

// legacy is a product that is 0 where a factor is a zero.
func legacy(f func(a, b uint32) uint32) func(a, b uint32) uint32 {
	return func(a, b uint32) uint32 {
		if a<<1 == 0 || b<<1 == 0 {
			return 0
		}
		return f(a, b)
	}
}

// fmaLegacy is a fused multiply-add in which zero times anything is zero.
func fmaLegacy(f func(a, b, c uint32) uint32) func(a, b, c uint32) uint32 {
	return func(a, b, c uint32) uint32 {
		if a<<1 == 0 || b<<1 == 0 {
			return float.Add(0, c)
		}
		return f(a, b, c)
	}
}

// pairs applies f to both halves of its operands.
func pairs(f func(a, b uint32) uint32) func(a, b uint32) uint32 {
	return func(a, b uint32) uint32 { return f(a&0xFFFF, b&0xFFFF) | f(a>>16, b>>16)<<16 }
}

// triples is pairs of three operands.
func triples(f func(a, b, c uint32) uint32) func(a, b, c uint32) uint32 {
	return func(a, b, c uint32) uint32 {
		return f(a&0xFFFF, b&0xFFFF, c&0xFFFF) | f(a>>16, b>>16, c>>16)<<16
	}
}
