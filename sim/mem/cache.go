package mem

import (
	"math/bits"

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

const noTag = ^uint64(0)

// wayStep is more than any way's number: stamps are multiples of it.
const wayStep = 64

// line is what a cache knows of one of its lines.
type line struct {
	tag   uint64     // line number, noTag when empty
	ready sim.Time   // when its fill has come
	from  sim.Reason // who served the fill
	flags uint8
}

// Cache implements Level. Lookups of one access that spans several lines are
// made line by line, each on its bank.
type Cache struct {
	cfg  CacheConfig
	next Level

	lines []line   // sets x ways
	use   []uint64 // of each line: LRU stamp over the number of the way; the stamp is 0 when empty
	tree  []uint64 // PLRU bits of a set

	// way is, by line number modulo its length, where the line was seen last: a
	// guess that saves looking through the set. held counts the lines in the cache,
	// by place: all of one set, so that most that are not are known at once.
	way       []uint8
	held      []uint8
	setShift  uint // log2 of the sets
	heldShift uint // log2 of len(held)

	cache   *Cache // the next level, when it is a cache
	behind  *Cache // the same of a write-through cache, when WriteThrough can serve both
	narrow  uint   // bytes that take one cycle in both
	through through

	bankFree []sim.Time
	mshr     ring // when each entry is free again
	stamp    uint64
	setMask  uint64
	ways     int
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
		lines:     make([]line, lines),
		use:       make([]uint64, lines),
		tree:      make([]uint64, lines/cfg.Ways),
		way:       make([]uint8, 1<<bits.Len(uint(lines-1))),
		held:      make([]uint8, 2<<bits.Len(uint(lines-1))),
		bankFree:  make([]sim.Time, cfg.Banks),
		mshr:      newRing(cfg.MSHRs),
		setMask:   uint64(lines/cfg.Ways - 1),
		ways:      cfg.Ways,
		lru:       cfg.Replacement == LRU,
		lineShift: log2(cfg.LineBytes),
		lineMask:  uint64(cfg.LineBytes - 1),
	}
	c.setShift, c.heldShift = log2(lines/cfg.Ways), log2(len(c.held))
	if c.lru {
		c.quick[Read], c.quick[Prefetch] = uint64(cfg.BytesPerCycle), uint64(cfg.BytesPerCycle)
		if cfg.Write == WriteBack {
			c.quick[Write] = uint64(cfg.BytesPerCycle)
		}
	}
	c.plain = c.lru && cfg.Prefetch == PrefetchNone
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
	for i := range c.lines {
		c.lines[i] = line{tag: noTag}
		c.use[i] = uint64(i % c.ways)
	}
	clear(c.tree)
	clear(c.held)
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
	// Most accesses find their line at once; this is what serve does for them.
	if last < c.quick[k&3] {
		ln := addr >> (c.lineShift & 63)
		at := int(ln&c.setMask)*c.ways + int(c.way[ln&uint64(len(c.way)-1)])
		l := &c.lines[at]
		bank := &c.bankFree[ln&uint64(len(c.bankFree)-1)]
		start := max(t, *bank)
		if done := start + c.hit; l.tag == ln && l.flags&linePrefetched == 0 && l.ready <= done {
			*bank = start + c.cycle
			c.count[k&1]++ // CacheRead or CacheWrite
			c.stamp += wayStep
			c.use[at] = c.stamp | c.use[at]&(wayStep-1)
			l.flags |= uint8(k & 1) // lineDirty
			return done, c.cfg.Reason
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
	if last := uint64(bytes - 1); at < 0 && c.plain && last < c.quick[k&3] { // what follows, for a miss
		*bank = t + c.cycle
		c.count[k&1]++ // CacheRead or CacheWrite
		c.count[CacheReadMiss+k&1]++
		if k == Write {
			start, _, _ := c.allocate(t+c.hit, ln, last != c.lineMask, lineDirty)
			return start, c.cfg.Reason
		}
		_, ready, from := c.allocate(t+c.hit, ln, true, 0)
		return ready, from
	}
	busy := c.cycle
	if bytes > c.cfg.BytesPerCycle {
		busy *= sim.Time((bytes + c.cfg.BytesPerCycle - 1) / c.cfg.BytesPerCycle)
	}
	*bank = t + busy
	done := t + c.hit + busy - c.cycle
	if at >= 0 {
		c.touch(at, ln)
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
		c.empty(at)
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

// find is the index of line ln, -1 when it is not in the cache.
func (c *Cache) find(ln uint64) int {
	if c.held[c.place(ln)] == 0 {
		return -1
	}
	base := int(ln&c.setMask) * c.ways
	if at := base + int(c.way[ln&uint64(len(c.way)-1)]); c.lines[at].tag == ln {
		return at
	}
	set := c.lines[base : base+c.ways]
	for w := range set {
		if set[w].tag == ln {
			c.way[ln&uint64(len(c.way)-1)] = uint8(w)
			return base + w
		}
	}
	return -1
}

// place is where held counts a line: its set, and the number of the line folded,
// so that buffers at a distance of a power of two do not meet.
func (c *Cache) place(ln uint64) uint64 {
	return (ln ^ ln>>(c.heldShift&63)<<(c.setShift&63)) & uint64(len(c.held)-1)
}

// touch makes line ln, which is at an index, the most recently used of its set.
func (c *Cache) touch(at int, ln uint64) {
	c.stamp += wayStep
	c.use[at] = c.stamp | c.use[at]&(wayStep-1)
	if !c.lru {
		c.point(ln)
	}
}

// empty takes a line out.
func (c *Cache) empty(at int) {
	if ln := c.lines[at].tag; ln != noTag {
		c.held[c.place(ln)]--
		c.stamp += wayStep // something changes
		c.lines[at] = line{tag: noTag}
		c.use[at] &= wayStep - 1
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
	base := int(ln&c.setMask) * c.ways
	w := c.victim(base, ln)
	l := &c.lines[base+w]
	release := t
	ready, from = t, c.cfg.Reason
	if fetch {
		if addr := ln << (c.lineShift & 63); c.cache != nil {
			ready, from = c.cache.Access(t, addr, c.cfg.LineBytes, Read)
		} else {
			ready, from = c.next.Access(t, addr, c.cfg.LineBytes, Read)
		}
		ready += c.fill
		c.count[CacheFill]++
		release = ready
	}
	if old := l.tag; old != noTag {
		if l.flags&lineDirty != 0 {
			c.count[CacheWriteBack]++
			// The victim leaves after its own fill has come, behind the new fetch.
			accepted, _ := c.next.Access(max(t, l.ready), old<<(c.lineShift&63), c.cfg.LineBytes, Write)
			release = max(release, accepted)
		}
		c.held[c.place(old)]--
	}
	c.mshr.replaceFirst(release)
	c.held[c.place(ln)]++
	c.way[ln&uint64(len(c.way)-1)] = uint8(w)
	c.stamp += wayStep
	*l = line{tag: ln, ready: ready, from: from, flags: flags}
	c.use[base+w] = c.stamp | uint64(w)
	if !c.lru {
		c.point(ln)
	}
	return t, ready, from
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

// point lets the tree of the set of line ln point away from the way where the
// line was seen last: node n has children 2n and 2n+1.
func (c *Cache) point(ln uint64) {
	w := int(c.way[ln&uint64(len(c.way)-1)])
	tree := &c.tree[ln&c.setMask]
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

// victim is an empty way of a set, else the one the policy gives up.
func (c *Cache) victim(base int, ln uint64) int {
	if !c.lru {
		return c.pointed(base, ln)
	}
	use := c.use[base : base+c.ways] // an empty way has no stamp
	oldest := use[0]
	for ; len(use) >= 4; use = use[4:] {
		oldest = min(oldest, min(min(use[0], use[1]), min(use[2], use[3])))
	}
	for _, u := range use {
		oldest = min(oldest, u)
	}
	return int(oldest & (wayStep - 1))
}

// pointed is victim for the tree of the set of line ln.
func (c *Cache) pointed(base int, ln uint64) int {
	set := c.lines[base : base+c.ways]
	for w := range set {
		if set[w].tag == noTag {
			return w
		}
	}
	w, n, tree := 0, 1, c.tree[ln&c.setMask]
	for half := c.ways >> 1; half > 0; half >>= 1 {
		n <<= 1
		if tree>>(n>>1)&1 != 0 {
			w |= half
			n++
		}
	}
	return w
}

// Clean writes every dirty line back and answers when the last is accepted.
func (c *Cache) Clean(t sim.Time) sim.Time {
	done := t
	c.stamp += wayStep // something changes
	for i := range c.lines {
		l := &c.lines[i]
		if l.flags&lineDirty == 0 || l.tag == noTag {
			continue
		}
		l.flags &^= lineDirty
		c.count[CacheWriteBack]++
		d, _ := c.next.Access(max(t, l.ready), l.tag<<(c.lineShift&63), c.cfg.LineBytes, Write)
		done = max(done, d)
	}
	return done
}

// Drop takes the lines that hold n bytes at addr out of the cache; what was
// written to them is lost unless cleaned before. It answers whether there were
// any.
func (c *Cache) Drop(addr uint64, n int) (dropped bool) {
	for ln := addr >> (c.lineShift & 63); ln <= (addr+uint64(n)-1)>>(c.lineShift&63); ln++ {
		if c.held[c.place(ln)] == 0 {
			continue
		}
		if at := c.find(ln); at >= 0 {
			c.empty(at)
			dropped = true
		}
	}
	return dropped
}

// Invalidate drops every line; dirty ones are lost unless cleaned before.
func (c *Cache) Invalidate() {
	for i := range c.lines {
		c.empty(i)
	}
	clear(c.tree)
}
