package soc

import (
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// MemoryRates is what a requester that holds some lines in flight draws from
// the DRAM over the interconnect, measured on their models, cold.
type MemoryRates struct {
	// StreamPerSecond is the bytes per second of two streams read and one written.
	StreamPerSecond float64
	// Random is the mean time per line of reads at random lines, each followed by
	// a write of a line of a stream; Alone is the mean latency of such a read.
	Random, Alone sim.Time
}

// MemoryRates measures with lines of some bytes, of which inFlight are
// outstanding.
func (c *Config) MemoryRates(line, inFlight int) (MemoryRates, error) {
	var r MemoryRates
	d, bus, err := c.NewFabric()
	if err != nil {
		return r, err
	}
	p := probe{level: bus.Port("cpu"), line: line, window: make([]sim.Time, inFlight)}
	// A prefetcher brings pieces of a stream; streams begin in different banks.
	const lines, piece = 1 << 11, 16
	apart := uint64(64<<20 + c.DRAM.RowBytes*c.DRAM.Channels)
	for i := uint64(0); i < lines; i += piece {
		for k := i; k < i+piece; k++ {
			p.read(k * uint64(line))
		}
		for k := i; k < i+piece; k++ {
			p.read(apart + k*uint64(line))
		}
		for k := i; k < i+piece; k++ {
			p.write(2*apart + k*uint64(line))
		}
	}
	end := max(p.last, d.Flush(p.last))
	r.StreamPerSecond = 3 * lines * float64(line) / end.Seconds()

	p.reset()
	const reads = 1 << 10
	at := uint64(1)
	for i := range uint64(reads) {
		at = at*6364136223846793005 + 1442695040888963407 // Knuth's MMIX generator
		p.read(at >> 38 / uint64(line) * uint64(line))    // of 64 MiB
		p.write(2*apart + i*uint64(line))
	}
	r.Random = max(p.last, d.Flush(p.last)) / reads

	p.reset()
	var sum sim.Time
	for i := range sim.Time(reads) {
		at = at*6364136223846793005 + 1442695040888963407
		t := 1000 * sim.Nanosecond * i // idle in between
		done, _ := p.level.Access(t, at>>38/uint64(line)*uint64(line), line, mem.Read)
		sum += done - t
	}
	r.Alone = sum / reads
	return r, nil
}

// probe issues accesses as early as its window allows.
type probe struct {
	level     mem.Level
	line      int
	window    []sim.Time // completion of the last accesses, a ring
	at        int
	now, last sim.Time
}

func (p *probe) reset() {
	clear(p.window)
	p.at, p.now, p.last = 0, 0, 0
	p.level.Reset()
}

func (p *probe) read(addr uint64)  { p.access(addr, mem.Read) }
func (p *probe) write(addr uint64) { p.access(addr, mem.Write) } // done when a queue has taken it

func (p *probe) access(addr uint64, k mem.Kind) {
	p.now = max(p.now, p.window[p.at])
	done, _ := p.level.Access(p.now, addr, p.line, k)
	p.window[p.at] = done
	p.at = (p.at + 1) % len(p.window)
	p.last = max(p.last, done)
}
