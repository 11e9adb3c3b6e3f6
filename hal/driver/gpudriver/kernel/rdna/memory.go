package rdna

import (
	"math/bits"

	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// access has the instructions that move one element: loads extend integers to 32 bits by
// their sign.
var access = map[layout.Element]struct{ load, store rdna2.Op }{
	layout.F32: {rdna2.GLOBAL_LOAD_DWORD_SADDR, rdna2.GLOBAL_STORE_DWORD_SADDR},
	layout.F16: {rdna2.GLOBAL_LOAD_USHORT_SADDR, rdna2.GLOBAL_STORE_SHORT_SADDR},
	layout.I32: {rdna2.GLOBAL_LOAD_DWORD_SADDR, rdna2.GLOBAL_STORE_DWORD_SADDR},
	layout.I16: {rdna2.GLOBAL_LOAD_SSHORT_SADDR, rdna2.GLOBAL_STORE_SHORT_SADDR},
	layout.U16: {rdna2.GLOBAL_LOAD_USHORT_SADDR, rdna2.GLOBAL_STORE_SHORT_SADDR},
	layout.I8:  {rdna2.GLOBAL_LOAD_SBYTE_SADDR, rdna2.GLOBAL_STORE_BYTE_SADDR},
	layout.U8:  {rdna2.GLOBAL_LOAD_UBYTE_SADDR, rdna2.GLOBAL_STORE_BYTE_SADDR},
}

// Load reads one element per lane at base + off + imm as it is stored.
func (a *Builder) Load(e layout.Element, base, off codegen.Reg, imm int, name string) codegen.Reg {
	d := a.V(name)
	a.Emit(access[e].load, d, base, off, imm)
	return d
}

// Store writes one element per lane, as it is stored.
func (a *Builder) Store(e layout.Element, base, off, x codegen.Reg, imm int) {
	a.Emit(access[e].store, off, x, base, imm)
}

// Widen converts a stored element to the type of computation: float32 or int32.
func (a *Builder) Widen(e layout.Element, x codegen.Reg) codegen.Reg {
	if e != layout.F16 {
		return x
	}
	return a.Op1(rdna2.V_CVT_F32_F16_E32, a.V("wide"), x)
}

// Narrow is the inverse; integers must fit.
func (a *Builder) Narrow(e layout.Element, x codegen.Reg) codegen.Reg {
	if e != layout.F16 {
		return x
	}
	return a.Op1(rdna2.V_CVT_F16_F32_E32, a.V("half"), x)
}

// words has the registers of so many consecutive words; four elements are as many as the bytes of one.
var words = [...]struct {
	class       codegen.Class
	load, store rdna2.Op
}{
	1: {rdna2.V1, rdna2.GLOBAL_LOAD_DWORD_SADDR, rdna2.GLOBAL_STORE_DWORD_SADDR},
	2: {rdna2.V2, rdna2.GLOBAL_LOAD_DWORDX2_SADDR, rdna2.GLOBAL_STORE_DWORDX2_SADDR},
	3: {rdna2.V3, rdna2.GLOBAL_LOAD_DWORDX3_SADDR, rdna2.GLOBAL_STORE_DWORDX3_SADDR},
	4: {rdna2.V4, rdna2.GLOBAL_LOAD_DWORDX4_SADDR, rdna2.GLOBAL_STORE_DWORDX4_SADDR},
}

// LoadQuad loads four consecutive elements as they are stored, in one, two or four registers.
func (a *Builder) LoadQuad(e layout.Element, base, off codegen.Reg, imm int) codegen.Reg {
	d := a.Room(e, 4)
	a.Emit(words[e.Bytes()].load, d, base, off, imm)
	return d
}

// Room is registers for up to four elements that are whole words, as LoadQuad loads four, or for one as Load does.
func (a *Builder) Room(e layout.Element, n int) codegen.Reg {
	if n == 1 {
		return a.V("one")
	}
	return a.Reg(words[n*e.Bytes()/4].class, "several")
}

// LoadInto loads so many elements into registers of Room that another load may have filled.
func (a *Builder) LoadInto(e layout.Element, n int, d, base, off codegen.Reg) {
	op := access[e].load
	if n > 1 {
		op = words[n*e.Bytes()/4].load
	}
	a.Emit(op, d, base, off, 0)
}

// LoadFour loads four consecutive elements as float32 or int32.
func (a *Builder) LoadFour(e layout.Element, base, off codegen.Reg) []codegen.Reg {
	return a.Elements(e, a.LoadQuad(e, base, off, 0), 4)
}

// Elements are the first n elements of a tuple of words as float32 or int32.
func (a *Builder) Elements(e layout.Element, d codegen.Reg, n int) []codegen.Reg {
	var out []codegen.Reg
	for i := range n {
		out = append(out, a.Widen(e, a.extract(e, d, i)))
	}
	return out
}

// extract is element i of a tuple of words.
func (a *Builder) extract(e layout.Element, d codegen.Reg, i int) codegen.Reg {
	bits := 8 * e.Bytes()
	word, at := At(d, i*bits/32), i*bits%32
	switch {
	case bits == 32:
		return word
	case e == layout.F16 && at == 0:
		return word // conversions read the low half
	case !e.IsSigned() && at+bits == 32, e == layout.F16:
		return a.Op2(rdna2.V_LSHRREV_B32_E32, a.V("element"), at, word)
	case !e.IsSigned() && at == 0:
		return a.Op2(rdna2.V_AND_B32_E32, a.V("element"), uint32(1)<<bits-1, word)
	case !e.IsSigned():
		return a.Op3(rdna2.V_BFE_U32, a.V("element"), word, at, bits)
	case at+bits == 32:
		return a.Op2(rdna2.V_ASHRREV_I32_E32, a.V("element"), at, word)
	}
	return a.Op3(rdna2.V_BFE_I32, a.V("element"), word, at, bits)
}

// Selectors of v_perm_b32: bytes 0 to 3 are those of its second source, 4 to 7 of the first.
const (
	lowHalves = 0x05040100 // {S0.lo, S1.lo}
	lowBytes  = 0x0c0c0400 // {0, 0, S0.byte0, S1.byte0}
)

// StoreQuad stores four consecutive elements as they are stored, the inverse of LoadQuad.
func (a *Builder) StoreQuad(e layout.Element, base, off, d codegen.Reg) {
	a.Emit(words[e.Bytes()].store, off, d, base, 0)
}

// StoreFour packs four float32 or int32 and stores them, the inverse of LoadFour; or fewer, if as elements they are whole words.
func (a *Builder) StoreFour(e layout.Element, base, off codegen.Reg, y []codegen.Reg) {
	to := words[len(y)*e.Bytes()/4]
	d := a.Reg(to.class, "four")
	a.PackFour(e, d, 0, y)
	a.Emit(to.store, off, d, base, 0)
}

// PackFour makes four float32 or int32 elements in a tuple's words, from one of them on; or fewer, see StoreFour.
func (a *Builder) PackFour(e layout.Element, d codegen.Reg, first int, y []codegen.Reg) {
	pair := func(d codegen.Reg, lo, hi codegen.Reg) {
		if e == layout.F16 {
			a.Emit(rdna2.V_PACK_B32_F16, d, a.Narrow(e, lo), a.Narrow(e, hi))
		} else {
			a.Emit(rdna2.V_PERM_B32, d, hi, lo, uint32(lowHalves))
		}
	}
	switch e.Shift() {
	case 2:
		for i, x := range y {
			a.Emit(rdna2.V_MOV_B32_E32, At(d, first+i), x)
		}
	case 1:
		for i := 0; i < len(y); i += 2 {
			pair(At(d, first+i/2), y[i], y[i+1])
		}
	default:
		lo := a.Op3(rdna2.V_PERM_B32, a.V("low bytes"), y[1], y[0], uint32(lowBytes))
		hi := a.Op3(rdna2.V_PERM_B32, a.V("high bytes"), y[3], y[2], uint32(lowBytes))
		a.Emit(rdna2.V_LSHL_OR_B32, At(d, first), hi, 16, lo)
	}
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

// Offsets converts an index into the space of axes to one byte offset per
// operand; shift is the log2 of each operand's element size. Along an axis with a
// negative stride offsets count from its last index, which has offset 0.
func (a *Builder) Offsets(index codegen.Reg, axes []layout.Axis, shift []int) []codegen.Reg {
	out := make([]codegen.Reg, len(shift))
	add := func(j int, c codegen.Reg, stride int) {
		bytes := stride << shift[j]
		if bytes == 0 {
			return
		}
		t := c
		if bytes&(bytes-1) == 0 {
			t = a.ShiftLeft(c, bits.TrailingZeros(uint(bytes)), "scaled")
		} else {
			t = a.Op2(rdna2.V_MUL_LO_U32, a.V("scaled"), c, bytes)
		}
		if out[j].Valid() {
			t = a.Op2(rdna2.V_ADD_NC_U32_E32, a.V("offset"), out[j], t)
		}
		out[j] = t
	}
	for i := len(axes) - 1; i >= 0; i-- {
		c := index
		if i > 0 {
			index, c = a.DivConstV(index, axes[i].N, "index")
		}
		for j, stride := range axes[i].Strides[:len(shift)] {
			if stride < 0 {
				add(j, a.Op2(rdna2.V_SUB_NC_U32_E32, a.V("from the end"), axes[i].N-1, c), -stride)
				continue
			}
			add(j, c, stride)
		}
	}
	for j := range out {
		if !out[j].Valid() {
			out[j] = a.Op1(rdna2.V_MOV_B32_E32, a.V("offset"), 0)
		}
	}
	return out
}
