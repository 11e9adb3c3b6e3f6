package machine

import (
	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
)

// Limits exclude operations from devices.
type Limits struct {
	forced, versions []string
}

// Add adds the flags.
func (l *Limits) Add(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.Var(cli.NameList{Names: &l.forced, Once: true}, "force-unsupported", "keep a type of operation away from a device, or from all but the CPU: OP or OP:DEVICE; sample is half of them all")
	fl.Var(cli.NameList{Names: &l.versions, Once: true}, "hal-version", "make the driver of a device one of an old HAL version, which receives what that can express: DEVICE:VERSION, as in dsp:1.1")
}

// Limit applies limits to the devices.
func (m *Machine) Limit(l *Limits) error {
	return cli.Usage(m.Phone.Limit(l.forced, l.versions))
}
