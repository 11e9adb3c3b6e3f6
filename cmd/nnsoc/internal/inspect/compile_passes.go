package inspect

import (
	"errors"
	"fmt"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/machine"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/nn"
)

// passesReport is the JSON object of compile --passes. It is the initial graph of a model, then the graph after each pass of the
// device that changes it.
type passesReport struct {
	SchemaVersion int         `json:"schema_version"`
	Model         string      `json:"model"`
	SoC           string      `json:"soc"`
	Device        string      `json:"device"`
	Passes        []passEntry `json:"passes"`
}

type passEntry struct {
	Pass    string `json:"pass"` // empty for the initial model
	Changed bool   `json:"changed"`
	Graph   string `json:"graph,omitempty"`
}

func printPasses(a *cli.App, m *machine.Machine, model *nn.Model, device string) error {
	d, err := m.Registry.Find(device)
	if err != nil {
		return cli.Usage(fmt.Errorf("--passes needs a --device of the SoC: %w", err))
	}
	x, ok := hal.As[hal.PassPrinter](d)
	if !ok {
		return cli.Usage(errors.New(device + " lowers models as they come, without passes"))
	}
	results, err := x.Passes(model)
	if err != nil {
		return err
	}
	if len(results) == 0 {
		return cli.Usage(errors.New(device + " lowers models as they come, without passes"))
	}
	r := passesReport{SchemaVersion: cli.SchemaVersion, Model: model.Name, SoC: m.Config.SoC.Name, Device: device}
	for _, p := range results {
		r.Passes = append(r.Passes, passEntry(p))
	}
	if a.JSON {
		return cli.PrintJSON(a.Out, r)
	}
	for _, p := range r.Passes {
		switch {
		case p.Pass == "":
			_, err = fmt.Fprintf(a.Out, "# %s as it comes\n%s", model.Name, p.Graph)
		case !p.Changed:
			_, err = fmt.Fprintf(a.Out, "\n# %s: no change\n", p.Pass)
		default:
			_, err = fmt.Fprintf(a.Out, "\n# %s\n%s", p.Pass, p.Graph)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
