package rdna

import (
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// Arithmetic of lanes. Operands are vector registers, scalar registers or constants; at
// least one of two is a vector register. Integers wrap around.

// two emits an instruction whose second source must be a vector register.
func (a *Builder) two(op rdna2.Op, name string, x, y any) codegen.Reg {
	if r, ok := y.(codegen.Reg); !ok || r.Class() != rdna2.V1 {
		y = a.Constant(y)
	}
	return a.Op2(op, a.V(name), x, y)
}

// either is two for an instruction whose sources may change places.
func (a *Builder) either(op rdna2.Op, name string, x, y any) codegen.Reg {
	if r, ok := y.(codegen.Reg); !ok || r.Class() != rdna2.V1 {
		x, y = y, x
	}
	return a.two(op, name, x, y)
}

// Sum is x + y of integers.
func (a *Builder) Sum(x, y any) codegen.Reg { return a.either(rdna2.V_ADD_NC_U32_E32, "sum", x, y) }

// Less is x - y of integers.
func (a *Builder) Less(x, y any) codegen.Reg {
	return a.two(rdna2.V_SUB_NC_U32_E32, "difference", x, y)
}

// Times is the product of integers.
func (a *Builder) Times(x, y any) codegen.Reg { return a.either(rdna2.V_MUL_LO_U32, "product", x, y) }

// Least is the lesser of two signed integers.
func (a *Builder) Least(x, y any) codegen.Reg { return a.either(rdna2.V_MIN_I32_E32, "least", x, y) }

// Greatest is the greater of two signed integers.
func (a *Builder) Greatest(x, y any) codegen.Reg {
	return a.either(rdna2.V_MAX_I32_E32, "greatest", x, y)
}

// AddF is x + y of floats.
func (a *Builder) AddF(x, y any) codegen.Reg { return a.either(rdna2.V_ADD_F32_E32, "sum", x, y) }

// SubF is x - y of floats.
func (a *Builder) SubF(x, y any) codegen.Reg { return a.two(rdna2.V_SUB_F32_E32, "difference", x, y) }

// MulF is the product of floats.
func (a *Builder) MulF(x, y any) codegen.Reg { return a.either(rdna2.V_MUL_F32_E32, "product", x, y) }

// MaxF is the greater of two floats, the other where one is not a number.
func (a *Builder) MaxF(x, y any) codegen.Reg { return a.either(rdna2.V_MAX_F32_E32, "greatest", x, y) }

// MinF is the lesser of two floats, the other where one is not a number.
func (a *Builder) MinF(x, y any) codegen.Reg { return a.either(rdna2.V_MIN_F32_E32, "least", x, y) }

// ToFloat is the float of a signed integer.
func (a *Builder) ToFloat(x codegen.Reg) codegen.Reg {
	return a.Op1(rdna2.V_CVT_F32_I32_E32, a.V("float"), x)
}

// ToInt truncates a float and saturates.
func (a *Builder) ToInt(x codegen.Reg) codegen.Reg {
	return a.Op1(rdna2.V_CVT_I32_F32_E32, a.V("integer"), x)
}

// Variable is a register that Set changes.
func (a *Builder) Variable(start any) codegen.Reg {
	return a.Op1(rdna2.V_MOV_B32_E32, a.V("variable"), start)
}

// Set changes a variable.
func (a *Builder) Set(v codegen.Reg, x any) { a.Emit(rdna2.V_MOV_B32_E32, v, x) }

// Increase adds to a variable.
func (a *Builder) Increase(v codegen.Reg, by any) { a.Emit(rdna2.V_ADD_NC_U32_E32, v, by, v) }

// Where is the mask of the lanes in which a comparison holds.
func (a *Builder) Where(op rdna2.Op, x, y any) codegen.Reg {
	m := a.S("mask")
	a.Emit(op, m, x, y)
	return m
}

// Inside is the mask of the lanes with 0 <= x < n.
func (a *Builder) Inside(x any, n int) codegen.Reg { return a.Where(rdna2.V_CMP_GT_U32_E64, n, x) }

// Both is the intersection of two masks.
func (a *Builder) Both(m, n codegen.Reg) codegen.Reg {
	return a.Op2(rdna2.S_AND_B32, a.S("both"), m, n)
}

// Any is the union of two masks.
func (a *Builder) Any(m, n codegen.Reg) codegen.Reg { return a.Op2(rdna2.S_OR_B32, a.S("any"), m, n) }

// Without is the mask of m less n.
func (a *Builder) Without(m, n codegen.Reg) codegen.Reg {
	return a.Op2(rdna2.S_ANDN2_B32, a.S("without"), m, n)
}

// Masked emits body for the lanes of a mask. body changes no variable of outside that it does
// not read: the other lanes would lose it.
func (a *Builder) Masked(m codegen.Reg, body func()) {
	saved := a.Op1(rdna2.S_MOV_B32, a.S("saved"), rdna2.EXECReg())
	a.Emit(rdna2.S_AND_B32, rdna2.EXECReg(), saved, m)
	body()
	a.Emit(rdna2.S_MOV_B32, rdna2.EXECReg(), saved)
}

// Rarely is Masked for a mask of few lanes: waves with none jump over body.
func (a *Builder) Rarely(m codegen.Reg, body func()) {
	end := a.F.Label("rare end")
	a.Masked(m, func() {
		a.Jump(rdna2.S_CBRANCH_EXECZ, end)
		a.Repeated(0, body)
		a.F.Bind(end)
	})
}

// For repeats body with a scalar index from 0 to n-1.
func (a *Builder) For(n int, name string, body func(i codegen.Reg)) {
	i := a.Op1(rdna2.S_MOV_B32, a.S(name), 0)
	if n == 1 {
		body(i)
		return
	}
	head := a.F.Label(name)
	a.F.Bind(head)
	a.Repeated(n, func() { body(i) })
	a.Emit(rdna2.S_ADD_I32, i, i, 1)
	a.Emit(rdna2.S_CMP_LG_U32, i, n)
	a.Jump(rdna2.S_CBRANCH_SCC1, head)
}

// Element reads the element of a tensor at an index of each lane, as a float32 or int32.
func (a *Builder) Element(t *layout.Tensor, index codegen.Reg) codegen.Reg {
	off := a.ShiftLeft(index, t.Elem.Shift(), "offset")
	return a.Widen(t.Elem, a.Load(t.Elem, a.Pointer(t.Region, t.Off, "in"), off, 0, "x"))
}

// SetElement writes the element of a tensor at an index of each lane.
func (a *Builder) SetElement(t *layout.Tensor, index, x codegen.Reg) {
	off := a.ShiftLeft(index, t.Elem.Shift(), "offset")
	a.Store(t.Elem, a.Pointer(t.Region, t.Off, "out"), off, a.Narrow(t.Elem, x), 0)
}

// Word reads word i of a table in the constants for each lane.
func (a *Builder) Word(table uint32, i codegen.Reg) codegen.Reg {
	return a.Load(layout.I32, a.Pointer(layout.Consts, table, "table"), a.ShiftLeft(i, 2, "offset"), 0, "word")
}

// Fault sets a word of memory to 1 if a lane is not in a mask.
func (a *Builder) Fault(word *layout.Tensor, valid codegen.Reg) {
	a.Masked(a.Without(a.Active(), valid), func() {
		a.SetElement(word, a.Constant(0), a.Constant(1))
	})
}

// While repeats body while a condition holds in a lane of those active, for the lanes in which
// it does: about n times.
func (a *Builder) While(name string, n int, condition func() codegen.Reg, body func()) {
	saved := a.Op1(rdna2.S_MOV_B32, a.S("saved"), rdna2.EXECReg())
	head, end := a.F.Label(name), a.F.Label(name+" end")
	a.F.Bind(head)
	a.Repeated(n, func() {
		a.Emit(rdna2.S_AND_B32, rdna2.EXECReg(), rdna2.EXECReg(), condition())
		a.Jump(rdna2.S_CBRANCH_EXECZ, end)
		body()
		a.Jump(rdna2.S_BRANCH, head)
	})
	a.F.Bind(end)
	a.Emit(rdna2.S_MOV_B32, rdna2.EXECReg(), saved)
}

// Active is the mask of the lanes that execute.
func (a *Builder) Active() codegen.Reg {
	return a.Op1(rdna2.S_MOV_B32, a.S("active"), rdna2.EXECReg())
}

// Load32 reads a word that the kernel itself may have written: behind all stores.
func (a *Builder) Load32(t *layout.Tensor, index codegen.Reg) codegen.Reg {
	off := a.ShiftLeft(index, 2, "offset")
	base := a.Pointer(t.Region, t.Off, "scratch")
	rdna2.Fence(a.Emit(rdna2.S_WAITCNT_VSCNT, codegen.Phys(rdna2.ClassNull, 0), 0))
	d := a.V("word")
	rdna2.Fence(a.Emit(rdna2.GLOBAL_LOAD_DWORD_SADDR, d, base, off, 0))
	return d
}

// Store32 writes a word that the kernel itself may read.
func (a *Builder) Store32(t *layout.Tensor, index, x codegen.Reg) {
	off := a.ShiftLeft(index, 2, "offset")
	base := a.Pointer(t.Region, t.Off, "scratch")
	rdna2.Fence(a.Emit(rdna2.GLOBAL_STORE_DWORD_SADDR, off, x, base, 0))
}

// Everywhere is the mask of all lanes where m has every lane that executes, else of none.
func (a *Builder) Everywhere(m codegen.Reg) codegen.Reg {
	a.Emit(rdna2.S_CMP_EQ_U32, m, rdna2.EXECReg())
	all := a.S("everywhere")
	a.Emit(rdna2.S_CSELECT_B32, all, -1, 0)
	return a.Both(all, a.Active())
}
