package engine

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/isa/hexagon/asm"
	"github.com/nnsoc/nnsoc/isa/hexagon/object"
)

type disasmFlags struct {
	base   uint32
	raw    bool
	source bool
}

func newDSPDisasm(a *cli.App) *cobra.Command {
	var f disasmFlags
	cmd := &cobra.Command{
		Use:   "disasm FILE",
		Short: "disassemble a Hexagon program or object",
		Long: `disasm prints the code of an ELF file, or with --raw of a file that is nothing but
code, as llvm-objdump does: address, bytes, word and text, with the symbols of branch
targets; the path - is standard input. With -S it prints source that "nnsoc dsp asm" turns into the same bytes.`,
		Example: "  nnsoc dsp disasm program.elf\n  nnsoc dsp disasm --raw --base 0x1000 kernel.bin\n  nnsoc dsp disasm -S program.elf > program.s && nnsoc dsp asm program.s",
		Args:    cli.ExactlyOne,
		RunE: func(cmd *cobra.Command, args []string) error {
			return dspDisasm(a, args[0], &f, cmd.Flags().Changed("base"))
		},

		ValidArgsFunction: cli.CompleteFiles("elf", "o", "bin", "so"),
	}
	cmd.Flags().BoolVar(&f.raw, "raw", false, "the file is code alone")
	cmd.Flags().Uint32Var(&f.base, "base", dspBase, "address of the code of a raw file")
	cmd.Flags().BoolVarP(&f.source, "source", "S", false, "print source to assemble again")
	return cmd
}

func dspDisasm(a *cli.App, path string, f *disasmFlags, baseGiven bool) (err error) {
	defer try.Catch(&err)
	data := try.V(readInput(path))
	var code []object.Code
	if baseGiven && !f.raw {
		return cli.Usage(errors.New("--base does nothing without --raw: an ELF file has addresses"))
	}
	if f.raw {
		if f.base%4 != 0 || uint64(f.base)+uint64(len(data)) > 1<<32 {
			return cli.Usage(fmt.Errorf("base %#x is not a multiple of 4, or leaves no room for %d bytes", f.base, len(data)))
		}
		code = []object.Code{{Name: ".text", Addr: f.base, Data: data}}
	} else if code, err = object.ReadELF(data); err != nil {
		return cli.Usage(fmt.Errorf("%s: %w (--raw reads files of code alone)", path, err))
	}
	var out bytes.Buffer
	switch {
	case a.JSON:
		return printCode(a, path, code[0].Addr, code)
	case f.source:
		for i := range code {
			try.E(asm.Source(&code[i], &out))
		}
	default:
		fmt.Fprintf(&out, "%s:\n", path)
		for i := range code {
			fmt.Fprintf(&out, "\nDisassembly of section %s:\n", code[i].Name)
			try.E(code[i].List(&out))
		}
	}
	_, err = a.Out.Write(out.Bytes())
	return err
}
