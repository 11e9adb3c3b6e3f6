package cache

import (
	"math/bits"

	"github.com/nnsoc/nnsoc/sim"
)

// ring holds a fixed number of instants in rising order. Each takes the place
// of the first, and most come in order, so that they are put in at the end.
type ring struct {
	at   []sim.Time // a power of two of them
	head uint       // of the first, modulo their number
	n    uint
	last sim.Time // no instant is later
}

func newRing(n int) ring { return ring{at: make([]sim.Time, 1<<bits.Len(uint(n-1))), n: uint(n)} }

func (r *ring) clear() {
	clear(r.at)
	r.last = 0
}

func (r *ring) first() sim.Time { return r.at[r.head&uint(len(r.at)-1)] }

// pop takes the first instant out. One has to be put in before anything else.
func (r *ring) pop() { r.head++ }

// push puts in an instant that is not before the last.
func (r *ring) push(t sim.Time) {
	r.at[(r.head+r.n-1)&uint(len(r.at)-1)] = t
	r.last = t
}

// insert puts in an instant before the last, which stays where it is unless it has
// just been taken out.
//
//go:noinline
func (r *ring) insert(t sim.Time) {
	i, mask := r.head+r.n-1, uint(len(r.at)-1)
	for ; i != r.head && r.at[(i-1)&mask] > t; i-- {
		r.at[i&mask] = r.at[(i-1)&mask]
	}
	r.at[i&mask] = t
}
