package inspect

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/input"
	"github.com/nnsoc/nnsoc/importer/tflite/export"
)

type exportModelReport struct {
	SchemaVersion int    `json:"schema_version"`
	Model         string `json:"model"`
	Path          string `json:"path"`
	Bytes         int    `json:"bytes"`
}

// newModelsExport returns the command models export.
func newModelsExport(a *cli.App) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "export MODEL -o FILE",
		Short: "write a network as a TensorFlow Lite file",
		Long: `export writes a network as a TensorFlow Lite file, which other tools open too: one that
nnsoc builds by its name, or a model file as nnsoc understands it. Operations become
builtin operators; what the format does not have is an error that names the operation.
States of recurrent operations become variable tensors, which the interpreter keeps.`,
		Example: "  nnsoc models export mobilenet_v1_0.25_128_quant -o model.tflite",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return cli.Usage(errors.New("export takes one MODEL"))
			}
			return nil
		},
		ValidArgsFunction: input.CompleteModel,
		RunE: func(_ *cobra.Command, args []string) error {
			if output == "" {
				return cli.Usage(errors.New("export needs the file to write: -o model.tflite"))
			}
			m, err := input.ReadModel(args[0], nil)
			if err != nil {
				return err
			}
			file, err := export.Bytes(m)
			if err != nil {
				return cli.Usage(err)
			}
			if err := cli.WriteFile(output, file); err != nil {
				return err
			}
			r := exportModelReport{cli.SchemaVersion, m.Name, output, len(file)}
			if a.JSON {
				return cli.PrintJSON(a.Out, r)
			}
			_, err = fmt.Fprintf(a.Out, "%s: %s, %d bytes\n", r.Path, r.Model, r.Bytes)
			return err
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "the file to write")
	return cmd
}
