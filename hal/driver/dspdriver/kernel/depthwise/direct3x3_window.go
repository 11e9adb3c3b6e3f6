package depthwise

import (
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// Where a vector has several positions, the columns of their windows lie in vectors of
// as many streams as the stride, some bytes into them (Kernel.column). An output
// needs vectors 0 to reach of each stream, counted from its own; all but the last it
// shares with the output before, in rings of registers.

// direct3x3Window reads the windows of outputs and multiplies them.
type direct3x3Window struct {
	*direct3x3Code
	reach int
	used  []bool          // streams
	pairs [][]codegen.Reg // of each stream: rows a and b interleaved, by vector modulo the ring
	third [][]codegen.Reg // and the third row
	dealt []codegen.Reg   // where the streams of the third row are one pair
	by    map[int]codegen.Reg
	deal  codegen.Reg
}

// reach is the last vector of a stream that an output needs.
func (d *Kernel) reach() int {
	n := 0
	for col := range d.KW {
		n = max(n, d.column(col).delay())
	}
	return n
}

// newPacked makes the registers that hold vectors from output to output.
func (n *direct3x3Code) newPacked() *direct3x3Window {
	a, d := n.a, n.Kernel
	c := &direct3x3Window{direct3x3Code: n, reach: d.reach(), used: make([]bool, d.Stride), by: map[int]codegen.Reg{}}
	for col := range d.KW {
		at := d.column(col)
		c.used[at.stream] = true
		if at.shift > 0 && !c.by[at.shift].Valid() {
			c.by[at.shift] = a.Imm8(at.shift)
		}
	}
	if d.Stride == 2 {
		c.deal = a.Imm8(-d.Pitch)
	}
	c.pairs, c.third = make([][]codegen.Reg, d.Stride), make([][]codegen.Reg, d.Stride)
	for range c.reach + 1 {
		third := a.VV("third")
		if d.Stride == 2 {
			c.dealt = append(c.dealt, third)
		}
		for q := range d.Stride {
			c.pairs[q], c.third[q] = append(c.pairs[q], a.VV("pair")), append(c.third[q], hvx.Half(third, q))
		}
	}
	return c
}

// fetchVectors fetches vector i of each stream, counted from output 0's own.
func (n *direct3x3Window) fetchVectors(i int) {
	a := n.a
	a.SetPhase(hvx.PhaseProducts)
	at, ring := i*n.Stride*hvx.VectorBytes, i%(n.reach+1)
	r, s := n.f.pairedRows()
	if n.Stride == 1 {
		n.interleave(n.pairs[0][ring], r, s, at, at)
		a.LoadTo(n.third[0][ring], n.rows[n.f.row], at-n.rowOffset[n.f.row], hvx.AliasIn)
		return
	}
	streams := func(row int, to codegen.Reg) codegen.Reg {
		x := a.Load(n.rows[row], at-n.rowOffset[row], hvx.AliasIn, "x")
		base, off := a.SplitOffset(n.rows[row], at+hvx.VectorBytes-n.rowOffset[row])
		a.OpLoading(hvx.AliasIn, 1, base, off, hexagon.V6_vdealvdd, to, a.V("y"), x, n.deal)
		return to
	}
	x, y := streams(r, a.VV("dealt")), streams(s, a.VV("dealt"))
	streams(n.f.row, n.dealt[ring])
	for q, used := range n.used {
		if used {
			a.Op(hexagon.V6_vshufoeb, n.pairs[q][ring], hvx.Half(y, q), hvx.Half(x, q))
		}
	}
}

// column3x3 is a column of an output's window: of rows a and b, and of the third one.
func (n *direct3x3Window) column3x3(output, col int) (pair func() codegen.Reg, third func() codegen.Reg) {
	a := n.a
	at := n.column(col)
	ring := (output + at.index) % (n.reach + 1)
	x, z := n.pairs[at.stream][ring], n.third[at.stream][ring]
	if at.shift == 0 {
		return func() codegen.Reg { return x }, func() codegen.Reg { return z }
	}
	next := (ring + 1) % (n.reach + 1)
	y, w := n.pairs[at.stream][next], n.third[at.stream][next]
	by := n.by[at.shift]
	pair = func() codegen.Reg {
		to := a.VV("moved")
		for j := range 2 {
			a.Op(hexagon.V6_valignb, hvx.Half(to, j), hvx.Half(y, j), hvx.Half(x, j), by)
		}
		return to
	}
	third = func() codegen.Reg {
		to := a.V("moved")
		a.Op(hexagon.V6_valignb, to, w, z, by)
		return to
	}
	return pair, third
}

// first fetches what an entry's first output needs.
func (n *direct3x3Window) first() {
	for i := range n.reach {
		n.fetchVectors(i)
	}
}

// outputs makes some outputs, the first of which the rows point to, but for
// requantizing the last one. With next another entry comes behind them.
func (n *direct3x3Window) outputs(count int, next func() codegen.Reg) {
	a := n.a
	ready := n.ready
	for i := range count {
		out := n.ready
		if i < count-1 {
			out = newQuad(a, "ready")
		}
		a.Func.Weave(func() { n.windowProducts(i, out) },
			func() { n.requantize(ready, n.out[min(i, 1)], max(i-1, 0)*n.outStep()) })
		ready = out
	}
	if next != nil {
		n.begin(next())
		n.first()
	}
}

// windowProducts makes an output.
func (n *direct3x3Window) windowProducts(output int, ready quad) {
	a := n.a
	n.fetchVectors(output + n.reach)
	var pair, third [3]func() codegen.Reg
	for col := range pair {
		pair[col], third[col] = n.column3x3(output, col)
	}
	first := n.join(pair[0](), pair[1]())
	c, d := n.f.pairedColumns()
	low, high := third[c](), third[d]()
	x := windowBytes{third: a.VV("third")}
	a.Op(hexagon.V6_vshufoeb, x.third, high, low)
	x.column[2] = pair[2]()
	n.products(first, quad{}, x, ready, func(to codegen.Reg) {
		n.constant(singleTap, hexagon.V6_vmpybusv, to, third[n.f.col]())
	})
}
