package dsp

import (
	"github.com/nnsoc/nnsoc/dsp/internal/decode"
	"github.com/nnsoc/nnsoc/dsp/internal/energy"
	"github.com/nnsoc/nnsoc/dsp/internal/state"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// timing is the clock of a run. A thread issues at most one packet per slot; a
// slot lasts period core cycles: the issue interval, or longer when the
// threads of a job share too few issue ports. Between its memory accesses a
// thread's time is known in advance: each block has its schedule, worked out
// once per state in which a thread enters it. Memory accesses of all threads
// happen in the order of their cycles.
type timing struct {
	spec   *Spec
	mem    *memory
	now    int64 // core cycle at which the last job ended
	jobs   int   // begun
	period int64
	states *states
	out    []pending         // of the way out that is being planned
	at     [maxThreads]int64 // key of each thread's next event; see next

	store storeBurst // of a thread alone
}

func newTiming(s *Spec, m *memory, known *states) *timing {
	tm := &timing{spec: s, mem: m, states: known}
	tm.store.init(m)
	return tm
}

// pipeline is the timing state of a thread.
type pipeline struct {
	start     int64 // cycle at which the current block began
	extra     int64 // cycles the block has waited for memory
	block     *block
	plan      *variant
	way       *way   // out of the block before
	next      int    // memory operation of the block that comes next
	base      int    // where its addresses are in Thread.Addr
	rounds    uint32 // that the block has run without being timed, beyond this one
	left      bool   // the block has been left: its end is charged
	postponed bool   // the end of the block was put off until other threads had caught up
	stalls    sim.StallTable
	stores    storeQueue

	scattered sim.Time // when the scatters and gathers of the thread are done
}

// execute runs the current job of r and advances the clock to its end.
func (tm *timing) execute(r *run) (jobCost, error) {
	s := tm.spec
	tm.period = max(int64(s.IssueInterval), int64((len(r.threads)+s.IssueWidth-1)/s.IssueWidth))
	begin := tm.now
	launch := s.JobStartCycles
	if tm.jobs++; tm.jobs > 1 {
		launch = s.BarrierCycles
	} else if r.threads[0].guest != nil {
		launch = 0 // a program of its own: nobody submits it
	}
	first := begin + launch
	dram := tm.mem.dramBytes()
	pj, mw := mem.EnergyOf(tm.mem.dram)
	tm.mem.events = energy.Events{}
	for i, t := range r.threads {
		phase := int64(i) % tm.period
		t.pipe = pipeline{start: first + phase, stores: t.pipe.stores}
		tm.next(i, first+phase)
		t.pipe.stalls[sim.StallLaunch] = launch + phase
	}
	for i := len(r.threads); i < len(tm.at); i++ {
		tm.next(i, never)
	}
	for {
		i, at, limit := tm.earliest(len(r.threads))
		if at >= never {
			break
		}
		if r.dma != nil && tm.mem.active > 0 {
			if err := r.dma.advance(tm.mem.clock.At(at)); err != nil {
				return jobCost{}, err
			}
			limit = max(at, min(limit, tm.due(r)))
		}
		at, err := tm.advance(r, r.threads[i], limit)
		if err != nil {
			return jobCost{}, err
		}
		tm.next(i, at)
	}
	last := r.threads[0]
	var threads sim.StallTable
	for _, t := range r.threads {
		if t.pipe.start > last.pipe.start {
			last = t
		}
		threads.Add(&t.pipe.stalls)
	}
	tm.now = last.pipe.start
	threads[sim.StallIdle] += int64(max(len(r.threads), s.Contexts))*(tm.now-begin) - threads.Total()
	if r.opt.Span != nil {
		for _, t := range r.threads {
			r.opt.Span(sim.Span{
				Track: threadTrack[min(t.id, len(threadTrack)-1)], Name: r.job.Name, Region: r.job.Region,
				Start: tm.mem.clock.At(first), End: tm.mem.clock.At(t.pipe.start),
			})
		}
	}
	after, _ := mem.EnergyOf(tm.mem.dram)
	return jobCost{
		cycles: tm.now - begin, stalls: last.pipe.stalls, threads: threads,
		events: tm.mem.events, dram: tm.mem.dramBytes() - dram, dramPJ: after - pj, dramMW: mw,
	}, nil
}

// due is the cycle of the next event of the DMA engines.
func (tm *timing) due(r *run) int64 { return min(never, tm.mem.clock.Cycle(r.dma.due())) }

// drain lets DMA that outlives the last job end.
func (tm *timing) drain(r *run, c *jobCost) (err error) {
	if r.dma == nil {
		return nil
	}
	tm.waitFor(c, sim.StallDMA, func(now sim.Time) (end sim.Time) {
		end, err = r.dma.drain(now)
		return end
	})
	return err
}

// giveWay lets another program have the core behind a job, if one waits. Until then what L2
// holds is written back; afterwards the caches are empty.
func (tm *timing) giveWay(turn sim.Turn, c *jobCost) {
	if !turn.Over(tm.mem.clock.At(tm.now)) {
		return
	}
	tm.waitFor(c, sim.StallDrain, tm.mem.l2.Clean)
	turn.Yield(tm.mem.clock.At(tm.now))
	tm.mem.invalidate()
}

// waitFor charges a job with what begins when it has ended, and with waiting for that.
func (tm *timing) waitFor(c *jobCost, why sim.Reason, what func(now sim.Time) (end sim.Time)) {
	events, dram := tm.mem.events, tm.mem.dramBytes()
	pj, _ := mem.EnergyOf(tm.mem.dram)
	wait := tm.mem.clock.Cycle(what(tm.mem.clock.At(tm.now))) - tm.now
	tm.now += wait
	c.cycles += wait
	c.stalls[why] += wait
	for i := range c.events {
		c.events[i] += tm.mem.events[i] - events[i]
	}
	c.dram += tm.mem.dramBytes() - dram
	after, _ := mem.EnergyOf(tm.mem.dram)
	c.dramPJ += after - pj
}

// threadTrack names the tracks of a timeline.
var threadTrack = [...]string{
	"thread 0", "thread 1", "thread 2", "thread 3", "thread 4", "thread 5", "thread 6", "thread 7",
	"other threads",
}

// A thread's next event is kept as one key of its cycle and, in the low bits, the
// thread's number, so that the lowest key comes first and no branch depends on the
// order.
const numberBits = 4

// never is later than every cycle of a run. alone is the limit of a thread when no
// other has events.
const (
	never = int64(1) << 58
	alone = never
)

// next sets the cycle of thread i's next event.
func (tm *timing) next(i int, cycle int64) { tm.at[i] = cycle<<numberBits | int64(i) }

// earliest is the thread whose next event comes first (the lower number of
// equals), the cycle of that, and the cycle up to which it stays the first.
func (tm *timing) earliest(n int) (i int, cycle, limit int64) {
	// Two pairs, so that the comparisons do not wait for each other.
	a, b, c, d := tm.at[0], tm.at[1], tm.at[2], tm.at[3]
	first, second := min(a, b, c, d), min(max(min(a, b), min(c, d)), max(a, b), max(c, d))
	for i := 4; i < n; i++ {
		k := tm.at[i]
		second = min(second, max(first, k))
		first = min(first, k)
	}
	return int(first & (1<<numberBits - 1)), first >> numberBits, second >> numberBits
}

// advance moves a thread on until its next event comes after limit, and
// answers when that is.
func (tm *timing) advance(r *run, t *thread, limit int64) (int64, error) {
	p := &t.pipe
	m := tm.mem
	for {
		if b := p.block; b != nil && !p.left {
			if at, open := tm.accesses(t, limit); open {
				return at, nil
			}
			if end := p.start + p.extra + p.plan.cycles; end > limit && !p.postponed {
				p.postponed = true
				return end, nil
			}
			tm.leave(r, t, b)
			if p.rounds > 0 {
				p.rounds--
				p.base += len(b.Mem)
				tm.again(p)
				continue
			}
		}
		for t.DMA.Command != state.DMANone {
			done, err := r.dma.serve(t, m.clock.At(p.start))
			if err != nil {
				return 0, err
			}
			if done {
				limit = min(limit, tm.due(r))
				break
			}
			wait := tm.whole(max(1, tm.due(r)-p.start))
			p.start += wait
			p.stalls[sim.StallDMA] += wait
			if r.opt.Profile != nil {
				p.block.profile().wait[len(p.block.Packets)-1][sim.StallDMA] += wait
			}
			if r.opt.Record != nil {
				r.opt.Record.after(t, sim.StallDMA, wait)
			}
			if p.start > limit {
				return p.start, nil
			}
		}
		if t.ended(r) {
			return never, nil
		}
		if limit >= alone && p.left && r.opt.Record == nil {
			if err := tm.runSingleThread(r, t); err != nil {
				return 0, err
			}
			if !p.left {
				continue
			}
			if t.ended(r) {
				return never, nil
			}
		}
		if err := tm.enter(r, t, limit); err != nil {
			return 0, err
		}
	}
}

// accesses serves the memory operations of a thread's block up to limit. When some
// are left open, it answers when the first of them comes.
func (tm *timing) accesses(t *thread, limit int64) (at int64, open bool) {
	p, m := &t.pipe, tm.mem
	ops := p.plan.mem
	addr := t.Addr[p.base:][:len(ops)]
	start := p.start + p.extra
	for i := p.next; i < len(ops); i++ {
		// Accesses that change nothing need no order among the threads: VTCM
		// serves every packet's load and store, and a scalar load from the line
		// that its L1 set served last takes no port.
		op, ea := &ops[i], addr[i]
		switch op.Kind {
		case decode.ScalarLoad:
			if m.hitsAgain(t, ea) {
				m.skippedD++
				continue
			}
			if ea == state.Skipped {
				continue
			}
		case decode.VectorLoad:
			if m.freeVTCM(ea) || ea == state.Skipped {
				continue
			}
		default:
			if ea == state.Skipped {
				continue
			}
		}
		at := start + int64(op.cycle)
		if at > limit {
			p.next, p.extra = i, start-p.start
			return at, true
		}
		if wait, why := m.access(t, &op.MemOp, i, ea, at); wait > 0 {
			start += tm.waited(t, &op.MemOp, why, wait, ea)
		}
	}
	p.next, p.extra = len(ops), start-p.start
	return 0, false
}

// waited charges a wait for memory and answers how long it is in whole slots.
func (tm *timing) waited(t *thread, op *decode.MemOp, why sim.Reason, wait int64, ea uint32) int64 {
	wait = tm.whole(wait)
	t.pipe.stalls[why] += wait
	if o := &t.run.opt; o.Profile != nil {
		t.pipe.block.profile().wait[op.Packet][why] += wait
	}
	if o := &t.run.opt; o.Record != nil {
		o.Record.waited(t, op, why, wait, ea)
	}
	return wait
}

// whole rounds a wait up to the thread's next slot.
func (tm *timing) whole(wait int64) int64 {
	if p := tm.period; p&(p-1) == 0 {
		return (wait + p - 1) &^ (p - 1)
	}
	return (wait + tm.period - 1) / tm.period * tm.period
}

// leave charges the block that t has run and the way out of it.
func (tm *timing) leave(r *run, t *thread, b *block) {
	p := &t.pipe
	v := p.plan
	p.left = true
	v.runs++
	p.stalls[sim.StallIssue] += v.issue
	p.stalls[sim.StallOperand] += v.operand
	w := &v.ways[t.wayOut(b)]
	if w.lost != 0 {
		tm.lose(r, t, b, w)
	}
	if r.opt.Record != nil {
		r.opt.Record.left(t, b, v, tm.period, p.start, w.lost)
	}
	p.way = w
	p.start += v.cycles + p.extra + w.lost
}

// lose charges what a way out of a block costs.
func (tm *timing) lose(r *run, t *thread, b *block, w *way) {
	t.pipe.stalls[sim.StallBranch] += w.lost
	if r.opt.Profile != nil {
		b.profile().lost += w.lost
	}
}

// wayOut is how t leaves the block that it has run.
func (t *thread) wayOut(b *block) (how int) {
	if b.Branches {
		how = int(t.Took & wayTaken)
		if b.Conditional && (t.Took != 0) != b.HintTaken {
			how |= wayMissed
		}
	}
	return how
}

// ended reports whether t has reached its end.
func (t *thread) ended(r *run) bool {
	return t.Next == r.halt || t.Next == ReturnAddress || t.Halt != 0
}

// Ways out of a block.
const (
	wayTaken  = 1 // a branch was taken
	wayMissed = 2 // against its hint
)

// lost is the number of slots that a way out costs.
func (tm *timing) lost(how int) int64 {
	n := 0
	if how&wayTaken != 0 {
		n += tm.spec.BranchSlots
	}
	if how&wayMissed != 0 {
		n += tm.spec.MispredictSlots
	}
	return int64(n)
}

// enter fetches the next block, executes it and plans its time.
func (tm *timing) enter(r *run, t *thread, limit int64) error {
	p := &t.pipe
	b := p.block
	if b != nil && b.Addr == t.Next {
		tm.again(p)
	} else {
		if w := p.way; w != nil && w.next != nil && w.next.block.Addr == t.Next && (t.vector || !w.next.block.Vector) {
			p.plan = w.next
		} else if err := tm.find(r, t); err != nil {
			return err
		}
		b = p.plan.block
		if b.fetched != tm.mem.fetches {
			tm.instructions(r, t, b)
		}
		p.block = b
		p.next, p.extra, p.postponed, p.left = 0, 0, false, false
	}
	rounds := uint32(1)
	if limit >= alone {
		rounds = r.roundsOf(t, b)
	}
	p.base, p.rounds = 0, rounds-1
	if rounds > 1 {
		p.base = state.MaxMemOps
	}
	return r.step(t, b, rounds)
}

// again plans one more pass of the block that has been left.
func (tm *timing) again(p *pipeline) {
	w := p.way
	if w.same == nil {
		w.same = tm.plan(p.block, w.exit)
	}
	p.plan = w.same
	p.next, p.extra, p.postponed, p.left = 0, 0, false, false
}

// find decodes the block at t.Next and plans it, and lets the way that leads there
// know.
func (tm *timing) find(r *run, t *thread) error {
	b, err := r.fetch(t, t.pipe.block)
	if err != nil {
		return err
	}
	state := int32(0)
	if w := t.pipe.way; w != nil {
		state = w.exit
	}
	t.pipe.plan = tm.plan(b, state)
	if w := t.pipe.way; w != nil {
		w.next = t.pipe.plan
	}
	return nil
}

// instructions waits for the lines of a block.
func (tm *timing) instructions(r *run, t *thread, b *block) {
	p := &t.pipe
	wait := tm.mem.fetch(b, p.start)
	if wait == 0 {
		return
	}
	wait = tm.whole(wait)
	p.start += wait
	p.stalls[sim.StallFetch] += wait
	if r.opt.Profile != nil {
		b.profile().fetch += wait
	}
	if r.opt.Record != nil {
		r.opt.Record.fetched(t, wait)
	}
}
