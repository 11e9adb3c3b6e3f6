package plan

import (
	"slices"

	"github.com/nnsoc/nnsoc/hal/driver/arena"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/layout"
)

// copyDistance is how many kernels before the copy into a buffer do not use its memory, so that it
// need not wait for them.
const copyDistance = 2

// place assigns addresses to values and to buffers of weights. Where buffers occupy on-chip memory that
// activations need, buffers are dropped, the largest first, unless keep is set; a buffer that does not fit
// is dropped as well.
func (p *Program) place(t Target, values []layout.Value, jobs []job, keep bool) []layout.Value {
	reached := t.Map[layout.RegionSpill] == t.Map[layout.RegionArena]
	alone := slices.Clone(values)
	placeAll(alone, t.OnChip, reached)
	least := spilled(alone) // without buffers
	lastUse := make([]int, len(jobs))
	for i := range jobs {
		lastUse[jobs[i].first] = i
	}
	for {
		all, of := slices.Clone(values), []int{}
		for i := range jobs {
			if j := &jobs[i]; j.buffered && j.first == i {
				all = append(all, layout.Value{Bytes: j.packed.Fetch.Bytes, First: max(j.fetch-copyDistance, 0), Last: lastUse[i] + 1})
				of = append(of, i)
			}
		}
		placeAll(all, t.OnChip, reached)
		activations := all[:len(values)]
		if keep || spilled(activations) <= least || len(of) == 0 {
			for k, i := range of {
				if j := &jobs[i]; all[len(values)+k].At.Region == layout.RegionArena {
					j.weights = all[len(values)+k].At
				} else {
					j.buffered = false
				}
			}
			for i := range jobs {
				if j := &jobs[i]; j.first != i {
					j.buffered, j.weights = jobs[j.first].buffered, jobs[j.first].weights
				}
			}
			p.Sizes[layout.RegionArena], p.Sizes[layout.RegionSpill] = end(all, layout.RegionArena), end(activations, layout.RegionSpill)
			return activations
		}
		largest := slices.MaxFunc(of, func(a, b int) int { return jobs[a].packed.Fetch.Bytes - jobs[b].packed.Fetch.Bytes })
		jobs[largest].buffered = false
	}
}

// end is where the values of a memory end.
func end(values []layout.Value, region int) (n int) {
	for i := range values {
		if v := &values[i]; v.At.Region == region && !v.Fixed && v.First >= 0 {
			n = max(n, v.At.Addr+layout.Align(v.At.Bytes))
		}
	}
	return n
}

// spilled is the bytes of values off chip.
func spilled(values []layout.Value) (n int) {
	for i := range values {
		if values[i].At.Region == layout.RegionSpill && values[i].First >= 0 {
			n += values[i].Bytes
		}
	}
	return n
}

// placeAll assigns every value an address: on chip below the capacity, off chip if it does not fit, or
// if the client must reach it and does not reach the memory on chip.
func placeAll(values []layout.Value, onChip int, reached bool) {
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
	left := placeIn(layout.RegionArena, values, near, onChip)
	placeIn(layout.RegionSpill, values, append(far, left...), arena.Unlimited)
}

// placeIn places some of the values in a memory. It returns those that do not fit.
func placeIn(region int, values []layout.Value, some []int, limit int) (left []int) {
	lives := make([]arena.Interval, len(some))
	for k, i := range some {
		v := &values[i]
		if lives[k] = (arena.Interval{Bytes: v.Bytes, First: v.First, Last: v.Last}); v.First < 0 {
			lives[k].Bytes = 0 // no step uses it
		}
	}
	offsets, _ := arena.Place(lives, arena.Options{Align: layout.Alignment, Limit: limit})
	for k, i := range some {
		if offsets[k] == arena.Unplaced {
			left = append(left, i)
			continue
		}
		values[i].At = layout.Buffer{Region: region, Addr: offsets[k], Bytes: values[i].Bytes}
	}
	return left
}
