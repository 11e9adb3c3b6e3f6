package main

import (
	"bytes"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/graphdump"
	nnrt "github.com/nnsoc/nnsoc/runtime"
)

type graphReport struct {
	SchemaVersion int    `json:"schema_version"`
	Model         string `json:"model"`
	Graphviz      string `json:"graphviz"`
}

func newGraph(a *app) *cobra.Command {
	var output string
	var shapes shapeFlag
	cmd := &cobra.Command{
		Use:   "graph [MODEL]",
		Short: "draw a network as a Graphviz graph",
		Long: `graph prints a network (.tflite) in the language of Graphviz, as AOSP's graph dump
draws it: a node for each operand and each operation, black ones for inputs and outputs
of the network. Without MODEL it takes the embedded MobileNet v1.`,
		Example:           "  nnsoc graph model.tflite | dot -Tsvg -o model.svg\n  nnsoc graph model.tflite -o model.gv",
		Args:              atMostOne,
		ValidArgsFunction: completeModel,
		RunE: func(_ *cobra.Command, args []string) error {
			m, err := a.machine(hal.FastSingleAnswer)
			if err != nil {
				return err
			}
			model, err := compileModel(args, m, nnrt.Auto, &shapes)
			if err != nil {
				return err
			}
			if err := nnrt.Validate(model); err != nil {
				return usage(fmt.Errorf("%s: %w", model.Name, err))
			}
			var b bytes.Buffer
			if err := graphdump.Write(&b, model.Name, model); err != nil {
				return err
			}
			if output != "" {
				return writeFile(output, b.Bytes())
			}
			if a.json {
				return printJSON(a.out, graphReport{schemaVersion, model.Name, b.String()})
			}
			_, err = a.out.Write(b.Bytes())
			return err
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "write the graph to this file")
	shapes.add(cmd.Flags())
	return cmd
}
