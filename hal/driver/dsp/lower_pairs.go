package dsp

import (
	"fmt"
	"math"
	"slices"
)

// A window of three by three is three columns of two rows, whose products are two taps
// at once in halves, and a third row, the product of each tap of which is added to one
// of those where it is made, or to a product of such taps only. (Or the same with columns
// for rows, where that is how their bytes come.)
//
// Products are added in groups, exactly: halves wrap, and a group's sum, with an offset by
// channel, lies in a half. Saturating additions join the groups:
//
//	x = sat(sat(group 0 + group 1) + group 2) ..
//
// That is the accumulator less the centre of the requantization, saturated, but where an
// addition before the last saturates. There the groups behind must not bring x back to
// where results differ.
const (
	pairProducts = 4
	thirdProduct = 3 // of taps of the third row only
)

// pairForm is how such a window is divided.
type pairForm struct {
	turned  bool                // rows are columns: all numbers of rows and columns here are
	row     int                 // the third one
	partner [3]uint8            // of each column of the third row: the product that it is added to
	group   [pairProducts]uint8 // of each product
	offset  [pairProducts]bool  // of each group: some channel has one
	more    [3][3]int           // of each row and column: how many signed bytes weights need but one
}

// tag names the form in kernel names.
func (f *pairForm) tag() string {
	return fmt.Sprintf("u%d_t%d_t%d_g%d_o%d_m%d", count(f.turned), f.row, f.partner, f.group, f.offsets(), f.more)
}

// count is how many hold.
func count(is ...bool) (n int) {
	for _, b := range is {
		if b {
			n++
		}
	}
	return n
}

// pairRows are the rows a and b.
func (f *pairForm) pairRows() (a, b int) { return [3]int{1, 0, 0}[f.row], [3]int{2, 2, 1}[f.row] }

// at is where a tap is in the form's rows and columns, and the other way round.
func (f *pairForm) at(y, x int) (int, int) {
	if f.turned {
		return x, y
	}
	return y, x
}

// products is how many there are.
func (f *pairForm) products() int {
	return thirdProduct + count(slices.Contains(f.partner[:], thirdProduct))
}

// groups is how many there are.
func (f *pairForm) groups() int { return int(slices.Max(f.group[:f.products()])) + 1 }

// offsets is a bit for each group that has one.
func (f *pairForm) offsets() (bits int) {
	for g, has := range f.offset {
		bits |= count(has) << g
	}
	return bits
}

// Vectors of a record: the weights of columns, two of each, the third row's, the offsets
// of even and odd channels of each group that has one, further parts of weights.
const (
	pairThird   = 6
	pairOffsets = 9
)

// weightAt is where a tap's weights are.
func (f *pairForm) weightAt(y, x int) int {
	if y == f.row {
		return pairThird + x
	}
	a, _ := f.pairRows()
	return 2*x + count(y != a)
}

// offsetAt is where a group's offsets are.
func (f *pairForm) offsetAt(group int) int { return pairOffsets + 2*count(f.offset[:group]...) }

// partAt is where part 1+i of a tap's weights is.
func (f *pairForm) partAt(y, x, i int) int {
	n := f.offsetAt(pairProducts) + i
	for k := range 3*y + x {
		n += f.more[k/3][k%3]
	}
	return n
}

// vectors is their number.
func (f *pairForm) vectors() int { return f.partAt(2, 2, f.more[2][2]) }

// pairChannel are a channel's weights in rows and columns of the model, and the constant
// that its accumulator begins with.
type pairChannel struct {
	weight [3][3]int32
	bias   int64
}

// pairWindow are the accumulators less the centre that matter: of all below first
// the results are the same, and of all from last on.
type pairWindow struct{ first, last int64 }

// pairWindow is that of the requantization by halves, whose first and last steps are
// those of the definition.
func (q *requant) pairWindow() pairWindow {
	centre := int64(q.centre())
	return pairWindow{firstOf(q.mult[0], q.zero, max(q.lo, 0)+1) - centre, firstOf(q.mult[0], q.zero, min(q.hi, 255)) - centre}
}

// pairChannels are those of a filter.
func (g *gemm) pairChannels(w pairWindow) []pairChannel {
	list := make([]pairChannel, g.filter.k)
	for ch := range list {
		c := pairChannel{bias: int64(g.foldedBias(ch))}
		for y := range 3 {
			for x := range 3 {
				c.weight[y][x] = g.filter.centred(ch, y, x)
			}
		}
		list[ch] = c.settled(w)
	}
	return list
}

// settled is a channel without weights if its result is the same for all inputs.
func (c pairChannel) settled(w pairWindow) pairChannel {
	all := span{c.bias, c.bias}
	for _, row := range c.weight {
		for _, weight := range row {
			all = all.plus(reachOf(weight))
		}
	}
	switch {
	case all.most < w.first:
		return pairChannel{bias: w.first - 1}
	case all.least >= w.last:
		return pairChannel{bias: w.last}
	}
	return c
}

// span are the numbers from least to most.
type span struct{ least, most int64 }

var inHalf = span{math.MinInt16, math.MaxInt16}

// reachOf are the products of a weight.
func reachOf(w int32) span { return span{255 * int64(min(w, 0)), 255 * int64(max(w, 0))} }

func (s span) plus(t span) span { return span{s.least + t.least, s.most + t.most} }
func (s span) less(t span) span { return span{s.least - t.most, s.most - t.least} }
func (s span) and(t span) span  { return span{max(s.least, t.least), min(s.most, t.most)} }
func (s span) empty() bool      { return s.least > s.most }

// near is the number of s next to n.
func (s span) near(n int64) int64 { return min(max(n, s.least), s.most) }

// reaches are those of a channel's columns and of the third row's taps.
type pairReaches struct{ column, third [3]span }

func (f *pairForm) reaches(c *pairChannel) (r pairReaches) {
	for y := range 3 {
		for x := range 3 {
			s := reachOf(c.weight[y][x])
			if y, x := f.at(y, x); y == f.row {
				r.third[x] = s
			} else {
				r.column[x] = r.column[x].plus(s)
			}
		}
	}
	return r
}

// divide divides a channel's bias among the groups, where those without offset may have
// none. It reports whether the sums are right.
func (f *pairForm) divide(r *pairReaches, bias int64, w pairWindow) (offset [pairProducts]int64, ok bool) {
	var g [pairProducts]span
	for p := range thirdProduct {
		g[f.group[p]] = g[f.group[p]].plus(r.column[p])
	}
	for x, p := range f.partner {
		g[f.group[p]] = g[f.group[p]].plus(r.third[x])
	}
	// own are the offsets that a group may have. behind[n] are sums of those of groups n
	// and later.
	n := f.groups()
	var own [pairProducts]span
	var behind [pairProducts + 1]span
	all := span{bias, bias}
	for i := range n {
		all = all.plus(g[i])
		own[i] = span{inHalf.least - g[i].least, inHalf.most - g[i].most}
		if !f.offset[i] {
			own[i] = own[i].and(span{})
		}
		if own[i].empty() {
			return offset, false
		}
	}
	rest := span{}
	for i := n - 1; i > 0; i-- {
		behind[i] = behind[i+1].plus(own[i])
		if rest = rest.plus(g[i]); i > 1 { // the groups before saturate, or never leave a half
			before := span{all.least - rest.least, all.most - rest.most}
			behind[i] = behind[i].and(span{
				min(w.last-inHalf.most-rest.least, before.most-inHalf.most),
				max(w.first-1-inHalf.least-rest.most, before.least-inHalf.least)})
		}
		if behind[i].empty() {
			return offset, false
		}
	}
	left := bias
	for i := range n {
		next := behind[i+1].and(span{left, left}.less(own[i]))
		if next.empty() {
			return offset, false
		}
		s := next.near(left)
		offset[i], left = left-s, s
	}
	return offset, left == 0
}

// pairGroupings lists the orders in which three products, and four, are joined.
var pairGroupings = [2][][pairProducts]uint8{
	{{0, 0, 1}, {0, 1, 0}, {0, 1, 1}, {0, 1, 2}, {0, 2, 1}, {2, 0, 1}, {0, 0, 0}},
	{{0, 0, 1, 1}, {0, 1, 0, 1}, {0, 1, 1, 0}, {0, 1, 2, 3}, {0, 1, 3, 2}, {0, 2, 1, 3}, {0, 2, 3, 1}, {0, 3, 1, 2}, {0, 3, 2, 1},
		{2, 0, 1, 3}, {2, 0, 3, 1}, {3, 0, 1, 2}, {3, 0, 2, 1}, {2, 3, 0, 1}, {3, 2, 0, 1}},
}

// pairForms lists the divisions of a window into three or four products, those where
// columns stay together first.
func pairForms(turned bool, row, products int) (list []pairForm) {
	for n := range products * products * products {
		f := pairForm{turned: turned, row: row}
		for x := range f.partner {
			f.partner[x] = uint8((x + n) % products)
			n /= products
		}
		if f.products() == products {
			for _, f.group = range pairGroupings[products-thirdProduct] {
				list = append(list, f)
			}
		}
	}
	return list
}

// enoughForms is how many divisions into three and into four products are looked at that
// are right for all channels.
var enoughForms = [...]int{8, 64}

// findPairs looks for the division that is right for the channels of most chunks, which
// are good, but not of fewer than least; of those the one with fewest products and offsets. One that is known and as
// good as most comes before all others, for there may be a kernel for it.
func findPairs(channels []pairChannel, w pairWindow, turned bool, rows []int, least int, known []pairForm) (best pairForm, good []bool) {
	chunks := ceilDiv(len(channels), vecBytes)
	failed := make([]int, chunks) // the channel for which the last division was wrong
	reaches := make([]pairReaches, len(channels))
	most, cost, found := 0, 0, 0
	// right finds the good chunks, unless they are fewer than enough.
	right := func(f *pairForm, enough int) (is []bool, n int) {
		fits := func(ch int) bool { _, ok := f.divide(&reaches[ch], channels[ch].bias, w); return ok }
		is = make([]bool, chunks)
		for chunk := range is {
			if is[chunk] = fits(failed[chunk]); is[chunk] {
				n++
			}
		}
		for chunk := range is {
			first := chunk * vecBytes
			for ch := first; is[chunk] && n >= enough && ch < min(first+vecBytes, len(channels)); ch++ {
				if !fits(ch) {
					is[chunk], failed[chunk] = false, ch
					n--
				}
			}
		}
		return is, n
	}
	for chunk := range failed {
		failed[chunk] = chunk * vecBytes
	}
	for _, f := range known {
		if f.turned != turned || !slices.Contains(rows, f.row) || f.products() > thirdProduct || count(f.offset[:]...) > 2 {
			continue
		}
		for ch := range reaches {
			reaches[ch] = f.reaches(&channels[ch])
		}
		if is, n := right(&f, chunks); n == chunks {
			f.more = [3][3]int{}
			return f, is
		}
	}
	for _, products := range [...]int{thirdProduct, pairProducts} {
		if most == chunks {
			break
		}
		for _, row := range rows {
			list := pairForms(turned, row, products)
			for ch := range reaches {
				reaches[ch] = list[0].reaches(&channels[ch])
			}
			for _, f := range list {
				for g := range f.groups() {
					f.offset[g] = true
				}
				is, n := right(&f, max(most, least))
				if n < max(most, least) {
					continue
				}
				for g := range f.groups() { // are all needed?
					without := f
					without.offset[g] = false
					if _, k := right(&without, n); k == n {
						f = without
					}
				}
				if c := products + count(f.offset[:]...); n > most || c < cost {
					best, good, most, cost = f, is, n, c
				}
				if most == chunks {
					if found++; found == enoughForms[products-thirdProduct] || count(best.offset[:]...) < 2 {
						return best, good
					}
				}
			}
		}
	}
	return best, good
}
