package cpudriver

import (
	"math/bits"

	"github.com/nnsoc/nnsoc/refcpu/timing"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// chunkBytes is the size of an operation's memory request: a piece of each channel.
const chunkBytes = 1 << 10

// writesAt is where the addresses begin that a stream writes; it reads from 0 on.
const writesAt = 1 << 34

// stream passes the bytes that operations move beyond the CPU's caches through a memory shared
// with other engines. The cost of an operation assumes a memory that only the CPU uses: its
// chunks are requested evenly over that time, later only when as many are outstanding as the
// last cache supports. The operation is extended by the lateness of its last chunk.
type stream struct {
	memory   mem.Level
	inFlight []sim.Time // when the last chunks have come, a ring
	at       int
	now      sim.Time // of the last request

	operations int      // that have passed
	end        sim.Time // of the last

	read, written uint64 // addresses of the next chunks
}

func newStream(m mem.Level, s *timing.CPUSpec) *stream {
	return &stream{memory: m, inFlight: make([]sim.Time, max(s.L3.MSHRs*s.L3.LineBytes/chunkBytes, 1)), written: writesAt}
}

// contend charges what the operations up to the last one wait for the memory. It is called
// in the order of the operations, when a meter has their costs.
func (s *stream) contend(m *timing.Meter, last int) {
	operations := m.Timing().Operations
	for ; s.operations <= last; s.operations++ {
		o := &operations[s.operations]
		end := s.end + sim.Time(o.TimeFs)
		if late := s.operation(s.end, end-s.end, o.DRAMBytes-o.DRAMWriteBytes, o.DRAMWriteBytes); late > end {
			m.Wait(s.operations, int64(late-end))
		}
		s.end += sim.Time(o.TimeFs)
	}
}

// operation reads and writes bytes, evenly over a span from start on, and returns when that
// is done. Reads and writes alternate by their shares.
func (s *stream) operation(start, span sim.Time, reads, writes int64) sim.Time {
	chunks := (reads+chunkBytes-1)/chunkBytes + (writes+chunkBytes-1)/chunkBytes
	if chunks == 0 {
		return start + span
	}
	step := span / sim.Time(chunks)
	due := start
	for r, w := reads, writes; r > 0 || w > 0; due += step {
		s.now = max(s.now, due, s.inFlight[s.at])
		k, addr, left := mem.Read, &s.read, &r
		if larger(w, reads, r, writes) {
			k, addr, left = mem.Write, &s.written, &w
		}
		n := min(*left, chunkBytes)
		s.inFlight[s.at], _ = s.memory.Access(s.now, *addr, int(n), k)
		s.at = (s.at + 1) % len(s.inFlight)
		*left -= n
		*addr += uint64(n)
	}
	return max(start+span, s.now+step)
}

// larger reports whether a*b > c*d.
func larger(a, b, c, d int64) bool {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	hi2, lo2 := bits.Mul64(uint64(c), uint64(d))
	return hi > hi2 || hi == hi2 && lo > lo2
}
