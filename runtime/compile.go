package nnrt

import (
	"fmt"
	"io"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/runtime/partition"
)

// Auto is the pseudo device name for the best device of each operation.
const Auto = "auto"

// Fallback is an operation that the chosen device left to the CPU, and why.
type Fallback struct {
	Operation int
	Reason    string
}

// step is one compiled part of the model.
type step struct {
	device     hal.Device
	prepared   hal.PreparedModel
	operations []int
	inputs     []uint32
	outputs    []uint32
}

// Compilation is a model compiled for a device, or for several.
type Compilation struct {
	Model     *nn.Model
	Device    string // the name asked for
	Fallbacks []Fallback

	steps      []step
	cpu        hal.Device
	preference hal.Preference
	owner      []string // device name per operation
}

// CompileOptions steer Compile.
type CompileOptions struct {
	Preference hal.Preference
}

// Compile compiles m for the named device or, with Auto, for the best device
// of each operation. Operations that a named device declines, or whose part it
// cannot prepare, run on the CPU and are listed in Fallbacks.
func Compile(r *Registry, m *nn.Model, device string, o CompileOptions) (*Compilation, error) {
	c := &Compilation{Model: m, Device: device, owner: make([]string, len(m.Main.Operations)), cpu: r.CPU(), preference: o.Preference}
	target := -1
	var strategy partition.Strategy = partition.Best{}
	candidates := make([]partition.Candidate, len(r.devices))
	for i, d := range r.devices {
		if d.Name() == device {
			target = i
			strategy = partition.Single{Candidate: i}
		}
	}
	if target < 0 && device != Auto {
		_, err := r.Find(device)
		return nil, err
	}
	for i, d := range r.devices {
		if i != 0 && target >= 0 && i != target {
			continue // its answer would not be used
		}
		s, err := d.SupportedOperations(m)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", d.Name(), err)
		}
		if len(s) != len(m.Main.Operations) {
			return nil, fmt.Errorf("%s: answered for %d of %d operations", d.Name(), len(s), len(m.Main.Operations))
		}
		candidates[i] = partition.Candidate{Capabilities: d.Capabilities(), Support: s}
	}
	for i, s := range candidates[0].Support {
		if !s.OK {
			return nil, hal.Errorf(hal.InvalidArgument, "operation %d (%v): %s", i, m.Main.Operations[i].Type, s.Reason)
		}
	}
	for i := range candidates {
		if candidates[i].Support == nil {
			candidates[i].Support = make([]hal.Support, len(m.Main.Operations))
		}
	}
	assign := strategy.Assign(m, o.Preference, candidates)
	reasons := make([]string, len(assign))
	for i, d := range assign {
		if target > 0 && d == 0 {
			reasons[i] = candidates[target].Support[i].Reason
		}
	}
	if err := c.prepare(r, m, assign, reasons, o); err != nil {
		return nil, err
	}
	for i, name := range c.owner {
		if device != Auto && name != device {
			c.Fallbacks = append(c.Fallbacks, Fallback{i, reasons[i]})
		}
	}
	return c, nil
}

// prepare compiles the steps of an assignment. A part that its device cannot
// prepare moves to the CPU, and the parts are cut anew: fewer devices may
// allow longer parts.
func (c *Compilation) prepare(r *Registry, m *nn.Model, assign []int, reasons []string, o CompileOptions) error {
	for {
		c.steps = c.steps[:0]
		moved := false
		for _, s := range partition.Steps(&m.Main, assign, len(r.devices)) {
			d := r.devices[s.Candidate]
			part := extract(m, s.Operations)
			var p hal.PreparedModel = later{}
			var err error
			if !hasOpenInput(&m.Main, &part) {
				p, err = d.PrepareModel(part.model, hal.PrepareOptions{Preference: o.Preference})
			}
			if err != nil {
				if s.Candidate == 0 {
					return fmt.Errorf("%s: %w", d.Name(), err)
				}
				for _, i := range s.Operations {
					assign[i], reasons[i] = 0, err.Error()
				}
				moved = true
				break
			}
			c.steps = append(c.steps, step{d, p, s.Operations, part.inputs, part.outputs})
			for _, i := range s.Operations {
				c.owner[i] = d.Name()
			}
		}
		if !moved {
			return nil
		}
	}
}

// Steps is the number of parts the model was cut into.
func (c *Compilation) Steps() int { return len(c.steps) }

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

// Step describes one part of a compilation.
type Step struct {
	Device     string
	Operations []int // of the model, in execution order
	Prepared   interface {
		WriteListing(w io.Writer) error
		WriteProgram(w io.Writer) error
	}
}

// Step returns part i.
func (c *Compilation) Step(i int) Step {
	s := &c.steps[i]
	return Step{Device: s.device.Name(), Operations: s.operations, Prepared: s.prepared}
}
