package cache

import (
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
	"github.com/nnsoc/nnsoc/sim/mem/interconnect"
	"github.com/nnsoc/nnsoc/sim/mem/internal/model"
)

// Events a cache counts.
const (
	ReadLookup = iota // lines looked up by reads
	WriteLookup
	ReadMiss
	WriteMiss
	Merged // lookups that found their line still in flight
	Fill   // lines fetched, prefetches included
	PrefetchFill
	LineWriteBack
	MSHRFull // misses that waited for an MSHR
	numEvents
)

var events = [numEvents]string{
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
	cfg  Config
	next mem.Level

	table
	tree []uint64 // PLRU bits of a set

	cache   *Cache             // the next level, when it is a cache
	port    *interconnect.Port // the next level, when it is a port of the bus of a DRAM
	delay   sim.Time           // of a read on the way to the next level
	lower   *Cache             // the same of a write-through cache, when WriteThrough can serve both
	narrow  uint               // that both transfer in one cycle
	clean   bool               // behind serves misses, for which the cache waits for no entry; a line costs a cycle
	through through

	bankFree []sim.Time
	mshr     instants // when each entry is free again; all 0 without a limit
	regions  uint64   // bit per region of memory, modulo 64: clear when it has had no line here
	stamp    uint64   // grows whenever something may have changed
	lru      bool
	plain    bool      // LRU without a prefetcher
	quick    [4]uint64 // by kind: bytes that Access can serve at once, 0: none

	hit, fill sim.Time
	cycle     sim.Time // for which an access of at most BytesPerCycle occupies its bank
	lineShift uint
	lineMask  uint64 // LineBytes - 1
	count     [numEvents]int64
}

// regionLines is the size of a region in lines.
const regionLines = 256

// New builds a cache in front of next.
func New(cfg Config, next mem.Level) (*Cache, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	lines := cfg.Bytes / cfg.LineBytes
	c := &Cache{
		cfg: cfg, next: next,
		tree:      make([]uint64, lines/cfg.Ways),
		bankFree:  make([]sim.Time, cfg.Banks),
		mshr:      newInstants(max(cfg.MSHRs, 1)),
		lru:       cfg.Replacement == LRU,
		lineShift: model.Log2(cfg.LineBytes),
		lineMask:  uint64(cfg.LineBytes - 1),
	}
	c.table.init(lines/cfg.Ways, cfg.Ways, cfg.HashSets)
	if c.lru {
		c.quick[mem.Read], c.quick[mem.Prefetch] = uint64(cfg.BytesPerCycle), uint64(cfg.BytesPerCycle)
		if cfg.Write == WriteBack {
			c.quick[mem.Write] = uint64(cfg.BytesPerCycle)
		}
	}
	c.plain = c.lru && cfg.Prefetch == PrefetchNone
	if p, ok := next.(*mem.Path); ok {
		c.next, c.delay = p.Next, p.Delay
	}
	if q, ok := c.next.(*interconnect.Port); ok && q.Serves(cfg.LineBytes) {
		c.port = q
	}
	b, ok := next.(*Cache)
	c.cache = b
	if ok && c.plain && cfg.Write == WriteThrough && b.cfg.Write == WriteBack && b.cfg.Replacement == LRU &&
		b.cfg.LineBytes >= cfg.LineBytes {
		c.lower, c.narrow = b, uint(min(cfg.BytesPerCycle, b.cfg.BytesPerCycle))
		c.clean = cfg.MSHRs == 0 && cfg.BytesPerCycle >= cfg.LineBytes
	}
	c.Retime(cfg.Hz)
	c.Clear()
	return c, nil
}

// Config is the configuration the cache was built with.
func (c *Cache) Config() Config { return c.cfg }

// Retime sets the clock; latencies keep their cycles.
func (c *Cache) Retime(hz int64) {
	c.cfg.Hz = hz
	c.hit = model.Period(c.cfg.HitCycles, hz)
	c.fill = model.Period(c.cfg.FillCycles, hz)
	c.cycle = model.Period(1, hz)
	if all := c.cfg.Banks * c.cfg.BytesPerCycle; c.cfg.Rate > 0 && c.cfg.Rate < all {
		// Banks whose bandwidth together exceeds Rate are busy for longer.
		c.cycle = c.cycle * sim.Time(all) / sim.Time(c.cfg.Rate)
	}
}

// Reset implements Level: empty and clean, without writing anything back, and
// so is every level behind.
func (c *Cache) Reset() {
	c.Clear()
	c.next.Reset()
}

// Clear empties the cache at time 0 as Reset does, and leaves the levels behind
// as they are.
func (c *Cache) Clear() {
	c.table.clear()
	clear(c.tree)
	clear(c.bankFree)
	c.mshr.clear()
	c.stamp, c.regions = 0, 0
	c.through = through{}
	c.count = [numEvents]int64{}
}

// Quiesce keeps the lines and begins again at time 0: nothing is in flight, every
// bank is free, and the counters are 0. A core calls it between two runs whose
// times both count from 0.
func (c *Cache) Quiesce() {
	for i := range c.lines {
		c.lines[i].ready = 0
	}
	clear(c.bankFree)
	c.mshr.clear()
	c.stamp++
	c.through = through{}
	c.count = [numEvents]int64{}
}

// Count is the number of events of a kind since Reset, such as Fill.
func (c *Cache) Count(event int) int64 { return c.count[event] }

// Events are numbers of events of each kind.
type Events [numEvents]int64

// Events are the events since Reset.
func (c *Cache) Events() Events { return c.count }

// Add counts events that were not simulated.
func (c *Cache) Add(e Events) {
	for i, n := range e {
		c.count[i] += n
	}
}

// Forward fetches or writes back a line of the level behind as a miss or an eviction does, and counts that, but
// leaves the cache's own lines as they are.
func (c *Cache) Forward(t sim.Time, line uint64, k mem.Kind) {
	if k == mem.Write {
		c.writeBack(t, line)
		return
	}
	c.count[Fill]++
	c.next.Access(t, line<<(c.lineShift&63), c.cfg.LineBytes, mem.Read)
}

// Install allocates a way for a written line. Nothing is counted, timed or moved: the evicted line is lost.
func (c *Cache) Install(line uint64) {
	set := c.setOf(line)
	at := c.find(set, line)
	switch {
	case at != c.none:
		c.touch(at)
	case c.lru:
		at = c.evict(set)
	default:
		at = c.pointed(set)
	}
	c.name(at, set, line)
	c.regions |= 1 << (line / regionLines & 63)
	c.lines[at].ready, c.lines[at].from, c.lines[at].flags = 0, c.cfg.Reason, lineDirty
	c.stamp++
}

// Counters are the events since Reset, named after the cache.
func (c *Cache) Counters() []sim.Counter {
	return model.Counted(c.cfg.Name, events[:], c.count[:])
}

// Access implements Level. A read is done when its last line is; a write when
// every line is in the cache or its miss is registered.
func (c *Cache) Access(t sim.Time, addr uint64, bytes int, k mem.Kind) (sim.Time, sim.Reason) {
	last := uint64(bytes - 1)
	if last > c.lineMask-addr&c.lineMask {
		return c.parts(t, addr, bytes, k)
	}
	// The fast path of serve where one cycle of a bank is enough.
	if last < c.quick[k&3] {
		ln := addr >> (c.lineShift & 63)
		set := c.setOf(ln)
		at := c.find(set, ln)
		bank := &c.bankFree[ln&uint64(len(c.bankFree)-1)]
		if at == c.none {
			if c.plain {
				start := max(t, *bank)
				*bank = start + c.cycle
				c.count[k&1]++
				c.count[ReadMiss+k&1]++
				if k == mem.Write {
					start, _, _ = c.allocate(start+c.hit, ln, set, last != c.lineMask, lineDirty)
					return start, c.cfg.Reason
				}
				_, ready, from := c.allocate(start+c.hit, ln, set, true, 0)
				return ready, from
			}
		} else if l := &c.lines[at]; l.flags&linePrefetched == 0 {
			done := max(t, *bank)
			*bank = done + c.cycle
			done += c.hit
			c.count[k&1]++ // ReadLookup or WriteLookup
			c.stamp++
			c.use(at, set)
			if k == mem.Write {
				l.flags |= lineDirty
			} else if l.ready > done {
				c.count[Merged]++
				return l.ready, l.from
			}
			return done, c.cfg.Reason
		}
	}
	return c.serve(t, addr, bytes, k)
}

// ReadLine is Access for a read of the line at addr: in one step where the cache has nothing to write back.
func (c *Cache) ReadLine(t sim.Time, addr uint64) (sim.Time, sim.Reason) {
	if !c.clean {
		return c.Access(t, addr, c.cfg.LineBytes, mem.Read)
	}
	ln := addr >> (c.lineShift & 63)
	set := c.setOf(ln)
	bank := &c.bankFree[ln&uint64(len(c.bankFree)-1)]
	t = max(t, *bank)
	*bank = t + c.cycle
	t += c.hit
	c.count[ReadLookup]++
	c.stamp++
	if at := c.find(set, ln); at != c.none {
		c.use(at, set)
		if l := &c.lines[at]; l.ready > t {
			c.count[Merged]++
			return l.ready, l.from
		}
		return t, c.cfg.Reason
	}
	c.count[ReadMiss]++
	c.count[Fill]++
	t, from := c.lower.Access(t, addr, c.cfg.LineBytes, mem.Read)
	t += c.fill
	c.regions |= 1 << (ln / regionLines & 63)
	l := c.replace(set, ln)
	l.ready, l.from = t, from
	return t, from
}

// serve is Access within one line.
func (c *Cache) serve(t sim.Time, addr uint64, bytes int, k mem.Kind) (sim.Time, sim.Reason) {
	ln := addr >> (c.lineShift & 63)
	bank := &c.bankFree[ln&uint64(len(c.bankFree)-1)]
	t = max(t, *bank)
	at := c.find(c.setOf(ln), ln)
	busy := c.cycle
	if bytes > c.cfg.BytesPerCycle {
		busy *= sim.Time((bytes + c.cfg.BytesPerCycle - 1) / c.cfg.BytesPerCycle)
	}
	*bank = t + busy
	done := t + c.hit + busy - c.cycle
	if at != c.none {
		c.touch(at)
		if l := &c.lines[at]; l.flags&linePrefetched != 0 {
			l.flags &^= linePrefetched
			c.prefetchAfter(t, ln)
		}
	}
	if k == mem.Write {
		c.count[WriteLookup]++
		return c.write(t, done, at, addr, bytes)
	}
	c.count[ReadLookup]++
	if at == c.none {
		return c.readMiss(t, done, ln)
	}
	if l := &c.lines[at]; l.ready > done {
		c.count[Merged]++
		return l.ready, l.from
	}
	return done, c.cfg.Reason
}

// write applies the write policy to a write to a line at an index, none when it is absent.
func (c *Cache) write(t, done sim.Time, at uint32, addr uint64, n int) (sim.Time, sim.Reason) {
	switch {
	case at == c.none:
		c.count[WriteMiss]++
		if c.cfg.Write == WriteBack {
			return c.writeMiss(t, done, addr>>(c.lineShift&63), n), c.cfg.Reason
		}
	case c.cfg.Write == WriteBack:
		c.lines[at].flags |= lineDirty
		return done, c.cfg.Reason
	case c.cfg.Write == ReadOnly:
		c.empty(at)
	}
	return c.next.Access(done, addr, n, mem.Write)
}

// parts serves an access that is not within one line: line by line, or not at
// all when it has no bytes.
func (c *Cache) parts(t sim.Time, addr uint64, bytes int, k mem.Kind) (sim.Time, sim.Reason) {
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
	} else {
		c.use(at, uint64(at/c.ways))
	}
}

// empty removes a line.
func (c *Cache) empty(at uint32) {
	if c.lines[at].tag != noTag {
		c.stamp++
		c.table.empty(at)
	}
}

// writeMiss allocates a way for a written line and returns when its miss is registered. A write of the whole line does
// not fetch it.
func (c *Cache) writeMiss(t, done sim.Time, ln uint64, bytes int) sim.Time {
	start, _, _ := c.allocate(done, ln, c.setOf(ln), bytes != c.cfg.LineBytes, lineDirty)
	if c.cfg.Prefetch != PrefetchNone {
		c.prefetchAfter(t, ln)
	}
	return start
}

// readMiss fetches a line. The miss is known when the tags have been read: the
// hit latency.
func (c *Cache) readMiss(t, done sim.Time, ln uint64) (sim.Time, sim.Reason) {
	c.count[ReadMiss]++
	_, ready, from := c.allocate(done, ln, c.setOf(ln), true, 0)
	if c.cfg.Prefetch != PrefetchNone {
		c.prefetchAfter(t, ln)
	}
	return ready, from
}

// allocate allocates a way for line ln: it waits for an MSHR, evicts the victim and, when fetch is set, reads the line
// from the next level. It returns when the MSHR was allocated, when the line is there, and who served it.
func (c *Cache) allocate(t sim.Time, ln, set uint64, fetch bool, flags uint8) (start, ready sim.Time, from sim.Reason) {
	if free := c.mshr.first(); free > t {
		c.count[MSHRFull]++
		t = free
	}
	var at uint32
	if c.lru {
		at = c.evict(set)
	} else {
		at = c.pointed(set)
	}
	l := &c.lines[at]
	ready, from = t, c.cfg.Reason
	if fetch {
		if addr := ln << (c.lineShift & 63); c.port != nil {
			ready = c.port.Read(t, addr, c.cfg.LineBytes)
			from = sim.StallDRAM
		} else if c.cache != nil {
			ready, from = c.cache.Access(t, addr, c.cfg.LineBytes, mem.Read)
		} else {
			ready, from = c.next.Access(t, addr, c.cfg.LineBytes, mem.Read)
		}
		ready += c.delay + c.fill
		c.count[Fill]++
	}
	release := ready
	if l.flags&lineDirty != 0 {
		// The victim leaves after its own fill has arrived, behind the new fetch.
		if at, addr := max(t, l.ready), l.tag<<(c.lineShift&63); c.port != nil {
			c.count[LineWriteBack]++
			at = c.port.Write(at, addr, c.cfg.LineBytes)
			release = max(release, at)
		} else {
			release = max(release, c.writeBack(at, l.tag))
		}
	}
	if c.cfg.MSHRs > 0 {
		c.mshr.replace(release)
	}
	c.name(at, set, ln)
	c.regions |= 1 << (ln / regionLines & 63)
	l.ready, l.from, l.flags = ready, from, flags
	c.stamp++
	return t, ready, from
}

// writeBack writes a line to the next level and returns when that has accepted it.
func (c *Cache) writeBack(t sim.Time, ln uint64) (done sim.Time) {
	c.count[LineWriteBack]++
	addr := ln << (c.lineShift & 63)
	if c.port != nil {
		return c.port.Write(t, addr, c.cfg.LineBytes)
	}
	done, _ = c.next.Access(t, addr, c.cfg.LineBytes, mem.Write)
	return done
}

// prefetchAfter fetches the lines after ln that are absent.
func (c *Cache) prefetchAfter(t sim.Time, ln uint64) {
	for d := 1; d <= c.cfg.PrefetchDegree; d++ {
		c.prefetch(t, ln+uint64(d))
	}
}

func (c *Cache) prefetch(t sim.Time, ln uint64) {
	set := c.setOf(ln)
	if c.find(set, ln) != c.none {
		return
	}
	// A prefetch never waits: without a free MSHR it is dropped.
	if c.mshr.first() <= t {
		c.allocate(t, ln, set, true, linePrefetched)
		c.count[PrefetchFill]++
	}
}

// point lets the tree of the set of the line at an index point away from it:
// node n has children 2n and 2n+1.
func (c *Cache) point(at uint32) {
	set, w := at/c.ways, at%c.ways
	tree := &c.tree[set]
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

// pointed points away from an empty line of a set, else from the one that the tree points to, and returns it.
func (c *Cache) pointed(set uint64) uint32 {
	first := uint32(set) * c.ways
	w, n, tree := uint32(0), 1, c.tree[set]
	for half := c.ways >> 1; half > 0; half >>= 1 {
		n <<= 1
		if tree>>(n>>1)&1 != 0 {
			w |= half
			n++
		}
	}
	for i := range c.ways {
		if c.lines[first+i].tag == noTag {
			w = i
			break
		}
	}
	c.point(first + w)
	return first + w
}

// Clean writes every dirty line back and returns when the last is accepted.
func (c *Cache) Clean(t sim.Time) sim.Time {
	done := t
	c.stamp++
	for at := range c.lines {
		if l := &c.lines[at]; l.flags&lineDirty != 0 {
			l.flags &^= lineDirty
			done = max(done, c.writeBack(max(t, l.ready), l.tag))
		}
	}
	return done
}

// Drop invalidates the lines of n bytes at addr; data written to them is lost unless cleaned before. It reports whether
// there were any.
func (c *Cache) Drop(addr uint64, n int) (dropped bool) {
	ln, last := addr>>(c.lineShift&63), (addr+uint64(n)-1)>>(c.lineShift&63)
	if (c.regions>>(ln/regionLines&63)|c.regions>>(last/regionLines&63))&1 == 0 && last-ln < regionLines {
		return false
	}
	for ; ln <= last; ln++ {
		if at := c.find(c.setOf(ln), ln); at != c.none {
			c.empty(at)
			dropped = true
		}
	}
	return dropped
}

// Flush writes back the dirty lines among those of n bytes at addr and drops all of them, as Drop does. It returns when
// the last is accepted.
func (c *Cache) Flush(t sim.Time, addr uint64, n int) sim.Time {
	done := t
	for ln, last := addr>>(c.lineShift&63), (addr+uint64(n)-1)>>(c.lineShift&63); ln <= last; ln++ {
		if at := c.find(c.setOf(ln), ln); at != c.none && c.lines[at].flags&lineDirty != 0 {
			done = max(done, c.writeBack(max(t, c.lines[at].ready), ln))
		}
	}
	c.Drop(addr, n)
	return done
}

// Copy makes the lines equal to those of another cache of the same configuration, with nothing in flight.
func (c *Cache) Copy(o *Cache) {
	copy(c.lines, o.lines)
	copy(c.sets, o.sets)
	copy(c.tree, o.tree)
	c.regions = o.regions
	c.Quiesce()
}

// Fingerprint distinguishes states of the cache: which lines it holds, in which order they were used, and which are
// dirty.
func (c *Cache) Fingerprint() uint64 {
	h := uint64(model.FNVBasis)
	for set := range c.sets {
		order := c.sets[set].order
		for range c.ways {
			l := &c.lines[uint32(set)*c.ways+uint32(order.Way(0))]
			h = model.Mixed(h, l.tag<<8|uint64(l.flags))
			order >>= 4
		}
		h = model.Mixed(h, c.tree[set])
	}
	return h
}

// Invalidate drops every line; dirty ones are lost unless cleaned before.
func (c *Cache) Invalidate() {
	c.stamp++
	c.table.clear()
	clear(c.tree)
	c.regions = 0
}
