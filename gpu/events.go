package gpu

import (
	"slices"
	"strings"

	"github.com/nnsoc/nnsoc/gpu/internal/state"
	"github.com/nnsoc/nnsoc/sim"
)

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

// flopsOf is the floating-point operations of a lane, integer dot products among them: two for a
// multiplication and an addition, and each part of a packed instruction counts.
func flopsOf(u *state.Op) uint8 {
	n := uint8(1)
	switch u.Class {
	case ClassF32, ClassF64, ClassTrans, ClassF16, ClassFMA32, ClassDot:
	default:
		return 0
	}
	if u.Details == nil || u.Details.Form == nil {
		return 0
	}
	name := u.Details.Form.Mnemonic.String()
	has := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(name, p) })
	}
	switch {
	case has("cmp", "cvt", "cndmask", "class", "frexp", "med3"):
		return 0
	case has("dot2"):
		return 4
	case has("dot4"):
		return 8
	case has("dot8"):
		return 16
	case has("fma", "mac", "mad"):
		n = 2
	}
	if has("_pk_") {
		n *= 2
	}
	return n
}
