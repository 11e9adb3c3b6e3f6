package machine

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/hal/vlog"
	nnrt "github.com/nnsoc/nnsoc/runtime"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// Machine is a SoC with its devices.
type Machine struct {
	Config   *soc.Config
	Registry *nnrt.Registry
	Live     *devices.Machine // of OpenLive only
}

// Open builds the devices of the SoC that --soc names, at the operating
// points that their governors choose for a preference.
func Open(a *cli.App, pref hal.Preference) (*Machine, error) {
	return OpenChanged(a, pref, func(*soc.Config) {})
}

// OpenChanged is Open of a SoC that is changed first.
func OpenChanged(a *cli.App, pref hal.Preference, change func(*soc.Config)) (*Machine, error) {
	return open(a, pref, change, false)
}

// OpenLive builds the devices of one machine that keeps its state from execution to
// execution.
func OpenLive(a *cli.App, pref hal.Preference) (*Machine, error) {
	return open(a, pref, func(*soc.Config) {}, true)
}

func open(a *cli.App, pref hal.Preference, change func(*soc.Config), persistent bool) (*Machine, error) {
	c, err := soc.Load(a.SoC)
	if err != nil {
		return nil, cli.Usage(err)
	}
	change(c)
	if c.CPU == nil {
		return nil, cli.Usage(fmt.Errorf("%s has no [cpu] section; the reference CPU is what devices are compared with", a.SoC))
	}
	var list []hal.Device
	var live *devices.Machine
	if persistent {
		if live, err = devices.NewMachine(c, pref); err == nil {
			list = live.Devices()
		}
	} else {
		list, err = devices.Open(c, pref)
	}
	if err != nil {
		return nil, cli.Usage(err)
	}
	withFigures(a, c, pref, list)
	for _, d := range list {
		a.VLog(vlog.Manager).Str("device", d.Name()).Str("type", d.Type().String()).Str("version", d.Version()).Msg("found")
		if x, ok := d.(interface{ SetLogger(base.Logger) }); ok {
			x.SetLogger(a.DriverLogger())
		}
	}
	if list, err = connect(a, list); err != nil {
		return nil, err
	}
	if a.Wrap != nil {
		for i := range list {
			list[i] = a.Wrap(list[i])
		}
	}
	r, err := nnrt.NewRegistry(list[0], list[1:]...)
	if err != nil {
		return nil, err
	}
	if live != nil {
		r.SetMachine(live)
	}
	return &Machine{c, r, live}, nil
}

// Choose checks device names; none means all devices of the SoC.
func (m *Machine) Choose(names []string) ([]string, error) {
	if len(names) == 0 {
		for _, d := range m.Registry.Devices() {
			names = append(names, d.Name())
		}
		return names, nil
	}
	for _, n := range names {
		if n == nnrt.Auto {
			continue
		}
		if _, err := m.Registry.Find(n); err != nil {
			return nil, cli.Usage(err)
		}
	}
	return names, nil
}

// SoCNames lists the presets.
func SoCNames() []string { return soc.Names() }

// CompleteDevices completes --device with the devices of the chosen SoC.
func CompleteDevices(a *cli.App, cmd *cobra.Command) {
	_ = cmd.RegisterFlagCompletionFunc("device", func(_ *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
		m, err := Open(a, hal.FastSingleAnswer)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		var names []string
		for _, d := range m.Registry.Devices() {
			if strings.HasPrefix(d.Name(), prefix) {
				names = append(names, d.Name()+"\t"+d.Description())
			}
		}
		return append(names, nnrt.Auto+"\tthe best device of each operation"), cobra.ShellCompDirectiveNoFileComp
	})
}

// Preferences are the execution preferences by the names that flags take.
var Preferences = map[string]hal.Preference{
	"fast": hal.FastSingleAnswer, "sustained": hal.SustainedSpeed, "low-power": hal.LowPower,
}
