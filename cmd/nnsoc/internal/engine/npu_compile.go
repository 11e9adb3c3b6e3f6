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
)

type npuCompileFlags struct {
	accelerator string
	output      string
	shapes      input.ShapeFlag
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
			return npuCompile(a, args[0], &f, cmd.Flags().Changed("soc"))
		},

		ValidArgsFunction: input.CompleteModel,
	}
	fl := cmd.Flags()
	fl.StringVar(&f.accelerator, "accelerator", "ethos-u55-128", "what to compile for: "+strings.Join(ethosu.Accelerators(), ", "))
	fl.StringVarP(&f.output, "output", "o", "", "file to write")
	cli.MarkFile(fl, "output")
	f.shapes.Add(fl)
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
	shapes := try.V(f.shapes.Parse())
	m := try.V(input.ReadModel(a, path, shapes))
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
	if a.JSON {
		return cli.PrintJSON(a.Out, &r)
	}
	return r.print(a.Out)
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
	return nil
}
