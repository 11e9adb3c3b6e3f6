package lower

import (
	"slices"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/sim"
)

// Stats is a core's report in the HAL's terms. Region IDs must be operation
// indexes; those below 0 are costs of the execution as a whole. launch is the
// time from the request at the driver to the device's first cycle and from its
// last back to the waiting thread; it counts as device cycles charged to
// "launch". A report without a clock (a functional run) stays empty.
func Stats(r *sim.Report, launch sim.Time) hal.Stats {
	s := hal.Stats{
		Cycles: r.Cycles, LatencyFs: int64(r.Time), ClockHz: r.Hz, EnergyPJ: r.EnergyPJ, Instructions: r.Instructions,
	}
	stalls := r.Stalls
	if r.Hz > 0 && r.Cycles > 0 {
		cycles := sim.Clock{Hz: r.Hz}.Cycle(launch)
		stalls[sim.StallLaunch] += cycles
		s.Cycles += cycles
		s.LatencyFs += int64(launch)
	}
	s.Stalls = list(&stalls)
	for i := range r.Regions {
		g := &r.Regions[i]
		s.Operations = append(s.Operations, hal.OperationStats{
			Index: g.ID, Cycles: g.Cycles, EnergyPJ: g.EnergyPJ, BoundBy: g.Stalls.Largest().String(),
		})
	}
	for _, c := range r.Counters {
		s.Counters = append(s.Counters, hal.Counter(c))
	}
	return s
}

// Append adds the costs of a part that runs after those of s.
func Append(s, next *hal.Stats) {
	s.Cycles += next.Cycles
	s.LatencyFs += next.LatencyFs
	s.EnergyPJ += next.EnergyPJ
	s.Instructions += next.Instructions
	s.ClockHz = max(s.ClockHz, next.ClockHz)
	s.Operations = append(s.Operations, next.Operations...)
	var stalls []hal.StallCycles
	for reason := range sim.NumReasons {
		x := hal.StallCycles{Reason: reason.String()}
		for _, list := range [2][]hal.StallCycles{s.Stalls, next.Stalls} {
			for _, y := range list {
				if y.Reason == x.Reason {
					x.Cycles += y.Cycles
				}
			}
		}
		if x.Cycles != 0 {
			stalls = append(stalls, x)
		}
	}
	s.Stalls = stalls
	for _, c := range next.Counters {
		i := slices.IndexFunc(s.Counters, func(x hal.Counter) bool { return x.Name == c.Name })
		if i < 0 {
			s.Counters = append(s.Counters, c)
			continue
		}
		s.Counters[i].Value += c.Value
	}
}

// Threads is the cycles of all threads in the HAL's terms.
func Threads(g *sim.RegionReport) []hal.StallCycles { return list(&g.Threads) }

// list is a table in the HAL's terms; reasons with 0 cycles are left out.
func list(t *sim.StallTable) []hal.StallCycles {
	var l []hal.StallCycles
	for reason, n := range t {
		if n != 0 {
			l = append(l, hal.StallCycles{Reason: sim.Reason(reason).String(), Cycles: n})
		}
	}
	return l
}
