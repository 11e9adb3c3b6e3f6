package run

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/bench/report/table"
	"github.com/nnsoc/nnsoc/bench/session"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
)

// machines is the flag --soc of run, which may be repeated.
type machines struct {
	app  *cli.App
	list *[]string
}

// String implements pflag.Value.
func (m *machines) String() string {
	if m.app == nil {
		return ""
	}
	return m.app.SoC
}

// Type implements pflag.Value.
func (m *machines) Type() string { return "string" }

// Set implements pflag.Value.
func (m *machines) Set(s string) error {
	*m.list = append(*m.list, s)
	m.app.SoC = s
	return cli.Distinct(*m.list)
}

// machinesReport is the JSON object of run with several --soc.
type machinesReport struct {
	SchemaVersion int   `json:"schema_version"`
	Machines      []any `json:"machines"` // each as of a run on one
}

// runMachines runs a network on several SoCs and prints one table.
func runMachines(a *cli.App, f *runFlags, cmd *cobra.Command, args []string) error {
	for _, name := range []string{"trace", "output", "csv", "html"} {
		if cmd.Flags().Changed(name) {
			return cli.Usage(fmt.Errorf("--%s needs a single SoC, --soc names several", name))
		}
	}
	var reports []*report
	for _, soc := range f.socs {
		a.SoC = soc
		r, err := collect(a, f, args)
		if err != nil {
			return fmt.Errorf("%s: %w", soc, err)
		}
		reports = append(reports, r)
	}
	var err error
	if a.JSON {
		all := machinesReport{SchemaVersion: session.SchemaVersion}
		for _, r := range reports {
			all.Machines = append(all.Machines, r.object())
		}
		err = cli.PrintJSON(a.Out, all)
	} else {
		err = printMachines(a, f.socs, reports)
	}
	var bad []string
	for i, r := range reports {
		if e := r.verdict(); e != nil {
			bad = append(bad, f.socs[i]+": "+e.Error())
		}
	}
	if err == nil && bad != nil {
		err = &cli.ExitError{Code: cli.ExitMismatch, Err: errors.New(strings.Join(bad, "; "))}
	}
	return err
}

// printMachines writes a row per SoC and device; speed and energy are relative to the same
// device of the first SoC that has run it.
func printMachines(a *cli.App, socs []string, reports []*report) error {
	m := &reports[0].data
	fmt.Fprintf(a.Out, "%s: %d operations, %.1f million MACs\n\n", m.Model, m.OperationCount, float64(m.MACs)/1e6)
	var rows []deviceRow
	first := map[string]*session.Run{}
	for i, r := range reports {
		for k := range r.data.Runs {
			d := deviceRow{soc: socs[i], run: &r.data.Runs[k]}
			name := fmt.Sprint(deviceName(d))
			if first[name] == nil && d.timed() {
				first[name] = d.run
			}
			d.base = first[name]
			rows = append(rows, d)
		}
	}
	if err := table.WriteText(a.Out, deviceColumns.Without("host"), rows); err != nil {
		return err
	}
	_, err := fmt.Fprintln(a.Out, "\nspeed and energy are relative to the same device of the first SoC that has it.")
	return err
}

// largest is the reason with the most cycles, the first in the alphabet of equals.
func largest(stalls map[string]int64) string {
	best := "none"
	for reason, cycles := range stalls {
		if n := stalls[best]; cycles > n || cycles == n && cycles > 0 && reason < best {
			best = reason
		}
	}
	return best
}
