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
		{"single", [][]float64{{1, 2}, {4, 3}, {0, 9}}, []int{0, 1, 1}},
		{"heft", [][]float64{{3, 4}, {3, 4}}, []int{0, 1}},             // the second would wait on a
		{"heft", [][]float64{{3, 9}, {3, 9}}, []int{0, 0}},             // waiting is shorter than b
		{"exact", [][]float64{{6, 7}, {6, 7}}, []int{0, 1}},            // one engine would be late
		{"exact", [][]float64{{2, 9}, {2, 9}}, []int{0, 0}},            // 2 and 4 ms beat 2 and 9
		{"exact", [][]float64{{4, 5}, {4, 0}, {4, 6}}, []int{1, 0, 0}}, // a holds two in time
	} {
		p := problem(t, c.costs...)
		plan := require.V(require.V(Find(c.name))(t).Plan(p))(t)
		require.Check(t, slices.Equal(plan.Device, c.want), "%s of %v: %v, want %v", c.name, c.costs, plan.Device, c.want)
	}
	_, err := Find("lest-slack")
	require.Check(t, err != nil && strings.Contains(err.Error(), `did you mean "least-slack"?`), "%v", err)
}

// TestExactIsBest compares with every other assignment, on random costs.
func TestExactIsBest(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		costs := make([][]float64, 3)
		for i := range costs {
			costs[i] = []float64{1 + 8*random.Float64(), 1 + 8*random.Float64()}
		}
		p := problem(t, costs...)
		best := Predict(p, require.V(exact{}.Plan(p))(t))
		for k := range 8 {
			x := Predict(p, Plan{Device: []int{k & 1, k >> 1 & 1, k >> 2 & 1}})
			require.Check(t, !x.better(&best), "%v: assignment %b is better", costs, k)
		}
	}
}

// TestPredict follows a queue by hand: two networks of 4 ms on one engine, the second of high priority.
func TestPredict(t *testing.T) {
	p := problem(t, []float64{4, 0}, []float64{4, 0})
	for i := range p.Jobs {
		p.Jobs[i].Priority = p.Jobs[i].Network // 0 is low
	}
	x := Predict(p, Plan{Device: []int{0, 0}})
	want := []int64{ms(8), ms(4), ms(8), ms(4), ms(8), ms(4)}
	require.Check(t, slices.Equal(x.Latency, want) && x.Missed == 0 && x.MeanFs == ms(6), "%+v, want %v", x, want)
	p = problem(t, []float64{12, 0})
	x = Predict(p, Plan{Device: []int{0}}) // 12, 14 and 16 ms for deadlines of 10
	require.Check(t, slices.Equal(x.Latency, []int64{ms(12), ms(14), ms(16)}) && x.Missed == 3, "%+v", x)
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
		require.Check(t, got == c.want, "%s on device %d, free %v: %d, want %d", c.name, c.device, c.free, got, c.want)
		require.Check(t, cmp.Equal(before, s.Waiting), "%s changes what waits", c.name)
	}
	s.Waiting = s.Waiting[2:3]
	require.Same(t, -1, require.V(require.V(Find("edf"))(t).Plan(p))(t).Scheduler.Next(s, 0), "an engine that runs none of what waits")
}
