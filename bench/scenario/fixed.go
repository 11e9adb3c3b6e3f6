package scenario

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// aosp lets Android's runtime divide each network by itself, as if it were alone.
type aosp struct{}

func (aosp) Name() string { return "aosp" }

func (aosp) Plan(p *Problem) (Plan, error) {
	plan := Plan{Routes: make([]Route, len(p.Costs))}
	for i := range plan.Routes {
		plan.Routes[i] = Route{Divided}
	}
	return plan, nil
}

// delegate is an application that hands every network to the delegate which TensorFlow Lite documents for its type: the
// GPU delegate for floats, the Hexagon delegate for 8 bits; what that does not run, the CPU runs.
type delegate struct{}

func (delegate) Name() string { return "delegate" }

// delegates are the engines of networks of 8 bits, and of others, those preferred first.
var delegates = map[bool][]string{true: {"dsp", "npu", "gpu"}, false: {"gpu", "npu", "dsp"}}

func (delegate) Plan(p *Problem) (plan Plan, err error) {
	for i := range p.Costs {
		route := Route{p.fastest(i)}
		for _, name := range delegates[i < len(p.Quantized) && p.Quantized[i]] {
			if d := slices.Index(p.Devices, name); d >= 0 && p.Costs[i][d].Runs() {
				route = Route{d}
				break
			}
		}
		plan.Routes = append(plan.Routes, route)
	}
	return plan, nil
}

// single gives each network the engine that is the fastest for it alone.
type single struct{}

func (single) Name() string { return "single" }

func (single) Plan(p *Problem) (plan Plan, err error) {
	for i := range p.Costs {
		plan.Routes = append(plan.Routes, Route{p.fastest(i)})
	}
	return plan, nil
}

// only gives every network one engine, as an application does that creates all its interpreters with one delegate: what the
// engine does not run, the CPU runs.
type only struct{ device string }

func (o only) Name() string { return singlePrefix + o.device }

// CheckDevices returns an error that names the first strategy for an engine which is none of those given.
func CheckDevices(strategies []Strategy, devices []string) error {
	for _, s := range strategies {
		if o, ok := s.(only); ok && !slices.Contains(devices, o.device) {
			return fmt.Errorf("scenario: strategy %s: no such device; there are %s", o.Name(), strings.Join(devices, ", "))
		}
	}
	return nil
}

func (o only) Plan(p *Problem) (plan Plan, err error) {
	if err := CheckDevices([]Strategy{o}, p.Devices); err != nil {
		return Plan{}, err
	}
	d := slices.Index(p.Devices, o.device)
	for i := range p.Costs {
		route := Route{d}
		if cpu := slices.Index(p.Devices, "cpu"); !p.Costs[i][d].Runs() && cpu >= 0 {
			route[0] = cpu
		}
		plan.Routes = append(plan.Routes, route)
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
	return max(best, 0)
}

// dp gives each network the route with the shortest latency alone: a shortest path through parts x engines.
type dp struct{}

func (dp) Name() string { return "dp" }

func (dp) Plan(p *Problem) (plan Plan, err error) {
	for i := range p.Costs {
		plan.Routes = append(plan.Routes, p.shortest(i))
	}
	return plan, nil
}

// shortest is the route of a network with the shortest latency alone.
func (p *Problem) shortest(network int) Route {
	n := p.parts(network)
	best := Route{p.fastest(network)}
	if n == 1 {
		return best
	}
	least := p.alone(network, best).LatencyFs
	// reach[k] is the shortest time of the first k parts, route[k] the route of them.
	reach, route := make([]int64, n+1), make([]Route, n+1)
	for to := 1; to <= n; to++ {
		reach[to] = -1
		for from := range to {
			if reach[from] < 0 || from == 0 && to == n {
				continue
			}
			for d := range p.Devices {
				c := p.Cost(network, from, to, d)
				if !c.Runs() || reach[to] >= 0 && reach[from]+c.LatencyFs >= reach[to] {
					continue
				}
				reach[to] = reach[from] + c.LatencyFs
				route[to] = append(slices.Clone(route[from]), slices.Repeat(Route{d}, to-from)...)
			}
		}
	}
	if c := p.alone(network, route[n]); reach[n] > 0 && c.Runs() && (least == 0 || c.LatencyFs < least) {
		return route[n].simple()
	}
	return best
}

// heft is the list scheduling of HEFT (Topcuoglu 2002) over the parts of all networks: those with the most work per second
// behind them first, each on the engine on which the work that it has by then ends first.
type heft struct{}

func (heft) Name() string { return "heft" }

// task is a part of a network to HEFT.
type task struct {
	network, part int
	rank          float64 // mean work of this part and those behind it in the duration
}

func (heft) Plan(p *Problem) (Plan, error) {
	arrivals := make([]float64, len(p.Costs))
	for _, j := range p.Jobs {
		arrivals[j.Network]++
	}
	var tasks []task
	for i := range p.Costs {
		rank := 0.
		for k := p.parts(i) - 1; k >= 0; k-- {
			rank += p.mean(i, k) * arrivals[i]
			tasks = append(tasks, task{i, k, rank})
		}
	}
	slices.SortStableFunc(tasks, func(a, b task) int {
		return cmp.Or(cmp.Compare(b.rank, a.rank), cmp.Compare(a.network, b.network), cmp.Compare(a.part, b.part))
	})
	plan, load := Plan{Routes: make([]Route, len(p.Costs))}, make([]float64, len(p.Devices))
	ready := make([]float64, len(p.Costs))
	for _, t := range tasks {
		r := plan.Routes[t.network]
		best, end := -1, 0.
		for d := range p.Devices {
			c := p.Cost(t.network, t.part, t.part+1, d)
			if !c.Runs() {
				continue
			}
			took := c.LatencyFs
			if len(r) > 0 && r[len(r)-1] == d { // it goes on in one execution
				both := p.Cost(t.network, t.part-1, t.part+1, d)
				before := p.Cost(t.network, t.part-1, t.part, d)
				took = both.LatencyFs - before.LatencyFs
			}
			if e := max(load[d], ready[t.network]) + float64(took)*arrivals[t.network]; best < 0 || e < end {
				best, end = d, e
			}
		}
		if best < 0 {
			continue // no engine runs the part without help: the network is whole, below
		}
		plan.Routes[t.network], load[best], ready[t.network] = append(r, best), end, end
	}
	for i, r := range plan.Routes {
		if len(r) < p.parts(i) {
			r = Route{p.fastest(i)}
		}
		plan.Routes[i] = r.simple()
	}
	return plan, nil
}

// mean is the mean latency of a part over the engines that run it, as HEFT ranks tasks.
func (p *Problem) mean(network, part int) (mean float64) {
	n := 0.
	for d := range p.Devices {
		if c := p.Cost(network, part, part+1, d); c.Runs() {
			mean += float64(c.LatencyFs)
			n++
		}
	}
	return mean / max(n, 1)
}
