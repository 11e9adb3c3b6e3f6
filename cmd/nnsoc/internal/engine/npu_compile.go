package engine

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/bench/offline"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/input"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/machine"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/isa/ethosu"
	"github.com/nnsoc/nnsoc/nn/compare"
)

type npuCompileFlags struct {
	accelerator string
	output      string
	choice      input.ChoiceFlags
	check       bool
	checkGiven  bool
}

// npuCompileReport is the JSON object of npu compile.
type npuCompileReport struct {
	SchemaVersion int                  `json:"schema_version"`
	Network       string               `json:"model"`
	Accelerator   string               `json:"accelerator"`
	SoC           string               `json:"soc"`
	Output        string               `json:"file"`
	FileBytes     int                  `json:"file_bytes"`
	Operators     []npuCompileOperator `json:"operators"`
	CPU           []npuCompileCPU      `json:"cpu_operations"`
	Check         *npuCompileCheck     `json:"reference_check,omitempty"`
	Unchecked     string               `json:"check_skip_reason,omitempty"`
}

// npuCompileCheck is what a run of the file gave beside the reference.
type npuCompileCheck struct {
	Elements   int     `json:"elements"`
	Mismatches int     `json:"mismatches"`
	MaxAbsDiff float64 `json:"max_abs_diff"`
}

// npuCompileOperator is a custom operator of the file.
type npuCompileOperator struct {
	Operations    int `json:"operation_count"`
	CommandBytes  int `json:"command_bytes"`
	ConstantBytes int `json:"constant_bytes"`
	WeightBytes   int `json:"weight_bytes"`
	ArenaBytes    int `json:"arena_bytes"`
	FastBytes     int `json:"fast_bytes"`
}

// npuCompileCPU is an operation that stays on the CPU.
type npuCompileCPU struct {
	Operation string `json:"operation"`
	Reason    string `json:"reason"`
}

func newNPUCompile(a *cli.App) *cobra.Command {
	var f npuCompileFlags
	cmd := &cobra.Command{
		Use:   "compile NET.tflite",
		Short: "compile a network for Arm's Ethos-U driver stack",
		Long: `compile does what Arm's Vela does: it replaces the operations that the NPU's driver takes by
custom operators ethos-u, each a driver payload with commands, constants and working memory,
and writes a TensorFlow Lite file that Arm's driver stack reads. Operations that the NPU cannot
do stay as they are, for the CPU. The metadata OfflineMemoryAllocation says where in the arena
the tensors between them lie.

The file is run once on noise, and its outputs compared with those of the reference CPU, where
that takes less than a second: up to 2^32 multiply-accumulates and elements. --check does it with
any file, --check=false with none. An output that differs is exit code 1; the file stays.

The streams are those of this simulator's driver. "npu exec" runs the file, "npu disasm" lists
its commands, "bench vela" compares it with a file of Vela's. The memories that the driver
plans for are those of the SoC named like the accelerator; --soc chooses another one, whose NPU
must be of that configuration.`,
		Example: "  nnsoc npu compile net.tflite --accelerator ethos-u55-128 -o net_npu.tflite && nnsoc npu exec net_npu.tflite",
		Args:    cli.ExactlyOne,
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.output == "" {
				return cli.Usage(errors.New("no file to write: give --output"))
			}
			f.checkGiven = cmd.Flags().Changed("check")
			return npuCompile(a, args[0], &f, cmd.Flags().Changed("soc"))
		},

		ValidArgsFunction: input.CompleteModel,
	}
	fl := cmd.Flags()
	fl.StringVar(&f.accelerator, "accelerator", "ethos-u55-128", "what to compile for: "+strings.Join(ethosu.Accelerators(), ", "))
	fl.StringVarP(&f.output, "output", "o", "", "file to write")
	cli.MarkFile(fl, "output")
	fl.BoolVar(&f.check, "check", true, "run the file and compare its outputs with the reference (default: where that takes less than a second)")
	f.choice.Add(cmd)
	_ = cmd.RegisterFlagCompletionFunc("accelerator", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return ethosu.Accelerators(), cobra.ShellCompDirectiveNoFileComp
	})
	return cmd
}

func npuCompile(a *cli.App, path string, f *npuCompileFlags, socGiven bool) (err error) {
	defer try.Catch(&err)
	accelerator, err := ethosu.ParseConfig(f.accelerator)
	if err != nil {
		return cli.Usage(err)
	}
	m := try.V(input.ReadModel(a, path, try.V(f.choice.Parse())))
	name := a.SoC
	if !socGiven {
		name = accelerator.String()
	}
	config := try.V(machine.LoadNamed(a, name))
	n, err := offline.Compile(m, config, accelerator)
	if err != nil {
		return cli.Usage(fmt.Errorf("%s: %w", path, err))
	}
	try.E(cli.WriteFile(f.output, n.File))
	r := npuCompileReport{SchemaVersion: cli.SchemaVersion, Network: path, Accelerator: accelerator.String(), SoC: config.SoC.Name, Output: f.output,
		FileBytes: len(n.File), CPU: []npuCompileCPU{}}
	for _, o := range n.Operators {
		r.Operators = append(r.Operators, npuCompileOperator(o))
	}
	for i, t := range n.CPU {
		r.CPU = append(r.CPU, npuCompileCPU{t.String(), n.Reasons[i]})
	}
	wrong := try.V(r.check(n, f))
	if a.JSON {
		try.E(cli.PrintJSON(a.Out, &r))
	} else {
		try.E(r.print(a.Out))
	}
	if wrong != nil {
		return &cli.ExitError{Code: cli.ExitMismatch, Err: fmt.Errorf("%s differs from the reference: %w", f.output, wrong)}
	}
	return nil
}

// check runs the file unless flags or its size say otherwise. wrong is the first difference.
func (r *npuCompileReport) check(n *offline.Network, f *npuCompileFlags) (wrong, err error) {
	switch {
	case !f.check:
		r.Unchecked = "--check=false"
		return nil, nil
	case !f.checkGiven && n.Work > offline.QuickWork:
		r.Unchecked = fmt.Sprintf("%d multiply-accumulates and elements, more than %d; --check does it", n.Work, offline.QuickWork)
		return nil, nil
	}
	results, err := n.Check()
	if err != nil {
		return nil, fmt.Errorf("%s cannot be checked, --check=false leaves it out: %w", f.output, err)
	}
	c := npuCompileCheck{}
	for i := range results {
		c.Elements += results[i].Elements
		c.Mismatches += results[i].Mismatches
		c.MaxAbsDiff = max(c.MaxAbsDiff, results[i].MaxAbsDiff)
	}
	r.Check = &c
	return compare.Err(results), nil
}

func (r *npuCompileReport) print(w io.Writer) error {
	fmt.Fprintf(w, "%s for %s: %s, %d bytes\n", r.Network, r.Accelerator, r.Output, r.FileBytes)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "operator\toperations\tcommands\tconstants\tof them weights\tarena\tfast\t")
	for i, o := range r.Operators {
		fmt.Fprintf(t, "%d\t%d\t%d\t%d\t%d\t%d\t%d\t\n", i, o.Operations, o.CommandBytes, o.ConstantBytes, o.WeightBytes, o.ArenaBytes, o.FastBytes)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, c := range r.CPU {
		if _, err := fmt.Fprintf(w, "on the CPU: %s\n", c.Reason); err != nil {
			return err
		}
	}
	if r.Check == nil {
		_, err := fmt.Fprintf(w, "not checked: %s\n", r.Unchecked)
		return err
	}
	by := ""
	if r.Check.Mismatches > 0 {
		by = fmt.Sprintf(", by up to %.4g", r.Check.MaxAbsDiff)
	}
	_, err := fmt.Fprintf(w, "checked on noise: %d of %d elements differ from the reference%s\n", r.Check.Mismatches, r.Check.Elements, by)
	return err
}
