package scalar

import (
	"math"
	"math/bits"

	"github.com/nnsoc/nnsoc/dsp/internal/exec/family"
	"github.com/nnsoc/nnsoc/dsp/internal/float"
	"github.com/nnsoc/nnsoc/dsp/internal/state"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

var floatRows = []family.Row{
	{hexagon.F2_sfadd, sfSum(func(x, y float32) float32 { return x + y }, (*float.Env).Add)},
	{hexagon.F2_sfmpy, func(t *state.Thread, u *state.Uop) {
		if x, y := r32(t, u.Arg[1]), r32(t, u.Arg[2]); hostRounds(t) {
			if r := x * y; plain32(r) {
				*t.R(u.Arg[0]) = math.Float32bits(r)
				return
			}
		}
		*t.R(u.Arg[0]) = uint32(env(t).Mul(float.Single, f32(t, u.Arg[1]), f32(t, u.Arg[2])))
	}},
	{hexagon.F2_sfsub, sfSum(func(x, y float32) float32 { return x - y }, (*float.Env).Sub)},
	{hexagon.F2_sffma, func(t *state.Thread, u *state.Uop) {
		x, y, z := f32(t, u.Arg[1]), f32(t, u.Arg[2]), f32(t, u.Arg[0])
		if hostRounds(t) {
			if r, ok := hostFMA(x, y, z); ok {
				*t.R(u.Arg[0]) = r
				return
			}
		}
		*t.R(u.Arg[0]) = uint32(env(t).FMA(x, y, z, 0))
	}},
	{hexagon.F2_sffma_lib, sffmaLib(0)},
	{hexagon.F2_sffma_sc, func(t *state.Thread, u *state.Uop) {
		x, y, z := f32(t, u.Arg[1]), f32(t, u.Arg[2]), f32(t, u.Arg[0])
		out := env(t).FMA(x, y, z, int(int8(*t.P(u.Arg[3]))))
		if !keepsZero(x, y, z) {
			*t.R(u.Arg[0]) = uint32(out)
		}
	}},
	// Subtracts the product from 0 - Rs, which is not -Rs for a zero.
	{hexagon.F2_sffms, func(t *state.Thread, u *state.Uop) {
		x, y, z := f32(t, u.Arg[1]), f32(t, u.Arg[2]), f32(t, u.Arg[0])
		if hostRounds(t) {
			if r, ok := hostFMA(x^float.Single.Sign(), y, z); ok {
				*t.R(u.Arg[0]) = r
				return
			}
		}
		*t.R(u.Arg[0]) = uint32(env(t).FMA(env(t).Sub(float.Single, 0, x), y, z, 0))
	}},
	{hexagon.F2_sffms_lib, sffmaLib(1 << 31)},
	{hexagon.F2_sfmax, sfOp(extremum(true))},
	{hexagon.F2_sfmin, sfOp(extremum(false))},
	{hexagon.F2_sfclass, func(t *state.Thread, u *state.Uop) {
		*t.P(u.Arg[0]) = flag(float.Single.ClassOf(f32(t, u.Arg[1]))&u.Imm != 0)
	}},
	{hexagon.F2_sfcmpeq, sfCmp(floatEq)},
	{hexagon.F2_sfcmpge, sfCmp(floatGe)},
	{hexagon.F2_sfcmpgt, sfCmp(floatGt)},
	{hexagon.F2_sfcmpuo, sfCmp(unordered)},
	{hexagon.F2_sfimm_n, sfmake(1)},
	{hexagon.F2_sfimm_p, sfmake(0)},
	{hexagon.F2_dfadd, dfOp((*float.Env).Add)},
	{hexagon.F2_dfsub, dfOp((*float.Env).Sub)},
	// Scales one factor by 2^52 or 2^-52 where a denormal would make the parts of the product useless and the other
	// factor is large enough for it.
	{hexagon.F2_dfmpyfix, func(t *state.Thread, u *state.Uop) {
		x, y := *t.D(u.Arg[1]), *t.D(u.Arg[2])
		const large = 512
		ex, ey := float.Double.RawExp(x), float.Double.RawExp(y)
		n := float.Double.Unpack(x)
		switch {
		case float.Double.ClassOf(x) == 4 && float.Double.ClassOf(y) == 2 && ey >= large:
			n.Exp += 52
		case float.Double.ClassOf(y) == 4 && float.Double.ClassOf(x) == 2 && ex >= large:
			n.Exp -= 52
		default:
			*t.D(u.Arg[0]) = x
			return
		}
		*t.D(u.Arg[0]) = env(t).Pack(float.Double, n)
	}},
	// The product of the high words is added and rounded; a denormal factor counts as too small to matter.
	{hexagon.F2_dfmpyhh, func(t *state.Thread, u *state.Uop) {
		x, y, acc := *t.D(u.Arg[1]), *t.D(u.Arg[2]), *t.D(u.Arg[0])
		a, b := float.Double.Unpack(x), float.Double.Unpack(y)
		if a.Kind != float.Finite || b.Kind != float.Finite {
			*t.D(u.Arg[0]) = env(t).Mul(float.Double, x, y)
			return
		}
		n := float.Unpacked{Kind: float.Finite, Neg: a.Neg != b.Neg, Exp: -4 * float.Double.MaxExp(), Man: 1 << float.Leading}
		if float.Double.RawExp(x) != 0 && float.Double.RawExp(y) != 0 {
			// In units of 2^-72: high words << 32, and half of the other parts' sum.
			hi, lo := bits.Mul64(x>>32&(dfHidden-1)|dfHidden, (y>>32&(dfHidden-1)|dfHidden)<<32)
			lo, carry := bits.Add64(lo, acc>>1, 0)
			hi += carry
			s := bits.LeadingZeros64(hi) - 1 // the product has 73 bits at least
			n.Exp = a.Exp + b.Exp + 64 + float.Leading - 72 - s
			n.Man = hi<<s | lo>>(64-s) | float.Bit(lo<<s != 0 || acc&1 != 0)
		}
		*t.D(u.Arg[0]) = env(t).Pack(float.Double, n)
	}},
	{hexagon.F2_dfmpylh, func(t *state.Thread, u *state.Uop) {
		high := *t.D(u.Arg[2])>>32&(dfHidden-1) | dfHidden
		*t.D(u.Arg[0]) += (*t.D(u.Arg[1]) & math.MaxUint32) * high << 1
	}},
	{hexagon.F2_dfmpyll, func(t *state.Thread, u *state.Uop) {
		p := (*t.D(u.Arg[1]) & math.MaxUint32) * (*t.D(u.Arg[2]) & math.MaxUint32)
		*t.D(u.Arg[0]) = p>>32<<1 | float.Bit(p&math.MaxUint32 != 0)
	}},
	{hexagon.F2_dfmax, dfOp(extremum(true))},
	{hexagon.F2_dfmin, dfOp(extremum(false))},
	{hexagon.F2_dfclass, func(t *state.Thread, u *state.Uop) {
		*t.P(u.Arg[0]) = flag(float.Double.ClassOf(*t.D(u.Arg[1]))&u.Imm != 0)
	}},
	{hexagon.F2_dfcmpeq, dfCmp(floatEq)},
	{hexagon.F2_dfcmpge, dfCmp(floatGe)},
	{hexagon.F2_dfcmpgt, dfCmp(floatGt)},
	{hexagon.F2_dfcmpuo, dfCmp(unordered)},
	{hexagon.F2_dfimm_n, dfmake(1)},
	{hexagon.F2_dfimm_p, dfmake(0)},
	{hexagon.F2_conv_d2df, func(t *state.Thread, u *state.Uop) {
		m, neg := magnitude(s64(t, u.Arg[1]))
		*t.D(u.Arg[0]) = env(t).FromInt(float.Double, m, neg)
	}},
	{hexagon.F2_conv_d2sf, func(t *state.Thread, u *state.Uop) {
		m, neg := magnitude(s64(t, u.Arg[1]))
		*t.R(u.Arg[0]) = uint32(env(t).FromInt(float.Single, m, neg))
	}},
	{hexagon.F2_conv_df2d, dfToDouble(true, ofUSR)},
	{hexagon.F2_conv_df2d_chop, dfToDouble(true, chop)},
	{hexagon.F2_conv_df2sf, func(t *state.Thread, u *state.Uop) {
		*t.R(u.Arg[0]) = uint32(reformat(t, float.Double, float.Single, *t.D(u.Arg[1])))
	}},
	{hexagon.F2_conv_df2ud, dfToDouble(false, ofUSR)},
	{hexagon.F2_conv_df2ud_chop, dfToDouble(false, chop)},
	{hexagon.F2_conv_df2uw, dfToWord(false, ofUSR)},
	{hexagon.F2_conv_df2uw_chop, dfToWord(false, chop)},
	{hexagon.F2_conv_df2w, dfToWord(true, ofUSR)},
	{hexagon.F2_conv_df2w_chop, dfToWord(true, chop)},
	{hexagon.F2_conv_sf2d, sfToDouble(true, ofUSR)},
	{hexagon.F2_conv_sf2d_chop, sfToDouble(true, chop)},
	{hexagon.F2_conv_sf2df, func(t *state.Thread, u *state.Uop) {
		*t.D(u.Arg[0]) = reformat(t, float.Single, float.Double, f32(t, u.Arg[1]))
	}},
	{hexagon.F2_conv_sf2ud, sfToDouble(false, ofUSR)},
	{hexagon.F2_conv_sf2ud_chop, sfToDouble(false, chop)},
	{hexagon.F2_conv_sf2uw, sfToWord(false, ofUSR)},
	{hexagon.F2_conv_sf2uw_chop, sfToWord(false, chop)},
	{hexagon.F2_conv_sf2w, sfToWord(true, ofUSR)},
	{hexagon.F2_conv_sf2w_chop, sfToWord(true, chop)},
	{hexagon.F2_conv_ud2df, func(t *state.Thread, u *state.Uop) {
		*t.D(u.Arg[0]) = env(t).FromInt(float.Double, *t.D(u.Arg[1]), false)
	}},
	{hexagon.F2_conv_ud2sf, func(t *state.Thread, u *state.Uop) {
		*t.R(u.Arg[0]) = uint32(env(t).FromInt(float.Single, *t.D(u.Arg[1]), false))
	}},
	{hexagon.F2_conv_uw2df, func(t *state.Thread, u *state.Uop) {
		*t.D(u.Arg[0]) = env(t).FromInt(float.Double, f32(t, u.Arg[1]), false)
	}},
	{hexagon.F2_conv_uw2sf, func(t *state.Thread, u *state.Uop) {
		*t.R(u.Arg[0]) = uint32(env(t).FromInt(float.Single, f32(t, u.Arg[1]), false))
	}},
	{hexagon.F2_conv_w2df, func(t *state.Thread, u *state.Uop) {
		m, neg := magnitude(int64(t.S(u.Arg[1])))
		*t.D(u.Arg[0]) = env(t).FromInt(float.Double, m, neg)
	}},
	{hexagon.F2_conv_w2sf, func(t *state.Thread, u *state.Uop) {
		m, neg := magnitude(int64(t.S(u.Arg[1])))
		*t.R(u.Arg[0]) = uint32(env(t).FromInt(float.Single, m, neg))
	}},
}

// Scalar floating-point instructions.

// env is the floating-point environment of a thread.
func env(t *state.Thread) *float.Env { return (*float.Env)(&t.C[state.USR]) }

func f32(t *state.Thread, o uint16) uint64 { return uint64(*t.R(o)) }

// Arithmetic with two sources.

type floatOp func(e *float.Env, f *float.Format, x, y uint64) uint64

func sfOp(op floatOp) state.Semantic {
	return func(t *state.Thread, u *state.Uop) {
		*t.R(u.Arg[0]) = uint32(op(env(t), float.Single, f32(t, u.Arg[1]), f32(t, u.Arg[2])))
	}
}

func dfOp(op floatOp) state.Semantic {
	return func(t *state.Thread, u *state.Uop) {
		*t.D(u.Arg[0]) = op(env(t), float.Double, *t.D(u.Arg[1]), *t.D(u.Arg[2]))
	}
}

// hostRounds reports that the host's arithmetic may be used, because nothing but the result can change: rounding is to
// nearest and the inexact flag is set already. The result must also be away from the ends of the exponents.
func hostRounds(t *state.Thread) bool {
	return t.C[state.USR]&(3<<float.RoundShift|float.Inexact) == float.Inexact
}

// plain32 reports that r is finite and above the range of underflow.
func plain32(r float32) bool { return math.Float32bits(r)>>23&0xff-2 < 253 }

func r32(t *state.Thread, o uint16) float32 { return math.Float32frombits(*t.R(o)) }

// sfSum is sfOp with the host's sum where the host rounds as the thread does and the result is no denormal.
func sfSum(host func(x, y float32) float32, op floatOp) state.Semantic {
	slow := sfOp(op)
	return func(t *state.Thread, u *state.Uop) {
		if hostRounds(t) {
			if r := host(r32(t, u.Arg[1]), r32(t, u.Arg[2])); plain32(r) || r == 0 { // a sum of 0 is exact
				*t.R(u.Arg[0]) = math.Float32bits(r)
				return
			}
		}
		slow(t, u)
	}
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
	return func(e *float.Env, f *float.Format, x, y uint64) uint64 {
		switch nan := e.NaN(f, x, y); {
		case !f.IsNaN(x) && !f.IsNaN(y):
		case !f.IsNaN(x):
			return x
		case !f.IsNaN(y):
			return y
		default:
			return nan
		}
		below := f.Less(x, y) || f.Key(x) == f.Key(y) && x&f.Sign() != 0
		if below == larger {
			return y
		}
		return x
	}
}

// Multiply and add.

// keepsZero reports that a zero stays: nothing is added to it.
func keepsZero(x, y, z uint64) bool {
	zero := func(v uint64) bool { return v&^float.Single.Sign() == 0 }
	return zero(z) && (zero(x) && !float.Single.IsNaN(y) || zero(y) && !float.Single.IsNaN(x))
}

// sffmaLib is a step of a division in software: to nearest, without flags; a finite sum does not become infinite, two
// infinities cancel, and a zero keeps its sign when nothing is added to it.
func sffmaLib(negate uint64) state.Semantic {
	return func(t *state.Thread, u *state.Uop) {
		x, y, z := f32(t, u.Arg[1])^negate, f32(t, u.Arg[2]), f32(t, u.Arg[0])
		if r, ok := hostFMA(x, y, z); ok {
			*t.R(u.Arg[0]) = r
			return
		}
		if keepsZero(x, y, z) {
			return
		}
		a, b, c := float.Single.Unpack(x), float.Single.Unpack(y), float.Single.Unpack(z)
		usr := t.C[state.USR]
		t.C[state.USR] &^= 3 << float.RoundShift
		out := env(t).FMA(x, y, z, 0)
		t.C[state.USR] = usr
		infinite := a.Kind == float.Inf || b.Kind == float.Inf || c.Kind == float.Inf
		switch {
		case c.Kind == float.Inf && infProduct(f32(t, u.Arg[1]), y) && (a.Neg != b.Neg) != c.Neg:
			out = 0
		case !infinite && out&^float.Single.Sign() == float.Single.Inf():
			out-- // the largest number
		}
		*t.R(u.Arg[0]) = uint32(out)
	}
}

// infProduct reports the products of infinities that the library steps see: by a number above zero.
func infProduct(x, y uint64) bool {
	infinite := func(v uint64) bool { return v&^float.Single.Sign() == float.Single.Inf() }
	above := func(v uint64) bool { return int32(v) > 0 }
	return infinite(x) && (infinite(y) || above(y)) || infinite(y) && above(x)
}

// Compares and classes.

type floatTest func(e *float.Env, f *float.Format, x, y uint64) bool

// compare makes a test that a NaN does not pass; only a signalling one is invalid.
func compare(cmp func(x, y int64) bool) floatTest {
	return func(e *float.Env, f *float.Format, x, y uint64) bool {
		return !unordered(e, f, x, y) && cmp(f.Key(x), f.Key(y))
	}
}

var (
	floatEq = compare(func(x, y int64) bool { return x == y })
	floatGe = compare(func(x, y int64) bool { return x >= y })
	floatGt = compare(func(x, y int64) bool { return x > y })
)

func unordered(e *float.Env, f *float.Format, x, y uint64) bool {
	e.NaN(f, x, y)
	return f.IsNaN(x) || f.IsNaN(y)
}

func sfCmp(op floatTest) state.Semantic {
	return func(t *state.Thread, u *state.Uop) {
		*t.P(u.Arg[0]) = flag(op(env(t), float.Single, f32(t, u.Arg[1]), f32(t, u.Arg[2])))
	}
}

func dfCmp(op floatTest) state.Semantic {
	return func(t *state.Thread, u *state.Uop) {
		*t.P(u.Arg[0]) = flag(op(env(t), float.Double, *t.D(u.Arg[1]), *t.D(u.Arg[2])))
	}
}

func sfmake(sign uint64) state.Semantic {
	return func(t *state.Thread, u *state.Uop) {
		*t.R(u.Arg[0]) = uint32(float.Single.Make(u.Imm, sign*float.Single.Sign()))
	}
}

func dfmake(sign uint64) state.Semantic {
	return func(t *state.Thread, u *state.Uop) {
		*t.D(u.Arg[0]) = float.Double.Make(u.Imm, sign*float.Double.Sign())
	}
}

// Conversions.

// chop is a conversion's own rounding mode; the others use that of usr.
const chop, ofUSR = true, false

func convertMode(t *state.Thread, chopped bool) uint32 {
	if chopped {
		return float.ToZero
	}
	return env(t).RoundMode()
}

func sfToWord(signed, chopped bool) state.Semantic {
	return func(t *state.Thread, u *state.Uop) {
		*t.R(u.Arg[0]) = uint32(env(t).ToInt(float.Single, f32(t, u.Arg[1]), 32, signed, convertMode(t, chopped)))
	}
}

func sfToDouble(signed, chopped bool) state.Semantic {
	return func(t *state.Thread, u *state.Uop) {
		*t.D(u.Arg[0]) = env(t).ToInt(float.Single, f32(t, u.Arg[1]), 64, signed, convertMode(t, chopped))
	}
}

func dfToWord(signed, chopped bool) state.Semantic {
	return func(t *state.Thread, u *state.Uop) {
		*t.R(u.Arg[0]) = uint32(env(t).ToInt(float.Double, *t.D(u.Arg[1]), 32, signed, convertMode(t, chopped)))
	}
}

func dfToDouble(signed, chopped bool) state.Semantic {
	return func(t *state.Thread, u *state.Uop) {
		*t.D(u.Arg[0]) = env(t).ToInt(float.Double, *t.D(u.Arg[1]), 64, signed, convertMode(t, chopped))
	}
}

// magnitude splits a signed integer.
func magnitude(x int64) (uint64, bool) {
	if x < 0 {
		return -uint64(x), true
	}
	return uint64(x), false
}

// reformat converts between the formats.
func reformat(t *state.Thread, from, to *float.Format, x uint64) uint64 {
	if from.IsNaN(x) {
		env(t).NaN(from, x)
		return to.NaN
	}
	return env(t).Pack(to, from.Unpack(x))
}

// Double-precision products are made of three instructions over the words of the fractions.

const dfHidden = 1 << 20 // the leading one in the high word of a double
