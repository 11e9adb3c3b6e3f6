package interconnect

import (
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem/internal/lru"
)

// unusedOrder is the order of a set in which no line was used.
const unusedOrder = 0xfedc_ba98_7654_3210

// lineSet is a set's order of use and the signs by which its lines are found: as much as a line of the host's cache
// holds. Way w has bits 4w to 4w+3 of the words that are not signs.
type lineSet struct {
	order  lru.Order // 0 in a set without lines
	signs  lru.Signs // of lines' numbers without the set's
	owners uint64    // masters that have brought the lines
	held   uint64    // lowest bit: the way has a line; next one: it may be on its way still
	dirty  uint64    // lowest bit: it was written; the others: its region
}

// regions is how many parts of memory, of as many bytes as set, sign and offset address, a set can distinguish; lines
// of further ones are compared by number. A program has a few: its tensors, its code, its arguments.
const regions = 7

// coming is the bit of held, of way 0, of a line that may be in flight.
const coming = 2

// lineWay is the state of one line. Without held in its set it is that of an earlier one.
type lineWay struct {
	line  uint64   // number
	ready sim.Time // when the fill has arrived
}

// use makes a way the most recently used one and reports whether it was not.
func (s *lineSet) use(way uint64) bool {
	if s.order.Way(0) == way {
		return false
	}
	s.order = s.order.Front(way, s.order.Place(way))
	return true
}

// own is the lines of a master, as held has them.
func (s *lineSet) own(master uint64) uint64 {
	x := s.owners ^ master*lru.EveryWay
	x |= x >> 2
	x |= x >> 1
	return s.held & lru.EveryWay &^ x
}
