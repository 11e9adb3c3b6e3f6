package dsp

import (
	"github.com/nnsoc/nnsoc/dsp/internal/decode"
	"github.com/nnsoc/nnsoc/dsp/internal/energy"
	"github.com/nnsoc/nnsoc/dsp/internal/state"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem/cache"
)

// A store burst is a sequence of scalar stores to one cache line by a thread that runs alone.
// The cache looks the line up once for the whole burst. Most stores of a burst are
// stall-free: they find their entry of the store queue and the ports of both caches free, so
// they wait for nothing, and the state of queue and ports after them depends only on the
// cycles of the last few. The simulator decides from cycle numbers whether a store is
// stall-free; it converts a cycle to a sim.Time only when another access needs the queue or
// the ports.

// maxScalar is the size of the largest scalar.
const maxScalar = 8

// A burst begins after so many consecutive stores to one line: burstInLoop in a block that
// runs several times in a row, burstElsewhere in other blocks, where most sequences are short.
const burstInLoop, burstElsewhere = 2, 12

// storeBurst is the state of the current burst and of the stores before it.
type storeBurst struct {
	mem *memory
	cache.Burst
	line      uint32 // line that the burst writes, noLine without a burst
	before    uint32 // line of the stores before the burst
	run       int    // number of those, from the last load that had to be requested
	stallFree int64  // stall-free stores of the burst that Burst does not include yet
	last      int64  // port of the store before, restless when it is not known

	// ports holds, for each store in the queue, 2c if the ports of L1D serve the store from
	// cycle c on, 2c+1 if c is the cycle after its issue. For a portUnknown entry the store
	// queue itself holds the time.
	ports [storeDepth]int64
	pos   uint    // position of the queue that ports describes
	of    *client // the owner of the queue
	open  bool    // whether entries of the queue may be out of date

	through     int64    // cycles from the ports of L1D until a store has left the queue
	throughTime sim.Time // through as a sim.Time span
}

// portUnknown, later than every cycle, marks stores that were not stall-free: the cycle in
// which the ports served them is not known.
const portUnknown = never << 1

// init sets up a state without a burst.
func (s *storeBurst) init(m *memory) {
	s.mem, s.line, s.before = m, noLine, noLine
	s.through = int64(m.spec.L1D.HitCycles + m.spec.L2.HitCycles)
	s.throughTime = m.clock.at(int64(m.spec.L1D.HitCycles)) + m.clock.at(int64(m.spec.L2.HitCycles))
}

// follow makes the state describe the store queue of t.
func (s *storeBurst) follow(t *client) {
	s.open = true
	if s.of == t && s.pos == t.stores.pos {
		return
	}
	s.of = t // others have stored between
	for i := range s.ports {
		s.ports[i] = portUnknown
	}
}

// stallFreeStores times the longest prefix of ops, of a block that began in cycle start, that
// consists of stall-free stores of the burst and of loads that hit the line that L1D served
// last. It returns the number of these accesses.
func (s *storeBurst) stallFreeStores(t *client, ops []timedOp, addr []uint32, start int64) (n int) {
	m, q := s.mem, &t.stores
	shift, origin, line := m.shiftD&63, t.origin, s.line
	pos, last, busy := q.pos, s.last, s.through
	addr = addr[:len(ops)]
	for ; n < len(ops); n++ {
		op, ea := &ops[n], addr[n]
		if ea == state.Skipped {
			continue
		}
		at := uint32((origin + uint64(ea)) >> shift)
		if op.Kind == decode.ScalarLoad && m.lastD[at&m.setsD] == at {
			m.skippedD++
			continue
		}
		cycle := start + int64(op.cycle)
		entry, port := &s.ports[pos&(storeDepth-1)], cycle<<1
		if op.Kind != decode.ScalarStore || at != line || *entry>>1+busy > cycle {
			break
		}
		if last>>1 >= cycle {
			if last != port {
				break
			}
			port += 3 // the second store of a packet is a cycle later
		}
		*entry, last = port, port
		pos++
	}
	s.stallFree += int64(pos - q.pos)
	q.pos, s.last = pos, last
	return n
}

// instant converts an entry of ports to the time from which the ports of L1D serve the store.
func (s *storeBurst) instant(port int64) sim.Time {
	if port&1 != 0 {
		return s.mem.clock.at(port>>1-1) + s.mem.cycle
	}
	return s.mem.clock.at(port >> 1)
}

// scalarStore times a scalar store, as part of a burst if so many stores to one line were before, and returns its stall
// cycles like memory.scalarStore.
func (s *storeBurst) scalarStore(t *client, cycle int64, ea uint32, bytes uint8, after int) int64 {
	m, q := s.mem, &t.stores
	if line := m.lineD(t, ea); line != s.line {
		if line != s.before {
			s.before, s.run = line, 0
		}
		if s.run++; s.run < after || !s.beginBurst(t, ea) {
			s.endStores(cycle)
			wait, _ := m.scalarStore(t, cycle, ea, bytes)
			if s.of == t && q.pos == s.pos+1 {
				i := s.pos & (storeDepth - 1)
				s.ports[i] = portUnknown
				if s.run > after-storeDepth && q.free[i] == m.clock.at(cycle)+s.throughTime {
					s.ports[i] = cycle << 1
				}
				s.pos = q.pos
			}
			return wait
		}
		s.line = line
	}
	s.addPending()
	now := m.clock.at(cycle)
	i := q.pos & (storeDepth - 1)
	q.pos++
	at := now
	if s.ports[i] == portUnknown {
		at = max(now, q.free[i])
	} else {
		at = max(now, s.instant(s.ports[i])+s.throughTime)
	}
	done := s.Write(at)
	q.free[i] = done
	s.last = portUnknown
	if s.ports[i] = portUnknown; done == now+s.throughTime {
		s.ports[i], s.last = cycle<<1, cycle<<1
	}
	if at == now {
		return 0
	}
	return m.stall(cycle, at, 0)
}

// beginBurst begins a burst of stores to the line of ea. It returns false if memory.scalarStore
// has to time them: for VTCM, while other threads are active, or if L1D refuses.
func (s *storeBurst) beginBurst(t *client, ea uint32) bool {
	m := s.mem
	s.endBurst()
	behind := uint32(1)<<m.shiftD - 1
	begin := ea &^ behind
	vtcm := begin-m.vtcmBase+behind < m.vtcmBytes+behind // some byte of the line is there
	if vtcm || m.active != 0 || !m.l1d.BeginBurst(&s.Burst, t.physical(ea), maxScalar) {
		return false
	}
	line := m.lineD(t, ea)
	if last := &m.lastD[line&m.setsD]; *last != line {
		*last = noLine // as in scalarStore of memory
	}
	if !s.open {
		s.follow(t)
	}
	s.last = portUnknown
	return true
}

// addPending adds the pending stall-free stores to the burst.
func (s *storeBurst) addPending() {
	if s.stallFree > 0 {
		s.AddStallFree(s.instant(s.last), s.stallFree)
		s.stallFree = 0
	}
}

// endBurst ends the current burst, if there is one.
func (s *storeBurst) endBurst() {
	if s.line != noLine {
		s.closeBurst()
	}
}

func (s *storeBurst) closeBurst() {
	s.addPending()
	s.line = noLine
	s.mem.events[energy.L2] += s.mem.l1d.EndBurst(&s.Burst)
}

// endStores ends the burst and updates the store queue of its thread, so that
// memory.scalarStore can time stores from cycle on.
func (s *storeBurst) endStores(cycle int64) {
	if s.open {
		s.closeStores(cycle)
	}
}

func (s *storeBurst) closeStores(cycle int64) {
	s.endBurst()
	q := &s.of.stores
	for i, port := range s.ports {
		if port != portUnknown && port>>1+s.through > cycle { // others are free by then
			q.free[i] = s.instant(port) + s.throughTime
		}
	}
	s.open, s.pos = false, q.pos
}
