package partition

import (
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/bench/session"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/input"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/machine"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
)

// TestSimulateBest: of plans that did not run the requested number run, the best by prediction, and the others in the
// report are predicted.
func TestSimulateBest(t *testing.T) {
	t.Setenv(machine.CacheVariable, "")
	a := &cli.App{Out: io.Discard, Err: io.Discard, SoC: "pixel4"}
	m := require.V(machine.OpenLive(a, hal.FastSingleAnswer))(t)
	form := require.V(partitionForm(&cli.App{Err: t.Output()}, "mobilenet_v1_0.25_128_quant", &input.ChoiceFlags{}))(t)
	require.NoError(t, input.Reference(form))
	x := newComparison(m, nnrt.CompileOptions{}, a.Progress())
	p := require.V(x.Problem(form, session.CostsMeasured))(t)
	r := &PartitionReport{problem: p}
	random := rand.New(rand.NewPCG(3, 4))
	for _, name := range []string{"one", "two", "three"} {
		plan := randomSplit(p, random, 2)
		predicted := require.V(p.Predict(plan))(t)
		r.Strategies = append(r.Strategies, &strategyEntry{Name: name, problem: p, plan: plan, predicted: predicted, PredictedLatencyUS: predicted.LatencyFs / 1e9})
	}
	require.NoError(t, x.simulateBest(form, r.Strategies, 1))
	ran := 0
	for _, e := range r.Strategies {
		for _, o := range r.Strategies {
			require.Check(t, !e.Simulated || o.PredictedLatencyUS >= e.PredictedLatencyUS, "%s ran, %s is predicted to be better", e.Name, o.Name)
		}
		require.Check(t, e.Simulated == (e.SimulatedLatencyUS > 0), "%s: simulated %v, %v us", e.Name, e.Simulated, e.SimulatedLatencyUS)
		if e.Simulated {
			ran++
		}
	}
	var out strings.Builder
	require.NoError(t, r.text(&out))
	if ran != 1 || strings.Count(out.String(), "  -  ") < 4 || !strings.Contains(out.String(), "the plans of 1 of 3 strategies ran") {
		t.Errorf("%d ran:\n%s", ran, out.String())
	}
	if err := x.simulateBest(form, r.Strategies, 3); err != nil || !r.Strategies[0].Simulated || !r.Strategies[1].Simulated || !r.Strategies[2].Simulated {
		t.Errorf("not all ran: %v", err)
	}
}
