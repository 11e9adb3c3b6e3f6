// Package exec computes the operations of an Ethos-U to the bit: Execute evaluates one whole, whatever its blocks, and
// Copy is the DMA engine. Sums of products are package mac's.
package exec

import (
	"fmt"

	"github.com/nnsoc/nnsoc/isa/ethosu"
	"github.com/nnsoc/nnsoc/npu/internal/state"
)

// Engine executes operations on a machine. It keeps host memory from one to the next.
type Engine struct {
	*state.Machine
	ConvSingle bool         // OP_CONV rounds once
	TimingOnly bool         // copies move nothing
	UBlock     int          // output depth by which weight streams are ordered
	Cache      *WeightCache // of the program
	Form       Form         // of convolutions; other than the fastest for tests

	q       quantizer
	scratch scratch
}

// Form is a form of the convolution loops.
type Form uint8

// Forms.
const (
	NoForm    Form = iota // none is requested: the fastest that the machine has
	FormWords             // 16-bit products, as on machines without byte products
	FormExact             // 64-bit sums
)

// scratch is host memory reused from operation to operation.
type scratch struct {
	x8            []byte
	x16           []int16
	acc           []int32
	out           []byte
	row, row2     []int32
	rows          [][]int32
	upscaled      []int32
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

// Execute runs one decoded operation.
func (e *Engine) Execute(o *state.Op) error {
	if len(e.SHRAM) <= 16<<10 {
		// The tables share SHRAM with this machine's accumulators.
		if o.Output.Table == nil {
			e.TablesOverwritten = true
		} else if e.TablesOverwritten {
			return fmt.Errorf("lookup table was overwritten by the accumulators of an earlier operation")
		}
	}
	switch o.Kind {
	case state.Conv, state.Depthwise:
		return e.convolve(o)
	case state.Pool:
		return e.pool(o)
	}
	return e.elementwise(o)
}

// Copy runs NPU_OP_DMA_START: it copies bytes between regions and SHRAM and returns how many.
func (e *Engine) Copy(regions *state.Regions) (copied int, err error) {
	r := &e.Registers
	length := r.Addr(ethosu.SetDMA0Len)
	src, dst := r.U(ethosu.SetDMA0SrcRegion), r.U(ethosu.SetDMA0DstRegion)
	rows, planes, mode := 1, 1, dst>>9&3
	if s := src >> 9 & 3; s != 0 && s != mode {
		return 0, fmt.Errorf("source stride mode %d differs from the destination's %d", s, mode)
	}
	switch {
	case mode == 0:
	case mode == 3 || e.Product != ethosu.U65:
		return 0, fmt.Errorf("stride mode %d", mode)
	default:
		rows = r.U(ethosu.SetDMA0Size0)
		if mode == 2 {
			planes = r.U(ethosu.SetDMA0Size1)
		}
	}
	side := func(v int) []byte {
		if v&ethosu.DMAInternal != 0 {
			return e.SHRAM
		}
		return regions[v&7]
	}
	from, to := side(src), side(dst)
	at, out := r.Addr(ethosu.SetDMA0Src), r.Addr(ethosu.SetDMA0Dst)
	if e.Product == ethosu.U55 || dst&ethosu.DMAInternal != 0 {
		if at%16 != 0 && e.Product == ethosu.U55 || out%16 != 0 || length%16 != 0 {
			return 0, fmt.Errorf("copy of %#x bytes from %#x to %#x: not aligned to 16 bytes", length, at, out)
		}
	}
	if int64(rows)*int64(planes) > state.MaxElements {
		return 0, fmt.Errorf("copy of %d x %d rows is too large", planes, rows)
	}
	skip0, skip1 := r.Addr(ethosu.SetDMA0Skip0), r.Addr(ethosu.SetDMA0Skip1)
	for range planes {
		for range rows {
			if at > len(from) || length > len(from)-at {
				return copied, fmt.Errorf("copy source [%#x,%#x) outside its region of %#x bytes", at, at+length, len(from))
			}
			if out > len(to) || length > len(to)-out {
				return copied, fmt.Errorf("copy destination [%#x,%#x) outside its region of %#x bytes", out, out+length, len(to))
			}
			if !e.TimingOnly {
				copy(to[out:out+length], from[at:at+length])
			}
			copied += length
			at += length
			out += length + skip0
		}
		out += skip1
	}
	if dst&ethosu.DMAInternal != 0 {
		e.TablesOverwritten = false
	}
	return copied, nil
}
