package cache

import (
	"math/bits"

	"github.com/nnsoc/nnsoc/sim"
)

// instants holds a fixed number of instants, the earliest of which is replaced by each new one. They are the leaves of a
// tree, whose other nodes are each the earlier of their children, so that nothing branches on the times.
type instants struct {
	tree []sim.Time // the root is 1, the children of i are 2i and 2i+1; leaves beyond the n-th are sim.Never
	n    int
}

func newInstants(n int) instants {
	s := instants{make([]sim.Time, 2<<bits.Len(uint(n-1))), n}
	s.clear()
	return s
}

// clear makes all instants 0.
func (s *instants) clear() {
	half := len(s.tree) / 2
	for i := len(s.tree) - 1; i > 0; i-- {
		switch {
		case i < half:
			s.tree[i] = min(s.tree[2*i], s.tree[2*i+1])
		case i < half+s.n:
			s.tree[i] = 0
		default:
			s.tree[i] = sim.Never
		}
	}
}

// first is the earliest.
func (s *instants) first() sim.Time { return s.tree[1] }

// replace removes the earliest instant and inserts another.
func (s *instants) replace(t sim.Time) {
	tree, first, i := s.tree, s.first(), 1
	for 2*i < len(tree) {
		i = 2*i + int(uint64(first-tree[2*i])>>63) // the second child if the first one is later
	}
	tree[i] = t
	for ; i > 1; i /= 2 {
		t = min(t, tree[i^1])
		tree[i/2] = t
	}
}
