package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/bench/inference"
	"github.com/nnsoc/nnsoc/importer/vela"
)

func newNPUCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "npu",
		Short: "run and inspect what Arm's Vela compiled for Ethos-U",
		Example: "  nnsoc npu exec net_vela.tflite --input picture.png\n  nnsoc npu disasm net_vela.tflite\n" +
			"  nnsoc npu asm commands.txt -o payload.bin",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newNPUExec(a), newNPUDisasm(a), newNPUAsm(a))
	return cmd
}

// compiledAhead is the error for a file of Vela where a network is expected
// that nnsoc compiles itself; nil for any other file.
func compiledAhead(path string, data []byte) error {
	if !vela.Is(data) {
		return nil
	}
	what := "an Ethos-U NPU"
	if n, err := vela.Read(data); err == nil {
		if c, err := inference.Accelerator(n); err == nil {
			what = fmt.Sprintf("%v (%v)", c, n)
		}
	}
	return usage(fmt.Errorf("%s: compiled by Vela for %s, so that only that NPU can run it: try \"nnsoc npu exec %s\", or give the network before Vela", path, what, path))
}
