package devices

import (
	"slices"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver"
	"github.com/nnsoc/nnsoc/refcpu"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// Option adds to the devices of a SoC.
type Option func(*added)

// added is what options request.
type added struct {
	gpu     []func(*gpudriver.Config)
	dsp     []func(*dspdriver.Config)
	npu     []func(*npudriver.Config)
	drivers []func(*surroundings) (hal.Device, error)
	table   *refcpu.Table // of the CPU; nil: the standard one
	cold    bool
}

// Cold makes each execution of Open's devices run once, at the highest clocks of the
// preference that they are opened with and on a cold memory of its own: for tests of
// results, or of a program's costs at those clocks. A Machine ignores it.
func Cold() Option { return func(a *added) { a.cold = true } }

// Operations sets the CPU's table of operations, vendor extensions included, with their
// reference, which a runtime needs to plan and to fall back.
func Operations(t *refcpu.Table) Option { return func(a *added) { a.table = t } }

// GPU changes the configuration of the GPU's driver: its kernels (Lowerings), its operations
// (Operations).
func GPU(edit func(*gpudriver.Config)) Option {
	return func(a *added) { a.gpu = append(a.gpu, edit) }
}

// DSP changes the configuration of the DSP's driver.
func DSP(edit func(*dspdriver.Config)) Option {
	return func(a *added) { a.dsp = append(a.dsp, edit) }
}

// NPU changes the configuration of the NPU's driver.
func NPU(edit func(*npudriver.Config)) Option {
	return func(a *added) { a.npu = append(a.npu, edit) }
}

// Driver adds the device that build returns behind the other devices, or in place of that of
// its name. Its engine replaces one of the SoC: host is for base.Config.Host,
// the clock for base.Config.Clock.
func Driver(e soc.Engine, build func(host base.Host, clock *hal.Clock) (hal.Device, error)) Option {
	return func(a *added) {
		a.drivers = append(a.drivers, func(x *surroundings) (hal.Device, error) { return build(x.host(e), x.clock) })
	}
}

// Attach adds a driver from outside that is made already: see Machine.Foreign.
func Attach(d hal.Device, e soc.Engine) Option {
	return func(a *added) {
		a.drivers = append(a.drivers, func(x *surroundings) (hal.Device, error) { return x.attach(d, e), nil })
	}
}

func (a *added) editGPU(cfg *gpudriver.Config) {
	for _, f := range a.gpu {
		f(cfg)
	}
}

func (a *added) editDSP(cfg *dspdriver.Config) {
	for _, f := range a.dsp {
		f(cfg)
	}
}

func (a *added) editNPU(cfg *npudriver.Config) {
	for _, f := range a.npu {
		f(cfg)
	}
}

// to adds the drivers to a list of devices.
func (a *added) to(list []hal.Device, around *surroundings) ([]hal.Device, error) {
	for _, f := range a.drivers {
		d, err := f(around)
		if err != nil {
			return nil, err
		}
		if i := slices.IndexFunc(list, func(x hal.Device) bool { return x.Name() == d.Name() }); i >= 0 {
			list[i] = d
		} else {
			list = append(list, d)
		}
	}
	return list, nil
}
