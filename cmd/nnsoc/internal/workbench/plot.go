package workbench

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"gonum.org/v1/plot/plotter"

	"github.com/nnsoc/nnsoc/bench/plot"
	"github.com/nnsoc/nnsoc/bench/report"
	"github.com/nnsoc/nnsoc/bench/session"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/input"
	"github.com/nnsoc/nnsoc/sim/soc"
)

type plotFlags struct {
	out, size, title, x, y string
}

// plotReport is the JSON object of plot.
type plotReport struct {
	SchemaVersion int    `json:"schema_version"`
	File          string `json:"file"`
	FileBytes     int    `json:"file_bytes"`
}

// kinds are the plots, by name.
var kinds = map[string]func(f *plotFlags, files []string) (*plot.Figure, error){
	"roofline": roofline, "pareto": pareto, "scaling": scaling, "sensitivity": tornado, "timeline": timeline,
	"latencies": latencies, "misses": misses,
}

// endings lists the endings of the files that each kind reads.
var endings = map[string][]string{"roofline": {"json"}, "pareto": {"csv", "json"}, "scaling": {"csv"}, "sensitivity": {"json"}, "timeline": {"json", "gz"},
	"latencies": {"json"}, "misses": {"json"}}

// completePlot completes the kind, then files that it reads.
func completePlot(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return slices.Sorted(maps.Keys(kinds)), cobra.ShellCompDirectiveNoFileComp
	}
	return endings[args[0]], cobra.ShellCompDirectiveFilterFileExt
}

// completeColumns completes columns of the tables that are named already.
func completeColumns(_ *cobra.Command, args []string, _ string) (columns []string, _ cobra.ShellCompDirective) {
	for i, name := range args {
		if i == 0 { // the kind
			continue
		}
		data, err := input.ReadModelFile(name)
		if err != nil {
			continue
		}
		if header, err := csv.NewReader(bytes.NewReader(data)).Read(); err == nil {
			columns = append(columns, header...)
		}
	}
	return columns, cobra.ShellCompDirectiveNoFileComp
}

// NewPlot returns the command plot.
func NewPlot(a *cli.App) *cobra.Command {
	f := &plotFlags{}
	names := slices.Sorted(maps.Keys(kinds))
	cmd := &cobra.Command{
		Use:   "plot KIND FILE...",
		Short: "draw results for a publication",
		Long: `plot draws files of results as SVG, PNG or PDF:
  pareto       energy over latency with their frontier: rows of sweeps (results.csv), plans
               of strategies (nnsoc partition --json; nnsoc schedule --json: energy of all
               results over the mean latency), runs on devices (nnsoc run --json)
  scaling      a column of sweeps over the values of a key (--x), a line per network and device
  roofline     the operations of runs (nnsoc run --json) below the limits of engines and memory
  sensitivity  the effect of lower and higher values of keys (nnsoc sensitivity --json)
  latencies    how many results of each strategy take at most so long (nnsoc schedule --json)
  misses       the share of deadlines that each strategy misses (nnsoc schedule --json)
  timeline     activity of engines and their threads over time (nnsoc run --trace FILE.json)`,
		Example: "  nnsoc plot pareto sweep/results.csv -o pareto.svg\n" +
			"  nnsoc partition mobilenet_v1_0.25_128_quant --json > plans.json && nnsoc plot pareto plans.json -o plans.svg\n" +
			"  nnsoc plot scaling sweep/results.csv --x dram.mt_per_s -o scaling.png --size column",
		ValidArgsFunction: completePlot,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 {
				return cli.Usage(fmt.Errorf("%s needs a kind (%s) and files", cmd.CommandPath(), strings.Join(names, ", ")))
			}
			if kinds[args[0]] == nil {
				return cli.Usage(fmt.Errorf("unknown plot %q; there are %s", args[0], strings.Join(names, ", ")))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			for flag, kind := range map[string]string{"x": "scaling", "y": "scaling"} {
				if cmd.Flags().Changed(flag) && args[0] != kind {
					return cli.Usage(fmt.Errorf("--%s does nothing with %s", flag, args[0]))
				}
			}
			return draw(a, f, args)
		},
	}
	fl := cmd.Flags()
	fl.StringVarP(&f.out, "output", "o", "", "file to write: .svg, .png or .pdf")
	cli.MarkFile(fl, "output")
	fl.StringVar(&f.size, "size", "page", "width: column (3.4 inches, one column of a paper), page (7, both) or slide (10)")
	fl.StringVar(&f.title, "title", "", "title above the plot (default: the network, where there is one)")
	fl.StringVar(&f.x, "x", "", "of scaling: the key along the x axis")
	fl.StringVar(&f.y, "y", "latency_us", "of scaling: the column along the y axis")
	_ = cmd.RegisterFlagCompletionFunc("size", cobra.FixedCompletions(slices.Sorted(maps.Keys(plot.Sizes)), cobra.ShellCompDirectiveNoFileComp))
	for _, axis := range []string{"x", "y"} {
		_ = cmd.RegisterFlagCompletionFunc(axis, completeColumns)
	}
	return cmd
}

func draw(a *cli.App, f *plotFlags, args []string) error {
	size, ok := plot.Sizes[f.size]
	switch {
	case f.out == "":
		return cli.Usage(errors.New("no file to write: give --output"))
	case !ok:
		return cli.Usage(fmt.Errorf("unknown --size %q; there are %s", f.size, strings.Join(slices.Sorted(maps.Keys(plot.Sizes)), ", ")))
	}
	p, err := kinds[args[0]](f, args[1:])
	if err != nil {
		return cli.Usage(err)
	}
	var b bytes.Buffer
	if err := plot.Write(&b, f.out, p, size); err != nil {
		return cli.Usage(err)
	}
	if err := cli.WriteFile(f.out, b.Bytes()); err != nil {
		return err
	}
	if a.JSON {
		return cli.PrintJSON(a.Out, plotReport{cli.SchemaVersion, f.out, b.Len()})
	}
	return nil
}

// row is a row of a sweep that is ok.
type row struct {
	model, device string
	keys          []string // KEY=VALUE of the keys of the sweep that have several values
	at            plotter.XY
}

// rows reads the rows of sweeps: a pair of columns.
func rows(files []string, x, y string) (list []row, err error) {
	for _, name := range files {
		data, err := input.ReadModelFile(name)
		if err != nil {
			return nil, err
		}
		c := csv.NewReader(bytes.NewReader(data))
		records, err := c.ReadAll()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if len(records) == 0 {
			return nil, fmt.Errorf("%s: empty", name)
		}
		at := map[string]int{}
		for i, h := range records[0] {
			at[h] = i
		}
		for _, column := range []string{"model", "device", "status", x, y} {
			if _, ok := at[column]; !ok {
				return nil, fmt.Errorf("%s: no column %q", name, column)
			}
		}
		keys := differing(records, at)
		for i, r := range records[1:] {
			if r[at["status"]] != session.StatusOK {
				continue
			}
			n := row{model: r[at["model"]], device: r[at["device"]]}
			for _, v := range []struct {
				column string
				to     *float64
			}{{x, &n.at.X}, {y, &n.at.Y}} {
				if *v.to, err = strconv.ParseFloat(r[at[v.column]], 64); err != nil {
					return nil, fmt.Errorf("%s: row %d: %s: %q is no number", name, i+1, v.column, r[at[v.column]])
				}
			}
			for _, c := range keys {
				if records[0][c] != x {
					n.keys = append(n.keys, records[0][c]+"="+r[c])
				}
			}
			list = append(list, n)
		}
	}
	return list, nil
}

// differing are the columns of a sweep's keys, which stand between build and status, that have several values.
func differing(records [][]string, at map[string]int) (list []int) {
	if at["build"] == 0 {
		return nil
	}
	for i := at["build"] + 1; i < at["status"]; i++ {
		if slices.ContainsFunc(records[1:], func(r []string) bool { return r[i] != records[1][i] }) {
			list = append(list, i)
		}
	}
	return list
}

// effective leaves out the keys that change nothing for the rows of a network on a device: rows that differ in such a
// key alone are one. In lines, x is a key too.
func effective(list []row, lines bool) (less []row) {
	for k := 0; len(list) > 0 && k < len(list[0].keys); {
		seen, matters := map[string]plotter.XY{}, false
		for _, r := range list {
			others := fmt.Sprint(slices.Delete(slices.Clone(r.keys), k, k+1))
			if lines {
				others += fmt.Sprint(r.at.X)
			}
			at, ok := seen[others]
			matters = matters || ok && at != r.at
			seen[others] = r.at
		}
		if matters {
			k++
			continue
		}
		for i := range list {
			list[i].keys = slices.Delete(slices.Clone(list[i].keys), k, k+1)
		}
	}
	seen := map[string]bool{}
	for _, r := range list {
		if s := fmt.Sprint(r.keys, r.at); !seen[s] {
			less, seen[s] = append(less, r), true
		}
	}
	return less
}

// series are the points of rows by network, device and, in lines, keys; else keys say what a point is. The network of
// all is returned apart, for the title.
func series(list []row, lines bool) (_ []plot.Series, of string) {
	by := map[string][]row{}
	models := map[string]bool{}
	for _, r := range list {
		by[r.model+" on "+r.device] = append(by[r.model+" on "+r.device], r)
		models[r.model] = true
	}
	at := map[string]*plot.Series{}
	for _, rows := range by {
		for _, r := range effective(rows, lines) {
			name, what := r.device, strings.Join(r.keys, ", ")
			if len(models) > 1 {
				name = r.model + " on " + r.device
			}
			if lines && what != "" {
				name += ", " + what
			}
			if at[name] == nil {
				at[name] = &plot.Series{Name: name, Group: r.model}
			}
			s := at[name]
			s.Points, s.Labels = append(s.Points, r.at), append(s.Labels, what)
		}
	}
	var out []plot.Series
	for _, name := range slices.Sorted(maps.Keys(at)) {
		out = append(out, *at[name])
	}
	if len(models) == 1 {
		of = list[0].model
	}
	return out, of
}

// costs reads latency and energy of plans, scenarios or runs: of each strategy or device a series. They
// are of a network on a SoC, or of a scenario there.
func costs(name string) (list []plot.Series, of string, err error) {
	data, err := input.ReadModelFile(name)
	if err != nil {
		return nil, "", err
	}
	var f struct {
		Model      string
		SoC        string
		Strategies []struct {
			Name      string
			LatencyUS float64 `json:"latency_us"`
			EnergyUJ  float64 `json:"energy_uj"`
		}
		Scenarios []scheduled
	}
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, "", fmt.Errorf("%s: %w", name, err)
	}
	for _, x := range f.Scenarios {
		for _, s := range x.Strategies {
			name := x.label(s.Strategy, len(f.Scenarios) > 1)
			if of = x.Scenario.Name + " on " + x.SoC; len(f.Scenarios) > 1 {
				of = "scenarios on " + x.SoC
			}
			list = append(list, plot.Series{Name: name, Group: x.Scenario.Name, Points: plotter.XYs{{X: s.MeanMS * 1e3, Y: s.EnergyUJ}}})
		}
	}
	if len(list) > 0 {
		return list, of, nil
	}
	of = f.Model + " on " + f.SoC
	add := func(what string, us, uj float64) {
		list = append(list, plot.Series{Name: what, Group: f.Model, Points: plotter.XYs{{X: us, Y: uj}}})
	}
	for _, s := range f.Strategies {
		add(s.Name, s.LatencyUS, s.EnergyUJ)
	}
	if f.Strategies != nil {
		return list, of, nil
	}
	r, err := report.Read(name, bytes.NewReader(data))
	if err != nil {
		return nil, "", err
	}
	for i := range r.Runs {
		if x := &r.Runs[i]; x.Status == session.StatusOK && x.LatencyUS != nil && x.EnergyUJ != nil {
			add(x.Device, *x.LatencyUS, *x.EnergyUJ)
		}
	}
	return list, of, nil
}

func pareto(f *plotFlags, files []string) (*plot.Figure, error) {
	tables, list := []string{}, []plot.Series{}
	for _, name := range files {
		if !strings.HasSuffix(name, ".json") {
			tables = append(tables, name)
			continue
		}
		more, of, err := costs(name)
		switch {
		case err != nil:
			return nil, err
		case len(files) > 1: // the title of one alone names its subject
			for i := range more {
				more[i].Name += ": " + of
			}
		case f.title == "":
			f.title = of
		}
		list = append(list, more...)
	}
	table, err := rows(tables, "latency_us", "energy_uj")
	if err != nil {
		return nil, err
	}
	points, of := series(table, false)
	switch {
	case f.title == "" && len(list) == 0:
		f.title = of
	case of != "" && len(list) > 0: // a title alone does not name it
		for i := range points {
			points[i].Name = of + " on " + points[i].Name
		}
	}
	list = append(points, list...)
	for _, s := range list {
		for i := range s.Points {
			s.Points[i].X, s.Points[i].Y = s.Points[i].X/1e3, s.Points[i].Y/1e3
		}
	}
	return plot.Pareto(f.title, list)
}

func scaling(f *plotFlags, files []string) (*plot.Figure, error) {
	if f.x == "" {
		return nil, errors.New("no key along the x axis: give --x")
	}
	table, err := rows(files, f.x, f.y)
	if err != nil {
		return nil, err
	}
	list, of := series(table, true)
	return plot.Scaling(cmp.Or(f.title, of), axis(f.x), plot.Words(f.y), list)
}

// axis is the title of an axis of a key: with its unit, or of a column of results.
func axis(key string) string {
	m, ok := soc.MeaningOf(key)
	switch {
	case !ok && !strings.Contains(key, "."):
		return plot.Words(key)
	case !ok || m.Unit == "-" || m.Unit == "":
		return key
	}
	return key + " in " + plot.Unit(m.Unit)
}

func roofline(f *plotFlags, files []string) (*plot.Figure, error) {
	by, of := map[string]plotter.XYs{}, map[string]bool{}
	roofs := map[string]plot.Roof{}
	for _, name := range files {
		r, err := readReport(name)
		if err != nil {
			return nil, err
		}
		of[r.Model] = true
		for i := range r.Runs {
			for _, o := range r.Runs[i].Operations {
				if o.MACs == 0 || o.TimeUS <= 0 || o.DRAMBytes <= 0 {
					continue
				}
				k := o.Device
				if len(files) > 1 {
					k += " of " + r.SoC
				}
				by[k] = append(by[k], plotter.XY{X: float64(o.MACs) / float64(o.DRAMBytes), Y: float64(o.MACs) / o.TimeUS * 1e6})
				if x, ok := r.Roofs[o.Device]; ok {
					roofs[k] = plot.Roof{MACsPerS: x.MACsPerS, BytesPerS: x.BytesPerS}
				}
			}
		}
	}
	var list []plot.Series
	for _, k := range slices.Sorted(maps.Keys(by)) {
		list = append(list, plot.Series{Name: k, Points: by[k]})
	}
	return plot.Roofline(cmp.Or(f.title, strings.Join(slices.Sorted(maps.Keys(of)), ", ")), list, roofs)
}

func tornado(f *plotFlags, files []string) (*plot.Figure, error) {
	if len(files) != 1 {
		return nil, fmt.Errorf("%d files, want one of \"nnsoc sensitivity --json\"", len(files))
	}
	var r sensitivityReport
	data, err := input.ReadModelFile(files[0])
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, fmt.Errorf("%s: %w", files[0], err)
	}
	if r.Keys == nil {
		return nil, fmt.Errorf("%s: no object of \"nnsoc sensitivity --json\"", files[0])
	}
	var list []plot.Effect
	for i := range r.Keys {
		e := &r.Keys[i]
		x := plot.Effect{Key: e.Key}
		if e.Lower != nil {
			x.Lower = e.Lower.LatencyPercent
		}
		if e.Higher != nil {
			x.Higher = e.Higher.LatencyPercent
		}
		if max(math.Abs(x.Lower), math.Abs(x.Higher)) >= negligible {
			list = append(list, x)
		}
	}
	slices.SortStableFunc(list, func(a, b plot.Effect) int {
		return cmp.Compare(max(math.Abs(b.Lower), math.Abs(b.Higher)), max(math.Abs(a.Lower), math.Abs(a.Higher)))
	})
	title := cmp.Or(f.title, fmt.Sprintf("%s on %s: keys by %g percent", r.Model, r.Device, r.ByPercent))
	return plot.Tornado(title, "latency", list[:min(20, len(list))])
}
