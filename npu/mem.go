package npu

import (
	"math"

	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// memory is one memory during a run: a Level someone attached, or bandwidth,
// burst and latency of the Spec. It counts bytes.
type memory struct {
	spec   *MemorySpec
	level  mem.Level
	free   float64 // cycle at which the port is free
	reason sim.Reason

	readBytes, writeBytes int64
	beatBytes             int
	readBeats, writeBeats int64
	charged               float64 // energy of level that a region has been charged
}

// run is a regular series of equal byte runs.
type run struct {
	addr   uint64
	bytes  int // of one run
	stride int // between runs
	count  int
}

// beats is the data transfers of a bus so many bytes wide: each run takes those
// that its bytes touch.
func (r run) beats(width int) int64 {
	if r.stride == r.bytes {
		r.bytes, r.count = r.bytes*r.count, 1
	}
	first := int(r.addr % uint64(width))
	if r.stride%width == 0 {
		return int64(ceilDiv(first+r.bytes, width)) * int64(r.count)
	}
	n := 0
	for range r.count {
		n += ceilDiv(first+r.bytes, width)
		first = (first + r.stride) % width
	}
	return int64(n)
}

// transfer moves runs of bytes no earlier than cycle at and answers when the
// last byte has come or been accepted.
func (m *memory) transfer(clock *sim.Clock, at int64, r run, kind mem.Kind) int64 {
	total := int64(r.bytes) * int64(r.count)
	if total <= 0 {
		return at
	}
	latency := m.spec.ReadLatency
	if kind == mem.Write {
		m.writeBytes += total
		m.writeBeats += r.beats(m.beatBytes)
		latency = m.spec.WriteLatency
	} else {
		m.readBytes += total
		m.readBeats += r.beats(m.beatBytes)
	}
	if m.level != nil {
		return m.access(clock, at, r, kind)
	}
	m.free = m.busy(at, r, 1)
	return int64(math.Ceil(m.free)) + int64(latency)
}

// busy is until when rows times the runs would take the port from cycle at. A
// run shorter than a burst takes a burst, unless the next one touches it.
func (m *memory) busy(at int64, r run, rows int) float64 {
	bytes := r.bytes
	if r.stride != bytes {
		bytes = max(bytes, m.spec.BurstBytes)
	}
	return max(m.free, float64(at)) + float64(bytes)*float64(r.count)*float64(rows)/m.spec.BytesPerCycle
}

// access is transfer on an attached Level. Runs that touch are one access.
func (m *memory) access(clock *sim.Clock, at int64, r run, kind mem.Kind) int64 {
	t := clock.At(at)
	done := t
	if r.stride == r.bytes {
		r.bytes, r.count = r.bytes*r.count, 1
	}
	for i := range r.count {
		end, why := m.level.Access(t, r.addr+uint64(i)*uint64(r.stride), r.bytes, kind)
		if end > done {
			done, m.reason = end, why
		}
	}
	return max(at, clock.Cycle(done))
}

// placeRegions prepares the memories of a run and returns where each region lies in
// its memory: regions follow each other, aligned to a page, and the command stream
// follows the last one in the memory of region 0.
func placeRegions(s *Spec, ms []memory, levels []mem.Level, r *Regions) (base [NumRegions]uint64, stream uint64) {
	next := make([]uint64, len(ms))
	for i := range ms {
		ms[i] = memory{spec: &s.Memories[i], reason: sim.StallScratchpad, beatBytes: s.BeatBytes()}
		if s.Memories[i].OffChip {
			ms[i].reason = sim.StallDRAM
		}
		if i < len(levels) {
			ms[i].level = levels[i]
		}
		if ms[i].level != nil { // its account goes on from run to run
			ms[i].charged, _ = mem.EnergyOf(ms[i].level)
		}
	}
	for i := range base {
		if i > 0 && len(r[i]) > 0 && len(r[i]) == len(r[i-1]) && &r[i][0] == &r[i-1][0] {
			base[i] = base[i-1] // one memory behind two pointers
			continue
		}
		m := s.RegionMemory[i]
		base[i] = next[m]
		next[m] += (uint64(len(r[i])) + 4095) &^ 4095
	}
	return base, next[s.RegionMemory[0]]
}
