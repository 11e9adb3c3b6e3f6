package interconnect

import (
	"math/bits"

	"github.com/nnsoc/nnsoc/sim"
)

// maxWays is how many lines a set of a system cache can have: four bits name one.
const maxWays = 16

const (
	everyWay  = 0x1111_1111_1111_1111 // the lowest bit of the four of each way
	everySign = 0x0001_0001_0001_0001 // of the sixteen of each sign in a word

	// unusedOrder is the order of a set in which no line was used.
	unusedOrder = 0xfedc_ba98_7654_3210
)

// lineSet is what a system cache knows of the lines of a set without a look at each: as
// much as a line of the host's cache holds. Way w has bits 4w to 4w+3 of the words that
// are not signs.
type lineSet struct {
	order  uint64              // the ways from the most recently used one on, 0 in a set without lines
	signs  [maxWays / 4]uint64 // the low bits of the lines' numbers, without the set's
	owners uint64              // masters that have brought the lines
	held   uint64              // lowest bit: the way has a line
	dirty  uint64              // lowest bit: it was written
}

// lineWay is what is known of one line. Without held in its set it is that of an earlier one.
type lineWay struct {
	line  uint64   // number
	ready sim.Time // when the fill has come
}

// use makes a way the most recently used one and reports whether it was not.
func (s *lineSet) use(way uint64) bool {
	if s.order&15 == way {
		return false
	}
	x := s.order ^ way*everyWay // 0 at the place of the way, which is the lowest such
	s.front(way, bits.TrailingZeros64((x-everyWay)&^x&(everyWay<<3))&^3)
	return true
}

// front makes the way whose place in the order begins at a bit the most recently used one.
func (s *lineSet) front(way uint64, at int) {
	before := uint64(1)<<(at&63) - 1
	s.order = s.order&^(before<<4|15) | s.order&before<<4 | way
}

// match has the highest bit set of each sign in a word that is the one in all of sign. The
// lowest bit set is right, others may be wrong, as the sign of no line may be: the number of
// the line decides.
func (s *lineSet) match(word int, sign uint64) uint64 {
	x := s.signs[word] ^ sign
	return (x - everySign) &^ x & (everySign << 15)
}

// own is the lines of a master, as held has them.
func (s *lineSet) own(master uint64) uint64 {
	x := s.owners ^ master*everyWay
	x |= x >> 2
	x |= x >> 1
	return s.held &^ x
}
