package statistics

import (
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/sim"
)

// Profile passes the samples of a core on to a profiler. Region r is operation r.
func Profile(to hal.Profiler, p *sim.Profile) {
	for i := range p.Samples {
		x := &p.Samples[i]
		s := hal.Sample{Operation: x.Region, Program: x.Program, At: x.At, Text: x.Text, Count: x.Count, Stalls: list(&x.Stalls), EnergyPJ: x.EnergyPJ}
		if x.Region < 0 {
			s.Operation = hal.TransferIndex
		}
		to.Sample(&s)
	}
}

// ProfileOf is where a core collects the samples for a profiler, nil without one.
func ProfileOf(to hal.Profiler) *sim.Profile {
	if to == nil {
		return nil
	}
	return &sim.Profile{}
}
