package gpu

import (
	core "github.com/nnsoc/nnsoc/gpu"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// Config is the device behind the driver.
type Config struct {
	Spec core.Spec
	// NewMemory makes what the device's L2 reads from, cold; nil allows only
	// functional executions.
	NewMemory func() (mem.Level, error)
	// Launch is the fixed cost of an execution outside the device.
	Launch       sim.Time
	Capabilities hal.Capabilities
	Description  string
}

// Device is the GPU as the runtime sees it.
type Device struct {
	*base.Device
	cfg Config
}

// New checks the configuration.
func New(cfg Config) (*Device, error) {
	if err := cfg.Spec.Validate(); err != nil {
		return nil, err
	}
	d := &Device{cfg: cfg}
	d.Device = base.New(base.Config{
		Name: "gpu", Description: cfg.Description, Version: "1.0-" + cfg.Spec.Name, Type: hal.DeviceGPU, Capabilities: cfg.Capabilities,
	}, compiler{d})
	return d, nil
}

// compiler lowers models for a device.
type compiler struct{ *Device }

// Supports implements base.Compiler: an operation is supported when it lowers.
func (c compiler) Supports(m *nn.Model) ([]hal.Support, error) {
	l := newLowering(m)
	answers := make([]hal.Support, len(l.g.Operations))
	for i := range answers {
		if err := l.lower(i); err != nil {
			answers[i].Reason = err.Error()
			continue
		}
		answers[i].OK = true
	}
	return answers, nil
}

// Compile implements base.Compiler.
func (c compiler) Compile(m *nn.Model, _ hal.PrepareOptions) (base.Program, error) {
	p, err := compile(m)
	if err != nil {
		return nil, err
	}
	return &prepared{dev: c.Device, program: p, idle: make(chan *machine, 4)}, nil
}
