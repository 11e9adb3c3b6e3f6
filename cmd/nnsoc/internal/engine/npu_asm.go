package engine

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/isa/ethosu"
)

type npuAsmFlags struct {
	assembler
	accelerator string
}

func newNPUAsm(a *cli.App) *cobra.Command {
	var f npuAsmFlags
	cmd := &cobra.Command{
		Use:   "asm FILE",
		Short: "assemble register commands",
		Long: `asm reads a listing of "nnsoc npu disasm" or of Vela, or lines with a name, a parameter
and for commands of two words a payload:

  NPU_SET_OFM_SCALE 48, 0x41726b1e
  NPU_OP_CONV 0

Text after # or ; is a comment. Without -o it prints the listing, with -o it writes a
driver payload: the operand 0 of an ethos-u operator; --format says otherwise. The path - is standard input.`,
		Example: "  nnsoc npu asm commands.txt\n  nnsoc npu asm commands.txt --accelerator ethos-u65-512 -o payload.bin && nnsoc npu disasm payload.bin",
		Args:    cli.ExactlyOne,
		RunE:    func(_ *cobra.Command, args []string) error { return npuAsm(a, args[0], &f) },

		ValidArgsFunction: cli.CompleteFiles("txt", "s"),
	}
	f.addFlags(cmd, "payload", "list")
	cmd.Flags().StringVar(&f.accelerator, "accelerator", "ethos-u55-256", "what the payload is for: "+strings.Join(ethosu.Accelerators(), ", "))
	_ = cmd.RegisterFlagCompletionFunc("accelerator", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return ethosu.Accelerators(), cobra.ShellCompDirectiveNoFileComp
	})
	return cmd
}

func npuAsm(a *cli.App, path string, f *npuAsmFlags) (err error) {
	defer try.Catch(&err)
	format := try.V(f.chosen())
	config, err := ethosu.ParseConfig(f.accelerator)
	if err != nil {
		return cli.Usage(err)
	}
	text := try.V(readInput(path))
	words, err := ethosu.Assemble(bytes.NewReader(text))
	if err != nil {
		return cli.Usage(fmt.Errorf("%s: %w", path, err))
	}
	p := ethosu.Payload{Release: ethosu.DefaultRelease, ID: ethosu.DefaultID, Config: config, Commands: words}
	payload, err := p.Append(nil)
	if err != nil {
		return cli.Usage(fmt.Errorf("%s: %w", path, err))
	}
	out := payload
	if format == "list" {
		var text bytes.Buffer
		try.E(ethosu.Print(&text, words))
		out = text.Bytes()
	}
	return writeAssembled(a, &f.assembler, format, out, func() error {
		stream, err := newNPUStream(0, payload)
		if err != nil {
			return cli.Usage(fmt.Errorf("%s: %w", path, err))
		}
		return cli.PrintJSON(a.Out, npuListing{SchemaVersion: cli.SchemaVersion, File: path, Operators: []npuStream{*stream}})
	})
}
