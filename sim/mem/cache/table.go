package cache

import (
	"math/bits"

	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem/internal/model"
)

const noTag = ^uint64(0)

// maxWays is how many lines a set can have: four bits name one.
const maxWays = 16

const (
	everyWay  = 0x1111_1111_1111_1111 // the lowest bit of the four of each way
	everySign = 0x0001_0001_0001_0001 // of the sixteen of each sign in a word

	// unusedOrder is the order of a set in which no line was used.
	unusedOrder = 0x0123_4567_89ab_cdef
)

// line is what a cache knows of one of its lines. Others are named by their index.
type line struct {
	tag   uint64     // line number, noTag when empty
	ready sim.Time   // when its fill has come
	from  sim.Reason // who served the fill
	flags uint8      // none when empty
}

// lineSet is what a cache knows of the lines of a set without a look at each.
type lineSet struct {
	order uint64              // four bits a way, from the most recently used one on
	signs [maxWays / 4]uint64 // sixteen bits of each line's number, without the set's
}

// table holds the lines of a cache, finds them by number and knows the order in
// which those of a set were used last.
type table struct {
	lines     []line // set by set; behind them some that are always empty
	sets      []lineSet
	setMask   uint64
	fold      uint   // bits of a line's number that are added to its set, 64: none
	signShift uint   // bits of a line's number below those of its sign
	none      uint32 // index behind all lines
	ways      uint32
	words     int // of signs that the ways have
}

func (c *table) init(sets, ways int, hash bool) {
	fold := uint(64)
	if hash {
		fold = max(uint(bits.Len(uint(sets-1))), 1)
	}
	*c = table{
		lines: make([]line, sets*ways+maxWays), sets: make([]lineSet, sets), setMask: uint64(sets - 1), fold: fold,
		signShift: model.Log2(sets), none: uint32(sets * ways), ways: uint32(ways), words: (ways + 3) / 4,
	}
}

// clear empties every line; ways are taken in rising order.
func (c *table) clear() {
	for at := range c.lines {
		c.lines[at] = line{tag: noTag}
	}
	for i := range c.sets {
		c.sets[i] = lineSet{order: unusedOrder >> (4 * (maxWays - c.ways))}
	}
}

// find is the index of line ln of a set, none when it is absent.
func (c *table) find(set, ln uint64) uint32 {
	s := &c.sets[set]
	sign := (ln >> (c.signShift & 63) & 0xffff) * everySign
	match := uint64(0) // bit 16i+j: way i+4j may be it
	for j := range c.words {
		x := s.signs[j&3] ^ sign
		match |= (x - everySign) &^ x & (everySign << 15) >> (15 - j&15)
	}
	for ; match != 0; match &= match - 1 {
		bit := uint32(bits.TrailingZeros64(match))
		if at := uint32(set)*c.ways + bit>>4 + bit&3<<2; c.lines[at].tag == ln {
			return at
		}
	}
	return c.none
}

// empty takes the line at an index, which is not empty, out. Its place in the set is
// the next to be taken.
func (c *table) empty(at uint32) {
	set, way := at/c.ways, uint64(at%c.ways)
	s := &c.sets[set]
	place := s.place(way)
	before := uint64(1)<<place - 1
	s.order = s.order&before | s.order>>place>>4<<place | way<<(4*(c.ways-1))
	c.lines[at] = line{tag: noTag}
}

// setOf is the set of a line: the low bits of its number, with higher ones added modulo 2 where sets are
// hashed.
func (c *table) setOf(ln uint64) uint64 { return (ln ^ ln>>c.fold ^ ln>>(2*c.fold)) & c.setMask }

// take makes the least recently used line of a set the most recently used.
func (c *table) take(set uint64) uint32 {
	s := &c.sets[set]
	last := 4 * (c.ways - 1)
	way := s.order >> (last & 63) & 15
	s.order = s.order<<4&(1<<(last&63)<<4-1) | way
	return uint32(set)*c.ways + uint32(way)
}

// name gives the line at an index of a set its number.
func (c *table) name(at uint32, set, ln uint64) {
	way := at - uint32(set)*c.ways
	word, shift := &c.sets[set].signs[way>>2&3], way&3<<4
	*word = *word&^(0xffff<<shift) | ln>>(c.signShift&63)&0xffff<<shift
	c.lines[at].tag = ln
}

// use makes the line at an index of a set the most recently used.
func (c *table) use(at uint32, set uint64) {
	way := uint64(at - uint32(set)*c.ways)
	if s := &c.sets[set]; s.order&15 != way {
		before := uint64(1)<<s.place(way) - 1
		s.order = s.order&^(before<<4|15) | s.order&before<<4 | way
	}
}

// place is the lowest bit of a way in the order.
func (s *lineSet) place(way uint64) int {
	x := s.order ^ way*everyWay // 0 at the place of the way, which is the lowest such
	return bits.TrailingZeros64((x-everyWay)&^x&(everyWay<<3)) & 60
}
