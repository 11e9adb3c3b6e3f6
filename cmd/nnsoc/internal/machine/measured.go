package machine

import (
	"fmt"
	"sync"

	"github.com/nnsoc/nnsoc/bench/capability"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/hal/vlog"
	"github.com/nnsoc/nnsoc/runtime/partition/cost"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// Meter measures capabilities and keeps its measurements.
func Meter(c *soc.Config, p hal.Preference, progress *cli.Progress) *capability.Meter {
	text := MachineText(&Machine{Config: c})
	return &capability.Meter{
		Store: cost.NewStore(CacheFolder("costs"), text), Options: hal.PrepareOptions{Preference: p, Priority: hal.PriorityMedium}, Progress: progress.Update,
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

// withFigures replaces the reported figures of a SoC's devices by measurements, unless they are those of the very SoC.
func withFigures(a *cli.App, c *soc.Config, p hal.Preference, list []hal.Device) {
	if devices.Measured(c) {
		return
	}
	for i, d := range list[1:] {
		list[1+i] = &measuredDevice{d, sync.OnceValue(func() hal.Capabilities {
			f, err := figures(a, c, p, d.Name())
			if err != nil {
				a.VLog(vlog.Compilation).Str("device", d.Name()).Err(err).Msg("capabilities were not measured")
				return d.Capabilities()
			}
			return f.Capabilities()
		})}
	}
}

// figures measures a device of a SoC. It opens separate devices: those of a machine that keeps its state would depend
// on earlier runs, and remember the measuring.
func figures(a *cli.App, c *soc.Config, p hal.Preference, device string) (*capability.Figures, error) {
	list, err := devices.Open(c, p, devices.Cold())
	if err != nil {
		return nil, err
	}
	progress := a.Progress()
	defer progress.Done()
	for _, d := range list[1:] {
		if d.Name() == device {
			return Meter(c, p, progress).Measure(d, list[0])
		}
	}
	return nil, fmt.Errorf("%s has no device %q", c.SoC.Name, device)
}
