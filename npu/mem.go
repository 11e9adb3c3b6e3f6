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
	free   [2]float64 // cycle at which the port, or its channel of reads and that of writes, is free
	rate   [2]float64 // bytes per cycle of reads and of writes
	reason sim.Reason

	readBytes, writeBytes int64
	beatBytes             int
	readBeats, writeBeats int64
	charged               float64 // energy of level that a region has been charged

	readName, writeName       string // of the counters of bytes
	chargedRead, chargedWrite int64  // bytes that a region has been charged
}

// run is a regular series of equal byte runs.
type run struct {
	addr   uint64
	bytes  int // of one run
	stride int // between runs
	count  int
}

// beats is the number of data transfers of a bus so many bytes wide: each run needs those that its bytes touch.
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

// transfer moves runs of bytes no earlier than cycle at and returns when the last byte has arrived or been accepted.
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
	free := m.busy(at, r, 1, kind)
	*m.channel(kind) = free
	return int64(math.Ceil(free)) + int64(latency)
}

// channel is the channel for transfers of a kind.
func (m *memory) channel(kind mem.Kind) *float64 {
	if !m.spec.Duplex {
		return &m.free[0]
	}
	return &m.free[index(kind)]
}

// busy is until when rows times the runs would occupy the port from cycle at. A run shorter than a burst costs a burst,
// unless the next one touches it.
func (m *memory) busy(at int64, r run, rows int, kind mem.Kind) float64 {
	bytes := r.bytes
	if r.stride != bytes {
		bytes = max(bytes, m.spec.BurstBytes)
	}
	return max(*m.channel(kind), float64(at)) + float64(bytes)*float64(r.count)*float64(rows)/m.rate[index(kind)]
}

func index(kind mem.Kind) int {
	if kind == mem.Write {
		return 1
	}
	return 0
}

// limited is the bytes per cycle of a memory with so many transactions in flight, each of which costs its latency and
// the beats of its data: eight on the port of either product, which is the longest burst that Arm's driver allows on
// U55 and that of Vela's external memory on U65 (assumed, D-1321).
func (m *MemorySpec) limited(inFlight, latency, beat int) float64 {
	const beats = 8
	if inFlight == 0 {
		return m.BytesPerCycle
	}
	return min(m.BytesPerCycle, float64(inFlight*beats*beat)/float64(latency+beats))
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

// placeRegions prepares the memories of a run and returns the address of each region in its memory: regions are
// consecutive, aligned to a page, and the command stream follows the last one in the memory of region 0.
func placeRegions(s *Spec, ms []memory, levels []mem.Level, r *Regions) (base [NumRegions]uint64, stream uint64) {
	next := make([]uint64, len(ms))
	for i := range ms {
		readName, writeName := ms[i].readName, ms[i].writeName
		if ms[i].spec != &s.Memories[i] || readName == "" {
			readName, writeName = s.Memories[i].Name+"_read_bytes", s.Memories[i].Name+"_write_bytes"
		}
		ms[i] = memory{spec: &s.Memories[i], reason: sim.StallScratchpad, beatBytes: s.BeatBytes(), readName: readName, writeName: writeName}
		m := ms[i].spec
		ms[i].rate = [2]float64{m.limited(m.Reads, m.ReadLatency, s.BeatBytes()), m.limited(m.Writes, m.WriteLatency, s.BeatBytes())}
		if s.Memories[i].OffChip {
			ms[i].reason = sim.StallDRAM
		}
		if i < len(levels) {
			ms[i].level = levels[i]
		}
		if ms[i].level != nil { // its account continues from run to run
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
