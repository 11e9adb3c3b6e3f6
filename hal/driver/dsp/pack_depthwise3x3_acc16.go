package dsp

import (
	"encoding/binary"
	"slices"

	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/filter"
)

// worthPart is the least number of output vectors for which a second kernel launch pays: each
// vector saves some three packets.
const worthPart = 1600

// maxKnownSplits bounds how many splits a lowering remembers, so that layers share kernels.
const maxKnownSplits = 16

// acc16Part returns the part of a depthwise convolution whose chunks of channels are exact in
// 16-bit accumulators, and the other chunks; the part is empty if no chunk is exact, or none
// has a kernel.
func (l *lowering) acc16Part(g *gemm, d depthwiseKernel) (p depthwisePart, rest []int) {
	chunks := ceilDiv(g.Filter.K, vecBytes)
	rest = numbers(chunks)
	turned, rows := d.acc16ThirdRows()
	if rows == nil {
		return p, rest
	}
	o := g.out.shape
	least := min(ceilDiv(worthPart, d.steps*o.n*o.h), chunks)
	w := newAcc16Range(&g.Rq)
	channels := acc16Channels(&g.Conv, w)
	form, good := findAcc16Split(channels, w, turned, rows, least, l.acc16Splits)
	p.depthwiseKernel = d
	for chunk, is := range good {
		if is {
			p.chunks = append(p.chunks, chunk)
		}
	}
	if len(p.chunks) == 0 {
		return depthwisePart{}, rest
	}
	for _, ch := range channelsOf(&g.Conv, p.chunks) {
		for y := range 3 {
			for x := range 3 {
				row, col := form.at(y, x)
				form.more[row][col] = max(form.more[row][col], len(filter.SignedBytes(channels[ch].weight[y][x]))-1)
			}
		}
	}
	p.dw3x3 = dw3x3Taps{row: form.row, same: len(p.chunks) == 1, acc16: &form}
	g.fetchAhead(l, &p.depthwiseKernel, len(p.chunks))
	if !l.keepConstants(&p.depthwiseKernel) {
		return depthwisePart{}, rest
	}
	if len(l.acc16Splits) < maxKnownSplits && !slices.Contains(l.acc16Splits, form) {
		l.acc16Splits = append(l.acc16Splits, form)
	}
	for _, chunk := range p.chunks {
		p.records = packAcc16(&g.Conv, p.records, &form, channels, w, func(i int) int { return channelAt(&g.Conv, &d, chunk, i) })
	}
	return p, slices.DeleteFunc(rest, func(chunk int) bool { return slices.Contains(p.chunks, chunk) })
}

// acc16ThirdRows are the rows that may be the third one, of columns if turned; none where
// kernels have no way for the columns.
func (d *depthwiseKernel) acc16ThirdRows() (turned bool, rows []int) {
	switch {
	case !d.fits3x3() || !d.rq.Halfword || d.cells > 1 && d.stride == 2 && (d.skew != 0 || d.dilation > 1):
		return false, nil
	case d.cells > 1 && d.stride == 2:
		return true, []int{2}
	}
	return false, []int{0, 1, 2}
}

// packAcc16 appends a record.
func packAcc16(g *filter.Conv, out []byte, f *acc16Split, channels []acc16Channel, w acc16Range, channel func(i int) int) []byte {
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
				for k, b := range filter.SignedBytes(c.weight[y][x]) {
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
