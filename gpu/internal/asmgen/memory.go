package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// emitRegular writes the comparison of neighbours: of lanes 1 to 8 with 0 to 7 and so on, and of the last eight.
func emitRegular() {
	TEXT("regular", NOSPLIT, "func(a *[64]uint32, step uint32, n int) bool")
	Pragma("noescape")
	a, n := Load(Param("a"), GP64()), Load(Param("n"), GP64())
	t, step := XMM(), YMM()
	VMOVD(Load(Param("step"), GP32()), t)
	VPBROADCASTD(t, step)
	all := YMM()
	VPCMPEQD(all, all, all)
	compare := func(l int) {
		d := YMM()
		VMOVDQU(Mem{Base: a, Disp: 4 * l}, d)
		VPSUBD(Mem{Base: a, Disp: 4 * (l - 1)}, d, d)
		VPCMPEQD(step, d, d)
		VPAND(d, all, all)
	}
	for _, l := range []int{1, 9, 17, 24} {
		compare(l)
	}
	CMPQ(n, U8(32))
	JE(LabelRef("done"))
	for _, l := range []int{32, 40, 48, 56} {
		compare(l)
	}
	Label("done")
	bits := GP32()
	VMOVMSKPS(all, bits)
	VZEROUPPER()
	CMPL(bits, U8(255))
	r := GP8()
	SETEQ(r)
	Store(r, ReturnIndex(0))
	RET()
}

// emitDeinterleave writes the transposition of four words of each lane, eight lanes at a time. The words of consecutive
// lanes are contiguous, or each lane's are at its own offset less a common base.
func emitDeinterleave(scattered bool) {
	name, signature := "deal", "func(d *uint32, b *byte, n int)"
	if scattered {
		name, signature = "gather4", "func(d *uint32, b *byte, offsets *[64]uint32, less uint32, n int)"
	}
	TEXT(name, NOSPLIT, signature)
	Pragma("noescape")
	d, b, n := Load(Param("d"), GP64()), Load(Param("b"), GP64()), Load(Param("n"), GP64())
	var offsets reg.Register
	if scattered {
		offsets = Load(Param("offsets"), GP64())
		less := GP64()
		Load(Param("less"), less.As32())
		SUBQ(less, b)
	}
	pitch, third := GP64(), GP64()
	MOVQ(n, pitch)
	SHLQ(U8(2), pitch)
	LEAQ(Mem{Base: pitch, Index: pitch, Scale: 2}, third)
	x := &isa{}
	lane := func(i int) Mem {
		if !scattered {
			return Mem{Base: b, Disp: 16 * i}
		}
		at := GP64()
		MOVL(Mem{Base: offsets, Disp: 4 * i}, at.As32())
		return Mem{Base: b, Index: at, Scale: 1}
	}
	Label("lanes")
	var in [4]vec // lane i and lane i+4
	for i := range in {
		low := XMM()
		VMOVDQU(lane(i), low)
		in[i] = YMM()
		VINSERTI128(U8(1), lane(i+4), low.AsY(), in[i])
	}
	pairs := [4]vec{
		x.bin(VUNPCKLPS, in[0], in[1]), x.bin(VUNPCKHPS, in[0], in[1]),
		x.bin(VUNPCKLPS, in[2], in[3]), x.bin(VUNPCKHPS, in[2], in[3]),
	}
	VMOVUPS(x.bin(VUNPCKLPD, pairs[0], pairs[2]), Mem{Base: d})
	VMOVUPS(x.bin(VUNPCKHPD, pairs[0], pairs[2]), Mem{Base: d, Index: pitch, Scale: 1})
	VMOVUPS(x.bin(VUNPCKLPD, pairs[1], pairs[3]), Mem{Base: d, Index: pitch, Scale: 2})
	VMOVUPS(x.bin(VUNPCKHPD, pairs[1], pairs[3]), Mem{Base: d, Index: third, Scale: 1})
	ADDQ(U8(32), d)
	if scattered {
		ADDQ(U8(32), offsets)
	} else {
		ADDQ(I32(128), b)
	}
	SUBQ(U8(8), n)
	JNZ(LabelRef("lanes"))
	VZEROUPPER()
	RET()
}

// emitGather writes the load of one word of each lane at its own offset less one that all have in common.
func emitGather() {
	TEXT("gather", NOSPLIT, "func(d *uint32, b *byte, offsets *[64]uint32, less uint32, n int)")
	Pragma("noescape")
	d, b, n := Load(Param("d"), GP64()), Load(Param("b"), GP64()), Load(Param("n"), GP64())
	offsets := Load(Param("offsets"), GP64())
	less := GP64()
	Load(Param("less"), less.As32())
	SUBQ(less, b)
	Label("lanes")
	for i := range 4 {
		at, v := GP64(), GP32()
		MOVL(Mem{Base: offsets, Disp: 4 * i}, at.As32())
		MOVL(Mem{Base: b, Index: at, Scale: 1}, v)
		MOVL(v, Mem{Base: d, Disp: 4 * i})
	}
	ADDQ(U8(16), d)
	ADDQ(U8(16), offsets)
	SUBQ(U8(4), n)
	JNZ(LabelRef("lanes"))
	RET()
}

// emitAddresses writes the sum of a base and of the offset of each lane, and the lowest and highest offset.
func emitAddresses() {
	TEXT("addresses", NOSPLIT, "func(addr *[64]uint64, offsets *[64]uint32, base uint64, n int) (low, high uint32)")
	Pragma("noescape")
	addr, offsets, n := Load(Param("addr"), GP64()), Load(Param("offsets"), GP64()), Load(Param("n"), GP64())
	x := &isa{}
	t, base, low, high := XMM(), YMM(), YMM(), YMM()
	VMOVQ(Load(Param("base"), GP64()), t)
	VPBROADCASTQ(t, base)
	VPCMPEQD(low, low, low)
	VPXOR(high, high, high)
	Label("lanes")
	v := x.load(Mem{Base: offsets})
	VPMINUD(v, low, low)
	VPMAXUD(v, high, high)
	for i := range 2 {
		wide := YMM()
		VPMOVZXDQ(Mem{Base: offsets, Disp: 16 * i}, wide)
		VPADDQ(base, wide, wide)
		VMOVDQU(wide, Mem{Base: addr, Disp: 32 * i})
	}
	ADDQ(U8(32), offsets)
	ADDQ(U8(64), addr)
	SUBQ(U8(8), n)
	JNZ(LabelRef("lanes"))
	least := func(f func(ops ...Op), v vec, result int) {
		other := XMM()
		VEXTRACTI128(U8(1), v, other)
		f(other, v.AsX(), other)
		for _, order := range []int{0x4E, 0xB1} {
			moved := XMM()
			VPSHUFD(U8(order), other, moved)
			f(moved, other, other)
		}
		r := GP32()
		VMOVD(other, r)
		Store(r, ReturnIndex(result))
	}
	least(VPMINUD, low, 0)
	least(VPMAXUD, high, 1)
	VZEROUPPER()
	RET()
}

// emitNeighbours writes the comparison of each lane's address with that of the lane before: which lanes are not within
// the block of 1<<shift bytes of the lane before with all bytes up to last, and which have the same address.
func emitNeighbours() {
	TEXT("neighbours", NOSPLIT, "func(addr *[64]uint64, last, shift uint64, n int) (other, same uint64)")
	Pragma("noescape")
	addr, n := Load(Param("addr"), GP64()), Load(Param("n"), GP64())
	x := &isa{}
	t, last, shift := XMM(), YMM(), XMM()
	VMOVQ(Load(Param("last"), GP64()), t)
	VPBROADCASTQ(t, last)
	VMOVQ(Load(Param("shift"), GP64()), shift)
	within, same, at := GP64(), GP64(), GP64()
	XORQ(within, within)
	XORQ(same, same)
	XORQ(at, at)
	count := reg.RCX
	step := func(v, before vec) {
		block, end, old, bits := YMM(), YMM(), YMM(), GP64()
		VPSRLQ(shift, v, block)
		VPADDQ(last, v, end)
		VPSRLQ(shift, end, end)
		VPSRLQ(shift, before, old)
		VPCMPEQQ(block, end, end)
		VPCMPEQQ(block, old, old)
		VPAND(old, end, end)
		MOVQ(at, count)
		VMOVMSKPD(end, bits.As32())
		SHLQ(reg.CL, bits)
		ORQ(bits, within)
		VPCMPEQQ(v, before, old)
		VMOVMSKPD(old, bits.As32())
		SHLQ(reg.CL, bits)
		ORQ(bits, same)
	}
	first, itself := x.load(Mem{Base: addr}), YMM()
	VPERMQ(U8(0x90), first, itself)
	step(first, itself)
	Label("lanes")
	ADDQ(U8(4), at)
	CMPQ(at, n)
	JE(LabelRef("done"))
	step(x.load(Mem{Base: addr, Index: at, Scale: 8}), x.load(Mem{Base: addr, Index: at, Scale: 8, Disp: -8}))
	JMP(LabelRef("lanes"))
	Label("done")
	VZEROUPPER()
	ANDQ(I8(-2), within) // the first lane has none before
	ANDQ(I8(-2), same)
	NOTQ(within)
	Store(within, ReturnIndex(0))
	Store(same, ReturnIndex(1))
	RET()
}

// emitApart writes the comparison of the lanes' addresses, relative to that of the first, with a pattern.
func emitApart() {
	TEXT("apart", NOSPLIT, "func(addr, apart *[64]uint64, n int) bool")
	Pragma("noescape")
	addr, apart, n := Load(Param("addr"), GP64()), Load(Param("apart"), GP64()), Load(Param("n"), GP64())
	first, all, at := YMM(), YMM(), GP64()
	VPBROADCASTQ(Mem{Base: addr}, first)
	VPCMPEQD(all, all, all)
	XORQ(at, at)
	Label("lanes")
	for i := range 4 {
		d := YMM()
		VMOVDQU(Mem{Base: addr, Index: at, Scale: 8, Disp: 32 * i}, d)
		VPSUBQ(first, d, d)
		VPCMPEQQ(Mem{Base: apart, Index: at, Scale: 8, Disp: 32 * i}, d, d)
		VPAND(d, all, all)
	}
	ADDQ(U8(16), at)
	CMPQ(at, n)
	JNE(LabelRef("lanes"))
	bits := GP32()
	VMOVMSKPD(all, bits)
	VZEROUPPER()
	CMPL(bits, U8(15))
	r := GP8()
	SETEQ(r)
	Store(r, ReturnIndex(0))
	RET()
}
