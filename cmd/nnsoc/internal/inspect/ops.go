package inspect

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/input"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/machine"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/importer/vectors"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/testvectors"
)

// OpsReport is the JSON object of ops.
type OpsReport struct {
	SchemaVersion int      `json:"schema_version"`
	Devices       []string `json:"device_names"`
	Rows          []opsRow `json:"rows"`
	// Rules are the tables of the devices, operations of a family and their types together.
	Rules []deviceRules `json:"device_rules"`
	files []*vectors.File
}

type opsRow struct {
	Operation string         `json:"operation"`
	Type      string         `json:"type"`
	Since     string         `json:"since"`
	Cases     int            `json:"cases"`
	Passed    map[string]int `json:"passed_by_device"`
	// Actions is the entry in the table of each device that has one: legal, expand, widen or refuse.
	Actions map[string]string `json:"actions"`
}

// NewOps returns the command ops.
func NewOps(a *cli.App) *cobra.Command {
	var devices []string
	var markdown, rules bool
	cmd := &cobra.Command{
		Use:   "ops [PATH...]",
		Short: "print operations by type, HAL version and device",
		Long: `ops prints a row for every operation and key type that NNAPI allows: the HAL version
that added it and, with PATHs of test vectors as for vts, the cases that contain
it and how many pass on each device. Without PATHs it prints the action of each device's table:
legal, expand to other operations, widen to another type, or refused (-); ? is
a device without a table.
With --rules it prints these tables: the rules that operations must keep, and why others are
refused. docs/OPERATIONS.md is its output over the public corpus (nnapi).`,
		Example: "  nnsoc ops\n  nnsoc ops --rules --device npu\n  nnsoc ops nnapi --markdown > docs/OPERATIONS.md\n  nnsoc ops nnapi --device npu --json",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := cli.Exclude(cmd, "markdown", "rules", "json"); err != nil {
				return err
			}
			if rules && len(args) > 0 {
				return cli.Usage(fmt.Errorf("--rules prints tables and runs no cases, got %q", args[0]))
			}
			m, err := machine.Open(a, hal.FastSingleAnswer)
			if err != nil {
				return err
			}
			show := a.Progress()
			defer show.Done()
			r := OpsReport{SchemaVersion: cli.SchemaVersion}
			var list []hal.Device
			names, err := m.Choose(devices)
			if err != nil {
				return err
			}
			for _, name := range names {
				d, err := m.Find(name)
				if err != nil {
					return cli.Usage(err)
				}
				list = append(list, d)
			}
			if len(args) > 0 {
				r.files, err = input.ReadAllSpecs(args, show)
				if err != nil {
					return err
				}
				if !slices.ContainsFunc(r.files, func(f *vectors.File) bool { return len(f.Cases) > 0 }) {
					return cli.Usage(fmt.Errorf("%s: no case", strings.Join(args, ", ")))
				}
			}
			r.Rules = rulesOf(list)
			takes := actionsOf(list)
			r.Devices = []string{}
			for _, d := range list {
				r.Devices = append(r.Devices, d.Name())
			}
			run := list
			if len(args) == 0 {
				run = nil
			}
			step := -1
			for _, c := range testvectors.Cover(run, r.files, func(device string, done, total int) {
				if s := 10 * done / total; s != step {
					step = s
					show.Update("%s: %d of %d cases", device, done, total)
				}
			}) {
				row := opsRow{c.Operation.String(), c.Type.String(), c.Since.String(), c.Cases, map[string]int{}, takes[typedOperation{c.Operation, c.Type}]}
				for i, n := range c.Passed {
					row.Passed[r.Devices[i]] = n
				}
				r.Rows = append(r.Rows, row)
			}
			show.Done()
			switch {
			case a.JSON:
				return cli.PrintJSON(a.Out, r)
			case markdown:
				return r.markdown(a.Out)
			case rules:
				return r.writeRules(a.Out)
			}
			return r.text(a.Out)
		},
	}
	cmd.Flags().Var(cli.NameList{Names: &devices, Once: true}, "device", "devices to run PATHs on (default: all)")
	cmd.Flags().BoolVar(&markdown, "markdown", false, "print a Markdown document")
	cmd.Flags().BoolVar(&rules, "rules", false, "print what the table of each device accepts by which rules, and why it refuses the rest")
	machine.CompleteDevices(a, cmd)
	return cmd
}

// cells are the columns of a row after operation and type.
func (r *OpsReport) cells(row *opsRow) []string {
	c := []string{row.Since}
	if len(r.files) == 0 {
		for _, d := range r.Devices {
			c = append(c, short(row.Actions[d]))
		}
		return c
	}
	c = append(c, fmt.Sprint(row.Cases))
	for _, d := range r.Devices {
		n := "-"
		if row.Passed[d] > 0 {
			n = fmt.Sprint(row.Passed[d])
		}
		c = append(c, n)
	}
	return c
}

func (r *OpsReport) head() []string {
	h := []string{"operation", "type", "HAL"}
	if len(r.files) > 0 {
		h = append(h, "cases")
	}
	return append(h, r.Devices...)
}

func (r *OpsReport) text(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, strings.Join(r.head(), "\t"))
	for i := range r.Rows {
		row := &r.Rows[i]
		fmt.Fprintln(t, strings.Join(append([]string{row.Operation, row.Type}, r.cells(row)...), "\t"))
	}
	return t.Flush()
}

func (r *OpsReport) markdown(w io.Writer) error {
	fmt.Fprintf(w, "# Operations\n\nEvery operation and key type of NNAPI HAL 1.0 to 1.3 and of the feature levels (FL) above it, the version that added it, the\ncases of the test-vector corpus that contain it and how many of those each device runs and passes on its own. Written by\n`nnsoc ops PATH --markdown` (`make docs`). Below, what the table of each driver takes, by which rules, and why not\n(a refusal is worded OPERATION: value; rule).\n\n")
	h := r.head()
	fmt.Fprintf(w, "| %s |\n|%s\n", strings.Join(h, " | "), strings.Repeat("---|", len(h)))
	for i := range r.Rows {
		row := &r.Rows[i]
		name := row.Operation
		if i > 0 && r.Rows[i-1].Operation == name {
			name = ""
		}
		if _, err := fmt.Fprintf(w, "| %s |\n", strings.Join(append([]string{name, ShortType(row.Type)}, r.cells(row)...), " | ")); err != nil {
			return err
		}
	}
	return r.rulesMarkdown(w)
}

// ShortType drops the prefix that all tensor types share.
func ShortType(name string) string {
	if t, ok := nn.ParseOperandType(name); ok && !t.IsScalar() {
		return strings.TrimPrefix(name, "TENSOR_")
	}
	return name
}
