package exec

import (
	"github.com/nnsoc/nnsoc/gpu/internal/float"
	"github.com/nnsoc/nnsoc/gpu/internal/state"
)

// lane1, lane2 and lane3 compute one lane. They are the definition; faster
// whole-row versions must agree with them bit for bit.
type (
	lane1 func(a uint32) uint32
	lane2 func(a, b uint32) uint32
	lane3 func(a, b, c uint32) uint32
)

// sem is one row of the vector instruction table: the function of a mnemonic.
type sem struct {
	name string
	kind state.Result
	f    any  // lane1, lane2 or lane3
	acc  bool // the destination is the third source
	half bool // 16-bit result: the other half of the register is kept
	sat  any  // the function that clamp selects on integers
}

// vectorTable lists the instructions whose result is one 32-bit register and
// that neither read nor write a mask. Names are mnemonics without _e32/_e64.
var vectorTable = []sem{
	// Moves, logic, shifts.
	{name: "v_mov_b32", kind: state.ResultF32, f: lane1(func(a uint32) uint32 { return a })},
	{name: "v_not_b32", f: lane1(func(a uint32) uint32 { return ^a })},
	{name: "v_bfrev_b32", f: lane1(bits32Reverse)},
	{name: "v_ffbh_u32", f: lane1(ffbhU32)},
	{name: "v_ffbl_b32", f: lane1(ffblB32)},
	{name: "v_ffbh_i32", f: lane1(ffbhI32)},
	{name: "v_and_b32", f: lane2(func(a, b uint32) uint32 { return a & b })},
	{name: "v_or_b32", f: lane2(func(a, b uint32) uint32 { return a | b })},
	{name: "v_xor_b32", f: lane2(func(a, b uint32) uint32 { return a ^ b })},
	{name: "v_xnor_b32", f: lane2(func(a, b uint32) uint32 { return ^(a ^ b) })},
	{name: "v_lshlrev_b32", f: lane2(func(a, b uint32) uint32 { return b << (a & 31) })},
	{name: "v_lshrrev_b32", f: lane2(func(a, b uint32) uint32 { return b >> (a & 31) })},
	{name: "v_ashrrev_i32", f: lane2(func(a, b uint32) uint32 { return uint32(int32(b) >> (a & 31)) })},
	{name: "v_lshl_or_b32", f: lane3(func(a, b, c uint32) uint32 { return a<<(b&31) | c })},
	{name: "v_and_or_b32", f: lane3(func(a, b, c uint32) uint32 { return a&b | c })},
	{name: "v_or3_b32", f: lane3(func(a, b, c uint32) uint32 { return a | b | c })},
	{name: "v_xor3_b32", f: lane3(func(a, b, c uint32) uint32 { return a ^ b ^ c })},
	{name: "v_bfe_u32", f: lane3(func(a, b, c uint32) uint32 { return bfeU32(a, b&31, c&31) })},
	{name: "v_bfe_i32", f: lane3(func(a, b, c uint32) uint32 { return bfeI32(a, b&31, c&31) })},
	{name: "v_bfi_b32", f: lane3(func(a, b, c uint32) uint32 { return a&b | ^a&c })},
	{name: "v_bfm_b32", f: lane2(func(a, b uint32) uint32 { return (1<<(a&31) - 1) << (b & 31) })},
	{name: "v_alignbit_b32", f: lane3(func(a, b, c uint32) uint32 { return uint32((uint64(a)<<32 | uint64(b)) >> (c & 31)) })},
	{name: "v_alignbyte_b32", f: lane3(func(a, b, c uint32) uint32 { return uint32((uint64(a)<<32 | uint64(b)) >> (8 * (c & 3))) })},
	{name: "v_perm_b32", f: lane3(permB32)},
	{name: "v_bcnt_u32_b32", f: lane2(func(a, b uint32) uint32 { return popcount(a) + b })},

	// 32-bit integers.
	{name: "v_add_nc_u32", f: lane2(func(a, b uint32) uint32 { return a + b }), sat: lane2(addSatU32)},
	{name: "v_sub_nc_u32", f: lane2(func(a, b uint32) uint32 { return a - b }), sat: lane2(subSatU32)},
	{name: "v_subrev_nc_u32", f: lane2(func(a, b uint32) uint32 { return b - a }), sat: lane2(func(a, b uint32) uint32 { return subSatU32(b, a) })},
	{name: "v_add_nc_i32", f: lane2(func(a, b uint32) uint32 { return a + b }), sat: lane2(func(a, b uint32) uint32 { return sat32(int64(int32(a)) + int64(int32(b))) })},
	{name: "v_sub_nc_i32", f: lane2(func(a, b uint32) uint32 { return a - b }), sat: lane2(func(a, b uint32) uint32 { return sat32(int64(int32(a)) - int64(int32(b))) })},
	{name: "v_add3_u32", f: lane3(func(a, b, c uint32) uint32 { return a + b + c })},
	{name: "v_lshl_add_u32", f: lane3(func(a, b, c uint32) uint32 { return a<<(b&31) + c })},
	{name: "v_add_lshl_u32", f: lane3(func(a, b, c uint32) uint32 { return (a + b) << (c & 31) })},
	{name: "v_xad_u32", f: lane3(func(a, b, c uint32) uint32 { return a ^ b + c })},
	{name: "v_max_i32", f: lane2(maxI32)},
	{name: "v_min_i32", f: lane2(minI32)},
	{name: "v_max_u32", f: lane2(func(a, b uint32) uint32 { return max(a, b) })},
	{name: "v_min_u32", f: lane2(func(a, b uint32) uint32 { return min(a, b) })},
	{name: "v_max3_i32", f: lane3(func(a, b, c uint32) uint32 { return maxI32(maxI32(a, b), c) })},
	{name: "v_min3_i32", f: lane3(func(a, b, c uint32) uint32 { return minI32(minI32(a, b), c) })},
	{name: "v_med3_i32", f: lane3(func(a, b, c uint32) uint32 { return maxI32(minI32(a, b), minI32(maxI32(a, b), c)) })},
	{name: "v_max3_u32", f: lane3(func(a, b, c uint32) uint32 { return max(a, b, c) })},
	{name: "v_min3_u32", f: lane3(func(a, b, c uint32) uint32 { return min(a, b, c) })},
	{name: "v_med3_u32", f: lane3(func(a, b, c uint32) uint32 { return max(min(a, b), min(max(a, b), c)) })},
	{name: "v_sad_u32", f: lane3(func(a, b, c uint32) uint32 { return max(a, b) - min(a, b) + c })},
	{name: "v_sad_u8", f: lane3(sadU8)},
	{name: "v_sad_hi_u8", f: lane3(func(a, b, c uint32) uint32 { return sadU8(a, b, 0)<<16 + c })},
	{name: "v_msad_u8", f: lane3(msadU8)},
	{name: "v_sad_u16", f: lane3(func(a, b, c uint32) uint32 {
		return max(a&0xFFFF, b&0xFFFF) - min(a&0xFFFF, b&0xFFFF) + max(a>>16, b>>16) - min(a>>16, b>>16) + c
	})},
	{name: "v_lerp_u8", f: lane3(lerpU8)},
	{name: "v_mul_lo_u32", f: lane2(func(a, b uint32) uint32 { return a * b })},
	{name: "v_mul_hi_u32", f: lane2(func(a, b uint32) uint32 { return uint32(uint64(a) * uint64(b) >> 32) })},
	{name: "v_mul_hi_i32", f: lane2(func(a, b uint32) uint32 { return uint32(uint64(int64(int32(a))*int64(int32(b))) >> 32) })},
	{name: "v_mul_i32_i24", f: lane2(func(a, b uint32) uint32 { return uint32(sext24(a) * sext24(b)) })},
	{name: "v_mul_hi_i32_i24", f: lane2(func(a, b uint32) uint32 { return uint32(uint64(sext24(a)*sext24(b)) >> 32) })},
	{name: "v_mul_u32_u24", f: lane2(func(a, b uint32) uint32 { return (a & 0xFFFFFF) * (b & 0xFFFFFF) })},
	{name: "v_mul_hi_u32_u24", f: lane2(func(a, b uint32) uint32 { return uint32(uint64(a&0xFFFFFF) * uint64(b&0xFFFFFF) >> 32) })},
	{name: "v_mad_i32_i24", f: lane3(func(a, b, c uint32) uint32 { return uint32(sext24(a)*sext24(b)) + c })},
	{name: "v_mad_u32_u24", f: lane3(func(a, b, c uint32) uint32 { return (a&0xFFFFFF)*(b&0xFFFFFF) + c })},
	{name: "v_mad_u32_u16", f: lane3(func(a, b, c uint32) uint32 { return (a&0xFFFF)*(b&0xFFFF) + c })},
	{name: "v_mad_i32_i16", f: lane3(func(a, b, c uint32) uint32 { return uint32(int32(int16(a))*int32(int16(b))) + c })},
	{name: "v_cvt_pk_u16_u32", f: lane2(func(a, b uint32) uint32 { return min(a, 0xFFFF) | min(b, 0xFFFF)<<16 })},
	{name: "v_cvt_pk_i16_i32", f: lane2(func(a, b uint32) uint32 { return satI16(int32(a)) | satI16(int32(b))<<16 })},

	// 16-bit integers.
	{name: "v_add_nc_u16", half: true, f: lane2(func(a, b uint32) uint32 { return a + b }), sat: lane2(func(a, b uint32) uint32 { return min(a&0xFFFF+b&0xFFFF, 0xFFFF) })},
	{name: "v_sub_nc_u16", half: true, f: lane2(func(a, b uint32) uint32 { return a - b }), sat: lane2(func(a, b uint32) uint32 { return subSatU32(a&0xFFFF, b&0xFFFF) })},
	{name: "v_add_nc_i16", half: true, f: lane2(func(a, b uint32) uint32 { return a + b }), sat: lane2(func(a, b uint32) uint32 { return satI16(int32(int16(a)) + int32(int16(b))) })},
	{name: "v_sub_nc_i16", half: true, f: lane2(func(a, b uint32) uint32 { return a - b }), sat: lane2(func(a, b uint32) uint32 { return satI16(int32(int16(a)) - int32(int16(b))) })},
	{name: "v_mul_lo_u16", half: true, f: lane2(func(a, b uint32) uint32 { return a * b })},
	{name: "v_mad_u16", half: true, f: lane3(func(a, b, c uint32) uint32 { return a*b + c })},
	{name: "v_mad_i16", half: true, f: lane3(func(a, b, c uint32) uint32 { return a*b + c })},
	{name: "v_lshlrev_b16", half: true, f: lane2(func(a, b uint32) uint32 { return b << (a & 15) })},
	{name: "v_lshrrev_b16", half: true, f: lane2(func(a, b uint32) uint32 { return b & 0xFFFF >> (a & 15) })},
	{name: "v_ashrrev_i16", half: true, f: lane2(func(a, b uint32) uint32 { return uint32(int32(int16(b)) >> (a & 15)) })},
	{name: "v_max_u16", half: true, f: lane2(func(a, b uint32) uint32 { return max(a&0xFFFF, b&0xFFFF) })},
	{name: "v_min_u16", half: true, f: lane2(func(a, b uint32) uint32 { return min(a&0xFFFF, b&0xFFFF) })},
	{name: "v_max_i16", half: true, f: lane2(func(a, b uint32) uint32 { return uint32(max(int16(a), int16(b))) })},
	{name: "v_min_i16", half: true, f: lane2(func(a, b uint32) uint32 { return uint32(min(int16(a), int16(b))) })},
	{name: "v_max3_u16", half: true, f: lane3(func(a, b, c uint32) uint32 { return max(a&0xFFFF, b&0xFFFF, c&0xFFFF) })},
	{name: "v_min3_u16", half: true, f: lane3(func(a, b, c uint32) uint32 { return min(a&0xFFFF, b&0xFFFF, c&0xFFFF) })},
	{name: "v_max3_i16", half: true, f: lane3(func(a, b, c uint32) uint32 { return uint32(max(int16(a), int16(b), int16(c))) })},
	{name: "v_min3_i16", half: true, f: lane3(func(a, b, c uint32) uint32 { return uint32(min(int16(a), int16(b), int16(c))) })},
	{name: "v_med3_i16", half: true, f: lane3(func(a, b, c uint32) uint32 {
		x, y, z := int16(a), int16(b), int16(c)
		return uint32(max(min(x, y), min(max(x, y), z)))
	})},
	{name: "v_med3_u16", half: true, f: lane3(func(a, b, c uint32) uint32 {
		a, b, c = a&0xFFFF, b&0xFFFF, c&0xFFFF
		return max(min(a, b), min(max(a, b), c))
	})},
	{name: "v_sat_pk_u8_i16", half: true, f: lane1(func(a uint32) uint32 {
		return uint32(min(max(lo16(a), 0), 255)) | uint32(min(max(hi16(a), 0), 255))<<8
	})},
	{name: "v_pk_mul_lo_u16", f: lane2(func(a, b uint32) uint32 { return pack16(a*b, (a>>16)*(b>>16)) })},
	{name: "v_pk_add_u16", f: lane2(func(a, b uint32) uint32 { return pack16(a+b, a>>16+b>>16) }), sat: lane2(func(a, b uint32) uint32 {
		return pack16(min(a&0xFFFF+b&0xFFFF, 0xFFFF), min(a>>16+b>>16, 0xFFFF))
	})},
	{name: "v_pk_sub_u16", f: lane2(func(a, b uint32) uint32 { return pack16(a-b, a>>16-b>>16) }), sat: lane2(func(a, b uint32) uint32 {
		return pack16(subSatU32(a&0xFFFF, b&0xFFFF), subSatU32(a>>16, b>>16))
	})},
	{name: "v_pk_add_i16", f: lane2(func(a, b uint32) uint32 { return pack16(a+b, a>>16+b>>16) }), sat: lane2(func(a, b uint32) uint32 {
		return pack16(satI16(lo16(a)+lo16(b)), satI16(hi16(a)+hi16(b)))
	})},
	{name: "v_pk_sub_i16", f: lane2(func(a, b uint32) uint32 { return pack16(a-b, a>>16-b>>16) }), sat: lane2(func(a, b uint32) uint32 {
		return pack16(satI16(lo16(a)-lo16(b)), satI16(hi16(a)-hi16(b)))
	})},
	{name: "v_pk_mad_u16", f: lane3(func(a, b, c uint32) uint32 { return pack16(a*b+c, (a>>16)*(b>>16)+c>>16) })},
	{name: "v_pk_mad_i16", f: lane3(func(a, b, c uint32) uint32 { return pack16(a*b+c, (a>>16)*(b>>16)+c>>16) })},
	{name: "v_pk_lshlrev_b16", f: lane2(func(a, b uint32) uint32 { return pack16(b<<(a&15), b>>16<<(a>>16&15)) })},
	{name: "v_pk_lshrrev_b16", f: lane2(func(a, b uint32) uint32 { return pack16(b&0xFFFF>>(a&15), b>>16>>(a>>16&15)) })},
	{name: "v_pk_ashrrev_i16", f: lane2(func(a, b uint32) uint32 {
		return pack16(uint32(lo16(b)>>(a&15)), uint32(hi16(b)>>(a>>16&15)))
	})},
	{name: "v_pk_max_i16", f: lane2(func(a, b uint32) uint32 {
		return pack16(uint32(max(lo16(a), lo16(b))), uint32(max(hi16(a), hi16(b))))
	})},
	{name: "v_pk_min_i16", f: lane2(func(a, b uint32) uint32 {
		return pack16(uint32(min(lo16(a), lo16(b))), uint32(min(hi16(a), hi16(b))))
	})},
	{name: "v_pk_max_u16", f: lane2(func(a, b uint32) uint32 { return pack16(max(a&0xFFFF, b&0xFFFF), max(a>>16, b>>16)) })},
	{name: "v_pk_min_u16", f: lane2(func(a, b uint32) uint32 { return pack16(min(a&0xFFFF, b&0xFFFF), min(a>>16, b>>16)) })},

	// Single precision.
	{name: "v_add_f32", kind: state.ResultF32, f: lane2(float.Add)},
	{name: "v_sub_f32", kind: state.ResultF32, f: lane2(float.Sub)},
	{name: "v_subrev_f32", kind: state.ResultF32, f: lane2(func(a, b uint32) uint32 { return float.Sub(b, a) })},
	{name: "v_mul_f32", kind: state.ResultF32, f: lane2(float.Mul)},
	{name: "v_mul_legacy_f32", kind: state.ResultF32, f: lane2(legacy(float.Mul))},
	{name: "v_max_f32", kind: state.ResultF32, f: lane2(float.Max)},
	{name: "v_min_f32", kind: state.ResultF32, f: lane2(float.Min)},
	{name: "v_max3_f32", kind: state.ResultF32, f: lane3(func(a, b, c uint32) uint32 { return float.Max(float.Max(a, b), c) })},
	{name: "v_min3_f32", kind: state.ResultF32, f: lane3(func(a, b, c uint32) uint32 { return float.Min(float.Min(a, b), c) })},
	{name: "v_med3_f32", kind: state.ResultF32, f: lane3(float.Med3)},
	{name: "v_fma_f32", kind: state.ResultF32, f: lane3(float.FMA)},
	{name: "v_fmac_f32", kind: state.ResultF32, f: lane3(float.FMA), acc: true},
	{name: "v_fmamk_f32", kind: state.ResultF32, f: lane3(float.FMA)},
	{name: "v_fmaak_f32", kind: state.ResultF32, f: lane3(float.FMA)},
	{name: "v_rcp_f32", kind: state.ResultF32, f: lane1(float.Rcp)},
	{name: "v_rcp_iflag_f32", kind: state.ResultF32, f: lane1(float.Rcp)},
	{name: "v_rsq_f32", kind: state.ResultF32, f: lane1(float.Rsq)},
	{name: "v_sqrt_f32", kind: state.ResultF32, f: lane1(float.Sqrt)},
	{name: "v_exp_f32", kind: state.ResultF32, f: lane1(float.Exp2)},
	{name: "v_log_f32", kind: state.ResultF32, f: lane1(float.Log2)},
	{name: "v_sin_f32", kind: state.ResultF32, f: lane1(float.Sin)},
	{name: "v_cos_f32", kind: state.ResultF32, f: lane1(float.Cos)},
	{name: "v_rndne_f32", kind: state.ResultF32, f: lane1(frndne)},
	{name: "v_floor_f32", kind: state.ResultF32, f: lane1(ffloor)},
	{name: "v_ceil_f32", kind: state.ResultF32, f: lane1(fceil)},
	{name: "v_trunc_f32", kind: state.ResultF32, f: lane1(ftrunc)},
	{name: "v_fract_f32", kind: state.ResultF32, f: lane1(ffract)},
	{name: "v_ldexp_f32", kind: state.ResultF32, f: lane2(fldexp)},
	{name: "v_frexp_exp_i32_f32", f: lane1(ffrexpExp)},
	{name: "v_frexp_mant_f32", kind: state.ResultF32, f: lane1(ffrexpMant)},
	{name: "v_div_fixup_f32", kind: state.ResultF32, f: lane3(fixupLane(&div32))},

	{name: "v_fma_legacy_f32", kind: state.ResultF32, f: lane3(fmaLegacy(float.FMA))},
	{name: "v_fmac_legacy_f32", kind: state.ResultF32, f: lane3(fmaLegacy(float.FMA)), acc: true},

	// Conversions.
	{name: "v_cvt_f32_i32", kind: state.ResultF32, f: lane1(func(a uint32) uint32 { return float.Bits32(float32(int32(a))) })},
	{name: "v_cvt_f32_u32", kind: state.ResultF32, f: lane1(func(a uint32) uint32 { return float.Bits32(float32(a)) })},
	{name: "v_cvt_i32_f32", f: lane1(cvtI32)},
	{name: "v_cvt_u32_f32", f: lane1(cvtU32)},
	{name: "v_cvt_rpi_i32_f32", f: lane1(func(a uint32) uint32 { return cvtI64(floor64(float64(float.F32(a)) + 0.5)) })},
	{name: "v_cvt_flr_i32_f32", f: lane1(func(a uint32) uint32 { return cvtI64(floor64(float64(float.F32(a)))) })},
	{name: "v_cvt_f32_ubyte0", kind: state.ResultF32, f: lane1(func(a uint32) uint32 { return float.Bits32(float32(a & 255)) })},
	{name: "v_cvt_f32_ubyte1", kind: state.ResultF32, f: lane1(func(a uint32) uint32 { return float.Bits32(float32(a >> 8 & 255)) })},
	{name: "v_cvt_f32_ubyte2", kind: state.ResultF32, f: lane1(func(a uint32) uint32 { return float.Bits32(float32(a >> 16 & 255)) })},
	{name: "v_cvt_f32_ubyte3", kind: state.ResultF32, f: lane1(func(a uint32) uint32 { return float.Bits32(float32(a >> 24)) })},
	{name: "v_cvt_pk_u8_f32", f: lane3(cvtPkU8)},
	{name: "v_cvt_f32_f16", kind: state.ResultF32, f: lane1(func(a uint32) uint32 { return float.FromHalf(a & 0xFFFF) })},
	{name: "v_cvt_f16_f32", kind: state.ResultF16, half: true, f: lane1(float.ToHalf)},
	{name: "v_cvt_pkrtz_f16_f32", kind: state.ResultF16, f: lane2(func(a, b uint32) uint32 { return float.ToHalfTrunc(a) | float.ToHalfTrunc(b)<<16 })},
	{name: "v_cvt_f16_u16", kind: state.ResultF16, half: true, f: lane1(func(a uint32) uint32 { return float.ToHalf(float.Bits32(float32(a & 0xFFFF))) })},
	{name: "v_cvt_f16_i16", kind: state.ResultF16, half: true, f: lane1(func(a uint32) uint32 { return float.ToHalf(float.Bits32(float32(int16(a)))) })},
	{name: "v_cvt_u16_f16", half: true, f: lane1(func(a uint32) uint32 { return min(cvtU32(float.FromHalf(a&0xFFFF)), 0xFFFF) })},
	{name: "v_cvt_i16_f16", half: true, f: lane1(func(a uint32) uint32 { return satI16(int32(cvtI32(float.FromHalf(a & 0xFFFF)))) })},

	{name: "v_cvt_pknorm_i16_f32", f: lane2(func(a, b uint32) uint32 { return pack16(norm(a, -1, 32767), norm(b, -1, 32767)) })},
	{name: "v_cvt_pknorm_u16_f32", f: lane2(func(a, b uint32) uint32 { return pack16(norm(a, 0, 65535), norm(b, 0, 65535)) })},

	// Half precision.
	{name: "v_add_f16", kind: state.ResultF16, half: true, f: lane2(float.AddHalf)},
	{name: "v_sub_f16", kind: state.ResultF16, half: true, f: lane2(float.SubHalf)},
	{name: "v_subrev_f16", kind: state.ResultF16, half: true, f: lane2(func(a, b uint32) uint32 { return float.SubHalf(b, a) })},
	{name: "v_mul_f16", kind: state.ResultF16, half: true, f: lane2(float.MulHalf)},
	{name: "v_max_f16", kind: state.ResultF16, half: true, f: lane2(float.MaxHalf)},
	{name: "v_min_f16", kind: state.ResultF16, half: true, f: lane2(float.MinHalf)},
	{name: "v_fma_f16", kind: state.ResultF16, half: true, f: lane3(float.FMAHalf)},
	{name: "v_fmac_f16", kind: state.ResultF16, half: true, f: lane3(float.FMAHalf), acc: true},
	{name: "v_fmamk_f16", kind: state.ResultF16, half: true, f: lane3(float.FMAHalf)},
	{name: "v_fmaak_f16", kind: state.ResultF16, half: true, f: lane3(float.FMAHalf)},
	{name: "v_med3_f16", kind: state.ResultF16, half: true, f: lane3(float.Med3Half)},
	{name: "v_max3_f16", kind: state.ResultF16, half: true, f: lane3(func(a, b, c uint32) uint32 { return float.MaxHalf(float.MaxHalf(a, b), c) })},
	{name: "v_min3_f16", kind: state.ResultF16, half: true, f: lane3(func(a, b, c uint32) uint32 { return float.MinHalf(float.MinHalf(a, b), c) })},
	{name: "v_rcp_f16", kind: state.ResultF16, half: true, f: via32(float.Rcp)},
	{name: "v_sqrt_f16", kind: state.ResultF16, half: true, f: via32(float.Sqrt)},
	{name: "v_rsq_f16", kind: state.ResultF16, half: true, f: via32(float.Rsq)},
	{name: "v_exp_f16", kind: state.ResultF16, half: true, f: via32(float.Exp2)},
	{name: "v_log_f16", kind: state.ResultF16, half: true, f: via32(float.Log2)},
	{name: "v_rndne_f16", kind: state.ResultF16, half: true, f: via32(frndne)},
	{name: "v_floor_f16", kind: state.ResultF16, half: true, f: via32(ffloor)},
	{name: "v_ceil_f16", kind: state.ResultF16, half: true, f: via32(fceil)},
	{name: "v_trunc_f16", kind: state.ResultF16, half: true, f: via32(ftrunc)},
	{name: "v_fract_f16", kind: state.ResultF16, half: true, f: via32(ffractHalf)},
	{name: "v_sin_f16", kind: state.ResultF16, half: true, f: via32(float.Sin)},
	{name: "v_cos_f16", kind: state.ResultF16, half: true, f: via32(float.Cos)},
	{name: "v_frexp_mant_f16", kind: state.ResultF16, half: true, f: via32(ffrexpMant)},
	{name: "v_frexp_exp_i16_f16", half: true, f: lane1(func(a uint32) uint32 { return ffrexpExp(float.FromHalf(a & 0xFFFF)) })},
	{name: "v_ldexp_f16", kind: state.ResultF16, half: true, f: lane2(func(a, b uint32) uint32 {
		// Beyond 2^40 a half is zero or infinite; a float32 of that range is exact.
		n := min(max(int32(int16(b)), -40), 40)
		return float.ToHalf(fldexp(float.FromHalf(a&0xFFFF), uint32(n)))
	})},
	{name: "v_div_fixup_f16", kind: state.ResultF16, half: true, f: lane3(fixupLane(&div16))},
	{name: "v_pack_b32_f16", kind: state.ResultF16, f: lane2(func(a, b uint32) uint32 { return a&0xFFFF | b<<16 })},
	{name: "v_pk_add_f16", kind: state.ResultF16, f: lane2(pairs(float.AddHalf))},
	{name: "v_pk_mul_f16", kind: state.ResultF16, f: lane2(pairs(float.MulHalf))},
	{name: "v_pk_max_f16", kind: state.ResultF16, f: lane2(pairs(float.MaxHalf))},
	{name: "v_pk_min_f16", kind: state.ResultF16, f: lane2(pairs(float.MinHalf))},
	{name: "v_pk_fma_f16", kind: state.ResultF16, f: lane3(triples(float.FMAHalf))},
	{name: "v_pk_fmac_f16", kind: state.ResultF16, f: lane3(triples(float.FMAHalf)), acc: true},

	// Dot products.
	{name: "v_dot2_f32_f16", kind: state.ResultF32, f: lane3(dot2F32F16)},
	{name: "v_dot2c_f32_f16", kind: state.ResultF32, f: lane3(dot2F32F16), acc: true},
	{name: "v_dot4_i32_i8", f: lane3(func(a, b, c uint32) uint32 { return uint32(dot4I8(a, b)) + c }), sat: lane3(func(a, b, c uint32) uint32 { return sat32(int64(dot4I8(a, b)) + int64(int32(c))) })},
	{name: "v_dot4c_i32_i8", f: lane3(func(a, b, c uint32) uint32 { return uint32(dot4I8(a, b)) + c }), acc: true},
	{name: "v_dot4_u32_u8", f: lane3(func(a, b, c uint32) uint32 { return dot4U8(a, b) + c }), sat: lane3(func(a, b, c uint32) uint32 { return addSatU32(dot4U8(a, b), c) })},
	{name: "v_dot2_i32_i16", f: lane3(func(a, b, c uint32) uint32 { return uint32(lo16(a)*lo16(b)) + uint32(hi16(a)*hi16(b)) + c }), sat: lane3(func(a, b, c uint32) uint32 {
		return sat32(int64(lo16(a))*int64(lo16(b)) + int64(hi16(a))*int64(hi16(b)) + int64(int32(c)))
	})},
	{name: "v_dot2_u32_u16", f: lane3(func(a, b, c uint32) uint32 { return (a&0xFFFF)*(b&0xFFFF) + (a>>16)*(b>>16) + c })},
	{name: "v_dot8_i32_i4", f: lane3(func(a, b, c uint32) uint32 { return uint32(dot8I4(a, b)) + c }), sat: lane3(func(a, b, c uint32) uint32 {
		return sat32(int64(dot8I4(a, b)) + int64(int32(c)))
	})},
	{name: "v_dot8_u32_u4", f: lane3(func(a, b, c uint32) uint32 { return dot8U4(a, b) + c }), sat: lane3(func(a, b, c uint32) uint32 { return addSatU32(dot8U4(a, b), c) })},
}
