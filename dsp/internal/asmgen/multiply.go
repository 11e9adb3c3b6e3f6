package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// multiplies writes the dot products and widening multiplies.
func multiplies() {
	dots()
	pairDots()
	windowDots()
	for _, x := range []struct {
		op           string
		bits         uint64
		aSign, bSign bool
		scalar       bool
	}{
		{"V6_vmpybus", 8, false, true, true},
		{"V6_vmpyub", 8, false, false, true},
		{"V6_vmpybusv", 8, false, true, false},
		{"V6_vmpybv", 8, true, true, false},
		{"V6_vmpyubv", 8, false, false, false},
		{"V6_vmpyh", 16, true, true, true},
		{"V6_vmpyuh", 16, false, false, true},
		{"V6_vmpyhv", 16, true, true, false},
		{"V6_vmpyuhv", 16, false, false, false},
		{"V6_vmpyhus", 16, true, false, false},
	} {
		for _, acc := range []bool{false, true} {
			name := x.op
			if acc {
				name += "_acc"
			}
			widen(name, x.bits, x.aSign, x.bSign, x.scalar, acc)
		}
	}
	widenAdd("V6_vaddubh", 8, false, VPADDW, nil)
	widenAdd("V6_vsububh", 8, false, VPSUBW, nil)
	widenAdd("V6_vaddhw", 16, true, VPADDD, nil)
	widenAdd("V6_vsubhw", 16, true, VPSUBD, nil)
	widenAdd("V6_vadduhw", 16, false, VPADDD, nil)
	widenAdd("V6_vsubuhw", 16, false, VPSUBD, nil)
	widenAdd("V6_vaddubh_acc", 8, false, VPADDW, VPADDW)
	widenAdd("V6_vaddhw_acc", 16, true, VPADDD, VPADDD)
	widenAdd("V6_vadduhw_acc", 16, false, VPADDD, VPADDD)
	lowProducts()
	wordProducts()
}

// lowProducts writes products of halfwords and of words with halfwords.
func lowProducts() {
	acc3 := func(name string, f func(a, b, t Register), add ins) {
		op(name, func() {
			ptrs(3)
			chunks(128, func(i, off int) {
				mov(in(RCX, off), z(0))
				mov(in(RDX, off), z(1))
				f(z(0), z(1), z(2))
				if add != nil {
					add(in(RAX, off), z(2), z(2))
				}
				mov(z(2), in(RAX, off))
			})
		})
	}
	acc3("V6_vmpyih_acc", func(a, b, t Register) { VPMULLW(b, a, t) }, VPADDW)
	low := func(a, b, t Register) { VPSLLD(Imm(16), b, b); VPSRLD(Imm(16), b, b); VPMULLD(b, a, t) }
	acc3("V6_vmpyiewuh", low, nil)
	acc3("V6_vmpyiewuh_acc", low, VPADDD)
	acc3("V6_vmpyiowh", func(a, b, t Register) { VPSRAD(Imm(16), b, b); VPMULLD(b, a, t) }, nil)
	// (a * unsigned low half of b) >> 16: even and odd words as 64-bit products.
	acc3("V6_vmpyewuh", func(a, b, t Register) {
		VPSLLD(Imm(16), b, b)
		VPSRLD(Imm(16), b, b)
		VPMULDQ(b, a, z(3))
		VPSRLQ(Imm(32), a, a)
		VPSRLQ(Imm(32), b, b)
		VPMULDQ(b, a, z(4))
		VPSRLQ(Imm(16), z(3), z(3))
		VPSLLQ(Imm(16), z(4), z(4))
		evenWords(z(3), z(4), t)
	}, nil)
}

// wordProducts writes products of a word and a halfword of Rt.
func wordProducts() {
	wordBy := func(name string, load func(d Register), add ins) {
		op(name, func() {
			ptrs(2)
			load(z(1))
			chunks(128, func(i, off int) {
				mov(in(RCX, off), z(0))
				VPMULLD(z(1), z(0), z(0))
				if add != nil {
					add(in(RAX, off), z(0), z(0))
				}
				mov(z(0), in(RAX, off))
			})
		})
	}
	// Lane i uses halfword i&1: two sign-extended words, repeated.
	halves := func(d Register) {
		ptr(2, R9)
		MOVWLSX(in(R9, 0), R10L)
		MOVWLSX(in(R9, 2), R11L)
		SHLQ(Imm(32), R11)
		ORQ(R11, R10)
		VMOVQ(R10, X15)
		VPBROADCASTQ(X15, d)
	}
	wordBy("V6_vmpyiwh", halves, nil)
	wordBy("V6_vmpyiwh_acc", halves, VPADDD)
}

// evenWords copies even words from a and odd words from b.
func evenWords(a, b, d Register) {
	VPBLENDD(Imm(0xaa), b, a, d)
}

// dots writes vrmpy: sums of four byte products in a word.
func dots() {
	for _, x := range []struct {
		op           string
		aSign, bSign bool
		scalar       bool
	}{
		{"V6_vrmpybus", false, true, true},
		{"V6_vrmpyub", false, false, true},
		{"V6_vrmpybusv", false, true, false},
		{"V6_vrmpybv", true, true, false},
		{"V6_vrmpyubv", false, false, false},
	} {
		for _, acc := range []bool{false, true} {
			name := x.op
			if acc {
				name += "_acc"
			}
			dot(name, x.aSign, x.bSign, x.scalar, acc)
		}
	}
}

// dot extends even and odd bytes to halfwords and adds pairs of products.
func dot(name string, aSign, bSign, scalar, acc bool) {
	op(name, func() {
		ptrs(2)
		if scalar {
			splatR(2, z(4))
			halfwords(bSign, z(4), z(5), z(6))
		} else {
			ptr(2, RDX)
		}
		chunks(128, func(i, off int) {
			mov(in(RCX, off), z(0))
			halfwords(aSign, z(0), z(1), z(2))
			if !scalar {
				mov(in(RDX, off), z(4))
				halfwords(bSign, z(4), z(5), z(6))
			}
			VPMADDWD(z(5), z(1), z(1))
			VPMADDWD(z(6), z(2), z(2))
			VPADDD(z(2), z(1), z(1))
			if acc {
				VPADDD(in(RAX, off), z(1), z(1))
			}
			mov(z(1), in(RAX, off))
		})
	})
}

// halfwords extends even and odd bytes to halfwords.
func halfwords(signed bool, r, even, odd Register) {
	VPSLLW(Imm(8), r, even)
	if signed {
		VPSRAW(Imm(8), even, even)
		VPSRAW(Imm(8), r, odd)
	} else {
		VPSRLW(Imm(8), even, even)
		VPSRLW(Imm(8), r, odd)
	}
}

// widen writes even products to the low and odd products to the high register
// of a pair. All sources are read before the first result is written.
func widen(name string, bits uint64, aSign, bSign, scalar, acc bool) {
	left, srl, sra, mul, add := ins(VPSLLW), ins(VPSRLW), ins(VPSRAW), ins(VPMULLW), ins(VPADDW)
	if bits == 16 {
		left, srl, sra, mul, add = VPSLLD, VPSRLD, VPSRAD, VPMULLD, VPADDD
	}
	right := func(signed bool) ins {
		if signed {
			return sra
		}
		return srl
	}
	op(name, func() {
		ptrs(2)
		if scalar {
			splatR(2, z(12))
			left(Imm(bits), z(12), z(13))
			right(bSign)(Imm(bits), z(13), z(13))
			right(bSign)(Imm(bits), z(12), z(14))
		} else {
			ptr(2, RDX)
		}
		n := 128 / width
		even := func(i int) Register { return z(i) }
		odd := func(i int) Register { return z(n + i) }
		chunks(128, func(i, off int) {
			mov(in(RCX, off), odd(i))
			left(Imm(bits), odd(i), even(i))
			right(aSign)(Imm(bits), even(i), even(i))
			right(aSign)(Imm(bits), odd(i), odd(i))
			if !scalar {
				mov(in(RDX, off), z(12))
				left(Imm(bits), z(12), z(13))
				right(bSign)(Imm(bits), z(13), z(13))
				right(bSign)(Imm(bits), z(12), z(14))
			}
			mul(z(13), even(i), even(i))
			mul(z(14), odd(i), odd(i))
		})
		chunks(128, func(i, off int) {
			if acc {
				add(in(RAX, off), even(i), even(i))
				add(in(RAX, 128+off), odd(i), odd(i))
			}
			mov(even(i), in(RAX, off))
			mov(odd(i), in(RAX, 128+off))
		})
	})
}

func widenAdd(name string, bits uint64, signed bool, f, acc ins) {
	left, right := ins(VPSLLW), ins(VPSRLW)
	if signed {
		right = VPSRAW
	}
	if bits == 16 {
		left, right = VPSLLD, VPSRLD
		if signed {
			right = VPSRAD
		}
	}
	op(name, func() {
		ptrs(3)
		n := 128 / width
		chunks(128, func(i, off int) {
			mov(in(RCX, off), z(n+i))
			mov(in(RDX, off), z(12))
			left(Imm(bits), z(n+i), z(i))
			right(Imm(bits), z(i), z(i))
			left(Imm(bits), z(12), z(13))
			right(Imm(bits), z(13), z(13))
			f(z(13), z(i), z(i))
			right(Imm(bits), z(n+i), z(n+i))
			right(Imm(bits), z(12), z(12))
			f(z(12), z(n+i), z(n+i))
		})
		chunks(128, func(i, off int) {
			if acc != nil {
				acc(in(RAX, off), z(i), z(i))
				acc(in(RAX, 128+off), z(n+i), z(n+i))
			}
			mov(z(i), in(RAX, off))
			mov(z(n+i), in(RAX, 128+off))
		})
	})
}
