package scenario

import (
	"math"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

func TestParseObjective(t *testing.T) {
	x := &Prediction{Missed: 2, MeanFs: 3e12, P99Fs: 5e12, EnergyPJ: 7e6, SpanFs: 11e12}
	for text, want := range map[string]float64{
		"missed": 2, "1000*missed + p99_ms": 2005, "mean_ms * energy_uj": 21, "span_ms": 11, "max(mean_ms, p99_ms)": 5, "missed > 1 ? 1.5 : 0.0": 1.5,
		"1/(missed-2)": math.Inf(1), "(missed-2)/(missed-2)": math.Inf(1), // no number is as bad as can be
	} {
		require.Same(t, want, require.V(ParseObjective(text))(t)(x), text)
	}
	for text, want := range map[string]string{
		"": "it has missed", "latency": "latency", "missed +": "it has missed", "\"a\"": "it has missed", "repeat(\"a\", 1000000)": "it has missed",
		strings.Repeat("1+", 600) + "1": "at most 1000",
	} {
		_, err := ParseObjective(text)
		require.Check(t, err != nil && strings.Contains(err.Error(), want), "%q: %v, want %s", text, err, want)
	}
}

func FuzzParseObjective(f *testing.F) {
	f.Add("1000*missed + p99_ms")
	f.Fuzz(func(t *testing.T, text string) {
		if score, err := ParseObjective(text); err == nil && math.IsNaN(score(&Prediction{Missed: 1})) {
			t.Fatalf("%q is no number", text)
		}
	})
}

func TestFront(t *testing.T) {
	list := []*Summary{{Missed: 0, EnergyUJ: 9, MeanMS: 3}, {Missed: 1, EnergyUJ: 2, MeanMS: 5}, {Missed: 1, EnergyUJ: 3, MeanMS: 5}, {Missed: 1, EnergyUJ: 2, MeanMS: 5}}
	Front(list)
	require.Check(t, list[0].Pareto && list[1].Pareto && !list[2].Pareto && list[3].Pareto, "%+v", list)
}
