package dsp

import (
	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/hvx"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// acc16PackedBody is a body whose vectors hold several positions each.
type acc16PackedBody interface {
	dw3x3Body
	sum(output int) *acc16Sum
}

// inOrder makes outputs whose sums load what they need.
func (n *acc16Code) inOrder(b acc16PackedBody, count int, next func() codegen.Reg) {
	ready := n.ready
	for i := range count {
		out := n.ready
		if i < count-1 {
			out = newQuad(n.a, "ready")
		}
		n.a.Func.Weave(
			func() { b.sum(i).finish(0, out) },
			func() { n.requantizeBefore(i, ready) })
		ready = out
	}
	if next != nil {
		n.begin(next())
		b.first()
	}
}

// acc16PackedStride1 is the body for several positions per vector and stride 1:
// columns are the vectors from the output's own to reach, or lie some bytes into them.
type acc16PackedStride1 struct {
	*acc16Code
	pair  []codegen.Reg // rows a and b, by vector modulo their number
	third []codegen.Reg
	by    map[int]codegen.Reg // shifts
}

func (n *acc16Code) newPackedStride1() *acc16PackedStride1 {
	b := &acc16PackedStride1{acc16Code: n, by: map[int]codegen.Reg{}}
	for range n.reach() + 1 {
		b.pair, b.third = append(b.pair, n.a.VV("pair")), append(b.third, n.a.V("third"))
	}
	for col := range n.kw {
		if s := n.column(col).shift; s > 0 && !b.by[s].Valid() {
			b.by[s] = n.a.Imm8(s)
		}
	}
	return b
}

func (n *acc16PackedStride1) first() {
	for i := range n.reach() {
		n.fetch(i)
	}
}

// fetch loads vector i of each row, counted from output 0's own.
func (n *acc16PackedStride1) fetch(i int) {
	ring := i % len(n.pair)
	n.load(n.pair[ring], n.third[ring], i*vecBytes)
}

// outputs implements dw3x3Body.
func (n *acc16PackedStride1) outputs(count int, next func() codegen.Reg) {
	n.inOrder(n, count, next)
}

func (n *acc16PackedStride1) sum(output int) *acc16Sum {
	n.fetch(output + n.reach())
	return &acc16Sum{acc16Code: n.acc16Code,
		column: func(col int) codegen.Reg { return n.moved(output, col, n.pair) },
		third:  func(col int) codegen.Reg { return n.moved(output, col, n.third) }}
}

// moved is an output's column, of vectors or of pairs of vectors.
func (n *acc16PackedStride1) moved(output, col int, of []codegen.Reg) codegen.Reg {
	a, c := n.a, n.column(col)
	a.SetPhase(hvx.PhaseProducts)
	i := (output + c.index) % len(of)
	x := of[i]
	if c.shift == 0 {
		return x
	}
	y, by := of[(i+1)%len(of)], n.by[c.shift]
	if x.Class() == hvx.ClassV {
		to := a.V("moved")
		a.Op(hexagon.V6_valignb, to, y, x, by)
		return to
	}
	to := a.VV("moved")
	for k := range 2 {
		a.Op(hexagon.V6_valignb, hvx.Half(to, k), hvx.Half(y, k), hvx.Half(x, k), by)
	}
	return to
}

// acc16PackedStride2 is the body for several positions per vector and stride 2, from an even position on. Two vectors
// of a row are dealt to columns 0 and 1, which are the pair, for the form is turned; column 2
// is column 0 moved on by a position, with the first one of the next vector.
type acc16PackedStride2 struct {
	*acc16Code
	own      [2][3]codegen.Reg // the first vector of each row, of even and odd outputs
	deal, by codegen.Reg
}

func (n *acc16Code) newPackedStride2() *acc16PackedStride2 {
	b := &acc16PackedStride2{acc16Code: n, deal: n.a.Imm8(-n.pitch), by: n.a.Imm8(n.pitch)}
	for i := range b.own {
		for r := range b.own[i] {
			b.own[i][r] = n.a.V("own")
		}
	}
	return b
}

func (n *acc16PackedStride2) first() {
	for r := range n.rows {
		n.fetch(0, r)
	}
}

// fetch loads the first vector of a row for an output.
func (n *acc16PackedStride2) fetch(output, row int) {
	n.a.SetPhase(hvx.PhaseProducts)
	n.a.LoadTo(n.own[output%2][row], n.rows[row], 2*output*vecBytes-n.rowOffset[row], hvx.AliasIn)
}

// outputs implements dw3x3Body.
func (n *acc16PackedStride2) outputs(count int, next func() codegen.Reg) {
	n.inOrder(n, count, next)
}

func (n *acc16PackedStride2) sum(output int) *acc16Sum {
	a := n.a
	var last [3]codegen.Reg // column 2 of each row
	s := &acc16Sum{acc16Code: n.acc16Code}
	s.column = func(row int) codegen.Reg {
		a.SetPhase(hvx.PhaseProducts)
		to := a.VV("dealt")
		base, off := a.Near(n.rows[row], (2*output+1)*vecBytes-n.rowOffset[row])
		a.OpLoading(hvx.AliasIn, 1, base, off, hexagon.V6_vdealvdd, to, a.V("x"), n.own[output%2][row], n.deal)
		n.fetch(output+1, row)
		last[row] = a.V("column")
		a.Op(hexagon.V6_valignb, last[row], n.own[(output+1)%2][row], hvx.Lo(to), n.by)
		return to
	}
	s.third = func(row int) codegen.Reg {
		s.make(row)
		return last[row]
	}
	return s
}
