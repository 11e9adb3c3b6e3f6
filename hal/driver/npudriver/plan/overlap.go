package plan

import (
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/layout"
)

// maxBlockDep is the most blocks of two kernels that may be in flight at a time, the largest BLOCKDEP.
const maxBlockDep = 3

// blockDep is how many blocks may be in flight when a kernel begins before the one in front of it has
// ended: so many that block i of it shares no bytes with the last of the other one's blocks, which may run
// beside it. As in Vela, whose name for it this is.
func (e *emitter) blockDep(w *job) int {
	n := maxBlockDep
	for age, i := 0, len(e.recent)-1; i >= 0; age, i = age+1, i-1 {
		p := e.recent[i]
		out := w.Kernel.OFM.Buffer()
		if p.buffered && p.weights.Overlaps(&out) {
			return 0
		}
		if age == 0 {
			n = independentBlocks(&p.Kernel, &w.Kernel)
			continue
		}
		// Blocks of older kernels run beside this one's only when there are too few of the last one's.
		if sharesBytes(&p.Kernel, &w.Kernel) {
			n = min(n, blockCount(&e.recent[len(e.recent)-1].Kernel))
		}
	}
	return n
}

// independentBlocks is the most blocks in flight with which no block of a kernel meets bytes that a block of the
// kernel before it works on.
func independentBlocks(before, k *kernel.Kernel) int {
	if !sharesBytes(before, k) {
		return maxBlockDep
	}
	total, own := blockCount(before), blockCount(k)
	for n := maxBlockDep; n > 0; n-- {
		free := true
		for i := 0; i < min(n, own) && free; i++ {
			for back := 0; back < min(n-1-i, total) && free; back++ {
				free = !conflict(before, total-1-back, k, i)
			}
		}
		if free {
			return n
		}
	}
	return 0
}

// sharesBytes reports whether one of two kernels writes what the other reads or writes.
func sharesBytes(a, b *kernel.Kernel) bool {
	if a.OFM.Overlaps(&b.OFM.FeatureMap) {
		return true
	}
	for _, p := range [2][2]*kernel.Kernel{{a, b}, {b, a}} {
		out, in := &p[0].OFM.FeatureMap, p[1]
		if out.Overlaps(&in.IFM.FeatureMap) || in.IFM2 != nil && out.Overlaps(&in.IFM2.FeatureMap) {
			return true
		}
	}
	return false
}

// blockCount is the number of blocks of a kernel's output.
func blockCount(k *kernel.Kernel) int {
	return divideUp(k.OFM.H, k.Block.H) * divideUp(k.OFM.W, k.Block.W) * divideUp(k.OFM.C, k.Block.D)
}

func divideUp(n, m int) int { return (n + m - 1) / m }

// blockRows is the rows of the output of block i: blocks go through channels, then columns, then rows.
func blockRows(k *kernel.Kernel, i int) (lo, hi int) {
	y := i / (divideUp(k.OFM.W, k.Block.W) * divideUp(k.OFM.C, k.Block.D)) * k.Block.H
	return y, min(y+k.Block.H, k.OFM.H)
}

// conflict reports whether block i of one kernel and block j of another share bytes that one of them writes,
// compared by whole rows.
func conflict(a *kernel.Kernel, i int, b *kernel.Kernel, j int) bool {
	lo, hi := blockRows(a, i)
	outA, inA := rowSpans(nil, &a.OFM, lo, hi), inputSpans(a, lo, hi)
	lo, hi = blockRows(b, j)
	outB, inB := rowSpans(nil, &b.OFM, lo, hi), inputSpans(b, lo, hi)
	return overlapping(outA, outB) || overlapping(outA, inB) || overlapping(inA, outB)
}

// inputSpans is the bytes that a kernel reads for rows of its output.
func inputSpans(k *kernel.Kernel, lo, hi int) []layout.Buffer {
	first, last := inputRows(k, lo, hi)
	spans := rowSpans(nil, &k.IFM, min(first, k.IFM.H-1), max(last, first+1))
	if k.IFM2 != nil {
		if k.IFM2.H == 1 {
			lo, hi = 0, 1
		}
		spans = rowSpans(spans, k.IFM2, lo, hi)
	}
	return spans
}

// rowSpans appends the bytes between the first and the last of rows [lo,hi) of a map, of a rolling buffer
// in up to two pieces.
func rowSpans(spans []layout.Buffer, r *layout.Ref, lo, hi int) []layout.Buffer {
	hi = min(hi, r.H)
	piece := func(row, n int) {
		if n > 0 {
			spans = append(spans, layout.Buffer{Region: r.Region, Addr: r.Addr + row*r.StrideY, Bytes: (n-1)*r.StrideY + r.RowBytes()})
		}
	}
	tile := r.Tile()
	if above := min(hi, tile) - lo; above > 0 {
		piece(r.Row+lo, above)
	}
	if below := max(lo, tile); below < hi {
		piece(below-tile, hi-below)
	}
	return spans
}

func overlapping(a, b []layout.Buffer) bool {
	for i := range a {
		for j := range b {
			if a[i].Overlaps(&b[j]) {
				return true
			}
		}
	}
	return false
}
