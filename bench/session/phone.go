package session

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/nnsoc/nnsoc/bench/capability"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/cache"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/runtime/partition/cost"
	"github.com/nnsoc/nnsoc/runtime/registry"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// Options are how a phone is opened. The zero value is a phone as it comes from its SoC file.
type Options struct {
	Preference hal.Preference // of its governors and of what is compiled on it
	// Devices changes the devices before they are registered: adds drivers, wraps them, gives them a logger. live is nil
	// for OpenApart. The CPU stays the first. nil changes nothing.
	Devices func(list []hal.Device, live *devices.Machine) ([]hal.Device, error)
	// Cache is the compilation cache of a model; nil: none.
	Cache func(*nn.Model) (registry.Cache, error)
	// Costs is a folder in which measured costs and capabilities outlive the process; "" keeps them in memory.
	Costs string
	// Progress is called with what is being done, and with "" when it is over; nil: never.
	Progress func(what string)
	// Unmeasured is called with a device whose capabilities could not be measured, which then reports its driver's; nil:
	// never.
	Unmeasured func(device string, err error)
}

func (o *Options) progress(format string, args ...any) {
	if o.Progress != nil {
		o.Progress(fmt.Sprintf(format, args...))
	}
}

// Phone is a SoC with its devices. It is not safe for concurrent use.
type Phone struct {
	Config   *soc.Config
	Registry *registry.Registry
	Live     *devices.Machine // the machine that keeps its state; nil for OpenApart

	options                  Options
	forced, placed, versions []string
}

// ErrNoCPU says that a SoC file has no CPU, which devices are compared with and which runs what they do not.
var ErrNoCPU = errors.New("no [cpu] section; the reference CPU is what devices are compared with")

// Open switches a phone on.
func Open(c *soc.Config, o Options) (*Phone, error) {
	if c.CPU == nil {
		return nil, fmt.Errorf("%s has %w", c.SoC.Name, ErrNoCPU)
	}
	live, err := devices.NewMachine(c, o.Preference)
	if err != nil {
		return nil, err
	}
	p, err := open(c, o, live.Devices(), live)
	if err == nil {
		p.Registry.SetMachine(live)
	}
	return p, err
}

// OpenApart opens the devices of a SoC without the machine that they share: executions know nothing of each other. Run,
// and a Pace, need Open.
func OpenApart(c *soc.Config, o Options, how ...devices.Option) (*Phone, error) {
	if c.CPU == nil {
		return nil, fmt.Errorf("%s has %w", c.SoC.Name, ErrNoCPU)
	}
	list, err := devices.Open(c, o.Preference, how...)
	if err != nil {
		return nil, err
	}
	return open(c, o, list, nil)
}

func open(c *soc.Config, o Options, list []hal.Device, live *devices.Machine) (*Phone, error) {
	p := &Phone{Config: c, Live: live, options: o}
	p.measureCapabilities(list)
	if o.Devices != nil {
		var err error
		if list, err = o.Devices(list, live); err != nil {
			return nil, err
		}
	}
	var err error
	if p.Registry, err = registry.New(list[0], list[1:]...); err != nil {
		return nil, err
	}
	if o.Cache != nil {
		p.Registry.SetCache(o.Cache)
	}
	return p, nil
}

// Preference is the execution preference that the phone was opened with.
func (p *Phone) Preference() hal.Preference { return p.options.Preference }

// another opens a phone of the same SoC, on which the devices have the same limits.
func (p *Phone) another() (*Phone, error) {
	x, err := Open(p.Config, p.options)
	if err == nil {
		if err = x.Limit(p.forced, p.versions); err == nil {
			err = x.Place(p.placed)
		}
	}
	return x, err
}

// Limit keeps operations away from devices (OP or OP:DEVICE, see registry.Registry.ForceUnsupported) and makes drivers ones of old HAL versions
// (DEVICE:VERSION).
func (p *Phone) Limit(unsupported, versions []string) error {
	p.forced, p.versions = slices.Concat(p.forced, unsupported), slices.Concat(p.versions, versions)
	for _, r := range unsupported {
		if err := p.Registry.ForceUnsupported(r); err != nil {
			return err
		}
	}
	for _, r := range versions {
		if err := p.Registry.ForceVersion(r); err != nil {
			return err
		}
	}
	return nil
}

// Place gives operations to devices (OP=DEVICE, see registry.Registry.Place).
func (p *Phone) Place(rules []string) error {
	p.placed = slices.Concat(p.placed, rules)
	for _, r := range rules {
		if err := p.Registry.Place(r); err != nil {
			return err
		}
	}
	return nil
}

// ownDrivers reports whether all drivers are those of the SoC: none of another process, and no sample driver, has
// joined it.
func (p *Phone) ownDrivers() bool {
	list := p.Registry.Devices()
	return len(list) == len(p.Live.Devices()) && !slices.ContainsFunc(list, func(d hal.Device) bool {
		_, outside := devices.Outside(d)
		return outside
	})
}

// Fingerprint changes with any key of a SoC; it has at least 16 characters, unless it is the name of a SoC with values
// that JSON lacks.
func Fingerprint(c *soc.Config) string {
	text, err := cache.Fingerprint(c)
	if err != nil {
		return c.SoC.Name // no file has values that JSON lacks
	}
	return text
}

// NewMeter returns what measures the capabilities of a SoC's devices and keeps its measurements in a folder.
func NewMeter(c *soc.Config, p hal.Preference, folder string, progress func(format string, args ...any)) *capability.Meter {
	return &capability.Meter{
		Store: cost.NewStore(folder, Fingerprint(c)+cache.Build()), Options: hal.PrepareOptions{Preference: p, Priority: hal.PriorityMedium}, Progress: progress,
	}
}

// measuredDevice is a device whose getCapabilities returns figures measured when they are first requested: those of a
// SoC file that is no preset.
type measuredDevice struct {
	hal.Device
	figures func() hal.Capabilities
}

// Capabilities implements hal.Device.
func (d *measuredDevice) Capabilities() hal.Capabilities { return d.figures() }

// Unwrap returns the driver's device.
func (d *measuredDevice) Unwrap() hal.Device { return d.Device }

// measureCapabilities replaces the reported figures of a SoC's devices by measurements, unless they are those of the
// very SoC.
func (p *Phone) measureCapabilities(list []hal.Device) {
	if devices.Measured(p.Config) {
		return
	}
	for i, d := range list[1:] {
		list[1+i] = &measuredDevice{d, sync.OnceValue(func() hal.Capabilities {
			f, err := p.figures(d.Name())
			if err != nil {
				if p.options.Unmeasured != nil {
					p.options.Unmeasured(d.Name(), err)
				}
				return d.Capabilities()
			}
			return f.Capabilities()
		})}
	}
}

// figures measures a device at its highest clocks, as presets were, whatever the phone's preference: Android asks for
// capabilities once. It opens separate devices: those of a machine that keeps its state would depend on earlier
// runs, and remember the measuring.
func (p *Phone) figures(device string) (*capability.Figures, error) {
	list, err := devices.Open(p.Config, hal.FastSingleAnswer, devices.Cold())
	if err != nil {
		return nil, err
	}
	if p.options.Progress != nil {
		defer p.options.Progress("")
	}
	for _, d := range list[1:] {
		if d.Name() == device {
			return NewMeter(p.Config, hal.FastSingleAnswer, p.options.Costs, p.options.progress).Measure(d, list[0])
		}
	}
	return nil, fmt.Errorf("%s has no device %q", p.Config.SoC.Name, device)
}
