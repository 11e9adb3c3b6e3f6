package bench

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/bench/cputimes"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/internal/try"
)

// coresReport is the JSON object of bench cpu.
type coresReport struct {
	SchemaVersion int              `json:"schema_version"`
	Groups        []cputimes.Group `json:"group_ratios"` // of the networks
	Networks      []cputimes.Row   `json:"models"`
	Kernels       []cputimes.Row   `json:"kernels"`
}

func newBenchCPU(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "cpu",
		Short: "compare the CPU with measured ones, by core, threads and type",
		Long: `cpu prices networks and single kernels on sets of cores of phones and prints measured
times beside ours: TensorFlow Lite's of whole networks on a Snapdragon 855's prime core, one
to three gold cores, both, a Cortex-A55 and two Cortex-A75, and other libraries' of kernels.
Keys of the model follow from rows of role "fit"; those of role "check" are independent.
The networks are the measured ones, with the PAD operations that their files have, so
that they differ from those of "nnsoc models".`,
		Example: "  nnsoc bench cpu\n  nnsoc bench cpu --json",
		Args:    cli.NoArguments,
		RunE: func(*cobra.Command, []string) error {
			networks := try.V(cputimes.Networks())
			kernels := try.V(cputimes.Kernels())
			r := coresReport{SchemaVersion: cli.SchemaVersion, Groups: cputimes.Groups(networks), Networks: networks, Kernels: kernels}
			if a.JSON {
				return cli.PrintJSON(a.Out, r)
			}
			return r.text(a.Out)
		},
	}
}

func (r *coresReport) text(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, l := range [2][]cputimes.Row{r.Networks, r.Kernels} {
		fmt.Fprintln(t, "what\ttype\tcores\trole\tpublished ms\tours\tratio")
		for _, x := range l {
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%.2f\n", x.What, x.Type, x.Cores, x.Role, significant(x.Ms), significant(x.Ours), x.Ratio)
		}
		fmt.Fprintln(t)
	}
	fmt.Fprintln(t, "networks on\ttype\trows\tgeometric mean of ours / published\trms of its distance from 1\tof the checks\tworst")
	for _, g := range r.Groups {
		fmt.Fprintf(t, "%s\t%s\t%d\t%.2f\t%.1f %%\t%.1f %%\t%.2f\n", g.Cores, g.Type, g.Rows, g.Mean, 100*g.RMS, 100*g.CheckRMS, g.Worst)
	}
	return t.Flush()
}
