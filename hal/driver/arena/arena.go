// Package arena places buffers in memory: lifetimes in, offsets out. Buffers that
// are needed at the same time do not overlap; others may share bytes.
//
// The rule is greedy by size: buffers are placed from the largest to the smallest,
// each at the lowest offset where it meets no placed buffer whose lifetime overlaps
// its own. Drivers place after lowering, because lowering adds scratch buffers and
// halos.
package arena

import (
	"math"
	"slices"
	"sort"
)

// Interval is a buffer and the time in which it is needed, in positions of the
// program (steps, jobs): First and Last are included.
type Interval struct {
	Bytes       int
	First, Last int
}

func (a *Interval) overlaps(b *Interval) bool { return a.First <= b.Last && b.First <= a.Last }

// Options describe the memory.
type Options struct {
	Align int // every offset is a multiple of Align, 1 or more
	Guard int // bytes behind each buffer that no other one uses
	Start int // first offset, a multiple of Align
	Limit int // no buffer with its guard reaches beyond this offset
}

// Unlimited is the Limit of a memory that is never full.
const Unlimited = math.MaxInt

// Unplaced is the offset of a buffer that does not fit below the limit.
const Unplaced = -1

// Place returns an offset for each buffer and the end of the highest one, rounded
// up to Align; the end is o.Start when there is none.
func Place(buffers []Interval, o Options) (offsets []int, end int) {
	order := make([]int, len(buffers))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return buffers[b].Bytes - buffers[a].Bytes })
	offsets, end = make([]int, len(buffers)), o.Start
	placed := make([]int, 0, len(buffers)) // by offset
	for _, i := range order {
		b := &buffers[i]
		at := o.Start
		for _, j := range placed {
			p := &buffers[j]
			if !b.overlaps(p) {
				continue
			}
			if at+o.alignedBytes(b) <= offsets[j] {
				break
			}
			at = max(at, offsets[j]+o.alignedBytes(p))
		}
		if at+b.Bytes+o.Guard > o.Limit {
			offsets[i] = Unplaced
			continue
		}
		offsets[i] = at
		k := sort.Search(len(placed), func(k int) bool { return offsets[placed[k]] > at })
		placed = slices.Insert(placed, k, i)
		end = max(end, at+o.alignedBytes(b))
	}
	return offsets, end
}

// alignedBytes is the size of a buffer with its guard, rounded up to the alignment.
func (o *Options) alignedBytes(b *Interval) int {
	return (b.Bytes + o.Guard + o.Align - 1) / o.Align * o.Align
}
