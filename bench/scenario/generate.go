package scenario

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// MaxGenerated bounds the scenarios that are generated at once.
const MaxGenerated = 100_000

// Generate makes scenario number index of a seed: two to four networks of the library with their periods times 0.5 to 2,
// three in ten with random arrivals, deadlines of half a period to two, and random priorities. The same numbers make the
// same scenario on any machine.
func Generate(seed uint64, index int) (*Scenario, error) {
	pool, err := arriving()
	if err != nil {
		return nil, err
	}
	random := rand.New(rand.NewPCG(seed, uint64(index)))
	s := &Scenario{
		Name:        fmt.Sprintf("generated-%d-%05d", seed, index),
		Description: "networks of the library that arrive at random",
		Source:      fmt.Sprintf("ours: generated, seed %d, number %d", seed, index),
		DurationMS:  500,
		Seed:        random.Uint64() >> 11, // that TOML's and JSON's numbers hold
	}
	order := random.Perm(len(pool))
	for _, k := range order[:2+random.IntN(3)] {
		n := Network{Model: pool[k].Model, Arrivals: Periodic, Priority: Priorities[random.IntN(len(Priorities))]}
		n.PeriodMS = roundMS(pool[k].PeriodMS * math.Exp2(2*random.Float64()-1))
		n.DeadlineMS = roundMS(n.PeriodMS * []float64{0.5, 1, 1, 2}[random.IntN(4)])
		if random.IntN(10) < 3 {
			n.Arrivals = Poisson
		} else {
			n.OffsetMS = roundMS(min(n.PeriodMS, s.DurationMS-1) * random.Float64()) // it arrives
		}
		s.Networks = append(s.Networks, n)
	}
	if err := s.complete(); err != nil {
		return nil, fmt.Errorf("scenario: %s: %w", s.Name, err)
	}
	return s, nil
}

// arriving are the networks of the library with a period, each once.
func arriving() (pool []Network, err error) {
	known := map[string]bool{}
	for _, name := range Library() {
		s, err := Named(name)
		if err != nil {
			return nil, err
		}
		for _, n := range s.Networks {
			if n.PeriodMS > 0 && !known[n.Model] {
				known[n.Model] = true
				pool = append(pool, n)
			}
		}
	}
	return pool, nil
}

// roundMS is a time of a hundredth of a millisecond at least, without more digits than a person reads.
func roundMS(ms float64) float64 { return max(0.01, math.Round(ms*100)/100) }
