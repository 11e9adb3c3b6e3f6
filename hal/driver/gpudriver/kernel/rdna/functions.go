package rdna

import (
	"math"

	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// Quotient is x / y correctly rounded, also where one is 0, infinite, denormal or not a
// number: the instructions made for it scale both, refine and mend the special cases.
func (a *Builder) Quotient(x, y codegen.Reg) codegen.Reg {
	d, n := a.V("denominator"), a.V("numerator")
	a.Emit(rdna2.V_DIV_SCALE_F32, d, a.S("scaled"), y, y, x)
	a.Emit(rdna2.V_DIV_SCALE_F32, n, rdna2.VCCReg(), x, y, x)
	negate := func(into, p, q, r codegen.Reg) codegen.Reg { // r - p*q
		rdna2.Mods{Neg: 1}.With(a.Emit(rdna2.V_FMA_F32, into, p, q, r))
		return into
	}
	r := a.Op1(rdna2.V_RCP_F32_E32, a.V("reciprocal"), d)
	e := negate(a.V("error"), d, r, a.Constant(float32(1)))
	r = a.Op3(rdna2.V_FMA_F32, a.V("reciprocal"), e, r, r)
	q := a.Op2(rdna2.V_MUL_F32_E32, a.V("quotient"), n, r)
	q = a.Op3(rdna2.V_FMA_F32, a.V("quotient"), negate(a.V("error"), d, q, n), r, q)
	e = negate(a.V("error"), d, q, n)
	q = a.Op3(rdna2.V_DIV_FMAS_F32, a.V("quotient"), e, r, q)
	return a.Op3(rdna2.V_DIV_FIXUP_F32, a.V("quotient"), q, y, x)
}

// FloorDivide is the floor of x / y for integers; y is not 0.
func (a *Builder) FloorDivide(x, y codegen.Reg) codegen.Reg {
	sx, sy := a.sign(x), a.sign(y)
	q, rest := a.divideUnsigned(a.withSign(x, sx), a.withSign(y, sy))
	s := a.Op2(rdna2.V_XOR_B32_E32, a.V("sign"), sx, sy)
	down := a.Choose(0, s, a.Where(rdna2.V_CMP_NE_U32_E64, 0, rest)) // -1 where the exact quotient lies between
	return a.Op2(rdna2.V_ADD_NC_U32_E32, a.V("floor"), a.withSign(q, s), down)
}

// RoundDivide is x / n, halves away from zero; n is positive.
func (a *Builder) RoundDivide(x, n codegen.Reg) codegen.Reg {
	s := a.sign(x)
	half := a.Op2(rdna2.V_LSHRREV_B32_E32, a.V("half"), 1, n)
	q, _ := a.divideUnsigned(a.Op2(rdna2.V_ADD_NC_U32_E32, a.V("size"), a.withSign(x, s), half), n)
	return a.withSign(q, s)
}

// TruncatingDivide is x / n towards zero for a positive constant.
func (a *Builder) TruncatingDivide(x codegen.Reg, n int) codegen.Reg {
	s := a.sign(x)
	q, _ := a.DivConstV(a.withSign(x, s), n, "quotient")
	return a.withSign(q, s)
}

// Extreme is an instruction of the extremes of floats, and x + y where one is not a number.
func (a *Builder) Extreme(op rdna2.Op, x, y any) codegen.Reg {
	unordered := a.Where(rdna2.V_CMP_U_F32_E64, x, y)
	return a.Choose(a.Op2(op, a.V("extreme"), x, y), a.AddF(x, y), unordered)
}

// sign is -1 where v is negative, else 0.
func (a *Builder) sign(v codegen.Reg) codegen.Reg {
	return a.Op2(rdna2.V_ASHRREV_I32_E32, a.V("sign"), 31, v)
}

// withSign is -v where s is -1, and v where it is 0.
func (a *Builder) withSign(v, s codegen.Reg) codegen.Reg {
	return a.Op2(rdna2.V_SUB_NC_U32_E32, a.V("signed"), a.Op2(rdna2.V_XOR_B32_E32, a.V("inverted"), v, s), s)
}

// divideUnsigned is quotient and remainder of unsigned integers: the product with a
// reciprocal in float32, refined once, and two corrections.
func (a *Builder) divideUnsigned(n, d codegen.Reg) (q, rest codegen.Reg) {
	f := a.Op1(rdna2.V_RCP_IFLAG_F32_E32, a.V("reciprocal"), a.Op1(rdna2.V_CVT_F32_U32_E32, a.V("denominator"), d))
	f = a.Op2(rdna2.V_MUL_F32_E32, a.V("reciprocal"), uint32(0x4f7ffffe), f) // just below 2^32
	r := a.Op1(rdna2.V_CVT_U32_F32_E32, a.V("reciprocal"), f)
	lost := a.Op2(rdna2.V_MUL_LO_U32, a.V("lost"), r, a.Op2(rdna2.V_SUB_NC_U32_E32, a.V("negated"), 0, d))
	r = a.Op2(rdna2.V_ADD_NC_U32_E32, a.V("reciprocal"), r, a.Op2(rdna2.V_MUL_HI_U32, a.V("correction"), r, lost))
	q = a.Op2(rdna2.V_MUL_HI_U32, a.V("quotient"), n, r)
	rest = a.Op2(rdna2.V_SUB_NC_U32_E32, a.V("rest"), n, a.Op2(rdna2.V_MUL_LO_U32, a.V("product"), q, d))
	for range 2 {
		m := a.Where(rdna2.V_CMP_GE_U32_E64, rest, d)
		q = a.Choose(q, a.Op2(rdna2.V_ADD_NC_U32_E32, a.V("next"), 1, q), m)
		rest = a.Choose(rest, a.Op2(rdna2.V_SUB_NC_U32_E32, a.V("less"), rest, d), m)
	}
	return q, rest
}

// isNormal is the mask of v_cmp_class_f32 for numbers that are neither zero, denormal nor
// infinite.
const isNormal = 0x108

// Exp2 is 2^(hi + lo): that of hi, with the small lo to first order.
func (a *Builder) Exp2(hi, lo codegen.Reg) codegen.Reg {
	e := a.Op1(rdna2.V_EXP_F32_E32, a.V("exp"), hi)
	part := a.Op2(rdna2.V_MUL_F32_E32, a.V("part"), float32(math.Ln2), lo)
	normal := a.Where(rdna2.V_CMP_CLASS_F32_E64, e, a.Constant(isNormal))
	return a.Choose(e, a.Op3(rdna2.V_FMA_F32, a.V("exp"), e, part, e), normal)
}

// log2E is the logarithm of e to the base 2 as the sum of two floats.
var log2E = [2]float32{float32(math.Log2E), float32(math.Log2E - float64(float32(math.Log2E)))}

// Exp is e^x.
func (a *Builder) Exp(x codegen.Reg) codegen.Reg { return a.Exp2(a.times(x, log2E)) }

// times is x*c as a sum of two floats, c itself one.
func (a *Builder) times(x codegen.Reg, c [2]float32) (hi, lo codegen.Reg) {
	factor := a.Constant(c[0])
	hi = a.Op2(rdna2.V_MUL_F32_E32, a.V("product"), factor, x)
	lo = a.V("lost")
	rdna2.Mods{Neg: 4}.With(a.Emit(rdna2.V_FMA_F32, lo, factor, x, hi))
	return hi, a.Op3(rdna2.V_FMA_F32, a.V("lost"), a.Constant(c[1]), x, lo)
}

// sum is x + y and what the sum lost, where x is the larger or 0.
func (a *Builder) sum(x, y codegen.Reg) (sum, lost codegen.Reg) {
	sum = a.Op2(rdna2.V_ADD_F32_E32, a.V("sum"), x, y)
	return sum, a.Op2(rdna2.V_SUB_F32_E32, a.V("lost"), y, a.Op2(rdna2.V_SUB_F32_E32, a.V("back"), sum, x))
}

// TimesLog2 is y * log2(x) as a sum of two floats, for x >= 0. With x = m * 2^e and
// m in [1/2, 1), f = m - 1 and s = f / (2 + f),
//
//	ln(m) = 2s + 2/3 s^3 + 2/5 s^5 + ...
//
// Only the first term needs more than float32.
func (a *Builder) TimesLog2(y, x codegen.Reg) (hi, lo codegen.Reg) {
	fma := func(p, q, r any) codegen.Reg { return a.Op3(rdna2.V_FMA_F32, a.V("sum"), p, q, r) }
	m := a.Op1(rdna2.V_FREXP_MANT_F32_E32, a.V("mantissa"), x)
	e := a.Op1(rdna2.V_FREXP_EXP_I32_F32_E32, a.V("exponent"), x)
	small := a.Where(rdna2.V_CMP_GT_F32_E64, float32(math.Sqrt2/2), m) // below sqrt(1/2): twice the mantissa
	m = a.Choose(m, a.Op2(rdna2.V_ADD_F32_E32, a.V("doubled"), m, m), small)
	e = a.Op2(rdna2.V_SUB_NC_U32_E32, a.V("exponent"), e, a.Choose(0, 1, small))
	exponent := a.Op1(rdna2.V_CVT_F32_I32_E32, a.V("exponent"), e)
	f := a.Op2(rdna2.V_ADD_F32_E32, a.V("f"), float32(-1), m)
	d := a.Op2(rdna2.V_ADD_F32_E32, a.V("2+f"), float32(2), f)
	short := a.Op2(rdna2.V_SUB_F32_E32, a.V("short"), f, a.Op2(rdna2.V_ADD_F32_E32, a.V("f"), float32(-2), d))
	r := a.Op1(rdna2.V_RCP_F32_E32, a.V("reciprocal"), d)
	s := a.Op2(rdna2.V_MUL_F32_E32, a.V("s"), f, r)
	minus := a.Op2(rdna2.V_XOR_B32_E32, a.V("-s"), uint32(1)<<31, s)
	rest := fma(minus, short, fma(minus, d, f))
	sLow := a.Op2(rdna2.V_MUL_F32_E32, a.V("s low"), rest, r)
	s2 := a.Op2(rdna2.V_MUL_F32_E32, a.V("s^2"), s, s)
	tail := a.Constant(float32(2. / 11))
	for _, c := range []float32{2. / 9, 2. / 7, 2. / 5, 2. / 3} {
		tail = fma(tail, s2, a.Constant(c))
	}
	tail = a.Op2(rdna2.V_MUL_F32_E32, a.V("tail"), a.Op2(rdna2.V_MUL_F32_E32, a.V("s^3"), s2, s), tail)
	lnHi := a.Op2(rdna2.V_ADD_F32_E32, a.V("ln"), s, s)
	lnLo := fma(float32(2), sLow, tail)
	hi, lo = a.times(lnHi, log2E)
	lo = fma(a.Constant(log2E[0]), lnLo, lo)
	// The exponent is 0 or larger than hi, and hi is larger than lo.
	sum, lost := a.sum(exponent, hi)
	sum, lo = a.sum(sum, a.Op2(rdna2.V_ADD_F32_E32, a.V("log2 low"), lo, lost))
	product := a.Op2(rdna2.V_MUL_F32_E32, a.V("product"), y, sum)
	low := a.V("lost")
	rdna2.Mods{Neg: 4}.With(a.Emit(rdna2.V_FMA_F32, low, y, sum, product))
	low = fma(y, lo, low)
	// The logarithm of 0, infinity and what is not a number is that of the instruction.
	normal := a.Where(rdna2.V_CMP_CLASS_F32_E64, x, a.Constant(isNormal))
	plain := a.Op2(rdna2.V_MUL_F32_E32, a.V("product"), y, a.Op1(rdna2.V_LOG_F32_E32, a.V("log2"), x))
	return a.Choose(plain, product, normal), a.Choose(0, low, normal)
}

// RoundHalfAway rounds a float to an integer, halves away from zero: one of its sign joins
// what is left of the point where half or more is right of it.
func (a *Builder) RoundHalfAway(x codegen.Reg) codegen.Reg {
	whole := a.Op1(rdna2.V_TRUNC_F32_E32, a.V("whole"), x)
	part := a.V("part")
	rdna2.Mods{Abs: 1}.With(a.Emit(rdna2.V_ADD_F32_E64, part, a.SubF(x, whole), 0))
	sign := a.Op1(rdna2.S_MOV_B32, a.S("sign"), uint32(1)<<31)
	one := a.Op3(rdna2.V_AND_OR_B32, a.V("one"), x, sign, a.Constant(float32(1)))
	return a.AddF(whole, a.Choose(0, one, a.Where(rdna2.V_CMP_LE_F32_E64, float32(0.5), part)))
}

// Clamp bounds x by a fused activation; what is not a number stays so.
func (a *Builder) Clamp(x codegen.Reg, lo, hi float32) codegen.Reg {
	bound := func(outside rdna2.Op, limit float32) {
		m := a.Where(outside, limit, x)
		x = a.Choose(x, a.Constant(limit), m)
	}
	if lo > -maxFloat {
		bound(rdna2.V_CMP_GT_F32_E64, lo)
	}
	if hi < maxFloat {
		bound(rdna2.V_CMP_LT_F32_E64, hi)
	}
	return x
}

// Constant is a number in a vector register.
func (a *Builder) Constant(v any) codegen.Reg { return a.Op1(rdna2.V_MOV_B32_E32, a.V("constant"), v) }

// Choose is x where the mask is clear and y where it is set.
func (a *Builder) Choose(x, y any, mask codegen.Reg) codegen.Reg {
	return a.Op3(rdna2.V_CNDMASK_B32_E64, a.V("chosen"), x, y, mask)
}

const maxFloat = 0x1p127 * (2 - 0x1p-23)

// Divide is x / y within an ulp of the correct result, by the reciprocal and one step of
// correction, and what it must be where one is 0, infinite or not a number.
func (a *Builder) Divide(x, y codegen.Reg) codegen.Reg {
	r := a.Op1(rdna2.V_RCP_F32_E32, a.V("reciprocal"), y)
	q := a.Op2(rdna2.V_MUL_F32_E32, a.V("quotient"), x, r)
	e := a.V("error")
	rdna2.Mods{Neg: 1}.With(a.Emit(rdna2.V_FMA_F32, e, y, q, x))
	q = a.Op3(rdna2.V_FMA_F32, a.V("quotient"), e, r, q)
	return a.Op3(rdna2.V_DIV_FIXUP_F32, a.V("quotient"), q, y, x)
}

// Logistic is 1 / (1 + 2^(x*scale)).
func (a *Builder) Logistic(x codegen.Reg, scale float64) codegen.Reg {
	t := a.Op2(rdna2.V_MUL_F32_E32, a.V("scaled"), float32(scale), x)
	e := a.Op1(rdna2.V_EXP_F32_E32, a.V("exp"), t)
	d := a.Op2(rdna2.V_ADD_F32_E32, a.V("one more"), float32(1), e)
	return a.Op1(rdna2.V_RCP_F32_E32, a.V("y"), d)
}

// Tanh is 2*logistic(2|x|) - 1 with the sign of x: of -x it is exactly the negative.
func (a *Builder) Tanh(x codegen.Reg) codegen.Reg {
	magnitude := uint32(math.MaxInt32)
	y := a.Logistic(a.Op2(rdna2.V_AND_B32_E32, a.V("magnitude"), magnitude, x), -2*math.Log2E)
	y = a.Op3(rdna2.V_FMA_F32, a.V("tanh"), float32(2), y, float32(-1))
	return a.Op3(rdna2.V_BFI_B32, a.V("tanh"), magnitude, y, x)
}

// Corner is o*stride - pad.
func (a *Builder) Corner(o codegen.Reg, stride, pad int, name string) codegen.Reg {
	d := a.MulConst(o, stride, name)
	if pad == 0 {
		return d
	}
	return a.Op2(rdna2.S_SUB_I32, a.S(name), d, pad)
}

// AcrossLanes folds x over all 32 lanes: within rows of 16 by exchanging lanes
// whose numbers differ in one bit, then between the rows.
func (a *Builder) AcrossLanes(op rdna2.Op, x codegen.Reg) codegen.Reg {
	for _, bit := range []int{1, 2, 4, 8} {
		y := a.Op1(rdna2.V_MOV_B32_E32, a.V("other"), x)
		rdna2.Mods{DPPCtrl: uint16(0x160 + bit), Rows: 15, Banks: 15}.With(a.Emit(rdna2.V_MOV_B32_DPP, y, x))
		x = a.Op2(op, a.V("folded"), x, y)
	}
	low := a.Op1(rdna2.S_MOV_B32, a.S("lanes"), uint32(0x76543210))
	high := a.Op1(rdna2.S_MOV_B32, a.S("lanes"), uint32(0xfedcba98))
	y := a.Op1(rdna2.V_MOV_B32_E32, a.V("other row"), x)
	a.Emit(rdna2.V_PERMLANEX16_B32, y, x, low, high)
	return a.Op2(op, a.V("folded"), x, y)
}
