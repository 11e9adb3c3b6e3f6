package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/hal/vlog"
	nnrt "github.com/nnsoc/nnsoc/runtime"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// machine is a SoC with its devices.
type machine struct {
	config   *soc.Config
	registry *nnrt.Registry
	live     *devices.Machine // of live only
}

// machine builds the devices of the SoC that --soc names, at the operating
// points that their governors choose for a preference.
func (a *app) machine(pref hal.Preference) (*machine, error) {
	return a.changedMachine(pref, func(*soc.Config) {})
}

// changedMachine is machine of a SoC that is changed first.
func (a *app) changedMachine(pref hal.Preference, change func(*soc.Config)) (*machine, error) {
	c, err := soc.Load(a.soc)
	if err != nil {
		return nil, usage(err)
	}
	change(c)
	if c.CPU == nil {
		return nil, usage(fmt.Errorf("%s has no [cpu] section; the reference CPU is what devices are compared with", a.soc))
	}
	var list []hal.Device
	var live *devices.Machine
	if a.persistent {
		if live, err = devices.NewMachine(c, pref); err == nil {
			list = live.Devices()
		}
	} else {
		list, err = devices.Open(c, pref)
	}
	if err != nil {
		return nil, usage(err)
	}
	a.measured(c, pref, list)
	for _, d := range list {
		a.vlog(vlog.Manager).Str("device", d.Name()).Str("type", d.Type().String()).Str("version", d.Version()).Msg("found")
		if x, ok := d.(interface{ SetLogger(base.Logger) }); ok {
			x.SetLogger(driverLog{&a.verbosity})
		}
	}
	if list, err = a.connect(list); err != nil {
		return nil, err
	}
	if a.wrap != nil {
		for i := range list {
			list[i] = a.wrap(list[i])
		}
	}
	r, err := nnrt.NewRegistry(list[0], list[1:]...)
	if err != nil {
		return nil, err
	}
	if live != nil {
		r.SetMachine(live)
	}
	return &machine{c, r, live}, nil
}

// choose checks device names; none means all devices of the SoC.
func (m *machine) choose(names []string) ([]string, error) {
	if len(names) == 0 {
		for _, d := range m.registry.Devices() {
			names = append(names, d.Name())
		}
		return names, nil
	}
	for _, n := range names {
		if n == nnrt.Auto {
			continue
		}
		if _, err := m.registry.Find(n); err != nil {
			return nil, usage(err)
		}
	}
	return names, nil
}

func socNames() []string { return soc.Names() }

// completeDevices completes --device with the devices of the chosen SoC.
func completeDevices(a *app, cmd *cobra.Command) {
	_ = cmd.RegisterFlagCompletionFunc("device", func(_ *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
		m, err := a.machine(hal.FastSingleAnswer)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		var names []string
		for _, d := range m.registry.Devices() {
			if strings.HasPrefix(d.Name(), prefix) {
				names = append(names, d.Name()+"\t"+d.Description())
			}
		}
		return append(names, nnrt.Auto+"\tthe best device of each operation"), cobra.ShellCompDirectiveNoFileComp
	})
}
