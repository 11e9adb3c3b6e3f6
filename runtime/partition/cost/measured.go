package cost

import (
	"fmt"
	"math"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/runtime/partition"
)

// Measurer measures on the devices of a problem.
type Measurer struct {
	Store   *Store // where answers are kept
	Options hal.PrepareOptions
	// Inputs are those of the model. Values between operations are made up: what
	// devices take does not depend on them, save for loops on the CPU.
	Inputs   [][]byte
	Progress func(format string, args ...any) // nil is silent
	// Limit bounds the executions, 0 is DefaultLimit; beyond, costs are estimated.
	Limit int
}

// DefaultLimit is enough for twenty plans of ten devices' segments.
const DefaultLimit = 2000

// never is the cost of what a device cannot do after all: more than any plan
// without it.
var never = partition.Cost{TimeFs: 1e30, EnergyPJ: 1e30}

// Measured returns the costs of a problem. Each device runs the longest segments
// that it supports; the rows of these executions are the costs of operations,
// launches and transfers. Segments that a strategy chooses are measured as a
// whole when partition.Solve asks.
func (m *Measurer) Measured(p *partition.Problem) (partition.Costs, error) {
	n := len(p.Graph.Operations)
	c := partition.Costs{
		Operation: make([][]partition.Cost, len(p.Devices)),
		Fixed:     make([]partition.Cost, len(p.Devices)), PerByte: make([]partition.Cost, len(p.Devices)),
	}
	run := &run{Measurer: m, problem: p, left: m.Limit}
	if run.left == 0 {
		run.left = DefaultLimit
	}
	for d := range p.Devices {
		c.Operation[d] = make([]partition.Cost, n)
		plan, err := partition.Single(d).Plan(p)
		if err != nil {
			return c, err
		}
		total := Record{}
		for _, s := range partition.Steps(p.Graph, plan.Device, len(p.Devices)) {
			if s.Device != d {
				continue
			}
			r, err := run.measure(d, s.Operations)
			if err != nil {
				return c, err
			}
			c.SetSegment(partition.Segment{Device: d, Operations: s.Operations, Cost: r.cost()})
			for k, i := range s.Operations {
				c.Operation[d][i] = never
				if !r.Failed {
					c.Operation[d][i] = r.Operations[k].cost()
				}
			}
			total.add(r)
		}
		c.Fixed[d], c.PerByte[d] = total.fixed(), total.perByte()
	}
	c.Measure = func(d int, operations []int) (partition.Cost, error) {
		if run.left <= 0 {
			return p.Estimate(partition.Step{Device: d, Operations: operations}), nil
		}
		r, err := run.measure(d, operations)
		return r.cost(), err
	}
	return c, nil
}

// run is a Measurer at work on a problem.
type run struct {
	*Measurer
	problem *partition.Problem
	left    int
	count   int
}

// measure executes a segment, unless the store knows it. A segment that a device
// other than the CPU fails on is a record that says so.
func (r *run) measure(d int, operations []int) (Record, error) {
	p := r.problem
	part := partition.Extract(p.Model, operations)
	device := p.Devices[d].Driver
	g := &part.Model.Main
	for _, x := range g.Inputs {
		if !g.Operands[x].Known() { // its shape is that of another part's output
			return Record{Failed: d != 0, Operations: make([]Row, len(operations))}, nil
		}
	}
	inputs := make([][]byte, len(g.Inputs))
	for k, x := range part.Inputs {
		inputs[k] = r.input(x)
		if inputs[k] == nil {
			inputs[k] = Noise(&g.Operands[g.Inputs[k]])
		}
	}
	rec, err := r.Store.Measure(device, part.Model, r.Options, inputs, func() {
		r.left--
		r.count++
		if r.Progress != nil {
			r.Progress("measure %d: %s, %d of %d operations", r.count, device.Name(), len(operations), len(p.Graph.Operations))
		}
	})
	if err != nil && d == 0 {
		return rec, fmt.Errorf("measuring operations %d to %d on %s: %w", operations[0], operations[len(operations)-1], device.Name(), err)
	}
	return rec, nil
}

// input is the value of an operand that is an input of the model.
func (r *run) input(operand uint32) []byte {
	for i, x := range r.problem.Model.Main.Inputs {
		if x == operand && i < len(r.Inputs) {
			return r.Inputs[i]
		}
	}
	return nil
}

// maxUnknownBytes is the room for an output whose shape only an execution knows.
const maxUnknownBytes = 16 << 20

// execute prepares and runs a model once.
func execute(d hal.Device, m *nn.Model, o hal.PrepareOptions, inputs [][]byte) (rec Record, err error) {
	defer hal.Contain(&err, d.Name(), "measuring")
	prepared, err := d.PrepareModel(m, o)
	if err != nil {
		return rec, err
	}
	req := hal.Buffers{Inputs: inputs}
	for _, x := range m.Main.Outputs {
		n := m.Main.Operands[x].Bytes()
		if !m.Main.Operands[x].Known() {
			n = maxUnknownBytes
		}
		req.Outputs = append(req.Outputs, make([]byte, max(n, 0)))
	}
	res, err := hal.Execute(prepared, &req)
	if err != nil {
		return rec, err
	}
	rec.TimeFs, rec.EnergyPJ = res.Stats.LatencyFs, res.Stats.EnergyPJ
	rec.Operations = make([]Row, len(m.Main.Operations))
	for i := range res.Stats.Operations {
		op := &res.Stats.Operations[i]
		row := Row{op.TimeFs, op.EnergyPJ}
		switch {
		case op.Index == hal.LaunchIndex:
			rec.Launch = rec.Launch.plus(row)
		case op.Index < 0:
			rec.Transfer = rec.Transfer.plus(row)
		case op.Index < len(rec.Operations):
			rec.Operations[op.Index] = rec.Operations[op.Index].plus(row)
		}
	}
	rec.Executions = 1
	for _, b := range inputs {
		rec.Bytes += int64(len(b))
	}
	for _, b := range req.Outputs {
		rec.Bytes += int64(len(b))
	}
	return rec, nil
}

// Noise is a reproducible value of an operand: numbers within [-1, 1), any
// quantized values, and 0 for integers, which may be indexes.
func Noise(o *nn.Operand) []byte {
	b := make([]byte, max(o.Bytes(), 0))
	x := uint32(0x9E3779B9)
	next := func() uint32 {
		x ^= x << 13
		x ^= x >> 17
		x ^= x << 5
		return x
	}
	switch o.Type {
	case nn.TensorFloat32, nn.Float32:
		for i := 0; i+4 <= len(b); i += 4 {
			v := math.Float32bits(float32(next()>>8)/(1<<23) - 1)
			b[i], b[i+1], b[i+2], b[i+3] = byte(v), byte(v>>8), byte(v>>16), byte(v>>24)
		}
	case nn.TensorFloat16, nn.Float16:
		for i := 0; i+2 <= len(b); i += 2 {
			v := next()
			b[i], b[i+1] = byte(v), byte(v>>8)&0x83|0x38 // sign and mantissa, magnitude within [0.5, 1)
		}
	case nn.TensorQuant8Asymm, nn.TensorQuant8AsymmSigned, nn.TensorQuant8Symm, nn.TensorQuant16Asymm, nn.TensorQuant16Symm:
		for i := range b {
			b[i] = byte(next() >> 24)
		}
	}
	return b
}
