package dsp

import (
	"encoding/binary"
	"math"
	"slices"
)

// hasNine reports whether windows may have the kernel for nine taps: three by three, in
// rows of some outputs, whose columns lie in few vectors.
func (d *depthKernel) hasNine() bool {
	if d.kh != 3 || d.kw != 3 || d.steps < nineColumns {
		return false
	}
	return d.cells == 1 || d.stride <= 2 && d.reach() > 0 && d.reach() <= 2
}

// nineForm chooses the single tap, whose weights must all be signed bytes: the one
// that leaves the words the fewest weights of more than one.
func (g *gemm) nineForm(channels []int) nineForm {
	f := &g.filter
	var need [3][3]laneParts
	for y := range need {
		for x := range need[y] {
			need[y][x] = laneParts{1, 1, 1, 1}
			for _, ch := range channels {
				n := &need[y][x][slices.Index(lanePhase[:], ch%4)]
				*n = max(*n, len(splitWeight(f.centred(ch, y, x))))
			}
		}
	}
	best, least := nineForm{}, 0
	for row := range 3 {
		for col := 2; col >= 0; col-- { // the last column is read for the next output as well
			if slices.Max(need[row][col][:]) > 1 {
				continue
			}
			form, cost := nineForm{row: row, col: col, same: len(channels) <= vecBytes}, 0
			for w := range form.parts {
				for _, t := range form.taps(w) {
					for j, n := range need[t[0]][t[1]] {
						form.parts[w][j] = max(form.parts[w][j], n)
					}
				}
				for _, n := range form.parts[w] {
					cost += n
				}
			}
			if least == 0 || cost < least {
				best, least = form, cost
			}
		}
	}
	for _, ch := range channels {
		b := g.foldedBias(ch)
		best.wide = best.wide || b < math.MinInt16 || b > math.MaxInt16
	}
	return best
}

// packNine appends what a record has behind its header.
func (g *gemm) packNine(out []byte, n *nineForm, lane []int, channel func(i int) int) []byte {
	f := &g.filter
	at := len(out)
	out = append(out, make([]byte, n.vectors()*vecBytes)...)
	record := out[at:]
	for i := range vecBytes {
		ch := channel(i)
		if ch < 0 {
			continue
		}
		record[nineSingle*vecBytes+i] = byte(f.centred(ch, n.row, n.col))
		if !n.wide {
			binary.LittleEndian.PutUint16(record[(nineBias+i%2)*vecBytes+i/2*2:], uint16(g.foldedBias(ch)))
		}
	}
	for w := range n.parts {
		for i, ch := range lane {
			if ch < 0 {
				continue
			}
			for k, t := range n.taps(w) {
				for part, b := range splitWeight(f.centred(ch, t[0], t[1])) {
					record[n.weight(w, part, i/32)*vecBytes+i%32*4+k] = byte(b)
				}
			}
		}
	}
	return out
}

// keepNine chooses how many constants a kernel of nine taps that makes words keeps in
// registers; none, which is a kernel of another kind, where there is no single tap, no
// kernel has registers, or one that slides takes fewer packets.
func (l *lowering) keepNine(d *depthKernel) {
	d.nine.kept = 0
	if d.nine.parts[0][0] == 0 {
		return
	}
	least := l.keepConstants(d)
	if other := *d; least == 0 || (d.nine.heavy() || d.rq.perChannel && d.nine.wide) && other.withoutNine(l) < least {
		d.nine.kept = 0
	}
}

// withoutNine is the cost of a kernel that slides instead.
func (d *depthKernel) withoutNine(l *lowering) int {
	d.nine.kept = 0
	return l.slides(d)
}

// keepConstants keeps as many constants in registers as of the first two numbers that
// fit takes fewer packets, and answers the cost: 0 where none fits.
func (l *lowering) keepConstants(d *depthKernel) (least int) {
	best, fitting := 0, 0
	for _, kept := range d.keeps() {
		d.nine.kept = kept
		cost := l.tryKernel(d.nineName(), d.generate)
		if cost == 0 {
			continue
		}
		if fitting++; best == 0 || cost < least {
			best, least = kept, cost
		}
		if fitting == 2 {
			break
		}
	}
	d.nine.kept = best
	return least
}

// heavy reports that weights need so many second signed bytes that a kernel which
// slides, where words have room for some, may be better.
func (f *nineForm) heavy() bool { return f.vectors() > nineOthers-len(ninePairs)+8+1 }
