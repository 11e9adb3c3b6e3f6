package inspect

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/bench/report/table"
	"github.com/nnsoc/nnsoc/bench/zoo"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// modelsReport is the JSON object of models and models list.
type modelsReport struct {
	SchemaVersion int        `json:"schema_version"`
	Models        []zooEntry `json:"models"`
}

// zooEntry describes a network of the zoo. Published figures are in millions,
// with the digits of their source.
type zooEntry struct {
	Name       string         `json:"name"`
	Type       string         `json:"type"`
	Input      []uint32       `json:"input_shape"`
	Inputs     []operandEntry `json:"inputs"`
	Outputs    []operandEntry `json:"outputs"`
	Operations int            `json:"operation_count"`
	Parameters int64          `json:"parameters"`
	MACs       int64          `json:"macs"`
	Published  struct {
		Parameters string `json:"parameters_millions,omitempty"`
		MACs       string `json:"macs_millions,omitempty"`
		Counting   string `json:"counting,omitempty"`
	} `json:"published_size"`
	Source string `json:"source"`
}

type operandEntry struct {
	Name  string   `json:"name"`
	Type  string   `json:"type"`
	Shape []uint32 `json:"shape"`
}

// NewModels returns the command models, which lists unless a subcommand does something else.
func NewModels(a *cli.App) *cobra.Command {
	list := newModelsList(a, "models")
	list.AddCommand(newModelsList(a, "list"), newModelsExport(a), newModelsCheck(a))
	return list
}

func newModelsList(a *cli.App, name string) *cobra.Command {
	return &cobra.Command{
		Use:   name,
		Short: "list the networks that can be named wherever a MODEL file is",
		Long: name + ` lists the networks that nnsoc builds itself: published architectures with their
exact shapes and deterministic synthetic weights. Their names work wherever a MODEL file
does. Parameters and multiply-accumulates are counted; the published figures beside them
are those of the source.`,
		Example: "  nnsoc models\n  nnsoc models export mobilenet_v2_1.0_224_quant -o model.tflite\n  nnsoc models --json\n  nnsoc run mobilenet_v2_1.0_224_quant --device dsp",
		Args:    cli.NoArguments,
		RunE: func(*cobra.Command, []string) error {
			r := modelsReport{SchemaVersion: cli.SchemaVersion}
			for _, n := range zoo.Networks() {
				e := try.V(zooNetwork(n))
				r.Models = append(r.Models, *e)
			}
			if a.JSON {
				return cli.PrintJSON(a.Out, r)
			}
			return r.print(a.Out)
		},
	}
}

func zooNetwork(n *zoo.Network) (*zooEntry, error) {
	m, parameters, err := n.Outline()
	if err != nil {
		return nil, err
	}
	g := &m.Main
	e := &zooEntry{
		Name: n.Name, Type: n.Type(), Operations: len(g.Operations), Parameters: parameters, MACs: opspec.MACs(m), Source: n.Published.Source,
		Input: g.Operands[g.Inputs[0]].Dimensions, Inputs: operandEntries(g, g.Inputs), Outputs: operandEntries(g, g.Outputs),
	}
	e.Published.Parameters, e.Published.MACs, e.Published.Counting = n.Published.Parameters, n.Published.MACs, n.Published.Counting()
	return e, nil
}

func operandEntries(g *nn.Subgraph, operands []uint32) (l []operandEntry) {
	for _, x := range operands {
		o := &g.Operands[x]
		l = append(l, operandEntry{o.Name, o.Type.String(), o.Unmerge(o.Dimensions)})
	}
	return l
}

// zooColumns are the columns of the list; --json has the sources, types by name, inputs and outputs too.
var zooColumns = table.Columns[zooEntry]{
	{Name: "name", Meaning: "name that stands for a MODEL", Cell: func(e zooEntry) any { return e.Name }},
	{Name: "type", Meaning: "type of its activations", Cell: func(e zooEntry) any { return strings.TrimPrefix(e.Type, "TENSOR_") }},
	{Name: "input", Meaning: "shape of its first input", Cell: func(e zooEntry) any { return fmt.Sprint(e.Input) }},
	{Name: "operations", Meaning: "operations of NNAPI", Cell: func(e zooEntry) any { return e.Operations }},
	{Name: "parameters M", Digits: 3, Meaning: "parameters in millions", Cell: func(e zooEntry) any { return float64(e.Parameters) / 1e6 }},
	{Name: "published", Meaning: "the same by its source", Cell: func(e zooEntry) any { return published(e.Published.Parameters) }},
	{Name: "MACs M", Digits: 1, Meaning: "multiply-accumulates in millions", Cell: func(e zooEntry) any { return float64(e.MACs) / 1e6 }},
	{Name: "published", Meaning: "the same by its source", Cell: func(e zooEntry) any { return published(e.Published.MACs) }},
}

// published is a figure as its source writes it, nil where it has none.
func published(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func (r *modelsReport) print(w io.Writer) error {
	if err := table.WriteText(w, zooColumns, r.Models); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w, "\nWeights are synthetic: outputs mean nothing, times do. Sources of the published figures: --json.")
	return err
}
