package plan

import (
	"github.com/nnsoc/nnsoc/hal/driver/arena"
	"github.com/nnsoc/nnsoc/hal/driver/npu/layout"
)

// place gives every value an address: on chip below the capacity, in DRAM where
// there is no room. It returns the bytes used of both.
func place(values []layout.Value, onChip int) (inArena, inSpill int) {
	lives := make([]arena.Interval, len(values))
	for i := range values {
		lives[i] = arena.Interval{Bytes: values[i].Bytes, First: values[i].First, Last: values[i].Last}
	}
	offsets, inArena := arena.Place(lives, arena.Options{Align: layout.Alignment, Limit: onChip})
	var left []arena.Interval
	for i, at := range offsets {
		if at == arena.Unplaced {
			left = append(left, lives[i])
		} else {
			values[i].At = layout.Buffer{Region: layout.RegionArena, Addr: at, Bytes: values[i].Bytes}
		}
	}
	spilled, inSpill := arena.Place(left, arena.Options{Align: layout.Alignment, Limit: arena.Unlimited})
	for i, at := range offsets {
		if at == arena.Unplaced {
			values[i].At = layout.Buffer{Region: layout.RegionSpill, Addr: spilled[0], Bytes: values[i].Bytes}
			spilled = spilled[1:]
		}
	}
	return inArena, inSpill
}
