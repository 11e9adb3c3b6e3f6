package bench

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/bench"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/machine"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// streamsReport is the JSON object of bench streams.
type streamsReport struct {
	SchemaVersion int         `json:"schema_version"`
	SoC           string      `json:"soc"`
	PeakGBps      float64     `json:"dram_peak_gbps"`
	Rows          []streamRow `json:"rows"`
}

// streamRow is the bandwidth of an engine, beside published figures.
type streamRow struct {
	Engine  string   `json:"engine"`
	Pattern string   `json:"pattern"`
	GBps    float64  `json:"gbps"`
	Low     *float64 `json:"published_low_gbps,omitempty"`
	High    *float64 `json:"published_high_gbps,omitempty"`
	Source  string   `json:"source,omitempty"`
}

func newBenchStreams(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "streams",
		Short: "show what each engine draws from the memory",
		Long: `streams lets each engine of the SoC read, write and copy long streams over its path to the
memory, with as many requests in flight as its last cache has misses (an NPU two pieces of 64 KiB; of
the CPU one core), through interconnect, system-level cache and DRAM at the clock that it votes for at
its highest point. Nothing is computed. Bytes of a copy count once. Published figures are of
a Snapdragon 855 or of the same core; other SoCs have none.`,
		Example: "  nnsoc bench streams\n  nnsoc bench streams --soc sd888 --json",
		Args:    cli.NoArguments,
		RunE: func(*cobra.Command, []string) error {
			c := try.V(machine.LoadSoC(a))
			r := streamsReport{SchemaVersion: cli.SchemaVersion, SoC: c.SoC.Name, PeakGBps: float64(c.DRAM.Channels*c.DRAM.BusBits/8) * c.DRAM.MTPerS / 1e3, Rows: []streamRow{}}
			here := []bool{soc.EngineCPU: c.CPU != nil, soc.EngineGPU: c.GPU != nil, soc.EngineDSP: c.DSP != nil, soc.EngineNPU: c.NPU != nil}
			for e, ok := range here {
				if !ok {
					continue
				}
				try.E(r.measure(c, soc.Engine(e)))
			}
			if a.JSON {
				return cli.PrintJSON(a.Out, &r)
			}
			return r.print(a)
		},
	}
}

// measure adds the rows of an engine.
func (r *streamsReport) measure(c *soc.Config, e soc.Engine) error {
	for _, p := range bench.StreamPatterns() {
		rate, err := c.StreamRate(e, sim.FastSingleAnswer, p.Reads, p.Writes)
		if err != nil {
			return err
		}
		row := streamRow{Engine: e.String(), Pattern: p.Name, GBps: rate / 1e9 * float64(p.Counted) / float64(p.Reads+p.Writes)}
		for _, x := range bench.PublishedStreams() {
			if c.SoC.Name == "pixel4" && x.Engine == row.Engine && x.Pattern == p.Name {
				row.Low, row.High, row.Source = &x.Low, &x.High, x.Source
			}
		}
		r.Rows = append(r.Rows, row)
	}
	return nil
}

func (r *streamsReport) print(a *cli.App) error {
	t := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "%s, %.1f GB/s at the pins\n", r.SoC, r.PeakGBps)
	fmt.Fprintln(t, "engine\tpattern\tGB/s\tpublished\tsource")
	for _, row := range r.Rows {
		published := "-"
		if row.Low != nil {
			published = fmt.Sprintf("%.1f to %.1f", *row.Low, *row.High)
		}
		fmt.Fprintf(t, "%s\t%s\t%.1f\t%s\t%s\n", row.Engine, row.Pattern, row.GBps, published, row.Source)
	}
	return t.Flush()
}
