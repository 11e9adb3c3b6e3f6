package machine

import (
	"slices"
	"strings"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/hal/driver/sample"
)

// Find returns a device of the machine, a sample driver of Android's, or a driver with a
// planted fault (faulty:KIND=N@DEVICE). The last two join the machine when they are first
// requested, behind its other devices.
func (m *Machine) Find(name string) (hal.Device, error) {
	d, err := m.Registry.Find(name)
	if err == nil {
		return d, nil
	}
	known := err
	switch {
	case slices.Contains(sample.Names(), name):
		list, err := m.samples()
		if err != nil {
			return nil, cli.Usage(err)
		}
		d = list[slices.Index(sample.Names(), name)]
	case strings.HasPrefix(name, sample.FaultyPrefix):
		inner := sample.FaultyDevice(name)
		if strings.HasPrefix(inner, sample.FaultyPrefix) {
			return nil, cli.Usage(known)
		}
		if d, err = m.wrapped(inner); err != nil {
			return nil, err
		}
		if d, err = sample.NewFaulty(name, d); err != nil {
			return nil, cli.Usage(err)
		}
	default:
		return nil, cli.Usage(known)
	}
	return d, m.Registry.Add(d)
}

// wrapped is the device that a fault is planted in. A sample driver does not join the
// machine for it.
func (m *Machine) wrapped(name string) (hal.Device, error) {
	if i := slices.Index(sample.Names(), name); i >= 0 {
		list, err := m.samples()
		if err != nil {
			return nil, cli.Usage(err)
		}
		return list[i], nil
	}
	return m.Find(name)
}

// samples are the sample drivers of the machine.
func (m *Machine) samples() ([]hal.Device, error) {
	if m.Live != nil {
		return m.Live.Samples(m.Preference())
	}
	return devices.Samples(m.Config, m.Preference())
}
