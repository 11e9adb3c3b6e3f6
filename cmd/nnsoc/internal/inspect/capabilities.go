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
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/machine"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// capabilitiesReport is the JSON object of capabilities.
type capabilitiesReport struct {
	SchemaVersion int                  `json:"schema_version"`
	SoC           string               `json:"soc"`
	Preference    string               `json:"preference"`
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
	figures       *capability.Figures
}

// figureEntry is a figure; a refused type is 3.4e38, the largest float32, and
// was measured on nothing.
type figureEntry struct {
	ExecTime   float32  `json:"exec_time"`
	PowerUsage float32  `json:"power_usage"`
	MeasuredOn []string `json:"measured_on"`
}

// sensitivityEntry is how far a figure moves, relative to it, when a part of the
// machine grows by 10 %.
type sensitivityEntry struct {
	Part       string  `json:"part"`
	Change     string  `json:"change"`
	Operand    string  `json:"operand,omitempty"`
	ExecTime   float64 `json:"exec_time"`
	PowerUsage float64 `json:"power_usage"`
	Error      string  `json:"error,omitempty"`
}

// NewCapabilities returns the command capabilities.
func NewCapabilities(a *cli.App) *cobra.Command {
	var preference string
	var explain bool
	cmd := &cobra.Command{
		Use:   "capabilities",
		Short: "measure what the devices report through getCapabilities",
		Long: `capabilities measures time and energy of every device relative to the CPU of the same SoC,
by type of operand: on the layers of MobileNet v1 for float32, float16 and quantized types,
on elementwise operations for the others, and on IF and WHILE. A type that a device
refuses has the largest figure there is. The presets carry the result; a SoC file of your
own is measured when a command first needs it.`,
		Example: "  nnsoc capabilities --json\n  nnsoc capabilities --soc ethos-u55-128 --explain",
		Args:    cli.NoArguments,
		RunE:    func(*cobra.Command, []string) error { return capabilities(a, preference, explain) },
	}
	cmd.Flags().StringVar(&preference, "preference", "fast", "execution preference that clocks follow: fast, sustained or low-power")
	cmd.Flags().BoolVar(&explain, "explain", false, "measure how far each figure moves when clock, memory, array or threads grow by 10 %")
	return cmd
}

func capabilities(a *cli.App, preference string, explain bool) error {
	pref, err := machine.ParsePreference(preference)
	if err != nil {
		return err
	}
	m, err := machine.Open(a, pref)
	if err != nil {
		return err
	}
	p := a.Progress()
	defer p.Done()
	x := machine.Meter(m.Config, pref, p)
	r := capabilitiesReport{SchemaVersion: cli.SchemaVersion, SoC: m.Config.SoC.Name, Preference: preference, Devices: []deviceCapabilities{}}
	all := m.Registry.Devices()
	var figures []*capability.Figures
	for _, d := range all {
		f, err := x.Measure(d, all[0])
		if err != nil {
			return err
		}
		if d != all[0] {
			figures = append(figures, f)
		}
		r.Devices = append(r.Devices, newDeviceCapabilities(f))
	}
	if explain {
		var kernels devices.Kernels
		list, err := x.Explain(m.Config, figures, func(c *soc.Config) ([]hal.Device, error) { return kernels.Open(c, pref) })
		if err != nil {
			return err
		}
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

func newDeviceCapabilities(f *capability.Figures) deviceCapabilities {
	d := deviceCapabilities{Device: f.Device, Operands: map[string]figureEntry{}, figures: f,
		If: entry(f.If), While: entry(f.While), RelaxedScalar: entry(f.RelaxedScalar), RelaxedTensor: entry(f.RelaxedTensor)}
	for t, x := range f.Operand {
		d.Operands[t.String()] = entry(x)
	}
	return d
}

func entry(f capability.Figure) figureEntry {
	return figureEntry{f.ExecTime, f.PowerUsage, append([]string{}, f.MeasuredOn...)}
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
	fmt.Fprintf(w, "%s, preference %s: execTime/powerUsage relative to the CPU, lower is better\n\n", r.SoC, r.Preference)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "operand")
	for _, d := range r.Devices {
		fmt.Fprint(t, "\t", d.Device)
	}
	fmt.Fprintln(t)
	row := func(name string, of func(*deviceCapabilities) figureEntry) {
		fmt.Fprint(t, name)
		for i := range r.Devices {
			fmt.Fprint(t, "\t", of(&r.Devices[i]).cell())
		}
		fmt.Fprintln(t)
	}
	for _, name := range slices.Sorted(maps.Keys(r.Devices[0].Operands)) {
		row(name, func(d *deviceCapabilities) figureEntry { return d.Operands[name] })
	}
	row("relaxed scalar", func(d *deviceCapabilities) figureEntry { return d.RelaxedScalar })
	row("relaxed tensor", func(d *deviceCapabilities) figureEntry { return d.RelaxedTensor })
	row("IF", func(d *deviceCapabilities) figureEntry { return d.If })
	row("WHILE", func(d *deviceCapabilities) figureEntry { return d.While })
	if err := t.Flush(); err != nil {
		return err
	}
	t = tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, d := range r.Devices {
		for i, s := range d.Explain {
			if i == 0 {
				fmt.Fprintf(t, "\n%s, per 10 %%\tchange\toperand\texecTime\tpowerUsage\n", d.Device)
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

// cell is a figure in a table.
func (f figureEntry) cell() string {
	if f.ExecTime == math.MaxFloat32 {
		return "refused"
	}
	return strings.ReplaceAll(fmt.Sprintf("%.2g/%.2g", f.ExecTime, f.PowerUsage), "e+02", "00")
}
