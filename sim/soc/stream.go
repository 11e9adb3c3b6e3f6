package soc

import (
	"fmt"

	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// MemoryRates is the DRAM bandwidth over the interconnect of a requester with some lines in flight, measured on their
// models, cold.
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
func (p *probe) write(addr uint64) { p.access(addr, mem.Write) } // done when a queue has accepted it

func (p *probe) access(addr uint64, k mem.Kind) {
	p.now = max(p.now, p.window[p.at])
	done, _ := p.level.Access(p.now, addr, p.line, k)
	p.window[p.at] = done
	p.at = (p.at + 1) % len(p.window)
	p.last = max(p.last, done)
}

// requester is an engine as its path to the shared memory sees it.
type requester struct {
	clock    *Clock
	delay    sim.Time // of its path, there and back
	piece    int      // bytes of a request
	inFlight int      // requests under way, reads and as many writes
}

// regionBytes is the size of an NPU's request: a piece of a tensor or of weights, of which it fetches one while it
// works on another.
const regionBytes = 64 << 10

// requester describes an engine; of the CPU one core of the first cluster, whose prefetcher
// keeps the misses of its L2 under way, behind three caches.
func (c *Config) requester(e Engine) (requester, error) {
	switch {
	case e == EngineCPU && c.CPU != nil:
		x := &c.CPU.Clusters[0]
		cycles := x.L1D.HitCycles + x.L2.HitCycles + c.CPU.L3.HitCycles
		return requester{&x.Clock, sim.Nanoseconds(float64(cycles) / x.Clock.FastMHz * 1e3), c.CPU.L3.LineBytes, x.L2.MSHRs}, nil
	case e == EngineGPU && c.GPU != nil:
		return requester{&c.GPU.Clock, sim.Nanoseconds(c.GPU.MemoryNs), c.GPU.L2.LineBytes, c.GPU.L2.MSHRs}, nil
	case e == EngineDSP && c.DSP != nil:
		return requester{&c.DSP.Clock, sim.Nanoseconds(c.DSP.MemoryNs), c.DSP.L2.LineBytes, c.DSP.L2.MSHRs}, nil
	case e == EngineNPU && c.NPU != nil:
		return requester{&c.NPU.Clock, sim.Nanoseconds(c.NPU.MemoryNs), regionBytes, 2}, nil
	}
	return requester{}, fmt.Errorf("soc: %s has no %s", c.SoC.Name, e)
}

// StreamRate is the bandwidth of an engine from the shared memory in bytes per second at the point of a preference, at
// the clock that it votes for: it reads some streams and writes some, one request of each per round, once the
// system-level cache is full of them. Nothing is computed.
func (c *Config) StreamRate(e Engine, p sim.Preference, reads, writes int) (float64, error) {
	x, err := c.requester(e)
	if err != nil {
		return 0, err
	}
	m, err := c.Voted(x.clock, p).NewSharedMemory()
	if err != nil {
		return 0, err
	}
	level := mem.Delayed(m.Ports[e], x.delay)
	r := probe{level: level, line: x.piece, window: make([]sim.Time, x.inFlight)}
	w := probe{level: level, line: x.piece, window: make([]sim.Time, x.inFlight)}
	total := 4 << 20
	if c.SystemCache != nil {
		total = 2 * c.SystemCache.KiB << 10
	}
	n := uint64(total / (x.piece * (reads + writes)))
	apart := uint64(64<<20 + c.DRAM.RowBytes*c.DRAM.Channels) // streams begin in different banks
	var start sim.Time
	for i := range 3 * n {
		if i == n {
			start = max(r.last, w.last)
		}
		for s := range uint64(reads) {
			r.read(s*apart + i*uint64(x.piece))
		}
		w.now = max(w.now, r.now)
		for s := range uint64(writes) {
			w.write((uint64(reads)+s)*apart + i*uint64(x.piece))
		}
		r.now = max(r.now, w.now)
	}
	bytes := 2 * n * uint64(reads+writes) * uint64(x.piece)
	return float64(bytes) / (max(r.last, w.last) - start).Seconds(), nil
}
