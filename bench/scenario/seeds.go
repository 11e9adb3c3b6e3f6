package scenario

import (
	"math/rand/v2"
	"slices"
)

// MaxSeeds bounds how often a scenario runs with other arrivals.
const MaxSeeds = 1000

// Reseeded is the scenario with other arrivals: number 0 is as its file says; others have random arrivals by another seed, and periodic
// networks begin at a random point of their first period. Traces stay. The same number has the same arrivals on any machine.
func (s *Scenario) Reseeded(number int) *Scenario {
	x := *s
	if number == 0 {
		return &x
	}
	x.Seed = s.Seed + uint64(number)
	x.Networks = slices.Clone(s.Networks)
	for i := range x.Networks {
		if n := &x.Networks[i]; n.Arrivals == Periodic {
			random := rand.New(rand.NewPCG(x.Seed, uint64(i)))
			n.OffsetMS = random.Float64() * min(n.PeriodMS, s.DurationMS)
		}
	}
	return &x
}

// Rank compares strategies over runs of one scenario: the best first, that which misses the fewest deadlines in the mean, of equals that
// with the shortest latency. The others are compared with it: Tied are those that the runs do not tell apart from it.
func Rank(runs [][]*Summary) []*Aggregate {
	list := Sum(runs)
	if len(list) == 0 {
		return nil
	}
	best := list[0]
	for _, x := range list[1:] {
		if x.MissedPercent < best.MissedPercent || x.MissedPercent == best.MissedPercent && x.MeanMS < best.MeanMS {
			best = x
		}
	}
	ordered := make([][]*Summary, len(runs))
	for i, run := range runs {
		ordered[i] = slices.Clone(run)
		if k := slices.IndexFunc(run, func(x *Summary) bool { return x.Strategy == best.Strategy }); k > 0 {
			ordered[i] = slices.Insert(slices.Delete(ordered[i], k, k+1), 0, run[k])
		}
	}
	return Sum(ordered)
}
