package scheduling

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/bench/scenario"
	"github.com/nnsoc/nnsoc/bench/session"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/input"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/machine"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
	"github.com/nnsoc/nnsoc/runtime/partition"
	"github.com/nnsoc/nnsoc/runtime/partition/cost"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// flags are the flags of schedule.
type flags struct {
	periods, deadlines []time.Duration
	priorities         []string
	duration           time.Duration
	seed               uint64
	strategies         []string
	preference, write  string
	html, out, shard   string
	objective, costs   string
	generate, seeds    int
	most, parts        int
	csv, list, rates   bool

	table *cost.Table // of the file of costs; nil: there is none
	text  []byte      // of that file
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
  delegate     each network whole on TensorFlow Lite's delegate for its type: 8 bits on the DSP, floats on the GPU
  single       each network on the engine that is the fastest for it alone
  dp           the parts of each network where they are the fastest alone
  heft         list scheduling of parts: those with the most work behind them first, each where the work ends first
  exact        the best of all joint plans by prediction, by branch and bound
  genetic      joint plans by a genetic search (Puzzle, 2025)
  contention   the same, with the slow-downs that networks are measured to have beside each other (HaX-CoNN, 2024)
  edf          a free engine takes the job that is due first
  least-slack  a free engine takes the job that can wait the least
  band         a free engine takes the job with the least slack of those that no other engine ends earlier (Band, 2022)
  adms         a free engine takes parts of the most urgent job of those that it ends first (ADMS, 2025)
  exec:PROGRAM a program in any language that plans or schedules; docs/Strategies.md

--generate N --write DIR writes N random scenarios. --out DIR keeps the results of each scenario in a folder and prints
sums over all: a run that was interrupted resumes there, and --shard I/N runs one of N parts, which may share the folder.

Networks are cut into up to --parts parts where engines' support changes or few bytes cross.
Each network runs once or twice on each engine, which is kept (NNSOC_CACHE); after that executions hold engines for the
times of their operations. --costs FILE has strategies plan, and predict, by costs that were measured elsewhere; the
simulation stays that of the machine. --simulate N simulates each program N times beside the same programs on the other engines instead,
which takes minutes; further executions have the costs of the last of these at their own clocks.`,
		Example: "  nnsoc schedule doorbell\n  nnsoc schedule mobilenet_v1_0.25_128_quant mlperf_tiny_vww_quant --period 10ms,20ms --duration 200ms --strategies single,exact\n" +
			"  nnsoc schedule mobilenet_v1_0.25_128_quant --period 5ms --write mine.toml\n" +
			"  nnsoc schedule doorbell --html doorbell.html\n  nnsoc schedule doorbell --seeds 10 --strategies single,exact,band\n  nnsoc schedule doorbell --costs phone.tsv --strategies single,exact\n  nnsoc schedule camera --highest-rate --strategies delegate,single,band\n  nnsoc schedule --generate 1000 --seed 1 --write many && nnsoc schedule many/*.toml --strategies single,band --out results --shard 1/2",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return run(a, cmd, &f, args) },
		ValidArgsFunction: func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
			names, d := input.CompleteModels(cmd, args, prefix)
			return append(scenario.Library(), names...), d
		},
	}
	cli.PrintsLines(cmd, "scenarios[]")
	fl := cmd.Flags()
	fl.DurationSliceVar(&f.periods, "period", nil, "time from one arrival of a network to the next, such as 33ms: one for all MODELs, or one for each")
	fl.DurationSliceVar(&f.deadlines, "deadline", nil, "time from an arrival to when the result is due (default: the period)")
	fl.StringSliceVar(&f.priorities, "priority", nil, "low, medium or high: one for all MODELs, or one for each (default medium)")
	fl.DurationVar(&f.duration, "duration", time.Second, "simulated time in which MODELs arrive")
	fl.Uint64Var(&f.seed, "seed", 0, "seed of random arrivals of a SCENARIO (default: the scenario's)")
	fl.IntVar(&f.seeds, "seeds", 1, fmt.Sprintf("run each SCENARIO with arrivals by so many seeds, at most %d, and print means with 95 %% confidence intervals: periodic networks begin anywhere in their period", scenario.MaxSeeds))
	fl.Var(cli.NameList{Names: &f.strategies, Once: true}, "strategies", "strategies to compare (default: all)")
	fl.StringVar(&f.preference, "preference", "fast", "execution preference: fast, sustained or low-power")
	fl.StringVar(&f.write, "write", "", "write the scenario of MODELs to this file, or those of --generate to this folder, instead of running")
	fl.IntVar(&f.most, "simulate", -1, "simulate so many executions of a program beside the same other programs, and compare results; 0: all (default: none; measured operations hold the engines)")
	fl.Lookup("simulate").DefValue = "" // it is in the text
	fl.IntVar(&f.parts, "parts", 4, fmt.Sprintf("parts that a network is cut into at most, 1 to %d", scenario.MaxParts))
	fl.StringVar(&f.objective, "objective", "", "what exact, genetic and contention make small: an expression of "+strings.Join(scenario.ObjectiveNames, ", ")+" (default: missed deadlines, then the mean)")
	fl.StringVar(&f.costs, "costs", "", "file of costs that were measured elsewhere, by which strategies plan instead of the simulator's: rows of operations, or of whole networks (docs/Strategies.md)")
	fl.StringVar(&f.html, "html", "", "also write a page to look at to this file: timeline, use, latencies, energy and misses")
	fl.IntVar(&f.generate, "generate", 0, fmt.Sprintf("write so many random scenarios to the folder of --write, at most %d; --seed makes others", scenario.MaxGenerated))
	fl.StringVar(&f.out, "out", "", "keep results in this folder, and resume there")
	fl.StringVar(&f.shard, "shard", "", "run part I of N of the scenarios, as I/N")
	fl.BoolVar(&f.csv, "csv", false, "print comma-separated values")
	fl.BoolVar(&f.rates, "highest-rate", false, "find for each strategy how many times as fast the scenario may go, its periods and deadlines alike, before a deadline is missed")
	fl.BoolVar(&f.list, "list", false, "list the scenarios that have names")
	_ = cmd.RegisterFlagCompletionFunc("costs", cobra.FixedCompletions([]string{"tsv", "csv", "json"}, cobra.ShellCompDirectiveFilterFileExt))
	_ = cmd.RegisterFlagCompletionFunc("strategies", cobra.FixedCompletions(scenario.Names(), cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("objective", cobra.FixedCompletions(scenario.ObjectiveNames, cobra.ShellCompDirectiveNoFileComp))
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
	if cmd.Flags().Changed("generate") {
		return generate(f, args)
	}
	if a.JSON && f.csv {
		return cli.Usage(fmt.Errorf("--json and --csv contradict each other"))
	}
	if f.most < 0 && cmd.Flags().Changed("simulate") {
		return cli.Usage(fmt.Errorf("--simulate %d, want 0 or more", f.most))
	}
	if f.parts < 1 || f.parts > scenario.MaxParts {
		return cli.Usage(fmt.Errorf("--parts %d, want 1 to %d", f.parts, scenario.MaxParts))
	}
	if f.objective != "" {
		if _, err := scenario.ParseObjective(f.objective); err != nil {
			return cli.Usage(err)
		}
	}
	if err := f.checkSeeds(); err != nil {
		return cli.Usage(err)
	}
	if f.costs != "" {
		f.text = try.V(cli.ReadFile(f.costs, cost.MaxTableBytes))
		if f.table, err = cost.ReadTable(f.costs, f.text); err != nil {
			return cli.Usage(err)
		}
	}
	strategies := try.V(parseStrategies(f.strategies))
	scenarios := try.V(read(a, cmd, f, args))
	if f.write != "" {
		scenarios[0].Name = cmp.Or(strings.TrimSuffix(filepath.Base(f.write), filepath.Ext(f.write)), scenarios[0].Name)
		return cli.WriteFile(f.write, try.V(scenarios[0].TOML()))
	}
	if f.rates && (f.csv || f.html != "" || f.out != "") {
		return cli.Usage(errors.New("--highest-rate prints text or --json, and has no --csv, --html or --out"))
	}
	if f.out != "" {
		return campaign(a, f, seeded(scenarios, f.seeds), strategies)
	}
	if f.shard != "" {
		return cli.Usage(errors.New("--shard needs --out, where the results of all parts meet"))
	}
	p := a.Progress()
	defer p.Done()
	r, lines := &scheduleReport{SchemaVersion: cli.SchemaVersion}, a.Lines()
	for i, s := range scenarios {
		p.Part(i, len(scenarios))
		one := compare
		if f.seeds > 1 {
			one = overSeeds
		}
		entry := try.V(one(a, f, s, strategies, p))
		r.Scenarios = append(r.Scenarios, entry)
		try.E(lines.Append(entry))
	}
	p.Done()
	if f.html != "" {
		try.E(r.page(f.html))
	}
	try.E(r.write(a, f.csv))
	return r.verdict()
}

// generate writes random scenarios.
func generate(f *flags, args []string) error {
	switch {
	case len(args) > 0:
		return cli.Usage(fmt.Errorf("--generate has no arguments, got %q", args[0]))
	case f.write == "":
		return cli.Usage(errors.New("--generate needs a folder: --write DIR"))
	case f.generate < 1 || f.generate > scenario.MaxGenerated:
		return cli.Usage(fmt.Errorf("--generate %d, want 1 to %d", f.generate, scenario.MaxGenerated))
	}
	if err := os.MkdirAll(f.write, 0o755); err != nil {
		return cli.Usage(err)
	}
	for i := range f.generate {
		s, err := scenario.Generate(f.seed, i)
		if err != nil {
			return err
		}
		text, err := s.TOML()
		if err != nil {
			return err
		}
		if err := cli.WriteFile(filepath.Join(f.write, s.Name+".toml"), text); err != nil {
			return err
		}
	}
	return nil
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
		return a.PrintObject(&r)
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
		if x, ok := s.(*scenario.External); ok {
			x.Started = cli.Children.Add
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
	_, err := input.ReadModel(a, name, input.Choice{})
	if err == nil {
		return nil, fmt.Errorf("%s is a network: --period says how often it arrives", name)
	}
	if _, missing := os.Stat(name); missing == nil || strings.ContainsAny(name, "./") { // no name of a scenario
		return nil, err
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
	if slices.Contains(f.deadlines, 0) {
		return nil, errors.New("--deadline 0, want above 0; without --deadline it is the period")
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

// config is the SoC of a scenario, or else of the command.
func config(a *cli.App, s *scenario.Scenario) (*soc.Config, error) {
	if s.SoC == "" {
		return machine.LoadSoC(a)
	}
	c, err := machine.LoadNamed(a, s.SoC)
	if err != nil {
		return nil, cli.Usage(err)
	}
	return c, nil
}

// compare runs the strategies on one scenario.
func compare(a *cli.App, f *flags, s *scenario.Scenario, strategies []scenario.Strategy, p *cli.Progress) (_ *scenarioEntry, err error) {
	defer try.Catch(&err)
	pref := try.V(machine.ParsePreference(f.preference))
	if len(s.Jobs()) == 0 {
		return nil, cli.Usage(fmt.Errorf("scenario: %s: by seed %d no network arrives within %g ms", s.Name, s.Seed, s.DurationMS))
	}
	c := try.V(config(a, s))
	m := try.V(machine.OpenConfig(a, c, pref))
	var names []string
	for _, d := range m.Registry.Devices() {
		names = append(names, d.Name())
	}
	if err := scenario.CheckDevices(strategies, names); err != nil {
		return nil, cli.Usage(err)
	}
	r := &scenario.Runner{Machine: m.Live, Registry: m.Registry, Preference: pref, Scenario: s, MaxParts: f.parts, Progress: func(format string, args ...any) { p.Update(s.Name+": "+format, args...) }}
	engines := try.V(networks(a, f, m, r))
	problem := try.V(r.Measure())
	replace, coverage := try.V2(elsewhere(f, m, r, problem))
	if f.objective != "" {
		problem.Objective, problem.Rises = try.V(scenario.ParseObjective(f.objective)), scenario.Rises(f.objective)
	}
	entry := newScenarioEntry(s, c, problem)
	entry.Engines, entry.Costs, entry.Coverage = engines, f.costs, coverage
	if f.table != nil {
		entry.Unused = slices.DeleteFunc(f.table.Networks(), func(name string) bool {
			return slices.ContainsFunc(coverage, func(n scenario.NetworkCoverage) bool { return n.Network == name })
		})
	}
	if f.rates {
		prepare := func(x *scenario.Problem) error {
			x.Objective, x.Rises = problem.Objective, problem.Rises
			return replace(x)
		}
		return entry, entry.highestRates(r, prepare, strategies, p)
	}
	for _, strategy := range strategies {
		p.Update("%s: %s", s.Name, strategy.Name())
		x, err := r.Compare(problem, strategy)
		var failed *scenario.ProgramError
		if errors.As(err, &failed) {
			entry.Failed = append(entry.Failed, failedStrategy{strategy.Name(), failed.Error()})
			if len(entry.Failed) == len(strategies) {
				return nil, cli.Usage(err)
			}
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", strategy.Name(), err)
		}
		entry.Strategies = append(entry.Strategies, x)
	}
	scenario.Front(entry.Strategies)
	return entry, nil
}

// elsewhere puts the costs of --costs into a problem, and returns the function that does so and what the file says.
func elsewhere(f *flags, m *machine.Machine, r *scenario.Runner, p *scenario.Problem) (replace func(*scenario.Problem) error, _ []scenario.NetworkCoverage, err error) {
	if f.table == nil {
		return func(*scenario.Problem) error { return nil }, nil, nil
	}
	x := session.NewPlanner(m.Phone, nnrt.CompileOptions{Preference: nnrt.Prefer(r.Preference)}, session.PlanPace())
	x.Progress = r.Progress
	e, err := r.Elsewhere(f.table, func(network int) (partition.Costs, error) {
		w := &r.Workloads[network]
		problem, err := x.Problem(&session.Network{Model: w.Model, Inputs: w.Inputs}, session.CostsMeasured)
		if err != nil {
			return partition.Costs{}, err
		}
		return problem.Costs, nil
	})
	if err == nil {
		err = e.Replace(p)
	}
	if err != nil {
		return nil, nil, cli.Usage(err)
	}
	return e.Replace, e.Coverage(p), nil
}

// How engines run.
const (
	measuredEngines  = "measured"
	simulatedEngines = "simulated"
)

// networks reads the networks of a runner and returns how its engines run: held for the times that were measured for
// operations, or simulated, where --simulate asks for it or an execution alone tells what a network costs.
func networks(a *cli.App, f *flags, m *machine.Machine, r *scenario.Runner) (engines string, err error) {
	defer try.Catch(&err)
	engines = simulatedEngines
	if f.most < 0 {
		engines = measuredEngines
	}
	known := map[string]*scenario.Workload{}
	var forms []*input.Form
	for i := range r.Scenario.Networks {
		name := r.Scenario.Networks[i].Model
		if w := known[name]; w != nil {
			r.Workloads, forms = append(r.Workloads, *w), append(forms, forms[slices.IndexFunc(r.Scenario.Networks, func(n scenario.Network) bool { return n.Model == name })])
			continue
		}
		model := try.V(input.ReadModel(a, name, input.Choice{}))
		form := try.V(input.NewForm(model, &input.Flags{}))
		w := scenario.Workload{Model: model, Inputs: form.Inputs}
		if engines == measuredEngines {
			x := try.V(session.Measure(m.Phone, form, nnrt.CompileOptions{Preference: nnrt.Prefer(r.Preference)}, func(format string, args ...any) {
				r.Progress("%s: %s", model.Name, fmt.Sprintf(format, args...))
			}))
			if x == nil {
				engines = simulatedEngines
			} else {
				w.Problem, w.Loads = x.Problem, x.Loads
				r.Mismatches += x.Mismatches
			}
		}
		known[name] = &w
		r.Workloads, forms = append(r.Workloads, w), append(forms, form)
	}
	if engines == measuredEngines {
		return engines, r.Outline(try.V(m.Outliner()))
	}
	m.Live.Most = f.most
	if f.most < 0 {
		m.Live.Most = besides
	}
	for i := range r.Workloads {
		form, model := forms[i], r.Workloads[i].Model
		r.Progress("reference of %s", model.Name)
		try.E(form.Reference())
		r.Workloads[i].Check = func(res *nnrt.Result) (n int) {
			for _, x := range form.Compare(res) {
				n += x.Mismatches
			}
			return n
		}
	}
	return engines, nil
}

// besides is how often a program is simulated beside the same others where --simulate does not say.
const besides = 2
