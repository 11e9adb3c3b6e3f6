package exec

import (
	"math"

	"github.com/nnsoc/nnsoc/gpu/internal/float"
	"github.com/nnsoc/nnsoc/gpu/internal/state"
	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// wide is an instruction with a 64-bit operand or result. Operands of one
// register are zero-extended.
type wide struct {
	name string
	kind state.Result // of the result, for clamp
	f    func(a, b, c uint64) uint64
}

func execWide(w *state.Wave, u *state.Op) {
	m := w.Exec()
	if m == 0 {
		return
	}
	s := u.Details.Func.(*wide)
	f := s.f
	if m := rounding(w.Mode, s.kind); m != float.Nearest {
		if d := directedWide[s.name]; d != nil {
			f = func(a, b, c uint64) uint64 { return d(m, a, b, c) }
		}
	}
	for i := range 3 {
		readRow64(w, &w.Machine.Wide[i], u, i)
	}
	two := u.Details.Form.Ops[0].Regs == 2
	lo := w.Row(u.Dst)
	hi := lo
	if two {
		hi = w.Row(u.Dst + uint32(w.Lanes))
	}
	for ; m != 0; m &= m - 1 {
		l := state.FirstLane(m)
		r := f(w.Machine.Wide[0][l], w.Machine.Wide[1][l], w.Machine.Wide[2][l])
		r = finishWide(w.Mode, u.Details, r)
		lo[l] = uint32(r)
		if two {
			hi[l] = uint32(r >> 32)
		}
	}
}

// finishWide applies output modifiers and clamp to a result.
func finishWide(mode uint32, x *state.Details, r uint64) uint64 {
	by := outputScale(mode, x.Result, x.Inst.OMod)
	switch {
	case x.Result == state.ResultF64 && by != 1 && !float.IsNaN64(r):
		r = float.Bits64(float.F64(r)*by + 0)
	case x.Result == state.ResultF32 && by != 1:
		r = uint64(scaled32(uint32(r), by))
	}
	switch {
	case !x.Inst.Clamp:
	case x.Result == state.ResultF64:
		return clamp64(mode, r)
	case x.Result == state.ResultF32:
		return uint64(clamp32(mode, uint32(r)))
	}
	return r
}

// readRow64 reads operand i into 64-bit lanes, with its modifiers.
func readRow64(w *state.Wave, t *[64]uint64, u *state.Op, i int) {
	k, v := u.Operand(i)
	x := u.Details
	switch k {
	case state.SourceNone:
		return
	case state.SourcePrepared:
		for l, x := range w.Machine.Prepared[v][:w.Lanes] {
			t[l] = uint64(x)
		}
	case state.SourceVGPR:
		lo := w.Row(v)
		if x.Regs[i] == 2 {
			hi := w.Row(v + uint32(w.Lanes))
			for l := range w.Lanes {
				t[l] = uint64(lo[l]) | uint64(hi[l])<<32
			}
		} else {
			for l := range w.Lanes {
				t[l] = uint64(lo[l])
			}
		}
	default:
		c := uint64(w.Scalar(k, v))
		if k == state.SourceConstant && x.Regs[i] == 2 {
			c = x.Value[i]
		} else if k == state.SourceSGPR && x.Regs[i] == 2 {
			c = w.S64(v)
		}
		for l := range w.Lanes {
			t[l] = c
		}
	}
	neg, abs := x.Inst.Neg>>i&1 != 0, x.Inst.Abs>>i&1 != 0
	if !neg && !abs {
		return
	}
	sign := uint64(1) << 31
	if x.Kind[i] == rdna2.F64 {
		sign = 1 << 63
	} else if x.Kind[i] == rdna2.F16 {
		sign = 1 << 15
	}
	for l := range w.Lanes {
		if abs {
			t[l] &^= sign
		}
		if neg {
			t[l] ^= sign
		}
	}
}

var wideSem = byName(func() []wide { return wideTable }, func(s *wide) string { return s.name })

// ldexpBy is the exponent that v_ldexp_f64 adds, within what changes a result.
func ldexpBy(b uint64) int { return int(min(max(int32(uint32(b)), -3000), 3000)) }

// nan32Of is a NaN of float64 as one of float32.
func nan32Of(a uint64) uint64 { return a>>63<<31 | float.NaN32 | a>>29&0x3FFFFF }

func asI64(v uint64) int64 { return int64(int32(uint32(v))) }

// nan64 is the result of a float64 operation whose plain result is r.
func nan64(r float64, args ...uint64) uint64 {
	if r == r {
		return float.Bits64(r)
	}
	for _, a := range args {
		if float.IsNaN64(a) {
			return a | 1<<51
		}
	}
	return 0x7FF8 << 48
}

func f64op1(f func(float64) float64) func(a, b, c uint64) uint64 {
	return func(a, _, _ uint64) uint64 { return nan64(f(float.F64(a)), a) }
}

// wideTable lists the instructions with 64-bit operands or results that
// neither read nor write a mask.
var wideTable = []wide{
	{"v_lshlrev_b64", state.NoFloat, func(a, b, _ uint64) uint64 { return b << (a & 63) }},
	{"v_lshrrev_b64", state.NoFloat, func(a, b, _ uint64) uint64 { return b >> (a & 63) }},
	{"v_ashrrev_i64", state.NoFloat, func(a, b, _ uint64) uint64 { return uint64(int64(b) >> (a & 63)) }},
	{"v_add_f64", state.ResultF64, func(a, b, _ uint64) uint64 { return nan64(float.F64(a)+float.F64(b), a, b) }},
	{"v_mul_f64", state.ResultF64, func(a, b, _ uint64) uint64 { return nan64(float64(float.F64(a)*float.F64(b)), a, b) }},
	{"v_fma_f64", state.ResultF64, func(a, b, c uint64) uint64 { return nan64(math.FMA(float.F64(a), float.F64(b), float.F64(c)), a, b, c) }},
	{"v_max_f64", state.ResultF64, func(a, b, _ uint64) uint64 { return float.Max64(a, b) }},
	{"v_min_f64", state.ResultF64, func(a, b, _ uint64) uint64 { return float.Min64(a, b) }},
	{"v_ldexp_f64", state.ResultF64, func(a, b, _ uint64) uint64 {
		return nan64(math.Ldexp(float.F64(a), ldexpBy(b)), a)
	}},
	{"v_rcp_f64", state.ResultF64, f64op1(func(x float64) float64 { return 1 / x })},
	{"v_rsq_f64", state.ResultF64, f64op1(func(x float64) float64 { return 1 / math.Sqrt(x) })},
	{"v_sqrt_f64", state.ResultF64, f64op1(math.Sqrt)},
	{"v_trunc_f64", state.ResultF64, f64op1(math.Trunc)},
	{"v_ceil_f64", state.ResultF64, f64op1(math.Ceil)},
	{"v_floor_f64", state.ResultF64, f64op1(math.Floor)},
	{"v_rndne_f64", state.ResultF64, f64op1(math.RoundToEven)},
	{"v_fract_f64", state.ResultF64, f64op1(func(x float64) float64 { return min(x-math.Floor(x), 1-0x1p-53) })},
	{"v_frexp_mant_f64", state.ResultF64, f64op1(func(x float64) float64 { m, _ := math.Frexp(x); return m })},
	{"v_frexp_exp_i32_f64", state.NoFloat, func(a, _, _ uint64) uint64 {
		if a>>52&0x7FF == 0x7FF {
			return 0
		}
		_, e := math.Frexp(float.F64(a))
		return uint64(uint32(int32(e)))
	}},
	{"v_cvt_f64_i32", state.ResultF64, func(a, _, _ uint64) uint64 { return float.Bits64(float64(asI64(a))) }},
	{"v_cvt_f64_u32", state.ResultF64, func(a, _, _ uint64) uint64 { return float.Bits64(float64(uint32(a))) }},
	{"v_cvt_f64_f32", state.ResultF64, func(a, _, _ uint64) uint64 {
		if float.IsNaN32(uint32(a)) {
			return a>>31<<63 | 0x7FF8<<48 | a&0x3FFFFF<<29
		}
		return float.Bits64(float64(float.F32(uint32(a))))
	}},
	{"v_cvt_f32_f64", state.ResultF32, func(a, _, _ uint64) uint64 {
		if float.IsNaN64(a) {
			return nan32Of(a)
		}
		return uint64(float.Bits32(float32(float.F64(a))))
	}},
	{"v_cvt_i32_f64", state.NoFloat, func(a, _, _ uint64) uint64 { return uint64(cvtI64(float.F64(a))) }},
	{"v_cvt_u32_f64", state.NoFloat, func(a, _, _ uint64) uint64 { return uint64(cvtU64(float.F64(a))) }},
	{"v_div_fixup_f64", state.ResultF64, div64.fixup},
	{"v_qsad_pk_u16_u8", state.NoFloat, quadSAD(sadU8, false)},
	{"v_mqsad_pk_u16_u8", state.NoFloat, quadSAD(msadU8, false)},
	{"v_trig_preop_f64", state.ResultF64, func(a, b, _ uint64) uint64 { return float.Bits64(trigPreop(a, uint(b))) }},
}
