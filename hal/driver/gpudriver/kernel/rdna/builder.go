// Package rdna builds kernels for the GPU: gfx1030 instructions in virtual registers
// (isa/rdna2) with operations that kernels on tensors share, such as addresses in
// the arena, division by constants, loads of stored elements, and reductions across
// lanes. Instructions are scheduled and registers allocated when the kernel is
// linked.
package rdna

import (
	"math/bits"

	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// Builder is a kernel under construction with the two memory regions at hand.
type Builder struct {
	*rdna2.Kernel
	counter
	bases codegen.Reg // arena and constants, two pairs
}

// New starts a kernel for an operation of the model.
func New(t *rdna2.Target, name string, op int) *Builder {
	a := &Builder{Kernel: rdna2.NewKernel(t, name), counter: counter{times: 1}}
	a.F.SetSource(op)
	a.block()
	a.bases = a.Reg(rdna2.S4, "bases")
	a.Emit(rdna2.S_LOAD_DWORDX4_IMM, a.bases, a.Args(), 0)
	return a
}

// S is a new scalar register.
func (a *Builder) S(name string) codegen.Reg { return a.Reg(rdna2.S1, name) }

// V is a new vector register.
func (a *Builder) V(name string) codegen.Reg { return a.Reg(rdna2.V1, name) }

// lo is the low half of a register pair.
func lo(r codegen.Reg) codegen.Reg { return r.Sub(rdna2.S1, 0) }

// hi is the high half of a register pair.
func hi(r codegen.Reg) codegen.Reg { return r.Sub(rdna2.S1, 1) }

// At is vector register i of a tuple.
func At(r codegen.Reg, i int) codegen.Reg { return r.Sub(rdna2.V1, i) }

// SAt is scalar register i of a tuple.
func SAt(r codegen.Reg, i int) codegen.Reg { return r.Sub(rdna2.S1, i) }

// Base is the address of a region, a register pair.
func (a *Builder) Base(r layout.Region) codegen.Reg {
	return a.bases.Sub(rdna2.S2, 2*int(r-layout.Arena))
}

// Op1 emits an instruction of one source and returns its destination.
func (a *Builder) Op1(op rdna2.Op, d codegen.Reg, x any) codegen.Reg { a.Emit(op, d, x); return d }

// Op2 emits an instruction of two sources and returns its destination.
func (a *Builder) Op2(op rdna2.Op, d codegen.Reg, x, y any) codegen.Reg {
	a.Emit(op, d, x, y)
	return d
}

// Op3 emits an instruction of three sources and returns its destination.
func (a *Builder) Op3(op rdna2.Op, d codegen.Reg, x, y, z any) codegen.Reg {
	a.Emit(op, d, x, y, z)
	return d
}

// Pointer is the address of byte off of a region in a register pair.
func (a *Builder) Pointer(r layout.Region, off uint32, name string) codegen.Reg {
	if off == 0 {
		return a.Base(r)
	}
	return a.Beyond(a.Base(r), off, name)
}

// Beyond is the address so many bytes, an unsigned 32-bit value, behind another.
func (a *Builder) Beyond(base codegen.Reg, by any, name string) codegen.Reg {
	p := a.Reg(rdna2.S2, name)
	a.Emit(rdna2.S_ADD_U32, lo(p), lo(base), by)
	a.Emit(rdna2.S_ADDC_U32, hi(p), hi(base), 0)
	return p
}

// Cursor is a pointer that may be advanced.
func (a *Builder) Cursor(r layout.Region, off uint32, name string) codegen.Reg {
	p := a.Pointer(r, off, name)
	if off != 0 {
		return p
	}
	c := a.Reg(rdna2.S2, name)
	a.Emit(rdna2.S_MOV_B64, c, p)
	return c
}

// Advance adds an unsigned 32-bit value to an address.
func (a *Builder) Advance(p codegen.Reg, by any) {
	a.Emit(rdna2.S_ADD_U32, lo(p), lo(p), by)
	a.Emit(rdna2.S_ADDC_U32, hi(p), hi(p), 0)
}

// CopyPair moves a register pair.
func (a *Builder) CopyPair(d, s codegen.Reg) { a.Emit(rdna2.S_MOV_B64, d, s) }

// MulConst is d = x * c for scalars.
func (a *Builder) MulConst(x codegen.Reg, c int, name string) codegen.Reg {
	d := a.S(name)
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

// divider are the registers and instructions of a division by a constant.
type divider struct {
	reg                      func(name string) codegen.Reg
	mov, and, high, low, sub rdna2.Op
	shift                    func(q, x codegen.Reg, n int)
}

// DivConst is quotient and remainder of a scalar below 2^31 by a constant.
func (a *Builder) DivConst(x codegen.Reg, d int, name string) (q, r codegen.Reg) {
	return a.divide(&divider{a.S, rdna2.S_MOV_B32, rdna2.S_AND_B32, rdna2.S_MUL_HI_U32, rdna2.S_MUL_I32, rdna2.S_SUB_I32,
		func(q, x codegen.Reg, n int) { a.Emit(rdna2.S_LSHR_B32, q, x, n) }}, x, d, name)
}

// DivConstV is DivConst for a vector register.
func (a *Builder) DivConstV(x codegen.Reg, d int, name string) (q, r codegen.Reg) {
	return a.divide(&divider{a.V, rdna2.V_MOV_B32_E32, rdna2.V_AND_B32_E32, rdna2.V_MUL_HI_U32, rdna2.V_MUL_LO_U32, rdna2.V_SUB_NC_U32_E32,
		func(q, x codegen.Reg, n int) { a.Emit(rdna2.V_LSHRREV_B32_E32, q, n, x) }}, x, d, name)
}

func (a *Builder) divide(by *divider, x codegen.Reg, d int, name string) (q, r codegen.Reg) {
	q, r = by.reg(name), by.reg(name+" rest")
	switch {
	case d == 1:
		a.Emit(by.mov, q, x)
		a.Emit(by.mov, r, 0)
	case d&(d-1) == 0:
		by.shift(q, x, bits.TrailingZeros(uint(d)))
		a.Emit(by.and, r, d-1, x)
	default:
		m, s := magic(d)
		t := by.reg(name + " times")
		a.Emit(by.high, q, x, m)
		if s > 0 {
			by.shift(q, q, s)
		}
		a.Emit(by.low, t, q, d)
		a.Emit(by.sub, r, x, t)
	}
	return q, r
}

// Lane is the work-item's index in a grid of one-dimensional work-groups of
// size lanes, a power of two, along dimension 0.
func (a *Builder) Lane(size int) codegen.Reg {
	d := a.V("lane")
	a.Emit(rdna2.V_LSHL_ADD_U32, d, a.Workgroup(0), bits.TrailingZeros(uint(size)), a.WorkItem(0))
	return d
}

// WaveLane is the number of a wave in its work-group, a scalar, and that of the work-item in its wave.
func (a *Builder) WaveLane() (wave, lane codegen.Reg) {
	lane = a.Op2(rdna2.V_AND_B32_E32, a.V("lane"), 31, a.WorkItem(0))
	return a.Op1(rdna2.V_READFIRSTLANE_B32, a.S("wave"), a.Op2(rdna2.V_LSHRREV_B32_E32, a.V("wave"), 5, a.WorkItem(0))), lane
}

// TileOfWave is the tile of a wave, part of the so many of its work-group; waves beyond the last tile end.
func (a *Builder) TileOfWave(group codegen.Reg, per int, part codegen.Reg, tiles int, name string) codegen.Reg {
	t := a.Op2(rdna2.S_ADD_U32, a.S(name), a.MulConst(group, per, name), part)
	if tiles%per != 0 {
		a.Emit(rdna2.S_CMP_GE_U32, t, tiles)
		a.Exit()
	}
	return t
}

// ShiftLeft is x << n, or x itself.
func (a *Builder) ShiftLeft(x codegen.Reg, n int, name string) codegen.Reg {
	if n == 0 {
		return x
	}
	return a.Op2(rdna2.V_LSHLREV_B32_E32, a.V(name), n, x)
}

// Loop repeats body n times; n is known.
func (a *Builder) Loop(n int, name string, body func()) {
	if n == 1 {
		body()
		return
	}
	count := a.S(name)
	a.Emit(rdna2.S_MOV_B32, count, n)
	head := a.F.Label(name)
	a.F.Bind(head)
	a.Repeated(n, body)
	a.Emit(rdna2.S_SUB_I32, count, count, 1)
	a.Emit(rdna2.S_CMP_LG_U32, count, 0)
	a.Jump(rdna2.S_CBRANCH_SCC1, head)
}
