package partition

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

// TestParseExpression: the value of an expression of latency 3 us and energy 5 uJ, or the reason why it is none.
func TestParseExpression(t *testing.T) {
	for text, want := range map[string]float64{
		"latency": 3, "energy": 5, "edp": 15, "latency*energy^2": 75, "0.7*latency+0.3*energy": 3.6, "max(latency, 2*energy)": 10,
		"min(latency, energy, 1)": 1, "(latency + energy)/4": 2, "latency**2 + 1e1*energy": 59, "2": 0,
	} {
		x, err := ParseExpression(text)
		if text == "2" {
			require.Check(t, err != nil, "%s has no term", text)
			continue
		}
		require.NoError(t, err)
		require.Check(t, math.Abs(x.at(3e9, 5e6)-want) < 1e-12, "%s is %v, want %v", text, x.at(3e9, 5e6), want)
	}
	for text, want := range map[string]string{
		"latency + memory": `no term "memory": weights and values lie in the memory`, "p99": "p99_ms is a term of nnsoc schedule", "latency + size": `no term "size"; there are latency, energy, edp`, "latency - energy": `operator "-"`, "2/latency": "a term behind /",
		"latency/0": "divides by 0", "2^energy": "a term behind ^", "-1*latency": "neither a number", "abs(latency)": "function abs", "max(latency)": "function max of 1",
		"latency +": "unexpected", "latency > 3": `operator ">"`, "1e999*latency": "", "": "unexpected", "latency ? 1 : 2": "neither a number",
		strings.Repeat("latency+", 200) + "1": "at most 1024", strings.Repeat("(", 900) + "latency": "",
	} {
		_, err := ParseExpression(text)
		require.Check(t, err != nil && strings.Contains(err.Error(), want), "%.40s: %v, want %s", text, err, want)
	}
}

// FuzzParseExpression: an expression never falls when latency or energy rises.
func FuzzParseExpression(f *testing.F) {
	for _, s := range []string{"0.7*latency+0.3*energy", "max(latency, 2*energy)^2", "edp/3", "min(1, energy)**0.5"} {
		f.Add(s, 1.0, 2.0)
	}
	f.Fuzz(func(t *testing.T, text string, latency, energy float64) {
		x, err := ParseExpression(text)
		if err != nil || !(latency >= 0) || !(energy >= 0) || math.IsInf(latency, 0) || math.IsInf(energy, 0) {
			return
		}
		for _, more := range []float64{x.at(2*latency, energy), x.at(latency, 2*energy)} {
			if here := x.at(latency, energy); more < here*(1-1e-9) {
				t.Errorf("%q falls from %v to %v", text, here, more)
			}
		}
	})
}

// TestExpressionIsBest: branch-bound finds the best plan of an expression among all.
func TestExpressionIsBest(t *testing.T) {
	rnd := rand.New(rand.NewPCG(49, 5))
	for _, text := range []string{"700*latency + 0.3*energy", "max(1000*latency, energy/2)", "edp + latency", "latency^2*energy"} {
		x := require.V(ParseExpression(text))(t)
		for range 10 {
			p := randomProblem(rnd, 6, 3, false)
			p.Expression = x
			plan, _ := require.V2(Solve(p, BranchAndBound{}))(t)
			have, best := require.V(p.Evaluate(plan))(t).Score, bruteForce(p)
			require.Check(t, have <= best*(1+1e-9), "%s: branch-bound %v, the best plan %v", text, have, best)
		}
	}
}
