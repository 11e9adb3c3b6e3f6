package dsp

import (
	"math"

	"github.com/nnsoc/nnsoc/sim"
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
	period int64
	states states
}

func newTiming(s *Spec) (*timing, error) {
	m, err := newMemory(s)
	if err != nil {
		return nil, err
	}
	tm := &timing{spec: s, mem: m}
	tm.states.init()
	return tm, nil
}

// pipeline is the timing state of a thread.
type pipeline struct {
	at     int64 // cycle of the thread's next event
	start  int64 // cycle at which the current block began
	extra  int64 // cycles the block has waited for memory
	block  *block
	plan   *variant
	next   int // memory operation of the block that comes next
	state  int32
	done   bool
	stalls sim.StallTable
	stores storeQueue
}

// execute runs the current job of r and advances the clock to its end.
func (tm *timing) execute(r *run) (jobCost, error) {
	s := tm.spec
	tm.period = max(int64(s.IssueInterval), int64((len(r.threads)+s.IssueWidth-1)/s.IssueWidth))
	begin := tm.now
	first := begin + s.JobStartCycles
	dram := tm.mem.dramBytes()
	tm.mem.events = events{}
	for i, t := range r.threads {
		phase := int64(i) % tm.period
		t.pipe = pipeline{at: first + phase, start: first + phase, stores: t.pipe.stores}
		t.pipe.stalls[sim.StallLaunch] = s.JobStartCycles + phase
	}
	for {
		t, limit := earliest(r.threads)
		if t == nil {
			break
		}
		if err := tm.advance(r, t, limit); err != nil {
			return jobCost{}, err
		}
	}
	last := r.threads[0]
	for _, t := range r.threads[1:] {
		if t.pipe.at > last.pipe.at {
			last = t
		}
	}
	tm.now = last.pipe.at
	if r.opt.Span != nil {
		for _, t := range r.threads {
			r.opt.Span(threadTrack[min(t.id, len(threadTrack)-1)], r.job.Name, tm.mem.clock.At(first), tm.mem.clock.At(t.pipe.at))
		}
	}
	return jobCost{
		cycles: tm.now - begin, stalls: last.pipe.stalls,
		events: tm.mem.events, dram: tm.mem.dramBytes() - dram,
	}, nil
}

// threadTrack names the tracks of a timeline.
var threadTrack = [...]string{
	"dsp thread 0", "dsp thread 1", "dsp thread 2", "dsp thread 3", "dsp thread 4", "dsp thread 5", "dsp thread 6", "dsp thread 7",
	"dsp other threads",
}

// earliest is the running thread whose next event comes first (the lower
// number of equals) and the cycle up to which it stays that.
func earliest(threads []*thread) (*thread, int64) {
	var first *thread
	limit := int64(math.MaxInt64)
	for _, t := range threads {
		if t.pipe.done {
			continue
		}
		switch {
		case first == nil:
			first = t
		case t.pipe.at < first.pipe.at:
			first, limit = t, first.pipe.at
		default:
			limit = min(limit, t.pipe.at)
		}
	}
	return first, limit
}

// advance moves a thread on until its next event comes after limit.
func (tm *timing) advance(r *run, t *thread, limit int64) error {
	p := &t.pipe
	for {
		if b := p.block; b != nil {
			for p.next < len(b.mem) {
				at := p.start + int64(p.plan.slot[p.next])*tm.period + p.extra
				if at > limit {
					p.at = at
					return nil
				}
				if ea := t.addr[p.next]; ea != skipped {
					if wait, why := tm.mem.access(t, &b.mem[p.next], ea, at); wait > 0 {
						wait = tm.whole(wait)
						p.extra += wait
						p.stalls[why] += wait
					}
				}
				p.next++
			}
			if end := p.start + p.plan.slots*tm.period + p.extra; end > limit {
				p.at = end
				if p.next == len(b.mem) {
					p.next++ // resume at the end
					return nil
				}
			}
			tm.leave(t, b)
		}
		if t.next == r.halt || t.next == ReturnAddress || t.halt != 0 {
			p.done = true
			p.at = p.start
			return nil
		}
		if err := tm.enter(r, t); err != nil {
			return err
		}
	}
}

// whole rounds a wait up to the thread's next slot.
func (tm *timing) whole(wait int64) int64 {
	return (wait + tm.period - 1) / tm.period * tm.period
}

// leave charges the block that t has run and the way out of it.
func (tm *timing) leave(t *thread, b *block) {
	p := &t.pipe
	v := p.plan
	issue := int64(len(b.packets))
	p.start += v.slots*tm.period + p.extra
	p.stalls[sim.StallIssue] += issue * tm.period
	p.stalls[sim.StallOperand] += (v.slots - issue) * tm.period
	how := 0
	if b.branches {
		if t.took != 0 {
			how |= wayTaken
		}
		if b.cond && (t.took != 0) != b.hintTook {
			how |= wayMissed
		}
		lost := tm.lost(how) * tm.period
		p.start += lost
		p.stalls[sim.StallBranch] += lost
	}
	p.state = v.exit[how]
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
func (tm *timing) enter(r *run, t *thread) error {
	p := &t.pipe
	b := p.block
	if b == nil || b.addr != t.next {
		nb, err := r.fetch(t, b)
		if err != nil {
			return err
		}
		if wait := tm.mem.fetch(nb.addr, nb.end, p.start); wait > 0 {
			wait = tm.whole(wait)
			p.start += wait
			p.stalls[sim.StallFetch] += wait
		}
		b = nb
	}
	p.block, p.next, p.extra = b, 0, 0
	p.plan = tm.plan(b, p.state)
	return r.step(t, b)
}
