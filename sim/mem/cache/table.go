package cache

import (
	"math/bits"

	"github.com/nnsoc/nnsoc/sim"
)

const noTag = ^uint64(0)

// line is what a cache knows of one of its lines. Others are named by their index.
type line struct {
	tag   uint64   // line number, noTag when empty
	ready sim.Time // when its fill has come
	next  uint32   // with the same place

	// The lines of a set are a ring from the most recently used to the least, which
	// is in front of it again.
	older, newer uint32

	from  sim.Reason // who served the fill
	flags uint8      // none when empty
}

// table holds the lines of a cache, finds them by number and knows the order in
// which those of a set were used last.
type table struct {
	// Way by way, so that consecutive lines are neighbours; behind them one that
	// is always empty.
	lines   []line
	recent  []uint32 // by set: the line that was used last
	first   []uint32 // by place: the line that came last
	setMask uint64
	fold    uint   // bits of a line's number that are added to its set, 64: none
	none    uint32 // index behind all lines: ends the chain of a place
	ways    int
}

func (c *table) init(sets, ways int, hash bool) {
	n, fold := sets*ways, uint(64)
	if hash {
		fold = max(uint(bits.Len(uint(sets-1))), 1)
	}
	*c = table{
		lines: make([]line, n+1), ways: ways, setMask: uint64(sets - 1), fold: fold, none: uint32(n),
		first: make([]uint32, 2<<bits.Len(uint(n-1))), recent: make([]uint32, sets),
	}
}

// clear empties every line; ways are taken in rising order.
func (c *table) clear() {
	sets, n := uint32(len(c.recent)), c.none
	for at := range c.lines {
		i := uint32(at)
		c.lines[at] = line{tag: noTag, older: i - sets, newer: i + sets}
	}
	for set := range c.recent {
		i := uint32(set)
		c.recent[set] = n - sets + i
		c.lines[i].older, c.lines[n-sets+i].newer = n-sets+i, i
	}
	for i := range c.first {
		c.first[i] = n
	}
}

// place is where a line is looked for. Lines in a row have places in a row, but
// buffers at a distance of a power of two do not meet.
func (c *table) place(ln uint64) *uint32 {
	return &c.first[(ln+ln>>10*0x9e35)&uint64(len(c.first)-1)]
}

// find is the index of line ln, whose place is p, none when it is absent.
func (c *table) find(p *uint32, ln uint64) uint32 {
	at := *p
	for at != c.none && c.lines[at].tag != ln {
		at = c.lines[at].next
	}
	return at
}

// unlink takes the line at an index, which is not empty, out of its chain.
func (c *table) unlink(at uint32) {
	l := &c.lines[at]
	p := c.place(l.tag)
	for *p != at {
		p = &c.lines[*p].next
	}
	*p = l.next
}

// empty takes the line at an index, which is not empty, out. Its place in the set is
// the next to be taken.
func (c *table) empty(at uint32) {
	c.unlink(at)
	c.use(at)
	l := &c.lines[at]
	c.recent[uint64(at)&c.setMask] = l.older
	l.tag, l.ready, l.from, l.flags = noTag, 0, 0, 0
}

// setOf is the set of a line: the low bits of its number, with higher ones added modulo 2 where sets are
// hashed.
func (c *table) setOf(ln uint64) uint64 { return (ln ^ ln>>c.fold ^ ln>>(2*c.fold)) & c.setMask }

// take makes the least recently used line of the set of line ln the most recently
// used.
func (c *table) take(ln uint64) uint32 {
	recent := &c.recent[c.setOf(ln)]
	at := c.lines[*recent].newer
	*recent = at
	return at
}

// isRecent reports whether the line at an index is the most recently used of its
// set.
func (c *table) isRecent(at uint32) bool { return c.recent[uint64(at)&c.setMask] == at }

// use makes the line at an index the most recently used of its set.
func (c *table) use(at uint32) {
	recent := &c.recent[uint64(at)&c.setMask]
	newest := *recent
	head := &c.lines[newest]
	if oldest := head.newer; oldest != at && newest != at { // between the two
		l := &c.lines[at]
		c.lines[l.older].newer = l.newer
		c.lines[l.newer].older = l.older
		c.lines[oldest].older, head.newer = at, at
		l.older, l.newer = newest, oldest
	}
	*recent = at
}
