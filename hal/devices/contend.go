package devices

import (
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// contention is what the engines of an outline move now, in bytes per femtosecond.
type contention [soc.NumEngines]float64

// others is what all engines but one move.
func (c *contention) others(e soc.Engine) (sum float64) {
	for i, rate := range c {
		if soc.Engine(i) != e {
			sum += rate
		}
	}
	return sum
}

const (
	// contendedSlice is for how long an engine of an outline works before it looks at what the others move.
	contendedSlice = 100 * sim.Microsecond
	// busiest is the use of the DRAM by others beyond which waits grow no further: 10 times.
	busiest = 0.9
)

// occupied lets an engine of an outline work from an instant of its execution on and returns for how long. A wait for the
// DRAM is 1 / (1 - u) times as long while others use a share u of its bandwidth at its clock, as the time in the system
// of an M/M/1 queue (assumed, D-2903); the engine's own requests are in its costs. A request of higher priority may
// have the engine between two slices.
func (h *engineHost) occupied(from sim.Time, w *Work, p sim.Preemption) sim.Time {
	m := h.m
	if m.soc.Exclusive() || w.Time <= 0 {
		h.moved(from, from+w.Time, w.DRAMBytes)
		return w.Time
	}
	defer func() { m.moving[h.engine] = 0 }()
	h.moved(from, from, 0) // the others are as far
	took, moved := sim.Time(0), int64(0)
	for done := sim.Time(0); done < w.Time; {
		slice := min(contendedSlice, w.Time-done)
		longer := 1 + w.Waits*(h.queueing()-1)
		m.moving[h.engine] = float64(w.DRAMBytes) / (float64(w.Time) * longer)
		done += slice
		until := int64(float64(w.DRAMBytes) * float64(done) / float64(w.Time))
		next := took + sim.Time(float64(slice)*longer)
		h.moved(from+took, from+next, until-moved)
		took, moved = next, until
		if done < w.Time && p != nil && p.Pending(from+took) {
			m.moving[h.engine] = 0
			p.Yield(from + took)
		}
	}
	return took
}

// queueing is how many times as long a wait for the DRAM is beside what the other engines move now.
func (h *engineHost) queueing() float64 {
	peak := h.m.soc.MemoryBytesPerSecond() / 1e15
	return Queueing(h.m.moving.others(h.engine) / peak)
}

// Queueing is how many times as long a wait for the DRAM is while others use a share of its bandwidth.
func Queueing(use float64) float64 { return 1 / (1 - min(busiest, use)) }
