package gpu

import (
	"fmt"
	"math/bits"

	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
)

const never = int64(1) << 62

// ldsUnit is the port of one LDS.
type ldsUnit struct {
	free int64
	used int // bytes allocated
}

// cu is one compute unit.
type cu struct {
	id      int
	cluster int
	simds   []simd
	lds     *ldsUnit
	l0      *mem.Cache
	scalar  *mem.Cache
	icache  *mem.Cache
	gl1     *mem.Cache
	groups  int
	launch  int64 // when the next wave may start

	// The vector memory pipeline takes the lines of an instruction in order and
	// stands still while as many misses are in flight as L0 keeps track of.
	accept int64      // when it takes the next instruction
	hold   sim.Reason // what it stands still for
	at     int
	// Returns of the last misses, and who served them.
	flight     []sim.Time
	flightFrom []sim.Reason
}

// maxWaves bounds WavesPerSIMD.
const maxWaves = 32

// runAhead is how many cycles a SIMD may be ahead of the others with
// instructions that none of them can notice. It bounds how late a wave that
// another SIMD starts meanwhile joins in.
const runAhead = 200

// simd is one SIMD: its waves, oldest first, and when each unit is free.
type simd struct {
	cu     *cu
	waves  []*wave
	next   [maxWaves]int64 // of each wave: earliest issue by its own state
	unit   [maxWaves]unit  // and what it issues to
	barred int             // waves at a barrier
	free   [numUnits]int64
	rows   int // register rows in use
	cursor int64
	end    int64  // completion of the last store of a wave that ended
	cand   *int64 // earliest issue of any wave, beside those of the other SIMDs
	pick   int
	second int64 // a bound of the earliest issue of the waves but pick
	after  int   // which of them
	stalls sim.StallTable
}

// buildUnits makes the compute units, or clears them.
func (m *machine) buildUnits() {
	s := m.spec
	n := s.Clusters * s.CUsPerCluster
	if m.cus == nil {
		m.cus = make([]cu, n)
		m.simds = make([]simd, n*s.SIMDsPerCU)
		m.cands = make([]int64, n*s.SIMDsPerCU)
		m.lds = make([]ldsUnit, n)
		m.fetch = make([][]int64, s.Clusters)
		for i := range m.simds {
			m.simds[i].waves = make([]*wave, 0, s.WavesPerSIMD)
		}
	}
	for i := range m.cus {
		c := &m.cus[i]
		u := i
		if s.LDSPerCluster {
			u = i / s.CUsPerCluster
		}
		k := i / s.CUsPerCluster
		*c = cu{
			id: i, cluster: k, simds: m.simds[i*s.SIMDsPerCU : (i+1)*s.SIMDsPerCU],
			lds: &m.lds[u], l0: m.h.l0[i], scalar: m.h.scalar[k], icache: m.h.icache[k], gl1: m.h.gl1,
			flight: make([]sim.Time, s.L0.MSHRs), flightFrom: make([]sim.Reason, s.L0.MSHRs),
		}
	}
}

// runTimed executes the dispatch in time order: at each step the SIMD whose
// next issue is earliest issues one instruction, or a run of vector
// instructions, which no other SIMD can see.
func (m *machine) runTimed() {
	start := m.now
	m.h.acquire()
	first := start + int64(m.spec.LaunchCycles)
	for i := range m.simds {
		w := m.simds[i].waves[:0]
		cu := &m.cus[i/m.spec.SIMDsPerCU]
		m.simds[i] = simd{cu: cu, waves: w, cursor: start, end: start, cand: &m.cands[i]}
		m.cands[i] = never
		for u := range m.simds[i].free {
			m.simds[i].free[u] = first
		}
	}
	for i := range m.lds {
		m.lds[i] = ldsUnit{free: first}
	}
	m.half = int64(max(m.p.k.WaveSize/m.spec.Lanes, 1))
	m.codeShift = shiftOf(m.spec.ICache.Line)
	m.codeFits = len(m.p.k.Code) <= m.spec.ICache.Bytes
	lines := len(m.p.k.Code)/m.spec.ICache.Line + 2
	for i := range m.fetch {
		if cap(m.fetch[i]) < lines {
			m.fetch[i] = make([]int64, lines)
		}
		m.fetch[i] = m.fetch[i][:lines]
		clear(m.fetch[i])
	}
	for i := range m.cus {
		m.cus[i].groups, m.cus[i].launch, m.cus[i].accept = 0, first, first
	}
	m.live = 0
	// One work-group per compute unit in turn, until none takes another.
	for placed := true; placed; {
		placed = false
		for i := range m.cus {
			placed = m.place(&m.cus[i], first) || placed
		}
	}
	for m.live > 0 {
		s, second := m.earliest()
		if s == nil {
			m.deadlock()
			return
		}
		for *s.cand < never && !m.woken && (*s.cand <= second || *s.cand <= second+runAhead && s.private()) {
			m.issue(s)
			if m.err != nil {
				return
			}
		}
		m.woken = false
	}
	m.account(start)
}

// earliest is the SIMD that issues next and the time of the one after it.
func (m *machine) earliest() (*simd, int64) {
	best, second, at := never, never, -1
	for i, c := range m.cands {
		if c < best {
			best, second, at = c, best, i
		} else if c < second {
			second = c
		}
	}
	if at < 0 {
		return nil, never
	}
	return &m.simds[at], second
}

// choose finds the wave of s that issues next: the earliest, the oldest of
// equals; and the one after it.
func (s *simd) choose() {
	best, pick := never, -1
	second, after := never, maxWaves
	n := min(len(s.waves), maxWaves)
	for i := range n {
		u := s.unit[i]
		t := max(s.next[i], s.free[u])
		if u == unitVMEM {
			t = max(t, s.cu.accept)
		}
		if t < best {
			second, after = best, pick
			best, pick = t, i
		} else if t < second {
			second, after = t, i
		}
	}
	*s.cand, s.pick = best, pick
	s.second, s.after = second, after
}

// follow is choose after wave i alone has changed: it stays the next one while
// no other can come before it. What others wait for only moves back meanwhile.
func (s *simd) follow(i int) {
	u := s.unit[i]
	t := max(s.next[i], s.free[u])
	if u == unitVMEM {
		t = max(t, s.cu.accept)
	}
	if t < s.second || t == s.second && i < s.after {
		*s.cand = t
		return
	}
	s.choose()
}

// private reports whether the next issue of s concerns nobody else and nobody
// else can change what issues before it.
func (s *simd) private() bool {
	switch s.unit[s.pick] {
	case unitVALU, unitTrans, unitSALU, unitBranch:
		return s.barred == 0
	}
	return false
}

// advance charges the cycles from the cursor to t: until the wave was ready to
// its reason, from then on to the unit it waited for.
func (s *simd) advance(w *wave, t int64) {
	if t <= s.cursor {
		return
	}
	ready := min(max(s.next[s.pick], s.cursor), t)
	s.stalls[w.why] += ready - s.cursor
	busy := sim.StallUnit
	if s.unit[s.pick] == unitVMEM && s.cu.accept >= t {
		busy = s.cu.hold
	}
	s.stalls[busy] += t - ready
	s.cursor = t
}

// issue lets the chosen wave of s issue at s.cand.
func (m *machine) issue(s *simd) {
	w := s.waves[s.pick]
	t := *s.cand
	p := m.p
	pc := w.pc
	u := &p.uops[pc]
	if u.unit == unitVMEM && t < s.cu.accept {
		// Another SIMD of the compute unit has used the pipeline since.
		s.choose()
		return
	}
	s.advance(w, t)
	if u.unit <= unitTrans {
		m.issueRun(s, w, t)
		s.follow(s.pick)
		return
	}
	if !w.checkRun(pc, pc+1) || !w.step(pc, u) {
		return
	}
	if s.cursor < t+1 {
		s.stalls[sim.StallIssue] += t + 1 - s.cursor
		s.cursor = t + 1
	}
	next, why := t+1, sim.StallIssue
	switch u.unit {
	case unitSALU:
		s.free[unitSALU] = t + 1
		w.wrote(&p.deps[pc], t+int64(m.spec.SALULatency))
	case unitBranch:
		s.free[unitBranch] = t + 1
		w.wrote(&p.deps[pc], t+int64(m.spec.SALULatency))
		if w.pc != pc+1 {
			next, why = t+int64(m.spec.BranchCycles), sim.StallBranch
		}
	case unitSMEM:
		s.free[unitSMEM] = t + 1
		done, from := s.cu.scalar.Access(m.clock.At(t), m.scalarAddr, u.x.mem.size, mem.Read)
		m.count[cntScalarBytes] += int64(u.x.mem.size)
		w.track(u, pc, max(m.clock.Cycle(done), t+1), from)
	case unitVMEM:
		m.issueVector(s, w, u, pc, t)
	case unitLDS:
		m.issueLDS(s, w, u, pc, t)
	case unitControl:
		if m.control(s, w, u, t) {
			s.choose()
			return
		}
		next += int64(u.imm)
	}
	w.prepare(next, why)
	s.follow(s.pick)
}

// issueRun issues vector instructions of one wave back to back: as many as
// are free of stalls, fetched, and before an older wave wants the unit. After a
// stall it goes on when no other wave of the SIMD issues anything before.
func (m *machine) issueRun(s *simd, w *wave, t int64) {
	p := m.p
	pc := w.pc
	limit := never
	for i, u := range s.unit[:s.pick] {
		if u <= unitTrans && s.next[i] < limit {
			limit = s.next[i]
		}
	}
	until := t + runAhead
	for {
		end := m.runEnd(s, w, pc, t, limit)
		if !w.checkRun(pc, end) {
			return
		}
		m.visit(pc, end, w.mask())
		if m.executed > m.limit {
			m.cur = pc
			m.fail(w, errLimit)
			return
		}
		for i := pc; i < end; i++ {
			u := &p.uops[i]
			u.fn(w, u)
		}
		finish := m.retireRun(s, w, pc, end, t)
		w.pc = end
		if p.uops[end].unit == unitVALU && p.uops[end-1].unit == unitVALU && finish < until &&
			p.offs[end]>>m.codeShift == w.line && w.sMax <= finish {
			if at := w.ready(&p.deps[end], finish); at < s.second {
				if at > s.cursor {
					s.stalls[sim.StallOperand] += at - s.cursor
					s.cursor = at
				}
				pc, t = end, at
				continue
			}
		}
		w.prepare(t+int64(p.cost[end-1]-p.cost[pc])+1, sim.StallIssue)
		return
	}
}

// runEnd is where the run that starts at pc at cycle t ends.
func (m *machine) runEnd(s *simd, w *wave, pc int32, t, limit int64) int32 {
	p := m.p
	end := p.end[pc]
	cost := p.cost
	base := cost[pc]
	if limit < t+int64(cost[end]-base) {
		for end > pc+1 && t+int64(cost[end-1]-base) >= limit {
			end--
		}
	}
	// Results of before the run that are not ready yet.
	for i := pc + 1; i < end; i++ {
		at := t + int64(cost[i]-base)
		if at >= w.vMax && at >= w.sMax {
			break
		}
		if r := w.ready(&p.deps[i], at); r > at {
			end = i
			break
		}
	}
	if p.offs[end-1]>>m.codeShift != w.line {
		end = m.fetched(s.cu, w, pc, end, t)
	}
	return end
}

// retireRun takes the unit for the uops [pc, end) issued from t on, notes which
// results are still on their way when the last has issued, charges the cycles,
// and returns when the unit is free.
func (m *machine) retireRun(s *simd, w *wave, pc, end int32, t int64) int64 {
	p := m.p
	base := p.cost[pc]
	total := int64(p.cost[end] - base)
	finish := t + total
	for i := end - 1; i >= pc; i-- {
		at := t + int64(p.cost[i]-base)
		if finish-at >= p.latest {
			break
		}
		if done := at + int64(m.spec.Vector[p.uops[i].class].Result); done > finish {
			w.wroteV(&p.deps[i], done)
		}
	}
	s.free[unitVALU] = finish
	s.free[unitTrans] = max(s.free[unitTrans], finish)
	if p.uops[pc].unit == unitTrans {
		s.free[unitTrans] = t + int64(m.spec.Vector[ClassTrans].Issue)*m.half
	}
	if finish > s.cursor {
		n := finish - s.cursor
		busy := min(max(total-int64(end-pc)*m.half, 0), n)
		s.stalls[sim.StallUnit] += busy
		s.stalls[sim.StallIssue] += n - busy
		s.cursor = finish
	}
	return finish
}

// fetched shortens a run to the code lines that are there in time.
func (m *machine) fetched(c *cu, w *wave, pc, end int32, t int64) int32 {
	p := m.p
	shift := m.codeShift
	line := p.offs[pc] >> shift
	last := p.offs[end-1] >> shift
	for line < last {
		line++
		i := pc
		for p.offs[i]>>shift < line {
			i++
		}
		at := t + int64(p.cost[i]-p.cost[pc])
		if m.fetchLine(c, w, line, at) > at {
			return i
		}
		w.line = line
		pc, t = i, at
	}
	return end
}

// fetchLine is when a line of code is there for a wave, which asks for the next
// one as it enters it. Code that fits the instruction cache is not evicted
// again within a dispatch.
func (m *machine) fetchLine(c *cu, w *wave, line int32, t int64) int64 {
	if !m.codeFits {
		r, from := m.fetchCode(c, line, t)
		if line == w.line+1 && from == sim.StallFetch {
			return t // a hit that was asked for in time
		}
		return r
	}
	f := m.fetch[c.cluster]
	r := f[line]
	if r == 0 {
		r, _ = m.fetchCode(c, line, t)
		r = max(r, 1)
		f[line] = r
	}
	if next := line + 1; int(next)<<m.codeShift < len(m.p.k.Code) && f[next] == 0 {
		n, _ := m.fetchCode(c, next, t)
		f[next] = max(n, 1)
	}
	return r
}

func (m *machine) fetchCode(c *cu, line int32, t int64) (int64, sim.Reason) {
	done, from := c.icache.Access(m.clock.At(t), m.p.base+uint64(line)<<m.codeShift, 4, mem.Read)
	return m.clock.Cycle(done), from
}

// ready is when the registers of an instruction are, at least t.
func (w *wave) ready(d *deps, t int64) int64 {
	if w.vMax > t {
		for _, s := range d.vr[:d.nvr] {
			for r := s.reg; r < s.reg+s.n; r++ {
				t = max(t, w.vReady[r])
			}
		}
		for r := d.vw.reg; r < d.vw.reg+d.vw.n; r++ {
			t = max(t, w.vReady[r])
		}
	}
	if w.sMax > t {
		for _, s := range d.sr[:d.nsr] {
			for r := s.reg; r < s.reg+s.n && r <= sSCC; r++ {
				t = max(t, w.sReady[r])
			}
		}
		for _, s := range d.sw[:d.nsw] {
			for r := s.reg; r < s.reg+s.n && r <= sSCC; r++ {
				t = max(t, w.sReady[r])
			}
		}
	}
	return t
}

// wrote notes when scalar results are ready.
func (w *wave) wrote(d *deps, t int64) {
	for _, s := range d.sw[:d.nsw] {
		for r := s.reg; r < s.reg+s.n && r <= sSCC; r++ {
			w.sReady[r] = t
		}
		w.sMax = max(w.sMax, t)
	}
}

func (w *wave) wroteV(d *deps, t int64) {
	if d.vw.n > 0 {
		for r := int(d.vw.reg); r < int(d.vw.reg)+int(d.vw.n); r++ {
			w.vReady[r] = t
		}
		w.vMax = max(w.vMax, t)
	}
	if d.nsw > 0 {
		w.wrote(d, t)
	}
}

// prepare works out when the instruction at w.pc can issue, not before t, and
// what it waits for.
func (w *wave) prepare(t int64, why sim.Reason) {
	m := w.m
	u := &m.p.uops[w.pc]
	d := &m.p.deps[w.pc]
	w.next, w.why = t, why
	if line := m.p.offs[w.pc] >> m.codeShift; line != w.line {
		w.until(m.fetchLine(w.simd.cu, w, line, t), sim.StallFetch)
		w.line = line
	}
	if r := w.ready(d, w.next); r > w.next {
		w.until(r, sim.StallOperand)
	}
	switch u.unit {
	case unitVALU, unitTrans, unitVMEM, unitLDS:
		w.until(max(w.sReady[sEXEC], w.sReady[sEXEC+1]), sim.StallOperand)
	}
	full := m.spec.MaxOutstanding
	switch u.unit {
	case unitVMEM:
		if op := u.x.mem; op.store || op.atomic != nil && !op.ret {
			w.room(&w.vs, full)
		} else {
			w.room(&w.vm, full)
		}
	case unitLDS, unitSMEM:
		w.room(&w.lgkm, full)
	case unitControl:
		if u.ctl == ctlWait {
			w.waitInOrder(&w.vm, int(u.a))
			w.waitInOrder(&w.vs, int(u.c))
			w.waitAny(&w.lgkm, int(u.b))
		}
	}
	w.simd.next[w.slot], w.simd.unit[w.slot] = w.next, u.unit
}

func (w *wave) until(t int64, why sim.Reason) {
	if t > w.next {
		w.next, w.why = t, why
	}
}

// room waits until a counter is below its limit.
func (w *wave) room(q *queue, limit int) {
	if q.n >= limit {
		w.until(q.at(q.n-limit).done, sim.StallQueue)
	}
}

// waitInOrder waits until at most n operations are outstanding.
func (w *wave) waitInOrder(q *queue, n int) {
	if q.n > n {
		e := q.at(q.n - n - 1)
		w.until(e.done, e.from)
	}
}

// waitAny is the same for a counter whose operations return in any order.
func (w *wave) waitAny(q *queue, n int) {
	if q.scalars == 0 {
		w.waitInOrder(q, n)
		return
	}
	if q.n <= n {
		return
	}
	// The time at which all but n are back.
	var done [64]int64
	for i := range q.n {
		done[i] = q.at(i).done
	}
	for k := 0; ; k++ {
		best := 0
		for i := 1; i < q.n; i++ {
			if done[i] < done[best] {
				best = i
			}
		}
		if k == q.n-n-1 {
			w.until(done[best], q.at(best).from)
			return
		}
		done[best] = never
	}
}

// issueVector times a global or scratch access.
func (m *machine) issueVector(s *simd, w *wave, u *uop, pc int32, t int64) {
	s.free[unitVMEM] = t + m.halves(w)
	mask := w.mask()
	op := u.x.mem
	done, from := t+1, sim.StallL1
	if mask != 0 {
		done, from = m.vectorAccess(s.cu, t, mask, op)
	}
	q := &w.vm
	if op.store || op.atomic != nil && !op.ret {
		q = &w.vs
	}
	q.last = max(q.last, done)
	w.track(u, pc, q.last, from)
}

// halves is how many cycles a wave takes on a unit of 32 lanes.
func (m *machine) halves(w *wave) int64 { return int64(w.n / 32) }

func (m *machine) issueLDS(s *simd, w *wave, u *uop, pc int32, t int64) {
	s.free[unitLDS] = t + m.halves(w)
	mask := w.mask()
	op := u.x.mem
	busy := int64(0)
	switch {
	case mask == 0:
	case op.mode != memPlain:
		busy = m.halves(w)
	default:
		busy = m.conflictCycles(&m.addr, mask, op.size, w.n)
		if op.two != 0 {
			busy += m.conflictCycles(&m.addr2, mask, op.size, w.n)
		}
		n := int64(op.size) * int64(bits.OnesCount64(mask))
		if op.two != 0 {
			n *= 2
		}
		m.count[cntLDSBytes] += n
		m.count[cntLDSCycles] += busy
	}
	l := s.cu.lds
	begin := max(t, l.free)
	l.free = begin + busy
	done := begin + max(busy-1, 0) + int64(m.spec.LDSLatency)
	w.lgkm.last = max(w.lgkm.last, done)
	w.track(u, pc, w.lgkm.last, sim.StallScratchpad)
}

// control handles waits, barriers and the end of a wave; it reports whether
// the wave no longer issues.
func (m *machine) control(s *simd, w *wave, u *uop, t int64) bool {
	switch u.ctl {
	case ctlWait:
		w.settle(u)
	case ctlBarrier:
		g := w.wg
		w.atBarrier, w.barrierPC = true, w.pc-1
		w.why = sim.StallBarrier
		s.next[w.slot] = never
		s.barred++
		g.arrived++
		m.releaseBarrier(g, t)
		return true
	case ctlEnd:
		m.endWave(s, w, t)
		return true
	}
	return false
}

// releaseBarrier lets a work-group go on when all its live waves have arrived.
func (m *machine) releaseBarrier(g *workgroup, t int64) {
	if g.arrived < g.live || g.live == 0 {
		return
	}
	g.arrived = 0
	for _, w := range g.waves {
		if w.done {
			continue
		}
		w.atBarrier = false
		w.simd.barred--
		w.prepare(t+int64(m.spec.BarrierCycles), sim.StallBarrier)
		w.simd.choose()
	}
	m.woken = true
}

// endWave frees the wave's place and, with its work-group, starts the next.
func (m *machine) endWave(s *simd, w *wave, t int64) {
	s.end = max(s.end, t+1, w.vs.last)
	i := w.slot
	s.waves = append(s.waves[:i], s.waves[i+1:]...)
	copy(s.next[i:], s.next[i+1:])
	copy(s.unit[i:], s.unit[i+1:])
	for ; i < len(s.waves); i++ {
		s.waves[i].slot = i
	}
	s.rows -= rowsOf(m.spec, m.p.k)
	g := w.wg
	w.done = true
	g.live--
	if g.live > 0 {
		m.releaseBarrier(g, t)
		return
	}
	m.live--
	c := g.cu
	c.groups--
	c.lds.used -= m.p.k.LDSBytes
	m.retire(g)
	m.woken = true
	for m.place(c, t+1) {
	}
	if m.spec.LDSPerCluster && m.p.k.LDSBytes > 0 {
		// The LDS it held may have kept a neighbour empty.
		for i := range m.cus {
			if o := &m.cus[i]; o.cluster == c.cluster && o != c {
				for m.place(o, t+1) {
				}
			}
		}
	}
}

// place starts the next work-group on c at t if it has room.
func (m *machine) place(c *cu, t int64) bool {
	if m.next >= m.total || c.groups >= m.spec.WorkgroupsMax || c.lds.used+m.p.k.LDSBytes > m.spec.LDSBytes {
		return false
	}
	rows := rowsOf(m.spec, m.p.k)
	items := 1
	for i := range 3 {
		items *= max(m.d.Workgroup[i], 1)
	}
	need := (items + m.p.k.WaveSize - 1) / m.p.k.WaveSize
	for i := range c.simds {
		s := &c.simds[i]
		need -= min(m.spec.WavesPerSIMD-len(s.waves), (m.spec.VGPRRows-s.rows)/rows)
	}
	if need > 0 {
		return false
	}
	g := m.newWorkgroup()
	g.cu = c
	c.groups++
	c.lds.used += m.p.k.LDSBytes
	m.live++
	for _, w := range g.waves {
		s := c.emptiest(m.spec, rows)
		c.launch = max(c.launch, t)
		w.simd, w.slot = s, len(s.waves)
		s.rows += rows
		s.waves = append(s.waves, w)
		w.prepare(c.launch, sim.StallLaunch)
		c.launch += int64(m.spec.WaveLaunch)
		s.choose()
	}
	return true
}

// emptiest is the SIMD of c with the fewest waves that has room.
func (c *cu) emptiest(spec *Spec, rows int) *simd {
	var best *simd
	for i := range c.simds {
		s := &c.simds[i]
		if len(s.waves) >= spec.WavesPerSIMD || s.rows+rows > spec.VGPRRows {
			continue
		}
		if best == nil || len(s.waves) < len(best.waves) {
			best = s
		}
	}
	return best
}

// account closes the dispatch: its time is that of the SIMD that finished
// last, and so are its reasons.
func (m *machine) account(start int64) {
	last := &m.simds[0]
	done := func(s *simd) int64 { return max(s.end, s.cursor) }
	for i := range m.simds {
		if s := &m.simds[i]; done(s) > done(last) {
			last = s
		}
	}
	end := done(last)
	last.stalls[sim.StallDrain] += end - last.cursor
	r := m.region(m.d.Region)
	r.Cycles += end - start
	r.Stalls.Add(&last.stalls)
	m.stalls.Add(&last.stalls)
	m.cycles += end - start
	m.now = end
	if m.opt.Span != nil {
		m.opt.Span(Span{Track: "dispatch", Name: m.p.k.Name, Region: m.d.Region, Start: start, End: end})
	}
}

// drain writes L2 back at the end of a run.
func (m *machine) drain() {
	at := m.clock.At(m.now)
	end := m.clock.Cycle(m.h.l2.Clean(at))
	n := max(end-m.now, 0)
	if len(m.regions) == 0 {
		return
	}
	r := m.region(m.d.Region)
	r.Cycles += n
	r.Stalls[sim.StallDrain] += n
	m.stalls[sim.StallDrain] += n
	m.cycles += n
	m.now += n
	m.charge(r, 0, n)
}

// deadlock names a wave that waits for a barrier that cannot complete.
func (m *machine) deadlock() {
	for i := range m.simds {
		for _, w := range m.simds[i].waves {
			if w.atBarrier {
				m.cur = w.barrierPC
				m.fail(w, fmt.Errorf("deadlock: %d of %d waves have arrived at the barrier", w.wg.arrived, w.wg.live))
				return
			}
		}
	}
	m.err = fmt.Errorf("gpu: kernel %s: deadlock: no wave can advance", m.p.k.Name)
}
