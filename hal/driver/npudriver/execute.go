package npudriver

import (
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/hal/driver/compile"
	"github.com/nnsoc/nnsoc/hal/driver/engine"
	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/plan"
	"github.com/nnsoc/nnsoc/hal/driver/statistics"
	"github.com/nnsoc/nnsoc/isa/ethosu"
	"github.com/nnsoc/nnsoc/npu"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// executable is a lowered graph. It implements compile.Executable and engine.Program.
type executable struct {
	engine.Executable[*machine]
	dev  *Device
	prog *plan.Program
	idle engine.Idle[*machine]
}

// newExecutable is a graph with its program, whose places are not known yet.
func newExecutable(d *Device, g *graph.Graph, prog *plan.Program) *executable {
	p := &executable{dev: d, prog: prog}
	p.Init(p, g)
	return p
}

// assemble is the executable of a planned graph.
func assemble(d *Device, g *graph.Graph, prog *plan.Program) *executable {
	spans := func(buffers []layout.Buffer) (list []engine.Span) {
		for _, b := range buffers {
			list = append(list, engine.Span{Memory: b.Region, From: b.Addr, To: b.Addr + b.Bytes})
		}
		return list
	}
	p := newExecutable(d, g, prog)
	p.idle.KeepsParameters = prog.Enter > 0
	p.IO = engine.IOAddresses{Inputs: spans(prog.Inputs), Outputs: spans(prog.Outputs), Counts: make([]engine.Span, len(prog.Outputs))}
	return p
}

// Memory implements engine.Program.
func (p *executable) Memory(m *machine, i int) []byte { return m.regions[i] }

// machine is what an execution works on; executions do not share one.
type machine struct {
	memories []mem.Level
	home     *base.Caches // of the engine whose memory it is, nil: the memories are its own
	core     *npu.Core
	state    *npu.State
	regions  npu.Regions
	loaded   bool // parameters are on chip: the last execution on its engine has been one of the same program
}

// cold makes the memories cold that are the machine's own.
func (m *machine) cold() {
	if m.home != nil {
		return
	}
	for _, l := range m.memories {
		if l != nil {
			l.Reset()
		}
	}
}

// Acquire implements engine.Program.
func (p *executable) Acquire(o *compile.RunOptions) (*machine, error) {
	at := &o.Place
	c, err := p.dev.cores.At(at)
	if err != nil {
		return nil, err
	}
	m, ok, kept := p.idle.Acquire(at)
	if ok && m.core == c {
		m.cold()
		m.loaded = kept
		return m, nil
	}
	m = &machine{core: c, home: at.Home(), loaded: kept}
	if at.Memory != nil {
		m.memories = p.dev.cfg.Share(at.Memory)
	} else if p.dev.cfg.NewLevels != nil {
		if m.memories, err = p.dev.cfg.NewLevels(); err != nil {
			return nil, err
		}
	}
	if m.state, err = m.core.NewState(m.memories); err != nil {
		return nil, err
	}
	m.regions[0] = p.prog.Consts
	for i := 1; i < len(m.regions); i++ {
		m.regions[i] = make([]byte, p.prog.Region(i))
	}
	if m.loaded { // on the engine that is simulated, though the host has let go of it
		code := p.prog.Code.Commands[:p.prog.Enter:p.prog.Enter]
		_, err = m.core.Run(&npu.Program{Commands: append(code, uint32(ethosu.OpStop))}, &m.regions, npu.Options{Functional: true})
	}
	return m, err
}

// Release implements engine.Program.
func (p *executable) Release(m *machine) { p.idle.Put(m, m.home) }

// Execute implements engine.Program.
func (p *executable) Execute(m *machine, r *compile.RunOptions) (hal.Stats, error) {
	profile := statistics.ProfileOf(r.Profile)
	o := npu.Options{State: m.state, Profile: profile, Functional: r.Functional, Preemption: r.Preemption, Until: r.Until, Span: statistics.Trace(r.Trace, r.StartFs, 0)}
	if m.loaded {
		o.Enter = p.prog.Enter
	}
	report, err := m.core.Run(&p.prog.Code, &m.regions, o)
	if err != nil {
		return hal.Stats{}, err
	}
	if profile != nil {
		statistics.Profile(r.Profile, profile)
	}
	return statistics.Stats(report), nil
}

// Bytes implements compile.Executable.
func (p *executable) Bytes() int { return 4*len(p.prog.Code.Commands) + len(p.prog.Consts) }
