package plan

import (
	"slices"

	"github.com/nnsoc/nnsoc/hal/driver/npudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/layout"
)

// part is rows [lo,hi) of the output of a stage of a cascade.
type part struct{ stage, lo, hi int }

// inputRows is the rows of its input that a kernel reads for rows [lo,hi) of its output.
func inputRows(k *kernel.Kernel, lo, hi int) (first, last int) {
	if k.Kind == kernel.Elementwise {
		return lo, hi
	}
	return max(0, lo*k.SY-k.Top), min(k.IFM.H, (hi-1)*k.SY+(k.KH-1)*k.DY+1-k.Top)
}

// interleave cuts the last of a chain of kernels into stripes of so many rows. Before each stripe the others compute
// the rows that it needs and that do not exist yet. rings are the rows that the map behind each kernel but
// the last keeps at a time; 0 where that is all of them.
//
//	stripes of 2 rows of a 3x3 kernel behind a 1x1 kernel, 6 rows, padded by 1:
//	0: 0-2, 1: 0-1, 0: 3-4, 1: 2-3, 0: 5, 1: 4-5; ring of 4 rows
func interleave(chain []*kernel.Kernel, rows int) (parts []part, rings []int) {
	last := len(chain) - 1
	done := make([]int, len(chain))
	rings = make([]int, last)
	height := chain[last].OFM.H
	for at := 0; at < height; at += rows {
		first := len(parts)
		lo, hi := at, min(at+rows, height)
		for i := last; i >= 0; i-- {
			if lo = max(lo, done[i]); lo < hi { // else its rows exist
				parts = append(parts, part{i, lo, hi})
				done[i] = hi
			} else {
				break
			}
			if i > 0 {
				lo, hi = inputRows(chain[i], lo, hi)
				rings[i-1] = max(rings[i-1], max(hi, done[i-1])-lo)
				lo = done[i-1]
			}
		}
		slices.Reverse(parts[first:])
	}
	for i := range rings {
		if rings[i] >= chain[i].OFM.H {
			rings[i] = 0
		}
	}
	return parts, rings
}

// reads is the map in which a kernel reads a value: its second one, where both have the value the first.
func reads(k *kernel.Kernel, value int) *layout.Ref {
	if k.IFM2 != nil && k.IFM2.Value == value && k.IFM.Value != value {
		return k.IFM2
	}
	return &k.IFM
}

// stripe is the kernel that computes rows [lo,hi) of a kernel's output. The output, and the input that is the
// given value, are each in a rolling buffer of so many rows, or contiguous if that is 0; other inputs are contiguous.
func stripe(k *kernel.Kernel, lo, hi, value, ringIn, ringOut int) kernel.Kernel {
	s := *k
	second := 0
	if k.IFM2 != nil && reads(k, value) == k.IFM2 {
		ringIn, second = 0, ringIn
	}
	first, last := inputRows(k, lo, hi)
	cut := func(f layout.FeatureMap, ring, lo, hi int) layout.FeatureMap {
		if ring > 0 {
			return f.Rolled(ring, lo, hi)
		}
		return f.Rows(lo, hi)
	}
	s.IFM.FeatureMap = cut(k.IFM.FeatureMap, ringIn, first, last)
	s.OFM.FeatureMap = cut(k.OFM.FeatureMap, ringOut, lo, hi)
	if k.Kind != kernel.Elementwise {
		s.Top = max(0, k.Top-lo*k.SY)
		s.Bottom = max(0, (hi-1)*k.SY+(k.KH-1)*k.DY+1-k.Top-k.IFM.H)
		return s
	}
	if k.IFM2 != nil && k.IFM2.H > 1 {
		own := *k.IFM2
		own.FeatureMap = cut(own.FeatureMap, second, lo, hi)
		s.IFM2 = &own
	}
	return s
}
