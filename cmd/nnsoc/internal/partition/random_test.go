package partition

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/bench/session"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/input"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/machine"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/builder"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
	"github.com/nnsoc/nnsoc/runtime/partition"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// How plans may be beside others in simulations of 50 invocations each. What they were
// chosen by may have ended earlier, after 200 ms.
const (
	resimulated = 0.005
	autoSlack   = 0.02 // beside the best single device
)

// randomNetwork has branches of convolutions that accelerators run and operations that they
// do not, so that there is something to divide.
func randomNetwork(r *rand.Rand, name string) (*nn.Model, error) {
	b := builder.New(builder.Config{Format: builder.Quant8})
	same := []builder.Tensor{b.Conv(b.Image(64), builder.Conv{Out: 32, Kernel: 3, Act: builder.ReLU})} // all of one shape
	pick := func() builder.Tensor { return same[max(0, len(same)-1-r.IntN(3))] }
	for range 5 + r.IntN(6) {
		x := pick()
		switch r.IntN(6) {
		case 0, 1:
			x = b.Conv(x, builder.Conv{Out: 32, Kernel: 3, Act: builder.ReLU})
		case 2:
			x = b.Conv(x, builder.Conv{Out: 32, Kernel: 1})
		case 3:
			x = b.Depthwise(x, builder.Conv{Kernel: 3, Act: builder.ReLU6})
		case 4:
			x = b.Add(x, pick(), builder.ReLU)
		case 5:
			x = b.Apply(nn.OpL2Normalization, b.Type(), builder.Quant{Scale: 1.0 / 128, ZeroPoint: 128}, x)
			b.SetSpread(x, builder.Spread{Deviation: 0.2})
		}
		same = append(same, x)
	}
	b.Output(b.Add(same[len(same)-1], same[len(same)-2], builder.ReLU), "output")
	return b.Model(name)
}

// TestExactIsNotBeaten: on random networks the plan of no strategy is faster than that of
// branch-bound, and auto's is at most 2 % slower than the best single device, when each plan is
// simulated anew on a machine that no plan was chosen on.
func TestExactIsNotBeaten(t *testing.T) {
	require.AllTests(t)
	t.Setenv(machine.CacheVariable, "")
	divided := 0
	for k := range 6 {
		soc := [...]string{"pixel4", "sd888", "xclipse920"}[k%3]
		m := require.V(randomNetwork(rand.New(rand.NewPCG(uint64(k), 5)), fmt.Sprintf("random_%d", k)))(t)
		a := &cli.App{Out: io.Discard, Err: io.Discard, SoC: soc}
		live := require.V(machine.OpenLive(a, hal.FastSingleAnswer))(t)
		form := require.V(input.NewForm(m, &input.Flags{}))(t)
		x := newComparison(live, nnrt.CompileOptions{}, a.Progress())
		x.share = true
		var strategies []partition.Strategy
		devices := problemDevices(live)
		for _, name := range partition.Names(devices) {
			s := require.V(partition.Parse(name, devices))(t)
			strategies = append(strategies, s)
		}
		report := require.V(x.compare(form, strategies))(t)
		require.Report(t, report.verdict())
		anew := map[string]float64{} // by plan
		best, single, exact, auto := math.Inf(1), math.Inf(1), math.NaN(), math.NaN()
		for _, e := range report.Strategies {
			key := fmt.Sprint(e.plan.Device, e.plan.Sequential)
			if _, known := anew[key]; !known {
				anew[key] = simulateAnew(t, x, report.problem, e.plan, form.Inputs, session.DefaultInvocations)
			}
			us := anew[key]
			best = min(best, us)
			switch {
			case e.Name == "branch-bound":
				exact = us
				if e.Transitions > 0 {
					divided++
				}
			case e.Name == "auto":
				auto = us
			case e.Name == "cpu", len(e.Name) > 7 && e.Name[:7] == "single:":
				single = min(single, us)
			}
		}
		t.Logf("%s on %s, %d operations, %d plans: single %.1f us, auto %.1f, branch-bound %.1f, best %.1f", m.Name, soc, len(m.Main.Operations), len(anew), single, auto, exact, best)
		require.Check(t, exact <= best*(1+resimulated), "%s on %s: branch-bound takes %.1f us, another plan %.1f", m.Name, soc, exact, best)
		require.Check(t, auto <= single*(1+autoSlack), "%s on %s: auto takes %.1f us, a single device %.1f", m.Name, soc, auto, single)
	}
	t.Logf("branch-bound divides %d networks", divided)
}

// TestPlanLoopSeesGovernors: a plan is compared by the result of nnsoc run, also where its GPU is busy for a part of
// the time only, so that its clock rises and falls repeatedly: over many such cycles, as 50 invocations may cut one
// (D-601).
func TestPlanLoopSeesGovernors(t *testing.T) {
	require.AllTests(t)
	t.Run("pixel4", func(t *testing.T) { loopSeesGovernors(t, "mlperf_tiny_kws_float") })
	// A share of load between those that the network has at the lowest and the highest clock.
	t.Run("soon lower", func(t *testing.T) {
		loopSeesGovernors(t, "mobilenet_v1_0.25_128_float", "gpu.clock.governor.down_share=0.45", "gpu.clock.governor.up_share=0.7")
	})
}

func loopSeesGovernors(t *testing.T, network string, set ...string) {
	t.Setenv(machine.CacheVariable, "")
	a := &cli.App{Out: io.Discard, Err: io.Discard, SoC: "pixel4", Set: set}
	live := require.V(machine.OpenLive(a, hal.FastSingleAnswer))(t)
	form := require.V(partitionForm(&cli.App{Err: t.Output()}, network, &input.ChoiceFlags{}))(t)
	x := newComparison(live, nnrt.CompileOptions{}, a.Progress())
	p := require.V(nnrt.NewProblem(live.Registry, form.Model, nnrt.CompileOptions{}))(t)
	gpu := slices.IndexFunc(p.Devices, func(d partition.Device) bool { return d.Name == "gpu" })
	plan := require.V(partition.Single(gpu).Plan(p))(t)
	plan = p.Canonical(plan)
	compared := require.V(x.Run(p, plan, form.Inputs))(t)
	ran, loop := simulateAnew(t, x, p, plan, form.Inputs, 500), compared.Invocations
	t.Logf("compared by %.0f us, %.0f to %.0f, of %d invocations; 500 take %.0f", loop.MeanUS, loop.MinUS, loop.MaxUS, loop.Count, ran)
	require.Check(t, loop.MaxUS > 1.05*loop.MinUS, "no clock moves")
	require.Check(t, math.Abs(loop.MeanUS/ran-1) <= 0.025, "the plan is compared by %.0f us, nnsoc run says %.0f", loop.MeanUS, ran)
}

// simulateAnew is the mean of some invocations of a plan on a separate machine.
func simulateAnew(t *testing.T, x *comparison, p *partition.Problem, plan partition.Plan, inputs [][]byte, invocations int) float64 {
	t.Helper()
	m, c := require.V2(x.Separate(p, plan))(t)
	pace := session.PlanPace()
	pace.Longest, pace.Invocations = 0, invocations
	_, all := require.V2(pace.Invoke(m, c, inputs, nnrt.ExecuteOptions{}))(t)
	return all.MeanUS
}

// TestChoiceRunsOnItsMachine: Compile's simulations of the plan that it chooses are not repeated when that runs, and
// the plan is made for the machine at hand, not for that of --soc, with its limits.
func TestChoiceRunsOnItsMachine(t *testing.T) {
	t.Setenv(machine.CacheVariable, "")
	a := &cli.App{Out: io.Discard, Err: io.Discard, SoC: "ethos-u55-32"}
	c := require.V(soc.Load("pixel4"))(t)
	m := require.V(machine.OpenConfig(a, c, hal.FastSingleAnswer))(t)
	var limits machine.Limits
	cmd := &cobra.Command{}
	limits.Add(cmd)
	require.NoError(t, cmd.Flags().Set("force-unsupported", "SOFTMAX:npu"))
	require.NoError(t, m.Limit(&limits))
	form := require.V(partitionForm(&cli.App{Err: t.Output()}, "mobilenet_v1_1.0_224_quant", &input.ChoiceFlags{}))(t)
	pace := session.PlanPace()
	choice := require.V(session.NewPlanner(m.Phone, nnrt.CompileOptions{}, pace).Compile(form))(t)
	live := choice.Phone.Live
	live.Reset() // as nnsoc run does, for the first use
	require.V(choice.Execute(form.Inputs, nnrt.ExecuteOptions{}))(t)
	_, all := require.V2(pace.Invoke(choice.Phone, choice.Compilation, form.Inputs, nnrt.ExecuteOptions{}))(t)
	if off := choice.PredictedUS/all.MeanUS - 1; !(math.Abs(off) < 0.05) {
		t.Errorf("%v us predicted, %v simulated", choice.PredictedUS, all.MeanUS)
	}
	if b := live.CollectBounded(); b.Simulated > 3 {
		t.Errorf("%d executions of the NPU's part ran", b.Simulated)
	}
	if one, err := nnrt.Compile(choice.Phone.Registry, form.Model, "npu", nnrt.CompileOptions{}); err != nil || len(one.Fallbacks) == 0 {
		t.Errorf("the plan's machine has no limits: %v", err)
	}
	require.Check(t, choice.ExecuteUser > 0, "no time of the host")
}
