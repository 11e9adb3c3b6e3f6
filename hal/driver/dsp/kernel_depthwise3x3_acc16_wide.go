package dsp

import "github.com/nnsoc/nnsoc/isa/codegen"

// acc16OnePosition is the body for one position per vector. Rings of registers hold the
// columns of a window, so that each vector is loaded once: the bandwidth of L2 hardly
// allows more.
type acc16OnePosition struct {
	*acc16Code
	column [3]codegen.Reg // of rows a and b
	third  [3]codegen.Reg
}

func (n *acc16Code) newOnePosition() *acc16OnePosition {
	b := &acc16OnePosition{acc16Code: n}
	for i := range b.column {
		b.column[i], b.third[i] = n.a.VV("column"), n.a.V("third")
	}
	return b
}

// at is where an output's column is.
func (n *acc16OnePosition) at(output, col int) int {
	switch n.shared() {
	case 2:
		return (output + col) % 3
	case 1: // the last column is the next output's first
		return [2][3]int{{0, 1, 2}, {2, 1, 0}}[output%2][col]
	}
	return col
}

func (n *acc16OnePosition) first() { n.fetch(0, 0) }

// fetch loads the columns of an output from some column on.
func (n *acc16OnePosition) fetch(output, from int) {
	for col := from; col < 3; col++ {
		i := n.at(output, col)
		n.load(n.column[i], n.third[i], n.columnAt(output, col))
	}
}

// outputs implements dw3x3Body. Products of columns that make room come first.
func (n *acc16OnePosition) outputs(count int, next func() codegen.Reg) {
	a, ready := n.a, n.ready
	for i := range count {
		out := n.ready
		if i < count-1 {
			out = newQuad(a, "ready")
		}
		to, from := i+1, n.shared()
		if i == count-1 && next != nil {
			n.begin(next())
			to, from = 0, 0
		}
		s := &acc16Sum{acc16Code: n.acc16Code,
			column: func(col int) codegen.Reg { return n.column[n.at(i, col)] },
			third:  func(col int) codegen.Reg { return n.third[n.at(i, col)] }}
		for col := range 3 - from {
			s.make(col)
			s.add(col)
		}
		a.Func.Weave(
			func() { s.finish(3-from, out) },
			func() { n.fetch(to, from) },
			func() { n.requantizeBefore(i, ready) })
		ready = out
	}
}
