package dsp

import (
	"math"
	"math/bits"
)

// Binary floating point as the scalar unit computes it: IEEE 754 with the rounding mode of USR, sticky flags, and one NaN
// (all bits set) as the result of whatever has no value.

// Rounding modes of usr[23:22].
const (
	roundNearest = iota // to even
	roundZero
	roundDown
	roundUp
)

// Sticky flags of usr.
const (
	usrInvalid    = 1 << 1
	usrDivByZero  = 1 << 2
	usrOverflow   = 1 << 3
	usrUnderflow  = 1 << 4
	usrInexact    = 1 << 5
	usrRoundShift = 22
)

// floatFormat is an interchange format.
type floatFormat struct {
	frac uint // bits of the fraction
	exp  uint // bits of the exponent
	nan  uint64
}

var (
	single = &floatFormat{frac: 23, exp: 8, nan: 1<<32 - 1}
	double = &floatFormat{frac: 52, exp: 11, nan: 1<<64 - 1}
)

func (f *floatFormat) bias() int           { return 1<<(f.exp-1) - 1 }
func (f *floatFormat) maxExp() int         { return 1<<f.exp - 1 }
func (f *floatFormat) inf() uint64         { return uint64(f.maxExp()) << f.frac }
func (f *floatFormat) sign() uint64        { return 1 << (f.frac + f.exp) }
func (f *floatFormat) rawExp(x uint64) int { return int(x>>f.frac) & f.maxExp() }
func (f *floatFormat) isNaN(x uint64) bool { return x&^f.sign() > f.inf() }
func (f *floatFormat) isSignalling(x uint64) bool {
	return f.isNaN(x) && x>>(f.frac-1)&1 == 0
}

type floatKind uint8

const (
	aZero floatKind = iota
	aFinite
	anInf
	aNaN
)

// leading is the place of a number's leading one: one bit is left for the carry of a sum, ten or more for rounding.
const leading = 62

// unpacked is a float taken apart: man * 2^(exp-leading).
type unpacked struct {
	kind floatKind
	neg  bool
	exp  int
	man  uint64 // its lowest bit also stands for all that was shifted out
}

func (f *floatFormat) unpack(x uint64) unpacked {
	n := unpacked{neg: x&f.sign() != 0}
	e, man := f.rawExp(x), x&(1<<f.frac-1)
	switch {
	case e == f.maxExp() && man != 0:
		n.kind = aNaN
	case e == f.maxExp():
		n.kind = anInf
	case e == 0 && man == 0:
	case e == 0:
		n.normal(1-f.bias(), man<<(leading-f.frac))
	default:
		n.normal(e-f.bias(), (1<<f.frac|man)<<(leading-f.frac))
	}
	return n
}

// normal makes n finite, its leading one in place. man is not zero and below 1<<63.
func (n *unpacked) normal(exp int, man uint64) {
	s := bits.LeadingZeros64(man) - (63 - leading)
	n.kind, n.exp, n.man = aFinite, exp-s, man<<s
}

// shiftSticky shifts to the right; the lowest bit remembers ones that fall out.
func shiftSticky(x uint64, n int) uint64 {
	switch {
	case n <= 0:
		return x
	case n > 63:
		return one64(x != 0)
	}
	return x>>n | one64(x<<(64-n) != 0)
}

func one64(c bool) uint64 {
	if c {
		return 1
	}
	return 0
}

// sticky sets sticky flags.
func (t *thread) sticky(flags uint32) { t.C[cUSR] |= flags }

func (t *thread) roundMode() uint32 { return t.C[cUSR] >> usrRoundShift & 3 }

// invalid is the result of an operation without a value.
func (t *thread) invalid(f *floatFormat) uint64 {
	t.sticky(usrInvalid)
	return f.nan
}

// nan is the result of an operation on operands of which one is a NaN.
func (t *thread) nan(f *floatFormat, ops ...uint64) uint64 {
	for _, x := range ops {
		if f.isSignalling(x) {
			t.sticky(usrInvalid)
		}
	}
	return f.nan
}

// roundUpwards tells whether the part of a number below its last bit, half being its weight there, makes it larger.
func roundUpwards(mode uint32, neg bool, man uint64, drop uint) bool {
	rest, half := man&(1<<drop-1), uint64(1)<<(drop-1)
	switch mode {
	case roundNearest:
		return rest > half || rest == half && man>>drop&1 != 0
	case roundZero:
		return false
	}
	return rest != 0 && neg == (mode == roundDown)
}

// pack rounds n to the format and notes what was lost.
func (t *thread) pack(f *floatFormat, n unpacked) uint64 {
	sign := uint64(0)
	if n.neg {
		sign = f.sign()
	}
	switch n.kind {
	case aNaN:
		return f.nan
	case aZero:
		return sign
	case anInf:
		return sign | f.inf()
	}
	mode := t.roundMode()
	drop := leading - f.frac
	e, man := n.exp+f.bias(), n.man
	tiny := e <= 0
	if tiny {
		man = shiftSticky(man, 1-e)
		e = 0
	} else {
		e-- // the leading one adds one
	}
	inexact := man&(1<<drop-1) != 0
	out := man>>drop + uint64(e)<<f.frac
	if e < f.maxExp() && roundUpwards(mode, n.neg, man, drop) {
		out++
	}
	if e >= f.maxExp() || out >= f.inf() {
		t.sticky(usrOverflow | usrInexact)
		if mode == roundZero || mode == roundDown && !n.neg || mode == roundUp && n.neg {
			return sign | f.inf() - 1
		}
		return sign | f.inf()
	}
	if inexact {
		t.sticky(usrInexact)
		if tiny {
			t.sticky(usrUnderflow)
		}
	}
	return sign | out
}

// sum adds finite numbers and zeros.
func (t *thread) sum(a, b unpacked) unpacked {
	if a.kind == aZero || b.kind == aZero {
		switch {
		case b.kind != aZero:
			return b
		case a.kind != aZero:
			return a
		}
		if a.neg != b.neg {
			a.neg = t.roundMode() == roundDown
		}
		return a
	}
	if a.exp < b.exp || a.exp == b.exp && a.man < b.man {
		a, b = b, a
	}
	low := shiftSticky(b.man, a.exp-b.exp)
	if a.neg == b.neg {
		if a.man += low; a.man>>(leading+1) != 0 {
			a.man, a.exp = shiftSticky(a.man, 1), a.exp+1
		}
		return a
	}
	if a.man == low {
		return unpacked{neg: t.roundMode() == roundDown}
	}
	a.normal(a.exp, a.man-low)
	return a
}

// product multiplies finite numbers and zeros.
func product(a, b unpacked) unpacked {
	p := unpacked{neg: a.neg != b.neg}
	if a.kind == aZero || b.kind == aZero {
		return p
	}
	hi, lo := bits.Mul64(a.man, b.man) // leading one in bit 2*leading or one above
	p.normal(a.exp+b.exp+2, hi|one64(lo != 0))
	return p
}

func (t *thread) fadd(f *floatFormat, x, y uint64) uint64 {
	a, b := f.unpack(x), f.unpack(y)
	switch {
	case a.kind == aNaN || b.kind == aNaN:
		return t.nan(f, x, y)
	case a.kind == anInf && b.kind == anInf && a.neg != b.neg:
		return t.invalid(f)
	case a.kind == anInf:
		return x
	case b.kind == anInf:
		return y
	}
	return t.pack(f, t.sum(a, b))
}

// fsub is x - y; a NaN has no sign to flip.
func (t *thread) fsub(f *floatFormat, x, y uint64) uint64 {
	return t.fadd(f, x, y^f.sign())
}

func (t *thread) fmul(f *floatFormat, x, y uint64) uint64 {
	a, b := f.unpack(x), f.unpack(y)
	switch {
	case a.kind == aNaN || b.kind == aNaN:
		return t.nan(f, x, y)
	case a.kind == anInf || b.kind == anInf:
		if a.kind == aZero || b.kind == aZero {
			return t.invalid(f)
		}
		return (x^y)&f.sign() | f.inf()
	}
	return t.pack(f, product(a, b))
}

// fma is (z + x*y) * 2^scale, rounded once. The product of two single-precision fractions fits the 63 bits of a number.
func (t *thread) fma(x, y, z uint64, scale int) uint64 {
	f := single
	a, b, c := f.unpack(x), f.unpack(y), f.unpack(z)
	inf := a.kind == anInf || b.kind == anInf
	switch {
	case inf && (a.kind == aZero || b.kind == aZero):
		return t.invalid(f)
	case a.kind == aNaN || b.kind == aNaN || c.kind == aNaN:
		return t.nan(f, x, y, z)
	case inf && c.kind == anInf && (a.neg != b.neg) != c.neg:
		return t.invalid(f)
	case inf:
		return (x^y)&f.sign() | f.inf()
	case c.kind == anInf:
		return z
	}
	if scale > 0 && c.kind == aFinite && f.rawExp(z) == 0 {
		c.exp, c.man = -4*f.maxExp(), 1<<leading // too small to matter
	}
	s := t.sum(product(a, b), c)
	s.exp += scale
	return t.pack(f, s)
}

// less orders two floats that are not NaNs; zeros are equal.
func (f *floatFormat) less(x, y uint64) bool { return f.key(x) < f.key(y) }

// key maps floats to integers of the same order, both zeros to 0.
func (f *floatFormat) key(x uint64) int64 {
	if k := int64(x &^ f.sign()); x&f.sign() == 0 {
		return k
	} else {
		return -k
	}
}

// toInt rounds to an integer of the given width in a mode, saturating. A number with a sign is never a valid unsigned integer.
func (t *thread) toInt(f *floatFormat, x uint64, width uint, signed bool, mode uint32) uint64 {
	n := f.unpack(x)
	top, bottom := uint64(1)<<(width-1)-1, uint64(1)<<(width-1) // largest magnitudes
	if !signed {
		top, bottom = bottom<<1-1, 0
	}
	var mag, rest uint64
	over := n.kind == anInf || n.exp > 63
	switch {
	case n.kind == aNaN:
		t.sticky(usrInvalid)
		return math.MaxUint64 >> (64 - width)
	case n.neg && !signed:
		t.sticky(usrInvalid)
		return 0
	case n.kind == aZero:
		return 0
	case over:
	case n.exp >= 52: // no bits of a fraction
		mag = n.man >> (leading - 52) << (n.exp - 52)
	default: // half and the rest of the fraction in two bits
		man := shiftSticky(n.man, leading-2-n.exp)
		mag, rest = man>>2, man&3
		if roundUpwards(mode, n.neg, man, 2) {
			mag++
		}
	}
	limit := top
	if n.neg {
		limit = bottom
	}
	switch {
	case over || mag > limit:
		t.sticky(usrInvalid)
		mag = limit
	case rest != 0:
		t.sticky(usrInexact)
	}
	if n.neg {
		mag = -mag & (math.MaxUint64 >> (64 - width))
	}
	return mag
}

// fromInt rounds an integer to the format.
func (t *thread) fromInt(f *floatFormat, mag uint64, neg bool) uint64 {
	if mag == 0 {
		return 0
	}
	n := unpacked{neg: neg}
	n.normal(leading+1, shiftSticky(mag, 1))
	if mag>>63 == 0 {
		n.normal(leading, mag)
	}
	return t.pack(f, n)
}
