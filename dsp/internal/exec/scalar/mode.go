package scalar

import (
	"math/bits"

	"golang.org/x/exp/constraints"

	"github.com/nnsoc/nnsoc/dsp/internal/state"
)

// Address modes of scalar loads and stores beyond base and offset. A mover is the access at the address: it loads into
// or stores from the register at o and reports success.

type mover = func(t *state.Thread, u *state.Uop, o uint16, ea uint32) bool

// ldHalves loads n bytes as n halfwords, zero- or sign-extended.
func ldHalves(n int, signed bool) mover {
	return func(t *state.Thread, u *state.Uop, o uint16, ea uint32) bool {
		p := t.Scalar(u, ea, uint32(n), false)
		if p == nil {
			return false
		}
		var raw uint32
		if n == 2 {
			raw = uint32(*(*uint16)(p))
		} else {
			raw = *(*uint32)(p)
		}
		var d uint64
		for i := range n {
			h := uint64(uint8(raw >> (8 * i)))
			if signed {
				h = uint64(uint16(int8(h)))
			}
			d |= h << (16 * i)
		}
		if n == 2 {
			*t.R(o) = uint32(d)
		} else {
			*t.D(o) = d
		}
		return true
	}
}

// ldFifo shifts a pair right and loads a byte or halfword into its top.
func ldFifo[T constraints.Unsigned](t *state.Thread, u *state.Uop, o uint16, ea uint32) bool {
	p := t.Scalar(u, ea, sizeOf[T](), false)
	if p == nil {
		return false
	}
	n := 8 * sizeOf[T]()
	*t.D(o) = *t.D(o)>>n | uint64(*(*T)(p))<<(64-n)
	return true
}

// stHigh stores the high half of a register.
func stHigh(t *state.Thread, u *state.Uop, o uint16, ea uint32) bool {
	p := t.Scalar(u, ea, 2, true)
	if p == nil {
		return false
	}
	*(*uint16)(p) = uint16(*t.R(o) >> 16)
	return true
}

// circular moves the address register at x by step inside the buffer that the
// modifier register at m and its start register describe.
func circular(t *state.Thread, x, m uint16, step int32) {
	mod := *t.R(m)
	size := mod & 0x1ffff
	old := *t.R(x)
	next := old + uint32(step)
	var start, end uint32
	if k := mod >> 24 & 15; k == 0 && size >= 4 {
		start = t.C[state.CS0+(m-state.OffC)/4-state.M0]
		end = start + size
	} else {
		mask := uint32(1)<<(k+2) - 1
		start = old &^ mask
		end = start | size
	}
	if next >= end {
		next -= size
	} else if next < start {
		next += size
	}
	*t.R(x) = next
}

// modStep is the increment that a modifier register holds for circular
// addressing, in elements.
func modStep(mod uint32) int32 {
	v := mod&0xf0000000>>21 | mod>>17&0x7f
	return int32(v<<21) >> 21
}

func reversed(a uint32) uint32 { return a&^0xffff | uint32(bits.Reverse16(uint16(a))) }

// operands are the positions of a load's or store's operands: its value, its address register, and the mode's increment.
type operands struct{ value, address, increment int }

// Loads have the value first; stores have it last, behind an address or behind one and its modifier.
var (
	loading     = operands{0, 1, 2}
	storingWith = operands{2, 0, 1} // a modifier
	storing     = operands{value: 1, address: 0}
)

func (p operands) circ(f mover) state.Semantic {
	return func(t *state.Thread, u *state.Uop) {
		if f(t, u, u.Arg[p.value], *t.R(u.Arg[p.address])) {
			circular(t, u.Arg[p.address], u.Arg[p.increment], u.Imm)
		}
	}
}
func (p operands) circM(f mover, shift uint) state.Semantic {
	return func(t *state.Thread, u *state.Uop) {
		if f(t, u, u.Arg[p.value], *t.R(u.Arg[p.address])) {
			circular(t, u.Arg[p.address], u.Arg[p.increment], modStep(*t.R(u.Arg[p.increment]))<<shift)
		}
	}
}
func (p operands) brev(f mover) state.Semantic {
	return func(t *state.Thread, u *state.Uop) {
		if x := t.R(u.Arg[p.address]); f(t, u, u.Arg[p.value], reversed(*x)) {
			*x += *t.R(u.Arg[p.increment])
		}
	}
}
func (p operands) off(f mover) state.Semantic {
	return func(t *state.Thread, u *state.Uop) { f(t, u, u.Arg[p.value], t.EA(u, p.address)) }
}
func (p operands) inc(f mover) state.Semantic {
	return func(t *state.Thread, u *state.Uop) {
		if x := t.R(u.Arg[p.address]); f(t, u, u.Arg[p.value], *x) {
			*x += uint32(u.Imm)
		}
	}
}
func (p operands) mod(f mover) state.Semantic {
	return func(t *state.Thread, u *state.Uop) {
		if x := t.R(u.Arg[p.address]); f(t, u, u.Arg[p.value], *x) {
			*x += *t.R(u.Arg[p.increment])
		}
	}
}
func (p operands) shift(f mover) state.Semantic {
	return func(t *state.Thread, u *state.Uop) {
		f(t, u, u.Arg[p.value], *t.R(u.Arg[p.address])<<(u.Imm&3)+uint32(u.Imm2))
	}
}

// set is an absolute address, which is also written to a register.
func (p operands) set(f mover) state.Semantic {
	return func(t *state.Thread, u *state.Uop) {
		if f(t, u, u.Arg[p.value], uint32(u.Imm)) {
			*t.R(u.Arg[p.address]) = uint32(u.Imm)
		}
	}
}

// global is the address of a gp-relative access; with a constant extender the
// immediate is the whole address (the decoder sets Imm2).
func global(t *state.Thread, u *state.Uop) uint32 {
	if u.Imm2 != 0 {
		return uint32(u.Imm)
	}
	return t.C[state.GP] + uint32(u.Imm)
}

// moveGlobal serves loads and stores: the register is the first operand.
func moveGlobal(f mover) state.Semantic {
	return func(t *state.Thread, u *state.Uop) { f(t, u, u.Arg[0], global(t, u)) }
}

func storeIndexed(f mover) state.Semantic {
	return func(t *state.Thread, u *state.Uop) { f(t, u, u.Arg[2], eaIndexed(t, u, 0)) }
}

func mClrBit(m, r uint32) uint32 { return m &^ (1 << (r & 31)) }
func mSetBit(m, r uint32) uint32 { return m | 1<<(r&31) }
