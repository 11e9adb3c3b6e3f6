package dsp

import "math/bits"

// Scalar arithmetic, logic, shifts and bit fields. Operand order is that of
// the assembly text; o[0] is the destination.

// saturated notes that a scalar result did not fit: the sticky bit of USR.
func (t *thread) saturated() { t.C[cUSR] |= usrOVF }

// satTo clamps x and notes when that changed it.
func (t *thread) satTo(x, lo, hi int64) uint32 {
	c := clamp(x, lo, hi)
	if c != x {
		t.saturated()
	}
	return uint32(c)
}

func (t *thread) s64(o uint16) int64 { return int64(*t.d(o)) }

func nop(*thread, *uop) {}

func tfr(t *thread, u *uop)   { *t.r(u.o[0]) = *t.r(u.o[1]) }
func tfrsi(t *thread, u *uop) { *t.r(u.o[0]) = uint32(u.imm) }
func tfrih(t *thread, u *uop) {
	r := t.r(u.o[0])
	*r = *r&0xffff | uint32(u.imm)<<16
}
func tfril(t *thread, u *uop) {
	r := t.r(u.o[0])
	*r = *r&^0xffff | uint32(u.imm)&0xffff
}

func aadd(t *thread, u *uop)  { *t.r(u.o[0]) = *t.r(u.o[1]) + *t.r(u.o[2]) }
func addi(t *thread, u *uop)  { *t.r(u.o[0]) = *t.r(u.o[1]) + uint32(u.imm) }
func asub(t *thread, u *uop)  { *t.r(u.o[0]) = *t.r(u.o[1]) - *t.r(u.o[2]) }
func subri(t *thread, u *uop) { *t.r(u.o[0]) = uint32(u.imm) - *t.r(u.o[1]) }
func and(t *thread, u *uop)   { *t.r(u.o[0]) = *t.r(u.o[1]) & *t.r(u.o[2]) }
func andir(t *thread, u *uop) { *t.r(u.o[0]) = *t.r(u.o[1]) & uint32(u.imm) }
func or(t *thread, u *uop)    { *t.r(u.o[0]) = *t.r(u.o[1]) | *t.r(u.o[2]) }
func orir(t *thread, u *uop)  { *t.r(u.o[0]) = *t.r(u.o[1]) | uint32(u.imm) }
func xor(t *thread, u *uop)   { *t.r(u.o[0]) = *t.r(u.o[1]) ^ *t.r(u.o[2]) }
func andn(t *thread, u *uop)  { *t.r(u.o[0]) = *t.r(u.o[1]) &^ *t.r(u.o[2]) }
func orn(t *thread, u *uop)   { *t.r(u.o[0]) = *t.r(u.o[1]) | ^*t.r(u.o[2]) }
func aslh(t *thread, u *uop)  { *t.r(u.o[0]) = *t.r(u.o[1]) << 16 }
func asrh(t *thread, u *uop)  { *t.r(u.o[0]) = uint32(t.s(u.o[1]) >> 16) }
func sxtb(t *thread, u *uop)  { *t.r(u.o[0]) = uint32(int8(*t.r(u.o[1]))) }
func sxth(t *thread, u *uop)  { *t.r(u.o[0]) = uint32(int16(*t.r(u.o[1]))) }
func zxth(t *thread, u *uop)  { *t.r(u.o[0]) = uint32(uint16(*t.r(u.o[1]))) }

func addsat(t *thread, u *uop) {
	*t.r(u.o[0]) = t.satTo(int64(t.s(u.o[1]))+int64(t.s(u.o[2])), minW, maxW)
}
func subsat(t *thread, u *uop) {
	*t.r(u.o[0]) = t.satTo(int64(t.s(u.o[1]))-int64(t.s(u.o[2])), minW, maxW)
}

func pair(high, low uint32) uint64 { return uint64(high)<<32 | uint64(low) }

func combinew(t *thread, u *uop)  { *t.d(u.o[0]) = pair(*t.r(u.o[1]), *t.r(u.o[2])) }
func combineii(t *thread, u *uop) { *t.d(u.o[0]) = pair(uint32(u.imm), uint32(u.imm2)) }
func combineri(t *thread, u *uop) { *t.d(u.o[0]) = pair(*t.r(u.o[1]), uint32(u.imm)) }
func combineir(t *thread, u *uop) { *t.d(u.o[0]) = pair(uint32(u.imm), *t.r(u.o[1])) }

func combineHH(t *thread, u *uop) {
	*t.r(u.o[0]) = *t.r(u.o[1])&^0xffff | *t.r(u.o[2])>>16
}
func combineHL(t *thread, u *uop) {
	*t.r(u.o[0]) = *t.r(u.o[1])&^0xffff | *t.r(u.o[2])&0xffff
}
func combineLH(t *thread, u *uop) { *t.r(u.o[0]) = *t.r(u.o[1])<<16 | *t.r(u.o[2])>>16 }
func combineLL(t *thread, u *uop) { *t.r(u.o[0]) = *t.r(u.o[1])<<16 | *t.r(u.o[2])&0xffff }

func smax(t *thread, u *uop) { *t.r(u.o[0]) = uint32(max(t.s(u.o[1]), t.s(u.o[2]))) }
func smin(t *thread, u *uop) { *t.r(u.o[0]) = uint32(min(t.s(u.o[1]), t.s(u.o[2]))) }
func umax(t *thread, u *uop) { *t.r(u.o[0]) = max(*t.r(u.o[1]), *t.r(u.o[2])) }
func umin(t *thread, u *uop) { *t.r(u.o[0]) = min(*t.r(u.o[1]), *t.r(u.o[2])) }
func abs(t *thread, u *uop) {
	x := t.s(u.o[1])
	*t.r(u.o[0]) = uint32(max(x, -x))
}

// 64-bit.

func addp(t *thread, u *uop) { *t.d(u.o[0]) = *t.d(u.o[1]) + *t.d(u.o[2]) }
func subp(t *thread, u *uop) { *t.d(u.o[0]) = *t.d(u.o[1]) - *t.d(u.o[2]) }
func andp(t *thread, u *uop) { *t.d(u.o[0]) = *t.d(u.o[1]) & *t.d(u.o[2]) }
func orp(t *thread, u *uop)  { *t.d(u.o[0]) = *t.d(u.o[1]) | *t.d(u.o[2]) }
func xorp(t *thread, u *uop) { *t.d(u.o[0]) = *t.d(u.o[1]) ^ *t.d(u.o[2]) }
func negp(t *thread, u *uop) { *t.d(u.o[0]) = -*t.d(u.o[1]) }
func notp(t *thread, u *uop) { *t.d(u.o[0]) = ^*t.d(u.o[1]) }
func sxtw(t *thread, u *uop) { *t.d(u.o[0]) = uint64(t.s(u.o[1])) }
func maxp(t *thread, u *uop) { *t.d(u.o[0]) = uint64(max(t.s64(u.o[1]), t.s64(u.o[2]))) }
func minp(t *thread, u *uop) { *t.d(u.o[0]) = uint64(min(t.s64(u.o[1]), t.s64(u.o[2]))) }

func asat(t *thread, u *uop)  { *t.r(u.o[0]) = t.satTo(t.s64(u.o[1]), minW, maxW) }
func asatb(t *thread, u *uop) { *t.r(u.o[0]) = t.satTo(int64(t.s(u.o[1])), minB, maxB) }
func asath(t *thread, u *uop) { *t.r(u.o[0]) = t.satTo(int64(t.s(u.o[1])), minH, maxH) }
func asatub(t *thread, u *uop) {
	*t.r(u.o[0]) = t.satTo(int64(t.s(u.o[1])), 0, maxUB)
}
func asatuh(t *thread, u *uop) {
	*t.r(u.o[0]) = t.satTo(int64(t.s(u.o[1])), 0, maxUH)
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

func cmpeq(t *thread, u *uop)    { *t.p(u.o[0]) = flag(*t.r(u.o[1]) == *t.r(u.o[2])) }
func cmpeqi(t *thread, u *uop)   { *t.p(u.o[0]) = flag(*t.r(u.o[1]) == uint32(u.imm)) }
func cmpgt(t *thread, u *uop)    { *t.p(u.o[0]) = flag(t.s(u.o[1]) > t.s(u.o[2])) }
func cmpgti(t *thread, u *uop)   { *t.p(u.o[0]) = flag(t.s(u.o[1]) > u.imm) }
func cmpgtu(t *thread, u *uop)   { *t.p(u.o[0]) = flag(*t.r(u.o[1]) > *t.r(u.o[2])) }
func cmpgtui(t *thread, u *uop)  { *t.p(u.o[0]) = flag(*t.r(u.o[1]) > uint32(u.imm)) }
func cmpne(t *thread, u *uop)    { *t.p(u.o[0]) = flag(*t.r(u.o[1]) != *t.r(u.o[2])) }
func cmpnei(t *thread, u *uop)   { *t.p(u.o[0]) = flag(*t.r(u.o[1]) != uint32(u.imm)) }
func cmplte(t *thread, u *uop)   { *t.p(u.o[0]) = flag(t.s(u.o[1]) <= t.s(u.o[2])) }
func cmpltei(t *thread, u *uop)  { *t.p(u.o[0]) = flag(t.s(u.o[1]) <= u.imm) }
func cmplteu(t *thread, u *uop)  { *t.p(u.o[0]) = flag(*t.r(u.o[1]) <= *t.r(u.o[2])) }
func cmplteui(t *thread, u *uop) { *t.p(u.o[0]) = flag(*t.r(u.o[1]) <= uint32(u.imm)) }
func cmpeqp(t *thread, u *uop)   { *t.p(u.o[0]) = flag(*t.d(u.o[1]) == *t.d(u.o[2])) }
func cmpgtp(t *thread, u *uop)   { *t.p(u.o[0]) = flag(t.s64(u.o[1]) > t.s64(u.o[2])) }
func cmpgtup(t *thread, u *uop)  { *t.p(u.o[0]) = flag(*t.d(u.o[1]) > *t.d(u.o[2])) }

func rcmpeq(t *thread, u *uop)   { *t.r(u.o[0]) = one(*t.r(u.o[1]) == *t.r(u.o[2])) }
func rcmpeqi(t *thread, u *uop)  { *t.r(u.o[0]) = one(*t.r(u.o[1]) == uint32(u.imm)) }
func rcmpneq(t *thread, u *uop)  { *t.r(u.o[0]) = one(*t.r(u.o[1]) != *t.r(u.o[2])) }
func rcmpneqi(t *thread, u *uop) { *t.r(u.o[0]) = one(*t.r(u.o[1]) != uint32(u.imm)) }

func tstbit(t *thread, u *uop)   { *t.p(u.o[0]) = flag(*t.r(u.o[1])>>(u.imm&31)&1 != 0) }
func ntstbit(t *thread, u *uop)  { *t.p(u.o[0]) = flag(*t.r(u.o[1])>>(u.imm&31)&1 == 0) }
func bitsclri(t *thread, u *uop) { *t.p(u.o[0]) = flag(*t.r(u.o[1])&uint32(u.imm) == 0) }

func pand(t *thread, u *uop)  { *t.p(u.o[0]) = *t.p(u.o[1]) & *t.p(u.o[2]) }
func pandn(t *thread, u *uop) { *t.p(u.o[0]) = *t.p(u.o[1]) &^ *t.p(u.o[2]) }
func por(t *thread, u *uop)   { *t.p(u.o[0]) = *t.p(u.o[1]) | *t.p(u.o[2]) }
func porn(t *thread, u *uop)  { *t.p(u.o[0]) = *t.p(u.o[1]) | ^*t.p(u.o[2]) }
func pxor(t *thread, u *uop)  { *t.p(u.o[0]) = *t.p(u.o[1]) ^ *t.p(u.o[2]) }
func pnot(t *thread, u *uop)  { *t.p(u.o[0]) = ^*t.p(u.o[1]) }
func any8(t *thread, u *uop)  { *t.p(u.o[0]) = flag(*t.p(u.o[1]) != 0) }
func all8(t *thread, u *uop)  { *t.p(u.o[0]) = flag(*t.p(u.o[1]) == 0xff) }
func tfrpr(t *thread, u *uop) { *t.r(u.o[0]) = uint32(*t.p(u.o[1])) }
func tfrrp(t *thread, u *uop) { *t.p(u.o[0]) = uint8(*t.r(u.o[1])) }
func pcopy(t *thread, u *uop) { *t.p(u.o[0]) = *t.p(u.o[1]) }

// bytemask spreads the bits of p over bytes.
func bytemask(p uint8) (m uint64) {
	for i := range 8 {
		if p>>i&1 != 0 {
			m |= 0xff << (8 * i)
		}
	}
	return m
}

func cmask(t *thread, u *uop) { *t.d(u.o[0]) = bytemask(*t.p(u.o[1])) }
func cvmux(t *thread, u *uop) {
	m := bytemask(*t.p(u.o[1]))
	*t.d(u.o[0]) = *t.d(u.o[2])&m | *t.d(u.o[3])&^m
}

// choose is the mux on the low bit of a predicate.
func (t *thread) choose(p uint16, a, b uint32) uint32 {
	if *t.p(p)&1 != 0 {
		return a
	}
	return b
}

func mux(t *thread, u *uop) { *t.r(u.o[0]) = t.choose(u.o[1], *t.r(u.o[2]), *t.r(u.o[3])) }
func muxii(t *thread, u *uop) {
	*t.r(u.o[0]) = t.choose(u.o[1], uint32(u.imm), uint32(u.imm2))
}
func muxir(t *thread, u *uop) { *t.r(u.o[0]) = t.choose(u.o[1], *t.r(u.o[2]), uint32(u.imm)) }
func muxri(t *thread, u *uop) { *t.r(u.o[0]) = t.choose(u.o[1], uint32(u.imm), *t.r(u.o[2])) }

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

func aslRR(t *thread, u *uop) { *t.r(u.o[0]) = shl32(*t.r(u.o[1]), amount(*t.r(u.o[2]))) }
func asrRR(t *thread, u *uop) { *t.r(u.o[0]) = shr32(*t.r(u.o[1]), amount(*t.r(u.o[2]))) }
func lsrRR(t *thread, u *uop) { *t.r(u.o[0]) = lsr32(*t.r(u.o[1]), amount(*t.r(u.o[2]))) }
func aslRP(t *thread, u *uop) { *t.d(u.o[0]) = shl64(*t.d(u.o[1]), amount(*t.r(u.o[2]))) }
func asrRP(t *thread, u *uop) { *t.d(u.o[0]) = shr64(*t.d(u.o[1]), amount(*t.r(u.o[2]))) }
func lsrRP(t *thread, u *uop) { *t.d(u.o[0]) = lsr64(*t.d(u.o[1]), amount(*t.r(u.o[2]))) }
func aslIR(t *thread, u *uop) { *t.r(u.o[0]) = *t.r(u.o[1]) << u.imm }
func asrIR(t *thread, u *uop) { *t.r(u.o[0]) = uint32(t.s(u.o[1]) >> u.imm) }
func lsrIR(t *thread, u *uop) { *t.r(u.o[0]) = *t.r(u.o[1]) >> u.imm }
func aslIP(t *thread, u *uop) { *t.d(u.o[0]) = *t.d(u.o[1]) << u.imm }
func asrIP(t *thread, u *uop) { *t.d(u.o[0]) = uint64(t.s64(u.o[1]) >> u.imm) }
func lsrIP(t *thread, u *uop) { *t.d(u.o[0]) = *t.d(u.o[1]) >> u.imm }

func aslIRsat(t *thread, u *uop) {
	*t.r(u.o[0]) = t.satTo(int64(t.s(u.o[1]))<<u.imm, minW, maxW)
}
func asrIRrnd(t *thread, u *uop) {
	*t.r(u.o[0]) = uint32((int64(t.s(u.o[1]))>>u.imm + 1) >> 1)
}

func aslAcc(t *thread, u *uop) { *t.r(u.o[0]) += *t.r(u.o[1]) << u.imm }
func aslNac(t *thread, u *uop) { *t.r(u.o[0]) -= *t.r(u.o[1]) << u.imm }
func aslAnd(t *thread, u *uop) { *t.r(u.o[0]) &= *t.r(u.o[1]) << u.imm }
func aslOr(t *thread, u *uop)  { *t.r(u.o[0]) |= *t.r(u.o[1]) << u.imm }
func asrAcc(t *thread, u *uop) { *t.r(u.o[0]) += uint32(t.s(u.o[1]) >> u.imm) }
func asrNac(t *thread, u *uop) { *t.r(u.o[0]) -= uint32(t.s(u.o[1]) >> u.imm) }
func asrAnd(t *thread, u *uop) { *t.r(u.o[0]) &= uint32(t.s(u.o[1]) >> u.imm) }
func asrOr(t *thread, u *uop)  { *t.r(u.o[0]) |= uint32(t.s(u.o[1]) >> u.imm) }
func lsrAcc(t *thread, u *uop) { *t.r(u.o[0]) += *t.r(u.o[1]) >> u.imm }
func lsrNac(t *thread, u *uop) { *t.r(u.o[0]) -= *t.r(u.o[1]) >> u.imm }
func lsrAnd(t *thread, u *uop) { *t.r(u.o[0]) &= *t.r(u.o[1]) >> u.imm }
func lsrOr(t *thread, u *uop)  { *t.r(u.o[0]) |= *t.r(u.o[1]) >> u.imm }

func addasl(t *thread, u *uop) { *t.r(u.o[0]) = *t.r(u.o[1]) + *t.r(u.o[2])<<u.imm }
func addaddi(t *thread, u *uop) {
	*t.r(u.o[0]) = *t.r(u.o[1]) + *t.r(u.o[2]) + uint32(u.imm)
}
func subaddi(t *thread, u *uop) {
	*t.r(u.o[0]) = *t.r(u.o[1]) + uint32(u.imm) - *t.r(u.o[2])
}
func orAndi(t *thread, u *uop)  { *t.r(u.o[0]) |= *t.r(u.o[1]) & uint32(u.imm) }
func addiAsl(t *thread, u *uop) { *t.r(u.o[0]) = uint32(u.imm) + *t.r(u.o[0])<<u.imm2 }
func lsli(t *thread, u *uop)    { *t.r(u.o[0]) = lsl32(uint32(u.imm), amount(*t.r(u.o[1]))) }

// Bit fields: width, then offset.

func lowbits(n int32) uint32 { return 1<<uint32(n) - 1 }

func extractu(t *thread, u *uop) { *t.r(u.o[0]) = *t.r(u.o[1]) >> u.imm2 & lowbits(u.imm) }
func extract(t *thread, u *uop) {
	if u.imm == 0 {
		*t.r(u.o[0]) = 0
		return
	}
	x := *t.r(u.o[1]) >> u.imm2
	*t.r(u.o[0]) = uint32(int32(x<<(32-u.imm)) >> (32 - u.imm))
}
func insert(t *thread, u *uop) {
	m := lowbits(u.imm)
	r := t.r(u.o[0])
	*r = *r&^(m<<u.imm2) | (*t.r(u.o[1])&m)<<u.imm2
}

func setbit(t *thread, u *uop)    { *t.r(u.o[0]) = *t.r(u.o[1]) | 1<<u.imm }
func clrbit(t *thread, u *uop)    { *t.r(u.o[0]) = *t.r(u.o[1]) &^ (1 << u.imm) }
func togglebit(t *thread, u *uop) { *t.r(u.o[0]) = *t.r(u.o[1]) ^ 1<<u.imm }

func cl0(t *thread, u *uop) { *t.r(u.o[0]) = uint32(bits.LeadingZeros32(*t.r(u.o[1]))) }
func cl1(t *thread, u *uop) { *t.r(u.o[0]) = uint32(bits.LeadingZeros32(^*t.r(u.o[1]))) }
func clb(t *thread, u *uop) {
	x := *t.r(u.o[1])
	*t.r(u.o[0]) = uint32(max(bits.LeadingZeros32(x), bits.LeadingZeros32(^x)))
}
func ct0(t *thread, u *uop)  { *t.r(u.o[0]) = uint32(bits.TrailingZeros32(*t.r(u.o[1]))) }
func ct1(t *thread, u *uop)  { *t.r(u.o[0]) = uint32(bits.TrailingZeros32(^*t.r(u.o[1]))) }
func brev(t *thread, u *uop) { *t.r(u.o[0]) = bits.Reverse32(*t.r(u.o[1])) }
func swiz(t *thread, u *uop) { *t.r(u.o[0]) = bits.ReverseBytes32(*t.r(u.o[1])) }

func svsplatb(t *thread, u *uop) { *t.r(u.o[0]) = *t.r(u.o[1]) & 0xff * 0x01010101 }
func svsplath(t *thread, u *uop) {
	*t.d(u.o[0]) = uint64(*t.r(u.o[1])&0xffff) * 0x0001000100010001
}
func svaligni(t *thread, u *uop) {
	s := uint(u.imm&7) * 8
	*t.d(u.o[0]) = *t.d(u.o[2])>>s | *t.d(u.o[1])<<(64-s)
}
func packhl(t *thread, u *uop) {
	s, r := *t.r(u.o[1]), *t.r(u.o[2])
	*t.d(u.o[0]) = pair(s&^0xffff|r>>16, s<<16|r&0xffff)
}
