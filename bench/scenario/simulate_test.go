package scenario

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/nnsoc/nnsoc/bench/session"
	"github.com/nnsoc/nnsoc/bench/zoo"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/importer/tensor"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
	"github.com/nnsoc/nnsoc/runtime/registry"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// phone opens a machine with the networks of a scenario.
func phone(t testing.TB, s *Scenario) *Runner {
	t.Helper()
	require.NoError(t, s.complete())
	m := require.V(devices.NewMachine(require.V(soc.Load("pixel4"))(t), hal.FastSingleAnswer))(t)
	list := m.Devices()
	r := require.V(registry.New(list[0], list[1:]...))(t)
	r.SetMachine(m)
	x := &Runner{Machine: m, Registry: r, Preference: hal.FastSingleAnswer, Scenario: s, MaxParts: 3}
	for i := range s.Networks {
		model := require.V(zoo.Build(s.Networks[i].Model))(t)
		var inputs [][]byte
		for k := range model.Main.Inputs {
			inputs = append(inputs, tensor.SyntheticInput(&model.Main, k, 1))
		}
		expected := require.V(require.V(nnrt.Compile(r, model, "cpu", nnrt.CompileOptions{}))(t).Execute(inputs, nnrt.ExecuteOptions{Functional: true}))(t)
		x.Workloads = append(x.Workloads, Workload{Model: model, Inputs: inputs, Check: func(res *nnrt.Result) (n int) {
			for _, c := range nnrt.Compare(model, expected.Tensors(model), res) {
				n += c.Mismatches
			}
			return n
		}})
	}
	m.Most = 2
	return x
}

func small() *Scenario {
	return &Scenario{Name: "small", DurationMS: 40, Networks: []Network{
		{Model: "mlperf_tiny_kws_quant", PeriodMS: 10, Priority: "high"}, {Model: "mlperf_tiny_ad_quant", PeriodMS: 8},
	}}
}

// TestSimulate: every strategy serves each job after it arrived, with right results.
func TestSimulate(t *testing.T) {
	r := phone(t, small())
	p := require.V(r.Measure())(t)
	for i := range p.Whole {
		require.Check(t, p.Whole[i].Runs() && p.Whole[i].EnergyPJ > 0, "network %d divided: %+v", i, p.Whole[i])
	}
	for _, name := range Names() {
		plan := require.V(require.V(Find(name))(t).Plan(p))(t)
		run := require.V(r.Simulate(p, plan))(t)
		for i, d := range run.Jobs {
			j := p.Jobs[i]
			require.Check(t, d.StartFs >= j.ArrivalFs && d.EndFs > d.StartFs && d.EnergyPJ > 0, "%s: job %d: %+v arrived at %d", name, i, d, j.ArrivalFs)
		}
		require.Same(t, 0, run.Mismatches, name)
	}
}

// TestRepeats: another machine has the same run, to the byte.
func TestRepeats(t *testing.T) {
	var runs [2][]*Run
	for i := range runs {
		r := phone(t, small())
		p := require.V(r.Measure())(t)
		for _, name := range []string{"single", "adms"} {
			plan := require.V(require.V(Find(name))(t).Plan(p))(t)
			runs[i] = append(runs[i], require.V(r.Simulate(p, plan))(t))
		}
	}
	if d := cmp.Diff(runs[0], runs[1], cmpopts.IgnoreUnexported(Done{})); d != "" {
		t.Error(d)
	}
}

// TestParts: each network is cut into parts whose costs add up to about the whole, and a job whose parts have different
// engines, by route or by scheduler, has the results of the reference.
func TestParts(t *testing.T) {
	r := phone(t, &Scenario{Name: "parts", DurationMS: 20, Networks: []Network{{Model: "mlperf_tiny_vww_quant", PeriodMS: 10}}})
	p := require.V(r.Measure())(t)
	require.Same(t, 3, len(p.Parts[0]), "parts")
	at := 0
	for _, part := range p.Parts[0] {
		for _, i := range part.Operations {
			require.Same(t, at, i, "operations follow one another")
			at++
		}
	}
	for d := range p.Devices {
		a, b, whole := p.Cost(0, 0, 1, d), p.Cost(0, 1, 3, d), p.Cost(0, 0, 3, d)
		require.Check(t, whole == p.Costs[0][d] && a.LatencyFs+b.LatencyFs >= whole.LatencyFs, "%s: %+v, %+v of %+v", p.Devices[d], a, b, whole)
	}
	route := Route{0, len(p.Devices) - 1, 1}
	for name, plan := range map[string]Plan{
		"route": {Routes: []Route{route}},
		"scheduler": {Scheduler: next(func(s *State, device int) Choice {
			if j := &s.Waiting[0]; route[j.Part] == device {
				return Choice{0, 1}
			}
			return idle
		})},
	} {
		run := require.V(r.Simulate(p, plan))(t)
		require.Same(t, 0, run.Mismatches, name)
		for _, d := range run.Jobs {
			require.Check(t, d.Device == "cpu+npu+gpu" && len(d.Spans) == 3 && d.EnergyPJ > 0, "%s: %+v", name, d)
			for k := range d.Spans[1:] {
				require.Check(t, d.Spans[k].EndFs <= d.Spans[k+1].StartFs, "%s: %+v", name, d.Spans)
			}
		}
		x := Predict(p, plan)
		for i := range x.Latency {
			took := run.Jobs[i].EndFs - p.Jobs[i].ArrivalFs
			require.Check(t, math.Abs(float64(x.Latency[i])/float64(took)-1) < 0.5, "%s: %d fs predicted, %d", name, x.Latency[i], took)
		}
	}
}

// TestHot: a phone that begins hot is slower, by thermal rules, and one that begins too hot switches itself off.
func TestHot(t *testing.T) {
	took := func(c float64) (float64, error) {
		r := phone(t, &Scenario{Name: "hot", StartC: c, DurationMS: 100, Networks: []Network{{Model: "mlperf_tiny_vww_quant", PeriodMS: 10}}})
		r.MaxParts = 1
		p, err := r.Measure()
		if err != nil {
			return 0, err
		}
		return float64(p.Costs[0][len(p.Devices)-1].LatencyFs), nil // of the NPU
	}
	cool, hot := require.V(took(0))(t), require.V(took(50))(t)
	require.Check(t, hot > 1.2*cool, "%v fs at 50 C, %v cool", hot, cool)
	_, err := took(80)
	require.Check(t, err != nil && strings.Contains(err.Error(), "shut down by heat"), "%v", err)
}

// TestOverload: an engine that cannot keep up misses deadlines, and time goes to waiting.
func TestOverload(t *testing.T) {
	r := phone(t, &Scenario{Name: "overload", DurationMS: 4, Networks: []Network{{Model: "mlperf_tiny_vww_quant", PeriodMS: 0.2}}})
	p := require.V(r.Measure())(t)
	x := require.V(r.Compare(p, require.V(Find("single"))(t)))(t)
	row := x.Networks[0]
	require.Check(t, x.JobCount == 20 && x.Missed >= 15 && row.WorstMS > 1.5*row.P50MS && row.QueueMS > 0, "%+v", x)
	require.Check(t, row.P50MS <= row.P90MS && row.P90MS <= row.P99MS && row.P99MS <= row.WorstMS, "%+v", row)
}

// TestPlantedDifference: a result that is wrong is counted.
func TestPlantedDifference(t *testing.T) {
	r := phone(t, small())
	r.Workloads[1].Check = func(*nnrt.Result) int { return 3 }
	p := require.V(r.Measure())(t)
	x := require.V(r.Compare(p, require.V(Find("single"))(t)))(t)
	require.Same(t, 3*5, x.Mismatches, "mismatches of five jobs")
}

// TestBadSchedulers: a scheduler that gives an engine what it does not run, or nothing to any, is named.
func TestBadSchedulers(t *testing.T) {
	r := phone(t, small())
	p := require.V(r.Measure())(t)
	for want, f := range map[string]next{
		"which it does not run":              func(s *State, _ int) Choice { return Choice{Job: len(s.Waiting)} },
		"jobs waiting while every engine is": func(*State, int) Choice { return idle },
	} {
		_, err := r.Simulate(p, Plan{Scheduler: f})
		require.Check(t, err != nil && strings.Contains(err.Error(), want), "%v, want %s", err, want)
	}
	_, err := r.Simulate(p, Plan{Routes: []Route{{0}, {1}}})
	require.NoError(t, err) // the machine is as good as new
}

// TestOrderIndependent: a run does not depend on the runs before it, with engines that are simulated or held.
func TestOrderIndependent(t *testing.T) {
	for _, held := range []bool{false, true} {
		r := phone(t, &Scenario{Name: "beside", DurationMS: 8, Networks: []Network{
			{Model: "mlperf_tiny_vww_quant", PeriodMS: 1}, {Model: "mlperf_tiny_kws_quant", PeriodMS: 0.9}, {Model: "mlperf_tiny_ad_quant", PeriodMS: 0.7},
		}})
		if held {
			outline(t, r)
		}
		p := require.V(r.Measure())(t)
		runs := map[string][]*Run{}
		for _, name := range []string{"edf", "adms", "heft", "adms", "edf"} {
			plan := require.V(require.V(Find(name))(t).Plan(p))(t)
			runs[name] = append(runs[name], require.V(r.Simulate(p, plan))(t))
		}
		for _, name := range []string{"edf", "adms"} {
			if d := cmp.Diff(runs[name][0], runs[name][1], cmpopts.IgnoreUnexported(Done{})); d != "" {
				t.Errorf("held %v: %s: %s", held, name, d)
			}
		}
	}
}

// outline measures the networks of a runner and gives it an outline.
func outline(t testing.TB, r *Runner) {
	t.Helper()
	c := require.V(soc.Load("pixel4"))(t)
	m := require.V(session.Open(c, session.Options{Preference: r.Preference}))(t)
	for i := range r.Workloads {
		w := &r.Workloads[i]
		x := require.V(session.Measure(m, &session.Network{Model: w.Model, Inputs: w.Inputs}, nnrt.CompileOptions{Preference: nnrt.Prefer(r.Preference)}, nil))(t)
		require.Same(t, 0, x.Mismatches, "mismatches")
		w.Problem, w.Loads = x.Problem, x.Loads
	}
	require.NoError(t, r.Outline(require.V(m.Outliner())(t)))
}

// TestOutlineAgrees: strategies have about the same figures where operations hold the engines for measured times as where
// every execution is simulated.
func TestOutlineAgrees(t *testing.T) {
	all, held := phone(t, small()), phone(t, small())
	all.Machine.Most = 0
	outline(t, held)
	p, q := require.V(all.Measure())(t), require.V(held.Measure())(t)
	for i := range p.Costs {
		for d, c := range p.Costs[i] {
			near := math.Abs(float64(q.Costs[i][d].LatencyFs)/float64(c.LatencyFs)-1) < 0.05
			require.Check(t, near, "network %d on %s: %d fs, %d where it is simulated", i, p.Devices[d], q.Costs[i][d].LatencyFs, c.LatencyFs)
		}
	}
	for _, name := range []string{"dp", "heft", "band"} {
		s := require.V(Find(name))(t)
		a, b := require.V(all.Compare(p, s))(t), require.V(held.Compare(q, s))(t)
		require.Check(t, math.Abs(b.MeanMS/a.MeanMS-1) < 0.1 && math.Abs(b.EnergyUJ/a.EnergyUJ-1) < 0.15, "%s: %.3f ms, %.0f uJ; %.3f ms, %.0f uJ where all is simulated", name, b.MeanMS, b.EnergyUJ, a.MeanMS, a.EnergyUJ)
	}
}

func Example() {
	s := &Scenario{Name: "door", DurationMS: 100, Networks: []Network{{Model: "mlperf_tiny_kws_quant", PeriodMS: 20}}}
	r := phone(&testing.T{}, s)
	p, err := r.Measure()
	if err != nil {
		fmt.Println(err)
		return
	}
	strategy, _ := Find("exact")
	x, err := r.Compare(p, strategy)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d of %d results late\n", x.Missed, x.JobCount)
	// Output: 0 of 5 results late
}
