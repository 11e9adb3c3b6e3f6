package inference

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/importer/vela"
	"github.com/nnsoc/nnsoc/isa/ethosu"
	"github.com/nnsoc/nnsoc/npu"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// Machine is the machine of a network.
type Machine struct {
	Spec npu.Spec
	// NewLevels makes the timed memories of an ethos-u operator, cold; nil keeps
	// the Spec's bandwidths and latencies.
	NewLevels func() ([]mem.Level, error)
	// CPU opens the device for operations that the NPU does not support; nil where the SoC has none.
	CPU func() (hal.Device, error)
}

// NewMachine has the NPU, memories and CPU of a SoC, at the operating points that the governors choose for p.
func NewMachine(c *soc.Config, p hal.Preference) (*Machine, error) {
	if c.NPU == nil {
		return nil, fmt.Errorf("%s has no NPU", c.SoC.Name)
	}
	m := &Machine{NewLevels: func() ([]mem.Level, error) { return npu.LevelsFromSoC(c) }}
	var err error
	if m.Spec, err = npu.FromSoC(c, sim.Preference(p)); err != nil {
		return nil, err
	}
	if c.CPU != nil {
		m.CPU = func() (hal.Device, error) {
			list, err := devices.Open(c, p)
			if err != nil {
				return nil, err
			}
			return list[0], nil
		}
	}
	return m, nil
}

// Accelerator is the configuration that a network was compiled for, the same
// for all its ethos-u operators.
func Accelerator(n *vela.Network) (ethosu.Config, error) {
	var config ethosu.Config
	seen := false
	for i := range n.Steps {
		if n.Steps[i].NPU == nil {
			continue
		}
		p, err := ethosu.ReadPayload(n.Steps[i].NPU.Payload)
		switch {
		case err != nil:
			return config, fmt.Errorf("step %d: %w", i, err)
		case seen && p.Config != config:
			return config, fmt.Errorf("step %d is for %v, an earlier one for %v", i, p.Config, config)
		}
		config, seen = p.Config, true
	}
	return config, nil
}
