package plan

import (
	"fmt"

	"github.com/nnsoc/nnsoc/dsp"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/datamove"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/step"
	"github.com/nnsoc/nnsoc/internal/try"
)

// Program is a planned graph: the list of steps with the code and the constants that they
// use, whose tensors have addresses, and the jobs.
type Program struct {
	*step.List
	Jobs           []*step.Job
	Arena          int    // bytes of tensors, with a guard on either side
	DMADescriptors []byte // of the fetches, from dmaChainBase on
}

// CoreJobs are the jobs as the core runs them.
func (p *Program) CoreJobs() []dsp.Job {
	list := make([]dsp.Job, len(p.Jobs))
	for i, j := range p.Jobs {
		list[i] = dsp.Job{Region: j.Step.Op, Name: j.Name, Entry: j.Kernel.Entry, Threads: len(j.Args), Args: j.Args}
	}
	return list
}

// planner schedules steps as jobs: it divides rows into bands, and has constants and inputs
// fetched before they are used. It implements step.Planner.
type planner struct {
	*step.Object
	steps          []*step.Step
	jobs           []*step.Job
	arena          uint32 // bytes of tensors
	l2             cacheState
	vtcm           vtcm
	made           map[*layout.Tensor]int // jobs launched when the last writer of a tensor had been
	constUses      []constUse             // in the order of the constants
	claimed        int                    // offset up to which constants have a first reader
	requests       []prefetchRequest      // for input rows, in the order of the jobs
	dmaDescriptors []byte                 // of the fetches
}

// New makes the jobs of a lowered graph.
func New(list *step.List, s *dsp.Spec) (*Program, error) {
	p, err := newPlanner(list, s)
	if err != nil {
		return nil, err
	}
	return &Program{List: list, Jobs: p.jobs, Arena: int(p.arena) + 2*layout.EndGuard, DMADescriptors: p.dmaDescriptors}, nil
}

// newPlanner plans a lowered graph.
func newPlanner(list *step.List, s *dsp.Spec) (p *planner, err error) {
	defer try.Catch(&err)
	p = &planner{Object: list.Object, steps: list.Steps, l2: cacheState{size: s.L2.Bytes, touched: map[*layout.Tensor]int{}}, vtcm: newVTCM(s), made: map[*layout.Tensor]int{}}
	try.E(checkSizes(list.Steps, list.Tensors))
	p.Blocks = nil // nobody knows who reads those of lowering
	groups := p.groups()
	p.arena = try.V(place(p.steps, list.Tensors, groups))
	for i := 0; i < len(p.steps); i++ {
		if len(groups) > 0 && groups[0].from == i {
			p.launchBands(groups[0])
			i = groups[0].to - 1
			groups = groups[1:]
		} else {
			p.launchAlone(p.steps[i])
		}
		if op := p.steps[i].Op; len(p.Consts) > layout.MaxConst {
			return nil, fmt.Errorf("operation %d: more than %d bytes of weights and tables", op, layout.MaxConst)
		}
	}
	p.finishFetches()
	p.countSlots()
	p.lookahead()
	p.estimate()
	p.Consts = append(p.Consts, make([]byte, layout.EndGuard)...)
	return p, nil
}

// launcher is what a step makes its jobs with.
func (l *planner) launcher(s *step.Step) *step.Launcher {
	return &step.Launcher{Object: l.Object, Planner: l, Step: s}
}

// launchAlone launches a step on its own.
func (l *planner) launchAlone(s *step.Step) {
	jobs, consts := len(l.jobs), len(l.Consts)
	cold := 0
	for _, t := range s.Reads {
		if !l.Cold(t) {
			continue
		}
		cold += t.Bytes()
		if (s.Rows == nil || s.Rows.Plain || !l.Streams(t)) && t.Shape.N == 1 {
			cold -= l.requestRows(t, 0, t.Shape.H)
		}
	}
	to := l.launcher(s)
	to.Begin().Launch(to, s.AllRows())
	if j := l.readerFrom(jobs); j != nil {
		l.chargeReads(j, cold)
	}
	for _, t := range s.Writes {
		l.made[t] = len(l.jobs)
	}
	l.l2.pass(s, len(l.jobs)-jobs, len(l.Consts)-consts)
}

// AddJob implements step.Planner.
func (l *planner) AddJob(s *step.Step, k *hvx.Linked, args [][]uint32) *step.Job {
	way := once
	if k.Name == (datamove.Warm{}).Name() {
		way = warmed
	}
	l.claim(len(l.jobs), len(l.Consts), way, args)
	j := &step.Job{Step: s, Name: s.Name, Kernel: k, Args: args, Traffic: l.trafficOf(s)}
	l.jobs = append(l.jobs, j)
	return j
}

// trafficOf returns the traffic of the job launched next, for a step.
func (l *planner) trafficOf(s *step.Step) (t step.Traffic) {
	for _, x := range s.Reads {
		t.Reads += x.Bytes()
	}
	if n := len(l.jobs); n == 0 || l.jobs[n-1].Step != s { // once for all jobs of a step
		for _, x := range s.Writes {
			t.Writes += x.Bytes()
		}
	}
	return t
}

// Seal implements step.Planner.
func (l *planner) Seal() { l.vtcm.seal() }

// Cold implements step.Planner.
func (l *planner) Cold(t *layout.Tensor) bool { return l.l2.cold(t) }

// Streams implements step.Planner.
func (l *planner) Streams(t *layout.Tensor) bool {
	return l.l2.cold(t) && (t.Bytes() > maxWhole || t.Shape.N > 1)
}
