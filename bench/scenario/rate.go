package scenario

import (
	"math"
	"slices"
)

// Bounds of HighestRate: the precision of a rate, and the rates tried.
const (
	RatePrecision = 1.02
	leastRate     = 1.0 / 64
	mostRate      = 256
)

// Faster is the scenario in rate times as short a time: periods, offsets, traces, deadlines and the duration.
func (s *Scenario) Faster(rate float64) (*Scenario, error) {
	x := *s
	x.DurationMS /= rate
	x.Networks = slices.Clone(s.Networks)
	for i := range x.Networks {
		n := &x.Networks[i]
		n.PeriodMS, n.OffsetMS, n.DeadlineMS = n.PeriodMS/rate, n.OffsetMS/rate, n.DeadlineMS/rate
		n.TraceMS = slices.Clone(n.TraceMS)
		for k := range n.TraceMS {
			n.TraceMS[k] /= rate
		}
	}
	return &x, x.complete()
}

// HighestRate is how many times as fast the scenario may go before a strategy misses a deadline, by bisection to
// RatePrecision: a rate at which it missed none, where it missed some at RatePrecision times that; 0: it misses some at 1/64.
// prepare completes the problem of each rate.
func (r *Runner) HighestRate(s Strategy, prepare func(*Problem) error) (float64, error) {
	own := r.Scenario
	defer func() { r.Scenario = own }()
	meets := func(rate float64) (bool, error) {
		faster, err := own.Faster(rate)
		if err != nil {
			return false, nil // periods below what a scenario has
		}
		r.Scenario, r.compiled, r.pieces = faster, nil, nil
		p, err := r.Measure()
		if err != nil {
			return false, err
		}
		if err := prepare(p); err != nil {
			return false, err
		}
		x, err := r.Compare(p, s)
		return err == nil && x.Missed == 0, err
	}
	return highestRate(meets)
}

// highestRate looks for the highest rate that meets allows, between powers of 2 and then halfway by their logarithms.
func highestRate(meets func(float64) (bool, error)) (float64, error) {
	low, high := 0.0, math.Inf(1)
	for rate := 1.0; ; {
		ok, err := meets(rate)
		switch {
		case err != nil:
			return 0, err
		case ok:
			low = rate
		default:
			high = rate
		}
		switch {
		case low >= mostRate, high <= leastRate:
			return low, nil
		case low == 0:
			rate = high / 2
		case math.IsInf(high, 1):
			rate = low * 2
		case high <= low*RatePrecision:
			return low, nil
		default:
			rate = math.Sqrt(low * high)
		}
	}
}
