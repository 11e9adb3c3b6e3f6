package verify

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/machine"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/internal/spelling"
	"github.com/nnsoc/nnsoc/testvectors/conformance"
	"github.com/nnsoc/nnsoc/testvectors/conformance/check"
)

// conformanceReport is the JSON object of conformance.
type conformanceReport struct {
	SchemaVersion int                 `json:"schema_version"`
	Passed        int                 `json:"passed"`
	Failed        int                 `json:"failed"`
	Skipped       int                 `json:"skipped"`
	Checks        []conformanceResult `json:"results"`
}

type conformanceResult struct {
	Check   string   `json:"check"`
	Rows    []string `json:"row_ids"`
	Device  string   `json:"device,omitempty"`
	Via     string   `json:"via,omitempty"`
	Result  string   `json:"result"` // passed, failed, skipped
	Details string   `json:"detail,omitempty"`
}

// NewConformance returns the command conformance.
func NewConformance(a *cli.App) *cobra.Command {
	var names, ways []string
	var markdown bool
	cmd := &cobra.Command{
		Use:   "conformance [ROW]...",
		Short: "prove the obligations of the NNAPI HAL and runtime on each device",
		Long: `conformance runs the checks that prove rows of the table of obligations, on every
device of the SoC and on Android's sample drivers, in process and through a process
boundary. ROW is the id of a row (A7-8), or the beginning of several (A10, E2); without ROW
all are run. docs/CONFORMANCE.md lists the rows and their checks. The exit code is 1 when a
check fails, and 2 when a row does not exist, has no check or concerns none of the devices.`,
		Example: "  nnsoc conformance A7-8\n  nnsoc conformance C5\n  nnsoc conformance A10 E1-14 --device dsp,sample_all --via service\n  nnsoc conformance --markdown",
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			var ids []string
			for _, r := range conformance.Rows() {
				ids = append(ids, r.ID)
			}
			return ids, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := cli.Exclude(cmd, "markdown", "json", "device", "via", "soc", "set", "driver", "drivers"); err != nil {
				return err
			}
			if markdown {
				if len(args) > 0 {
					return cli.Usage(fmt.Errorf("--markdown lists all rows, got %q", args[0]))
				}
				_, err := a.Out.Write(conformance.Markdown())
				return err
			}
			checks, err := chosenChecks(args)
			if err != nil {
				return cli.Usage(err)
			}
			m, err := machine.Open(a, hal.FastSingleAnswer)
			if err != nil {
				return err
			}
			list, stop, err := subjects(m, names, ways)
			if err != nil {
				return err
			}
			defer stop()
			return runConformance(a, checks, list)
		},
	}
	cmd.Flags().Var(cli.NameList{Names: &names, Once: false}, "device", "devices to check, of the SoC or sample drivers (default: all)")
	cmd.Flags().Var(cli.NameList{Names: &ways, Once: false}, "via", "ways to reach them: device (the driver), service (a process boundary) (default: both)")
	cmd.Flags().BoolVar(&markdown, "markdown", false, "print the table of rows and checks")
	machine.CompleteDevices(a, cmd)
	return cmd
}

// subject is a device and the way to it.
type subject struct {
	hal.Device
	via string
}

// subjects are the devices of a machine and the sample drivers, by name, each by several
// ways. stop ends the services among them.
func subjects(m *machine.Machine, names, ways []string) (list []subject, stop func(), err error) {
	samples, err := devices.Samples(m.Config, hal.FastSingleAnswer)
	if err != nil {
		return nil, nil, err
	}
	all := append(slices.Clone(m.Registry.Devices()), samples...)
	chosen := all
	if len(names) > 0 {
		chosen = nil
	}
	for _, name := range names {
		i := slices.IndexFunc(all, func(d hal.Device) bool { return d.Name() == name })
		if i < 0 {
			return nil, nil, cli.Usage(fmt.Errorf("no device %q; there are %s%s", name, strings.Join(namesOf(all), ", "), spelling.DidYouMean(name, namesOf(all))))
		}
		chosen = append(chosen, all[i])
	}
	if len(ways) == 0 {
		ways = []string{"device", "service"}
	}
	var ends []func()
	stop = func() {
		for _, end := range ends {
			end()
		}
	}
	for _, way := range ways {
		if way == "runtime" {
			err = cli.Usage(errors.New("--via runtime: the checks are of the HAL, want device or service"))
		}
		for _, d := range chosen {
			if err != nil {
				break
			}
			var there hal.Device
			var end func()
			if there, end, err = m.Through(way, d); err == nil {
				ends, list = append(ends, end), append(list, subject{there, way})
			}
		}
	}
	if err != nil {
		stop()
		return nil, nil, err
	}
	return list, stop, nil
}

func namesOf(list []hal.Device) (names []string) {
	for _, d := range list {
		names = append(names, d.Name())
	}
	return names
}

// chosenChecks are the checks of rows, all without one.
func chosenChecks(rows []string) ([]check.Check, error) {
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
	return slices.DeleteFunc(list, func(c check.Check) bool {
		return !slices.ContainsFunc(c.Rows, func(id string) bool {
			return slices.ContainsFunc(rows, func(row string) bool { return matches(id, row) })
		})
	}), nil
}

func runConformance(a *cli.App, checks []check.Check, subjects []subject) error {
	r := conformanceReport{SchemaVersion: cli.SchemaVersion, Checks: []conformanceResult{}}
	p := a.Progress()
	defer p.Done()
	for i, c := range checks {
		p.Part(i, len(checks))
		on := subjects
		if !c.EachDevice {
			on = []subject{{}}
		}
		for _, d := range on {
			x := conformanceResult{Check: c.Name, Rows: c.Rows, Result: "passed", Via: d.via}
			if d.Device != nil {
				x.Device = d.Name()
			}
			p.Update("%s %s %s", c.Name, x.Device, d.via)
			o := c.RunOn(d.Device)
			switch {
			case o.Err != nil:
				x.Result, x.Details = "failed", o.Err.Error()
				r.Failed++
			case o.Skipped != "":
				x.Result, x.Details = "skipped", o.Skipped
				r.Skipped++
			default:
				r.Passed++
			}
			r.Checks = append(r.Checks, x)
		}
	}
	p.Done()
	if a.JSON {
		if err := cli.PrintJSON(a.Out, r); err != nil {
			return err
		}
	} else {
		for _, x := range r.Checks {
			fmt.Fprintf(a.Out, "%-7s  %-17s  %-7s  %s (%s)\n", x.Result, x.Device, x.Via, x.Check, strings.Join(x.Rows, " "))
			if x.Details != "" {
				fmt.Fprintf(a.Out, "         %s\n", strings.ReplaceAll(x.Details, "\n", "\n         "))
			}
		}
		fmt.Fprintf(a.Out, "%d passed, %d failed, %d skipped\n", r.Passed, r.Failed, r.Skipped)
	}
	if r.Failed > 0 {
		return &cli.ExitError{Code: cli.ExitMismatch}
	}
	if r.Passed == 0 {
		return cli.Usage(errors.New("the rows concern none of these devices"))
	}
	return nil
}
