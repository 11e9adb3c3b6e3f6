package rdna

import (
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// Clamp bounds x by a fused activation.
func (a *Builder) Clamp(x codegen.Reg, lo, hi float32) codegen.Reg {
	if lo > -maxFloat {
		x = a.Op2(rdna2.V_MAX_F32_E32, a.V("clamped"), lo, x)
	}
	if hi < maxFloat {
		x = a.Op2(rdna2.V_MIN_F32_E32, a.V("clamped"), hi, x)
	}
	return x
}

const maxFloat = 0x1p127 * (2 - 0x1p-23)

// Divide is x / y within an ulp of the correct result, by the reciprocal and
// one step of correction.
func (a *Builder) Divide(x, y codegen.Reg) codegen.Reg {
	r := a.Op1(rdna2.V_RCP_F32_E32, a.V("reciprocal"), y)
	q := a.Op2(rdna2.V_MUL_F32_E32, a.V("quotient"), x, r)
	e := a.V("error")
	rdna2.Mods{Neg: 1}.With(a.Emit(rdna2.V_FMA_F32, e, y, q, x))
	return a.Op3(rdna2.V_FMA_F32, a.V("quotient"), e, r, q)
}

// Logistic is 1 / (1 + 2^(x*scale)).
func (a *Builder) Logistic(x codegen.Reg, scale float64) codegen.Reg {
	t := a.Op2(rdna2.V_MUL_F32_E32, a.V("scaled"), float32(scale), x)
	e := a.Op1(rdna2.V_EXP_F32_E32, a.V("exp"), t)
	d := a.Op2(rdna2.V_ADD_F32_E32, a.V("one more"), float32(1), e)
	return a.Op1(rdna2.V_RCP_F32_E32, a.V("y"), d)
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
