package rdna

import (
	"github.com/nnsoc/nnsoc/hal/driver/gpu/layout"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// Load reads one element per lane at base + off + imm as it is stored.
func (a *Builder) Load(e layout.Element, base, off codegen.Reg, imm int, name string) codegen.Reg {
	op := [...]rdna2.Op{rdna2.GLOBAL_LOAD_DWORD_SADDR, rdna2.GLOBAL_LOAD_USHORT_SADDR, rdna2.GLOBAL_LOAD_UBYTE_SADDR, rdna2.GLOBAL_LOAD_SBYTE_SADDR}[e]
	d := a.V(name)
	a.Emit(op, d, base, off, imm)
	return d
}

// Store writes one element per lane, as it is stored.
func (a *Builder) Store(e layout.Element, base, off, x codegen.Reg, imm int) {
	op := [...]rdna2.Op{rdna2.GLOBAL_STORE_DWORD_SADDR, rdna2.GLOBAL_STORE_SHORT_SADDR, rdna2.GLOBAL_STORE_BYTE_SADDR, rdna2.GLOBAL_STORE_BYTE_SADDR}[e]
	a.Emit(op, off, x, base, imm)
}

// Widen turns a stored float element into float32.
func (a *Builder) Widen(e layout.Element, x codegen.Reg) codegen.Reg {
	if e == layout.F32 {
		return x
	}
	return a.Op1(rdna2.V_CVT_F32_F16_E32, a.V("wide"), x)
}

// Narrow is the inverse.
func (a *Builder) Narrow(e layout.Element, x codegen.Reg) codegen.Reg {
	if e == layout.F32 {
		return x
	}
	return a.Op1(rdna2.V_CVT_F16_F32_E32, a.V("half"), x)
}

// WidenAny leaves 8-bit elements as they are.
func (a *Builder) WidenAny(e layout.Element, x codegen.Reg) codegen.Reg {
	if e > layout.F16 {
		return x
	}
	return a.Widen(e, x)
}

// LoadFour loads four consecutive elements as float32.
func (a *Builder) LoadFour(e layout.Element, base, off codegen.Reg) []codegen.Reg {
	if e == layout.F32 {
		d := a.Reg(rdna2.V4, "four")
		a.Emit(rdna2.GLOBAL_LOAD_DWORDX4_SADDR, d, base, off, 0)
		return []codegen.Reg{At(d, 0), At(d, 1), At(d, 2), At(d, 3)}
	}
	d := a.Reg(rdna2.V2, "four halves")
	a.Emit(rdna2.GLOBAL_LOAD_DWORDX2_SADDR, d, base, off, 0)
	var out []codegen.Reg
	for i := range 2 {
		out = append(out, a.Op1(rdna2.V_CVT_F32_F16_E32, a.V("low"), At(d, i)))
		h := a.Op2(rdna2.V_LSHRREV_B32_E32, a.V("high"), 16, At(d, i))
		out = append(out, a.Op1(rdna2.V_CVT_F32_F16_E32, a.V("high"), h))
	}
	return out
}

// StoreFour is the inverse of loadFour.
func (a *Builder) StoreFour(e layout.Element, base, off codegen.Reg, y []codegen.Reg) {
	if e == layout.F32 {
		d := a.Reg(rdna2.V4, "four")
		for i := range 4 {
			a.Emit(rdna2.V_MOV_B32_E32, At(d, i), y[i])
		}
		a.Emit(rdna2.GLOBAL_STORE_DWORDX4_SADDR, off, d, base, 0)
		return
	}
	d := a.Reg(rdna2.V2, "four halves")
	for i := range 2 {
		a.Emit(rdna2.V_PACK_B32_F16, At(d, i), a.Narrow(layout.F16, y[2*i]), a.Narrow(layout.F16, y[2*i+1]))
	}
	a.Emit(rdna2.GLOBAL_STORE_DWORDX2_SADDR, off, d, base, 0)
}

// Scalars loads n words of a table, n a multiple of four.
func (a *Builder) Scalars(tab codegen.Reg, off, n int) []codegen.Reg {
	var out []codegen.Reg
	for n > 0 {
		m, class, op := 4, rdna2.S4, rdna2.S_LOAD_DWORDX4_IMM
		if n >= 8 {
			m, class, op = 8, rdna2.S8, rdna2.S_LOAD_DWORDX8_IMM
		}
		d := a.Reg(class, "offsets")
		a.Emit(op, d, tab, off)
		for i := range m {
			out = append(out, SAt(d, i))
		}
		off += 4 * m
		n -= m
	}
	return out
}
