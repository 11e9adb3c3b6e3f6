package dsp

import (
	"errors"
	"slices"
	"sync"

	"github.com/nnsoc/nnsoc/dsp"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/driver/dsp/layout"
	"github.com/nnsoc/nnsoc/hal/driver/dsp/lower"
	"github.com/nnsoc/nnsoc/hal/driver/dsp/plan"
	"github.com/nnsoc/nnsoc/hal/driver/dsp/step"
	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/hal/driver/statistics"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// executable is a graph as a program, its constants and its jobs. It implements
// base.Executable and base.Engine.
type executable struct {
	dev            *Device
	graph          *graph.Graph
	program        dsp.Program
	consts         []byte
	dmaDescriptors []byte // DMA descriptors
	jobs           []dsp.Job
	kernels        []*hvx.Linked // of each job
	steps          []*step.Step  // nil when it comes from a cache
	plan           []*step.Job   // of the jobs; nil when it comes from a cache
	forms          []step.FormChoice
	estimates      []jobEstimate // of the jobs
	all            []*hvx.Linked
	inputs         []region
	outputs        []region
	faults         []faultAt
	extents        map[uint32]region // of outputs whose first dimension is a word in memory
	arena          int               // bytes, guards included
	idle           sync.Pool         // *memory
	decoding       sync.Mutex        // held by decode
	shares         [][]byte          // of the kernels' packets, when they come from a cache
}

// jobEstimate is what the estimator says of a job.
type jobEstimate struct{ slots, cycles int }

// memory is what an execution writes; executions do not share one.
type memory struct {
	plan.Memory
	dram   mem.Level
	core   *dsp.Core  // that caches are of
	caches *dsp.State // in front of dram, nil until a timed run
}

// warm takes the caches that the program has left on the engine of a machine, without
// what the host has read and written since; cold ones if there are none.
func (p *executable) warm(m *memory, c *dsp.Core, at *base.Place) (err error) {
	m.core, m.dram = nil, at.Memory
	if s, ok := at.Caches.Take(p).(heldCaches); ok && s.Move(c) {
		m.caches = s.State
		return nil
	}
	m.caches, err = c.NewState(at.Memory)
	return err
}

// leave leaves the caches for the next execution at the end of one. The host reads
// outputs and writes inputs before that: they go to memory. The time of this maintenance
// is part of the execution's chain.
func (p *executable) leave(m *memory, at *base.Place, end sim.Time) {
	for _, list := range [2][]region{p.inputs, p.outputs} {
		for _, x := range list {
			m.caches.Flush(end, uint64(layout.ArenaBase-layout.EndGuard+x.from), x.to-x.from)
		}
	}
	at.Caches.Leave(p, heldCaches{m.caches})
	m.caches = nil
}

// heldCaches implements base.CacheState.
type heldCaches struct{ *dsp.State }

func (s heldCaches) Clone() base.CacheState { return heldCaches{s.State.Clone()} }

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

// region is a part of the arena.
type region struct{ from, to int }

// prepare lowers a graph whose shapes and parameters are known.
func prepare(d *Device, g *graph.Graph) (*executable, error) {
	list, err := lower.Graph(g, plan.NewObject(&d.cfg.Spec, d.kernels), d.cfg.Lowerings)
	if err != nil {
		return nil, err
	}
	p, err := plan.New(list, &d.cfg.Spec)
	if err != nil {
		return nil, err
	}
	return assemble(d, g, p), nil
}

// assemble is the program of a planned graph.
func assemble(d *Device, g *graph.Graph, l *plan.Program) *executable {
	p := &executable{dev: d, graph: g, program: dsp.Program{Base: l.Image.Base, Code: l.Image.Code}, consts: l.Consts, steps: l.Steps, forms: l.Forms, plan: l.Jobs, jobs: l.CoreJobs(),
		dmaDescriptors: l.DMADescriptors, all: l.Image.Kernels, arena: l.Arena}
	for _, f := range l.Faults {
		p.faults = append(p.faults, faultAt{f.Op, regionOf(f.Word), f.Reason})
	}
	for _, x := range l.Jobs {
		p.kernels = append(p.kernels, x.Kernel)
		p.estimates = append(p.estimates, jobEstimate{x.Cost.Slots, x.Cost.Cycles})
	}
	for _, t := range l.Inputs {
		if t == nil { // nothing that the program reads
			p.inputs = append(p.inputs, region{})
			continue
		}
		p.inputs = append(p.inputs, regionOf(t))
	}
	for _, t := range l.Outputs {
		p.outputs = append(p.outputs, regionOf(t))
	}
	for x, t := range l.Extents {
		if p.extents == nil {
			p.extents = map[uint32]region{}
		}
		p.extents[x] = regionOf(t)
	}
	return p
}

func regionOf(t *layout.Tensor) region {
	from := plan.Offset(t)
	return region{from, from + t.Bytes()}
}

// Bytes implements base.Executable.
func (p *executable) Bytes() int { return len(p.consts) + len(p.program.Code) }

// Run implements base.Executable.
func (p *executable) Run(inputs [][]byte, o base.RunOptions) (base.Run, error) {
	return base.RunOn(p, p.graph, inputs, o)
}

// Acquire implements base.Engine.
func (p *executable) Acquire(*base.RunOptions) (*memory, error) {
	m, ok := p.idle.Get().(*memory)
	if ok {
		clear(m.Arena)
		clear(m.VTCM)
	} else {
		m = &memory{Memory: plan.NewMemory(&p.dev.cfg.Spec, p.arena, p.dmaDescriptors)}
	}
	copy(m.DMADescriptors, p.dmaDescriptors)
	return m, nil
}

// Release implements base.Engine.
func (p *executable) Release(m *memory) { p.idle.Put(m) }

// Input implements base.Engine.
func (p *executable) Input(m *memory, i int) []byte {
	if o := &p.graph.Operands[p.graph.Inputs[i]]; o.IsConst() || o.Lifetime == nn.NoValue {
		return nil
	}
	return m.Arena[p.inputs[i].from:p.inputs[i].to]
}

// Execute implements base.Engine: it runs the jobs.
func (p *executable) Execute(m *memory, o *base.RunOptions) (stats hal.Stats, err error) {
	space, err := m.Space(&p.dev.cfg.Spec, p.consts)
	if err != nil {
		return stats, err
	}
	options := dsp.Options{Functional: o.Functional, Turn: o.Turn, Span: statistics.Trace(o.Trace, o.StartFs, 0)}
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
	report, err := c.Run(&p.program, space, p.jobs, options)
	if err != nil {
		return stats, err
	}
	if o.Memory != nil && !o.Functional {
		p.leave(m, &o.Place, report.Time)
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

// Fault implements base.Engine.
func (p *executable) Fault(m *memory) (int, string, bool) {
	for i := range p.faults {
		if f := &p.faults[i]; slices.ContainsFunc(m.Arena[f.at.from:f.at.to], func(b byte) bool { return b != 0 }) {
			return f.op, f.reason, true
		}
	}
	return 0, "", false
}

// Output implements base.Engine.
func (p *executable) Output(m *memory, i int) (data, entries []byte) {
	if n, ok := p.extents[p.graph.Outputs[i]]; ok {
		entries = m.Arena[n.from:]
	}
	return m.Arena[p.outputs[i].from:p.outputs[i].to], entries
}

// faultAt is a fault whose word has its place.
type faultAt struct {
	op     int
	at     region
	reason string
}
