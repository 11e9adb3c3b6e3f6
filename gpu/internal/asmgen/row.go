package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const signature = "func(d, a, b, c *[64]uint32, m uint64, n int) uint64"

const batchSignature = "func(v, s *uint32, ops *[4]uint16, count int, m uint64, n int) (done int, rest uint64)"

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
