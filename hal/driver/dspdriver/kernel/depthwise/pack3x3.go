package depthwise

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/filter"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
)

// fits3x3 reports whether the 3x3 kernel can compute the convolution: a 3x3 window, at
// least minOutputs3x3 output vectors per row, several positions per vector, and window
// columns within few vectors.
func (d *Kernel) fits3x3() bool {
	if d.KH != 3 || d.KW != 3 || d.Outputs < minOutputs3x3 {
		return false
	}
	return d.PerVector > 1 && d.Stride <= 2 && d.reach() > 0 && d.reach() <= 2
}

// chooseTaps chooses the single tap, whose weights must all be signed bytes: the one
// that leaves the words the fewest weights of more than one.
func chooseTaps(g *filter.Conv) Taps3x3 {
	f := &g.Filter
	var need [3][3]weightParts
	for y := range need {
		for x := range need[y] {
			need[y][x] = weightParts{1, 1, 1, 1}
			for ch := range f.K {
				j := slices.Index(hvx.LanePhase[:], ch%4)
				_, n := filter.SignedBytes(f.Centred(ch, y, x))
				need[y][x][j] = max(need[y][x][j], n)
			}
		}
	}
	best, least := Taps3x3{}, 0
	for row := range 3 {
		for col := 2; col >= 0; col-- { // the last column is read for the next output as well
			if slices.Max(need[row][col][:]) > 1 {
				continue
			}
			form, cost := Taps3x3{row: row, col: col, same: f.K <= hvx.VectorBytes}, 0
			for w := range form.Parts {
				for _, t := range form.taps(w) {
					for j, n := range need[t[0]][t[1]] {
						form.Parts[w][j] = max(form.Parts[w][j], n)
					}
				}
				for _, n := range form.Parts[w] {
					cost += n
				}
			}
			if least == 0 || cost < least {
				best, least = form, cost
			}
		}
	}
	for ch := range f.K {
		b := g.FoldedBias(ch)
		best.wide = best.wide || b < math.MinInt16 || b > math.MaxInt16
	}
	return best
}

// pack3x3 appends what a record has behind its header.
func pack3x3(g *filter.Conv, out []byte, n *Taps3x3, lane []int, channel func(i int) int) []byte {
	f := &g.Filter
	at := len(out)
	out = append(out, make([]byte, n.vectors()*hvx.VectorBytes)...)
	record := out[at:]
	for i := range hvx.VectorBytes {
		ch := channel(i)
		if ch < 0 {
			continue
		}
		record[singleTap*hvx.VectorBytes+i] = byte(f.Centred(ch, n.row, n.col))
		if !n.wide {
			binary.LittleEndian.PutUint16(record[(biasVectors+i%2)*hvx.VectorBytes+i/2*2:], uint16(g.FoldedBias(ch)))
		}
	}
	for w := range n.Parts {
		for i, ch := range lane {
			if ch < 0 {
				continue
			}
			for k, t := range n.taps(w) {
				parts, count := filter.SignedBytes(f.Centred(ch, t[0], t[1]))
				for part, b := range parts[:count] {
					record[n.weight(w, part, i/32)*hvx.VectorBytes+i%32*4+k] = byte(b)
				}
			}
		}
	}
	return out
}
