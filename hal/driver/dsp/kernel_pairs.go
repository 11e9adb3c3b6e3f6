package dsp

import (
	"github.com/nnsoc/nnsoc/isa/build"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// Where sums of a window's terms are right in halves (lower_pairs.go), a term of two
// taps is one instruction on bytes as they lie in memory, and nothing is interleaved.
// The single tap's product is added to another one by the multipliers.
//
// Columns of rows a and b wait in a ring of pairs of registers. The third row's columns
// come in pairs of even and odd positions; where windows move by one, every other output
// takes its single column from the left of the pair.

// pairsBody is the body of such a kernel where a vector is one position.
type pairsBody struct {
	*nineCode
	p      *pairForm
	column [3]build.Reg // of rows a and b, for the output that an entry or a round begins with
	third  build.Reg    // the third row's pair
	weight []build.Reg  // of the terms but the single tap, by record
}

func (n *nineCode) newPairs() *pairsBody {
	b := &pairsBody{nineCode: n, p: n.f.pairs, third: n.a.vv("third")}
	for i := range b.column {
		b.column[i] = n.a.vv("column")
	}
	return b
}

func (n *pairsBody) constants() {
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

// alternates reports whether every other output has its pair of the third row's columns
// on the right.
func (n *pairsBody) alternates() bool { return len(n.p.single) > 1 }

func (n *pairsBody) first() { n.fetch(n.column, n.third, 0, 0) }

// fetch loads the columns of an output from some column on, and the third row's pair
// unless the output before has the same.
func (n *pairsBody) fetch(column [3]build.Reg, third build.Reg, output, from int) {
	a, r, s := n.a, 0, 0
	a.phase(phaseProducts)
	r, s = n.p.pairRows()
	for col := from; col < 3; col++ {
		at := n.columnAt(output, col)
		a.vloadTo(lo(column[col]), n.rows[r], at-n.ahead[r], aliasIn)
		a.vloadTo(hi(column[col]), n.rows[s], at-n.ahead[s], aliasIn)
	}
	if third.Valid() {
		single := n.p.single[output%len(n.p.single)]
		for k, col := range n.p.pairColumns(single) {
			a.vloadTo(half(third, k), n.rows[n.p.row], n.columnAt(output, col)-n.ahead[n.p.row], aliasIn)
		}
	}
}

// outputs implements nineBody. Terms whose columns make room for others come first.
func (n *pairsBody) outputs(count int, next func() build.Reg) {
	a := n.a
	column, third, ready := n.column, n.third, n.ready
	for i := range count {
		last := i == count-1 && next != nil
		out := n.ready
		if i < count-1 {
			out = a.quad("ready")
		}
		s := &pairSum{pairsBody: n, output: i, column: column, third: third, row: n.rows[n.p.row]}
		to, from := n.follow(column), n.shared()
		if last {
			s.row = a.add(s.row, 0)
			n.begin(next())
			to, from = n.column, 0
		}
		var dest build.Reg // of the third row's next pair
		if s.renewed = last || !n.alternates() || i%2 == 0; s.renewed {
			dest = third
		}
		s.begin(3-from, s.renewed)
		a.f.Weave(
			func() { s.finish(out) },
			func() {
				at := i + 1
				if last {
					at = 0
				}
				n.fetch(to, dest, at, from)
			},
			func() { n.requantize(ready, n.out[min(i, 1)], max(i-1, 0)*n.outStep()) })
		column, ready = to, out
	}
}

// follow are the registers of the next output's columns.
func (n *pairsBody) follow(x [3]build.Reg) [3]build.Reg {
	switch n.shared() {
	case 2:
		return [3]build.Reg{x[1], x[2], x[0]}
	case 1:
		return [3]build.Reg{x[2], x[1], x[0]}
	}
	return x
}

// pairSum is an output's sum being made.
type pairSum struct {
	*pairsBody
	output  int
	column  [3]build.Reg
	third   build.Reg
	row     build.Reg // the third one's
	renewed bool      // the third row's pair makes room
	product [pairTerms]build.Reg
	group   [pairGroups]build.Reg
}

// single is the third row's column that is left.
func (s *pairSum) single() int { return s.p.single[s.output%len(s.p.single)] }

// begin makes the first columns' terms, and the third row's pair's.
func (s *pairSum) begin(columns int, third bool) {
	for col := range columns {
		s.make(col)
	}
	if third {
		s.make(thirdPair)
	}
}

// make makes the product of a term of two taps.
func (s *pairSum) make(term int) {
	a := s.a
	if s.product[term].Valid() {
		return
	}
	a.phase(phaseProducts)
	to := a.vv("product")
	s.product[term] = to
	if term != thirdPair {
		a.op(hexagon.V6_vmpabusv, to, s.column[term], s.weight[term])
	} else {
		a.op(hexagon.V6_vmpabusv, to, s.third, s.weight[thirdPair+s.output%len(s.p.single)])
	}
	r, q := s.p.pairRows()
	for k := range 2 {
		y, x := [2]int{r, q}[k], term
		if term == thirdPair {
			y, x = s.p.row, s.p.pairColumns(s.single())[k]
		}
		from := s.third
		if term != thirdPair {
			from = s.column[term]
		}
		for i := range s.p.more[y][x] {
			s.constant(s.p.part(y, x, i), hexagon.V6_vmpybusv_acc, to, half(from, k))
		}
	}
	if term == s.p.partner() {
		s.addSingle(to)
	}
}

// addSingle adds the single tap to another product.
func (s *pairSum) addSingle(to build.Reg) {
	a, col := s.a, s.single()
	w := s.const1[s.p.singleWeight(col)]
	base, off := a.near(s.row, s.columnAt(s.output, col)-s.ahead[s.p.row])
	more := s.p.more[s.p.row][col]
	if more == 0 {
		a.opTmp(aliasIn, 1, base, off, hexagon.V6_vmpybusv_acc, to, a.v("x"), w)
		return
	}
	x := a.v("x")
	a.op(hexagon.V6_vL32b_ai, x, base, off).Loads(aliasIn)
	a.op(hexagon.V6_vmpybusv_acc, to, x, w)
	for i := range more {
		s.constant(s.p.part(s.p.row, col, i), hexagon.V6_vmpybusv_acc, to, x)
	}
}

// finish makes the other terms and joins the groups.
func (s *pairSum) finish(ready quad) {
	a, p := s.a, s.p
	var sum build.Reg
	for g := range uint8(pairGroups) {
		var group build.Reg
		for term := range thirdTap {
			if p.group[term] != g {
				continue
			}
			s.make(term)
			if group.Valid() {
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
		case !group.Valid():
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
