package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// zBytes is the size of the Z window.
const zBytes = 256

// windowDots writes the dot products by the Z window: four words of it for one vector, one result each.
func windowDots() {
	for _, x := range []struct {
		op   string
		sign bool // of the window
	}{{"V6_vrmpyzbb", true}, {"V6_vrmpyzbub", false}} {
		for _, step := range []bool{false, true} {
			for _, acc := range []string{"", "_acc"} {
				suffix := map[bool]string{false: "_rt", true: "_rx"}[step]
				op(x.op+suffix+acc, func() {
					ptrs(2)
					ptr(2, R9)
					MOVL(in(R9, 0), R10L)
					SUBL(Imm(100), R10L)
					MOVBLZX(R10B, R10L)
					ptr(3, R11)
					ADDQ(R11, R10)
					window(x.sign, acc != "")
					if step {
						ADDL(Imm(4), in(R9, 0))
					}
				})
			}
		}
	}
}

// window multiplies the vector at RCX by the words at R10, R10+32, R10+64 and R10+96 into the vectors from RAX on.
func window(sign, acc bool) {
	for n := range 4 {
		VPBROADCASTD(in(R10, 32*n), z(4))
		halfwords(sign, z(4), z(5+2*n), z(6+2*n))
	}
	chunks(128, func(i, off int) {
		mov(in(RCX, off), z(0))
		halfwords(true, z(0), z(1), z(2))
		for n := range 4 {
			VPMADDWD(z(5+2*n), z(1), z(3))
			VPMADDWD(z(6+2*n), z(2), z(4))
			VPADDD(z(4), z(3), z(3))
			if acc {
				VPADDD(in(RAX, 128*n+off), z(3), z(3))
			}
			mov(z(3), in(RAX, 128*n+off))
		}
	})
}
