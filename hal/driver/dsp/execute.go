package dsp

import (
	"encoding/binary"
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
// base.Executable.
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

// finished is a run of a plan; its outputs are parts of the memory until that is
// released. It implements base.Run.
type finished struct {
	*executable
	memory *memory
	stats  hal.Stats
}

// Output implements base.Run.
func (r *finished) Output(i int) (data []byte, dims []uint32) {
	at, x := r.outputs[i], r.graph.Outputs[i]
	data, dims = r.memory.Arena[at.from:at.to], r.graph.Operands[x].Dimensions
	n, ok := r.extents[x]
	if !ok || len(dims) == 0 || dims[0] == 0 {
		return data, dims
	}
	entry := len(data) / int(dims[0])
	dims = slices.Clone(dims)
	dims[0] = min(dims[0], binary.LittleEndian.Uint32(r.memory.Arena[n.from:]))
	return data[:int(dims[0])*entry], dims
}

// Stats implements base.Run.
func (r *finished) Stats() hal.Stats { return r.stats }

// Release implements base.Run.
func (r *finished) Release() { r.idle.Put(r.memory) }

// Bytes implements base.Executable.
func (p *executable) Bytes() int { return len(p.consts) + len(p.program.Code) }

// Run implements base.Executable.
func (p *executable) Run(inputs [][]byte, o base.RunOptions) (base.Run, error) {
	for i, x := range p.inputs {
		o := &p.graph.Operands[p.graph.Inputs[i]]
		if read := !o.IsConst() && o.Lifetime != nn.NoValue; read && len(inputs[i]) != x.to-x.from {
			return nil, hal.Errorf(hal.InvalidArgument, "input %d has %d bytes, want %d", i, len(inputs[i]), x.to-x.from)
		}
	}
	m, ok := p.idle.Get().(*memory)
	if ok {
		clear(m.Arena)
		clear(m.VTCM)
	} else {
		m = &memory{Memory: plan.NewMemory(&p.dev.cfg.Spec, p.arena, p.dmaDescriptors)}
	}
	done := &finished{executable: p, memory: m}
	for i, x := range p.inputs {
		copy(m.Arena[x.from:x.to], inputs[i])
	}
	copy(m.DMADescriptors, p.dmaDescriptors)
	space, err := m.Space(&p.dev.cfg.Spec, p.consts)
	if err == nil {
		err = p.execute(done, space, o)
	}
	if err != nil {
		done.Release()
		return nil, err
	}
	return done, nil
}

// execute runs the jobs and checks the faults that they leave.
func (p *executable) execute(r *finished, space *mem.Space, o base.RunOptions) error {
	options := dsp.Options{Functional: o.Functional, Turn: o.Turn, Span: statistics.Trace(o.Trace, o.StartFs, 0)}
	c, err := p.dev.cores.At(&o.Place)
	if err != nil {
		return err
	}
	switch {
	case o.Functional:
	case o.Memory != nil:
		err = p.warm(r.memory, c, &o.Place)
	default:
		err = r.memory.cold(p.dev, c)
	}
	if err != nil {
		return err
	}
	if !o.Functional {
		options.State = r.memory.caches
	}
	if o.Detail || o.Profile != nil {
		options.Profile = &dsp.Profile{}
	}
	report, err := c.Run(&p.program, space, p.jobs, options)
	if err != nil {
		return err
	}
	if o.Memory != nil && !o.Functional {
		p.leave(r.memory, &o.Place, report.Time)
	}
	for _, c := range p.faults {
		if err := c.failed(r.memory.Arena); err != nil {
			return hal.Errorf(hal.GeneralFailure, "operation %d: %w", c.op, err)
		}
	}
	r.stats = statistics.Stats(report)
	if o.Detail {
		if err := p.decode(); err != nil {
			return err
		}
		p.detail(&r.stats, report, options.Profile)
	}
	if o.Profile != nil {
		return p.profile(o.Profile, c, report, options.Profile)
	}
	return nil
}

// faultAt is a fault whose word has its place.
type faultAt struct {
	op     int
	at     region
	reason string
}

func (c *faultAt) failed(arena []byte) error {
	for _, b := range arena[c.at.from:c.at.to] {
		if b != 0 {
			return errInvalid(c.reason)
		}
	}
	return nil
}

// errInvalid is the reason why an execution failed.
type errInvalid string

func (e errInvalid) Error() string { return string(e) }
