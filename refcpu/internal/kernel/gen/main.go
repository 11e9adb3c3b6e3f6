// Command gen writes the amd64 assembly of package kernel with avo.
package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const (
	tileRows = 4
	block    = 16
	rowBytes = 4 * 4 * block // of a tile
)

func main() {
	build.ConstraintExpr("amd64,!purego")
	for _, rows := range []int{1, tileRows} {
		for blocks := 1; blocks <= 4; blocks++ {
			dot(rows, blocks)
			float(rows, blocks)
		}
	}
	requant()
	depthwise()
	depthwiseFloat()
	sumBytes(zmm[:], 64, "AVX512", "AVX-512", func(a, b, d operand.Op) { build.VPXORD(a, b, d) })
	biasClamp(zmm[:], 64, "AVX512", "AVX-512")
	avx2()
	build.Generate()
}

// zmm and the general registers are assigned by hand: every loop keeps all its
// values in registers.
var zmm = [...]reg.VecPhysical{
	reg.Z0, reg.Z1, reg.Z2, reg.Z3, reg.Z4, reg.Z5, reg.Z6, reg.Z7, reg.Z8, reg.Z9, reg.Z10, reg.Z11, reg.Z12, reg.Z13,
	reg.Z14, reg.Z15, reg.Z16, reg.Z17, reg.Z18, reg.Z19, reg.Z20, reg.Z21, reg.Z22, reg.Z23, reg.Z24, reg.Z25, reg.Z26,
	reg.Z27, reg.Z28, reg.Z29, reg.Z30, reg.Z31,
}

func at(base reg.Register, disp int) operand.Mem { return operand.Mem{Base: base, Disp: disp} }

func indexed(base, index reg.Register, scale uint8) operand.Mem {
	return operand.Mem{Base: base, Index: index, Scale: scale}
}

// function begins one whose pointers do not escape.
func function(name, signature, doc string) {
	build.TEXT(name, build.NOSPLIT, signature)
	build.Pragma("noescape")
	build.Doc(doc)
}

// ret ends a function that used wide vectors.
func ret() {
	build.VZEROUPPER()
	build.RET()
}

// lanes4 addresses base, base+s, base+2s, base+3s, with s3 = 3s.
func lanes4(base, s, s3 reg.Register, i int) operand.Mem {
	switch i {
	case 0:
		return at(base, 0)
	case 1:
		return indexed(base, s, 1)
	case 2:
		return indexed(base, s, 2)
	}
	return indexed(base, s3, 1)
}

// tileRegs loads the arguments of a tile product: a in SI, its stride in R8
// (3x in R9), b in DI, its block stride in R10 (3x in R11), steps in CX.
func tileRegs(elem, steps string, blockBytes int) {
	build.Load(build.Param("a"), reg.RSI)
	build.Load(build.Param("lda"), reg.R8)
	build.Load(build.Param("b"), reg.RDI)
	build.Load(build.Param(steps), reg.RCX)
	if elem == "float32" {
		build.SHLQ(operand.U8(2), reg.R8)
	}
	build.IMUL3Q(operand.I32(blockBytes), reg.RCX, reg.R10)
	build.LEAQ(indexed(reg.R8, reg.R8, 2), reg.R9)
	build.LEAQ(indexed(reg.R10, reg.R10, 2), reg.R11)
}

func storeTile(rows, blocks int) {
	build.Load(build.Param("dst"), reg.RDX)
	for r := range rows {
		for b := range blocks {
			build.VMOVUPS(zmm[r*4+b], at(reg.RDX, r*rowBytes+b*4*block))
		}
	}
	ret()
}

func name(what string, rows, blocks int) string {
	return what + string(rune('0'+rows)) + "x" + string(rune('0'+blocks))
}

// dot is a tile of byte dot products: unsigned a times signed b.
func dot(rows, blocks int) {
	function(name("dotTile", rows, blocks), "func(dst *int32, a *byte, lda int, b *int8, quads int)",
		"dst tile = a times b in bytes; see DotTile. Needs AVX-512 VNNI.")
	tileRegs("byte", "quads", 4*block)
	for r := range rows {
		for b := range blocks {
			build.VPXORD(zmm[r*4+b], zmm[r*4+b], zmm[r*4+b])
		}
	}
	build.Label("loop")
	for b := range blocks {
		build.VMOVDQU32(lanes4(reg.RDI, reg.R10, reg.R11, b), zmm[16+b])
	}
	for r := range rows {
		build.VPBROADCASTD(lanes4(reg.RSI, reg.R8, reg.R9, r), zmm[20+r])
	}
	for r := range rows {
		for b := range blocks {
			vpdpbusd(zmm[16+b], zmm[20+r], zmm[r*4+b])
		}
	}
	build.ADDQ(operand.U8(4), reg.RSI)
	build.ADDQ(operand.U8(4*block), reg.RDI)
	build.DECQ(reg.RCX)
	build.JNZ(operand.LabelRef("loop"))
	storeTile(rows, blocks)
}

// vpdpbusd is not among avo's instructions: acc += unsigned x, signed w.
func vpdpbusd(w, x, acc reg.Register) {
	build.Instruction(&ir.Instruction{
		Opcode: "VPDPBUSD", Operands: []operand.Op{w, x, acc},
		Inputs: []operand.Op{w, x, acc}, Outputs: []operand.Op{acc},
	})
}

// float is a tile of float32 sums, products and sums rounded separately.
func float(rows, blocks int) {
	function(name("floatTile", rows, blocks), "func(dst *float32, a *float32, lda int, b *float32, k int)",
		"dst tile = a times b in float32; see FloatTile. Needs AVX-512.")
	tileRegs("float32", "k", 4*block)
	for r := range rows {
		for b := range blocks {
			build.VPXORD(zmm[r*4+b], zmm[r*4+b], zmm[r*4+b])
		}
	}
	build.Label("loop")
	for b := range blocks {
		build.VMOVUPS(lanes4(reg.RDI, reg.R10, reg.R11, b), zmm[16+b])
	}
	for r := range rows {
		build.VBROADCASTSS(lanes4(reg.RSI, reg.R8, reg.R9, r), zmm[20+r])
	}
	for r := range rows {
		for b := range blocks {
			build.VMULPS(zmm[16+b], zmm[20+r], zmm[24+b])
		}
		for b := range blocks {
			build.VADDPS(zmm[24+b], zmm[r*4+b], zmm[r*4+b])
		}
	}
	build.ADDQ(operand.U8(4), reg.RSI)
	build.ADDQ(operand.U8(4*block), reg.RDI)
	build.DECQ(reg.RCX)
	build.JNZ(operand.LabelRef("loop"))
	storeTile(rows, blocks)
}

// requant converts n accumulators to bytes.
func requant() {
	function("requantAVX512", "func(dst *byte, acc, bias, m, left, right *int32, n int, add, zero, lo, hi int32)",
		"requantizes n > 0 accumulators; see Requant.Row. Needs AVX-512.")
	ptr := []struct {
		name string
		r    reg.Register
	}{{"dst", reg.RDI}, {"acc", reg.RSI}, {"bias", reg.R8}, {"m", reg.R9}, {"left", reg.R10}, {"right", reg.R11}, {"n", reg.RCX}}
	for _, p := range ptr {
		build.Load(build.Param(p.name), p.r)
	}
	add, zero, lo, hi, round, one := zmm[16], zmm[17], zmm[18], zmm[19], zmm[20], zmm[21]
	for _, c := range []struct {
		name string
		z    reg.VecPhysical
	}{{"add", add}, {"zero", zero}, {"lo", lo}, {"hi", hi}} {
		build.Load(build.Param(c.name), reg.EAX)
		build.VPBROADCASTD(reg.EAX, c.z)
	}
	build.MOVQ(operand.U32(1<<30), reg.RAX)
	build.VPBROADCASTQ(reg.RAX, round)
	build.MOVL(operand.U32(1), reg.EAX)
	build.VPBROADCASTD(reg.EAX, one)
	build.MOVL(operand.U32(0xaaaa), reg.EAX)
	build.KMOVW(reg.EAX, reg.K1)
	build.MOVL(operand.U32(0xffff), reg.EAX)
	build.KMOVW(reg.EAX, reg.K2)
	build.Label("loop")
	build.CMPQ(reg.RCX, operand.U8(block))
	build.JGE(operand.LabelRef("full"))
	// The last bytes: a mask of RCX ones.
	build.MOVL(operand.U32(1), reg.EAX)
	build.SHLL(reg.CL, reg.EAX)
	build.DECL(reg.EAX)
	build.KMOVW(reg.EAX, reg.K2)
	build.Label("full")
	v, m, odd, mo, n, t, rem := zmm[0], zmm[1], zmm[2], zmm[3], zmm[4], zmm[5], zmm[6]
	build.VMOVDQU32(at(reg.RSI, 0), v)
	build.VPADDD(at(reg.R8, 0), v, v)
	build.VPADDD(add, v, v)
	build.VMOVDQU32(at(reg.R10, 0), t)
	build.VPSLLVD(t, v, v)
	build.VMOVDQU32(at(reg.R9, 0), m)
	build.VPSRLQ(operand.U8(32), v, odd)
	build.VPSRLQ(operand.U8(32), m, mo)
	build.VPMULDQ(m, v, v)
	build.VPMULDQ(mo, odd, odd)
	build.VPADDQ(round, v, v)
	build.VPADDQ(round, odd, odd)
	build.VPSRLQ(operand.U8(31), v, v)
	build.VPSLLQ(operand.U8(1), odd, odd)
	build.VMOVDQA32(odd, reg.K1, v)
	// Divide by 2^right, half away from zero.
	build.VMOVDQU32(at(reg.R11, 0), n)
	build.VPSLLVD(n, one, t)
	build.VPSUBD(one, t, t)
	build.VPANDD(v, t, rem)
	build.VPSRLD(operand.U8(1), t, t)
	build.VPSRAD(operand.U8(31), v, odd)
	build.VPSUBD(odd, t, t)
	build.VPCMPGTD(t, rem, reg.K3)
	build.VPSRAVD(n, v, v)
	build.VPADDD(one, v, reg.K3, v)
	build.VPADDD(zero, v, v)
	build.VPMAXSD(lo, v, v)
	build.VPMINSD(hi, v, v)
	build.VPMOVDB(v, reg.K2, at(reg.RDI, 0))
	for _, p := range []reg.Register{reg.RSI, reg.R8, reg.R9, reg.R10, reg.R11} {
		build.ADDQ(operand.U8(4*block), p)
	}
	build.ADDQ(operand.U8(block), reg.RDI)
	build.SUBQ(operand.U8(block), reg.RCX)
	build.JG(operand.LabelRef("loop"))
	ret()
}

// tapsLoop runs over channels in chunks of 4 and then 1 blocks and, inside,
// over the taps. xBytes is the size of an input element.
func tapsLoop(xBytes int, init func(blocks int), tap func(blocks int)) {
	for _, p := range []struct {
		name string
		r    reg.Register
	}{{"acc", reg.RDX}, {"x", reg.RSI}, {"w", reg.RDI}, {"xOff", reg.R8}, {"wOff", reg.R9}, {"taps", reg.R10}, {"n", reg.R11}} {
		build.Load(build.Param(p.name), p.r)
	}
	for _, blocks := range []int{4, 1} {
		label := "wide"
		if blocks == 1 {
			label = "narrow"
		}
		build.Label(label)
		build.CMPQ(reg.R11, operand.U32(uint32(blocks*block)))
		build.JLT(operand.LabelRef(label + "done"))
		init(blocks)
		build.XORQ(reg.RCX, reg.RCX)
		build.Label(label + "taps")
		build.CMPQ(reg.RCX, reg.R10)
		build.JGE(operand.LabelRef(label + "store"))
		build.MOVQ(indexed(reg.R8, reg.RCX, 8), reg.RAX)
		build.MOVQ(indexed(reg.R9, reg.RCX, 8), reg.RBX)
		tap(blocks)
		build.INCQ(reg.RCX)
		build.JMP(operand.LabelRef(label + "taps"))
		build.Label(label + "store")
		for b := range blocks {
			build.VMOVUPS(zmm[b], at(reg.RDX, b*4*block))
		}
		build.ADDQ(operand.U32(uint32(blocks*4*block)), reg.RDX)
		build.ADDQ(operand.U32(uint32(blocks*4*block)), reg.RDI)
		build.ADDQ(operand.U32(uint32(blocks*xBytes*block)), reg.RSI)
		build.SUBQ(operand.U32(uint32(blocks*block)), reg.R11)
		build.JMP(operand.LabelRef(label))
		build.Label(label + "done")
	}
	ret()
}

func zeroAcc(blocks int) {
	for b := range blocks {
		build.VPXORD(zmm[b], zmm[b], zmm[b])
	}
}

func offset(base, index reg.Register, scale uint8, disp int) operand.Mem {
	return operand.Mem{Base: base, Index: index, Scale: scale, Disp: disp}
}

func depthwise() {
	function("depthwiseAVX512", "func(acc *int32, x *byte, w *int32, xOff, wOff *int, taps, n int, zero int32)",
		"accumulates taps over n channels; see DepthwiseTaps. Needs AVX-512.")
	build.Load(build.Param("zero"), reg.EAX)
	build.VPBROADCASTD(reg.EAX, zmm[31])
	tapsLoop(1, zeroAcc, func(blocks int) {
		for b := range blocks {
			x := zmm[8+b]
			build.VPMOVZXBD(offset(reg.RSI, reg.RAX, 1, b*block), x)
			build.VPSUBD(zmm[31], x, x)
			build.VPMULLD(offset(reg.RDI, reg.RBX, 4, b*4*block), x, x)
			build.VPADDD(x, zmm[b], zmm[b])
		}
	})
}

func depthwiseFloat() {
	function("depthwiseFloatAVX512", "func(acc *float32, x *float32, w *float32, xOff, wOff *int, taps, n int)",
		"accumulates taps over n channels; see DepthwiseTapsF32. Needs AVX-512.")
	tapsLoop(4, zeroAcc, func(blocks int) {
		for b := range blocks {
			x := zmm[8+b]
			build.VMOVUPS(offset(reg.RSI, reg.RAX, 4, b*4*block), x)
			build.VMULPS(offset(reg.RDI, reg.RBX, 4, b*4*block), x, x)
			build.VADDPS(x, zmm[b], zmm[b])
		}
	})
}

// sumBytes adds up n bytes, n a positive multiple of a vector's size.
func sumBytes(v []reg.VecPhysical, bytes int, isa, needs string, zero func(d, a, b operand.Op)) {
	function("sumBytes"+isa, "func(a *byte, n int) int64",
		fmt.Sprintf("adds n bytes, n a positive multiple of %d. Needs %s.", bytes, needs))
	build.Load(build.Param("a"), reg.RSI)
	build.Load(build.Param("n"), reg.RCX)
	zero(v[0], v[0], v[0])
	zero(v[1], v[1], v[1])
	build.Label("loop")
	build.VPSADBW(at(reg.RSI, 0), v[1], v[2])
	build.VPADDQ(v[2], v[0], v[0])
	build.ADDQ(operand.U8(uint8(bytes)), reg.RSI)
	build.SUBQ(operand.U8(uint8(bytes)), reg.RCX)
	build.JNZ(operand.LabelRef("loop"))
	if bytes == 64 {
		build.VEXTRACTI64X4(operand.U8(1), v[0], reg.Y1)
		build.VPADDQ(reg.Y1, reg.Y0, reg.Y0)
	}
	build.VEXTRACTI128(operand.U8(1), reg.Y0, reg.X1)
	build.VPADDQ(reg.X1, reg.X0, reg.X0)
	build.VPSRLDQ(operand.U8(8), reg.X0, reg.X1)
	build.VPADDQ(reg.X1, reg.X0, reg.X0)
	build.VMOVQ(reg.X0, reg.RAX)
	build.Store(reg.RAX, build.ReturnIndex(0))
	ret()
}

// biasClamp adds bias and clamps n floats, n a positive multiple of those of a vector. VMAXPS and VMINPS return their
// second source for NaN and equal values.
func biasClamp(v []reg.VecPhysical, bytes int, isa, needs string) {
	function("biasClamp"+isa, "func(dst, acc, bias *float32, n int, lo, hi float32)",
		fmt.Sprintf("adds bias and clamps n values, n a positive multiple of %d; see BiasClamp. Needs %s.", bytes/4, needs))
	build.Load(build.Param("dst"), reg.RDI)
	build.Load(build.Param("acc"), reg.RSI)
	build.Load(build.Param("bias"), reg.RDX)
	build.Load(build.Param("n"), reg.RCX)
	for i, p := range []string{"lo", "hi"} {
		build.Load(build.Param(p), reg.X0)
		build.VBROADCASTSS(reg.X0, v[1+i])
	}
	build.Label("loop")
	build.VMOVUPS(at(reg.RSI, 0), v[0])
	build.VADDPS(at(reg.RDX, 0), v[0], v[0])
	build.VMAXPS(v[0], v[1], v[0])
	build.VMINPS(v[0], v[2], v[0])
	build.VMOVUPS(v[0], at(reg.RDI, 0))
	for _, p := range []reg.Register{reg.RDI, reg.RSI, reg.RDX} {
		build.ADDQ(operand.U8(uint8(bytes)), p)
	}
	build.SUBQ(operand.U8(uint8(bytes/4)), reg.RCX)
	build.JNZ(operand.LabelRef("loop"))
	ret()
}
