package scenario

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/nnsoc/nnsoc/internal/spelling"
)

// Cost is what one inference of a network costs alone on an engine.
type Cost struct {
	LatencyFs int64 // 0: the engine does not run the network
	EnergyPJ  float64
	Reason    string // why it does not
}

// Runs reports whether the engine runs the network.
func (c *Cost) Runs() bool { return c.LatencyFs > 0 }

// Problem is what a strategy sees: the scenario, the engines and the cost of each network on each engine. It holds
// nothing of the simulator.
type Problem struct {
	Scenario *Scenario
	Jobs     []Job
	Devices  []string
	Costs    [][]Cost // by network, then by device
}

// Divided is the device of a network that the runtime divides among the engines by AOSP's rule.
const Divided = -1

// Plan is what a strategy decides before the first arrival.
type Plan struct {
	// Device is the engine of each network, an index of Problem.Devices, or Divided. A job starts when it arrives and
	// waits in the queues of drivers. nil where Scheduler decides.
	Device []int
	// Scheduler decides while networks arrive.
	Scheduler Scheduler
}

// State is what a Scheduler sees when an engine is free.
type State struct {
	*Problem
	NowFs   int64
	Waiting []Job   // in the order of their arrivals
	FreeFs  []int64 // when each engine is free, by the costs of what it runs; in the past where it is idle
}

// Scheduler is asked for a job whenever an engine is idle and jobs wait, engines in the order of Problem.Devices.
// Next returns an index of s.Waiting, of a job whose network the device runs, or -1 to leave the device idle until
// something changes. It must not change s.
type Scheduler interface {
	Next(s *State, device int) int
}

// Strategy decides where and when jobs run.
type Strategy interface {
	Name() string
	Plan(p *Problem) (Plan, error)
}

// Names of the strategies, in the order in which they are compared.
func Names() (names []string) {
	for _, s := range strategies {
		names = append(names, s.Name())
	}
	return names
}

// strategies are all that there are, with what docs/Strategies.md says of them.
var strategies = []Strategy{aosp{}, single{}, heft{}, exact{}, online{"edf", earliestDeadline}, online{"least-slack", leastSlack}, online{"band", band}}

// Find is the strategy of a name.
func Find(name string) (Strategy, error) {
	i := slices.IndexFunc(strategies, func(s Strategy) bool { return s.Name() == name })
	if i < 0 {
		return nil, fmt.Errorf("no strategy %q; there are %s%s", name, strings.Join(Names(), ", "), spelling.DidYouMean(name, Names()))
	}
	return strategies[i], nil
}

// aosp lets Android's runtime divide each network by itself, as if it were alone.
type aosp struct{}

func (aosp) Name() string { return "aosp" }

func (aosp) Plan(p *Problem) (Plan, error) {
	plan := Plan{Device: make([]int, len(p.Costs))}
	for i := range plan.Device {
		plan.Device[i] = Divided
	}
	return plan, nil
}

// single gives each network the engine that is the fastest for it alone.
type single struct{}

func (single) Name() string { return "single" }

func (single) Plan(p *Problem) (plan Plan, err error) {
	for i := range p.Costs {
		plan.Device = append(plan.Device, p.fastest(i))
	}
	return plan, nil
}

// fastest is the engine with the shortest latency of a network.
func (p *Problem) fastest(network int) int {
	best := -1
	for d := range p.Costs[network] {
		if c := &p.Costs[network][d]; c.Runs() && (best < 0 || c.LatencyFs < p.Costs[network][best].LatencyFs) {
			best = d
		}
	}
	return best
}

// heft is the list scheduling of HEFT (Topcuoglu 2002) for networks as independent tasks: those with the most work per
// second first, each to the engine on which the work that it has by then ends first.
type heft struct{}

func (heft) Name() string { return "heft" }

func (heft) Plan(p *Problem) (Plan, error) {
	arrivals := make([]int64, len(p.Costs))
	for _, j := range p.Jobs {
		arrivals[j.Network]++
	}
	rank := func(i int) (mean int64) { // the mean over engines, as HEFT ranks tasks
		n := int64(0)
		for _, c := range p.Costs[i] {
			if c.Runs() {
				mean += c.LatencyFs / 1e3
				n++
			}
		}
		return mean / max(n, 1) * arrivals[i]
	}
	var order []int
	for i := range p.Costs {
		order = append(order, i)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rank(b), rank(a)) })
	plan, load := Plan{Device: make([]int, len(p.Costs))}, make([]int64, len(p.Devices))
	for _, i := range order {
		best := -1
		for d := range p.Devices {
			if c := &p.Costs[i][d]; c.Runs() && (best < 0 || load[d]+c.LatencyFs/1e3*arrivals[i] < load[best]+p.Costs[i][best].LatencyFs/1e3*arrivals[i]) {
				best = d
			}
		}
		plan.Device[i] = best
		load[best] += p.Costs[i][best].LatencyFs / 1e3 * arrivals[i]
	}
	return plan, nil
}

// maxAssignments bounds the plans that exact predicts.
const maxAssignments = 1 << 14

// exact predicts each assignment of networks to engines and takes the one with the fewest missed deadlines, of those
// the one with the shortest mean latency.
type exact struct{}

func (exact) Name() string { return "exact" }

func (exact) Plan(p *Problem) (Plan, error) {
	count := 1
	for _, row := range p.Costs {
		n := 0
		for d := range row {
			if row[d].Runs() {
				n++
			}
		}
		if count *= n; count > maxAssignments {
			return Plan{}, fmt.Errorf("scenario: exact: more than %d assignments of %d networks to %d engines", maxAssignments, len(p.Costs), len(p.Devices))
		}
	}
	var best Plan
	var least Prediction
	device := make([]int, len(p.Costs))
	var walk func(i int)
	walk = func(i int) {
		if i == len(device) {
			plan := Plan{Device: slices.Clone(device)}
			if x := Predict(p, plan); best.Device == nil || x.better(&least) {
				best, least = plan, x
			}
			return
		}
		for d := range p.Devices {
			if p.Costs[i][d].Runs() {
				device[i] = d
				walk(i + 1)
			}
		}
	}
	walk(0)
	return best, nil
}

// online is a strategy that only decides while networks arrive.
type online struct {
	name string
	next next
}

type next func(s *State, device int) int

// Next implements Scheduler.
func (f next) Next(s *State, device int) int { return f(s, device) }

func (o online) Name() string { return o.name }

func (o online) Plan(*Problem) (Plan, error) { return Plan{Scheduler: o.next}, nil }

// first is the index of the waiting job for which less holds against all others that the device runs, -1 without one.
func first(s *State, device int, less func(a, b *Job) bool) int {
	best := -1
	for i := range s.Waiting {
		j := &s.Waiting[i]
		if s.Costs[j.Network][device].Runs() && (best < 0 || less(j, &s.Waiting[best])) {
			best = i
		}
	}
	return best
}

// deadline is when a job is due, as late as can be where it has no deadline.
func (j *Job) deadline() int64 {
	if j.DeadlineFs == 0 {
		return 1<<63 - 1
	}
	return j.DeadlineFs
}

// earliestDeadline gives a free engine the job that is due first (EDF), whatever engine suits it.
func earliestDeadline(s *State, device int) int {
	return first(s, device, func(a, b *Job) bool { return a.deadline() < b.deadline() })
}

// slack is the time that a job can still wait on an engine.
func (s *State) slack(j *Job, device int) int64 {
	return j.deadline() - s.NowFs - s.Costs[j.Network][device].LatencyFs
}

// leastSlack gives a free engine the job that can wait the least, by its time on this engine.
func leastSlack(s *State, device int) int {
	return first(s, device, func(a, b *Job) bool { return s.slack(a, device) < s.slack(b, device) })
}

// band is the rule of Band (Jeong et al., MobiSys 2022) for whole networks: of the jobs that end on this engine before
// they would on any other, counting what the others still run, the one with the least slack.
func band(s *State, device int) int {
	best := -1
	for i := range s.Waiting {
		j := &s.Waiting[i]
		if !s.endsFirst(j, device) {
			continue
		}
		if best < 0 || s.slack(j, device) < s.slack(&s.Waiting[best], device) {
			best = i
		}
	}
	return best
}

// endsFirst reports whether no engine ends a job before this one does.
func (s *State) endsFirst(j *Job, device int) bool {
	c := s.Costs[j.Network]
	if !c[device].Runs() {
		return false
	}
	for d := range c {
		if c[d].Runs() && max(s.FreeFs[d], s.NowFs)+c[d].LatencyFs < s.NowFs+c[device].LatencyFs {
			return false
		}
	}
	return true
}
