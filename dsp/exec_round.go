package dsp

import "math/bits"

// Rounding, saturating, packing and turning of lanes.

// roundShift shifts right, rounding half up.
func roundShift(x int64, n uint32) int64 {
	if n == 0 {
		return x
	}
	return (x + 1<<(n-1)) >> n
}

// evenShift shifts right, rounding half to even. The sum has 65 bits.
func evenShift(x int64, n uint32) int64 {
	if n == 0 {
		return x
	}
	q, rest, half := x>>n, uint64(x)&(1<<n-1), uint64(1)<<(n-1)
	if rest > half || rest == half && q&1 != 0 {
		q++
	}
	return q
}

// shiftAmount is the immediate or the low bits of the second source.
func shiftAmount(t *thread, u *uop, register bool, mask uint32) uint32 {
	if register {
		return *t.r(u.o[2]) & mask
	}
	return uint32(u.imm)
}

func roundWord(f func(x int64, n uint32) int64, register bool) semantic {
	return func(t *thread, u *uop) {
		*t.r(u.o[0]) = uint32(f(int64(t.s(u.o[1])), shiftAmount(t, u, register, 31)))
	}
}

// roundWordSat saturates the sum before it is shifted.
func roundWordSat(register bool) semantic {
	return func(t *thread, u *uop) {
		x, n := int64(t.s(u.o[1])), shiftAmount(t, u, register, 31)
		if n > 0 {
			x += 1 << (n - 1)
		}
		*t.r(u.o[0]) = uint32(int32(t.satTo(x, minW, maxW)) >> n)
	}
}

func roundPair(register bool) semantic {
	return func(t *thread, u *uop) {
		*t.d(u.o[0]) = uint64(evenShift(t.s64(u.o[1]), shiftAmount(t, u, register, 63)))
	}
}

func clipTo(x int64, n int32) int64 { return clamp(x, -1<<n, 1<<n-1) }

func clip(t *thread, u *uop) { *t.r(u.o[0]) = uint32(clipTo(int64(t.s(u.o[1])), u.imm)) }
func vclip(t *thread, u *uop) {
	x := *t.d(u.o[1])
	*t.d(u.o[0]) = pair(uint32(clipTo(lane(x, 32, 32, true), u.imm)), uint32(clipTo(lane(x, 0, 32, true), u.imm)))
}

// add64sat is the sum of two 64-bit numbers, saturated.
func (t *thread) add64sat(x, y int64) int64 {
	s := x + y
	if (x^s)&(y^s) < 0 {
		t.saturated()
		return x>>63 ^ (1<<63 - 1)
	}
	return s
}

func addpsat(t *thread, u *uop)  { *t.d(u.o[0]) = uint64(t.add64sat(t.s64(u.o[1]), t.s64(u.o[2]))) }
func roundsat(t *thread, u *uop) { *t.r(u.o[0]) = uint32(t.add64sat(t.s64(u.o[1]), 1<<31) >> 32) }

// addWord adds a word of the first source, sign-extended, to the second.
func addWord(high uint) semantic {
	return func(t *thread, u *uop) {
		*t.d(u.o[0]) = uint64(lane(*t.d(u.o[1]), 32*high, 32, true)) + *t.d(u.o[2])
	}
}

func asrPRnd(t *thread, u *uop) {
	*t.d(u.o[0]) = uint64((t.s64(u.o[1])>>u.imm)>>1 + (t.s64(u.o[1])>>u.imm)&1)
}

// shiftSat shifts a word by a register, to the left for positive amounts times
// sign, and saturates.
func shiftSat(sign int32) semantic {
	return func(t *thread, u *uop) {
		x, n := int64(t.s(u.o[1])), sign*amount(*t.r(u.o[2]))
		switch {
		case n < 0:
			x >>= -n
		case n >= 32 && x > 0:
			x = maxW + 1
		case n >= 32 && x < 0:
			x = minW - 1
		default:
			x <<= n
		}
		*t.r(u.o[0]) = t.satTo(x, minW, maxW)
	}
}

// shrink makes the lanes of w bits of the second operand, shortened by f, the
// lanes of half the width of a register.
func shrink(w uint, f laneFn) semantic {
	return func(t *thread, u *uop) { *t.r(u.o[0]) = uint32(shrunk(t, u, *t.d(u.o[1]), w, f)) }
}

// shrinkReg does that to a single register.
func shrinkReg(w uint, f laneFn) semantic {
	return func(t *thread, u *uop) { *t.r(u.o[0]) = uint32(shrunk(t, u, uint64(*t.r(u.o[1])), w, f)) & 0xffff }
}

func shrunk(t *thread, u *uop, x uint64, w uint, f laneFn) (d uint64) {
	for i := uint(0); i < 64; i += w {
		d |= uint64(f(t, u, lane(x, i, w, true))) & (1<<(w/2) - 1) << (i / 2)
	}
	return d
}

// inPlace applies f to the lanes of a pair.
func inPlace(w uint, f laneFn) semantic {
	return func(t *thread, u *uop) {
		x := *t.d(u.o[1])
		var d uint64
		for i := uint(0); i < 64; i += w {
			d |= uint64(f(t, u, lane(x, i, w, true))) & (1<<w - 1) << i
		}
		*t.d(u.o[0]) = d
	}
}

// laneFn makes one lane of the result.
type laneFn = func(t *thread, u *uop, x int64) int64

// nSat saturates the result of f.
func nSat(f laneFn, lo, hi int64) laneFn {
	return func(t *thread, u *uop, x int64) int64 { return int64(int32(t.satTo(f(t, u, x), lo, hi))) }
}

func nSame(_ *thread, _ *uop, x int64) int64 { return x }
func nHigh(_ *thread, _ *uop, x int64) int64 { return (x + 0x8000) >> 16 }
func nAsrI(_ *thread, u *uop, x int64) int64 { return x >> u.imm }
func nRndI(_ *thread, u *uop, x int64) int64 { return (x>>u.imm + 1) >> 1 }
func nAsrR(t *thread, u *uop, x int64) int64 { return int64(int32(asr64(x, amount(*t.r(u.o[2]))))) }

func asr64(x int64, n int32) int64 { return int64(shr64(uint64(x), n)) }

// vrndwhSat saturates the rounded word, then takes its high half.
func vrndwhSat(t *thread, u *uop, x int64) int64 {
	return int64(int32(t.satTo(x+0x8000, minW, maxW))) >> 16
}

func vaddhub(t *thread, u *uop) {
	x, y := *t.d(u.o[1]), *t.d(u.o[2])
	var d uint32
	for i := uint(0); i < 64; i += 16 {
		d |= t.satTo(lane(x, i, 16, true)+lane(y, i, 16, true), 0, maxUB) << (i / 2)
	}
	*t.r(u.o[0]) = d
}

// crossed adds the neighbour lane of the second source in even lanes and
// subtracts it in odd ones (or the other way round), then shifts and saturates.
func crossed(w uint, subFirst, halve bool) semantic {
	lo, hi := int64(-1)<<(w-1), int64(1)<<(w-1)-1
	return func(t *thread, u *uop) {
		x, y := *t.d(u.o[1]), *t.d(u.o[2])
		var d uint64
		for i := uint(0); i < 64; i += w {
			s := lane(y, i^w, w, true)
			if (i&w != 0) != subFirst {
				s = -s
			}
			s += lane(x, i, w, true)
			if halve {
				s = (s + 1) >> 1
			}
			d |= uint64(t.satTo(s, lo, hi)) & (1<<w - 1) << i
		}
		*t.d(u.o[0]) = d
	}
}

// Quarter turns of complex lanes.

// turned multiplies re + j im by -j n times: j is (0, 1).
func turned(re, im int64, n uint32) (int64, int64) {
	for range n & 3 {
		re, im = im, -re
	}
	return re, im
}

// turns maps a two-bit code to the number of quarter turns by -j.
var turns = [4]uint32{0, 1, 3, 2}

func vcrotate(t *thread, u *uop) {
	x, code := *t.d(u.o[1]), *t.r(u.o[2])
	var d uint64
	for i := uint(0); i < 64; i += 32 {
		re, im := turned(lane(x, i, 16, true), lane(x, i+16, 16, true), turns[code>>(i/16)&3])
		d |= uint64(t.satTo(re, minH, maxH)&0xffff|t.satTo(im, minH, maxH)<<16) << i
	}
	*t.d(u.o[0]) = d
}

// vrcrotate sums four complex bytes, each turned as the byte of the second
// source that the immediate names says.
func vrcrotate(acc uint64) semantic {
	return func(t *thread, u *uop) {
		x, code := *t.d(u.o[1]), *t.r(u.o[2])>>(8*u.imm)
		var re, im int64
		for i := uint(0); i < 64; i += 16 {
			a, b := turned(lane(x, i, 8, true), lane(x, i+8, 8, true), turns[code>>(i/8)&3])
			re, im = re+a, im+b
		}
		d := t.d(u.o[0])
		*d = pair(uint32(*d>>32*acc)+uint32(im), uint32(*d*acc)+uint32(re))
	}
}

func vcnegh(t *thread, u *uop) {
	x, neg := *t.d(u.o[1]), *t.r(u.o[2])
	var d uint64
	for i := uint(0); i < 4; i++ {
		v := lane(x, 16*i, 16, true)
		if neg>>i&1 != 0 {
			v = int64(int32(t.satTo(-v, minH, maxH)))
		}
		d |= uint64(v) & 0xffff << (16 * i)
	}
	*t.d(u.o[0]) = d
}

func vrcnegh(t *thread, u *uop) {
	x, neg := *t.d(u.o[1]), *t.r(u.o[2])
	var s int64
	for i := uint(0); i < 4; i++ {
		v := lane(x, 16*i, 16, true)
		if neg>>i&1 != 0 {
			v = -v
		}
		s += v
	}
	*t.d(u.o[0]) += uint64(s)
}

// vconj negates the odd halves.
func vconj(t *thread, u *uop) {
	x := *t.d(u.o[1])
	d := x & 0x0000ffff0000ffff
	for i := uint(16); i < 64; i += 32 {
		d |= uint64(t.satTo(-lane(x, i, 16, true), minH, maxH)&0xffff) << i
	}
	*t.d(u.o[0]) = d
}

// extreme keeps the largest (or smallest) of the low word of the destination
// and the lanes of the first source, and its address in the high word.
func extreme(w uint, signed bool, better func(a, b int64) bool) semantic {
	return func(t *thread, u *uop) {
		d, x, base := *t.d(u.o[0]), *t.d(u.o[1]), *t.r(u.o[2])
		best, at := lane(d, 0, w, signed), uint32(d>>32)
		for i := uint(0); i < 64; i += w {
			if v := lane(x, i, w, signed); better(v, best) {
				best, at = v, base|uint32(i/8)
			}
		}
		*t.d(u.o[0]) = pair(at, uint32(best))
	}
}

func cLt(a, b int64) bool { return a < b }

// normPair is the left shift that normalizes a 64-bit number.
func normPair(t *thread, u *uop) {
	x := *t.d(u.o[1])
	*t.r(u.o[0]) = 0
	if x != 0 {
		*t.r(u.o[0]) = clb64(x) - 1
	}
}

func lfsp(t *thread, u *uop) {
	x := *t.d(u.o[1])
	*t.d(u.o[0]) = x>>1 | uint64(bits.OnesCount64(x&*t.d(u.o[2])))<<63
}
