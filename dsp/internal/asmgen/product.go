package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// products writes the products of requantization: sums of two halfwords by
// bytes of Rt, words by bytes of Rt, and fractional halfwords.
func products() {
	for _, acc := range []bool{false, true} {
		suffix := map[bool]string{true: "_acc"}[acc]
		keep := func(off int, r Register) {
			if acc {
				VPADDD(in(RAX, off), r, r)
			}
		}
		// Word i uses bytes 0 and 1 or 2 and 3.
		op("V6_vdmpyhb"+suffix, func() {
			ptrs(2)
			VPMOVSXBW(in(ptr(2, R9), 0), X15)
			VPBROADCASTQ(X15, z(1))
			chunks(128, func(i, off int) {
				VPMADDWD(in(RCX, off), z(1), z(0))
				keep(off, z(0))
				mov(z(0), in(RAX, off))
			})
		})
		// The even halfwords of both registers side by side use bytes 0 and 1, the odd ones bytes 2 and 3.
		op("V6_vmpahb"+suffix, func() {
			ptrs(2)
			VPMOVSXBW(in(ptr(2, R9), 0), X15)
			VPBROADCASTD(X15, z(8))
			VPSRLQ(Imm(32), X15, X15)
			VPBROADCASTD(X15, z(9))
			splat(0x0000ffff, z(7))
			chunks(128, func(i, off int) {
				mov(in(RCX, off), z(0))
				mov(in(RCX, 128+off), z(1))
				VPSLLD(Imm(16), z(1), z(2))
				VPSRLD(Imm(16), z(0), z(3))
				VPAND(z(7), z(0), z(0))
				VPANDN(z(1), z(7), z(1))
				VPOR(z(2), z(0), z(0))
				VPOR(z(3), z(1), z(1))
				VPMADDWD(z(8), z(0), z(0))
				VPMADDWD(z(9), z(1), z(1))
				keep(off, z(0))
				keep(128+off, z(1))
				mov(z(0), in(RAX, off))
				mov(z(1), in(RAX, 128+off))
			})
		})
		for _, x := range []struct {
			op     string
			extend ins
		}{{"V6_vmpyiwb", VPMOVSXBD}, {"V6_vmpyiwub", VPMOVZXBD}} {
			op(x.op+suffix, func() {
				ptrs(2)
				VPBROADCASTD(in(ptr(2, R9), 0), X15)
				x.extend(X15, z(1))
				chunks(128, func(i, off int) {
					VPMULLD(in(RCX, off), z(1), z(0))
					keep(off, z(0))
					mov(z(0), in(RAX, off))
				})
			})
		}
	}
	fractions()
	// Product of the low halves and of the odd halfword, in the upper half.
	lanes("V6_vmpyieoh", 128, func(a, b, d Register) {
		VPSRLD(Imm(16), b, b)
		VPMULLW(b, a, d)
		VPSLLD(Imm(16), d, d)
	})
}

// fractions writes products of fractional halfwords.
func fractions() {
	// Twice the product, the top half. Only -1 times -1 leaves the range: both
	// factors and the wrapped result are negative, and flipping it saturates.
	rounded := func(a, b, d Register) { VPMULHRSW(b, a, d) }
	cut := func(a, b, d Register) {
		VPMULHW(b, a, d)
		VPMULLW(b, a, z(4))
		VPADDW(d, d, d)
		VPSRLW(Imm(15), z(4), z(4))
		VPOR(z(4), d, d)
	}
	fraction := func(f func(a, b, d Register)) func(a, b, d Register) {
		return func(a, b, d Register) {
			f(a, b, d)
			VPAND(b, a, z(3))
			VPAND(d, z(3), z(3))
			VPSRAW(Imm(15), z(3), z(3))
			VPXOR(z(3), d, d)
		}
	}
	lanes("V6_vmpyhvsrs", 128, fraction(rounded))
	for _, x := range []struct {
		op string
		f  func(a, b, d Register)
	}{{"V6_vmpyhsrs", rounded}, {"V6_vmpyhss", cut}} {
		op(x.op, func() {
			ptrs(2)
			splatR(2, z(1))
			chunks(128, func(i, off int) {
				mov(in(RCX, off), z(0))
				fraction(x.f)(z(0), z(1), z(2))
				mov(z(2), in(RAX, off))
			})
		})
	}
}
