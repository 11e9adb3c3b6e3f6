package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// A superinstruction executes two consecutive micro-ops of one form: one jump instead of two, and common operands are
// read once.
var superinstructions [2][]handler

// super begins the superinstruction of a Hexagon form for the current level.
func super(name string, body func()) {
	sym := fmt.Sprintf("h%d%s_twice", level, name)
	superinstructions[level] = append(superinstructions[level], handler{name, sym})
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
	if level == 0 {
		every64, every128 = ConstData("every64", U32(0x40404040)), ConstData("every128", U32(0x80808080))
	}
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
			if level == 1 {
				dotsTwiceVNNI(bSign)
			} else {
				dotsTwiceAVX2(bSign)
			}
		})
	}
}

// A word of four bytes of one value.
var every64, every128 Mem

// dotsTwiceVNNI is dotVNNI twice: an unsigned second factor is moved down by 128, and 128 times the sum of the first
// added.
func dotsTwiceVNNI(bSign bool) {
	a, t, d := z(0), z(1), z(2)
	if !bSign {
		VPBROADCASTD(every64, z(6))
		VPXORD_BCST(every128, z(4), z(4))
		VPXORD_BCST(every128, z(5), z(5))
	}
	chunks(128, func(i, off int) {
		mov(in(RCX, off), a)
		if !bSign {
			vpxor(t, t, t)
			VPDPBUSD(z(6), a, t)
			VPADDD(t, t, t)
		}
		for k, acc := range []GPPhysical{RAX, RDX} {
			if bSign {
				mov(in(acc, off), d)
			} else {
				VPADDD(in(acc, off), t, d)
			}
			VPDPBUSD(z(4+k), a, d)
			mov(d, in(acc, off))
		}
	})
}

// dotsTwiceAVX2 is dotAVX2 twice.
func dotsTwiceAVX2(bSign bool) {
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
