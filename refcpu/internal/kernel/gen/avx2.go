package main

import (
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

var ymm = [...]reg.VecPhysical{
	reg.Y0, reg.Y1, reg.Y2, reg.Y3, reg.Y4, reg.Y5, reg.Y6, reg.Y7, reg.Y8, reg.Y9, reg.Y10, reg.Y11, reg.Y12, reg.Y13,
	reg.Y14, reg.Y15,
}

// avx2 is the same loops for processors without AVX-512: one block of columns
// at a time.
func avx2() {
	for _, rows := range []int{1, tileRows} {
		dot2(rows)
		float2(rows)
	}
	requant2()
	function("depthwiseAVX2", "func(acc *int32, x *byte, w *int32, xOff, wOff *int, taps, n int, zero int32)",
		"accumulates taps over n channels; see DepthwiseTaps. Needs AVX2.")
	build.Load(build.Param("zero"), reg.EAX)
	build.VMOVD(reg.EAX, reg.X15)
	build.VPBROADCASTD(reg.X15, ymm[15])
	taps2(1, func(half int) {
		x := ymm[4+half]
		build.VPMOVZXBD(offset(reg.RSI, reg.RAX, 1, half*8), x)
		build.VPSUBD(ymm[15], x, x)
		build.VPMULLD(offset(reg.RDI, reg.RBX, 4, half*32), x, x)
		build.VPADDD(x, ymm[half], ymm[half])
	})
	function("depthwiseFloatAVX2", "func(acc *float32, x *float32, w *float32, xOff, wOff *int, taps, n int)",
		"accumulates taps over n channels; see DepthwiseTapsF32. Needs AVX2.")
	taps2(4, func(half int) {
		x := ymm[4+half]
		build.VMOVUPS(offset(reg.RSI, reg.RAX, 4, half*32), x)
		build.VMULPS(offset(reg.RDI, reg.RBX, 4, half*32), x, x)
		build.VADDPS(x, ymm[half], ymm[half])
	})
	sumBytes(ymm[:], 32, "AVX2", "AVX2", func(a, b, d operand.Op) { build.VPXOR(a, b, d) })
	biasClamp(ymm[:], 32, "AVX2", "AVX2")
}

// dot2 multiplies 16-bit pairs: even and odd bytes apart, so that nothing
// saturates.
func dot2(rows int) {
	function(name("dotTileAVX2r", rows, 1), "func(dst *int32, a *byte, lda int, b *int8, quads int)",
		"dst tile of one block = a times b in bytes; see DotTile. Needs AVX2.")
	tileRegs("byte", "quads", 4*block)
	even, odd, evenA, oddA, mask, tmp := ymm[8:10], ymm[10:12], ymm[12], ymm[13], ymm[14], ymm[15]
	build.VPCMPEQW(mask, mask, mask)
	build.VPSRLW(operand.U8(8), mask, mask)
	for r := range rows {
		build.VPXOR(ymm[2*r], ymm[2*r], ymm[2*r])
		build.VPXOR(ymm[2*r+1], ymm[2*r+1], ymm[2*r+1])
	}
	build.Label("loop")
	for h := range 2 {
		build.VMOVDQU(at(reg.RDI, 32*h), odd[h])
		build.VPSLLW(operand.U8(8), odd[h], even[h])
		build.VPSRAW(operand.U8(8), even[h], even[h])
		build.VPSRAW(operand.U8(8), odd[h], odd[h])
	}
	for r := range rows {
		build.VPBROADCASTD(lanes4(reg.RSI, reg.R8, reg.R9, r), oddA)
		build.VPAND(mask, oddA, evenA)
		build.VPSRLW(operand.U8(8), oddA, oddA)
		for h := range 2 {
			build.VPMADDWD(even[h], evenA, tmp)
			build.VPADDD(tmp, ymm[2*r+h], ymm[2*r+h])
			build.VPMADDWD(odd[h], oddA, tmp)
			build.VPADDD(tmp, ymm[2*r+h], ymm[2*r+h])
		}
	}
	build.ADDQ(operand.U8(4), reg.RSI)
	build.ADDQ(operand.U8(4*block), reg.RDI)
	build.DECQ(reg.RCX)
	build.JNZ(operand.LabelRef("loop"))
	storeTile2(rows)
}

func storeTile2(rows int) {
	build.Load(build.Param("dst"), reg.RDX)
	for r := range rows {
		for h := range 2 {
			build.VMOVUPS(ymm[2*r+h], at(reg.RDX, r*rowBytes+32*h))
		}
	}
	ret()
}

func float2(rows int) {
	function(name("floatTileAVX2r", rows, 1), "func(dst *float32, a *float32, lda int, b *float32, k int)",
		"dst tile of one block = a times b in float32; see FloatTile. Needs AVX2.")
	tileRegs("float32", "k", 4*block)
	for r := range rows {
		build.VXORPS(ymm[2*r], ymm[2*r], ymm[2*r])
		build.VXORPS(ymm[2*r+1], ymm[2*r+1], ymm[2*r+1])
	}
	build.Label("loop")
	for h := range 2 {
		build.VMOVUPS(at(reg.RDI, 32*h), ymm[8+h])
	}
	for r := range rows {
		build.VBROADCASTSS(lanes4(reg.RSI, reg.R8, reg.R9, r), ymm[10])
		for h := range 2 {
			build.VMULPS(ymm[8+h], ymm[10], ymm[12+h])
			build.VADDPS(ymm[12+h], ymm[2*r+h], ymm[2*r+h])
		}
	}
	build.ADDQ(operand.U8(4), reg.RSI)
	build.ADDQ(operand.U8(4*block), reg.RDI)
	build.DECQ(reg.RCX)
	build.JNZ(operand.LabelRef("loop"))
	storeTile2(rows)
}

// requant2 converts n accumulators, n a positive multiple of 8.
func requant2() {
	function("requantAVX2", "func(dst *byte, acc, bias, m, left, right *int32, n int, add, zero, lo, hi int32)",
		"requantizes n accumulators, n a positive multiple of 8; see Requant.Row. Needs AVX2.")
	for _, p := range []struct {
		name string
		r    reg.Register
	}{{"dst", reg.RDI}, {"acc", reg.RSI}, {"bias", reg.R8}, {"m", reg.R9}, {"left", reg.R10}, {"right", reg.R11}, {"n", reg.RCX}} {
		build.Load(build.Param(p.name), p.r)
	}
	add, zero, lo, hi, round, one := ymm[10], ymm[11], ymm[12], ymm[13], ymm[14], ymm[15]
	low := [...]reg.VecPhysical{reg.X10, reg.X11, reg.X12, reg.X13}
	for i, n := range []string{"add", "zero", "lo", "hi"} {
		build.Load(build.Param(n), reg.EAX)
		build.VMOVD(reg.EAX, low[i])
		build.VPBROADCASTD(low[i], []reg.VecPhysical{add, zero, lo, hi}[i])
	}
	build.MOVQ(operand.U32(1<<30), reg.RAX)
	build.VMOVQ(reg.RAX, reg.X14)
	build.VPBROADCASTQ(reg.X14, round)
	build.VPCMPEQD(one, one, one)
	build.VPSRLD(operand.U8(31), one, one)
	v, m, odd, mo, n, t, rem := ymm[0], ymm[1], ymm[2], ymm[3], ymm[4], ymm[5], ymm[6]
	build.Label("loop")
	build.VMOVDQU(at(reg.RSI, 0), v)
	build.VPADDD(at(reg.R8, 0), v, v)
	build.VPADDD(add, v, v)
	build.VMOVDQU(at(reg.R10, 0), t)
	build.VPSLLVD(t, v, v)
	build.VMOVDQU(at(reg.R9, 0), m)
	build.VPSRLQ(operand.U8(32), v, odd)
	build.VPSRLQ(operand.U8(32), m, mo)
	build.VPMULDQ(m, v, v)
	build.VPMULDQ(mo, odd, odd)
	build.VPADDQ(round, v, v)
	build.VPADDQ(round, odd, odd)
	build.VPSRLQ(operand.U8(31), v, v)
	build.VPSLLQ(operand.U8(1), odd, odd)
	build.VPBLENDD(operand.U8(0xaa), odd, v, v)
	// Divide by 2^right, half away from zero.
	build.VMOVDQU(at(reg.R11, 0), n)
	build.VPSLLVD(n, one, t)
	build.VPSUBD(one, t, t)
	build.VPAND(v, t, rem)
	build.VPSRLD(operand.U8(1), t, t)
	build.VPSRAD(operand.U8(31), v, odd)
	build.VPSUBD(odd, t, t)
	build.VPCMPGTD(t, rem, rem)
	build.VPSRAVD(n, v, v)
	build.VPSUBD(rem, v, v)
	build.VPADDD(zero, v, v)
	build.VPMAXSD(lo, v, v)
	build.VPMINSD(hi, v, v)
	// The low byte of each value: mask, then pack without saturation.
	build.VPSLLD(operand.U8(24), v, v)
	build.VPSRLD(operand.U8(24), v, v)
	build.VEXTRACTI128(operand.U8(1), v, reg.X1)
	build.VPACKUSDW(reg.X1, reg.X0, reg.X0)
	build.VPACKUSWB(reg.X0, reg.X0, reg.X0)
	build.VMOVQ(reg.X0, at(reg.RDI, 0))
	for _, p := range []reg.Register{reg.RSI, reg.R8, reg.R9, reg.R10, reg.R11} {
		build.ADDQ(operand.U8(32), p)
	}
	build.ADDQ(operand.U8(8), reg.RDI)
	build.SUBQ(operand.U8(8), reg.RCX)
	build.JNZ(operand.LabelRef("loop"))
	ret()
}

// taps2 runs over channels a block at a time and, inside, over the taps.
func taps2(xBytes int, tap func(half int)) {
	for _, p := range []struct {
		name string
		r    reg.Register
	}{{"acc", reg.RDX}, {"x", reg.RSI}, {"w", reg.RDI}, {"xOff", reg.R8}, {"wOff", reg.R9}, {"taps", reg.R10}, {"n", reg.R11}} {
		build.Load(build.Param(p.name), p.r)
	}
	build.Label("channels")
	build.VPXOR(ymm[0], ymm[0], ymm[0])
	build.VPXOR(ymm[1], ymm[1], ymm[1])
	build.XORQ(reg.RCX, reg.RCX)
	build.Label("taps")
	build.MOVQ(indexed(reg.R8, reg.RCX, 8), reg.RAX)
	build.MOVQ(indexed(reg.R9, reg.RCX, 8), reg.RBX)
	for half := range 2 {
		tap(half)
	}
	build.INCQ(reg.RCX)
	build.CMPQ(reg.RCX, reg.R10)
	build.JL(operand.LabelRef("taps"))
	build.VMOVUPS(ymm[0], at(reg.RDX, 0))
	build.VMOVUPS(ymm[1], at(reg.RDX, 32))
	build.ADDQ(operand.U8(4*block), reg.RDX)
	build.ADDQ(operand.U8(4*block), reg.RDI)
	build.ADDQ(operand.U8(uint8(xBytes*block)), reg.RSI)
	build.SUBQ(operand.U8(block), reg.R11)
	build.JNZ(operand.LabelRef("channels"))
	ret()
}
