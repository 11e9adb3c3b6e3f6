package dsp

import (
	"sync"

	"github.com/nnsoc/nnsoc/dsp"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/lower"
	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// prepared is a model as a program, its constants and its jobs.
type prepared struct {
	dev     *Device
	model   *nn.Model
	program dsp.Program
	consts  []byte
	jobs    []dsp.Job
	kernels []*kernel // of each job
	all     []*kernel
	inputs  []region
	outputs []region
	arena   int       // bytes, guards included
	idle    sync.Pool // *memory
}

// memory is what an execution writes; executions do not share one.
type memory struct{ arena, vtcm []byte }

// region is a part of the arena.
type region struct{ from, to int }

func newPrepared(d *Device, m *nn.Model, l *lowering) *prepared {
	p := &prepared{dev: d, model: m, program: dsp.Program{Base: l.image.base, Code: l.image.code},
		consts: l.consts, jobs: l.jobs, kernels: l.kernels, all: l.image.kernels, arena: int(l.arena) + 2*endGuard}
	for _, t := range l.inputs {
		p.inputs = append(p.inputs, regionOf(t))
	}
	for _, t := range l.outputs {
		p.outputs = append(p.outputs, regionOf(t))
	}
	return p
}

func regionOf(t *tensor) region {
	from := int(t.addr-arenaBase) + endGuard
	return region{from, from + t.bytes()}
}

// space maps constants, VTCM and an arena.
func (p *prepared) space(arena, vtcm []byte) (*mem.Space, error) {
	s := &mem.Space{}
	if err := s.Map(mem.Segment{Name: "constants", Base: constBase, Data: p.consts, ReadOnly: true}); err != nil {
		return nil, err
	}
	if v := &p.dev.cfg.Spec; v.VTCMBytes > 0 {
		if err := s.Map(mem.Segment{Name: "vtcm", Base: uint64(v.VTCMBase), Data: vtcm}); err != nil {
			return nil, err
		}
	}
	return s, s.Map(mem.Segment{Name: "arena", Base: arenaBase - endGuard, Data: arena})
}

// Execute implements hal.PreparedModel.
func (p *prepared) Execute(r *hal.Request) (*hal.Result, error) {
	g := &p.model.Main
	if len(r.Inputs) != len(g.Inputs) || len(r.Outputs) != len(g.Outputs) {
		return nil, hal.Errorf(hal.InvalidArgument, "dsp driver: %d inputs and %d outputs, the model has %d and %d",
			len(r.Inputs), len(r.Outputs), len(g.Inputs), len(g.Outputs))
	}
	for i, x := range p.outputs {
		if len(r.Outputs[i]) < x.to-x.from {
			return nil, hal.Errorf(hal.OutputInsufficientSize, "dsp driver: output %d has %d bytes, needs %d",
				i, len(r.Outputs[i]), x.to-x.from)
		}
	}
	m, ok := p.idle.Get().(*memory)
	if ok {
		clear(m.arena)
		clear(m.vtcm)
	} else {
		m = &memory{arena: make([]byte, p.arena), vtcm: make([]byte, p.dev.cfg.Spec.VTCMBytes)}
	}
	defer p.idle.Put(m)
	for i, x := range p.inputs {
		if len(r.Inputs[i]) != x.to-x.from {
			return nil, hal.Errorf(hal.InvalidArgument, "dsp driver: input %d has %d bytes, want %d", i, len(r.Inputs[i]), x.to-x.from)
		}
		copy(m.arena[x.from:x.to], r.Inputs[i])
	}
	space, err := p.space(m.arena, m.vtcm)
	if err != nil {
		return nil, err
	}
	o := dsp.Options{Functional: r.Functional}
	if r.Trace != nil {
		o.Span = func(track, name string, start, end sim.Time) { r.Trace.Span(track, name, int64(start), int64(end)) }
	}
	report, err := p.dev.core.Run(&p.program, space, p.jobs, o)
	if err != nil {
		return nil, hal.Errorf(hal.GeneralFailure, "dsp driver: %w", err)
	}
	res := &hal.Result{Stats: lower.Stats(report, p.dev.cfg.Launch)}
	view := opspec.ModelView(g)
	for i := range res.Stats.Operations {
		s := &res.Stats.Operations[i]
		if s.Index < len(g.Operations) {
			s.MACs = view.MACs(&g.Operations[s.Index])
		}
	}
	for i, x := range p.outputs {
		copy(r.Outputs[i], m.arena[x.from:x.to])
		res.OutputDimensions = append(res.OutputDimensions, g.Operands[g.Outputs[i]].Dimensions)
	}
	return res, nil
}
