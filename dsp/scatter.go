package dsp

import "github.com/nnsoc/nnsoc/sim"

// The scatter/gather unit beside VTCM. No figure of it is published; all three
// numbers are assumed (docs/DEVIATIONS.md, D-150).
const (
	elementsPerCycle = 8  // served by the banks of VTCM without conflicts
	elementCycles    = 16 // from the last element to its visibility
	elementDepth     = 4  // instructions that wait for the unit before a thread does
)

// elementUnit is shared by the threads and works in the order of arrival.
type elementUnit struct {
	used bool
	free sim.Time // when it can begin the next instruction
}

// scatterGather hands n elements to the unit; the thread goes on unless too
// many instructions wait already. It answers the cycles that the thread waits.
func (m *memory) scatterGather(t *thread, now sim.Time, n int64) int64 {
	e := &m.elements
	e.used = true
	busy := m.clock.at((n + elementsPerCycle - 1) / elementsPerCycle)
	start := max(now, e.free)
	e.free = start + busy
	t.pipe.scattered = max(t.pipe.scattered, e.free+m.clock.at(elementCycles))
	m.events[evVTCM] += (n + elementsPerCycle - 1) / elementsPerCycle
	return m.stall(now, start, elementDepth*busy)
}
