package compile

import (
	"fmt"
	"io"
	"strings"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/hal/driver/graph/legal"
	"github.com/nnsoc/nnsoc/hal/driver/graph/pass"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// Lowering is the device-specific part of the middle end: it compiles canonical graphs
// whose shapes and parameters are known to programs. New makes a compiler of it.
// Its methods may be called from several goroutines.
type Lowering interface {
	// Passes are those that make a model canonical for this device.
	Passes() pass.Pipeline
	// Check returns the Checker of one graph.
	Check(g *graph.Graph) Checker
	// Lower lowers a graph. Regions of the program's report, and operations of its
	// listing, are g.Origin.
	Lower(g *graph.Graph, o hal.PrepareOptions) (Executable, error)
}

// Checker reports what a device cannot lower. An operation for which it returns nil
// lowers alone and in every subset, whatever the source of its operands.
type Checker interface {
	// Types returns why operation i cannot be lowered whatever its parameters are.
	Types(i int) error
	// Lowers returns why operation i, whose shapes and parameters are known, cannot
	// be lowered.
	Lowers(i int) error
	// Defers returns why operation i cannot be promised before its parameters and
	// shapes are known.
	Defers(i int) error
}

// Executable is the program of a graph. Executions share no state.
type Executable interface {
	// Run executes the program. inputs are dense, in the order of the graph's
	// inputs; one that the lowering treated as a constant or as omitted is ignored.
	Run(inputs [][]byte, o RunOptions) (Run, error)
	WriteListing(w io.Writer) error
	WriteProgram(w io.Writer) error
	// Bytes is about how much memory the program keeps.
	Bytes() int
}

// StepWriter is an Executable that can print the steps it was planned from: what kernels
// compute, on which tensors, before these have places.
type StepWriter interface {
	WriteSteps(w io.Writer) error
}

// RunOptions steer one run of an Executable.
type RunOptions struct {
	Functional bool
	Detail     bool // see hal.ExecuteOptions
	Trace      hal.Tracer
	Profile    hal.Profiler
	StartFs    int64 // time of the execution at which the run begins
	// Preference and Priority come from the prepared model; with InBurst more
	// executions follow closely. They control clocks.
	Preference hal.Preference
	Priority   hal.Priority
	InBurst    bool
	base.Place
}

// Run is a finished run.
type Run interface {
	// Output returns output i and its shape. The bytes are valid until Release.
	Output(i int) (data []byte, dims []uint32)
	// Stats are the costs, by operations of the model. MACs are filled by the caller.
	Stats() hal.Stats
	Release()
}

// New returns the compiler that makes models canonical, cuts them into stages
// and lowers each with l: when the model is prepared, or, where parameters or shapes
// are missing, when an execution brings them.
func New(l Lowering) base.Compiler { return compiler{Lowering: l} }

type compiler struct {
	Lowering
	table   *opspec.Table // the device's
	nesting int           // of the subgraph that is compiled, 0 of the model
	known   *known        // of the subgraphs of the model
}

// graph is the graph of a model.
func (c compiler) graph(m *nn.Model) *graph.Graph {
	g := graph.New(m)
	g.Table, g.Called = c.table, c.nesting > 0
	if l, ok := c.Lowering.(Legalized); ok {
		g.Leaves = l.Leaves
	}
	return g
}

// WithOperations is the compiler for a device whose models may have the operations of a table.
func (c compiler) WithOperations(t *opspec.Table) base.Compiler {
	c.table = t
	return c
}

// Facts lists the rows of the device's table, nil when the device has none.
func (c compiler) Facts() []legal.Fact {
	if t, ok := c.Lowering.(Legalized); ok {
		return t.Facts()
	}
	return nil
}

// Supports implements base.Compiler.
func (c compiler) Supports(m *nn.Model) ([]hal.Support, error) {
	c.begin()
	g := c.graph(m)
	g.Query = true
	answers := make([]hal.Support, len(g.Operations))
	for i := range answers {
		answers[i].OK = true
	}
	err := c.Passes().Local().Run(g, nil)
	check := c.Check(g)
	for i, of := range g.Origin {
		reason := err
		switch op := &g.Operations[i]; {
		case reason != nil:
		case opspec.Calls(op.Type):
			reason = c.controls(m, g, op)
		default:
			reason = refusal(g, i, supported(g, check, i))
		}
		if reason != nil && answers[of].OK {
			answers[of] = hal.Support{Reason: reason.Error()}
		}
	}
	return answers, nil
}

// refusal is the reason of a refusal with the name of the model's operation, where a pass has replaced that by others.
func refusal(g *graph.Graph, i int, reason error) error {
	name := g.NameOf(g.Origin[i])
	if reason == nil || name == g.Operations[i].Type.String() {
		return reason
	}
	return fmt.Errorf("%s: expanded to %w", name, reason)
}

// supported returns why an operation is not supported.
func supported(g *graph.Graph, check Checker, i int) error {
	if err := check.Types(i); err != nil {
		return err
	}
	op := &g.Operations[i]
	deferred, err := g.Deferred(op)
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", op.Type, err)
	case deferred:
		return check.Defers(i)
	}
	declared := make([][]uint32, len(op.Outputs))
	for k, x := range op.Outputs {
		declared[k] = g.Operands[x].Dimensions
	}
	err = check.Lowers(i)
	for k, x := range op.Outputs { // of open shapes, to which a lowering gives the bound that it knows
		g.Operands[x].Dimensions = declared[k]
	}
	return err
}

// Compile implements base.Compiler.
func (c compiler) Compile(m *nn.Model, o hal.PrepareOptions) (base.Program, error) {
	return c.compile(m, o)
}

func (c compiler) compile(m *nn.Model, o hal.PrepareOptions) (*staged, error) {
	c.begin()
	g := c.graph(m)
	if err := c.Passes().Run(g, nil); err != nil {
		return nil, err
	}
	check := c.Check(g)
	for i := range g.Operations {
		if opspec.Calls(g.Operations[i].Type) {
			if err := c.controls(m, g, &g.Operations[i]); err != nil {
				return nil, fmt.Errorf("operation %d: %w", g.Origin[i], err)
			}
			continue
		}
		if err := refusal(g, i, check.Types(i)); err != nil {
			return nil, fmt.Errorf("operation %d: %w", g.Origin[i], err)
		}
		if _, err := g.Deferred(&g.Operations[i]); err != nil {
			return nil, fmt.Errorf("operation %d: %w", g.Origin[i], err)
		}
	}
	parts, err := g.Stages()
	if err != nil {
		return nil, err
	}
	p := &staged{lowering: c.Lowering, options: o, model: m, graph: g}
	if err := c.compileCalled(p, parts); err != nil {
		return nil, err
	}
	_, refuses := c.Lowering.(Legalized) // what the table lowers it has checked
	at := 0
	for _, s := range parts {
		st := &stage{Stage: s}
		if !s.Control && !(s.Ready() && refuses) {
			for i := range s.Graph.Operations {
				if err := refusal(g, at+i, supported(g, check, at+i)); err != nil {
					return nil, fmt.Errorf("operation %d: %w", g.Origin[at+i], err)
				}
			}
		}
		if s.Ready() {
			if st.fixed, err = p.lower(st, nil, nil); err != nil {
				return nil, err
			}
		}
		p.stages = append(p.stages, st)
		at += len(s.Graph.Operations)
	}
	return p, nil
}

// compileCalled compiles the subgraphs that the stages of a program call.
func (c compiler) compileCalled(p *staged, parts []*graph.Stage) error {
	c.begin()
	c.nesting++
	for _, s := range parts {
		if !s.Control {
			continue
		}
		list, err := subgraphs(p.model, s.Graph, &s.Graph.Operations[0])
		if err != nil {
			return err
		}
		for _, k := range list {
			if p.children[k] != nil {
				continue
			}
			child := c.known.programs[k]
			if child == nil {
				if child, err = c.compile(c.called(p.model, k), p.options); err != nil {
					return fmt.Errorf("operation %d: subgraph %d: %w", s.Graph.Origin[0], k, err)
				}
				c.known.programs[k] = child
			}
			if p.children == nil {
				p.children = map[uint32]*staged{}
			}
			p.children[k] = child
		}
	}
	return nil
}

// PassResults runs the passes on a model and records what each makes of it.
func (c compiler) PassResults(m *nn.Model) ([]hal.PassResult, error) {
	const maxData = 64 // bytes of a constant that are worth reading
	text := func(g *graph.Graph) string {
		var b strings.Builder
		_ = g.Text(&b, maxData) // a Builder does not fail
		return b.String()
	}
	g := c.graph(m)
	list := []hal.PassResult{{Changed: true, Graph: text(g)}}
	err := c.Passes().Run(g, func(pass string, changed bool, g *graph.Graph) {
		r := hal.PassResult{Pass: pass, Changed: changed}
		if changed {
			r.Graph = text(g)
		}
		list = append(list, r)
	})
	return list, err
}
