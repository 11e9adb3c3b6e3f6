package main

import (
	"slices"
	"strings"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

type vec = reg.VecVirtual

// op is one routine.
type op struct {
	name      string
	mnemonics string // instructions that it computes, separated by blanks
	n         int    // sources
	f         func(x *isa, a, b, c vec) vec
	nan       bool // the result is float32, whose lanes are checked for NaNs
}

// in are the mnemonics of a routine that are in a set.
func (o *op) in(set string) (list []string) {
	all := strings.Fields(set)
	for _, m := range strings.Fields(o.mnemonics) {
		if slices.Contains(all, m) {
			list = append(list, m)
		}
	}
	return list
}

func plain(f func(ops ...Op)) func(x *isa, a, b, c vec) vec {
	return func(x *isa, a, b, _ vec) vec { return x.bin(f, a, b) }
}

var ops = []op{
	{"Mov", "v_mov_b32", 1, func(x *isa, a, _, _ vec) vec { return a }, false},
	{"Not", "v_not_b32", 1, func(x *isa, a, _, _ vec) vec { return x.xor(a, x.constant(0xFFFFFFFF)) }, false},
	{"And", "v_and_b32", 2, func(x *isa, a, b, _ vec) vec { return x.and(a, b) }, false},
	{"Or", "v_or_b32", 2, func(x *isa, a, b, _ vec) vec { return x.or(a, b) }, false},
	{"Xor", "v_xor_b32", 2, func(x *isa, a, b, _ vec) vec { return x.xor(a, b) }, false},
	{"Or3", "v_or3_b32", 3, func(x *isa, a, b, c vec) vec { return x.or(x.or(a, b), c) }, false},
	{"AndOr", "v_and_or_b32", 3, func(x *isa, a, b, c vec) vec { return x.or(x.and(a, b), c) }, false},
	{"Lshl", "v_lshlrev_b32", 2, func(x *isa, a, b, _ vec) vec { return x.bin(VPSLLVD, b, x.count(a)) }, false},
	{"Lshr", "v_lshrrev_b32", 2, func(x *isa, a, b, _ vec) vec { return x.bin(VPSRLVD, b, x.count(a)) }, false},
	{"Ashr", "v_ashrrev_i32", 2, func(x *isa, a, b, _ vec) vec { return x.bin(VPSRAVD, b, x.count(a)) }, false},
	{"LshlOr", "v_lshl_or_b32", 3, func(x *isa, a, b, c vec) vec { return x.or(x.bin(VPSLLVD, a, x.count(b)), c) }, false},
	{"LshlAdd", "v_lshl_add_u32", 3, func(x *isa, a, b, c vec) vec { return x.add(x.bin(VPSLLVD, a, x.count(b)), c) }, false},
	{"AddLshl", "v_add_lshl_u32", 3, func(x *isa, a, b, c vec) vec { return x.bin(VPSLLVD, x.add(a, b), x.count(c)) }, false},
	{"AddU", "v_add_nc_u32 v_add_nc_i32", 2, plain(VPADDD), false},
	{"SubU", "v_sub_nc_u32 v_sub_nc_i32", 2, plain(VPSUBD), false},
	{"SubrevU", "v_subrev_nc_u32", 2, func(x *isa, a, b, _ vec) vec { return x.bin(VPSUBD, b, a) }, false},
	{"Add3", "v_add3_u32", 3, func(x *isa, a, b, c vec) vec { return x.add(x.add(a, b), c) }, false},
	{"MaxI", "v_max_i32", 2, plain(VPMAXSD), false},
	{"MinI", "v_min_i32", 2, plain(VPMINSD), false},
	{"MaxU", "v_max_u32", 2, plain(VPMAXUD), false},
	{"MinU", "v_min_u32", 2, plain(VPMINUD), false},
	{"Med3I", "v_med3_i32", 3, func(x *isa, a, b, c vec) vec {
		return x.bin(VPMAXSD, x.bin(VPMINSD, a, b), x.bin(VPMINSD, x.bin(VPMAXSD, a, b), c))
	}, false},
	{"MulLo", "v_mul_lo_u32", 2, plain(VPMULLD), false},
	{"MulU24", "v_mul_u32_u24", 2, func(x *isa, a, b, _ vec) vec { return x.bin(VPMULLD, x.low24(a), x.low24(b)) }, false},
	{"MadU24", "v_mad_u32_u24", 3, func(x *isa, a, b, c vec) vec { return x.add(x.bin(VPMULLD, x.low24(a), x.low24(b)), c) }, false},
	{"Dot4I", "v_dot4_i32_i8 v_dot4c_i32_i8", 3, func(x *isa, a, b, c vec) vec { return x.dot4(a, b, c) }, false},

	{"AddF", "v_add_f32", 2, plain(VADDPS), true},
	{"SubF", "v_sub_f32", 2, plain(VSUBPS), true},
	{"SubrevF", "v_subrev_f32", 2, func(x *isa, a, b, _ vec) vec { return x.bin(VSUBPS, b, a) }, true},
	{"MulF", "v_mul_f32", 2, plain(VMULPS), true},
	{"FmaF", "v_fma_f32 v_fmac_f32 v_fmamk_f32 v_fmaak_f32", 3, func(x *isa, a, b, c vec) vec { return x.fma(a, b, c) }, true},
	{"MaxF", "v_max_f32", 2, func(x *isa, a, b, _ vec) vec {
		x.bail(x.bin(VADDPS, x.bin(VSUBPS, a, a), x.bin(VSUBPS, b, b)))
		return x.maxF(a, b)
	}, false},
	{"MinF", "v_min_f32", 2, func(x *isa, a, b, _ vec) vec {
		x.bail(x.bin(VADDPS, x.bin(VSUBPS, a, a), x.bin(VSUBPS, b, b)))
		return x.minF(a, b)
	}, false},
	{"Med3F", "v_med3_f32", 3, func(x *isa, a, b, c vec) vec {
		x.bail(x.bin(VADDPS, x.bin(VADDPS, x.bin(VSUBPS, a, a), x.bin(VSUBPS, b, b)), x.bin(VSUBPS, c, c)))
		return x.maxF(x.minF(a, b), x.minF(x.maxF(a, b), c))
	}, false},
	{"CvtFI", "v_cvt_f32_i32", 1, func(x *isa, a, _, _ vec) vec { r := YMM(); VCVTDQ2PS(a, r); return r }, false},
	{"CvtFB0", "v_cvt_f32_ubyte0", 1, func(x *isa, a, _, _ vec) vec { return x.byteToF(a, 0) }, false},
	{"CvtFB1", "v_cvt_f32_ubyte1", 1, func(x *isa, a, _, _ vec) vec { return x.byteToF(a, 8) }, false},
	{"CvtFB2", "v_cvt_f32_ubyte2", 1, func(x *isa, a, _, _ vec) vec { return x.byteToF(a, 16) }, false},
	{"CvtFB3", "v_cvt_f32_ubyte3", 1, func(x *isa, a, _, _ vec) vec { return x.byteToF(a, 24) }, false},
	{"CvtFH", "v_cvt_f32_f16", 1, func(x *isa, a, _, _ vec) vec { return x.low(a) }, true},

	{"PkAdd", "v_pk_add_f16", 2, func(x *isa, a, b, _ vec) vec { return x.packed(VADDPS, a, b) }, false},
	{"PkMul", "v_pk_mul_f16", 2, func(x *isa, a, b, _ vec) vec { return x.packed(VMULPS, a, b) }, false},
	{"PkMax", "v_pk_max_f16", 2, func(x *isa, a, b, _ vec) vec { return x.packedSelect(a, b, x.maxF) }, false},
	{"PkMin", "v_pk_min_f16", 2, func(x *isa, a, b, _ vec) vec { return x.packedSelect(a, b, x.minF) }, false},
	{"PkFma", "v_pk_fma_f16 v_pk_fmac_f16", 3, func(x *isa, a, b, c vec) vec {
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
	{"Dot2F", "v_dot2_f32_f16 v_dot2c_f32_f16", 3, func(x *isa, a, b, c vec) vec {
		t := x.flush(x.fma(x.low(a), x.low(b), x.flush(c)))
		return x.flush(x.fma(x.high(a), x.high(b), t))
	}, true},
}

// spreads are the instructions that have a form with a scalar first operand as well.
const spreads = `v_add_nc_u32 v_and_b32 v_lshlrev_b32 v_add_f32 v_mul_f32
	v_max_f32 v_fma_f32 v_fmac_f32 v_dot4_i32_i8 v_dot4c_i32_i8
	v_dot2_f32_f16 v_dot2c_f32_f16 v_pk_mul_f16 v_pk_fma_f16 v_pk_fmac_f16`

// batched are those that kernels have many of in a row: they have a form for batches, with a vector or a scalar first operand.
const batched = "v_fma_f32 v_fmac_f32 v_dot2_f32_f16 v_dot2c_f32_f16"

func (x *isa) byteToF(a vec, sh int) vec {
	if sh > 0 {
		a = x.shift(VPSRLD, sh, a)
	}
	r := YMM()
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
