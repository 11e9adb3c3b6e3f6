package inspect

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/nnsoc/nnsoc/bench/capability"
	"github.com/nnsoc/nnsoc/bench/zoo"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/machine"
	"github.com/nnsoc/nnsoc/internal/try"
)

// predictReport is the JSON object of capabilities --predict.
type predictReport struct {
	SchemaVersion  int            `json:"schema_version"`
	SoC            string         `json:"soc"`
	Preference     string         `json:"preference"`
	Suite          string         `json:"suite"` // of the reported figures
	Rows           []predictEntry `json:"rows"`
	Compared       int            `json:"compared"`
	GeometricError float64        `json:"geometric_error"` // exp(mean |ln(measured / reported)|) - 1, of time

	list []capability.Prediction
}

// predictEntry is a network on a device, relative to the CPU.
type predictEntry struct {
	Network    string  `json:"model"`
	Device     string  `json:"device"`
	Operand    string  `json:"operand"`
	ExecTime   float32 `json:"reported_exec_time"`
	PowerUsage float32 `json:"reported_power_usage"`
	Time       float64 `json:"measured_exec_time,omitempty"`
	Energy     float64 `json:"measured_power_usage,omitempty"`
	Skipped    string  `json:"skip_reason,omitempty"`
}

// predict compares reported figures with the times of networks.
func predict(a *cli.App, f *capabilitiesFlags) (err error) {
	defer try.Catch(&err)
	pref := try.V(machine.ParsePreference(f.preference))
	for _, name := range f.predict {
		if _, known := zoo.Find(name); !known {
			return cli.Usage(fmt.Errorf("--predict: no network is called %q; \"nnsoc models\" lists them", name))
		}
	}
	m := try.V(machine.OpenLive(a, pref))
	p := a.Progress()
	defer p.Done()
	list := try.V(capability.NewApp(m.Registry, m.Live, p.Update).Predict(f.predict))
	r := predictReport{SchemaVersion: cli.SchemaVersion, SoC: m.Config.SoC.Name, Preference: f.preference, Suite: capability.Reported, Rows: []predictEntry{}, list: list}
	for i := range list {
		x := &list[i]
		r.Rows = append(r.Rows, predictEntry{Network: x.Network, Device: x.Device, Operand: x.Operand.String(), ExecTime: x.Reported.ExecTime, PowerUsage: x.Reported.PowerUsage,
			Time: x.Ratio.ExecTime, Energy: x.Ratio.PowerUsage, Skipped: x.Ratio.Skipped})
	}
	r.GeometricError, r.Compared = capability.GeometricError(list)
	p.Done()
	if a.JSON {
		return cli.PrintJSON(a.Out, r)
	}
	return r.text(a.Out)
}

func (r *predictReport) text(w io.Writer) error {
	fmt.Fprintf(w, "%s, preference %s, reported by suite %s: execTime/powerUsage relative to the CPU\n\n", r.SoC, r.Preference, r.Suite)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "network\tdevice\toperand\treported\tmeasured\ttime, measured / reported")
	for i := range r.list {
		x := &r.list[i]
		if x.Ratio.Skipped != "" {
			continue
		}
		off := "-"
		if x.Comparable() {
			off = fmt.Sprintf("%.2f", x.Off())
		}
		fmt.Fprintf(t, "%s\t%s\t%v\t%s\t%s\t%s\n", x.Network, x.Device, x.Operand, ratioCell(x.Reported.ExecTime, x.Reported.PowerUsage),
			ratioCell(float32(x.Ratio.ExecTime), float32(x.Ratio.PowerUsage)), off)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if r.Compared > 0 {
		fmt.Fprintf(w, "\n%d rows, off by %.0f %% on the average (geometric)\n", r.Compared, 100*r.GeometricError)
	}
	for _, e := range r.Rows {
		if e.Skipped != "" {
			fmt.Fprintf(w, "not on %s: %s: %s\n", e.Device, e.Network, e.Skipped)
		}
	}
	return nil
}
