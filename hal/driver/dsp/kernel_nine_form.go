package dsp

import (
	"fmt"
	"slices"
)

// nineForm is how the taps are divided.
type nineForm struct {
	row, col int          // of the single tap
	parts    [2]laneParts // of the words: how many signed bytes weights need
	wide     bool         // some bias does not fit in a half
	same     bool         // all entries have one record
	kept     int          // vectors of constants in registers, of those in order; 0 for kernels of another kind
	pairs    *pairForm    // nil: words
}

func (f *nineForm) on() bool { return f.kept > 0 }

func (d *depthKernel) nineName() string {
	f := &d.nine
	if f.pairs != nil {
		return symbol(fmt.Sprintf("depth_pairs_r%d_s%d_d%d_p%d_n%d_c%d+%d_k%d_%s_a%d+%d_same%d_%s", d.rowStep, d.stride, d.dilation, d.pitch,
			d.steps, d.cells, d.skew, f.kept, d.rq.tag(), d.ahead, d.aheadOff, count(f.same), f.pairs.tag()))
	}
	name := fmt.Sprintf("depth_nine_r%d_s%d_d%d_p%d_n%d_c%d+%d_t%d.%d_%d.%d_k%d_%s_a%d+%d", d.rowStep, d.stride, d.dilation, d.pitch,
		d.steps, d.cells, d.skew, f.row, f.col, f.parts[0], f.parts[1], f.kept, d.rq.tag(), d.ahead, d.aheadOff)
	if f.wide {
		name += "_wide"
	}
	if f.same {
		name += "_same"
	}
	return symbol(name)
}

// pairRows are the rows a and b.
func (f *nineForm) pairRows() (a, b int) {
	return [3]int{1, 0, 0}[f.row], [3]int{2, 2, 1}[f.row]
}

// pairColumns are the third row's columns in the second word.
func (f *nineForm) pairColumns() (a, b int) {
	return [3]int{1, 0, 0}[f.col], [3]int{2, 2, 1}[f.col]
}

// taps are the rows and columns of a word's bytes.
func (f *nineForm) taps(word int) [4][2]int {
	a, b := f.pairRows()
	if word == 0 {
		return [4][2]int{{a, 0}, {b, 0}, {a, 1}, {b, 1}}
	}
	x, y := f.pairColumns()
	return [4][2]int{{a, 2}, {b, 2}, {f.row, x}, {f.row, y}}
}

// Vectors of a record behind its header: the single tap's weights, those of words that
// are multiplied two in a packet, one of the two, the biases of even and odd channels
// as halves, the words' other weights. A packet loads one vector for itself, so what
// stays in registers is best one of two; what takes both multipliers may as well be loaded.
const (
	nineSingle = 0
	nineFirst  = 1 // as many as ninePairs
	nineBias   = nineFirst + len(ninePairs)
	nineOthers = nineBias + 2
)

// ninePairs are word and pair of vectors of what does not add to sums.
var ninePairs = [...][2]int{{0, 0}, {1, 0}, {0, 1}}

// vectors is their number.
func (f *nineForm) vectors() int {
	if f.pairs != nil {
		return f.pairs.vectors()
	}
	n := nineOthers - len(ninePairs)
	for _, p := range f.parts {
		n += p[0] + p[1] + p[2] + p[3]
	}
	return n
}

// weight is the number of a word's weights for vector j. The first parts come first.
func (f *nineForm) weight(word, part, j int) int {
	first := func(w, p, l int) int { return slices.Index(ninePairs[:], [2]int{w, l / 2}) + 8*(p+l%2) }
	if i := first(word, part, j); i >= 0 && i < len(ninePairs) {
		return nineFirst + i
	}
	n := nineOthers
	for p := range part + 1 {
		for w := range f.parts {
			for l, parts := range f.parts[w] {
				if p == part && w == word && l == j {
					return n
				}
				if i := first(w, p, l); parts > p && (i < 0 || i >= len(ninePairs)) {
					n++
				}
			}
		}
	}
	return n
}

// keeps lists how many constants may stay in registers, what is likely to be best first.
func (d *depthKernel) keeps() []int {
	switch k := d.rq; {
	case d.nine.pairs != nil:
		if d.stride == 1 {
			return []int{8, 9, 7, 6}
		}
		return []int{10, 9, 8, 7, 6}
	case k.perChannel && k.whole:
		return []int{4, 3, 1, 5}
	case k.perChannel && (k.left || k.clamp || !k.plain):
		return []int{5, 6, 4, 3, 1}
	case k.perChannel, d.halves():
		return []int{8, 6, 5, 4, 3, 1}
	}
	return []int{5, 4, 6, 8, 3, 1}
}

// nineColumns is the least number of outputs of an entry.
const nineColumns = 2
