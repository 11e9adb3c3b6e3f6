package bench

import (
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/bench/dramtimes"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/machine"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// dramReport is the JSON object of bench dram.
type dramReport struct {
	SchemaVersion  int         `json:"schema_version"`
	DRAM           string      `json:"dram"`
	PeakGBps       float64     `json:"dram_peak_gbps"`
	Rows           []dramRow   `json:"rows"`
	IgnoredColumns []string    `json:"ignored_columns,omitempty"`
	Summary        dramSummary `json:"summary"`
}

// dramRow is one row: the case of the controller, and the published figure.
type dramRow struct {
	Line        int      `json:"line"`
	Pattern     string   `json:"pattern"`
	Params      string   `json:"params"`
	W           *int     `json:"window"` // null in an open loop
	Cycles      int64    `json:"cycles"`
	GBps        float64  `json:"gbps"`
	LatMeanNs   *float64 `json:"latency_mean_ns"` // null without reads, as are the others
	LatP50Ns    *float64 `json:"latency_p50_ns"`
	LatP95Ns    *float64 `json:"latency_p95_ns"`
	LatMaxNs    *float64 `json:"latency_max_ns"`
	RowHit      float64  `json:"row_hit_rate"`
	ReadBursts  int64    `json:"read_bursts"`
	WriteBursts int64    `json:"write_bursts"`
	Activates   int64    `json:"activates"`
	Refreshes   int64    `json:"refreshes"`

	Golden *dramGolden `json:"golden,omitempty"`
}

// dramGolden is the bands of a row and which of them hold, tolerance included.
type dramGolden struct {
	GBpsLo      *float64 `json:"gbps_low,omitempty"`
	GBpsHi      *float64 `json:"gbps_high,omitempty"`
	MeanLo      *float64 `json:"latency_mean_low_ns,omitempty"`
	MeanHi      *float64 `json:"latency_mean_high_ns,omitempty"`
	P95Lo       *float64 `json:"latency_p95_low_ns,omitempty"`
	P95Hi       *float64 `json:"latency_p95_high_ns,omitempty"`
	RowHit      *float64 `json:"row_hit_rate,omitempty"`
	GBpsInBand  bool     `json:"gbps_in_band"`
	MeanInBand  bool     `json:"latency_mean_in_band"`
	P95InBand   bool     `json:"latency_p95_in_band"`
	RowIsInBand bool     `json:"in_band"` // bandwidth and mean latency
}

type dramSummary struct {
	Rows       int `json:"row_count"`
	Golden     int `json:"golden_count"` // rows with golden values, as are the following
	GBpsInBand int `json:"gbps_in_band_count"`
	MeanInBand int `json:"latency_mean_in_band_count"`
	P95InBand  int `json:"latency_p95_in_band_count"`
	InBand     int `json:"in_band_count"`
}

func newBenchDRAM(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "dram FILE.tsv",
		Short: "run request patterns on the DRAM controller",
		Long: `dram reads rows of request patterns (columns pattern, params and W; docs/Memory.md has the
grammar), runs the DRAM controller of the engines with each and prints bandwidth, read
latency and row hits beside the golden values of the file (columns gbps, lat_mean_ns,
lat_p95_ns, row_hit, and bands gbps_lo/hi, mean_lo/hi, p95_lo/hi), if it has any.

Without --soc the DRAM is LPDDR4X-4266, four channels of 16 bit, timed as the golden rows
are; --soc uses the [dram] section of another machine. A row is in band when its bandwidth
is within 10 % of the golden band and its mean latency within 15 %. The command fails when
fewer than 90 % of the rows with golden values are.`,
		Example: "  nnsoc bench dram rows.tsv\n  nnsoc bench dram rows.tsv --soc sd888 --json",
		Args:    cli.ExactlyOne,
		RunE: func(cmd *cobra.Command, args []string) error {
			text := try.V(readTable(args[0]))
			rows, ignored, err := dramtimes.Table(args[0], text)
			if err != nil {
				return cli.Usage(err)
			}
			config, err := dramtimes.GoldenConfig()
			if err == nil && (cmd.Flags().Changed("soc") || len(a.Set) > 0) {
				c := try.V(machine.LoadSoC(a))
				config = &c.DRAM
				config.Type += machine.Changed(a)
			}
			if err != nil {
				return err
			}
			r := dramReport{SchemaVersion: cli.SchemaVersion, DRAM: config.Type, IgnoredColumns: ignored}
			try.E(r.measure(a, rows, config))
			if a.JSON {
				err = cli.PrintJSON(a.Out, &r)
			} else {
				err = r.print(a.Out)
			}
			if s := &r.Summary; err == nil && float64(s.InBand) < dramtimes.InBandShare*float64(s.Golden) {
				err = &cli.ExitError{Code: cli.ExitMismatch, Err: fmt.Errorf("bench dram: %d of %d rows are in band, want %.0f %%", s.InBand, s.Golden, dramtimes.InBandShare*100)}
			}
			return err
		},
	}
}

// maxTable bounds a table of patterns.
const maxTable = 4 << 20

func readTable(path string) (string, error) {
	data, err := cli.ReadFile(path, maxTable)
	if err != nil {
		return "", err
	}
	return strings.TrimPrefix(string(data), "\ufeff"), nil
}

func (r *dramReport) measure(a *cli.App, rows []dramtimes.Row, config *soc.DRAM) error {
	p := a.Progress()
	defer p.Done()
	for i := range rows {
		row := &rows[i]
		p.Update("%s, row %d of %d", row.Name, i+1, len(rows))
		d, err := row.Pattern.Controller(config)
		if err != nil {
			return cli.Usage(fmt.Errorf("line %d: %w", row.Line, err))
		}
		cfg := d.Config()
		r.PeakGBps = cfg.PeakBytesPerSecond() / 1e9
		r.add(row, dramtimes.Run(d, row.Pattern, row.Window))
	}
	return nil
}

func (r *dramReport) add(row *dramtimes.Row, got dramtimes.Result) {
	x := dramRow{Line: row.Line, Pattern: row.Name, Params: row.Params, Cycles: got.Cycles, GBps: got.GBps, RowHit: got.RowHit,
		ReadBursts: got.ReadBursts, WriteBursts: got.WriteBursts, Activates: got.Activates, Refreshes: got.Refreshes}
	if row.Window > 0 {
		x.W = &row.Window
	}
	if got.Reads > 0 {
		x.LatMeanNs, x.LatP50Ns, x.LatP95Ns, x.LatMaxNs = &got.LatMeanNs, &got.LatP50Ns, &got.LatP95Ns, &got.LatMaxNs
	}
	r.Summary.Rows++
	if g := row.Golden; g != nil {
		v := dramtimes.Compare(&got, g)
		x.Golden = &dramGolden{
			GBpsLo: known(g.GBps.Lo), GBpsHi: known(g.GBps.Hi), MeanLo: known(g.LatMeanNs.Lo), MeanHi: known(g.LatMeanNs.Hi),
			P95Lo: known(g.LatP95Ns.Lo), P95Hi: known(g.LatP95Ns.Hi), RowHit: known(g.RowHit.Lo),
			GBpsInBand: v.GBps, MeanInBand: v.LatMean, P95InBand: v.LatP95, RowIsInBand: v.InBand(),
		}
		s := &r.Summary
		s.Golden++
		for _, c := range []struct {
			in bool
			n  *int
		}{{v.GBps, &s.GBpsInBand}, {v.LatMean, &s.MeanInBand}, {v.LatP95, &s.P95InBand}, {v.InBand(), &s.InBand}} {
			if c.in {
				*c.n++
			}
		}
	}
	r.Rows = append(r.Rows, x)
}

// known is a golden value, nil where the table has none.
func known(v float64) *float64 {
	if math.IsNaN(v) {
		return nil
	}
	return &v
}

func (r *dramReport) print(w io.Writer) error {
	fmt.Fprintf(w, "%s, %.1f GB/s at the pins:\n\n", r.DRAM, r.PeakGBps)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "pattern\tparams\tW\tGB/s\tgolden\tmean ns\tgolden\tp95 ns\tgolden\trow hit\tgolden\tin band")
	for i := range r.Rows {
		x := &r.Rows[i]
		window, g, verdict := "-", x.Golden, ""
		if x.W != nil {
			window = fmt.Sprint(*x.W)
		}
		if g == nil {
			g = &dramGolden{}
		} else if verdict = "no"; g.RowIsInBand {
			verdict = "yes"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%.3f\t%s\t%s\t%s\t%s\t%s\t%.4f\t%s\t%s\n", x.Pattern, x.Params, window,
			x.GBps, span(g.GBpsLo, g.GBpsHi, 3), number(x.LatMeanNs, 2), span(g.MeanLo, g.MeanHi, 2),
			number(x.LatP95Ns, 2), span(g.P95Lo, g.P95Hi, 2), x.RowHit, number(g.RowHit, 4), verdict)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if len(r.IgnoredColumns) > 0 {
		fmt.Fprintf(w, "\ncolumns not compared: %s\n", strings.Join(r.IgnoredColumns, ", "))
	}
	s := &r.Summary
	if s.Golden == 0 {
		_, err := fmt.Fprintf(w, "\n%d rows, none with golden values\n", s.Rows)
		return err
	}
	_, err := fmt.Fprintf(w, "\nof %d rows with golden values %d are in band; bandwidth %d, mean latency %d, 95th percentile %d\n",
		s.Golden, s.InBand, s.GBpsInBand, s.MeanInBand, s.P95InBand)
	return err
}

// number prints a known number.
func number(v *float64, digits int) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf("%.*f", digits, *v)
}

// span prints a band.
func span(lo, hi *float64, digits int) string {
	if lo == nil {
		return "-"
	}
	return number(lo, digits) + ".." + number(hi, digits)
}
