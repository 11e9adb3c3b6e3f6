package statistics

import (
	"slices"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/sim"
)

// Stats is a core's report in the HAL's terms. Region IDs must be operation
// indexes; those below 0 are the transfer of inputs and outputs. A report without a
// clock (a functional run) stays empty.
func Stats(r *sim.Report) hal.Stats {
	s := hal.Stats{
		Cycles: r.Cycles, LatencyFs: int64(r.Time), ClockHz: r.Hz, EnergyPJ: r.EnergyPJ, Instructions: r.Instructions,
	}
	clock := sim.Clock{Hz: max(r.Hz, 1)}
	var cycles int64
	var took sim.Time
	for i := range r.Regions {
		g := &r.Regions[i]
		// Instants are rounded, not intervals, so that the times add up.
		start := clock.At(cycles)
		cycles += g.Cycles
		s.Operations = append(s.Operations, hal.OperationStats{
			Index: g.ID, Cycles: g.Cycles, TimeFs: int64(clock.At(cycles) - start), EnergyPJ: g.EnergyPJ,
			Stalls: list(&g.Stalls), BoundBy: g.Stalls.Largest().String(), DRAMBytes: g.DRAMBytes,
		})
		for _, c := range g.Counters {
			s.Operations[i].Counters = append(s.Operations[i].Counters, hal.Counter(c))
		}
		if took += g.Time; g.Time > 0 {
			s.Operations[i].TimeFs = int64(g.Time)
		}
		if g.ID < 0 {
			s.Operations[i].Index = hal.TransferIndex
		}
	}
	if n := len(s.Operations); took > 0 {
		s.Operations[n-1].TimeFs += int64(r.Time - took) // what ends the run
	}
	s.Stalls = list(&r.Stalls)
	for _, c := range r.Counters {
		s.Counters = append(s.Counters, hal.Counter(c))
	}
	return s
}

// AddParts adds the chain of an execution to the device's report: parts are the whole
// chain, and the time outside the device becomes a separate row after those of the
// operations, charged to "launch" in cycles of the device.
func AddParts(s *hal.Stats, parts []hal.Part) {
	row := hal.OperationStats{Index: hal.LaunchIndex, TimeFs: -s.LatencyFs, EnergyPJ: -s.EnergyPJ}
	for _, p := range parts {
		row.TimeFs += p.TimeFs
		row.EnergyPJ += p.EnergyPJ
	}
	row.Cycles = sim.Clock{Hz: max(s.ClockHz, 1)}.Cycle(sim.Time(row.TimeFs))
	row.BoundBy = sim.StallLaunch.String()
	row.Stalls = []hal.StallCycles{{Reason: row.BoundBy, Cycles: row.Cycles}}
	s.Parts = parts
	s.Cycles += row.Cycles
	s.LatencyFs += row.TimeFs
	s.EnergyPJ += row.EnergyPJ
	s.Operations = append(s.Operations, row)
	s.Stalls = sumStalls(s.Stalls, row.Stalls)
}

// Trace passes the spans of a core on to a tracer, nil to nil. startFs is when
// the core begins. Region r is the operation first+r.
func Trace(to hal.Tracer, startFs int64, first int) func(sim.Span) {
	if to == nil {
		return nil
	}
	return func(s sim.Span) {
		op := first + s.Region
		if s.Region < 0 {
			op = hal.TransferIndex
		}
		to.Span(hal.Span{Track: s.Track, Name: s.Name, Operation: op, StartFs: startFs + int64(s.Start), EndFs: startFs + int64(s.End)})
	}
}

// Append adds the costs of a part that runs after those of s.
func Append(s, next *hal.Stats) {
	s.Cycles += next.Cycles
	s.LatencyFs += next.LatencyFs
	s.EnergyPJ += next.EnergyPJ
	s.Instructions += next.Instructions
	s.ClockHz = max(s.ClockHz, next.ClockHz)
	s.Launches = max(s.Launches, 1) + max(next.Launches, 1)
	for _, o := range next.Operations {
		if o.Index < 0 {
			if i := slices.IndexFunc(s.Operations, func(x hal.OperationStats) bool { return x.Index == o.Index }); i >= 0 {
				merge(&s.Operations[i], &o)
				continue
			}
		}
		s.Operations = append(s.Operations, o)
	}
	s.Stalls = sumStalls(s.Stalls, next.Stalls)
	for _, c := range next.Counters {
		i := slices.IndexFunc(s.Counters, func(x hal.Counter) bool { return x.Name == c.Name })
		if i < 0 {
			s.Counters = append(s.Counters, c)
			continue
		}
		s.Counters[i].Value += c.Value
	}
}

// Join makes the rows of all operations one, of the operation that has called them.
func Join(s *hal.Stats, operation int) {
	var own *hal.OperationStats
	var list []hal.OperationStats
	for _, o := range s.Operations {
		switch {
		case o.Index < 0:
			list = append(list, o)
		case own == nil:
			o.Index = operation
			own = &o
		default:
			merge(own, &o)
		}
	}
	if own == nil {
		return
	}
	var most int64
	for _, x := range own.Stalls {
		if x.Cycles > most {
			own.BoundBy, most = x.Reason, x.Cycles
		}
	}
	s.Operations = append(list, *own)
}

// merge adds the costs of another execution to a row.
func merge(s, next *hal.OperationStats) {
	s.MACs += next.MACs
	s.Cycles += next.Cycles
	s.TimeFs += next.TimeFs
	s.EnergyPJ += next.EnergyPJ
	s.DRAMBytes += next.DRAMBytes
	s.Stalls = sumStalls(s.Stalls, next.Stalls)
}

// sumStalls adds two lists of reasons; the sum has the order of sim.Reason.
func sumStalls(a, b []hal.StallCycles) []hal.StallCycles {
	var sum []hal.StallCycles
	for reason := range sim.NumReasons {
		x := hal.StallCycles{Reason: reason.String()}
		for _, list := range [2][]hal.StallCycles{a, b} {
			for _, y := range list {
				if y.Reason == x.Reason {
					x.Cycles += y.Cycles
				}
			}
		}
		if x.Cycles != 0 {
			sum = append(sum, x)
		}
	}
	return sum
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
