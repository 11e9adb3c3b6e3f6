package rdna

import (
	"math"

	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// Integers of 64 bits in pairs of registers. They wrap around.

// pair is a pair of two words.
func (a *Builder) pair(lo, hi any) codegen.Reg {
	v := a.Reg(rdna2.V2, "wide")
	a.Set(At(v, 0), lo)
	a.Set(At(v, 1), hi)
	return v
}

// WideConstant is a number in a pair, which AddProduct and SetWide may change.
func (a *Builder) WideConstant(c uint64) codegen.Reg { return a.pair(uint32(c), uint32(c>>32)) }

// Wide extends a signed integer.
func (a *Builder) Wide(x codegen.Reg) codegen.Reg { return a.pair(x, a.sign(x)) }

// SetWide changes a pair.
func (a *Builder) SetWide(v, x codegen.Reg) {
	lo, hi := a.Variable(At(x, 0)), a.Variable(At(x, 1)) // x may be made of v
	a.Set(At(v, 0), lo)
	a.Set(At(v, 1), hi)
}

// AddProduct adds the product of two signed integers of 32 bits to a pair.
func (a *Builder) AddProduct(v, x codegen.Reg, y any) {
	a.Emit(rdna2.V_MAD_I64_I32, v, a.S("overflow"), x, y, v)
}

// WideSum is x + y.
func (a *Builder) WideSum(x, y codegen.Reg) codegen.Reg {
	s := a.Reg(rdna2.V2, "wide sum")
	a.Emit(rdna2.V_MAD_U64_U32, s, a.S("carry"), At(x, 0), 1, y)
	a.Increase(At(s, 1), At(x, 1))
	return s
}

// WideTimes is x * y.
func (a *Builder) WideTimes(x, y codegen.Reg) codegen.Reg {
	p := a.Reg(rdna2.V2, "wide product")
	a.Emit(rdna2.V_MAD_U64_U32, p, a.S("carry"), At(x, 0), At(y, 0), a.WideConstant(0))
	a.Increase(At(p, 1), a.Times(At(x, 0), At(y, 1)))
	a.Increase(At(p, 1), a.Times(At(x, 1), At(y, 0)))
	return p
}

// WideXor is the bits in which x and y differ.
func (a *Builder) WideXor(x, y codegen.Reg) codegen.Reg {
	return a.pair(a.Op2(rdna2.V_XOR_B32_E32, a.V("lo"), At(x, 0), At(y, 0)), a.Op2(rdna2.V_XOR_B32_E32, a.V("hi"), At(x, 1), At(y, 1)))
}

// WideRotate is x rotated to the right by n bits, 0 < n < 64, n not 32.
func (a *Builder) WideRotate(x codegen.Reg, n int) codegen.Reg {
	lo, hi := At(x, 0), At(x, 1)
	if n >= 32 {
		lo, hi, n = hi, lo, n-32
	}
	return a.pair(a.Op3(rdna2.V_ALIGNBIT_B32, a.V("lo"), hi, lo, n), a.Op3(rdna2.V_ALIGNBIT_B32, a.V("hi"), lo, hi, n))
}

// WidePositive is x, or 0 where it is negative.
func (a *Builder) WidePositive(x codegen.Reg) codegen.Reg {
	negative := a.Where(rdna2.V_CMP_GT_I32_E64, 0, At(x, 1))
	return a.pair(a.Choose(At(x, 0), 0, negative), a.Choose(At(x, 1), 0, negative))
}

// WideShiftRight is the low word of x >> n, n below 32.
func (a *Builder) WideShiftRight(x codegen.Reg, n int) codegen.Reg {
	return a.Op3(rdna2.V_ALIGNBIT_B32, a.V("shifted"), At(x, 1), At(x, 0), n)
}

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
