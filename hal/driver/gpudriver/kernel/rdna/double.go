package rdna

import (
	"math"

	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// Doubles in pairs of registers.

// Double is a constant.
func (a *Builder) Double(c float64) codegen.Reg { return a.WideConstant(math.Float64bits(c)) }

// Double2 emits an instruction of two doubles.
func (a *Builder) Double2(op rdna2.Op, x, y codegen.Reg) codegen.Reg {
	return a.Op2(op, a.Reg(rdna2.V2, "double"), x, y)
}

// AddD is x + y.
func (a *Builder) AddD(x, y codegen.Reg) codegen.Reg { return a.Double2(rdna2.V_ADD_F64, x, y) }

// MulD is x * y.
func (a *Builder) MulD(x, y codegen.Reg) codegen.Reg { return a.Double2(rdna2.V_MUL_F64, x, y) }

// FractionD is x less its floor.
func (a *Builder) FractionD(x codegen.Reg) codegen.Reg {
	d := a.Reg(rdna2.V2, "fraction")
	rdna2.Mods{Neg: 2}.With(a.Emit(rdna2.V_ADD_F64, d, x, a.Op1(rdna2.V_FLOOR_F64_E32, a.Reg(rdna2.V2, "floor"), x)))
	return d
}

// ToDouble is the double of a float.
func (a *Builder) ToDouble(x codegen.Reg) codegen.Reg {
	return a.Op1(rdna2.V_CVT_F64_F32_E32, a.Reg(rdna2.V2, "double"), x)
}

// UnsignedToDouble is the double of an unsigned integer.
func (a *Builder) UnsignedToDouble(x codegen.Reg) codegen.Reg {
	return a.Op1(rdna2.V_CVT_F64_U32_E32, a.Reg(rdna2.V2, "double"), x)
}

// WideToDouble is the double nearest to a signed integer: its halves are doubles exactly, and
// one addition rounds.
func (a *Builder) WideToDouble(x codegen.Reg) codegen.Reg {
	hi := a.Op1(rdna2.V_CVT_F64_I32_E32, a.Reg(rdna2.V2, "hi"), At(x, 1))
	return a.AddD(a.Double2(rdna2.V_LDEXP_F64, hi, a.Constant(32)), a.UnsignedToDouble(At(x, 0)))
}

// expTerms is the degree of the series of ExpDouble: 4e-18 for |r| <= ln(2)/2.
const expTerms = 13

// ExpDouble is e^x of x <= 0 with the rounding of the reference: e^x = 2^k e^r with r left of x
// by ln(2) k, k the nearest integer, and the even and the odd terms of the series of e^r apart.
func (a *Builder) ExpDouble(x codegen.Reg) codegen.Reg {
	const ln2Hi, ln2Lo = 6.93147180369123816490e-01, 1.90821492927058770002e-10 // of which k*ln2Hi is exact
	k := a.Op1(rdna2.V_FLOOR_F64_E32, a.Reg(rdna2.V2, "floor"), a.AddD(a.MulD(x, a.Double(math.Log2E)), a.Double(0.5)))
	r := a.AddD(a.AddD(x, a.MulD(k, a.Double(-ln2Hi))), a.MulD(k, a.Double(-ln2Lo)))
	square := a.MulD(r, r)
	inverse := [expTerms + 1]float64{1}
	factorial := 1.
	for i := 1; i <= expTerms; i++ {
		factorial *= float64(i)
		inverse[i] = 1 / factorial
	}
	even, odd := a.Double(inverse[expTerms-1]), a.Double(inverse[expTerms])
	for i := expTerms - 3; i >= 0; i -= 2 {
		even = a.AddD(a.MulD(even, square), a.Double(inverse[i]))
		odd = a.AddD(a.MulD(odd, square), a.Double(inverse[i+1]))
	}
	p := a.AddD(even, a.MulD(odd, r))
	p = a.Double2(rdna2.V_LDEXP_F64, p, a.Op1(rdna2.V_CVT_I32_F64_E32, a.V("k"), k))
	const least = -746 // below it nothing is left
	none := a.Where(rdna2.V_CMP_GT_F64_E64, a.Double(least), x)
	return a.pair(a.Choose(At(p, 0), 0, none), a.Choose(At(p, 1), 0, none))
}
