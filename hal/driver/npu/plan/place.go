package plan

import (
	"github.com/nnsoc/nnsoc/hal/driver/arena"
	"github.com/nnsoc/nnsoc/hal/driver/npu/layout"
)

// apart is how many kernels in front of the copy into a buffer leave its memory alone, so that it
// need not wait for them.
const apart = 2

// place gives values and buffers of weights their addresses. Where activations do not all fit
// on chip, buffers give way to them, the largest first.
func (p *Program) place(t Target, values []layout.Value, jobs []job) []layout.Value {
	reached := t.Map[layout.RegionSpill] == t.Map[layout.RegionArena]
	for {
		all, of := values[:len(values):len(values)], []int{}
		for i := range jobs {
			if j := &jobs[i]; j.buffered {
				all = append(all, layout.Value{Bytes: j.packed.Fetch.Bytes, First: max(j.fetch-apart, 0), Last: i + 1})
				of = append(of, i)
			}
		}
		arenaBytes, spillBytes := placeAll(all, t.OnChip, reached)
		evicted, largest := false, -1
		for i := range all {
			evicted = evicted || all[i].At.Region == layout.RegionSpill && (i >= len(values) || !all[i].Client)
		}
		for k, i := range of {
			jobs[i].weights = all[len(values)+k].At
			if largest < 0 || jobs[i].packed.Fetch.Bytes > jobs[largest].packed.Fetch.Bytes {
				largest = i
			}
		}
		if !evicted || largest < 0 {
			p.Sizes[layout.RegionArena], p.Sizes[layout.RegionSpill] = arenaBytes, spillBytes
			return all
		}
		jobs[largest].buffered, jobs[largest].weights = false, jobs[largest].packed.Fetch
	}
}

// placeAll gives every value an address: on chip below the capacity, off chip where there is no
// room, and what the client must reach unless it reaches the memory on chip. It returns the
// bytes used of both.
func placeAll(values []layout.Value, onChip int, reached bool) (inArena, inSpill int) {
	var near, far []int
	for i := range values {
		switch v := &values[i]; {
		case v.Fixed:
		case v.Client && !reached:
			far = append(far, i)
		default:
			near = append(near, i)
		}
	}
	left, inArena := placeIn(layout.RegionArena, values, near, onChip)
	_, inSpill = placeIn(layout.RegionSpill, values, append(far, left...), arena.Unlimited)
	return inArena, inSpill
}

// placeIn places some of the values in a memory. It returns those without room, and the bytes
// that the others take.
func placeIn(region int, values []layout.Value, some []int, limit int) (left []int, end int) {
	lives := make([]arena.Interval, len(some))
	for k, i := range some {
		v := &values[i]
		if lives[k] = (arena.Interval{Bytes: v.Bytes, First: v.First, Last: v.Last}); v.First < 0 {
			lives[k].Bytes = 0 // no step uses it
		}
	}
	offsets, end := arena.Place(lives, arena.Options{Align: layout.Alignment, Limit: limit})
	for k, i := range some {
		if offsets[k] == arena.Unplaced {
			left = append(left, i)
			continue
		}
		values[i].At = layout.Buffer{Region: region, Addr: offsets[k], Bytes: values[i].Bytes}
	}
	return left, end
}
