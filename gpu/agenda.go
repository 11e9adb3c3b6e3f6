package gpu

import (
	"math"
	"slices"
)

// agenda is the order in which SIMDs issue: by the cycle of their earliest issue, the one of the lower number first.
type agenda struct {
	cands []int64   // earliest issue of each SIMD
	order []issueAt // the SIMDs by it
}

// issueAt is the earliest issue of a SIMD above the SIMD's number, so that the first of equals is the least.
type issueAt int64

// simdBits is the width of the number of a SIMD in issueAt.
const simdBits = 14

// sort puts all SIMDs in the order of their next issues. What is behind the last is later than any.
func (a *agenda) sort() {
	a.order = a.order[:0]
	for i, at := range a.cands {
		a.order = append(a.order, issueAt(at<<simdBits|int64(i)))
	}
	for range orderStep {
		a.order = append(a.order, math.MaxInt64)
	}
	slices.Sort(a.order)
}

// first is the number of the SIMD that issues first, and the earliest issue of the others.
func (a *agenda) first() (number int, second int64) {
	return int(a.order[0] & (1<<simdBits - 1)), int64(a.order[1] >> simdBits)
}

// orderStep is how many SIMDs of the order moveFirst moves at once.
const orderStep = 4

// moveFirst puts the first SIMD of the order, number at, where its next issue is now. Nothing branches on the place
// among those that move at once.
func (a *agenda) moveFirst(at int) {
	order := a.order
	next := issueAt(a.cands[at]<<simdBits | int64(at))
	for ; order[orderStep] < next; order = order[orderStep:] {
		o := (*[orderStep + 1]issueAt)(order)
		o[0], o[1], o[2], o[3] = o[1], o[2], o[3], o[4]
	}
	o := (*[orderStep + 1]issueAt)(order)
	o0, o1, o2, o3, o4 := o[0], o[1], o[2], o[3], o[4]
	o[0], o[1], o[2], o[3] = max(o0, min(o1, next)), max(o1, min(o2, next)), max(o2, min(o3, next)), max(o3, min(o4, next))
}
