package dsp

import (
	"github.com/nnsoc/nnsoc/dsp/internal/decode"
	"github.com/nnsoc/nnsoc/dsp/internal/energy"
	"github.com/nnsoc/nnsoc/sim"
)

// The scatter/gather unit beside VTCM. A packet here is one of the thread. The
// rates are the published peaks of V73 (HVX manual 3.9.8, table 3-2): without
// conflicts, when bits 7:1 of the addresses differ from each other (3.9.5), and
// for random addresses. A vector with any conflict counts as random (D-150).
var elementRates = [2]struct{ busy, scatter, gather int64 }{
	{busy: 2, scatter: 18, gather: 24},
	{busy: 6, scatter: 30, gather: 48},
}

const (
	elementDepth   = 4 // instructions on their way before a thread waits: bursts of four in the manual
	elementsPerRow = 8 // served by one access of VTCM, for energy
)

// elementUnit is shared by the threads and works in the order of arrival.
type elementUnit struct {
	used bool
	free sim.Time // when it can begin the next instruction
}

// scatterGather passes a scatter or gather to the unit, conflicts 1 if its elements meet in a bank; the thread continues unless too many
// instructions wait already. It returns the cycles that the thread waits.
func (m *memory) scatterGather(t *client, cycle int64, op *decode.MemOp, conflicts uint64) int64 {
	e, now := &m.elements, m.clock.at(cycle)
	e.used = true
	rate := &elementRates[conflicts]
	packets := func(n int64) sim.Time { return m.clock.at(n * int64(m.spec.IssueInterval)) }
	busy := packets(rate.busy)
	start := max(now, e.free)
	e.free = start + busy
	latency := rate.scatter
	if op.Kind == decode.GatherElements {
		latency = rate.gather
	}
	t.scattered = max(t.scattered, start+packets(latency))
	m.events[energy.VTCM] += (int64(op.Bytes) + elementsPerRow - 1) / elementsPerRow
	return m.stall(cycle, start, elementDepth*busy)
}
