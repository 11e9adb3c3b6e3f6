package rdna

import (
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/rdna2"
	"github.com/nnsoc/nnsoc/nn/fixedpoint"
)

// Functions of fractions of 16 bits, which registers hold with their sign extended: those of
// fixedpoint.Q15, equal for every argument.

// oneFraction is the greatest fraction, which stands for 1.
const oneFraction = 1<<15 - 1

// ProductOfFractions is fixedpoint.Q15.Mul: (x*y + 2^14) >> 15, at most the greatest fraction.
func (a *Builder) ProductOfFractions(x codegen.Reg, y any) codegen.Reg {
	p := a.Op3(rdna2.V_MAD_I32_I24, a.V("product"), x, y, a.Constant(1<<14))
	return a.Least(a.Op2(rdna2.V_ASHRREV_I32_E32, a.V("high"), 15, p), oneFraction)
}

// fraction rounds a constant of 31 fractional bits to 15.
func fraction(c int32) int32 { return fixedpoint.RDPOT(c, 16) }

// expOfQuarter is exp of a fraction in [-1/4, 0): a Taylor polynomial around -1/8.
func (a *Builder) expOfQuarter(x codegen.Reg) codegen.Reg {
	x = a.Sum(x, 1<<12)
	x2 := a.ProductOfFractions(x, x)
	x3, x4 := a.ProductOfFractions(x2, x), a.ProductOfFractions(x2, x2)
	cubes := a.Sum(a.RoundingShift(x4, 2), x3)
	tail := a.RoundingShift(a.Sum(a.ProductOfFractions(cubes, a.Constant(fraction(fixedpoint.OneThird))), x2), 1)
	e := a.Constant(fraction(fixedpoint.ExpEighth))
	return a.Sum(e, a.ProductOfFractions(a.Sum(x, tail), e))
}

// expNegative is fixedpoint.Q15.ExpNegative of x <= 0 with integer bits.
func (a *Builder) expNegative(x codegen.Reg, integer int) codegen.Reg {
	frac := 15 - integer
	quarter := 1 << (frac - 2)
	part := a.Less(a.Op2(rdna2.V_AND_B32_E32, a.V("part"), quarter-1, x), quarter)
	result := a.expOfQuarter(a.ShiftLeft(part, integer, "fraction"))
	rest := a.Less(part, x) // in quarters
	for i, step := range fixedpoint.ExpSteps {
		if i-2 >= integer {
			break
		}
		bit := a.Op2(rdna2.V_AND_B32_E32, a.V("bit"), 1<<(frac-2+i), rest)
		smaller := a.ProductOfFractions(result, a.Constant(fraction(step)))
		result = a.Choose(result, smaller, a.Where(rdna2.V_CMP_NE_U32_E64, 0, bit))
	}
	return a.Choose(result, a.Constant(oneFraction), a.Where(rdna2.V_CMP_EQ_U32_E64, 0, x))
}

// reciprocalOfOneMore is 2 / (1 + x) of a fraction x >= 0, with 13 fractional bits: three Newton
// steps from 48/17 - 32/17 d, d = (1 + x) / 2.
func (a *Builder) reciprocalOfOneMore(x codegen.Reg) codegen.Reg {
	d := a.Op2(rdna2.V_LSHRREV_B32_E32, a.V("half"), 1, a.Sum(x, oneFraction+1))
	r := a.Variable(a.Sum(a.ProductOfFractions(d, a.Constant(fraction(fixedpoint.Minus32by17))), fraction(fixedpoint.FortyEight17)))
	a.Loop(3, "newton", func() {
		miss := a.Less(1<<13, a.ProductOfFractions(d, r))
		a.Set(r, a.Sum(r, a.ShiftLeft(a.ProductOfFractions(r, miss), 2, "step")))
	})
	return r
}

// negativeSize is -|x|.
func (a *Builder) negativeSize(x codegen.Reg) codegen.Reg { return a.Least(x, a.Less(0, x)) }

// LogisticOfFraction is fixedpoint.Q15.Logistic of x with integer bits.
func (a *Builder) LogisticOfFraction(x codegen.Reg, integer int) codegen.Reg {
	r := a.reciprocalOfOneMore(a.expNegative(a.negativeSize(x), integer))
	y := a.Least(a.ShiftLeft(r, 1, "y"), oneFraction)
	y = a.Choose(y, a.Less(oneFraction, y), a.Where(rdna2.V_CMP_GT_I32_E64, 0, x))
	return a.Choose(y, a.Constant(1<<14), a.Where(rdna2.V_CMP_EQ_U32_E64, 0, x))
}

// TanhOfFraction is fixedpoint.Q15.Tanh of x with at most 4 integer bits: (1-e) / (1+e) with
// e = exp(-2|x|).
func (a *Builder) TanhOfFraction(x codegen.Reg, integer int) codegen.Reg {
	r := a.reciprocalOfOneMore(a.expNegative(a.negativeSize(x), integer+1))
	y := a.Least(a.ShiftLeft(a.Less(r, 1<<13), 2, "y"), oneFraction)
	y = a.withSign(y, a.sign(x))
	return a.Choose(y, 0, a.Where(rdna2.V_CMP_EQ_U32_E64, 0, x))
}
