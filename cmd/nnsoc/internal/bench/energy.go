package bench

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/bench/phones"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/machine"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// energyReport is the JSON object of bench energy.
type energyReport struct {
	SchemaVersion int             `json:"schema_version"`
	Rows          []phones.Energy `json:"rows"`
}

func newBenchEnergy(a *cli.App) *cobra.Command {
	var engines []string
	var markdown bool
	cmd := &cobra.Command{
		Use:   "energy",
		Short: "compare presets with published energies of phones",
		Long: `energy runs networks in a loop, as "nnsoc run" does, and prints the energy of an inference beside what
was measured on a phone of the same kind of cores: a figure or a range over variants of the network, in
mJ. The ratio is ours over the nearest end of the range, 1 inside it. No key of a preset was chosen by
these figures.`,
		Example: "  nnsoc bench energy --engine cpu",
		Args:    cli.NoArguments,
		RunE:    func(*cobra.Command, []string) error { return benchEnergy(a, engines, markdown) },
	}
	cli.PrintsLines(cmd, "rows[]")
	cmd.Flags().Var(cli.NameList{Names: &engines, Once: true}, "engine", "only these engines: cpu, gpu (default: all)")
	cmd.Flags().BoolVar(&markdown, "markdown", false, "print the table of docs/FIDELITY.md")
	machine.AddCache(a, cmd)
	return cmd
}

func benchEnergy(a *cli.App, engines []string, markdown bool) error {
	if markdown && a.JSON {
		return cli.Usage(fmt.Errorf("--json and --markdown contradict each other"))
	}
	if _, err := chosen("engine", engines, []string{"cpu", "gpu"}); err != nil {
		return cli.Usage(err)
	}
	r := energyReport{SchemaVersion: cli.SchemaVersion, Rows: slices.Clone(phones.Energies)}
	if len(engines) > 0 {
		r.Rows = slices.DeleteFunc(r.Rows, func(e phones.Energy) bool { return !slices.Contains(engines, e.Engine) })
	}
	p, lines := a.Progress(), a.Lines()
	defer p.Done()
	for i := range r.Rows {
		e := &r.Rows[i]
		p.Part(i, len(r.Rows))
		p.Update("%s on the %s of %s", e.Network, strings.ToUpper(e.Engine), e.SoC)
		mj, err := inferenceMJ(a, e)
		if err != nil {
			return fmt.Errorf("%s on %s: %w", e.Network, e.SoC, err)
		}
		e.Simulated(mj)
		if err := lines.Append(e); err != nil {
			return err
		}
	}
	p.Done()
	switch {
	case a.JSON:
		return a.PrintObject(&r)
	case markdown:
		return r.markdown(a.Out)
	}
	return r.text(a.Out)
}

// inferenceMJ is the mean energy of an inference in a loop, in mJ.
func inferenceMJ(a *cli.App, e *phones.Energy) (float64, error) {
	var changes []soc.Change
	if e.Threads > 0 {
		changes = append(changes, soc.Change{Key: "cpu.threads", Value: fmt.Sprint(e.Threads)})
	}
	c, err := machine.LoadNamed(a, e.SoC, changes...)
	if err != nil {
		return 0, err
	}
	m, err := machine.OpenConfig(a, c, hal.FastSingleAnswer)
	if err != nil {
		return 0, err
	}
	l, err := newRepeated(m, e.Network, e.Engine, false)
	if err != nil {
		return 0, err
	}
	x, err := l.run(false)
	if err != nil {
		return 0, err
	}
	return x.Energy / 1e3, nil
}

var energyHead = []string{"engine", "energy of", "phone", "preset", "published mJ", "ours", "ratio", "source", "the phone"}

// energyCells are a row of the table.
func energyCells(e *phones.Energy) []string {
	published, soc := significant(e.LeastMJ), e.SoC
	if e.MostMJ > e.LeastMJ {
		published += " to " + significant(e.MostMJ)
	}
	if e.Threads > 0 {
		soc += fmt.Sprintf(", %d thread", e.Threads)
	}
	return []string{e.Engine, e.Network, e.Phone, soc, published, significant(e.SimulatedMJ), fmt.Sprintf("%.2f", e.Ratio), e.Source, e.Remark}
}

func (r *energyReport) text(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, strings.Join(energyHead[:7], "\t"))
	for i := range r.Rows {
		fmt.Fprintln(t, strings.Join(energyCells(&r.Rows[i])[:7], "\t"))
	}
	return t.Flush()
}

// energyPage begins the part of docs/FIDELITY.md on energy.
const energyPage = `
## Energy

Energy of an inference by ` + "`nnsoc bench energy`" + `, in a loop, beside measured phones of the same kind of cores. The ratio is ours over the
nearest end of the published range, 1 inside it. No key of a preset was chosen by these figures. DSP and NPU have none: their power is
assumed (D-49, D-51, D-53, D-55).

`

func (r *energyReport) markdown(w io.Writer) error {
	_, err := fmt.Fprintf(w, "%s| %s |\n|%s\n", energyPage, strings.Join(energyHead, " | "), strings.Repeat("---|", len(energyHead)))
	for i := 0; i < len(r.Rows) && err == nil; i++ {
		_, err = fmt.Fprintf(w, "| %s |\n", strings.Join(energyCells(&r.Rows[i]), " | "))
	}
	return err
}
