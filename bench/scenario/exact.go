package scenario

import (
	"cmp"
	"container/heap"
	"fmt"
	"slices"
)

// Bounds of exact: routes of one network, jobs in all predictions of a search, and joint plans that it looks at.
const (
	maxRoutes        = 1 << 16
	maxPredictedJobs = 20_000_000
	maxVisits        = 1 << 20
)

// exact searches the joint plans of all networks, best first by a bound from below: no job is faster than its route
// alone. The search ends proven once the bound of the next plan is no better than the best prediction; it begins with the
// plans of the other strategies, so that a search which is cut short is no worse than these. With an objective other than
// missed deadlines and mean latency all plans are visited; those are predicted whose bounds have a better objective than the best.
type exact struct{}

func (exact) Name() string { return "exact" }

func (exact) Plan(p *Problem) (Plan, error) {
	routes := make([][]bounded, len(p.Costs))
	for i := range p.Costs {
		var err error
		if routes[i], err = p.routes(i); err != nil {
			return Plan{}, err
		}
	}
	s := newSearch(p)
	for _, other := range []Strategy{single{}, dp{}, heft{}} {
		plan, err := other.Plan(p)
		if err != nil {
			return Plan{}, err
		}
		s.try(plan.Routes)
	}
	budget := maxPredictedJobs / max(1, len(p.Jobs))
	visits := maxVisits
	queue := &frontier{{at: make([]int, len(routes))}}
	(*queue)[0].bound = sum(routes, (*queue)[0].at)
	for queue.Len() > 0 {
		x := heap.Pop(queue).(candidate)
		if p.Objective == nil && s.plan.Routes != nil && !x.bound.below(len(p.Jobs), &s.best) {
			s.plan.Proven = true
			return s.plan, nil
		}
		if visits--; visits < 0 {
			return s.plan, nil
		}
		if !p.Rises || p.Objective == nil || s.plan.Routes == nil || p.Objective(p.least(routes, x.at)) < p.Objective(&s.best) {
			if budget--; budget < 0 {
				return s.plan, nil
			}
			var plan []Route
			for i, k := range x.at {
				plan = append(plan, routes[i][k].route)
			}
			s.try(plan)
		}
		for i := x.last; i < len(x.at); i++ { // each tuple has one predecessor
			if x.at[i]+1 < len(routes[i]) {
				at := slices.Clone(x.at)
				at[i]++
				heap.Push(queue, candidate{sum(routes, at), at, i})
			}
		}
	}
	s.plan.Proven = true
	return s.plan, nil
}

// bound is what jobs cost at least.
type bound struct {
	missed int
	sumFs  float64 // of latencies
}

// least is what the prediction of a joint plan has at least: its jobs wait for nothing.
func (p *Problem) least(routes [][]bounded, at []int) *Prediction {
	x := &Prediction{}
	var latency []int64
	sum := 0.
	for i, k := range at {
		r := &routes[i][k]
		x.Missed, sum, x.EnergyPJ = x.Missed+r.missed, sum+r.sumFs, x.EnergyPJ+r.energyPJ
		x.SpanFs = max(x.SpanFs, r.lastFs)
		latency = append(latency, slices.Repeat([]int64{r.latencyFs}, r.jobs)...)
	}
	x.MeanFs, x.P99Fs = int64(sum/float64(len(p.Jobs))), percentile99(latency)
	return x
}

// below reports whether a plan of the bound could be better than a prediction of a number of jobs.
func (b bound) below(jobs int, x *Prediction) bool {
	return cmp.Or(cmp.Compare(b.missed, x.Missed), cmp.Compare(int64(b.sumFs/float64(jobs)), x.MeanFs)) < 0
}

// bounded is a route with the bound of its network's jobs.
type bounded struct {
	route Route
	bound
	latencyFs int64 // of a job
	jobs      int
	lastFs    int64   // when the last job ends
	energyPJ  float64 // of all jobs
}

// routes returns the routes by which engines run a network, the lowest bound first.
func (p *Problem) routes(network int) (list []bounded, err error) {
	n := p.parts(network)
	add := func(r Route) {
		c := p.alone(network, r)
		if !c.Runs() && p.arrives(network) {
			return
		}
		b := bounded{route: r, latencyFs: c.LatencyFs}
		for i := range p.Jobs {
			j := &p.Jobs[i]
			if j.Network == network {
				b.sumFs += float64(c.LatencyFs)
				b.jobs, b.lastFs, b.energyPJ = b.jobs+1, max(b.lastFs, j.ArrivalFs+c.LatencyFs), b.energyPJ+c.EnergyPJ
				if j.DeadlineFs > 0 && j.ArrivalFs+c.LatencyFs > j.DeadlineFs {
					b.missed++
				}
			}
		}
		list = append(list, b)
	}
	for d := range p.Devices {
		if n == 1 || p.Costs[network][d].Runs() {
			add(Route{d})
		}
	}
	count := 1
	for k := range n {
		runs := 0
		for d := range p.Devices {
			if c := p.Cost(network, k, k+1, d); c.Runs() {
				runs++
			}
		}
		if count *= runs; n > 1 && count > maxRoutes {
			return nil, fmt.Errorf("scenario: exact: more than %d routes of %d parts of network %d; --parts makes fewer", maxRoutes, n, network)
		}
	}
	var walk func(r Route)
	walk = func(r Route) {
		if len(r) == n {
			if simple := r.simple(); !simple.whole() || !p.Costs[network][r[0]].Runs() {
				add(slices.Clone(r))
			}
			return
		}
		for d := range p.Devices {
			if c := p.Cost(network, len(r), len(r)+1, d); c.Runs() {
				walk(append(r, d))
			}
		}
	}
	if n > 1 {
		walk(nil)
	}
	slices.SortStableFunc(list, func(a, b bounded) int { return compareBounds(a.bound, b.bound) })
	if len(list) == 0 { // nothing runs it, and it does not arrive
		list = []bounded{{route: Route{p.fastest(network)}}}
	}
	return list, nil
}

func compareBounds(a, b bound) int {
	return cmp.Or(cmp.Compare(a.missed, b.missed), cmp.Compare(a.sumFs, b.sumFs))
}

// sum is the bound of a joint plan.
func sum(routes [][]bounded, at []int) (b bound) {
	for i, k := range at {
		b.missed, b.sumFs = b.missed+routes[i][k].missed, b.sumFs+routes[i][k].sumFs
	}
	return b
}

// candidate is a joint plan: the index of each network's route. Those behind it differ in networks from last on.
type candidate struct {
	bound
	at   []int
	last int
}

// frontier is a heap of candidates, the lowest bound first.
type frontier []candidate

func (f frontier) Len() int           { return len(f) }
func (f frontier) Less(i, k int) bool { return compareBounds(f[i].bound, f[k].bound) < 0 }
func (f frontier) Swap(i, k int)      { f[i], f[k] = f[k], f[i] }
func (f *frontier) Push(x any)        { *f = append(*f, x.(candidate)) }
func (f *frontier) Pop() any {
	old := *f
	x := old[len(old)-1]
	*f = old[:len(old)-1]
	return x
}

// search keeps the best of the plans that it has predicted, each once. Its predictions are without the latencies of jobs.
type search struct {
	*Problem
	plan      Plan
	best      Prediction
	contended bool
	known     map[string]Prediction // by routes
}

func newSearch(p *Problem) *search { return &search{Problem: p, known: map[string]Prediction{}} }

// try predicts a plan and keeps it if it is the best so far.
func (s *search) try(routes []Route) Prediction {
	key := keyOf(routes)
	if x, ok := s.known[key]; ok {
		return x
	}
	plan := Plan{Routes: routes, Contended: s.contended}
	x := Predict(s.Problem, plan)
	x.Latency = nil
	s.known[key] = x
	if s.plan.Routes == nil || s.better(&x, &s.best) {
		plan.Routes = make([]Route, len(routes))
		for i := range routes {
			plan.Routes[i] = slices.Clone(routes[i])
		}
		s.plan, s.best = plan, x
	}
	return x
}

// keyOf identifies routes.
func keyOf(routes []Route) string {
	var b []byte
	for _, r := range routes {
		b = append(b, byte(len(r)))
		for _, d := range r {
			b = append(b, byte(d))
		}
	}
	return string(b)
}
