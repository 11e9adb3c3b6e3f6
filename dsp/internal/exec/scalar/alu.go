package scalar

import (
	"math/bits"

	"github.com/nnsoc/nnsoc/dsp/internal/exec/simd"
	"github.com/nnsoc/nnsoc/dsp/internal/state"
)

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

func tfr(t *state.Thread, u *state.Uop)   { *t.R(u.Arg[0]) = *t.R(u.Arg[1]) }
func tfrsi(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = uint32(u.Imm) }
func tfrih(t *state.Thread, u *state.Uop) {
	r := t.R(u.Arg[0])
	*r = *r&0xffff | uint32(u.Imm)<<16
}
func tfril(t *state.Thread, u *state.Uop) {
	r := t.R(u.Arg[0])
	*r = *r&^0xffff | uint32(u.Imm)&0xffff
}

func aadd(t *state.Thread, u *state.Uop)  { *t.R(u.Arg[0]) = *t.R(u.Arg[1]) + *t.R(u.Arg[2]) }
func addi(t *state.Thread, u *state.Uop)  { *t.R(u.Arg[0]) = *t.R(u.Arg[1]) + uint32(u.Imm) }
func asub(t *state.Thread, u *state.Uop)  { *t.R(u.Arg[0]) = *t.R(u.Arg[1]) - *t.R(u.Arg[2]) }
func subri(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = uint32(u.Imm) - *t.R(u.Arg[1]) }
func and(t *state.Thread, u *state.Uop)   { *t.R(u.Arg[0]) = *t.R(u.Arg[1]) & *t.R(u.Arg[2]) }
func andir(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = *t.R(u.Arg[1]) & uint32(u.Imm) }
func or(t *state.Thread, u *state.Uop)    { *t.R(u.Arg[0]) = *t.R(u.Arg[1]) | *t.R(u.Arg[2]) }
func orir(t *state.Thread, u *state.Uop)  { *t.R(u.Arg[0]) = *t.R(u.Arg[1]) | uint32(u.Imm) }
func xor(t *state.Thread, u *state.Uop)   { *t.R(u.Arg[0]) = *t.R(u.Arg[1]) ^ *t.R(u.Arg[2]) }
func andn(t *state.Thread, u *state.Uop)  { *t.R(u.Arg[0]) = *t.R(u.Arg[1]) &^ *t.R(u.Arg[2]) }
func orn(t *state.Thread, u *state.Uop)   { *t.R(u.Arg[0]) = *t.R(u.Arg[1]) | ^*t.R(u.Arg[2]) }
func aslh(t *state.Thread, u *state.Uop)  { *t.R(u.Arg[0]) = *t.R(u.Arg[1]) << 16 }
func asrh(t *state.Thread, u *state.Uop)  { *t.R(u.Arg[0]) = uint32(t.S(u.Arg[1]) >> 16) }
func sxtb(t *state.Thread, u *state.Uop)  { *t.R(u.Arg[0]) = uint32(int8(*t.R(u.Arg[1]))) }
func sxth(t *state.Thread, u *state.Uop)  { *t.R(u.Arg[0]) = uint32(int16(*t.R(u.Arg[1]))) }
func zxth(t *state.Thread, u *state.Uop)  { *t.R(u.Arg[0]) = uint32(uint16(*t.R(u.Arg[1]))) }

func addsat(t *state.Thread, u *state.Uop) {
	*t.R(u.Arg[0]) = satTo(t, int64(t.S(u.Arg[1]))+int64(t.S(u.Arg[2])), simd.MinW, simd.MaxW)
}
func subsat(t *state.Thread, u *state.Uop) {
	*t.R(u.Arg[0]) = satTo(t, int64(t.S(u.Arg[1]))-int64(t.S(u.Arg[2])), simd.MinW, simd.MaxW)
}

func pair(high, low uint32) uint64 { return uint64(high)<<32 | uint64(low) }

func combinew(t *state.Thread, u *state.Uop)  { *t.D(u.Arg[0]) = pair(*t.R(u.Arg[1]), *t.R(u.Arg[2])) }
func combineii(t *state.Thread, u *state.Uop) { *t.D(u.Arg[0]) = pair(uint32(u.Imm), uint32(u.Imm2)) }
func combineri(t *state.Thread, u *state.Uop) { *t.D(u.Arg[0]) = pair(*t.R(u.Arg[1]), uint32(u.Imm)) }
func combineir(t *state.Thread, u *state.Uop) { *t.D(u.Arg[0]) = pair(uint32(u.Imm), *t.R(u.Arg[1])) }

func combineHH(t *state.Thread, u *state.Uop) {
	*t.R(u.Arg[0]) = *t.R(u.Arg[1])&^0xffff | *t.R(u.Arg[2])>>16
}
func combineHL(t *state.Thread, u *state.Uop) {
	*t.R(u.Arg[0]) = *t.R(u.Arg[1])&^0xffff | *t.R(u.Arg[2])&0xffff
}
func combineLH(t *state.Thread, u *state.Uop) {
	*t.R(u.Arg[0]) = *t.R(u.Arg[1])<<16 | *t.R(u.Arg[2])>>16
}
func combineLL(t *state.Thread, u *state.Uop) {
	*t.R(u.Arg[0]) = *t.R(u.Arg[1])<<16 | *t.R(u.Arg[2])&0xffff
}

func smax(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = uint32(max(t.S(u.Arg[1]), t.S(u.Arg[2]))) }
func smin(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = uint32(min(t.S(u.Arg[1]), t.S(u.Arg[2]))) }
func umax(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = max(*t.R(u.Arg[1]), *t.R(u.Arg[2])) }
func umin(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = min(*t.R(u.Arg[1]), *t.R(u.Arg[2])) }
func abs(t *state.Thread, u *state.Uop) {
	x := t.S(u.Arg[1])
	*t.R(u.Arg[0]) = uint32(max(x, -x))
}

// 64-bit.

func addp(t *state.Thread, u *state.Uop) { *t.D(u.Arg[0]) = *t.D(u.Arg[1]) + *t.D(u.Arg[2]) }
func subp(t *state.Thread, u *state.Uop) { *t.D(u.Arg[0]) = *t.D(u.Arg[1]) - *t.D(u.Arg[2]) }
func andp(t *state.Thread, u *state.Uop) { *t.D(u.Arg[0]) = *t.D(u.Arg[1]) & *t.D(u.Arg[2]) }
func orp(t *state.Thread, u *state.Uop)  { *t.D(u.Arg[0]) = *t.D(u.Arg[1]) | *t.D(u.Arg[2]) }
func xorp(t *state.Thread, u *state.Uop) { *t.D(u.Arg[0]) = *t.D(u.Arg[1]) ^ *t.D(u.Arg[2]) }
func negp(t *state.Thread, u *state.Uop) { *t.D(u.Arg[0]) = -*t.D(u.Arg[1]) }
func notp(t *state.Thread, u *state.Uop) { *t.D(u.Arg[0]) = ^*t.D(u.Arg[1]) }
func sxtw(t *state.Thread, u *state.Uop) { *t.D(u.Arg[0]) = uint64(t.S(u.Arg[1])) }
func maxp(t *state.Thread, u *state.Uop) {
	*t.D(u.Arg[0]) = uint64(max(s64(t, u.Arg[1]), s64(t, u.Arg[2])))
}
func minp(t *state.Thread, u *state.Uop) {
	*t.D(u.Arg[0]) = uint64(min(s64(t, u.Arg[1]), s64(t, u.Arg[2])))
}

func asat(t *state.Thread, u *state.Uop) {
	*t.R(u.Arg[0]) = satTo(t, s64(t, u.Arg[1]), simd.MinW, simd.MaxW)
}
func asatb(t *state.Thread, u *state.Uop) {
	*t.R(u.Arg[0]) = satTo(t, int64(t.S(u.Arg[1])), simd.MinB, simd.MaxB)
}
func asath(t *state.Thread, u *state.Uop) {
	*t.R(u.Arg[0]) = satTo(t, int64(t.S(u.Arg[1])), simd.MinH, simd.MaxH)
}
func asatub(t *state.Thread, u *state.Uop) {
	*t.R(u.Arg[0]) = satTo(t, int64(t.S(u.Arg[1])), 0, simd.MaxUB)
}
func asatuh(t *state.Thread, u *state.Uop) {
	*t.R(u.Arg[0]) = satTo(t, int64(t.S(u.Arg[1])), 0, simd.MaxUH)
}

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

func cmpeq(t *state.Thread, u *state.Uop)    { *t.P(u.Arg[0]) = flag(*t.R(u.Arg[1]) == *t.R(u.Arg[2])) }
func cmpeqi(t *state.Thread, u *state.Uop)   { *t.P(u.Arg[0]) = flag(*t.R(u.Arg[1]) == uint32(u.Imm)) }
func cmpgt(t *state.Thread, u *state.Uop)    { *t.P(u.Arg[0]) = flag(t.S(u.Arg[1]) > t.S(u.Arg[2])) }
func cmpgti(t *state.Thread, u *state.Uop)   { *t.P(u.Arg[0]) = flag(t.S(u.Arg[1]) > u.Imm) }
func cmpgtu(t *state.Thread, u *state.Uop)   { *t.P(u.Arg[0]) = flag(*t.R(u.Arg[1]) > *t.R(u.Arg[2])) }
func cmpgtui(t *state.Thread, u *state.Uop)  { *t.P(u.Arg[0]) = flag(*t.R(u.Arg[1]) > uint32(u.Imm)) }
func cmpne(t *state.Thread, u *state.Uop)    { *t.P(u.Arg[0]) = flag(*t.R(u.Arg[1]) != *t.R(u.Arg[2])) }
func cmpnei(t *state.Thread, u *state.Uop)   { *t.P(u.Arg[0]) = flag(*t.R(u.Arg[1]) != uint32(u.Imm)) }
func cmplte(t *state.Thread, u *state.Uop)   { *t.P(u.Arg[0]) = flag(t.S(u.Arg[1]) <= t.S(u.Arg[2])) }
func cmpltei(t *state.Thread, u *state.Uop)  { *t.P(u.Arg[0]) = flag(t.S(u.Arg[1]) <= u.Imm) }
func cmplteu(t *state.Thread, u *state.Uop)  { *t.P(u.Arg[0]) = flag(*t.R(u.Arg[1]) <= *t.R(u.Arg[2])) }
func cmplteui(t *state.Thread, u *state.Uop) { *t.P(u.Arg[0]) = flag(*t.R(u.Arg[1]) <= uint32(u.Imm)) }
func cmpeqp(t *state.Thread, u *state.Uop)   { *t.P(u.Arg[0]) = flag(*t.D(u.Arg[1]) == *t.D(u.Arg[2])) }
func cmpgtp(t *state.Thread, u *state.Uop) {
	*t.P(u.Arg[0]) = flag(s64(t, u.Arg[1]) > s64(t, u.Arg[2]))
}
func cmpgtup(t *state.Thread, u *state.Uop) { *t.P(u.Arg[0]) = flag(*t.D(u.Arg[1]) > *t.D(u.Arg[2])) }

func rcmpeq(t *state.Thread, u *state.Uop)   { *t.R(u.Arg[0]) = one(*t.R(u.Arg[1]) == *t.R(u.Arg[2])) }
func rcmpeqi(t *state.Thread, u *state.Uop)  { *t.R(u.Arg[0]) = one(*t.R(u.Arg[1]) == uint32(u.Imm)) }
func rcmpneq(t *state.Thread, u *state.Uop)  { *t.R(u.Arg[0]) = one(*t.R(u.Arg[1]) != *t.R(u.Arg[2])) }
func rcmpneqi(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = one(*t.R(u.Arg[1]) != uint32(u.Imm)) }

func tstbit(t *state.Thread, u *state.Uop)  { *t.P(u.Arg[0]) = flag(*t.R(u.Arg[1])>>(u.Imm&31)&1 != 0) }
func ntstbit(t *state.Thread, u *state.Uop) { *t.P(u.Arg[0]) = flag(*t.R(u.Arg[1])>>(u.Imm&31)&1 == 0) }
func bitsclri(t *state.Thread, u *state.Uop) {
	*t.P(u.Arg[0]) = flag(*t.R(u.Arg[1])&uint32(u.Imm) == 0)
}

func pand(t *state.Thread, u *state.Uop)  { *t.P(u.Arg[0]) = *t.P(u.Arg[1]) & *t.P(u.Arg[2]) }
func pandn(t *state.Thread, u *state.Uop) { *t.P(u.Arg[0]) = *t.P(u.Arg[1]) &^ *t.P(u.Arg[2]) }
func por(t *state.Thread, u *state.Uop)   { *t.P(u.Arg[0]) = *t.P(u.Arg[1]) | *t.P(u.Arg[2]) }
func porn(t *state.Thread, u *state.Uop)  { *t.P(u.Arg[0]) = *t.P(u.Arg[1]) | ^*t.P(u.Arg[2]) }
func pxor(t *state.Thread, u *state.Uop)  { *t.P(u.Arg[0]) = *t.P(u.Arg[1]) ^ *t.P(u.Arg[2]) }
func pnot(t *state.Thread, u *state.Uop)  { *t.P(u.Arg[0]) = ^*t.P(u.Arg[1]) }
func any8(t *state.Thread, u *state.Uop)  { *t.P(u.Arg[0]) = flag(*t.P(u.Arg[1]) != 0) }
func all8(t *state.Thread, u *state.Uop)  { *t.P(u.Arg[0]) = flag(*t.P(u.Arg[1]) == 0xff) }
func tfrpr(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = uint32(*t.P(u.Arg[1])) }
func tfrrp(t *state.Thread, u *state.Uop) { *t.P(u.Arg[0]) = uint8(*t.R(u.Arg[1])) }

// bytemask spreads the bits of p over bytes.
func bytemask(p uint8) (m uint64) {
	for i := range 8 {
		if p>>i&1 != 0 {
			m |= 0xff << (8 * i)
		}
	}
	return m
}

func cmask(t *state.Thread, u *state.Uop) { *t.D(u.Arg[0]) = bytemask(*t.P(u.Arg[1])) }
func cvmux(t *state.Thread, u *state.Uop) {
	m := bytemask(*t.P(u.Arg[1]))
	*t.D(u.Arg[0]) = *t.D(u.Arg[2])&m | *t.D(u.Arg[3])&^m
}

// choose is the mux on the low bit of a predicate.
func choose(t *state.Thread, p uint16, a, b uint32) uint32 {
	if *t.P(p)&1 != 0 {
		return a
	}
	return b
}

func mux(t *state.Thread, u *state.Uop) {
	*t.R(u.Arg[0]) = choose(t, u.Arg[1], *t.R(u.Arg[2]), *t.R(u.Arg[3]))
}
func muxii(t *state.Thread, u *state.Uop) {
	*t.R(u.Arg[0]) = choose(t, u.Arg[1], uint32(u.Imm), uint32(u.Imm2))
}
func muxir(t *state.Thread, u *state.Uop) {
	*t.R(u.Arg[0]) = choose(t, u.Arg[1], *t.R(u.Arg[2]), uint32(u.Imm))
}
func muxri(t *state.Thread, u *state.Uop) {
	*t.R(u.Arg[0]) = choose(t, u.Arg[1], uint32(u.Imm), *t.R(u.Arg[2]))
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

func aslRR(t *state.Thread, u *state.Uop) {
	*t.R(u.Arg[0]) = shl32(*t.R(u.Arg[1]), amount(*t.R(u.Arg[2])))
}
func asrRR(t *state.Thread, u *state.Uop) {
	*t.R(u.Arg[0]) = shr32(*t.R(u.Arg[1]), amount(*t.R(u.Arg[2])))
}
func lsrRR(t *state.Thread, u *state.Uop) {
	*t.R(u.Arg[0]) = lsr32(*t.R(u.Arg[1]), amount(*t.R(u.Arg[2])))
}
func aslRP(t *state.Thread, u *state.Uop) {
	*t.D(u.Arg[0]) = shl64(*t.D(u.Arg[1]), amount(*t.R(u.Arg[2])))
}
func asrRP(t *state.Thread, u *state.Uop) {
	*t.D(u.Arg[0]) = shr64(*t.D(u.Arg[1]), amount(*t.R(u.Arg[2])))
}
func lsrRP(t *state.Thread, u *state.Uop) {
	*t.D(u.Arg[0]) = lsr64(*t.D(u.Arg[1]), amount(*t.R(u.Arg[2])))
}
func aslIR(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = *t.R(u.Arg[1]) << u.Imm }
func asrIR(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = uint32(t.S(u.Arg[1]) >> u.Imm) }
func lsrIR(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = *t.R(u.Arg[1]) >> u.Imm }
func aslIP(t *state.Thread, u *state.Uop) { *t.D(u.Arg[0]) = *t.D(u.Arg[1]) << u.Imm }
func asrIP(t *state.Thread, u *state.Uop) { *t.D(u.Arg[0]) = uint64(s64(t, u.Arg[1]) >> u.Imm) }
func lsrIP(t *state.Thread, u *state.Uop) { *t.D(u.Arg[0]) = *t.D(u.Arg[1]) >> u.Imm }

func aslIRsat(t *state.Thread, u *state.Uop) {
	*t.R(u.Arg[0]) = satTo(t, int64(t.S(u.Arg[1]))<<u.Imm, simd.MinW, simd.MaxW)
}
func asrIRrnd(t *state.Thread, u *state.Uop) {
	*t.R(u.Arg[0]) = uint32((int64(t.S(u.Arg[1]))>>u.Imm + 1) >> 1)
}

func addasl(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = *t.R(u.Arg[1]) + *t.R(u.Arg[2])<<u.Imm }
func addaddi(t *state.Thread, u *state.Uop) {
	*t.R(u.Arg[0]) = *t.R(u.Arg[1]) + *t.R(u.Arg[2]) + uint32(u.Imm)
}
func subaddi(t *state.Thread, u *state.Uop) {
	*t.R(u.Arg[0]) = *t.R(u.Arg[1]) + uint32(u.Imm) - *t.R(u.Arg[2])
}
func orAndi(t *state.Thread, u *state.Uop)  { *t.R(u.Arg[0]) |= *t.R(u.Arg[1]) & uint32(u.Imm) }
func addiAsl(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = uint32(u.Imm) + *t.R(u.Arg[0])<<u.Imm2 }
func lsli(t *state.Thread, u *state.Uop) {
	*t.R(u.Arg[0]) = lsl32(uint32(u.Imm), amount(*t.R(u.Arg[1])))
}

// Bit fields: width, then offset.

func lowbits(n int32) uint32 { return 1<<uint32(n) - 1 }

func extractu(t *state.Thread, u *state.Uop) {
	*t.R(u.Arg[0]) = *t.R(u.Arg[1]) >> u.Imm2 & lowbits(u.Imm)
}
func extract(t *state.Thread, u *state.Uop) {
	if u.Imm == 0 {
		*t.R(u.Arg[0]) = 0
		return
	}
	x := *t.R(u.Arg[1]) >> u.Imm2
	*t.R(u.Arg[0]) = uint32(int32(x<<(32-u.Imm)) >> (32 - u.Imm))
}
func insert(t *state.Thread, u *state.Uop) {
	m := lowbits(u.Imm)
	r := t.R(u.Arg[0])
	*r = *r&^(m<<u.Imm2) | (*t.R(u.Arg[1])&m)<<u.Imm2
}

func setbit(t *state.Thread, u *state.Uop)    { *t.R(u.Arg[0]) = *t.R(u.Arg[1]) | 1<<u.Imm }
func clrbit(t *state.Thread, u *state.Uop)    { *t.R(u.Arg[0]) = *t.R(u.Arg[1]) &^ (1 << u.Imm) }
func togglebit(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = *t.R(u.Arg[1]) ^ 1<<u.Imm }

func cl0(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = uint32(bits.LeadingZeros32(*t.R(u.Arg[1]))) }
func cl1(t *state.Thread, u *state.Uop) {
	*t.R(u.Arg[0]) = uint32(bits.LeadingZeros32(^*t.R(u.Arg[1])))
}
func clb(t *state.Thread, u *state.Uop) {
	x := *t.R(u.Arg[1])
	*t.R(u.Arg[0]) = uint32(max(bits.LeadingZeros32(x), bits.LeadingZeros32(^x)))
}
func ct0(t *state.Thread, u *state.Uop) {
	*t.R(u.Arg[0]) = uint32(bits.TrailingZeros32(*t.R(u.Arg[1])))
}
func ct1(t *state.Thread, u *state.Uop) {
	*t.R(u.Arg[0]) = uint32(bits.TrailingZeros32(^*t.R(u.Arg[1])))
}
func brev(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = bits.Reverse32(*t.R(u.Arg[1])) }
func swiz(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = bits.ReverseBytes32(*t.R(u.Arg[1])) }

func svsplatb(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = *t.R(u.Arg[1]) & 0xff * 0x01010101 }
func svsplath(t *state.Thread, u *state.Uop) {
	*t.D(u.Arg[0]) = uint64(*t.R(u.Arg[1])&0xffff) * 0x0001000100010001
}
func svaligni(t *state.Thread, u *state.Uop) {
	s := uint(u.Imm&7) * 8
	*t.D(u.Arg[0]) = *t.D(u.Arg[2])>>s | *t.D(u.Arg[1])<<(64-s)
}
func packhl(t *state.Thread, u *state.Uop) {
	s, r := *t.R(u.Arg[1]), *t.R(u.Arg[2])
	*t.D(u.Arg[0]) = pair(s&^0xffff|r>>16, s<<16|r&0xffff)
}
