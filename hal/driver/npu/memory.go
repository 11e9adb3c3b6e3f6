package npu

import "sort"

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

// place gives every span an address so that no two alive at the same time
// overlap: largest first, each at the lowest free address; on chip below the
// capacity, in DRAM otherwise. It returns the bytes used of both.
func place(spans []span, onChip int) (arena, spill int) {
	order := make([]int, len(spans))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(i, j int) bool { return spans[order[i]].bytes > spans[order[j]].bytes })
	var placed []int
	for _, i := range order {
		s := &spans[i]
		s.at = buffer{regionArena, lowest(spans, placed, s, regionArena), s.bytes}
		if s.at.addr+s.bytes > onChip {
			s.at = buffer{regionSpill, lowest(spans, placed, s, regionSpill), s.bytes}
			spill = max(spill, align(s.at.addr+s.bytes))
		} else {
			arena = max(arena, align(s.at.addr+s.bytes))
		}
		placed = append(placed, i)
	}
	return arena, spill
}

// lowest is the lowest address of a region where s meets no placed span of the
// same time.
func lowest(spans []span, placed []int, s *span, region int) int {
	var busy []buffer
	for _, j := range placed {
		o := &spans[j]
		if o.at.region == region && o.first <= s.last && s.first <= o.last {
			busy = append(busy, o.at)
		}
	}
	sort.Slice(busy, func(i, j int) bool { return busy[i].addr < busy[j].addr })
	at := 0
	for _, b := range busy {
		if at+s.bytes <= b.addr {
			break
		}
		at = max(at, align(b.addr+b.bytes))
	}
	return at
}
