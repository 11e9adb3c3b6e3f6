package scenario

import (
	"errors"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

// TestHighestRate: bisection ends just below the limit, at the bounds where all or no rates are met, and with an error.
func TestHighestRate(t *testing.T) {
	for _, limit := range []float64{1.0 / 63, 0.3, 1, 1.7, 100} {
		n := 0
		rate := require.V(highestRate(func(x float64) (bool, error) { n++; return x <= limit, nil }))(t)
		require.Check(t, rate <= limit && rate*RatePrecision > limit*(1-1e-9) && n < 20, "limit %v: %v after %d runs", limit, rate, n)
	}
	require.Same(t, 0, require.V(highestRate(func(float64) (bool, error) { return false, nil }))(t), "no rate")
	require.Same(t, mostRate, require.V(highestRate(func(float64) (bool, error) { return true, nil }))(t), "all rates")
	_, err := highestRate(func(float64) (bool, error) { return false, errors.New("broken") })
	require.Check(t, err != nil, "an error is lost")
}

// TestFaster: a faster scenario has as many jobs, each in as much less time, and leaves the first one alone.
func TestFaster(t *testing.T) {
	s := require.V(Parse("x.toml", []byte("name = \"x\"\nduration_ms = 100\n[[network]]\nmodel = \"a\"\nperiod_ms = 10\noffset_ms = 2\n[[network]]\nmodel = \"b\"\narrivals = \"trace\"\ntrace_ms = [1, 50]\ndeadline_ms = 8\n")))(t)
	x := require.V(s.Faster(4))(t)
	require.Same(t, 25.0, x.DurationMS, "duration")
	require.Same(t, 2.5, x.Networks[0].PeriodMS, "period")
	require.Same(t, 0.5, x.Networks[0].OffsetMS, "offset")
	require.Same(t, 2.5, x.Networks[0].DeadlineMS, "deadline, the period")
	require.Same(t, 12.5, x.Networks[1].TraceMS[1], "trace")
	require.Same(t, 2.0, x.Networks[1].DeadlineMS, "deadline")
	require.Check(t, s.DurationMS == 100 && s.Networks[1].TraceMS[1] == 50 && s.Networks[0].PeriodMS == 10, "the scenario has changed: %+v", s)
	_, err := s.Faster(1e6)
	require.Check(t, err != nil, "periods of 10 ns")
}
