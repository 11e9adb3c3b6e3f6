package interconnect

import (
	"math/bits"

	"github.com/nnsoc/nnsoc/sim/mem/internal/lru"
)

// Consecutive lines of one bank, a group, are in neighbouring sets. As long as all accesses to a group are to whole
// blocks of 2, 4 or more lines, the sets of a block are equal but for the numbers of their lines, and the first
// represents all: its state of a line holds for those that follow, and the others are out of date. An access to a part
// of a block divides it.

// joinAll makes every group one block; the lines are gone.
func (c *SystemCache) joinAll() {
	for i := range c.joined {
		c.joined[i] = 1 << (c.groupShift & 15)
		c.sets[i<<(c.groupShift&63)] = lineSet{}
	}
}

// block is how many lines from ln on are a block, none of them after last.
func (c *SystemCache) block(ln, last uint64) uint64 {
	n := uint64(c.joined[ln&c.setMask>>(c.groupShift&63)])
	if ln&(n-1) != 0 || ln+n-1 > last {
		return c.part(ln, last)
	}
	return n
}

// part is block where blocks are too long.
//
//go:noinline
func (c *SystemCache) part(ln, last uint64) uint64 {
	group := ln & c.setMask >> (c.groupShift & 63)
	for {
		n := uint64(c.joined[group])
		if ln&(n-1) == 0 && ln+n-1 <= last {
			return n
		}
		c.divide(group, n/2)
	}
}

// divide makes blocks of a group half as long: n lines.
func (c *SystemCache) divide(group, n uint64) {
	c.joined[group] = uint16(n)
	first := group << (c.groupShift & 63)
	for set := first; set < first+1<<(c.groupShift&63); set += 2 * n {
		s := &c.sets[set]
		c.sets[set+n] = *s
		for held := s.held & lru.EveryWay; held != 0; held &= held - 1 {
			w := uint64(bits.TrailingZeros64(held)) / 4
			from := &c.ways[c.index(set, w)]
			c.ways[c.index(set+n, w)] = lineWay{from.line + n, from.ready}
		}
	}
}

// eachSet calls f with the number of each set, the set that represents it and by how much the numbers of its lines are
// greater.
func (c *SystemCache) eachSet(f func(set uint64, s *lineSet, more uint64)) {
	for set := range uint64(len(c.sets)) {
		more := set & uint64(c.joined[set>>(c.groupShift&63)]-1)
		f(set, &c.sets[set-more], more)
	}
}
