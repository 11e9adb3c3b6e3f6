package mlts

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/bench/mlts"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/machine"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/internal/try"
)

// listReport is the JSON object of mlts list.
type listReport struct {
	SchemaVersion int          `json:"schema_version"`
	SoC           string       `json:"soc"`
	Models        []mlts.Entry `json:"models"`
}

func newList(a *cli.App) *cobra.Command {
	var f modelFlags
	cmd := &cobra.Command{
		Use:   "list",
		Short: "list models, their missing files, and what each accelerator supports",
		Long: `list shows the models of a models list, or the built-in ones: their test sets and
evaluators, which files are missing, how many operations each accelerator supports, and why
not the first that it refuses.`,
		Example: "  nnsoc mlts list\n  nnsoc mlts list --models models_list/speech.json --json",
		Args:    cli.NoArguments,
		RunE: func(*cobra.Command, []string) error {
			var all []string
			for _, m := range mlts.Builtin().Models {
				all = append(all, m.Name)
			}
			l := try.V(f.list(all))
			m := try.V(machine.Open(a, hal.FastSingleAnswer))
			r := &listReport{SchemaVersion: cli.SchemaVersion, SoC: m.Config.SoC.Name, Models: l.Describe(m.Registry.Devices()[1:])}
			if a.JSON {
				return cli.PrintJSON(a.Out, r)
			}
			return r.text(a.Out)
		},
	}
	f.add(cmd, "all built-in ones")
	return cmd
}

// refusal is why a device does not support an operation of models.
type refusal struct {
	device string
	first  string // model, and the operation of it
	why    string
	models int
}

func (r *listReport) text(out io.Writer) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "model\tinputs\tevaluator\toperations")
	for i := range r.Models {
		if ds := r.Models[i].Devices; len(ds) > 0 {
			for _, d := range ds {
				fmt.Fprintf(t, "\t%s", d.Device)
			}
			break
		}
	}
	fmt.Fprintln(t)
	var notes []string
	refused := map[string]*refusal{}
	var order []*refusal
	for i := range r.Models {
		e := &r.Models[i]
		evaluator := e.Evaluator
		evaluator = cmp.Or(evaluator, "-")
		fmt.Fprintf(t, "%s\t%d\t%s\t%d", e.Name, e.TestSet, evaluator, e.Operations)
		for _, d := range e.Devices {
			fmt.Fprintf(t, "\t%d", d.Supported)
			if d.Reason != "" {
				where, why := "", d.Reason
				if i := strings.LastIndex(d.Reason, ": "); i >= 0 {
					where, why = ", "+d.Reason[:i], d.Reason[i+2:]
				}
				key := d.Device + ": " + why
				if refused[key] == nil {
					refused[key] = &refusal{device: d.Device, first: e.Name + where, why: why}
					order = append(order, refused[key])
				}
				refused[key].models++
			}
		}
		fmt.Fprintln(t)
		switch {
		case len(e.Missing) > 0:
			notes = append(notes, fmt.Sprintf("%s: missing %s", e.Name, strings.Join(e.Missing, ", ")))
		case e.Problem != "":
			notes = append(notes, fmt.Sprintf("%s: %s", e.Name, e.Problem))
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, x := range order {
		others := ""
		if x.models > 1 {
			others = fmt.Sprintf(" and %d more", x.models-1)
		}
		notes = append(notes, fmt.Sprintf("%s refuses operations of %s%s: %s", x.device, x.first, others, x.why))
	}
	for i, n := range notes {
		if i == 0 {
			fmt.Fprintln(out)
		}
		fmt.Fprintln(out, n)
	}
	return nil
}
