package dspdriver

import (
	"errors"
	"slices"
	"sync"

	"github.com/nnsoc/nnsoc/dsp"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/hal/driver/compile"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/plan"
	"github.com/nnsoc/nnsoc/hal/driver/engine"
	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/hal/driver/statistics"
	"github.com/nnsoc/nnsoc/internal/idle"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// executable is a graph as a program, its constants and its jobs. It implements
// compile.Executable and engine.Program.
type executable struct {
	engine.Executable[*memory] // memory 0 of the places is the arena
	dev                        *Device
	program                    dsp.Program
	consts                     []byte
	dmaDescriptors             []byte
	jobs                       []job
	planned                    *plan.Program // nil when it comes from a cache
	all                        []*hvx.Linked // in order of their entries
	arena                      int           // bytes, guards included
	idle                       idle.Pool[*memory]
	decoding                   sync.Mutex // held by decode
	shares                     [][]byte   // of the kernels' packets, when they come from a cache
}

// job is a job of the core, its kernel, and its estimated slots and cycles.
type job struct {
	dsp.Job
	kernel        *hvx.Linked
	slots, cycles int
}

// memory is what an execution writes; executions do not share one.
type memory struct {
	plan.Memory
	dram   mem.Level
	core   *dsp.Core  // that caches are of
	caches *dsp.State // in front of dram, nil until a timed run
}

// warm acquires the caches that the program has left on the engine of a machine, without
// the lines that the host has read and written since; cold ones if there are none.
func (p *executable) warm(m *memory, c *dsp.Core, at *base.Place) (err error) {
	m.core, m.dram = nil, at.Memory
	if s, ok := at.Caches.Acquire(p).(cacheState); ok && s.Move(c) {
		m.caches = s.State
		return nil
	}
	m.caches, err = c.NewState(at.Memory)
	return err
}

// storeCaches keeps the caches at the end of an execution for the next one. The host reads
// outputs and writes inputs before that: they go to memory. The time of this maintenance
// is part of the execution's chain.
func (p *executable) storeCaches(m *memory, at *base.Place, end sim.Time) {
	for _, x := range slices.Concat(p.IO.Inputs, p.IO.Outputs) {
		m.caches.Flush(end, uint64(layout.ArenaBase-layout.EndGuard+x.From), x.Bytes())
	}
	at.Caches.Store(p, cacheState{m.caches})
	m.caches = nil
}

// cacheState implements base.CacheState.
type cacheState struct{ *dsp.State }

func (s cacheState) Clone() base.CacheState { return cacheState{s.State.Clone()} }

// cold makes caches and DRAM cold.
func (m *memory) cold(d *Device, c *dsp.Core) (err error) {
	if m.core == c {
		m.dram.Reset()
		m.caches.Reset()
		return nil
	}
	if d.cfg.NewMemory == nil {
		return errors.New("no memory for a timed execution")
	}
	if m.dram, err = d.cfg.NewMemory(); err != nil {
		return err
	}
	m.core = c
	m.caches, err = c.NewState(m.dram)
	return err
}

// assemble is the program of a planned graph.
func assemble(d *Device, g *graph.Graph, l *plan.Program) *executable {
	p := &executable{dev: d, program: dsp.Program{Base: l.Image.Base, Code: l.Image.Code}, consts: l.Consts, planned: l,
		dmaDescriptors: l.DMADescriptors, all: l.Image.Kernels, arena: l.Arena}
	p.Init(p, g)
	for i, x := range l.CoreJobs() {
		cost := l.Jobs[i].Cost
		p.jobs = append(p.jobs, job{x, l.Jobs[i].Kernel, cost.Slots, cost.Cycles})
	}
	for i, x := range g.Inputs {
		s := span(l.Inputs[i])
		if o := &g.Operands[x]; o.IsConst() || o.Lifetime == nn.NoValue {
			s = engine.Span{}
		}
		p.IO.Inputs = append(p.IO.Inputs, s)
	}
	for i, x := range g.Outputs {
		p.IO.Outputs = append(p.IO.Outputs, span(l.Outputs[i]))
		p.IO.Counts = append(p.IO.Counts, span(l.Extents[x]))
	}
	for _, f := range l.Faults {
		p.IO.Faults = append(p.IO.Faults, engine.Fault{Operation: f.Op, Reason: f.Reason, Word: span(f.Word)})
	}
	return p
}

// span is the place of a tensor, none where there is no tensor.
func span(t *layout.Tensor) engine.Span {
	if t == nil {
		return engine.Span{}
	}
	from := plan.Offset(t)
	return engine.Span{From: from, To: from + t.Bytes()}
}

// Bytes implements compile.Executable.
func (p *executable) Bytes() int { return len(p.consts) + len(p.program.Code) }

// Acquire implements engine.Program.
func (p *executable) Acquire(*compile.RunOptions) (*memory, error) {
	m, ok := p.idle.Acquire(nil)
	if ok {
		clear(m.Arena)
		clear(m.VTCM)
	} else {
		m = &memory{Memory: plan.NewMemory(&p.dev.cfg.Spec, p.arena, p.dmaDescriptors)}
	}
	copy(m.DMADescriptors, p.dmaDescriptors)
	return m, nil
}

// Release implements engine.Program.
func (p *executable) Release(m *memory) { p.idle.Put(m, nil) }

// Memory implements engine.Program.
func (p *executable) Memory(m *memory, _ int) []byte { return m.Arena }

// Execute implements engine.Program: it runs the jobs.
func (p *executable) Execute(m *memory, o *compile.RunOptions) (stats hal.Stats, err error) {
	space, err := m.Space(&p.dev.cfg.Spec, p.consts)
	if err != nil {
		return stats, err
	}
	options := dsp.Options{Functional: o.Functional, Preemption: o.Preemption, Until: o.Until, Span: statistics.Trace(o.Trace, o.StartFs, 0)}
	c, err := p.dev.cores.At(&o.Place)
	if err != nil {
		return stats, err
	}
	switch {
	case o.Functional:
	case o.Memory != nil:
		err = p.warm(m, c, &o.Place)
	default:
		err = m.cold(p.dev, c)
	}
	if err != nil {
		return stats, err
	}
	if !o.Functional {
		options.State = m.caches
	}
	if o.Detail || o.Profile != nil {
		options.Profile = &dsp.Profile{}
	}
	jobs := make([]dsp.Job, len(p.jobs))
	for i := range jobs {
		jobs[i] = p.jobs[i].Job
	}
	report, err := c.Run(&p.program, space, jobs, options)
	if err != nil {
		return stats, err
	}
	if o.Memory != nil && !o.Functional {
		p.storeCaches(m, &o.Place, report.Time)
	}
	stats = statistics.Stats(report)
	if o.Detail {
		if err := p.decode(); err != nil {
			return stats, err
		}
		p.detail(&stats, report, options.Profile)
	}
	if o.Profile != nil {
		return stats, p.profile(o.Profile, c, report, options.Profile)
	}
	return stats, nil
}
