package dsp

import "github.com/nnsoc/nnsoc/isa/build"

// pairsRows is the body where a vector is one position. The columns of a window wait in
// rings of registers, so that each vector is loaded once: the port of L2 has hardly room
// for more.
type pairsRows struct {
	*pairsCode
	column [3]build.Reg // of rows a and b
	third  [3]build.Reg
}

func (n *pairsCode) newRows() *pairsRows {
	b := &pairsRows{pairsCode: n}
	for i := range b.column {
		b.column[i], b.third[i] = n.a.vv("column"), n.a.v("third")
	}
	return b
}

// at is where an output's column is.
func (n *pairsRows) at(output, col int) int {
	switch n.shared() {
	case 2:
		return (output + col) % 3
	case 1: // the last column is the next output's first
		return [2][3]int{{0, 1, 2}, {2, 1, 0}}[output%2][col]
	}
	return col
}

func (n *pairsRows) first() { n.fetch(0, 0) }

// fetch loads the columns of an output from some column on.
func (n *pairsRows) fetch(output, from int) {
	for col := from; col < 3; col++ {
		i := n.at(output, col)
		n.load(n.column[i], n.third[i], n.columnAt(output, col))
	}
}

// outputs implements nineBody. Products of columns that make room come first.
func (n *pairsRows) outputs(count int, next func() build.Reg) {
	a, ready := n.a, n.ready
	for i := range count {
		out := n.ready
		if i < count-1 {
			out = a.quad("ready")
		}
		to, from := i+1, n.shared()
		if i == count-1 && next != nil {
			n.begin(next())
			to, from = 0, 0
		}
		s := &pairSum{pairsCode: n.pairsCode,
			column: func(col int) build.Reg { return n.column[n.at(i, col)] },
			third:  func(col int) build.Reg { return n.third[n.at(i, col)] }}
		for col := range 3 - from {
			s.make(col)
			s.add(col)
		}
		a.f.Weave(
			func() { s.finish(3-from, out) },
			func() { n.fetch(to, from) },
			func() { n.requantizeBefore(i, ready) })
		ready = out
	}
}
