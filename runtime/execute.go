package nnrt

import (
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
	time := make([]int64, len(c.steps))
	for i := range c.steps {
		s := &c.steps[i]
		device, prepared, ok, err := e.prepared(s)
		if err != nil {
			return nil, err
		}
		if !ok {
			return c.wholeOnCPU(inputs, o, s)
		}
		req := hal.Buffers{ExecuteOptions: hal.ExecuteOptions{Functional: o.Functional, Detail: o.Detail}}
		var part *partTrace
		if o.Trace != nil {
			part = &partTrace{device: device.Name(), operations: s.operations}
			req.Trace = part
		}
		for _, x := range s.inputs {
			req.Inputs = append(req.Inputs, e.values[x])
		}
		res, err := e.run(device, prepared, &req, s.outputs)
		if err != nil {
			return nil, err
		}
		time[i] = res.Stats.LatencyFs
		r.add(g, device, s.operations, &res.Stats)
		if part != nil {
			part.stats = res.Stats
			parts = append(parts, part)
		}
	}
	var start []int64
	start, r.LatencyFs = partition.Schedule(c.order, c.links, time, c.sequential)
	for i := range c.steps {
		r.Parts = append(r.Parts, PartCost{c.steps[i].device.Name(), c.steps[i].operations, start[i], start[i] + time[i]})
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
