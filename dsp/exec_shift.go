package dsp

import "math/bits"

// Shifts that combine with their destination, and shifts of halves and words
// of a pair. A shift is given by a function of value and amount.

type (
	shift32 = func(x uint32, s int32) uint32
	shift64 = func(x uint64, s int32) uint64
)

func rol32(x uint32, s int32) uint32 { return bits.RotateLeft32(x, int(s)) }
func rol64(x uint64, s int32) uint64 { return bits.RotateLeft64(x, int(s)) }
func lsl64(x uint64, s int32) uint64 { return lsr64(x, -s) }

func opAdd[T uint32 | uint64](x, y T) T   { return x + y }
func opSub[T uint32 | uint64](x, y T) T   { return x - y }
func opAnd2[T uint32 | uint64](x, y T) T  { return x & y }
func opOr2[T uint32 | uint64](x, y T) T   { return x | y }
func opXor2[T uint32 | uint64](x, y T) T  { return x ^ y }
func opFirst[T uint32 | uint64](_, y T) T { return y }

// shiftRI, shiftRR: 32 bits by an immediate, by a register; shiftPI, shiftPR:
// 64 bits.
func shiftRI(f func(x, y uint32) uint32, s shift32) semantic {
	return func(t *thread, u *uop) {
		d := t.r(u.o[0])
		*d = f(*d, s(*t.r(u.o[1]), u.imm))
	}
}
func shiftRR(f func(x, y uint32) uint32, s shift32) semantic {
	return func(t *thread, u *uop) {
		d := t.r(u.o[0])
		*d = f(*d, s(*t.r(u.o[1]), amount(*t.r(u.o[2]))))
	}
}
func shiftPI(f func(x, y uint64) uint64, s shift64) semantic {
	return func(t *thread, u *uop) {
		d := t.d(u.o[0])
		*d = f(*d, s(*t.d(u.o[1]), u.imm))
	}
}
func shiftPR(f func(x, y uint64) uint64, s shift64) semantic {
	return func(t *thread, u *uop) {
		d := t.d(u.o[0])
		*d = f(*d, s(*t.d(u.o[1]), amount(*t.r(u.o[2]))))
	}
}

// shiftLanesI and shiftLanesR shift each lane of w bits.
func shiftLanes(x uint64, w uint, signed bool, s int32, f shift64) (d uint64) {
	for i := uint(0); i < 64; i += w {
		d |= f(uint64(lane(x, i, w, signed)), s) & (1<<w - 1) << i
	}
	return d
}
func shiftLanesI(w uint, signed bool, f shift64) semantic {
	return func(t *thread, u *uop) { *t.d(u.o[0]) = shiftLanes(*t.d(u.o[1]), w, signed, u.imm, f) }
}
func shiftLanesR(w uint, signed bool, f shift64) semantic {
	return func(t *thread, u *uop) {
		*t.d(u.o[0]) = shiftLanes(*t.d(u.o[1]), w, signed, amount(*t.r(u.o[2])), f)
	}
}

// immShift is a constant combined with a shift of the destination.
func immShift(f func(x, y uint32) uint32, s shift32) semantic {
	return func(t *thread, u *uop) {
		d := t.r(u.o[0])
		*d = f(uint32(u.imm), s(*d, u.imm2))
	}
}

func orAndix(t *thread, u *uop) { *t.r(u.o[0]) = *t.r(u.o[1]) | *t.r(u.o[0])&uint32(u.imm) }
func orOri(t *thread, u *uop)   { *t.r(u.o[0]) |= *t.r(u.o[1]) | uint32(u.imm) }

// Bits named by a register: its low seven bits, signed, shift a one.
func bitOf(t *thread, u *uop) uint32 { return lsl32(1, amount(*t.r(u.o[2]))) }

func setbitR(t *thread, u *uop)    { *t.r(u.o[0]) = *t.r(u.o[1]) | bitOf(t, u) }
func clrbitR(t *thread, u *uop)    { *t.r(u.o[0]) = *t.r(u.o[1]) &^ bitOf(t, u) }
func togglebitR(t *thread, u *uop) { *t.r(u.o[0]) = *t.r(u.o[1]) ^ bitOf(t, u) }
func tstbitR(t *thread, u *uop)    { *t.p(u.o[0]) = flag(*t.r(u.o[1])&bitOf(t, u) != 0) }
func ntstbitR(t *thread, u *uop)   { *t.p(u.o[0]) = flag(*t.r(u.o[1])&bitOf(t, u) == 0) }
func bitsclr(t *thread, u *uop)    { *t.p(u.o[0]) = flag(*t.r(u.o[1])&*t.r(u.o[2]) == 0) }
func nbitsclr(t *thread, u *uop)   { *t.p(u.o[0]) = flag(*t.r(u.o[1])&*t.r(u.o[2]) != 0) }
func nbitsclri(t *thread, u *uop)  { *t.p(u.o[0]) = flag(*t.r(u.o[1])&uint32(u.imm) != 0) }
func bitsset(t *thread, u *uop) {
	*t.p(u.o[0]) = flag(*t.r(u.o[1])&*t.r(u.o[2]) == *t.r(u.o[2]))
}
func nbitsset(t *thread, u *uop) {
	*t.p(u.o[0]) = flag(*t.r(u.o[1])&*t.r(u.o[2]) != *t.r(u.o[2]))
}

func bitspliti(t *thread, u *uop) { t.split(u, u.imm) }
func bitsplit(t *thread, u *uop)  { t.split(u, int32(*t.r(u.o[2])&31)) }

// split puts the bits from n on into the high word, those below into the low.
func (t *thread) split(u *uop, n int32) {
	x := *t.r(u.o[1])
	*t.d(u.o[0]) = pair(x>>n, x&lowbits(n))
}

func cl0p(t *thread, u *uop) { *t.r(u.o[0]) = uint32(bits.LeadingZeros64(*t.d(u.o[1]))) }
func cl1p(t *thread, u *uop) { *t.r(u.o[0]) = uint32(bits.LeadingZeros64(^*t.d(u.o[1]))) }
func ct0p(t *thread, u *uop) { *t.r(u.o[0]) = uint32(bits.TrailingZeros64(*t.d(u.o[1]))) }
func ct1p(t *thread, u *uop) { *t.r(u.o[0]) = uint32(bits.TrailingZeros64(^*t.d(u.o[1]))) }
func clb64(x uint64) uint32 {
	return uint32(max(bits.LeadingZeros64(x), bits.LeadingZeros64(^x)))
}
func clb32(x uint32) uint32 {
	return uint32(max(bits.LeadingZeros32(x), bits.LeadingZeros32(^x)))
}
func clbp(t *thread, u *uop)     { *t.r(u.o[0]) = clb64(*t.d(u.o[1])) }
func clbaddi(t *thread, u *uop)  { *t.r(u.o[0]) = clb32(*t.r(u.o[1])) + uint32(u.imm) }
func clbpaddi(t *thread, u *uop) { *t.r(u.o[0]) = clb64(*t.d(u.o[1])) + uint32(u.imm) }
func clbnorm(t *thread, u *uop) {
	x := *t.r(u.o[1])
	*t.r(u.o[0]) = 0
	if x != 0 {
		*t.r(u.o[0]) = clb32(x) - 1
	}
}
func brevp(t *thread, u *uop)    { *t.d(u.o[0]) = bits.Reverse64(*t.d(u.o[1])) }
func popcount(t *thread, u *uop) { *t.r(u.o[0]) = uint32(bits.OnesCount64(*t.d(u.o[1]))) }
func parity(t *thread, u *uop) {
	*t.r(u.o[0]) = uint32(bits.OnesCount32(*t.r(u.o[1])&*t.r(u.o[2]))) & 1
}
func parityp(t *thread, u *uop) {
	*t.r(u.o[0]) = uint32(bits.OnesCount64(*t.d(u.o[1])&*t.d(u.o[2]))) & 1
}

func extractup(t *thread, u *uop) { *t.d(u.o[0]) = *t.d(u.o[1]) >> u.imm2 & (1<<uint(u.imm) - 1) }
func extractp(t *thread, u *uop) {
	x := *t.d(u.o[1]) >> u.imm2 & (1<<uint(u.imm) - 1)
	s := 64 - uint(u.imm)
	*t.d(u.o[0]) = uint64(int64(x<<s) >> s)
}
func insertp(t *thread, u *uop) {
	m := uint64(1)<<uint(u.imm) - 1
	d := t.d(u.o[0])
	*d = *d&^(m<<u.imm2) | *t.d(u.o[1])&m<<u.imm2
}
func smask(t *thread, u *uop) { *t.r(u.o[0]) = lowbits(u.imm) << u.imm2 }
