package session

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nnsoc/nnsoc/bench/zoo"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/cache"
	"github.com/nnsoc/nnsoc/hal/devices"
	npuplan "github.com/nnsoc/nnsoc/hal/driver/npudriver/plan"
	"github.com/nnsoc/nnsoc/internal/cputime"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
	"github.com/nnsoc/nnsoc/runtime/partition"
	"github.com/nnsoc/nnsoc/runtime/partition/cost"
	"github.com/nnsoc/nnsoc/runtime/registry"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// Sources of costs.
const (
	CostsMeasured     = "measured"
	CostsLinear       = "linear"
	CostsCapabilities = "capabilities"
)

// CostSources are all of them.
var CostSources = []string{CostsMeasured, CostsLinear, CostsCapabilities}

// fitted are the networks whose measurements linear costs are fitted to: small,
// and together of every type of operation that networks of the zoo have most of.
var fitted = []string{
	"mobilenet_v1_0.25_128_quant", "mobilenet_v1_0.25_128_float", "mobilenet_v2_0.35_128_quant", "mobilenet_v2_0.35_128_float",
}

// SmallMACs is the size of networks of which every plan runs.
const SmallMACs = 200_000_000

// Planner states partitioning problems for a phone, with costs, and runs plans.
type Planner struct {
	Phone      *Phone
	Objective  partition.Objective
	Expression *partition.Expression // in place of Objective; nil: there is none
	Costs      string                // their source; "" is CostsMeasured
	Table      *cost.Table           // costs of a file, whose name is their source
	Coverage   []cost.Coverage       // what Table said of the last problem
	// PlanName names the plan that runs next, for Progress; nil: it has no name.
	PlanName func() string
	Progress func(format string, args ...any) // nil: is silent

	store    *cost.Store
	options  nnrt.CompileOptions
	quick    bool // few runs, for a first estimate
	streams  map[PlanKey]*Streamed
	linear   map[string]*cost.Linear // by the network that it was not fitted to
	pace     Pace
	runs     map[PlanKey]*PlanRun
	measured map[PlanKey]*partition.Run // results of plans, whichever strategy asked first
	outliner *devices.Outliner
	reuse    *devices.ReuseCache // results of programs in plans of large networks
}

// PlanKey is a plan of a model.
type PlanKey struct {
	model *nn.Model
	plan  string
}

// KeyOf is the key of a plan.
func KeyOf(p *partition.Problem, plan partition.Plan) PlanKey {
	return PlanKey{p.Model, fmt.Sprint(plan.Device, plan.Part, plan.Sequential, plan.Subgraphs)}
}

// PlanRun is a plan that ran, with the result of its last execution.
type PlanRun struct {
	Result      *nnrt.Result
	Invocations *Invocations
	Phone       *Phone // that it ran on, which remembers its executions
	Compilation *nnrt.Compilation
	ExecuteUser time.Duration // of the host, for one execution that was simulated
	Outputs     bool          // those of the result are its own
}

// NewPlanner returns a planner for a phone whose executions follow one another at a pace. Costs are kept between runs
// of the program where the phone has a folder for them.
func NewPlanner(m *Phone, o nnrt.CompileOptions, at Pace) *Planner {
	at.Longest, at.Invocations, at.Progress = PlanPace().Longest, at.invocations(), nil
	store := cost.NewStore(m.options.Costs, Fingerprint(m.Config)+cache.Build()).Other(fmt.Sprint(at))
	x := &Planner{
		Phone: m, store: store, options: o, pace: at, runs: map[PlanKey]*PlanRun{}, measured: map[PlanKey]*partition.Run{},
		linear: map[string]*cost.Linear{}, streams: map[PlanKey]*Streamed{}, reuse: devices.NewReuseCache(),
	}
	if o, err := devices.NewOutliner(m.Config, o.Preference.HAL()); err == nil {
		x.outliner = o // else predictions are sums
	}
	return x
}

// Problem states the problem of a network, with costs of a source.
func (x *Planner) Problem(f *Network, costs string) (*partition.Problem, error) {
	p, err := nnrt.NewProblem(x.Phone.Registry, f.Model, x.options)
	if err != nil {
		return nil, err
	}
	p.Objective, p.Expression = x.Objective, x.Expression
	if costs == "" {
		costs = CostsMeasured
	}
	m := x.measurer(f.Model, f.Inputs)
	switch {
	case x.Table != nil && costs == x.Table.Name:
		p.Costs, x.Coverage, err = x.Table.Costs(p, func() (partition.Costs, error) { return m.Measured(p) })
	case costs == CostsMeasured:
		p.Costs, err = m.Measured(p)
	case costs == CostsCapabilities:
		p.Costs, err = m.Capabilities(p)
	case costs == CostsLinear:
		var l *cost.Linear
		if l, err = x.fit(f.Model.Name); err == nil {
			p.Costs = l.Costs(p)
		}
	default:
		err = fmt.Errorf("no costs %q; there are %s", costs, strings.Join(CostSources, ", "))
	}
	if err == nil && p.Objective == partition.FirstResult {
		x.compileCosts(p)
	}
	if err == nil {
		err = x.remember(p, f.Inputs)
	}
	return p, err
}

func (x *Planner) progress(format string, args ...any) {
	if x.Progress != nil {
		x.Progress(format, args...)
	}
}

func (x *Planner) planName() string {
	if x.PlanName != nil {
		return x.PlanName()
	}
	return "a plan"
}

// remember runs each plan once, whichever strategy requests it, and with objective throughput a stream of inputs with
// it: also for plans that have run already.
func (x *Planner) remember(p *partition.Problem, inputs [][]byte) error {
	stream := func(plan partition.Plan, r *partition.Run) error {
		if p.Objective != partition.Throughput {
			return nil
		}
		s, err := x.Stream(p, plan, inputs)
		if err == nil {
			r.IntervalFs = s.IntervalFs
		}
		return err
	}
	if err := p.Costs.Runs(stream); err != nil {
		return err
	}
	scales, streamed, err := x.streamScales(p)
	if err != nil {
		return err
	}
	for d, by := range scales {
		p.Costs.ScaleEngine(d, by)
		p.Costs.ScaleStream(d, streamed[d])
	}
	scale := func(r *partition.Run) {
		for i := range r.Segments {
			if s := &r.Segments[i]; s.Control == nil && s.Device < len(scales) {
				s.Cost.EngineFs *= scales[s.Device]
			}
		}
	}
	if predict := p.Costs.Predict; predict != nil {
		p.Costs.Predict = func(plan partition.Plan) (*partition.Run, error) {
			r, err := predict(plan)
			if r != nil {
				scale(r)
			}
			return r, err
		}
	}
	measure := p.Costs.Measure
	if measure == nil {
		return nil
	}
	p.Costs.Measure = func(plan partition.Plan) (*partition.Run, error) {
		key := KeyOf(p, plan)
		if r := x.measured[key]; r != nil {
			again := *r
			return &again, nil
		}
		r, err := measure(plan)
		if err == nil {
			scale(r)
			err = stream(plan, r)
		}
		if err != nil {
			return nil, err
		}
		kept := *r
		x.measured[key] = &kept
		return r, nil
	}
	return nil
}

// streamScales are how much longer a stream holds each device than executions by themselves do, and how much longer
// executions take in it but for queues: of a plan that holds a device for two thirds of all that it holds (assumed, D-1861).
func (x *Planner) streamScales(p *partition.Problem) (engine, execution []float64, err error) {
	engine, execution = slices.Repeat([]float64{1}, len(p.Devices)), slices.Repeat([]float64{1}, len(p.Devices))
	err = p.Costs.Runs(func(plan partition.Plan, r *partition.Run) error {
		held, err := p.DeviceTimes(plan)
		s := x.streams[KeyOf(p, plan)]
		if err != nil || s == nil {
			return err
		}
		all := 0.0
		for _, h := range held {
			all += h
		}
		for d, h := range held {
			if 3*h > 2*all {
				engine[d], execution[d] = s.HeldFs[p.Devices[d].Name]/h, s.LatencyFs/r.LatencyFs
			}
		}
		return nil
	})
	return engine, execution, err
}

// measurer measures a network, nil: small ones.
func (x *Planner) measurer(m *nn.Model, inputs [][]byte) *cost.Measurer {
	return &cost.Measurer{
		Store: x.store, Options: hal.PrepareOptions{Preference: x.options.Preference.HAL(), Priority: x.options.Priority.HAL()},
		Inputs: inputs, Progress: x.progress, PlanName: x.planName, Loop: x.loop, Outline: x.outline(m), SystemCache: x.systemCache, CopyRate: x.copyRate, Governed: x.governed, Clocks: x.clocks(m), MemoryClocks: x.memoryClocks,
	}
}

// clocks are the lowest and the highest clock of a device's engine; nil where little is to be measured: for a first
// estimate, and for a large network.
func (x *Planner) clocks(m *nn.Model) func(string) (lowest, highest int64) {
	if x.quick || m != nil && x.most(m) > 0 {
		return nil
	}
	return func(device string) (lowest, highest int64) {
		e, _ := soc.EngineNamed(device)
		return x.Phone.Live.SoC().ClocksOf(e)
	}
}

// systemCache is a device's allocation in the machine's system-level cache.
func (x *Planner) systemCache(device string) (bytes int64, bytesPerSecond float64) {
	if e, ok := soc.EngineNamed(device); ok {
		return x.Phone.Config.Share(e)
	}
	return 0, 0
}

// copyRate returns the bytes per cycle of the NPU's memory for inputs and outputs if it is off chip and not the DRAM of
// the SoC, so that programs copy to and from it, else 0.
func (x *Planner) copyRate(device string) float64 {
	n := x.Phone.Config.NPU
	if e, ok := soc.EngineNamed(device); !ok || e != soc.EngineNPU || n == nil {
		return 0
	}
	if m := n.Memory(n.Regions[npuplan.OwnIO]); m != nil && m.OffChip && !m.IsDRAM() {
		return m.BytesPerCycle
	}
	return 0
}

// governed reports whether a governor moves the clock of a device's engine.
func (x *Planner) governed(device string) bool {
	e, ok := soc.EngineNamed(device)
	return ok && x.Phone.ownDrivers() && x.Phone.Config.Governed(e)
}

// memoryClocks are the lowest and the highest clock of the DRAM at a clock of a device's engine.
func (x *Planner) memoryClocks(device string, hz int64) (lowest, highest int64) {
	e, _ := soc.EngineNamed(device)
	return x.Phone.Live.SoC().MemoryClocks(e, hz)
}

// outline is the prediction of plans: on a machine whose engines have the measured costs of their operations. nil with
// drivers of other processes, whose machine is unknown, and of a network with values of open shape, which only computing
// gives.
func (x *Planner) outline(m *nn.Model) func(*partition.Problem, partition.Plan, [][]byte, []cost.Load, func(*nnrt.Result)) (float64, error) {
	if !x.Phone.ownDrivers() || x.outliner == nil || m != nil && hasOpenShapes(m) {
		return nil
	}
	pace := x.pace
	pace.Approximate = false // it computes nothing
	return func(p *partition.Problem, plan partition.Plan, inputs [][]byte, steps []cost.Load, each func(*nnrt.Result)) (intervalFs float64, err error) {
		next := 0 // parts are prepared in the order of the steps
		live, err := x.outliner.New(func(device string, m *nn.Model) (l devices.Load, err error) {
			if next == len(steps) || steps[next].Device != device || steps[next].Operations != len(m.Main.Operations) {
				return l, fmt.Errorf("a part of %d operations for %s, which is not step %d", len(m.Main.Operations), device, next)
			}
			next++
			return devices.LoadOf(steps[next-1].At), nil
		}, len(plan.Subgraphs) > 0)
		if err != nil {
			return 0, err
		}
		list := live.Devices()
		r, err := registry.New(list[0], list[1:]...)
		if err != nil {
			return 0, err
		}
		r.SetMachine(live)
		o := x.options
		o.Partitioning, o.Cache = nnrt.WithoutFallback, registry.Cache{}
		compiled, err := nnrt.CompilePlan(r, p, plan, o)
		if err != nil {
			return 0, err
		}
		m := &Phone{Config: x.Phone.Config, Registry: r, Live: live}
		if err = pace.Loop(m, compiled, inputs, nnrt.ExecuteOptions{}, each); err != nil || p.Objective != partition.Throughput {
			return 0, err
		}
		s, err := Stream(m, compiled, inputs)
		if err != nil {
			return 0, err
		}
		return s.IntervalFs, nil
	}
}

// hasOpenShapes reports whether an operation of a network has an output whose shape only an execution gives.
func hasOpenShapes(m *nn.Model) bool {
	open := func(g nn.Subgraph) bool {
		return slices.ContainsFunc(g.Operations, func(op nn.Operation) bool {
			return slices.ContainsFunc(op.Outputs, func(i uint32) bool { return !g.Operands[i].Known() })
		})
	}
	return open(m.Main) || slices.ContainsFunc(m.Referenced, open)
}

// loop executes a plan as nnsoc run does: in a loop, after a warm-up, or with clocks held.
func (x *Planner) loop(p *partition.Problem, plan partition.Plan, held cost.Clock, inputs [][]byte, each func(*nnrt.Result)) error {
	m, c, err := x.Separate(p, plan)
	if err != nil {
		return err
	}
	if held != (cost.Clock{}) {
		return x.pinned(m, c, held, inputs, each)
	}
	m.Live.Most = x.most(p.Model)
	if x.likens(p.Model) {
		m.Live.Reuse = x.reuse
	}
	r := &PlanRun{Invocations: NewInvocations(), Phone: m, Compilation: c}
	before, taken, start := m.Live.Simulated(), x.reuse.Reused(), cputime.User()
	err = x.pace.Loop(m, c, inputs, nnrt.ExecuteOptions{}, func(res *nnrt.Result) {
		if p.Objective == partition.FirstResult {
			res = compiled(c, res)
		}
		r.Invocations.Add(res)
		r.Result = res
		each(res)
	})
	if err == nil {
		r.Invocations.Finish()
		r.Outputs = x.reuse.Reused() == taken
		r.ExecuteUser = (cputime.User() - start) * time.Duration(len(r.Result.Parts)) / time.Duration(max(1, m.Live.Simulated()-before))
		x.runs[KeyOf(p, plan)] = r
	}
	return err
}

// most is how often a program of a plan may run, 0: as often as it finds another state. The machine of drivers in other
// processes is shared with others.
func (x *Planner) most(m *nn.Model) int {
	switch {
	case !x.Phone.ownDrivers() || opspec.MACs(m) <= SmallMACs:
		return 0
	case x.quick:
		return networkRuns
	}
	return planRuns
}

// likens reports whether programs of a plan that are alike stand for each other: no computed values decide what runs.
// After a first estimate the machine continues with the plan.
func (x *Planner) likens(m *nn.Model) bool {
	return !x.quick && x.most(m) > 0 && len(m.Referenced) == 0
}

// pinned executes a plan with a clock held, and that of the DRAM. The first execution fills the
// caches, the second counts, unless what one moves is more than they hold.
func (x *Planner) pinned(m *Phone, c *nnrt.Compilation, pinned cost.Clock, inputs [][]byte, each func(*nnrt.Result)) (err error) {
	defer try.Catch(&err)
	m.Live.Reset()
	try.E(m.Live.PinClock(pinned.Device, pinned.Hz))
	try.E(m.Live.PinMemoryClock(pinned.MemoryHz))
	o := nnrt.ExecuteOptions{Burst: x.pace.Burst}
	res := try.V(c.Execute(inputs, o))
	for i := range res.Devices {
		if d := &res.Devices[i]; m.Live.CachesHold(d.Device, d.Memory.ReadBytes+d.Memory.WriteBytes) {
			res = try.V(c.Execute(inputs, o))
			break
		}
	}
	each(res)
	return nil
}

// Run returns the run of a plan, which is executed unless costs were measured by it.
func (x *Planner) Run(p *partition.Problem, plan partition.Plan, inputs [][]byte) (*PlanRun, error) {
	if r, ok := x.runs[KeyOf(p, plan)]; ok {
		return r, nil
	}
	if err := x.loop(p, plan, cost.Clock{}, inputs, func(*nnrt.Result) {}); err != nil {
		return nil, err
	}
	return x.runs[KeyOf(p, plan)], nil
}

// Stream returns a stream that runs a plan.
func (x *Planner) Stream(p *partition.Problem, plan partition.Plan, inputs [][]byte) (*Streamed, error) {
	key := KeyOf(p, plan)
	if s := x.streams[key]; s != nil {
		return s, nil
	}
	m, c, err := x.Separate(p, plan)
	if err != nil {
		return nil, err
	}
	s, err := Stream(m, c, inputs)
	if err == nil {
		x.streams[key] = s
	}
	return s, err
}

// Separate compiles a plan on a separate machine: the addresses of programs in memory, and so their hits in caches, depend
// on those that ran before. Drivers of other processes are the same ones.
func (x *Planner) Separate(p *partition.Problem, plan partition.Plan) (*Phone, *nnrt.Compilation, error) {
	m := x.Phone
	if x.Phone.ownDrivers() {
		var err error
		if m, err = m.another(); err != nil {
			return nil, nil, err
		}
	}
	c, err := nnrt.CompilePlan(m.Registry, p, plan, x.options)
	return m, c, err
}

// fit fits linear costs to networks other than the one to predict.
func (x *Planner) fit(other string) (*cost.Linear, error) {
	if l := x.linear[other]; l != nil {
		return l, nil
	}
	var networks []*partition.Problem
	for _, name := range fitted {
		if name == other {
			continue
		}
		m, err := zoo.Build(name)
		if err != nil {
			return nil, err
		}
		p, err := nnrt.NewProblem(x.Phone.Registry, m, x.options)
		if err != nil {
			return nil, err
		}
		networks = append(networks, p)
	}
	l, err := x.measurer(nil, nil).Fit(networks)
	if err == nil {
		x.linear[other] = l
	}
	return l, err
}

// Compile runs a plan without predictions, of drivers of other processes, this often besides those of single devices.
const quickRuns = 2

// Compile accepts a plan that did not run if it is predicted to be this much better than the best device by itself: no
// less than predictions may be off.
const quickMargin = 0.05

// planRuns is how often programs of a large network that are alike run for all plans of the command partition: at the
// clocks of work without a pause, and at those that a plan settles at.
const planRuns = 2

// networkRuns is how often Compile and the run of its choice simulate the programs of a network, where only the state
// of clocks and caches differs from known runs.
const networkRuns = 3

// Choice is a plan that Compile has chosen and its estimated time.
type Choice struct {
	*nnrt.Compilation
	Phone       *Phone        // that it is compiled for
	PredictedUS float64       // before it ran
	ExecuteUser time.Duration // of the host, for one execution; 0: none was simulated
}

// Compile compiles a network for the best plan by prediction. Only those of single devices run, each program once, of
// those that differ in their constants alone one; the costs of operations at other clocks follow from that. A machine
// that the plan has run on continues with it: known executions are not simulated again, and of a large network no
// program runs more than networkRuns times in all. The command partition looks further.
func (x *Planner) Compile(f *Network) (*Choice, error) {
	p, plan, err := x.choose(f)
	if err != nil {
		return nil, err
	}
	predicted, err := p.Predict(plan)
	if err != nil {
		return nil, err
	}
	c := &Choice{PredictedUS: predicted.LatencyFs / 1e9}
	if r := x.runs[KeyOf(p, plan)]; r != nil {
		c.Phone, c.Compilation, c.ExecuteUser = r.Phone, r.Compilation, r.ExecuteUser
		return c, nil
	}
	if c.Phone, c.Compilation, err = x.Separate(p, plan); err == nil {
		c.Phone.Live.Most = x.most(f.Model)
	}
	return c, err
}

// choose returns the best plan of a network by prediction, without running it.
func (x *Planner) choose(f *Network) (p *partition.Problem, plan partition.Plan, err error) {
	defer try.Catch(&err)
	x.pace.Approximate, x.quick = true, true
	x.store = x.store.Other("quick")
	p = try.V(x.Problem(f, x.Costs))
	if p.Runs = quickRuns; p.Costs.Predict != nil {
		p.Runs = -1
	}
	try.V2(partition.Solve(p, partition.Auto{}))
	return p, try.V(p.Prudent(quickMargin)), nil
}
