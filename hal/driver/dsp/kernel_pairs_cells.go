package dsp

import (
	"github.com/nnsoc/nnsoc/isa/build"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// cellsBody is a body where a vector has several positions.
type cellsBody interface {
	nineBody
	sum(output int) *pairSum
}

// inOrder makes outputs whose sums load what they need.
func (n *pairsCode) inOrder(b cellsBody, count int, next func() build.Reg) {
	ready := n.ready
	for i := range count {
		out := n.ready
		if i < count-1 {
			out = n.a.quad("ready")
		}
		n.a.f.Weave(
			func() { b.sum(i).finish(0, out) },
			func() { n.requantizeBefore(i, ready) })
		ready = out
	}
	if next != nil {
		n.begin(next())
		b.first()
	}
}

// pairsMoved is the body where a vector has several positions and windows move by one:
// columns are the vectors from the output's own to reach, or lie some bytes into them.
type pairsMoved struct {
	*pairsCode
	pair  []build.Reg // rows a and b, by vector modulo their number
	third []build.Reg
	by    map[int]build.Reg // shifts
}

func (n *pairsCode) newMoved() *pairsMoved {
	b := &pairsMoved{pairsCode: n, by: map[int]build.Reg{}}
	for range n.reach() + 1 {
		b.pair, b.third = append(b.pair, n.a.vv("pair")), append(b.third, n.a.v("third"))
	}
	for col := range n.kw {
		if s := n.column(col).shift; s > 0 && !b.by[s].Valid() {
			b.by[s] = n.a.imm8(s)
		}
	}
	return b
}

func (n *pairsMoved) first() {
	for i := range n.reach() {
		n.fetch(i)
	}
}

// fetch loads vector i of each row, counted from output 0's own.
func (n *pairsMoved) fetch(i int) {
	ring := i % len(n.pair)
	n.load(n.pair[ring], n.third[ring], i*vecBytes)
}

// outputs implements nineBody.
func (n *pairsMoved) outputs(count int, next func() build.Reg) {
	n.inOrder(n, count, next)
}

func (n *pairsMoved) sum(output int) *pairSum {
	n.fetch(output + n.reach())
	return &pairSum{pairsCode: n.pairsCode,
		column: func(col int) build.Reg { return n.moved(output, col, n.pair) },
		third:  func(col int) build.Reg { return n.moved(output, col, n.third) }}
}

// moved is an output's column, of vectors or of pairs of vectors.
func (n *pairsMoved) moved(output, col int, of []build.Reg) build.Reg {
	a, c := n.a, n.column(col)
	a.phase(phaseProducts)
	i := (output + c.index) % len(of)
	x := of[i]
	if c.shift == 0 {
		return x
	}
	y, by := of[(i+1)%len(of)], n.by[c.shift]
	if x.Class() == clsV {
		to := a.v("moved")
		a.op(hexagon.V6_valignb, to, y, x, by)
		return to
	}
	to := a.vv("moved")
	for k := range 2 {
		a.op(hexagon.V6_valignb, half(to, k), half(y, k), half(x, k), by)
	}
	return to
}

// pairsDealt is the body where windows move by two, from an even position on. Two vectors
// of a row are dealt to columns 0 and 1, which are the pair, for the form is turned; column 2
// is column 0 moved on by a position, with the first one of the next vector.
type pairsDealt struct {
	*pairsCode
	own      [2][3]build.Reg // the first vector of each row, of even and odd outputs
	deal, by build.Reg
}

func (n *pairsCode) newDealt() *pairsDealt {
	b := &pairsDealt{pairsCode: n, deal: n.a.imm8(-n.pitch), by: n.a.imm8(n.pitch)}
	for i := range b.own {
		for r := range b.own[i] {
			b.own[i][r] = n.a.v("own")
		}
	}
	return b
}

func (n *pairsDealt) first() {
	for r := range n.rows {
		n.fetch(0, r)
	}
}

// fetch loads the first vector of a row for an output.
func (n *pairsDealt) fetch(output, row int) {
	n.a.phase(phaseProducts)
	n.a.vloadTo(n.own[output%2][row], n.rows[row], 2*output*vecBytes-n.ahead[row], aliasIn)
}

// outputs implements nineBody.
func (n *pairsDealt) outputs(count int, next func() build.Reg) {
	n.inOrder(n, count, next)
}

func (n *pairsDealt) sum(output int) *pairSum {
	a := n.a
	var last [3]build.Reg // column 2 of each row
	s := &pairSum{pairsCode: n.pairsCode}
	s.column = func(row int) build.Reg {
		a.phase(phaseProducts)
		to := a.vv("dealt")
		base, off := a.near(n.rows[row], (2*output+1)*vecBytes-n.ahead[row])
		a.opTmp(aliasIn, 1, base, off, hexagon.V6_vdealvdd, to, a.v("x"), n.own[output%2][row], n.deal)
		n.fetch(output+1, row)
		last[row] = a.v("column")
		a.op(hexagon.V6_valignb, last[row], n.own[(output+1)%2][row], lo(to), n.by)
		return to
	}
	s.third = func(row int) build.Reg {
		s.make(row)
		return last[row]
	}
	return s
}
