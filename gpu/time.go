package gpu

import (
	"fmt"

	"github.com/nnsoc/nnsoc/gpu/internal/schedule"
	"github.com/nnsoc/nnsoc/gpu/internal/state"
	"github.com/nnsoc/nnsoc/sim"
)

// runTimed executes the dispatches in time order: at each step the SIMD whose
// next issue is earliest issues one instruction, or a run of vector
// instructions, which no other SIMD can see.
func (m *machine) runTimed() {
	start := m.now
	m.h.acquire()
	first := start + int64(m.spec.LaunchCycles)
	for i := range m.simds {
		w := m.simds[i].waves[:0]
		cu := &m.cus[i/m.spec.SIMDsPerCU]
		m.simds[i] = simd{id: i, cu: cu, waves: w, cursor: start, end: start, cand: &m.agenda.cands[i], grid: m.grids[0]}
		m.agenda.cands[i] = never
		for j := range m.simds[i].next {
			m.simds[i].next[j] = never
		}
		for u := range m.simds[i].free {
			m.simds[i].free[u] = first
		}
	}
	m.h.occupy(first)
	for i := range m.cus {
		m.cus[i].groups, m.cus[i].launch, m.cus[i].accept = 0, first, first
	}
	m.live, m.cut = 0, never
	if m.opt.Until > 0 {
		m.cut = m.clock.Cycle(m.opt.Until)
	}
	m.submit(start)
	m.agenda.sort()
	last := min(m.cut, never-1)
	for m.live > 0 || m.front.due < never {
		at, second := m.agenda.first()
		if t := m.agenda.cands[at]; t > last || t >= m.front.due {
			switch {
			case m.front.due < never && m.front.due <= t:
				m.offer()
				m.agenda.sort()
				continue
			case t >= never:
				m.Err = fmt.Errorf("gpu: kernel %s: deadlock: no wave can advance", m.p.k.Name)
			default:
				m.Err = &sim.Late{At: m.opt.Until}
			}
			return
		}
		if m.sampling != nil && m.sampling.due {
			m.sampling.observe(m.agenda.cands[at])
			continue
		}
		s := &m.simds[at]
		ahead := min(second+m.ahead, m.front.due-1, last)
		second = min(second, ahead)
		if s.unit[s.pick] == state.UnitVMEM && *s.cand < s.cu.accept {
			s.choose() // another SIMD of the compute unit has used the pipeline since
		}
		for *s.cand <= second || *s.cand <= ahead && s.private() {
			m.issue(s)
			if m.Err != nil {
				return
			}
			if m.woken {
				break
			}
		}
		if m.woken {
			m.woken = false
			m.agenda.sort()
		} else {
			m.agenda.moveFirst(at)
		}
	}
	m.settle(start)
}

// choose finds the wave of s that issues next: the earliest, the oldest of
// equals; and the one after it. Nothing branches on the times.
func (s *simd) choose() {
	best, second := never<<waveBits, never<<waveBits
	free := &s.free
	free[state.UnitVMEM] = max(free[state.UnitVMEM], s.cu.accept)
	for i := 0; i < min(len(s.waves), maxWaves-1); i += 2 { // the one behind the last is never
		a := max(s.next[i], free[s.unit[i]&(unitSlots-1)])<<waveBits | int64(i)
		b := max(s.next[i+1], free[s.unit[i+1]&(unitSlots-1)])<<waveBits | int64(i+1)
		second = min(second, max(a, b), max(best, min(a, b)))
		best = min(best, a, b)
	}
	*s.cand, s.pick = best>>waveBits, int(best&(maxWaves-1))
	s.second = second
}

// follow is choose after only wave i has changed: it remains the next one while no other can issue before it. The
// constraints of others only move back meanwhile.
func (s *simd) follow(i int) {
	u := s.unit[i]
	t := max(s.next[i], s.free[u])
	if u == state.UnitVMEM {
		t = max(t, s.cu.accept)
	}
	if t<<waveBits|int64(i) < s.second {
		*s.cand = t
		return
	}
	s.choose()
}

// private reports whether the next issue of s affects no other SIMD and none can change what issues before it.
func (s *simd) private() bool {
	const own = 1<<state.UnitVALU | 1<<state.UnitTrans | 1<<state.UnitSALU | 1<<state.UnitBranch
	return own>>(s.unit[s.pick&(maxWaves-1)]&(unitSlots-1))&1 != 0 && s.barred == 0
}

// advance charges the cycles from the cursor to t: until the wave was ready to
// its reason, from then on to the unit it waited for.
func (s *simd) advance(w *wave, t int64) {
	if t <= s.cursor {
		return
	}
	ready := min(max(s.next[s.pick], s.cursor), t)
	s.stalls[w.why] += ready - s.cursor
	s.charge(w.PC, w.why, ready-s.cursor)
	busy := sim.StallUnit
	if s.unit[s.pick] == state.UnitVMEM && s.cu.accept >= t {
		busy = s.cu.acceptStall
	}
	s.stalls[busy] += t - ready
	s.charge(w.PC, busy, t-ready)
	s.cursor = t
}

// issue lets the chosen wave of s issue at s.cand.
func (m *machine) issue(s *simd) {
	w := s.waves[s.pick]
	t := *s.cand
	if len(m.grids) > 1 {
		m.enter(w.wg.grid)
		s.attribute(w.wg.grid)
	}
	s.advance(w, t)
	if s.unit[s.pick] <= state.UnitTrans {
		m.issueRun(s, w, t)
		s.follow(s.pick)
		return
	}
	p := m.p
	pc := w.PC
	q := &m.timed[pc]
	replays := m.replays()
	if replays {
		w.PC = pc + 1
	} else if m.Cycle = t; !w.checkRun(pc, pc+1) || !w.step(pc, &p.Ops[pc]) {
		return
	}
	if s.cursor < t+1 {
		s.stalls[sim.StallIssue] += t + 1 - s.cursor
		s.charge(pc, sim.StallIssue, t+1-s.cursor)
		s.cursor = t + 1
	}
	next, why := t+1, sim.StallIssue
	if s.profile != nil {
		m.profiler.before = m.h.traffic()
	}
	switch q.Unit {
	case state.UnitSALU:
		s.free[state.UnitSALU] = t + 1
		w.wroteS(pc, t+int64(m.spec.SALULatency))
	case state.UnitBranch:
		if replays {
			w.PC = int32(w.word())
		}
		s.free[state.UnitBranch] = t + 1
		w.wroteS(pc, t+int64(m.spec.SALULatency))
		if w.PC != pc+1 {
			next, why = t+int64(m.spec.BranchCycles), sim.StallBranch
		}
	case state.UnitSMEM:
		m.loadScalars(s, w, pc, t)
	case state.UnitVMEM:
		if replays {
			m.replayVector(s, w, q, t)
		} else {
			m.issueVector(s, w, &p.Ops[pc], pc, t)
		}
	case state.UnitLDS:
		u := &p.Ops[pc]
		var busy, n int64
		if replays {
			x := w.word()
			busy, n = int64(x&(1<<bytesShift-1)), int64(x>>bytesShift)
		} else {
			busy, n = m.lanes.ldsUse(w, u.Details.Access)
		}
		m.issueLDS(s, w, u, pc, t, busy, n)
	case state.UnitControl:
		if q.Counter == schedule.Waits {
			w.retire(q)
			break
		}
		u := &p.Ops[pc]
		if m.control(s, w, u, t) {
			s.choose()
			return
		}
		next += int64(u.Imm)
	}
	if s.profile != nil {
		m.access(pc)
	}
	m.prepare(w, next, why)
	s.follow(s.pick)
}

// loadScalars times a load to scalar registers, or one of the clock.
func (m *machine) loadScalars(s *simd, w *wave, pc int32, t int64) {
	s.free[state.UnitSMEM] = t + 1
	u, n := &m.p.Ops[pc], int(m.timed[pc].Bytes)
	if u.Details.Access.Mode == state.AccessClock {
		w.track(u, pc, t+int64(m.spec.Scalar.LatencyCycles), sim.StallL1)
		return
	}
	if m.replays() {
		m.ScalarAddr = m.tape.address(w.at)
		w.at += 2
	}
	done, from := m.h.loadScalars(&s.cu.port, t, m.ScalarAddr, n)
	w.track(u, pc, done, from)
}

// control handles barriers, invalidations and the end of a wave; it reports whether
// the wave no longer issues.
func (m *machine) control(s *simd, w *wave, u *state.Op, t int64) bool {
	switch u.Control {
	case state.ControlInvalidate:
		s.cu.invalidate(u.Details.Form.Mnemonic)
	case state.ControlBarrier:
		g := w.wg
		if m.replays() {
			w.at = int(w.word())
		}
		w.atBarrier, w.barrierPC = true, w.PC-1
		w.why = sim.StallBarrier
		s.next[w.slot] = never
		s.barred++
		g.arrived++
		m.releaseBarrier(g, t)
		return true
	case state.ControlEnd:
		m.endWave(s, w, t)
		return true
	}
	return false
}

// settle closes the dispatches: their time and its reasons are those of the SIMD that finished last. Of several, each
// has those of its waves.
func (m *machine) settle(start int64) {
	at := 0
	done := func(i int) int64 { return max(m.simds[i].end, m.simds[i].cursor) }
	for i := range m.simds {
		if done(i) > done(at) {
			at = i
		}
	}
	last, end := &m.simds[at], done(at)
	last.stalls[sim.StallDrain] += end - last.cursor
	last.charge(0, sim.StallDrain, end-last.cursor)
	m.noteTraffic()
	last.attribute(last.grid)
	cycles := m.cycles
	m.stalls.Add(&last.stalls)
	m.cycles += end - start
	m.now = end
	for i, g := range m.grids {
		m.grid = g
		stalls := &g.shares[at]
		n := stalls.Total()
		r := m.region(g.d.Region)
		r.Cycles += n
		r.Stalls.Add(stalls)
		r.Time += m.clock.At(cycles+n) - m.clock.At(cycles)
		cycles += n
		m.tally(at, n)
		if m.opt.Span != nil {
			track := "dispatch"
			if i > 0 {
				track = fmt.Sprintf("dispatch %d", i+1)
			}
			m.opt.Span(sim.Span{Track: track, Name: g.p.k.Name, Region: g.d.Region, Start: m.clock.At(g.ready - int64(m.spec.LaunchCycles)), End: m.clock.At(g.end)})
		}
	}
	m.grid = last.grid
}

// drain writes L2 back at the end of a run.
func (m *machine) drain() {
	n := max(m.h.drain(m.now)-m.now, 0)
	if len(m.regions) == 0 {
		return
	}
	r := m.region(m.d.Region)
	r.Cycles += n
	r.Stalls[sim.StallDrain] += n
	m.stalls[sim.StallDrain] += n
	m.cycles += n
	m.now += n
	pj := m.charge(r, 0, n)
	m.drained(n, pj)
}
