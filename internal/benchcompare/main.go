// Command benchcompare measures the speed budget of two commits and names the works that got slower by a fifth.
//
// It builds the command of a base commit, in a copy of its files, and that of this folder, and runs their budgets
// alternately. A host that is busy slows both down; each row is the median of the rounds' ratios.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"text/tabwriter"

	"github.com/nnsoc/nnsoc/bench/budget"
	"github.com/nnsoc/nnsoc/internal/try"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run returns the exit code: 1 when a work got slower, 2 for wrong usage, 3 when building or measuring fails.
func run(args []string, stdout, stderr io.Writer) int {
	f := flag.NewFlagSet("benchcompare", flag.ContinueOnError)
	f.SetOutput(stderr)
	var (
		base   = f.String("base", "", "commit to compare with")
		rounds = f.Int("rounds", 3, "how often each build measures")
		only   = f.String("only", "", "only the works whose name contains this text")
	)
	f.Usage = func() {
		fmt.Fprint(stderr, "usage: go run ./internal/benchcompare -base COMMIT [flags], in the root of the module\n\nexample: go run ./internal/benchcompare -base HEAD~1 -only npu:\n\n")
		f.PrintDefaults()
	}
	if err := f.Parse(args); err != nil {
		return 2
	}
	if *base == "" || *rounds < 1 || f.NArg() > 0 {
		f.Usage()
		return 2
	}
	dir, err := os.MkdirTemp("", "benchcompare")
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 3
	}
	defer os.RemoveAll(dir)
	builds := []string{filepath.Join(dir, "base"), filepath.Join(dir, "new")}
	if err := buildCommit(*base, dir, builds[0]); err != nil {
		fmt.Fprintln(stderr, "benchcompare:", err)
		return 2
	}
	if err := command(".", "go", "build", "-o", builds[1], "./cmd/nnsoc"); err != nil {
		fmt.Fprintln(stderr, "benchcompare:", err)
		return 3
	}
	changes, err := measure(builds, *rounds, *only, stderr)
	if err != nil {
		fmt.Fprintln(stderr, "benchcompare:", err)
		return 3
	}
	return report(stdout, *base, changes)
}

// buildCommit builds the command of a commit from its files alone.
func buildCommit(commit, dir, program string) (err error) {
	defer try.Catch(&err)
	source := filepath.Join(dir, "source")
	try.E(os.Mkdir(source, 0o755))
	archive := filepath.Join(dir, "source.tar")
	try.E(command(".", "git", "archive", "-o", archive, commit))
	try.E(command(source, "tar", "xf", archive))
	return command(source, "go", "build", "-buildvcs=false", "-o", program, "./cmd/nnsoc")
}

func command(dir, name string, args ...string) error {
	c := exec.Command(name, args...)
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %v: %w: %s", name, args, err, out)
	}
	return nil
}

// measure runs the budgets of the two builds alternately.
func measure(builds []string, rounds int, only string, progress io.Writer) ([]budget.Change, error) {
	reports := make([][]*budget.Report, 2)
	for round := range rounds {
		for i := range builds {
			k := (i + round) % 2 // neither is always the first
			fmt.Fprintf(progress, "round %d of %d: %s\n", round+1, rounds, filepath.Base(builds[k]))
			out, err := exec.Command(builds[k], "bench", "budget", "--repeat", "1", "--only", only, "--json", "-q").Output()
			if err != nil {
				if e, ok := err.(*exec.ExitError); ok {
					err = fmt.Errorf("%w: %s", err, e.Stderr)
				}
				return nil, fmt.Errorf("%s: bench budget: %w", filepath.Base(builds[k]), err)
			}
			r := &budget.Report{}
			if err := json.Unmarshal(out, r); err != nil {
				return nil, fmt.Errorf("%s: bench budget: %w", filepath.Base(builds[k]), err)
			}
			reports[k] = append(reports[k], r)
		}
	}
	return budget.Compare(reports[0], reports[1]), nil
}

// report prints the table and returns the exit code.
func report(w io.Writer, base string, changes []budget.Change) (code int) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "work\t%s ms\tnow ms\tratio\t\n", base)
	slower := 0
	for _, c := range changes {
		switch {
		case c.Only != "":
			fmt.Fprintf(t, "%s\t%.3g\t%.3g\t-\tonly in %s\n", c.Work, c.BaseMS, c.NewMS, c.Only)
			continue
		case c.Regressed:
			slower++
			fmt.Fprintf(t, "%s\t%.3g\t%.3g\t%.2f\tSLOWER\n", c.Work, c.BaseMS, c.NewMS, c.Ratio)
		default:
			fmt.Fprintf(t, "%s\t%.3g\t%.3g\t%.2f\t\n", c.Work, c.BaseMS, c.NewMS, c.Ratio)
		}
	}
	if err := t.Flush(); err != nil {
		return 3
	}
	if slower > 0 {
		fmt.Fprintf(w, "\n%d works take more than %.0f %% longer\n", slower, 100*budget.Regression)
		return 1
	}
	return 0
}
