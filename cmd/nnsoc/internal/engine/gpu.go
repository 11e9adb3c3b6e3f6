package engine

import (
	"bytes"
	"debug/elf"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/machine"
	"github.com/nnsoc/nnsoc/gpu"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// NewGPU returns the command gpu with its parts.
func NewGPU(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "gpu",
		Short: "run, assemble and inspect RDNA2 kernels",
		Example: "  nnsoc gpu exec kernels.co --kernel vadd --grid 16 --block 64 --arg buf:a.npy --arg buf:b.npy --arg new:f4:1024 --arg i32:1024 --save 2:out.npy\n" +
			"  nnsoc gpu asm kernels.s -o kernels.co\n  nnsoc gpu disasm kernels.co",
		Args: cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newGPUExec(a), newGPUAsm(a), newGPUDisasm(a))
	return cmd
}

// openGPU is the GPU of the chosen SoC and the memory behind it, cold.
func openGPU(a *cli.App) (*gpu.Core, mem.Level, error) {
	c, err := machine.LoadSoC(a)
	if err != nil {
		return nil, nil, err
	}
	if c.GPU != nil {
		c.GPU.Name += machine.Changed(a) // reports name the GPU alone
	}
	spec, err := gpu.FromSoC(c, sim.FastSingleAnswer)
	if err != nil {
		return nil, nil, cli.Usage(err)
	}
	memory, _, err := c.NewPath("gpu", 0) // the core adds GPU.MemoryNs behind its L2
	if err != nil {
		return nil, nil, cli.Usage(err)
	}
	core, err := gpu.New(spec)
	return core, memory, err
}

// isSource reports whether the file of that path is assembly source: named so,
// or standard input that is no ELF file.
func isSource(path string, data []byte) bool {
	switch filepath.Ext(path) {
	case ".s", ".S", ".asm":
		return true
	}
	return path == "-" && !bytes.HasPrefix(data, []byte(elf.ELFMAG))
}
