package bench

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/bench/gputimes"
	"github.com/nnsoc/nnsoc/bench/gputimes/micro"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/machine"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/sim"
)

// gpuReport is the JSON object of bench gpu.
type gpuReport struct {
	SchemaVersion int              `json:"schema_version"`
	Micro         []micro.Row      `json:"microbenchmarks"`
	Groups        []gputimes.Group `json:"group_ratios"`
	Kernels       []gputimes.Row   `json:"kernels"`
}

func newBenchGPU(a *cli.App) *cobra.Command {
	every, networks := 1, false
	c := &cobra.Command{
		Use:   "gpu",
		Short: "compare rates and kernels of the GPU with those of a phone",
		Long: `gpu runs microbenchmarks on the simulated GPU and prints their results beside those
measured on an Adreno 640; their sources, in assembly and OpenCL C, are in
bench/gputimes/micro/kernels, and "nnsoc gpu exec" runs them alone. Then it executes single float16 operations on the simulated GPU at its top clock and prints the
time of their kernels beside that of TensorFlow Lite's on a Pixel 4, by shape, then per class
the median of ours / published, its spread, and the share between 2/3 and 3/2.

With --networks it runs whole networks instead, in float16 in a loop as "nnsoc run --relaxed"
does, and prints their latency and their time on the engine beside those of a Pixel 4.`,
		Example: "  nnsoc bench gpu\n  nnsoc bench gpu --every 10 --json\n  nnsoc bench gpu --networks --every 13",
		Args:    cli.NoArguments,
		RunE: func(*cobra.Command, []string) error {
			if every < 1 {
				return cli.Usage(fmt.Errorf("--every %d: at least 1", every))
			}
			if networks {
				return benchNetworks(a, every)
			}
			m := try.V(machine.Open(a, hal.SustainedSpeed))
			all := try.V(gputimes.Kernels())
			var list []gputimes.Kernel
			for i := 0; i < len(all); i += every {
				list = append(list, all[i])
			}
			rates := try.V(micro.Run(m.Config, sim.FastSingleAnswer))
			progress := a.Progress()
			defer progress.Done()
			i := 0
			rows := try.V(gputimes.Run(m.Config, list, func() {
				i++
				progress.Update("gpu: %d of %d kernels", i, len(list))
			}))
			r := gpuReport{SchemaVersion: cli.SchemaVersion, Micro: rates, Groups: gputimes.Groups(rows), Kernels: rows}
			if a.JSON {
				return cli.PrintJSON(a.Out, r)
			}
			return r.text(a.Out)
		},
	}
	c.Flags().IntVar(&every, "every", every, "run every Nth row of the table")
	c.Flags().BoolVar(&networks, "networks", false, "run whole networks instead of single kernels")
	return c
}

func (r *gpuReport) text(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "microbenchmark\tpublished\tours\tunit\tratio\tsource")
	for _, x := range r.Micro {
		published, ratio := "-", "-"
		if x.Published > 0 {
			published, ratio = significant(x.Published), fmt.Sprintf("%.2f", x.Ratio)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", x.What, published, significant(x.Ours), x.Unit, ratio, x.Source)
	}
	fmt.Fprintln(t)
	fmt.Fprintln(t, "operation\tin\tchannels\tout\tchannels\twindow\tstride\tgroups\tpublished us\tours\tratio")
	for _, x := range r.Kernels {
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%s\t%s\t%.2f\n", x.Operation, x.InSize, x.InChannels, x.OutSize, x.OutChannels, x.Window, x.Stride, x.Groups,
			significant(x.Us), significant(x.Ours), x.Ratio)
	}
	fmt.Fprintln(t)
	fmt.Fprintln(t, "class\trows\tmedian of ours / published\ta tenth is below\tabove\tbetween 2/3 and 3/2")
	for _, g := range r.Groups {
		fmt.Fprintf(t, "%s\t%d\t%.2f\t%.2f\t%.2f\t%.0f %%\n", g.Class, g.Rows, g.Median, g.Low, g.High, 100*g.Within)
	}
	return t.Flush()
}
