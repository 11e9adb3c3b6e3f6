package gpu

import "github.com/nnsoc/nnsoc/sim"

// regionEvents are what the dispatches of a region did.
type regionEvents struct {
	waveCycles, waveSlots int64 // cycles that waves were resident, that they could have been
	lanes, laneSlots      int64 // of vector and memory instructions: active lanes, all lanes
	flops                 int64
	l0, scalar, lds, l2   int64 // bytes
}

// counters are the events by name.
func (e *regionEvents) counters() []sim.Counter {
	return []sim.Counter{
		{Name: "wave_cycles", Value: e.waveCycles}, {Name: "wave_slots", Value: e.waveSlots},
		{Name: "lanes", Value: e.lanes}, {Name: "lane_slots", Value: e.laneSlots}, {Name: "flops", Value: e.flops},
		{Name: "l0_bytes", Value: e.l0}, {Name: "scalar_bytes", Value: e.scalar}, {Name: "lds_bytes", Value: e.lds}, {Name: "l2_bytes", Value: e.l2},
	}
}

// eventsOf are the events of a region of m.regions.
func (m *machine) eventsOf(r *sim.RegionReport) *regionEvents {
	i := len(m.regions) - 1
	for i > 0 && &m.regions[i] != r {
		i--
	}
	return &m.events[i]
}
