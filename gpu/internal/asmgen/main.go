// Command asm writes the assembly of the vector unit's hot operations, for
// AVX-512 and for AVX2, from one description of each.
//
// Every routine handles whole rows: for the lanes i of mask m it computes d[i] = f(a[i], b[i], c[i]) and returns the
// lanes left undone: those of a block whose result needs care (a NaN), and with AVX2 all lanes when m is not full. The
// caller finishes them with the portable code.
//
// A batch does the same for consecutive operations, whose registers are passed as offsets.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const signature = "func(d, a, b, c *[64]uint32, m uint64, n int) uint64"

const batchSignature = "func(v, s *uint32, ops *[4]uint16, count int, m uint64, n int) (done int, rest uint64)"

// isa hides the width of the vectors.
type isa struct {
	wide bool
	k    reg.OpmaskVirtual // lanes of the block
	care string            // where to go when the block needs care
}

func (x *isa) lanes() int {
	if x.wide {
		return 16
	}
	return 8
}

func (x *isa) reg() reg.VecVirtual {
	if x.wide {
		return ZMM()
	}
	return YMM()
}

func (x *isa) half() reg.VecVirtual {
	if x.wide {
		return YMM()
	}
	return XMM()
}

func (x *isa) load(m Mem) reg.VecVirtual {
	r := x.reg()
	VMOVUPS(m, r)
	return r
}

// constant is a vector of one 32-bit value.
func (x *isa) constant(v uint32) reg.VecVirtual {
	g := GP32()
	MOVL(U32(v), g)
	r := x.reg()
	if x.wide {
		VPBROADCASTD(g, r)
		return r
	}
	t := XMM()
	VMOVD(g, t)
	VPBROADCASTD(t, r)
	return r
}

// logic is a bitwise instruction, whose names for the widths differ.
func (x *isa) logic(wide func(ops ...Op), narrow func(b, a, r Op), a, b reg.VecVirtual) reg.VecVirtual {
	r := x.reg()
	if x.wide {
		wide(b, a, r)
	} else {
		narrow(b, a, r)
	}
	return r
}

func (x *isa) and(a, b reg.VecVirtual) reg.VecVirtual { return x.logic(VPANDD, VPAND, a, b) }
func (x *isa) or(a, b reg.VecVirtual) reg.VecVirtual  { return x.logic(VPORD, VPOR, a, b) }
func (x *isa) xor(a, b reg.VecVirtual) reg.VecVirtual { return x.logic(VPXORD, VPXOR, a, b) }

// bin is a three-operand instruction with the same name for both widths.
func (x *isa) bin(f func(ops ...Op), a, b reg.VecVirtual) reg.VecVirtual {
	r := x.reg()
	f(b, a, r)
	return r
}

// shift by an immediate.
func (x *isa) shift(f func(ops ...Op), n int, a reg.VecVirtual) reg.VecVirtual {
	r := x.reg()
	f(U8(n), a, r)
	return r
}

func (x *isa) add(a, b reg.VecVirtual) reg.VecVirtual { return x.bin(VPADDD, a, b) }

// fma is a*b+c.
func (x *isa) fma(a, b, c reg.VecVirtual) reg.VecVirtual {
	r := x.reg()
	VMOVAPS(c, r)
	VFMADD231PS(b, a, r)
	return r
}

// bail leaves the routine when a lane of the block that counts has a NaN in v.
func (x *isa) bail(v reg.VecVirtual) {
	if x.wide {
		k := K()
		VCMPPS(U8(3), v, v, x.k, k)
		KORTESTW(k, k)
		JNZ(LabelRef(x.care))
		return
	}
	t := YMM()
	VCMPPS(U8(3), v, v, t)
	VTESTPS(t, t)
	JNZ(LabelRef(x.care))
}

// low and high widen the halves of each 32-bit element to float32.
func (x *isa) low(a reg.VecVirtual) reg.VecVirtual {
	h := x.half()
	if x.wide {
		VPMOVDW(a, h)
	} else {
		t := x.and(a, x.constant(0xFFFF))
		VPACKUSDW(t, t, t)
		VPERMQ(U8(0x08), t, t)
		VMOVDQA(t.AsX(), h)
	}
	r := x.reg()
	VCVTPH2PS(h, r)
	return r
}

func (x *isa) high(a reg.VecVirtual) reg.VecVirtual { return x.low(x.shift(VPSRLD, 16, a)) }

// pack rounds two vectors of float32 to halves of 32-bit elements.
func (x *isa) pack(lo, hi reg.VecVirtual) reg.VecVirtual {
	widen := func(v reg.VecVirtual) reg.VecVirtual {
		h, r := x.half(), x.reg()
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
	inexact := x.reg()
	if x.wide {
		k := K()
		VCMPPS(U8(4), x.zero(), e, k)
		VPTERNLOGD(U8(0xFF), inexact, inexact, inexact)
		VMOVDQU32_Z(inexact, k, inexact)
	} else {
		VCMPPS(U8(4), x.zero(), e, inexact)
	}
	return x.add(s, x.and(delta, x.and(even, inexact)))
}

func (x *isa) zero() reg.VecVirtual {
	r := x.reg()
	if x.wide {
		VPXORD(r, r, r)
	} else {
		VPXOR(r, r, r)
	}
	return r
}

// flush replaces denormals by zeros of their sign.
func (x *isa) flush(v reg.VecVirtual) reg.VecVirtual {
	exp := x.and(v, x.constant(0x7F800000))
	sign := x.and(v, x.constant(0x80000000))
	r := x.reg()
	if x.wide {
		k := K()
		VPTESTNMD(exp, exp, k)
		VMOVDQA32(v, r)
		VMOVDQA32(sign, k, r)
		return r
	}
	t := YMM()
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

// begin begins a routine.
func begin(name, signature string, wide, spread bool) *isa {
	if spread {
		name += "S"
	}
	set := "AVX2"
	if wide {
		set = "AVX512"
	}
	TEXT(name+set, NOSPLIT, signature)
	Pragma("noescape")
	return &isa{wide: wide}
}

// allLanes leaves for label care0 unless mask m has all of n lanes.
func allLanes(m, n reg.Register) {
	full := GP64()
	MOVQ(I64(-1), full)
	CMPQ(n, U8(64))
	JE(LabelRef("compare"))
	SHRQ(U8(32), full)
	Label("compare")
	CMPQ(m, full)
	JNE(LabelRef("care0"))
}

// block writes an operation on a register of lanes, from sources at src to d. A scalar, if there
// is one, is the first source.
func (x *isa) block(o op, scalar vec, src func(j int) Mem, d Mem) {
	var v [3]vec
	for j := range o.n {
		if j == 0 && scalar != nil {
			v[j] = scalar
		} else {
			v[j] = x.load(src(j))
		}
	}
	r := o.f(x, v[0], v[1], v[2])
	if o.nan {
		x.bail(r)
	}
	if x.wide {
		VMOVUPS(r, x.k, d)
	} else {
		VMOVUPS(r, d)
	}
}

// emit writes one routine. With spread, a points to a scalar that all lanes
// share.
func emit(o op, wide, spread bool) {
	x := begin("row"+o.name, signature, wide, spread)
	d := Load(Param("d"), GP64())
	var src [3]reg.Register
	for i, p := range []string{"a", "b", "c"} {
		if i < o.n {
			src[i] = Load(Param(p), GP64())
		}
	}
	m := Load(Param("m"), GP64())
	n := Load(Param("n"), GP64())
	if !wide {
		allLanes(m, n)
	}
	var scalar vec
	if spread {
		scalar = x.reg()
		VPBROADCASTD(Mem{Base: src[0]}, scalar)
	}
	blocks := 64 / x.lanes()
	var cares []int
	for i := range blocks {
		if i == blocks/2 {
			CMPQ(n, U8(32))
			JE(LabelRef("done"))
		}
		x.care = fmt.Sprintf("care%d", i)
		cares = append(cares, i)
		at := func(r reg.Register) Mem { return Mem{Base: r, Disp: 4 * x.lanes() * i} }
		if wide {
			x.k = K()
			part := GP64()
			MOVQ(m, part)
			if i > 0 {
				SHRQ(U8(x.lanes()*i), part)
			}
			KMOVW(part.As32(), x.k)
		}
		x.block(o, scalar, func(j int) Mem { return at(src[j]) }, at(d))
	}
	Label("done")
	rest := GP64()
	XORQ(rest, rest)
	VZEROUPPER()
	Store(rest, ReturnIndex(0))
	RET()
	for _, i := range cares {
		// What is left begins with this block.
		Label(fmt.Sprintf("care%d", i))
		if i > 0 {
			SHRQ(U8(x.lanes()*i), m)
			SHLQ(U8(x.lanes()*i), m)
		}
		VZEROUPPER()
		Store(m, ReturnIndex(0))
		RET()
	}
}

// batched are the routines that have a batch form as well: those that kernels have many of in a row.
var batched = map[string]bool{"FmaF": true, "Dot2F": true}

// emitBatch writes one routine for count operations. Each has the byte offsets of d, b and c from v,
// and of a from s; with spread, a is a scalar. It ends early at an operation that is not done whole.
func emitBatch(o op, wide, spread bool) {
	x := begin("batch"+o.name, batchSignature, wide, spread)
	v, s := Load(Param("v"), GP64()), Load(Param("s"), GP64())
	ops, count := Load(Param("ops"), GP64()), Load(Param("count"), GP64())
	m, n := Load(Param("m"), GP64()), Load(Param("n"), GP64())
	done := GP64()
	XORQ(done, done)
	blocks := 64 / x.lanes()
	masks := make([]reg.OpmaskVirtual, blocks)
	if wide {
		part := GP64()
		MOVQ(m, part)
		for i := range masks {
			masks[i] = K()
			KMOVW(part.As32(), masks[i])
			SHRQ(U8(x.lanes()), part)
		}
	} else {
		allLanes(m, n)
	}
	Label("next")
	CMPQ(done, count)
	JGE(LabelRef("end"))
	var at [4]reg.GPVirtual
	for i, base := range []reg.Register{v, s, v, v} {
		at[i] = GP64()
		MOVWQZX(Mem{Base: ops, Index: done, Scale: 8, Disp: 2 * i}, at[i])
		ADDQ(base, at[i])
	}
	var scalar vec
	if spread {
		scalar = x.reg()
		VPBROADCASTD(Mem{Base: at[1]}, scalar)
	}
	for i := range blocks {
		if i == blocks/2 {
			CMPQ(n, U8(32))
			JE(LabelRef("whole"))
		}
		x.care, x.k = fmt.Sprintf("care%d", i), masks[i]
		part := func(r reg.Register) Mem { return Mem{Base: r, Disp: 4 * x.lanes() * i} }
		x.block(o, scalar, func(j int) Mem { return part(at[1+j]) }, part(at[0]))
	}
	Label("whole")
	INCQ(done)
	JMP(LabelRef("next"))
	for i := range blocks {
		Label(fmt.Sprintf("care%d", i))
		if i > 0 {
			SHRQ(U8(x.lanes()*i), m)
			SHLQ(U8(x.lanes()*i), m)
		}
		JMP(LabelRef("return"))
	}
	Label("end")
	XORQ(m, m)
	Label("return")
	VZEROUPPER()
	Store(done, ReturnIndex(0))
	Store(m, ReturnIndex(1))
	RET()
}

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

// emitSelect writes the choice of a lane of b where a bit is set, of a elsewhere.
func emitSelect(wide bool) {
	suffix := "AVX2"
	if wide {
		suffix = "AVX512"
	}
	TEXT("select"+suffix, NOSPLIT, "func(d, a, b *[64]uint32, from uint64, n int)")
	Pragma("noescape")
	x := &isa{wide: wide}
	d, a, b := Load(Param("d"), GP64()), Load(Param("a"), GP64()), Load(Param("b"), GP64())
	from, n := GP64(), Load(Param("n"), GP64())
	Load(Param("from"), from)
	var each vec // the bit of each lane
	if !wide {
		each = YMM()
		t := GP64()
		MOVQ(U64(0x8040201008040201), t)
		low := XMM()
		VMOVQ(t, low)
		VPMOVZXBD(low, each)
	}
	Label("lanes")
	r := x.load(Mem{Base: a})
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

// emitRegular writes the comparison of neighbours: of lanes 1 to 8 with 0 to 7 and so on, and of the last eight.
func emitRegular() {
	TEXT("regularAVX2", NOSPLIT, "func(a *[64]uint32, step uint32, n int) bool")
	Pragma("noescape")
	a, n := Load(Param("a"), GP64()), Load(Param("n"), GP64())
	x := &isa{}
	t, step := XMM(), x.reg()
	VMOVD(Load(Param("step"), GP32()), t)
	VPBROADCASTD(t, step)
	all := x.reg()
	VPCMPEQD(all, all, all)
	compare := func(l int) {
		d := x.reg()
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
	name, signature := "dealAVX2", "func(d *uint32, b *byte, n int)"
	if scattered {
		name, signature = "gather4AVX2", "func(d *uint32, b *byte, offsets *[64]uint32, less uint32, n int)"
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
		in[i] = x.reg()
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
	TEXT("gatherAVX2", NOSPLIT, "func(d *uint32, b *byte, offsets *[64]uint32, less uint32, n int)")
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
	TEXT("addressesAVX2", NOSPLIT, "func(addr *[64]uint64, offsets *[64]uint32, base uint64, n int) (low, high uint32)")
	Pragma("noescape")
	addr, offsets, n := Load(Param("addr"), GP64()), Load(Param("offsets"), GP64()), Load(Param("n"), GP64())
	x := &isa{}
	t, base, low, high := XMM(), x.reg(), x.reg(), x.reg()
	VMOVQ(Load(Param("base"), GP64()), t)
	VPBROADCASTQ(t, base)
	VPCMPEQD(low, low, low)
	VPXOR(high, high, high)
	Label("lanes")
	v := x.load(Mem{Base: offsets})
	VPMINUD(v, low, low)
	VPMAXUD(v, high, high)
	for i := range 2 {
		wide := x.reg()
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
	TEXT("neighboursAVX2", NOSPLIT, "func(addr *[64]uint64, last, shift uint64, n int) (other, same uint64)")
	Pragma("noescape")
	addr, n := Load(Param("addr"), GP64()), Load(Param("n"), GP64())
	x := &isa{}
	t, last, shift := XMM(), x.reg(), XMM()
	VMOVQ(Load(Param("last"), GP64()), t)
	VPBROADCASTQ(t, last)
	VMOVQ(Load(Param("shift"), GP64()), shift)
	within, same, at := GP64(), GP64(), GP64()
	XORQ(within, within)
	XORQ(same, same)
	XORQ(at, at)
	count := reg.RCX
	step := func(v, before vec) {
		block, end, old, bits := x.reg(), x.reg(), x.reg(), GP64()
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
	first, itself := x.load(Mem{Base: addr}), x.reg()
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
	TEXT("apartAVX2", NOSPLIT, "func(addr, apart *[64]uint64, n int) bool")
	Pragma("noescape")
	addr, apart, n := Load(Param("addr"), GP64()), Load(Param("apart"), GP64()), Load(Param("n"), GP64())
	x := &isa{}
	first, all, at := x.reg(), x.reg(), GP64()
	VPBROADCASTQ(Mem{Base: addr}, first)
	VPCMPEQD(all, all, all)
	XORQ(at, at)
	Label("lanes")
	for i := range 4 {
		d := x.reg()
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

func main() {
	ConstraintExpr("amd64")
	for _, o := range ops {
		emit(o, true, false)
		emit(o, false, false)
	}
	for _, o := range ops {
		if spreads[o.name] {
			emit(o, true, true)
			emit(o, false, true)
		}
	}
	for _, o := range ops {
		for i := range 4 {
			if batched[o.name] {
				emitBatch(o, i&1 == 0, i&2 != 0)
			}
		}
	}
	for _, wide := range []bool{true, false} {
		for _, typ := range []string{"I", "U", "F"} {
			emitCompare(typ, wide)
		}
		emitSplat(wide)
		emitSelect(wide)
	}
	emitRegular()
	emitDeinterleave(false)
	emitDeinterleave(true)
	emitGather()
	emitAddresses()
	emitNeighbours()
	emitApart()
	Generate()
}
