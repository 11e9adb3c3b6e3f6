package scenario

import (
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

// TestReseeded: each number has its own arrivals, the same each time, and the scenario itself stays.
func TestReseeded(t *testing.T) {
	s := require.V(Parse("a.toml", []byte("name = \"a\"\nduration_ms = 100\nseed = 3\n[[network]]\nmodel = \"x\"\nperiod_ms = 10\n[[network]]\nmodel = \"y\"\narrivals = \"poisson\"\nperiod_ms = 5\n[[network]]\nmodel = \"z\"\narrivals = \"trace\"\ntrace_ms = [1, 2]\n")))(t)
	own := s.Jobs()
	require.Check(t, slices.Equal(own, s.Reseeded(0).Jobs()), "number 0 is another scenario")
	first, second := s.Reseeded(1), s.Reseeded(2)
	require.Check(t, !slices.Equal(own, first.Jobs()) && !slices.Equal(first.Jobs(), second.Jobs()), "arrivals repeat")
	require.Check(t, slices.Equal(first.Jobs(), s.Reseeded(1).Jobs()), "arrivals of one number differ")
	require.Check(t, slices.Equal(own, s.Jobs()), "the scenario has changed")
	o := first.Networks[0].OffsetMS
	require.Check(t, o > 0 && o < 10 && o != second.Networks[0].OffsetMS, "offset %g", o)
	require.Check(t, slices.Equal(first.Networks[2].TraceMS, s.Networks[2].TraceMS) && first.Networks[2].OffsetMS == 0, "the trace has changed")
	require.NoError(t, first.complete())
}

// TestRank: the best comes first, whatever the order of strategies, and what runs do not tell apart from it is tied.
func TestRank(t *testing.T) {
	one := func(strategy string, missed int, ms float64) *Summary {
		return &Summary{Strategy: strategy, JobCount: 10, Missed: missed, MeanMS: ms, EnergyUJ: 1}
	}
	var runs [][]*Summary
	for i := range 6 {
		noise := float64(i%3) / 10
		runs = append(runs, []*Summary{one("slow", 0, 4+noise), one("late", 3+i%2, 1), one("best", 0, 2+noise), one("alike", 0, 2.1+float64((i+1)%3)/10-0.05*float64(i%2))})
	}
	list := Rank(runs)
	require.Same(t, 4, len(list), "strategies")
	require.Same(t, "best", list[0].Strategy, "first")
	require.Check(t, list[0].MeanMS > 2.09 && list[0].MeanMS < 2.11 && list[0].MeanHalfWidthMS > 0, "%+v", list[0])
	for _, x := range list[1:] {
		require.Check(t, x.Tied == (x.Strategy == "alike"), "%+v", x)
	}
	require.Check(t, Rank(nil) == nil, "a ranking of nothing")
}
