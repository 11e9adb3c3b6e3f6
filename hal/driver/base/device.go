package base

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/cache"
	"github.com/nnsoc/nnsoc/hal/driver/graph/legal"
	"github.com/nnsoc/nnsoc/hal/vlog"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// Compiler is the device-specific part of the contract: the support query and
// lowering. It receives valid models and options, with the shapes of temporaries
// and outputs completed as far as inputs and constants determine them.
// Its methods may be called from several goroutines.
type Compiler interface {
	// Supports returns the support of every operation of the main subgraph, in model order.
	// Compile must compile what it declares supported: alone and together with any
	// other operations that it declares supported.
	Supports(m *nn.Model) ([]hal.Support, error)
	// Compile lowers a model whose operations are all supported. The model does
	// not change while the program is used.
	Compile(m *nn.Model, o hal.PrepareOptions) (Program, error)
}

// Config describes a device.
type Config struct {
	Name         string // short, lower case: cpu, gpu, dsp, npu
	Description  string // one line for a person: machine shape and clock
	Version      string // of the driver; the build of the program is added
	Type         hal.DeviceType
	Capabilities hal.Capabilities
	Extensions   []hal.Extension
	// Identity is what compiled programs depend on besides the model and the version:
	// the machine and the kernels that were added. A compilation cache of another
	// identity is refused.
	Identity   string
	Operations *opspec.Table // that models may have
	// CostDependsOnValues is set where the costs of an execution depend on the values of constant tensors too: for an engine with
	// compressed weights.
	CostDependsOnValues bool
	// Clock is the clock of the machine that the device is part of; nil: a private one.
	Clock *hal.Clock
	// Host models the path between clients and the device; nil: none.
	Host Host
}

// Device is a Compiler behind the contract. It implements hal.Device.
type Device struct {
	cfg      Config
	compiler Compiler
	clock    *hal.Clock
	memories memories
	logger   atomic.Pointer[Logger]
}

// New returns the device.
func New(cfg Config, c Compiler) *Device {
	if t, ok := c.(interface {
		WithOperations(*opspec.Table) Compiler
	}); ok {
		c = t.WithOperations(cfg.Operations)
	}
	cfg.Version = strings.TrimPrefix(cfg.Version+"-"+cache.Build(), "-")
	d := &Device{cfg: cfg, compiler: c, clock: cfg.Clock}
	if d.clock == nil {
		d.clock = hal.NewClock()
	}
	return d
}

// Name implements hal.Device.
func (d *Device) Name() string { return d.cfg.Name }

// Description implements hal.Device.
func (d *Device) Description() string { return d.cfg.Description }

// Version implements hal.Device. It changes with every build of the program, since the
// compiled programs and the reported costs may.
func (d *Device) Version() string { return d.cfg.Version }

// Type implements hal.Device.
func (d *Device) Type() hal.DeviceType { return d.cfg.Type }

// Status implements hal.Device: a simulated device is always there.
func (d *Device) Status() hal.DeviceStatus { return hal.DeviceAvailable }

// Capabilities implements hal.Device.
func (d *Device) Capabilities() hal.Capabilities { return d.cfg.Capabilities }

// SupportedExtensions implements hal.Device.
func (d *Device) SupportedExtensions() []hal.Extension { return d.cfg.Extensions }

// Now implements hal.Device.
func (d *Device) Now() hal.TimePoint { return d.clock.Now() }

// SupportedOperations implements hal.Device.
func (d *Device) SupportedOperations(m *nn.Model) (s []hal.Support, err error) {
	defer hal.Contain(&err, d.cfg.Name, "SupportedOperations")
	if m, err = d.valid(m); err != nil {
		return nil, err
	}
	if foreign := d.foreign(m); foreign != nil {
		return d.withoutForeign(m, foreign)
	}
	return d.supported(m)
}

// supported answers for a valid model of operations that the table has.
func (d *Device) supported(m *nn.Model) (s []hal.Support, err error) {
	if d.hasOpenInput(m) {
		if known, err := d.sample(m); err == nil {
			m = known
		} else {
			return slices.Repeat([]hal.Support{{Reason: err.Error()}}, len(m.Main.Operations)), nil
		}
	} else if m, err = d.resolved(m); err != nil {
		return nil, err
	}
	if s, err = d.compiler.Supports(m); err != nil {
		return nil, d.failure(err)
	}
	if len(s) != len(m.Main.Operations) {
		return nil, hal.Errorf(hal.GeneralFailure, "%s driver: answers for %d of %d operations", d.cfg.Name, len(s), len(m.Main.Operations))
	}
	for i := range s {
		if !s[i].OK && s[i].Reason == "" {
			return nil, hal.Errorf(hal.GeneralFailure, "%s driver: operation %d (%s) is declined without a reason", d.cfg.Name, i, m.Main.Operations[i].Type)
		}
		if !s[i].OK {
			s[i].Reason = d.about(m, &m.Main.Operations[i], s[i].Reason)
			d.Log(vlog.Driver, "getSupportedOperations: operation %d (%s): %s", i, m.Main.Operations[i].Type, s[i].Reason)
		}
	}
	return s, nil
}

// Passes implements hal.PassPrinter: a model's graph before the first and after each pass that the device runs
// on it before lowering. A device that lowers models unchanged has none.
func (d *Device) Passes(m *nn.Model) (list []hal.PassResult, err error) {
	defer hal.Contain(&err, d.cfg.Name, "Passes")
	if m, err = d.local(m); err != nil {
		return nil, err
	}
	if c, ok := d.compiler.(interface {
		PassResults(*nn.Model) ([]hal.PassResult, error)
	}); ok {
		return c.PassResults(m)
	}
	return nil, nil
}

// Facts lists the rows of the device's table, nil when the device has none.
func (d *Device) Facts() []legal.Fact {
	if t, ok := d.compiler.(interface{ Facts() []legal.Fact }); ok {
		return t.Facts()
	}
	return nil
}

// failure adds the name of the device to an error of driver code. An error
// without a HAL status means that the driver cannot lower a valid model:
// INVALID_ARGUMENT, as AOSP's drivers return.
func (d *Device) failure(err error) error {
	status := hal.InvalidArgument
	if s, ok := hal.StatusIn(err); ok {
		status = s
	}
	return hal.Errorf(status, "%s driver: %w", d.cfg.Name, err)
}

// executionFailure is an error of an execution: without a status of its own it
// is a failure of the device.
func (d *Device) executionFailure(err error) error {
	return hal.Errorf(hal.StatusOf(err), "%s driver: %w", d.cfg.Name, err)
}

// Logger receives what drivers do, by a tag of package vlog. Its methods may be called from several
// goroutines.
type Logger interface {
	Enabled(tag string) bool
	Log(tag, device, message string)
}

// SetLogger sends the driver's events to a logger from now on; nil: to none.
func (d *Device) SetLogger(l Logger) { d.logger.Store(&l) }

// Logs reports whether somebody reads events of a tag.
func (d *Device) Logs(tag string) bool {
	l := d.logger.Load()
	return l != nil && *l != nil && (*l).Enabled(tag)
}

// Log receives the driver's log.
func (d *Device) Log(tag, format string, args ...any) {
	if d.Logs(tag) {
		(*d.logger.Load()).Log(tag, d.cfg.Name, fmt.Sprintf(format, args...))
	}
}
