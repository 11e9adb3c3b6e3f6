package scenario

import (
	"math/rand/v2"
	"slices"
)

// Sizes of the genetic search, assumed (D-2902). Puzzle's are not public for every part of it.
const (
	population     = 32
	maxGenerations = 60
	stagnation     = 15 // generations without a better plan, after which the search ends
	mutationRate   = 0.4
	geneticJobs    = 5_000_000 // jobs in all predictions
)

// genetic searches joint plans with a genetic algorithm in the manner of Puzzle (arXiv 2508.17764): an individual is the
// engine of each part of each network, its fitness the prediction of the plan; routes of networks are crossed over, runs
// of parts move to other engines, and a local search improves the best. It begins with the plans of dp, heft and single.
// The scenario's seed makes it reproducible.
type genetic struct{}

func (genetic) Name() string { return "genetic" }

func (genetic) Plan(p *Problem) (Plan, error) { return evolve(p, false) }

// contention is the genetic search with predictions in which engines slow each other down, by what the networks cost
// beside each other: HaX-CoNN (PPoPP 2024) plans by costs of that kind.
type contention struct{}

func (contention) Name() string { return "contention" }

func (contention) Plan(p *Problem) (Plan, error) { return evolve(p, true) }

// individual is a joint plan with its prediction. Its routes are full: an engine for each part, or one for a network
// that engines run as a whole alone.
type individual struct {
	routes []Route
	Prediction
}

func evolve(p *Problem, contended bool) (Plan, error) {
	g := &generation{search: newSearch(p), random: rand.New(rand.NewPCG(p.Scenario.Seed, 0x9e3779b97f4a7c15))}
	g.contended = contended
	for _, s := range []Strategy{dp{}, heft{}, single{}} {
		plan, err := s.Plan(p)
		if err != nil {
			return Plan{}, err
		}
		g.add(g.full(plan.Routes))
	}
	for len(g.all) < population {
		routes := make([]Route, len(p.Costs))
		for i := range routes {
			routes[i] = g.any(i)
		}
		g.add(routes)
	}
	budget := geneticJobs / max(1, len(p.Jobs))
	for round, last := 0, 0; round < maxGenerations && round-last < stagnation && len(g.known) < budget; round++ {
		before := g.best
		for range population {
			child := g.cross(g.pick(), g.pick())
			if g.random.Float64() < mutationRate {
				g.mutate(child)
			}
			g.add(child)
		}
		slices.SortStableFunc(g.all, func(a, b individual) int {
			switch {
			case p.better(&a.Prediction, &b.Prediction):
				return -1
			case p.better(&b.Prediction, &a.Prediction):
				return 1
			}
			return 0
		})
		g.all = slices.CompactFunc(g.all, func(a, b individual) bool { return slices.EqualFunc(a.routes, b.routes, slices.Equal) })
		g.all = g.all[:min(population, len(g.all))]
		if p.better(&g.best, &before) {
			last = round
		}
	}
	g.climb(budget)
	return g.plan, nil
}

// generation is the individuals of a genetic search.
type generation struct {
	*search
	random *rand.Rand
	all    []individual
}

func (g *generation) add(routes []Route) {
	g.all = append(g.all, individual{routes, g.try(simpleRoutes(routes))})
}

// simpleRoutes are routes as a plan has them: one element where a network is whole.
func simpleRoutes(routes []Route) []Route {
	list := make([]Route, len(routes))
	for i := range routes {
		list[i] = routes[i].simple()
	}
	return list
}

// full are routes with an element per part, where the engine runs each by itself.
func (g *generation) full(routes []Route) []Route {
	list := make([]Route, len(routes))
	for i, r := range routes {
		list[i] = g.spread(i, r)
	}
	return list
}

// spread is the full route of a network.
func (g *generation) spread(network int, r Route) Route {
	n := g.parts(network)
	if !r.whole() || n == 1 {
		return slices.Clone(r)
	}
	for k := range n {
		if c := g.Cost(network, k, k+1, r[0]); !c.Runs() {
			return slices.Clone(r)
		}
	}
	return slices.Repeat(r, n)
}

// engines are those that run parts of a network, in one execution.
func (g *generation) engines(network, from, to int) (list []int) {
	for d := range g.Devices {
		if c := g.Cost(network, from, to, d); c.Runs() {
			list = append(list, d)
		}
	}
	return list
}

// any is a random route: one engine for all parts, or one for each.
func (g *generation) any(network int) Route {
	n := g.parts(network)
	whole := g.engines(network, 0, n)
	if len(whole) > 0 && (n == 1 || g.random.IntN(2) == 0) {
		return g.spread(network, Route{whole[g.random.IntN(len(whole))]})
	}
	r := make(Route, n)
	for k := range r {
		list := g.engines(network, k, k+1)
		if len(list) == 0 {
			return Route{g.fastest(network)}
		}
		r[k] = list[g.random.IntN(len(list))]
	}
	return r
}

// pick is the better of two random individuals.
func (g *generation) pick() *individual {
	a, b := &g.all[g.random.IntN(len(g.all))], &g.all[g.random.IntN(len(g.all))]
	if g.better(&b.Prediction, &a.Prediction) {
		return b
	}
	return a
}

// cross takes each network's route from one parent, or its first parts from one and the others from the other.
func (g *generation) cross(a, b *individual) []Route {
	routes := make([]Route, len(a.routes))
	for i := range routes {
		x, y := a.routes[i], b.routes[i]
		if g.random.IntN(2) == 0 {
			x, y = y, x
		}
		routes[i] = slices.Clone(x)
		if len(x) == len(y) && len(x) > 1 && g.random.IntN(2) == 0 {
			at := 1 + g.random.IntN(len(x)-1)
			copy(routes[i][at:], y[at:])
		}
	}
	return routes
}

// mutate moves a run of parts of one network to another engine, or gives the network a random route.
func (g *generation) mutate(routes []Route) {
	i := g.random.IntN(len(routes))
	r := routes[i]
	if r.whole() || g.random.IntN(4) == 0 {
		routes[i] = g.any(i)
		return
	}
	from := g.random.IntN(len(r))
	to := from + 1 + g.random.IntN(len(r)-from)
	if list := g.engines(i, from, to); len(list) > 0 && to-from < len(r) {
		d := list[g.random.IntN(len(list))]
		for k := from; k < to; k++ {
			r[k] = d
		}
	}
}

// climb moves single parts and whole networks of the best plan while that makes it better.
func (g *generation) climb(budget int) {
	for better := true; better && len(g.known) < 2*budget; {
		before, routes := g.best, g.full(g.plan.Routes)
		for i := range routes {
			for k := range routes[i] {
				to := k + 1
				if routes[i].whole() {
					to = g.parts(i)
				}
				for _, d := range g.engines(i, k, to) {
					next := slices.Clone(routes)
					next[i] = slices.Clone(routes[i])
					next[i][k] = d
					g.try(simpleRoutes(next))
				}
			}
			for d := range g.Devices {
				if g.Costs[i][d].Runs() {
					next := slices.Clone(routes)
					next[i] = Route{d}
					g.try(next)
				}
			}
		}
		better = g.better(&g.best, &before)
	}
}
