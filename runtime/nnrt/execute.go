package nnrt

import (
	"slices"
	"time"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/runtime/partition"
)

// Result is one execution of a compilation.
type Result struct {
	Outputs    [][]byte   // in the order of the model's outputs
	Dimensions [][]uint32 // of the outputs, also of those whose shape only an execution gives
	LatencyFs  int64
	EnergyPJ   float64 // all that the phone has spent meanwhile; see hal.Stats
	// Components are EnergyPJ by component of the phone, when all devices report them.
	Components []hal.ComponentEnergy
	// Shared is what is divided among this and executions beside it, of clients or of parts
	// that overlap. It is in EnergyPJ once AddShared has been called, which Execute without a
	// client does.
	Shared     hal.Account
	Devices    []DeviceCost    // in the order of their first parts
	Parts      []PartCost      // in the order of the compilation's steps, those of control flow in time
	Operations []OperationCost // by index: one per operation of the model
	// Overheads are the costs of devices that belong to no operation: launches,
	// and transfers of inputs and outputs.
	Overheads []OperationCost
	// Inner are the operations of subgraphs that the runtime interpreted, by device:
	// the sum of all their runs. Index is the IF or WHILE of the model.
	Inner []OperationCost
	// Rounds are how often the control flow that the runtime interpreted, by operation of
	// the model, ran its subgraphs: then and else, or condition and body.
	Rounds map[int][2]int

	// Chain is what the execution went through by name: "runtime", "binder",
	// "execution" and so on, in the order of their first coming. The times add up to
	// LatencyFs, the energies to EnergyPJ, when all devices report a chain.
	Chain []hal.Part

	Instructions int64

	// Fallbacks are operations that moved to the CPU in this execution, besides
	// those of the compilation: a device declined them once their shapes were known.
	Fallbacks []Fallback
}

// PartCost is when a part of the model ran. Parts on different devices may
// overlap.
type PartCost struct {
	Device         string
	Subgraph       string // "WHILE body" and so on; "" is the main one
	Within         int    // the IF or WHILE of the model that leads to Subgraph
	Operations     []int
	StartFs, EndFs int64 // since the execution began
	EngineFs       int64 // of it the device worked for this part alone
	EnergyPJ       float64
}

// ExecuteOptions are the options of Execute.
type ExecuteOptions struct {
	Functional bool
	Detail     bool
	Trace      Tracer
	Profile    Profiler
	// Timeout bounds the time of each part on its device's clock; 0 is none.
	Timeout time.Duration
	// LoopTimeout bounds the simulated time of each WHILE; 0 is NNAPI's default.
	LoopTimeout time.Duration
	// Burst announces that more executions follow closely.
	Burst bool
	// CheckShapes makes a shape that a device reports and that is not the operand's an
	// error, as AOSP's runtime does; without it the caller compares.
	CheckShapes bool
	// Client is the client of the devices' machine that executes; nil is an application
	// of one thread.
	Client hal.Client
	// Through is a burst of the compilation to execute through; nil is none.
	Through *Burst
	// InputDimensions complete the shapes of inputs that the model leaves open, by position: nil where it does not.
	InputDimensions [][]uint32
	// InputBuffers and OutputBuffers are device memory that replaces inputs
	// and outputs, by position: nil where there is none. Roles returns where that is
	// possible.
	InputBuffers, OutputBuffers []hal.Buffer
}

// Execute runs the model once. Inputs are dense buffers in model order; nil leaves
// an optional input out. Devices report the shapes that the model leaves open.
func (c *Compilation) Execute(inputs [][]byte, o ExecuteOptions) (*Result, error) {
	if c.machine == nil || o.Client != nil || o.Functional || !c.overlaps() {
		return c.execute(inputs, o)
	}
	var r *Result
	err := c.machine.Enter(func(client hal.Client) (err error) {
		o.Client = client
		r, err = c.execute(inputs, o)
		return err
	})
	if err == nil {
		r.AddShared()
	}
	return r, err
}

// PartShared is the part of Result.Chain that holds Shared. It has no time of its own.
const PartShared = "shared"

// AddShared adds Shared to the energy, once: when the concurrent clients have reached the end of
// the execution.
func (r *Result) AddShared() {
	if r.Shared == nil {
		return
	}
	list := r.Shared.Components()
	r.Shared = nil
	p := hal.Part{Name: PartShared}
	for _, x := range list {
		p.EnergyPJ += x.EnergyPJ
	}
	if p.EnergyPJ > 0 {
		r.EnergyPJ += p.EnergyPJ
		r.Components = hal.AddComponents(r.Components, list)
		r.chain([]hal.Part{p})
	}
}

// execute runs the steps: in order, or beside each other as clients of the machine.
func (c *Compilation) execute(inputs [][]byte, o ExecuteOptions) (*Result, error) {
	g := &c.Model.Main
	e, err := newExecution(c, inputs, o)
	if err != nil {
		return nil, err
	}
	defer e.releaseMemory()
	var shared hal.Account
	if o.Client != nil {
		shared = o.Client.Account()
	}
	inOrder := e.inOrder
	if o.Client != nil && !o.Functional && c.overlaps() {
		inOrder = e.overlapped
	}
	if whole, err := inOrder(); err != nil {
		return nil, err
	} else if whole != "" {
		return c.runOnCPU(inputs, o, whole)
	}
	r := e.result
	r.Shared = shared
	e.schedule()
	e.shapes()
	r.Fallbacks = e.moved
	if o.Trace != nil {
		e.marks(o.Trace)
		for i, x := range e.ran {
			x.trace.emit(o.Trace, r, i+1)
		}
	}
	for _, x := range e.ran {
		if x.profile != nil {
			x.profile.emit(o.Profile, r)
		}
	}
	for _, x := range g.Outputs {
		r.Outputs = append(r.Outputs, e.frames[0][x].data)
		r.Dimensions = append(r.Dimensions, e.frames[0][x].dims)
	}
	return r, nil
}

// execution is one run of a compilation: the order of its parts, control flow between them, and their time.
type execution struct {
	parts
	nowFs      int64 // time of the steps so far
	concurrent bool  // steps may overlap, as clients of the machine
	ran        []ranStep

	originFs, endFs int64 // on the machine's clock, where steps overlap
	result          *Result
}

func newExecution(c *Compilation, inputs [][]byte, o ExecuteOptions) (*execution, error) {
	if err := checkInputs(c.Model, inputs, o.InputDimensions); err != nil {
		return nil, err
	}
	e := &execution{parts: parts{bindings: bindings{Compilation: c, frames: make([][]*value, len(c.sources))}, options: o}}
	f, g := e.enter(0), &c.Model.Main
	for i, x := range g.Inputs {
		f[x].data = inputs[i]
		if i < len(o.InputDimensions) && o.InputDimensions[i] != nil {
			f[x].dims = o.InputDimensions[i]
		}
		if i < len(o.InputBuffers) {
			f[x].buffer = o.InputBuffers[i]
		}
	}
	for i, x := range g.Outputs {
		if i < len(o.OutputBuffers) {
			if o.OutputBuffers[i] != nil && c.placed(x) {
				return nil, hal.Errorf(hal.InvalidArgument, "runtime: output %d holds results of several parts, device memory holds that of one", i)
			}
			f[x].buffer = o.OutputBuffers[i]
		}
	}
	e.result = &Result{Operations: slices.Clone(c.rows)}
	if o.Through == nil { // requests of bursts name no device memory
		e.allocateDeviceMemory()
	}
	return e, nil
}

// inOrder executes the steps one after the other.
func (e *execution) inOrder() (whole string, err error) { return e.source(0, e.options.Client) }

// source executes the nodes of a source: in order, or beside each other as clients of the
// machine.
func (e *execution) source(k int, client hal.Client) (whole string, err error) {
	of := &e.sources[k]
	for i := 0; i < len(of.nodes) && !e.concurrent; i++ {
		if whole, err := e.node(of.nodes[i], client); err != nil || whole != "" {
			return whole, err
		}
	}
	for i := 0; i < len(of.sections) && e.concurrent; i++ {
		s := &of.sections[i]
		if s.to-s.from == 1 {
			whole, err = e.node(of.nodes[s.from], client)
		} else {
			whole, err = e.section(of, s, client)
		}
		if err != nil || whole != "" {
			return whole, err
		}
	}
	return "", nil
}

// node executes a step of a source, with all that it leads to where it is control flow.
func (e *execution) node(at int, client hal.Client) (whole string, err error) {
	switch p := e.steps[at].prepared.(type) {
	case *jump:
		return e.interpret(at, p, client)
	case *view:
		e.show(p)
		return "", nil
	}
	if e.concurrent {
		return e.timed(at, client)
	}
	whole, ran, err := e.part(at, client)
	if err != nil || whole != "" {
		return whole, err
	}
	took := ran.stats.LatencyFs
	if e.options.Functional {
		took = max(took, functionalStepFs)
	}
	e.nowFs += took
	e.ran = append(e.ran, ran)
	return "", nil
}

// functionalStepFs is the time that a step without a timing model counts against the
// timeout of a WHILE: 100 us, about that of a call of a driver. Assumed.
const functionalStepFs = 100e9

// ranStep is a step that has been executed.
type ranStep struct {
	step    int
	device  hal.Device
	stats   *hal.Stats
	trace   *partTrace   // nil without a tracer
	profile *partProfile // nil without a profiler
	startFs int64        // on the machine's clock, where steps overlap
}

// schedule adds up the costs of the steps, and determines their start times and the
// latency of the execution. Steps overlap when the plan allows it and there is no control
// flow between them: on the machine's clock or, without a machine, as if each device had
// a separate one.
func (e *execution) schedule() {
	r := e.result
	start := make([]int64, len(e.ran))
	switch {
	case e.endFs > 0:
		r.LatencyFs = e.endFs - e.originFs
		for i, x := range e.ran {
			start[i] = x.startFs - e.originFs
		}
	case e.links != nil:
		order := slices.Clone(e.order) // with the devices that ran the steps
		took := make([]int64, len(order))
		for _, x := range e.ran {
			took[x.step] = x.stats.LatencyFs
			if x.device == e.cpu {
				order[x.step].Device = 0
			}
		}
		var began []int64 // by step
		began, r.LatencyFs = partition.Schedule(order, e.links, took, e.sequential)
		for i, x := range e.ran {
			start[i] = began[x.step]
		}
	default:
		for i, x := range e.ran {
			start[i] = r.LatencyFs
			r.LatencyFs += x.stats.LatencyFs
		}
	}
	for i, x := range e.ran {
		s := &e.steps[x.step]
		r.add(&e.sources[s.source], x.device, s.operations, x.stats)
		r.Parts = append(r.Parts, PartCost{
			Device: x.device.Name(), Subgraph: e.sources[s.source].name, Within: e.sources[s.source].caller, Operations: s.operations,
			StartFs: start[i], EndFs: start[i] + x.stats.LatencyFs, EngineFs: x.stats.EngineFs(), EnergyPJ: x.stats.EnergyPJ,
		})
		if x.trace != nil {
			x.trace.shift(start[i])
		}
	}
}

// checkInputs compares the sizes of input buffers with the model, and with the dimensions of those that it leaves open.
// An input without buffer is left out, which the devices may refuse.
func checkInputs(m *nn.Model, inputs [][]byte, dims [][]uint32) error {
	g := &m.Main
	if len(inputs) != len(g.Inputs) {
		return hal.Errorf(hal.InvalidArgument, "runtime: %d inputs for a model with %d", len(inputs), len(g.Inputs))
	}
	for i, x := range g.Inputs {
		o := g.Operands[x]
		if inputs[i] == nil {
			continue
		}
		if i < len(dims) && dims[i] != nil {
			if o.Type.IsScalar() || !completes(&o, dims[i]) {
				return hal.Errorf(hal.InvalidArgument, "runtime: input %d of shape %v, the model has %v%v", i, dims[i], o.Type, o.Dimensions)
			}
			o.Dimensions = dims[i]
		}
		if want := o.Bytes(); int64(len(inputs[i])) != want {
			return hal.Errorf(hal.InvalidArgument, "runtime: input %d has %d bytes, %v%v needs %d", i, len(inputs[i]), o.Type, o.Dimensions, want)
		}
	}
	return nil
}
