package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/dsp"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/soc"
)

func newDSPCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "dsp",
		Short:   "run Hexagon programs on the simulated DSP",
		Example: "  nnsoc dsp exec program.elf\n  nnsoc dsp exec --json program.elf > output",
		Args:    noArguments,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newDSPExec(a), newDSPAsm(a), newDSPDisasm(a))
	return cmd
}

type execReport struct {
	SchemaVersion int              `json:"schema_version"`
	Program       string           `json:"program"`
	Status        int              `json:"exit_status"`
	Cycles        int64            `json:"cycles"`
	Instructions  int64            `json:"instructions"`
	Packets       int64            `json:"packets"`
	IPC           float64          `json:"instructions_per_cycle"`
	Stalls        map[string]int64 `json:"stall_cycles"`
}

func newDSPExec(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "exec FILE.elf [ARG]...",
		Short: "run a static Linux program for Hexagon and report its cycles",
		Long: `exec runs a static Linux executable for Hexagon V66 with 128-byte vectors on one
thread of the DSP. Its output and exit code are passed through; the report, a table
or with --json one object, goes to standard error.`,
		Example: "  nnsoc dsp exec program.elf\n  nnsoc dsp exec --json program.elf 2> report.json",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage(fmt.Errorf("%s takes the path of a program", cmd.CommandPath()))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return a.dspExec(args) },
	}
	cmd.Flags().SetInterspersed(false)
	return cmd
}

func (a *app) dspExec(args []string) error {
	c, err := soc.Load(a.soc)
	if err != nil {
		return usage(err)
	}
	spec, err := dsp.FromSoC(c, sim.FastSingleAnswer)
	if err != nil {
		return usage(err)
	}
	core, err := dsp.New(spec)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(args[0])
	if err != nil {
		return usage(err)
	}
	image, err := dsp.LoadELF(data)
	if err != nil {
		return usage(fmt.Errorf("%s: %w", args[0], err))
	}
	p := &dsp.Process{Image: image, Args: args, Stdout: a.out, Stderr: a.err}
	var prof dsp.Profile
	rep, err := core.Exec(p, dsp.Options{Profile: &prof})
	if err != nil {
		return usage(fmt.Errorf("%s: %w", args[0], err))
	}
	e := execReport{SchemaVersion: 1, Program: args[0], Status: p.Status, Cycles: rep.Stalls.Total(), Instructions: rep.Instructions, Stalls: map[string]int64{}}
	for i := range prof.Packets {
		e.Packets += prof.Packets[i].Count
	}
	if e.Cycles > 0 {
		e.IPC = float64(e.Instructions) / float64(e.Cycles)
	}
	for r, n := range rep.Stalls {
		if n != 0 {
			e.Stalls[sim.Reason(r).String()] = n
		}
	}
	if err := a.printExec(a.err, &e, &rep.Stalls); err != nil {
		return err
	}
	if p.Status != 0 {
		return &exitError{p.Status, fmt.Errorf("%s: exit status %d", args[0], p.Status)}
	}
	return nil
}

func (a *app) printExec(w io.Writer, e *execReport, stalls *sim.StallTable) error {
	if a.json {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(e)
	}
	fmt.Fprintf(w, "%s: exit status %d, %d cycles, %d packets, %d instructions, %.2f per cycle\n", e.Program, e.Status, e.Cycles, e.Packets, e.Instructions, e.IPC)
	for r, n := range stalls {
		if n != 0 {
			fmt.Fprintf(w, "  %-12s %12d  %5.1f %%\n", sim.Reason(r), n, 100*float64(n)/float64(e.Cycles))
		}
	}
	return nil
}
