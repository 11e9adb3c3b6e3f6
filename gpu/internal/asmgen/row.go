package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const signature = "func(d, a, b, c *[64]uint32, m uint64, n int) uint64"

const batchSignature = "func(v, s *uint32, ops *[4]uint16, count int, m uint64, n int) (done int, rest uint64)"

// begin begins a routine.
func begin(name, signature string) *isa {
	TEXT(name, NOSPLIT, signature)
	Pragma("noescape")
	return new(isa)
}

// allLanes leaves for label care unless mask m has all of n lanes.
func allLanes(m, n reg.Register) {
	full := GP64()
	MOVQ(I64(-1), full)
	CMPQ(n, U8(64))
	JE(LabelRef("compare"))
	SHRQ(U8(32), full)
	Label("compare")
	CMPQ(m, full)
	JNE(LabelRef("care"))
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
	VMOVUPS(r, d)
}

// emit writes one routine. With spread, a points to a scalar that all lanes share.
func emit(o op, spread bool) {
	name := "row" + o.name
	if spread {
		name += "S"
	}
	x := begin(name, signature)
	x.care = "care"
	d := Load(Param("d"), GP64())
	var src [3]reg.Register
	for i, p := range []string{"a", "b", "c"} {
		if i < o.n {
			src[i] = Load(Param(p), GP64())
		}
	}
	m, n, at := Load(Param("m"), GP64()), Load(Param("n"), GP64()), GP64()
	XORQ(at, at)
	allLanes(m, n)
	var scalar vec
	if spread {
		scalar = YMM()
		VPBROADCASTD(Mem{Base: src[0]}, scalar)
	}
	Label("lanes")
	part := func(r reg.Register) Mem { return Mem{Base: r, Index: at, Scale: 4} }
	x.block(o, scalar, func(j int) Mem { return part(src[j]) }, part(d))
	ADDQ(U8(lanes), at)
	CMPQ(at, n)
	JL(LabelRef("lanes"))
	XORQ(m, m)
	Label("return")
	VZEROUPPER()
	Store(m, ReturnIndex(0))
	RET()
	left(m, at)
}

// left writes what is done at label care: what is left of mask m begins with the block at a lane.
func left(m, at reg.Register) {
	Label("care")
	SHRXQ(at, m, m)
	SHLXQ(at, m, m)
	JMP(LabelRef("return"))
}

// emitBatch writes one routine for count operations. Each has the byte offsets of d, b and c from v,
// and of a from s; with spread, a is a scalar. It ends early at an operation that is not done whole.
func emitBatch(o op, spread bool) {
	name := "batch" + o.name
	if spread {
		name += "S"
	}
	x := begin(name, batchSignature)
	x.care = "care"
	v, s := Load(Param("v"), GP64()), Load(Param("s"), GP64())
	ops, count := Load(Param("ops"), GP64()), Load(Param("count"), GP64())
	m, n := Load(Param("m"), GP64()), Load(Param("n"), GP64())
	done, lane := GP64(), GP64()
	XORQ(done, done)
	XORQ(lane, lane)
	allLanes(m, n)
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
		scalar = YMM()
		VPBROADCASTD(Mem{Base: at[1]}, scalar)
	}
	XORQ(lane, lane)
	Label("lanes")
	part := func(r reg.Register) Mem { return Mem{Base: r, Index: lane, Scale: 4} }
	x.block(o, scalar, func(j int) Mem { return part(at[1+j]) }, part(at[0]))
	ADDQ(U8(lanes), lane)
	CMPQ(lane, n)
	JL(LabelRef("lanes"))
	INCQ(done)
	JMP(LabelRef("next"))
	Label("end")
	XORQ(m, m)
	Label("return")
	VZEROUPPER()
	Store(done, ReturnIndex(0))
	Store(m, ReturnIndex(1))
	RET()
	left(m, lane)
}
