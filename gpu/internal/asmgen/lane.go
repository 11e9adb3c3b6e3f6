package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// emitCompare writes a routine that returns the lanes with a < b, a == b and,
// for floats, unordered ones.
func emitCompare(typ string, wide bool) {
	suffix := "AVX2"
	if wide {
		suffix = "AVX512"
	}
	TEXT("cmp"+typ+suffix, NOSPLIT, "func(a, b *[64]uint32, n int) (lt, eq, un uint64)")
	Pragma("noescape")
	x := &isa{wide: wide}
	a, b := Load(Param("a"), GP64()), Load(Param("b"), GP64())
	n := Load(Param("n"), GP64())
	out := [3]reg.GPVirtual{GP64(), GP64(), GP64()}
	for _, r := range out {
		XORQ(r, r)
	}
	collect := func(i, j int, bits reg.GPVirtual) {
		if i > 0 {
			SHLQ(U8(x.lanes()*i), bits)
		}
		ORQ(bits, out[j])
	}
	blocks := 64 / x.lanes()
	for i := range blocks {
		if i == blocks/2 {
			CMPQ(n, U8(32))
			JE(LabelRef("done"))
		}
		va := x.load(Mem{Base: a, Disp: 4 * x.lanes() * i})
		vb := x.load(Mem{Base: b, Disp: 4 * x.lanes() * i})
		for j := range 3 {
			if j == 2 && typ != "F" {
				continue
			}
			bits := GP64()
			float := []uint64{0x11, 0x00, 0x03}[j]
			switch {
			case wide:
				k := K()
				switch typ {
				case "I":
					VPCMPD(U8([]int{1, 0, 0}[j]), vb, va, k)
				case "U":
					VPCMPUD(U8([]int{1, 0, 0}[j]), vb, va, k)
				default:
					VCMPPS(U8(float), vb, va, k)
				}
				KMOVW(k, bits.As32())
			case typ == "F":
				t := YMM()
				VCMPPS(U8(float), vb, va, t)
				VMOVMSKPS(t, bits.As32())
			case j == 1:
				t := YMM()
				VPCMPEQD(vb, va, t)
				VMOVMSKPS(t, bits.As32())
			default:
				ca, cb := va, vb
				if typ == "U" {
					top := x.constant(1 << 31)
					ca, cb = x.xor(va, top), x.xor(vb, top)
				}
				t := YMM()
				VPCMPGTD(ca, cb, t)
				VMOVMSKPS(t, bits.As32())
			}
			collect(i, j, bits)
		}
	}
	Label("done")
	VZEROUPPER()
	for j, r := range out {
		Store(r, ReturnIndex(j))
	}
	RET()
}

func emitSplat(wide bool) {
	suffix := "AVX2"
	if wide {
		suffix = "AVX512"
	}
	TEXT("splat"+suffix, NOSPLIT, "func(d *[64]uint32, v uint32, n int)")
	Pragma("noescape")
	x := &isa{wide: wide}
	d := Load(Param("d"), GP64())
	r := x.reg()
	if wide {
		VPBROADCASTD(Load(Param("v"), GP32()), r)
	} else {
		t := XMM()
		VMOVD(Load(Param("v"), GP32()), t)
		VPBROADCASTD(t, r)
	}
	n := Load(Param("n"), GP64())
	blocks := 64 / x.lanes()
	for i := range blocks {
		if i == blocks/2 {
			CMPQ(n, U8(32))
			JE(LabelRef("done"))
		}
		VMOVUPS(r, Mem{Base: d, Disp: 4 * x.lanes() * i})
	}
	Label("done")
	VZEROUPPER()
	RET()
}

// emitSelect writes the choice of a lane of b where a bit is set, of a elsewhere; with quads, of a lane of a's quad, whose
// number ctrl has in two bits for each lane of the quad.
func emitSelect(wide, quads bool) {
	name, signature := "select", "func(d, a, b *[64]uint32, from uint64, n int)"
	if quads {
		name, signature = "quad", "func(d, a, b *[64]uint32, from uint64, ctrl uint32, n int)"
	}
	x := begin(name, signature, wide, false)
	d, a, b := Load(Param("d"), GP64()), Load(Param("a"), GP64()), Load(Param("b"), GP64())
	from, n := GP64(), Load(Param("n"), GP64())
	Load(Param("from"), from)
	var each, lanes vec // the bit of each lane, and the lane of a's quad
	if !wide {
		each = x.bytes(0x8040201008040201)
	}
	if quads {
		c := XMM()
		VMOVD(Load(Param("ctrl"), GP32()), c)
		lanes = x.reg()
		VPBROADCASTD(c, lanes)
		lanes = x.bin(VPSRLVD, lanes, x.bytes(0x0604020006040200))
	}
	Label("lanes")
	r := x.load(Mem{Base: a})
	if quads {
		VPERMILPS(lanes, r, r)
	}
	if wide {
		k := K()
		KMOVW(from.As32(), k)
		VMOVUPS(Mem{Base: b}, k, r)
	} else {
		t, chosen := XMM(), YMM()
		VMOVD(from.As32(), t)
		VPBROADCASTD(t, chosen)
		VPAND(each, chosen, chosen)
		VPCMPEQD(each, chosen, chosen)
		VBLENDVPS(chosen, Mem{Base: b}, r, r)
	}
	VMOVUPS(r, Mem{Base: d})
	for _, p := range []reg.Register{a, b, d} {
		ADDQ(U8(4*x.lanes()), p)
	}
	SHRQ(U8(x.lanes()), from)
	SUBQ(U8(x.lanes()), n)
	JNZ(LabelRef("lanes"))
	VZEROUPPER()
	RET()
}
