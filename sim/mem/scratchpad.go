package mem

import (
	"math/bits"

	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem/internal/model"
)

// ScratchpadConfig describes software-managed memory beside a core: VTCM, LDS, SHRAM. Consecutive words of BankBytes
// are in consecutive banks; each bank serves one word per cycle.
type ScratchpadConfig struct {
	Name          string
	Hz            int64
	Bytes         int
	Banks         int // power of two, at most 64
	BankBytes     int // width of a bank; Banks*BankBytes per cycle at best
	LatencyCycles int // access to data, without conflict
}

// Validate reports every value that is out of range.
func (c *ScratchpadConfig) Validate() error {
	k := model.Checks{What: "scratchpad " + c.Name}
	k.Hz(c.Hz)
	k.In("Bytes", int64(c.Bytes), 1, model.MaxCacheBytes)
	k.Pow2("Banks", c.Banks, 1, 64)
	k.Pow2("BankBytes", c.BankBytes, 1, 1<<12)
	k.In("LatencyCycles", int64(c.LatencyCycles), 0, 1e6)
	return k.Err()
}

// Events a scratchpad counts.
const (
	ScratchpadRead     = iota // beats: one bank row of up to Banks*BankBytes
	ScratchpadWrite           // beats
	ScratchpadConflict        // beats beyond the first of an access by lanes
	numScratchpadEvents
)

var scratchpadEvents = [numScratchpadEvents]string{"read_beat", "write_beat", "conflict_beat"}

// Scratchpad implements Level. A contiguous access needs one beat per bank row that it touches; beats of all requesters
// share the one port.
type Scratchpad struct {
	cfg       ScratchpadConfig
	free      sim.Time
	lat, beat sim.Time
	rowShift  uint
	wordShift uint
	count     [numScratchpadEvents]int64
}

// NewScratchpad builds a scratchpad; the error names each value out of range.
func NewScratchpad(cfg ScratchpadConfig) (*Scratchpad, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	s := &Scratchpad{cfg: cfg, rowShift: model.Log2(cfg.Banks * cfg.BankBytes), wordShift: model.Log2(cfg.BankBytes)}
	s.Retime(cfg.Hz)
	s.Reset()
	return s, nil
}

// Config is the configuration the scratchpad was built with.
func (s *Scratchpad) Config() ScratchpadConfig { return s.cfg }

// Retime sets the clock; latencies keep their cycles.
func (s *Scratchpad) Retime(hz int64) {
	s.cfg.Hz = hz
	s.lat = model.Period(s.cfg.LatencyCycles, hz)
	s.beat = model.Period(1, hz)
}

// Reset implements Level.
func (s *Scratchpad) Reset() {
	s.free = 0
	s.count = [numScratchpadEvents]int64{}
}

// Counters are the events since Reset, named after the scratchpad.
func (s *Scratchpad) Counters() []sim.Counter {
	return model.Counted(s.cfg.Name, scratchpadEvents[:], s.count[:])
}

// Access implements Level: done is latency + one cycle per beat after the
// access gets the port; a write is accepted with its last beat.
func (s *Scratchpad) Access(t sim.Time, addr uint64, bytes int, k Kind) (sim.Time, sim.Reason) {
	if bytes <= 0 {
		return t, sim.StallScratchpad
	}
	beats := int64((addr+uint64(bytes)-1)>>s.rowShift - addr>>s.rowShift + 1)
	return s.occupy(t, beats, k), sim.StallScratchpad
}

func (s *Scratchpad) occupy(t sim.Time, beats int64, k Kind) sim.Time {
	if s.free > t {
		t = s.free
	}
	busy := sim.Time(beats) * s.beat
	s.free = t + busy
	if k == Write {
		s.count[ScratchpadWrite] += beats
		return t + busy
	}
	s.count[ScratchpadRead] += beats
	return t + s.lat + busy - s.beat
}

// Lanes is one access of up to 64 lanes, each to one bank word at its own address; mask selects the lanes. Lanes that
// name the same word share it; other words of the same bank need further beats.
func (s *Scratchpad) Lanes(t sim.Time, addr *[64]uint32, mask uint64, k Kind) (sim.Time, sim.Reason) {
	beats := int64(s.ConflictDegree(addr, mask))
	if beats == 0 {
		return t, sim.StallScratchpad
	}
	s.count[ScratchpadConflict] += beats - 1
	return s.occupy(t, beats, k), sim.StallScratchpad
}

// ConflictDegree is the largest number of distinct words that lanes under mask
// name in one bank: the beats of the access.
func (s *Scratchpad) ConflictDegree(addr *[64]uint32, mask uint64) int {
	var first [64]uint32 // word seen first in each bank
	var depth [64]uint8
	var seen uint64
	most := 0
	bankMask := uint32(s.cfg.Banks - 1)
	for m := mask; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros64(m)
		w := addr[lane] >> s.wordShift
		b := w & bankMask
		if seen>>b&1 == 0 {
			seen |= 1 << b
			first[b], depth[b] = w, 1
			most = max(most, 1)
			continue
		}
		if first[b] == w || namedBefore(addr, mask, lane, w, s.wordShift) {
			continue
		}
		depth[b]++
		most = max(most, int(depth[b]))
	}
	return most
}

// namedBefore reports whether a lane below this one names the same word.
func namedBefore(addr *[64]uint32, mask uint64, lane int, w uint32, shift uint) bool {
	for m := mask & (1<<lane - 1); m != 0; m &= m - 1 {
		if addr[bits.TrailingZeros64(m)]>>shift == w {
			return true
		}
	}
	return false
}
