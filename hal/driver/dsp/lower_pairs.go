package dsp

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// A window of three by three has five terms whose products are halves:
//
//	0..2  rows a and b of a column
//	3     two columns of the third row
//	4     the third row's column that is left
//
// or the same with columns for rows, where that is how their bytes come.
//
// They are added in groups, exactly: halves wrap, and a group's sum, with an offset by
// channel, lies in a half. Saturating additions join the groups:
//
//	x = sat(sat(group 0 + group 1) + group 2)
//
// That is the accumulator less the centre of the requantization, saturated, but where
// the first addition saturates. There group 2 must not bring x back to where results
// differ.
const (
	pairTerms  = 5
	pairGroups = 3
	thirdPair  = 3
	thirdTap   = 4
)

// pairForm is how such a window is divided.
type pairForm struct {
	turned bool             // rows are columns: all numbers of rows and columns here are
	row    int              // the third one
	group  [pairTerms]uint8 // of each term
	single []int            // the third row's column that is left, by output modulo their number
	offset [2]bool          // of groups 0 and 1: some channel has one
	more   [3][3]int        // of each row and column: how many signed bytes weights need but one
}

// tag names the form in kernel names.
func (f *pairForm) tag() string {
	return fmt.Sprintf("u%d_g%d_s%d_o%d%d_m%d", count(f.turned), f.group, f.single, count(f.offset[0]), count(f.offset[1]), f.more)
}

// pairRows are the rows a and b.
func (f *pairForm) pairRows() (a, b int) { return otherTwo(f.row) }

// taps are those of a term of two, in one way to divide the third row.
func (f *pairForm) taps(term, way int) [2][2]int {
	if term < thirdPair {
		a, b := f.pairRows()
		return [2][2]int{{a, term}, {b, term}}
	}
	a, b := otherTwo(f.single[way])
	return [2][2]int{{f.row, a}, {f.row, b}}
}

// at is where a tap is in the form's rows and columns, and the other way round.
func (f *pairForm) at(y, x int) (int, int) {
	if f.turned {
		return x, y
	}
	return y, x
}

// otherTwo are those of 0, 1 and 2 that n is not.
func otherTwo(n int) (a, b int) { return [3]int{1, 0, 0}[n], [3]int{2, 2, 1}[n] }

// uses reports whether a group has terms.
func (f *pairForm) uses(group uint8) bool { return slices.Contains(f.group[:], group) }

// partner is the term to whose product that of the single tap is added.
func (f *pairForm) partner() int { return slices.Index(f.group[:], f.group[thirdTap]) }

// Vectors of a record: the weights of terms, two of each (the third row's of each way
// to divide it), the single tap's unless it is among them, the offsets of even and odd
// channels, second and further parts of weights.

// weights is the number of the first ones.
func (f *pairForm) weights() int { return 2*(3+len(f.single)) + len(f.single)%2 }

// singleWeight is where the single tap's weights are.
func (f *pairForm) singleWeight(col int) int {
	if len(f.single) == 1 {
		return 2*thirdPair + 2
	}
	return f.weightAt(thirdPair+1-slices.Index(f.single, col), f.row, col)
}

// weightAt is where a tap's weights are among those of a term.
func (f *pairForm) weightAt(term, y, x int) int {
	taps := f.taps(min(term, thirdPair), max(term-thirdPair, 0))
	return 2*term + slices.Index(taps[:], [2]int{y, x})
}

// offsetAt is where a group's offsets are.
func (f *pairForm) offsetAt(group int) int {
	return f.weights() + 2*count(group == 1 && f.offset[0])
}

// part is where part 1+i of a tap's weights is.
func (f *pairForm) part(y, x, i int) int {
	n := f.weights() + 2*count(f.offset[:]...)
	for k := range 3*y + x {
		n += f.more[k/3][k%3]
	}
	return n + i
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

// vectors is their number.
func (f *pairForm) vectors() int { return f.part(2, 2, f.more[2][2]) }

// term is which term a tap belongs to, when a column of the third row is single.
func (f *pairForm) term(y, x, single int) int {
	switch {
	case y != f.row:
		return x
	case x != single:
		return thirdPair
	}
	return thirdTap
}

// pairReach is how far a sum goes below and above 0.
type pairReach struct{ least, most int64 }

func (r pairReach) plus(s pairReach) pairReach { return pairReach{r.least + s.least, r.most + s.most} }

// offsets are those that keep a sum in a half.
func (r pairReach) offsets() (least, most int64) {
	return math.MinInt16 - r.least, math.MaxInt16 - r.most
}

// pairChannel is what the division of a channel's window depends on: the reach of
// each tap, and the constant that the accumulator begins with.
type pairChannel struct {
	tap  [3][3]pairReach
	bias int64
}

// pairWindow are the accumulators less the centre that matter: of all below first
// the results are the same, and of all from last on.
type pairWindow struct{ first, last int64 }

// offsets divides a channel's bias between groups 0 and 1. zero says which of them
// must do without one. It reports whether the sums are right.
func (f *pairForm) offsets(c *pairChannel, w pairWindow, zero [2]bool) (offset [2]int64, ok bool) {
	least, most := int64(math.MinInt32), int64(math.MaxInt32) // of group 0's
	for _, single := range f.single {
		var g [pairGroups]pairReach
		for y := range 3 {
			for x := range 3 {
				r, col := f.at(y, x)
				n := f.group[f.term(r, col, single)]
				g[n] = g[n].plus(c.tap[y][x])
			}
		}
		l, m := g[0].offsets()
		least, most = max(least, l), min(most, m)
		l, m = g[1].offsets()
		least, most = max(least, c.bias-m), min(most, c.bias-l)
		if l, m = g[2].offsets(); l > 0 || m < 0 {
			return offset, false
		}
		both := g[0].plus(g[1])
		if both.most+c.bias > math.MaxInt16 && math.MaxInt16+g[2].least < w.last ||
			both.least+c.bias < math.MinInt16 && math.MinInt16+g[2].most >= w.first {
			return offset, false
		}
	}
	if zero[0] {
		least, most = max(least, 0), min(most, 0)
	}
	if zero[1] {
		least, most = max(least, c.bias), min(most, c.bias)
	}
	if least > most {
		return offset, false
	}
	offset[0] = min(max(0, least), most)
	offset[1] = c.bias - offset[0]
	return offset, true
}

// pairChannels are those of a filter.
func (g *gemm) pairChannels() []pairChannel {
	f := &g.filter
	list := make([]pairChannel, f.k)
	for ch := range list {
		c := &list[ch]
		for y := range 3 {
			for x := range 3 {
				w := 255 * int64(f.centred(ch, y, x))
				c.tap[y][x] = pairReach{min(w, 0), max(w, 0)}
			}
		}
		c.bias = int64(g.foldedBias(ch))
	}
	return list
}

// pairWindow is that of the requantization by halves, whose first and last steps are
// those of the definition.
func (q *requant) pairWindow() pairWindow {
	centre := int64(q.centre())
	return pairWindow{firstOf(q.mult[0], q.zero, max(q.lo, 0)+1) - centre, firstOf(q.mult[0], q.zero, min(q.hi, 255)) - centre}
}

// pairGroupings lists the ways to group the terms, but for the names of groups 0 and 1.
// The single tap is never alone, for its product is added to another one where it is made.
var pairGroupings = func() (list [][pairTerms]uint8) {
	for n := range 243 {
		var g [pairTerms]uint8
		var count [pairGroups]int
		for i := range g {
			g[i] = uint8(n % 3)
			count[g[i]]++
			n /= 3
		}
		named := slices.Index(g[:], 0) < slices.Index(g[:], 1)
		if named && count[0] > 0 && count[1] > 0 && count[g[thirdTap]] > 1 {
			list = append(list, g)
		}
	}
	return list
}()

// findPairs looks for the division that is right for the channels of most chunks; of
// those one with few offsets. good are these chunks.
func findPairs(channels []pairChannel, w pairWindow, choices []pairForm) (best pairForm, good []bool) {
	chunks := ceilDiv(len(channels), vecBytes)
	most := 0
	failed := make([]int, chunks) // the channel for which the last division was wrong
	right := func(f *pairForm, zero [2]bool) (is []bool, n int) {
		is = make([]bool, chunks)
		for chunk := range is {
			first := chunk * vecBytes
			part := channels[first:min(first+vecBytes, len(channels))]
			fits := func(i int) bool { _, ok := f.offsets(&part[i], w, zero); return ok }
			if is[chunk] = fits(failed[chunk]); !is[chunk] {
				continue
			}
			for i := range part {
				if !fits(i) {
					is[chunk], failed[chunk] = false, i
					break
				}
			}
			if is[chunk] {
				n++
			}
		}
		return is, n
	}
	for _, zero := range [...][2]bool{{true, false}, {false, true}, {}} {
		for _, f := range choices {
			f.offset = [2]bool{!zero[0], !zero[1]}
			for _, f.group = range pairGroupings {
				if is, n := right(&f, zero); n > most {
					best, good, most = f, is, n
				}
				if most == chunks {
					return best, good
				}
			}
		}
	}
	return best, good
}

// pairForms are the ways to divide the window that kernels have, without groups: none
// where they have no way for its columns.
func (d *depthKernel) pairForms() (list []pairForm) {
	switch {
	case d.cells > 1 && d.stride == 2 && (d.skew != 0 || d.dilation > 1):
		return nil
	case d.cells > 1 && d.stride == 2:
		for single := range 3 {
			list = append(list, pairForm{turned: true, row: 2, single: []int{single}})
		}
		return list
	}
	single := []int{2}
	switch {
	case d.cells > 1: // a column that is not moved
		for col := range 3 {
			if d.column(col).shift == 0 {
				single[0] = col
			}
		}
	case d.shared() == 2:
		single = append(single, 0)
	}
	for row := range 3 {
		list = append(list, pairForm{row: row, single: single})
	}
	return list
}

// keepPairs sets out to have a window divided into terms, and answers the cost of the
// kernel: 0 where there is none. channels and the window are what records are made of.
func (l *lowering) keepPairs(d *depthKernel, g *gemm, channels []pairChannel, w pairWindow) int {
	form, good := findPairs(channels, w, d.pairForms())
	if len(good) == 0 || slices.Contains(good, false) {
		return 0
	}
	for y := range 3 {
		for x := range 3 {
			for ch := range g.filter.k {
				r, col := form.at(y, x)
				form.more[r][col] = max(form.more[r][col], len(splitWeight(g.filter.centred(ch, y, x)))-1)
			}
		}
	}
	d.nine = nineForm{row: form.row, same: g.filter.k <= vecBytes, pairs: &form}
	best, least := 0, 0
	for offsets := 2 * count(form.offset[:]...); offsets >= 0; offsets-- {
		d.nine.kept = form.weights() + offsets
		if cost := l.tryKernel(d.nineName(), d.generate); cost > 0 && (best == 0 || cost < least) {
			best, least = d.nine.kept, cost
		}
	}
	d.nine.kept = best
	return least
}

// packPairs appends a record; channels of chunks that are not good have none.
func (g *gemm) packPairs(out []byte, f *pairForm, channels []pairChannel, w pairWindow, channel func(i int) int) []byte {
	at := len(out)
	out = append(out, make([]byte, f.vectors()*vecBytes)...)
	record := out[at:]
	put := func(n, i int, b int8) { record[n*vecBytes+i] = byte(b) }
	for i := range vecBytes {
		ch := channel(i)
		if ch < 0 {
			continue
		}
		for y := range 3 {
			for x := range 3 {
				parts := splitWeight(g.filter.centred(ch, y, x))
				r, col := f.at(y, x)
				for _, n := range f.places(r, col) {
					put(n, i, parts[0])
				}
				for k, b := range parts[1:] {
					put(f.part(r, col, k), i, b)
				}
			}
		}
		offset, _ := f.offsets(&channels[ch], w, [2]bool{!f.offset[0], !f.offset[1]})
		for n, has := range f.offset {
			if has {
				binary.LittleEndian.PutUint16(record[(f.offsetAt(n)+i%2)*vecBytes+i/2*2:], uint16(offset[n]))
			}
		}
	}
	return out
}

// places are where a tap's weights are in a record.
func (f *pairForm) places(y, x int) (list []int) {
	if y != f.row {
		return []int{f.weightAt(x, y, x)}
	}
	for i, single := range f.single {
		if x == single {
			list = append(list, f.singleWeight(x))
		} else {
			list = append(list, f.weightAt(thirdPair+i, y, x))
		}
	}
	return list
}
