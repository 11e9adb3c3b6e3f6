package main

import (
	. "github.com/mmcloughlin/avo/build"
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
				wordDots(R9, 4, 2, false, x.sign, acc != "")
			})
		}
	}
}

// wordDots multiplies the vector at RCX by n words, so many bytes apart from an address on: bytes become halfwords, pairs of
// whose products are added, into n vectors from RAX on.
func wordDots(words GPPhysical, apart, n int, wordSign, vectorSign, acc bool) {
	for k := range n {
		VPBROADCASTD(in(words, apart*k), z(4))
		halfwords(wordSign, z(4), z(5+2*k), z(6+2*k))
	}
	chunks(128, func(i, off int) {
		mov(in(RCX, off), z(0))
		halfwords(vectorSign, z(0), z(1), z(2))
		for k := range n {
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
