package exec

import (
	"math/bits"

	"github.com/nnsoc/nnsoc/gpu/internal/state"
	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// Function shapes of the scalar unit. The ones that return a bool set SCC to
// it.
type (
	s32x1  func(a uint32) uint32
	s32x2  func(a, b uint32) uint32
	s32x2c func(a, b uint32) (uint32, bool)
	s64x1  func(a uint64) uint64
	s64x2  func(a, b uint64) uint64 // also for a 32-bit second operand
	scmp   func(a, b uint64) bool   // operands zero-extended
	s64to1 func(a uint64) uint32
)

// scalar is one row of the scalar instruction table.
type scalar struct {
	name string
	nz   bool // SCC = result is not zero
	f    any
}

var scalarSem = byName(func() []scalar { return scalarTable }, func(s *scalar) string { return s.name })

func cond32(f func(a, b int32) bool) scmp {
	return func(a, b uint64) bool { return f(int32(uint32(a)), int32(uint32(b))) }
}

var scalarTable = []scalar{
	{"s_mov_b32", false, s32x1(func(a uint32) uint32 { return a })},
	{"s_mov_b64", false, s64x1(func(a uint64) uint64 { return a })},
	{"s_movk_i32", false, s32x1(func(a uint32) uint32 { return a })},
	{"s_not_b32", true, s32x1(func(a uint32) uint32 { return ^a })},
	{"s_not_b64", true, s64x1(func(a uint64) uint64 { return ^a })},
	{"s_brev_b32", false, s32x1(bits.Reverse32)},
	{"s_brev_b64", false, s64x1(bits.Reverse64)},
	{"s_bcnt0_i32_b32", true, s32x1(func(a uint32) uint32 { return popcount(^a) })},
	{"s_bcnt1_i32_b32", true, s32x1(popcount)},
	{"s_bcnt0_i32_b64", true, s64to1(func(a uint64) uint32 { return uint32(bits.OnesCount64(^a)) })},
	{"s_bcnt1_i32_b64", true, s64to1(func(a uint64) uint32 { return uint32(bits.OnesCount64(a)) })},
	{"s_ff0_i32_b32", false, s32x1(func(a uint32) uint32 { return ffblB32(^a) })},
	{"s_ff1_i32_b32", false, s32x1(ffblB32)},
	{"s_ff0_i32_b64", false, s64to1(func(a uint64) uint32 { return ff1(^a) })},
	{"s_ff1_i32_b64", false, s64to1(ff1)},
	{"s_flbit_i32_b32", false, s32x1(ffbhU32)},
	{"s_flbit_i32_b64", false, s64to1(flbit64)},
	{"s_flbit_i32", false, s32x1(ffbhI32)},
	{"s_flbit_i32_i64", false, s64to1(func(a uint64) uint32 { return flbit64(a ^ uint64(int64(a)>>63)) })},
	{"s_sext_i32_i8", false, s32x1(func(a uint32) uint32 { return uint32(int32(int8(a))) })},
	{"s_sext_i32_i16", false, s32x1(func(a uint32) uint32 { return uint32(int32(int16(a))) })},
	{"s_abs_i32", true, s32x1(func(a uint32) uint32 {
		if int32(a) < 0 {
			return -a
		}
		return a
	})},

	{"s_add_u32", false, s32x2c(func(a, b uint32) (uint32, bool) { return addCarry(a, b, 0) })},
	{"s_sub_u32", false, s32x2c(func(a, b uint32) (uint32, bool) { return subCarry(a, b, 0) })},
	{"s_add_i32", false, s32x2c(addOverflow)},
	{"s_sub_i32", false, s32x2c(func(a, b uint32) (uint32, bool) { d := a - b; return d, int32((a^b)&(a^d)) < 0 })},
	{"s_addk_i32", false, s32x2c(addOverflow)},
	{"s_mulk_i32", false, s32x2(func(a, b uint32) uint32 { return a * b })},
	{"s_min_i32", false, s32x2c(func(a, b uint32) (uint32, bool) { return minI32(a, b), int32(a) < int32(b) })},
	{"s_min_u32", false, s32x2c(func(a, b uint32) (uint32, bool) { return min(a, b), a < b })},
	{"s_max_i32", false, s32x2c(func(a, b uint32) (uint32, bool) { return maxI32(a, b), int32(a) > int32(b) })},
	{"s_max_u32", false, s32x2c(func(a, b uint32) (uint32, bool) { return max(a, b), a > b })},
	{"s_and_b32", true, s32x2(func(a, b uint32) uint32 { return a & b })},
	{"s_and_b64", true, s64x2(func(a, b uint64) uint64 { return a & b })},
	{"s_or_b32", true, s32x2(func(a, b uint32) uint32 { return a | b })},
	{"s_or_b64", true, s64x2(func(a, b uint64) uint64 { return a | b })},
	{"s_xor_b32", true, s32x2(func(a, b uint32) uint32 { return a ^ b })},
	{"s_xor_b64", true, s64x2(func(a, b uint64) uint64 { return a ^ b })},
	{"s_andn2_b32", true, s32x2(func(a, b uint32) uint32 { return a &^ b })},
	{"s_andn2_b64", true, s64x2(func(a, b uint64) uint64 { return a &^ b })},
	{"s_orn2_b32", true, s32x2(func(a, b uint32) uint32 { return a | ^b })},
	{"s_orn2_b64", true, s64x2(func(a, b uint64) uint64 { return a | ^b })},
	{"s_nand_b32", true, s32x2(func(a, b uint32) uint32 { return ^(a & b) })},
	{"s_nand_b64", true, s64x2(func(a, b uint64) uint64 { return ^(a & b) })},
	{"s_nor_b32", true, s32x2(func(a, b uint32) uint32 { return ^(a | b) })},
	{"s_nor_b64", true, s64x2(func(a, b uint64) uint64 { return ^(a | b) })},
	{"s_xnor_b32", true, s32x2(func(a, b uint32) uint32 { return ^(a ^ b) })},
	{"s_xnor_b64", true, s64x2(func(a, b uint64) uint64 { return ^(a ^ b) })},
	{"s_lshl_b32", true, s32x2(func(a, b uint32) uint32 { return a << (b & 31) })},
	{"s_lshl_b64", true, s64x2(func(a, b uint64) uint64 { return a << (b & 63) })},
	{"s_lshr_b32", true, s32x2(func(a, b uint32) uint32 { return a >> (b & 31) })},
	{"s_lshr_b64", true, s64x2(func(a, b uint64) uint64 { return a >> (b & 63) })},
	{"s_ashr_i32", true, s32x2(func(a, b uint32) uint32 { return uint32(int32(a) >> (b & 31)) })},
	{"s_ashr_i64", true, s64x2(func(a, b uint64) uint64 { return uint64(int64(a) >> (b & 63)) })},
	{"s_bfm_b32", false, s32x2(func(a, b uint32) uint32 { return (1<<(a&31) - 1) << (b & 31) })},
	{"s_bfm_b64", false, s64x2(func(a, b uint64) uint64 { return (1<<(a&63) - 1) << (b & 63) })},
	{"s_mul_i32", false, s32x2(func(a, b uint32) uint32 { return a * b })},
	{"s_mul_hi_u32", false, s32x2(func(a, b uint32) uint32 { return uint32(uint64(a) * uint64(b) >> 32) })},
	{"s_mul_hi_i32", false, s32x2(func(a, b uint32) uint32 { return uint32(uint64(int64(int32(a))*int64(int32(b))) >> 32) })},
	{"s_bfe_u32", true, s32x2(func(a, b uint32) uint32 { return uint32(bfeU64(uint64(a), uint64(b&31), uint64(b>>16&127))) })},
	{"s_bfe_i32", true, s32x2(func(a, b uint32) uint32 {
		return uint32(bfeI64(uint64(int64(int32(a))), uint64(b&31), min(uint64(b>>16&127), 32)))
	})},
	{"s_bfe_u64", true, s64x2(func(a, b uint64) uint64 { return bfeU64(a, b&63, b>>16&127) })},
	{"s_bfe_i64", true, s64x2(func(a, b uint64) uint64 { return bfeI64(a, b&63, b>>16&127) })},
	{"s_absdiff_i32", true, s32x2(func(a, b uint32) uint32 {
		d := a - b
		if int32(d) < 0 {
			return -d
		}
		return d
	})},
	{"s_lshl1_add_u32", false, s32x2c(func(a, b uint32) (uint32, bool) { return shlAdd(a, b, 1) })},
	{"s_lshl2_add_u32", false, s32x2c(func(a, b uint32) (uint32, bool) { return shlAdd(a, b, 2) })},
	{"s_lshl3_add_u32", false, s32x2c(func(a, b uint32) (uint32, bool) { return shlAdd(a, b, 3) })},
	{"s_lshl4_add_u32", false, s32x2c(func(a, b uint32) (uint32, bool) { return shlAdd(a, b, 4) })},
	{"s_pack_ll_b32_b16", false, s32x2(pack16)},
	{"s_pack_lh_b32_b16", false, s32x2(func(a, b uint32) uint32 { return a&0xFFFF | b&^0xFFFF })},
	{"s_pack_hh_b32_b16", false, s32x2(func(a, b uint32) uint32 { return a>>16 | b&^0xFFFF })},

	{"s_cmp_eq_i32", false, scmp(func(a, b uint64) bool { return uint32(a) == uint32(b) })},
	{"s_cmp_lg_i32", false, scmp(func(a, b uint64) bool { return uint32(a) != uint32(b) })},
	{"s_cmp_gt_i32", false, cond32(func(a, b int32) bool { return a > b })},
	{"s_cmp_ge_i32", false, cond32(func(a, b int32) bool { return a >= b })},
	{"s_cmp_lt_i32", false, cond32(func(a, b int32) bool { return a < b })},
	{"s_cmp_le_i32", false, cond32(func(a, b int32) bool { return a <= b })},
	{"s_cmp_eq_u32", false, scmp(func(a, b uint64) bool { return uint32(a) == uint32(b) })},
	{"s_cmp_lg_u32", false, scmp(func(a, b uint64) bool { return uint32(a) != uint32(b) })},
	{"s_cmp_gt_u32", false, scmp(func(a, b uint64) bool { return uint32(a) > uint32(b) })},
	{"s_cmp_ge_u32", false, scmp(func(a, b uint64) bool { return uint32(a) >= uint32(b) })},
	{"s_cmp_lt_u32", false, scmp(func(a, b uint64) bool { return uint32(a) < uint32(b) })},
	{"s_cmp_le_u32", false, scmp(func(a, b uint64) bool { return uint32(a) <= uint32(b) })},
	{"s_cmp_eq_u64", false, scmp(func(a, b uint64) bool { return a == b })},
	{"s_cmp_lg_u64", false, scmp(func(a, b uint64) bool { return a != b })},
	{"s_cmpk_eq_i32", false, scmp(func(a, b uint64) bool { return uint32(a) == uint32(b) })},
	{"s_cmpk_lg_i32", false, scmp(func(a, b uint64) bool { return uint32(a) != uint32(b) })},
	{"s_cmpk_gt_i32", false, cond32(func(a, b int32) bool { return a > b })},
	{"s_cmpk_ge_i32", false, cond32(func(a, b int32) bool { return a >= b })},
	{"s_cmpk_lt_i32", false, cond32(func(a, b int32) bool { return a < b })},
	{"s_cmpk_le_i32", false, cond32(func(a, b int32) bool { return a <= b })},
	{"s_cmpk_eq_u32", false, scmp(func(a, b uint64) bool { return uint32(a) == uint32(b)&0xFFFF })},
	{"s_cmpk_lg_u32", false, scmp(func(a, b uint64) bool { return uint32(a) != uint32(b)&0xFFFF })},
	{"s_cmpk_gt_u32", false, scmp(func(a, b uint64) bool { return uint32(a) > uint32(b)&0xFFFF })},
	{"s_cmpk_ge_u32", false, scmp(func(a, b uint64) bool { return uint32(a) >= uint32(b)&0xFFFF })},
	{"s_cmpk_lt_u32", false, scmp(func(a, b uint64) bool { return uint32(a) < uint32(b)&0xFFFF })},
	{"s_cmpk_le_u32", false, scmp(func(a, b uint64) bool { return uint32(a) <= uint32(b)&0xFFFF })},
	{"s_bitcmp0_b32", false, scmp(func(a, b uint64) bool { return a>>(b&31)&1 == 0 })},
	{"s_bitcmp1_b32", false, scmp(func(a, b uint64) bool { return a>>(b&31)&1 != 0 })},
	{"s_bitcmp0_b64", false, scmp(func(a, b uint64) bool { return a>>(b&63)&1 == 0 })},
	{"s_bitcmp1_b64", false, scmp(func(a, b uint64) bool { return a>>(b&63)&1 != 0 })},

	{"s_addc_u32", false, state.Handler(func(w *state.Wave, u *state.Op) {
		d, c := addCarry(w.Scalar(u.AFrom, u.A), w.Scalar(u.BFrom, u.B), w.S[state.SCC])
		w.S[u.Dst] = d
		w.SetSCC(c)
	})},
	{"s_subb_u32", false, state.Handler(func(w *state.Wave, u *state.Op) {
		d, c := subCarry(w.Scalar(u.AFrom, u.A), w.Scalar(u.BFrom, u.B), w.S[state.SCC])
		w.S[u.Dst] = d
		w.SetSCC(c)
	})},
	{"s_cselect_b32", false, state.Handler(func(w *state.Wave, u *state.Op) {
		d := w.Scalar(u.BFrom, u.B)
		if w.S[state.SCC] != 0 {
			d = w.Scalar(u.AFrom, u.A)
		}
		w.S[u.Dst] = d
	})},
	{"s_cselect_b64", false, state.Handler(func(w *state.Wave, u *state.Op) {
		i := 1
		if w.S[state.SCC] != 0 {
			i = 0
		}
		w.SetS64(u.Dst, readScalar64(w, u, i))
	})},
	{"s_cmov_b32", false, state.Handler(func(w *state.Wave, u *state.Op) {
		if w.S[state.SCC] != 0 {
			w.S[u.Dst] = w.Scalar(u.AFrom, u.A)
		}
	})},
	{"s_cmovk_i32", false, state.Handler(func(w *state.Wave, u *state.Op) {
		if w.S[state.SCC] != 0 {
			w.S[u.Dst] = w.Scalar(u.AFrom, u.A)
		}
	})},
	{"s_cmov_b64", false, state.Handler(func(w *state.Wave, u *state.Op) {
		if w.S[state.SCC] != 0 {
			w.SetS64(u.Dst, readScalar64(w, u, 0))
		}
	})},
	{"s_bitset0_b32", false, state.Handler(func(w *state.Wave, u *state.Op) { w.S[u.Dst] &^= 1 << (w.Scalar(u.AFrom, u.A) & 31) })},
	{"s_bitset1_b32", false, state.Handler(func(w *state.Wave, u *state.Op) { w.S[u.Dst] |= 1 << (w.Scalar(u.AFrom, u.A) & 31) })},
	{"s_bitset0_b64", false, state.Handler(func(w *state.Wave, u *state.Op) {
		w.SetS64(u.Dst, w.S64(u.Dst)&^(1<<(w.Scalar(u.AFrom, u.A)&63)))
	})},
	{"s_bitset1_b64", false, state.Handler(func(w *state.Wave, u *state.Op) {
		w.SetS64(u.Dst, w.S64(u.Dst)|1<<(w.Scalar(u.AFrom, u.A)&63))
	})},
	{"s_bitreplicate_b64_b32", false, state.Handler(func(w *state.Wave, u *state.Op) {
		a, r := uint64(w.Scalar(u.AFrom, u.A)), uint64(0)
		for i := range 32 {
			r |= a >> i & 1 * 3 << (2 * i)
		}
		w.SetS64(u.Dst, r)
	})},

	{"s_movrels_b32", false, scalarMovRel(true, 1)},
	{"s_movrels_b64", false, scalarMovRel(true, 2)},
	{"s_movreld_b32", false, scalarMovRel(false, 1)},
	{"s_movreld_b64", false, scalarMovRel(false, 2)},
	{"s_quadmask_b32", true, s32x1(func(a uint32) uint32 { return uint32(quadMask(uint64(a))) })},
	{"s_quadmask_b64", true, s64x1(quadMask)},
	{"s_wqm_b32", true, s32x1(func(a uint32) uint32 { return uint32(wholeQuads(uint64(a))) })},
	{"s_wqm_b64", true, s64x1(wholeQuads)},
	{"s_andn1_wrexec_b32", false, writeExec(func(s, e uint64) uint64 { return ^s & e })},
	{"s_andn1_wrexec_b64", false, writeExec(func(s, e uint64) uint64 { return ^s & e })},
	{"s_andn2_wrexec_b32", false, writeExec(func(s, e uint64) uint64 { return s &^ e })},
	{"s_andn2_wrexec_b64", false, writeExec(func(s, e uint64) uint64 { return s &^ e })},

	{"s_and_saveexec_b32", false, saveexec(func(s, e uint64) uint64 { return s & e })},
	{"s_or_saveexec_b32", false, saveexec(func(s, e uint64) uint64 { return s | e })},
	{"s_xor_saveexec_b32", false, saveexec(func(s, e uint64) uint64 { return s ^ e })},
	{"s_andn2_saveexec_b32", false, saveexec(func(s, e uint64) uint64 { return s &^ e })},
	{"s_orn2_saveexec_b32", false, saveexec(func(s, e uint64) uint64 { return s | ^e })},
	{"s_nand_saveexec_b32", false, saveexec(func(s, e uint64) uint64 { return ^(s & e) })},
	{"s_nor_saveexec_b32", false, saveexec(func(s, e uint64) uint64 { return ^(s | e) })},
	{"s_xnor_saveexec_b32", false, saveexec(func(s, e uint64) uint64 { return ^(s ^ e) })},
	{"s_andn1_saveexec_b32", false, saveexec(func(s, e uint64) uint64 { return ^s & e })},
	{"s_orn1_saveexec_b32", false, saveexec(func(s, e uint64) uint64 { return ^s | e })},
	{"s_and_saveexec_b64", false, saveexec(func(s, e uint64) uint64 { return s & e })},
	{"s_or_saveexec_b64", false, saveexec(func(s, e uint64) uint64 { return s | e })},
	{"s_xor_saveexec_b64", false, saveexec(func(s, e uint64) uint64 { return s ^ e })},
	{"s_andn2_saveexec_b64", false, saveexec(func(s, e uint64) uint64 { return s &^ e })},
	{"s_orn2_saveexec_b64", false, saveexec(func(s, e uint64) uint64 { return s | ^e })},
	{"s_nand_saveexec_b64", false, saveexec(func(s, e uint64) uint64 { return ^(s & e) })},
	{"s_nor_saveexec_b64", false, saveexec(func(s, e uint64) uint64 { return ^(s | e) })},
	{"s_xnor_saveexec_b64", false, saveexec(func(s, e uint64) uint64 { return ^(s ^ e) })},
	{"s_andn1_saveexec_b64", false, saveexec(func(s, e uint64) uint64 { return ^s & e })},
	{"s_orn1_saveexec_b64", false, saveexec(func(s, e uint64) uint64 { return ^s | e })},
}

func addOverflow(a, b uint32) (uint32, bool) {
	d := a + b
	return d, int32(^(a^b)&(a^d)) < 0
}

func shlAdd(a, b uint32, n uint) (uint32, bool) {
	v := uint64(a)<<n + uint64(b)
	return uint32(v), v>>32 != 0
}

// wholeQuads sets all four bits of each group of four that has one.
func wholeQuads(a uint64) uint64 {
	a |= a >> 1
	a = (a | a>>2) & 0x1111111111111111
	return a * 15
}

// quadMask has bit i set when the i-th group of four bits of a has one.
func quadMask(a uint64) uint64 {
	a = wholeQuads(a)
	r := uint64(0)
	for i := range 16 {
		r |= a >> (4 * i) & 1 << i
	}
	return r
}

// writeExec: D = EXEC = f(S0, EXEC); SCC = D is not zero.
func writeExec(f func(s, e uint64) uint64) state.Handler {
	return func(w *state.Wave, u *state.Op) {
		if u.Details.Form.Ops[0].Regs == 2 {
			v := f(readScalar64(w, u, 0), w.S64(state.EXEC))
			w.SetS64(u.Dst, v)
			w.SetS64(state.EXEC, v)
			w.SetSCC(v != 0)
			return
		}
		v := uint32(f(uint64(w.Scalar(u.AFrom, u.A)), uint64(w.S[state.EXEC])))
		w.S[u.Dst], w.S[state.EXEC] = v, v
		w.SetSCC(v != 0)
	}
}

func ff1(a uint64) uint32 {
	if a == 0 {
		return ^uint32(0)
	}
	return uint32(bits.TrailingZeros64(a))
}

func flbit64(a uint64) uint32 {
	if a == 0 {
		return ^uint32(0)
	}
	return uint32(bits.LeadingZeros64(a))
}

func bfeU64(a, off, n uint64) uint64 { return a >> off & (1<<n - 1) }

func bfeI64(a, off, n uint64) uint64 {
	if n == 0 {
		return 0
	}
	v := int64(a) >> off
	if n < 64 {
		v = v << (64 - n) >> (64 - n)
	}
	return uint64(v)
}

// saveexec: D = EXEC; EXEC = f(S0, EXEC); SCC = EXEC is not zero. The width is the instruction's.
type saveexec func(s, e uint64) uint64

// readScalar64 is the 64-bit scalar operand i.
func readScalar64(w *state.Wave, u *state.Op, i int) uint64 {
	k, v := u.Operand(i)
	switch {
	case k == state.SourceConstant:
		return u.Details.Value[i]
	case k == state.SourceSGPR && v == state.Null:
		return 0
	case k == state.SourceSGPR && u.Details.Regs[i] == 2:
		return w.S64(v)
	}
	return uint64(w.Scalar(k, v))
}

func exec32x1(w *state.Wave, u *state.Op) {
	w.S[u.Dst] = u.Details.Func.(s32x1)(w.Scalar(u.AFrom, u.A))
}

func exec32x1nz(w *state.Wave, u *state.Op) { exec32x1(w, u); w.SetSCC(w.S[u.Dst] != 0) }

func exec32x2(w *state.Wave, u *state.Op) {
	w.S[u.Dst] = u.Details.Func.(s32x2)(w.Scalar(u.AFrom, u.A), w.Scalar(u.BFrom, u.B))
}

func exec32x2nz(w *state.Wave, u *state.Op) { exec32x2(w, u); w.SetSCC(w.S[u.Dst] != 0) }

func exec32x2c(w *state.Wave, u *state.Op) {
	d, c := u.Details.Func.(s32x2c)(w.Scalar(u.AFrom, u.A), w.Scalar(u.BFrom, u.B))
	w.S[u.Dst] = d
	w.SetSCC(c)
}

func exec64x1(w *state.Wave, u *state.Op) {
	w.SetS64(u.Dst, u.Details.Func.(s64x1)(readScalar64(w, u, 0)))
}

func exec64x1nz(w *state.Wave, u *state.Op) { exec64x1(w, u); w.SetSCC(w.S64(u.Dst) != 0) }

func exec64x2(w *state.Wave, u *state.Op) {
	w.SetS64(u.Dst, u.Details.Func.(s64x2)(readScalar64(w, u, 0), readScalar64(w, u, 1)))
}

func exec64x2nz(w *state.Wave, u *state.Op) { exec64x2(w, u); w.SetSCC(w.S64(u.Dst) != 0) }

func exec64to1(w *state.Wave, u *state.Op) {
	w.S[u.Dst] = u.Details.Func.(s64to1)(readScalar64(w, u, 0))
}

func exec64to1nz(w *state.Wave, u *state.Op) {
	exec64to1(w, u)
	w.SetSCC(w.S[u.Dst] != 0)
}

func execScmp(w *state.Wave, u *state.Op) {
	w.SetSCC(u.Details.Func.(scmp)(readScalar64(w, u, 0), readScalar64(w, u, 1)))
}

func execSaveexec(w *state.Wave, u *state.Op) {
	f := u.Details.Func.(saveexec)
	if u.Details.Form.Ops[0].Regs == 2 {
		s, e := readScalar64(w, u, 0), w.S64(state.EXEC)
		w.SetS64(u.Dst, e)
		w.SetS64(state.EXEC, f(s, e))
		w.SetSCC(w.S64(state.EXEC) != 0)
		return
	}
	s, e := w.Scalar(u.AFrom, u.A), w.S[state.EXEC]
	w.S[u.Dst] = e
	w.S[state.EXEC] = uint32(f(uint64(s), uint64(e)))
	w.SetSCC(w.S[state.EXEC] != 0)
}

// bindScalar fills in a scalar, branch or control instruction.
func bindScalar(p *state.Program, u *state.Op, dep *state.Deps) error {
	x := u.Details
	in, f := &x.Inst, x.Form
	u.Unit = state.UnitSALU
	simm := uint32(int32(int16(in.Simm16)))
	if s := scalarSem()[f.Mnemonic]; s != nil {
		if f.Format == rdna2.SOPK {
			// The immediate is the only source, or the second one.
			row := p.Constant(simm)
			x.Value[1], x.Value[0] = uint64(simm), uint64(simm)
			switch {
			case u.AFrom != state.SourceNone: // s_cmpk: register against immediate
				u.B, u.BFrom = row, state.SourceConstant
			case f.Has(rdna2.FlagTied) && s.name != "s_cmovk_i32":
				u.A, u.AFrom = u.Dst, state.SourceSGPR
				x.Regs[0] = 1
				u.B, u.BFrom = row, state.SourceConstant
			default:
				u.A, u.AFrom = row, state.SourceConstant
			}
		}
		if f.Has(rdna2.FlagTied) && dep.NSDst > 0 {
			dep.ReadS(dep.SDst[0])
		}
		x.Func = s.f
		pick := func(plain, nz state.Handler) {
			u.Handler = plain
			if s.nz {
				u.Handler = nz
			}
		}
		switch fn := s.f.(type) {
		case s32x1:
			pick(exec32x1, exec32x1nz)
		case s32x2:
			pick(exec32x2, exec32x2nz)
		case s32x2c:
			u.Handler = exec32x2c
		case s64x1:
			pick(exec64x1, exec64x1nz)
		case s64x2:
			pick(exec64x2, exec64x2nz)
		case s64to1:
			pick(exec64to1, exec64to1nz)
		case scmp:
			u.Handler = execScmp
		case saveexec:
			u.Handler = execSaveexec
			dep.ReadS(state.Span{Reg: state.EXEC, N: f.Ops[0].Regs})
			if !dep.WritesExec() {
				dep.WriteS(state.Span{Reg: state.EXEC, N: f.Ops[0].Regs})
			}
		case state.Handler:
			u.Handler = fn
			dep.Relative = f.Uses&rdna2.ImplM0 != 0
		}
		return nil
	}
	return bindControl(u, simm)
}
