package bench

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/nnsoc/nnsoc/bench/gputimes"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/machine"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/sim/platform"
)

// networksReport is the JSON object of bench gpu --networks.
type networksReport struct {
	SchemaVersion int                   `json:"schema_version"`
	Latency       gputimes.Spread       `json:"latency_ratios"` // of the ratios
	Kernels       gputimes.Spread       `json:"kernel_ratios"`
	Rows          []gputimes.NetworkRow `json:"models"`
}

// benchNetworks runs every Nth network of the table.
func benchNetworks(a *cli.App, every int) error {
	m, err := machine.OpenLive(a, hal.FastSingleAnswer)
	if err != nil {
		return err
	}
	p := a.Progress()
	defer p.Done()
	r, err := measureNetworks(m, every, p)
	if err != nil {
		return err
	}
	if a.JSON {
		return cli.PrintJSON(a.Out, r)
	}
	return r.text(a.Out)
}

func measureNetworks(m *machine.Machine, every int, p *cli.Progress) (*networksReport, error) {
	list, err := gputimes.Networks()
	if err != nil {
		return nil, err
	}
	r := &networksReport{SchemaVersion: cli.SchemaVersion}
	var latency, kernels []float64
	for i := 0; i < len(list); i += every {
		n := &list[i]
		p.Update("%s on gpu", n.Name)
		l, err := newRepeated(m, n.Name, "gpu", true)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", n.Name, err)
		}
		x, err := l.run(false)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", n.Name, err)
		}
		row := n.Row(x.MeanUS/1e3, x.Parts[platform.PartExecution]/1e3)
		r.Rows = append(r.Rows, row)
		latency, kernels = append(latency, row.Ratio), append(kernels, row.KernelsRatio)
	}
	slices.Sort(latency)
	slices.Sort(kernels)
	r.Latency, r.Kernels = gputimes.SpreadOf(latency), gputimes.SpreadOf(kernels)
	return r, nil
}

// cellsOf are a row of a table.
func cellsOf(x *gputimes.NetworkRow) []string {
	return []string{x.Name, significant(x.Ms), significant(x.Ours), fmt.Sprintf("%.2f", x.Ratio), significant(x.KernelsMs), significant(x.OursKernels), fmt.Sprintf("%.2f", x.KernelsRatio)}
}

func (r *networksReport) text(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "network\tlatency, published ms\tours\tratio\tkernels, published ms\tours\tratio")
	for i := range r.Rows {
		fmt.Fprintln(t, strings.Join(cellsOf(&r.Rows[i]), "\t"))
	}
	fmt.Fprintln(t)
	fmt.Fprintln(t, "ours / published\tmedian\tleast\tmost")
	for _, s := range []struct {
		name string
		gputimes.Spread
	}{{"latency", r.Latency}, {"kernels", r.Kernels}} {
		fmt.Fprintf(t, "%s\t%.2f\t%.2f\t%.2f\n", s.name, s.Median, s.Least, s.Most)
	}
	return t.Flush()
}
