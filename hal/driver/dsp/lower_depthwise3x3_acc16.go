package dsp

import (
	"fmt"
	"math"
	"slices"

	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/filter"
	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/hvx"
)

// The acc16 kernels split a 3x3 window into three columns of two rows and a third row. One
// instruction (vmpa) multiplies the two taps of a column; each tap of the third row is
// accumulated onto the product of a column, or onto a fourth product made of third-row taps
// only. A turned split exchanges rows and columns, for inputs whose bytes come that way.
//
// The kernel adds the products in groups. 16-bit additions wrap, which is exact because a
// group's sum plus an offset per channel fits in 16 bits. Saturating additions join the groups:
//
//	x = sat(sat(group 0 + group 1) + group 2) ..
//
// x is the accumulator minus the centre of the requantization, saturated, unless an addition
// before the last one saturates. The planner accepts a split only if the groups added after
// such an addition cannot bring x back to where the requantized result differs.
const (
	acc16Products = 4
	thirdProduct  = 3 // index of the product made of third-row taps only
)

// acc16Split is one way to split a 3x3 window into products and groups.
type acc16Split struct {
	turned  bool                 // rows and columns are exchanged, in the fields below too
	row     int                  // the third one
	partner [3]uint8             // of each column of the third row: the product that it is added to
	group   [acc16Products]uint8 // of each product
	offset  [acc16Products]bool  // of each group: some channel has one
	more    [3][3]int            // of each row and column: how many signed bytes weights need but one
}

// tag names the form in kernel names.
func (f *acc16Split) tag() string {
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

// pairedRows are the rows a and b.
func (f *acc16Split) pairedRows() (a, b int) { return [3]int{1, 0, 0}[f.row], [3]int{2, 2, 1}[f.row] }

// at is where a tap is in the form's rows and columns, and the other way round.
func (f *acc16Split) at(y, x int) (int, int) {
	if f.turned {
		return x, y
	}
	return y, x
}

// products is how many there are.
func (f *acc16Split) products() int {
	return thirdProduct + count(slices.Contains(f.partner[:], thirdProduct))
}

// groups is how many there are.
func (f *acc16Split) groups() int { return int(slices.Max(f.group[:f.products()])) + 1 }

// offsets is a bit for each group that has one.
func (f *acc16Split) offsets() (bits int) {
	for g, has := range f.offset {
		bits |= count(has) << g
	}
	return bits
}

// Vectors of a record: the weights of columns, two of each, the third row's, the offsets
// of even and odd channels of each group that has one, further parts of weights.
const (
	acc16ThirdRow = 6
	acc16Offsets  = 9
)

// weightAt is where a tap's weights are.
func (f *acc16Split) weightAt(y, x int) int {
	if y == f.row {
		return acc16ThirdRow + x
	}
	a, _ := f.pairedRows()
	return 2*x + count(y != a)
}

// offsetAt is where a group's offsets are.
func (f *acc16Split) offsetAt(group int) int { return acc16Offsets + 2*count(f.offset[:group]...) }

// partAt is where part 1+i of a tap's weights is.
func (f *acc16Split) partAt(y, x, i int) int {
	n := f.offsetAt(acc16Products) + i
	for k := range 3*y + x {
		n += f.more[k/3][k%3]
	}
	return n
}

// vectors is their number.
func (f *acc16Split) vectors() int { return f.partAt(2, 2, f.more[2][2]) }

// acc16Channel are a channel's weights in rows and columns of the model, and the constant
// that its accumulator begins with.
type acc16Channel struct {
	weight [3][3]int32
	bias   int64
}

// newAcc16Range are the accumulators less the centre that matter: of all below first
// the results are the same, and of all from last on.
type acc16Range struct{ first, last int64 }

// newAcc16Range is that of the requantization by halves, whose first and last steps are
// those of the definition.
func newAcc16Range(q *hvx.Requant) acc16Range {
	centre := int64(q.Centre())
	return acc16Range{hvx.FirstOf(q.Mult[0], q.Zero, max(q.Lo, 0)+1) - centre, hvx.FirstOf(q.Mult[0], q.Zero, min(q.Hi, 255)) - centre}
}

// acc16Channels are those of a filter.
func acc16Channels(g *filter.Conv, w acc16Range) []acc16Channel {
	list := make([]acc16Channel, g.Filter.K)
	for ch := range list {
		c := acc16Channel{bias: int64(g.FoldedBias(ch))}
		for y := range 3 {
			for x := range 3 {
				c.weight[y][x] = g.Filter.Centred(ch, y, x)
			}
		}
		list[ch] = c.settled(w)
	}
	return list
}

// settled is a channel without weights if its result is the same for all inputs.
func (c acc16Channel) settled(w acc16Range) acc16Channel {
	all := span{c.bias, c.bias}
	for _, row := range c.weight {
		for _, weight := range row {
			all = all.plus(reachOf(weight))
		}
	}
	switch {
	case all.most < w.first:
		return acc16Channel{bias: w.first - 1}
	case all.least >= w.last:
		return acc16Channel{bias: w.last}
	}
	return c
}

// span are the numbers from least to most.
type span struct{ least, most int64 }

var int16Range = span{math.MinInt16, math.MaxInt16}

// reachOf are the products of a weight.
func reachOf(w int32) span { return span{255 * int64(min(w, 0)), 255 * int64(max(w, 0))} }

func (s span) plus(t span) span { return span{s.least + t.least, s.most + t.most} }
func (s span) less(t span) span { return span{s.least - t.most, s.most - t.least} }
func (s span) and(t span) span  { return span{max(s.least, t.least), min(s.most, t.most)} }
func (s span) empty() bool      { return s.least > s.most }

// near is the number of s next to n.
func (s span) near(n int64) int64 { return min(max(n, s.least), s.most) }

// reaches are those of a channel's columns and of the third row's taps.
type acc16Reaches struct{ column, third [3]span }

func (f *acc16Split) reaches(c *acc16Channel) (r acc16Reaches) {
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
func (f *acc16Split) divide(r *acc16Reaches, bias int64, w acc16Range) (offset [acc16Products]int64, ok bool) {
	var g [acc16Products]span
	for p := range thirdProduct {
		g[f.group[p]] = g[f.group[p]].plus(r.column[p])
	}
	for x, p := range f.partner {
		g[f.group[p]] = g[f.group[p]].plus(r.third[x])
	}
	// own are the offsets that a group may have. behind[n] are sums of those of groups n
	// and later.
	n := f.groups()
	var own [acc16Products]span
	var behind [acc16Products + 1]span
	all := span{bias, bias}
	for i := range n {
		all = all.plus(g[i])
		own[i] = span{int16Range.least - g[i].least, int16Range.most - g[i].most}
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
				min(w.last-int16Range.most-rest.least, before.most-int16Range.most),
				max(w.first-1-int16Range.least-rest.most, before.least-int16Range.least)})
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

// acc16Groupings lists the orders in which three products, and four, are joined.
var acc16Groupings = [2][][acc16Products]uint8{
	{{0, 0, 1}, {0, 1, 0}, {0, 1, 1}, {0, 1, 2}, {0, 2, 1}, {2, 0, 1}, {0, 0, 0}},
	{{0, 0, 1, 1}, {0, 1, 0, 1}, {0, 1, 1, 0}, {0, 1, 2, 3}, {0, 1, 3, 2}, {0, 2, 1, 3}, {0, 2, 3, 1}, {0, 3, 1, 2}, {0, 3, 2, 1},
		{2, 0, 1, 3}, {2, 0, 3, 1}, {3, 0, 1, 2}, {3, 0, 2, 1}, {2, 3, 0, 1}, {3, 2, 0, 1}},
}

// acc16Splits lists the divisions of a window into three or four products, those where
// columns stay together first.
func acc16Splits(turned bool, row, products int) (list []acc16Split) {
	for n := range products * products * products {
		f := acc16Split{turned: turned, row: row}
		for x := range f.partner {
			f.partner[x] = uint8((x + n) % products)
			n /= products
		}
		if f.products() == products {
			for _, f.group = range acc16Groupings[products-thirdProduct] {
				list = append(list, f)
			}
		}
	}
	return list
}

// enoughSplits is how many divisions into three and into four products are looked at that
// are right for all channels.
var enoughSplits = [...]int{8, 64}

// findAcc16Split looks for the division that is right for the channels of most chunks, which
// are good, but not of fewer than least; of those the one with fewest products and offsets. One that is known and as
// good as most comes before all others, for there may be a kernel for it.
func findAcc16Split(channels []acc16Channel, w acc16Range, turned bool, rows []int, least int, known []acc16Split) (best acc16Split, good []bool) {
	chunks := ceilDiv(len(channels), vecBytes)
	failed := make([]int, chunks) // the channel for which the last division was wrong
	reaches := make([]acc16Reaches, len(channels))
	most, cost, found := 0, 0, 0
	// right finds the good chunks, unless they are fewer than enough.
	right := func(f *acc16Split, enough int) (is []bool, n int) {
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
	for _, products := range [...]int{thirdProduct, acc16Products} {
		if most == chunks {
			break
		}
		for _, row := range rows {
			list := acc16Splits(turned, row, products)
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
					if found++; found == enoughSplits[products-thirdProduct] || count(best.offset[:]...) < 2 {
						return best, good
					}
				}
			}
		}
	}
	return best, good
}
