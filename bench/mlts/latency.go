package mlts

import "math"

// Buckets is the number of buckets of a histogram.
const Buckets = 32

// Latency sums up the times of a loop, in seconds.
type Latency struct {
	Iterations int              `json:"iterations"`
	TotalSec   float64          `json:"total_s"`
	MeanSec    float64          `json:"mean_s"`
	StdSec     float64          `json:"std_s"` // of the population
	StartSec   float64          `json:"histogram_start_s"`
	StepSec    float64          `json:"histogram_step_s"`
	Counts     [Buckets]float64 `json:"histogram"`
}

// spell is a time of a loop and its count.
type spell struct {
	sec   float64
	times int
}

// newLatency makes the summary of at least one time.
func newLatency(list []spell) *Latency {
	l := &Latency{StartSec: math.Inf(1)}
	longest := 0.0
	for _, x := range list {
		l.Iterations += x.times
		l.TotalSec += x.sec * float64(x.times)
		l.StartSec, longest = min(l.StartSec, x.sec), max(longest, x.sec)
	}
	l.MeanSec = l.TotalSec / float64(l.Iterations)
	l.StepSec = (longest - l.StartSec) / (Buckets - 1)
	var squares float64
	for _, x := range list {
		d := x.sec - l.MeanSec
		squares += d * d * float64(x.times)
		i := 0
		if l.StepSec > 0 {
			i = min(int((x.sec-l.StartSec)/l.StepSec), Buckets-1)
		}
		l.Counts[i] += float64(x.times)
	}
	l.StdSec = math.Sqrt(squares / float64(l.Iterations))
	return l
}
