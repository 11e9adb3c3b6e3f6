package inspect

import (
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/bench/report/table"
	"github.com/nnsoc/nnsoc/bench/session"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/input"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/machine"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
)

// supportedReport is the JSON object of supported.
type supportedReport struct {
	SchemaVersion int `json:"schema_version"`
	session.ModelReport
	SoC     string            `json:"soc"`
	Devices []deviceSupported `json:"devices"`
}

type deviceSupported struct {
	Device    string `json:"device"`
	Supported int    `json:"supported_operations"`
	// OperationShare is the share of the operations that the device supports, MACShare
	// that of the multiply-accumulates; a network without any has none.
	OperationShare float64              `json:"operation_share"`
	MACs           int64                `json:"macs"`
	MACShare       *float64             `json:"mac_share,omitempty"`
	Operations     []operationSupported `json:"operations"`
}

type operationSupported struct {
	Index     int      `json:"index"`
	Type      string   `json:"type"`
	MACs      int64    `json:"macs"`
	Output    []uint32 `json:"output_shape"`
	Supported bool     `json:"supported"`
	Reason    string   `json:"reason,omitempty"`
	session.Names
}

// NewSupported returns the command supported.
func NewSupported(a *cli.App) *cobra.Command {
	var devices []string
	var choice input.ChoiceFlags
	cmd := &cobra.Command{
		Use:   "supported [MODEL]",
		Short: "list which operations of a network each device supports, and why not",
		Long: `supported queries each device for the operations of a network (.tflite, .onnx) that it can run and
prints the results by operation, with the reason for each refusal, and
the share of the operations and of the multiply-accumulates that each device supports.
Without MODEL it uses the embedded MobileNet v1. For test vectors see vts --declined.`,
		Example:           "  nnsoc supported model.tflite --device dsp\n  nnsoc supported model.tflite --json",
		Args:              cli.AtMostOne,
		ValidArgsFunction: input.CompleteModel,
		RunE: func(_ *cobra.Command, args []string) error {
			m, err := machine.Open(a, hal.FastSingleAnswer)
			if err != nil {
				return err
			}
			names, err := m.Choose(devices)
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
			g := &model.Main
			r := supportedReport{SchemaVersion: cli.SchemaVersion, SoC: m.Config.SoC.Name,
				ModelReport: session.NewModelReport(model)}
			for _, name := range names {
				d, err := m.Find(name)
				if err != nil {
					return cli.Usage(err)
				}
				answers, err := d.SupportedOperations(model)
				if err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
				r.Devices = append(r.Devices, coverage(name, g, answers))
			}
			if a.JSON {
				return cli.PrintJSON(a.Out, r)
			}
			return r.text(a.Out)
		},
	}
	cmd.Flags().Var(cli.NameList{Names: &devices, Once: true}, "device", "devices to query (default: all)")
	choice.Add(cmd)
	machine.CompleteDevices(a, cmd)
	return cmd
}

// coverage counts the operations of a network that a device supports.
func coverage(device string, g *nn.Subgraph, support []hal.Support) deviceSupported {
	s := deviceSupported{Device: device, Operations: []operationSupported{}}
	var total int64
	for i, x := range support {
		op, macs := &g.Operations[i], opspec.OperationMACs(g, i)
		total += macs
		s.Operations = append(s.Operations, operationSupported{i, op.Type.String(), macs, g.Operands[op.Outputs[0]].Dimensions, x.OK, session.Refusal(op.Type.String(), x.Reason), session.NamesOf(g, i)})
		if x.OK {
			s.Supported++
			s.MACs += macs
		}
	}
	s.OperationShare = float64(s.Supported) / float64(max(len(support), 1))
	if total > 0 {
		share := float64(s.MACs) / float64(total)
		s.MACShare = &share
	}
	return s
}

// refusals are the operations that a device does not support.
func (d *deviceSupported) refusals() (list []session.FallbackEntry) {
	for _, op := range d.Operations {
		if !op.Supported && op.Host == "" {
			list = append(list, session.FallbackEntry{Index: op.Index, Type: op.Type, Reason: op.Reason})
		}
	}
	return list
}

// text writes for each device how much it supports and why not the rest, then the operations with an answer per device.
func (r *supportedReport) text(w io.Writer) error {
	fmt.Fprintf(w, "%s: %d operations on %s\n", r.Model, r.OperationCount, r.SoC)
	if line := r.HostLine(); line != "" {
		fmt.Fprintln(w, line)
	}
	fmt.Fprintln(w)
	for i := range r.Devices {
		d := &r.Devices[i]
		fmt.Fprintf(w, "%s supports %d of %d operations (%.1f %%)", d.Device, d.Supported, r.OperationCount, 100*d.OperationShare)
		if d.MACShare != nil {
			fmt.Fprintf(w, ", %.1f of %.1f million MACs (%.1f %%)", float64(d.MACs)/1e6, float64(r.MACs)/1e6, 100**d.MACShare)
		}
		fmt.Fprintln(w)
		cli.WriteFallbacks(w, d.refusals())
	}
	if len(r.Devices) == 0 || r.OperationCount == 0 {
		return nil
	}
	fmt.Fprintln(w)
	return table.WriteText(w, r.columns(), r.Devices[0].Operations)
}

// columns are those of the table of operations, one per device after the words.
func (r *supportedReport) columns() table.Columns[operationSupported] {
	columns := table.Columns[operationSupported]{
		{Name: "#", Meaning: "index in the network", Cell: func(o operationSupported) any { return o.Index }},
		{Name: "operation", Meaning: "type of the operation", Cell: func(o operationSupported) any { return o.Type }},
		{Name: "output", Meaning: "shape of the first output", Cell: func(o operationSupported) any { return fmt.Sprint(o.Output) }},
	}
	for i := range r.Devices {
		d := &r.Devices[i]
		columns = append(columns, table.Column[operationSupported]{Name: d.Device, Meaning: "whether the device supports it", Cell: func(o operationSupported) any {
			switch o = d.Operations[o.Index]; {
			case o.Host != "":
				return o.Host
			case o.Supported:
				return "yes"
			}
			return "no"
		}})
	}
	if slices.ContainsFunc(r.Devices[0].Operations, func(o operationSupported) bool { return o.Node != "" }) {
		columns = append(columns, table.Column[operationSupported]{Name: "node", Meaning: "node of the model file that it computes, alone or with others", Cell: func(o operationSupported) any { return o.Node }})
	}
	return columns
}
