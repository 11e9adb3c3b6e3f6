package engine

import (
	"bytes"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/isa/rdna2/codeobject"
)

func newGPUDisasm(a *cli.App) *cobra.Command {
	var raw bool
	cmd := &cobra.Command{
		Use:   "disasm FILE.co",
		Short: "disassemble a code object",
		Long: `disasm prints the code of a code object for gfx1030, or with --raw of a file that is
nothing but code, as llvm-objdump does: text, address and words of each instruction and
the symbols of branch targets; the path - is standard input. --json adds the kernels with
their arguments.`,
		Example: "  nnsoc gpu disasm kernels.co\n  nnsoc gpu disasm --raw kernel.bin",
		Args:    cli.ExactlyOne,
		RunE:    func(_ *cobra.Command, args []string) error { return gpuDisasm(a, args[0], raw) },

		ValidArgsFunction: cli.CompleteFiles("co", "o", "bin", "hsaco"),
	}
	cmd.Flags().BoolVar(&raw, "raw", false, "the file is code alone")
	return cmd
}

func gpuDisasm(a *cli.App, path string, raw bool) error {
	data, err := readInput(path)
	if err != nil {
		return err
	}
	var file *codeobject.File
	if raw {
		if len(data)%4 != 0 {
			return cli.Usage(fmt.Errorf("%s: %d bytes of code, want a multiple of 4", path, len(data)))
		}
		file = &codeobject.File{Version: 5, Machine: "gfx1030", Segments: []codeobject.Segment{{Data: data, Exec: true}}}
	} else if file, err = codeobject.Read(data); err != nil {
		return cli.Usage(fmt.Errorf("%s: %w (--raw reads files of code alone)", path, err))
	}
	var out bytes.Buffer
	if a.JSON {
		return printKernels(a, path, file)
	}
	fmt.Fprintf(&out, "%s:\n", path)
	if err := file.List(&out); err != nil {
		return err
	}
	_, err = a.Out.Write(out.Bytes())
	return err
}
