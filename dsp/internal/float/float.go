// Package float is binary floating point as the scalar unit computes it: IEEE 754 with the
// rounding mode of the user status register, sticky flags, and one NaN (all bits set) as the
// result of whatever has no value.
package float

import (
	"math"
	"math/bits"
)

// Rounding modes of usr[23:22].
const (
	ToNearest = iota // to even
	ToZero
	Down
	Up
)

// Sticky flags of usr, and the place of its rounding mode.
const (
	Invalid    = 1 << 1
	DivByZero  = 1 << 2
	Overflow   = 1 << 3
	Underflow  = 1 << 4
	Inexact    = 1 << 5
	RoundShift = 22
)

// Format is an interchange format.
type Format struct {
	frac uint   // bits of the fraction
	exp  uint   // bits of the exponent
	NaN  uint64 // the result that has no value
}

// The two formats of the core.
var (
	Single = &Format{frac: 23, exp: 8, NaN: 1<<32 - 1}
	Double = &Format{frac: 52, exp: 11, NaN: 1<<64 - 1}
)

// Parts of the format, and of a number x in it.

func (f *Format) Bias() int           { return 1<<(f.exp-1) - 1 }
func (f *Format) MaxExp() int         { return 1<<f.exp - 1 }
func (f *Format) Inf() uint64         { return uint64(f.MaxExp()) << f.frac }
func (f *Format) Sign() uint64        { return 1 << (f.frac + f.exp) }
func (f *Format) RawExp(x uint64) int { return int(x>>f.frac) & f.MaxExp() }
func (f *Format) IsNaN(x uint64) bool { return x&^f.Sign() > f.Inf() }
func (f *Format) isSignalling(x uint64) bool {
	return f.IsNaN(x) && x>>(f.frac-1)&1 == 0
}

// Kind is the class of a float.
type Kind uint8

// Kinds of numbers.
const (
	Zero Kind = iota + 1
	Finite
	Inf
	NaN
)

// Leading is the place of a number's leading one: one bit is left for the carry of a sum, ten or more for rounding.
const Leading = 62

// Unpacked is an unpacked float: Man * 2^(Exp-Leading).
type Unpacked struct {
	Kind Kind
	Neg  bool
	Exp  int
	Man  uint64 // its lowest bit is also the sticky bit
}

// Unpack unpacks x.
func (f *Format) Unpack(x uint64) Unpacked {
	n := Unpacked{Kind: Zero, Neg: x&f.Sign() != 0}
	e, man := f.RawExp(x), x&(1<<f.frac-1)
	switch {
	case e == f.MaxExp() && man != 0:
		n.Kind = NaN
	case e == f.MaxExp():
		n.Kind = Inf
	case e == 0 && man == 0:
	case e == 0:
		n.normal(1-f.Bias(), man<<(Leading-f.frac))
	default:
		n.normal(e-f.Bias(), (1<<f.frac|man)<<(Leading-f.frac))
	}
	return n
}

// normal makes n finite, its leading one in place. man is not zero and below 1<<63.
func (n *Unpacked) normal(exp int, man uint64) {
	s := bits.LeadingZeros64(man) - (63 - Leading)
	n.Kind, n.Exp, n.Man = Finite, exp-s, man<<s
}

// shiftSticky shifts to the right; the lowest bit remembers ones that fall out.
func shiftSticky(x uint64, n int) uint64 {
	switch {
	case n <= 0:
		return x
	case n > 63:
		return Bit(x != 0)
	}
	return x>>n | Bit(x<<(64-n) != 0)
}

// Bit is 1 for true.
func Bit(c bool) uint64 {
	if c {
		return 1
	}
	return 0
}

// Env is the environment of arithmetic: the user status register with the rounding mode in
// bits 23:22 and the sticky flags in bits 5:1.
type Env uint32

// Raise sets sticky flags.
func (e *Env) Raise(flags uint32) { *e |= Env(flags) }

// RoundMode is the rounding mode in force.
func (e *Env) RoundMode() uint32 { return uint32(*e) >> RoundShift & 3 }

// Invalid is the result of an operation without a value.
func (e *Env) Invalid(f *Format) uint64 {
	e.Raise(Invalid)
	return f.NaN
}

// NaN is the result of an operation with a NaN among its operands.
func (e *Env) NaN(f *Format, ops ...uint64) uint64 {
	for _, x := range ops {
		if f.isSignalling(x) {
			e.Raise(Invalid)
		}
	}
	return f.NaN
}

// roundUpwards reports whether rounding off the low drop bits, of which half is the highest, increases a number.
func roundUpwards(mode uint32, neg bool, man uint64, drop uint) bool {
	rest, half := man&(1<<drop-1), uint64(1)<<(drop-1)
	switch mode {
	case ToNearest:
		return rest > half || rest == half && man>>drop&1 != 0
	case ToZero:
		return false
	}
	return rest != 0 && neg == (mode == Down)
}

// Pack rounds n to the format and sets the flags of the lost bits.
func (e *Env) Pack(f *Format, n Unpacked) uint64 {
	sign := uint64(0)
	if n.Neg {
		sign = f.Sign()
	}
	switch n.Kind {
	case NaN:
		return f.NaN
	case Zero:
		return sign
	case Inf:
		return sign | f.Inf()
	}
	mode := e.RoundMode()
	drop := Leading - f.frac
	exp, man := n.Exp+f.Bias(), n.Man
	tiny := exp <= 0
	if tiny {
		man = shiftSticky(man, 1-exp)
		exp = 0
	} else {
		exp-- // the leading one adds one
	}
	inexact := man&(1<<drop-1) != 0
	out := man>>drop + uint64(exp)<<f.frac
	if exp < f.MaxExp() && roundUpwards(mode, n.Neg, man, drop) {
		out++
	}
	if exp >= f.MaxExp() || out >= f.Inf() {
		e.Raise(Overflow | Inexact)
		if mode == ToZero || mode == Down && !n.Neg || mode == Up && n.Neg {
			return sign | f.Inf() - 1
		}
		return sign | f.Inf()
	}
	if inexact {
		e.Raise(Inexact)
		if tiny {
			e.Raise(Underflow)
		}
	}
	return sign | out
}

// sum adds finite numbers and zeros.
func (e *Env) sum(a, b Unpacked) Unpacked {
	if a.Kind == Zero || b.Kind == Zero {
		switch {
		case b.Kind != Zero:
			return b
		case a.Kind != Zero:
			return a
		}
		if a.Neg != b.Neg {
			a.Neg = e.RoundMode() == Down
		}
		return a
	}
	if a.Exp < b.Exp || a.Exp == b.Exp && a.Man < b.Man {
		a, b = b, a
	}
	low := shiftSticky(b.Man, a.Exp-b.Exp)
	if a.Neg == b.Neg {
		if a.Man += low; a.Man>>(Leading+1) != 0 {
			a.Man, a.Exp = shiftSticky(a.Man, 1), a.Exp+1
		}
		return a
	}
	if a.Man == low {
		return Unpacked{Kind: Zero, Neg: e.RoundMode() == Down}
	}
	a.normal(a.Exp, a.Man-low)
	return a
}

// product multiplies finite numbers and zeros.
func product(a, b Unpacked) Unpacked {
	p := Unpacked{Kind: Zero, Neg: a.Neg != b.Neg}
	if a.Kind == Zero || b.Kind == Zero {
		return p
	}
	hi, lo := bits.Mul64(a.Man, b.Man) // leading one in bit 2*leading or one above
	p.normal(a.Exp+b.Exp+2, hi|Bit(lo != 0))
	return p
}

// Add is x + y.
func (e *Env) Add(f *Format, x, y uint64) uint64 {
	a, b := f.Unpack(x), f.Unpack(y)
	switch {
	case a.Kind == NaN || b.Kind == NaN:
		return e.NaN(f, x, y)
	case a.Kind == Inf && b.Kind == Inf && a.Neg != b.Neg:
		return e.Invalid(f)
	case a.Kind == Inf:
		return x
	case b.Kind == Inf:
		return y
	}
	return e.Pack(f, e.sum(a, b))
}

// Sub is x - y; a NaN has no sign to flip.
func (e *Env) Sub(f *Format, x, y uint64) uint64 {
	return e.Add(f, x, y^f.Sign())
}

// Mul is x * y.
func (e *Env) Mul(f *Format, x, y uint64) uint64 {
	a, b := f.Unpack(x), f.Unpack(y)
	switch {
	case a.Kind == NaN || b.Kind == NaN:
		return e.NaN(f, x, y)
	case a.Kind == Inf || b.Kind == Inf:
		if a.Kind == Zero || b.Kind == Zero {
			return e.Invalid(f)
		}
		return (x^y)&f.Sign() | f.Inf()
	}
	return e.Pack(f, product(a, b))
}

// FMA is (z + x*y) * 2^scale, rounded once. The product of two single-precision fractions fits the 63 bits of a number.
func (e *Env) FMA(x, y, z uint64, scale int) uint64 {
	f := Single
	a, b, c := f.Unpack(x), f.Unpack(y), f.Unpack(z)
	inf := a.Kind == Inf || b.Kind == Inf
	switch {
	case inf && (a.Kind == Zero || b.Kind == Zero):
		return e.Invalid(f)
	case a.Kind == NaN || b.Kind == NaN || c.Kind == NaN:
		return e.NaN(f, x, y, z)
	case inf && c.Kind == Inf && (a.Neg != b.Neg) != c.Neg:
		return e.Invalid(f)
	case inf:
		return (x^y)&f.Sign() | f.Inf()
	case c.Kind == Inf:
		return z
	}
	if scale > 0 && c.Kind == Finite && f.RawExp(z) == 0 {
		c.Exp, c.Man = -4*f.MaxExp(), 1<<Leading // too small to matter
	}
	s := e.sum(product(a, b), c)
	s.Exp += scale
	return e.Pack(f, s)
}

// Less orders two floats that are not NaNs; zeros are equal.
func (f *Format) Less(x, y uint64) bool { return f.Key(x) < f.Key(y) }

// Key maps floats to integers of the same order, both zeros to 0.
func (f *Format) Key(x uint64) int64 {
	if k := int64(x &^ f.Sign()); x&f.Sign() == 0 {
		return k
	} else {
		return -k
	}
}

// ToInt rounds to an integer of the given width in a mode, saturating. No negative number is a valid unsigned integer.
func (e *Env) ToInt(f *Format, x uint64, width uint, signed bool, mode uint32) uint64 {
	n := f.Unpack(x)
	top, bottom := uint64(1)<<(width-1)-1, uint64(1)<<(width-1) // largest magnitudes
	if !signed {
		top, bottom = bottom<<1-1, 0
	}
	var mag, rest uint64
	over := n.Kind == Inf || n.Exp > 63
	switch {
	case n.Kind == NaN:
		e.Raise(Invalid)
		return math.MaxUint64 >> (64 - width)
	case n.Neg && !signed:
		e.Raise(Invalid)
		return 0
	case n.Kind == Zero:
		return 0
	case over:
	case n.Exp >= 52: // no bits of a fraction
		mag = n.Man >> (Leading - 52) << (n.Exp - 52)
	default: // half and the rest of the fraction in two bits
		man := shiftSticky(n.Man, Leading-2-n.Exp)
		mag, rest = man>>2, man&3
		if roundUpwards(mode, n.Neg, man, 2) {
			mag++
		}
	}
	limit := top
	if n.Neg {
		limit = bottom
	}
	switch {
	case over || mag > limit:
		e.Raise(Invalid)
		mag = limit
	case rest != 0:
		e.Raise(Inexact)
	}
	if n.Neg {
		mag = -mag & (math.MaxUint64 >> (64 - width))
	}
	return mag
}

// FromInt rounds an integer to the format.
func (e *Env) FromInt(f *Format, mag uint64, neg bool) uint64 {
	if mag == 0 {
		return 0
	}
	n := Unpacked{Neg: neg}
	n.normal(Leading+1, shiftSticky(mag, 1))
	if mag>>63 == 0 {
		n.normal(Leading, mag)
	}
	return e.Pack(f, n)
}

// ClassOf is the bit of x in the mask of a class instruction.
func (f *Format) ClassOf(x uint64) int32 {
	switch m := x &^ f.Sign(); {
	case m == 0:
		return 1
	case f.RawExp(m) == 0:
		return 4
	case m < f.Inf():
		return 2
	case m == f.Inf():
		return 8
	}
	return 16
}

// Make places ten bits of immediate: four of the exponent from -6 on, six of the fraction.
func (f *Format) Make(imm int32, sign uint64) uint64 {
	return uint64(f.Bias()-6)<<f.frac + uint64(imm)<<(f.frac-6) | sign
}
