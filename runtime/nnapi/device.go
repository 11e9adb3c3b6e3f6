package nnapi

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/guarded"
	"github.com/nnsoc/nnsoc/hal/validate"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
	"github.com/nnsoc/nnsoc/runtime/registry"
)

// Runtime is the devices of a machine, as an app sees them: drivers in their
// order, the CPU last.
type Runtime struct {
	cpu     *Device
	devices []*Device
	machine hal.Machine // nil: each device has a time of its own

	mu           sync.Mutex
	started      []*Event // that nobody has waited for
	partitioning nnrt.Partitioning
	strict       bool
	inCaller     bool
	diagnostics  Diagnostics
	compilations int // that were created
	types        typeManager
}

// SetPartitioning is the property debug.nn.partition: what compilations finished from
// then on do that name no devices.
func (r *Runtime) SetPartitioning(p nnrt.Partitioning) { r.partitioning = p }

// SetStrictSlicing is the property debug.nn.strict-slicing: a slice of a model for an old
// driver that breaks a rule fails the compilations finished from then on. Without it the
// driver supports nothing of the model.
func (r *Runtime) SetStrictSlicing(on bool) { r.strict = on }

// SetSyncExecution is the property debug.nn.syncexec-runtime: executions that are started
// from then on run in the caller's thread, so that their events have come when the call
// returns. The CPU's parts run in the thread of their execution in any case, as with the
// default of debug.nn.syncexec-cpu.
func (r *Runtime) SetSyncExecution(on bool) { r.inCaller = on }

// Device is a processor that models run on.
type Device struct{ hal hal.Device }

// Feature levels.
const (
	FeatureLevel        = 30 // of a driver with HAL 1.3
	RuntimeFeatureLevel = 31 // of the runtime, which has the functions of API level 31
)

// firstWithTypes is the feature level of HAL 1.2, whose devices have a type.
const firstWithTypes = 29

// ReferenceName is what NNAPI calls the CPU.
const ReferenceName = "nnapi-reference"

// NewRuntime returns a runtime. A driver whose properties are invalid is left out: without a
// name, version or type, with figures of capabilities that are not above 0, with more
// cache files than there may be, or one that panics.
func NewRuntime(cpu hal.Device, drivers ...hal.Device) (*Runtime, error) {
	r := &Runtime{cpu: &Device{cpu}}
	for _, d := range drivers {
		if x := (&Device{d}); Registrable(d) == nil {
			r.types.add(x)
			r.devices = append(r.devices, x)
		}
	}
	if _, err := r.registry(r.devices); err != nil {
		return nil, wrap(err)
	}
	r.devices = append(r.devices, r.cpu)
	return r, nil
}

// Registrable is why AOSP's runtime leaves out a driver: what it answers at registration.
func Registrable(d hal.Device) (err error) {
	defer hal.Contain(&err, "driver", "registration")
	model, data := d.NumberOfCacheFilesNeeded()
	switch {
	case d.Name() == "":
		return errors.New("the driver has no name")
	case d.Version() == "":
		return errors.New("the driver has no version")
	case d.Type() == 0 && (&Device{d}).FeatureLevel() >= firstWithTypes:
		return errors.New("the driver has no type")
	case d.Type() < 0 || d.Type() > hal.DeviceAccelerator:
		return fmt.Errorf("the driver is of type %d, want %d to %d", d.Type(), hal.DeviceOther, hal.DeviceAccelerator)
	case min(model, data) < 0 || max(model, data) > hal.MaxCacheFiles:
		return fmt.Errorf("a compilation cache of %d and %d files, want 0 to %d of each kind", model, data, hal.MaxCacheFiles)
	}
	return cmp.Or(checkExtensions(d), checkCapabilities(d.Capabilities()))
}

// checkCapabilities demands figures above 0.
func checkCapabilities(c hal.Capabilities) error {
	above := func(what string, p hal.PerformanceInfo) error {
		if p.ExecTime > 0 && p.PowerUsage > 0 {
			return nil
		}
		return fmt.Errorf("capabilities of %s: time %v and power %v, want above 0", what, p.ExecTime, p.PowerUsage)
	}
	errs := []error{above("relaxed scalars", c.RelaxedScalar), above("relaxed tensors", c.RelaxedTensor), above("IF", c.If), above("WHILE", c.While)}
	for _, p := range c.OperandPerformance() {
		errs = append(errs, above(p.Type.String(), p.Info))
	}
	return cmp.Or(errs...)
}

// checkExtensions demands extensions that are described well, each once.
func checkExtensions(d hal.Device) error {
	seen := map[string]bool{}
	for _, e := range d.SupportedExtensions() {
		if err := validate.Extension(e); err != nil {
			return err
		}
		if seen[e.Name] {
			return fmt.Errorf("extension %s twice", e.Name)
		}
		seen[e.Name] = true
	}
	return nil
}

// DeviceCount is getDeviceCount, the CPU among them.
func (r *Runtime) DeviceCount() int { return len(r.devices) }

// Device is getDevice.
func (r *Runtime) Device(i int) (*Device, error) {
	if i < 0 || i >= len(r.devices) {
		return nil, fail(BadData, "getDevice: %d of %d", i, len(r.devices))
	}
	return r.devices[i], nil
}

// Name is Device_getName.
func (d *Device) Name() string {
	if d.hal.Type() == hal.DeviceCPU {
		return ReferenceName
	}
	return d.hal.Name()
}

// Version is Device_getVersion.
func (d *Device) Version() string { return d.hal.Version() }

// Type is Device_getType.
func (d *Device) Type() hal.DeviceType { return d.hal.Type() }

// FeatureLevel is Device_getFeatureLevel: 27 to 29 for a driver of HAL 1.0 to 1.2.
func (d *Device) FeatureLevel() int {
	if old, ok := d.hal.(interface{ FeatureLevel() int }); ok {
		return old.FeatureLevel()
	}
	return FeatureLevel
}

// Capabilities are the figures that the device has reported, which Device has no function for but the support library interface.
func (d *Device) Capabilities() hal.Capabilities { return d.hal.Capabilities() }

// Extensions returns the extensions of the device, as the support library interface lists them.
func (d *Device) Extensions() []hal.Extension { return d.hal.SupportedExtensions() }

// Wait is Device_wait: simulated devices are always there.
func (d *Device) Wait() error {
	if s := d.hal.Status(); s == hal.DeviceOffline {
		return fail(UnavailableDevice, "Device_wait: %s is %v", d.Name(), s)
	}
	return nil
}

// ExtensionSupport is Device_getExtensionSupport.
func (d *Device) ExtensionSupport(name string) bool {
	return slices.ContainsFunc(d.hal.SupportedExtensions(), func(e hal.Extension) bool { return e.Name == name })
}

// registry returns a registry of some devices; the CPU is there in any case.
func (r *Runtime) registry(some []*Device) (*registry.Registry, error) {
	var list []hal.Device
	for _, d := range some {
		if d != r.cpu {
			list = append(list, d.hal)
		}
	}
	g, err := registry.New(r.cpu.hal, list...)
	if err == nil {
		g.SetMachine(r.machine)
		g.SetStrictSlicing(r.strict)
	}
	return g, err
}

// list checks a list of devices that an app gives.
func (r *Runtime) list(call string, list []*Device) error {
	if len(list) == 0 {
		return fail(BadData, "%s: no devices", call)
	}
	for i, d := range list {
		switch {
		case d == nil:
			return fail(UnexpectedNull, "%s: device %d is null", call, i)
		case !slices.Contains(r.devices, d):
			return fail(BadData, "%s: device %d is of another runtime", call, i)
		case slices.Contains(list[:i], d):
			return fail(BadData, "%s: %s is there twice", call, d.Name())
		}
	}
	return nil
}

// SupportedOperations is Model_getSupportedOperationsForDevices: for each
// operation, in the order in which they were added, whether one of the devices
// runs it.
func (r *Runtime) SupportedOperations(m *Model, devices []*Device) ([]bool, error) {
	const call = "Model_getSupportedOperationsForDevices"
	if m == nil {
		return nil, fail(UnexpectedNull, "%s: no model", call)
	}
	if len(devices) > 0 && !m.isFinished() {
		return nil, fail(BadState, "%s: the model is not finished", call)
	}
	if err := r.list(call, devices); err != nil {
		return nil, err
	}
	answer := make([]bool, len(m.order))
	for _, d := range devices {
		support, err := guarded.SupportedOperations(d.hal, m.model)
		if err != nil {
			continue // it supports nothing
		}
		for k, s := range support {
			answer[m.order[k]] = answer[m.order[k]] || s.OK
		}
	}
	return answer, nil
}
