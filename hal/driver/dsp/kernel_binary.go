package dsp

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/opspec"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// binaryKernel is ADD, SUB or MUL over ranges of whole vectors.
type binaryKernel struct {
	mul    bool
	sub    bool
	roundA bool // ADD: the input's multiplier shifts right
	roundB bool
	rq     requantKind
}

// The kernel's own parameter words, behind those of the requantization.
const (
	binZeroA = parWords + iota // twice, as halves
	binZeroB
	binMultA
	binMultB
	binRightA // right shift minus one
	binRightB
)

func (b *binaryKernel) name() string {
	if b.mul {
		return "mul_" + b.rq.tag()
	}
	op := "add"
	if b.sub {
		op = "sub"
	}
	return fmt.Sprintf("%s_%s%s_%s", op, flag(b.roundA, "a"), flag(b.roundB, "b"), b.rq.tag())
}

// addParams are the parameter words of an ADD, mulParams those of a MUL.
func addParams(rq *requant, q *opspec.AddQuant, bias int32) []uint32 {
	return append(rq.params(), splatHalf(q.ZeroA+bias), splatHalf(q.ZeroB+bias), uint32(q.A.M), uint32(q.B.M),
		uint32(max(-q.A.Shift-1, 0)), uint32(max(-q.B.Shift-1, 0)))
}

func mulParams(rq *requant, q *opspec.MulQuant, bias int32) []uint32 {
	return append(rq.params(), splatHalf(q.ZeroA+bias), splatHalf(q.ZeroB+bias))
}

// Words of an entry: a range of vectors, and what l2fetch is to bring in.
const (
	binA = iota
	binB
	binOut
	binVectors
	binLookahead
	binBox
	binWords
)

// generate writes the kernel. Arguments: table, entries, parameter block.
func (b *binaryKernel) generate(a *asm) {
	in := a.args("table", "entries", "params")
	table, entries, params := in[0], in[1], in[2]
	rq := a.requantSetup(b.rq, params)
	zeroA := a.splat(a.word(params, binZeroA, "zeroA"), "zeroA")
	zeroB := a.splat(a.word(params, binZeroB, "zeroB"), "zeroB")
	sum := hexagon.V6_vaddw
	if b.sub {
		sum = hexagon.V6_vsubw
	}
	var termA, termB *addTerm
	if !b.mul {
		termA = a.addTerm(params, binMultA, binRightA, b.roundA)
		termB = a.addTerm(params, binMultB, binRightB, b.roundB)
	}
	a.binaryEntries(table, entries, 1, func(pa, pb, po codegen.Reg) {
		xa := a.centred(pa, zeroA)
		xb := a.centred(pb, zeroB)
		var acc [4]codegen.Reg
		for i := range xa {
			if b.mul {
				w := a.vv("product")
				a.op(hexagon.V6_vmpyhv, w, xa[i], xb[i])
				acc[2*i], acc[2*i+1] = lo(w), hi(w)
				continue
			}
			wa, wb := termA.widen(a, xa[i]), termB.widen(a, xb[i])
			for k := range wa {
				acc[2*i+k] = a.v("sum")
				a.op(sum, acc[2*i+k], wa[k], wb[k])
			}
		}
		a.op(hexagon.V6_vS32b_pi, po, 1, rq.pack(acc, noChannelVectors, true)).Stores(aliasOut)
	})
	a.ret()
}

// binaryEntries runs body for every vector of the entries, for one or two at a time.
func (a *asm) binaryEntries(table, entries codegen.Reg, most int, body func(pa, pb, po codegen.Reg)) {
	a.repeat(entries, func() {
		pa, pb, po := a.word(table, binA, "a"), a.word(table, binB, "b"), a.word(table, binOut, "out")
		n, ahead, box := a.word(table, binVectors, "vectors"), a.word(table, binLookahead, "ahead"), a.word(table, binBox, "box")
		a.bump(table, 4*binWords)
		a.skipIfZero(box, func() {
			shape := a.rr("box")
			a.op(hexagon.A2_tfr, lo(shape), box)
			a.op(hexagon.A2_tfrsi, hi(shape), vecBytes)
			a.op(hexagon.Y5_l2fetch, ahead, shape)
		})
		if most == 1 {
			a.loop0(n, func() { body(pa, pb, po) })
			return
		}
		pairs, last := a.r("pairs"), a.r("last")
		a.op(hexagon.S2_lsr_i_r, pairs, n, 1)
		a.op(hexagon.A2_andir, last, n, 1)
		a.skipIfZero(pairs, func() {
			a.loop0(pairs, func() {
				body(pa, pb, po)
				body(pa, pb, po)
			})
		})
		a.skipIfZero(last, func() { body(pa, pb, po) })
	})
}

// centred loads a vector of bytes, widens it to halves (even bytes, odd bytes)
// and subtracts the zero point.
func (a *asm) centred(ptr, zero codegen.Reg) [2]codegen.Reg {
	v, w := a.v("bytes"), a.vv("wide")
	a.op(hexagon.V6_vL32b_pi, v, ptr, 1).Loads(aliasIn)
	a.op(hexagon.V6_vzb, w, v)
	x := [2]codegen.Reg{a.v("even"), a.v("odd")}
	a.op(hexagon.V6_vsubh, x[0], lo(w), zero)
	a.op(hexagon.V6_vsubh, x[1], hi(w), zero)
	return x
}

// addTerm rescales an input of ADD: RDPOT(SRDHM(x << 20, m), right).
type addTerm struct {
	mult                codegen.Reg
	left, c31, right, z codegen.Reg
	round               bool
}

func (a *asm) addTerm(params codegen.Reg, mult, right int, round bool) *addTerm {
	t := &addTerm{mult: a.splat(a.word(params, mult, "mult"), "mult"), left: a.imm(opspec.AddShift), round: round}
	if round {
		t.c31, t.right, t.z = a.imm(31), a.word(params, right, "right"), a.zero()
	}
	return t
}

// widen makes two accumulators from a vector of halves.
func (t *addTerm) widen(a *asm, x codegen.Reg) [2]codegen.Reg {
	w := a.vv("wide")
	a.op(hexagon.V6_vsh, w, x)
	var out [2]codegen.Reg
	for i, v := range [2]codegen.Reg{lo(w), hi(w)} {
		s := a.v("shifted")
		a.op(hexagon.V6_vaslw, s, v, t.left)
		out[i] = a.mulHigh(s, t.mult)
		if t.round {
			// (y + sign) >> (n-1), then the last bit with rounding up.
			a.op(hexagon.V6_vasrw_acc, out[i], out[i], t.c31)
			a.op(hexagon.V6_vasrw, out[i], out[i], t.right)
			a.op(hexagon.V6_vavgwrnd, out[i], out[i], t.z)
		}
	}
	return out
}
