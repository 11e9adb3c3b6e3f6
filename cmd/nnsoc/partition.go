package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/bench"
	"github.com/nnsoc/nnsoc/importer/tensor"
	nnrt "github.com/nnsoc/nnsoc/runtime"
	"github.com/nnsoc/nnsoc/runtime/partition"
	"github.com/nnsoc/nnsoc/runtime/partition/cost"
)

// partitionFlags are the flags of partition.
type partitionFlags struct {
	objective, costs, preference string
	strategies                   []string
	limits                       limits
	shapes                       shapeFlag
	csv, markdown, dot           bool
}

func newPartition(a *app) *cobra.Command {
	var f partitionFlags
	cmd := &cobra.Command{
		Use:   "partition MODEL",
		Short: "compare strategies that divide a network among the devices",
		Long: `partition lets each strategy divide a network among the devices of the SoC, runs every
plan as "nnsoc run" does, compares the results with the reference CPU and prints, per
strategy, predicted and simulated latency and energy, transitions between devices and the
bytes they move, the time it took to plan, and the distance of the simulated objective to
that of strategy ilp with measured costs. With --objective throughput each plan also runs
a stream of inputs.

MODEL is a file, a network of "nnsoc models", or ` + bench.IslandsName + `: 24 small islands that
show where greedy partitioning fails. Costs are measured on the simulator and kept in the
folder $` + cacheVariable + ` (default: nnsoc in the user's cache folder), fitted lines per type of
operation (linear), or the CPU's times the ratios that devices promise (capabilities).
A strategy of your own is a program: exec:PROGRAM reads the problem as JSON and writes a
device per operation; see docs/Strategies.md.`,
		Example:           "  nnsoc partition mobilenet_v1_0.25_128_quant\n  nnsoc partition model.tflite --objective energy --strategies aosp,dp,ilp --json\n  nnsoc partition model.tflite --strategies auto --dot | dot -Tsvg > plan.svg",
		Args:              oneModel,
		ValidArgsFunction: completeModel,
		RunE:              func(_ *cobra.Command, args []string) error { return a.partition(&f, args[0]) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.objective, "objective", partition.Latency.String(), "what to make small: "+strings.Join(partition.Objectives(), ", "))
	fl.Var(nameList{&f.strategies, true}, "strategies", "strategies to compare (default: all)")
	fl.StringVar(&f.costs, "costs", costsMeasured, "what strategies plan by: "+strings.Join(costSources, ", "))
	fl.StringVar(&f.preference, "preference", "fast", "execution preference: fast, sustained or low-power")
	f.limits.add(cmd)
	f.shapes.add(fl)
	fl.BoolVar(&f.csv, "csv", false, "print comma-separated values")
	fl.BoolVar(&f.markdown, "markdown", false, "print a Markdown table")
	fl.BoolVar(&f.dot, "dot", false, "print the plan of the best strategy as a Graphviz graph, coloured by device")
	_ = cmd.RegisterFlagCompletionFunc("objective", cobra.FixedCompletions(partition.Objectives(), cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("costs", cobra.FixedCompletions(costSources, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// oneModel demands one argument.
func oneModel(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return usage(fmt.Errorf("%s takes one MODEL, got %d arguments", cmd.CommandPath(), len(args)))
	}
	return nil
}

// limits keep devices from taking what they could.
type limits struct {
	forced, versions []string
}

func (l *limits) add(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.Var(nameList{&l.forced, true}, "force-unsupported", "keep a type of operation away from a device, or from all but the CPU: OP or OP:DEVICE")
	fl.Var(nameList{&l.versions, true}, "hal-version", "make the driver of a device one of an old HAL version, which gets what that can say: DEVICE:VERSION, as in dsp:1.1")
}

// limit applies limits to the devices.
func (m *machine) limit(l *limits) error {
	for _, r := range l.forced {
		if err := m.registry.ForceUnsupported(r); err != nil {
			return usage(err)
		}
	}
	for _, r := range l.versions {
		if err := m.registry.SpeakVersion(r); err != nil {
			return usage(err)
		}
	}
	return nil
}

func (a *app) partition(f *partitionFlags, model string) error {
	formats := 0
	for _, on := range []bool{f.csv, f.markdown, f.dot, a.json} {
		if on {
			formats++
		}
	}
	if formats > 1 {
		return usage(fmt.Errorf("--json, --csv, --markdown and --dot contradict each other"))
	}
	pref, ok := preferences[f.preference]
	if !ok {
		return usage(fmt.Errorf("unknown preference %q; there are fast, sustained, low-power", f.preference))
	}
	objective, err := partition.ParseObjective(f.objective)
	if err != nil {
		return usage(err)
	}
	if !slices.Contains(costSources, f.costs) {
		return usage(fmt.Errorf("no costs %q; there are %s", f.costs, strings.Join(costSources, ", ")))
	}
	m, err := a.live(pref)
	if err != nil {
		return err
	}
	if err := m.limit(&f.limits); err != nil {
		return err
	}
	devices := problemDevices(m)
	if len(f.strategies) == 0 {
		f.strategies = partition.Names(devices)
	}
	var strategies []partition.Strategy
	for _, name := range f.strategies {
		s, err := partition.Parse(name, devices)
		if err != nil {
			return usage(err)
		}
		strategies = append(strategies, s)
	}
	form, err := partitionForm(model, &f.shapes)
	if err != nil {
		return err
	}
	x := a.planner(m, nnrt.CompileOptions{Preference: nnrt.Prefer(pref)}, planPace(), a.progress())
	defer x.progress.done()
	x.objective, x.costs = objective, f.costs
	r, err := x.compare(form, strategies)
	if err != nil {
		return err
	}
	x.progress.done()
	if err := r.write(a, f); err != nil {
		return err
	}
	return r.verdict()
}

func problemDevices(m *machine) []partition.Device {
	var l []partition.Device
	for _, d := range m.registry.Devices() {
		l = append(l, partition.Device{Name: d.Name()})
	}
	return l
}

// partitionForm reads a network and makes up its inputs.
func partitionForm(name string, shapes *shapeFlag) (*form, error) {
	f := &runFlags{norm: tensor.DefaultNormalization}
	if name == bench.IslandsName {
		m, err := bench.Islands()
		if err != nil {
			return nil, err
		}
		return newForm(m, f)
	}
	dims, err := shapes.parse()
	if err != nil {
		return nil, err
	}
	m, err := readModel(name, dims)
	if err != nil {
		return nil, err
	}
	return newForm(m, f)
}

// compare plans with every strategy and runs the plans.
func (x *planner) compare(f *form, strategies []partition.Strategy) (*partitionReport, error) {
	p, err := x.problem(f)
	if err != nil {
		return nil, err
	}
	x.progress.say("%s: reference", f.model.Name)
	if err := f.reference(x.machine); err != nil {
		return nil, err
	}
	r := &partitionReport{SchemaVersion: schemaVersion, SoC: x.machine.config.SoC.Name, Objective: x.objective.String(), Costs: x.costs,
		Model: modelReport{f.model.Name, len(f.model.Main.Operations), nnrt.MACs(f.model)}, problem: p}
	truth := p // by which the optimum is found
	if x.costs != costsMeasured {
		measured, err := x.measurer(f.inputs).Measured(p)
		if err != nil {
			return nil, err
		}
		for _, e := range cost.Error(p, &p.Costs, &measured) {
			r.Errors = append(r.Errors, costError{e.Device, e.Operations, e.Median, e.Total})
		}
		truth = &partition.Problem{}
		*truth = *p
		truth.Costs = measured
	}
	one := func(s partition.Strategy) error {
		x.progress.say("%s: plan", s.Name())
		e, err := x.one(f, p, s)
		if err != nil {
			return err
		}
		r.entries = append(r.entries, e)
		return nil
	}
	// ilp and auto begin with the plans of all others, so they come after them.
	var last []partition.Strategy
	for _, s := range strategies {
		switch s.(type) {
		case partition.ILP, partition.Auto:
			last = append(last, s)
		default:
			if err := one(s); err != nil {
				return nil, err
			}
		}
	}
	for _, s := range last {
		if err := one(s); err != nil {
			return nil, err
		}
	}
	truth.Seeds = p.Seeds
	optimum, err := x.one(f, truth, partition.ILP{})
	if err != nil {
		return nil, err
	}
	r.finish(strategies, optimum.score)
	r.publish(f.model.Name)
	return r, nil
}

// one plans with a strategy and runs the plan.
func (x *planner) one(f *form, p *partition.Problem, s partition.Strategy) (*strategyEntry, error) {
	plan, predicted, err := partition.Solve(p, s)
	if _, own := s.(*partition.External); own {
		err = usage(err)
	}
	if err != nil {
		return nil, err
	}
	start := time.Now()
	if _, err := s.Plan(p); err != nil {
		return nil, err
	}
	e := &strategyEntry{Name: s.Name(), Objective: p.Objective.String(), Proven: plan.Proven, PlanningUS: float64(time.Since(start).Nanoseconds()) / 1e3,
		PredictedLatencyUS: predicted.LatencyFs / 1e9, PredictedEnergyUJ: predicted.EnergyPJ / 1e6, PredictedIntervalUS: predicted.IntervalFs / 1e9,
		EstimatedLatencyUS: predicted.EstimateFs / 1e9,
		Transitions:        predicted.Transitions, BytesMoved: predicted.BytesMoved, plan: plan, steps: predicted.Steps}
	for _, d := range plan.Device {
		e.Devices = append(e.Devices, p.Devices[d].Name)
	}
	p.Seeds = append(p.Seeds, partition.Plan{Device: plan.Device, Sequential: plan.Sequential, Interpret: plan.Interpret})
	x.progress.say("%s: run", s.Name())
	run, err := x.run(p, plan, f.inputs)
	if err != nil {
		return nil, err
	}
	e.simulated(f, run)
	if p.Objective == partition.Throughput {
		if e.SimulatedIntervalUS, err = x.interval(p, plan, f.inputs, predicted); err != nil {
			return nil, err
		}
	}
	e.score = p.Objective.Score(e.SimulatedLatencyUS, e.EnergyUJ, e.SimulatedIntervalUS)
	return e, nil
}
