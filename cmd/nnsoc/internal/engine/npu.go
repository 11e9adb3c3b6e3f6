package engine

import (
	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
)

// NewNPU returns the command npu with its parts.
func NewNPU(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "npu",
		Short: "run and inspect what Arm's Vela compiled for Ethos-U",
		Example: "  nnsoc npu exec net_vela.tflite --input picture.png\n  nnsoc npu disasm net_vela.tflite\n" +
			"  nnsoc npu asm commands.txt -o payload.bin",
		Args: cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newNPUExec(a), newNPUDisasm(a), newNPUAsm(a))
	return cmd
}
