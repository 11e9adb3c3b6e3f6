package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// pairDots writes the dot products by a register pair: two sets of weights for
// one vector, one result each.
func pairDots() {
	for _, acc := range []string{"", "_acc"} {
		for _, x := range []struct {
			op   string
			sign bool // of the vector; weights are unsigned
		}{{"V6_vrmpybub_rtt", true}, {"V6_vrmpyub_rtt", false}} {
			op(x.op+acc, func() {
				ptrs(2)
				ptr(2, R9)
				pair(x.sign, acc != "")
			})
		}
	}
}

// pair extends even and odd bytes to halfwords and adds pairs of products.
func pair(sign, acc bool) {
	ext := func(signed bool, r, even, odd Register) {
		right := ins(VPSRLW)
		if signed {
			right = VPSRAW
		}
		VPSLLW(Imm(8), r, even)
		right(Imm(8), even, even)
		right(Imm(8), r, odd)
	}
	for k := range 2 {
		VPBROADCASTD(in(R9, 4*k), z(4))
		ext(false, z(4), z(5+2*k), z(6+2*k))
	}
	chunks(128, func(i, off int) {
		mov(in(RCX, off), z(0))
		ext(sign, z(0), z(1), z(2))
		for k := range 2 {
			VPMADDWD(z(5+2*k), z(1), z(3))
			VPMADDWD(z(6+2*k), z(2), z(4))
			VPADDD(z(4), z(3), z(3))
			if acc {
				VPADDD(in(RAX, 128*k+off), z(3), z(3))
			}
			mov(z(3), in(RAX, 128*k+off))
		}
	})
}
