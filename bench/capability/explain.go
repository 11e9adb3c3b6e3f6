package capability

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// Sensitivity is how far a figure moves when a part of the machine grows by
// 10 %: -0.05 is 5 % less. Where a part is counted it grows by one, and the
// movement is scaled to 10 %.
type Sensitivity struct {
	Device  string
	Knob    string // clock, memory, array, threads
	Change  string // the change: "940 to 1034 MHz"
	Operand nn.OperandType
	// ExecTime and PowerUsage are relative movements.
	ExecTime, PowerUsage float64
	Err                  error // why the device cannot grow this way
}

// clockOf is the clock of a device.
func clockOf(c *soc.Config, device string) *soc.Clock {
	switch {
	case device == "gpu" && c.GPU != nil:
		return &c.GPU.Clock
	case device == "dsp" && c.DSP != nil:
		return &c.DSP.Clock
	case device == "npu" && c.NPU != nil:
		return &c.NPU.Clock
	}
	return nil
}

// knobs grow a part of a machine. share is the relative growth; 0 means that the
// device has no such part.
var knobs = []struct {
	name   string
	change func(c *soc.Config, device string) (what string, share float64)
}{
	{"clock", func(c *soc.Config, device string) (string, float64) {
		k := clockOf(c, device)
		if k == nil {
			return "", 0
		}
		from := k.FastMHz
		for i := range k.OPPs {
			k.OPPs[i].MHz *= 1.1
		}
		k.LowPowerMHz, k.SustainedMHz, k.FastMHz = 1.1*k.LowPowerMHz, 1.1*k.SustainedMHz, 1.1*k.FastMHz
		return fmt.Sprintf("%.0f to %.0f MHz", from, k.FastMHz), 0.1
	}},
	{"memory", func(c *soc.Config, _ string) (string, float64) {
		from := c.DRAM.MTPerS
		c.DRAM.MTPerS *= 1.1
		c.Interconnect.MHz *= 1.1
		return fmt.Sprintf("%.0f to %.0f MT/s, interconnect as much", from, c.DRAM.MTPerS), 0.1
	}},
	{"array", func(c *soc.Config, device string) (string, float64) {
		switch device {
		case "gpu":
			return count("clusters", &c.GPU.Clusters)
		case "dsp":
			return count("HVX contexts", &c.DSP.Contexts)
		case "npu":
			return count("input channels per cycle", &c.NPU.IFMDepth)
		}
		return "", 0
	}},
	{"threads", func(c *soc.Config, device string) (string, float64) {
		switch device {
		case "gpu":
			return count("waves per SIMD", &c.GPU.WavesPerSIMD)
		case "dsp":
			return count("threads", &c.DSP.Threads)
		}
		return "", 0
	}},
}

func count(what string, n *int) (string, float64) {
	from := *n
	*n++
	return fmt.Sprintf("%d to %d %s", from, *n, what), 1 / float64(from)
}

// Explain measures how the figures of a SoC's devices move with its parts. figures belong to the unchanged SoC.
func (x *Meter) Explain(c *soc.Config, figures []*Figures, open func(*soc.Config) ([]hal.Device, error)) ([]Sensitivity, error) {
	text, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	var list []Sensitivity
	for _, f := range figures {
		for _, k := range knobs {
			grown := &soc.Config{}
			if err := json.Unmarshal(text, grown); err != nil {
				return nil, err
			}
			what, share := k.change(grown, f.Device)
			if share == 0 {
				continue
			}
			moved, err := x.measureChanged(grown, f.Device, open)
			if err != nil {
				list = append(list, Sensitivity{Device: f.Device, Knob: k.name, Change: what, Err: err})
				continue
			}
			for t := nn.OperandType(0); t.Valid(); t++ {
				a, ok := f.Operand[t]
				b := moved.Operand[t]
				if _, other := sameFigures[t]; other || !ok || len(a.MeasuredOn) == 0 || len(b.MeasuredOn) == 0 {
					continue
				}
				list = append(list, Sensitivity{Device: f.Device, Knob: k.name, Change: what, Operand: t,
					ExecTime: movement(a.exact.time, b.exact.time, share), PowerUsage: movement(a.exact.energy, b.exact.energy, share)})
			}
		}
	}
	return list, nil
}

func movement(from, to, share float64) float64 {
	if !(from > 0) || math.IsNaN(to) {
		return 0
	}
	return (to/from - 1) * 0.1 / share
}

// measureChanged measures one device of a changed machine.
func (x *Meter) measureChanged(c *soc.Config, device string, open func(*soc.Config) ([]hal.Device, error)) (*Figures, error) {
	list, err := open(c)
	if err != nil {
		return nil, err
	}
	for _, d := range list[1:] {
		if d.Name() == device {
			own := *x
			own.Store = x.Store.Other(fmt.Sprint(device, mustJSON(c)))
			return own.Measure(d, list[0])
		}
	}
	return nil, fmt.Errorf("capability: no device %q", device)
}

func mustJSON(c *soc.Config) string {
	b, err := json.Marshal(c)
	if err != nil {
		panic(err) // it was read from JSON
	}
	return string(b)
}
