package registry

import (
	"fmt"
	"strings"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/internal/spelling"
	"github.com/nnsoc/nnsoc/nn"
)

// Registry is an ordered set of devices. The first is the CPU: it runs
// everything the reference implements, and what the others refuse.
type Registry struct {
	devices []hal.Device
	forced  []forced
	placed  []placed
	machine hal.Machine                    // nil: each device has a time of its own
	cache   func(*nn.Model) (Cache, error) // of compilations that name none; nil: they have none
	strict  bool                           // a slice of a model for an old driver that breaks a rule is an error
}

// New returns a registry with the CPU and the given accelerators.
// Names must differ.
func New(cpu hal.Device, accelerators ...hal.Device) (*Registry, error) {
	r := &Registry{}
	for _, d := range append([]hal.Device{cpu}, accelerators...) {
		if err := r.Add(d); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// Add adds an accelerator behind the others, before the registry is used.
func (r *Registry) Add(d hal.Device) error {
	if err := hal.CheckName(d.Name()); err != nil {
		return fmt.Errorf("runtime: %w", err)
	}
	if _, err := r.Find(d.Name()); err == nil {
		return fmt.Errorf("runtime: two devices are named %q", d.Name())
	}
	r.devices = append(r.devices, d)
	return nil
}

// SetMachine names the machine that devices of the registry are part of. Compilations
// made from then on run parts that may overlap beside each other on it.
func (r *Registry) SetMachine(m hal.Machine) { r.machine = m }

// Machine is the machine that devices of the registry are part of, nil without one.
func (r *Registry) Machine() hal.Machine { return r.machine }

// SetCache sets the cache of compilations, by model, whose options name none. An error of
// the function is that of the compilation.
func (r *Registry) SetCache(of func(*nn.Model) (Cache, error)) { r.cache = of }

// Cache is the cache of a compilation of a model that names none.
func (r *Registry) Cache(m *nn.Model) (Cache, error) {
	if r.cache == nil {
		return Cache{}, nil
	}
	return r.cache(m)
}

// SetStrictSlicing makes it an error of compilations when the slice of a model that an old
// driver is queried for breaks a rule. Otherwise that driver supports nothing of it.
func (r *Registry) SetStrictSlicing(on bool) { r.strict = on }

// Devices lists the devices, the CPU first.
func (r *Registry) Devices() []hal.Device { return r.devices }

// CPU is the fallback device.
func (r *Registry) CPU() hal.Device { return r.devices[0] }

// Find returns the device of that name; the error lists the names there are.
func (r *Registry) Find(name string) (hal.Device, error) {
	i, err := r.Index(name)
	if err != nil {
		return nil, err
	}
	return r.devices[i], nil
}

// Index is the place of a device in the list.
func (r *Registry) Index(name string) (int, error) {
	names := make([]string, len(r.devices))
	for i, d := range r.devices {
		if names[i] = d.Name(); names[i] == name {
			return i, nil
		}
	}
	return 0, fmt.Errorf("runtime: no device %q; this SoC has %s%s", name, strings.Join(names, ", "), spelling.DidYouMean(name, names))
}

// CheckSlice is the requirement of strict slicing on a driver of an older version.
func (r *Registry) CheckSlice(d hal.Device, m *nn.Model) error {
	old, ok := d.(interface{ CheckSlice(*nn.Model) error })
	if !r.strict || !ok {
		return nil
	}
	if err := old.CheckSlice(m); err != nil {
		return hal.Errorf(hal.GeneralFailure, "%s: %w", d.Name(), err)
	}
	return nil
}
