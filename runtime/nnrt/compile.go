package nnrt

import (
	"errors"
	"io"
	"slices"
	"time"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/internal/idle"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/runtime/partition"
	"github.com/nnsoc/nnsoc/runtime/registry"
)

// ByStrategy is the name that stands for all devices: CompileOptions.Strategy divides the model among them, without one
// AOSP's rule, by the performance that drivers promise. A plan by predicted times is another thing: Auto of package
// bench/session.
const ByStrategy = "aosp"

// Fallback is an operation that moved to the CPU: a device that would have been
// chosen for it declined it or could not prepare it. An operation of a subgraph
// that the runtime interprets stands under the IF or WHILE of the main subgraph.
type Fallback struct {
	Operation int
	Reason    string // of each device that declined, under ByStrategy with its name
}

// step is one entry of the list that an execution goes through: a part of a
// subgraph that a device runs, or control flow.
type step struct {
	source     int // index into Compilation.sources
	device     hal.Device
	prepared   hal.PreparedModel // *jump for control flow
	operations []int             // of the source
	inputs     []uint32
	outputs    []uint32
}

// source is a subgraph with operands of its own: the main one, and one for each
// use of a subgraph by an IF or WHILE that the runtime interprets.
type source struct {
	model *nn.Model // the subgraph is Main
	// caller is the operation of the main subgraph that leads here, and name what
	// it is of that: "WHILE body". The main subgraph has -1.
	caller int
	name   string
	values []value // before an execution
	macs   []int64 // of its operations
	places []place // of its operands in the pool of temporaries
	nodes  []int   // steps of its own, in order: parts, and control flow with all that it leads to
	// sections of the nodes, where they may overlap.
	sections []section
}

// Partitioning selects whether a compilation may divide a model, and whether the CPU runs parts that
// devices fail to: debug.nn.partition of Android.
type Partitioning int

// Ways of partitioning. The zero value is Android's default.
const (
	// WithFallback divides. The CPU runs what a device fails to prepare or execute.
	WithFallback Partitioning = iota
	// WithoutPartitioning leaves the whole model to the CPU.
	WithoutPartitioning
	// WithoutFallback divides. A part that its device cannot prepare or execute is
	// an error.
	WithoutFallback
)

// Compilation is a model compiled for a device, or for several.
type Compilation struct {
	Model     *nn.Model
	Device    string // the name requested
	Fallbacks []Fallback
	CacheHits int // parts that came from the cache

	sources []source // the main subgraph first
	known   *knownShapes
	rows    []OperationCost    // of the model's operations, without costs
	idle    *idle.Pool[*frame] // frames of the main subgraph
	steps   []step
	cpu     hal.Device
	options hal.PrepareOptions
	owner   []string // device name per operation

	order        []partition.Step // of steps, where there is no control flow among them
	links        []partition.Links
	handovers    []handover
	within       map[uint32]partition.Lies // operands of the main subgraph that lie in others
	poolBytes    int64                     // of the temporaries between steps
	sequential   bool
	machine      hal.Machine
	partitioning Partitioning
}

// CompileOptions steer Compile.
type CompileOptions struct {
	Preference Preference
	Priority   Priority
	// Strategy plans the model under ByStrategy; nil is partition.AOSP.
	Strategy     partition.Strategy
	Partitioning Partitioning
	// Timeout bounds the preparing of each part on its device's clock; 0 is none.
	Timeout time.Duration
	// Cache keeps the prepared parts for later compilations of the same model.
	Cache registry.Cache
	// Candidates are kernels that drivers use instead of those that their estimates prefer,
	// by operation of the main subgraph: see hal.Choice. One that the device of the operation
	// does not consider is an error that matches ErrCandidate. Parts with such operations are not
	// kept in the cache.
	Candidates map[int]string
}

func (o CompileOptions) prepare() hal.PrepareOptions {
	return hal.PrepareOptions{Preference: o.Preference.HAL(), Priority: o.Priority.HAL()}
}

// Compile compiles m for the named device or, with ByStrategy, by the strategy of the
// options. A model or options that break a rule of the HAL are an error
// with status INVALID_ARGUMENT. Operations that the chosen device declines, or
// whose part it cannot prepare, run on the CPU and are listed in Fallbacks; a
// device whose support query fails supports nothing.
func Compile(r *registry.Registry, m *nn.Model, device string, o CompileOptions) (*Compilation, error) {
	a, err := assign(r, m, device, o)
	if err != nil {
		return nil, err
	}
	return compile(r, a, device, o)
}

// CompilePlan compiles the model of a problem that NewProblem stated for r by
// a plan.
func CompilePlan(r *registry.Registry, p *partition.Problem, plan partition.Plan, o CompileOptions) (*Compilation, error) {
	a, err := newAssignment(p, plan)
	if err != nil {
		return nil, err
	}
	return compile(r, a, ByStrategy, o)
}

func compile(r *registry.Registry, a *assignment, device string, o CompileOptions) (*Compilation, error) {
	m := a.problem.Model
	if o.Cache.Dir == "" {
		var err error
		if o.Cache, err = r.Cache(m); err != nil {
			return nil, err
		}
	}
	c := &Compilation{Model: m, Device: device, owner: make([]string, len(m.Main.Operations)), cpu: r.CPU(), machine: r.Machine(), options: o.prepare(), sequential: a.plan.Sequential, partitioning: o.Partitioning}
	if err := c.prepare(r, a, o); err != nil {
		return nil, err
	}
	c.Fallbacks = a.fallbacks()
	c.known = shapesOf(&m.Main)
	for i := range c.sources {
		g := &c.sources[i].model.Main
		c.sources[i].values = valuesOf(g)
		for k := range g.Operations {
			c.sources[i].macs = append(c.sources[i].macs, opspec.OperationMACs(g, k))
		}
	}
	c.handovers = c.findHandovers()
	c.placeTemporaries()
	c.idle = &idle.Pool[*frame]{}
	for i := range m.Main.Operations {
		shapes := &c.known.operations[i]
		c.rows = append(c.rows, OperationCost{Index: i, Type: m.Main.Operations[i].Type, Device: c.owner[i], BoundBy: "none", Inputs: shapes.inputs, Outputs: shapes.outputs})
	}
	return c, nil
}

// prepare compiles the steps of an assignment. Where a device cannot prepare its
// part, the part, or under AOSP's rule the whole model, moves to the CPU, and the
// parts are cut again: fewer devices may allow longer parts.
func (c *Compilation) prepare(r *registry.Registry, a *assignment, o CompileOptions) error {
	for {
		l := &layout{Compilation: c, registry: r, options: o}
		c.sources = []source{{model: c.Model, caller: -1}}
		c.steps, c.order, c.links, c.CacheHits = c.steps[:0], nil, nil, 0
		c.within = map[uint32]partition.Lies{}
		err := l.add(0, a)
		var failed *partError
		switch {
		case err == nil:
			if !l.control {
				c.order = l.order
				c.links = partition.Link(a.problem.Graph, c.order)
			}
			return nil
		case errors.Is(err, ErrCandidate) || !errors.As(err, &failed) || failed.device == 0 || c.partitioning == WithoutFallback:
			return err
		case a.plan.Sequential && !a.named:
			a.allOnCPU(failed)
		default:
			failed.of.moveToCPU(failed.operations, "preparing its part of the model: "+err.Error())
		}
	}
}

// partError is a part that a device could not prepare.
type partError struct {
	of         *assignment
	device     int
	operations []int
	err        error
}

// Error implements error.
func (e *partError) Error() string { return e.err.Error() }

// Unwrap returns the cause.
func (e *partError) Unwrap() error { return e.err }

// layout lists the steps of a compilation.
type layout struct {
	*Compilation
	registry *registry.Registry
	options  CompileOptions
	order    []partition.Step // of the main subgraph
	control  bool             // there is control flow among the steps
}

// add appends the steps of a source. The parts of subgraphs that control flow
// calls lie between those before and after it, so that the list is flat.
func (l *layout) add(source int, a *assignment) error {
	n := len(l.registry.Devices())
	order := a.problem.Steps(a.plan)
	for _, s := range order {
		var err error
		l.sources[source].nodes = append(l.sources[source].nodes, len(l.steps))
		switch op := s.Operations[0]; {
		case s.Device < n:
			err = l.addPart(source, a, s)
		case slices.Contains([]nn.OperationType{nn.OpIf, nn.OpWhile}, l.sources[source].model.Main.Operations[op].Type):
			err = l.addControl(source, a, op)
		default:
			err = l.addView(source, op)
		}
		if err != nil {
			return err
		}
	}
	if source == 0 {
		l.order = order
	}
	if !l.sequential && !a.plan.Sequential {
		l.sources[source].sections = sections(order, partition.Link(a.problem.Graph, order))
	}
	return nil
}

// addPart prepares a part of a source for its device and appends it.
func (l *layout) addPart(source int, a *assignment, s partition.Step) error {
	d, m := l.registry.Devices()[s.Device], l.sources[source].model
	part := partition.Extract(m, s.Operations)
	whole := source == 0 && len(s.Operations) == len(m.Main.Operations)
	if s.Device != 0 && !whole && a.plan.Sequential && (len(part.Inputs) == 0 || part.Unread) {
		return &partError{a, s.Device, s.Operations, hal.Errorf(hal.GeneralFailure, "a part without inputs or without outputs, which drivers do not get")}
	}
	var p hal.PreparedModel = unprepared{}
	open := hasOpenInput(&m.Main, &part)
	if open && lacksOutputShapes(d) {
		return &partError{a, s.Device, s.Operations, hal.Errorf(hal.GeneralFailure, "an input of unknown shape, which drivers before HAL 1.2 do not get")}
	}
	if !open {
		o := l.Compilation.options
		if l.options.Timeout > 0 {
			o.Deadline = hal.MakeDeadline(d, l.options.Timeout)
		}
		if source == 0 {
			o.Candidates = candidatesOf(l.options.Candidates, s.Operations)
		}
		var err error
		if p, err = l.prepareCached(d, part.Model, o, source, s.Operations); err != nil {
			return &partError{a, s.Device, s.Operations, err}
		}
		if err := checkCandidates(d, p, o.Candidates, s.Operations); err != nil {
			return err
		}
	}
	l.steps = append(l.steps, step{source, d, p, s.Operations, part.Inputs, part.Outputs})
	l.own(source, s.Operations, d)
	return nil
}

// lacksOutputShapes reports whether a driver is of HAL 1.0 or 1.1.
func lacksOutputShapes(d hal.Device) bool {
	old, ok := d.(interface{ FeatureLevel() int })
	return ok && old.FeatureLevel() < 29
}

// own notes which device runs operations of a source. Control flow counts as that
// of a device when one runs some of its subgraphs.
func (l *layout) own(source int, operations []int, d hal.Device) {
	if i := l.sources[source].caller; i >= 0 {
		if l.owner[i] == "" || d != l.cpu {
			l.owner[i] = d.Name()
		}
		return
	}
	for _, i := range operations {
		l.owner[i] = d.Name()
	}
}

// Steps is the number of parts the model was cut into.
func (c *Compilation) Steps() int { return len(c.steps) }

// Devices names the devices of the parts, each once, in the order of the parts.
func (c *Compilation) Devices() (names []string) {
	for i := range c.steps {
		if name := c.steps[i].device.Name(); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// Accelerated is the number of operations that do not run on the CPU.
func (c *Compilation) Accelerated(cpu string) int {
	n := 0
	for _, name := range c.owner {
		if name != cpu {
			n++
		}
	}
	return n
}

// PreparedFs is the simulated time of the drivers to prepare the parts, one after the
// other; known is false when one of them does not report it.
func (c *Compilation) PreparedFs() (fs int64, known bool) {
	known = true
	for i := range c.steps {
		if p, ok := hal.As[hal.Preparing](c.steps[i].prepared); ok {
			fs += p.PreparedFs()
			continue
		}
		switch c.steps[i].prepared.(type) {
		case *jump, *view, unprepared:
		default:
			known = false
		}
	}
	return fs, known
}

// Step describes one part of a compilation, or control flow between parts.
type Step struct {
	Device     string
	Subgraph   string // "WHILE body" and so on; "" is the main one
	Jump       bool   // control flow, whose listing has its targets
	Operations []int  // of the subgraph, in execution order
	Prepared   interface {
		WriteListing(w io.Writer) error
		WriteProgram(w io.Writer) error
	}
}

// Step returns part i.
func (c *Compilation) Step(i int) Step {
	s := &c.steps[i]
	_, isJump := s.prepared.(*jump)
	return Step{Device: s.device.Name(), Subgraph: c.sources[s.source].name, Jump: isJump, Operations: s.operations, Prepared: s.prepared}
}

// prepareCached prepares a part from the client's cache, or else from the model with new
// files of the cache for the driver to write.
func (l *layout) prepareCached(d hal.Device, m *nn.Model, o hal.PrepareOptions, source int, operations []int) (hal.PreparedModel, error) {
	if source == 0 && len(operations) == len(l.Model.Main.Operations) {
		operations = nil
	}
	p, hit, err := l.options.Cache.Prepare(d, m, o, source, operations)
	if hit {
		l.CacheHits++
	}
	return p, err
}
