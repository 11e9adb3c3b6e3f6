package bench

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/bench/budget"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/machine"
	"github.com/nnsoc/nnsoc/internal/try"
)

// budgetFlags are the flags of bench budget.
type budgetFlags struct {
	repeat      int
	only        string
	check, wide bool
}

func newBenchBudget(a *cli.App) *cobra.Command {
	var f budgetFlags
	cmd := &cobra.Command{
		Use:   "budget",
		Short: "measure the simulator against its speed budget",
		Long: `budget measures the user CPU time of each task of the speed budget and of its
yardstick: the reference CPU, an execution of the same network, qemu-hexagon on
the same program where it is installed, a loop of portable Go, a copy of memory. All are
measured in every round, after one that is not counted; a row is the median of the rounds'
ratios, and met when that is at most its goal.

Hosts differ by AVX-512, which the reference gains more from than the devices do: it is off
unless --avx512 is given. --check ends with exit code 1 when a row is not met.`,
		Example: "  nnsoc bench budget --only npu\n  nnsoc bench budget --check --json",
		Args:    cli.NoArguments,
		RunE: func(*cobra.Command, []string) error {
			if f.repeat < 1 || f.repeat > 100 {
				return cli.Usage(fmt.Errorf("--repeat %d is not in 1..100", f.repeat))
			}
			c := try.V(machine.LoadSoC(a))
			program := try.V(exec.LookPath(os.Args[0]))
			args := []string{"--soc", a.SoC}
			for _, s := range a.Set {
				args = append(args, "--set", s)
			}
			if budget.Wide() && !f.wide {
				return f.narrow(a, program, args)
			}
			p := a.Progress()
			defer p.Done()
			r, err := budget.Measure(budget.Options{
				SoC: c, Rounds: f.repeat, Only: f.only, Program: program, Arguments: args,
				Progress: func(i, n int, what string) {
					if n > 0 {
						p.Part(i, n)
					}
					p.Update("%s", what)
				},
			})
			if err != nil {
				return cli.Usage(err)
			}
			r.SchemaVersion = cli.SchemaVersion
			p.Done()
			return f.print(a, r)
		},
	}
	fl := cmd.Flags()
	fl.IntVar(&f.repeat, "repeat", 5, "rounds of measurement")
	fl.StringVar(&f.only, "only", "", "only the rows whose work contains this `TEXT`")
	fl.BoolVar(&f.check, "check", false, "exit with 1 when a row is not met")
	fl.BoolVar(&f.wide, "avx512", false, "leave AVX-512 on")
	return cmd
}

// narrow measures in a separate process, which does not use AVX-512.
func (f *budgetFlags) narrow(a *cli.App, program string, args []string) error {
	if strings.Contains(os.Getenv("GODEBUG"), budget.NarrowSetting) {
		return fmt.Errorf("AVX-512 stays on in spite of GODEBUG=%s", os.Getenv("GODEBUG"))
	}
	args = append([]string{"bench", "budget", "--repeat", fmt.Sprint(f.repeat), "--only", f.only, fmt.Sprintf("--check=%v", f.check), fmt.Sprintf("--json=%v", a.JSON), fmt.Sprintf("--quiet=%v", a.Quiet)}, args...)
	c := exec.Command(program, args...)
	c.Env = append(os.Environ(), "GODEBUG="+strings.Trim(os.Getenv("GODEBUG")+","+budget.NarrowSetting, ","))
	c.Stdout, c.Stderr = a.Out, a.Err
	var status *exec.ExitError
	err := c.Run()
	if errors.As(err, &status) && status.ExitCode() > 0 {
		return &cli.ExitError{Code: status.ExitCode(), Err: nil} // which the process has explained
	}
	return err
}

func (f *budgetFlags) print(a *cli.App, r *budget.Report) error {
	if a.JSON {
		if err := cli.PrintJSON(a.Out, r); err != nil {
			return err
		}
	} else if err := printBudget(a, r); err != nil {
		return err
	}
	if missed := r.Missed(); f.check && len(missed) > 0 {
		return &cli.ExitError{Code: cli.ExitMismatch, Err: fmt.Errorf("%d of %d rows are not met: %s", len(missed), len(r.Rows), strings.Join(missed, ", "))}
	}
	return nil
}

func printBudget(a *cli.App, r *budget.Report) error {
	fmt.Fprintf(a.Out, "%s on %s, user CPU time, median of %d rounds:\n\n", r.SoC, r.Host, r.Rounds)
	t := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "work\tms\tagainst\tratio\tp10\tp90\tgoal\tmet")
	for i := range r.Rows {
		row := &r.Rows[i]
		against := strings.Join(row.Yardstick, " + ")
		if row.Skipped != "" {
			fmt.Fprintf(t, "%s\t-\t%s\t-\t-\t-\t%s\tskipped: %s\n", row.Work, against, significant(row.Goal), row.Skipped)
			continue
		}
		met := "yes"
		if !row.Met {
			met = "no"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", row.Work, significant(row.MS), against, significant(row.Ratio), significant(row.Low), significant(row.High), significant(row.Goal), met)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprint(a.Out, "\nyardsticks:\n\n")
	for _, y := range r.Yardsticks {
		fmt.Fprintf(t, "%s\t%s ms\n", y.Name, significant(y.MS))
	}
	return t.Flush()
}
