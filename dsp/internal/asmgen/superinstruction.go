package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// A superinstruction executes two consecutive micro-ops of one form: one jump instead of two, and common operands are
// read once.
var superinstructions []handler

// super begins the superinstruction of a Hexagon form.
func super(name string, body func()) {
	sym := "h" + name + "_twice"
	superinstructions = append(superinstructions, handler{name, sym})
	TEXT(sym, NOSPLIT|NOFRAME, "func()")
	body()
	ADDQ(Imm(2*uopSize), uop)
	jump(Mem{Base: uop})
}

// ptr2 is ptr for the second micro-op.
func ptr2(k int, r GPPhysical) GPPhysical {
	MOVWQZX(Mem{Base: uop, Disp: uopSize + uopO + 2*k}, r.As64())
	return r.As64().(GPPhysical)
}

// dotsTwice multiplies one vector by two scalars, into two accumulators: an inner loop of a matrix
// product is little else.
func dotsTwice() {
	for _, bSign := range []bool{false, true} {
		name := "V6_vrmpyub_acc"
		if bSign {
			name = "V6_vrmpybus_acc"
		}
		super(name, func() {
			ptrs(2)
			ptr2(0, RDX)
			VPBROADCASTD(in(ptr(2, R9), 0), z(4))
			VPBROADCASTD(in(ptr2(2, R9), 0), z(5))
			multiplyTwice(bSign)
		})
	}
}

// multiplyTwice is dot twice.
func multiplyTwice(bSign bool) {
	halfwords(bSign, z(4), z(6), z(7))
	halfwords(bSign, z(5), z(8), z(9))
	chunks(128, func(i, off int) {
		mov(in(RCX, off), z(0))
		halfwords(false, z(0), z(1), z(2))
		for k, acc := range []GPPhysical{RAX, RDX} {
			VPMADDWD(z(6+2*k), z(1), z(3))
			VPMADDWD(z(7+2*k), z(2), z(0))
			VPADDD(z(0), z(3), z(3))
			VPADDD(in(acc, off), z(3), z(3))
			mov(z(3), in(acc, off))
		}
	})
}
