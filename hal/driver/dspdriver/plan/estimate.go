package plan

import (
	"github.com/nnsoc/nnsoc/dsp"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/cost"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/step"
)

// memoryNs is the latency of a line from DRAM (Hexagon DSP user guide, 80-VB419-108).
const memoryNs = 250

// MachineOf is what the estimator needs to know of a core.
func MachineOf(s *dsp.Spec) cost.Machine {
	latency := memoryNs * float64(s.ClockHz) / 1e9
	return cost.Machine{IssueInterval: s.IssueInterval, Jump: s.BranchSlots, Launch: int(s.BarrierCycles), LineBytes: s.L2.LineBytes,
		MemoryCycles: int(latency), MemoryRate: float64(s.L2.MSHRs*s.L2.LineBytes) / latency}
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
	l.jobs[r.job].Cost.Code += int(r.bytes)
}

// chargeReads charges a job for bytes of its inputs that come from DRAM.
func (l *planner) chargeReads(j *step.Job, bytes int) {
	if bytes <= 0 {
		return
	}
	if rows := j.Step.Rows; j.Kernel.Fetches || rows != nil && !rows.Plain {
		j.Cost.Streamed += bytes
	} else {
		j.Cost.Missed += bytes
	}
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

// chargeConstants charges job j for the constants that it is the first to read: they have been
// prefetched up to an offset. It returns the end of those that it reads as they come.
func (l *planner) chargeConstants(j int, uses []constUse, prefetched uint32) (end uint32) {
	c := &l.jobs[j].Cost
	for _, u := range uses {
		if u.job > j {
			break
		}
		if u.job < j {
			continue
		}
		due := int(min(max(prefetched, u.off), u.to) - u.off)
		c.Due += due
		c.Streamed += int(u.to-u.off) - due
		end = max(end, u.to)
	}
	return end
}
