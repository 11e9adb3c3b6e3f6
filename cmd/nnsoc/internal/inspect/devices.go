package inspect

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/bench/capability"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/machine"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// devicesReport is the JSON object of devices.
type devicesReport struct {
	SchemaVersion int          `json:"schema_version"`
	SoC           string       `json:"soc"`
	Description   string       `json:"description"`
	Suite         string       `json:"suite"` // by which the capabilities of the SoC's own devices were measured
	Devices       []deviceInfo `json:"devices"`
}

type deviceInfo struct {
	Name         string        `json:"device"`
	Type         string        `json:"type"`
	Version      string        `json:"version"`
	Description  string        `json:"description"`
	Capabilities []performance `json:"capabilities"`
	As           string        `json:"as,omitempty"`       // the preset whose numbers the engine has, but for its own keys
	Own          []string      `json:"own_keys,omitempty"` // keys of the engine's section whose values are not those of that preset
}

type performance struct {
	Operand    string  `json:"operand"`
	ExecTime   float32 `json:"exec_time"`
	PowerUsage float32 `json:"power_usage"`
}

// NewDevices returns the command devices.
func NewDevices(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:     "devices",
		Short:   "list the devices of the SoC and what they promise",
		Long:    "devices lists the devices of the SoC with the figures they report through\ngetCapabilities: time and energy per operation relative to the CPU, lower is better. Figures of presets, of\nchanged machines (--set) and of your own SoC files are measured by one suite, which\n\"nnsoc capabilities\" describes; drivers of other processes report their own.",
		Example: "  nnsoc devices\n  nnsoc devices --soc xclipse920 --json",
		Args:    cli.NoArguments,
		RunE: func(*cobra.Command, []string) error {
			m, err := machine.Open(a, hal.FastSingleAnswer)
			if err != nil {
				return err
			}
			r := devicesReport{SchemaVersion: cli.SchemaVersion, SoC: m.Config.SoC.Name, Description: m.Config.SoC.Description, Suite: capability.Reported}
			for _, d := range m.Registry.Devices() {
				c := d.Capabilities()
				as, own := soc.Borrowed(r.SoC, d.Name())
				r.Devices = append(r.Devices, deviceInfo{d.Name(), d.Type().String(), d.Version(), d.Description(), performances(&c), as, own})
			}
			if a.JSON {
				return cli.PrintJSON(a.Out, r)
			}
			return printDevices(a, &r)
		},
	}
}

func performances(c *hal.Capabilities) []performance {
	var types []nn.OperandType
	for t := range c.Operand {
		types = append(types, t)
	}
	sort.Slice(types, func(i, j int) bool { return types[i] < types[j] })
	l := []performance{{"relaxed TENSOR_FLOAT32", c.RelaxedTensor.ExecTime, c.RelaxedTensor.PowerUsage}}
	for _, t := range types {
		l = append(l, performance{t.String(), c.Operand[t].ExecTime, c.Operand[t].PowerUsage})
	}
	return l
}

// shortened are keys without what lies below their first table, each once: kernels for kernels.conv_f32.
func shortened(keys []string) (l []string) {
	for _, k := range keys {
		if k, _, _ = strings.Cut(k, "."); !slices.Contains(l, k) {
			l = append(l, k)
		}
	}
	return l
}

func printDevices(a *cli.App, r *devicesReport) error {
	fmt.Fprintf(a.Out, "%s: %s\n\n", r.SoC, r.Description)
	t := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "device\ttype\tfloat32\trelaxed\tquant8\tdescription")
	for _, d := range r.Devices {
		cell := func(name string) string {
			for _, p := range d.Capabilities {
				switch {
				case p.Operand == name && p.ExecTime == math.MaxFloat32:
					return "refused"
				case p.Operand == name:
					return fmt.Sprintf("%.2f/%.2f", p.ExecTime, p.PowerUsage)
				}
			}
			return "-"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", d.Name, d.Type, cell("TENSOR_FLOAT32"), cell("relaxed TENSOR_FLOAT32"),
			cell("TENSOR_QUANT8_ASYMM"), d.Description)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(a.Out, "\nfloat32, relaxed and quant8 are execTime/powerUsage relative to the CPU, measured by suite %s; lower is better.\n", r.Suite)
	for _, d := range r.Devices {
		if d.As == "" {
			continue
		}
		but := ""
		if len(d.Own) > 0 {
			but = " but for " + strings.Join(shortened(d.Own), ", ")
		}
		if _, err := fmt.Fprintf(a.Out, "%s: as %s%s\n", d.Name, d.As, but); err != nil {
			return err
		}
	}
	return nil
}
