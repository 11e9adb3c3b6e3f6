package dsp

import "sort"

// regionGuard separates regions: kernels read a little beyond what they use, and
// those on words write up to four vectors at a time.
const regionGuard = 512

// planArena gives every tensor an address in [base, base+size) such that tensors
// whose lifetimes overlap do not. Largest first, lowest free place.
func planArena(tensors []*tensor, base uint32) (size uint32) {
	order := make([]*tensor, 0, len(tensors))
	for _, t := range tensors {
		if t.first >= 0 {
			order = append(order, t)
		}
	}
	sort.SliceStable(order, func(i, j int) bool { return order[i].bytes() > order[j].bytes() })
	var placed []*tensor // by address
	for _, t := range order {
		need := uint32(roundUp(t.bytes()+regionGuard, vecBytes))
		at := base
		for _, o := range placed {
			if o.last < t.first || t.last < o.first {
				continue
			}
			if at+need <= o.addr {
				break
			}
			at = max(at, o.addr+uint32(roundUp(o.bytes()+regionGuard, vecBytes)))
		}
		t.addr = at
		i := sort.Search(len(placed), func(i int) bool { return placed[i].addr > at })
		placed = append(placed, nil)
		copy(placed[i+1:], placed[i:])
		placed[i] = t
		size = max(size, at+need-base)
	}
	return size
}
