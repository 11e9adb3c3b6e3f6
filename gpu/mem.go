package gpu

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/nnsoc/nnsoc/gpu/internal/asm"
	"github.com/nnsoc/nnsoc/gpu/internal/state"
	"github.com/nnsoc/nnsoc/isa/rdna2"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
	"github.com/nnsoc/nnsoc/sim/mem/cache"
)

// hierarchy is the caches of a core.
type hierarchy struct {
	l2     *cache.Cache
	gl1    *cache.Cache // nil when absent
	l0     []*cache.Cache
	scalar []*cache.Cache // per cluster
	icache []*cache.Cache
	dram   mem.Level
	above  int64 // cycles of a hit that are spent above L2
}

func newHierarchy(s *Spec, dram mem.Level) (*hierarchy, error) {
	h := &hierarchy{dram: dram}
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
func (c *cu) invalidate(m rdna2.Mnemonic) {
	switch m {
	case rdna2.M_BUFFER_GL0_INV:
		c.l0.Invalidate()
	case rdna2.M_S_DCACHE_INV:
		c.scalar.Invalidate()
	default:
		if c.gl1 != nil {
			c.gl1.Invalidate()
		}
	}
}

// neighbours compares the addresses of lanes that follow each other: other are those that are not within the line of
// 1<<shift bytes in which the lane before begins, same those at its address.
func (m *machine) neighbours(mask uint64, size int, shift uint, lanes int) (other, same uint64) {
	if mask == state.FullMask(lanes) {
		other, same = asm.Neighbours(&m.Addr, size, shift, lanes)
		return other & mask, same & mask
	}
	before := mask & (mask << 1) // lanes that have one before
	other = mask &^ before
	for k := before; k != 0; k &= k - 1 {
		l := state.FirstLane(k)
		a, b := m.Addr[l], m.Addr[l-1]
		if line := a >> shift; line != b>>shift || line != (a+uint64(size-1))>>shift {
			other |= 1 << l
		}
		if a == b {
			same |= 1 << l
		}
	}
	return other, same
}

// readLines collects the cache lines that lanes read, in lane order. Lanes not in other read those of the lane before.
func (m *machine) readLines(other uint64, size int, shift uint) {
	lines := m.lines[:0]
	top := uint64(0) // no line is above
	for k := other; k != 0; k &= k - 1 {
		a := m.Addr[state.FirstLane(k)&63]
		line, last := a>>(shift&63), (a+uint64(size-1))>>(shift&63)
		for {
			switch at := line << (shift & 63); {
			case line > top || len(lines) == 0:
				top = line
				lines = append(lines, at)
			case line < top && !known(lines, at):
				lines = append(lines, at)
			}
			if line >= last {
				break
			}
			line++
		}
	}
	m.lines = lines
}

// known reports whether a line is among others.
func known(lines []uint64, line uint64) bool {
	for i := len(lines) - 1; i >= 0; i-- {
		if lines[i] == line {
			return true
		}
	}
	return false
}

// coalesce collects the cache lines that the lanes of mask touch, in lane
// order, with how many bytes of each.
func (m *machine) coalesce(mask uint64, size int, shift uint) {
	m.lines = m.lines[:0]
	if mask&(mask+1) == 0 && mask != 0 {
		a := m.Addr[:min(bits.TrailingZeros64(^mask), 64)]
		if step := uint64(size); len(a) < 2 || a[1]-a[0] == step && regular(a, step) {
			// Neighbours in order: one block.
			m.block(a[0], len(a)*size, shift)
			return
		}
	}
	for k := mask; k != 0; k &= k - 1 {
		a := m.Addr[state.FirstLane(k)]
		m.touchLine(a, min(size, int((a>>shift+1)<<shift-a)), shift)
		if last := a + uint64(size) - 1; last>>shift != a>>shift {
			m.touchLine(last, int(last+1-last>>shift<<shift), shift)
		}
	}
}

// coalesceSwizzled is coalesce for scratch, where the dwords of a lane are as far apart as the wave is wide. Lanes at
// other addresses are coalesced alike.
func (m *machine) coalesceSwizzled(mask uint64, size, lanes int) {
	m.lines = m.lines[:0]
	for at := 0; at < size; at += 4 {
		for k := mask; k != 0; k &= k - 1 {
			a := m.Addr[state.FirstLane(k)]
			if state.InScratch(a) {
				a += uint64(at * lanes)
			} else {
				a += uint64(at)
			}
			m.touchLine(a, min(size-at, 4), m.lineShift)
		}
	}
}

// block notes the lines of n bytes at addr.
func (m *machine) block(addr uint64, n int, shift uint) {
	for n > 0 {
		k := min(n, int((addr>>shift+1)<<shift-addr))
		m.lines = append(m.lines, addr>>shift<<shift+uint64(k-1))
		addr += uint64(k)
		n -= k
	}
}

// touchLine notes bytes of the line at addr. Bytes that several lanes touch count for each, up to a whole line.
func (m *machine) touchLine(addr uint64, bytes int, shift uint) {
	line := addr >> shift << shift
	for i := len(m.lines) - 1; i >= 0; i-- {
		if l := m.lines[i]; l>>shift<<shift == line {
			m.lines[i] = min(l+uint64(bytes), line+1<<shift-1)
			return
		}
	}
	m.lines = append(m.lines, line+uint64(bytes-1))
}

// touchLines collects the cache lines of a global or scratch access by the lanes of mask, and returns for how long its
// addresses occupy the port of a compute unit.
func (m *machine) touchLines(mask uint64, op *state.Access, lanes int) (port int64) {
	var other, same uint64
	switch {
	case m.Swizzled:
		m.coalesceSwizzled(mask, op.Size, lanes)
		_, same = m.neighbours(mask, op.Size, m.lineShift, lanes)
	case m.Block > 0:
		m.lines = m.lines[:0]
		m.block(m.Addr[0], m.Block, m.lineShift)
	case op.Store || op.Atomic != nil:
		m.coalesce(mask, op.Size, m.lineShift)
		_, same = m.neighbours(mask, op.Size, m.lineShift, lanes)
	case mask == state.FullMask(lanes):
		return m.loadLines(op.Size, lanes)
	default:
		other, same = m.neighbours(mask, op.Size, m.lineShift, lanes)
		m.readLines(other, op.Size, m.lineShift)
	}
	return m.portCycles(mask, same)
}

// layout is the footprint of a load by all lanes, relative to its first lane.
type layout struct {
	laneOffsets [64]uint64 // addresses above that of the first lane
	within      uint64     // address of the first lane above its line
	size, lanes int
	lines       []uint64 // above that of the first lane
	port        int64
}

const layoutBits = 6

// loadLines is touchLines for a load by all lanes: where the layout of an earlier load repeats, so do its lines.
func (m *machine) loadLines(size, lanes int) (port int64) {
	first := m.Addr[0]
	line := first >> m.lineShift << m.lineShift
	within := first - line
	hash := (m.Addr[lanes-1]-first)<<8 ^ (m.Addr[lanes/2-1] - first) ^ within<<16
	x := &m.layouts[hash*0x9E3779B97F4A7C15>>(64-layoutBits)]
	if x.within == within && x.size == size && x.lanes == lanes && asm.MatchOffsets(&m.Addr, &x.laneOffsets, lanes) {
		m.lines = m.lines[:0]
		for _, l := range x.lines {
			m.lines = append(m.lines, line+l)
		}
		return x.port
	}
	other, same := m.neighbours(state.FullMask(lanes), size, m.lineShift, lanes)
	m.readLines(other, size, m.lineShift)
	x.within, x.size, x.lanes, x.lines = within, size, lanes, x.lines[:0]
	for l := range lanes {
		x.laneOffsets[l] = m.Addr[l] - first
	}
	for _, l := range m.lines {
		x.lines = append(x.lines, l-line)
	}
	x.port = m.portCycles(state.FullMask(lanes), same)
	return x.port
}

// traversal is the effect of an access on the lines that it passes through.
type traversal int

const (
	toLoad traversal = iota + 1
	toStore
	toModify // an atomic
)

// vectorAccess times a global or scratch access issued at cycle t, whose lanes move some bytes in all: one line after
// the other through the compute unit's L0. high are the upper bits of all lines.
func vectorAccess[L uint32 | uint64](m *machine, c *cu, t int64, high uint64, lines []L, kind traversal, moved int, port int64) (int64, sim.Reason) {
	size := m.spec.L0.Line
	within := uint64(size - 1)
	issued := m.clock.At(t)
	at, done, from := issued, issued, int32(sim.StallL1) // wider than a reason: its max needs no branch
	m.count[cntLines] += int64(len(lines))
	hold := sim.StallUnit
	for _, l := range lines {
		addr, bytes := high|uint64(l)&^within, int(uint64(l)&within)+1
		var d sim.Time
		var f sim.Reason
		if kind == toStore {
			d, f = c.l0.Access(at, addr, bytes, mem.Write)
			done, from = max(done, d), max(from, int32(f))
			continue
		}
		last := &c.flight[c.at]
		if last.at > at {
			at, hold = last.at, last.from
		}
		if kind == toModify {
			// Atomics execute at L2 and bypass the levels above: a bank reads and writes the line, then accepts the
			// next (D-1415).
			l2 := at + m.clock.At(t+m.h.above) - issued
			d, f = m.h.l2.Access(l2, addr, bytes, mem.Read)
			m.h.l2.Access(l2, addr, bytes, mem.Write)
		} else {
			d, f = c.l0.ReadLine(at, addr)
		}
		if f != sim.StallL1 {
			*last = miss{d, f}
			if c.at++; c.at == len(c.flight) {
				c.at = 0
			}
		}
		done, from = max(done, d), max(from, int32(f))
	}
	if hold != sim.StallUnit {
		c.accept, c.acceptStall = max(c.accept, m.clock.Cycle(at)), hold
	}
	if port--; port > 0 {
		if next := t + port + 1; next > c.accept {
			c.accept, c.acceptStall = next, sim.StallUnit
		}
		// Data waits for the last address, as it does for the last line.
		if more := port - int64(len(lines)-1); more > 0 {
			done += m.clock.At(t+more) - issued
		}
	}
	if kind == toStore {
		size = min(size, moved)
	}
	m.count[cntL0Bytes] += int64(len(lines)) * int64(size)
	return max(m.clock.Cycle(done), t+1), sim.Reason(from)
}

// portCycles is the number of cycles for which the addresses of an access occupy the port of a compute unit: a few
// lanes per cycle, more of quads of lanes that share an address. same are lanes with the address of the one before.
func (m *machine) portCycles(mask, same uint64) int64 {
	n := bits.OnesCount64(mask)
	if n <= m.spec.AddressLanes {
		return 1
	}
	shared := 0
	if m.spec.BroadcastLanes > m.spec.AddressLanes {
		const first = 0x1111_1111_1111_1111
		shared = 4 * bits.OnesCount64(same>>1&(same>>2)&(same>>3)&first)
	}
	x, y := m.spec.AddressLanes, m.spec.BroadcastLanes
	return int64(((n-shared)*y + shared*x + x*y - 1) / (x * y))
}

// conflictCycles is the number of cycles for which the LDS banks are occupied: a pass serves the lanes whose words fill
// the banks once, and needs as many cycles as the most loaded bank has different words.
func (m *machine) conflictCycles(addr *[64]uint64, mask uint64, size, lanes int) int64 {
	banks := m.spec.LDSBanks
	words := max(size/4, 1)
	per := min(max(banks/words, 1), 32)
	unit := uint(2)
	if size == 8 || size == 16 {
		unit += uint(words) / 2
	}
	var total int64
	for base := 0; base < lanes; base += per {
		part := mask >> base & state.FullMask(per)
		if part == 0 {
			continue
		}
		// Accesses are aligned to their size, so lanes collide by whole units.
		if size != 12 && free(addr, part, base, unit, max(banks/words, 1)) {
			total++
			continue
		}
		total += m.passCycles(addr, part, base, words, banks)
	}
	return max(total, 1)
}

// free reports whether no two lanes of a pass access different units of one bank.
func free(addr *[64]uint64, part uint64, base int, unit uint, groups int) bool {
	if part&(part+1) == 0 && regular(addr[base:base+bits.TrailingZeros64(^part)], 1<<unit) {
		return true
	}
	var tag [64]uint64
	for k := part; k != 0; k &= k - 1 {
		u := addr[(base+state.FirstLane(k))&63] >> unit
		t := &tag[int(u)&(groups-1)&63]
		if *t != 0 && *t != u+1 {
			return false
		}
		*t = u + 1
	}
	return true
}

// regular reports whether all lanes read the same unit or neighbours in order,
// which no banking can make collide.
func regular(a []uint64, size uint64) bool {
	if len(a) < 2 {
		return true
	}
	step := a[1] - a[0]
	if step != 0 && step != size {
		return false
	}
	for i := 1; i < len(a); i++ {
		if a[i]-a[i-1] != step {
			return false
		}
	}
	return true
}

func (m *machine) passCycles(addr *[64]uint64, part uint64, base, words, banks int) int64 {
	var used [64]uint8
	worst := uint8(1)
	for k := part; k != 0; k &= k - 1 {
		l := base + state.FirstLane(k)
		w := addr[l] >> 2
		for j := range words {
			b := int(w+uint64(j)) & (banks - 1)
			n := used[b]
			// The same word is read once for all lanes.
			known := false
			for i := uint8(0); i < n; i++ {
				if m.bankWord[b&63][i] == w+uint64(j) {
					known = true
					break
				}
			}
			if known {
				continue
			}
			m.bankWord[b&63][n&63] = w + uint64(j)
			used[b] = n + 1
			worst = max(worst, n+1)
		}
	}
	return int64(worst)
}
