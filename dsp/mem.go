package dsp

import (
	"math"
	"math/bits"

	"github.com/nnsoc/nnsoc/dsp/internal/decode"
	"github.com/nnsoc/nnsoc/dsp/internal/energy"
	"github.com/nnsoc/nnsoc/dsp/internal/state"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
	"github.com/nnsoc/nnsoc/sim/mem/cache"
)

// memory is the timed memory system of one run: L1I and L1D (scalar) in front
// of L2, VTCM beside it, DRAM behind. Vector accesses go to L2 or VTCM.
//
// It knows a thread as a client only, and neither blocks' schedules nor other threads. It is told the cycle of an access,
// and returns how many cycles the client waits and for what. In the order of the calls:
//
//	newMemory              a State is made
//	begin                  a run begins: caches as they are, nothing in flight
//	fetch                  a client enters a block whose lines are not known to be in L1I
//	hitsAgain, freeVTCM    a load may be one that waits for nothing and needs no order among the clients
//	scalarLoad, vectorLoad, vectorStore, scalarStore, access
//	                       another access, those of all clients in the order of their cycles
//	invalidate, dramBytes, counters
//	                       between jobs
type memory struct {
	spec  *Spec
	clock ticker
	l1i   *cache.Cache
	l1d   *cache.Cache
	l2    *cache.Cache

	// The line that each L1 set served last. A read that meets it again is a hit
	// that changes neither the replacement order nor any time, so the cache is
	// not asked.
	lastI, lastD   []uint32
	shiftI, shiftD uint
	setsI, setsD   uint32
	skippedD       int64 // hits that the cache has not counted
	fetches        int64 // changes of lastI so far, from 1

	// VTCM has the bandwidth for a vector load and a vector store of every packet, so its latency does not depend on
	// other accesses: the wait beyond the hidden latency.
	vtcmBase, vtcmBytes uint32
	waitVTCM            int64
	scalarVTCM          int64

	hiddenVector sim.Time // load latency without a stall
	hiddenScalar sim.Time
	hiddenFetch  sim.Time
	cycle        sim.Time
	reachL2      sim.Time // from a vector store to its line in L2

	boxes    []prefetchBox // one per thread
	active   int           // boxes and DMA engines at work
	due      sim.Time      // nothing that is active has work before
	dma      engines       // nil without user DMA
	dram     mem.Level
	elements elementUnit
	bypassed int64 // bytes that DMA moved to and from DRAM beside L2
	events   energy.Events
}

// engines work beside the threads: advance lets them access the memory up to an instant. The loop over the threads looks
// at its error.
type engines interface {
	advance(now sim.Time) error
	counters() []sim.Counter
}

// client is what the memory knows of a thread.
type client struct {
	id        int
	origin    uint64 // of its memory in the addresses of the caches: guests are 4 GiB apart
	recent    recentStores
	stores    storeQueue
	scattered sim.Time // when its scatters and gathers are done
	loaded    sim.Time // when the vectors that it has loaded from L2 or behind are there
}

// storeDepth is the number of stores of a thread that may be on their way.
const storeDepth = 8

// storeQueue holds the instants at which its entries are free again.
type storeQueue struct {
	free [storeDepth]sim.Time
	pos  uint // of the next, modulo storeDepth
}

// recentStores remembers, by L2 line, when the vector stores of a thread reach
// L2. A load of the same line starts no sooner.
type recentStores [64]struct {
	line uint32 // of 128 bytes
	at   sim.Time
}

func (r *recentStores) add(ea uint32, at sim.Time) {
	line := ea >> 7
	s := &r[line%uint32(len(r))]
	s.line, s.at = line, at
}

// visible is the instant from which [ea, ea+n) can be loaded, now at the soonest.
func (r *recentStores) visible(now sim.Time, ea, n uint32) sim.Time {
	if (ea&127)+n <= 128 {
		if s := &r[ea>>7%uint32(len(r))]; s.at > now && s.line == ea>>7 {
			now = s.at
		}
		return now
	}
	for line := ea >> 7; line <= (ea+n-1)>>7; line++ {
		if s := &r[line%uint32(len(r))]; s.at > now && s.line == line {
			now = s.at
		}
	}
	return now
}

// next returns the entry to be used next.
func (q *storeQueue) next() *sim.Time {
	e := &q.free[q.pos&(storeDepth-1)]
	q.pos++
	return e
}

// last is the instant at which all entries are free.
func (q *storeQueue) last() (t sim.Time) {
	for _, f := range q.free {
		t = max(t, f)
	}
	return t
}

// boxDepth is the number of lines an l2fetch has in flight.
const boxDepth = 8

// prefetchBox walks the lines of the last l2fetch of a thread.
type prefetchBox struct {
	on     bool
	origin uint64 // of the thread's memory
	row    uint32 // address of the current row
	rows   uint32 // left, this one included
	line   uint32 // next line of the row
	width  uint32
	stride uint32
	at     sim.Time // when the next line can be requested
	flight [boxDepth]sim.Time
	pos    int
}

func newMemory(s *Spec, dram mem.Level) (*memory, error) {
	dram = mem.Delayed(dram, sim.Time(math.Round(s.MemoryNs*float64(sim.Nanosecond))))
	m := &memory{dram: dram, vtcmBase: s.VTCMBase, vtcmBytes: s.VTCMBytes, boxes: make([]prefetchBox, s.Threads)}
	l2, l1i, l1d := s.caches()
	var err error
	if m.l2, err = cache.New(l2, dram); err == nil {
		if m.l1i, err = cache.New(l1i, m.l2); err == nil {
			m.l1d, err = cache.New(l1d, m.l2)
		}
	}
	if err != nil {
		return nil, err
	}
	m.lastI, m.setsI, m.shiftI = lastLines(s.L1I)
	m.lastD, m.setsD, m.shiftD = lastLines(s.L1D)
	m.waitVTCM = max(0, int64(s.VTCMCycles)-int64(s.VectorLoadCycles))
	m.scalarVTCM = max(0, int64(s.VTCMCycles)-int64(s.L1D.HitCycles))
	m.retime(s)
	return m, nil
}

// retime sets the clock of a machine that differs from the present one in that only.
func (m *memory) retime(s *Spec) {
	m.spec = s
	m.clock.init(s.ClockHz)
	for _, c := range [...]*cache.Cache{m.l1i, m.l1d, m.l2} {
		c.Retime(s.ClockHz)
	}
	m.hiddenVector = m.clock.at(int64(s.VectorLoadCycles))
	m.hiddenScalar = m.clock.at(int64(s.L1D.HitCycles))
	m.hiddenFetch = m.clock.at(int64(s.L1I.HitCycles))
	m.cycle = m.clock.at(1)
	m.reachL2 = m.clock.at(int64(s.StoreLoadPackets * s.IssueInterval))
}

// begin starts a run.
func (m *memory) begin() {
	for _, c := range [...]*cache.Cache{m.l1i, m.l1d, m.l2} {
		c.Quiesce()
	}
	m.forgetLast()
	clear(m.boxes)
	m.skippedD, m.fetches, m.active, m.bypassed = 0, 1, 0, 0
	m.due = sim.Never
	m.elements, m.events, m.dma = elementUnit{}, energy.Events{}, nil
}

// invalidate empties the caches of a running machine.
func (m *memory) invalidate() {
	for _, c := range [...]*cache.Cache{m.l1i, m.l1d, m.l2} {
		c.Invalidate()
	}
	m.forgetLast()
	m.fetches++
}

// forgetLast makes every line go to the caches.
func (m *memory) forgetLast() {
	for _, last := range [2][]uint32{m.lastI, m.lastD} {
		for i := range last {
			last[i] = noLine
		}
	}
}

// noLine is no line of any cache: lines are shorter than the address space.
const noLine = ^uint32(0)

func lastLines(c CacheSpec) ([]uint32, uint32, uint) {
	sets := c.Bytes / c.LineBytes / c.Ways
	l := make([]uint32, sets)
	for i := range l {
		l[i] = noLine
	}
	return l, uint32(sets - 1), uint(bits.TrailingZeros(uint(c.LineBytes)))
}

func (m *memory) inVTCM(a uint32) bool { return a-m.vtcmBase < m.vtcmBytes }

// rounding is the possible lateness of a sum of spans, each rounded down to a femtosecond, when one of them is
// subtracted again.
const rounding = 2

// stall converts a completion to the cycles that a thread waits from a cycle on beyond the hidden latency.
func (m *memory) stall(cycle int64, done, hide sim.Time) int64 {
	return m.clock.until(cycle, done-hide-rounding)
}

// access times the i-th memory operation of a block of t, whose registers are in x, other than a plain load, at a core
// cycle, and returns how many cycles the thread waits, and the reason.
func (m *memory) access(t *client, x *state.Thread, op *decode.MemOp, i int, ea uint32, cycle int64) (int64, sim.Reason) {
	switch op.Kind {
	case decode.ScalarStore:
		return m.scalarStore(t, cycle, ea, op.Bytes)
	case decode.VectorStore:
		return m.vectorStore(t, cycle, ea)
	case decode.ScalarUpdate:
		if n, from := m.scalarLoad(t, cycle, ea, op.Bytes); n > 0 {
			m.scalarStore(t, cycle+n, ea, op.Bytes)
			return n, from
		}
		return m.scalarStore(t, cycle, ea, op.Bytes)
	case decode.PrefetchL1:
		m.prefetchL1(t, cycle, ea)
	case decode.WaitStores:
		return m.stall(cycle, t.stores.last(), 0), sim.StallDrain
	case decode.WaitCycles:
		return int64(ea), sim.StallBarrier
	case decode.PrefetchL2:
		m.prefetch(t, ea, x.Box, m.clock.at(cycle))
	case decode.ScatterElements, decode.GatherElements:
		return m.scatterGather(t, cycle, op, x.Conflicts>>i&1), sim.StallScratchpad
	case decode.ScatterWait:
		return m.stall(cycle, t.scattered, 0), sim.StallScratchpad
	}
	return 0, sim.StallIssue
}

// physical is the address by which the caches know data of the thread.
func (t *client) physical(ea uint32) uint64 { return t.origin + uint64(ea) }

// lineD is the number of the L1D line of an address. Lines have more bytes than
// the core has threads, so it fits.
func (m *memory) lineD(t *client, ea uint32) uint32 { return uint32(t.physical(ea) >> (m.shiftD & 63)) }

// hitsAgain reports a scalar load from the line that its L1 set served last. The caller counts them in skippedD.
func (m *memory) hitsAgain(t *client, ea uint32) bool {
	line := m.lineD(t, ea)
	return m.lastD[line&m.setsD] == line
}

// loadsFree reports whether vector loads from VTCM do not wait.
func (m *memory) loadsFree() bool { return m.waitVTCM == 0 && !m.elements.used }

// freeVTCM reports a vector load from VTCM that does not wait.
func (m *memory) freeVTCM(ea uint32) bool {
	if !m.inVTCM(ea) || !m.loadsFree() {
		return false
	}
	m.events[energy.VTCM]++
	return true
}

func (m *memory) scalarLoad(t *client, cycle int64, ea uint32, bytes uint8) (int64, sim.Reason) {
	if m.inVTCM(ea) {
		m.events[energy.VTCM]++
		return m.scalarVTCM, sim.StallScratchpad
	}
	now := m.clock.at(cycle)
	start := now
	if s := &t.recent[ea>>7%uint32(len(t.recent))]; s.line == ea>>7 { // a scalar is aligned
		start = max(start, s.at)
	}
	m.catchUp(start)
	done, from := m.l1d.Access(start, t.physical(ea), int(bytes), mem.Read)
	if from != sim.StallL1 {
		m.events[energy.L2]++
	} else if start > now {
		from = sim.StallL2
	}
	line := m.lineD(t, ea)
	if done <= now+m.hiddenScalar+rounding {
		m.lastD[line&m.setsD] = line
		return 0, from
	}
	m.lastD[line&m.setsD] = noLine // in flight: the next access looks it up in the cache
	return m.stall(cycle, done, m.hiddenScalar), from
}

func (m *memory) prefetchL1(t *client, cycle int64, ea uint32) {
	if m.inVTCM(ea) {
		return
	}
	now := m.clock.at(cycle)
	if s := &t.recent[ea>>7%uint32(len(t.recent))]; s.line == ea>>7 {
		now = max(now, s.at)
	}
	m.catchUp(now)
	m.l1d.Access(now, t.physical(ea), 1, mem.Prefetch)
	m.lastD[m.lineD(t, ea)&m.setsD] = noLine
}

func (m *memory) vectorLoad(t *client, cycle int64, ea uint32) (int64, sim.Reason) {
	if m.inVTCM(ea) {
		m.events[energy.VTCM]++
		return max(m.waitVTCM, m.stall(cycle, t.scattered, m.hiddenVector)), sim.StallScratchpad
	}
	m.events[energy.L2]++
	now := m.clock.at(cycle)
	start := t.recent.visible(now, ea, 128)
	m.catchUp(start)
	done, from := m.l2.Access(start, t.physical(ea), 128, mem.Read)
	if done <= now+m.hiddenVector+rounding {
		return 0, from
	}
	t.loaded = max(t.loaded, done-m.hiddenVector)
	return m.stall(cycle, done, m.hiddenVector), from
}

// Stores are posted: the thread waits only when all entries of its queue are on
// their way, until the one that is used next is free.

func (m *memory) vectorStore(t *client, cycle int64, ea uint32) (int64, sim.Reason) {
	if m.inVTCM(ea) {
		m.events[energy.VTCM]++
		return 0, sim.StallScratchpad
	}
	m.events[energy.L2]++
	entry := t.stores.next()
	now := m.clock.at(cycle)
	start := max(now, *entry)
	m.catchUp(start)
	*entry, _ = m.l2.Access(start, t.physical(ea), 128, mem.Write)
	t.recent.add(ea, max(start, t.loaded)+m.reachL2)
	// The lines that it overwrites leave L1D.
	if m.l1d.Drop(t.physical(ea), 128) {
		for line := m.lineD(t, ea); line <= m.lineD(t, ea+127); line++ {
			if last := &m.lastD[line&m.setsD]; *last == line {
				*last = noLine
			}
		}
	}
	if start == now {
		return 0, sim.StallQueue
	}
	return m.stall(cycle, start, 0), sim.StallQueue
}

func (m *memory) scalarStore(t *client, cycle int64, ea uint32, bytes uint8) (int64, sim.Reason) {
	if m.inVTCM(ea) {
		m.events[energy.VTCM]++
		return 0, sim.StallScratchpad
	}
	m.events[energy.L2]++
	entry := t.stores.next()
	now := m.clock.at(cycle)
	start := max(now, *entry)
	m.catchUp(start)
	done, ok := m.l1d.WriteThrough(start, t.physical(ea), int(bytes))
	if !ok {
		done, _ = m.l1d.Access(start, t.physical(ea), int(bytes), mem.Write)
	}
	*entry = done
	// A store to the line served last leaves it that; one to another line may
	// have moved that in front.
	line := m.lineD(t, ea)
	if last := &m.lastD[line&m.setsD]; *last != line {
		*last = noLine
	}
	if start == now {
		return 0, sim.StallQueue
	}
	return m.stall(cycle, start, 0), sim.StallQueue
}

// fetchBytes is the size of one access to L1I: a packet of four words.
const fetchBytes = 16

// fetch times the instruction lines of a block, which are needed one after another, and returns the wait.
func (m *memory) fetch(b *block, cycle int64) int64 {
	var wait int64
	changed := false
	first := b.Addr >> m.shiftI
	for line := first; line <= (b.End-1)>>m.shiftI; line++ {
		set := line & m.setsI
		if m.lastI[set] == line {
			continue
		}
		changed = true
		at := cycle + wait + int64(line-first)
		now := m.clock.at(at)
		m.catchUp(now)
		done, from := m.l1i.Access(now, uint64(line)<<m.shiftI, fetchBytes, mem.Read)
		m.lastI[set] = line
		if from != sim.StallFetch {
			m.events[energy.L2]++
		}
		if w := m.stall(at, done, m.hiddenFetch); w > 0 {
			wait += w
			m.lastI[set] = noLine
		}
	}
	if changed {
		m.fetches++
	} else {
		b.fetched = m.fetches
	}
	return wait
}

// prefetch replaces the thread's box by the one its l2fetch describes.
func (m *memory) prefetch(t *client, ea uint32, box state.Box, now sim.Time) {
	b := &m.boxes[t.id]
	if b.on {
		m.active--
	}
	*b = prefetchBox{origin: t.origin, row: ea, rows: box.Height, width: box.Width, stride: box.Stride, at: now, flight: b.flight, pos: b.pos}
	b.line = ea &^ uint32(m.spec.L2.LineBytes-1)
	if b.on = b.rows > 0 && b.width > 0; b.on {
		m.active++
		m.due = min(m.due, now)
	}
}

// catchUp runs the units beside the threads up to now.
func (m *memory) catchUp(now sim.Time) {
	if now >= m.due {
		m.pump(now)
	}
}

// pump runs DMA and lets the prefetch boxes request their lines.
func (m *memory) pump(now sim.Time) {
	if m.dma != nil {
		_ = m.dma.advance(now)
	}
	copying := m.active
	m.due = sim.Never
	for i := range m.boxes {
		b := &m.boxes[i]
		for b.on && b.at <= now {
			m.events[energy.L2]++
			b.flight[b.pos], _ = m.l2.Access(b.at, b.origin+uint64(b.line), 1, mem.Prefetch)
			if b.pos++; b.pos == boxDepth {
				b.pos = 0
			}
			b.at = max(b.at+m.cycle, b.flight[b.pos])
			b.line += uint32(m.spec.L2.LineBytes)
			if b.line-b.row < b.width || b.line < b.row {
				continue
			}
			b.row += b.stride
			b.line = b.row &^ uint32(m.spec.L2.LineBytes-1)
			if b.rows--; b.rows == 0 {
				b.on = false
				m.active--
				copying--
			}
		}
		if b.on {
			m.due = min(m.due, b.at)
			copying--
		}
	}
	if copying > 0 {
		m.due = 0 // engines are queried at every access
	}
}

// dramBytes is the traffic behind L2 so far.
func (m *memory) dramBytes() int64 {
	return (m.l2.Count(cache.Fill)+m.l2.Count(cache.LineWriteBack))*int64(m.spec.L2.LineBytes) + m.bypassed
}

func (m *memory) counters() []sim.Counter {
	d := m.l1d.Counters()
	d[cache.ReadLookup].Value += m.skippedD
	c := append(m.l1i.Counters(), d...)
	c = append(c, m.l2.Counters()...)
	if m.dma != nil {
		c = append(c, m.dma.counters()...)
	}
	return c
}
