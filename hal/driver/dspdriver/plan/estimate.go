package plan

import (
	"slices"

	"github.com/nnsoc/nnsoc/dsp"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/cost"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/step"
)

// warmLines is how many lines a thread that warms L2 has come at once (measured on the simulator, D-2200).
const warmLines = 4

// memoryNs is the latency of a line from DRAM (Hexagon DSP user guide, 80-VB419-108).
const memoryNs = 250

// MachineOf is what the estimator needs to know of a core.
func MachineOf(s *dsp.Spec) cost.Machine {
	latency := memoryNs * float64(s.ClockHz) / 1e9
	return cost.Machine{IssueInterval: s.IssueInterval, Jump: s.MispredictSlots, Launch: int(s.BarrierCycles), LineBytes: s.L2.LineBytes, L2Bytes: s.L2.Bytes,
		MemoryCycles: int(latency), MemoryRate: float64(s.L2.MSHRs*s.L2.LineBytes) / latency,
		InFlight: min(s.VectorQueue, s.L2.MSHRs/max(1, s.Threads))} // threads share the lines that L2 waits for
}

// countSlots fills in the issue slots of each job, once the arguments of all are known.
func (l *planner) countSlots() {
	for _, j := range l.jobs {
		for _, args := range j.Args {
			j.Cost.AddThread(cost.ThreadOf(&l.Machine, j.Kernel.Loops, args, l.Word))
		}
	}
}

// estimate fills in the cycles of all jobs.
func (l *planner) estimate() {
	for _, r := range l.requests {
		l.missed(&r)
	}
	list := make([]*cost.Job, len(l.jobs))
	for i, j := range l.jobs {
		list[i] = &j.Cost
	}
	cost.Estimate(&l.Machine, list)
}

// missed charges the job that reads a range which no job before it has prefetched.
func (l *planner) missed(r *prefetchRequest) {
	if !r.code {
		if j := l.readerFrom(r.job); j != nil {
			l.chargeReads(j, int(r.bytes))
		}
		return
	}
	l.jobs[r.job].Cost.Code += l.Machine.LineBytes * r.lines
}

// chargeReads charges a job for bytes of its inputs that come from DRAM.
func (l *planner) chargeReads(j *step.Job, bytes int) {
	if bytes <= 0 {
		return
	}
	left := bytes
	if rows := j.Step.Rows; j.Kernel.Fetches || rows != nil && !rows.Plain {
		left = min(j.Unfetched, bytes)
	}
	j.Cost.Streamed += bytes - left
	j.Cost.Missed += l.lines(left, len(j.Args))
}

// served charges a request that job j serves.
func (l *planner) served(j int, r *prefetchRequest) {
	if r.job == j {
		l.jobs[j].Cost.Streamed += int(r.bytes)
		return
	}
	l.jobs[j].Cost.Ahead += int(r.bytes)
	l.jobs[r.job].Cost.Due += int(r.bytes)
}

// readerFrom is the job that reads what a step gets from DRAM: the first one from a given one on
// that does more than fetch constants.
func (l *planner) readerFrom(from int) *step.Job {
	for _, j := range l.jobs[from:] {
		if j.Name == j.Step.Name {
			return j
		}
	}
	return nil
}

// lines is how many lines there are in the share of a range that one of the threads reads, at most.
func (l *planner) lines(bytes, threads int) (most int) {
	line := l.Machine.LineBytes
	threads = max(threads, 1)
	for t := range threads {
		most = max(most, layout.CeilDiv(bytes*(t+1)/threads, line)-bytes*t/threads/line)
	}
	return most
}

// linesRead is how many lines of the constants up to an offset that no job has claimed one of the threads
// reads: of a block that arguments point into its share, or all of it where all have the same argument; of
// others, which records point to, its share of all of them.
func (l *planner) linesRead(to int, args [][]uint32) (lines int) {
	indirect, all := 0, slices.Concat(args...)
	for ; len(l.Blocks) > 0 && l.Blocks[0] < to; l.Blocks = l.Blocks[1:] {
		from, end := l.Blocks[0], to
		if len(l.Blocks) > 1 {
			end = min(to, l.Blocks[1])
		}
		starts := map[uint32]bool{}
		for _, x := range all {
			if at := int(x) - layout.ConstBase; at >= from && at < end {
				starts[x] = true
			}
		}
		if len(starts) == 0 {
			indirect += l.lines(end-from, 1)
		} else {
			lines += l.lines(end-from, len(starts))
		}
	}
	return lines + layout.CeilDiv(indirect, max(len(args), 1))
}

// chargeConstants charges job j for the constants that it is the first to read: they have been
// prefetched up to an offset, and the job itself requests them between two. It waits for each line of
// the others, or for some at once where it does nothing but fetch them. It returns the end of those that it reads.
func (l *planner) chargeConstants(j int, uses []constUse, prefetched, from, to uint32) (end uint32) {
	c := &l.jobs[j].Cost
	for _, u := range uses {
		if u.job > j {
			break
		}
		if u.job < j {
			continue
		}
		due := min(max(prefetched, u.off), u.to)
		comes := min(max(to, due), u.to) - min(max(from, due), u.to)
		switch u.how {
		case toVTCM:
			comes = u.to - due
		case warmed: // also for what has been requested: other weights went through L2 since
			due, comes = u.to, 0
			c.Missed += layout.CeilDiv(u.lines, warmLines)
		case byDMA:
			due, comes = u.to, 0
		}
		c.Due += int(due - u.off)
		c.Streamed += int(comes)
		c.Missed += layout.CeilDiv(u.lines*int(u.to-due-comes), int(u.to-u.off))
		end = max(end, u.to)
	}
	return end
}
