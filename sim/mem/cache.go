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

// line is what a cache knows of one of its lines: half of a host's cache line.
type line struct {
	tag   uint64     // line number, noTag when empty
	use   uint64     // LRU stamp over the number of the way; the stamp is 0 when empty
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
	tree  []uint64 // PLRU bits of a set

	// Tables by line number, modulo their length. way is where the line was seen
	// last: a guess that saves looking through the set. held counts the lines in
	// the cache, all of one set, so that most that are not are known at once.
	way  []uint8
	held []uint8

	behind  *Cache // of a write-through cache: the next level, when WriteThrough can serve both
	narrow  uint   // bytes that take one cycle in both
	through through

	bankFree []sim.Time
	mshr     ring // when each entry is free again
	stamp    uint64
	setMask  uint64
	ways     int
	lru      bool
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
	if c.lru {
		c.quick[Read], c.quick[Prefetch] = uint64(cfg.BytesPerCycle), uint64(cfg.BytesPerCycle)
		if cfg.Write == WriteBack {
			c.quick[Write] = uint64(cfg.BytesPerCycle)
		}
	}
	if b, ok := next.(*Cache); ok && cfg.Write == WriteThrough && cfg.Replacement == LRU && cfg.Prefetch == PrefetchNone &&
		b.cfg.Write == WriteBack && b.cfg.Replacement == LRU && b.cfg.LineBytes >= cfg.LineBytes {
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
		c.lines[i] = line{tag: noTag, use: uint64(i % c.ways)}
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
	// Most accesses find their line at once; this is what serve does for them.
	if last := uint64(bytes - 1); last < c.quick[k&3] && last <= c.lineMask-addr&c.lineMask {
		ln := addr >> (c.lineShift & 63)
		l := &c.lines[int(ln&c.setMask)*c.ways+int(c.way[ln&uint64(len(c.way)-1)])]
		bank := &c.bankFree[ln&uint64(len(c.bankFree)-1)]
		start := max(t, *bank)
		if done := start + c.hit; l.tag == ln && l.flags&linePrefetched == 0 && l.ready <= done {
			*bank = start + c.cycle
			c.count[k&1]++ // CacheRead or CacheWrite
			c.stamp += wayStep
			l.use = c.stamp | l.use&(wayStep-1)
			l.flags |= uint8(k & 1) // lineDirty
			return done, c.cfg.Reason
		}
	}
	return c.serve(t, addr, bytes, k)
}

// serve is Access for whatever comes.
func (c *Cache) serve(t sim.Time, addr uint64, bytes int, k Kind) (sim.Time, sim.Reason) {
	if uint64(bytes-1) > c.lineMask-addr&c.lineMask {
		return c.parts(t, addr, bytes, k)
	}
	ln := addr >> (c.lineShift & 63)
	bank := &c.bankFree[ln&uint64(len(c.bankFree)-1)]
	t = max(t, *bank)
	busy := c.cycle
	if bytes > c.cfg.BytesPerCycle {
		busy *= sim.Time((bytes + c.cfg.BytesPerCycle - 1) / c.cfg.BytesPerCycle)
	}
	*bank = t + busy
	done := t + c.hit + busy - c.cycle
	var l *line
	if c.held[ln&uint64(len(c.held)-1)] != 0 {
		l = c.find(ln)
	}
	if l != nil {
		c.touch(l, ln)
		if l.flags&linePrefetched != 0 {
			l.flags &^= linePrefetched
			c.prefetchAfter(t, ln)
		}
	}
	if k == Write {
		c.count[CacheWrite]++
		return c.write(t, done, l, addr, bytes)
	}
	c.count[CacheRead]++
	if l == nil {
		return c.readMiss(t, done, ln)
	}
	if l.ready > done {
		c.count[CacheMerged]++
		return l.ready, l.from
	}
	return done, c.cfg.Reason
}

// write is what the policy does with a write to a line, nil when it is absent.
func (c *Cache) write(t, done sim.Time, l *line, addr uint64, n int) (sim.Time, sim.Reason) {
	switch {
	case l == nil:
		c.count[CacheWriteMiss]++
		if c.cfg.Write == WriteBack {
			return c.writeMiss(t, done, addr>>(c.lineShift&63), n), c.cfg.Reason
		}
	case c.cfg.Write == WriteBack:
		l.flags |= lineDirty
		return done, c.cfg.Reason
	case c.cfg.Write == ReadOnly:
		c.empty(l)
	}
	return c.next.Access(done, addr, n, Write)
}

// parts serves an access that is not within one line: line by line, or not at
// all when it has no bytes.
func (c *Cache) parts(t sim.Time, addr uint64, bytes int, k Kind) (sim.Time, sim.Reason) {
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

// find is the entry of line ln, nil when it is not in the cache.
func (c *Cache) find(ln uint64) *line {
	base := int(ln&c.setMask) * c.ways
	if l := &c.lines[base+int(c.way[ln&uint64(len(c.way)-1)])]; l.tag == ln {
		return l
	}
	return c.search(ln, base)
}

// search is find when the line is not where it was seen last.
func (c *Cache) search(ln uint64, base int) *line {
	if c.held[ln&uint64(len(c.held)-1)] == 0 {
		return nil
	}
	set := c.lines[base : base+c.ways]
	for w := range set {
		if set[w].tag == ln {
			c.way[ln&uint64(len(c.way)-1)] = uint8(w)
			return &set[w]
		}
	}
	return nil
}

// touch makes the entry of line ln the most recently used of its set.
func (c *Cache) touch(l *line, ln uint64) {
	c.stamp += wayStep
	l.use = c.stamp | l.use&(wayStep-1)
	if !c.lru {
		c.point(ln)
	}
}

// empty takes a line out.
func (c *Cache) empty(l *line) {
	if ln := l.tag; ln != noTag {
		c.held[ln&uint64(len(c.held)-1)]--
		c.stamp += wayStep // something changes
		*l = line{tag: noTag, use: l.use & (wayStep - 1)}
	}
}

// writeMiss gives a written line a way and answers when its miss is registered.
// A write of the whole line does not fetch it.
func (c *Cache) writeMiss(t, done sim.Time, ln uint64, bytes int) sim.Time {
	start, l := c.allocate(done, ln, bytes != c.cfg.LineBytes)
	l.flags = lineDirty
	if c.cfg.Prefetch != PrefetchNone {
		c.prefetchAfter(t, ln)
	}
	return start
}

// readMiss fetches a line. The miss is known when the tags have been read: the
// hit latency.
func (c *Cache) readMiss(t, done sim.Time, ln uint64) (sim.Time, sim.Reason) {
	c.count[CacheReadMiss]++
	_, l := c.allocate(done, ln, true)
	ready, from := l.ready, l.from
	if c.cfg.Prefetch != PrefetchNone {
		c.prefetchAfter(t, ln)
	}
	return ready, from
}

// allocate gives line ln a way: it waits for an MSHR, evicts the victim and,
// when fetch is set, reads the line from the next level. It answers when the
// MSHR was taken, and the entry.
func (c *Cache) allocate(t sim.Time, ln uint64, fetch bool) (sim.Time, *line) {
	if free := c.mshr.first(); free > t {
		c.count[CacheMSHRFull]++
		t = free
	}
	base := int(ln&c.setMask) * c.ways
	w := c.victim(base, ln)
	l := &c.lines[base+w]
	release := t
	ready, from := t, c.cfg.Reason
	if fetch {
		ready, from = c.next.Access(t, ln<<(c.lineShift&63), c.cfg.LineBytes, Read)
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
		c.held[old&uint64(len(c.held)-1)]--
	}
	c.mshr.replaceFirst(release)
	c.held[ln&uint64(len(c.held)-1)]++
	c.way[ln&uint64(len(c.way)-1)] = uint8(w)
	c.stamp += wayStep
	*l = line{tag: ln, use: c.stamp | uint64(w), ready: ready, from: from}
	if !c.lru {
		c.point(ln)
	}
	return t, l
}

// prefetchAfter fetches the lines after ln that are absent.
func (c *Cache) prefetchAfter(t sim.Time, ln uint64) {
	for d := 1; d <= c.cfg.PrefetchDegree; d++ {
		c.prefetch(t, ln+uint64(d))
	}
}

func (c *Cache) prefetch(t sim.Time, ln uint64) {
	if c.find(ln) != nil {
		return
	}
	// A prefetch never waits: without a free MSHR it is dropped.
	if c.mshr.first() <= t {
		_, l := c.allocate(t, ln, true)
		l.flags = linePrefetched
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

// victim is an empty way of the set of line ln, else the one the policy gives up.
func (c *Cache) victim(base int, ln uint64) int {
	set := c.lines[base : base+c.ways]
	if c.lru { // an empty way has no stamp
		oldest := set[0].use
		for w := range set {
			oldest = min(oldest, set[w].use)
		}
		return int(oldest & (wayStep - 1))
	}
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
		if c.held[ln&uint64(len(c.held)-1)] == 0 {
			continue
		}
		if l := c.find(ln); l != nil {
			c.empty(l)
			dropped = true
		}
	}
	return dropped
}

// Invalidate drops every line; dirty ones are lost unless cleaned before.
func (c *Cache) Invalidate() {
	for i := range c.lines {
		c.empty(&c.lines[i])
	}
	clear(c.tree)
}
