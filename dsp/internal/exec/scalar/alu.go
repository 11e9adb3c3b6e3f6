package scalar

import (
	"math/bits"

	"github.com/nnsoc/nnsoc/dsp/internal/exec/family"
	"github.com/nnsoc/nnsoc/dsp/internal/exec/simd"
	"github.com/nnsoc/nnsoc/dsp/internal/state"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

var aluRows = []family.Row{
	// ALU32: moves, add, logic.
	{hexagon.A2_nop, nop},
	{hexagon.A2_tfr, tfr},
	{hexagon.A2_tfrsi, func(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = uint32(u.Imm) }},
	{hexagon.A2_tfrih, func(t *state.Thread, u *state.Uop) {
		r := t.R(u.Arg[0])
		*r = *r&0xffff | uint32(u.Imm)<<16
	}},
	{hexagon.A2_tfril, func(t *state.Thread, u *state.Uop) {
		r := t.R(u.Arg[0])
		*r = *r&^0xffff | uint32(u.Imm)&0xffff
	}},
	{hexagon.A2_add, aadd},
	{hexagon.A2_addi, addi},
	{hexagon.A2_addsat, addsat},
	{hexagon.A2_sub, asub},
	{hexagon.A2_subsat, subsat},
	{hexagon.A2_subri, func(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = uint32(u.Imm) - *t.R(u.Arg[1]) }},
	{hexagon.A2_and, and},
	{hexagon.A2_andir, func(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = *t.R(u.Arg[1]) & uint32(u.Imm) }},
	{hexagon.A2_or, or},
	{hexagon.A2_orir, orir},
	{hexagon.A2_xor, xor},
	{hexagon.A4_andn, andn},
	{hexagon.A4_orn, orn},
	{hexagon.A2_aslh, aslh},
	{hexagon.A2_asrh, asrh},
	{hexagon.A2_sxtb, sxtb},
	{hexagon.A2_sxth, sxth},
	{hexagon.A2_zxth, zxth},
	{hexagon.A2_combinew, combinew},
	{hexagon.A2_combineii, combineii},
	{hexagon.A4_combineii, combineii},
	{hexagon.A4_combineri, func(t *state.Thread, u *state.Uop) { *t.D(u.Arg[0]) = pair(*t.R(u.Arg[1]), uint32(u.Imm)) }},
	{hexagon.A4_combineir, func(t *state.Thread, u *state.Uop) { *t.D(u.Arg[0]) = pair(uint32(u.Imm), *t.R(u.Arg[1])) }},
	{hexagon.A2_combine_hh, func(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = *t.R(u.Arg[1])&^0xffff | *t.R(u.Arg[2])>>16 }},
	{hexagon.A2_combine_hl, func(t *state.Thread, u *state.Uop) {
		*t.R(u.Arg[0]) = *t.R(u.Arg[1])&^0xffff | *t.R(u.Arg[2])&0xffff
	}},
	{hexagon.A2_combine_lh, func(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = *t.R(u.Arg[1])<<16 | *t.R(u.Arg[2])>>16 }},
	{hexagon.A2_combine_ll, func(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = *t.R(u.Arg[1])<<16 | *t.R(u.Arg[2])&0xffff }},
	{hexagon.C2_mux, func(t *state.Thread, u *state.Uop) {
		*t.R(u.Arg[0]) = choose(t, u.Arg[1], *t.R(u.Arg[2]), *t.R(u.Arg[3]))
	}},
	{hexagon.C2_muxii, func(t *state.Thread, u *state.Uop) {
		*t.R(u.Arg[0]) = choose(t, u.Arg[1], uint32(u.Imm), uint32(u.Imm2))
	}},
	{hexagon.C2_muxir, func(t *state.Thread, u *state.Uop) {
		*t.R(u.Arg[0]) = choose(t, u.Arg[1], *t.R(u.Arg[2]), uint32(u.Imm))
	}},
	{hexagon.C2_muxri, func(t *state.Thread, u *state.Uop) {
		*t.R(u.Arg[0]) = choose(t, u.Arg[1], uint32(u.Imm), *t.R(u.Arg[2]))
	}},

	// Compares and predicates.
	{hexagon.C2_cmpeq, cmpeq},
	{hexagon.C2_cmpeqi, cmpeqi},
	{hexagon.C2_cmpgt, cmpgt},
	{hexagon.C2_cmpgti, cmpgti},
	{hexagon.C2_cmpgtu, cmpgtu},
	{hexagon.C2_cmpgtui, cmpgtui},
	{hexagon.C4_cmplte, cmplte},
	{hexagon.C4_cmpltei, cmpltei},
	{hexagon.C4_cmplteu, cmplteu},
	{hexagon.C4_cmplteui, func(t *state.Thread, u *state.Uop) { *t.P(u.Arg[0]) = flag(*t.R(u.Arg[1]) <= uint32(u.Imm)) }},
	{hexagon.C4_cmpneq, cmpne},
	{hexagon.C4_cmpneqi, cmpnei},
	{hexagon.A4_rcmpeq, rcmpeq},
	{hexagon.A4_rcmpeqi, rcmpeqi},
	{hexagon.A4_rcmpneq, rcmpneq},
	{hexagon.A4_rcmpneqi, func(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = one(*t.R(u.Arg[1]) != uint32(u.Imm)) }},
	{hexagon.C2_cmpeqp, cmpeqp},
	{hexagon.C2_cmpgtp, func(t *state.Thread, u *state.Uop) { *t.P(u.Arg[0]) = flag(s64(t, u.Arg[1]) > s64(t, u.Arg[2])) }},
	{hexagon.C2_cmpgtup, func(t *state.Thread, u *state.Uop) { *t.P(u.Arg[0]) = flag(*t.D(u.Arg[1]) > *t.D(u.Arg[2])) }},
	{hexagon.S2_tstbit_i, tstbit},
	{hexagon.S4_ntstbit_i, func(t *state.Thread, u *state.Uop) { *t.P(u.Arg[0]) = flag(*t.R(u.Arg[1])>>(u.Imm&31)&1 == 0) }},
	{hexagon.C2_bitsclri, func(t *state.Thread, u *state.Uop) { *t.P(u.Arg[0]) = flag(*t.R(u.Arg[1])&uint32(u.Imm) == 0) }},
	{hexagon.C2_and, pand},
	{hexagon.C2_andn, func(t *state.Thread, u *state.Uop) { *t.P(u.Arg[0]) = *t.P(u.Arg[1]) &^ *t.P(u.Arg[2]) }},
	{hexagon.C2_or, por},
	{hexagon.C2_orn, porn},
	{hexagon.C2_xor, pxor},
	{hexagon.C2_not, pnot},
	{hexagon.C2_any8, any8},
	{hexagon.C2_all8, all8},
	{hexagon.C2_mask, func(t *state.Thread, u *state.Uop) { *t.D(u.Arg[0]) = bytemask(*t.P(u.Arg[1])) }},
	{hexagon.C2_vmux, func(t *state.Thread, u *state.Uop) {
		m := bytemask(*t.P(u.Arg[1]))
		*t.D(u.Arg[0]) = *t.D(u.Arg[2])&m | *t.D(u.Arg[3])&^m
	}},
	{hexagon.C2_tfrpr, func(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = uint32(*t.P(u.Arg[1])) }},
	{hexagon.C2_tfrrp, func(t *state.Thread, u *state.Uop) { *t.P(u.Arg[0]) = uint8(*t.R(u.Arg[1])) }},

	// ALU64: 64-bit and min/max.
	{hexagon.A2_max, func(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = uint32(max(t.S(u.Arg[1]), t.S(u.Arg[2]))) }},
	{hexagon.A2_maxu, func(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = max(*t.R(u.Arg[1]), *t.R(u.Arg[2])) }},
	{hexagon.A2_min, func(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = uint32(min(t.S(u.Arg[1]), t.S(u.Arg[2]))) }},
	{hexagon.A2_minu, func(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = min(*t.R(u.Arg[1]), *t.R(u.Arg[2])) }},
	{hexagon.A2_abs, func(t *state.Thread, u *state.Uop) {
		x := t.S(u.Arg[1])
		*t.R(u.Arg[0]) = uint32(max(x, -x))
	}},
	{hexagon.A2_addp, func(t *state.Thread, u *state.Uop) { *t.D(u.Arg[0]) = *t.D(u.Arg[1]) + *t.D(u.Arg[2]) }},
	{hexagon.A2_subp, func(t *state.Thread, u *state.Uop) { *t.D(u.Arg[0]) = *t.D(u.Arg[1]) - *t.D(u.Arg[2]) }},
	{hexagon.A2_andp, func(t *state.Thread, u *state.Uop) { *t.D(u.Arg[0]) = *t.D(u.Arg[1]) & *t.D(u.Arg[2]) }},
	{hexagon.A2_orp, orp},
	{hexagon.A2_xorp, func(t *state.Thread, u *state.Uop) { *t.D(u.Arg[0]) = *t.D(u.Arg[1]) ^ *t.D(u.Arg[2]) }},
	{hexagon.A2_negp, func(t *state.Thread, u *state.Uop) { *t.D(u.Arg[0]) = -*t.D(u.Arg[1]) }},
	{hexagon.A2_notp, func(t *state.Thread, u *state.Uop) { *t.D(u.Arg[0]) = ^*t.D(u.Arg[1]) }},
	{hexagon.A2_sxtw, func(t *state.Thread, u *state.Uop) { *t.D(u.Arg[0]) = uint64(t.S(u.Arg[1])) }},
	{hexagon.A2_sat, func(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = satTo(t, s64(t, u.Arg[1]), simd.MinW, simd.MaxW) }},
	{hexagon.A2_satb, func(t *state.Thread, u *state.Uop) {
		*t.R(u.Arg[0]) = satTo(t, int64(t.S(u.Arg[1])), simd.MinB, simd.MaxB)
	}},
	{hexagon.A2_sath, func(t *state.Thread, u *state.Uop) {
		*t.R(u.Arg[0]) = satTo(t, int64(t.S(u.Arg[1])), simd.MinH, simd.MaxH)
	}},
	{hexagon.A2_satub, func(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = satTo(t, int64(t.S(u.Arg[1])), 0, simd.MaxUB) }},
	{hexagon.A2_satuh, func(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = satTo(t, int64(t.S(u.Arg[1])), 0, simd.MaxUH) }},
	{hexagon.A2_maxp, func(t *state.Thread, u *state.Uop) { *t.D(u.Arg[0]) = uint64(max(s64(t, u.Arg[1]), s64(t, u.Arg[2]))) }},
	{hexagon.A2_minp, func(t *state.Thread, u *state.Uop) { *t.D(u.Arg[0]) = uint64(min(s64(t, u.Arg[1]), s64(t, u.Arg[2]))) }},

	// Shifts and bits.
	{hexagon.S2_asl_i_p, func(t *state.Thread, u *state.Uop) { *t.D(u.Arg[0]) = *t.D(u.Arg[1]) << u.Imm }},
	{hexagon.S2_asl_i_r, func(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = *t.R(u.Arg[1]) << u.Imm }},
	{hexagon.S2_asl_r_p, func(t *state.Thread, u *state.Uop) { *t.D(u.Arg[0]) = shl64(*t.D(u.Arg[1]), amount(*t.R(u.Arg[2]))) }},
	{hexagon.S2_asl_r_r, func(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = shl32(*t.R(u.Arg[1]), amount(*t.R(u.Arg[2]))) }},
	{hexagon.S2_asr_i_p, func(t *state.Thread, u *state.Uop) { *t.D(u.Arg[0]) = uint64(s64(t, u.Arg[1]) >> u.Imm) }},
	{hexagon.S2_asr_i_r, func(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = uint32(t.S(u.Arg[1]) >> u.Imm) }},
	{hexagon.S2_asr_r_p, func(t *state.Thread, u *state.Uop) { *t.D(u.Arg[0]) = shr64(*t.D(u.Arg[1]), amount(*t.R(u.Arg[2]))) }},
	{hexagon.S2_asr_r_r, func(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = shr32(*t.R(u.Arg[1]), amount(*t.R(u.Arg[2]))) }},
	{hexagon.S2_lsr_i_p, func(t *state.Thread, u *state.Uop) { *t.D(u.Arg[0]) = *t.D(u.Arg[1]) >> u.Imm }},
	{hexagon.S2_lsr_i_r, func(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = *t.R(u.Arg[1]) >> u.Imm }},
	{hexagon.S2_lsr_r_p, func(t *state.Thread, u *state.Uop) { *t.D(u.Arg[0]) = lsr64(*t.D(u.Arg[1]), amount(*t.R(u.Arg[2]))) }},
	{hexagon.S2_lsr_r_r, func(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = lsr32(*t.R(u.Arg[1]), amount(*t.R(u.Arg[2]))) }},
	{hexagon.S2_asl_i_r_sat, func(t *state.Thread, u *state.Uop) {
		*t.R(u.Arg[0]) = satTo(t, int64(t.S(u.Arg[1]))<<u.Imm, simd.MinW, simd.MaxW)
	}},
	{hexagon.S2_asr_i_r_rnd, func(t *state.Thread, u *state.Uop) {
		*t.R(u.Arg[0]) = uint32((int64(t.S(u.Arg[1]))>>u.Imm + 1) >> 1)
	}},
	{hexagon.S2_addasl_rrri, func(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = *t.R(u.Arg[1]) + *t.R(u.Arg[2])<<u.Imm }},
	{hexagon.S4_addaddi, func(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = *t.R(u.Arg[1]) + *t.R(u.Arg[2]) + uint32(u.Imm) }},
	{hexagon.S4_subaddi, func(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = *t.R(u.Arg[1]) + uint32(u.Imm) - *t.R(u.Arg[2]) }},
	{hexagon.S4_or_andi, orAndi},
	{hexagon.S4_addi_asl_ri, func(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = uint32(u.Imm) + *t.R(u.Arg[0])<<u.Imm2 }},
	{hexagon.S4_lsli, func(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = lsl32(uint32(u.Imm), amount(*t.R(u.Arg[1]))) }},
	{hexagon.S2_extractu, func(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = *t.R(u.Arg[1]) >> u.Imm2 & lowbits(u.Imm) }},
	{hexagon.S4_extract, func(t *state.Thread, u *state.Uop) {
		if u.Imm == 0 {
			*t.R(u.Arg[0]) = 0
			return
		}
		x := *t.R(u.Arg[1]) >> u.Imm2
		*t.R(u.Arg[0]) = uint32(int32(x<<(32-u.Imm)) >> (32 - u.Imm))
	}},
	{hexagon.S2_insert, func(t *state.Thread, u *state.Uop) {
		m := lowbits(u.Imm)
		r := t.R(u.Arg[0])
		*r = *r&^(m<<u.Imm2) | (*t.R(u.Arg[1])&m)<<u.Imm2
	}},
	{hexagon.S2_setbit_i, setbit},
	{hexagon.S2_clrbit_i, clrbit},
	{hexagon.S2_togglebit_i, func(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = *t.R(u.Arg[1]) ^ 1<<u.Imm }},
	{hexagon.S2_cl0, func(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = uint32(bits.LeadingZeros32(*t.R(u.Arg[1]))) }},
	{hexagon.S2_cl1, func(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = uint32(bits.LeadingZeros32(^*t.R(u.Arg[1]))) }},
	{hexagon.S2_clb, func(t *state.Thread, u *state.Uop) {
		x := *t.R(u.Arg[1])
		*t.R(u.Arg[0]) = uint32(max(bits.LeadingZeros32(x), bits.LeadingZeros32(^x)))
	}},
	{hexagon.S2_ct0, func(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = uint32(bits.TrailingZeros32(*t.R(u.Arg[1]))) }},
	{hexagon.S2_ct1, func(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = uint32(bits.TrailingZeros32(^*t.R(u.Arg[1]))) }},
	{hexagon.S2_brev, func(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = bits.Reverse32(*t.R(u.Arg[1])) }},
	{hexagon.A2_swiz, func(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = bits.ReverseBytes32(*t.R(u.Arg[1])) }},
	{hexagon.S2_vsplatrb, func(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = *t.R(u.Arg[1]) & 0xff * 0x01010101 }},
	{hexagon.S2_vsplatrh, func(t *state.Thread, u *state.Uop) {
		*t.D(u.Arg[0]) = uint64(*t.R(u.Arg[1])&0xffff) * 0x0001000100010001
	}},
	{hexagon.S2_valignib, func(t *state.Thread, u *state.Uop) {
		s := uint(u.Imm&7) * 8
		*t.D(u.Arg[0]) = *t.D(u.Arg[2])>>s | *t.D(u.Arg[1])<<(64-s)
	}},
	{hexagon.S2_packhl, packhl},

	// Control registers.
	{hexagon.A2_tfrcrr, tfr},
	{hexagon.A2_tfrrcr, tfr},

	// Deprecated names.
	{hexagon.Dep_A2_addsat, addsat},
	{hexagon.Dep_A2_subsat, subsat},
	{hexagon.Dep_S2_packhl, packhl},

	// Caches and hints: no architectural effect.
	{hexagon.Y2_dccleana, nop},
	{hexagon.Y2_dcinva, nop},
	{hexagon.Y2_dccleaninva, nop},
	{hexagon.Y2_icinva, nop},
	{hexagon.J4_hintjumpr, nop},
}

// Scalar arithmetic, logic, shifts and bit fields. Operand order is that of
// the assembly text; Arg[0] is the destination.

// saturated notes that a scalar result did not fit: the sticky bit of USR.
func saturated(t *state.Thread) { t.C[state.USR] |= state.OVF }

// satTo clamps x and notes when that changed it.
func satTo(t *state.Thread, x, lo, hi int64) uint32 {
	c := simd.Clamp(x, lo, hi)
	if c != x {
		saturated(t)
	}
	return uint32(c)
}

func s64(t *state.Thread, o uint16) int64 { return int64(*t.D(o)) }

func nop(*state.Thread, *state.Uop) {}

func tfr(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = *t.R(u.Arg[1]) }

func aadd(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = *t.R(u.Arg[1]) + *t.R(u.Arg[2]) }
func addi(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = *t.R(u.Arg[1]) + uint32(u.Imm) }
func asub(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = *t.R(u.Arg[1]) - *t.R(u.Arg[2]) }
func and(t *state.Thread, u *state.Uop)  { *t.R(u.Arg[0]) = *t.R(u.Arg[1]) & *t.R(u.Arg[2]) }
func or(t *state.Thread, u *state.Uop)   { *t.R(u.Arg[0]) = *t.R(u.Arg[1]) | *t.R(u.Arg[2]) }
func orir(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = *t.R(u.Arg[1]) | uint32(u.Imm) }
func xor(t *state.Thread, u *state.Uop)  { *t.R(u.Arg[0]) = *t.R(u.Arg[1]) ^ *t.R(u.Arg[2]) }
func andn(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = *t.R(u.Arg[1]) &^ *t.R(u.Arg[2]) }
func orn(t *state.Thread, u *state.Uop)  { *t.R(u.Arg[0]) = *t.R(u.Arg[1]) | ^*t.R(u.Arg[2]) }
func aslh(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = *t.R(u.Arg[1]) << 16 }
func asrh(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = uint32(t.S(u.Arg[1]) >> 16) }
func sxtb(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = uint32(int8(*t.R(u.Arg[1]))) }
func sxth(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = uint32(int16(*t.R(u.Arg[1]))) }
func zxth(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = uint32(uint16(*t.R(u.Arg[1]))) }

func addsat(t *state.Thread, u *state.Uop) {
	*t.R(u.Arg[0]) = satTo(t, int64(t.S(u.Arg[1]))+int64(t.S(u.Arg[2])), simd.MinW, simd.MaxW)
}
func subsat(t *state.Thread, u *state.Uop) {
	*t.R(u.Arg[0]) = satTo(t, int64(t.S(u.Arg[1]))-int64(t.S(u.Arg[2])), simd.MinW, simd.MaxW)
}

func pair(high, low uint32) uint64 { return uint64(high)<<32 | uint64(low) }

func combinew(t *state.Thread, u *state.Uop)  { *t.D(u.Arg[0]) = pair(*t.R(u.Arg[1]), *t.R(u.Arg[2])) }
func combineii(t *state.Thread, u *state.Uop) { *t.D(u.Arg[0]) = pair(uint32(u.Imm), uint32(u.Imm2)) }

func orp(t *state.Thread, u *state.Uop) { *t.D(u.Arg[0]) = *t.D(u.Arg[1]) | *t.D(u.Arg[2]) }

// Compares and predicates.

func flag(c bool) uint8 {
	if c {
		return 0xff
	}
	return 0
}

func one(c bool) uint32 {
	if c {
		return 1
	}
	return 0
}

func cmpeq(t *state.Thread, u *state.Uop)   { *t.P(u.Arg[0]) = flag(*t.R(u.Arg[1]) == *t.R(u.Arg[2])) }
func cmpeqi(t *state.Thread, u *state.Uop)  { *t.P(u.Arg[0]) = flag(*t.R(u.Arg[1]) == uint32(u.Imm)) }
func cmpgt(t *state.Thread, u *state.Uop)   { *t.P(u.Arg[0]) = flag(t.S(u.Arg[1]) > t.S(u.Arg[2])) }
func cmpgti(t *state.Thread, u *state.Uop)  { *t.P(u.Arg[0]) = flag(t.S(u.Arg[1]) > u.Imm) }
func cmpgtu(t *state.Thread, u *state.Uop)  { *t.P(u.Arg[0]) = flag(*t.R(u.Arg[1]) > *t.R(u.Arg[2])) }
func cmpgtui(t *state.Thread, u *state.Uop) { *t.P(u.Arg[0]) = flag(*t.R(u.Arg[1]) > uint32(u.Imm)) }
func cmpne(t *state.Thread, u *state.Uop)   { *t.P(u.Arg[0]) = flag(*t.R(u.Arg[1]) != *t.R(u.Arg[2])) }
func cmpnei(t *state.Thread, u *state.Uop)  { *t.P(u.Arg[0]) = flag(*t.R(u.Arg[1]) != uint32(u.Imm)) }
func cmplte(t *state.Thread, u *state.Uop)  { *t.P(u.Arg[0]) = flag(t.S(u.Arg[1]) <= t.S(u.Arg[2])) }
func cmpltei(t *state.Thread, u *state.Uop) { *t.P(u.Arg[0]) = flag(t.S(u.Arg[1]) <= u.Imm) }
func cmplteu(t *state.Thread, u *state.Uop) { *t.P(u.Arg[0]) = flag(*t.R(u.Arg[1]) <= *t.R(u.Arg[2])) }
func cmpeqp(t *state.Thread, u *state.Uop)  { *t.P(u.Arg[0]) = flag(*t.D(u.Arg[1]) == *t.D(u.Arg[2])) }

func rcmpeq(t *state.Thread, u *state.Uop)  { *t.R(u.Arg[0]) = one(*t.R(u.Arg[1]) == *t.R(u.Arg[2])) }
func rcmpeqi(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = one(*t.R(u.Arg[1]) == uint32(u.Imm)) }
func rcmpneq(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = one(*t.R(u.Arg[1]) != *t.R(u.Arg[2])) }

func tstbit(t *state.Thread, u *state.Uop) { *t.P(u.Arg[0]) = flag(*t.R(u.Arg[1])>>(u.Imm&31)&1 != 0) }

func pand(t *state.Thread, u *state.Uop) { *t.P(u.Arg[0]) = *t.P(u.Arg[1]) & *t.P(u.Arg[2]) }
func por(t *state.Thread, u *state.Uop)  { *t.P(u.Arg[0]) = *t.P(u.Arg[1]) | *t.P(u.Arg[2]) }
func porn(t *state.Thread, u *state.Uop) { *t.P(u.Arg[0]) = *t.P(u.Arg[1]) | ^*t.P(u.Arg[2]) }
func pxor(t *state.Thread, u *state.Uop) { *t.P(u.Arg[0]) = *t.P(u.Arg[1]) ^ *t.P(u.Arg[2]) }
func pnot(t *state.Thread, u *state.Uop) { *t.P(u.Arg[0]) = ^*t.P(u.Arg[1]) }
func any8(t *state.Thread, u *state.Uop) { *t.P(u.Arg[0]) = flag(*t.P(u.Arg[1]) != 0) }
func all8(t *state.Thread, u *state.Uop) { *t.P(u.Arg[0]) = flag(*t.P(u.Arg[1]) == 0xff) }

// bytemask spreads the bits of p over bytes.
func bytemask(p uint8) (m uint64) {
	for i := range 8 {
		if p>>i&1 != 0 {
			m |= 0xff << (8 * i)
		}
	}
	return m
}

// choose is the mux on the low bit of a predicate.
func choose(t *state.Thread, p uint16, a, b uint32) uint32 {
	if *t.P(p)&1 != 0 {
		return a
	}
	return b
}

// Shifts by a register go both ways: the low seven bits are a signed amount.

func amount(r uint32) int32 { return int32(r<<25) >> 25 }

func shl32(x uint32, s int32) uint32 {
	if s < 0 {
		return uint32(int32(x) >> -s)
	}
	return x << s
}
func shr32(x uint32, s int32) uint32 {
	if s < 0 {
		return x << -s
	}
	return uint32(int32(x) >> s)
}
func lsr32(x uint32, s int32) uint32 {
	if s < 0 {
		return x << -s
	}
	return x >> s
}
func lsl32(x uint32, s int32) uint32 { return lsr32(x, -s) }

func shl64(x uint64, s int32) uint64 {
	if s < 0 {
		return uint64(int64(x) >> -s)
	}
	return x << s
}
func shr64(x uint64, s int32) uint64 {
	if s < 0 {
		return x << -s
	}
	return uint64(int64(x) >> s)
}
func lsr64(x uint64, s int32) uint64 {
	if s < 0 {
		return x << -s
	}
	return x >> s
}

func orAndi(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) |= *t.R(u.Arg[1]) & uint32(u.Imm) }

// Bit fields: width, then offset.

func lowbits(n int32) uint32 { return 1<<uint32(n) - 1 }

func setbit(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = *t.R(u.Arg[1]) | 1<<u.Imm }
func clrbit(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = *t.R(u.Arg[1]) &^ (1 << u.Imm) }

func packhl(t *state.Thread, u *state.Uop) {
	s, r := *t.R(u.Arg[1]), *t.R(u.Arg[2])
	*t.D(u.Arg[0]) = pair(s&^0xffff|r>>16, s<<16|r&0xffff)
}
