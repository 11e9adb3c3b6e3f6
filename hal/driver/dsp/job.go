package dsp

import (
	"github.com/nnsoc/nnsoc/dsp"
	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/hvx"
)

// job is a launch of a kernel on the threads, with what planning knows of it.
type job struct {
	dsp.Job
	step          *step
	kernel        *hvx.Linked
	prefetchArg   int     // index of the prefetch arguments, 0 when it has none
	packets       int     // of the longest thread, estimated; 0 when not known
	traffic       traffic // in L2
	constantBound bool    // see markConstantBound
}

// planner turns steps into jobs: it places tensors, divides rows into bands, and has
// constants and inputs fetched before they are used.
type planner struct {
	*object
	steps          []*step
	tensors        []*tensor
	jobs           []job
	arena          uint32 // bytes of tensors
	vtcm           vtcm
	dmaDescriptors []byte            // of the fetches
	passed         int               // bytes that steps have brought into L2
	flow           int               // of the group being emitted
	hot            map[*tensor]bool  // its tensors
	constUses      []constUse        // in the order of the constants
	claimed        int               // offset up to which constants have a first reader
	requests       []prefetchRequest // for input rows, in the order of the jobs
}

// planSteps makes the jobs of a lowered graph.
func planSteps(l *lowering, d *Device) (*planner, error) {
	p := &planner{object: l.object, steps: l.steps, tensors: l.tensors, vtcm: newVTCM(&d.cfg.Spec)}
	return p, p.finish()
}

// last is the job launched last.
func (l *planner) last() *job { return &l.jobs[len(l.jobs)-1] }

// launch appends a job: args[t] are the arguments of thread t.
func (l *planner) launch(s *step, k *hvx.Linked, args [][]uint32) {
	l.claim(len(l.jobs), len(l.consts), once)
	l.jobs = append(l.jobs, job{Job: dsp.Job{Region: s.region, Name: s.name, Entry: k.Entry, Threads: len(args), Args: args},
		step: s, kernel: k, traffic: l.trafficOf(s)})
}

// canPrefetch marks the last job launched: its arguments from at on prefetch.
func (l *planner) canPrefetch(at int) { l.last().prefetchArg = at }

// launchTable is the launch of a kernel that walks a table of entries: its
// first arguments are the address of the thread's first entry and their
// number, the others are the same for all threads.
func (l *planner) launchTable(s *step, k *hvx.Linked, table []uint32, entryWords int, rest ...uint32) {
	n := len(table) / entryWords
	if n == 0 {
		return
	}
	addr := l.constWords(table)
	var args [][]uint32
	for _, r := range l.spread(n) {
		args = append(args, append([]uint32{addr + uint32(4*entryWords*r[0]), uint32(r[1] - r[0])}, rest...))
	}
	l.launch(s, k, args)
}
