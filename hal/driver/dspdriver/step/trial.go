package step

import (
	"slices"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/cost"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/layout"
	"github.com/nnsoc/nnsoc/internal/try"
)

// samplePositions is about how many positions of a result a trial makes at most, where that can be made
// row by row.
const samplePositions = 1024

// Trial launches the step on trial, with outlines in place of kernels (hvx.Image.Outlines) and
// constants that are discarded: begin returns its work for the given launcher. The jobs are those
// of the program, with all that they read in L2 except for code that the program does not have
// yet. Of many rows some are launched, and represent the others.
func (l *Launcher) Trial(begin func(l *Launcher) Work) (list []*cost.Job, err error) {
	defer try.Catch(&err)
	o := &Object{Threads: l.Threads, Machine: l.Machine, VTCM: l.VTCM, DMA: l.DMA, ZWindow: l.ZWindow, Image: l.Image.Outlines()}
	t := &trial{plan: l.Planner}
	whole := l.Step.AllRows()
	sample := whole
	if l.Step.Rows != nil {
		sample.To = min(sample.To, layout.CeilDiv(samplePositions, max(l.Step.Writes[0].Shape.W, 1)))
	}
	to := &Launcher{Object: o, Planner: t, Step: l.Step, IsTrial: true, Sample: sample}
	begin(to).Launch(to, sample)
	for _, j := range t.jobs {
		for _, args := range j.Args {
			j.Cost.AddThread(cost.ThreadOf(&o.Machine, j.Kernel.Loops, args, o.Word))
		}
		if sample != whole {
			for _, n := range []*int{&j.Cost.Slots, &j.Cost.Lines, &j.Cost.Missed} {
				*n = *n * whole.To / sample.To
			}
		}
		list = append(list, &j.Cost)
	}
	if len(list) > 0 {
		list[0].Code = o.Image.Added()
	}
	return list, nil
}

// Estimate is the estimated cycles of a step whose work begin returns. Its code is fetched during earlier jobs, and what it
// reads is in L2 but for the bytes of a client.
func (l *Launcher) Estimate(begin func(l *Launcher) Work) (cycles int, err error) {
	jobs, err := l.Trial(begin)
	for i, j := range jobs {
		if i == 0 {
			cycles += int(l.Machine.Arrives(j, l.Step.external()))
		}
		cycles += int(l.Machine.Launches(1) + l.Machine.Busy(j) + l.Machine.Waits(j) + l.Machine.Moves(j.Code+j.Streamed))
	}
	return cycles, err
}

// external is how many bytes of a client the step reads.
func (s *Step) external() (bytes int) {
	for i, t := range s.Reads {
		if t.External && !slices.Contains(s.Reads[:i], t) {
			bytes += t.Bytes()
		}
	}
	return bytes
}

// trial is a Planner that keeps the jobs of one work.
type trial struct {
	plan Planner // knows which tensors are cold; nil: none is
	jobs []*Job
}

// AddJob implements Planner.
func (t *trial) AddJob(s *Step, k *hvx.Linked, args [][]uint32) *Job {
	j := &Job{Step: s, Kernel: k, Args: args}
	t.jobs = append(t.jobs, j)
	return j
}

// Fetch implements Planner: what is fetched stays where it is.
func (t *trial) Fetch(_ *Step, src uint32, _ int) uint32 { return src }

// Seal implements Planner.
func (t *trial) Seal() {}

// Cold implements Planner.
func (t *trial) Cold(x *layout.Tensor) bool { return t.plan != nil && t.plan.Cold(x) }

// Streams implements Planner.
func (t *trial) Streams(x *layout.Tensor) bool { return t.plan != nil && t.plan.Streams(x) }
