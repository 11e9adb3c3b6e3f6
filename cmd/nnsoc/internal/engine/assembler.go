package engine

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
)

// assembler are the flags of a command that assembles: the destination and the format of its output.
type assembler struct {
	output, format string
	formats        []string // the listing last
}

// addFlags adds -o and --format. Without --format a file gets the first format.
func (f *assembler) addFlags(cmd *cobra.Command, formats ...string) {
	f.formats = formats
	cmd.Flags().StringVarP(&f.output, "output", "o", "", "file to write, - for standard output")
	cli.MarkFile(cmd.Flags(), "output")
	cmd.Flags().StringVar(&f.format, "format", "", fmt.Sprintf("%s (default %s with -o, list without)", f.choices(), formats[0]))
	_ = cmd.RegisterFlagCompletionFunc("format", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return formats, cobra.ShellCompDirectiveNoFileComp
	})
}

func (f *assembler) choices() string {
	last := len(f.formats) - 1
	return strings.Join(f.formats[:last], ", ") + " or " + f.formats[last]
}

// chosen is the format of the output.
func (f *assembler) chosen() (string, error) {
	switch {
	case f.format == "" && f.output == "":
		return "list", nil
	case f.format == "":
		return f.formats[0], nil
	case !slices.Contains(f.formats, f.format):
		return "", cli.Usage(fmt.Errorf("unknown format %q: %s", f.format, f.choices()))
	}
	return f.format, nil
}

// writeAssembled writes the assembled output. With --json, report then describes it on standard output, unless that has
// the output itself.
func writeAssembled(a *cli.App, f *assembler, format string, out []byte, report func() error) error {
	var err error
	switch {
	case f.output == "-", f.output == "" && !a.JSON:
		_, err = a.Out.Write(out)
	case f.output != "":
		mode := os.FileMode(0o644)
		if format == "elf" {
			mode = 0o755
		}
		err = cli.WriteFileMode(f.output, out, mode)
	}
	if err == nil && a.JSON && f.output != "-" {
		err = report()
	}
	return err
}
