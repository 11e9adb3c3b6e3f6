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
					wordDots(R10, 32, 4, x.sign, true, acc != "")
					if step {
						ADDL(Imm(4), in(R9, 0))
					}
				})
			}
		}
	}
}
