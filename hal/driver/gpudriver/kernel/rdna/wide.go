package rdna

import (
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
