package inspect

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/bench/glossary"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/input"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/machine"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/graphdump"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
)

// graphReport is the JSON object of graph.
type graphReport struct {
	SchemaVersion int            `json:"schema_version"`
	Model         string         `json:"model"`
	File          string         `json:"file,omitempty"`       // with --output, in place of the drawing
	Devices       []string       `json:"assignment,omitempty"` // with --device
	Cascades      []graphCascade `json:"cascades,omitempty"`
	Graphviz      string         `json:"graphviz,omitempty"`
	SVG           string         `json:"svg,omitempty"`
}

// graphCascade is operations that alternate.
type graphCascade struct {
	Operations []int `json:"operation_indices"`
	Iterations int   `json:"iterations"`
}

// NewGraph returns the command graph.
func NewGraph(a *cli.App) *cobra.Command {
	var output, device, format string
	var choice input.ChoiceFlags
	cmd := &cobra.Command{
		Use:   "graph [MODEL]",
		Short: "draw a network as a Graphviz graph or as SVG",
		Long: `graph draws a network (.tflite, .onnx). In the language of Graphviz, as AOSP's graph dump does:
a node for each operand and each operation, black ones for inputs and outputs of the
network. As SVG, without another program: operations in layers, values as edges. Scalars
are in the labels of operations. With --device operations have the colour of the device
that runs them, as nnsoc compile divides the network, and name their cascade: on
an NPU whose memory cannot hold the values between them, operations alternate at a few
rows each. Without MODEL it uses the embedded MobileNet v1.`,
		Example:           "  nnsoc graph model.tflite --device auto -o model.svg\n  nnsoc graph model.tflite | dot -Tpdf -o model.pdf",
		Args:              cli.AtMostOne,
		ValidArgsFunction: input.CompleteModel,
		RunE: func(_ *cobra.Command, args []string) error {
			if device == "" && machine.HasCache(a) {
				return cli.Usage(errors.New("--cache-dir keeps what is compiled: give --device"))
			}
			m, err := machine.Open(a, hal.FastSingleAnswer)
			if err != nil {
				return err
			}
			model, err := compileModel(a, args, m, nnrt.ByStrategy, &choice)
			if err != nil {
				return err
			}
			if err := nnrt.Validate(model); err != nil {
				return cli.Usage(fmt.Errorf("%s: %w", model.Name, err))
			}
			svg := format == "svg" || format == "" && filepath.Ext(output) == ".svg"
			if format != "" && format != "svg" && format != "dot" {
				return cli.Usage(fmt.Errorf("--format %s, want dot or svg", format))
			}
			p, cascades, err := dividedOn(m, model, device)
			if err != nil {
				return err
			}
			var b bytes.Buffer
			draw := graphdump.WriteDivided
			if svg {
				draw = graphdump.SVG
			}
			if err := draw(&b, model.Name, model, p); err != nil {
				return err
			}
			if output != "" {
				if err := cli.WriteFile(output, b.Bytes()); err != nil || !a.JSON {
					return err
				}
			}
			if a.JSON {
				r := graphReport{SchemaVersion: cli.SchemaVersion, Model: model.Name, File: output, Devices: p.Devices, Cascades: cascades}
				switch {
				case output != "": // it is there
				case svg:
					r.SVG = b.String()
				default:
					r.Graphviz = b.String()
				}
				return cli.PrintJSON(a.Out, r)
			}
			_, err = a.Out.Write(b.Bytes())
			return err
		},
	}
	fl := cmd.Flags()
	fl.StringVarP(&output, "output", "o", "", "write the drawing to this file")
	cli.MarkFile(fl, "output")
	fl.StringVar(&format, "format", "", "dot or svg (default: svg if the file ends with .svg, else dot)")
	fl.StringVar(&device, "device", "", "colour operations by the device that runs them when the network is compiled for this one, auto: a plan by prediction, or aosp: divided by Android's rule")
	machine.AddCache(a, cmd)
	machine.CompleteDevices(a, cmd, machine.Plans...)
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions([]string{"dot", "svg"}, cobra.ShellCompDirectiveNoFileComp))
	choice.Add(cmd)
	return cmd
}

// dividedOn is where the operations of a model run when it is compiled for a device, "" for none, and their cascades.
func dividedOn(m *machine.Machine, model *nn.Model, device string) (p graphdump.Placement, cascades []graphCascade, err error) {
	if device == "" {
		return p, nil, nil
	}
	if _, err := m.Choose([]string{device}); err != nil {
		return p, nil, err
	}
	c, err := m.CompileModel(model, device, nnrt.CompileOptions{})
	if err != nil {
		return p, nil, err
	}
	n := len(model.Main.Operations)
	p = graphdump.Placement{Devices: make(graphdump.Devices, n), Notes: make([]string, n), Colour: glossary.Device}
	for k := range c.Steps() {
		s := c.Step(k)
		for _, i := range s.Operations {
			p.Devices[i] = s.Device
		}
	}
	for k, x := range c.Cascades() {
		for _, i := range x.Operations {
			if p.Notes[i] != "" {
				p.Notes[i] += ", "
			}
			p.Notes[i] += fmt.Sprintf("cascade %d of %d turns", k+1, x.Parts)
		}
		cascades = append(cascades, graphCascade{x.Operations, x.Parts})
	}
	return p, cascades, nil
}
