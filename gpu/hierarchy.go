package gpu

import (
	"fmt"
	"math"

	"github.com/nnsoc/nnsoc/isa/rdna2"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
	"github.com/nnsoc/nnsoc/sim/mem/cache"
)

// hierarchy is the memory that the compute units share: caches and LDS. It knows no wave and no instruction. It is told
// the cycle of an access, and returns the cycle at which the data is there and the reason of the wait. It is a type and
// not an interface because every line of every access passes through it. In the order of the calls:
//
//	newHierarchy            a state is made; port gives each compute unit its way into the memory
//	begin                   a run begins: nothing is in flight, and all counts are 0
//	retime                  the clock changes, between dispatches
//	acquire, occupy         a dispatch begins: no stale line above L2, LDS busy until its first wave
//	fetch, loadScalars,     an instruction is fetched or issues, those of all SIMDs in the order of their cycles but
//	vectorAccess,           for what SIMDs are ahead of each other; the port of its compute unit says when it accepts
//	accessLDS, invalidate   the next vector access
//	traffic, counters       at any time between
//	drain                   a run ends: dirty lines are written back
type hierarchy struct {
	spec   *Spec
	clock  sim.Clock
	l2     *cache.Cache
	gl1    *cache.Cache // nil when absent
	l0     []*cache.Cache
	scalar []*cache.Cache // per cluster
	icache []*cache.Cache
	lds    []ldsUnit // per compute unit or cluster
	dram   mem.Level
	above  int64 // cycles of a hit that are spent above L2

	count     [numCounts]int64
	surplusPJ float64 // of the memory, for lines of a sampled run that moved in another order than they would have
}

// port is the way of a compute unit into the memory. Its vector pipeline processes the lines of an instruction in order
// and stalls while as many misses are in flight as L0 can track.
type port struct {
	lds    *ldsUnit
	l0     *cache.Cache
	scalar *cache.Cache
	icache *cache.Cache
	gl1    *cache.Cache

	accept      int64      // when the pipeline accepts the next instruction
	acceptStall sim.Reason // reason of its stall
	at          int        // of the oldest in flight
	flight      []miss     // the last ones
}

// miss is a miss of L0 under way.
type miss struct {
	at   sim.Time   // of its return
	from sim.Reason // who serves it
}

// ldsUnit is the port of one LDS.
type ldsUnit struct {
	free int64
	used int // bytes allocated
}

func newHierarchy(s *Spec, dram mem.Level) (*hierarchy, error) {
	h := &hierarchy{spec: s, dram: dram, lds: make([]ldsUnit, s.Clusters*s.CUsPerCluster)}
	// A cache answers a miss after its tag lookup, then accesses the next level: each level has its hit latency less
	// that of the levels above.
	build := func(name string, c CacheSpec, above int, w cache.WritePolicy, r sim.Reason, next mem.Level) (*cache.Cache, error) {
		cfg := cache.Config{
			Name: name, Hz: s.Hz, Bytes: c.Bytes, LineBytes: c.Line, Ways: c.Ways, Write: w,
			HitCycles: max(c.LatencyCycles-above, 1), BytesPerCycle: min(c.BytesPerCycle, c.Line),
			Banks: 1, Rate: c.BytesPerCycle, MSHRs: c.MSHRs, Reason: r, HashSets: name == "l0" || name == "l2",
		}
		// More than a line per cycle needs as many banks.
		for cfg.Banks < 64 && cfg.Banks*c.Line < c.BytesPerCycle {
			cfg.Banks *= 2
		}
		switch {
		case name == "icache" && s.Prefetch > 0:
			cfg.Prefetch, cfg.PrefetchDegree = cache.PrefetchNextLine, s.Prefetch
		case name == "l0" && s.GL1.Bytes == 0:
			cfg.MSHRs = 0 // the compute unit counts the misses in flight behind it
		}
		return cache.New(cfg, next)
	}
	var err error
	p := mem.Delayed(dram, sim.Time(math.Round(s.MemoryNs*float64(sim.Nanosecond))))
	above := s.L0.LatencyCycles
	if s.GL1.Bytes > 0 {
		above = s.GL1.LatencyCycles
	}
	h.above = int64(above)
	if h.l2, err = build("l2", s.L2, above, cache.WriteBack, sim.StallL2, p); err != nil {
		return nil, fmt.Errorf("gpu: %w", err)
	}
	var next mem.Level = h.l2
	if s.GL1.Bytes > 0 {
		if h.gl1, err = build("gl1", s.GL1, s.L0.LatencyCycles, cache.WriteThrough, sim.StallL1, h.l2); err != nil {
			return nil, fmt.Errorf("gpu: %w", err)
		}
		next = h.gl1
	}
	for range s.Clusters {
		k, err := build("scalar", s.Scalar, 0, cache.ReadOnly, sim.StallL1, next)
		if err != nil {
			return nil, fmt.Errorf("gpu: %w", err)
		}
		i, err := build("icache", s.ICache, 0, cache.ReadOnly, sim.StallFetch, next)
		if err != nil {
			return nil, fmt.Errorf("gpu: %w", err)
		}
		h.scalar, h.icache = append(h.scalar, k), append(h.icache, i)
		for range s.CUsPerCluster {
			l0, err := build("l0", s.L0, 0, cache.WriteThrough, sim.StallL1, next)
			if err != nil {
				return nil, fmt.Errorf("gpu: %w", err)
			}
			h.l0 = append(h.l0, l0)
		}
	}
	return h, nil
}

// port is the way of the i-th compute unit.
func (h *hierarchy) port(i int) port {
	cluster := i / h.spec.CUsPerCluster
	lds := i
	if h.spec.LDSPerCluster {
		lds = cluster
	}
	return port{lds: &h.lds[lds], l0: h.l0[i], scalar: h.scalar[cluster], icache: h.icache[cluster], gl1: h.gl1, flight: make([]miss, h.spec.L0.MSHRs)}
}

// begin begins a run with what the caches hold.
func (h *hierarchy) begin() {
	h.each((*cache.Cache).Quiesce)
	h.count, h.surplusPJ = [numCounts]int64{}, 0
}

// begin begins a run with nothing in flight.
func (p *port) begin() {
	p.accept, p.acceptStall, p.at = 0, 0, 0
	clear(p.flight)
}

// retime sets the caches to a clock, at another frequency.
func (h *hierarchy) retime(c sim.Clock) {
	h.clock = c
	h.each(func(x *cache.Cache) { x.Retime(c.Hz) })
}

// occupy makes LDS empty, and free from a cycle on.
func (h *hierarchy) occupy(until int64) {
	for i := range h.lds {
		h.lds[i] = ldsUnit{free: until}
	}
}

// delay moves what is in flight back by some cycles.
func (h *hierarchy) delay(by int64) {
	for i := range h.lds {
		h.lds[i].free += by
	}
}

func (p *port) delay(by int64, clock sim.Clock) {
	p.accept += by
	for k := range p.flight {
		p.flight[k].at += clock.At(by) - clock.At(0)
	}
}

// drain writes L2 back from a cycle on, and returns when it is clean.
func (h *hierarchy) drain(t int64) int64 { return h.clock.Cycle(h.l2.Clean(h.clock.At(t))) }

// each calls f for every cache.
func (h *hierarchy) each(f func(*cache.Cache)) {
	for _, list := range [3][]*cache.Cache{h.l0, h.scalar, h.icache} {
		for _, c := range list {
			f(c)
		}
	}
	if h.gl1 != nil {
		f(h.gl1)
	}
	f(h.l2)
}

// acquire begins a dispatch: no stale lines above L2.
func (h *hierarchy) acquire() {
	for _, c := range h.l0 {
		c.Invalidate()
	}
	for _, c := range h.scalar {
		c.Invalidate()
	}
	if h.gl1 != nil {
		h.gl1.Invalidate()
	}
}

// invalidate is one of the cache instructions.
func (p *port) invalidate(m rdna2.Mnemonic) {
	switch m {
	case rdna2.M_BUFFER_GL0_INV:
		p.l0.Invalidate()
	case rdna2.M_S_DCACHE_INV:
		p.scalar.Invalidate()
	default:
		if p.gl1 != nil {
			p.gl1.Invalidate()
		}
	}
}

// traversal is the effect of an access on the lines that it passes through.
type traversal int

const (
	toLoad traversal = iota + 1
	toStore
	toModify // an atomic
)

// vectorAccess times a global or scratch access issued at cycle t, whose lanes move some bytes in all: one line after
// the other through the L0 of a compute unit; cycles is for how long its addresses occupy the port. high are the upper bits of all lines.
func vectorAccess[L uint32 | uint64](h *hierarchy, p *port, t int64, high uint64, lines []L, kind traversal, moved int, cycles int64) (int64, sim.Reason) {
	size := h.spec.L0.Line
	within := uint64(size - 1)
	issued := h.clock.At(t)
	at, done, from := issued, issued, int32(sim.StallL1) // wider than a reason: its max needs no branch
	h.count[cntLines] += int64(len(lines))
	hold := sim.StallUnit
	for _, l := range lines {
		addr, bytes := high|uint64(l)&^within, int(uint64(l)&within)+1
		var d sim.Time
		var f sim.Reason
		if kind == toStore {
			d, f = p.l0.Access(at, addr, bytes, mem.Write)
			done, from = max(done, d), max(from, int32(f))
			continue
		}
		last := &p.flight[p.at]
		if last.at > at {
			at, hold = last.at, last.from
		}
		if kind == toModify {
			// Atomics execute at L2 and bypass the levels above: a bank reads and writes the line, then accepts the
			// next (D-1415).
			l2 := at + h.clock.At(t+h.above) - issued
			d, f = h.l2.Access(l2, addr, bytes, mem.Read)
			h.l2.Access(l2, addr, bytes, mem.Write)
		} else {
			d, f = p.l0.ReadLine(at, addr)
		}
		if f != sim.StallL1 {
			*last = miss{d, f}
			if p.at++; p.at == len(p.flight) {
				p.at = 0
			}
		}
		done, from = max(done, d), max(from, int32(f))
	}
	if hold != sim.StallUnit {
		p.accept, p.acceptStall = max(p.accept, h.clock.Cycle(at)), hold
	}
	if cycles--; cycles > 0 {
		if next := t + cycles + 1; next > p.accept {
			p.accept, p.acceptStall = next, sim.StallUnit
		}
		// Data waits for the last address, as it does for the last line.
		if more := cycles - int64(len(lines)-1); more > 0 {
			done += h.clock.At(t+more) - issued
		}
	}
	if kind == toStore {
		size = min(size, moved)
	}
	h.count[cntL0Bytes] += int64(len(lines)) * int64(size)
	return max(h.clock.Cycle(done), t+1), sim.Reason(from)
}

// loadScalars times a load of n bytes to scalar registers, issued at cycle t.
func (h *hierarchy) loadScalars(p *port, t int64, addr uint64, n int) (int64, sim.Reason) {
	done, from := p.scalar.Access(h.clock.At(t), addr, n, mem.Read)
	h.count[cntScalarBytes] += int64(n)
	return max(h.clock.Cycle(done), t+1), from
}

// fetch times the fetch of a line of code.
func (h *hierarchy) fetch(p *port, t int64, addr uint64) (int64, sim.Reason) {
	done, from := p.icache.Access(h.clock.At(t), addr, h.spec.ICache.Line, mem.Read)
	return h.clock.Cycle(done), from
}

// accessLDS occupies the LDS for busy cycles, from t on at the earliest, to move n bytes, and returns when the data is
// there.
func (h *hierarchy) accessLDS(p *port, t, busy, n int64) int64 {
	if n > 0 {
		h.count[cntLDSBytes] += n
		h.count[cntLDSCycles] += busy
	}
	l := p.lds
	begin := max(t, l.free)
	l.free = begin + busy
	return begin + max(busy-1, 0) + int64(h.spec.LDSLatency)
}
