package gpu

import (
	core "github.com/nnsoc/nnsoc/gpu"
	"github.com/nnsoc/nnsoc/hal"
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
type Device struct{ cfg Config }

// New checks the configuration.
func New(cfg Config) (*Device, error) {
	if err := cfg.Spec.Validate(); err != nil {
		return nil, err
	}
	return &Device{cfg}, nil
}

// Name implements hal.Device.
func (d *Device) Name() string { return "gpu" }

// Description implements hal.Device.
func (d *Device) Description() string { return d.cfg.Description }

// Version implements hal.Device.
func (d *Device) Version() string { return "1.0-" + d.cfg.Spec.Name }

// Type implements hal.Device.
func (d *Device) Type() hal.DeviceType { return hal.DeviceGPU }

// Capabilities implements hal.Device.
func (d *Device) Capabilities() hal.Capabilities { return d.cfg.Capabilities }

// SupportedOperations implements hal.Device: an operation is supported when it
// lowers.
func (d *Device) SupportedOperations(m *nn.Model) ([]hal.Support, error) {
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

// PrepareModel implements hal.Device.
func (d *Device) PrepareModel(m *nn.Model, _ hal.PrepareOptions) (hal.PreparedModel, error) {
	p, err := compile(m)
	if err != nil {
		return nil, hal.Errorf(hal.InvalidArgument, "gpu driver: %w", err)
	}
	return &prepared{dev: d, program: p, idle: make(chan *machine, 4)}, nil
}
