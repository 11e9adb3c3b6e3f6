package compile

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/hal/driver/statistics"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/sim"
)

// staged is a model as stages. It implements base.Program.
type staged struct {
	lowering Lowering
	options  hal.PrepareOptions
	model    *nn.Model
	graph    *graph.Graph // canonical, its shapes resolved as far as they can be
	stages   []*stage
	children map[uint32]*staged // of subgraphs that control stages call
}

// stage is a stage with its compiled programs.
type stage struct {
	*graph.Stage
	fixed Executable // nil when an execution must bring parameters or shapes

	mu    sync.Mutex
	bound []boundProgram // last used first
}

// boundProgram is a program for certain parameters and shapes.
type boundProgram struct {
	key string
	Executable
}

// Bounds of the programs that a stage keeps.
const (
	MaxBoundPrograms = 8
	maxBoundBytes    = 1 << 28
)

// lower lowers a stage with the parameters and shapes of an execution.
func (p *staged) lower(s *stage, values [][]byte, dims [][]uint32) (Executable, error) {
	g, err := s.Bind(values, dims)
	if err != nil {
		return nil, err
	}
	if !s.Ready() { // a parameter may be what a pass has waited for
		if err := p.lowering.Passes().Bound().Run(g, nil); err != nil {
			return nil, err
		}
	}
	return p.lowering.Lower(g, p.options)
}

// Execute implements base.Program. When an output does not fit its buffer, the
// error has the status OUTPUT_INSUFFICIENT_SIZE and the result the shapes.
func (p *staged) Execute(r *hal.Buffers, at base.Place) (*hal.Result, error) {
	g := p.graph
	for i, x := range g.Inputs {
		// An input of no bytes is one left out; its stage knows whether it may be.
		if n := g.Operands[x].Bytes(); int64(len(r.Inputs[i])) != n && len(r.Inputs[i]) > 0 {
			return nil, hal.Errorf(hal.InvalidArgument, "input %d has %d bytes, want %d", i, len(r.Inputs[i]), n)
		}
	}
	shapes := make([][]uint32, len(g.Inputs))
	for i, x := range g.Inputs {
		shapes[i] = g.Operands[x].Dimensions
	}
	a, err := p.call(r.Inputs, shapes, r, at, 0)
	if err != nil {
		return nil, err
	}
	defer a.release()
	res := &hal.Result{OutputDimensions: make([][]uint32, len(g.Outputs)), Stats: a.stats}
	values, dims := a.values, a.dims
	for i, x := range g.Outputs {
		res.OutputDimensions[i] = dims[x]
	}
	for i, x := range g.Outputs {
		if n := len(values[x]); len(r.Outputs[i]) < n {
			return res, hal.Errorf(hal.OutputInsufficientSize, "output %d of shape %v has %d bytes, needs %d", i, dims[x], len(r.Outputs[i]), n)
		}
	}
	for i, x := range g.Outputs {
		copy(r.Outputs[i], values[x])
	}
	return res, nil
}

// activation is a run of all stages: values and shapes of operands, valid until release.
type activation struct {
	values [][]byte
	dims   [][]uint32
	stats  hal.Stats
	runs   []Run
}

func (a *activation) release() {
	for _, r := range a.runs {
		r.Release()
	}
}

// call runs the stages on inputs of these shapes, from an instant of the execution on.
func (p *staged) call(in [][]byte, shapes [][]uint32, r *hal.Buffers, at base.Place, startFs int64) (*activation, error) {
	g := p.graph
	a := &activation{values: make([][]byte, len(g.Operands)), dims: make([][]uint32, len(g.Operands))}
	for i, x := range g.Inputs {
		a.values[x], a.dims[x] = in[i], shapes[i]
	}
	for k, s := range p.stages {
		run, stats, err := p.runStage(s, r, at, startFs+a.stats.LatencyFs, a.values, a.dims)
		if err != nil {
			a.release()
			return nil, err
		}
		a.runs = append(a.runs, run)
		for i, x := range s.Graph.Outputs {
			a.values[x], a.dims[x] = run.Output(i)
		}
		if k == 0 {
			a.stats = stats
		} else {
			statistics.Append(&a.stats, &stats)
		}
	}
	return a, nil
}

// runStage runs one stage on the values so far.
func (p *staged) runStage(s *stage, r *hal.Buffers, at base.Place, startFs int64, values [][]byte, dims [][]uint32) (Run, hal.Stats, error) {
	if s.Control {
		return p.runControl(s, r, at, startFs, values, dims)
	}
	in, shapes := make([][]byte, len(s.Graph.Inputs)), make([][]uint32, len(s.Graph.Inputs))
	for i, x := range s.Graph.Inputs {
		in[i], shapes[i] = values[x], dims[x]
	}
	program, err := p.program(s, in, shapes)
	if err != nil {
		return nil, hal.Stats{}, err
	}
	profile := r.Profile
	if r.Functional {
		profile = nil
	}
	run, err := program.Run(in, RunOptions{
		Functional: r.Functional, Detail: r.Detail && !r.Functional, Trace: r.Trace, Profile: profile, StartFs: startFs,
		Preference: p.options.Preference, Priority: p.options.Priority, InBurst: r.InBurst, Place: at.From(sim.Time(startFs)),
	})
	if late := (*sim.Late)(nil); errors.As(err, &late) {
		return nil, hal.Stats{}, &sim.Late{At: sim.Time(startFs) + late.At}
	}
	if err != nil {
		return nil, hal.Stats{}, err
	}
	stats := run.Stats()
	view := opspec.View{Operands: p.model.Main.Operands, Table: p.graph.Table}
	if program != s.fixed {
		view = p.boundView(s, in, shapes)
		stats.Counters = append(stats.Counters, hal.Counter{Name: DeferredCounter, Value: int64(len(s.Graph.Operations))})
	}
	for i := range stats.Operations {
		if o := &stats.Operations[i]; o.Index >= 0 && o.Index < len(p.model.Main.Operations) {
			o.MACs = view.MACs(&p.model.Main.Operations[o.Index])
		}
	}
	return run, stats, nil
}

// boundView reads the model's operations with the shapes and parameters of an
// execution.
func (p *staged) boundView(s *stage, values [][]byte, dims [][]uint32) opspec.View {
	g, err := s.Bind(values, dims)
	if err != nil {
		return p.graph.View()
	}
	return opspec.View{Operands: g.Operands, Final: true, Table: p.graph.Table}
}

// DeferredCounter counts the operations that were lowered when they executed, or
// could have been: whether their program was at hand does not show.
const DeferredCounter = "deferred_operations"

// program is the stage's program for these inputs, made now unless it is at hand.
func (p *staged) program(s *stage, values [][]byte, dims [][]uint32) (Executable, error) {
	omitted := false
	for k := range values {
		omitted = omitted || s.Omits(k, values, dims)
	}
	if s.fixed != nil && !omitted {
		return s.fixed, nil
	}
	key := s.Key(values, dims)
	if e := s.recall(key); e != nil {
		return e, nil
	}
	e, err := p.lower(s, values, dims)
	if err != nil {
		return nil, err
	}
	s.remember(boundProgram{key, e})
	return e, nil
}

// recall finds a program and makes it the last used.
func (s *stage) recall(key string) Executable {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, b := range s.bound {
		if b.key == key {
			copy(s.bound[1:], s.bound[:i])
			s.bound[0] = b
			return b.Executable
		}
	}
	return nil
}

// remember remembers a program and forgets those that are too many.
func (s *stage) remember(b boundProgram) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bound = slices.Insert(s.bound, 0, b)
	bytes := 0
	for i, x := range s.bound {
		if bytes += x.Bytes(); i > 0 && (i >= MaxBoundPrograms || bytes > maxBoundBytes) {
			clear(s.bound[i:])
			s.bound = s.bound[:i]
			return
		}
	}
}

// WriteListing implements base.Program. What executions have lowered is listed
// as well.
func (p *staged) WriteListing(w io.Writer) error {
	for _, s := range p.stages {
		if s.Control {
			if err := p.ofChildren(s, w, (*staged).WriteListing); err != nil {
				return err
			}
			continue
		}
		if s.fixed != nil {
			if err := s.fixed.WriteListing(w); err != nil {
				return err
			}
			continue
		}
		s.mu.Lock()
		bound := slices.Clone(s.bound)
		s.mu.Unlock()
		if _, err := fmt.Fprintf(w, "; %s: lowered when parameters are known, %d times so far\n", s.describe(), len(bound)); err != nil {
			return err
		}
		for _, b := range bound {
			if err := b.WriteListing(w); err != nil {
				return err
			}
		}
	}
	return nil
}

// ofChildren prints something of each subgraph that a stage calls.
func (p *staged) ofChildren(s *stage, w io.Writer, write func(*staged, io.Writer) error) error {
	op := &s.Graph.Operations[0]
	list, err := subgraphs(p.model, s.Graph, op)
	if err != nil {
		return err
	}
	for _, k := range list {
		if _, err := fmt.Fprintf(w, "; operation %d %s: subgraph %d\n", s.Graph.Origin[0], op.Type, k); err != nil {
			return err
		}
		if err := write(p.children[k], w); err != nil {
			return err
		}
	}
	return nil
}

// describe names the operations of a stage.
func (s *stage) describe() string {
	first, last := s.Graph.Origin[0], s.Graph.Origin[len(s.Graph.Origin)-1]
	if last <= first {
		return fmt.Sprintf("operation %d", first)
	}
	return fmt.Sprintf("operations %d to %d", first, last)
}

// WriteProgram implements base.Program.
func (p *staged) WriteProgram(w io.Writer) error {
	for _, s := range p.stages {
		if _, err := fmt.Fprintln(w, "stage", s.Graph.Origin[0], len(s.Graph.Operations), s.fixed != nil); err != nil {
			return err
		}
		if s.Control {
			if err := p.ofChildren(s, w, (*staged).WriteProgram); err != nil {
				return err
			}
		}
		if s.fixed != nil {
			if err := s.fixed.WriteProgram(w); err != nil {
				return err
			}
		}
	}
	return nil
}

// Programs returns the programs of each stage of a prepared model: the one lowered
// when the model was prepared, else those that executions have lowered so far, the
// last used first. A model of open inputs has none.
func Programs(p hal.PreparedModel) [][]Executable {
	var stages [][]Executable
	x, ok := base.Unwrap(p).(*staged)
	if !ok {
		return nil
	}
	for _, s := range x.stages {
		s.mu.Lock()
		var list []Executable
		if s.fixed != nil {
			list = append(list, s.fixed)
		}
		for _, b := range s.bound {
			list = append(list, b.Executable)
		}
		s.mu.Unlock()
		stages = append(stages, list)
	}
	return stages
}

// ProgramFor returns the program of the first stage of a prepared model for inputs of
// these values and shapes, lowered now unless it is at hand.
func ProgramFor(p hal.PreparedModel, inputs [][]byte, dims [][]uint32) (Executable, error) {
	m := base.Unwrap(p).(*staged)
	return m.program(m.stages[0], inputs, dims)
}

// WriteSteps prints the steps of all stages that are lowered already.
func (p *staged) WriteSteps(w io.Writer) error {
	return writeLowered(p, w, "prints", StepWriter.WriteSteps)
}
