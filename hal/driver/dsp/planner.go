package dsp

import (
	"fmt"

	"github.com/nnsoc/nnsoc/dsp"
	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/hvx"
)

// planner turns steps into jobs: it places tensors, divides rows into bands, and has
// constants and inputs fetched before they are used. It implements planning.
type planner struct {
	*object
	steps          []*step
	jobs           []*job
	arena          uint32 // bytes of tensors
	l2             cacheState
	vtcm           vtcm
	made           map[*tensor]int   // jobs launched when the last writer of a tensor had been
	constUses      []constUse        // in the order of the constants
	claimed        int               // offset up to which constants have a first reader
	requests       []prefetchRequest // for input rows, in the order of the jobs
	dmaDescriptors []byte            // of the fetches
}

// planSteps makes the jobs of a lowered graph.
func planSteps(list *lowered, s *dsp.Spec) (*planner, error) {
	p := &planner{object: list.object, steps: addHalos(list.steps), l2: cacheState{size: s.L2.Bytes, touched: map[*tensor]int{}}, vtcm: newVTCM(s), made: map[*tensor]int{}}
	groups := p.groups()
	var err error
	if p.arena, err = place(p.steps, list.tensors, groups); err != nil {
		return nil, err
	}
	for i := 0; i < len(p.steps); i++ {
		if len(groups) > 0 && groups[0].from == i {
			err = p.launchBands(groups[0])
			i = groups[0].to - 1
			groups = groups[1:]
		} else {
			err = p.launchWhole(p.steps[i])
		}
		if op := p.steps[i].op; err != nil {
			return nil, err
		} else if len(p.consts) > maxConst {
			return nil, fmt.Errorf("operation %d: more than %d bytes of weights and tables", op, maxConst)
		}
	}
	p.finishFetches()
	p.lookahead()
	p.consts = append(p.consts, make([]byte, endGuard)...)
	return p, nil
}

// launcher is what a step makes its jobs with.
func (l *planner) launcher(s *step) *launcher {
	return &launcher{object: l.object, planning: l, step: s}
}

// launchWhole launches a step on its own.
func (l *planner) launchWhole(s *step) error {
	jobs, consts := len(l.jobs), len(l.consts)
	for _, t := range s.reads {
		if (s.rows == nil || s.rows.plain || !l.Streams(t)) && l.Cold(t) && t.shape.n == 1 {
			l.requestRows(t, 0, t.shape.h)
		}
	}
	to := l.launcher(s)
	w, err := to.begin()
	if err == nil {
		err = w.Launch(to, s.wholeRange())
	}
	if err != nil {
		return failed(s, err)
	}
	for _, t := range s.writes {
		l.made[t] = len(l.jobs)
	}
	l.l2.pass(s, len(l.jobs)-jobs, len(l.consts)-consts)
	return nil
}

func failed(s *step, err error) error { return fmt.Errorf("operation %d: %w", s.op, err) }

// AddJob implements planning.
func (l *planner) AddJob(s *step, k *hvx.Linked, args [][]uint32) *job {
	l.claim(len(l.jobs), len(l.consts), once)
	j := &job{step: s, name: s.name, kernel: k, args: args, traffic: l.trafficOf(s)}
	l.jobs = append(l.jobs, j)
	return j
}

// trafficOf returns the traffic of the job launched next, for a step.
func (l *planner) trafficOf(s *step) (t traffic) {
	for _, x := range s.reads {
		t.reads += x.bytes()
	}
	if n := len(l.jobs); n == 0 || l.jobs[n-1].step != s { // once for all jobs of a step
		for _, x := range s.writes {
			t.writes += x.bytes()
		}
	}
	return t
}

// Room implements planning.
func (l *planner) Room() int { return int(l.vtcm.size) }

// DMA implements planning.
func (l *planner) DMA() bool { return l.vtcm.dma }

// Seal implements planning.
func (l *planner) Seal() { l.vtcm.seal() }

// Cold implements planning.
func (l *planner) Cold(t *tensor) bool { return l.l2.cold(t) }

// Streams implements planning.
func (l *planner) Streams(t *tensor) bool {
	return l.l2.cold(t) && (t.bytes() > maxWhole || t.shape.n > 1)
}
