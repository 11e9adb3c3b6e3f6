package depthwise

import (
	"slices"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/filter"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
)

// weightParts is how many signed bytes the weights need, for each of the four vectors of
// words.
type weightParts [4]int

// Lists as digits: a kernel with them can be compared, and read.
type (
	partTable string // of weightParts
	rowTable  string // of rows; row -1 is a dash
)

func (t *partTable) add(p weightParts) {
	for _, n := range p {
		*t += partTable(rune('0' + n))
	}
}

func (t partTable) len() int { return len(t) / len(weightParts{}) }

func (t partTable) at(i int) (p weightParts) {
	for j := range p {
		p[j] = int(t[i*len(p)+j] - '0')
	}
	return p
}

func (t *rowTable) add(row int) {
	if row < 0 {
		*t += "-"
	} else {
		*t += rowTable(rune('0' + row))
	}
}

func (t rowTable) at(set int) int {
	if t[set] == '-' {
		return -1
	}
	return int(t[set] - '0')
}

// has reports which vectors of pair k have a part.
func (p weightParts) has(k, part int) (first, second bool) { return p[2*k] > part, p[2*k+1] > part }

// packTaps packs the weights of the rows of a set for channel vector j: one part of
// each. The third row comes with its neighbour, of which odd channels are the
// second, unless the fourth byte is for the second part of a row.
func packTaps(rows [rowSet][]int8, twice, part, j int) (w [4]int8) {
	for r, parts := range rows {
		if r == twice {
			for n, at := range [2]int{r, 3} {
				if k := 2*part + n; k < len(parts) {
					w[at] = parts[k]
				}
			}
			continue
		}
		at := r
		if r == 2 && twice < 0 && hvx.LanePhase[j]%2 == 1 {
			at = 3
		}
		if part < len(parts) {
			w[at] = parts[part]
		}
	}
	return w
}

// channelAt is the channel of byte i of a vector, -1 for none.
func channelAt(g *filter.Conv, d *Kernel, chunk, i int) int {
	if d.PerVector > 1 {
		i %= d.Pitch
	}
	if i += chunk * hvx.VectorBytes; i >= g.Filter.K {
		return -1
	}
	return i
}

// ChooseForm chooses how weights become signed bytes, and the taps of the 3x3 kernel where
// that can compute the convolution.
func (d *Kernel) ChooseForm(g *filter.Conv) {
	shape := d.slidingShape()
	d.Duplicate, d.Parts = signedParts(&g.Filter, d.sets(), shape.units(1))
	if d.fits3x3() {
		d.Direct3x3 = chooseTaps(g)
	}
}

// Pack packs the records of chunks: headers and weights.
func (d *Kernel) Pack(g *filter.Conv, chunks int) []byte {
	f, records := &g.Filter, make([]byte, 0, chunks*d.Record())
	for chunk := range chunks {
		channel := func(i int) int { return channelAt(g, d, chunk, i) }
		lane := make([]int, 0, hvx.VectorBytes)
		for j := range 4 {
			for i := range 32 {
				lane = append(lane, channel(4*i+hvx.LanePhase[j]))
			}
		}
		records = g.PackHeader(records, d.Rq, lane)
		if d.Direct3x3.on() {
			records = pack3x3(g, records, &d.Direct3x3, lane, channel)
			continue
		}
		for i := range d.Parts.len() {
			parts := d.Parts.at(i)
			x, set := i/d.sets(), i%d.sets()
			for part := range slices.Max(parts[:]) {
				for k, ch := range lane {
					if parts[k/32] <= part {
						continue
					}
					var bytes [rowSet][filter.MaxSignedBytes]int8
					var rows [rowSet][]int8
					for r := 0; ch >= 0 && r < min(rowSet, f.KH-set*rowSet); r++ {
						var n int
						bytes[r], n = filter.SignedBytes(f.Centred(ch, set*rowSet+r, x))
						rows[r] = bytes[r][:n]
					}
					for _, w := range packTaps(rows, d.Duplicate.at(set), part, k/32) {
						records = append(records, byte(w))
					}
				}
			}
		}
	}
	return records
}

// signedParts is how many signed bytes the weights need, the same for all channels of a
// vector of words. Of each set, words have one row twice, or none, whichever needs
// fewer instructions: two to interleave it in each of a step's units of words, two
// to multiply with one more part.
func signedParts(f *filter.Filter, sets, units int) (twice rowTable, parts partTable) {
	need := make([]weightParts, f.KH*f.KW)
	for y := range f.KH {
		for x := range f.KW {
			for ch := range f.K {
				j := slices.Index(hvx.LanePhase[:], ch%4)
				_, n := filter.SignedBytes(f.Centred(ch, y, x))
				need[y*f.KW+x][j] = max(need[y*f.KW+x][j], n)
			}
		}
	}
	bySet := make([]weightParts, sets*f.KW)
	for set := range sets {
		from, to := set*rowSet, min((set+1)*rowSet, f.KH)
		best, least := -1, 0
		for row := from - 1; row < to; row++ { // from - 1: none
			cost := 0
			if row >= from {
				cost = units
			}
			for x := range f.KW {
				for _, n := range partsWith(f, need, row, from, to, x) {
					cost += n - 1
				}
			}
			if row < from || cost < least || cost == least && best < 0 {
				best, least = row-from, cost
			}
		}
		twice.add(best)
		for x := range f.KW {
			bySet[x*sets+set] = partsWith(f, need, best+from, from, to, x)
		}
	}
	for _, p := range bySet {
		parts.add(p)
	}
	return twice, parts
}

// partsWith is the parts of a column of rows from to to-1, one of which is there
// twice.
func partsWith(f *filter.Filter, need []weightParts, twice, from, to, x int) weightParts {
	all := weightParts{1, 1, 1, 1}
	for y := from; y < to; y++ {
		for j, n := range need[y*f.KW+x] {
			if y == twice {
				n = hvx.CeilDiv(n, 2)
			}
			all[j] = max(all[j], n)
		}
	}
	return all
}
