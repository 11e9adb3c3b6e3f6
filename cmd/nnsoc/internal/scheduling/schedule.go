package scheduling

import (
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/bench/scenario"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/input"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/machine"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
)

// flags are the flags of schedule.
type flags struct {
	periods, deadlines []time.Duration
	priorities         []string
	duration           time.Duration
	seed               uint64
	strategies         []string
	preference, write  string
	most               int
	csv, list          bool
}

// New returns the command schedule.
func New(a *cli.App) *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:   "schedule SCENARIO... | MODEL... --period DURATION,...",
		Short: "compare strategies for several networks with deadlines on one phone",
		Long: `schedule runs networks that arrive again and again at one simulated phone, whose engines, clocks, caches and DRAM
they share, and prints per strategy and network the time from arrival to result, missed deadlines, energy, and the time
lost to the others; "predicted" is what the strategy expected of engines that do not disturb each other.

A SCENARIO is a file (TOML or JSON; docs/Strategies.md) or a name of "nnsoc schedule --list". MODELs with --period make
one, which --write keeps: one period for all, or one for each. Strategies:

  aosp         Android's runtime divides each network by itself
  single       each network on the engine that is the fastest for it alone
  heft         list scheduling: the networks with the most work first, each where the work ends first
  exact        the best of all assignments of networks to engines, by prediction
  edf          a free engine takes the job that is due first
  least-slack  a free engine takes the job that can wait the least
  band         a free engine takes the job with the least slack of those that no other engine ends earlier (Band, MobiSys 2022)

Each program is simulated --simulate times with its inputs on an engine; further executions have the costs of one of
these at their own clocks.`,
		Example: "  nnsoc schedule doorbell\n  nnsoc schedule mobilenet_v1_0.25_128_quant mlperf_tiny_vww_quant --period 10ms,20ms --duration 200ms --strategies single,exact\n" +
			"  nnsoc schedule mobilenet_v1_0.25_128_quant --period 5ms --write mine.toml",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return run(a, cmd, &f, args) },
		ValidArgsFunction: func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
			names, d := input.CompleteModels(cmd, args, prefix)
			return append(scenario.Library(), names...), d
		},
	}
	fl := cmd.Flags()
	fl.DurationSliceVar(&f.periods, "period", nil, "time from one arrival of a network to the next, such as 33ms: one for all MODELs, or one for each")
	fl.DurationSliceVar(&f.deadlines, "deadline", nil, "time from an arrival to when the result is due (default: the period)")
	fl.StringSliceVar(&f.priorities, "priority", nil, "low, medium or high: one for all MODELs, or one for each (default medium)")
	fl.DurationVar(&f.duration, "duration", time.Second, "simulated time in which MODELs arrive")
	fl.Uint64Var(&f.seed, "seed", 0, "seed of random arrivals of a SCENARIO (default: the scenario's)")
	fl.Var(cli.NameList{Names: &f.strategies, Once: true}, "strategies", "strategies to compare (default: all)")
	fl.StringVar(&f.preference, "preference", "fast", "execution preference: fast, sustained or low-power")
	fl.StringVar(&f.write, "write", "", "write the scenario of MODELs to this file instead of running it")
	fl.IntVar(&f.most, "simulate", 3, "executions of each program that are simulated on an engine; 0: all")
	fl.BoolVar(&f.csv, "csv", false, "print comma-separated values")
	fl.BoolVar(&f.list, "list", false, "list the scenarios that have names")
	return cmd
}

// libraryReport is the JSON object of schedule --list.
type libraryReport struct {
	SchemaVersion int                  `json:"schema_version"`
	Scenarios     []*scenario.Scenario `json:"scenarios"` // in alphabetic order
}

func run(a *cli.App, cmd *cobra.Command, f *flags, args []string) (err error) {
	defer try.Catch(&err)
	if f.list {
		return list(a, args)
	}
	if a.JSON && f.csv {
		return cli.Usage(fmt.Errorf("--json and --csv contradict each other"))
	}
	if f.most < 0 {
		return cli.Usage(fmt.Errorf("--simulate %d, want 0 or more", f.most))
	}
	strategies := try.V(parseStrategies(f.strategies))
	scenarios := try.V(read(a, cmd, f, args))
	if f.write != "" {
		return cli.WriteFile(f.write, try.V(scenarios[0].TOML()))
	}
	p := a.Progress()
	defer p.Done()
	r := &scheduleReport{SchemaVersion: cli.SchemaVersion}
	for i, s := range scenarios {
		p.Part(i, len(scenarios))
		entry := try.V(compare(a, f, s, strategies, p))
		r.Scenarios = append(r.Scenarios, entry)
	}
	p.Done()
	try.E(r.write(a, f.csv))
	return r.verdict()
}

func list(a *cli.App, args []string) (err error) {
	defer try.Catch(&err)
	if len(args) > 0 {
		return cli.Usage(fmt.Errorf("--list has no arguments, got %q", args[0]))
	}
	r := libraryReport{SchemaVersion: cli.SchemaVersion}
	for _, name := range scenario.Library() {
		r.Scenarios = append(r.Scenarios, try.V(scenario.Named(name)))
	}
	if a.JSON {
		return cli.PrintJSON(a.Out, &r)
	}
	for _, s := range r.Scenarios {
		fmt.Fprintf(a.Out, "%-10s %s\n", s.Name, s.Description)
	}
	return nil
}

func parseStrategies(names []string) (strategies []scenario.Strategy, err error) {
	if len(names) == 0 {
		names = scenario.Names()
	}
	for _, name := range names {
		s, err := scenario.Find(name)
		if err != nil {
			return nil, cli.Usage(err)
		}
		strategies = append(strategies, s)
	}
	return strategies, nil
}

// read returns the scenarios that arguments name, or the one that MODELs and flags make.
func read(a *cli.App, cmd *cobra.Command, f *flags, args []string) ([]*scenario.Scenario, error) {
	if len(args) == 0 {
		return nil, cli.Usage(fmt.Errorf("schedule needs a SCENARIO or MODELs; nnsoc schedule --list lists scenarios"))
	}
	if len(f.periods) > 0 {
		s, err := f.scenario(args)
		return []*scenario.Scenario{s}, cli.Usage(err)
	}
	for _, name := range []string{"deadline", "priority", "duration", "write"} {
		if cmd.Flags().Changed(name) {
			return nil, cli.Usage(fmt.Errorf("--%s needs MODELs and --period", name))
		}
	}
	var list []*scenario.Scenario
	for _, name := range args {
		s, err := open(a, name)
		if err != nil {
			return nil, cli.Usage(err)
		}
		if cmd.Flags().Changed("seed") {
			s.Seed = f.seed
		}
		list = append(list, s)
	}
	return list, nil
}

// open reads a file, or a scenario of the library.
func open(a *cli.App, name string) (*scenario.Scenario, error) {
	if slices.Contains(scenario.Library(), name) {
		return scenario.Named(name)
	}
	if ext := filepath.Ext(name); ext == ".toml" || ext == ".json" {
		data, err := cli.ReadFile(name, 1<<20)
		if err != nil {
			return nil, err
		}
		return scenario.Parse(name, data)
	}
	if _, err := input.ReadModel(a, name, nil); err == nil {
		return nil, fmt.Errorf("%s is a network: --period says how often it arrives", name)
	}
	return scenario.Named(name)
}

// scenario is the one that MODELs and flags describe.
func (f *flags) scenario(models []string) (*scenario.Scenario, error) {
	s := &scenario.Scenario{Name: "command line", DurationMS: milliseconds(f.duration), Seed: f.seed}
	for _, x := range []struct {
		flag string
		n    int
	}{{"period", len(f.periods)}, {"deadline", len(f.deadlines)}, {"priority", len(f.priorities)}} {
		if x.n > 1 && x.n != len(models) {
			return nil, fmt.Errorf("--%s has %d values for %d networks", x.flag, x.n, len(models))
		}
	}
	for i, m := range models {
		n := scenario.Network{Model: m, PeriodMS: milliseconds(each(f.periods, i)), DeadlineMS: milliseconds(each(f.deadlines, i)), Priority: each(f.priorities, i)}
		s.Networks = append(s.Networks, n)
	}
	text, err := s.TOML()
	if err != nil {
		return nil, err
	}
	return scenario.Parse("command line", text) // by the rules of a file
}

// each is value i of a flag that has one for all networks, one for each, or none.
func each[T any](list []T, i int) (v T) {
	switch len(list) {
	case 0:
		return v
	case 1:
		return list[0]
	}
	return list[i]
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// compare runs the strategies on one scenario.
func compare(a *cli.App, f *flags, s *scenario.Scenario, strategies []scenario.Strategy, p *cli.Progress) (_ *scenarioEntry, err error) {
	defer try.Catch(&err)
	pref := try.V(machine.ParsePreference(f.preference))
	c := try.V(machine.LoadSoC(a))
	if s.SoC != "" {
		if c, err = machine.LoadNamed(a, s.SoC); err != nil {
			return nil, cli.Usage(err)
		}
	}
	m := try.V(machine.OpenConfig(a, c, pref))
	r := &scenario.Runner{Machine: m.Live, Registry: m.Registry, Preference: pref, Scenario: s, Progress: func(format string, args ...any) { p.Update(s.Name+": "+format, args...) }}
	for i := range s.Networks {
		model := try.V(input.ReadModel(a, s.Networks[i].Model, nil))
		form := try.V(input.NewForm(model, &input.Flags{}))
		p.Update("%s: reference of %s", s.Name, model.Name)
		try.E(form.Reference())
		r.Workloads = append(r.Workloads, scenario.Workload{Model: model, Inputs: form.Inputs, Check: func(res *nnrt.Result) (n int) {
			for _, x := range form.Compare(res) {
				n += x.Mismatches
			}
			return n
		}})
	}
	problem := try.V(r.Measure())
	m.Live.Most = f.most
	entry := newScenarioEntry(s, c, problem)
	for _, strategy := range strategies {
		x, err := r.Compare(problem, strategy)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", strategy.Name(), err)
		}
		entry.Strategies = append(entry.Strategies, x)
	}
	return entry, nil
}
