package nnrt

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/nn"
)

// OperationCost is what one operation cost, wherever it ran. Cycles are of the
// clock of Device.
type OperationCost struct {
	Index   int
	Type    nn.OperationType
	Device  string
	Cycles  int64
	TimeFs  int64
	BoundBy string
	// With ExecuteOptions.Detail, from devices that have it; see hal.OperationStats.
	Threads  []hal.StallCycles
	Counters []hal.Counter
}

// Result is one execution of a compilation.
type Result struct {
	Outputs    [][]byte   // in the order of the model's outputs
	Dimensions [][]uint32 // of the outputs, also of those whose shape only an execution gives
	LatencyFs  int64
	Cycles     int64 // sum over the parts, each in cycles of its device's clock
	EnergyPJ   float64
	Stalls     []hal.StallCycles // sums to Cycles
	Operations []OperationCost   // by index

	Instructions int64
	Counters     []hal.Counter // of all parts, in order
}

// ExecuteOptions steer Execute.
type ExecuteOptions struct {
	Functional bool
	Detail     bool
	Trace      hal.Tracer
}

// Execute runs the model once. Inputs are dense buffers in model order. Shapes
// that the model leaves open come from the devices.
func (c *Compilation) Execute(inputs [][]byte, o ExecuteOptions) (*Result, error) {
	g := &c.Model.Main
	if err := CheckInputs(c.Model, inputs); err != nil {
		return nil, err
	}
	e := &execution{c, make([][]byte, len(g.Operands)), make([][]uint32, len(g.Operands))}
	for i, x := range g.Inputs {
		e.values[x] = inputs[i]
	}
	for i := range g.Operands {
		if x := &g.Operands[i]; x.Known() {
			e.dims[i] = x.Dimensions
		}
	}
	r := &Result{Operations: make([]OperationCost, len(g.Operations))}
	stalls := stallSum{}
	for i := range c.steps {
		s := &c.steps[i]
		device, prepared, ok, err := e.prepared(s)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.device.Name(), err)
		}
		if !ok {
			return c.wholeOnCPU(inputs, o)
		}
		req := hal.Request{Functional: o.Functional, Detail: o.Detail}
		if o.Trace != nil {
			prefix := ""
			if device.Name() != c.Device {
				prefix = device.Name() + "/"
			}
			req.Trace = shifted{o.Trace, prefix, r.LatencyFs}
		}
		for _, x := range s.inputs {
			req.Inputs = append(req.Inputs, e.values[x])
		}
		res, err := e.run(prepared, &req, s.outputs)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", device.Name(), err)
		}
		r.add(g, device, s.operations, &res.Stats, stalls)
	}
	r.Stalls = stalls.list()
	for _, x := range g.Outputs {
		r.Outputs = append(r.Outputs, e.values[x])
		r.Dimensions = append(r.Dimensions, e.dims[x])
	}
	return r, nil
}

// CheckInputs compares the sizes of input buffers with the model.
func CheckInputs(m *nn.Model, inputs [][]byte) error {
	g := &m.Main
	if len(inputs) != len(g.Inputs) {
		return hal.Errorf(hal.InvalidArgument, "runtime: %d inputs for a model with %d", len(inputs), len(g.Inputs))
	}
	for i, x := range g.Inputs {
		o := &g.Operands[x]
		if want := o.Bytes(); int64(len(inputs[i])) != want {
			return hal.Errorf(hal.InvalidArgument, "runtime: input %d has %d bytes, %v%v needs %d", i, len(inputs[i]), o.Type, o.Dimensions, want)
		}
	}
	return nil
}

func (r *Result) add(g *nn.Subgraph, device hal.Device, operations []int, st *hal.Stats, stalls stallSum) {
	r.LatencyFs += st.LatencyFs
	r.Cycles += st.Cycles
	r.EnergyPJ += st.EnergyPJ
	r.Instructions += st.Instructions
	r.Counters = append(r.Counters, st.Counters...)
	for _, x := range st.Stalls {
		stalls[x.Reason] += x.Cycles
	}
	for _, i := range operations {
		r.Operations[i] = OperationCost{Index: i, Type: g.Operations[i].Type, Device: device.Name(), BoundBy: "none"}
	}
	for _, op := range st.Operations {
		if op.Index < 0 || op.Index >= len(operations) {
			continue // costs of the part as a whole: launch, layout of inputs and outputs
		}
		c := &r.Operations[operations[op.Index]]
		c.Cycles, c.BoundBy, c.Threads, c.Counters = op.Cycles, op.BoundBy, op.Threads, op.Counters
		if st.ClockHz > 0 {
			c.TimeFs = int64(float64(op.Cycles) * 1e15 / float64(st.ClockHz))
		}
	}
}

// shifted moves the spans of a part to where the part begins.
type shifted struct {
	to     hal.Tracer
	prefix string
	at     int64
}

// Span implements hal.Tracer.
func (s shifted) Span(track, name string, start, end int64) {
	s.to.Span(s.prefix+track, name, s.at+start, s.at+end)
}
