package scenario

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nnsoc/nnsoc/internal/require"
)

// ms is a time of that many milliseconds.
func ms(x float64) int64 { return int64(x * femtoseconds) }

// problem has costs in milliseconds, 0 where an engine does not run a network; networks arrive every 10 ms, each at the
// same time, three times.
func problem(t *testing.T, costs ...[]float64) *Problem {
	t.Helper()
	p := &Problem{Scenario: &Scenario{Name: "s", DurationMS: 30}, Devices: []string{"a", "b"}}
	for _, row := range costs {
		p.Scenario.Networks = append(p.Scenario.Networks, Network{Model: "m", PeriodMS: 10})
		var list []Cost
		for _, c := range row {
			list = append(list, Cost{LatencyFs: ms(c)})
		}
		p.Costs = append(p.Costs, list)
	}
	require.NoError(t, p.Scenario.complete())
	p.Jobs = p.Scenario.Jobs()
	return p
}

// TestStrategiesPlan holds the fixed plans of small problems.
func TestStrategiesPlan(t *testing.T) {
	for _, c := range []struct {
		name  string
		costs [][]float64
		want  []int
	}{
		{"aosp", [][]float64{{1, 2}}, []int{Divided}},
		{"dp", [][]float64{{1, 2}, {4, 3}}, []int{0, 1}},
		{"single", [][]float64{{1, 2}, {4, 3}, {0, 9}}, []int{0, 1, 1}},
		{"single:b", [][]float64{{1, 2}, {4, 3}}, []int{1, 1}},
		{"heft", [][]float64{{3, 4}, {3, 4}}, []int{0, 1}},             // the second would wait on a
		{"heft", [][]float64{{3, 9}, {3, 9}}, []int{0, 0}},             // waiting is shorter than b
		{"exact", [][]float64{{6, 7}, {6, 7}}, []int{0, 1}},            // one engine would be late
		{"exact", [][]float64{{2, 9}, {2, 9}}, []int{0, 0}},            // 2 and 4 ms beat 2 and 9
		{"exact", [][]float64{{4, 5}, {4, 0}, {4, 6}}, []int{1, 0, 0}}, // a holds two in time
	} {
		p := problem(t, c.costs...)
		plan := require.V(require.V(Find(c.name))(t).Plan(p))(t)
		require.Check(t, slices.EqualFunc(plan.Routes, c.want, func(r Route, d int) bool { return len(r) == 1 && r[0] == d }), "%s of %v: %v, want %v", c.name, c.costs, plan.Routes, c.want)
	}
	_, err := require.V(Find("single:c"))(t).Plan(problem(t, []float64{1, 2}))
	require.Check(t, err != nil && strings.Contains(err.Error(), "there are a, b"), "%v", err)
	_, err = Find("lest-slack")
	require.Check(t, err != nil && strings.Contains(err.Error(), `did you mean "least-slack"?`), "%v", err)
}

// divide cuts each network of a problem into parts with random costs on some of its engines.
func divide(p *Problem, random *rand.Rand) {
	for i := range p.Costs {
		parts := make([]Part, 1+random.IntN(3))
		for k := range parts {
			parts[k].Operations = []int{k}
			for d := range p.Devices {
				c := Cost{}
				if d == 0 || random.IntN(4) > 0 {
					c = Cost{LatencyFs: ms(0.5 + 4*random.Float64()), EnergyPJ: 1e6 * random.Float64()}
				}
				parts[k].Costs = append(parts[k].Costs, c)
			}
		}
		p.Parts = append(p.Parts, parts)
		for d := range p.Devices {
			c := Cost{}
			for k := range parts {
				if x := parts[k].Costs[d]; !x.Runs() {
					c = Cost{}
					break
				} else {
					c.LatencyFs, c.EnergyPJ = c.LatencyFs+x.LatencyFs-ms(0.05), c.EnergyPJ+x.EnergyPJ
				}
			}
			if p.Costs[i][d] = c; c.Runs() {
				p.Costs[i][d].WakeFs, p.Costs[i][d].LeadFs = ms(max(0, 3*random.Float64()-1)), ms(0.1*random.Float64())
			}
		}
	}
}

// joint calls f with every joint plan of a problem.
func joint(p *Problem, f func([]Route)) {
	routes := make([]Route, len(p.Costs))
	var walk func(i int)
	var route func(i int, r Route)
	route = func(i int, r Route) {
		if len(r) == p.parts(i) {
			routes[i] = slices.Clone(r).simple()
			walk(i + 1)
			return
		}
		for d := range p.Devices {
			if c := p.Cost(i, len(r), len(r)+1, d); c.Runs() {
				route(i, append(r, d))
			}
		}
	}
	walk = func(i int) {
		if i == len(routes) {
			f(routes)
			return
		}
		route(i, nil)
	}
	walk(0)
}

// TestExactIsBest compares exact with every joint plan, on random costs of networks in up to three parts; no other strategy
// that plans beforehand is better, and what these plan runs. genetic finds the same in nearly all.
func TestExactIsBest(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	found, plans := 0, 0
	for round := range 40 {
		p := problem(t, []float64{1, 1}, []float64{1, 1}, []float64{1, 1})
		divide(p, random)
		plan := require.V(exact{}.Plan(p))(t)
		require.Check(t, plan.Proven, "round %d: not proven", round)
		best := Predict(p, plan)
		joint(p, func(routes []Route) {
			x := Predict(p, Plan{Routes: routes})
			require.Check(t, !p.better(&x, &best), "round %d: %v is better than %v: %+v, %+v", round, routes, plan.Routes, x, best)
			plans++
		})
		for _, s := range []Strategy{aosp{}, delegate{}, single{}, dp{}, heft{}, genetic{}, contention{}} {
			other := require.V(s.Plan(p))(t)
			require.NoError(t, p.Check(other))
			x := Predict(p, other)
			require.Check(t, s.Name() == "aosp" || !p.better(&x, &best), "round %d: %s is better: %v", round, s.Name(), other.Routes)
			if s.Name() == "genetic" && !p.better(&best, &x) {
				found++
			}
		}
	}
	t.Logf("%d plans; genetic found the best of %d in 40", plans, found)
	require.Check(t, found >= 36, "genetic found the best plan in %d of 40", found)
}

// TestExactRises: with objectives that rise exact leaves out plans by their bounds, and finds as good a plan as by predicting all.
func TestExactRises(t *testing.T) {
	random := rand.New(rand.NewPCG(21, 22))
	for round := range 12 {
		p := problem(t, []float64{1, 1}, []float64{1, 1}, []float64{1, 1})
		divide(p, random)
		text := []string{"1000*missed + p99_ms", "mean_ms*energy_uj", "max(span_ms, p99_ms)^2", "energy_uj/3"}[round%4]
		p.Objective, p.Rises = require.V(ParseObjective(text))(t), Rises(text)
		require.Check(t, p.Rises, "%s", text)
		some := Predict(p, require.V(exact{}.Plan(p))(t))
		p.Rises = false
		all := Predict(p, require.V(exact{}.Plan(p))(t))
		require.Same(t, p.Objective(&all), p.Objective(&some), "round %d, %s", round, text)
	}
	for _, text := range []string{"10 - mean_ms", "1/energy_uj", "missed > 0 ? 1 : mean_ms", "abs(p99_ms)", "-1*mean_ms", "2^mean_ms", "mean_ms ="} {
		require.Check(t, !Rises(text), "%s rises", text)
	}
}

// TestShortest: dp is the shortest route of each network alone.
func TestShortest(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 60 {
		p := problem(t, []float64{1, 1})
		divide(p, random)
		plan := require.V(dp{}.Plan(p))(t)
		own := p.alone(0, plan.Routes[0])
		joint(p, func(routes []Route) {
			c := p.alone(0, routes[0])
			require.Check(t, own.LatencyFs <= c.LatencyFs, "%v of %d fs, %v has %d", plan.Routes[0], own.LatencyFs, routes[0], c.LatencyFs)
		})
	}
}

// TestContention: where sharing two engines doubles both times, contention keeps to one that others avoid.
func TestContention(t *testing.T) {
	p := problem(t, []float64{3, 3.5}, []float64{3, 3.5})
	p.Slowdown = func(network, device, other, on int) float64 { return 2.5 }
	plan := require.V(contention{}.Plan(p))(t)
	require.Check(t, plan.Contended && plan.Routes[0][0] == 0 && plan.Routes[1][0] == 0, "%+v", plan)
	x := Predict(p, Plan{Routes: []Route{{0}, {1}}, Contended: true})
	require.Check(t, x.Latency[0] == ms(7.5) && x.Latency[1] == ms(8), "%v", x.Latency) // 0.2 ms of the second are left
	require.Same(t, 0, require.V(exact{}.Plan(p))(t).Routes[0][0]+require.V(exact{}.Plan(p))(t).Routes[1][0]-1, "without contention one each")
}

// TestSearchesRepeat: the same seed gives the same plan, and an objective is followed.
func TestSearchesRepeat(t *testing.T) {
	p := problem(t, []float64{1, 1}, []float64{1, 1}, []float64{1, 1})
	divide(p, rand.New(rand.NewPCG(5, 6)))
	a, b := require.V(genetic{}.Plan(p))(t), require.V(genetic{}.Plan(p))(t)
	require.Check(t, cmp.Equal(a, b), "%v and %v", a.Routes, b.Routes)
	p.Objective = func(x *Prediction) float64 { return x.EnergyPJ }
	best := Predict(p, require.V(exact{}.Plan(p))(t))
	joint(p, func(routes []Route) {
		x := Predict(p, Plan{Routes: routes})
		require.Check(t, best.EnergyPJ <= x.EnergyPJ, "%v costs %v, best %v", routes, x.EnergyPJ, best.EnergyPJ)
	})
}

// TestPredict follows a queue by hand: two networks of 4 ms on one engine, the second of high priority.
func TestPredict(t *testing.T) {
	p := problem(t, []float64{4, 0}, []float64{4, 0})
	for i := range p.Jobs {
		p.Jobs[i].Priority = p.Jobs[i].Network // 0 is low
	}
	x := Predict(p, Plan{Routes: []Route{{0}, {0}}})
	want := []int64{ms(8), ms(4), ms(8), ms(4), ms(8), ms(4)}
	require.Check(t, slices.Equal(x.Latency, want) && x.Missed == 0 && x.MeanFs == ms(6), "%+v, want %v", x, want)
	p = problem(t, []float64{12, 0})
	x = Predict(p, Plan{Routes: []Route{{0}}}) // 12, 14 and 16 ms for deadlines of 10
	require.Check(t, slices.Equal(x.Latency, []int64{ms(12), ms(14), ms(16)}) && x.Missed == 3, "%+v", x)
}

// TestPredictWake: the first job on each engine takes longer, those that arrive at once run in the order in which they reach its
// queue, and exact avoids a sleeping engine that would make the first job late.
func TestPredictWake(t *testing.T) {
	p := problem(t, []float64{4, 6}, []float64{4, 0})
	p.Costs[0][0].WakeFs, p.Costs[0][1].WakeFs, p.Costs[0][0].LeadFs = ms(3), ms(5), ms(0.2)
	x := Predict(p, Plan{Routes: []Route{{0}, {0}}})
	want := []int64{ms(8), ms(4), ms(8), ms(4), ms(8), ms(4)} // the second network has no lead, and does not pay for the first's wake-up
	require.Check(t, slices.Equal(x.Latency, want), "%v, want %v", x.Latency, want)
	x = Predict(p, Plan{Routes: []Route{{1}, {0}}})
	want = []int64{ms(11), ms(4), ms(7), ms(4), ms(6), ms(4)}
	require.Check(t, slices.Equal(x.Latency, want) && x.Missed == 1, "%+v, want %v", x, want)
	plan := require.V(exact{}.Plan(p))(t)
	require.Check(t, plan.Proven && plan.Routes[0][0] == 0, "%+v", plan)
	s := &State{Problem: p, FreeFs: []int64{0, 0}, Asleep: []bool{true, true}, Waiting: p.Jobs[:1]}
	awake := []bool{true, false}
	require.Check(t, band(s, 1) == idle && band(s, 0) == Choice{}, "engines that both sleep")
	s.Asleep = awake
	require.Check(t, band(s, 0) == idle && band(s, 1) == Choice{}, "7 ms on an engine that sleeps, 6 on one that does not")
}

// TestSchedulers holds what a free engine takes.
func TestSchedulers(t *testing.T) {
	p := problem(t, []float64{2, 4}, []float64{5, 1}, []float64{0, 3})
	s := &State{Problem: p, NowFs: ms(10), FreeFs: []int64{0, 0}, Waiting: []Job{
		{Network: 0, DeadlineFs: ms(30)}, {Network: 1, DeadlineFs: ms(20)}, {Network: 2, DeadlineFs: ms(16)}, {Network: 0},
	}}
	for _, c := range []struct {
		name   string
		device int
		free   []int64
		want   int
	}{
		{"edf", 0, []int64{0, 0}, 1},
		{"edf", 1, []int64{0, 0}, 2},
		{"least-slack", 0, []int64{0, 0}, 1},
		{"band", 0, []int64{0, 0}, 0},      // 1 ends first on b, where it takes 1 ms
		{"band", 0, []int64{0, ms(15)}, 1}, // b is busy until 15: 1 ends at 15 here and at 16 there
		{"band", 1, []int64{0, 0}, 2},      // slack of 3 ms
		{"band", 1, []int64{ms(10), ms(10)}, 2},
	} {
		s.FreeFs = c.free
		strategy := require.V(Find(c.name))(t)
		before := slices.Clone(s.Waiting)
		got := require.V(strategy.Plan(p))(t).Scheduler.Next(s, c.device)
		require.Check(t, got.Job == c.want && got.Parts == 0, "%s on device %d, free %v: %d, want %d", c.name, c.device, c.free, got, c.want)
		require.Check(t, cmp.Equal(before, s.Waiting), "%s changes what waits", c.name)
	}
	s.Waiting = s.Waiting[2:3]
	require.Same(t, idle, require.V(require.V(Find("edf"))(t).Plan(p))(t).Scheduler.Next(s, 0), "an engine that runs none of what waits")
}

// TestDivided: a network that the runtime divides is predicted at what it costs divided, beside others that keep its main engine
// busy; where that is not known, at its fastest engine's cost.
func TestDivided(t *testing.T) {
	p := &Problem{
		Devices: []string{"cpu", "npu"}, Costs: [][]Cost{{{LatencyFs: 20}, {LatencyFs: 5}}, {{LatencyFs: 7}, {}}}, Scenario: &Scenario{},
		Jobs: []Job{{Network: 0}, {Network: 1}}, Whole: []DividedCost{{Cost{LatencyFs: 8, EnergyPJ: 3}, 0}},
	}
	plan := require.V(aosp{}.Plan(p))(t)
	require.Equal(t, []int64{8, 15}, Predict(p, plan).Latency, "both on the cpu")
	require.Equal(t, int64(8), p.alone(0, plan.Routes[0]).LatencyFs)
	require.Equal(t, int64(7), p.alone(1, plan.Routes[1]).LatencyFs)
	p.Whole = nil
	require.Equal(t, []int64{5, 7}, Predict(p, plan).Latency, "the fastest engines")
}
