package elementwise

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
	"github.com/nnsoc/nnsoc/nn/quantized"
)

// Binary is ADD, SUB or MUL over ranges of whole vectors.
type Binary struct {
	Mul    bool
	Sub    bool
	RoundA bool // ADD: the input's multiplier shifts right
	RoundB bool
	Rq     hvx.RequantKind
}

// The kernel's own parameter words, behind those of the requantization.
const (
	binZeroA = hvx.ParWords + iota // twice, as halves
	binZeroB
	binMultA
	binMultB
	binRightA // right shift minus one
	binRightB
)

func (b Binary) Name() string {
	if b.Mul {
		return "mul_" + b.Rq.Tag()
	}
	op := "add"
	if b.Sub {
		op = "sub"
	}
	return fmt.Sprintf("%s_%s%s_%s", op, hvx.Flag(b.RoundA, "a"), hvx.Flag(b.RoundB, "b"), b.Rq.Tag())
}

// AddParams are the parameter words of an ADD, MulParams those of a MUL.
func AddParams(rq *hvx.Requant, q *quantized.Add, bias int32) []uint32 {
	return append(rq.Params(), hvx.SplatHalfword(q.ZeroA+bias), hvx.SplatHalfword(q.ZeroB+bias), uint32(q.A.M), uint32(q.B.M),
		uint32(max(-q.A.Shift-1, 0)), uint32(max(-q.B.Shift-1, 0)))
}

func MulParams(rq *hvx.Requant, q *quantized.Mul, bias int32) []uint32 {
	return append(rq.Params(), hvx.SplatHalfword(q.ZeroA+bias), hvx.SplatHalfword(q.ZeroB+bias))
}

// Words of an entry: a range of vectors, and what l2fetch is to bring in.
const (
	BinA = iota
	BinB
	BinOut
	BinVectors
	BinLookahead
	BinBox
	BinWords
)

// Emit writes the kernel. Arguments: table, entries, parameter block.
func (b Binary) Emit(a *hvx.Builder) {
	in := a.Args("table", "entries", "params")
	table, entries, params := in[0], in[1], in[2]
	rq := a.RequantSetup(b.Rq, params)
	zeroA := a.Splat(a.Word(params, binZeroA, "zeroA"), "zeroA")
	zeroB := a.Splat(a.Word(params, binZeroB, "zeroB"), "zeroB")
	sum := hexagon.V6_vaddw
	if b.Sub {
		sum = hexagon.V6_vsubw
	}
	var termA, termB *addTerm
	if !b.Mul {
		termA = newAddTerm(a, params, binMultA, binRightA, b.RoundA)
		termB = newAddTerm(a, params, binMultB, binRightB, b.RoundB)
	}
	binaryEntries(a, table, entries, 1, func(pa, pb, po codegen.Reg) {
		xa := a.LoadCentred(pa, zeroA)
		xb := a.LoadCentred(pb, zeroB)
		var acc [4]codegen.Reg
		for i := range xa {
			if b.Mul {
				w := a.VV("product")
				a.Op(hexagon.V6_vmpyhv, w, xa[i], xb[i])
				acc[2*i], acc[2*i+1] = hvx.Lo(w), hvx.Hi(w)
				continue
			}
			wa, wb := termA.widen(a, xa[i]), termB.widen(a, xb[i])
			for k := range wa {
				acc[2*i+k] = a.V("sum")
				a.Op(sum, acc[2*i+k], wa[k], wb[k])
			}
		}
		a.Op(hexagon.V6_vS32b_pi, po, 1, rq.Pack(acc, hvx.NoChannelVectors, true)).Stores(hvx.AliasOut)
	})
	a.Ret()
}

// binaryEntries runs body for every vector of the entries, for one or two at a time.
func binaryEntries(a *hvx.Builder, table, entries codegen.Reg, most int, body func(pa, pb, po codegen.Reg)) {
	a.Repeat(entries, func() {
		pa, pb, po := a.Word(table, BinA, "a"), a.Word(table, BinB, "b"), a.Word(table, BinOut, "out")
		n, ahead, box := a.Word(table, BinVectors, "vectors"), a.Word(table, BinLookahead, "ahead"), a.Word(table, BinBox, "box")
		a.Bump(table, 4*BinWords)
		a.SkipIfZero(box, func() {
			shape := a.RR("box")
			a.Op(hexagon.A2_tfr, hvx.Lo(shape), box)
			a.Op(hexagon.A2_tfrsi, hvx.Hi(shape), hvx.VectorBytes)
			a.Op(hexagon.Y5_l2fetch, ahead, shape)
		})
		if most == 1 {
			a.Loop0(n, func() { body(pa, pb, po) })
			return
		}
		pairs, last := a.R("pairs"), a.R("last")
		a.Op(hexagon.S2_lsr_i_r, pairs, n, 1)
		a.Op(hexagon.A2_andir, last, n, 1)
		a.SkipIfZero(pairs, func() {
			a.Loop0(pairs, func() {
				body(pa, pb, po)
				body(pa, pb, po)
			})
		})
		a.SkipIfZero(last, func() { body(pa, pb, po) })
	})
}

// addTerm rescales an input of ADD: RDPOT(SRDHM(x << 20, m), right).
type addTerm struct {
	mult                codegen.Reg
	left, c31, right, z codegen.Reg
	round               bool
}

func newAddTerm(a *hvx.Builder, params codegen.Reg, mult, right int, round bool) *addTerm {
	t := &addTerm{mult: a.Splat(a.Word(params, mult, "mult"), "mult"), left: a.Imm(quantized.AddShift), round: round}
	if round {
		t.c31, t.right, t.z = a.Imm(31), a.Word(params, right, "right"), a.Zero()
	}
	return t
}

// widen makes two accumulators from a vector of halves.
func (t *addTerm) widen(a *hvx.Builder, x codegen.Reg) [2]codegen.Reg {
	w := a.VV("wide")
	a.Op(hexagon.V6_vsh, w, x)
	var out [2]codegen.Reg
	for i, v := range [2]codegen.Reg{hvx.Lo(w), hvx.Hi(w)} {
		s := a.V("shifted")
		a.Op(hexagon.V6_vaslw, s, v, t.left)
		out[i] = a.MulHigh(s, t.mult)
		if t.round {
			// (y + sign) >> (n-1), then the last bit with rounding up.
			a.Op(hexagon.V6_vasrw_acc, out[i], out[i], t.c31)
			a.Op(hexagon.V6_vasrw, out[i], out[i], t.right)
			a.Op(hexagon.V6_vavgwrnd, out[i], out[i], t.z)
		}
	}
	return out
}
