package engine

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/isa/hexagon"
	"github.com/nnsoc/nnsoc/isa/hexagon/asm"
	"github.com/nnsoc/nnsoc/isa/hexagon/object"
)

// dspBase is the default address of code: after the page that the linker reserves for the ELF header.
const dspBase = 0x20000

type asmFlags struct {
	assembler
	base     uint32
	separate bool
}

func newDSPAsm(a *cli.App) *cobra.Command {
	var f asmFlags
	cmd := &cobra.Command{
		Use:   "asm FILE.s",
		Short: "assemble Hexagon source in LLVM's syntax",
		Long: `asm assembles Hexagon V66 source with 128-byte vectors and checks every packet. The
syntax is LLVM's: packets { a ; b }:endloop0, labels (also 1: with 1b and 1f),
constants #n and ##n, symbols in constants, branches and data, comments // and /* */,
and the usual directives: sections, data (.byte to .octa, .float, .double, .ascii,
.space, .fill, alignments), .set, .macro, .rept, .irp and conditions from .if to .endif.
A bare number in a branch is a displacement, as #n. The path - is standard input.
Packets get compounds and duplexes where llvm-mc forms them; --separate keeps a word
for every instruction, and ".set .pairing, 0" does so from there on.

Without -o it prints a listing. With -o it writes an executable that starts at _start
and that "nnsoc dsp exec" and qemu-hexagon run, or the format of --format: elf, bin (code
and data from --base on), hex (one word of code per line) or list.`,
		Example: "  nnsoc dsp asm kernel.s\n  nnsoc dsp asm program.s -o program.elf && nnsoc dsp exec program.elf\n  clang -target hexagon -mv66 -S -o - f.c | nnsoc dsp asm -\n  nnsoc dsp asm kernel.s --format bin --base 0x1000 -o kernel.bin",
		Args:    cli.ExactlyOne,
		RunE:    func(_ *cobra.Command, args []string) error { return dspAsm(a, args[0], &f) },

		ValidArgsFunction: cli.CompleteFiles("s", "S", "asm"),
	}
	f.addFlags(cmd, "elf", "bin", "hex", "list")
	cmd.Flags().Uint32Var(&f.base, "base", dspBase, "address of the code")
	cmd.Flags().BoolVar(&f.separate, "separate", false, "make no compounds and duplexes")
	return cmd
}

// assembleText assembles the text of a file; errors name file, line and column.
func assembleText(path string, text []byte, o asm.Options) (*asm.Object, error) {
	obj, err := asm.AssembleObject(string(text), o)
	var at *asm.SyntaxError
	if errors.As(err, &at) {
		err = fmt.Errorf("%s:%d:%d: %s", path, at.Line, at.Col, at.Msg)
	}
	return obj, cli.Usage(err)
}

func dspAsm(a *cli.App, path string, f *asmFlags) (err error) {
	defer try.Catch(&err)
	format := try.V(f.chosen())
	if f.base%4 != 0 {
		return cli.Usage(fmt.Errorf("base %#x is not a multiple of 4", f.base))
	}
	text := try.V(readInput(path))
	obj := try.V(assembleText(path, text, asm.Options{Base: f.base, Separate: f.separate, Flat: format == "bin"}))
	var out bytes.Buffer
	switch format {
	case "elf":
		b, err := obj.ELF()
		if err != nil {
			return cli.Usage(fmt.Errorf("%s: %w", path, err))
		}
		out.Write(b)
	case "bin":
		out.Write(obj.Flat(f.base))
	case "hex":
		for _, c := range obj.Code() {
			for _, w := range hexagon.Words(c.Data) {
				fmt.Fprintf(&out, "%08x\n", w)
			}
		}
	case "list":
		try.E(listCode(&out, obj.Code()))
	}
	return writeAssembled(a, &f.assembler, format, out.Bytes(), func() error { return printCode(a, path, obj.Entry, obj.Code()) })
}

func listCode(w io.Writer, code []object.Code) error {
	for i := range code {
		if len(code) > 1 {
			if _, err := fmt.Fprintf(w, "\nDisassembly of section %s:\n", code[i].Name); err != nil {
				return err
			}
		}
		if err := code[i].List(w); err != nil {
			return err
		}
	}
	return nil
}

// codeReport is the JSON object of dsp asm and dsp disasm.
type codeReport struct {
	SchemaVersion int           `json:"schema_version"`
	File          string        `json:"file"`
	Entry         uint32        `json:"entry"`
	Sections      []codeSection `json:"sections"`
}

type codeSection struct {
	Name    string       `json:"name"`
	Addr    uint32       `json:"addr"`
	Bytes   int          `json:"bytes"`
	Symbols []codeSymbol `json:"symbols"`
	Packets []codePacket `json:"code"`
}

type codeSymbol struct {
	Name string `json:"name"`
	Addr uint32 `json:"addr"`
}

type codePacket struct {
	Addr  uint32   `json:"addr"`
	Words []uint32 `json:"words"`
	Text  string   `json:"text"`
	Error string   `json:"error,omitempty"`
}

func printCode(a *cli.App, path string, entry uint32, code []object.Code) error {
	r := codeReport{SchemaVersion: cli.SchemaVersion, File: path, Entry: entry, Sections: []codeSection{}}
	for i := range code {
		c := &code[i]
		s := codeSection{Name: c.Name, Addr: c.Addr, Bytes: len(c.Data), Symbols: []codeSymbol{}, Packets: []codePacket{}}
		for _, y := range c.Symbols {
			s.Symbols = append(s.Symbols, codeSymbol{y.Name, y.Addr})
		}
		words := hexagon.Words(c.Data)
		for p, err := range c.Packets() {
			k := codePacket{Addr: p.Addr, Words: words[(p.Addr-c.Addr)/4:][:p.Words], Text: p.Asm()}
			if err != nil {
				rows := hexagon.UndecodedRows(k.Words, p.Addr, hexagon.AbsoluteTarget)
				for i := range rows[1:] {
					rows[i] += " ;"
				}
				k.Text, k.Error = strings.Join(strings.Fields(strings.Join(rows, " ")), " "), err.Error()
			}
			s.Packets = append(s.Packets, k)
		}
		r.Sections = append(r.Sections, s)
	}
	return cli.PrintJSON(a.Out, r)
}
