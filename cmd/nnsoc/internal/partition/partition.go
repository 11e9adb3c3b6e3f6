package partition

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/bench"
	"github.com/nnsoc/nnsoc/bench/session"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/input"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/machine"
	"github.com/nnsoc/nnsoc/hal/driver/sample"
	"github.com/nnsoc/nnsoc/importer/tensor"
	"github.com/nnsoc/nnsoc/internal/cputime"
	"github.com/nnsoc/nnsoc/internal/spelling"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
	"github.com/nnsoc/nnsoc/runtime/partition"
	"github.com/nnsoc/nnsoc/runtime/partition/cost"
)

// partitionFlags are the flags of partition.
type partitionFlags struct {
	with                         []string
	objective, costs, preference string
	strategies                   []string
	limits                       machine.Limits
	choice                       input.ChoiceFlags
	share, csv, markdown, dot    bool
	simulate, divide             int
	export                       string
	plans, devices               []string
	takes                        string // file of what engines take
}

// New returns the command partition.
func New(a *cli.App) *cobra.Command {
	var f partitionFlags
	cmd := &cobra.Command{
		Use:   "partition MODEL",
		Short: "compare strategies that divide a network among the devices",
		Long: `partition lets each strategy divide a network among the devices of the SoC, runs the
plans as "nnsoc run" does, of large networks those that are predicted to be the best, compares
the results with the reference CPU and prints, per strategy, latency and energy as predicted before the plan ran and as simulated, transitions between devices and the
bytes they move, the CPU time of planning, whether the search proved the plan optimal
under additive costs, and the distance of the simulated objective to that of the best plan
found, that of branch-bound with measured costs among them. With --objective throughput each
plan also runs a stream of inputs. A strategy uses the runs that it requested and those of
whole devices; with --share-plans branch-bound and auto begin with the plans of the others.

MODEL is a file, a network of "nnsoc models", or ` + bench.IslandsName + `, which shows where greedy
partitioning fails: an 8-bit backbone that the NPU is the first to end, then layers that stayed
in float32. aosp makes a dozen parts of them and takes ten times as long as the best plan, which
divides the network once. Costs are measured on the simulator and kept in the
folder $` + machine.CacheVariable + ` (default: nnsoc in the user's cache folder), fitted lines per type of
operation (linear), or the CPU's times the ratios that devices promise (capabilities).
--divide N adds strategy divide, which divides operations of auto's plan over devices, rows of a convolution or units of a
fully connected layer: of the N that take the longest those where it is predicted to pay, and says why. The parts run
at once and write their results where the whole has them. Layers that muLayer and CoDL divide are named
` + strings.Join(bench.DividedLayers(), ", ") + `.
A strategy of your own is a program: exec:PROGRAM reads the problem as JSON and writes a
device per operation; see docs/Strategies.md. With --device cpu:prime,cpu:gold strategies divide it among clusters of
the CPU's cores, as Pipe-it does, and the stages of a stream overlap. --export DIR writes the problem as data, with
a JSON schema and tables of costs, and --plan FILE compares a plan that was made elsewhere. --costs FILE lets strategies
plan by costs that were measured elsewhere, as on a phone: a table as operations.csv of --export; what it does not have
is the simulator's, which the output says. --simulate 0 then leaves it at predictions.`,
		Example: "  nnsoc partition mobilenet_v1_0.25_128_quant\n  nnsoc partition " + bench.IslandsName + "\n  nnsoc partition " + bench.DividedLayers()[0] + " --divide 3\n  nnsoc partition model.tflite --objective energy --strategies aosp,dp,branch-bound --json\n  nnsoc partition model.tflite --strategies auto --dot | dot -Tsvg > plan.svg\n" +
			"  nnsoc partition model.tflite --export problem && nnsoc partition model.tflite --strategies auto --plan mine.json\n  nnsoc partition squeezenet_float --device cpu:any\n  nnsoc partition model.tflite --costs phone.tsv --simulate 0",
		Args:              cli.ExactlyOne,
		ValidArgsFunction: input.CompleteModel,
		RunE:              func(cmd *cobra.Command, args []string) error { return runPartition(a, cmd, &f, args[0]) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.objective, "objective", partition.Latency.String(), "what to make small: "+strings.Join(partition.Objectives(), ", ")+", or an expression of "+strings.Join(partition.TermNames(), ", ")+" in us and uJ, as 0.7*latency+0.3*energy")
	fl.Var(cli.NameList{Names: &f.strategies, Once: true}, "strategies", "strategies to compare (default: all that look for a good plan)")
	fl.StringVar(&f.costs, "costs", session.CostsMeasured, "what strategies plan by: "+strings.Join(session.CostSources, ", ")+", or a file with costs that were measured elsewhere")
	fl.StringVar(&f.preference, "preference", "fast", "execution preference: fast, sustained or low-power")
	f.limits.Add(cmd)
	f.choice.Add(cmd)
	machine.AddCache(a, cmd)
	fl.Var(cli.NameList{Names: &f.with, Once: true}, "with", "sample or faulty drivers to include besides the SoC's devices (nnsoc driver samples)")
	fl.IntVar(&f.simulate, "simulate", 0, fmt.Sprintf("plans to run, the best by prediction, or 0 for none; the others are predicted only (default: all of networks of up to %d million MACs, of others %d)", session.SmallMACs/1_000_000, simulatedPlans))
	fl.StringVar(&f.takes, "takes", "", "file of what engines take under strategy delegate, in the order in which they are asked: lines as 'dsp CONV_2D ADD 0-13' (default: all that they support)")
	fl.IntVar(&f.divide, "divide", 0, fmt.Sprintf("add strategy divide, which divides so many of the costliest convolutions and fully connected layers over devices where that is predicted to pay (at most %d), and say why", maxDivide))
	fl.BoolVar(&f.share, "share-plans", false, "let auto and branch-bound begin with the plans of the other strategies")
	fl.StringVar(&f.export, "export", "", "write the problem to this folder instead of solving it: problem.json, its schema, operations.csv, segments.csv, points.csv, contention.csv")
	fl.Var(cli.NameList{Names: &f.plans, Once: true}, "plan", `files with plans to compare, {"devices": [a device per operation]}; without --strategies these alone`)
	fl.Var(cli.NameList{Names: &f.devices}, "device", "divide the network among cores of the CPU, for a stream of inputs, instead of among engines: cpu:CLUSTER, or cpu:CLUSTER:CORES, of each stage of a pipeline; cpu:any chooses them")
	fl.BoolVar(&f.csv, "csv", false, "print comma-separated values")
	fl.BoolVar(&f.markdown, "markdown", false, "print a Markdown table")
	fl.BoolVar(&f.dot, "dot", false, "print the plan of the best strategy as a Graphviz graph, coloured by device")
	_ = cmd.RegisterFlagCompletionFunc("takes", cobra.FixedCompletions([]string{"txt"}, cobra.ShellCompDirectiveFilterFileExt))
	_ = cmd.RegisterFlagCompletionFunc("device", completeCores(a))
	_ = cmd.RegisterFlagCompletionFunc("with", cobra.FixedCompletions(sample.Names(), cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("objective", cobra.FixedCompletions(partition.Objectives(), cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("costs", cobra.FixedCompletions(session.CostSources, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func runPartition(a *cli.App, cmd *cobra.Command, f *partitionFlags, model string) (err error) {
	defer try.Catch(&err)
	formats := 0
	for _, on := range []bool{f.csv, f.markdown, f.dot, a.JSON} {
		if on {
			formats++
		}
	}
	if formats > 1 {
		return cli.Usage(fmt.Errorf("--json, --csv, --markdown and --dot contradict each other"))
	}
	if cmd.Flags().Changed("simulate") {
		switch {
		case f.simulate < 0:
			return cli.Usage(fmt.Errorf("--simulate %d, want 0 or more", f.simulate))
		case f.simulate == 0 && f.divide > 0:
			return cli.Usage(errors.New("--simulate 0 with --divide, whose plan runs"))
		case f.simulate == 0:
			f.simulate = noRuns
		}
	}
	pref := try.V(machine.ParsePreference(f.preference))
	objective, expression, err := parseObjective(f.objective)
	if err == nil {
		err = f.checkDivide(objective)
	}
	if err != nil {
		return cli.Usage(err)
	}
	table, err := f.readCosts(objective)
	if err != nil {
		return cli.Usage(err)
	}
	m := try.V(machine.OpenLive(a, pref))
	if len(f.devices) > 0 {
		try.E(f.clusterFlags(cmd))
		return f.withClusters(a, m, pref, model)
	}
	for _, name := range f.with {
		try.V(m.Find(name))
	}
	try.E(m.Limit(&f.limits))
	devices := problemDevices(m)
	if len(f.strategies) == 0 && len(f.plans) == 0 {
		f.strategies = partition.Names(devices)
	}
	takes, err := f.readTakes()
	if err != nil {
		return cli.Usage(err)
	}
	var strategies []partition.Strategy
	for _, name := range f.plans {
		data, err := cli.ReadFile(name, maxPlan)
		if err == nil {
			var s *partition.Fixed
			if s, err = partition.ReadPlan(name, data); err == nil {
				strategies = append(strategies, s)
			}
		}
		if err != nil {
			return cli.Usage(err)
		}
	}
	for _, name := range f.strategies {
		s, err := partition.Parse(name, devices)
		if err != nil {
			return cli.Usage(err)
		}
		switch x := s.(type) {
		case *partition.External:
			x.Started = cli.Children.Add
		case partition.Delegate:
			x.Takes = takes
			s = x
		}
		strategies = append(strategies, s)
	}
	if f.share && !slices.ContainsFunc(strategies, func(s partition.Strategy) bool { return order(s) > 0 }) {
		return cli.Usage(fmt.Errorf("--share-plans does nothing without strategy auto or branch-bound"))
	}
	form := try.V(partitionForm(a, model, &f.choice))
	try.E(m.CheckLimits(form.Model))
	for _, s := range strategies {
		if plan, ok := s.(*partition.Fixed); ok {
			if err := plan.Fits(len(form.Model.Main.Operations), devices); err != nil {
				return cli.Usage(err)
			}
		}
	}
	x := newComparison(m, nnrt.CompileOptions{Preference: nnrt.Prefer(pref)}, a.Progress())
	defer x.progress.Done()
	x.Expression = expression
	x.Objective, x.Costs, x.Table, x.share, x.simulate = objective, f.costs, table, f.share, f.simulate
	if objective == partition.FirstResult {
		x.First()
	}
	if f.export != "" {
		return x.exportTo(f.export, form)
	}
	r := try.V(x.compare(form, strategies))
	if f.divide > 0 {
		try.E(x.divide(r, form, f.divide))
	}
	x.progress.Done()
	try.E(r.write(a, f))
	return r.verdict()
}

// parseObjective reads a name, or an expression, which comes with the objective latency.
func parseObjective(text string) (partition.Objective, *partition.Expression, error) {
	o, err := partition.ParseObjective(text)
	if err == nil || !strings.ContainsAny(text, "+-*/^(") && !partition.Elsewhere(text) {
		return o, nil, err
	}
	x, err := partition.ParseExpression(text)
	return partition.Latency, x, err
}

// readCosts reads the file of --costs, nil where that names a source.
func (f *partitionFlags) readCosts(objective partition.Objective) (*cost.Table, error) {
	if slices.Contains(session.CostSources, f.costs) {
		return nil, nil
	}
	data, err := cli.ReadFile(f.costs, cost.MaxTableBytes)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("no costs %q; there are %s, or a file of costs%s", f.costs, strings.Join(session.CostSources, ", "), spelling.DidYouMean(f.costs, session.CostSources))
	}
	if err != nil {
		return nil, err
	}
	t, err := cost.ReadTable(f.costs, data)
	switch {
	case err != nil:
	case f.divide > 0:
		err = fmt.Errorf("--divide with costs of a file: %s has none of parts of an operation", f.costs)
	case objective == partition.FirstResult:
		err = fmt.Errorf("--objective first-result with costs of a file: %s has none of compiling", f.costs)
	}
	return t, err
}

// maxPlan bounds the bytes of a file of a plan: 65,536 operations with names of 64 bytes.
const maxPlan = 4 << 20

// exportTo writes the problem of a network.
func (x *comparison) exportTo(dir string, f *input.Form) (err error) {
	defer try.Catch(&err)
	e := try.V(x.Export(f))
	x.progress.Done()
	files := try.V(e.Files())
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return cli.Usage(err)
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		try.E(cli.WriteFile(filepath.Join(dir, name), files[name]))
	}
	return nil
}

// readTakes reads the file of --takes, nil without one.
func (f *partitionFlags) readTakes() ([]partition.Take, error) {
	if f.takes == "" {
		return nil, nil
	}
	if !slices.Contains(f.strategies, partition.Delegate{}.Name()) {
		return nil, errors.New("--takes does nothing without strategy delegate")
	}
	file, err := os.Open(f.takes)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	l, err := partition.ReadTakes(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.takes, err)
	}
	return l, nil
}

func problemDevices(m *machine.Machine) []partition.Device {
	var l []partition.Device
	for _, d := range m.Registry.Devices() {
		l = append(l, partition.Device{Name: d.Name()})
	}
	return l
}

// partitionForm reads a network and makes up its inputs.
func partitionForm(a *cli.App, name string, choice *input.ChoiceFlags) (_ *input.Form, err error) {
	defer try.Catch(&err)
	f := &input.Flags{Norm: tensor.DefaultNormalization}
	m := try.V(input.ReadModel(a, name, try.V(choice.Parse())))
	return input.NewForm(m, f)
}

// simulatedPlans is the default of --simulate for networks of more than session.SmallMACs.
const simulatedPlans = 3

// noRuns is a number of plans that run: none, all are predicted.
const noRuns = -1

// order orders strategies: with --share-plans auto begins with the plans of all others, and branch-bound with
// that of auto as well.
func order(s partition.Strategy) int {
	switch s.(type) {
	case partition.Auto:
		return 1
	case partition.BranchAndBound:
		return 2
	}
	return 0
}

// comparison compares strategies by the plans that they make.
type comparison struct {
	*session.Planner
	share    bool // strategies learn of the others' plans
	simulate int  // plans that run; 0: as many as suits the network's size; or noRuns
	active   activeStrategy
	progress *cli.Progress
}

// newComparison compares strategies on a phone.
func newComparison(m *machine.Machine, o nnrt.CompileOptions, p *cli.Progress) *comparison {
	x := &comparison{Planner: session.NewPlanner(m.Phone, o, session.PlanPace()), progress: p}
	x.Planner.Progress, x.PlanName = p.Update, x.active.next
	return x
}

// activeStrategy is the strategy that plans, with the number of its plans that have run, and the limit.
type activeStrategy struct {
	strategy   string
	runs, most int
}

// next names the plan that runs next.
func (t *activeStrategy) next() string {
	if t.most == 0 {
		return "a plan"
	}
	t.runs++
	return fmt.Sprintf("plan %d of at most %d of %s", t.runs, t.most, t.strategy)
}

// compare plans with every strategy and runs the plans.
func (x *comparison) compare(f *input.Form, strategies []partition.Strategy) (_ *PartitionReport, err error) {
	defer try.Catch(&err)
	p := try.V(x.Problem(f, x.Costs))
	none := x.simulate == noRuns
	if !none {
		x.progress.Update("%s: reference", f.Model.Name)
		try.E(input.Reference(f))
	}
	r := &PartitionReport{SchemaVersion: cli.SchemaVersion, SoC: x.Phone.Config.SoC.Name, Objective: p.ObjectiveName(), Costs: x.Costs,
		ModelReport: session.NewModelReport(f.Model), Coverage: x.Coverage, problem: p}
	truth := p // by which the optimum is found
	if x.Costs != session.CostsMeasured && !none {
		truth = try.V(x.Problem(f, session.CostsMeasured))
		for _, e := range cost.Error(p, &p.Costs, &truth.Costs) {
			r.Errors = append(r.Errors, costError{e.Device, e.Operations, e.Median, e.Total})
		}
	}
	most := x.simulate
	if most == 0 && r.MACs > session.SmallMACs && p.Costs.Predict != nil {
		most = simulatedPlans
	}
	base := p.Costs.Clone()
	var known []partition.Plan // from all strategies
	one := func(s partition.Strategy) error {
		x.progress.Update("%s: plan", s.Name())
		q := p
		if !x.share { // of runs that others requested a strategy knows nothing
			q = &partition.Problem{}
			*q = *p
			q.Costs = base.Clone()
		}
		e, err := x.one(f, q, s, most)
		var failed *strategyError
		if errors.As(err, &failed) {
			r.Failed = append(r.Failed, failedStrategy{s.Name(), failed.Error()})
			if len(r.Failed) == len(strategies) {
				return cli.Usage(err)
			}
			return nil
		}
		if err != nil {
			return err
		}
		r.entries = append(r.entries, e)
		known = append(known, partition.Plan{Device: e.plan.Device, Part: e.plan.Part, Sequential: e.plan.Sequential, Subgraphs: e.plan.Subgraphs})
		if x.share {
			p.Seeds = known
		}
		return nil
	}
	for i, s := range slices.SortedStableFunc(slices.Values(strategies), func(a, b partition.Strategy) int { return order(a) - order(b) }) {
		x.progress.Part(i, len(strategies))
		try.E(one(s))
	}
	x.progress.Part(0, 0)
	if !none {
		try.E(x.simulateBest(f, r.entries, most))
	}
	best := math.Inf(1)
	for _, e := range r.entries {
		best = min(best, e.score)
	}
	if r.entry(partition.BranchAndBound{}.Name()) == nil || truth != p {
		truth.Seeds = known
		e := try.V(x.one(f, truth, partition.BranchAndBound{}, most))
		best = min(best, e.score)
	}
	r.finish(strategies, best)
	r.divide()
	r.front()
	r.publish(f.Model.Name)
	return r, nil
}

// strategyError is the error of a program that is a strategy.
type strategyError struct{ error }

// Unwrap returns the cause.
func (e *strategyError) Unwrap() error { return e.error }

// planningTime is the planning time of a strategy: CPU time of its thread, for a separate program its elapsed time.
func planningTime(p *partition.Problem, s partition.Strategy) (time.Duration, error) {
	if _, own := s.(*partition.External); own {
		start := time.Now()
		_, err := partition.Make(p, s)
		return time.Since(start), err
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	start := cputime.Thread()
	_, err := partition.Make(p, s)
	return cputime.Thread() - start, err
}

// timed plans with a strategy, and measures it planning once more. An error of a program is a strategyError.
func timed(p *partition.Problem, s partition.Strategy) (partition.Plan, time.Duration, error) {
	plan, _, err := partition.Solve(p, s)
	var took time.Duration
	if err == nil {
		took, err = planningTime(p, s)
	}
	switch s.(type) {
	case *partition.External:
		if err != nil {
			err = &strategyError{err}
		}
	case *partition.Fixed:
		err = cli.Usage(err)
	}
	return plan, took, err
}

// one plans with a strategy. With most 0 the plan runs, with noRuns none; else at most so many plans of branch-bound and auto do,
// and those of others if they are known.
func (x *comparison) one(f *input.Form, p *partition.Problem, s partition.Strategy, most int) (*strategyEntry, error) {
	if p.Runs = most; most > 0 && !partition.Exact(s) {
		p.Runs = -1
	}
	x.active = activeStrategy{strategy: s.Name(), most: p.MostRuns(s)}
	plan, took, err := timed(p, s)
	if err != nil {
		return nil, err
	}
	predicted, err := p.Predict(plan)
	if err != nil {
		return nil, err
	}
	e := &strategyEntry{Name: s.Name(), Objective: p.ObjectiveName(), Proven: plan.Proven, PlanningUS: float64(took.Nanoseconds()) / 1e3,
		PredictedLatencyUS: predicted.LatencyFs / 1e9, PredictedEnergyUJ: predicted.EnergyPJ / 1e6,
		NotPredicted: predicted.Never, Transitions: predicted.Transitions, BytesMoved: predicted.BytesMoved, Parts: len(predicted.Steps),
		plan: plan, steps: predicted.Steps, problem: p, predicted: predicted}
	if p.Objective == partition.Throughput { // else no stream ran that shows how long engines are held in one
		e.PredictedIntervalUS = predicted.IntervalFs / 1e9
	}
	e.score = p.Score(e.PredictedLatencyUS*1e9, e.PredictedEnergyUJ*1e6, e.PredictedIntervalUS*1e9)
	if e.NotPredicted {
		e.PredictedLatencyUS, e.PredictedEnergyUJ, e.PredictedIntervalUS = 0, 0, 0
	}
	for _, d := range plan.Device {
		e.Devices = append(e.Devices, p.DeviceName(d))
	}
	e.note(p)
	if r := p.Costs.Ran(plan); most == noRuns || most > 0 && (r == nil || r.Predicted) {
		return e, nil
	}
	return e, x.simulated(f, e)
}

// simulated runs the plan of an entry.
func (x *comparison) simulated(f *input.Form, e *strategyEntry) (err error) {
	defer try.Catch(&err)
	x.progress.Update("%s: run", e.Name)
	p := e.problem
	run := try.V(x.Run(p, e.plan, f.Inputs))
	computed := run.Result
	if !run.Outputs { // programs kept the results of others
		computed = try.V(run.Compilation.Execute(f.Inputs, nnrt.ExecuteOptions{Functional: true}))
	}
	e.ran(f, run, computed)
	e.moved(run, p.Devices[0].Name)
	if p.Objective == partition.Throughput {
		e.SimulatedIntervalUS = try.V(x.Stream(p, e.plan, f.Inputs)).IntervalFs / 1e9
	}
	e.score = p.Score(e.SimulatedLatencyUS*1e9, e.EnergyUJ*1e6, e.SimulatedIntervalUS*1e9)
	return nil
}

// simulateBest runs the plans that are among the best by prediction.
func (x *comparison) simulateBest(f *input.Form, entries []*strategyEntry, most int) error {
	byPrediction := slices.SortedStableFunc(slices.Values(entries), func(a, b *strategyEntry) int { return cmp.Compare(a.predicted.Score, b.predicted.Score) })
	plans := map[session.PlanKey]bool{}
	for _, e := range byPrediction {
		key := session.KeyOf(e.problem, e.plan)
		if len(plans) == most && !plans[key] {
			return nil
		}
		if plans[key] = true; !e.Simulated {
			if err := x.simulated(f, e); err != nil {
				return err
			}
		}
	}
	return nil
}
