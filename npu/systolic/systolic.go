// Package systolic counts the cycles of matrix products on a systolic array: a grid of multiply-accumulate units that
// pass operands to their neighbours, with one operand stationary in each tile.
//
// A product of M x K by K x N is cut into folds, tiles that fill the array:
//
//	dataflow           on rows x columns   streamed
//	output stationary  M x N               K
//	weight stationary  K x N               M
//	input stationary   K x M               N
//
// Without overlap a fold is loaded (weights and inputs only), streamed, skewed by the path through the array, and only
// then the next begins; folds at the edge cost as much as full ones. These are the cycles of SCALE-Sim v3. With preload
// the next tile is loaded while one streams, as in Gemmini: a fold costs its stream or the load of the next tile,
// whichever is longer.
package systolic

import (
	"fmt"
	"math/bits"
)

// Dataflow is which operand stays in the array.
type Dataflow string

// The dataflows.
const (
	OutputStationary Dataflow = "os"
	WeightStationary Dataflow = "ws"
	InputStationary  Dataflow = "is"
)

// Overlap is the part of the next fold that overlaps with the present one.
type Overlap string

// The overlaps.
const (
	OverlapNone    Overlap = "none"
	OverlapPreload Overlap = "preload"
)

// Array is a systolic array.
type Array struct {
	Rows, Columns int
	Dataflow      Dataflow
	Overlap       Overlap
}

// Limits of Run's operands, so that counts stay in 64 bits.
const (
	MaxSide      = 1 << 16 // rows and columns
	MaxDimension = 1 << 30 // M, K and N
)

// minLastStream is the least stream of the last fold, whose results leave through the
// accumulators: that of ONNXim's model of Gemmini.
const minLastStream = 4

// Report is the cost of a product. Load, Stream, Wait and Skew add up to Cycles.
type Report struct {
	Folds  int64 `json:"folds"`
	MACs   int64 `json:"macs"`
	Cycles int64 `json:"cycles"`
	Load   int64 `json:"load_cycles"`   // tiles into the array, where nothing streams
	Stream int64 `json:"stream_cycles"` // operands through the array
	Wait   int64 `json:"wait_cycles"`   // a stream shorter than the load of the next tile
	Skew   int64 `json:"skew_cycles"`   // fill and drain: the way through the array

	// Utilization is the share of multiply-accumulate units and cycles with work.
	Utilization float64 `json:"utilization"`
}

// check returns the error of an array.
func (a *Array) check() error {
	if a.Rows < 1 || a.Columns < 1 || a.Rows > MaxSide || a.Columns > MaxSide {
		return fmt.Errorf("systolic: array of %dx%d, 1 to %d rows and columns needed", a.Rows, a.Columns, MaxSide)
	}
	switch a.Overlap {
	case OverlapNone, OverlapPreload:
	default:
		return fmt.Errorf("systolic: overlap %q is neither none nor preload", a.Overlap)
	}
	return nil
}

// Run counts the cycles of count products of M x K by K x N, one after the other.
func (a *Array) Run(m, k, n, count int) (Report, error) {
	if err := a.check(); err != nil {
		return Report{}, err
	}
	for _, d := range [4]int{m, k, n, count} {
		if d < 1 || d > MaxDimension {
			return Report{}, fmt.Errorf("systolic: %d products of %dx%d by %dx%d, 1 to %d needed", count, m, k, k, n, MaxDimension)
		}
	}
	var down, across, stream int // dimensions on rows and columns, and the streamed one
	load := a.Rows
	switch a.Dataflow {
	case OutputStationary:
		down, across, stream, load = m, n, k, 0
	case WeightStationary:
		down, across, stream = k, n, m
	case InputStationary:
		down, across, stream = k, m, n
	default:
		return Report{}, fmt.Errorf("systolic: dataflow %q is none of os, ws, is", a.Dataflow)
	}
	folds, ok := product(divideUp(down, a.Rows), divideUp(across, a.Columns), int64(count))
	longest := int64(max(stream, a.Rows)) + 3*int64(a.Rows) + int64(a.Columns)
	if _, fits := product(folds, longest, int64(a.Rows)*int64(a.Columns)); !ok || !fits {
		return Report{}, fmt.Errorf("systolic: %d products of %dx%d by %dx%d need more cycles than 64 bits hold", count, m, k, k, n)
	}
	r := Report{Folds: folds, MACs: int64(m) * int64(k) * int64(n) * int64(count)}
	skew := int64(a.Rows + a.Columns - 2)
	if a.Overlap == OverlapNone {
		r.Load, r.Stream, r.Skew = folds*int64(load), folds*int64(stream), folds*skew
	} else {
		// The accumulators of an output-stationary array drain a row a cycle: the next
		// fold cannot begin to do so before.
		r.Stream, r.Wait, r.Skew = folds*int64(stream), (folds-1)*int64(max(a.Rows-stream, 0)), skew
		r.Wait += int64(max(minLastStream-stream, 0))
		if load > 0 {
			r.Load = int64(2*a.Rows - 1) // the first tile, through the rows
		}
	}
	r.Cycles = r.Load + r.Stream + r.Wait + r.Skew
	r.Utilization = float64(r.MACs) / (float64(r.Cycles) * float64(a.Rows) * float64(a.Columns))
	return r, nil
}

func divideUp(n, m int) int64 { return (int64(n) + int64(m) - 1) / int64(m) }

// product multiplies and reports whether 63 bits hold the result.
func product(list ...int64) (int64, bool) {
	p := uint64(1)
	for _, x := range list {
		hi, lo := bits.Mul64(p, uint64(x))
		if hi != 0 || lo >= 1<<63 {
			return 0, false
		}
		p = lo
	}
	return int64(p), true
}
