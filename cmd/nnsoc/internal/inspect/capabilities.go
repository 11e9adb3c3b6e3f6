package inspect

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/bench/capability"
	"github.com/nnsoc/nnsoc/bench/session"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/input"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/machine"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// capabilitiesReport is the JSON object of capabilities.
type capabilitiesReport struct {
	SchemaVersion int                  `json:"schema_version"`
	SoC           string               `json:"soc"`
	Preference    string               `json:"preference"`
	Suite         string               `json:"suite"`
	Devices       []deviceCapabilities `json:"devices"`
}

type deviceCapabilities struct {
	Device        string                 `json:"device"`
	Operands      map[string]figureEntry `json:"operands"`
	If            figureEntry            `json:"if"`
	While         figureEntry            `json:"while"`
	RelaxedScalar figureEntry            `json:"relaxed_scalar"`
	RelaxedTensor figureEntry            `json:"relaxed_tensor"`
	Explain       []sensitivityEntry     `json:"explain,omitempty"`
}

// figureEntry is a figure; a refused type is 3.4e38, the largest float32, and
// was measured on nothing.
type figureEntry struct {
	ExecTime   float32       `json:"exec_time"`
	PowerUsage float32       `json:"power_usage"`
	MeasuredOn []string      `json:"measured_on"`
	Suite      string        `json:"suite"`
	Networks   []ratioEntry  `json:"models,omitempty"` // with --explain
	Micro      *microFigures `json:"micro,omitempty"`  // with --explain
}

// microFigures are figures of single operations.
type microFigures struct {
	ExecTime   float32 `json:"exec_time"`
	PowerUsage float32 `json:"power_usage"`
}

// ratioEntry is a network on a device, relative to the CPU.
type ratioEntry struct {
	Network    string  `json:"model"`
	ExecTime   float64 `json:"exec_time,omitempty"`
	PowerUsage float64 `json:"power_usage,omitempty"`
	Skipped    string  `json:"skip_reason,omitempty"`
}

// sensitivityEntry is how far a figure of single operations moves, relative to it, when a
// part of the machine grows by 10 %.
type sensitivityEntry struct {
	Part       string  `json:"part"`
	Change     string  `json:"change"`
	Operand    string  `json:"operand,omitempty"`
	ExecTime   float64 `json:"exec_time"`
	PowerUsage float64 `json:"power_usage"`
	Error      string  `json:"error,omitempty"`
}

// capabilitiesFlags are the flags of capabilities.
type capabilitiesFlags struct {
	preference, suite string
	explain           bool
	predict           []string
}

// NewCapabilities returns the command capabilities.
func NewCapabilities(a *cli.App) *cobra.Command {
	var f capabilitiesFlags
	cmd := &cobra.Command{
		Use:   "capabilities",
		Short: "measure what the devices report through getCapabilities",
		Long: `capabilities measures time and energy of every device relative to the CPU of the same SoC,
by type of operand, and on IF and WHILE. Suite micro, by which all devices report, is the layers of
MobileNet v1 and elementwise operations one by one, quick enough for the points of a sweep;
presets include its results, and another machine is measured when a command first needs them.
Suite mlts is the one that Android requires of drivers: MobileNet v1 and v2, asr_float and
tts_float for float32 and relaxed float32, MobileNet v1 and v2 for 8-bit types, through the
loops of "nnsoc mlts benchmark"; a figure is the geometric mean over the networks that a
device supports whole, and types without a network have figures of micro, marked by *. It takes
minutes. A type that a device refuses has the largest possible figure.

--predict runs other networks and compares the reported figure of their type with
their time and energy.`,
		Example: "  nnsoc capabilities --soc ethos-u55-128 --explain\n  nnsoc capabilities --soc ethos-u55-128 --suite mlts --json\n  nnsoc capabilities --predict mobilenet_v1_0.25_128_quant,efficientnet_lite0_float",
		Args:    cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := cli.Exclude(cmd, "predict", "explain", "suite"); err != nil {
				return err
			}
			if len(f.predict) > 0 {
				return predict(a, &f)
			}
			return capabilities(a, &f)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.preference, "preference", "fast", "execution preference that clocks follow: fast, sustained or low-power")
	fl.StringVar(&f.suite, "suite", capability.Reported, "workloads: micro or mlts")
	fl.BoolVar(&f.explain, "explain", false, "measure how far each figure of suite micro moves when clock, memory, array or threads grow by 10 %; with --suite mlts show both suites and every network")
	fl.Var(cli.NameList{Names: &f.predict, Once: true}, "predict", "networks whose time the reported figures should predict")
	_ = cmd.RegisterFlagCompletionFunc("predict", input.CompleteModels)
	return cmd
}

func capabilities(a *cli.App, f *capabilitiesFlags) (err error) {
	defer try.Catch(&err)
	pref := try.V(machine.ParsePreference(f.preference))
	if f.suite != capability.SuiteMicro && f.suite != capability.SuiteMLTS {
		return cli.Usage(fmt.Errorf("--suite %q, want %s or %s", f.suite, capability.SuiteMicro, capability.SuiteMLTS))
	}
	m := try.V(machine.Open(a, pref))
	p := a.Progress()
	defer p.Done()
	x := session.NewMeter(m.Config, pref, machine.CacheFolder("costs"), p.Update)
	r := capabilitiesReport{SchemaVersion: cli.SchemaVersion, SoC: m.Config.SoC.Name, Preference: f.preference, Suite: f.suite, Devices: []deviceCapabilities{}}
	var app *capability.App
	if f.suite == capability.SuiteMLTS {
		live := try.V(machine.OpenLive(a, pref))
		app = capability.NewApp(live.Registry, live.Live, p.Update)
	}
	all := m.Registry.Devices()
	var micro []*capability.Figures
	for _, d := range all {
		figures := try.V(x.Measure(d, all[0]))
		if d != all[0] {
			micro = append(micro, figures)
		}
		if app != nil {
			figures = try.V(app.Measure(figures))
		}
		r.Devices = append(r.Devices, newDeviceCapabilities(figures, f.explain))
	}
	if f.explain {
		var kernels devices.Kernels
		list := try.V(x.Explain(m.Config, micro, func(c *soc.Config) ([]hal.Device, error) { return kernels.Open(c, pref, devices.Cold()) }))
		for i := range r.Devices {
			r.Devices[i].explain(list)
		}
	}
	p.Done()
	if a.JSON {
		return cli.PrintJSON(a.Out, r)
	}
	return r.text(a.Out)
}

func newDeviceCapabilities(f *capability.Figures, explain bool) deviceCapabilities {
	entry := func(f capability.Figure) figureEntry {
		e := figureEntry{ExecTime: f.ExecTime, PowerUsage: f.PowerUsage, MeasuredOn: append([]string{}, f.MeasuredOn...), Suite: f.Suite}
		if explain && f.Networks != nil {
			e.Micro = &microFigures{f.Micro.ExecTime, f.Micro.PowerUsage}
			for _, r := range f.Networks {
				e.Networks = append(e.Networks, ratioEntry{r.Network, r.ExecTime, r.PowerUsage, r.Skipped})
			}
		}
		return e
	}
	d := deviceCapabilities{Device: f.Device, Operands: map[string]figureEntry{},
		If: entry(f.If), While: entry(f.While), RelaxedScalar: entry(f.RelaxedScalar), RelaxedTensor: entry(f.RelaxedTensor)}
	for t, x := range f.Operand {
		d.Operands[t.String()] = entry(x)
	}
	return d
}

func (d *deviceCapabilities) explain(list []capability.Sensitivity) {
	for _, s := range list {
		if s.Device != d.Device {
			continue
		}
		e := sensitivityEntry{Part: s.Knob, Change: s.Change, ExecTime: s.ExecTime, PowerUsage: s.PowerUsage}
		if s.Err != nil {
			e.Error = s.Err.Error()
		} else {
			e.Operand = s.Operand.String()
		}
		d.Explain = append(d.Explain, e)
	}
}

func (r *capabilitiesReport) text(w io.Writer) error {
	fmt.Fprintf(w, "%s, preference %s, suite %s: execTime/powerUsage relative to the CPU, lower is better\n\n", r.SoC, r.Preference, r.Suite)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "operand")
	for _, d := range r.Devices {
		fmt.Fprint(t, "\t", d.Device)
	}
	fmt.Fprintln(t)
	standIn := false
	for _, row := range r.rows() {
		fmt.Fprint(t, row.name)
		for i := range r.Devices {
			e := row.of(&r.Devices[i])
			cell := ratioCell(e.ExecTime, e.PowerUsage)
			if r.Suite == capability.SuiteMLTS && e.Suite == capability.SuiteMicro && len(e.MeasuredOn) > 0 {
				cell, standIn = cell+"*", true
			}
			fmt.Fprint(t, "\t", cell)
		}
		fmt.Fprintln(t)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if standIn {
		fmt.Fprintln(w, "\n* single operations (suite micro): no network of this type, or none that the device supports whole")
	}
	if err := r.networks(w); err != nil {
		return err
	}
	return r.sensitivities(w)
}

// capabilityRow is a line of the table of figures.
type capabilityRow struct {
	name string
	of   func(*deviceCapabilities) figureEntry
}

func (r *capabilitiesReport) rows() (list []capabilityRow) {
	for _, name := range slices.Sorted(maps.Keys(r.Devices[0].Operands)) {
		list = append(list, capabilityRow{name, func(d *deviceCapabilities) figureEntry { return d.Operands[name] }})
	}
	return append(list,
		capabilityRow{"relaxed scalar", func(d *deviceCapabilities) figureEntry { return d.RelaxedScalar }},
		capabilityRow{"relaxed tensor", func(d *deviceCapabilities) figureEntry { return d.RelaxedTensor }},
		capabilityRow{"IF", func(d *deviceCapabilities) figureEntry { return d.If }},
		capabilityRow{"WHILE", func(d *deviceCapabilities) figureEntry { return d.While }})
}

// networks prints the figures of both suites beside each other, and the networks of mlts.
func (r *capabilitiesReport) networks(w io.Writer) error {
	for i := range r.Devices {
		d := &r.Devices[i]
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		first := true
		for _, row := range r.rows() {
			e := row.of(d)
			if e.Networks == nil || !strings.Contains(strings.ToLower(row.name), "tensor") {
				continue // a scalar has the figures of its tensor
			}
			if first {
				fmt.Fprintf(t, "\n%s, by suite\tmlts\tmicro\n", d.Device)
				first = false
			}
			mlts := "-"
			if e.Suite == capability.SuiteMLTS {
				mlts = ratioCell(e.ExecTime, e.PowerUsage)
			}
			fmt.Fprintf(t, "  %s\t%s\t%s\n", row.name, mlts, ratioCell(e.Micro.ExecTime, e.Micro.PowerUsage))
			for _, n := range e.Networks {
				cell := n.Skipped
				if cell == "" {
					cell = ratioCell(float32(n.ExecTime), float32(n.PowerUsage))
				}
				fmt.Fprintf(t, "    %s\t%s\t\n", n.Network, cell)
			}
		}
		if err := t.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// sensitivities prints how figures move with the machine.
func (r *capabilitiesReport) sensitivities(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, d := range r.Devices {
		for i, s := range d.Explain {
			if i == 0 {
				fmt.Fprintf(t, "\n%s, micro, per 10 %%\tchange\toperand\texecTime\tpowerUsage\n", d.Device)
			}
			if s.Error != "" {
				fmt.Fprintf(t, "  %s\t%s\tnot possible: %s\n", s.Part, s.Change, s.Error)
				continue
			}
			fmt.Fprintf(t, "  %s\t%s\t%s\t%+.1f %%\t%+.1f %%\n", s.Part, s.Change, s.Operand, 100*s.ExecTime, 100*s.PowerUsage)
		}
	}
	return t.Flush()
}

// ratioCell is a figure in a table.
func ratioCell(execTime, powerUsage float32) string {
	if execTime == math.MaxFloat32 {
		return "refused"
	}
	return strings.ReplaceAll(fmt.Sprintf("%.2g/%.2g", execTime, powerUsage), "e+02", "00")
}
