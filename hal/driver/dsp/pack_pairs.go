package dsp

import (
	"encoding/binary"
	"slices"
)

// worthPart is how many vectors make up for the launch of one more kernel: each saves some
// three packets.
const worthPart = 1600

// knownForms bounds how many divisions are remembered.
const knownForms = 16

// pairsPart is the part of a depthwise convolution whose chunks sum in halves; it has no
// chunks where there are none, or no kernel for them.
func (l *lowering) pairsPart(g *gemm, d depthKernel) (p depthPart, rest []int) {
	chunks := ceilDiv(g.filter.k, vecBytes)
	rest = numbers(chunks)
	turned, rows := d.pairRows()
	if rows == nil {
		return p, rest
	}
	o := g.out.shape
	least := min(ceilDiv(worthPart, d.steps*o.n*o.h), chunks)
	w := g.rq.pairWindow()
	channels := g.pairChannels(w)
	form, good := findPairs(channels, w, turned, rows, least, l.pairs)
	p.depthKernel = d
	for chunk, is := range good {
		if is {
			p.chunks = append(p.chunks, chunk)
		}
	}
	if len(p.chunks) == 0 {
		return depthPart{}, rest
	}
	for _, ch := range g.channelsOf(p.chunks) {
		for y := range 3 {
			for x := range 3 {
				row, col := form.at(y, x)
				form.more[row][col] = max(form.more[row][col], len(splitWeight(channels[ch].weight[y][x]))-1)
			}
		}
	}
	p.nine = nineForm{row: form.row, same: len(p.chunks) == 1, pairs: &form}
	if l.keepConstants(&p.depthKernel) == 0 {
		return depthPart{}, rest
	}
	if len(l.pairs) < knownForms && !slices.Contains(l.pairs, form) {
		l.pairs = append(l.pairs, form)
	}
	for _, chunk := range p.chunks {
		p.records = g.packPairs(p.records, &form, channels, w, func(i int) int { return g.channelAt(&d, chunk, i) })
	}
	return p, slices.DeleteFunc(rest, func(chunk int) bool { return slices.Contains(p.chunks, chunk) })
}

// pairRows are the rows that may be the third one, of columns if turned; none where
// kernels have no way for the columns.
func (d *depthKernel) pairRows() (turned bool, rows []int) {
	switch {
	case !d.hasNine() || !d.rq.half || d.cells > 1 && d.stride == 2 && (d.skew != 0 || d.dilation > 1):
		return false, nil
	case d.cells > 1 && d.stride == 2:
		return true, []int{2}
	}
	return false, []int{0, 1, 2}
}

// packPairs appends a record.
func (g *gemm) packPairs(out []byte, f *pairForm, channels []pairChannel, w pairWindow, channel func(i int) int) []byte {
	at := len(out)
	out = append(out, make([]byte, f.vectors()*vecBytes)...)
	record := out[at:]
	for i := range vecBytes {
		ch := channel(i)
		if ch < 0 {
			continue
		}
		c := &channels[ch]
		for y := range 3 {
			for x := range 3 {
				row, col := f.at(y, x)
				for k, b := range splitWeight(c.weight[y][x]) {
					n := f.weightAt(row, col)
					if k > 0 {
						n = f.partAt(row, col, k-1)
					}
					record[n*vecBytes+i] = byte(b)
				}
			}
		}
		r := f.reaches(c)
		offset, _ := f.divide(&r, c.bias, w)
		for n, has := range f.offset {
			if has {
				binary.LittleEndian.PutUint16(record[(f.offsetAt(n)+i%2)*vecBytes+i/2*2:], uint16(offset[n]))
			}
		}
	}
	return out
}
