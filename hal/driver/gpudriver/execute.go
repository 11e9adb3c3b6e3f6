package gpudriver

import (
	"fmt"

	"github.com/nnsoc/nnsoc/gpu"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/hal/driver/compile"
	"github.com/nnsoc/nnsoc/hal/driver/engine"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/plan"
	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/hal/driver/statistics"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// executable is a lowered graph on its device. It implements compile.Executable and engine.Program.
type executable struct {
	engine.Executable[*machine]
	dev     *Device
	program *plan.Program
	idle    engine.Idle[*machine]
}

// newExecutable is a graph with its program, whose places are not known yet.
func newExecutable(d *Device, g *graph.Graph, prog *plan.Program) *executable {
	p := &executable{dev: d, program: prog}
	p.Init(p, g)
	return p
}

// Memories of places.
const (
	inArena = iota
	inConsts
)

// assemble is the executable of a planned graph.
func assemble(d *Device, g *graph.Graph, prog *plan.Program) *executable {
	p := newExecutable(d, g, prog)
	spans := func(tensors []*layout.Tensor) (list []engine.Span) {
		for _, t := range tensors {
			list = append(list, span(t))
		}
		return list
	}
	p.IO = engine.IOAddresses{Inputs: spans(prog.Inputs), Outputs: spans(prog.Outputs), Counts: spans(prog.Counts)}
	for _, f := range prog.Faults {
		p.IO.Faults = append(p.IO.Faults, engine.Fault{Operation: f.Op, Reason: f.Reason, Word: span(f.Word)})
	}
	return p
}

// span is the place of a tensor, none where there is no tensor.
func span(t *layout.Tensor) engine.Span {
	if t == nil {
		return engine.Span{}
	}
	s := engine.Span{Memory: inArena, From: int(t.Off), To: int(t.Off) + t.Bytes()}
	if t.Region == layout.Consts {
		s.Memory = inConsts
	}
	return s
}

// Memory implements engine.Program.
func (p *executable) Memory(m *machine, i int) []byte {
	if i == inConsts {
		return p.program.Consts
	}
	return m.arena
}

// machine is what an execution works on; executions do not share one.
type machine struct {
	memory mem.Level    // behind the caches of state, nil: functional executions only
	home   *base.Caches // of the engine whose memory it is, nil: the memory is its own
	state  *gpu.State
	space  mem.Space
	arena  []byte
}

// Acquire implements engine.Program.
func (p *executable) Acquire(o *compile.RunOptions) (*machine, error) {
	at := &o.Place
	if m, ok, _ := p.idle.Acquire(at); ok {
		if m.memory != nil { // cold, as drivers invalidate caches with each submission, and the memory behind them if it is its own
			if m.home == nil {
				m.memory.Reset()
			}
			m.state.Reset()
		}
		clear(m.arena[copy(m.arena, p.program.Pages):])
		return m, nil
	}
	m := &machine{memory: at.Memory, home: at.Home(), arena: make([]byte, p.program.Arena)}
	var err error
	switch {
	case at.Memory != nil:
	case p.dev.cfg.NewMemory != nil:
		if m.memory, err = p.dev.cfg.NewMemory(); err != nil {
			return nil, err
		}
	case !o.Functional:
		return nil, fmt.Errorf("no memory for a timed execution")
	}
	if m.state, err = p.dev.core.NewState(m.memory); err != nil {
		return nil, err
	}
	copy(m.arena, p.program.Pages)
	if err := m.space.Map(mem.Segment{Name: "constants", Base: layout.ConstsBase, Data: p.program.Consts, ReadOnly: true}); err != nil {
		return nil, err
	}
	return m, m.space.Map(mem.Segment{Name: "arena", Base: layout.ArenaBase, Data: m.arena})
}

// Release implements engine.Program.
func (p *executable) Release(m *machine) { p.idle.Put(m, m.home) }

// Execute implements engine.Program.
func (p *executable) Execute(m *machine, r *compile.RunOptions) (hal.Stats, error) {
	profile := statistics.ProfileOf(r.Profile)
	o := gpu.Options{State: m.state, Profile: profile, Points: r.Points, PointRead: r.PointRead, Until: r.Until, Functional: r.Functional, Preemption: r.Preemption, Span: statistics.Trace(r.Trace, r.StartFs, 0)}
	report, err := p.dev.replays.run(p, m, &o, r.Sampled)
	if err != nil {
		return hal.Stats{}, err
	}
	if profile != nil {
		statistics.Profile(r.Profile, profile)
	}
	return statistics.Stats(report), nil
}

// Bytes implements compile.Executable.
func (p *executable) Bytes() int {
	n := len(p.program.Consts)
	for i := range p.program.Dispatches {
		n += len(p.program.Dispatches[i].Kernel.Code)
	}
	return n
}
