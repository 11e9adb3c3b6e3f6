package mem

import (
	"math/bits"

	"github.com/nnsoc/nnsoc/sim"
)

// Replacement chooses the victim of a set.
type Replacement uint8

// Replacement policies.
const (
	LRU      Replacement = iota
	TreePLRU             // one bit per node of a binary tree over the ways
)

// WritePolicy is what a cache does with writes.
type WritePolicy uint8

// Write policies.
const (
	WriteBack    WritePolicy = iota // and allocate; a write of a whole line does not fetch it
	WriteThrough                    // and do not allocate; a present line is kept
	ReadOnly                        // writes bypass and drop the line (instruction, scalar caches)
)

// PrefetchKind is what a cache fetches that nobody asked for.
type PrefetchKind uint8

// Prefetchers.
const (
	PrefetchNone     PrefetchKind = iota
	PrefetchNextLine              // a miss, or the first hit on a prefetched line, fetches the next PrefetchDegree lines
)

// CacheConfig describes one set-associative cache.
type CacheConfig struct {
	Name          string
	Hz            int64
	Bytes         int
	LineBytes     int // power of two
	Ways          int // Bytes/LineBytes/Ways sets, a power of two
	Replacement   Replacement
	Write         WritePolicy
	HitCycles     int        // load to data
	BytesPerCycle int        // of each bank
	Banks         int        // power of two, interleaved by line; each serves one access at a time
	MSHRs         int        // lines in flight: fills and the write-backs they force; a miss beyond waits
	FillCycles    int        // from the next level's answer to the waiting core
	Reason        sim.Reason // charged for a hit

	Prefetch       PrefetchKind
	PrefetchDegree int
}

// Validate reports every value that is out of range.
func (c *CacheConfig) Validate() error {
	k := checks{what: "cache " + c.Name}
	k.hz(c.Hz)
	k.in("Bytes", int64(c.Bytes), 64, maxCacheBytes)
	k.pow2("LineBytes", c.LineBytes, 16, 1<<12)
	k.in("Ways", int64(c.Ways), 1, 64)
	k.in("HitCycles", int64(c.HitCycles), 0, 1e6)
	k.in("FillCycles", int64(c.FillCycles), 0, 1e6)
	k.in("BytesPerCycle", int64(c.BytesPerCycle), 1, 1<<12)
	k.pow2("Banks", c.Banks, 1, 64)
	k.in("MSHRs", int64(c.MSHRs), 1, 1024)
	k.in("Reason", int64(c.Reason), 0, int64(sim.NumReasons)-1)
	k.in("PrefetchDegree", int64(c.PrefetchDegree), 0, 64)
	if c.Replacement > TreePLRU || c.Write > ReadOnly || c.Prefetch > PrefetchNextLine {
		k.fail("unknown policy")
	}
	if len(k.errs) == 0 {
		if c.Bytes%(c.LineBytes*c.Ways) != 0 {
			k.fail("Bytes = %d is not a multiple of LineBytes * Ways", c.Bytes)
		} else if sets := c.Bytes / (c.LineBytes * c.Ways); sets&(sets-1) != 0 {
			k.fail("%d sets, want a power of two", sets)
		}
		if c.Replacement == TreePLRU && c.Ways&(c.Ways-1) != 0 {
			k.fail("tree PLRU needs a power of two of ways, have %d", c.Ways)
		}
	}
	return k.err()
}

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
	lineDirty = 1 << iota
	linePrefetched
)

const noTag = ^uint64(0)

// wayBits is the width of a way's number.
const wayBits = 6

// lineState is what a cache knows of a line beside its tag.
type lineState struct {
	ready sim.Time   // when its fill has come
	from  sim.Reason // who served the fill
	flags uint8
}

// Cache implements Level. Lookups of one access that spans several lines are
// made line by line, each on its bank.
type Cache struct {
	cfg  CacheConfig
	next Level

	tag  []uint64 // line number, noTag when empty; sets x ways
	line []lineState
	use  []uint64 // LRU stamp, 0 when empty
	tree []uint64 // PLRU bits of a set

	// Tables by line number, modulo their length. way is where the line was seen
	// last: a guess that saves looking through the set. held counts the lines in
	// the cache, all of one set, so that most that are not are known at once.
	way  []uint8
	held []uint8

	behind *Cache // of a write-through cache: the next level, when WriteThrough can serve both
	narrow uint   // bytes that take one cycle in both

	bankFree []sim.Time
	mshr     ring // when each entry is free again
	stamp    uint64
	setMask  uint64

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
		tag: make([]uint64, lines), line: make([]lineState, lines), use: make([]uint64, lines),
		tree:      make([]uint64, lines/cfg.Ways),
		way:       make([]uint8, 1<<bits.Len(uint(lines-1))),
		held:      make([]uint8, 2<<bits.Len(uint(lines-1))),
		bankFree:  make([]sim.Time, cfg.Banks),
		mshr:      newRing(cfg.MSHRs),
		setMask:   uint64(lines/cfg.Ways - 1),
		lineShift: log2(cfg.LineBytes),
		lineMask:  uint64(cfg.LineBytes - 1),
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
	for i := range c.tag {
		c.tag[i] = noTag
	}
	clear(c.line)
	clear(c.use)
	clear(c.tree)
	clear(c.held)
	clear(c.bankFree)
	c.mshr.clear()
	c.stamp = 0
	c.count = [numCacheEvents]int64{}
}

// Counters are the events since Reset, named after the cache.
func (c *Cache) Counters() []sim.Counter {
	return counted(c.cfg.Name, cacheEvents[:], c.count[:])
}

// Access implements Level. A read is done when its last line is; a write when
// every line is in the cache or its miss is registered.
func (c *Cache) Access(t sim.Time, addr uint64, bytes int, k Kind) (sim.Time, sim.Reason) {
	n := bytes
	if uint64(n-1) > c.lineMask-addr&c.lineMask {
		return c.lines(t, addr, bytes, k)
	}
	ln := addr >> c.lineShift
	bank := &c.bankFree[ln&uint64(len(c.bankFree)-1)]
	if *bank > t {
		t = *bank
	}
	busy := c.cycle
	if n > c.cfg.BytesPerCycle {
		busy = c.cycle * sim.Time((n+c.cfg.BytesPerCycle-1)/c.cfg.BytesPerCycle)
	}
	*bank = t + busy
	done := t + c.hit + busy - c.cycle
	event := CacheRead
	if k == Write {
		event = CacheWrite
	}
	c.count[event]++

	set := ln & c.setMask
	base := int(set) * c.cfg.Ways
	w := c.find(ln, base)
	if w < 0 {
		return c.missLine(t, done, base, set, ln, addr, n, k)
	}
	l := &c.line[base+w]
	c.stamp++
	if c.cfg.Replacement == LRU {
		c.use[base+w] = c.stamp
	} else {
		c.point(w, set)
	}
	if l.flags&linePrefetched != 0 {
		l.flags &^= linePrefetched
		c.prefetchAfter(t, ln)
	}
	if k == Write {
		return c.writeHit(done, base+w, addr, n)
	}
	if l.ready > done {
		c.count[CacheMerged]++
		return l.ready, l.from
	}
	return done, c.cfg.Reason
}

// lines serves an access that is not within one line: line by line, or not at
// all when it has no bytes.
func (c *Cache) lines(t sim.Time, addr uint64, bytes int, k Kind) (sim.Time, sim.Reason) {
	done, from := t, c.cfg.Reason
	for bytes > 0 {
		n := min(bytes, c.cfg.LineBytes-int(addr&c.lineMask))
		d, f := c.Access(t, addr, n, k)
		if d > done {
			done = d
		}
		if f > from {
			from = f
		}
		addr += uint64(n)
		bytes -= n
	}
	return done, from
}

// find is the way that holds line ln, -1 when none does.
func (c *Cache) find(ln uint64, base int) int {
	guess := &c.way[ln&uint64(len(c.way)-1)]
	if w := int(*guess); c.tag[base+w] == ln {
		return w
	}
	if c.held[ln&uint64(len(c.held)-1)] == 0 {
		return -1
	}
	for w, tag := range c.tag[base : base+c.cfg.Ways] {
		if tag == ln {
			*guess = uint8(w)
			return w
		}
	}
	return -1
}

// empty takes what entry i of the arrays holds out.
func (c *Cache) empty(i int) {
	if ln := c.tag[i]; ln != noTag {
		c.held[ln&uint64(len(c.held)-1)]--
		c.tag[i] = noTag
		c.line[i] = lineState{}
		c.use[i] = 0
	}
}

func (c *Cache) writeHit(done sim.Time, i int, addr uint64, n int) (sim.Time, sim.Reason) {
	switch c.cfg.Write {
	case WriteBack:
		c.line[i].flags |= lineDirty
		return done, c.cfg.Reason
	case ReadOnly:
		c.empty(i)
	}
	return c.next.Access(done, addr, n, Write)
}

// WriteThrough is Access for a write of few bytes that the cache behind has the
// line of: both in one step. Any other write it leaves to Access: ok is false,
// and nothing has changed.
func (c *Cache) WriteThrough(t sim.Time, addr uint64, n int) (done sim.Time, ok bool) {
	b := c.behind
	if b == nil || uint(n-1) >= c.narrow || uint64(n-1) > c.lineMask-addr&c.lineMask {
		return 0, false
	}
	ln := addr >> b.lineShift
	i := int(ln&b.setMask)*b.cfg.Ways + int(b.way[ln&uint64(len(b.way)-1)])
	l := &b.line[i]
	if b.tag[i] != ln || l.flags&linePrefetched != 0 {
		return 0, false
	}
	first := addr >> c.lineShift
	if k := int(first&c.setMask)*c.cfg.Ways + int(c.way[first&uint64(len(c.way)-1)]); c.tag[k] == first {
		c.stamp++
		c.use[k] = c.stamp
	} else if c.held[first&uint64(len(c.held)-1)] == 0 {
		c.count[CacheWriteMiss]++
	} else {
		return 0, false
	}
	c.count[CacheWrite]++
	bank := &c.bankFree[first&uint64(len(c.bankFree)-1)]
	t = max(t, *bank)
	*bank = t + c.cycle
	t += c.hit

	b.count[CacheWrite]++
	bank = &b.bankFree[ln&uint64(len(b.bankFree)-1)]
	t = max(t, *bank)
	*bank = t + b.cycle
	b.stamp++
	b.use[i] = b.stamp
	l.flags |= lineDirty
	return t + b.hit, true
}

func (c *Cache) missLine(t, done sim.Time, base int, set, ln, addr uint64, n int, k Kind) (sim.Time, sim.Reason) {
	if k == Write {
		c.count[CacheWriteMiss]++
		if c.cfg.Write != WriteBack {
			return c.next.Access(done, addr, n, Write)
		}
		whole := n == c.cfg.LineBytes
		start, i, _ := c.allocate(done, base, set, ln, !whole)
		c.line[i].flags = lineDirty
		if c.cfg.Prefetch != PrefetchNone {
			c.prefetchAfter(t, ln)
		}
		return start, c.cfg.Reason
	}
	c.count[CacheReadMiss]++
	// The miss is known when the tags have been read: the hit latency.
	_, i, ready := c.allocate(done, base, set, ln, true)
	if c.cfg.Prefetch != PrefetchNone {
		c.prefetchAfter(t, ln)
	}
	return ready, c.line[i].from
}

// allocate gives line ln a way: it waits for an MSHR, evicts the victim and,
// when fetch is set, reads the line from the next level. It answers when the
// MSHR was taken, which line it is, and when its data is there.
func (c *Cache) allocate(t sim.Time, base int, set, ln uint64, fetch bool) (sim.Time, int, sim.Time) {
	if free := c.mshr.first(); free > t {
		c.count[CacheMSHRFull]++
		t = free
	}
	w := c.victim(base, set)
	i := base + w
	release := t
	ready, from := t, c.cfg.Reason
	if fetch {
		ready, from = c.next.Access(t, ln<<c.lineShift, c.cfg.LineBytes, Read)
		ready += c.fill
		c.count[CacheFill]++
		release = ready
	}
	if l := &c.line[i]; l.flags&lineDirty != 0 && c.tag[i] != noTag {
		c.count[CacheWriteBack]++
		// The victim leaves after its own fill has come, behind the new fetch.
		accepted, _ := c.next.Access(max(t, l.ready), c.tag[i]<<c.lineShift, c.cfg.LineBytes, Write)
		release = max(release, accepted)
	}
	c.mshr.replaceFirst(release)
	c.empty(i)
	c.tag[i] = ln
	c.held[ln&uint64(len(c.held)-1)]++
	c.way[ln&uint64(len(c.way)-1)] = uint8(w)
	c.line[i] = lineState{ready: ready, from: from}
	c.touch(base, w, set)
	return t, i, ready
}

// prefetchAfter fetches the lines after ln that are absent.
func (c *Cache) prefetchAfter(t sim.Time, ln uint64) {
	for d := 1; d <= c.cfg.PrefetchDegree; d++ {
		c.prefetch(t, ln+uint64(d))
	}
}

func (c *Cache) prefetch(t sim.Time, ln uint64) {
	set := ln & c.setMask
	base := int(set) * c.cfg.Ways
	if c.find(ln, base) >= 0 {
		return
	}
	// A prefetch never waits: without a free MSHR it is dropped.
	if c.mshr.first() <= t {
		_, i, _ := c.allocate(t, base, set, ln, true)
		c.line[i].flags = linePrefetched
		c.count[CachePrefetch]++
	}
}

// touch makes way w the most recently used of its set.
func (c *Cache) touch(base, w int, set uint64) {
	c.stamp++
	if c.cfg.Replacement == LRU {
		c.use[base+w] = c.stamp
	} else {
		c.point(w, set)
	}
}

// point lets the tree of a set point away from way w: node n has children 2n
// and 2n+1.
func (c *Cache) point(w int, set uint64) {
	bits := c.tree[set]
	for n, half := 1, c.cfg.Ways>>1; half > 0; half >>= 1 {
		if w&half != 0 {
			bits &^= 1 << n
			n = 2*n + 1
		} else {
			bits |= 1 << n
			n = 2 * n
		}
	}
	c.tree[set] = bits
}

// victim is an empty way, else the one the policy gives up.
func (c *Cache) victim(base int, set uint64) int {
	if c.cfg.Replacement == LRU { // an empty way has no stamp
		// Stamp and way make one key, so that no branch depends on the order.
		oldest := ^uint64(0)
		for w, u := range c.use[base : base+c.cfg.Ways] {
			oldest = min(oldest, u<<wayBits|uint64(w))
		}
		return int(oldest & (1<<wayBits - 1))
	}
	for w, tag := range c.tag[base : base+c.cfg.Ways] {
		if tag == noTag {
			return w
		}
	}
	w, n := 0, 1
	for half := c.cfg.Ways >> 1; half > 0; half >>= 1 {
		n <<= 1
		if c.tree[set]>>(n>>1)&1 != 0 {
			w |= half
			n++
		}
	}
	return w
}

// Clean writes every dirty line back and answers when the last is accepted.
func (c *Cache) Clean(t sim.Time) sim.Time {
	done := t
	for i := range c.line {
		l := &c.line[i]
		if l.flags&lineDirty == 0 || c.tag[i] == noTag {
			continue
		}
		l.flags &^= lineDirty
		c.count[CacheWriteBack]++
		d, _ := c.next.Access(max(t, l.ready), c.tag[i]<<c.lineShift, c.cfg.LineBytes, Write)
		done = max(done, d)
	}
	return done
}

// Drop takes the lines that hold n bytes at addr out of the cache; what was
// written to them is lost unless cleaned before. It answers whether there were
// any.
func (c *Cache) Drop(addr uint64, n int) (dropped bool) {
	for ln := addr >> c.lineShift; ln <= (addr+uint64(n)-1)>>c.lineShift; ln++ {
		if c.held[ln&uint64(len(c.held)-1)] == 0 {
			continue
		}
		base := int(ln&c.setMask) * c.cfg.Ways
		if w := c.find(ln, base); w >= 0 {
			c.empty(base + w)
			dropped = true
		}
	}
	return dropped
}

// Invalidate drops every line; dirty ones are lost unless cleaned before.
func (c *Cache) Invalidate() {
	for i := range c.tag {
		c.empty(i)
	}
	clear(c.tree)
}
