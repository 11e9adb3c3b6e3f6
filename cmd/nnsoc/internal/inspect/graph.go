package inspect

import (
	"bytes"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/input"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/machine"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/nn/graphdump"
	"github.com/nnsoc/nnsoc/nnrt"
)

type graphReport struct {
	SchemaVersion int    `json:"schema_version"`
	Model         string `json:"model"`
	Graphviz      string `json:"graphviz"`
}

// NewGraph returns the command graph.
func NewGraph(a *cli.App) *cobra.Command {
	var output string
	var shapes input.ShapeFlag
	cmd := &cobra.Command{
		Use:   "graph [MODEL]",
		Short: "draw a network as a Graphviz graph",
		Long: `graph prints a network (.tflite) in the language of Graphviz, as AOSP's graph dump
draws it: a node for each operand and each operation, black ones for inputs and outputs
of the network. Scalars stand in the labels of operations. Without MODEL it takes the
embedded MobileNet v1.`,
		Example:           "  nnsoc graph model.tflite | dot -Tsvg -o model.svg\n  nnsoc graph model.tflite -o model.gv",
		Args:              cli.AtMostOne,
		ValidArgsFunction: input.CompleteModel,
		RunE: func(_ *cobra.Command, args []string) error {
			m, err := machine.Open(a, hal.FastSingleAnswer)
			if err != nil {
				return err
			}
			model, err := compileModel(args, m, nnrt.Auto, &shapes)
			if err != nil {
				return err
			}
			if err := nnrt.Validate(model); err != nil {
				return cli.Usage(fmt.Errorf("%s: %w", model.Name, err))
			}
			var b bytes.Buffer
			if err := graphdump.Write(&b, model.Name, model); err != nil {
				return err
			}
			if output != "" {
				return cli.WriteFile(output, b.Bytes())
			}
			if a.JSON {
				return cli.PrintJSON(a.Out, graphReport{cli.SchemaVersion, model.Name, b.String()})
			}
			_, err = a.Out.Write(b.Bytes())
			return err
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "write the graph to this file")
	shapes.Add(cmd.Flags())
	return cmd
}
