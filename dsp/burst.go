package dsp

import (
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// Scalar stores of a thread alone to one line are timed as a burst: what each of
// them looks up is looked up once. Most are calm: they find their queue entry and
// the ports of both caches free, so that they wait for nothing, and what they leave
// behind follows from the cycle of the last ones. That is told from cycles alone; the
// instants are worked out where somebody asks for them.

// maxScalar is the size of the largest scalar.
const maxScalar = 8

// A burst begins with that many stores to one line, one after another: soon in a block
// that runs several times at once, elsewhere where it looks like a long one.
const burstInLoop, burstElsewhere = 2, 12

// storeBurst is a burst under way, and what is known of the stores before it.
type storeBurst struct {
	mem.Burst
	line   uint32 // that it writes, noLine when there is none
	before uint32 // line of the stores before it
	run    int    // number of those, from the last load that had to be asked for
	calm   int64  // stores of the burst that Burst does not know of yet
	last   int64  // port of the store before, restless when it is not known

	// Of the stores in the queue the cycle from which the ports of L1D served them,
	// twice; one more when that was the cycle after they were issued. Entries that are
	// restless have their time in the queue.
	ports [storeDepth]int64
	pos   uint    // of the queue when ports was right
	of    *thread // whose they are
	open  bool    // entries of the queue may be out of date

	through int64    // cycles from the ports of L1D until a store has left the queue
	hold    sim.Time // the same as a span
}

// restless is later than every cycle: of stores that are not calm.
const restless = never << 1

// init begins with nothing.
func (s *storeBurst) init(m *memory) {
	s.line, s.before = noLine, noLine
	s.through = int64(m.spec.L1D.HitCycles + m.spec.L2.HitCycles)
	s.hold = m.clock.at(int64(m.spec.L1D.HitCycles)) + m.clock.at(int64(m.spec.L2.HitCycles))
}

// follow turns to the queue of a thread.
func (s *storeBurst) follow(t *thread) {
	s.open = true
	if s.of == t && s.pos == t.pipe.stores.pos {
		return
	}
	s.of = t // others have stored between
	for i := range s.ports {
		s.ports[i] = restless
	}
}

// calm times the stores at the beginning of ops of a block that began at start, as far
// as they are calm ones of the burst, with the loads between them that hit the line that
// L1D served last. It answers how many accesses they are.
func (tm *timing) calm(t *thread, ops []timedOp, addr []uint32, start int64) (n int) {
	m, s, q := tm.mem, &tm.store, &t.pipe.stores
	shift, origin, line := m.shiftD&63, t.origin, s.line
	pos, last, busy := q.pos, s.last, s.through
	addr = addr[:len(ops)]
	for ; n < len(ops); n++ {
		op, ea := &ops[n], addr[n]
		if ea == skipped {
			continue
		}
		at := uint32((origin + uint64(ea)) >> shift)
		if op.kind == scalarLoad && m.lastD[at&m.setsD] == at {
			m.skippedD++
			continue
		}
		cycle := start + int64(op.cycle)
		entry, port := &s.ports[pos&(storeDepth-1)], cycle<<1
		if op.kind != scalarStore || at != line || *entry>>1+busy > cycle {
			break
		}
		if last>>1 >= cycle {
			if last != port {
				break
			}
			port += 3 // the second store of a packet comes a cycle later
		}
		*entry, last = port, port
		pos++
	}
	s.calm += int64(pos - q.pos)
	q.pos, s.last = pos, last
	return n
}

// instant is when the ports of L1D serve a store that they serve from port on.
func (tm *timing) instant(port int64) sim.Time {
	if port&1 != 0 {
		return tm.mem.clock.at(port>>1-1) + tm.mem.cycle
	}
	return tm.mem.clock.at(port >> 1)
}

// scalarStore is that of memory, in a burst where it can be.
func (tm *timing) scalarStore(t *thread, cycle int64, ea uint32, bytes uint8) int64 {
	m, s, q := tm.mem, &tm.store, &t.pipe.stores
	if line := m.lineD(t, ea); line != s.line {
		if line != s.before {
			s.before, s.run = line, 0
		}
		after := burstElsewhere
		if t.pipe.base != 0 {
			after = burstInLoop
		}
		if s.run++; s.run < after || !tm.beginBurst(t, ea) {
			tm.endStores(cycle)
			wait, _ := m.scalarStore(t, cycle, ea, bytes)
			if s.of == t && q.pos == s.pos+1 {
				i := s.pos & (storeDepth - 1)
				s.ports[i] = restless
				if s.run > after-storeDepth && q.free[i] == m.clock.at(cycle)+s.hold {
					s.ports[i] = cycle << 1
				}
				s.pos = q.pos
			}
			return wait
		}
		s.line = line
	}
	tm.settle()
	now := m.clock.at(cycle)
	i := q.pos & (storeDepth - 1)
	q.pos++
	at := now
	if s.ports[i] == restless {
		at = max(now, q.free[i])
	} else {
		at = max(now, tm.instant(s.ports[i])+s.hold)
	}
	done := s.Write(at)
	q.free[i] = done
	s.last = restless
	if s.ports[i] = restless; done == now+s.hold {
		s.ports[i], s.last = cycle<<1, cycle<<1
	}
	if at == now {
		return 0
	}
	return m.stall(cycle, at, 0)
}

// beginBurst begins a burst of stores to the line of ea, unless they are for
// scalarStore of memory.
func (tm *timing) beginBurst(t *thread, ea uint32) bool {
	m, s := tm.mem, &tm.store
	tm.endBurst()
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
	s.last = restless
	return true
}

// settle lets the burst know of its calm stores.
func (tm *timing) settle() {
	if s := &tm.store; s.calm > 0 {
		s.Calm(tm.instant(s.last), s.calm)
		s.calm = 0
	}
}

// endBurst ends the burst under way, if there is one.
func (tm *timing) endBurst() {
	if tm.store.line != noLine {
		tm.closeBurst()
	}
}

func (tm *timing) closeBurst() {
	tm.settle()
	tm.store.line = noLine
	tm.mem.events[evL2] += tm.mem.l1d.EndBurst(&tm.store.Burst)
}

// endStores ends the burst and brings the queue of its thread up to date for stores
// from a cycle on that are timed otherwise.
func (tm *timing) endStores(cycle int64) {
	if tm.store.open {
		tm.closeStores(cycle)
	}
}

func (tm *timing) closeStores(cycle int64) {
	tm.endBurst()
	s := &tm.store
	q := &s.of.pipe.stores
	for i, port := range s.ports {
		if port != restless && port>>1+s.through > cycle { // others are free by then
			q.free[i] = tm.instant(port) + s.hold
		}
	}
	s.open, s.pos = false, q.pos
}
