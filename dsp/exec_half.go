package dsp

// Multiplies of halfwords of scalar registers.

// halfMul describes one of them: which halves, signedness, doubling, rounding
// and saturation, and how the product goes into the destination.
type halfMul struct {
	a, b     int // half of the first and of the second register
	unsigned bool
	shift    uint
	round    bool
	sat      bool
	acc      int64 // 1 adds to the destination, -1 subtracts from it, 0 replaces it
}

func (m halfMul) product(t *thread, u *uop) int64 {
	x, y := *t.r(u.o[1])>>(16*m.a), *t.r(u.o[2])>>(16*m.b)
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
func (m halfMul) word() semantic {
	return func(t *thread, u *uop) {
		p := m.product(t, u)
		d := t.r(u.o[0])
		if m.acc != 0 {
			p = int64(int32(*d)) + m.acc*p
		}
		if m.sat {
			*d = t.satTo(p, minW, maxW)
			return
		}
		*d = uint32(p)
	}
}

// pair is the form with a 64-bit destination.
func (m halfMul) pair() semantic {
	return func(t *thread, u *uop) {
		p := m.product(t, u)
		d := t.d(u.o[0])
		if m.acc != 0 {
			p = int64(*d) + m.acc*p
		}
		*d = uint64(p)
	}
}

// addHalves adds (or subtracts) two halves; the result goes to the low half,
// sign-extended, or to the high half.
func addHalves(a, b int, sub, sat, high bool) semantic {
	return func(t *thread, u *uop) {
		x, y := int64(int16(*t.r(u.o[1])>>(16*a))), int64(int16(*t.r(u.o[2])>>(16*b)))
		if sub {
			y = -y
		}
		v := uint32(x + y)
		if sat {
			v = t.satTo(x+y, minH, maxH)
		}
		if high {
			*t.r(u.o[0]) = v << 16
		} else {
			*t.r(u.o[0]) = uint32(int32(int16(v)))
		}
	}
}

// mulUpHalf is the word by halfword multiply that keeps the high part.
func mulUpHalf(half int, round bool) semantic {
	return func(t *thread, u *uop) {
		p := int64(t.s(u.o[1])) * int64(int16(*t.r(u.o[2])>>(16*half))) << 1
		if round {
			p += 0x8000
		}
		*t.r(u.o[0]) = t.satTo(p>>16, minW, maxW)
	}
}

func dpmpyssNac(t *thread, u *uop) { *t.d(u.o[0]) -= uint64(t.mul64(u)) }
func dpmpyuuNac(t *thread, u *uop) { *t.d(u.o[0]) -= t.umul64(u) }
func dpmpyssRnd(t *thread, u *uop) { *t.r(u.o[0]) = uint32((t.mul64(u) + 1<<31) >> 32) }
func mpysuUp(t *thread, u *uop) {
	*t.r(u.o[0]) = uint32(int64(t.s(u.o[1])) * int64(*t.r(u.o[2])) >> 32)
}
func subacc(t *thread, u *uop) { *t.r(u.o[0]) += *t.r(u.o[1]) - *t.r(u.o[2]) }
func macUpSat(sign int64) semantic {
	return func(t *thread, u *uop) {
		*t.r(u.o[0]) = t.satTo(int64(t.s(u.o[0]))+sign*(t.mul64(u)>>31), minW, maxW)
	}
}

// logicAcc combines the destination with a logic operation of two registers.
func logicAcc(outer, inner func(x, y uint32) uint32) semantic {
	return func(t *thread, u *uop) {
		d := t.r(u.o[0])
		*d = outer(*d, inner(*t.r(u.o[1]), *t.r(u.o[2])))
	}
}

func opAnd(x, y uint32) uint32  { return x & y }
func opOr(x, y uint32) uint32   { return x | y }
func opXor(x, y uint32) uint32  { return x ^ y }
func opAndn(x, y uint32) uint32 { return x &^ y }
