package workbench

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/bench/glossary"
	"github.com/nnsoc/nnsoc/bench/report"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
)

// percentFlag accepts a number of percent, with or without the sign; below 0 is none.
type percentFlag float64

// String implements pflag.Value.
func (p *percentFlag) String() string {
	if *p < 0 {
		return ""
	}
	return strconv.FormatFloat(float64(*p), 'g', -1, 64) + "%"
}

// Type implements pflag.Value.
func (p *percentFlag) Type() string { return "percent" }

// Set implements pflag.Value.
func (p *percentFlag) Set(s string) error {
	x, err := strconv.ParseFloat(strings.TrimSuffix(s, "%"), 64)
	if err != nil || !(x >= 0 && x <= 1e6) {
		return fmt.Errorf("want a number of percent, such as 2%%")
	}
	*p = percentFlag(x)
	return nil
}

type diffFlags struct {
	failAbove percentFlag
	format    string
	all       bool
}

// shownOperations is the number that diff prints unless told to print all.
const shownOperations = 20

// NewDiff returns the command diff.
func NewDiff(a *cli.App) *cobra.Command {
	f := &diffFlags{failAbove: -1}
	cmd := &cobra.Command{
		Use:   "diff BEFORE.json AFTER.json",
		Short: "show what changed between two runs, operation by operation",
		Long: `diff compares two files that "nnsoc run --json" wrote: the same network on two SoCs, or
before and after a change of a lowering. For each device that both have run it prints what
changed in latency, energy and their parts, which operations changed, and the reasons
(stalls, traffic) that explain most of each change. Of two networks it pairs the operations
that both have.

With --fail-above 2% it ends with exit code 1 when a latency or an energy has gone up by
more. --format benchstat prints both in Go's benchmark format: benchstat -col /side.`,
		Example: "  nnsoc run --device npu --json > before.json\n  nnsoc diff before.json after.json --fail-above 2%",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 {
				return cli.Usage(fmt.Errorf("%s needs exactly two files, got %d arguments", cmd.CommandPath(), len(args)))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return runDiff(a, f, args) },
	}
	fl := cmd.Flags()
	fl.Var(&f.failAbove, "fail-above", "exit with 1 when a latency or an energy has gone up by more percent")
	fl.StringVar(&f.format, "format", "text", "text or benchstat")
	fl.BoolVar(&f.all, "all", false, fmt.Sprintf("print all operations that changed, not only %d", shownOperations))
	return cmd
}

// diffReport is the JSON object of diff.
type diffReport struct {
	SchemaVersion int `json:"schema_version"`
	report.Diff
}

// readReport reads a file of "run --json".
func readReport(path string) (*report.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, cli.Usage(err)
	}
	defer f.Close()
	r, err := report.Read(path, f)
	return r, cli.Usage(err)
}

func runDiff(a *cli.App, f *diffFlags, args []string) error {
	if f.format != "text" && f.format != "benchstat" {
		return cli.Usage(fmt.Errorf("unknown --format %q; there are text, benchstat", f.format))
	}
	if a.JSON && f.format != "text" {
		return cli.Usage(fmt.Errorf("--json and --format %s contradict each other", f.format))
	}
	if f.all && (a.JSON || f.format != "text") {
		return cli.Usage(errors.New("--all does nothing with --json and --format benchstat, which have all operations or none"))
	}
	before, err := readReport(args[0])
	if err != nil {
		return err
	}
	after, err := readReport(args[1])
	if err != nil {
		return err
	}
	d, err := report.Compare(before, after)
	if err != nil {
		return cli.Usage(fmt.Errorf("%s and %s: %w", args[0], args[1], err))
	}
	switch {
	case a.JSON:
		err = cli.PrintJSON(a.Out, diffReport{cli.SchemaVersion, *d})
	case f.format == "benchstat":
		if err = report.WriteBenchmarks(a.Out, before, "before"); err == nil {
			err = report.WriteBenchmarks(a.Out, after, "after")
		}
	default:
		err = printDiff(a, d, f.all)
	}
	if err != nil {
		return err
	}
	if p, what := d.Worst(); f.failAbove >= 0 && p > float64(f.failAbove) {
		return &cli.ExitError{Code: cli.ExitMismatch, Err: fmt.Errorf("%s went up by %.2f %%, more than %v", what, p, &f.failAbove)}
	}
	return nil
}

// signed is a difference in percent.
func signed(c report.Change) string {
	p := c.Percent()
	if math.IsInf(p, 0) {
		return "new"
	}
	return fmt.Sprintf("%+.2f %%", p)
}

func printDiff(a *cli.App, d *report.Diff, all bool) error {
	w := a.Out
	name := d.Model
	if d.Other != "" {
		name += " -> " + d.Other
	}
	machine := d.Before
	if d.After != d.Before {
		machine += " -> " + d.After
	}
	fmt.Fprintf(w, "%s on %s\n\n", name, machine)
	for i := range d.Runs {
		text := cli.Wrap(changed(&d.Runs[i]))
		switch p := d.Runs[i].LatencyUS.Percent(); {
		case p <= -unchanged:
			text = a.Style().Good(text)
		case p >= unchanged:
			text = a.Style().Bad(text)
		}
		fmt.Fprintln(w, text)
	}
	fmt.Fprintln(w)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "device\tlatency us\tbefore\tchange\tenergy uJ\tbefore\tchange\tstatus\t")
	for i := range d.Runs {
		r := &d.Runs[i]
		status := r.Status[1]
		if r.Status[0] != status {
			status = r.Status[0] + " -> " + status
		}
		fmt.Fprintf(t, "%s\t%.1f\t%.1f\t%s\t%.1f\t%.1f\t%s\t%s\t\n", r.Device, r.LatencyUS.After, r.LatencyUS.Before, signed(r.LatencyUS),
			r.EnergyUJ.After, r.EnergyUJ.Before, signed(r.EnergyUJ), status)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if len(d.Only) > 0 {
		fmt.Fprintf(w, "\nonly in one of the two: %s\n", strings.Join(d.Only, ", "))
	}
	for i := range d.Runs {
		if err := printRunDiff(w, &d.Runs[i], all); err != nil {
			return err
		}
	}
	return nil
}

// unchanged is the change in percent below which a figure is the same.
const unchanged = 0.05

// changed says in a sentence how much faster and frugal a device has become, and which stall reason has most of that.
func changed(r *report.RunDiff) string {
	word := func(c report.Change, less, more string) string {
		switch p := c.Percent(); {
		case math.Abs(p) < unchanged:
			return "the same"
		case math.IsInf(p, 0):
			return "new"
		case p < 0:
			return fmt.Sprintf("%.1f %% %s", -p, less)
		default:
			return fmt.Sprintf("%.1f %% %s", p, more)
		}
	}
	text := fmt.Sprintf("%s: latency %s, energy %s", r.Device, word(r.LatencyUS, "less", "more"), word(r.EnergyUJ, "less", "more"))
	reasons := map[string]float64{}
	for i := range r.Operations {
		for _, x := range r.Operations[i].Explain() {
			reasons[x.Reason] += x.US.Delta()
		}
	}
	most := ""
	for _, name := range slices.Sorted(maps.Keys(reasons)) {
		if most == "" || math.Abs(reasons[name]) > math.Abs(reasons[most]) {
			most = name
		}
	}
	if math.Abs(reasons[most]) >= 0.05 {
		text += fmt.Sprintf("; of its operations most by %s, %+.1f us (%s)", most, reasons[most], glossary.ClassOf(glossary.Reason, most))
	}
	return text + "."
}

func printRunDiff(w io.Writer, r *report.RunDiff, all bool) error {
	for _, x := range []struct {
		what string
		list map[string]report.Change
		unit string
	}{{"parts of the latency", r.Parts, " us"}, {"memory", r.Counters, ""}} {
		if len(x.list) == 0 {
			continue
		}
		names := slices.Sorted(maps.Keys(x.list))
		slices.SortStableFunc(names, func(a, b string) int {
			return cmp.Compare(math.Abs(x.list[b].Delta()), math.Abs(x.list[a].Delta()))
		})
		fmt.Fprintf(w, "\n%s, %s:", r.Device, x.what)
		for i, name := range names {
			if i > 0 {
				fmt.Fprint(w, ",")
			}
			fmt.Fprintf(w, " %s %+.1f%s", name, x.list[name].Delta(), x.unit)
		}
		fmt.Fprintln(w)
	}
	if len(r.Events) > 0 {
		fmt.Fprintf(w, "\n%s, counters: %s\n", r.Device, strings.Join(counted(r.Events, shownCounters, all), ", "))
	}
	if len(r.Operations) == 0 {
		fmt.Fprintf(w, "\n%s: no operation changed\n", r.Device)
		return nil
	}
	shown := r.Operations
	if !all {
		shown = shown[:min(shownOperations, len(shown))]
	}
	fmt.Fprintf(w, "\n%s: operations that changed: %d, that did not: %d\n", r.Device, len(r.Operations), r.Same)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "  #\toperation\toutput\tus\tbefore\tchange us\tenergy uJ\tbecause")
	for i := range shown {
		o := &shown[i]
		index, output := "-", ""
		if o.Index >= 0 {
			index, output = fmt.Sprint(o.Index), fmt.Sprint(o.Output)
		}
		fmt.Fprintf(t, "  %s\t%s\t%s\t%.1f\t%.1f\t%+.1f\t%+.1f\t%s\n", index, o.Type, output, o.TimeUS.After, o.TimeUS.Before, o.TimeUS.Delta(), o.EnergyUJ.Delta(), because(o))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if n := len(r.Operations) - len(shown); n > 0 {
		fmt.Fprintf(w, "  and %d more (--all)\n", n)
	}
	return nil
}

// because is the explanation of an operation's change.
func because(o *report.OperationDiff) string {
	var list []string
	switch {
	case o.Where[0] == "":
		list = append(list, "new")
	case o.Where[1] == "":
		list = append(list, "gone")
	case o.Where[0] != o.Where[1]:
		list = append(list, o.Where[0]+" -> "+o.Where[1])
	}
	for _, w := range o.Explain() {
		list = append(list, fmt.Sprintf("%s %+.1f us", w.Reason, w.US.Delta()))
	}
	if b := o.DRAMBytes.Delta(); b != 0 {
		list = append(list, fmt.Sprintf("DRAM %+.0f bytes", b))
	}
	other := slices.DeleteFunc(slices.Clone(o.Counters), func(c report.CounterChange) bool { return strings.HasPrefix(c.Name, "dram_") })
	return strings.Join(append(list, counted(other, operationCounters, false)...), ", ")
}

// Counters that are shown of a run and of an operation, those of the largest change.
const (
	shownCounters     = 8
	operationCounters = 2
)

// counted are the largest changes of counters, or all.
func counted(list []report.CounterChange, n int, all bool) (texts []string) {
	for i, c := range list {
		if i == n && !all {
			break
		}
		change := signed(c.Count)
		if c.Count.Before == 0 {
			change = fmt.Sprintf("0 -> %.0f", c.Count.After)
		}
		texts = append(texts, c.Name+" "+change)
	}
	return texts
}
