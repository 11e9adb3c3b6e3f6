package engine

import (
	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
)

// NewNPU returns the command npu with its parts.
func NewNPU(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "npu",
		Short: "compile networks for Ethos-U, run and inspect what was compiled",
		Example: "  nnsoc npu compile net.tflite --accelerator ethos-u55-128 -o net_npu.tflite\n  nnsoc npu exec net_vela.tflite --input picture.png\n  nnsoc npu disasm net_vela.tflite\n" +
			"  nnsoc npu asm commands.txt -o payload.bin",
		Args: cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newNPUExec(a), newNPUCompile(a), newNPUDisasm(a), newNPUAsm(a))
	return cmd
}
