package devices

import (
	"math"
	"slices"
	"time"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// PlaceOf is the engine of a SoC that the engine of an external driver replaces: the one of
// the same name, else the GPU for a GPU and the CPU for a CPU, else the NPU, the DSP or the
// GPU, the first that the SoC has (D-1200).
func PlaceOf(c *soc.Config, d hal.Device) soc.Engine {
	if e, ok := soc.EngineNamed(d.Name()); ok && builders[e].present(c) {
		return e
	}
	order := []soc.Engine{soc.EngineNPU, soc.EngineDSP, soc.EngineGPU}
	switch d.Type() {
	case hal.DeviceCPU:
		order = nil
	case hal.DeviceGPU:
		order = []soc.Engine{soc.EngineGPU}
	}
	for _, e := range order {
		if builders[e].present(c) {
			return e
		}
	}
	return soc.EngineCPU
}

// Host is the way between clients and an engine of the machine, for the Config of a driver
// that is built into this process: base.Config.Host. Its executions find the engine's clocks,
// its port of the memory and its caches in their base.Place. Clock is for base.Config.Clock.
func (m *Machine) Host(e soc.Engine) base.Host { return &engineHost{m: m, engine: e} }

// Clock is the steady clock of the machine's devices.
func (m *Machine) Clock() *hal.Clock { return m.clock }

// Foreign adds an external driver to the machine, such as one in another process, in place of
// an engine. The costs that the driver reports for its
// engine, in time, energy and bytes of DRAM (OperationStats.DRAMBytes), pass through the
// clocks, idle states, queue and heat of that engine, and the driver receives its clock
// (hal.ExecuteOptions.Clock). Its memory is private: it sees neither contents of the
// system-level cache nor DRAM accesses of other engines.
func (m *Machine) Foreign(d hal.Device, e soc.Engine) hal.Device {
	return &foreign{d, &engineHost{m: m, engine: e, foreign: true}, m.clock}
}

// foreign is a driver from outside behind a host. All calls are the driver's; executions
// go by way of the host.
type foreign struct {
	hal.Device
	host  base.Host
	clock *hal.Clock
}

// Now implements hal.Device: deadlines are of the machine's clock.
func (d *foreign) Now() hal.TimePoint { return d.clock.Now() }

// Outside reports whether the engine of a device is external, by Attach or Foreign, and which
// engine of the SoC it replaces.
func Outside(d hal.Device) (e soc.Engine, ok bool) {
	x, ok := hal.As[*foreign](d)
	if !ok {
		return 0, false
	}
	switch h := x.host.(type) {
	case *engineHost:
		return h.engine, true
	case *loop:
		return h.engine, true
	}
	return 0, false
}

// driverDeadline is a deadline on the driver's own clock.
func (d *foreign) driverDeadline(t *hal.TimePoint) *hal.TimePoint {
	if t == nil {
		return nil
	}
	left := *t - min(*t, d.clock.Now())
	x := d.Device.Now().Add(time.Duration(min(left, math.MaxInt64)))
	return &x
}

// prepare wraps a prepared model of the driver and advances the machine's clock by the time
// of preparing it.
func (d *foreign) prepare(o hal.PrepareOptions, operations int, f func() (hal.PreparedModel, error)) (hal.PreparedModel, error) {
	before := d.Device.Now()
	p, err := f()
	if now := d.Device.Now(); now > before {
		d.clock.Advance(time.Duration(min(now-before, math.MaxInt64)))
	}
	if err != nil || p == nil {
		return nil, err
	}
	return &foreignModel{p, d, o, operations}, nil
}

// PrepareModel implements hal.Device.
func (d *foreign) PrepareModel(m *nn.Model, o hal.PrepareOptions) (hal.PreparedModel, error) {
	operations := 0
	if m != nil {
		operations = len(m.Main.Operations)
	}
	return d.prepare(o, operations, func() (hal.PreparedModel, error) {
		o.Deadline = d.driverDeadline(o.Deadline)
		return d.Device.PrepareModel(m, o)
	})
}

// PrepareModelFromCache implements hal.Device.
func (d *foreign) PrepareModelFromCache(deadline *hal.TimePoint, c hal.Cache) (hal.PreparedModel, error) {
	return d.prepare(hal.PrepareOptions{}, math.MaxInt, func() (hal.PreparedModel, error) {
		return d.Device.PrepareModelFromCache(d.driverDeadline(deadline), c)
	})
}

// Allocate implements hal.Device.
func (d *foreign) Allocate(desc hal.BufferDesc, models []hal.PreparedModel, inputs, outputs []hal.BufferRole) (hal.Buffer, error) {
	models = slices.Clone(models)
	for i, p := range models {
		if m, ok := p.(*foreignModel); ok {
			models[i] = m.PreparedModel
		}
	}
	return d.Device.Allocate(desc, models, inputs, outputs)
}

// Unwrap is the driver behind the host.
func (d *foreign) Unwrap() hal.Device { return d.Device }
