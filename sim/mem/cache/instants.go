package cache

import (
	"math/bits"

	"github.com/nnsoc/nnsoc/sim"
)

// instants holds a fixed number of instants, the earliest of which is replaced by each new one. Those of hits and of
// misses behind a cache are each in rising order, or nearly, so there are two queues: an instant is appended to the
// first if it is not before the last there, else inserted at its place in the second.
type instants struct {
	queues [2]queue
	first  sim.Time // the earliest
	from   uint8    // the queue that it leads
}

// queue is some instants in rising order, a ring.
type queue struct {
	at   []sim.Time // a power of two of them
	head uint       // of the first, modulo their number
	n    uint
}

func newInstants(n int) (s instants) {
	for i := range s.queues {
		s.queues[i].at = make([]sim.Time, 1<<bits.Len(uint(n-1)))
	}
	s.queues[0].n = uint(n)
	return s
}

// clear makes all instants 0.
func (s *instants) clear() {
	a, b := &s.queues[0], &s.queues[1]
	a.n += b.n
	b.n = 0
	clear(a.at)
	s.first, s.from = 0, 0
}

// replace removes the earliest instant and inserts another.
func (s *instants) replace(t sim.Time) {
	q := &s.queues[s.from&1]
	q.head++
	q.n--
	if !s.queues[0].push(t) && !s.queues[1].push(t) {
		s.queues[1].insert(t)
	}
	a, b := &s.queues[0], &s.queues[1]
	switch {
	case b.n == 0:
		s.first, s.from = a.front(), 0
	case a.n == 0:
		s.first, s.from = b.front(), 1
	default:
		s.first, s.from = a.front(), 0
		if t := b.front(); t < s.first {
			s.first, s.from = t, 1
		}
	}
}

func (q *queue) front() sim.Time { return q.at[q.head&uint(len(q.at)-1)] }

// push puts in an instant that is not before the last, if t is such.
func (q *queue) push(t sim.Time) bool {
	end, mask := q.head+q.n, uint(len(q.at)-1)
	if q.n > 0 && t < q.at[(end-1)&mask] {
		return false
	}
	q.at[end&mask] = t
	q.n++
	return true
}

// insert puts in any instant.
//
//go:noinline
func (q *queue) insert(t sim.Time) {
	i, mask := q.head+q.n, uint(len(q.at)-1)
	for ; i != q.head && q.at[(i-1)&mask] > t; i-- {
		q.at[i&mask] = q.at[(i-1)&mask]
	}
	q.at[i&mask] = t
	q.n++
}
