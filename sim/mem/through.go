package mem

import "github.com/nnsoc/nnsoc/sim"

// through remembers the line that WriteThrough wrote last, in a cache and in the
// one behind it. As long as neither has been asked for anything else - their
// stamps tell - one more write to it finds everything as the one before left it.
type through struct {
	line         uint64 // number of the line in front
	stamp        uint64 // of the cache in front; 0: nothing to remember
	behind       uint64 // stamp of the one behind
	miss         int64  // 1 when the line in front is absent
	bank, banked *sim.Time
}

// WriteThrough is Access for a write of few bytes that the cache behind has the
// line of: both in one step. Any other write it leaves to Access: ok is false,
// and nothing has changed.
func (c *Cache) WriteThrough(t sim.Time, addr uint64, n int) (done sim.Time, ok bool) {
	b := c.behind
	if b == nil || uint(n-1) >= c.narrow || uint64(n-1) > c.lineMask-addr&c.lineMask {
		return 0, false
	}
	first := addr >> (c.lineShift & 63)
	w := &c.through
	if w.line != first || w.stamp != c.stamp || w.behind != b.stamp || w.stamp == 0 {
		if !c.findThrough(addr, first) {
			return 0, false
		}
	}
	c.count[CacheWrite]++
	c.count[CacheWriteMiss] += w.miss
	b.count[CacheWrite]++
	t = max(t, *w.bank)
	*w.bank = t + c.cycle
	t = max(t+c.hit, *w.banked)
	*w.banked = t + b.cycle
	return t + b.hit, true
}

// findThrough makes the line of addr, number first, the one that WriteThrough
// writes, when it can.
func (c *Cache) findThrough(addr, first uint64) bool {
	b := c.behind
	ln := addr >> (b.lineShift & 63)
	l := &b.lines[int(ln&b.setMask)*b.ways+int(b.way[ln&uint64(len(b.way)-1)])]
	if l.tag != ln || l.flags&linePrefetched != 0 {
		return false
	}
	w := through{line: first}
	if f := &c.lines[int(first&c.setMask)*c.ways+int(c.way[first&uint64(len(c.way)-1)])]; f.tag == first {
		c.touch(f, first)
	} else if c.held[first&uint64(len(c.held)-1)] == 0 {
		c.stamp += wayStep
		w.miss = 1
	} else {
		return false
	}
	b.touch(l, ln)
	l.flags |= lineDirty
	w.stamp, w.behind = c.stamp, b.stamp
	w.bank = &c.bankFree[first&uint64(len(c.bankFree)-1)]
	w.banked = &b.bankFree[ln&uint64(len(b.bankFree)-1)]
	c.through = w
	return true
}
