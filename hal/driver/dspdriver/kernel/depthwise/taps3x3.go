package depthwise

import (
	"fmt"
	"slices"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
)

// Taps3x3 is how a 3x3 kernel divides the nine taps between its instructions.
type Taps3x3 struct {
	row, col int            // of the single tap
	Parts    [2]weightParts // of the words: how many signed bytes weights need
	wide     bool           // some bias does not fit in a half
	same     bool           // all entries have one record
	Kept     int            // vectors of constants in registers, of those in order; 0 for kernels of another kind
}

func (f *Taps3x3) on() bool { return f.Kept > 0 }

func (d *Kernel) name3x3() string {
	f := &d.Direct3x3
	name := fmt.Sprintf("dw3x3_r%d_s%d_d%d_p%d_n%d_c%d+%d_t%d.%d_%d.%d_k%d_%s_a%d+%d", d.RowStep, d.Stride, d.Dilation, d.Pitch,
		d.Outputs, d.PerVector, d.Skew, f.row, f.col, f.Parts[0], f.Parts[1], f.Kept, d.Rq.Tag(), d.Lookahead, d.LookaheadOff)
	if f.wide {
		name += "_wide"
	}
	if f.same {
		name += "_same"
	}
	return hvx.Symbol(name)
}

// pairedRows are the rows a and b.
func (f *Taps3x3) pairedRows() (a, b int) {
	return [3]int{1, 0, 0}[f.row], [3]int{2, 2, 1}[f.row]
}

// pairedColumns are the third row's columns in the second word.
func (f *Taps3x3) pairedColumns() (a, b int) {
	return [3]int{1, 0, 0}[f.col], [3]int{2, 2, 1}[f.col]
}

// taps are the rows and columns of a word's bytes.
func (f *Taps3x3) taps(word int) [4][2]int {
	a, b := f.pairedRows()
	if word == 0 {
		return [4][2]int{{a, 0}, {b, 0}, {a, 1}, {b, 1}}
	}
	x, y := f.pairedColumns()
	return [4][2]int{{a, 2}, {b, 2}, {f.row, x}, {f.row, y}}
}

// Vectors of a record behind its header: the single tap's weights, those of words that
// are multiplied two in a packet, one of the two, the biases of even and odd channels
// as halves, the words' other weights. A packet loads one vector for itself, so what
// stays in registers is best one of two; words that use both multipliers may as well be loaded.
const (
	singleTap    = 0
	firstWeights = 1 // as many as pairedWeights
	biasVectors  = firstWeights + len(pairedWeights)
	otherWeights = biasVectors + 2
)

// pairedWeights are word and pair of vectors of what does not add to sums.
var pairedWeights = [...][2]int{{0, 0}, {1, 0}, {0, 1}}

// vectors is their number.
func (f *Taps3x3) vectors() int {
	n := otherWeights - len(pairedWeights)
	for _, p := range f.Parts {
		n += p[0] + p[1] + p[2] + p[3]
	}
	return n
}

// weight is the number of a word's weights for vector j. The first parts come first.
func (f *Taps3x3) weight(word, part, j int) int {
	first := func(w, p, l int) int { return slices.Index(pairedWeights[:], [2]int{w, l / 2}) + 8*(p+l%2) }
	if i := first(word, part, j); i >= 0 && i < len(pairedWeights) {
		return firstWeights + i
	}
	n := otherWeights
	for p := range part + 1 {
		for w := range f.Parts {
			for l, parts := range f.Parts[w] {
				if p == part && w == word && l == j {
					return n
				}
				if i := first(w, p, l); parts > p && (i < 0 || i >= len(pairedWeights)) {
					n++
				}
			}
		}
	}
	return n
}

// ResidentCounts lists how many constants may stay in registers, what is likely to be best first.
func (d *Kernel) ResidentCounts() []int {
	switch k := d.Rq; {
	case k.PerChannel && k.Unshifted:
		return []int{4, 3, 1, 5}
	case k.PerChannel && (k.Left || k.Clamp || !k.Plain):
		return []int{5, 6, 4, 3, 1}
	case d.Direct3x3.wide && d.Direct3x3.same:
		return []int{6, 8, 5, 4, 3, 1}
	case k.PerChannel:
		return []int{8, 6, 5, 4, 3, 1}
	}
	return []int{5, 4, 6, 8, 3, 1}
}

// minOutputs3x3 is the least number of outputs of an entry.
const minOutputs3x3 = 2
