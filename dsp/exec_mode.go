package dsp

import "math/bits"

// Address modes of scalar loads and stores beyond base and offset. A mover is
// what is done at the address: it loads into or stores from the register at o
// and reports whether it could.

type mover = func(t *thread, u *uop, o uint16, ea uint32) bool

// ldHalves loads n bytes as n halfwords, zero- or sign-extended.
func ldHalves(n int, signed bool) mover {
	return func(t *thread, u *uop, o uint16, ea uint32) bool {
		p := t.scalar(u, ea, uint32(n), false)
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
			*t.r(o) = uint32(d)
		} else {
			*t.d(o) = d
		}
		return true
	}
}

// ldFifo shifts a pair right and loads a byte or halfword into its top.
func ldFifo[T uint8 | uint16](t *thread, u *uop, o uint16, ea uint32) bool {
	p := t.scalar(u, ea, sizeOf[T](), false)
	if p == nil {
		return false
	}
	n := 8 * sizeOf[T]()
	*t.d(o) = *t.d(o)>>n | uint64(*(*T)(p))<<(64-n)
	return true
}

// stHigh stores the high half of a register.
func stHigh(t *thread, u *uop, o uint16, ea uint32) bool {
	p := t.scalar(u, ea, 2, true)
	if p == nil {
		return false
	}
	*(*uint16)(p) = uint16(*t.r(o) >> 16)
	return true
}

// circular moves the address register at x by step inside the buffer that the
// modifier register at m and its start register describe.
func (t *thread) circular(x, m uint16, step int32) {
	mod := *t.r(m)
	size := mod & 0x1ffff
	old := *t.r(x)
	next := old + uint32(step)
	var start, end uint32
	if k := mod >> 24 & 15; k == 0 && size >= 4 {
		start = t.C[cCS0+(m-offC)/4-cM0]
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
	*t.r(x) = next
}

// modStep is the increment that a modifier register holds for circular
// addressing, in elements.
func modStep(mod uint32) int32 {
	v := mod&0xf0000000>>21 | mod>>17&0x7f
	return int32(v<<21) >> 21
}

func reversed(a uint32) uint32 { return a&^0xffff | uint32(bits.Reverse16(uint16(a))) }

// Loads: the destination is the first operand, the address register the second.

func loadCirc(f mover) semantic {
	return func(t *thread, u *uop) {
		if f(t, u, u.o[0], *t.r(u.o[1])) {
			t.circular(u.o[1], u.o[2], u.imm)
		}
	}
}
func loadCircM(f mover, shift uint) semantic {
	return func(t *thread, u *uop) {
		if f(t, u, u.o[0], *t.r(u.o[1])) {
			t.circular(u.o[1], u.o[2], modStep(*t.r(u.o[2]))<<shift)
		}
	}
}
func loadBrev(f mover) semantic {
	return func(t *thread, u *uop) {
		if x := t.r(u.o[1]); f(t, u, u.o[0], reversed(*x)) {
			*x += *t.r(u.o[2])
		}
	}
}
func loadOff(f mover) semantic {
	return func(t *thread, u *uop) { f(t, u, u.o[0], t.ea(u, 1)) }
}
func loadInc(f mover) semantic {
	return func(t *thread, u *uop) {
		if x := t.r(u.o[1]); f(t, u, u.o[0], *x) {
			*x += uint32(u.imm)
		}
	}
}
func loadMod(f mover) semantic {
	return func(t *thread, u *uop) {
		if x := t.r(u.o[1]); f(t, u, u.o[0], *x) {
			*x += *t.r(u.o[2])
		}
	}
}
func loadShift(f mover) semantic {
	return func(t *thread, u *uop) {
		f(t, u, u.o[0], *t.r(u.o[1])<<(u.imm&3)+uint32(u.imm2))
	}
}

// loadSet loads from a constant address and leaves it in a register.
func loadSet(f mover) semantic {
	return func(t *thread, u *uop) {
		if f(t, u, u.o[0], uint32(u.imm)) {
			*t.r(u.o[1]) = uint32(u.imm)
		}
	}
}

// global is the address of a gp-relative access; with a constant extender the
// immediate is the whole address (the decoder sets imm2).
func (t *thread) global(u *uop) uint32 {
	if u.imm2 != 0 {
		return uint32(u.imm)
	}
	return t.C[cGP] + uint32(u.imm)
}

// moveGlobal serves loads and stores: the register is the first operand.
func moveGlobal(f mover) semantic {
	return func(t *thread, u *uop) { f(t, u, u.o[0], t.global(u)) }
}

// Stores: the address register is the first operand.

func storeCirc(f mover) semantic {
	return func(t *thread, u *uop) {
		if f(t, u, u.o[2], *t.r(u.o[0])) {
			t.circular(u.o[0], u.o[1], u.imm)
		}
	}
}
func storeCircM(f mover, shift uint) semantic {
	return func(t *thread, u *uop) {
		if f(t, u, u.o[2], *t.r(u.o[0])) {
			t.circular(u.o[0], u.o[1], modStep(*t.r(u.o[1]))<<shift)
		}
	}
}
func storeBrev(f mover) semantic {
	return func(t *thread, u *uop) {
		if x := t.r(u.o[0]); f(t, u, u.o[2], reversed(*x)) {
			*x += *t.r(u.o[1])
		}
	}
}
func storeOff(f mover) semantic {
	return func(t *thread, u *uop) { f(t, u, u.o[1], t.ea(u, 0)) }
}
func storeInc(f mover) semantic {
	return func(t *thread, u *uop) {
		if x := t.r(u.o[0]); f(t, u, u.o[1], *x) {
			*x += uint32(u.imm)
		}
	}
}
func storeMod(f mover) semantic {
	return func(t *thread, u *uop) {
		if x := t.r(u.o[0]); f(t, u, u.o[2], *x) {
			*x += *t.r(u.o[1])
		}
	}
}
func storeIndexed(f mover) semantic {
	return func(t *thread, u *uop) { f(t, u, u.o[2], t.eaIndexed(u, 0)) }
}
func storeShift(f mover) semantic {
	return func(t *thread, u *uop) {
		f(t, u, u.o[1], *t.r(u.o[0])<<(u.imm&3)+uint32(u.imm2))
	}
}
func storeSet(f mover) semantic {
	return func(t *thread, u *uop) {
		if f(t, u, u.o[1], uint32(u.imm)) {
			*t.r(u.o[0]) = uint32(u.imm)
		}
	}
}

func mClrBit(m, r uint32) uint32 { return m &^ (1 << (r & 31)) }
func mSetBit(m, r uint32) uint32 { return m | 1<<(r&31) }
