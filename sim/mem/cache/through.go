package cache

import "github.com/nnsoc/nnsoc/sim"

// through remembers the line that was written last through a cache to the one behind it. As long as neither has served
// another access - their stamps show - one more write to it finds everything as the one before left it.
type through struct {
	line         uint64 // number of the line in front
	stamp        uint64 // of the cache in front; 0: nothing to remember
	lower        uint64 // stamp of the one behind
	miss         int64  // 1 when the line in front is absent
	bank, banked *sim.Time
}

// Burst is a run of writes, one at least, of few bytes each to one line of a
// write-through cache, when the cache behind has that line. Until it has ended,
// both serve nothing else.
type Burst struct {
	bank, banked    sim.Time // when the ports of the two caches are free
	cycle, hit      sim.Time
	cycled, hitNext sim.Time // of the cache behind
	writes          int64
}

// Write is Access for the next write: it returns when the write is accepted.
func (b *Burst) Write(t sim.Time) sim.Time {
	t = max(t, b.bank)
	b.bank = t + b.cycle
	t = max(t+b.hit, b.banked)
	b.banked = t + b.cycled
	b.writes++
	return t + b.hitNext
}

// AddStallFree adds n writes that each find both caches free, the last one at t.
func (b *Burst) AddStallFree(t sim.Time, n int64) {
	b.bank, b.banked = t+b.cycle, t+b.hit+b.cycled
	b.writes += n
}

// BeginBurst begins writes of up to n bytes to the line of addr. Where ok is
// false, nothing has changed and writes are for Access.
func (c *Cache) BeginBurst(b *Burst, addr uint64, n int) (ok bool) {
	next := c.lower
	if next == nil || uint(n-1) >= c.narrow || !c.findThrough(addr, addr>>(c.lineShift&63)) {
		return false
	}
	w := &c.through
	*b = Burst{bank: *w.bank, banked: *w.banked, cycle: c.cycle, hit: c.hit, cycled: next.cycle, hitNext: next.hit}
	return true
}

// EndBurst ends a burst and returns the number of its writes.
func (c *Cache) EndBurst(b *Burst) (writes int64) {
	w := &c.through
	*w.bank, *w.banked = b.bank, b.banked
	c.count[WriteLookup] += b.writes
	c.count[WriteMiss] += w.miss * b.writes
	c.lower.count[WriteLookup] += b.writes
	return b.writes
}

// WriteThrough is Access for a write of few bytes that the cache behind has the
// line of: both in one step. Any other write it leaves to Access: ok is false,
// and nothing has changed.
func (c *Cache) WriteThrough(t sim.Time, addr uint64, n int) (done sim.Time, ok bool) {
	b := c.lower
	if b == nil || uint(n-1) >= c.narrow || uint64(n-1) > c.lineMask-addr&c.lineMask {
		return 0, false
	}
	first := addr >> (c.lineShift & 63)
	w := &c.through
	if w.line != first || w.stamp != c.stamp || w.lower != b.stamp || w.stamp == 0 {
		if !c.findThrough(addr, first) {
			return 0, false
		}
	}
	c.count[WriteLookup]++
	c.count[WriteMiss] += w.miss
	b.count[WriteLookup]++
	t = max(t, *w.bank)
	*w.bank = t + c.cycle
	t = max(t+c.hit, *w.banked)
	*w.banked = t + b.cycle
	return t + b.hit, true
}

// findThrough makes the line of addr, number first, the one that is written
// through, when it can.
func (c *Cache) findThrough(addr, first uint64) bool {
	b := c.lower
	ln := addr >> (b.lineShift & 63)
	at := b.find(b.setOf(ln), ln)
	l := &b.lines[at]
	if at == b.none || l.flags&linePrefetched != 0 {
		return false
	}
	w := through{line: first}
	if i := c.find(c.setOf(first), first); i != c.none {
		c.touch(i)
	} else {
		c.stamp++
		w.miss = 1
	}
	b.touch(at)
	l.flags |= lineDirty
	w.stamp, w.lower = c.stamp, b.stamp
	w.bank = &c.bankFree[first&uint64(len(c.bankFree)-1)]
	w.banked = &b.bankFree[ln&uint64(len(b.bankFree)-1)]
	c.through = w
	return true
}
