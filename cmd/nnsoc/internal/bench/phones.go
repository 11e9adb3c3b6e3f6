package bench

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/bench/phones"
	"github.com/nnsoc/nnsoc/bench/session"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/machine"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/sim/platform"
)

// phonesReport is the JSON object of bench phones.
type phonesReport struct {
	SchemaVersion int              `json:"schema_version"`
	Groups        []phones.Group   `json:"group_ratios"` // ours / published, by engine: all, by role, phone and class of network
	Order         phones.Order     `json:"order"`        // of the engines that ran the same network on the same phone
	Pairs         []phones.Pair    `json:"engine_pairs"`
	Rows          []phones.Row     `json:"rows"`
	LeftOut       []phones.LeftOut `json:"left_out"` // rows that cannot be compared, by reason
}

// phonesFlags are the flags of bench phones.
type phonesFlags struct {
	phones, engines []string
	dir             string
	limit           int
	markdown        bool
}

func newBenchPhones(a *cli.App) *cobra.Command {
	var f phonesFlags
	cmd := &cobra.Command{
		Use:   "phones",
		Short: "compare presets with published latencies of phones",
		Long: `phones runs the networks of published latencies in a loop, as "nnsoc run" does, on the preset of
each phone, and prints both, their ratio, and sums: medians, shares within 10 and 20 %, the range, by
role, phone and class of network; how often the faster of two engines is right, and speed-ups over the
CPU. Rows of role "fit" gave keys of a preset their values, those of role "check" did not.

--dir compares the tables of a folder instead, whose rows are "held". Columns tell what a table is:
  ` + strings.Join(phones.Layouts(), "\n  ") + `
Rows that cannot be compared are counted with the reason. On a GPU a network takes up to minutes.`,
		Example: "  nnsoc bench phones --phone 'Pixel 4' --engine cpu\n  nnsoc bench phones --dir held/ --json",
		Args:    cli.NoArguments,
		RunE:    func(*cobra.Command, []string) error { return benchPhones(a, &f) },
	}
	cli.PrintsLines(cmd, "rows[]")
	fl := cmd.Flags()
	fl.Var(cli.NameList{Names: &f.phones, Once: true}, "phone", "only these phones, such as 'Pixel 4' (default: all)")
	fl.Var(cli.NameList{Names: &f.engines, Once: true}, "engine", "only these engines: cpu, gpu, dsp, npu (default: all)")
	fl.StringVar(&f.dir, "dir", "", "compare the tables of this folder, *.tsv, instead of the public rows")
	fl.IntVar(&f.limit, "limit", 0, "compare at most so many rows of each phone's engine; 0 is all")
	fl.BoolVar(&f.markdown, "markdown", false, "print the tables of docs/FIDELITY.md")
	machine.AddCache(a, cmd)
	_ = cmd.MarkFlagDirname("dir")
	_ = cmd.RegisterFlagCompletionFunc("phone", cobra.FixedCompletions(phones.Names(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func benchPhones(a *cli.App, f *phonesFlags) (err error) {
	defer try.Catch(&err)
	if f.markdown && a.JSON {
		return cli.Usage(fmt.Errorf("--json and --markdown contradict each other"))
	}
	if f.limit < 0 {
		return cli.Usage(fmt.Errorf("--limit %d is negative", f.limit))
	}
	t, err := phoneTables(f.dir)
	if err != nil {
		return cli.Usage(err)
	}
	rows, err := f.selected(t.Rows)
	if err != nil {
		return cli.Usage(err)
	}
	p := a.Progress()
	defer p.Done()
	r := phonesReport{SchemaVersion: cli.SchemaVersion, LeftOut: t.LeftOut}
	r.Rows = try.V(simulatePhones(a, rows, t, p))
	r.LeftOut = t.LeftOut
	if r.LeftOut == nil {
		r.LeftOut = []phones.LeftOut{}
	}
	r.Groups, r.Pairs = phones.Groups(r.Rows), phones.Pairs(r.Rows)
	r.Order = phones.OrderOf(r.Pairs)
	p.Done()
	switch {
	case a.JSON:
		return a.PrintObject(&r)
	case f.markdown:
		return r.markdown(a.Out)
	}
	return r.text(a.Out)
}

// phoneTables are the public rows, or those of a folder.
func phoneTables(dir string) (*phones.Tables, error) {
	if dir == "" {
		return phones.Public()
	}
	t := &phones.Tables{}
	if err := t.Read(os.DirFS(dir)); err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	return t, nil
}

// selected are the rows that the flags ask for.
func (f *phonesFlags) selected(rows []phones.Row) ([]phones.Row, error) {
	for _, c := range []struct {
		what         string
		names, known []string
	}{{"phone", f.phones, distinct(rows, func(r *phones.Row) string { return r.Phone })}, {"engine", f.engines, []string{"cpu", "gpu", "dsp", "npu"}}} {
		if _, err := chosen(c.what, c.names, c.known); err != nil {
			return nil, err
		}
	}
	list, seen := []phones.Row{}, map[[2]string]int{}
	for _, r := range rows {
		if len(f.phones) > 0 && !slices.Contains(f.phones, r.Phone) || len(f.engines) > 0 && !slices.Contains(f.engines, r.Engine) {
			continue
		}
		key := [2]string{r.Phone, r.Engine}
		if seen[key]++; f.limit == 0 || seen[key] <= f.limit {
			list = append(list, r)
		}
	}
	return list, nil
}

// distinct are the names that rows have, in their order.
func distinct(rows []phones.Row, name func(*phones.Row) string) (l []string) {
	for i := range rows {
		if n := name(&rows[i]); !slices.Contains(l, n) {
			l = append(l, n)
		}
	}
	return l
}

// simulatePhones puts times beside the published ones, a preset after the other. What a preset refuses is left out and counted.
func simulatePhones(a *cli.App, rows []phones.Row, t *phones.Tables, p *cli.Progress) ([]phones.Row, error) {
	done, part, lines := []phones.Row{}, 0, a.Lines()
	add := func(r phones.Row) error {
		done = append(done, r)
		return lines.Append(&r)
	}
	preset := func(r *phones.Row) string { return r.SoC + " " + r.Library }
	for _, name := range distinct(rows, preset) {
		var m *machine.Machine
		known := map[string]*session.Invocations{}
		for _, r := range rows {
			if preset(&r) != name {
				continue
			}
			p.Part(part, len(rows))
			if part++; r.SimulatedMS > 0 { // priced with some cores of the CPU
				if err := add(r); err != nil {
					return nil, err
				}
				continue
			}
			if m == nil {
				c, err := machine.LoadNamed(a, r.SoC)
				if err != nil {
					return nil, err
				}
				if r.Library != "" {
					c.CPU.Library = r.Library
				}
				if m, err = machine.OpenConfig(a, c, hal.FastSingleAnswer); err != nil {
					return nil, err
				}
			}
			what := fmt.Sprintf("%s on the %s of %s", r.Network, strings.ToUpper(r.Engine), r.Phone)
			if _, err := m.Registry.Find(r.Engine); err != nil {
				t.LeaveOut(what, "preset %s has no %s", r.SoC, strings.ToUpper(r.Engine))
				continue
			}
			key := fmt.Sprintf("%s %s %v", r.Engine, r.Runs(), r.Relaxed())
			x, ok := known[key]
			if !ok {
				p.Update("%s", what)
				l, err := newRepeated(m, r.Runs(), r.Engine, r.Relaxed())
				if err != nil {
					t.LeaveOut(what, "%v", err)
					continue
				}
				if x, err = l.run(false); err != nil {
					return nil, fmt.Errorf("%s: %w", what, err)
				}
				known[key] = x
			}
			us := x.MeanUS
			if r.Measure == phones.Kernels {
				us = x.Parts[platform.PartExecution]
			}
			r.Simulated(us / 1e3)
			if err := add(r); err != nil {
				return nil, err
			}
		}
	}
	return done, nil
}

func (r *phonesReport) text(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "phone\tpreset\tengine\tnetwork\tclass\tin\tmeasure\trole\tpublished ms\tours\tratio")
	for i := range r.Rows {
		x := &r.Rows[i]
		engine := x.Engine
		if x.Cores != "" {
			engine += " (" + x.Cores + ")"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%.2f\n", x.Phone, x.SoC, engine, x.Network, x.Class, x.Arithmetic, x.Measure, x.Role, significant(x.PublishedMS),
			significant(x.SimulatedMS), x.Ratio)
	}
	fmt.Fprintln(t)
	fmt.Fprintln(t, strings.Join(groupHead, "\t"))
	for i := range r.Groups {
		fmt.Fprintln(t, strings.Join(groupCells(&r.Groups[i]), "\t"))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	r.reasons(w)
	fmt.Fprintf(w, "\n%s\n", r.order())
	for _, p := range r.Pairs {
		if !p.Right {
			fmt.Fprintf(w, "  %s on %s: %s over %s is %.2f, published %.2f\n", p.Network, p.Phone, p.Second, p.First, p.Simulated, p.Published)
		}
	}
	for _, s := range r.LeftOut {
		fmt.Fprintf(w, "left out: %d rows, such as %s: %s\n", s.Rows, s.First, s.Reason)
	}
	return nil
}

// reasons says why rows differ by more than the bar of their engine.
func (r *phonesReport) reasons(w io.Writer) {
	for i, x := range phones.ReasonsOf(r.Rows) {
		if i == 0 {
			fmt.Fprint(w, "\nWhy rows differ by more than 15 % on a CPU, 30 on a GPU, 40 on another engine:\n\n")
		}
		fmt.Fprintf(w, "* %s, %s, %s: %s\n", x.Engine, x.Phone, strings.Join(x.Networks, ", "), cmp.Or(x.Why, "no reason is known"))
	}
}

// order says how often the faster engine is right, and what speed-ups are.
func (r *phonesReport) order() string {
	s := fmt.Sprintf("the faster of two engines is right in %.0f %% of %d pairs", 100*r.Order.Right, r.Order.Pairs)
	for _, engine := range []string{"gpu", "dsp", "npu"} {
		if x, ok := r.Order.Speedup[engine]; ok {
			s += fmt.Sprintf("; speed-up of the %s over the CPU, median of ours / published: %.2f", strings.ToUpper(engine), x)
		}
	}
	return s
}

var groupHead = []string{"engine", "measure", "rows of", "rows", "median of ours / published", "within 10 %", "within 20 %", "least to largest"}

// groupCells are a row of the sums.
func groupCells(g *phones.Group) []string {
	return []string{g.Engine, g.Measure, g.Of(), fmt.Sprint(g.Rows), fmt.Sprintf("%.2f", g.Median), fmt.Sprintf("%.0f %%", 100*g.Within10), fmt.Sprintf("%.0f %%", 100*g.Within20),
		fmt.Sprintf("%.2f to %.2f", g.Low, g.High)}
}

// phonesPage begins the phones' part of docs/FIDELITY.md.
const phonesPage = `
## Phones

Ratios of the public rows of phones, ours / published, by ` + "`nnsoc bench phones`" + `, which prints each row and compares the GPUs
too (` + "`--engine gpu`" + `, up to minutes a network); ` + "`--dir`" + ` compares tables that a reader keeps aside. Presets are of one construction: ` + "`pixel3`" + `
(Snapdragon 845) and ` + "`rb5`" + ` (865) are ` + "`pixel4`" + ` but for what their variants name, ` + "`rb3gen2`" + ` (QCS6490) is ` + "`sd888`" + ` without Cortex-X1.
Classes are of the structure of networks. Rows of RB5's and RB3 Gen 2's CPU are ONNX Runtime's, and so is the model's way to compute them (` + "`cpu.library`" + `, D-2701).

`

// markdown prints the sums as docs/FIDELITY.md has them.
func (r *phonesReport) markdown(w io.Writer) error {
	fmt.Fprintf(w, "%s| %s |\n|%s\n", phonesPage, strings.Join(groupHead, " | "), strings.Repeat("---|", len(groupHead)))
	for i := range r.Groups {
		fmt.Fprintf(w, "| %s |\n", strings.Join(groupCells(&r.Groups[i]), " | "))
	}
	r.reasons(w)
	if _, err := fmt.Fprintf(w, "\nOrder of engines: %s.\n", r.order()); err != nil {
		return err
	}
	for i, s := range r.LeftOut {
		if i == 0 {
			fmt.Fprint(w, "\nLeft out:\n\n")
		}
		if _, err := fmt.Fprintf(w, "* %d rows, such as %s: %s\n", s.Rows, s.First, s.Reason); err != nil {
			return err
		}
	}
	return nil
}
