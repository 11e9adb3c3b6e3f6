package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// lanes is the number of 32-bit values in a vector.
const lanes = 8

// isa writes what is done to the vectors of a block.
type isa struct {
	care string // where to go when the block needs care
}

func (x *isa) load(m Mem) reg.VecVirtual {
	r := YMM()
	VMOVUPS(m, r)
	return r
}

// constant is a vector of one 32-bit value.
func (x *isa) constant(v uint32) reg.VecVirtual {
	g := GP32()
	MOVL(U32(v), g)
	r, t := YMM(), XMM()
	VMOVD(g, t)
	VPBROADCASTD(t, r)
	return r
}

// bytes is a vector whose 32-bit values are eight bytes, again and again.
func (x *isa) bytes(v uint64) reg.VecVirtual {
	g, t, r := GP64(), XMM(), YMM()
	MOVQ(U64(v), g)
	VMOVQ(g, t)
	VPBROADCASTQ(t, t)
	VPMOVZXBD(t, r)
	return r
}

// logic and bin are instructions of two sources, which avo declares in two ways.
func (x *isa) logic(f func(b, a, r Op), a, b reg.VecVirtual) reg.VecVirtual {
	r := YMM()
	f(b, a, r)
	return r
}

func (x *isa) bin(f func(ops ...Op), a, b reg.VecVirtual) reg.VecVirtual {
	r := YMM()
	f(b, a, r)
	return r
}

func (x *isa) and(a, b reg.VecVirtual) reg.VecVirtual { return x.logic(VPAND, a, b) }
func (x *isa) or(a, b reg.VecVirtual) reg.VecVirtual  { return x.logic(VPOR, a, b) }
func (x *isa) xor(a, b reg.VecVirtual) reg.VecVirtual { return x.logic(VPXOR, a, b) }

// shift by an immediate.
func (x *isa) shift(f func(ops ...Op), n int, a reg.VecVirtual) reg.VecVirtual {
	r := YMM()
	f(U8(n), a, r)
	return r
}

func (x *isa) add(a, b reg.VecVirtual) reg.VecVirtual { return x.bin(VPADDD, a, b) }

// fma is a*b+c.
func (x *isa) fma(a, b, c reg.VecVirtual) reg.VecVirtual {
	r := YMM()
	VMOVAPS(c, r)
	VFMADD231PS(b, a, r)
	return r
}

// bail leaves the routine when a lane of the block that counts has a NaN in v.
func (x *isa) bail(v reg.VecVirtual) {
	t := YMM()
	VCMPPS(U8(3), v, v, t)
	VTESTPS(t, t)
	JNZ(LabelRef(x.care))
}

// low and high widen the halves of each 32-bit element to float32.
func (x *isa) low(a reg.VecVirtual) reg.VecVirtual {
	t, r := x.and(a, x.constant(0xFFFF)), YMM()
	VPACKUSDW(t, t, t)
	VPERMQ(U8(0x08), t, t)
	VCVTPH2PS(t.AsX(), r)
	return r
}

func (x *isa) high(a reg.VecVirtual) reg.VecVirtual { return x.low(x.shift(VPSRLD, 16, a)) }

// pack rounds two vectors of float32 to halves of 32-bit elements.
func (x *isa) pack(lo, hi reg.VecVirtual) reg.VecVirtual {
	widen := func(v reg.VecVirtual) reg.VecVirtual {
		h, r := XMM(), YMM()
		VCVTPS2PH(U8(0), v, h)
		VPMOVZXWD(h, r)
		return r
	}
	return x.or(widen(lo), x.shift(VPSLLD, 16, widen(hi)))
}

// odd is p+c rounded to odd, for an exact product p: the error of the rounded sum determines on which side the exact
// one is.
func (x *isa) odd(p, c reg.VecVirtual) reg.VecVirtual {
	s := x.bin(VADDPS, p, c)
	t := x.bin(VSUBPS, s, p)
	e := x.bin(VADDPS, x.bin(VSUBPS, p, x.bin(VSUBPS, s, t)), x.bin(VSUBPS, c, t))
	one := x.constant(1)
	delta := x.or(x.shift(VPSRAD, 31, x.xor(e, s)), one) // +1 away from zero, -1 toward it
	even := x.bin(VPSUBD, x.and(s, one), one)            // all ones when s is even
	inexact := YMM()
	VCMPPS(U8(4), x.zero(), e, inexact)
	return x.add(s, x.and(delta, x.and(even, inexact)))
}

func (x *isa) zero() reg.VecVirtual {
	r := YMM()
	VPXOR(r, r, r)
	return r
}

// flush replaces denormals by zeros of their sign.
func (x *isa) flush(v reg.VecVirtual) reg.VecVirtual {
	exp := x.and(v, x.constant(0x7F800000))
	sign := x.and(v, x.constant(0x80000000))
	t, r := YMM(), YMM()
	VPCMPEQD(x.zero(), exp, t)
	VPBLENDVB(t, sign, v, r)
	return r
}

func (x *isa) count(v reg.VecVirtual) reg.VecVirtual { return x.and(v, x.constant(31)) }

func (x *isa) low24(v reg.VecVirtual) reg.VecVirtual { return x.and(v, x.constant(0xFFFFFF)) }

func (x *isa) maxF(a, b reg.VecVirtual) reg.VecVirtual {
	return x.and(x.bin(VMAXPS, a, b), x.bin(VMAXPS, b, a))
}

func (x *isa) minF(a, b reg.VecVirtual) reg.VecVirtual {
	return x.or(x.bin(VMINPS, a, b), x.bin(VMINPS, b, a))
}

// dot4 adds the products of signed bytes to c.
func (x *isa) dot4(a, b, c reg.VecVirtual) reg.VecVirtual {
	even := func(v reg.VecVirtual) reg.VecVirtual { return x.shift(VPSRAW, 8, x.shift(VPSLLW, 8, v)) }
	odd := func(v reg.VecVirtual) reg.VecVirtual { return x.shift(VPSRAW, 8, v) }
	p := x.bin(VPMADDWD, even(a), even(b))
	q := x.bin(VPMADDWD, odd(a), odd(b))
	return x.add(x.add(p, q), c)
}
