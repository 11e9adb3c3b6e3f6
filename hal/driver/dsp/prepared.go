package dsp

import (
	"errors"
	"fmt"

	"github.com/nnsoc/nnsoc/dsp"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/lower"
	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
)

// prepared is a model as stages.
type prepared struct {
	dev    *Device
	model  *nn.Model
	graph  *nn.Subgraph // the model's, its shapes resolved as far as they can be
	stages []*stage
}

// prepare cuts a model into stages and lowers those that need nothing from an
// execution.
func prepare(d *Device, m *nn.Model) (*prepared, error) {
	g, err := opspec.Resolve(&m.Main)
	if err != nil {
		return nil, err
	}
	for i := range g.Operations {
		if _, err := isLate(g, &g.Operations[i]); err != nil {
			return nil, fmt.Errorf("operation %d: %w", i, err)
		}
	}
	p := &prepared{dev: d, model: m, graph: g}
	if p.stages, err = cut(g); err != nil {
		return nil, err
	}
	for _, s := range p.stages {
		if !s.ready() {
			continue
		}
		whole, err := s.bind(nil, nil)
		if err != nil {
			return nil, err
		}
		if s.fixed, err = newPlan(d, whole); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// Execute implements hal.PreparedModel. When an output does not fit its buffer,
// the error has the status OUTPUT_INSUFFICIENT_SIZE and the result the shapes.
func (p *prepared) Execute(r *hal.Request) (*hal.Result, error) {
	g := p.graph
	for i, x := range g.Inputs {
		// An input of no bytes is one left out; its stage knows whether it may be.
		if n := g.Operands[x].Bytes(); int64(len(r.Inputs[i])) != n && len(r.Inputs[i]) > 0 {
			return nil, hal.Errorf(hal.InvalidArgument, "input %d has %d bytes, want %d", i, len(r.Inputs[i]), n)
		}
	}
	res := &hal.Result{OutputDimensions: make([][]uint32, len(g.Outputs))}
	if f := p.stages[0].fixed; len(p.stages) == 1 && f != nil && len(f.extents) == 0 {
		for i, x := range g.Outputs {
			res.OutputDimensions[i] = g.Operands[x].Dimensions
		}
		if err := p.fits(r, res, f.sizes()); err != nil {
			return res, err
		}
	}
	values, dims := make([][]byte, len(g.Operands)), make([][]uint32, len(g.Operands))
	for i, x := range g.Inputs {
		values[x], dims[x] = r.Inputs[i], g.Operands[x].Dimensions
	}
	for k, s := range p.stages {
		done, err := p.stage(s, r, res, values, dims)
		if err != nil {
			return nil, err
		}
		defer done.release()
		for i, x := range s.graph.Outputs {
			values[x], dims[x] = done.output(i)
		}
		if k == 0 {
			res.Stats = p.stats(s, done)
			continue
		}
		next := p.stats(s, done)
		lower.Append(&res.Stats, &next)
	}
	sizes := make([]int, len(g.Outputs))
	for i, x := range g.Outputs {
		res.OutputDimensions[i], sizes[i] = dims[x], len(values[x])
	}
	if err := p.fits(r, res, sizes); err != nil {
		return res, err
	}
	for i, x := range g.Outputs {
		copy(r.Outputs[i], values[x])
	}
	return res, nil
}

// fits compares output buffers with what the outputs need.
func (p *prepared) fits(r *hal.Request, res *hal.Result, sizes []int) error {
	for i, n := range sizes {
		if len(r.Outputs[i]) < n {
			return hal.Errorf(hal.OutputInsufficientSize, "output %d of shape %v has %d bytes, needs %d",
				i, res.OutputDimensions[i], len(r.Outputs[i]), n)
		}
	}
	return nil
}

// stage runs one stage on the values so far.
func (p *prepared) stage(s *stage, r *hal.Request, res *hal.Result, values [][]byte, dims [][]uint32) (*outcome, error) {
	in, shapes := make([][]byte, len(s.graph.Inputs)), make([][]uint32, len(s.graph.Inputs))
	for i, x := range s.graph.Inputs {
		in[i], shapes[i] = values[x], dims[x]
	}
	pl, err := s.plan(p.dev, in, shapes)
	if err != nil {
		var known *hal.Error
		if errors.As(err, &known) {
			return nil, err
		}
		return nil, err
	}
	o := dsp.Options{Functional: r.Functional, Span: lower.Trace(r.Trace, res.Stats.LatencyFs, p.dev.cfg.Launch, s.first)}
	if r.Detail && !r.Functional {
		o.Profile = &dsp.Profile{}
	}
	return pl.run(in, o)
}

// stats are the costs of a stage in terms of the model.
func (p *prepared) stats(s *stage, done *outcome) hal.Stats {
	st := lower.Stats(done.report, p.dev.cfg.Launch)
	g := done.plan.graph
	view := opspec.ModelView(g)
	if done.profile != nil {
		done.plan.detail(&st, done.report, done.profile)
	}
	for i := range st.Operations {
		o := &st.Operations[i]
		if o.Index >= 0 && o.Index < len(g.Operations) {
			o.MACs = view.MACs(&g.Operations[o.Index])
			o.Index += s.first
		}
	}
	if done.plan != s.fixed {
		st.Counters = append(st.Counters, hal.Counter{Name: lateCounter, Value: int64(len(g.Operations))})
	}
	return st
}

// lateCounter counts the operations that were lowered when they executed, or
// could have been: whether their plan was at hand does not show.
const lateCounter = "late_operations"

// sizes are the bytes of each output.
func (p *plan) sizes() []int {
	n := make([]int, len(p.outputs))
	for i, r := range p.outputs {
		n[i] = r.to - r.from
	}
	return n
}

// describe names the operations of a stage.
func (s *stage) describe() string {
	last := s.first + len(s.graph.Operations) - 1
	if last <= s.first {
		return fmt.Sprintf("operation %d", s.first)
	}
	return fmt.Sprintf("operations %d to %d", s.first, last)
}
