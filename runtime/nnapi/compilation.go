package nnapi

import (
	"slices"
	"sync"
	"time"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
	"github.com/nnsoc/nnsoc/runtime/partition"
	"github.com/nnsoc/nnsoc/runtime/registry"
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
	number   int // in the runtime
	model    *Model
	devices  []*Device // nil: all, with the CPU to fall back on
	mu       sync.Mutex
	options  nnrt.CompileOptions
	timeout  time.Duration
	finished bool
	compiled *nnrt.Compilation
	registry *registry.Registry

	describing sync.Once
	described  SessionInfo // see session

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
		return nil, fail(BadState, "%s: the model is invalid", call)
	case !m.finished:
		return nil, fail(BadState, "%s: the model is not finished", call)
	}
	return &Compilation{runtime: r, number: r.count(), model: m, devices: devices, shaped: map[string]*nnrt.Compilation{},
		options: nnrt.CompileOptions{}}, nil
}

// count is the number of a new compilation.
func (r *Runtime) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.compilations++
	return r.compilations
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
		c.options.Preference = nnrt.Prefer(p)
		return nil
	})
}

// SetPriority sets the priority among the compilations of an app.
func (c *Compilation) SetPriority(p Priority) error {
	const call = "Compilation_setPriority"
	return c.modify(call, func() error {
		switch p {
		case PriorityLow:
			c.options.Priority = nnrt.Rank(hal.PriorityLow)
		case PriorityMedium:
			c.options.Priority = nnrt.Rank(hal.PriorityMedium)
		case PriorityHigh:
			c.options.Priority = nnrt.Rank(hal.PriorityHigh)
		default:
			return fail(BadData, "%s: %d; LOW is 90, MEDIUM 100, HIGH 110", call, p)
		}
		return nil
	})
}

// one reports whether the compilation is for one explicit device.
func (c *Compilation) one() bool { return len(c.devices) == 1 }

// SetTimeout bounds the time of Finish on the device's clock; 0 is no
// bound. It needs one explicit device.
func (c *Compilation) SetTimeout(d time.Duration) error {
	const call = "Compilation_setTimeout"
	return c.modify(call, func() error {
		if !c.one() {
			return fail(BadData, "%s: the compilation is not for one explicit device", call)
		}
		if d < 0 {
			return fail(BadData, "%s: %v", call, d)
		}
		c.timeout = d
		return nil
	})
}

// SetCaching keeps compiled programs of drivers in files of a directory. The token of 32
// bytes identifies the model and other inputs of the compilation. The app does not see
// files that cannot be used: the model is compiled again.
func (c *Compilation) SetCaching(dir string, token []byte) error {
	const call = "Compilation_setCaching"
	return c.modify(call, func() error {
		switch {
		case dir == "" || token == nil:
			return fail(UnexpectedNull, "%s: no directory or token", call)
		case len(token) != len(hal.CacheToken{}):
			return fail(BadData, "%s: a token of %d bytes, want %d", call, len(token), len(hal.CacheToken{}))
		}
		c.options.Cache = registry.Cache{Dir: dir, Token: hal.CacheToken(token)}
		return nil
	})
}

// CacheHits is the number of parts that came from the cache. NNAPI does not report it.
func (c *Compilation) CacheHits() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.compiled == nil {
		return 0
	}
	return c.compiled.CacheHits
}

// Finish compiles. It can be called once.
func (c *Compilation) Finish() error {
	began := time.Now()
	err := c.modify("Compilation_finish", func() error {
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
		c.options.Partitioning = c.runtime.partitioning
		if c.devices != nil {
			c.options.Partitioning = nnrt.WithoutFallback
		}
		c.compiled, err = nnrt.Compile(c.registry, c.model.model, nnrt.ByStrategy, c.options)
		return wrap(err)
	})
	c.diagnose(err, time.Since(began))
	return err
}

// preferredBytes is alignment and padding that AOSP's CPU prefers; the drivers here
// require no more.
const preferredBytes = 64

// PreferredMemoryAlignmentForInput is the alignment of memory that spares copies of an
// input. The other three of its kind are for outputs and for padding.
func (c *Compilation) PreferredMemoryAlignmentForInput(i uint32) (int, error) {
	return c.preferred("Compilation_getPreferredMemoryAlignmentForInput", i, c.input)
}

// PreferredMemoryAlignmentForOutput see PreferredMemoryAlignmentForInput.
func (c *Compilation) PreferredMemoryAlignmentForOutput(i uint32) (int, error) {
	return c.preferred("Compilation_getPreferredMemoryAlignmentForOutput", i, c.output)
}

// PreferredMemoryPaddingForInput see PreferredMemoryAlignmentForInput.
func (c *Compilation) PreferredMemoryPaddingForInput(i uint32) (int, error) {
	return c.preferred("Compilation_getPreferredMemoryPaddingForInput", i, c.input)
}

// PreferredMemoryPaddingForOutput see PreferredMemoryAlignmentForInput.
func (c *Compilation) PreferredMemoryPaddingForOutput(i uint32) (int, error) {
	return c.preferred("Compilation_getPreferredMemoryPaddingForOutput", i, c.output)
}

func (c *Compilation) preferred(call string, i uint32, of func(uint32) (*nn.Operand, bool)) (int, error) {
	if !c.isFinished() {
		return 0, fail(BadState, "%s: the compilation is not finished", call)
	}
	if _, ok := of(i); !ok {
		return 0, fail(BadData, "%s: no argument %d", call, i)
	}
	return preferredBytes, nil
}

// open reports whether inputs get shapes with an execution.
func (c *Compilation) open() bool {
	g := &c.model.model.Main
	return slices.ContainsFunc(g.Inputs, func(x uint32) bool { return !g.Operands[x].Known() })
}

// withShapes is the compilation for inputs of these shapes, which complete those
// that the model leaves open.
func (c *Compilation) withShapes(dims [][]uint32) (*nnrt.Compilation, error) {
	if !c.open() {
		return c.compiled, nil
	}
	key := make([]byte, 0, 64)
	g := &c.model.model.Main
	for i := range g.Inputs {
		for _, d := range dims[i] {
			key = append(key, byte(d), byte(d>>8), byte(d>>16), byte(d>>24))
		}
		key = append(key, 0xff)
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
	o := c.options
	o.Cache = registry.Cache{} // the app's token does not name the shapes
	compiled, err := nnrt.Compile(c.registry, &m, nnrt.ByStrategy, o)
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
