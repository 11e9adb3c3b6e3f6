package npu

import "github.com/nnsoc/nnsoc/hal/driver/arena"

// Memory regions of a program, by base pointer.
const (
	regionConst   = 0 // constants, off chip
	regionArena   = 1 // activations, on chip
	regionWeights = 2 // weight buffers, on chip
	regionIO      = 3 // inputs and outputs of the model, in DRAM
	regionSpill   = 4 // activations that do not fit on chip
)

// alignment of buffers: what copies and 32-bit elements need.
const alignment = 16

func align(n int) int { return (n + alignment - 1) &^ (alignment - 1) }

// buffer is a range of bytes of a region.
type buffer struct {
	region, addr, bytes int
}

// span is a buffer's life, in positions of the work list, both ends included.
type span struct {
	bytes       int
	first, last int
	at          buffer
}

// place gives every span an address: on chip below the capacity, in DRAM where
// there is no room. It returns the bytes used of both.
func place(spans []span, onChip int) (inArena, inSpill int) {
	lives := make([]arena.Interval, len(spans))
	for i := range spans {
		lives[i] = arena.Interval{Bytes: spans[i].bytes, First: spans[i].first, Last: spans[i].last}
	}
	offsets, inArena := arena.Place(lives, arena.Options{Align: alignment, Limit: onChip})
	var left []arena.Interval
	for i, at := range offsets {
		if at == arena.Unplaced {
			left = append(left, lives[i])
		} else {
			spans[i].at = buffer{regionArena, at, spans[i].bytes}
		}
	}
	spilled, inSpill := arena.Place(left, arena.Options{Align: alignment, Limit: arena.Unlimited})
	for i, at := range offsets {
		if at == arena.Unplaced {
			spans[i].at = buffer{regionSpill, spilled[0], spans[i].bytes}
			spilled = spilled[1:]
		}
	}
	return inArena, inSpill
}
