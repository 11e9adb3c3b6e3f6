package partition

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/nnsoc/nnsoc/bench"
	"github.com/nnsoc/nnsoc/bench/session"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/input"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
	"github.com/nnsoc/nnsoc/runtime/partition"
	"github.com/nnsoc/nnsoc/runtime/partition/cost"
)

// PartitionReport is the JSON object of partition.
type PartitionReport struct {
	SchemaVersion int `json:"schema_version"`
	session.ModelReport
	SoC        string             `json:"soc"`
	Objective  string             `json:"objective"`
	Costs      string             `json:"costs"`
	Errors     []costError        `json:"cost_errors,omitempty"`   // of costs that are not measured
	Coverage   []cost.Coverage    `json:"cost_coverage,omitempty"` // of costs of a file: what it has, by device; the rest is simulated
	Strategies []*strategyEntry   `json:"strategies"`
	Failed     []failedStrategy   `json:"failed_strategies,omitempty"` // programs that gave no plan
	Division   *division          `json:"division,omitempty"`
	Published  []publishedRatio   `json:"published_ratios,omitempty"`
	Divided    []dividedOperation `json:"divided_operations,omitempty"` // with --divide, the costliest first

	problem *partition.Problem
	entries []*strategyEntry // in the order they ran
}

// strategyEntry is one strategy. The interval is the time between results of a stream of inputs; it is predicted as the
// time for which the busiest engine is held. With measured costs the prediction is a run of the plan; the estimate is
// the prediction before that, by runs of others. The gap is the simulated objective over that of the best plan that was
// found, less 1.
type strategyEntry struct {
	Name               string  `json:"name"`
	Objective          string  `json:"objective"`
	Simulated          bool    `json:"simulated"` // the plan ran; else simulated figures are left out, and the gap is that of the prediction
	PredictedLatencyUS float64 `json:"predicted_latency_us,omitempty"`
	SimulatedLatencyUS float64 `json:"latency_us,omitempty"`
	PredictedEnergyUJ  float64 `json:"predicted_energy_uj,omitempty"`
	EnergyUJ           float64 `json:"energy_uj,omitempty"`
	// EnergyComponents divide EnergyUJ by component of the phone.
	EnergyComponents    map[string]float64 `json:"energy_components_uj,omitempty"`
	PredictedIntervalUS float64            `json:"predicted_interval_us,omitempty"` // with objective throughput, as the next
	SimulatedIntervalUS float64            `json:"interval_us,omitempty"`
	Parts               int                `json:"part_count"`
	Transitions         int                `json:"transitions"`
	BytesMoved          int64              `json:"moved_bytes"`
	PlanningUS          float64            `json:"planning_us"`
	GapToOptimum        float64            `json:"optimality_gap"`
	Proven              bool               `json:"proven_optimal"` // no better plan exists under the additive costs
	Mismatches          int                `json:"mismatches"`
	// NotPredicted: by the costs a device does not support operations of the plan, which are listed, so that there is no
	// prediction.
	NotPredicted bool `json:"not_predicted,omitempty"`
	// Pareto: no plan that ran is as good in latency and energy and better in one of them.
	Pareto  bool     `json:"pareto,omitempty"`
	Note    string   `json:"note,omitempty"` // where a plan, or a strategy of one device, ran elsewhere
	Devices []string `json:"assignment"`

	plan      partition.Plan
	steps     []partition.Step
	problem   *partition.Problem
	predicted *partition.Evaluation
	score     float64
}

// failedStrategy is a program that gave no plan. It has no row, and exit code 1.
type failedStrategy struct {
	Name  string `json:"name"`
	Error string `json:"error"`
}

type costError struct {
	Device     string  `json:"device"`
	Operations int     `json:"operation_count"`
	Median     float64 `json:"median_error"` // of the times of operations, relative
	Total      float64 `json:"total_error"`  // of their sum
}

// division is what the best plan gains by running parts of the network on different devices, in the order given, beside
// the best plan that one device runs: the objective of that plan over its own.
type division struct {
	Strategy string   `json:"name"`
	Devices  []string `json:"part_devices"`
	Single   string   `json:"single_device"`
	Gain     float64  `json:"gain"`
}

// publishedRatio is a published failure of greedy partitioning beside ours.
type publishedRatio struct {
	Network string  `json:"model"`
	Phone   string  `json:"phone"`
	Ratio   float64 `json:"published_ratio"`
	Ours    float64 `json:"ratio"` // strategy aosp over cpu
}

// ran adds the costs of executions, and the comparison of results.
func (e *strategyEntry) ran(f *input.Form, r *session.PlanRun, computed *nnrt.Result) {
	e.Simulated = true
	e.SimulatedLatencyUS, e.EnergyUJ, e.Parts = r.Invocations.MeanUS, r.Invocations.Energy, len(r.Result.Parts)
	e.EnergyComponents = r.Invocations.Components
	for _, c := range f.Compare(computed) {
		e.Mismatches += c.Mismatches
		if c.First != nil && c.Mismatches == 0 {
			e.Mismatches++ // a shape
		}
	}
}

// entry returns the row of a strategy, nil when it did not plan.
func (r *PartitionReport) entry(strategy string) *strategyEntry {
	i := slices.IndexFunc(r.entries, func(e *strategyEntry) bool { return e.Name == strategy })
	if i < 0 {
		return nil
	}
	return r.entries[i]
}

// finish orders the entries as they were requested and measures the gaps.
func (r *PartitionReport) finish(strategies []partition.Strategy, optimum float64) {
	for _, s := range strategies {
		e := r.entry(s.Name())
		if e == nil { // it failed
			continue
		}
		if optimum > 0 {
			e.GapToOptimum = e.score/optimum - 1
		}
		r.Strategies = append(r.Strategies, e)
	}
}

// minGain is the gain from which a division counts: plans are compared by half a percent.
const minGain = 1.005

// divide compares the best plan with the best of those that one device runs, among those that ran.
func (r *PartitionReport) divide() {
	var best, single *strategyEntry
	for _, e := range r.Strategies {
		if !e.Simulated {
			continue
		}
		if best == nil || e.score < best.score {
			best = e
		}
		if len(slices.Compact(slices.Clone(e.Devices))) == 1 && (single == nil || e.score < single.score) {
			single = e
		}
	}
	if best == nil || single == nil || !(single.score > minGain*best.score) {
		return
	}
	r.Division = &division{best.Name, slices.Compact(slices.Clone(best.Devices)), single.Devices[0], single.score / best.score}
}

// front marks the plans that ran which no other is better than in latency and energy.
func (r *PartitionReport) front() {
	for _, x := range r.Strategies {
		x.Pareto = x.Simulated && !slices.ContainsFunc(r.Strategies, func(y *strategyEntry) bool {
			return y.Simulated && y.SimulatedLatencyUS <= x.SimulatedLatencyUS && y.EnergyUJ <= x.EnergyUJ &&
				(y.SimulatedLatencyUS < x.SimulatedLatencyUS || y.EnergyUJ < x.EnergyUJ)
		})
	}
}

// publish compares with published failures where the network is the one that
// shows them.
func (r *PartitionReport) publish(model string) {
	var aosp, cpu float64
	for _, e := range r.entries {
		switch e.Name {
		case "aosp":
			aosp = e.SimulatedLatencyUS
		case "cpu":
			cpu = e.SimulatedLatencyUS
		}
	}
	if model != bench.IslandsName || aosp == 0 || cpu == 0 {
		return
	}
	for _, f := range bench.GreedyFailures {
		r.Published = append(r.Published, publishedRatio{f.Network, f.Phone, f.Ratio, aosp / cpu})
	}
}

// verdict is an error when a plan's results differ from the reference, or a strategy gave no plan.
func (r *PartitionReport) verdict() error {
	var bad []string
	for _, e := range r.Strategies {
		if e.Mismatches > 0 {
			bad = append(bad, e.Name)
		}
	}
	var errs []error
	if len(bad) > 0 {
		errs = append(errs, fmt.Errorf("results of %s differ from the reference", strings.Join(bad, ", ")))
	}
	for _, f := range r.Failed {
		errs = append(errs, errors.New(f.Error))
	}
	if len(errs) == 0 {
		return nil
	}
	return &cli.ExitError{Code: cli.ExitMismatch, Err: errors.Join(errs...)}
}

func (r *PartitionReport) write(a *cli.App, f *partitionFlags) error {
	switch {
	case a.JSON:
		return cli.PrintJSON(a.Out, r)
	case f.csv:
		return r.csv(a.Out)
	case f.markdown:
		return r.markdown(a.Out)
	case f.dot:
		return r.dot(a.Out)
	}
	return r.text(a.Out)
}

// partitionColumn is a column of the tables.
type partitionColumn struct {
	name, title string
	value       func(e *strategyEntry, digits int) string // digits after the point, as strconv has them
}

// columns lists what the tables for people show, without what was not requested.
func (r *PartitionReport) columns() []partitionColumn {
	streams := r.Objective == partition.Throughput.String()
	var l []partitionColumn
	for _, c := range partitionColumns {
		if c.title != "" && (streams || !strings.HasSuffix(c.name, "interval_us")) {
			l = append(l, c)
		}
	}
	return l
}

// partitionColumns are the columns of CSV.
var partitionColumns = []partitionColumn{
	{"name", "strategy", func(e *strategyEntry, _ int) string { return e.Name }},
	{"objective", "", func(e *strategyEntry, _ int) string { return e.Objective }}, // the same in all rows
	{"predicted_latency_us", "predicted us", func(e *strategyEntry, digits int) string { return e.formatPrediction(e.PredictedLatencyUS, digits) }},
	{"latency_us", "simulated us", func(e *strategyEntry, digits int) string { return e.measured(e.SimulatedLatencyUS, digits) }},
	{"predicted_interval_us", "predicted interval", ofStreams(func(e *strategyEntry, digits int) string { return e.formatPrediction(e.PredictedIntervalUS, digits) })},
	{"interval_us", "simulated interval", ofStreams(func(e *strategyEntry, digits int) string { return e.measured(e.SimulatedIntervalUS, digits) })},
	{"predicted_energy_uj", "predicted uJ", func(e *strategyEntry, digits int) string { return e.formatPrediction(e.PredictedEnergyUJ, digits) }},
	{"energy_uj", "simulated uJ", func(e *strategyEntry, digits int) string { return e.measured(e.EnergyUJ, digits) }},
	{"part_count", "parts", func(e *strategyEntry, _ int) string { return strconv.Itoa(e.Parts) }},
	{"transitions", "", func(e *strategyEntry, _ int) string { return strconv.Itoa(e.Transitions) }},
	{"moved_bytes", "moved KB", func(e *strategyEntry, digits int) string {
		if digits < 0 {
			return strconv.FormatInt(e.BytesMoved, 10)
		}
		return decimal(float64(e.BytesMoved)/1e3, digits)
	}},
	{"planning_us", "planning us", func(e *strategyEntry, digits int) string { return decimal(e.PlanningUS, digits) }},
	{"optimality_gap", "gap", func(e *strategyEntry, digits int) string {
		if digits < 0 {
			return decimal(e.GapToOptimum, digits)
		}
		return decimal(100*e.GapToOptimum, digits) + " %"
	}},
	{"proven_optimal", "proven", func(e *strategyEntry, _ int) string {
		if e.Proven {
			return "yes"
		}
		return "no"
	}},
	{"mismatches", "mismatches", func(e *strategyEntry, _ int) string {
		if !e.Simulated {
			return "-"
		}
		return strconv.Itoa(e.Mismatches)
	}},
}

// ofStreams is a value that only plans for streams have.
func ofStreams(value func(*strategyEntry, int) string) func(*strategyEntry, int) string {
	return func(e *strategyEntry, digits int) string {
		if e.Objective != partition.Throughput.String() {
			return ""
		}
		return value(e, digits)
	}
}

// formatPrediction prints a prediction, "-" without one.
func (e *strategyEntry) formatPrediction(x float64, digits int) string {
	if e.NotPredicted {
		return "-"
	}
	return decimal(x, digits)
}

// measured is a figure of a plan that ran, "-" of one that did not.
func (e *strategyEntry) measured(x float64, digits int) string {
	if !e.Simulated {
		return "-"
	}
	return decimal(x, digits)
}

// moved notes operations that a device failed to prepare or to execute, which the CPU did in its place.
func (e *strategyEntry) moved(r *session.PlanRun, cpu string) {
	when, list := " while they ran", r.Result.Fallbacks
	for _, f := range r.Compilation.Fallbacks {
		if e.Devices[f.Operation] != cpu {
			when, list = "", append(list[:len(list):len(list)], f)
		}
	}
	if len(list) > 0 {
		e.Note = fmt.Sprintf("%d of %d operations moved to the %s%s: %s", len(list), len(e.Devices), cpu, when, list[len(list)-1].Reason)
	}
}

// note names the operations that a strategy of one device leaves to the CPU.
func (e *strategyEntry) note(p *partition.Problem) {
	device, single := strings.CutPrefix(e.Name, "single:")
	if !single {
		return
	}
	n := 0
	for _, d := range e.Devices {
		if d == device {
			n++
		}
	}
	cpu := p.Devices[0].Name
	switch {
	case n == 0:
		e.Note = fmt.Sprintf("%s supports none of the operations: all ran on the %s", device, cpu)
	case n < len(e.Devices):
		e.Note = fmt.Sprintf("%d of %d operations ran on the %s", len(e.Devices)-n, len(e.Devices), cpu)
	}
}

func decimal(x float64, digits int) string { return strconv.FormatFloat(x, 'f', digits, 64) }

// people is the value of a cell for people.
func (c *partitionColumn) people(e *strategyEntry) string { return c.value(e, 1) }

func (r *PartitionReport) csv(out io.Writer) error {
	w := csv.NewWriter(out)
	row := make([]string, len(partitionColumns))
	for i, c := range partitionColumns {
		row[i] = c.name
	}
	if err := w.Write(row); err != nil {
		return err
	}
	for _, e := range r.Strategies {
		for i, c := range partitionColumns {
			if row[i] = c.value(e, -1); row[i] == "-" {
				row[i] = ""
			}
		}
		if err := w.Write(row); err != nil {
			return err
		}
	}
	w.Flush()
	return w.Error()
}

func (r *PartitionReport) markdown(out io.Writer) error {
	var b strings.Builder
	columns := r.columns()
	for _, c := range columns {
		b.WriteString("| " + c.title + " ")
	}
	b.WriteString("|\n|" + strings.Repeat("---|", len(columns)) + "\n")
	for _, e := range r.Strategies {
		for _, c := range columns {
			b.WriteString("| " + c.people(e) + " ")
		}
		b.WriteString("|\n")
	}
	_, err := io.WriteString(out, b.String())
	return err
}

func (r *PartitionReport) text(out io.Writer) error {
	fmt.Fprintf(out, "%s: %d operations, %.1f million MACs, on %s; objective %s, costs %s\n", r.Model, r.OperationCount, float64(r.MACs)/1e6, r.SoC, r.Objective, r.Costs)
	r.answer(out)
	fmt.Fprintln(out)
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	columns := r.columns()
	for _, c := range columns {
		fmt.Fprint(t, c.title, "\t")
	}
	fmt.Fprintln(t)
	for _, e := range r.Strategies {
		for _, c := range columns {
			fmt.Fprint(t, c.people(e), "\t")
		}
		fmt.Fprintln(t)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	r.explainDivisions(out)
	simulated := 0
	for _, e := range r.Strategies {
		if e.Simulated {
			simulated++
		}
	}
	if n := len(r.Strategies); simulated == 0 && n > 0 {
		fmt.Fprintln(out, "no plan ran (--simulate 0): all figures are predicted")
	} else if simulated < n {
		fmt.Fprintf(out, "the plans of %d of %d strategies ran, the best by prediction and those of whole devices; gaps of the others are predicted (--simulate runs more)\n", simulated, n)
	}
	if line := r.HostLine(); line != "" {
		fmt.Fprintln(out, line)
	}
	for _, e := range r.Strategies {
		if e.Note != "" {
			fmt.Fprintf(out, "%s: %s\n", e.Name, e.Note)
		}
	}
	for _, f := range r.Failed {
		fmt.Fprintf(out, "%s: FAILED, no plan: %s\n", f.Name, f.Error)
	}
	for i := range r.Coverage {
		fmt.Fprintln(out, r.Coverage[i].String(r.Costs))
	}
	beside := ""
	if r.Coverage != nil {
		beside = ", beside the simulator's"
	}
	for _, e := range r.Errors {
		fmt.Fprintf(out, "%s costs of %s%s: median error %.1f %% over %d operations, their sum %+.1f %%\n", r.Costs, e.Device, beside, 100*e.Median, e.Operations, 100*e.Total)
	}
	return nil
}

// ran reports whether a plan ran that leaves all to one device, or one that divides.
func (r *PartitionReport) ran(single bool) bool {
	return slices.ContainsFunc(r.Strategies, func(e *strategyEntry) bool {
		return e.Simulated && single == (len(slices.Compact(slices.Clone(e.Devices))) == 1)
	})
}

// answer writes what dividing gains and which plans are worth looking at, before the table that shows it.
func (r *PartitionReport) answer(out io.Writer) {
	if len(r.Strategies) < 2 {
		return
	}
	said := false
	say := func(format string, args ...any) {
		if !said {
			fmt.Fprintln(out)
		}
		said = true
		fmt.Fprintln(out, cli.Wrap(fmt.Sprintf(format, args...)))
	}
	if d := r.Division; d != nil {
		say("Dividing pays: %s is %.2f times as good as %s alone, with parts on %s.", d.Strategy, d.Gain, d.Single, strings.Join(d.Devices, ", "))
	} else if r.ran(true) && r.ran(false) {
		say("Dividing does not pay: no plan is better than the best device alone.")
	}
	var front []string
	seen := map[[2]float64]bool{} // plans
	for _, e := range r.Strategies {
		if at := [2]float64{e.SimulatedLatencyUS, e.EnergyUJ}; e.Pareto && !seen[at] {
			seen[at] = true
			front = append(front, e.Name)
		}
	}
	switch len(front) {
	case 0:
	case 1:
		say("The plan of %s has both the least latency and the least energy.", front[0])
	default:
		say("Pareto-optimal, where less latency costs energy: %s.", strings.Join(front, ", "))
	}
	var published []string
	for _, p := range r.Published {
		published = append(published, fmt.Sprintf("%.1f times (%s on %s)", p.Ratio, p.Network, p.Phone))
	}
	if published != nil {
		say("Android's division (aosp) takes %.1f times as long as the cpu; published cases of that: %s.", r.Published[0].Ours, strings.Join(published, ", "))
	}
}
