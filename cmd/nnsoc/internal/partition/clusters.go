package partition

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/bench/clusters"
	"github.com/nnsoc/nnsoc/bench/session"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/machine"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/runtime/partition"
)

// wholeCPU is the row of the CPU as the SoC's runtime uses it: each kernel on all threads.
const wholeCPU = "cpu"

// withClusters compares strategies that divide a network among clusters of the CPU's cores.
func (f *partitionFlags) withClusters(a *cli.App, m *machine.Machine, pref hal.Preference, model string) (err error) {
	defer try.Catch(&err)
	cpu := try.V(clusters.NewCPU(m.Phone.Config, pref))
	sets, err := cpu.Parse(f.devices)
	if err != nil {
		return cli.Usage(err)
	}
	form := try.V(partitionForm(a, model, &f.choice))
	progress := a.Progress()
	defer progress.Done()
	p, err := clusters.Divide(sets, form.Model, func(i, n int) { progress.Update("cores %d of %d", i, n) })
	if err != nil {
		return cli.Usage(err)
	}
	r := &PartitionReport{SchemaVersion: cli.SchemaVersion, SoC: m.Phone.Config.SoC.Name, Objective: partition.Throughput.String(), Costs: session.CostsMeasured,
		ModelReport: session.NewModelReport(form.Model), problem: p.Problem}
	if r.entries, err = clusterEntries(p, f.strategies, progress); err != nil {
		return cli.Usage(err)
	}
	r.Strategies = r.entries
	best := math.Inf(1)
	for _, e := range r.Strategies {
		best = min(best, e.score)
	}
	for _, e := range r.Strategies {
		e.GapToOptimum = e.score/best - 1
	}
	r.divide()
	r.front()
	progress.Done()
	return r.write(a, f)
}

// completeCores completes --device with the clusters of the chosen SoC.
func completeCores(a *cli.App) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		m, err := machine.Open(a, hal.FastSingleAnswer)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		cpu, err := clusters.NewCPU(m.Phone.Config, hal.FastSingleAnswer)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		return append(cpu.Names(), clusters.Any+"\tevery division of the cores"), cobra.ShellCompDirectiveNoFileComp
	}
}

// clusterFlags refuses flags that say something about engines.
func (f *partitionFlags) clusterFlags(cmd *cobra.Command) error {
	for _, name := range []string{"cache-dir", "costs", "divide", "export", "force-unsupported", "hal-version", "place", "plan", "share-plans", "simulate", "takes", "token", "with"} {
		if cmd.Flags().Changed(name) {
			return cli.Usage(fmt.Errorf("--%s does nothing with --device, whose stages are cores of the CPU", name))
		}
	}
	if o := cmd.Flag("objective"); o.Changed && o.Value.String() != partition.Throughput.String() {
		return cli.Usage(fmt.Errorf("--objective %s with --device: stages of cores are planned for %s", o.Value, partition.Throughput))
	}
	for _, name := range f.strategies {
		if name == (partition.AOSP{}).Name() || name == (partition.Delegate{}).Name() {
			return cli.Usage(fmt.Errorf("strategy %s asks drivers, which cores of the CPU have none of; there are %s", name, strings.Join(clusterStrategies(), ", ")))
		}
	}
	return nil
}

// clusterStrategies lists the strategies that divide a network among clusters.
func clusterStrategies() []string {
	l := []string{wholeCPU}
	for _, s := range partition.Names(make([]partition.Device, 1)) {
		if s != (partition.AOSP{}).Name() && s != wholeCPU {
			l = append(l, s)
		}
	}
	return l
}

// clusterEntries are the rows of strategies, of all that there are without names; that of the whole CPU is the first.
func clusterEntries(p *clusters.Problem, names []string, progress *cli.Progress) (l []*strategyEntry, err error) {
	defer try.Catch(&err)
	if len(names) == 0 {
		names = clusterStrategies()
		for i, d := range p.Devices {
			names = slices.Insert(names, 1+i, "single:"+d.Name)
		}
	}
	for i, name := range names {
		progress.Part(i, len(names))
		progress.Update("%s: plan", name)
		if name == wholeCPU {
			l = append(l, wholeEntry(p))
			continue
		}
		l = append(l, try.V(clusterEntry(p, try.V(partition.Parse(name, p.Devices)))))
	}
	return l, nil
}

// wholeEntry is the row of the whole CPU.
func wholeEntry(p *clusters.Problem) *strategyEntry {
	s, pj := p.Whole()
	us := s.LatencyFs / 1e9
	return &strategyEntry{Name: wholeCPU, Objective: p.Objective.String(), Simulated: true, Parts: 1, plan: partition.Plan{Device: make([]int, len(p.Graph.Operations))}, problem: p.Problem,
		PredictedLatencyUS: us, SimulatedLatencyUS: us, PredictedIntervalUS: us, SimulatedIntervalUS: us, PredictedEnergyUJ: pj / 1e6, EnergyUJ: pj / 1e6,
		score: us, Devices: slices.Repeat([]string{wholeCPU}, len(p.Graph.Operations))}
}

// clusterEntry plans with a strategy and simulates a stream.
func clusterEntry(p *clusters.Problem, s partition.Strategy) (_ *strategyEntry, err error) {
	defer try.Catch(&err)
	plan, took := try.V2(timed(p.Problem, s))
	e := try.V(p.Evaluate(plan))
	ran := try.V(p.Run(plan))
	x := &strategyEntry{Name: s.Name(), Objective: p.Objective.String(), Simulated: true, Proven: plan.Proven, PlanningUS: float64(took.Nanoseconds()) / 1e3,
		PredictedLatencyUS: e.LatencyFs / 1e9, SimulatedLatencyUS: ran.LatencyFs / 1e9, PredictedIntervalUS: e.IntervalFs / 1e9, SimulatedIntervalUS: ran.IntervalFs / 1e9,
		PredictedEnergyUJ: e.EnergyPJ / 1e6, EnergyUJ: e.EnergyPJ / 1e6, Parts: len(e.Steps), Transitions: e.Transitions, BytesMoved: e.BytesMoved,
		plan: plan, steps: e.Steps, problem: p.Problem, predicted: e, score: ran.IntervalFs / 1e9}
	for _, d := range plan.Device {
		x.Devices = append(x.Devices, p.DeviceName(d))
	}
	return x, nil
}
