package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/app"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/bench"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/driverkit"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/engine"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/inspect"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/machine"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/mlts"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/partition"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/run"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/scheduling"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/serving"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/verify"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/workbench"
	"github.com/nnsoc/nnsoc/hal/vlog"
	"github.com/nnsoc/nnsoc/internal/try"
)

// commands lists the commands of the root by their names.
var commands = []struct {
	name string
	make func(*cli.App) *cobra.Command
}{
	{"run", run.New}, {"partition", partition.New}, {"schedule", scheduling.New}, {"compile", inspect.NewCompile}, {"supported", inspect.NewSupported}, {"graph", inspect.NewGraph},
	{"models", inspect.NewModels}, {"eval", verify.NewEval}, {"soc", newSoC}, {"devices", inspect.NewDevices}, {"capabilities", inspect.NewCapabilities},
	{"ops", inspect.NewOps}, {"app", app.New}, {"serve", serving.New}, {"driver", driverkit.New}, {"dsp", engine.NewDSP}, {"gpu", engine.NewGPU}, {"npu", engine.NewNPU},
	{"vts", verify.NewVTS}, {"mlts", mlts.New}, {"conformance", verify.NewConformance}, {"fuzz", verify.NewFuzz}, {"bench", bench.New},
	{"trace-summary", inspect.NewTraceSummary}, {"version", newVersion}, {"report", run.NewReport}, {"sweep", workbench.NewSweep},
	{"diff", workbench.NewDiff}, {"sensitivity", workbench.NewSensitivity}, {"advise", workbench.NewAdvise}, {"plot", workbench.NewPlot}, {"explain", newExplain}, {"man", newMan},
}

// root returns the root with the command that the first argument names, and no other one, which
// nothing would use; with all where it names none.
func root(a *cli.App, args []string) *cobra.Command {
	version := false
	root := &cobra.Command{
		Use:   "nnsoc",
		Short: "simulate the neural-network engines of a phone SoC",
		Long: `nnsoc runs neural networks on simulated engines of a phone SoC - a GPU (AMD RDNA2
instructions), a DSP (Hexagon V66 with HVX) and an NPU (Arm Ethos-U commands) -
and reports latency, cycles, energy and every difference from the reference CPU.

Exit codes: 0 ok, 1 mismatch or failed test, 2 bad input or usage, 3 internal error.`,
		Example:       "  nnsoc run\n  nnsoc run model.tflite --input cat.jpg --labels labels.txt --device dsp,npu\n  nnsoc compile model.tflite --device dsp -S",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if version {
				return printVersion(a)
			}
			return cmd.Help()
		},
		PersistentPreRunE: func(cmd *cobra.Command, args []string) (err error) {
			defer try.Catch(&err)
			try.E(cli.NoEmptyArgument(cmd, args))
			try.E(cli.CheckUnused(cmd))
			try.E(cli.CheckLines(a, cmd))
			if !cmd.Hidden && cmd.Flags().Changed("driver-timeout") && len(a.Drivers)+len(a.DriverLibraries) == 0 && a.DriverFolder == "" {
				return cli.Usage(fmt.Errorf("--driver-timeout does nothing without --driver, --drivers or --driver-so"))
			}
			try.E(cli.CheckFiles(cmd))
			try.E(machine.StartLibraries(a))
			try.E(a.OpenLog())
			a.ReportPipes(cmd, args)
			return nil
		},
	}
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	root.SetFlagErrorFunc(cli.FlagError)
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages", ".FlagUsagesWrapped 100"))
	root.Flags().BoolVar(&version, "version", false, "print the version")
	root.PersistentFlags().StringVar(&a.SoC, "soc", "pixel4", "SoC preset, or the path of a SoC file (.toml)")
	root.PersistentFlags().StringArrayVar(&a.Set, "set", nil, "set a key of the SoC to another value: KEY=VALUE, such as dram.mt_per_s=3733 (repeat for more)")
	root.PersistentFlags().Var(cli.JSONFlag{App: a}, "json", "print one JSON object instead of text (fields: docs/JSON.md); --json=lines of long commands prints each row as it comes, then the object")
	root.PersistentFlags().Lookup("json").NoOptDefVal = "true"
	root.PersistentFlags().BoolVarP(&a.Verbose, "verbose", "v", false, "log on stderr what is compiled and executed where ("+vlog.Variable+" selects some of "+strings.Join(vlog.Tags(), ", ")+")")
	root.PersistentFlags().BoolVarP(&a.Quiet, "quiet", "q", false, "no progress on stderr, errors only")
	root.PersistentFlags().StringArrayVar(&a.Drivers, "driver", nil, "use the driver that serves this socket (nnsoc serve) for the device of its name; ENGINE=SOCKET names the engine of the SoC that it replaces")
	root.PersistentFlags().StringVar(&a.DriverFolder, "drivers", "", "use all drivers that serve sockets in this folder")
	root.PersistentFlags().StringArrayVar(&a.DriverLibraries, "driver-so", nil, "use the drivers of this library, which has NNAPI's support library interface (C or C++), in a process of their own; ENGINE=FILE names the engine of the SoC that they replace")
	root.PersistentFlags().DurationVar(&a.DriverTimeout, "driver-timeout", 10*time.Minute, "abandon a driver of --driver, --drivers or --driver-so that does not return from a call for so long")
	all := !slices.Equal(args, []string{"--version"})
	for _, c := range commands {
		if len(args) > 0 && args[0] == c.name && c.name != "man" { // which describes all
			root.AddCommand(c.make(a))
			all = false
		}
	}
	if all {
		for _, c := range commands {
			root.AddCommand(c.make(a))
		}
		strictHelp(root)
		complete(a, root)
	}
	group(root)
	catch(root)
	root.SetHelpFunc(wrapHelp(a, root.HelpFunc()))
	return root
}

// catch lets what commands run end with the first error: see package try.
func catch(cmd *cobra.Command) {
	if run := cmd.RunE; run != nil {
		cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
			defer try.Catch(&err)
			return run(cmd, args)
		}
	}
	for _, c := range cmd.Commands() {
		catch(c)
	}
}

// strictHelp makes help and completion refuse unknown arguments.
func strictHelp(root *cobra.Command) {
	root.SetHelpCommand(&cobra.Command{
		Use:     "help [COMMAND]...",
		Short:   "show the help of a command",
		Example: "  nnsoc help run\n  nnsoc help dsp exec",
		RunE: func(_ *cobra.Command, args []string) error {
			cmd, rest, err := root.Find(args)
			if err == nil && len(rest) > 0 {
				err = cli.NoArguments(cmd, rest)
			}
			if err != nil {
				return cli.Usage(err)
			}
			cmd.InitDefaultHelpFlag()
			return cmd.Help()
		},
	})
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.Name() == "completion" {
			c.Args = cli.NoArguments
			c.Short = "write the script by which a shell completes commands, flags and networks"
			c.Example = "  nnsoc completion bash > /etc/bash_completion.d/nnsoc"
			c.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
			for _, shell := range c.Commands() {
				shell.Args = cli.NoArguments
				shell.Example = "  nnsoc completion " + shell.Name() + " > nnsoc." + shell.Name()
			}
		}
	}
}
