package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/testvectors/conformance"
)

type conformanceReport struct {
	SchemaVersion int                 `json:"schema_version"`
	Passed        int                 `json:"passed"`
	Failed        int                 `json:"failed"`
	Checks        []conformanceResult `json:"checks"`
}

type conformanceResult struct {
	Check   string   `json:"check"`
	Rows    []string `json:"rows"`
	Device  string   `json:"device,omitempty"`
	Result  string   `json:"result"` // passed, failed, skipped
	Details string   `json:"details,omitempty"`
}

func newConformance(a *app) *cobra.Command {
	var devices []string
	var markdown bool
	cmd := &cobra.Command{
		Use:   "conformance [ROW]...",
		Short: "prove the obligations of the NNAPI HAL on each device",
		Long: `conformance runs the checks that prove rows of the table of HAL obligations, on every
device of the SoC. ROW is the id of a row (A7-8), or the beginning of several (A10, E2);
without ROW all are run. docs/CONFORMANCE.md lists the rows and their checks.`,
		Example: "  nnsoc conformance A7-8\n  nnsoc conformance A10 E1-14 --device dsp\n  nnsoc conformance --markdown",
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			var ids []string
			for _, r := range conformance.Rows() {
				ids = append(ids, r.ID)
			}
			return ids, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if markdown {
				if len(args) > 0 {
					return usage(fmt.Errorf("--markdown lists all rows, got %q", args[0]))
				}
				_, err := a.out.Write(conformance.Markdown())
				return err
			}
			checks, err := chosenChecks(args)
			if err != nil {
				return usage(err)
			}
			m, err := a.machine(hal.FastSingleAnswer)
			if err != nil {
				return err
			}
			names, err := m.choose(devices)
			if err != nil {
				return err
			}
			var list []hal.Device
			for _, name := range names {
				d, err := m.registry.Find(name)
				if err != nil {
					return usage(err)
				}
				list = append(list, d)
			}
			return a.conformance(checks, list)
		},
	}
	cmd.Flags().Var(nameList{&devices, false}, "device", "devices to check (default: all)")
	cmd.Flags().BoolVar(&markdown, "markdown", false, "print the table of rows and checks")
	completeDevices(a, cmd)
	return cmd
}

// chosenChecks are the checks of rows, all without one.
func chosenChecks(rows []string) ([]conformance.Check, error) {
	matches := func(id, row string) bool {
		rest, ok := strings.CutPrefix(id, row)
		return ok && (rest == "" || rest[0] == '-' || len(row) == 1)
	}
	for _, row := range rows {
		i := slices.IndexFunc(conformance.Rows(), func(r conformance.Row) bool { return matches(r.ID, row) })
		if i < 0 {
			return nil, fmt.Errorf("no row %q; docs/CONFORMANCE.md lists them", row)
		}
		if r := conformance.Rows()[i]; r.ID == row && r.NotApplicable != "" {
			return nil, fmt.Errorf("row %s has no check: %s", row, r.NotApplicable)
		}
	}
	list := conformance.Checks()
	if len(rows) == 0 {
		return list, nil
	}
	return slices.DeleteFunc(list, func(c conformance.Check) bool {
		return !slices.ContainsFunc(c.Rows, func(id string) bool {
			return slices.ContainsFunc(rows, func(row string) bool { return matches(id, row) })
		})
	}), nil
}

func (a *app) conformance(checks []conformance.Check, devices []hal.Device) error {
	r := conformanceReport{SchemaVersion: schemaVersion, Checks: []conformanceResult{}}
	p := a.progress()
	defer p.done()
	for _, c := range checks {
		on := devices
		if !c.EachDevice {
			on = []hal.Device{nil}
		}
		for _, d := range on {
			x := conformanceResult{Check: c.Name, Rows: c.Rows, Result: "passed"}
			if d != nil {
				x.Device = d.Name()
			}
			p.say("%s %s", c.Name, x.Device)
			o := c.RunOn(d)
			switch {
			case o.Err != nil:
				x.Result, x.Details = "failed", o.Err.Error()
				r.Failed++
			case o.Skipped != "":
				x.Result, x.Details = "skipped", o.Skipped
			default:
				r.Passed++
			}
			r.Checks = append(r.Checks, x)
		}
	}
	p.done()
	if a.json {
		if err := printJSON(a.out, r); err != nil {
			return err
		}
	} else {
		for _, x := range r.Checks {
			fmt.Fprintf(a.out, "%-7s  %-4s  %s (%s)\n", x.Result, x.Device, x.Check, strings.Join(x.Rows, " "))
			if x.Details != "" {
				fmt.Fprintf(a.out, "         %s\n", strings.ReplaceAll(x.Details, "\n", "\n         "))
			}
		}
		fmt.Fprintf(a.out, "%d passed, %d failed\n", r.Passed, r.Failed)
	}
	if r.Failed > 0 {
		return &exitError{code: exitMismatch}
	}
	return nil
}
