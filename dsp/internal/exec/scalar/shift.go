package scalar

import (
	"math/bits"

	"golang.org/x/exp/constraints"

	"github.com/nnsoc/nnsoc/dsp/internal/exec/family"
	"github.com/nnsoc/nnsoc/dsp/internal/state"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

var shiftRows = []family.Row{
	// Shifts and bits.
	{hexagon.S4_addi_lsr_ri, immShift(opAdd[uint32], lsr32)},
	{hexagon.S4_andi_asl_ri, immShift(opAnd[uint32], shl32)},
	{hexagon.S4_andi_lsr_ri, immShift(opAnd[uint32], lsr32)},
	{hexagon.S4_ori_asl_ri, immShift(opOr[uint32], shl32)},
	{hexagon.S4_ori_lsr_ri, immShift(opOr[uint32], lsr32)},
	{hexagon.S4_subi_asl_ri, immShift(opSub[uint32], shl32)},
	{hexagon.S4_subi_lsr_ri, immShift(opSub[uint32], lsr32)},
	{hexagon.S4_or_andix, func(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = *t.R(u.Arg[1]) | *t.R(u.Arg[0])&uint32(u.Imm) }},
	{hexagon.S4_or_ori, func(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) |= *t.R(u.Arg[1]) | uint32(u.Imm) }},
	{hexagon.S2_setbit_r, setbitR},
	{hexagon.S2_clrbit_r, clrbitR},
	{hexagon.S2_togglebit_r, func(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = *t.R(u.Arg[1]) ^ bitOf(t, u) }},
	{hexagon.S2_tstbit_r, tstbitR},
	{hexagon.S4_ntstbit_r, ntstbitR},
	{hexagon.C2_bitsclr, func(t *state.Thread, u *state.Uop) { *t.P(u.Arg[0]) = flag(*t.R(u.Arg[1])&*t.R(u.Arg[2]) == 0) }},
	{hexagon.C4_nbitsclr, func(t *state.Thread, u *state.Uop) { *t.P(u.Arg[0]) = flag(*t.R(u.Arg[1])&*t.R(u.Arg[2]) != 0) }},
	{hexagon.C4_nbitsclri, func(t *state.Thread, u *state.Uop) { *t.P(u.Arg[0]) = flag(*t.R(u.Arg[1])&uint32(u.Imm) != 0) }},
	{hexagon.C2_bitsset, func(t *state.Thread, u *state.Uop) {
		*t.P(u.Arg[0]) = flag(*t.R(u.Arg[1])&*t.R(u.Arg[2]) == *t.R(u.Arg[2]))
	}},
	{hexagon.C4_nbitsset, func(t *state.Thread, u *state.Uop) {
		*t.P(u.Arg[0]) = flag(*t.R(u.Arg[1])&*t.R(u.Arg[2]) != *t.R(u.Arg[2]))
	}},
	{hexagon.A4_bitspliti, func(t *state.Thread, u *state.Uop) { split(t, u, u.Imm) }},
	{hexagon.A4_bitsplit, bitsplit},
	{hexagon.S2_cl0p, func(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = uint32(bits.LeadingZeros64(*t.D(u.Arg[1]))) }},
	{hexagon.S2_cl1p, func(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = uint32(bits.LeadingZeros64(^*t.D(u.Arg[1]))) }},
	{hexagon.S2_ct0p, func(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = uint32(bits.TrailingZeros64(*t.D(u.Arg[1]))) }},
	{hexagon.S2_ct1p, func(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = uint32(bits.TrailingZeros64(^*t.D(u.Arg[1]))) }},
	{hexagon.S2_clbp, clbp},
	{hexagon.S2_clbnorm, func(t *state.Thread, u *state.Uop) {
		x := *t.R(u.Arg[1])
		*t.R(u.Arg[0]) = 0
		if x != 0 {
			*t.R(u.Arg[0]) = clb32(x) - 1
		}
	}},
	{hexagon.S2_brevp, func(t *state.Thread, u *state.Uop) { *t.D(u.Arg[0]) = bits.Reverse64(*t.D(u.Arg[1])) }},
	{hexagon.S4_clbaddi, clbaddi},
	{hexagon.S4_clbpaddi, func(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = clb64(*t.D(u.Arg[1])) + uint32(u.Imm) }},
	{hexagon.S5_popcountp, func(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = uint32(bits.OnesCount64(*t.D(u.Arg[1]))) }},
	{hexagon.S4_parity, func(t *state.Thread, u *state.Uop) {
		*t.R(u.Arg[0]) = uint32(bits.OnesCount32(*t.R(u.Arg[1])&*t.R(u.Arg[2]))) & 1
	}},
	{hexagon.S2_parityp, func(t *state.Thread, u *state.Uop) {
		*t.R(u.Arg[0]) = uint32(bits.OnesCount64(*t.D(u.Arg[1])&*t.D(u.Arg[2]))) & 1
	}},
	{hexagon.S2_extractup, func(t *state.Thread, u *state.Uop) {
		*t.D(u.Arg[0]) = *t.D(u.Arg[1]) >> u.Imm2 & (1<<uint(u.Imm) - 1)
	}},
	{hexagon.S4_extractp, func(t *state.Thread, u *state.Uop) {
		x := *t.D(u.Arg[1]) >> u.Imm2 & (1<<uint(u.Imm) - 1)
		s := 64 - uint(u.Imm)
		*t.D(u.Arg[0]) = uint64(int64(x<<s) >> s)
	}},
	{hexagon.S2_insertp, func(t *state.Thread, u *state.Uop) {
		m := uint64(1)<<uint(u.Imm) - 1
		d := t.D(u.Arg[0])
		*d = *d&^(m<<u.Imm2) | *t.D(u.Arg[1])&m<<u.Imm2
	}},
	{hexagon.S2_mask, func(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = lowbits(u.Imm) << u.Imm2 }},
}

// Shifts that combine with their destination, and shifts of halves and words of a pair. A shift is a function of value
// and amount.

type (
	shift32 = func(x uint32, s int32) uint32
	shift64 = func(x uint64, s int32) uint64
)

func rol32(x uint32, s int32) uint32 { return bits.RotateLeft32(x, int(s)) }
func rol64(x uint64, s int32) uint64 { return bits.RotateLeft64(x, int(s)) }
func lsl64(x uint64, s int32) uint64 { return lsr64(x, -s) }

func opAdd[T constraints.Unsigned](x, y T) T   { return x + y }
func opSub[T constraints.Unsigned](x, y T) T   { return x - y }
func opAnd[T constraints.Unsigned](x, y T) T   { return x & y }
func opOr[T constraints.Unsigned](x, y T) T    { return x | y }
func opXor[T constraints.Unsigned](x, y T) T   { return x ^ y }
func opAndn[T constraints.Unsigned](x, y T) T  { return x &^ y }
func opFirst[T constraints.Unsigned](_, y T) T { return y }

// shiftRI, shiftRR: 32 bits by an immediate, by a register; shiftPI, shiftPR:
// 64 bits.
func shiftRI(f func(x, y uint32) uint32, s shift32) state.Semantic {
	return func(t *state.Thread, u *state.Uop) {
		d := t.R(u.Arg[0])
		*d = f(*d, s(*t.R(u.Arg[1]), u.Imm))
	}
}
func shiftRR(f func(x, y uint32) uint32, s shift32) state.Semantic {
	return func(t *state.Thread, u *state.Uop) {
		d := t.R(u.Arg[0])
		*d = f(*d, s(*t.R(u.Arg[1]), amount(*t.R(u.Arg[2]))))
	}
}
func shiftPI(f func(x, y uint64) uint64, s shift64) state.Semantic {
	return func(t *state.Thread, u *state.Uop) {
		d := t.D(u.Arg[0])
		*d = f(*d, s(*t.D(u.Arg[1]), u.Imm))
	}
}
func shiftPR(f func(x, y uint64) uint64, s shift64) state.Semantic {
	return func(t *state.Thread, u *state.Uop) {
		d := t.D(u.Arg[0])
		*d = f(*d, s(*t.D(u.Arg[1]), amount(*t.R(u.Arg[2]))))
	}
}

// shiftLanes shifts each lane of w bits; the counts of shiftLanesI are immediates, those of shiftLanesR in registers.
func shiftLanes(x uint64, w uint, signed bool, s int32, f shift64) (d uint64) {
	for i := uint(0); i < 64; i += w {
		d |= f(uint64(lane(x, i, w, signed)), s) & (1<<w - 1) << i
	}
	return d
}
func shiftLanesI(w uint, signed bool, f shift64) state.Semantic {
	return func(t *state.Thread, u *state.Uop) { *t.D(u.Arg[0]) = shiftLanes(*t.D(u.Arg[1]), w, signed, u.Imm, f) }
}
func shiftLanesR(w uint, signed bool, f shift64) state.Semantic {
	return func(t *state.Thread, u *state.Uop) {
		*t.D(u.Arg[0]) = shiftLanes(*t.D(u.Arg[1]), w, signed, amount(*t.R(u.Arg[2])), f)
	}
}

// immShift is a constant combined with a shift of the destination.
func immShift(f func(x, y uint32) uint32, s shift32) state.Semantic {
	return func(t *state.Thread, u *state.Uop) {
		d := t.R(u.Arg[0])
		*d = f(uint32(u.Imm), s(*d, u.Imm2))
	}
}

// Bits named by a register: its low seven bits, signed, shift a one.
func bitOf(t *state.Thread, u *state.Uop) uint32 { return lsl32(1, amount(*t.R(u.Arg[2]))) }

func setbitR(t *state.Thread, u *state.Uop)  { *t.R(u.Arg[0]) = *t.R(u.Arg[1]) | bitOf(t, u) }
func clrbitR(t *state.Thread, u *state.Uop)  { *t.R(u.Arg[0]) = *t.R(u.Arg[1]) &^ bitOf(t, u) }
func tstbitR(t *state.Thread, u *state.Uop)  { *t.P(u.Arg[0]) = flag(*t.R(u.Arg[1])&bitOf(t, u) != 0) }
func ntstbitR(t *state.Thread, u *state.Uop) { *t.P(u.Arg[0]) = flag(*t.R(u.Arg[1])&bitOf(t, u) == 0) }

func bitsplit(t *state.Thread, u *state.Uop) { split(t, u, int32(*t.R(u.Arg[2])&31)) }

// split puts the bits from n on into the high word, those below into the low.
func split(t *state.Thread, u *state.Uop, n int32) {
	x := *t.R(u.Arg[1])
	*t.D(u.Arg[0]) = pair(x>>n, x&lowbits(n))
}

func clb64(x uint64) uint32 {
	return uint32(max(bits.LeadingZeros64(x), bits.LeadingZeros64(^x)))
}
func clb32(x uint32) uint32 {
	return uint32(max(bits.LeadingZeros32(x), bits.LeadingZeros32(^x)))
}
func clbp(t *state.Thread, u *state.Uop)    { *t.R(u.Arg[0]) = clb64(*t.D(u.Arg[1])) }
func clbaddi(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = clb32(*t.R(u.Arg[1])) + uint32(u.Imm) }
