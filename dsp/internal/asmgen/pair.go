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
				if level == 1 {
					pairVNNI(x.sign, acc != "")
				} else {
					pairAVX2(x.sign, acc != "")
				}
			})
		}
	}
}

// pairVNNI puts the unsigned factor on the side where the host requires it. When both are, the weights are moved down
// by 128 and 128 times the sum of the vector is added, as two more products with 64.
func pairVNNI(sign, acc bool) {
	w := []Register{z(4), z(5)}
	for k, r := range w {
		VPBROADCASTD(in(R9, 4*k), r)
	}
	if !sign {
		splat(0x80808080, z(6))
		vpxor(z(6), w[0], w[0])
		vpxor(z(6), w[1], w[1])
		splat(0x40404040, z(6))
	}
	chunks(128, func(i, off int) {
		mov(in(RCX, off), z(0))
		for k, r := range w {
			d := z(1 + k)
			if acc {
				mov(in(RAX, 128*k+off), d)
			} else {
				vpxor(d, d, d)
			}
			if sign {
				VPDPBUSD(z(0), r, d)
				continue
			}
			VPDPBUSD(r, z(0), d)
			VPDPBUSD(z(6), z(0), d)
			VPDPBUSD(z(6), z(0), d)
		}
		mov(z(1), in(RAX, off))
		mov(z(2), in(RAX, 128+off))
	})
}

// pairAVX2 extends even and odd bytes to halfwords and adds pairs of products.
func pairAVX2(sign, acc bool) {
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
