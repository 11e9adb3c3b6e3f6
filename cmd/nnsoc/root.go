package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/vlog"
)

// app is what the commands share: where to print and the global flags.
type app struct {
	out, err io.Writer
	soc      string
	json     bool
	// persistent makes machine open the devices of one machine.
	persistent bool
	// drivers are the sockets of drivers that are processes of their own, driverFolder one
	// that holds such sockets.
	drivers      []string
	driverFolder string
	// driverTimeout is the host time after which such a driver is given up.
	driverTimeout time.Duration
	verbosity
	// wrap stands between the commands and each device; a test plants faults
	// with it. nil without.
	wrap func(hal.Device) hal.Device
}

func newRoot(stdout, stderr io.Writer) *cobra.Command {
	return (&app{out: stdout, err: stderr}).root()
}

func (a *app) root() *cobra.Command {
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
		Args:          noArguments,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkSoC(cmd); err != nil {
				return err
			}
			if cmd.Flags().Changed("driver-timeout") && len(a.drivers) == 0 && a.driverFolder == "" {
				return usage(fmt.Errorf("--driver-timeout does nothing without --driver or --drivers"))
			}
			return a.openLog()
		},
	}
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usage(fmt.Errorf("%w (see %q)", err, cmd.CommandPath()+" --help"))
	})
	root.PersistentFlags().StringVar(&a.soc, "soc", "pixel4", "SoC preset, or the path of a SoC file (.toml)")
	root.PersistentFlags().BoolVar(&a.json, "json", false, "print one JSON object instead of text")
	root.PersistentFlags().BoolVarP(&a.verbose, "verbose", "v", false, "say on stderr what is compiled and executed where ("+vlog.Variable+"="+strings.Join(vlog.Tags(), ",")+" selects)")
	root.PersistentFlags().BoolVarP(&a.quiet, "quiet", "q", false, "no progress on stderr, errors only")
	root.PersistentFlags().StringArrayVar(&a.drivers, "driver", nil, "use the driver that serves this socket (nnsoc serve) for the device of its name")
	root.PersistentFlags().StringVar(&a.driverFolder, "drivers", "", "use all drivers that serve sockets in this folder")
	root.PersistentFlags().DurationVar(&a.driverTimeout, "driver-timeout", 10*time.Minute, "give a driver of --driver or --drivers up that does not return from a call for so long")
	_ = root.RegisterFlagCompletionFunc("soc", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return socNames(), cobra.ShellCompDirectiveDefault
	})
	root.AddCommand(newRun(a), newCompile(a), newSupported(a), newModels(a), newDevices(a), newVTS(a), newFuzz(a), newOps(a), newBench(a), newPartition(a), newCapabilities(a), newEval(a), newDSPCommand(a), newGPUCommand(a), newNPUCommand(a), newGraph(a), newTraceSummary(a), newConformance(a), newServe(a), newVersion(a))
	strictHelp(root)
	return root
}

// strictHelp makes help and completion refuse what they do not know.
func strictHelp(root *cobra.Command) {
	root.SetHelpCommand(&cobra.Command{
		Use:     "help [COMMAND]...",
		Short:   "show the help of a command",
		Example: "  nnsoc help run\n  nnsoc help dsp exec",
		RunE: func(_ *cobra.Command, args []string) error {
			cmd, rest, err := root.Find(args)
			if err == nil && len(rest) > 0 {
				err = noArguments(cmd, rest)
			}
			if err != nil {
				return usage(err)
			}
			cmd.InitDefaultHelpFlag()
			return cmd.Help()
		},
	})
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.Name() == "completion" {
			c.Args = noArguments
			c.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		}
	}
}

func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, c := range cmd.Commands() {
		names = append(names, c.Name())
	}
	if len(names) > 0 {
		return usage(fmt.Errorf("unknown command %q; there are %s", args[0], strings.Join(names, ", ")))
	}
	return usage(fmt.Errorf("%s takes no argument, got %q", cmd.CommandPath(), args[0]))
}

// atMostOne accepts an optional argument.
func atMostOne(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return usage(fmt.Errorf("%s takes one %s, got %d arguments", cmd.CommandPath(), strings.Fields(cmd.Use)[1], len(args)))
	}
	return nil
}
