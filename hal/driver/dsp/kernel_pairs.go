package dsp

import (
	"github.com/nnsoc/nnsoc/isa/build"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// Where sums of a window's terms are right in halves (lower_pairs.go), a term of two
// taps is one instruction on bytes as they lie in memory, and nothing is interleaved.
// The single tap's product is added to another one by the multipliers.

// pairsCode is what bodies of such kernels have in common.
type pairsCode struct {
	*nineCode
	p      *pairForm
	weight []build.Reg // of the terms but the single tap, by record
}

func (n *nineCode) newPairs() nineBody {
	c := &pairsCode{nineCode: n, p: n.f.pairs}
	switch {
	case n.cells == 1:
		return c.newRows()
	case n.stride == 1:
		return c.newMoved()
	}
	return c.newDealt()
}

func (n *pairsCode) constants() {
	if n.weight == nil {
		for range (n.p.weights() + 1) / 2 {
			w := n.a.vv("weights")
			n.weight = append(n.weight, w)
			n.const1 = append(n.const1, lo(w), hi(w))
		}
		n.const1 = n.const1[:n.p.weights()]
		for len(n.const1) < n.f.kept {
			n.const1 = append(n.const1, n.a.v("constant"))
		}
	}
	for i, r := range n.const1 {
		n.w.load(r, i)
	}
}

// requantizeBefore requantizes what output i finds in ready.
func (n *pairsCode) requantizeBefore(i int, ready quad) {
	n.requantize(ready, n.out[min(i, 1)], max(i-1, 0)*n.outStep())
}

// pairSum is an output's sum being made.
type pairSum struct {
	*pairsCode
	way int // how the third row is divided
	// input is the pair of vectors of a term, asked for once; of the single tap it is one
	// vector, or none: that is read at a place in memory.
	input   func(term int) build.Reg
	place   func() (build.Reg, int)
	product [pairTerms]build.Reg
}

// make makes the product of a term of two taps.
func (s *pairSum) make(term int) {
	if s.product[term].Valid() {
		return
	}
	x := s.input(term)
	s.a.phase(phaseProducts)
	to, w := s.a.vv("product"), term
	if term == thirdPair {
		w += s.way
	}
	s.product[term] = to
	s.a.op(hexagon.V6_vmpabusv, to, x, s.weight[w])
	for k, t := range s.p.taps(term, s.way) {
		s.parts(to, half(x, k), t)
	}
	if term == s.p.partner() {
		s.single(to)
	}
}

// parts adds the products of further parts of a tap's weights.
func (s *pairSum) parts(to, x build.Reg, tap [2]int) {
	for i := range s.p.more[tap[0]][tap[1]] {
		s.constant(s.p.part(tap[0], tap[1], i), hexagon.V6_vmpybusv_acc, to, x)
	}
}

// single adds the single tap to another product.
func (s *pairSum) single(to build.Reg) {
	a, col := s.a, s.p.single[s.way]
	tap := [2]int{s.p.row, col}
	w, x := s.const1[s.p.singleWeight(col)], s.input(thirdTap)
	a.phase(phaseProducts)
	if !x.Valid() {
		base, off := s.place()
		if s.p.more[tap[0]][tap[1]] == 0 {
			a.opTmp(aliasIn, 1, base, off, hexagon.V6_vmpybusv_acc, to, a.v("x"), w)
			return
		}
		x = a.v("x")
		a.op(hexagon.V6_vL32b_ai, x, base, off).Loads(aliasIn)
	}
	a.op(hexagon.V6_vmpybusv_acc, to, x, w)
	s.parts(to, x, tap)
}

// finish makes the terms that are left and joins the groups.
func (s *pairSum) finish(ready quad) {
	a, p := s.a, s.p
	var sum build.Reg
	for g := range uint8(pairGroups) {
		if !p.uses(g) {
			continue
		}
		var group build.Reg
		for term := range thirdTap {
			if p.group[term] != g {
				continue
			}
			if s.make(term); group.Valid() {
				a.op(hexagon.V6_vaddh_dv, group, group, s.product[term])
			} else {
				group = s.product[term]
			}
		}
		if g < 2 && p.offset[g] {
			for k := range 2 {
				s.constant(p.offsetAt(int(g))+k, hexagon.V6_vaddh, half(group, k), half(group, k))
			}
		}
		switch {
		case g == 0:
			sum = group
		case g == 1 && p.uses(2):
			a.op(hexagon.V6_vaddhsat_dv, sum, sum, group)
		default:
			for k := range 2 {
				a.op(hexagon.V6_vaddhsat, lo(ready[k]), half(sum, k), half(group, k))
			}
		}
	}
}

// pairsRows is the body where a vector is one position. Columns of rows a and b wait in
// a ring of pairs of registers. The third row's columns come in pairs of even and odd
// positions; where windows move by one, every other output takes its single column from
// the left of the pair.
type pairsRows struct {
	*pairsCode
	column [3]build.Reg // of rows a and b, for the output that an entry or a round begins with
	third  build.Reg    // the third row's pair
}

func (n *pairsCode) newRows() *pairsRows {
	b := &pairsRows{pairsCode: n, third: n.a.vv("third")}
	for i := range b.column {
		b.column[i] = n.a.vv("column")
	}
	return b
}

func (n *pairsRows) first() { n.fetch(n.column, true, 0, 0) }

// fetch loads the columns of an output from some column on, and the third row's pair
// if that is another one than the output before has.
func (n *pairsRows) fetch(column [3]build.Reg, third bool, output, from int) {
	a := n.a
	a.phase(phaseProducts)
	r, s := n.p.pairRows()
	for col := from; col < 3; col++ {
		at := n.columnAt(output, col)
		a.vloadTo(lo(column[col]), n.rows[r], at-n.ahead[r], aliasIn)
		a.vloadTo(hi(column[col]), n.rows[s], at-n.ahead[s], aliasIn)
	}
	if third {
		for k, t := range n.p.taps(thirdPair, output%len(n.p.single)) {
			a.vloadTo(half(n.third, k), n.rows[n.p.row], n.columnAt(output, t[1])-n.ahead[n.p.row], aliasIn)
		}
	}
}

// outputs implements nineBody. Terms whose columns make room for others come first.
func (n *pairsRows) outputs(count int, next func() build.Reg) {
	a := n.a
	column, ready := n.column, n.ready
	for i := range count {
		last := i == count-1 && next != nil
		out := n.ready
		if i < count-1 {
			out = a.quad("ready")
		}
		row := n.rows[n.p.row]
		to, from, at := n.follow(column), n.shared(), i+1
		if last {
			row = a.add(row, 0)
			n.begin(next())
			to, from, at = n.column, 0, 0
		}
		s := n.sum(i, column, row)
		for col := range 3 - from {
			s.make(col)
		}
		third := last || len(n.p.single) == 1 || i%2 == 0
		if third {
			s.make(thirdPair)
		}
		a.f.Weave(
			func() { s.finish(out) },
			func() { n.fetch(to, third, at, from) },
			func() { n.requantizeBefore(i, ready) })
		column, ready = to, out
	}
}

// sum is that of an output. The third row is given because another entry's may be next.
func (n *pairsRows) sum(output int, column [3]build.Reg, row build.Reg) *pairSum {
	s := &pairSum{pairsCode: n.pairsCode, way: output % len(n.p.single)}
	s.input = func(term int) build.Reg {
		return [pairTerms]build.Reg{column[0], column[1], column[2], n.third, {}}[term]
	}
	s.place = func() (build.Reg, int) {
		return n.a.near(row, n.columnAt(output, n.p.single[s.way])-n.ahead[n.p.row])
	}
	return s
}

// follow are the registers of the next output's columns.
func (n *pairsRows) follow(x [3]build.Reg) [3]build.Reg {
	switch n.shared() {
	case 2:
		return [3]build.Reg{x[1], x[2], x[0]}
	case 1:
		return [3]build.Reg{x[2], x[1], x[0]}
	}
	return x
}
