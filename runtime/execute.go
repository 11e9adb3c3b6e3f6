package nnrt

import (
	"slices"
	"time"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/runtime/partition"
)

// Result is one execution of a compilation.
type Result struct {
	Outputs    [][]byte   // in the order of the model's outputs
	Dimensions [][]uint32 // of the outputs, also of those whose shape only an execution gives
	LatencyFs  int64
	EnergyPJ   float64
	Devices    []DeviceCost    // in the order of their first parts
	Parts      []PartCost      // in the order of the compilation's steps
	Operations []OperationCost // by index: one per operation of the model
	// Overheads are the costs of devices that belong to no operation: launches,
	// and transfers of inputs and outputs.
	Overheads []OperationCost

	// Chain is what the execution went through by name: "runtime", "binder",
	// "execution" and so on, in the order of their first coming. The times add up to
	// LatencyFs, the energies to EnergyPJ, when all devices report a chain.
	Chain []hal.Part

	Instructions int64
	Counters     []hal.Counter // of all parts, in order

	// Fallbacks are operations that moved to the CPU in this execution, besides
	// those of the compilation: a device declined them once their shapes were known.
	Fallbacks []Fallback
}

// PartCost is when a part of the model ran. Parts on different devices may
// overlap.
type PartCost struct {
	Device         string
	Operations     []int
	StartFs, EndFs int64 // since the execution began
}

// ExecuteOptions steer Execute.
type ExecuteOptions struct {
	Functional bool
	Detail     bool
	Trace      Tracer
	// Timeout bounds the time of each part on its device's clock; 0 is none.
	Timeout time.Duration
	// LoopTimeout bounds the simulated time of each WHILE; 0 is NNAPI's default.
	LoopTimeout time.Duration
	// Burst says that more executions follow closely.
	Burst bool
}

// Execute runs the model once. Inputs are dense buffers in model order. Shapes
// that the model leaves open come from the devices.
func (c *Compilation) Execute(inputs [][]byte, o ExecuteOptions) (*Result, error) {
	g := &c.Model.Main
	if err := CheckInputs(c.Model, inputs); err != nil {
		return nil, err
	}
	e := &execution{Compilation: c, values: make([][]byte, len(g.Operands)), dims: make([][]uint32, len(g.Operands))}
	for i, x := range g.Inputs {
		e.values[x] = inputs[i]
	}
	for i := range g.Operands {
		if x := &g.Operands[i]; x.Known() {
			e.dims[i] = x.Dimensions
		}
	}
	r := &Result{Operations: make([]OperationCost, len(g.Operations))}
	var parts []*partTrace
	took := make([]int64, len(c.steps))
	ran := make([]string, len(c.steps))
	order := slices.Clone(c.order) // with the devices that ran the steps
	for i := range c.steps {
		s := &c.steps[i]
		device, prepared, ok, err := e.prepared(s)
		if err != nil {
			return nil, err
		}
		if !ok {
			return c.wholeOnCPU(inputs, o, s)
		}
		req := hal.Buffers{ExecuteOptions: hal.ExecuteOptions{Functional: o.Functional, Detail: o.Detail, LoopTimeout: o.LoopTimeout, InBurst: o.Burst}}
		if o.Timeout > 0 {
			req.Deadline = hal.MakeDeadline(device, o.Timeout)
		}
		var part *partTrace
		if o.Trace != nil {
			part = &partTrace{device: device.Name(), operations: s.operations}
			req.Trace = part
		}
		for _, x := range s.inputs {
			req.Inputs = append(req.Inputs, e.values[x])
		}
		res, err := e.run(device, prepared, &req, s.outputs)
		if err != nil && c.fallsBack(device, err) {
			device, res, err = e.onCPU(s, &req, err)
		}
		if err != nil {
			return nil, err
		}
		took[i], ran[i] = res.Stats.LatencyFs, device.Name()
		if device == c.cpu {
			order[i].Device = 0
		}
		r.add(g, device, s.operations, &res.Stats)
		if part != nil {
			part.stats = res.Stats
			parts = append(parts, part)
		}
	}
	var start []int64
	start, r.LatencyFs = partition.Schedule(order, c.links, took, c.sequential)
	for i := range c.steps {
		r.Parts = append(r.Parts, PartCost{ran[i], c.steps[i].operations, start[i], start[i] + took[i]})
	}
	for i, p := range parts {
		p.shift(start[i])
	}
	e.shapes(r)
	r.Fallbacks = e.moved
	for _, p := range parts {
		p.emit(o.Trace, r)
	}
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
