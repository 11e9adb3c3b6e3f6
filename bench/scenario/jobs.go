package scenario

import (
	"cmp"
	"math/rand/v2"
	"slices"
)

// femtoseconds of a millisecond.
const femtoseconds = 1e12

// Job is one arrival of a network.
type Job struct {
	Network    int   // index in the scenario
	Sequence   int   // 0 is the network's first
	ArrivalFs  int64 // since the scenario began
	DeadlineFs int64 // since the scenario began, 0 for none
	Priority   int   // index in Priorities
	Part       int   // the next of its network's parts; those before have been computed
}

// Jobs lists the arrivals of all networks in the order of their times; the networks that a scenario lists first come
// first where times are equal. The same scenario has the same jobs on any machine.
func (s *Scenario) Jobs() []Job {
	var jobs []Job
	for i := range s.Networks {
		n := &s.Networks[i]
		for k, ms := range n.times(s.DurationMS, s.Seed, uint64(i)) {
			j := Job{Network: i, Sequence: k, ArrivalFs: int64(ms * femtoseconds), Priority: slices.Index(Priorities, n.Priority)}
			if n.DeadlineMS > 0 {
				j.DeadlineFs = j.ArrivalFs + int64(n.DeadlineMS*femtoseconds)
			}
			jobs = append(jobs, j)
		}
	}
	slices.SortStableFunc(jobs, func(a, b Job) int { return cmp.Compare(a.ArrivalFs, b.ArrivalFs) })
	return jobs
}

// times are the arrivals of a network in milliseconds.
func (n *Network) times(durationMS float64, seed, stream uint64) (times []float64) {
	switch n.Arrivals {
	case Trace:
		return n.TraceMS
	case Poisson:
		random := rand.New(rand.NewPCG(seed, stream))
		for t := random.ExpFloat64() * n.PeriodMS; t < durationMS && len(times) < maxJobs; t += random.ExpFloat64() * n.PeriodMS {
			times = append(times, t)
		}
	default:
		for k := 0; ; k++ {
			t := n.OffsetMS + float64(k)*n.PeriodMS
			if t >= durationMS {
				break
			}
			times = append(times, t)
		}
	}
	return times
}
