package cache

import (
	"math/bits"

	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem/internal/lru"
	"github.com/nnsoc/nnsoc/sim/mem/internal/model"
)

const noTag = ^uint64(0)

// unusedOrder is the order of a set in which no line was used.
const unusedOrder = 0x0123_4567_89ab_cdef

// line is the state of a line of the cache. Others refer to it by its index.
type line struct {
	tag   uint64     // line number, noTag when empty
	ready sim.Time   // when its fill has arrived
	from  sim.Reason // who served the fill
	flags uint8      // none when empty
}

// lineSet is a set's order of use and the signs by which its lines are found.
type lineSet struct {
	order lru.Order
	signs lru.Signs // of lines' numbers without the set's
}

// table holds the lines of a cache, finds them by number and keeps the order of their last use in each set.
type table struct {
	lines     []line // set by set; behind them some that are always empty
	sets      []lineSet
	setMask   uint64
	fold      uint   // bits of a line's number that are added to its set
	folded    uint64 // those of the set that they are added to: all or none
	signShift uint   // bits of a line's number below those of its sign
	none      uint32 // index behind all lines
	ways      uint32
	words     int       // of signs that the ways have
	last      int       // place of the least recently used way
	places    lru.Order // bits of the order that the ways have
}

func (c *table) init(sets, ways int, hash bool) {
	folded := uint64(0)
	if hash {
		folded = ^folded
	}
	*c = table{
		lines: make([]line, sets*ways+lru.MaxWays), sets: make([]lineSet, sets), setMask: uint64(sets - 1),
		fold: max(uint(bits.Len(uint(sets-1))), 1), folded: folded,
		signShift: model.Log2(sets), none: uint32(sets * ways), ways: uint32(ways), words: (ways + 3) / 4,
		last: 4 * (ways - 1), places: 1<<(4*ways) - 1,
	}
}

// clear empties every line; ways are allocated in rising order.
func (c *table) clear() {
	for at := range c.lines {
		c.lines[at] = line{tag: noTag}
	}
	for i := range c.sets {
		c.sets[i] = lineSet{order: unusedOrder >> (4 * (lru.MaxWays - c.ways))}
	}
}

// find is the index of line ln of a set, none when it is absent.
func (c *table) find(set, ln uint64) uint32 {
	s := &c.sets[set]
	sign := lru.Sign(ln >> (c.signShift & 63))
	match := s.signs.Match(0, sign) >> 15 // bit 16i+j: way i+4j may be it
	for j := 1; j < c.words; j++ {
		match |= s.signs.Match(j, sign) >> (15 - j&15)
	}
	for ; match != 0; match &= match - 1 {
		bit := uint32(bits.TrailingZeros64(match))
		if at := uint32(set)*c.ways + bit>>4 + bit&3<<2; c.lines[at].tag == ln {
			return at
		}
	}
	return c.none
}

// empty removes the line at an index, which is not empty. Its place in the set is the next to be allocated.
func (c *table) empty(at uint32) {
	set, way := at/c.ways, uint64(at%c.ways)
	s := &c.sets[set]
	place := s.order.Place(way)
	before := lru.Order(1)<<place - 1
	s.order = s.order&before | s.order>>place>>4<<place | lru.Order(way)<<(4*(c.ways-1))
	c.lines[at] = line{tag: noTag}
}

// setOf is the set of a line: the low bits of its number, with higher ones added modulo 2 where sets are
// hashed.
func (c *table) setOf(ln uint64) uint64 {
	high := ln >> (c.fold & 63)
	return (ln ^ (high^high>>(c.fold&63))&c.folded) & c.setMask
}

// victim makes the least recently used way of a set the most recently used.
func (c *table) victim(s *lineSet) (way uint64) {
	way = s.order.Way(c.last)
	s.order = s.order.Rotate(way, c.places)
	return way
}

// evict makes the least recently used line of a set the most recently used.
func (c *table) evict(set uint64) uint32 {
	return uint32(set)*c.ways + uint32(c.victim(&c.sets[set]))
}

// replace puts a line in the place of the least recently used one of a set, as the most recently used.
func (c *table) replace(set, ln uint64) *line {
	s := &c.sets[set]
	way := c.victim(s)
	s.signs.Set(way, ln>>(c.signShift&63))
	l := &c.lines[uint32(set)*c.ways+uint32(way)]
	l.tag = ln
	return l
}

// name sets the number of the line at an index of a set.
func (c *table) name(at uint32, set, ln uint64) {
	way := at - uint32(set)*c.ways
	c.sets[set].signs.Set(uint64(way), ln>>(c.signShift&63))
	c.lines[at].tag = ln
}

// use makes the line at an index of a set the most recently used.
func (c *table) use(at uint32, set uint64) {
	way := uint64(at - uint32(set)*c.ways)
	if s := &c.sets[set]; s.order.Way(0) != way {
		s.order = s.order.Front(way, s.order.Place(way))
	}
}
