package rdna

import (
	"math"

	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// Clamp bounds x by a fused activation; what is not a number stays so.
func (a *Builder) Clamp(x codegen.Reg, lo, hi float32) codegen.Reg {
	bound := func(outside rdna2.Op, limit float32) {
		m := a.S("outside")
		a.Emit(outside, m, limit, x)
		x = a.Op3(rdna2.V_CNDMASK_B32_E64, a.V("clamped"), x, a.Constant(limit), m)
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
