package npu

import (
	"fmt"

	"github.com/nnsoc/nnsoc/isa/ethosu"
)

// scratch is host memory reused from operation to operation.
type scratch struct {
	x8            []byte
	x16           []int16
	acc           []int32
	out           []byte
	row, row2     []int32
	outRow        []int32
	bias          []int32
	scale, shift  []int32
	wide          []int64
	offsets, runs []int32
	records       []ethosu.ScaleRecord
	weights       weightScratch
}

// grow returns a slice of n elements, reusing b. Its contents are undefined.
func grow[T any](b []T, n int) []T {
	if cap(b) < n {
		return make([]T, n)
	}
	return b[:n]
}

// execute runs one decoded operation.
func (st *State) execute(o *op) error {
	if st.spec.ShramBytes <= 16<<10 {
		// The tables lie where this machine's accumulators go.
		if o.out.table == nil {
			st.tablesLost = true
		} else if st.tablesLost {
			return fmt.Errorf("lookup table was overwritten by the accumulators of an earlier operation")
		}
	}
	switch o.kind {
	case opConv, opDepthwise:
		return st.convolve(o)
	case opPool:
		return st.pool(o)
	}
	return st.elementwise(o)
}

// dma copies bytes between regions and SHRAM.
func (st *State) dma(r *regFile, regions *Regions) (copied int, err error) {
	length := r.addr(ethosu.SetDMA0Len)
	src, dst := r.u(ethosu.SetDMA0SrcRegion), r.u(ethosu.SetDMA0DstRegion)
	rows, planes, mode := 1, 1, dst>>9&3
	if s := src >> 9 & 3; s != 0 && s != mode {
		return 0, fmt.Errorf("source stride mode %d differs from the destination's %d", s, mode)
	}
	switch {
	case mode == 0:
	case mode == 3 || st.spec.Product != ethosu.U65:
		return 0, fmt.Errorf("stride mode %d", mode)
	default:
		rows = r.u(ethosu.SetDMA0Size0)
		if mode == 2 {
			planes = r.u(ethosu.SetDMA0Size1)
		}
	}
	side := func(v int) []byte {
		if v&ethosu.DMAInternal != 0 {
			return st.shram
		}
		return regions[v&7]
	}
	from, to := side(src), side(dst)
	at, out := r.addr(ethosu.SetDMA0Src), r.addr(ethosu.SetDMA0Dst)
	if st.spec.Product == ethosu.U55 || dst&ethosu.DMAInternal != 0 {
		if at%16 != 0 && st.spec.Product == ethosu.U55 || out%16 != 0 || length%16 != 0 {
			return 0, fmt.Errorf("copy of %#x bytes from %#x to %#x: not aligned to 16 bytes", length, at, out)
		}
	}
	if int64(rows)*int64(planes) > maxElements {
		return 0, fmt.Errorf("copy of %d x %d rows is too large", planes, rows)
	}
	skip0, skip1 := r.addr(ethosu.SetDMA0Skip0), r.addr(ethosu.SetDMA0Skip1)
	for range planes {
		for range rows {
			if at > len(from) || length > len(from)-at {
				return copied, fmt.Errorf("copy source [%#x,%#x) outside its region of %#x bytes", at, at+length, len(from))
			}
			if out > len(to) || length > len(to)-out {
				return copied, fmt.Errorf("copy destination [%#x,%#x) outside its region of %#x bytes", out, out+length, len(to))
			}
			copy(to[out:out+length], from[at:at+length])
			copied += length
			at += length
			out += length + skip0
		}
		out += skip1
	}
	if dst&ethosu.DMAInternal != 0 {
		st.tablesLost = false
	}
	return copied, nil
}
