package dsp

import (
	"math"
	"math/bits"
)

// Scalar floating-point instructions.

func (t *thread) f32(o uint16) uint64 { return uint64(*t.r(o)) }

// Arithmetic with two sources.

type floatOp func(t *thread, f *floatFormat, x, y uint64) uint64

func sfOp(op floatOp) semantic {
	return func(t *thread, u *uop) { *t.r(u.o[0]) = uint32(op(t, single, t.f32(u.o[1]), t.f32(u.o[2]))) }
}

func dfOp(op floatOp) semantic {
	return func(t *thread, u *uop) { *t.d(u.o[0]) = op(t, double, *t.d(u.o[1]), *t.d(u.o[2])) }
}

// hostRounds tells that the host's arithmetic may serve, because nothing but the
// result can change: rounding is to nearest and the inexact flag is up already.
// The result must also lie away from the ends of the exponents.
func (t *thread) hostRounds() bool {
	return t.C[cUSR]&(3<<usrRoundShift|usrInexact) == usrInexact
}

// plain32 tells that r is finite and above what underflow could have touched.
func plain32(r float32) bool { return math.Float32bits(r)>>23&0xff-2 < 253 }

func (t *thread) r32(o uint16) float32 { return math.Float32frombits(*t.r(o)) }

// sfSum and sfProduct are sfOps with the host in front.
func sfSum(host func(x, y float32) float32, op floatOp) semantic {
	slow := sfOp(op)
	return func(t *thread, u *uop) {
		if t.hostRounds() {
			if r := host(t.r32(u.o[1]), t.r32(u.o[2])); plain32(r) || r == 0 { // a sum of 0 is exact
				*t.r(u.o[0]) = math.Float32bits(r)
				return
			}
		}
		slow(t, u)
	}
}

func sfProduct(t *thread, u *uop) {
	if x, y := t.r32(u.o[1]), t.r32(u.o[2]); t.hostRounds() {
		if r := x * y; plain32(r) {
			*t.r(u.o[0]) = math.Float32bits(r)
			return
		}
	}
	*t.r(u.o[0]) = uint32(t.fmul(single, t.f32(u.o[1]), t.f32(u.o[2])))
}

// hostFMA is z + x*y where a sum of doubles holds it without an error: then the
// conversion rounds only once.
func hostFMA(x, y, z uint64) (uint32, bool) {
	f := func(v uint64) float64 { return float64(math.Float32frombits(uint32(v))) }
	p, c := f(x)*f(y), f(z) // the product of two fractions of 24 bits is exact
	s := p + c
	b := s - p
	if (p-(s-b))+(c-b) != 0 {
		return 0, false
	}
	r := float32(s)
	return math.Float32bits(r), plain32(r)
}

// extremum makes minimum and maximum: a number beats a NaN, and -0 is below +0.
func extremum(larger bool) floatOp {
	return func(t *thread, f *floatFormat, x, y uint64) uint64 {
		switch nan := t.nan(f, x, y); {
		case !f.isNaN(x) && !f.isNaN(y):
		case !f.isNaN(x):
			return x
		case !f.isNaN(y):
			return y
		default:
			return nan
		}
		below := f.less(x, y) || f.key(x) == f.key(y) && x&f.sign() != 0
		if below == larger {
			return y
		}
		return x
	}
}

// Multiply and add.

func sffma(t *thread, u *uop) {
	x, y, z := t.f32(u.o[1]), t.f32(u.o[2]), t.f32(u.o[0])
	if t.hostRounds() {
		if r, ok := hostFMA(x, y, z); ok {
			*t.r(u.o[0]) = r
			return
		}
	}
	*t.r(u.o[0]) = uint32(t.fma(x, y, z, 0))
}

// sffms takes the product from 0 - Rs, which is not -Rs for a zero.
func sffms(t *thread, u *uop) {
	x, y, z := t.f32(u.o[1]), t.f32(u.o[2]), t.f32(u.o[0])
	if t.hostRounds() {
		if r, ok := hostFMA(x^single.sign(), y, z); ok {
			*t.r(u.o[0]) = r
			return
		}
	}
	*t.r(u.o[0]) = uint32(t.fma(t.fsub(single, 0, x), y, z, 0))
}

func sffmaScale(t *thread, u *uop) {
	x, y, z := t.f32(u.o[1]), t.f32(u.o[2]), t.f32(u.o[0])
	out := t.fma(x, y, z, int(int8(*t.p(u.o[3]))))
	if !keepsZero(x, y, z) {
		*t.r(u.o[0]) = uint32(out)
	}
}

// keepsZero tells that a zero is left alone: nothing is added to it.
func keepsZero(x, y, z uint64) bool {
	zero := func(v uint64) bool { return v&^single.sign() == 0 }
	return zero(z) && (zero(x) && !single.isNaN(y) || zero(y) && !single.isNaN(x))
}

// sffmaLib is a step of a division in software: to nearest, without flags; a finite sum does not become infinite, two
// infinities cancel, and a zero keeps its sign when nothing is added to it.
func sffmaLib(negate uint64) semantic {
	return func(t *thread, u *uop) {
		x, y, z := t.f32(u.o[1])^negate, t.f32(u.o[2]), t.f32(u.o[0])
		if r, ok := hostFMA(x, y, z); ok {
			*t.r(u.o[0]) = r
			return
		}
		if keepsZero(x, y, z) {
			return
		}
		a, b, c := single.unpack(x), single.unpack(y), single.unpack(z)
		usr := t.C[cUSR]
		t.C[cUSR] &^= 3 << usrRoundShift
		out := t.fma(x, y, z, 0)
		t.C[cUSR] = usr
		infinite := a.kind == anInf || b.kind == anInf || c.kind == anInf
		switch {
		case c.kind == anInf && infProduct(t.f32(u.o[1]), y) && (a.neg != b.neg) != c.neg:
			out = 0
		case !infinite && out&^single.sign() == single.inf():
			out-- // the largest number
		}
		*t.r(u.o[0]) = uint32(out)
	}
}

// infProduct tells which products of infinities the library steps see: by a number above zero.
func infProduct(x, y uint64) bool {
	infinite := func(v uint64) bool { return v&^single.sign() == single.inf() }
	above := func(v uint64) bool { return int32(v) > 0 }
	return infinite(x) && (infinite(y) || above(y)) || infinite(y) && above(x)
}

// Compares and classes.

type floatTest func(t *thread, f *floatFormat, x, y uint64) bool

// compare makes a test that a NaN does not pass; only a signalling one is invalid.
func compare(cmp func(x, y int64) bool) floatTest {
	return func(t *thread, f *floatFormat, x, y uint64) bool {
		return !unordered(t, f, x, y) && cmp(f.key(x), f.key(y))
	}
}

var (
	floatEq = compare(func(x, y int64) bool { return x == y })
	floatGe = compare(func(x, y int64) bool { return x >= y })
	floatGt = compare(func(x, y int64) bool { return x > y })
)

func unordered(t *thread, f *floatFormat, x, y uint64) bool {
	t.nan(f, x, y)
	return f.isNaN(x) || f.isNaN(y)
}

func sfCmp(op floatTest) semantic {
	return func(t *thread, u *uop) { *t.p(u.o[0]) = flag(op(t, single, t.f32(u.o[1]), t.f32(u.o[2]))) }
}

func dfCmp(op floatTest) semantic {
	return func(t *thread, u *uop) { *t.p(u.o[0]) = flag(op(t, double, *t.d(u.o[1]), *t.d(u.o[2]))) }
}

// classOf is the bit of x in the mask of a class instruction.
func (f *floatFormat) classOf(x uint64) int32 {
	switch m := x &^ f.sign(); {
	case m == 0:
		return 1
	case f.rawExp(m) == 0:
		return 4
	case m < f.inf():
		return 2
	case m == f.inf():
		return 8
	}
	return 16
}

func sfclass(t *thread, u *uop) { *t.p(u.o[0]) = flag(single.classOf(t.f32(u.o[1]))&u.imm != 0) }
func dfclass(t *thread, u *uop) { *t.p(u.o[0]) = flag(double.classOf(*t.d(u.o[1]))&u.imm != 0) }

// make places ten bits of immediate: four of the exponent from -6 on, six of the fraction.
func (f *floatFormat) make(imm int32, sign uint64) uint64 {
	return uint64(f.bias()-6)<<f.frac + uint64(imm)<<(f.frac-6) | sign
}

func sfmake(sign uint64) semantic {
	return func(t *thread, u *uop) { *t.r(u.o[0]) = uint32(single.make(u.imm, sign*single.sign())) }
}

func dfmake(sign uint64) semantic {
	return func(t *thread, u *uop) { *t.d(u.o[0]) = double.make(u.imm, sign*double.sign()) }
}

// Conversions.

// chop is a conversion's own rounding mode; the others take that of usr.
const chop, ofUSR = true, false

func (t *thread) convertMode(chopped bool) uint32 {
	if chopped {
		return roundZero
	}
	return t.roundMode()
}

func sfToWord(signed, chopped bool) semantic {
	return func(t *thread, u *uop) {
		*t.r(u.o[0]) = uint32(t.toInt(single, t.f32(u.o[1]), 32, signed, t.convertMode(chopped)))
	}
}

func sfToDouble(signed, chopped bool) semantic {
	return func(t *thread, u *uop) {
		*t.d(u.o[0]) = t.toInt(single, t.f32(u.o[1]), 64, signed, t.convertMode(chopped))
	}
}

func dfToWord(signed, chopped bool) semantic {
	return func(t *thread, u *uop) {
		*t.r(u.o[0]) = uint32(t.toInt(double, *t.d(u.o[1]), 32, signed, t.convertMode(chopped)))
	}
}

func dfToDouble(signed, chopped bool) semantic {
	return func(t *thread, u *uop) {
		*t.d(u.o[0]) = t.toInt(double, *t.d(u.o[1]), 64, signed, t.convertMode(chopped))
	}
}

// magnitude splits a signed integer.
func magnitude(x int64) (uint64, bool) {
	if x < 0 {
		return -uint64(x), true
	}
	return uint64(x), false
}

func w2sf(t *thread, u *uop) {
	m, neg := magnitude(int64(t.s(u.o[1])))
	*t.r(u.o[0]) = uint32(t.fromInt(single, m, neg))
}
func w2df(t *thread, u *uop) {
	m, neg := magnitude(int64(t.s(u.o[1])))
	*t.d(u.o[0]) = t.fromInt(double, m, neg)
}
func d2sf(t *thread, u *uop) {
	m, neg := magnitude(t.s64(u.o[1]))
	*t.r(u.o[0]) = uint32(t.fromInt(single, m, neg))
}
func d2df(t *thread, u *uop) {
	m, neg := magnitude(t.s64(u.o[1]))
	*t.d(u.o[0]) = t.fromInt(double, m, neg)
}
func uw2sf(t *thread, u *uop) { *t.r(u.o[0]) = uint32(t.fromInt(single, t.f32(u.o[1]), false)) }
func uw2df(t *thread, u *uop) { *t.d(u.o[0]) = t.fromInt(double, t.f32(u.o[1]), false) }
func ud2sf(t *thread, u *uop) { *t.r(u.o[0]) = uint32(t.fromInt(single, *t.d(u.o[1]), false)) }
func ud2df(t *thread, u *uop) { *t.d(u.o[0]) = t.fromInt(double, *t.d(u.o[1]), false) }

// reformat converts between the formats.
func (t *thread) reformat(from, to *floatFormat, x uint64) uint64 {
	if from.isNaN(x) {
		t.nan(from, x)
		return to.nan
	}
	return t.pack(to, from.unpack(x))
}

func sf2df(t *thread, u *uop) { *t.d(u.o[0]) = t.reformat(single, double, t.f32(u.o[1])) }
func df2sf(t *thread, u *uop) { *t.r(u.o[0]) = uint32(t.reformat(double, single, *t.d(u.o[1]))) }

// Double-precision products are made of three instructions over the words of the fractions.

const dfHidden = 1 << 20 // the leading one in the high word of a double

func dfmpyll(t *thread, u *uop) {
	p := (*t.d(u.o[1]) & math.MaxUint32) * (*t.d(u.o[2]) & math.MaxUint32)
	*t.d(u.o[0]) = p>>32<<1 | one64(p&math.MaxUint32 != 0)
}

func dfmpylh(t *thread, u *uop) {
	high := *t.d(u.o[2])>>32&(dfHidden-1) | dfHidden
	*t.d(u.o[0]) += (*t.d(u.o[1]) & math.MaxUint32) * high << 1
}

// dfmpyhh adds the product of the high words and rounds; a denormal factor counts as too small to matter.
func dfmpyhh(t *thread, u *uop) {
	x, y, acc := *t.d(u.o[1]), *t.d(u.o[2]), *t.d(u.o[0])
	a, b := double.unpack(x), double.unpack(y)
	if a.kind != aFinite || b.kind != aFinite {
		*t.d(u.o[0]) = t.fmul(double, x, y)
		return
	}
	n := unpacked{kind: aFinite, neg: a.neg != b.neg, exp: -4 * double.maxExp(), man: 1 << leading}
	if double.rawExp(x) != 0 && double.rawExp(y) != 0 {
		// In units of 2^-72: high words << 32, and half of what the other parts have accumulated.
		hi, lo := bits.Mul64(x>>32&(dfHidden-1)|dfHidden, (y>>32&(dfHidden-1)|dfHidden)<<32)
		lo, carry := bits.Add64(lo, acc>>1, 0)
		hi += carry
		s := bits.LeadingZeros64(hi) - 1 // the product has 73 bits at least
		n.exp = a.exp + b.exp + 64 + leading - 72 - s
		n.man = hi<<s | lo>>(64-s) | one64(lo<<s != 0 || acc&1 != 0)
	}
	*t.d(u.o[0]) = t.pack(double, n)
}

// dfmpyfix scales one factor by 2^52 or 2^-52 where a denormal would make the parts of the product useless and the other
// factor is large enough to take it.
func dfmpyfix(t *thread, u *uop) {
	x, y := *t.d(u.o[1]), *t.d(u.o[2])
	const large = 512
	ex, ey := double.rawExp(x), double.rawExp(y)
	n := double.unpack(x)
	switch {
	case double.classOf(x) == 4 && double.classOf(y) == 2 && ey >= large:
		n.exp += 52
	case double.classOf(y) == 4 && double.classOf(x) == 2 && ex >= large:
		n.exp -= 52
	default:
		*t.d(u.o[0]) = x
		return
	}
	*t.d(u.o[0]) = t.pack(double, n)
}
