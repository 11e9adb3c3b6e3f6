package machine

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/nn"
)

// Limits keep operations away from devices, or give them to one.
type Limits struct {
	forced, placed, versions []string
}

// Add adds the flags.
func (l *Limits) Add(cmd *cobra.Command) {
	l.AddPlaces(cmd)
	cmd.Flags().Var(cli.NameList{Names: &l.versions, Once: true}, "hal-version", "make the driver of a device one of an old HAL version, which receives what that can express: DEVICE:VERSION, as in dsp:1.1")
}

// AddPlaces adds the flags about operations alone.
func (l *Limits) AddPlaces(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.Var(cli.NameList{Names: &l.forced, Once: true}, "force-unsupported", "keep operations away from a device, or from all but the CPU: OP or OP:DEVICE, where OP is a type, a number, or the name of a node or tensor; sample is half of them all")
	fl.StringArrayVar(&l.placed, "place", nil, "run operations on a device whatever is planned: OP=DEVICE, where OP is a number, the name of a node or tensor, or a type: 3=dsp (repeat)")
}

// Given reports whether a flag was set.
func (l *Limits) Given() bool { return len(l.forced)+len(l.placed)+len(l.versions) > 0 }

// Limit applies limits to the devices.
func (m *Machine) Limit(l *Limits) error {
	if err := m.Phone.Limit(l.forced, l.versions); err != nil {
		return cli.Usage(err)
	}
	if err := m.Place(l.placed); err != nil {
		return cli.Usage(fmt.Errorf("--place: %w", err))
	}
	return nil
}

// CheckLimits is an error where limits are about operations that a network does not have.
func (m *Machine) CheckLimits(model *nn.Model) error {
	return cli.Usage(m.Registry.CheckRules(model))
}
