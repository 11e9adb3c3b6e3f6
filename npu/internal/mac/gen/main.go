// Command gen writes the assembly of package mac.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func main() {
	ConstraintExpr("amd64,!purego")
	for v := 1; v <= 4; v++ {
		dotU8(v)
	}
	dotI16()
	depthwise()
	requant()
	Generate()
}

// pointers returns registers holding base + size*offsets[i].
func pointers(n int, base reg.Register, offsets Mem, shift uint8) []reg.GPVirtual {
	p := make([]reg.GPVirtual, n)
	for i := range p {
		p[i] = GP64()
		MOVLQSX(offsets.Offset(4*i), p[i])
		if shift > 0 {
			SHLQ(U8(shift), p[i])
		}
		ADDQ(base, p[i])
	}
	return p
}

// dotBytes is VPDPBUSD acc, x, w, which avo does not know: to each 32-bit lane
// of acc the four products of unsigned bytes of x and signed bytes of w.
func dotBytes(w, x, acc Op) {
	Instruction(&ir.Instruction{
		Opcode:   "VPDPBUSD",
		Operands: []Op{w, x, acc},
		Inputs:   []Op{w, x, acc},
		Outputs:  []Op{acc},
		ISA:      []string{"AVX512_VNNI"},
	})
}

// dotU8 sums bytes times signed bytes for six pixels and v vectors of 16
// output channels. AVX-512 VNNI.
func dotU8(v int) {
	const tile = 6
	TEXT([...]string{"", "dotU8v1", "dotU8v2", "dotU8v3", "dotU8v4"}[v], NOSPLIT,
		"func(acc *int32, stride int, a *byte, pix *int32, runs *int32, nruns int, quads int, w *int8)")
	Pragma("noescape")
	Doc("computes 6 pixels and 16 output channels per vector.")
	a := Load(Param("a"), GP64())
	pix := Load(Param("pix"), GP64())
	p := pointers(tile, a, Mem{Base: pix}, 0)
	runs := Load(Param("runs"), GP64())
	n := Load(Param("nruns"), GP64())
	w := Load(Param("w"), GP64())
	var acc [tile][]reg.VecVirtual
	for i := range acc {
		for range v {
			z := ZMM()
			VPXORD(z, z, z)
			acc[i] = append(acc[i], z)
		}
	}
	weights := make([]reg.VecVirtual, v)
	for i := range weights {
		weights[i] = ZMM()
	}
	x := ZMM()
	off, count := GP64(), GP64()
	Label("run")
	MOVLQSX(Mem{Base: runs}, off)
	ADDQ(U8(4), runs)
	MOVQ(NewParamAddr("quads", 48), count)
	Label("quad")
	for i := range weights {
		VMOVDQU8(Mem{Base: w, Disp: 64 * i}, weights[i])
	}
	ADDQ(U32(64*v), w)
	for i := range acc {
		VPBROADCASTD(Mem{Base: p[i], Index: off, Scale: 1}, x)
		for j := range weights {
			dotBytes(weights[j], x, acc[i][j])
		}
	}
	ADDQ(U8(4), off)
	DECQ(count)
	JNZ(LabelRef("quad"))
	DECQ(n)
	JNZ(LabelRef("run"))
	out := Load(Param("acc"), GP64())
	stride := Load(Param("stride"), GP64())
	SHLQ(U8(2), stride)
	for i := range acc {
		for j := range acc[i] {
			VMOVDQU32(acc[i][j], Mem{Base: out, Disp: 64 * j})
		}
		if i < tile-1 {
			ADDQ(stride, out)
		}
	}
	VZEROUPPER()
	RET()
}

// dotI16 sums 16-bit products for four pixels and 16 output channels. AVX2.
func dotI16() {
	const tile = 4
	TEXT("dotI16avx2", NOSPLIT,
		"func(acc *int32, stride int, a *int16, pix *int32, runs *int32, nruns int, quads int, w *int16)")
	Pragma("noescape")
	Doc("computes 4 pixels and 16 output channels.")
	a := Load(Param("a"), GP64())
	pix := Load(Param("pix"), GP64())
	p := pointers(tile, a, Mem{Base: pix}, 1)
	runs := Load(Param("runs"), GP64())
	n := Load(Param("nruns"), GP64())
	w := Load(Param("w"), GP64())
	var acc [tile][2]reg.VecVirtual
	for i := range acc {
		for j := range acc[i] {
			acc[i][j] = YMM()
			VPXOR(acc[i][j], acc[i][j], acc[i][j])
		}
	}
	w0, w1, x, t := YMM(), YMM(), YMM(), YMM()
	off, count := GP64(), GP64()
	Label("run")
	MOVLQSX(Mem{Base: runs}, off)
	ADDQ(off, off)
	ADDQ(U8(4), runs)
	MOVQ(NewParamAddr("quads", 48), count)
	ADDQ(count, count)
	Label("pair")
	VMOVDQU(Mem{Base: w}, w0)
	VMOVDQU(Mem{Base: w, Disp: 32}, w1)
	ADDQ(U8(64), w)
	for i := range acc {
		VPBROADCASTD(Mem{Base: p[i], Index: off, Scale: 1}, x)
		VPMADDWD(w0, x, t)
		VPADDD(t, acc[i][0], acc[i][0])
		VPMADDWD(w1, x, t)
		VPADDD(t, acc[i][1], acc[i][1])
	}
	ADDQ(U8(4), off)
	DECQ(count)
	JNZ(LabelRef("pair"))
	DECQ(n)
	JNZ(LabelRef("run"))
	out := Load(Param("acc"), GP64())
	stride := Load(Param("stride"), GP64())
	SHLQ(U8(2), stride)
	for i := range acc {
		VMOVDQU(acc[i][0], Mem{Base: out})
		VMOVDQU(acc[i][1], Mem{Base: out, Disp: 32})
		if i < tile-1 {
			ADDQ(stride, out)
		}
	}
	VZEROUPPER()
	RET()
}

// depthwise sums pairs of taps for 16 channels of a row of pixels, four pixels
// at a time. AVX2.
func depthwise() {
	TEXT("depthwiseAVX2", NOSPLIT,
		"func(acc *int32, stride int, a *int16, step int, pixels int, taps *int32, ntaps int, w *int16)")
	Pragma("noescape")
	Doc("computes 16 channels of a row of pixels.")
	out := Load(Param("acc"), GP64())
	stride := Load(Param("stride"), GP64())
	SHLQ(U8(2), stride)
	step := Load(Param("step"), GP64())
	ADDQ(step, step)
	a := Load(Param("a"), GP64())
	pixels := Load(Param("pixels"), GP64())
	part := func(tile int, name string) {
		acc := make([][2]reg.VecVirtual, tile)
		for i := range acc {
			for j := range acc[i] {
				acc[i][j] = YMM()
				VPXOR(acc[i][j], acc[i][j], acc[i][j])
			}
		}
		taps, n, w := GP64(), GP64(), GP64()
		MOVQ(NewParamAddr("taps", 40), taps)
		MOVQ(NewParamAddr("ntaps", 48), n)
		MOVQ(NewParamAddr("w", 56), w)
		o0, o1 := GP64(), GP64()
		w0, w1, x0, x1, t := YMM(), YMM(), YMM(), YMM(), YMM()
		Label(name)
		MOVLQSX(Mem{Base: taps}, o0)
		MOVLQSX(Mem{Base: taps, Disp: 4}, o1)
		LEAQ(Mem{Base: a, Index: o0, Scale: 2}, o0)
		LEAQ(Mem{Base: a, Index: o1, Scale: 2}, o1)
		ADDQ(U8(8), taps)
		VMOVDQU(Mem{Base: w}, w0)
		VMOVDQU(Mem{Base: w, Disp: 32}, w1)
		ADDQ(U8(64), w)
		for i := range acc {
			VMOVDQU(Mem{Base: o0}, x0)
			VMOVDQU(Mem{Base: o1}, x1)
			VPUNPCKLWD(x1, x0, t)
			VPUNPCKHWD(x1, x0, x0)
			VPMADDWD(w0, t, t)
			VPADDD(t, acc[i][0], acc[i][0])
			VPMADDWD(w1, x0, x0)
			VPADDD(x0, acc[i][1], acc[i][1])
			if i < tile-1 {
				ADDQ(step, o0)
				ADDQ(step, o1)
			}
		}
		SUBQ(U8(2), n)
		JNZ(LabelRef(name))
		for i := range acc {
			VPERM2I128(U8(0x20), acc[i][1], acc[i][0], t)
			VMOVDQU(t, Mem{Base: out})
			VPERM2I128(U8(0x31), acc[i][1], acc[i][0], t)
			VMOVDQU(t, Mem{Base: out, Disp: 32})
			ADDQ(stride, out)
			ADDQ(step, a)
		}
	}
	Label("four")
	CMPQ(pixels, U8(4))
	JLT(LabelRef("one"))
	part(4, "four_taps")
	SUBQ(U8(4), pixels)
	JMP(LabelRef("four"))
	Label("one")
	CMPQ(pixels, U8(0))
	JE(LabelRef("done"))
	part(1, "one_taps")
	DECQ(pixels)
	JMP(LabelRef("one"))
	Label("done")
	VZEROUPPER()
	RET()
}

// requant rounds sums twice and packs them to bytes, eight at a time. AVX2.
func requant() {
	pick := GLOBL("pickBytes", RODATA|NOPTR)
	for i := range 8 {
		v := U32(0x80808080)
		if i%4 == 0 {
			v = 0x0C080400
		}
		DATA(4*i, v)
	}
	TEXT("requantAVX2", NOSPLIT,
		"func(dst *byte, n int, acc *int32, bias *int32, add int32, scale *int32, shift *int32, zp int32, lo int32, hi int32)")
	Pragma("noescape")
	Doc("requantizes n elements, a multiple of 8.")
	dst := Load(Param("dst"), GP64())
	n := Load(Param("n"), GP64())
	acc := Load(Param("acc"), GP64())
	bias := Load(Param("bias"), GP64())
	scale := Load(Param("scale"), GP64())
	shift := Load(Param("shift"), GP64())
	broadcast := func(name string) reg.VecVirtual {
		x, y := XMM(), YMM()
		VMOVD(Load(Param(name), GP32()), x)
		VPBROADCASTD(x, y)
		return y
	}
	add, zp, lo, hi := broadcast("add"), broadcast("zp"), broadcast("lo"), broadcast("hi")
	half, one, picks := YMM(), YMM(), YMM()
	VPCMPEQD(one, one, one)
	VPSRLD(U8(31), one, one)
	VPCMPEQQ(half, half, half)
	VPSRLQ(U8(63), half, half)
	VPSLLQ(U8(30), half, half)
	VMOVDQU(pick, picks)
	v, s, even, odd, m := YMM(), YMM(), YMM(), YMM(), YMM()
	Label("loop")
	VMOVDQU(Mem{Base: acc}, v)
	VPADDD(Mem{Base: bias}, v, v)
	VPADDD(add, v, v)
	VMOVDQU(Mem{Base: scale}, s)
	VPMULDQ(s, v, even)
	VPSRLQ(U8(32), v, v)
	VPSRLQ(U8(32), s, s)
	VPMULDQ(s, v, odd)
	VPADDQ(half, even, even)
	VPADDQ(half, odd, odd)
	VPSRLQ(U8(31), even, even)
	VPADDQ(odd, odd, odd)
	VPBLENDD(U8(0xAA), odd, even, v)
	VMOVDQU(Mem{Base: shift}, s)
	VPSLLVD(s, one, m)
	VPSUBD(one, m, m)
	VPSRLD(U8(1), m, even)
	VPSRLD(U8(31), v, odd)
	VPADDD(odd, even, even)
	VPAND(m, v, m)
	VPCMPGTD(even, m, m)
	VPSRAVD(s, v, v)
	VPSUBD(m, v, v)
	VPADDD(zp, v, v)
	VPMAXSD(lo, v, v)
	VPMINSD(hi, v, v)
	VPSHUFB(picks, v, v)
	high := XMM()
	VEXTRACTI128(U8(1), v, high)
	VPUNPCKLDQ(high, v.AsX(), high)
	VMOVQ(high, Mem{Base: dst})
	for _, p := range []reg.Register{acc, bias, scale, shift} {
		ADDQ(U8(32), p)
	}
	ADDQ(U8(8), dst)
	SUBQ(U8(8), n)
	JNZ(LabelRef("loop"))
	VZEROUPPER()
	RET()
}
