package scalar

import (
	"github.com/nnsoc/nnsoc/dsp/internal/exec/family"
	"github.com/nnsoc/nnsoc/dsp/internal/exec/simd"
	"github.com/nnsoc/nnsoc/dsp/internal/state"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

var halfRows = []family.Row{
	// Words: products, and logic that accumulates.
	{hexagon.M2_dpmpyss_nac_s0, func(t *state.Thread, u *state.Uop) { *t.D(u.Arg[0]) -= uint64(mul64(t, u)) }},
	{hexagon.M2_dpmpyuu_nac_s0, func(t *state.Thread, u *state.Uop) { *t.D(u.Arg[0]) -= umul64(t, u) }},
	{hexagon.M2_dpmpyss_rnd_s0, func(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = uint32((mul64(t, u) + 1<<31) >> 32) }},
	{hexagon.M2_mpysu_up, func(t *state.Thread, u *state.Uop) {
		*t.R(u.Arg[0]) = uint32(int64(t.S(u.Arg[1])) * int64(*t.R(u.Arg[2])) >> 32)
	}},
	{hexagon.M2_subacc, func(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) += *t.R(u.Arg[1]) - *t.R(u.Arg[2]) }},
	{hexagon.M4_mac_up_s1_sat, macUpSat(1)},
	{hexagon.M4_nac_up_s1_sat, macUpSat(-1)},
	{hexagon.M2_xor_xacc, logicAcc(opXor[uint32], opXor[uint32])},
	{hexagon.M4_and_and, logicAcc(opAnd[uint32], opAnd[uint32])},
	{hexagon.M4_and_or, logicAcc(opAnd[uint32], opOr[uint32])},
	{hexagon.M4_and_xor, logicAcc(opAnd[uint32], opXor[uint32])},
	{hexagon.M4_and_andn, logicAcc(opAnd[uint32], opAndn[uint32])},
	{hexagon.M4_or_and, logicAcc(opOr[uint32], opAnd[uint32])},
	{hexagon.M4_or_or, logicAcc(opOr[uint32], opOr[uint32])},
	{hexagon.M4_or_xor, logicAcc(opOr[uint32], opXor[uint32])},
	{hexagon.M4_or_andn, logicAcc(opOr[uint32], opAndn[uint32])},
	{hexagon.M4_xor_and, logicAcc(opXor[uint32], opAnd[uint32])},
	{hexagon.M4_xor_or, logicAcc(opXor[uint32], opOr[uint32])},
	{hexagon.M4_xor_andn, logicAcc(opXor[uint32], opAndn[uint32])},

	// Halves.
	{hexagon.M2_hmmpyh_s1, mulUpHalf(1, false)},
	{hexagon.M2_hmmpyl_s1, mulUpHalf(0, false)},
	{hexagon.M2_hmmpyh_rs1, mulUpHalf(1, true)},
	{hexagon.M2_hmmpyl_rs1, mulUpHalf(0, true)},
}

// Multiplies of halfwords of scalar registers.

// halfMul describes one of them: which halves, signedness, doubling, rounding and saturation, and how the product is
// combined with the destination.
type halfMul struct {
	a, b     int // half of the first and of the second register
	unsigned bool
	shift    uint
	round    bool
	sat      bool
	acc      int64 // 1 adds to the destination, -1 subtracts from it, 0 replaces it
}

func (m halfMul) product(t *state.Thread, u *state.Uop) int64 {
	x, y := *t.R(u.Arg[1])>>(16*m.a), *t.R(u.Arg[2])>>(16*m.b)
	p := int64(int16(x)) * int64(int16(y))
	if m.unsigned {
		p = int64(uint16(x)) * int64(uint16(y))
	}
	p <<= m.shift
	if m.round {
		p += 0x8000
	}
	return p
}

// word is the form with a 32-bit destination.
func (m halfMul) word() state.Semantic {
	return func(t *state.Thread, u *state.Uop) {
		p := m.product(t, u)
		d := t.R(u.Arg[0])
		if m.acc != 0 {
			p = int64(int32(*d)) + m.acc*p
		}
		if m.sat {
			*d = satTo(t, p, simd.MinW, simd.MaxW)
			return
		}
		*d = uint32(p)
	}
}

// pair is the form with a 64-bit destination.
func (m halfMul) pair() state.Semantic {
	return func(t *state.Thread, u *state.Uop) {
		p := m.product(t, u)
		d := t.D(u.Arg[0])
		if m.acc != 0 {
			p = int64(*d) + m.acc*p
		}
		*d = uint64(p)
	}
}

// addHalves adds (or subtracts) two halves; the result is in the low half, sign-extended, or in the high half.
func addHalves(a, b int, sub, sat, high bool) state.Semantic {
	return func(t *state.Thread, u *state.Uop) {
		x, y := int64(int16(*t.R(u.Arg[1])>>(16*a))), int64(int16(*t.R(u.Arg[2])>>(16*b)))
		if sub {
			y = -y
		}
		v := uint32(x + y)
		if sat {
			v = satTo(t, x+y, simd.MinH, simd.MaxH)
		}
		if high {
			*t.R(u.Arg[0]) = v << 16
		} else {
			*t.R(u.Arg[0]) = uint32(int32(int16(v)))
		}
	}
}

// mulUpHalf is the word by halfword multiply that keeps the high part.
func mulUpHalf(half int, round bool) state.Semantic {
	return func(t *state.Thread, u *state.Uop) {
		p := int64(t.S(u.Arg[1])) * int64(int16(*t.R(u.Arg[2])>>(16*half))) << 1
		if round {
			p += 0x8000
		}
		*t.R(u.Arg[0]) = satTo(t, p>>16, simd.MinW, simd.MaxW)
	}
}

func macUpSat(sign int64) state.Semantic {
	return func(t *state.Thread, u *state.Uop) {
		*t.R(u.Arg[0]) = satTo(t, int64(t.S(u.Arg[0]))+sign*(mul64(t, u)>>31), simd.MinW, simd.MaxW)
	}
}

// logicAcc combines the destination with a logic operation of two registers.
func logicAcc(outer, inner func(x, y uint32) uint32) state.Semantic {
	return func(t *state.Thread, u *state.Uop) {
		d := t.R(u.Arg[0])
		*d = outer(*d, inner(*t.R(u.Arg[1]), *t.R(u.Arg[2])))
	}
}
