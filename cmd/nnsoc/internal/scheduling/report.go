package scheduling

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/nnsoc/nnsoc/bench/scenario"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// scheduleReport is the JSON object of schedule.
type scheduleReport struct {
	SchemaVersion int              `json:"schema_version"`
	Scenarios     []*scenarioEntry `json:"scenarios"` // by argument
}

// scenarioEntry is a scenario with what the strategies did.
type scenarioEntry struct {
	Scenario   *scenario.Scenario         `json:"scenario"` // as its file says, with defaults
	SoC        string                     `json:"soc"`
	Engines    string                     `json:"engine_costs"`                // "measured": held for the measured times of operations, or "simulated"
	Alone      []aloneEntry               `json:"alone_costs"`                 // cost of each network on each engine that runs it
	Costs      string                     `json:"costs,omitempty"`             // file of --costs, which alone_costs then are of
	Coverage   []scenario.NetworkCoverage `json:"cost_coverage,omitempty"`     // what that file says, by network; the rest is simulated
	Unused     []string                   `json:"unused_networks,omitempty"`   // networks that the file has rows of and that are not in the scenario
	Strategies []*scenario.Summary        `json:"strategies"`                  // by strategy
	Failed     []failedStrategy           `json:"failed_strategies,omitempty"` // programs that gave no plan
	Rates      []rateEntry                `json:"highest_rates,omitempty"`     // with --highest-rate, in place of strategies
	Seeds      int                        `json:"seed_count,omitempty"`        // with --seeds; strategies are those of the first, the scenario's own
	Ranking    []*scenario.Aggregate      `json:"ranking,omitempty"`           // with --seeds, the best first; others beside it
}

// failedStrategy is a program that has made no plan, or none that runs.
type failedStrategy struct {
	Strategy string `json:"strategy"` // name of the strategy
	Error    string `json:"error"`
}

// aloneEntry is the cost of a network that has the phone for itself.
type aloneEntry struct {
	Model     string  `json:"model"`
	Device    string  `json:"device"`
	LatencyUS float64 `json:"latency_us"`
	EnergyUJ  float64 `json:"energy_uj"`
}

func newScenarioEntry(s *scenario.Scenario, c *soc.Config, p *scenario.Problem) *scenarioEntry {
	e := &scenarioEntry{Scenario: s, SoC: c.SoC.Name}
	for i := range p.Costs {
		for d := range p.Devices {
			if x := &p.Costs[i][d]; x.Runs() {
				e.Alone = append(e.Alone, aloneEntry{s.Networks[i].Model, p.Devices[d], cli.Microseconds(x.LatencyFs), x.EnergyPJ / 1e6})
			}
		}
	}
	return e
}

// verdict is an error where some result differs from the reference, or a program has failed.
func (r *scheduleReport) verdict() error {
	for _, s := range r.Scenarios {
		for _, x := range s.Failed {
			return &cli.ExitError{Code: cli.ExitMismatch, Err: errors.New(x.Error)}
		}
		for _, x := range s.Strategies {
			if x.Mismatches > 0 {
				return &cli.ExitError{Code: cli.ExitMismatch, Err: fmt.Errorf("%s by %s: %d elements differ from the reference", s.Scenario.Name, x.Strategy, x.Mismatches)}
			}
		}
	}
	return nil
}

func (r *scheduleReport) write(a *cli.App, asCSV bool) error {
	switch {
	case a.JSON:
		return a.PrintObject(r)
	case asCSV:
		return r.csv(a.Out)
	}
	for i, s := range r.Scenarios {
		if i > 0 {
			fmt.Fprintln(a.Out)
		}
		if err := s.text(a.Out); err != nil {
			return err
		}
	}
	return nil
}

// column is a figure of a row.
type column struct {
	name string
	cell func(*scenario.Row) string
}

// columns are the figures of a network under a strategy, for CSV, and for text but those of onlyCSV.
var columns = []column{
	{"strategy", func(r *scenario.Row) string { return r.Strategy }},
	{"network", func(r *scenario.Row) string { return r.Network }},
	{"device", func(r *scenario.Row) string { return r.Device }},
	{"jobs", func(r *scenario.Row) string { return strconv.Itoa(r.JobCount) }},
	{"missed", func(r *scenario.Row) string { return strconv.Itoa(r.Missed) }},
	{"p50 ms", milli(func(r *scenario.Row) float64 { return r.P50MS })},
	{"p90 ms", milli(func(r *scenario.Row) float64 { return r.P90MS })},
	{"p99 ms", milli(func(r *scenario.Row) float64 { return r.P99MS })},
	{"worst ms", milli(func(r *scenario.Row) float64 { return r.WorstMS })},
	{"mean ms", milli(func(r *scenario.Row) float64 { return r.MeanMS })},
	{"predicted ms", milli(func(r *scenario.Row) float64 { return r.PredictedMS })},
	{"wait ms", milli(func(r *scenario.Row) float64 { return r.WaitMS })},
	{"queue ms", milli(func(r *scenario.Row) float64 { return r.QueueMS })},
	{"lost ms", milli(func(r *scenario.Row) float64 { return r.LostMS })},
	{"per s", func(r *scenario.Row) string { return strconv.FormatFloat(r.PerSecond, 'f', 1, 64) }},
	{"energy uJ", func(r *scenario.Row) string { return strconv.FormatFloat(r.EnergyUJ, 'f', 1, 64) }},
}

// onlyCSV are columns that would make lines of text too wide.
var onlyCSV = []string{"p90 ms", "per s"}

func milli(of func(*scenario.Row) float64) func(*scenario.Row) string {
	return func(r *scenario.Row) string {
		return strconv.FormatFloat(math.Round(of(r)*1000)/1000+0, 'f', 3, 64) // +0: no negative zero
	}
}

// text prints the answer first, then the strategies, then their networks.
func (e *scenarioEntry) text(w io.Writer) error {
	if e.Rates != nil {
		return e.rateText(w)
	}
	if e.Ranking != nil {
		return e.rankingText(w)
	}
	fmt.Fprintf(w, "%s on %s: %s, %s in %g ms\n", e.Scenario.Name, e.SoC, cli.Count(len(e.Scenario.Networks), "network"), cli.Count(e.Strategies[0].JobCount, "arrival"), e.Scenario.DurationMS)
	best := e.Strategies[0]
	for _, s := range e.Strategies[1:] {
		if s.Missed < best.Missed || s.Missed == best.Missed && s.MeanMS < best.MeanMS {
			best = s
		}
	}
	fmt.Fprintf(w, "%s misses the fewest deadlines, %d, with a result after %.3f ms in the mean.\n", best.Strategy, best.Missed, best.MeanMS)
	var front []string
	for _, s := range e.Strategies {
		if s.Pareto {
			front = append(front, s.Strategy)
		}
	}
	if len(front) == 1 {
		fmt.Fprintf(w, "%s has also the least energy and the least mean: no strategy is better in anything.\n\n", front[0])
	} else {
		fmt.Fprintln(w, cli.Wrap("Pareto-optimal in misses, energy and mean: "+strings.Join(front, ", ")+".")+"\n")
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	devices := deviceNames(e.Strategies)
	fmt.Fprint(t, "strategy\tmissed\tpredicted\tmean ms\tpredicted ms\tenergy uJ\tend ms\tplanning s\t")
	for _, d := range devices {
		fmt.Fprintf(t, "%s\t", d)
	}
	fmt.Fprintln(t)
	for _, s := range e.Strategies {
		fmt.Fprintf(t, "%s\t%d\t%d\t%.3f\t%.3f\t%.1f\t%.1f\t%.3f\t", proven(s), s.Missed, s.PredictedMissed, s.MeanMS, s.PredictedMS, s.EnergyUJ, s.SpanMS, s.PlanningS)
		for _, d := range devices {
			fmt.Fprintf(t, "%.1f %%\t", 100*s.Use[d])
		}
		fmt.Fprintln(t)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w)
	t = tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	shown := slices.DeleteFunc(slices.Clone(columns), func(c column) bool { return slices.Contains(onlyCSV, c.name) })
	for _, c := range shown {
		fmt.Fprintf(t, "%s\t", c.name)
	}
	fmt.Fprintln(t)
	for _, s := range e.Strategies {
		for i := range s.Networks {
			for _, c := range shown {
				fmt.Fprintf(t, "%s\t", c.cell(&s.Networks[i]))
			}
			fmt.Fprintln(t)
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	e.costsText(w)
	if slices.ContainsFunc(e.Strategies, func(s *scenario.Summary) bool {
		return slices.ContainsFunc(s.Networks, func(r scenario.Row) bool { return r.LostMS <= -0.0005 })
	}) {
		_, err := fmt.Fprintln(w, "\nlost ms below 0: jobs found cores and engines awake that others had woken, and needed less time than alone.")
		return err
	}
	return nil
}

// costsText says what a file of costs has, and what is simulated.
func (e *scenarioEntry) costsText(w io.Writer) {
	if e.Costs == "" {
		return
	}
	fmt.Fprintf(w, "\nStrategies plan, and predictions are made, by %s; the runs are simulated by the machine's own costs.\n", e.Costs)
	for _, n := range e.Coverage {
		if len(n.Whole) > 0 {
			fmt.Fprintf(w, "%s: as a whole on %s from %s\n", n.Network, strings.Join(n.Whole, ", "), e.Costs)
		}
		for i := range n.Coverage {
			fmt.Fprintf(w, "%s: %s\n", n.Network, n.Coverage[i].String(e.Costs))
		}
		if len(n.Whole) == 0 && n.Coverage == nil {
			fmt.Fprintf(w, "%s: all simulated, %s has no row about it\n", n.Network, e.Costs)
		}
	}
	if len(e.Unused) > 0 {
		fmt.Fprintf(w, "rows of networks that do not arrive here: %s\n", strings.Join(e.Unused, ", "))
	}
}

// proven marks the plan that no other is better than, by prediction.
func proven(s *scenario.Summary) string {
	if s.Proven {
		return s.Strategy + " (proven)"
	}
	return s.Strategy
}

// deviceNames lists the engines that some strategy used, in alphabetic order.
func deviceNames(list []*scenario.Summary) (names []string) {
	for _, d := range []string{"cpu", "gpu", "dsp", "npu"} {
		for _, s := range list {
			if s.Use[d] > 0 {
				names = append(names, d)
				break
			}
		}
	}
	return names
}

func (r *scheduleReport) csv(w io.Writer) error {
	c := csv.NewWriter(w)
	row := []string{"scenario", "soc"}
	for _, x := range columns {
		row = append(row, strings.ReplaceAll(x.name, " ", "_"))
	}
	_ = c.Write(row)
	for _, e := range r.Scenarios {
		for _, s := range e.Strategies {
			for i := range s.Networks {
				row = []string{e.Scenario.Name, e.SoC}
				for _, x := range columns {
					row = append(row, x.cell(&s.Networks[i]))
				}
				_ = c.Write(row)
			}
		}
	}
	c.Flush()
	return c.Error()
}
