package inspect

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/input"
	onnxexport "github.com/nnsoc/nnsoc/importer/onnx/export"
	"github.com/nnsoc/nnsoc/importer/tflite/export"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
)

// exportModelReport is the JSON object of models export.
type exportModelReport struct {
	SchemaVersion int    `json:"schema_version"`
	Model         string `json:"model"`
	Format        string `json:"format"`
	Path          string `json:"file"`
	Bytes         int    `json:"file_bytes"`
}

// exporters write a model as a file, by format.
var exporters = map[string]func(*nn.Model) ([]byte, error){"tflite": export.Bytes, "onnx": onnxexport.Bytes}

// newModelsExport returns the command models export.
func newModelsExport(a *cli.App) *cobra.Command {
	var output, format string
	cmd := &cobra.Command{
		Use:   "export MODEL -o FILE",
		Short: "write a network as a TensorFlow Lite or ONNX file",
		Long: `export writes a network as a file of TensorFlow Lite or ONNX, which other tools open too:
one that nnsoc builds by its name, or a model file as nnsoc imports it. Operations
become operators of the format; one that it lacks is an error that names the operation.
The format is that of --format, or of the file's ending.

TensorFlow Lite: states of recurrent operations become variable tensors, which the
interpreter keeps. ONNX (operator set 17): quantized operations stand between
DequantizeLinear and QuantizeLinear, convolutions between Transpose where neighbours do
not have channels second; recurrent cells, IF and WHILE are not written.`,
		Example:           "  nnsoc models export mobilenet_v1_0.25_128_quant -o model.tflite\n  nnsoc models export mobilenet_v1_0.25_128_quant --format onnx -o model.onnx",
		Args:              cli.ExactlyOne,
		ValidArgsFunction: input.CompleteModel,
		RunE: func(_ *cobra.Command, args []string) error {
			if output == "" {
				return cli.Usage(errors.New("export needs the file to write: -o model.tflite"))
			}
			kind := format
			if kind == "" {
				kind = strings.TrimPrefix(filepath.Ext(output), ".")
			}
			write, ok := exporters[kind]
			switch {
			case !ok && format == "":
				return cli.Usage(fmt.Errorf("%s ends with neither .tflite nor .onnx: give --format", output))
			case !ok:
				return cli.Usage(fmt.Errorf("--format %s: want tflite or onnx", kind))
			}
			m := try.V(input.ReadModel(a, args[0], input.Choice{}))
			file, err := write(m)
			if err != nil {
				return cli.Usage(err)
			}
			try.E(cli.WriteFile(output, file))
			r := exportModelReport{cli.SchemaVersion, m.Name, kind, output, len(file)}
			if a.JSON {
				return cli.PrintJSON(a.Out, r)
			}
			_, err = fmt.Fprintf(a.Out, "%s: %s, %d bytes\n", r.Path, r.Model, r.Bytes)
			return err
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "the file to write")
	cli.MarkFile(cmd.Flags(), "output")
	cmd.Flags().StringVar(&format, "format", "", "format of the file: tflite or onnx (default: by the file's ending)")
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions([]string{"tflite", "onnx"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}
