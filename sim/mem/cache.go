package mem

import (
	"github.com/nnsoc/nnsoc/sim"
)

// Events a cache counts.
const (
	CacheRead = iota // lines looked up by reads
	CacheWrite
	CacheReadMiss
	CacheWriteMiss
	CacheMerged // lookups that found their line still in flight
	CacheFill   // lines fetched, prefetches included
	CachePrefetch
	CacheWriteBack
	CacheMSHRFull // misses that waited for an MSHR
	numCacheEvents
)

var cacheEvents = [numCacheEvents]string{
	"read", "write", "read_miss", "write_miss", "merged", "fill", "prefetch", "write_back", "mshr_full",
}

// line flags
const (
	lineDirty = 1 << iota // Write as a flag
	linePrefetched
)

// Cache implements Level. Lookups of one access that spans several lines are
// made line by line, each on its bank.
type Cache struct {
	cfg  CacheConfig
	next Level

	table
	tree []uint64 // PLRU bits of a set

	cache   *Cache // the next level, when it is a cache
	port    *Port  // the same, when it is a port, with a delay in front
	delay   sim.Time
	behind  *Cache // the same of a write-through cache, when WriteThrough can serve both
	narrow  uint   // bytes that take one cycle in both
	through through

	bankFree []sim.Time
	mshr     ring   // when each entry is free again
	stamp    uint64 // grows whenever something may have changed
	lru      bool
	plain    bool      // LRU without a prefetcher
	quick    [4]uint64 // by kind: bytes that Access can serve at once, 0: none

	hit, cycle, fill sim.Time
	lineShift        uint
	lineMask         uint64 // LineBytes - 1
	count            [numCacheEvents]int64
}

// NewCache builds a cache in front of next.
func NewCache(cfg CacheConfig, next Level) (*Cache, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	lines := cfg.Bytes / cfg.LineBytes
	c := &Cache{
		cfg: cfg, next: next,
		tree:      make([]uint64, lines/cfg.Ways),
		bankFree:  make([]sim.Time, cfg.Banks),
		mshr:      newRing(cfg.MSHRs),
		lru:       cfg.Replacement == LRU,
		lineShift: log2(cfg.LineBytes),
		lineMask:  uint64(cfg.LineBytes - 1),
	}
	c.table.init(lines/cfg.Ways, cfg.Ways)
	if c.lru {
		c.quick[Read], c.quick[Prefetch] = uint64(cfg.BytesPerCycle), uint64(cfg.BytesPerCycle)
		if cfg.Write == WriteBack {
			c.quick[Write] = uint64(cfg.BytesPerCycle)
		}
	}
	c.plain = c.lru && cfg.Prefetch == PrefetchNone
	if p, ok := next.(*Path); ok {
		c.port, _ = p.Next.(*Port)
		c.delay = p.Delay
	}
	b, ok := next.(*Cache)
	c.cache = b
	if ok && c.plain && cfg.Write == WriteThrough && b.cfg.Write == WriteBack && b.cfg.Replacement == LRU &&
		b.cfg.LineBytes >= cfg.LineBytes {
		c.behind, c.narrow = b, uint(min(cfg.BytesPerCycle, b.cfg.BytesPerCycle))
	}
	c.Retime(cfg.Hz)
	c.clear()
	return c, nil
}

// Config is the configuration the cache was built with.
func (c *Cache) Config() CacheConfig { return c.cfg }

// Retime sets the clock; latencies keep their cycles.
func (c *Cache) Retime(hz int64) {
	c.cfg.Hz = hz
	c.hit = period(c.cfg.HitCycles, hz)
	c.fill = period(c.cfg.FillCycles, hz)
	c.cycle = period(1, hz)
}

// Reset implements Level: empty and clean, without writing anything back, and
// so is every level behind.
func (c *Cache) Reset() {
	c.clear()
	c.next.Reset()
}

func (c *Cache) clear() {
	c.table.clear()
	clear(c.tree)
	clear(c.bankFree)
	c.mshr.clear()
	c.stamp = 0
	c.through = through{}
	c.count = [numCacheEvents]int64{}
}

// Counters are the events since Reset, named after the cache.
func (c *Cache) Counters() []sim.Counter {
	return counted(c.cfg.Name, cacheEvents[:], c.count[:])
}

// Access implements Level. A read is done when its last line is; a write when
// every line is in the cache or its miss is registered.
func (c *Cache) Access(t sim.Time, addr uint64, bytes int, k Kind) (sim.Time, sim.Reason) {
	last := uint64(bytes - 1)
	if last > c.lineMask-addr&c.lineMask {
		return c.parts(t, addr, bytes, k)
	}
	// Most accesses find their line at once, or know at once that it is absent; this
	// is what serve does for them.
	if last < c.quick[k&3] {
		ln := addr >> (c.lineShift & 63)
		at := c.first[c.place(ln)]
		l := &c.lines[at]
		bank := &c.bankFree[ln&uint64(len(c.bankFree)-1)]
		t = max(t, *bank)
		if l.tag == ln {
			if done := t + c.hit; l.flags&linePrefetched == 0 && l.ready <= done {
				*bank = t + c.cycle
				c.count[k&1]++ // CacheRead or CacheWrite
				c.stamp++
				if !c.isRecent(at) {
					c.use(at)
				}
				l.flags |= uint8(k & 1) // lineDirty
				return done, c.cfg.Reason
			}
		} else if at == c.none && c.plain {
			*bank = t + c.cycle
			c.count[k&1]++
			c.count[CacheReadMiss+k&1]++
			if k == Write {
				t, _, _ = c.allocate(t+c.hit, ln, last != c.lineMask, lineDirty)
				return t, c.cfg.Reason
			}
			_, ready, from := c.allocate(t+c.hit, ln, true, 0)
			return ready, from
		}
	}
	return c.serve(t, addr, bytes, k)
}

// serve is Access for whatever lies in one line.
func (c *Cache) serve(t sim.Time, addr uint64, bytes int, k Kind) (sim.Time, sim.Reason) {
	ln := addr >> (c.lineShift & 63)
	bank := &c.bankFree[ln&uint64(len(c.bankFree)-1)]
	t = max(t, *bank)
	at := c.find(ln)
	busy := c.cycle
	if bytes > c.cfg.BytesPerCycle {
		busy *= sim.Time((bytes + c.cfg.BytesPerCycle - 1) / c.cfg.BytesPerCycle)
	}
	*bank = t + busy
	done := t + c.hit + busy - c.cycle
	if at >= 0 {
		c.touch(uint32(at))
		if l := &c.lines[at]; l.flags&linePrefetched != 0 {
			l.flags &^= linePrefetched
			c.prefetchAfter(t, ln)
		}
	}
	if k == Write {
		c.count[CacheWrite]++
		return c.write(t, done, at, addr, bytes)
	}
	c.count[CacheRead]++
	if at < 0 {
		return c.readMiss(t, done, ln)
	}
	if l := &c.lines[at]; l.ready > done {
		c.count[CacheMerged]++
		return l.ready, l.from
	}
	return done, c.cfg.Reason
}

// write is what the policy does with a write to a line at an index, -1 when it is absent.
func (c *Cache) write(t, done sim.Time, at int, addr uint64, n int) (sim.Time, sim.Reason) {
	switch {
	case at < 0:
		c.count[CacheWriteMiss]++
		if c.cfg.Write == WriteBack {
			return c.writeMiss(t, done, addr>>(c.lineShift&63), n), c.cfg.Reason
		}
	case c.cfg.Write == WriteBack:
		c.lines[at].flags |= lineDirty
		return done, c.cfg.Reason
	case c.cfg.Write == ReadOnly:
		c.empty(uint32(at))
	}
	return c.next.Access(done, addr, n, Write)
}

// parts serves an access that is not within one line: line by line, or not at
// all when it has no bytes.
func (c *Cache) parts(t sim.Time, addr uint64, bytes int, k Kind) (sim.Time, sim.Reason) {
	if first := c.cfg.LineBytes - int(addr&c.lineMask); bytes > 0 && bytes-first <= c.cfg.LineBytes {
		done, from := c.Access(t, addr, first, k)
		d, f := c.Access(t, addr+uint64(first), bytes-first, k)
		return max(done, d), max(from, f)
	}
	done, from := t, c.cfg.Reason
	for bytes > 0 {
		n := min(bytes, c.cfg.LineBytes-int(addr&c.lineMask))
		d, f := c.Access(t, addr, n, k)
		done = max(done, d)
		from = max(from, f)
		addr += uint64(n)
		bytes -= n
	}
	return done, from
}

// touch makes the line at an index the most recently used of its set.
func (c *Cache) touch(at uint32) {
	c.stamp++
	if !c.lru {
		c.point(at)
	} else if !c.isRecent(at) {
		c.use(at)
	}
}

// empty takes a line out.
func (c *Cache) empty(at uint32) {
	if c.lines[at].tag != noTag {
		c.stamp++
		c.table.empty(at)
	}
}

// writeMiss gives a written line a way and answers when its miss is registered.
// A write of the whole line does not fetch it.
func (c *Cache) writeMiss(t, done sim.Time, ln uint64, bytes int) sim.Time {
	start, _, _ := c.allocate(done, ln, bytes != c.cfg.LineBytes, lineDirty)
	if c.cfg.Prefetch != PrefetchNone {
		c.prefetchAfter(t, ln)
	}
	return start
}

// readMiss fetches a line. The miss is known when the tags have been read: the
// hit latency.
func (c *Cache) readMiss(t, done sim.Time, ln uint64) (sim.Time, sim.Reason) {
	c.count[CacheReadMiss]++
	_, ready, from := c.allocate(done, ln, true, 0)
	if c.cfg.Prefetch != PrefetchNone {
		c.prefetchAfter(t, ln)
	}
	return ready, from
}

// allocate gives line ln a way: it waits for an MSHR, evicts the victim and,
// when fetch is set, reads the line from the next level. It answers when the
// MSHR was taken, when the line is there, and who served it.
func (c *Cache) allocate(t sim.Time, ln uint64, fetch bool, flags uint8) (start, ready sim.Time, from sim.Reason) {
	if free := c.mshr.first(); free > t {
		c.count[CacheMSHRFull]++
		t = free
	}
	at := c.oldest(ln)
	if !c.lru {
		at = c.pointed(ln)
	}
	l := &c.lines[at]
	release := t
	ready, from = t, c.cfg.Reason
	if fetch {
		addr := ln << (c.lineShift & 63)
		switch {
		case c.port != nil:
			ready, from = c.port.Access(t, addr, c.cfg.LineBytes, Read)
			ready += c.delay
		case c.cache != nil:
			ready, from = c.cache.Access(t, addr, c.cfg.LineBytes, Read)
		default:
			ready, from = c.next.Access(t, addr, c.cfg.LineBytes, Read)
		}
		ready += c.fill
		c.count[CacheFill]++
		release = ready
	}
	if l.flags&lineDirty != 0 {
		// The victim leaves after its own fill has come, behind the new fetch.
		release = max(release, c.writeBack(max(t, l.ready), l.tag))
	}
	c.mshr.replaceFirst(release)
	c.replace(at, line{tag: ln, ready: ready, from: from, flags: flags})
	c.touch(at)
	return t, ready, from
}

// writeBack writes a line to the next level and answers when that has it.
func (c *Cache) writeBack(t sim.Time, ln uint64) (done sim.Time) {
	c.count[CacheWriteBack]++
	addr := ln << (c.lineShift & 63)
	if c.port != nil {
		done, _ = c.port.Access(t, addr, c.cfg.LineBytes, Write)
	} else {
		done, _ = c.next.Access(t, addr, c.cfg.LineBytes, Write)
	}
	return done
}

// prefetchAfter fetches the lines after ln that are absent.
func (c *Cache) prefetchAfter(t sim.Time, ln uint64) {
	for d := 1; d <= c.cfg.PrefetchDegree; d++ {
		c.prefetch(t, ln+uint64(d))
	}
}

func (c *Cache) prefetch(t sim.Time, ln uint64) {
	if c.find(ln) >= 0 {
		return
	}
	// A prefetch never waits: without a free MSHR it is dropped.
	if c.mshr.first() <= t {
		c.allocate(t, ln, true, linePrefetched)
		c.count[CachePrefetch]++
	}
}

// point lets the tree of the set of the line at an index point away from it:
// node n has children 2n and 2n+1.
func (c *Cache) point(at uint32) {
	w := c.wayOf(at)
	tree := &c.tree[at&c.setMask]
	for n, half := 1, c.ways>>1; half > 0; half >>= 1 {
		if w&half != 0 {
			*tree &^= 1 << n
			n = 2*n + 1
		} else {
			*tree |= 1 << n
			n = 2 * n
		}
	}
}

// pointed is the index of an empty way of the set of line ln, else of the one the
// tree points to.
func (c *Cache) pointed(ln uint64) uint32 {
	set := uint32(ln) & c.setMask
	for w := range c.ways {
		if at := c.index(w, set); c.lines[at].tag == noTag {
			return at
		}
	}
	w, n, tree := 0, 1, c.tree[set]
	for half := c.ways >> 1; half > 0; half >>= 1 {
		n <<= 1
		if tree>>(n>>1)&1 != 0 {
			w |= half
			n++
		}
	}
	return c.index(w, set)
}

// Clean writes every dirty line back and answers when the last is accepted.
func (c *Cache) Clean(t sim.Time) sim.Time {
	done := t
	c.stamp++
	for set := range c.setMask + 1 {
		for w := range c.ways {
			if l := &c.lines[c.index(w, set)]; l.flags&lineDirty != 0 {
				l.flags &^= lineDirty
				done = max(done, c.writeBack(max(t, l.ready), l.tag))
			}
		}
	}
	return done
}

// Drop takes the lines that hold n bytes at addr out of the cache; what was
// written to them is lost unless cleaned before. It answers whether there were
// any.
func (c *Cache) Drop(addr uint64, n int) (dropped bool) {
	for ln := addr >> (c.lineShift & 63); ln <= (addr+uint64(n)-1)>>(c.lineShift&63); ln++ {
		if c.first[c.place(ln)] == c.none {
			continue
		}
		if at := c.find(ln); at >= 0 {
			c.empty(uint32(at))
			dropped = true
		}
	}
	return dropped
}

// Invalidate drops every line; dirty ones are lost unless cleaned before.
func (c *Cache) Invalidate() {
	c.stamp++
	c.table.clear()
	clear(c.tree)
}
