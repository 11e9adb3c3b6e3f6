package scenario

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nnsoc/nnsoc/internal/spelling"
)

// Cost is what one inference of a network, or of a part of one, costs alone on an engine.
type Cost struct {
	LatencyFs int64 // 0: the engine does not run it
	EnergyPJ  float64
	// WakeFs is how much longer the first inference takes: on an engine that has run nothing since the phone rested. 0 of parts,
	// which pay that of their network.
	WakeFs int64
	// LeadFs is the time of the software before the inference queues for the engine; it is part of LatencyFs. 0 of parts.
	LeadFs int64
	Reason string // why it does not run
}

// Runs reports whether the engine runs the network.
func (c *Cost) Runs() bool { return c.LatencyFs > 0 }

// DividedCost is a cost of a network on several engines.
type DividedCost struct {
	Cost
	Device int // the engine with the most of the work, which a prediction counts as busy for all of it
}

// Problem is what a strategy sees: the scenario, the engines and the cost of each network and part on each engine. It
// holds nothing of the simulator.
type Problem struct {
	Scenario *Scenario
	Jobs     []Job
	Devices  []string
	Costs    [][]Cost // by network, then by device
	Parts    [][]Part // by network; empty: it is one part
	// Whole is the cost of each network as the runtime divides it, Divided; where it does not run or is not known, the network
	// counts on its fastest engine.
	Whole []DividedCost
	// Quantized reports which networks compute in 8 bits.
	Quantized []bool
	// Slowdown is the factor on the latency of a network on an engine while another network is at work on another
	// engine, measured when it is first asked for. nil: engines do not disturb each other.
	Slowdown func(network, device, other, on int) float64
	// Objective is what strategies that search make small; nil: the missed deadlines, then the mean latency.
	Objective func(*Prediction) float64
	// Rises: the objective never falls when a figure of the prediction rises, so that exact need not predict a plan whose bounds are
	// worse than the best.
	Rises bool

	ranges [][]Cost // of parts, by network
	own    *Problem // with the costs of the simulator, where those of Elsewhere took their place; nil: this one
}

// simulated is the problem with the costs of the simulator.
func (p *Problem) simulated() *Problem {
	if p.own != nil {
		return p.own
	}
	return p
}

// Divided is the route of a network that the runtime divides among the engines by AOSP's rule.
const Divided = -1

// Plan is what a strategy decides before the first arrival.
type Plan struct {
	// Routes are the engines of each network. A job starts when it arrives and waits in the queues of drivers. nil where
	// Scheduler decides.
	Routes []Route
	// Scheduler decides while networks arrive.
	Scheduler Scheduler
	// Contended: the prediction of the plan counts Problem.Slowdown.
	Contended bool
	// Proven: no plan of routes has a better prediction.
	Proven bool
}

// State is what a Scheduler sees when an engine is free.
type State struct {
	*Problem
	NowFs   int64
	Waiting []Job   // in the order of their arrivals; of those that have begun, the rest, in the order in which their last parts ended
	FreeFs  []int64 // when each engine is free, by the costs of what it runs; in the past where it is idle
	Asleep  []bool  // engines that have run nothing yet, by device; nil: none
}

// Now is Cost on an engine as it is: of the first job on one that sleeps with what it costs to be woken.
func (s *State) Now(network, from, to, device int) Cost {
	c := s.Cost(network, from, to, device)
	if c.Runs() && device < len(s.Asleep) && s.Asleep[device] {
		c.LatencyFs += s.Costs[network][device].WakeFs
	}
	return c
}

// asleep are as many engines that sleep.
func asleep(devices int) []bool { return slices.Repeat([]bool{true}, devices) }

// Choice is what an idle engine does next.
type Choice struct {
	Job   int // index of State.Waiting, -1 to leave the engine idle until something changes
	Parts int // of the job's parts that are left, beginning with the next; 0 is all. The others wait again
}

// idle leaves an engine idle.
var idle = Choice{Job: -1}

// Scheduler is asked for a job whenever an engine is idle and jobs wait, engines in the order of Problem.Devices. The
// engine must run the parts that Next chooses. Next must not change s.
type Scheduler interface {
	Next(s *State, device int) Choice
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
var strategies = []Strategy{
	aosp{}, delegate{}, single{}, dp{}, heft{}, exact{}, genetic{}, contention{},
	online{"edf", earliestDeadline}, online{"least-slack", leastSlack}, online{"band", band}, online{"adms", adms},
}

// singlePrefix is what the names of strategies with one engine for all networks begin with.
const singlePrefix = "single:"

// Find is the strategy of a name: one of Names, single:DEVICE, or exec:PROGRAM with arguments separated by spaces.
func Find(name string) (Strategy, error) {
	if device, ok := strings.CutPrefix(name, singlePrefix); ok {
		return only{device}, nil
	}
	if command, ok := strings.CutPrefix(name, "exec:"); ok {
		return newExternal(name, command)
	}
	i := slices.IndexFunc(strategies, func(s Strategy) bool { return s.Name() == name })
	if i < 0 {
		return nil, fmt.Errorf("no strategy %q; there are %s, single:DEVICE, exec:PROGRAM%s", name, strings.Join(Names(), ", "), spelling.DidYouMean(name, Names()))
	}
	return strategies[i], nil
}

// Check returns an error that names the first network whose route no engine of the problem runs.
func (p *Problem) Check(plan Plan) error {
	if plan.Scheduler != nil {
		return nil
	}
	if len(plan.Routes) != len(p.Costs) {
		return fmt.Errorf("scenario: routes of %d networks, there are %d", len(plan.Routes), len(p.Costs))
	}
	for i, r := range plan.Routes {
		if len(r) != 1 && len(r) != p.parts(i) {
			return fmt.Errorf("scenario: network %d: a route of %d parts, there are %d", i, len(r), p.parts(i))
		}
		for k, d := range r {
			if d == Divided && r.whole() {
				continue
			}
			if d < 0 || d >= len(p.Devices) {
				return fmt.Errorf("scenario: network %d, part %d: device %d, there are %d", i, k, d, len(p.Devices))
			}
			from, to := k, k+1
			if r.whole() {
				from, to = 0, p.parts(i)
			}
			if c := p.Cost(i, from, to, d); !c.Runs() && p.arrives(i) {
				return fmt.Errorf("scenario: network %d, part %d: %s does not run it: %s", i, k, p.Devices[d], c.Reason)
			}
		}
	}
	return nil
}

// arrives reports whether a network has a job.
func (p *Problem) arrives(network int) bool {
	return slices.ContainsFunc(p.Jobs, func(j Job) bool { return j.Network == network })
}
