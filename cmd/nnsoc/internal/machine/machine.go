package machine

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/bench/session"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/hal/vlog"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// Machine is the phone of a command.
type Machine struct{ *session.Phone }

// Open builds the devices of the SoC that --soc names for callers interested in results, or in the costs of a program
// alone: at the highest clocks of a preference, on cold memories (devices.Cold).
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

// OpenSteady is Open of devices whose executions cost the same as in a loop.
func OpenSteady(a *cli.App, pref hal.Preference) (*Machine, error) {
	c, err := LoadSoC(a)
	if err != nil {
		return nil, err
	}
	return openConfig(a, c, pref, false)
}

func open(a *cli.App, pref hal.Preference, change func(*soc.Config), persistent bool) (*Machine, error) {
	c, err := LoadSoC(a)
	if err != nil {
		return nil, err
	}
	change(c)
	return openConfig(a, c, pref, persistent, devices.Cold())
}

// OpenConfig is OpenLive of a SoC that has been read.
func OpenConfig(a *cli.App, c *soc.Config, pref hal.Preference) (*Machine, error) {
	return openConfig(a, c, pref, true)
}

func openConfig(a *cli.App, c *soc.Config, pref hal.Preference, persistent bool, apart ...devices.Option) (*Machine, error) {
	if err := openCache(a); err != nil {
		return nil, err
	}
	o := options(a, c, pref)
	var p *session.Phone
	var err error
	if persistent {
		p, err = session.Open(c, o)
	} else {
		p, err = session.OpenApart(c, o, apart...)
	}
	if err != nil {
		return nil, cli.Usage(err)
	}
	return &Machine{p}, nil
}

// options open a phone as the global flags ask for it.
func options(a *cli.App, c *soc.Config, pref hal.Preference) session.Options {
	progress := a.Progress()
	o := session.Options{
		Preference: pref, Costs: CacheFolder("costs"),
		Progress: func(what string) {
			if what == "" {
				progress.Done()
				return
			}
			progress.Update("%s", what)
		},
		Unmeasured: func(device string, err error) {
			a.VLog(vlog.Compilation).Str("device", device).Err(err).Msg("capabilities were not measured")
		},
		Devices: func(list []hal.Device, live *devices.Machine) ([]hal.Device, error) { return join(a, list, c, live) },
	}
	if a.CacheDir != "" {
		o.Cache = cacheOf(a, c)
	}
	return o
}

// join gives the devices of a SoC a logger and adds the drivers of other processes.
func join(a *cli.App, list []hal.Device, c *soc.Config, live *devices.Machine) ([]hal.Device, error) {
	for _, d := range list {
		a.VLog(vlog.Manager).Str("device", d.Name()).Str("type", d.Type().String()).Str("version", d.Version()).Msg("found")
		if x, ok := d.(interface{ SetLogger(base.Logger) }); ok {
			x.SetLogger(a.DriverLogger())
		}
	}
	list, err := connect(a, list, c, live)
	if err == nil && a.Wrap != nil {
		for i := range list {
			list[i] = a.Wrap(list[i])
		}
	}
	return list, err
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
		if session.Divides(n) {
			continue
		}
		if _, err := m.Find(n); err != nil {
			return nil, err
		}
	}
	return names, nil
}

// CompileModel compiles a model for a device, for session.Auto by the best plan on inputs of noise.
func (m *Machine) CompileModel(model *nn.Model, device string, o nnrt.CompileOptions) (*nnrt.Compilation, error) {
	n := &session.Network{Model: model}
	if device == session.Auto {
		var err error
		if n, err = session.NewNetwork(model, nil); err != nil {
			return nil, err
		}
	}
	return m.Compile(n, device, o)
}

// Plans are what --device takes beside devices where a network may be divided; Reference where the reference CPU is judged too.
var (
	Plans     = []string{session.Auto + "\tthe best plan by prediction", nnrt.ByStrategy + "\tdivided by Android's rule"}
	Reference = []string{"reference\tthe reference CPU"}
)

// CompleteDevices completes --device with the devices of the chosen SoC, and with what else the command takes.
func CompleteDevices(a *cli.App, cmd *cobra.Command, others ...string) {
	_ = cmd.RegisterFlagCompletionFunc("device", DeviceNames(a, others...))
}

// DeviceNames completes the name of a device of the chosen SoC, or another one.
func DeviceNames(a *cli.App, others ...string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
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
		return append(names, others...), cobra.ShellCompDirectiveNoFileComp
	}
}

// preferences are the execution preferences by the names in flags.
var preferences = map[string]hal.Preference{
	"fast": hal.FastSingleAnswer, "sustained": hal.SustainedSpeed, "low-power": hal.LowPower,
}

// ParsePreference finds an execution preference by its name.
func ParsePreference(name string) (hal.Preference, error) {
	p, ok := preferences[name]
	if !ok {
		return 0, cli.Usage(fmt.Errorf("unknown preference %q; there are fast, sustained, low-power", name))
	}
	return p, nil
}
