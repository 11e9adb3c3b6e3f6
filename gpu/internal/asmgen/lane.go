package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// emitCompare writes a routine that returns the lanes with a < b, a == b and,
// for floats, unordered ones.
func emitCompare(typ string) {
	x := begin("cmp"+typ, "func(a, b *[64]uint32, n int) (lt, eq, un uint64)")
	a, b := Load(Param("a"), GP64()), Load(Param("b"), GP64())
	n := Load(Param("n"), GP64())
	out := [3]reg.GPVirtual{GP64(), GP64(), GP64()}
	for _, r := range out {
		XORQ(r, r)
	}
	collect := func(i, j int, bits reg.GPVirtual) {
		if i > 0 {
			SHLQ(U8(lanes*i), bits)
		}
		ORQ(bits, out[j])
	}
	blocks := 64 / lanes
	for i := range blocks {
		if i == blocks/2 {
			CMPQ(n, U8(32))
			JE(LabelRef("done"))
		}
		va := x.load(Mem{Base: a, Disp: 4 * lanes * i})
		vb := x.load(Mem{Base: b, Disp: 4 * lanes * i})
		for j := range 3 {
			if j == 2 && typ != "F" {
				continue
			}
			bits := GP64()
			float := []uint64{0x11, 0x00, 0x03}[j]
			switch {
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

func emitSplat() {
	begin("splat", "func(d *[64]uint32, v uint32, n int)")
	d := Load(Param("d"), GP64())
	t, r := XMM(), YMM()
	VMOVD(Load(Param("v"), GP32()), t)
	VPBROADCASTD(t, r)
	n := Load(Param("n"), GP64())
	blocks := 64 / lanes
	for i := range blocks {
		if i == blocks/2 {
			CMPQ(n, U8(32))
			JE(LabelRef("done"))
		}
		VMOVUPS(r, Mem{Base: d, Disp: 4 * lanes * i})
	}
	Label("done")
	VZEROUPPER()
	RET()
}

// emitSelect writes the choice of a lane of b where a bit is set, of a elsewhere; with quads, of a lane of a's quad, whose
// number ctrl has in two bits for each lane of the quad.
func emitSelect(quads bool) {
	name, signature := "choose", "func(d, a, b *[64]uint32, from uint64, n int)"
	if quads {
		name, signature = "quad", "func(d, a, b *[64]uint32, from uint64, ctrl uint32, n int)"
	}
	x := begin(name, signature)
	d, a, b := Load(Param("d"), GP64()), Load(Param("a"), GP64()), Load(Param("b"), GP64())
	from, n := GP64(), Load(Param("n"), GP64())
	Load(Param("from"), from)
	each := x.bytes(0x8040201008040201) // the bit of each lane
	var source vec                      // the lane of a's quad
	if quads {
		c := XMM()
		VMOVD(Load(Param("ctrl"), GP32()), c)
		source = YMM()
		VPBROADCASTD(c, source)
		source = x.bin(VPSRLVD, source, x.bytes(0x0604020006040200))
	}
	Label("lanes")
	r := x.load(Mem{Base: a})
	if quads {
		VPERMILPS(source, r, r)
	}
	t, chosen := XMM(), YMM()
	VMOVD(from.As32(), t)
	VPBROADCASTD(t, chosen)
	VPAND(each, chosen, chosen)
	VPCMPEQD(each, chosen, chosen)
	VBLENDVPS(chosen, Mem{Base: b}, r, r)
	VMOVUPS(r, Mem{Base: d})
	for _, p := range []reg.Register{a, b, d} {
		ADDQ(U8(4*lanes), p)
	}
	SHRQ(U8(lanes), from)
	SUBQ(U8(lanes), n)
	JNZ(LabelRef("lanes"))
	VZEROUPPER()
	RET()
}
