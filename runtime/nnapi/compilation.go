package nnapi

import (
	"slices"
	"sync"
	"time"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/nn"
	nnrt "github.com/nnsoc/nnsoc/runtime"
	"github.com/nnsoc/nnsoc/runtime/partition"
)

// Priority of a compilation, with NNAPI's values.
type Priority int

// Priorities.
const (
	PriorityLow     Priority = 90
	PriorityMedium  Priority = 100
	PriorityHigh    Priority = 110
	PriorityDefault          = PriorityMedium
)

// Preference of a compilation, with NNAPI's values.
type Preference = hal.Preference

// Compilation is a model compiled for devices. The zero preference of NNAPI's
// interface is FAST_SINGLE_ANSWER, the zero priority MEDIUM.
type Compilation struct {
	runtime  *Runtime
	model    *Model
	devices  []*Device // nil: all, with the CPU to fall back on
	mu       sync.Mutex
	options  nnrt.CompileOptions
	timeout  time.Duration
	finished bool
	compiled *nnrt.Compilation
	registry *nnrt.Registry

	shapesMu sync.Mutex
	shaped   map[string]*nnrt.Compilation // with the shapes of executions
}

// NewCompilation is Compilation_create: for all devices.
func (r *Runtime) NewCompilation(m *Model) (*Compilation, error) {
	return r.newCompilation("Compilation_create", m, nil)
}

// NewCompilationForDevices is Compilation_createForDevices: for these devices
// alone, without falling back on the CPU unless it is among them.
func (r *Runtime) NewCompilationForDevices(m *Model, devices []*Device) (*Compilation, error) {
	const call = "Compilation_createForDevices"
	if err := r.list(call, devices); err != nil {
		return nil, err
	}
	return r.newCompilation(call, m, slices.Clone(devices))
}

func (r *Runtime) newCompilation(call string, m *Model, devices []*Device) (*Compilation, error) {
	if m == nil {
		return nil, fail(UnexpectedNull, "%s: no model", call)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.broken:
		return nil, fail(BadData, "%s: the model is invalid", call)
	case !m.finished:
		return nil, fail(BadState, "%s: the model is not finished", call)
	}
	return &Compilation{runtime: r, model: m, devices: devices, shaped: map[string]*nnrt.Compilation{},
		options: nnrt.CompileOptions{Preference: hal.FastSingleAnswer, Priority: hal.PriorityMedium}}, nil
}

// modify guards the calls before Finish.
func (c *Compilation) modify(call string, do func() error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.finished {
		return fail(BadState, "%s: the compilation is finished", call)
	}
	return do()
}

func (c *Compilation) isFinished() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.compiled != nil
}

// SetPreference sets the execution preference.
func (c *Compilation) SetPreference(p Preference) error {
	const call = "Compilation_setPreference"
	return c.modify(call, func() error {
		if err := p.Validate(); err != nil {
			return fail(BadData, "%s: %w", call, err)
		}
		c.options.Preference = p
		return nil
	})
}

// SetPriority sets the priority among the compilations of an app.
func (c *Compilation) SetPriority(p Priority) error {
	const call = "Compilation_setPriority"
	return c.modify(call, func() error {
		switch p {
		case PriorityLow:
			c.options.Priority = hal.PriorityLow
		case PriorityMedium:
			c.options.Priority = hal.PriorityMedium
		case PriorityHigh:
			c.options.Priority = hal.PriorityHigh
		default:
			return fail(BadData, "%s: %d; LOW is 90, MEDIUM 100, HIGH 110", call, p)
		}
		return nil
	})
}

// one reports whether the compilation is for one explicit device.
func (c *Compilation) one() bool { return len(c.devices) == 1 }

// SetTimeout bounds the time that Finish may take on the device's clock; 0 is no
// bound. It needs one explicit device.
func (c *Compilation) SetTimeout(d time.Duration) error {
	const call = "Compilation_setTimeout"
	return c.modify(call, func() error {
		if !c.one() {
			return fail(BadData, "%s: the compilation is not for one explicit device", call)
		}
		c.timeout = d
		return nil
	})
}

// Finish compiles. It can be called once.
func (c *Compilation) Finish() error {
	return c.modify("Compilation_finish", func() error {
		c.finished = true
		list := c.devices
		if list == nil {
			list = c.runtime.devices
		}
		var err error
		if c.registry, err = c.runtime.registry(list); err != nil {
			return wrap(err)
		}
		if c.timeout > 0 {
			c.options.Timeout = c.timeout
		}
		c.options.Strategy = partition.AOSP{WithoutCPU: c.devices != nil && !slices.Contains(c.devices, c.runtime.cpu)}
		if c.devices != nil {
			c.options.Partitioning = nnrt.WithoutFallback
		}
		c.compiled, err = nnrt.Compile(c.registry, c.model.model, nnrt.Auto, c.options)
		return wrap(err)
	})
}

// PreferredAlignment is Compilation_getPreferredMemoryAlignmentForInput and
// ForOutput, PreferredPadding that of the padding: 64 bytes, as AOSP's CPU has.
func (c *Compilation) PreferredAlignment() (int, error) { return c.preferred("Alignment") }

// PreferredPadding see PreferredAlignment.
func (c *Compilation) PreferredPadding() (int, error) { return c.preferred("Padding") }

const preferredBytes = 64

func (c *Compilation) preferred(what string) (int, error) {
	if !c.isFinished() {
		return 0, fail(BadState, "Compilation_getPreferredMemory%s: the compilation is not finished", what)
	}
	return preferredBytes, nil
}

// withShapes is the compilation for inputs of these shapes, which complete those
// that the model leaves open.
func (c *Compilation) withShapes(dims [][]uint32) (*nnrt.Compilation, error) {
	key := make([]byte, 0, 64)
	open := false
	g := &c.model.model.Main
	for i, x := range g.Inputs {
		open = open || !g.Operands[x].Known()
		for _, d := range dims[i] {
			key = append(key, byte(d), byte(d>>8), byte(d>>16), byte(d>>24))
		}
		key = append(key, 0xff)
	}
	if !open {
		return c.compiled, nil
	}
	c.shapesMu.Lock()
	defer c.shapesMu.Unlock()
	if known := c.shaped[string(key)]; known != nil {
		return known, nil
	}
	m := *c.model.model
	m.Main.Operands = slices.Clone(m.Main.Operands)
	for i, x := range g.Inputs {
		m.Main.Operands[x].Dimensions = dims[i]
	}
	compiled, err := nnrt.Compile(c.registry, &m, nnrt.Auto, c.options)
	if err == nil {
		c.shaped[string(key)] = compiled
	}
	return compiled, err
}

// input and output are the operands that arguments of an execution are.
func (c *Compilation) input(i uint32) (*nn.Operand, bool) {
	return argument(c.model.model.Main.Inputs, c, i)
}

func (c *Compilation) output(i uint32) (*nn.Operand, bool) {
	return argument(c.model.model.Main.Outputs, c, i)
}

func argument(list []uint32, c *Compilation, i uint32) (*nn.Operand, bool) {
	if int64(i) >= int64(len(list)) {
		return nil, false
	}
	return &c.model.model.Main.Operands[list[i]], true
}
