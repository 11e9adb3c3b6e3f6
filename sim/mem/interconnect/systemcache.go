package interconnect

import (
	"cmp"
	"math/bits"

	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
	"github.com/nnsoc/nnsoc/sim/mem/dram"
	"github.com/nnsoc/nnsoc/sim/mem/internal/lru"
	"github.com/nnsoc/nnsoc/sim/mem/internal/model"
)

// Events that a system cache counts, for each master: lines that it looked up, and
// lines that moved because of it.
const (
	SystemReadHit = iota
	SystemReadMiss
	SystemWriteHit
	SystemWriteMiss
	SystemFill      // lines fetched from DRAM
	SystemWriteBack // lines written to DRAM, counted for the master that had written them
	numSystemEvents
)

var systemEvents = [numSystemEvents]string{"read_hit", "read_miss", "write_hit", "write_miss", "fill", "write_back"}

// SystemCache is the last cache in front of a DRAM, on the memory's side of a bus. It is write-back, LRU, and caches
// for each master the accesses that its Allocation allows. It implements Level.
//
// An access goes to the bank of its address, which it occupies as long as its bytes need. The data of a hit is there
// HitCycles later. A miss is passed to the DRAM when the bank accepts it: the tag lookup is part of the DRAM's
// RequestLatency, so that a miss has the latency of a system without a cache. Consecutive lines that miss are one
// request to the DRAM. A miss needs no MSHR: masters limit their accesses in flight.
type SystemCache struct {
	cfg    SystemCacheConfig
	next   mem.Level
	dram   *dram.DRAM // next, when it is that
	master int        // of the access under way

	sets     []lineSet
	ways     []lineWay // way by way, so that consecutive lines are neighbours
	joined   []uint16  // by group of sets: the sets of a block
	bankFree []sim.Time
	count    [dram.MaxMasters][numSystemEvents]int64
	bytes    [dram.MaxMasters]int64   // that the arrays have read or written at the present clock
	spentPJ  [dram.MaxMasters]float64 // at earlier ones
	passed   [dram.MaxMasters]int64   // bytes of accesses
	bytePJ   float64

	clocking SystemClocking
	due      sim.Time // when that is asked next

	blocked    sim.Time // the write-backs of the present access wait for space in the memory
	hit, cycle sim.Time
	beats      int      // bytes of the last access
	busy       sim.Time // for which they occupy a bank
	lineShift  uint
	lineMask   uint64
	setMask    uint64
	setShift   uint      // bits of a set's index
	groupShift uint      // log2 of the sets of a group
	unused     lru.Order // order of a set that gets its first line
	bankShift  uint
	limits     [dram.MaxMasters]Allocation

	region  uint64          // of the last line
	number  uint64          // of that region
	regions [regions]uint64 // plus 1, 0: none
	moved   bool            // lines have been filled since Quiesce
	changed bool            // since fingerprint
	print   uint64
}

// NewSystemCache builds a system cache in front of next.
func NewSystemCache(cfg SystemCacheConfig, next mem.Level) (*SystemCache, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	lines := cfg.Bytes / cfg.LineBytes
	c := &SystemCache{
		cfg: cfg, next: next, bankFree: make([]sim.Time, cfg.Banks),
		sets: make([]lineSet, lines/cfg.Ways), ways: make([]lineWay, lines),
		unused: unusedOrder & (1<<(4*cfg.Ways) - 1), due: sim.Never,
		lineShift: model.Log2(cfg.LineBytes), lineMask: uint64(cfg.LineBytes - 1),
		setMask: uint64(lines/cfg.Ways - 1), setShift: model.Log2(lines / cfg.Ways), bankShift: model.Log2(cfg.BankBytes),
	}
	c.groupShift = min(c.bankShift-c.lineShift, c.setShift)
	c.joined = make([]uint16, len(c.sets)>>c.groupShift)
	copy(c.limits[:], cfg.Masters)
	c.dram, _ = next.(*dram.DRAM)
	c.retime(SystemClock{cfg.Hz, cfg.Energy.BytePJ})
	c.clear()
	return c, nil
}

// Config is the configuration the cache was built with.
func (c *SystemCache) Config() SystemCacheConfig { return c.cfg }

// Reset implements Level: empty and clean, without writing anything back, and so is the
// level behind.
func (c *SystemCache) Reset() {
	c.clear()
	c.next.Reset()
}

func (c *SystemCache) clear() {
	c.joinAll()
	c.moved, c.changed = false, true
	c.Quiesce()
}

// Quiesce keeps the lines and begins again at time 0: nothing is in flight, every bank
// is free, and the counters are 0. The level behind is left as it is.
func (c *SystemCache) Quiesce() {
	if c.moved {
		c.eachSet(func(set uint64, s *lineSet, more uint64) {
			if more == 0 {
				for held := s.held & lru.EveryWay; held != 0; held &= held - 1 {
					c.ways[c.index(set, uint64(bits.TrailingZeros64(held))/4)].ready = 0
				}
				s.held &= lru.EveryWay
			}
		})
		c.moved = false
	}
	clear(c.bankFree)
	c.count = [dram.MaxMasters][numSystemEvents]int64{}
	c.bytes, c.passed = [dram.MaxMasters]int64{}, [dram.MaxMasters]int64{}
	c.spentPJ = [dram.MaxMasters]float64{}
}

// Count is the number of events of a kind that a master has caused since Reset, such
// as SystemReadHit.
func (c *SystemCache) Count(master, event int) int64 { return c.count[master][event] }

// Counters are the events of all masters since Reset, named after the cache.
func (c *SystemCache) Counters() []sim.Counter {
	var sum [numSystemEvents]int64
	for i := range c.count {
		for e, n := range c.count[i] {
			sum[e] += n
		}
	}
	return model.Counted(c.cfg.Name, systemEvents[:], sum[:])
}

// Energy implements Powered: the cache's and that of the memory behind.
func (c *SystemCache) Energy() (dynamicPJ, backgroundMW float64) {
	pj, mw := mem.EnergyOf(c.next)
	for master := range c.bytes {
		pj += c.OwnPJ(master)
	}
	return pj, mw + c.cfg.Energy.StaticMW
}

// OwnPJ is the dynamic energy of the cache alone that a master has caused.
func (c *SystemCache) OwnPJ(master int) float64 {
	return c.spentPJ[master] + float64(c.bytes[master])*c.bytePJ
}

// Passed is the bytes that a master has read and written since Reset, found or not.
func (c *SystemCache) Passed(master int) int64 { return c.passed[master] }

// SystemClock is an operating point of a system cache.
type SystemClock struct {
	Hz     int64
	BytePJ float64 // at its voltage
}

// SystemClocking changes the clock of a system cache as time passes.
type SystemClocking interface {
	// SystemClock returns the clock from an instant on and when to query it next. Accesses
	// from then on use it.
	SystemClock(at sim.Time) (c SystemClock, next sim.Time)
}

// Start sets the cache's clock at time 0. From the instant first on clocking is queried.
func (c *SystemCache) Start(k SystemClock, clocking SystemClocking, first sim.Time) {
	c.retime(k)
	c.clocking, c.due = clocking, first
}

// Due lets SystemClocking be queried for an instant, unless it is queried sooner.
func (c *SystemCache) Due(at sim.Time) { c.due = min(c.due, at) }

// reclock queries the clocks that have become due at t. It is called seldom.
//
//go:noinline
func (c *SystemCache) reclock(t sim.Time) {
	for t >= c.due {
		at := c.due
		k, next := c.clocking.SystemClock(at)
		c.due = max(next, at+1)
		c.retime(k)
	}
}

func (c *SystemCache) retime(k SystemClock) {
	if c.cycle != 0 && k.Hz == c.cfg.Hz {
		return
	}
	for master, n := range c.bytes {
		c.spentPJ[master] += float64(float64(n) * c.bytePJ)
	}
	c.bytes = [dram.MaxMasters]int64{}
	c.cfg.Hz, c.bytePJ = k.Hz, k.BytePJ
	c.hit, c.cycle = model.Period(c.cfg.HitCycles, k.Hz), model.Period(1, k.Hz)
	c.beats, c.busy = 0, 0
}

// Fingerprint identifies the state of the cache: which lines it holds for which master, in
// which order they were used, and which are dirty.
func (c *SystemCache) Fingerprint() uint64 {
	if c.changed {
		h := uint64(model.FNVBasis)
		c.eachSet(func(set uint64, s *lineSet, more uint64) {
			if s.held == 0 {
				return
			}
			h = model.Mixed(h, set)
			order := s.order
			for range c.cfg.Ways {
				w := order.Way(0)
				order >>= 4
				line := uint64(0) // that and 1 more
				if s.held>>(4*w)&1 != 0 {
					line = c.ways[c.index(set-more, w)].line + more + 1
				}
				h = model.Mixed(h, line<<5|s.owners>>(4*w)&15<<1|s.dirty>>(4*w)&1)
			}
		})
		c.print, c.changed = h, false
	}
	return c.print
}

// Access implements Level. A read is done when its last byte is, a write when the bank
// has accepted it.
func (c *SystemCache) Access(t sim.Time, addr uint64, bytes int, k mem.Kind) (sim.Time, sim.Reason) {
	if t >= c.due {
		c.reclock(t)
	}
	c.passed[c.master] += int64(bytes)
	done, from := t, sim.StallSystemCache
	for bytes > 0 {
		n := min(bytes, c.cfg.BankBytes-int(addr&uint64(c.cfg.BankBytes-1)))
		bank := &c.bankFree[addr>>(c.bankShift&63)&uint64(len(c.bankFree)-1)]
		start := max(t, *bank)
		if n != c.beats { // a division is slow
			c.beats, c.busy = n, sim.Time((n+c.cfg.BytesPerCycle-1)/c.cfg.BytesPerCycle)*c.cycle
		}
		*bank = start + c.busy
		var d sim.Time
		if k == mem.Write {
			d = c.write(start, *bank, addr, n)
		} else {
			var f sim.Reason
			d, f = c.read(start, addr, n)
			from = max(from, f)
		}
		if c.blocked > 0 {
			*bank += c.blocked
			if c.blocked = 0; k == mem.Write { // its lines have no place before
				d = max(d, *bank)
			}
		}
		done = max(done, d)
		addr += uint64(n)
		bytes -= n
	}
	return done, from
}

// read serves bytes of one bank, which they occupy from start on: hits from the arrays, runs of lines that miss from
// the memory behind.
func (c *SystemCache) read(start sim.Time, addr uint64, n int) (done sim.Time, from sim.Reason) {
	count := &c.count[c.master]
	from = sim.StallSystemCache
	end := addr + uint64(n)
	last := (end - 1) >> (c.lineShift & 63)
	run := addr // where lines that miss begin
	served := false
	for at := addr; at < end; {
		ln := at >> (c.lineShift & 63)
		lines := c.block(ln, last)
		next := (ln + lines) << (c.lineShift & 63)
		if i := c.find(ln); i >= 0 {
			count[SystemReadHit] += int64(lines)
			c.bytes[c.master] += int64(min(end, next) - at)
			served = true
			done = max(done, c.ready(i, start))
			if run < at {
				done, from = c.fetch(start, run, at, done), sim.StallDRAM
			}
			run = next
		} else {
			count[SystemReadMiss] += int64(lines)
		}
		at = next
	}
	if run < end {
		done, from = c.fetch(start, run, end, done), sim.StallDRAM
	}
	if served {
		if hit := start + c.hit + c.busy; hit > done {
			done = hit
		} else {
			from = sim.StallDRAM // a line that was still on its way
		}
	}
	return done, from
}

// fetch reads a range of lines that are absent, keeps them if it may, and returns when
// they are there, not before done.
func (c *SystemCache) fetch(t sim.Time, from, to uint64, done sim.Time) sim.Time {
	a := &c.limits[c.master]
	if !a.Reads || a.Ways == 0 {
		return max(done, c.nextLevel(t, from, int(to-from), mem.Read, c.master))
	}
	from &^= c.lineMask // whole lines
	to = (to + c.lineMask) &^ c.lineMask
	ready := c.nextLevel(t, from, int(to-from), mem.Read, c.master)
	last := to>>(c.lineShift&63) - 1
	for ln := from >> (c.lineShift & 63); ln <= last; {
		lines := c.block(ln, last)
		c.insert(ready, ln, lines, false)
		ln += lines
	}
	c.count[c.master][SystemFill] += int64((to - from) >> (c.lineShift & 63))
	c.bytes[c.master] += int64(to - from)
	return max(done, ready)
}

// write accepts bytes at one bank, which has them at an instant.
func (c *SystemCache) write(start, taken sim.Time, addr uint64, n int) (done sim.Time) {
	a := &c.limits[c.master]
	count := &c.count[c.master]
	keep := a.Writes && a.Ways > 0
	end := addr + uint64(n)
	run := addr // where bytes that are not kept begin
	done = taken
	for at := addr; at < end; {
		ln, ended := at>>(c.lineShift&63), end>>(c.lineShift&63)
		part := at&c.lineMask != 0 || ln == ended
		lines := uint64(1)
		if part {
			c.block(ln, ln)
		} else {
			lines = c.block(ln, ended-1)
		}
		next := (ln + lines) << (c.lineShift & 63)
		i := c.find(ln)
		if i < 0 && !keep {
			count[SystemWriteMiss] += int64(lines)
			at = next
			continue
		}
		if run < at {
			done = max(done, c.nextLevel(taken, run, int(at-run), mem.Write, c.master))
		}
		run = next
		c.bytes[c.master] += int64(min(end, next) - at)
		at = next
		if i >= 0 {
			count[SystemWriteHit] += int64(lines)
			c.soil(i)
			continue
		}
		count[SystemWriteMiss] += int64(lines)
		ready := taken
		if part { // the rest of the line
			count[SystemFill]++
			c.bytes[c.master] += int64(c.cfg.LineBytes)
			ready = c.nextLevel(start, ln<<(c.lineShift&63), c.cfg.LineBytes, mem.Read, c.master)
		}
		c.insert(ready, ln, lines, true)
	}
	if run < end {
		done = max(done, c.nextLevel(taken, run, int(end-run), mem.Write, c.master))
	}
	return done
}

// nextLevel accesses the memory that serves the cache's misses, for a master.
func (c *SystemCache) nextLevel(t sim.Time, addr uint64, n int, k mem.Kind, master int) sim.Time {
	if c.dram != nil {
		c.dram.Master = master
		if c.dram.IsChunk(addr, n) {
			if k == mem.Write {
				return c.dram.Write(t, addr, n)
			}
			return c.dram.Read(t, addr, n)
		}
	}
	done, _ := c.next.Access(t, addr, n, k)
	return done
}

// find returns the index of the way of line ln, the first of a block, made the most recently
// used of its set, -1 when it is absent.
func (c *SystemCache) find(ln uint64) int {
	set := ln & c.setMask
	s := &c.sets[set]
	sign := lru.Sign(ln >> (c.setShift & 63))
	if s.signs.Match(0, sign)|s.signs.Match(1, sign)|s.signs.Match(2, sign)|s.signs.Match(3, sign) == 0 {
		return -1
	}
	region := c.regionOf(ln)
	sure := region < regions
	for i := range s.signs {
		for match := s.signs.Match(i, sign); match != 0; match &= match - 1 {
			w := uint64(i*4 + bits.TrailingZeros64(match)/16)
			at := c.index(set, w)
			if s.held>>(4*w)&1 != 0 && s.dirty>>(4*w+1)&7 == region && (sure || c.ways[at].line == ln) {
				c.changed = s.use(w) || c.changed
				return at
			}
			sure = false // later lines of the word may be wrong
		}
	}
	return -1
}

// regionOf is the number of the region of a line, regions for one without.
func (c *SystemCache) regionOf(ln uint64) uint64 {
	region := ln>>(c.setShift&63)>>16 + 1
	if region != c.region {
		c.region, c.number = region, c.numbered(region)
	}
	return c.number
}

// numbered finds the number of a region, or assigns one.
//
//go:noinline
func (c *SystemCache) numbered(region uint64) uint64 {
	for i, r := range c.regions {
		if r == region || r == 0 {
			c.regions[i] = region
			return uint64(i)
		}
	}
	return regions
}

// ready is when the line of the way at an index is there, 0 when that is not after start. A bank serves accesses one
// after the other, so a line that one of them finds there is there for all that follow, without a look at its way.
func (c *SystemCache) ready(i int, start sim.Time) sim.Time {
	s, bit := &c.sets[uint64(i)&c.setMask], uint64(coming)<<(i>>(c.setShift&63)*4&63)
	if s.held&bit == 0 {
		return 0
	}
	ready := c.ways[i].ready
	if ready <= start {
		s.held &^= bit
	}
	return ready
}

// index is where the line of a way is.
func (c *SystemCache) index(set, way uint64) int { return int(way<<(c.setShift&63) | set) }

// soil makes the line of the way at an index dirty.
func (c *SystemCache) soil(i int) {
	s, bit := &c.sets[uint64(i)&c.setMask], uint64(1)<<(i>>(c.setShift&63)*4&63)
	c.changed = c.changed || s.dirty&bit == 0
	s.dirty |= bit
}

// insert puts a block of lines from ln on, which are absent, in the places of the least recently used ones that the
// master may replace: its own when it has reached its limit, else any.
func (c *SystemCache) insert(ready sim.Time, ln, lines uint64, dirty bool) {
	set := ln & c.setMask
	s := &c.sets[set]
	s.order = cmp.Or(s.order, c.unused)
	at := 4*c.cfg.Ways - 4
	w := s.order.Way(at)
	if limit := c.limits[c.master].Ways; limit < c.cfg.Ways {
		if own := s.own(uint64(c.master)); bits.OnesCount64(own) >= limit {
			for own>>(4*w)&1 == 0 {
				at -= 4
				w = s.order.Way(at)
			}
		}
	}
	way, bit := &c.ways[c.index(set, w)], uint64(1)<<(4*w&63)
	if s.dirty&bit != 0 {
		c.writeBack(max(ready, way.ready), way.line, lines, int(s.owners>>(4*w)&15))
	}
	s.order = s.order.Front(w, at)
	s.held |= bit | coming*bit
	s.dirty = s.dirty&^(15*bit) | c.regionOf(ln)<<1*bit
	if dirty {
		s.dirty |= bit
	}
	s.owners = s.owners&^(15*bit) | uint64(c.master)*bit
	s.signs.Set(w, ln>>(c.setShift&63))
	way.line, way.ready = ln, ready
	c.changed, c.moved = true, true
}

// writeBack writes lines from ln on that leave to the memory behind, one after the other.
func (c *SystemCache) writeBack(t sim.Time, ln, lines uint64, owner int) {
	c.count[owner][SystemWriteBack] += int64(lines)
	c.bytes[owner] += int64(lines) << (c.lineShift & 63)
	addr, n := ln<<(c.lineShift&63), c.cfg.LineBytes
	if c.dram == nil {
		for range lines {
			c.nextLevel(t, addr, n, mem.Write, owner)
			addr += uint64(n)
		}
		return
	}
	c.dram.Master = owner
	if chunk := c.dram.ChunkBytes(); n > chunk {
		n, lines = chunk, lines*uint64(n/chunk)
	}
	each := uint64(1)
	if c.dram.IsChunk(addr, n*int(lines)) {
		each = lines
	}
	for ; lines > 0; lines -= each {
		_, waited := c.dram.WriteEach(t, addr, n, each)
		c.blocked = max(c.blocked, waited)
		addr += uint64(n) * each
	}
}
