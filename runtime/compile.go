package nnrt

import (
	"io"
	"time"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/runtime/partition"
)

// Auto is the pseudo device name for what a strategy chooses.
const Auto = "auto"

// Fallback is an operation that moved to the CPU: a device that would have been
// chosen for it declined it or could not prepare it.
type Fallback struct {
	Operation int
	Reason    string // of each device that declined, under Auto with its name
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

	steps   []step
	cpu     hal.Device
	options hal.PrepareOptions
	owner   []string // device name per operation

	order      []partition.Step // of steps
	links      []partition.Links
	sequential bool
	strict     bool
}

// CompileOptions steer Compile.
type CompileOptions struct {
	Preference hal.Preference
	Priority   hal.Priority
	// Strategy plans the model under Auto; nil is partition.AOSP.
	Strategy partition.Strategy
	// Strict is for explicit devices: a part that its device cannot prepare or
	// execute is an error instead of the CPU's.
	Strict bool
	// Timeout bounds the preparing of each part on its device's clock; 0 is none.
	Timeout time.Duration
}

func (o CompileOptions) prepare() hal.PrepareOptions {
	return hal.PrepareOptions{Preference: o.Preference, Priority: o.Priority}
}

// Compile compiles m for the named device or, with Auto, as the strategy of the
// options says. A model or options that break a rule of the HAL are an error
// with status INVALID_ARGUMENT. Operations that the chosen device declines, or
// whose part it cannot prepare, run on the CPU and are listed in Fallbacks; a
// device whose support query fails supports nothing.
func Compile(r *Registry, m *nn.Model, device string, o CompileOptions) (*Compilation, error) {
	a, err := assign(r, m, device, o)
	if err != nil {
		return nil, err
	}
	return compile(r, a, device, o)
}

// CompilePlan compiles the model of a problem that NewProblem stated for r as
// a plan says.
func CompilePlan(r *Registry, p *partition.Problem, plan partition.Plan, o CompileOptions) (*Compilation, error) {
	a, err := newAssignment(p, plan)
	if err != nil {
		return nil, err
	}
	return compile(r, a, Auto, o)
}

func compile(r *Registry, a *assignment, device string, o CompileOptions) (*Compilation, error) {
	m := a.problem.Model
	c := &Compilation{Model: m, Device: device, owner: make([]string, len(m.Main.Operations)), cpu: r.CPU(), options: o.prepare(), sequential: a.plan.Sequential, strict: o.Strict}
	if err := c.prepare(r, a, o.Timeout); err != nil {
		return nil, err
	}
	c.Fallbacks = a.fallbacks()
	return c, nil
}

// prepare compiles the steps of an assignment. A part that its device cannot
// prepare moves to the CPU, and the parts are cut anew: fewer devices may
// allow longer parts.
func (c *Compilation) prepare(r *Registry, a *assignment, timeout time.Duration) error {
	m, g := c.Model, a.problem.Graph
	for {
		c.steps = c.steps[:0]
		moved := false
		c.order = partition.Steps(g, a.plan.Device, len(r.devices))
		for _, s := range c.order {
			d := r.devices[s.Device]
			part := partition.Extract(m, s.Operations)
			var p hal.PreparedModel = later{}
			var err error
			if !hasOpenInput(&m.Main, &part) {
				o := c.options
				if timeout > 0 {
					o.Deadline = hal.MakeDeadline(d, timeout)
				}
				p, err = prepareModel(d, part.Model, o)
			}
			if err != nil {
				if s.Device == 0 || c.strict {
					return err
				}
				for _, i := range s.Operations {
					a.plan.Device[i], a.failed[i] = 0, "preparing its part of the model: "+err.Error()
				}
				moved = true
				break
			}
			c.steps = append(c.steps, step{d, p, s.Operations, part.Inputs, part.Outputs})
			for _, i := range s.Operations {
				c.owner[i] = d.Name()
			}
		}
		if !moved {
			c.links = partition.Link(g, c.order)
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
