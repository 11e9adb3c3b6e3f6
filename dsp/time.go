package dsp

import (
	"math/bits"
	"slices"

	"github.com/nnsoc/nnsoc/dsp/internal/decode"
	"github.com/nnsoc/nnsoc/dsp/internal/energy"
	"github.com/nnsoc/nnsoc/dsp/internal/state"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// timing is the clock of a run. A thread issues at most one packet per slot; a
// slot lasts period core cycles: the issue interval, longer when the threads of
// a job share too few issue ports, shorter when each has a port of its own. Between its memory accesses a
// thread's time is known in advance: each block has its schedule, worked out
// once per state in which a thread enters it. Memory accesses of all threads
// happen in the order of their cycles.
type timing struct {
	spec *Spec
	mem  *memory
	now  int64 // core cycle at which the last job ended
	jobs int   // begun
	planner
	queue eventQueue

	store storeBurst // of a thread alone
	predictor

	until sim.Time // Options.Until
	cut   int64    // its cycle
}

func newTiming(s *Spec, m *memory, known *states) *timing {
	tm := &timing{spec: s, mem: m, planner: planner{spec: s, states: known}, cut: never, predictor: newPredictor(s)}
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
	open      uint64 // a bit for each memory operation of the block that is still to be timed
	free      uint64 // the same for its vector loads from VTCM, which wait for nothing
	base      int    // where their addresses are in Thread.Addr
	addr      *[state.MaxMemOps]uint32
	rounds    uint32 // that the block has run without being timed, beyond this one
	left      bool   // the block has been left: its end is charged
	postponed bool   // the end of the block was put off until other threads had caught up
	stalls    sim.StallTable
	queue     vectorQueue
}

// execute runs the current job of r and advances the clock to its end.
func (tm *timing) execute(r *run) (jobCost, error) {
	s := tm.spec
	tm.pace(len(r.threads))
	begin := tm.now
	launch := s.JobStartCycles
	if tm.jobs++; tm.jobs > 1 {
		launch = s.BarrierCycles
	} else if r.threads[0].guest != nil {
		launch = 0 // a separate program: no launch
	}
	first := begin + launch
	dram := tm.mem.dramBytes()
	pj, mw := mem.EnergyOf(tm.mem.dram)
	tm.mem.events = energy.Events{}
	for i := range tm.queue {
		tm.queue[i] = key(never, i)
	}
	for i, t := range r.threads {
		phase := int64(i) % tm.period
		t.pipe, t.scattered = pipeline{start: first + phase}, 0
		tm.queue[i] = key(first+phase, i)
		t.pipe.stalls[sim.StallLaunch] = launch + phase
	}
	slices.Sort(tm.queue[:])
	if err := tm.interleave(r); err != nil {
		return jobCost{}, err
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

// yield yields the core after a job to another program, if one waits: dirty lines of L2 are written back first, and
// the caches are empty afterwards.
func (tm *timing) yield(r *run, p sim.Preemption, c *jobCost) {
	if !p.Pending(tm.mem.clock.At(tm.now)) {
		return
	}
	tm.waitFor(c, sim.StallDrain, tm.mem.l2.Clean)
	p.Yield(tm.mem.clock.At(tm.now))
	tm.mem.invalidate()
	clear(tm.targets)
	r.forgetJumps()
}

// waitFor charges a job for work that begins at its end, and with the wait for that.
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

// A thread's next event is kept as one key of its cycle and, in the low bits, the thread's number, so that the lowest
// key is first and no branch depends on the order.
const numberBits = 4

// never is later than every cycle of a run. alone is the limit of a thread when no
// other has events.
const (
	never = int64(1) << 58
	alone = never
)

// eventQueue holds the keys of the threads' next events in their order.
type eventQueue [maxThreads]int64

// key is the key of an event of thread i.
func key(cycle int64, i int) int64 { return cycle<<numberBits | int64(i) }

// requeue replaces the first event by the next one of its thread, for four threads at most.
func (q *eventQueue) requeue(k int64) {
	q[0], k = min(k, q[1]), max(k, q[1])
	q[1], k = min(k, q[2]), max(k, q[2])
	q[2], q[3] = min(k, q[3]), max(k, q[3])
}

// sift ends requeue for n threads.
func (q *eventQueue) sift(n int) {
	for i := 4; i < n; i++ {
		q[i-1], q[i] = min(q[i-1], q[i]), max(q[i-1], q[i])
	}
}

// interleave runs the threads of the job to their ends: always the one whose next event is first (the lower number of
// equals), up to the cycle of another's.
func (tm *timing) interleave(r *run) (err error) {
	m := tm.mem
	for {
		first := tm.queue[0]
		at, limit := first>>numberBits, tm.queue[1]>>numberBits
		if at >= never {
			return nil
		}
		if r.dma != nil && m.active > 0 {
			if err := r.dma.advance(m.clock.At(at)); err != nil {
				return err
			}
			limit = max(at, min(limit, tm.due(r)))
		}
		t := r.threads[first&(1<<numberBits-1)]
		p := &t.pipe
		for at = atOnce; at == atOnce; {
			if p.open == 0 {
				if at, limit, err = tm.advance(r, t, limit); err != nil {
					return err
				}
				continue
			}
			// Serve the memory operations of the block up to limit.
			ops, addr, start, open := p.plan.mem, p.addr, p.start+p.extra, p.open
			for ; open != 0; open &= open - 1 {
				i := bits.TrailingZeros64(open) % state.MaxMemOps
				op, ea := &ops[i], addr[i]
				// A scalar load from the line that its L1 set served last occupies no port and changes nothing, so it
				// needs no order among the threads.
				if op.Kind == decode.ScalarLoad && m.hitsAgain(&t.client, ea) {
					m.skippedD++
					continue
				}
				if ea == state.Skipped {
					continue
				}
				cycle := start + int64(op.cycle)
				if p.queue.n > 0 {
					wait := tm.settle(t, &op.MemOp, cycle, ea)
					start, cycle = start+wait, cycle+wait
				}
				if cycle > limit {
					if op.Kind == decode.VectorLoad && m.freeVTCM(ea) { // not counted by begin
						continue
					}
					at = cycle
					break
				}
				var wait int64
				var why sim.Reason
				switch op.Kind {
				case decode.ScalarLoad:
					wait, why = m.scalarLoad(&t.client, cycle, ea, op.Bytes)
				case decode.VectorLoad:
					wait, why = tm.vectorLoad(t, op.Packet, cycle, ea)
				case decode.ScatterElements, decode.GatherElements:
					tm.useElements(r)
					wait, why = m.access(&t.client, &t.Thread, &op.MemOp, i, ea, cycle)
				default:
					wait, why = m.access(&t.client, &t.Thread, &op.MemOp, i, ea, cycle)
				}
				if wait > 0 {
					start += tm.waited(t, &op.MemOp, why, wait, ea)
				}
			}
			p.open, p.extra = open, start-p.start
		}
		if tm.queue.requeue(key(at, t.id)); len(r.threads) > 4 {
			tm.queue.sift(len(r.threads))
		}
	}
}

// atOnce is the cycle of an event that no other thread precedes.
const atOnce = -1

// advance moves a thread whose memory operations have been timed on: out of its block, or into the next. It returns the
// time of the thread's next event and its limit, which DMA that the thread starts may lower.
func (tm *timing) advance(r *run, t *thread, limit int64) (int64, int64, error) {
	p := &t.pipe
	if p.start > tm.cut {
		return 0, 0, &sim.Late{At: tm.until}
	}
	if b := p.block; b != nil && !p.left {
		if end := p.start + p.extra + p.plan.cycles; end > limit && !p.postponed {
			p.postponed = true
			return end, limit, nil
		}
		tm.chargeBlock(r, t, b)
		if p.rounds > 0 {
			p.rounds--
			p.base += len(b.Mem)
			tm.repeat(p)
			tm.begin(t)
			return atOnce, limit, nil
		}
	}
	for t.DMA.Command != state.DMANone {
		done, err := r.dma.serve(t, tm.mem.clock.At(p.start))
		if err != nil {
			return 0, 0, err
		}
		if done {
			limit = min(limit, tm.due(r))
			break
		}
		if tm.waitForDMA(r, t); p.start > limit {
			return p.start, limit, nil
		}
	}
	if t.ended(r) {
		return never, limit, nil
	}
	if limit >= alone && p.left && r.opt.Record == nil {
		if err := tm.runSingleThread(r, t); err != nil {
			return 0, 0, err
		}
		if !p.left {
			return atOnce, limit, nil
		}
		if t.ended(r) {
			return never, limit, nil
		}
	}
	return atOnce, limit, tm.enter(r, t, limit)
}

// waitForDMA lets a thread wait for the next event of the DMA engines.
func (tm *timing) waitForDMA(r *run, t *thread) {
	p := &t.pipe
	wait := tm.roundToSlot(max(1, tm.due(r)-p.start))
	p.start += wait
	p.stalls[sim.StallDMA] += wait
	if r.opt.Profile != nil {
		p.block.profile().wait[len(p.block.Packets)-1][sim.StallDMA] += wait
	}
	if r.opt.Record != nil {
		r.opt.Record.after(t, sim.StallDMA, wait)
	}
}

// begin opens the memory operations of the block that t has entered, but for vector loads from
// VTCM, which change nothing and are counted here: VTCM serves every packet's load and store.
func (tm *timing) begin(t *thread) {
	p, b, m := &t.pipe, t.pipe.block, tm.mem
	p.addr, p.free = (*[state.MaxMemOps]uint32)(t.Addr[p.base:]), 0
	if p.base == 0 && !b.Elements && m.loadsFree() {
		p.free = b.Scratch & b.Loads
		m.events[energy.VTCM] += int64(bits.OnesCount64(p.free))
	}
	p.open = (1<<len(b.Mem) - 1) &^ p.free
}

// useElements orders the threads' vector loads from VTCM, which wait for the scatter/gather unit once it is used, among
// the events: those that follow the next event of their thread.
func (tm *timing) useElements(r *run) {
	if tm.mem.elements.used {
		return
	}
	for _, t := range r.threads {
		tm.mem.events[energy.VTCM] -= t.pipe.reopen()
	}
}

// reopen opens the vector loads from VTCM that follow the thread's next event, and returns their number.
func (p *pipeline) reopen() int64 {
	late := p.free & -p.open // both have no bit in common
	p.open |= late
	return int64(bits.OnesCount64(late))
}

// waited charges a wait for memory and returns its length in whole slots.
func (tm *timing) waited(t *thread, op *decode.MemOp, why sim.Reason, wait int64, ea uint32) int64 {
	return tm.waitedFor(t, t.pipe.block, op.Packet, op, why, wait, ea)
}

// waitedFor charges a wait at op for a packet of block b, and returns its length in whole slots.
func (tm *timing) waitedFor(t *thread, b *block, packet uint16, op *decode.MemOp, why sim.Reason, wait int64, ea uint32) int64 {
	wait = tm.roundToSlot(wait)
	t.pipe.stalls[why] += wait
	t.pipe.queue.moved += wait
	if o := &t.run.opt; o.Profile != nil {
		b.profile().wait[packet][why] += wait
	}
	if o := &t.run.opt; o.Record != nil {
		o.Record.waited(t, op, why, wait, ea)
	}
	return wait
}

// roundToSlot rounds a wait up to the thread's next slot.
func (tm *timing) roundToSlot(wait int64) int64 {
	if p := tm.period; p&(p-1) == 0 {
		return (wait + p - 1) &^ (p - 1)
	}
	return (wait + tm.period - 1) / tm.period * tm.period
}

// chargeBlock charges the block that t has run and its exit.
func (tm *timing) chargeBlock(r *run, t *thread, b *block) {
	p := &t.pipe
	v := p.plan
	p.left = true
	p.extra += tm.drainQueue(r, t, b, p.start+p.extra+v.cycles)
	v.runs++
	p.stalls[sim.StallIssue] += v.issue
	p.stalls[sim.StallOperand] += v.operand
	w := &v.ways[tm.wayOut(t, b)]
	if w.lost != 0 {
		tm.chargeTransition(r, t, b, w)
	}
	if r.opt.Record != nil {
		r.opt.Record.left(t, b, v, p.start, w.lost)
	}
	p.way = w
	p.start += v.cycles + p.extra + w.lost
}

// chargeTransition charges the cost of a transition to the next block.
func (tm *timing) chargeTransition(r *run, t *thread, b *block, w *way) {
	t.pipe.stalls[sim.StallBranch] += w.lost
	if r.opt.Profile != nil {
		b.profile().lost += w.lost
	}
}

// ended reports whether t has reached its end.
func (t *thread) ended(r *run) bool {
	return t.Next == r.halt || t.Next == ReturnAddress || t.Halt != 0
}

// enter fetches the next block, executes it and plans its time.
func (tm *timing) enter(r *run, t *thread, limit int64) error {
	p := &t.pipe
	b := p.block
	if b != nil && b.Addr == t.Next {
		tm.repeat(p)
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
		p.extra, p.postponed, p.left = 0, false, false
	}
	rounds := uint32(1)
	if limit >= alone {
		rounds = r.roundsOf(t, b)
	}
	p.base, p.rounds = 0, rounds-1
	if rounds > 1 {
		p.base = state.MaxMemOps
	}
	err := r.step(t, b, rounds)
	tm.begin(t)
	return err
}

// repeat plans another pass of the same block.
func (tm *timing) repeat(p *pipeline) {
	w := p.way
	if w.same == nil {
		w.same = tm.plan(p.block, w.exit)
	}
	p.plan = w.same
	p.extra, p.postponed, p.left = 0, false, false
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
	wait = tm.roundToSlot(wait)
	p.start += wait
	p.stalls[sim.StallFetch] += wait
	if r.opt.Profile != nil {
		b.profile().fetch += wait
	}
	if r.opt.Record != nil {
		r.opt.Record.fetched(t, wait)
	}
}
