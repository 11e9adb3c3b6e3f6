package gpu

import (
	"math/bits"

	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// asm is a kernel under construction with the two memory regions at hand.
type asm struct {
	*rdna2.Kernel
	bases codegen.Reg // arena and constants, two pairs
}

// newAsm starts a kernel for the operation being lowered.
func (l *lowering) newAsm(name string) *asm {
	a := &asm{Kernel: rdna2.NewKernel(l.target, name)}
	a.F.SetSource(l.op)
	a.bases = a.Reg(rdna2.S4, "bases")
	a.Emit(rdna2.S_LOAD_DWORDX4_IMM, a.bases, a.Args(), 0)
	return a
}

func (a *asm) s(name string) codegen.Reg                            { return a.Reg(rdna2.S1, name) }
func (a *asm) v(name string) codegen.Reg                            { return a.Reg(rdna2.V1, name) }
func lo(r codegen.Reg) codegen.Reg                                  { return r.Sub(rdna2.S1, 0) }
func hi(r codegen.Reg) codegen.Reg                                  { return r.Sub(rdna2.S1, 1) }
func at(r codegen.Reg, i int) codegen.Reg                           { return r.Sub(rdna2.V1, i) }
func sAt(r codegen.Reg, i int) codegen.Reg                          { return r.Sub(rdna2.S1, i) }
func (a *asm) base(r region) codegen.Reg                            { return a.bases.Sub(rdna2.S2, 2*int(r)) }
func (a *asm) op1(op rdna2.Op, d codegen.Reg, x any) codegen.Reg    { a.Emit(op, d, x); return d }
func (a *asm) op2(op rdna2.Op, d codegen.Reg, x, y any) codegen.Reg { a.Emit(op, d, x, y); return d }
func (a *asm) op3(op rdna2.Op, d codegen.Reg, x, y, z any) codegen.Reg {
	a.Emit(op, d, x, y, z)
	return d
}

// pointer is the address of byte off of a region in a register pair.
func (a *asm) pointer(r region, off uint32, name string) codegen.Reg {
	if off == 0 {
		return a.base(r)
	}
	p := a.Reg(rdna2.S2, name)
	b := a.base(r)
	a.Emit(rdna2.S_ADD_U32, lo(p), lo(b), off)
	a.Emit(rdna2.S_ADDC_U32, hi(p), hi(b), 0)
	return p
}

// cursor is a pointer that may be advanced.
func (a *asm) cursor(r region, off uint32, name string) codegen.Reg {
	p := a.pointer(r, off, name)
	if off != 0 {
		return p
	}
	c := a.Reg(rdna2.S2, name)
	a.Emit(rdna2.S_MOV_B64, c, p)
	return c
}

// advance adds an unsigned 32-bit value to an address.
func (a *asm) advance(p codegen.Reg, by any) {
	a.Emit(rdna2.S_ADD_U32, lo(p), lo(p), by)
	a.Emit(rdna2.S_ADDC_U32, hi(p), hi(p), 0)
}

// copyPair moves a register pair.
func (a *asm) copyPair(d, s codegen.Reg) { a.Emit(rdna2.S_MOV_B64, d, s) }

// mulConst is d = x * c for scalars.
func (a *asm) mulConst(x codegen.Reg, c int, name string) codegen.Reg {
	d := a.s(name)
	if c&(c-1) == 0 && c > 0 {
		a.Emit(rdna2.S_LSHL_B32, d, x, bits.TrailingZeros(uint(c)))
	} else {
		a.Emit(rdna2.S_MUL_I32, d, x, c)
	}
	return d
}

// magic gives the multiplier and shift for the division of numbers below 2^31
// by d >= 2: n/d = (n*mul >> 32) >> shift.
func magic(d int) (mul uint32, shift int) {
	l := bits.Len(uint(d - 1)) // ceil(log2 d)
	p := uint(31 + l)
	return uint32((uint64(1)<<p + uint64(d) - 1) / uint64(d)), int(p) - 32
}

// divConst is quotient and remainder of a scalar below 2^31 by a constant.
func (a *asm) divConst(x codegen.Reg, d int, name string) (q, r codegen.Reg) {
	q, r = a.s(name), a.s(name+" rest")
	switch {
	case d == 1:
		a.Emit(rdna2.S_MOV_B32, q, x)
		a.Emit(rdna2.S_MOV_B32, r, 0)
	case d&(d-1) == 0:
		a.Emit(rdna2.S_LSHR_B32, q, x, bits.TrailingZeros(uint(d)))
		a.Emit(rdna2.S_AND_B32, r, x, d-1)
	default:
		m, s := magic(d)
		t := a.s(name + " times")
		a.Emit(rdna2.S_MUL_HI_U32, q, x, m)
		if s > 0 {
			a.Emit(rdna2.S_LSHR_B32, q, q, s)
		}
		a.Emit(rdna2.S_MUL_I32, t, q, d)
		a.Emit(rdna2.S_SUB_I32, r, x, t)
	}
	return q, r
}

// vDivConst is divConst for a vector register.
func (a *asm) vDivConst(x codegen.Reg, d int, name string) (q, r codegen.Reg) {
	q, r = a.v(name), a.v(name+" rest")
	switch {
	case d == 1:
		a.Emit(rdna2.V_MOV_B32_E32, q, x)
		a.Emit(rdna2.V_MOV_B32_E32, r, 0)
	case d&(d-1) == 0:
		a.Emit(rdna2.V_LSHRREV_B32_E32, q, bits.TrailingZeros(uint(d)), x)
		a.Emit(rdna2.V_AND_B32_E32, r, d-1, x)
	default:
		m, s := magic(d)
		t := a.v(name + " times")
		a.Emit(rdna2.V_MUL_HI_U32, q, x, m)
		if s > 0 {
			a.Emit(rdna2.V_LSHRREV_B32_E32, q, s, q)
		}
		a.Emit(rdna2.V_MUL_LO_U32, t, q, d)
		a.Emit(rdna2.V_SUB_NC_U32_E32, r, x, t)
	}
	return q, r
}

// lane is the work-item's index in a grid of one-dimensional work-groups of
// size lanes, a power of two, along dimension 0.
func (a *asm) lane(size int) codegen.Reg {
	d := a.v("lane")
	a.Emit(rdna2.V_LSHL_ADD_U32, d, a.Workgroup(0), bits.TrailingZeros(uint(size)), a.WorkItem(0))
	return d
}

// shiftLeft is x << n, or x itself.
func (a *asm) shiftLeft(x codegen.Reg, n int, name string) codegen.Reg {
	if n == 0 {
		return x
	}
	return a.op2(rdna2.V_LSHLREV_B32_E32, a.v(name), n, x)
}

// loop repeats body n times; n is known.
func (a *asm) loop(n int, name string, body func()) {
	if n == 1 {
		body()
		return
	}
	count := a.s(name)
	a.Emit(rdna2.S_MOV_B32, count, n)
	head := a.F.Label(name)
	a.F.Bind(head)
	body()
	a.Emit(rdna2.S_SUB_I32, count, count, 1)
	a.Emit(rdna2.S_CMP_LG_U32, count, 0)
	a.Jump(rdna2.S_CBRANCH_SCC1, head)
}

// element is how tensor elements are stored.
type element uint8

const (
	f32 element = iota
	f16
	u8
	i8
)

func (e element) bytes() int { return [...]int{4, 2, 1, 1}[e] }
func (e element) shift() int { return [...]int{2, 1, 0, 0}[e] }

// load reads one element per lane at base + off + imm as it is stored.
func (a *asm) load(e element, base, off codegen.Reg, imm int, name string) codegen.Reg {
	op := [...]rdna2.Op{rdna2.GLOBAL_LOAD_DWORD_SADDR, rdna2.GLOBAL_LOAD_USHORT_SADDR, rdna2.GLOBAL_LOAD_UBYTE_SADDR, rdna2.GLOBAL_LOAD_SBYTE_SADDR}[e]
	d := a.v(name)
	a.Emit(op, d, base, off, imm)
	return d
}

// store writes one element per lane, as it is stored.
func (a *asm) store(e element, base, off, x codegen.Reg, imm int) {
	op := [...]rdna2.Op{rdna2.GLOBAL_STORE_DWORD_SADDR, rdna2.GLOBAL_STORE_SHORT_SADDR, rdna2.GLOBAL_STORE_BYTE_SADDR, rdna2.GLOBAL_STORE_BYTE_SADDR}[e]
	a.Emit(op, off, x, base, imm)
}

// widen turns a stored float element into float32.
func (a *asm) widen(e element, x codegen.Reg) codegen.Reg {
	if e == f32 {
		return x
	}
	return a.op1(rdna2.V_CVT_F32_F16_E32, a.v("wide"), x)
}

// narrow is the inverse.
func (a *asm) narrow(e element, x codegen.Reg) codegen.Reg {
	if e == f32 {
		return x
	}
	return a.op1(rdna2.V_CVT_F16_F32_E32, a.v("half"), x)
}

// clamp bounds x by a fused activation.
func (a *asm) clamp(x codegen.Reg, lo, hi float32) codegen.Reg {
	if lo > -maxFloat {
		x = a.op2(rdna2.V_MAX_F32_E32, a.v("clamped"), lo, x)
	}
	if hi < maxFloat {
		x = a.op2(rdna2.V_MIN_F32_E32, a.v("clamped"), hi, x)
	}
	return x
}

const maxFloat = 0x1p127 * (2 - 0x1p-23)

// divide is x / y within an ulp of the correct result, by the reciprocal and
// one step of correction.
func (a *asm) divide(x, y codegen.Reg) codegen.Reg {
	r := a.op1(rdna2.V_RCP_F32_E32, a.v("reciprocal"), y)
	q := a.op2(rdna2.V_MUL_F32_E32, a.v("quotient"), x, r)
	e := a.v("error")
	rdna2.Mods{Neg: 1}.With(a.Emit(rdna2.V_FMA_F32, e, y, q, x))
	return a.op3(rdna2.V_FMA_F32, a.v("quotient"), e, r, q)
}
