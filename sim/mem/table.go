package mem

import (
	"math/bits"

	"github.com/nnsoc/nnsoc/sim"
)

const noTag = ^uint64(0)

// line is what a cache knows of one of its lines.
type line struct {
	tag   uint64     // line number, noTag when empty
	ready sim.Time   // when its fill has come
	from  sim.Reason // who served the fill
	flags uint8      // none when empty
}

// table holds the lines of a cache, finds them by number and knows the order in
// which those of a set were used last.
type table struct {
	// Way by way, so that consecutive lines are neighbours; behind them one that
	// is always empty.
	lines    []line
	ways     int
	setShift uint // log2 of the sets
	setMask  uint32

	// A hash table: by place, the index of a line, and by line, that of the next
	// with the same place. none, the index behind all lines, ends the chain.
	first []uint32
	chain []uint32
	none  uint32
	fold  uint // log2 of len(first)

	// The ways of a set are a ring from the most recently used to the least, which
	// is in front of it again.
	recent []uint8 // by set
	ring   []neighbours
}

// neighbours are the ways that were used just before a way and just after it.
type neighbours struct{ older, newer uint8 }

func (c *table) init(sets, ways int) {
	n := sets * ways
	size := 2 << bits.Len(uint(n-1))
	*c = table{
		lines: make([]line, n+1), ways: ways, setShift: log2(sets), setMask: uint32(sets - 1),
		first: make([]uint32, size), chain: make([]uint32, n), none: uint32(n), fold: log2(size),
		recent: make([]uint8, sets), ring: make([]neighbours, n),
	}
}

// clear empties every line; ways are taken in rising order.
func (c *table) clear() {
	for i := range c.lines {
		c.lines[i] = line{tag: noTag}
	}
	for i := range c.first {
		c.first[i] = c.none
	}
	last := c.ways - 1
	for set := range c.recent {
		c.recent[set] = uint8(last)
		ring := c.ring[set*c.ways:][:c.ways]
		for w := range ring {
			ring[w] = neighbours{older: uint8(w - 1), newer: uint8(w + 1)}
		}
		ring[0].older, ring[last].newer = uint8(last), 0
	}
}

func (c *table) index(way int, set uint32) uint32 { return uint32(way)<<(c.setShift&31) | set }
func (c *table) wayOf(at uint32) int              { return int(at >> (c.setShift & 31)) }

// place is where a line is looked for: its number folded, so that buffers at a
// distance of a power of two do not meet.
func (c *table) place(ln uint64) uint64 {
	return (ln ^ ln>>(c.fold&63)<<(c.setShift&63)) & uint64(len(c.first)-1)
}

// find is the index of line ln, -1 when it is absent.
func (c *table) find(ln uint64) int {
	at := c.first[c.place(ln)]
	for at != c.none {
		if c.lines[at].tag == ln {
			return int(at)
		}
		at = c.chain[at]
	}
	return -1
}

// unlink takes the line at an index, which is not empty, out of its chain.
func (c *table) unlink(at uint32) {
	p := &c.first[c.place(c.lines[at].tag)]
	for *p != at {
		p = &c.chain[*p]
	}
	*p = c.chain[at]
}

// replace puts a line in the place of the one at an index.
func (c *table) replace(at uint32, l line) {
	if c.lines[at].tag != noTag {
		c.unlink(at)
	}
	p := &c.first[c.place(l.tag)]
	c.chain[at], *p = *p, at
	c.lines[at] = l
}

// empty takes the line at an index out. Its way is the next to be taken.
func (c *table) empty(at uint32) {
	c.unlink(at)
	c.lines[at] = line{tag: noTag}
	c.use(at)
	set := at & c.setMask
	c.recent[set] = c.ring[int(set)*c.ways+c.wayOf(at)].older
}

// isRecent reports whether the line at an index is the most recently used of its
// set.
func (c *table) isRecent(at uint32) bool {
	return uint32(c.recent[at&c.setMask]) == at>>(c.setShift&31)
}

// oldest is the index of the least recently used line of the set of line ln.
func (c *table) oldest(ln uint64) uint32 {
	set := uint32(ln) & c.setMask
	return c.index(int(c.ring[int(set)*c.ways+int(c.recent[set])].newer), set)
}

// use makes the line at an index the most recently used of its set.
func (c *table) use(at uint32) {
	set, w := at&c.setMask, uint8(at>>(c.setShift&31))
	head := c.recent[set]
	ring := c.ring[int(set)*c.ways:][:c.ways]
	if tail := ring[head].newer; tail != w && head != w { // between the two
		n := ring[w]
		ring[n.older].newer, ring[n.newer].older = n.newer, n.older
		ring[tail].older, ring[head].newer = w, w
		ring[w] = neighbours{older: head, newer: tail}
	}
	c.recent[set] = w
}
