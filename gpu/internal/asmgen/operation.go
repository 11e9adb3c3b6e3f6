package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

type vec = reg.VecVirtual

// op is one routine: how many sources, whether its result or its sources must be checked for NaNs, and the operation it
// computes.
type op struct {
	name string
	n    int
	f    func(x *isa, a, b, c vec) vec
	nan  bool // the result is float32
}

func plain(f func(ops ...Op)) func(x *isa, a, b, c vec) vec {
	return func(x *isa, a, b, _ vec) vec { return x.bin(f, a, b) }
}

var ops = []op{
	{"Mov", 1, func(x *isa, a, _, _ vec) vec { return a }, false},
	{"Not", 1, func(x *isa, a, _, _ vec) vec { return x.xor(a, x.constant(0xFFFFFFFF)) }, false},
	{"And", 2, func(x *isa, a, b, _ vec) vec { return x.and(a, b) }, false},
	{"Or", 2, func(x *isa, a, b, _ vec) vec { return x.or(a, b) }, false},
	{"Xor", 2, func(x *isa, a, b, _ vec) vec { return x.xor(a, b) }, false},
	{"Or3", 3, func(x *isa, a, b, c vec) vec { return x.or(x.or(a, b), c) }, false},
	{"AndOr", 3, func(x *isa, a, b, c vec) vec { return x.or(x.and(a, b), c) }, false},
	{"Lshl", 2, func(x *isa, a, b, _ vec) vec { return x.bin(VPSLLVD, b, x.count(a)) }, false},
	{"Lshr", 2, func(x *isa, a, b, _ vec) vec { return x.bin(VPSRLVD, b, x.count(a)) }, false},
	{"Ashr", 2, func(x *isa, a, b, _ vec) vec { return x.bin(VPSRAVD, b, x.count(a)) }, false},
	{"LshlOr", 3, func(x *isa, a, b, c vec) vec { return x.or(x.bin(VPSLLVD, a, x.count(b)), c) }, false},
	{"LshlAdd", 3, func(x *isa, a, b, c vec) vec { return x.add(x.bin(VPSLLVD, a, x.count(b)), c) }, false},
	{"AddLshl", 3, func(x *isa, a, b, c vec) vec { return x.bin(VPSLLVD, x.add(a, b), x.count(c)) }, false},
	{"AddU", 2, plain(VPADDD), false},
	{"SubU", 2, plain(VPSUBD), false},
	{"SubrevU", 2, func(x *isa, a, b, _ vec) vec { return x.bin(VPSUBD, b, a) }, false},
	{"Add3", 3, func(x *isa, a, b, c vec) vec { return x.add(x.add(a, b), c) }, false},
	{"MaxI", 2, plain(VPMAXSD), false},
	{"MinI", 2, plain(VPMINSD), false},
	{"MaxU", 2, plain(VPMAXUD), false},
	{"MinU", 2, plain(VPMINUD), false},
	{"Med3I", 3, func(x *isa, a, b, c vec) vec {
		return x.bin(VPMAXSD, x.bin(VPMINSD, a, b), x.bin(VPMINSD, x.bin(VPMAXSD, a, b), c))
	}, false},
	{"MulLo", 2, plain(VPMULLD), false},
	{"MulU24", 2, func(x *isa, a, b, _ vec) vec { return x.bin(VPMULLD, x.low24(a), x.low24(b)) }, false},
	{"MadU24", 3, func(x *isa, a, b, c vec) vec { return x.add(x.bin(VPMULLD, x.low24(a), x.low24(b)), c) }, false},
	{"Dot4I", 3, func(x *isa, a, b, c vec) vec { return x.dot4(a, b, c) }, false},

	{"AddF", 2, plain(VADDPS), true},
	{"SubF", 2, plain(VSUBPS), true},
	{"SubrevF", 2, func(x *isa, a, b, _ vec) vec { return x.bin(VSUBPS, b, a) }, true},
	{"MulF", 2, plain(VMULPS), true},
	{"FmaF", 3, func(x *isa, a, b, c vec) vec { return x.fma(a, b, c) }, true},
	{"MaxF", 2, func(x *isa, a, b, _ vec) vec {
		x.bail(x.bin(VADDPS, x.bin(VSUBPS, a, a), x.bin(VSUBPS, b, b)))
		return x.maxF(a, b)
	}, false},
	{"MinF", 2, func(x *isa, a, b, _ vec) vec {
		x.bail(x.bin(VADDPS, x.bin(VSUBPS, a, a), x.bin(VSUBPS, b, b)))
		return x.minF(a, b)
	}, false},
	{"Med3F", 3, func(x *isa, a, b, c vec) vec {
		x.bail(x.bin(VADDPS, x.bin(VADDPS, x.bin(VSUBPS, a, a), x.bin(VSUBPS, b, b)), x.bin(VSUBPS, c, c)))
		return x.maxF(x.minF(a, b), x.minF(x.maxF(a, b), c))
	}, false},
	{"CvtFI", 1, func(x *isa, a, _, _ vec) vec { r := x.reg(); VCVTDQ2PS(a, r); return r }, false},
	{"CvtFB0", 1, func(x *isa, a, _, _ vec) vec { return x.byteToF(a, 0) }, false},
	{"CvtFB1", 1, func(x *isa, a, _, _ vec) vec { return x.byteToF(a, 8) }, false},
	{"CvtFB2", 1, func(x *isa, a, _, _ vec) vec { return x.byteToF(a, 16) }, false},
	{"CvtFB3", 1, func(x *isa, a, _, _ vec) vec { return x.byteToF(a, 24) }, false},
	{"CvtFH", 1, func(x *isa, a, _, _ vec) vec { return x.low(a) }, true},

	{"PkAdd", 2, func(x *isa, a, b, _ vec) vec { return x.packed(VADDPS, a, b) }, false},
	{"PkMul", 2, func(x *isa, a, b, _ vec) vec { return x.packed(VMULPS, a, b) }, false},
	{"PkMax", 2, func(x *isa, a, b, _ vec) vec { return x.packedSelect(a, b, x.maxF) }, false},
	{"PkMin", 2, func(x *isa, a, b, _ vec) vec { return x.packedSelect(a, b, x.minF) }, false},
	{"PkFma", 3, func(x *isa, a, b, c vec) vec {
		part := func(get func(vec) vec) vec {
			r := x.odd(x.bin(VMULPS, get(a), get(b)), get(c))
			return r
		}
		lo := part(x.low)
		x.bail(lo)
		hi := part(x.high)
		x.bail(hi)
		return x.pack(lo, hi)
	}, false},
	{"Dot2F", 3, func(x *isa, a, b, c vec) vec {
		t := x.flush(x.fma(x.low(a), x.low(b), x.flush(c)))
		return x.flush(x.fma(x.high(a), x.high(b), t))
	}, true},
}

// spreads are the routines that have a form with a scalar first operand as well.
var spreads = map[string]bool{
	"AddU": true, "And": true, "Lshl": true, "AddF": true, "MulF": true, "MaxF": true, "FmaF": true,
	"Dot4I": true, "Dot2F": true, "PkMul": true, "PkFma": true,
}

func (x *isa) byteToF(a vec, sh int) vec {
	if sh > 0 {
		a = x.shift(VPSRLD, sh, a)
	}
	r := x.reg()
	VCVTDQ2PS(x.and(a, x.constant(255)), r)
	return r
}

func (x *isa) packed(f func(ops ...Op), a, b vec) vec {
	lo := x.bin(f, x.low(a), x.low(b))
	x.bail(lo)
	hi := x.bin(f, x.high(a), x.high(b))
	x.bail(hi)
	return x.pack(lo, hi)
}

func (x *isa) packedSelect(a, b vec, f func(a, b vec) vec) vec {
	al, bl, ah, bh := x.low(a), x.low(b), x.high(a), x.high(b)
	x.bail(x.bin(VADDPS, x.bin(VSUBPS, al, al), x.bin(VSUBPS, bl, bl)))
	x.bail(x.bin(VADDPS, x.bin(VSUBPS, ah, ah), x.bin(VSUBPS, bh, bh)))
	return x.pack(f(al, bl), f(ah, bh))
}
