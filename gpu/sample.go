package gpu

import (
	"math"
	"slices"

	"github.com/nnsoc/nnsoc/gpu/internal/state"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
	"github.com/nnsoc/nnsoc/sim/mem/cache"
)

// Sampler lets timed runs simulate only a part of those dispatches in time that have executed before they are timed,
// see recording. A dispatch that behaves as another did at the same clocks costs the same as that one: same kernel,
// grid and executions of each instruction, and as many lines read and written. Others are timed, and leave out
// work-groups once a generation of them has followed the first:
//
//	left out = cost of the generation * work-groups left out / work-groups of the generation
//
// for cycles, stalls and events alike. Lines that the missing part would have moved between L2 and the memory are moved
// evenly in its time, so that the memory sees them. Some dispatches are simulated in full, and compared with the costs
// that would have been reused or extrapolated.
//
// Dispatches that cannot be recorded, those with atomics or invalidated caches, and runs that are profiled, traced or
// bounded are simulated in full.
//
// A Sampler is for runs of the same dispatches, one after the other.
type Sampler struct {
	*sim.Sampled // accumulates its statistics

	known    []*behaviour // by number of the dispatch in its run
	outcomes map[conditions]*outcome
}

// prepare allocates the behaviour of each dispatch of a run, and reports whether all are known.
func (s *Sampler) prepare(n int) bool {
	s.known = append(s.known, make([]*behaviour, max(0, n-len(s.known)))...)
	return !slices.Contains(s.known, nil)
}

// Assumed: D-1710.
const (
	// One in so many instructions is of dispatches that are simulated in full to be compared.
	compareOne = 8
	// The work-groups of a dispatch, without the first and the last, are in so many parts. A window in each has a generation
	// or one in windowOf, the larger; the rest is left out if it is at least one in leastLeft.
	windows, windowOf, leastLeft = 3, 4, 3
	// Lines that a work-group moves in a row: those of a vector instruction of 32 lanes with 16 bytes.
	burstLines = 8
	// The costs of a dispatch are reused if the last comparison was within this of its cycles and energy.
	outcomeTolerance = 0.02
)

// behaviour is the record of a dispatch that has run.
type behaviour struct {
	signature
	lines [2][]uint64 // of L2 that it reads and writes, by mem.Kind, in order
}

// signature is the key of dispatches that behave alike.
type signature struct {
	kernel          string
	code, registers int
	grid, workgroup [3]int
	executions      uint64 // a hash
	lines           [2]int
}

// conditions are those in which dispatches that behave alike cost the same.
type conditions struct {
	signature
	point  sim.OPP
	memory int64 // clock
}

// outcome is the cost of a dispatch.
type outcome struct {
	span       probe // without its SIMDs
	stalls     sim.StallTable
	waveCycles int64
	differs    bool // it differs from the one before
}

// sampleable reports whether the behaviour of a program depends neither on other work-groups nor on time.
func (p *program) sampleable() bool {
	return !slices.ContainsFunc(p.Ops, func(u state.Op) bool {
		a := (*state.Access)(nil)
		if u.Details != nil {
			a = u.Details.Access
		}
		return u.Control == state.ControlInvalidate || a != nil && (a.Atomic != nil || a.Mode == state.AccessClock)
	})
}

// behaviour sums up how the dispatch behaves, from its recording.
func (m *machine) behaviour() *behaviour {
	d, k, lines := m.d, m.p.k, m.tape.touched
	b := &behaviour{signature: signature{kernel: k.Name, code: len(k.Code), registers: k.VGPRs, grid: d.Grid, workgroup: d.Workgroup}}
	for _, e := range m.executions {
		b.executions = (b.executions^uint64(e.visits))*0x100000001B3 ^ uint64(e.lanes)
	}
	for i := range lines {
		b.lines[i] = lines[i].Lines()
		b.signature.lines[i] = len(b.lines[i])
	}
	return b
}

// runSampled runs a dispatch of a sampled run, and reports whether it is one that can be sampled.
func (m *machine) runSampled(s *Sampler) bool {
	number := m.number
	m.number++
	if o := &m.opt; m.tape == nil || o.Profile != nil || o.Span != nil {
		return false
	}
	if !m.p.sampleable() {
		s.known[number] = &behaviour{}
		return false
	}
	b := s.known[number]
	if b == nil {
		b = m.behaviour()
		s.known[number] = b
	}
	instructions := m.tape.executed
	s.Instructions += instructions
	m.reclock()
	if s.outcomes == nil {
		s.outcomes = map[conditions]*outcome{}
	}
	at := conditions{b.signature, m.point, s.memoryHz()}
	x := s.outcomes[at]
	sampled := &sampling{behaviour: b, Sampler: s, m: m}
	compares := s.Complete*compareOne <= s.Instructions
	if x != nil && !x.differs && (!compares || m.tape.short) {
		sampled.reuse(x)
		return true
	}
	if !m.fill() {
		return true
	}
	now, stalls := m.probe(m.now), m.stalls
	sampled.compares, sampled.complete = compares && x == nil, compares || x != nil
	m.sampling = sampled
	m.runTimed()
	if m.Err != nil {
		return true
	}
	if sampled.complete {
		s.Complete += instructions
	}
	s.Simulated += int64(float64(instructions) * float64(m.total-sampled.left) / float64(m.total))
	m.sampling = nil
	y := &outcome{waveCycles: m.waveCycles, stalls: m.stalls}
	for i, n := range stalls {
		y.stalls[i] -= n
	}
	end := m.probe(m.now)
	y.span = end.since(&now, 1)
	if x != nil {
		sampled.compare(&x.span, &y.span)
		y.differs = !within(float64(x.span.at), float64(y.span.at)) || !within(x.span.pj, y.span.pj)
	}
	if at.memory == s.memoryHz() {
		s.outcomes[at] = y
	}
	return true
}

// memoryHz is the clock of the memory, 0: it is not known.
func (s *Sampler) memoryHz() int64 {
	if s.Memory == nil {
		return 0
	}
	return s.Memory()
}

func within(a, b float64) bool { return math.Abs(a-b) <= outcomeTolerance*max(a, b) }

// reuse charges the dispatch with the cost of another.
func (s *sampling) reuse(x *outcome) {
	m, b := s.m, s.behaviour
	m.h.acquire()
	n := x.span.at
	s.add(&x.span, m.now, 0, m.total)
	// What it has written last is in L2, where the next one finds it.
	written := b.lines[mem.Write]
	for _, line := range written[max(0, len(written)-m.spec.L2.Bytes/m.spec.L2.Line):] {
		m.h.l2.Install(line)
	}
	m.stalls.Add(&x.stalls)
	m.cycles += n
	m.now += n
	r := m.region(m.d.Region)
	r.Cycles += n
	r.Stalls.Add(&x.stalls)
	r.Time += m.clock.At(m.cycles) - m.clock.At(m.cycles-n)
	m.waveCycles = x.waveCycles
	m.tally(0, n)
}

// sampling is a dispatch of a sampled run under way in time.
type sampling struct {
	*behaviour
	*Sampler
	m        *machine
	complete bool  // leaves nothing out
	compares bool  // with the extrapolation
	due      bool  // a work-group has started since the last look
	resident int64 // work-groups, at most
	open     bool  // a generation is being watched:
	began    probe
	first    int64 // work-groups started where that began
	part     int64 // of work-groups, that have a window, 0: not known yet
	left     int64 // work-groups that were left out

	predicted, from probe // with compares: the extrapolated costs of work-groups up to upTo, and their start
	upTo            int64
}

// probe is the account at an instant.
type probe struct {
	at     int64
	pj     float64 // of caches, of time and of
	dramPJ float64 // the memory
	counts [numCounts]int64
	caches []cache.Events // in the order of hierarchy.each
	stalls []sim.StallTable
}

func (m *machine) probe(at int64) (p probe) {
	p.at, p.counts = at, m.h.count
	m.h.each(func(c *cache.Cache) { p.caches = append(p.caches, c.Events()) })
	for i := range m.simds {
		p.stalls = append(p.stalls, m.simds[i].stalls)
	}
	scale, watts := m.supply()
	t := m.h.traffic()
	p.dramPJ = t.dramPJ
	p.pj = m.spec.Energy.trafficPJ(0, &t, &traffic{})*scale + t.dramPJ + watts*float64(at)/float64(m.point.Hz)*1e12
	return p
}

// since is the difference of two probes, scaled by f.
func (p *probe) since(before *probe, f float64) (d probe) {
	part := func(now, then int64) int64 { return int64(math.Round(f * float64(now-then))) }
	d.at, d.pj, d.dramPJ = part(p.at, before.at), f*(p.pj-before.pj), f*(p.dramPJ-before.dramPJ)
	for i := range p.counts {
		d.counts[i] = part(p.counts[i], before.counts[i])
	}
	d.caches, d.stalls = slices.Clone(p.caches), slices.Clone(p.stalls)
	for i := range d.caches {
		for k := range d.caches[i] {
			d.caches[i][k] = part(p.caches[i][k], before.caches[i][k])
		}
	}
	for i := range d.stalls {
		for k := range d.stalls[i] {
			d.stalls[i][k] = part(p.stalls[i][k], before.stalls[i][k])
		}
	}
	return d
}

// started notes that a work-group has started.
func (s *sampling) started() {
	if s != nil {
		s.due = true
	}
}

// observe updates the sampling by the work-groups that have started until a cycle.
func (s *sampling) observe(t int64) {
	m := s.m
	s.due = false
	s.resident = max(s.resident, m.running)
	switch {
	case s.upTo > 0 && m.next >= s.upTo:
		now := m.probe(t)
		d := now.since(&s.from, 1)
		s.compare(&s.predicted, &d)
		s.upTo = 0
	case s.complete && !s.compares || s.upTo > 0:
	case !s.open:
		if m.next >= s.resident+s.resident/4 {
			s.open, s.began, s.first = true, m.probe(t), m.next
			if s.part == 0 {
				s.part = (m.total - s.first - s.resident/4) / windows
			}
		}
	case m.next >= s.first+s.window():
		n := s.part - (m.next - s.first)
		if s.open = false; n < s.part/leastLeft || m.next+n > m.total-s.resident/4 {
			return
		}
		now := m.probe(t)
		d := now.since(&s.began, float64(n)/float64(m.next-s.first))
		if s.compares {
			s.predicted, s.from, s.upTo = d, now, m.next+n
			return
		}
		s.add(&d, t, m.next, m.next+n)
		m.shift(d.at, d.stalls)
		m.next += n
		s.left += n
		s.due = true
	}
}

// window is the work-groups of a window.
func (s *sampling) window() int64 { return max(s.resident, s.part/windowOf) }

// add adds the costs of work-groups from one to another, from a cycle on.
func (s *sampling) add(d *probe, t, from, to int64) {
	m := s.m
	for i, n := range d.counts {
		m.h.count[i] += n
	}
	before, i := m.h.traffic().dramPJ, 0
	m.h.each(func(c *cache.Cache) {
		e := d.caches[i]
		if i++; c == m.h.l2 {
			n := [2]int64{mem.Read: e[cache.Fill], mem.Write: e[cache.LineWriteBack]}
			e[cache.Fill], e[cache.LineWriteBack] = 0, 0
			s.forward(n, t, d.at, from, to)
		}
		c.Add(e)
	})
	m.h.surplusPJ += m.h.traffic().dramPJ - before - d.dramPJ
}

// forward moves lines between L2 and the memory, evenly over some cycles from t on: those used by the work-groups from
// one to another, as far as the order of the lines is that of the work-groups, and again from the first where there are
// fewer. As many streams as there are resident work-groups alternate.
func (s *sampling) forward(n [2]int64, t, cycles, from, to int64) {
	m, b := s.m, s.behaviour
	var done [2]int64
	streams := m.resident()
	for done != n {
		// Whichever kind is behind.
		k := mem.Read
		if done[mem.Read]*n[mem.Write] > done[mem.Write]*n[mem.Read] || done[mem.Read] == n[mem.Read] {
			k = mem.Write
		}
		lines := b.lines[k]
		if len(lines) == 0 {
			lines = b.lines[1-k]
		}
		all := int64(len(lines))
		if lines = lines[all*from/m.total : all*to/m.total]; len(lines) == 0 {
			return
		}
		i := done[k]
		at := i * int64(len(lines)) / n[k]
		if n[k] > int64(len(lines)) {
			at = i % int64(len(lines))
		}
		when := t + int64(float64(i)/float64(n[k])*float64(cycles))
		m.h.l2.Forward(m.clock.At(when), lines[inStreams(at, int64(len(lines)), streams)], k)
		done[k]++
	}
}

// inStreams is the index among n lines of the turn-th one when equal streams alternate, each with burstLines in a row.
func inStreams(turn, n, streams int64) int64 {
	each := n / (burstLines * streams) * burstLines // in a part
	if turn >= each*streams {
		return turn
	}
	burst := turn / burstLines
	return burst%streams*each + burst/streams*burstLines + turn%burstLines
}

// resident is about how many work-groups of the dispatch are resident.
func (m *machine) resident() int64 {
	items := 1
	for i := range 3 {
		items *= max(m.d.Workgroup[i], 1)
	}
	waves := (items + m.p.k.WaveSize - 1) / m.p.k.WaveSize
	return int64(min(m.spec.WavesPerSIMD, m.spec.VGPRRows/rowsOf(m.spec, m.p.k)) * len(m.simds) / waves)
}

// shift delays all that is in flight by some cycles, in which SIMDs with waves have the given stalls.
func (m *machine) shift(by int64, stalls []sim.StallTable) {
	later := func(t *int64) {
		if *t < never {
			*t += by
		}
	}
	for i := range m.simds {
		s := &m.simds[i]
		for u := range s.free {
			s.free[u] += by
		}
		later(s.cand)
		s.second += by << waveBits
		if len(s.waves) == 0 {
			continue
		}
		d := &stalls[i]
		d[sim.StallIssue] += by - d.Total()
		s.stalls.Add(d)
		s.cursor += by
		for k, w := range s.waves {
			later(&s.next[k])
			later(&w.next)
			w.vMax += by
			w.sMax += by
			for r := range w.vReady {
				w.vReady[r] += by
			}
			for r := range w.sReady {
				w.sReady[r] += by
			}
			for _, q := range [...]*queue{&w.vm, &w.vs, &w.lgkm} {
				q.last += by
				for j := range q.n {
					q.at(j).done += by
				}
			}
		}
	}
	for i := range m.cus {
		c := &m.cus[i]
		c.launch += by
		c.port.delay(by, m.clock)
	}
	m.h.delay(by)
	m.agenda.sort()
}

// compare compares predicted with actual costs.
func (s *sampling) compare(predicted, actual *probe) {
	s.Compared++
	predicted.add(&s.Predicted, int64(s.m.spec.L2.Line))
	actual.add(&s.Actual, int64(s.m.spec.L2.Line))
}

// add adds it to a sum.
func (p *probe) add(to *sim.Extrapolated, line int64) {
	to.Cycles += p.at
	to.EnergyPJ += p.pj
	l2 := &p.caches[len(p.caches)-1]
	values := append(p.counts[:], (l2[cache.ReadLookup]+l2[cache.WriteLookup])*line, (l2[cache.Fill]+l2[cache.LineWriteBack])*line)
	for i, name := range append(countNames[:], "l2_bytes", "dram_bytes") {
		if i == len(to.Counters) {
			to.Counters = append(to.Counters, sim.Counter{Name: name})
		}
		to.Counters[i].Value += values[i]
	}
}
