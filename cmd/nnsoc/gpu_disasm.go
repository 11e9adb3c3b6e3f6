package main

import (
	"bytes"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/isa/rdna2/codeobject"
)

type gpuDisasmFlags struct {
	raw    bool
	source bool
}

func newGPUDisasm(a *app) *cobra.Command {
	var f gpuDisasmFlags
	cmd := &cobra.Command{
		Use:   "disasm FILE.co",
		Short: "disassemble a code object",
		Long: `disasm prints the code of a code object for gfx1030, or with --raw of a file that is
nothing but code, as llvm-objdump does: text, address and words of each instruction and
the symbols of branch targets; the path - is standard input. With -S it prints source,
descriptors and metadata included, that "nnsoc gpu asm" turns into the same code.`,
		Example: "  nnsoc gpu disasm kernels.co\n  nnsoc gpu disasm --raw kernel.bin\n  nnsoc gpu disasm -S kernels.co > kernels.s && nnsoc gpu asm kernels.s -o again.co",
		Args:    oneFile("code object"),
		RunE:    func(_ *cobra.Command, args []string) error { return a.gpuDisasm(args[0], &f) },

		ValidArgsFunction: completeFiles("co", "o", "bin", "hsaco"),
	}
	cmd.Flags().BoolVar(&f.raw, "raw", false, "the file is code alone")
	cmd.Flags().BoolVarP(&f.source, "source", "S", false, "print source to assemble again")
	return cmd
}

func (a *app) gpuDisasm(path string, f *gpuDisasmFlags) error {
	data, err := readInput(path)
	if err != nil {
		return err
	}
	var file *codeobject.File
	if f.raw {
		if len(data)%4 != 0 {
			return usage(fmt.Errorf("%s: %d bytes of code, want a multiple of 4", path, len(data)))
		}
		file = &codeobject.File{Version: 5, Machine: "gfx1030", Segments: []codeobject.Segment{{Data: data, Exec: true}}}
	} else if file, err = codeobject.Read(data); err != nil {
		return usage(fmt.Errorf("%s: %w (--raw reads files of code alone)", path, err))
	}
	var out bytes.Buffer
	switch {
	case a.json:
		return a.printKernels(path, file)
	default:
		fmt.Fprintf(&out, "%s:\n", path)
		err = file.List(&out)
	}
	if err != nil {
		return usage(fmt.Errorf("%s: %w", path, err))
	}
	_, err = a.out.Write(out.Bytes())
	return err
}
