package bench

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/npu/systolic"
)

// arrayReport is the JSON object of bench array.
type arrayReport struct {
	SchemaVersion int               `json:"schema_version"`
	Rows          int               `json:"array_rows"`
	Columns       int               `json:"array_columns"`
	Dataflow      systolic.Dataflow `json:"dataflow"`
	Overlap       systolic.Overlap  `json:"overlap"`
	M             int               `json:"m"`
	K             int               `json:"k"`
	N             int               `json:"n"`
	Count         int               `json:"count"`
	systolic.Report
}

func newBenchArray(a *cli.App) *cobra.Command {
	r := arrayReport{SchemaVersion: cli.SchemaVersion}
	var dataflow, overlap string
	c := &cobra.Command{
		Use:   "array",
		Short: "count the cycles of a matrix product on a systolic array",
		Long: `array counts the cycles of a product of M x K by K x N on a systolic array of rows and columns, which
keeps the outputs (os), the weights (ws) or the inputs (is) in place. Products larger than the
array are cut into folds. With --overlap none a fold is loaded, streamed and skewed before the
next begins, to the cycle as in SCALE-Sim v3 (which numbers cycles from 0 and so reports one
less); with preload the next tile is loaded meanwhile, as in Gemmini. A convolution is a product
of its output pixels, the taps of its window times the input channels, and its output channels;
a depthwise one is --count products, one for each channel. Nothing is computed, memories are
ideal.`,
		Example: "  nnsoc bench array --rows 16 --cols 16 --dataflow ws --m 12544 --k 27 --n 32\n" +
			"  nnsoc bench array --rows 32 --cols 32 --dataflow os --overlap preload --m 1024 --k 1024 --n 1024 --json",
		Args: cli.NoArguments,
		RunE: func(*cobra.Command, []string) error {
			r.Dataflow, r.Overlap = systolic.Dataflow(dataflow), systolic.Overlap(overlap)
			array := systolic.Array{Rows: r.Rows, Columns: r.Columns, Dataflow: r.Dataflow, Overlap: r.Overlap}
			var err error
			if r.Report, err = array.Run(r.M, r.K, r.N, r.Count); err != nil {
				return cli.Usage(err)
			}
			if a.JSON {
				return cli.PrintJSON(a.Out, &r)
			}
			fmt.Fprintf(a.Out, "%d x %dx%d by %dx%d on %dx%d, %s, overlap %s: %d cycles, utilization %.1f %%\n",
				r.Count, r.M, r.K, r.K, r.N, r.Rows, r.Columns, r.Dataflow, r.Overlap, r.Cycles, 100*r.Utilization)
			_, err = fmt.Fprintf(a.Out, "%d folds: load %d, stream %d, wait %d, skew %d cycles; %d multiply-accumulates\n",
				r.Folds, r.Load, r.Stream, r.Wait, r.Skew, r.MACs)
			return err
		},
	}
	f := c.Flags()
	f.IntVar(&r.Rows, "rows", 16, "rows of the array")
	f.IntVar(&r.Columns, "cols", 16, "columns of the array")
	f.StringVar(&dataflow, "dataflow", "ws", "what stays in the array: os (outputs), ws (weights) or is (inputs)")
	f.StringVar(&overlap, "overlap", "none", "of loading with computing: none or preload")
	f.IntVar(&r.M, "m", 1, "rows of the first matrix: output pixels")
	f.IntVar(&r.K, "k", 1, "columns of the first matrix: taps times input channels")
	f.IntVar(&r.N, "n", 1, "columns of the second matrix: output channels")
	f.IntVar(&r.Count, "count", 1, "products, one after the other")
	return c
}
