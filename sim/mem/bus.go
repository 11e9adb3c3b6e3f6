package mem

import "github.com/nnsoc/nnsoc/sim"

// BusConfig describes an interconnect in front of one Level: a request
// channel, a write-data channel and a read-data channel, as AXI has them.
type BusConfig struct {
	Name          string
	Hz            int64
	BytesPerCycle int // of each data channel
	LatencyCycles int // requester to memory; the same again back for reads
	Outstanding   int // reads and writes in flight per port; 0 = no limit
}

// Validate reports every value that is out of range.
func (c *BusConfig) Validate() error {
	k := checks{what: "bus " + c.Name}
	k.hz(c.Hz)
	k.in("BytesPerCycle", int64(c.BytesPerCycle), 1, 1<<16)
	k.in("LatencyCycles", int64(c.LatencyCycles), 0, 1e6)
	k.in("Outstanding", int64(c.Outstanding), 0, maxEntries)
	return k.err()
}

// Bus is shared by its Ports. Requests are granted in the order of the calls.
type Bus struct {
	cfg        BusConfig
	next       Level
	dram       *DRAM // next, when it is that
	readFree   sim.Time
	writeFree  sim.Time
	lat, cycle sim.Time
	ports      []*Port
}

// NewBus builds a bus in front of next.
func NewBus(cfg BusConfig, next Level) (*Bus, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	b := &Bus{cfg: cfg, next: next}
	b.dram, _ = next.(*DRAM)
	b.Retime(cfg.Hz)
	return b, nil
}

// Retime sets the clock; latencies keep their cycles.
func (b *Bus) Retime(hz int64) {
	b.cfg.Hz = hz
	b.lat = period(b.cfg.LatencyCycles, hz)
	b.cycle = period(1, hz)
}

// access asks the memory.
func (b *Bus) access(t sim.Time, addr uint64, bytes int, k Kind) (sim.Time, sim.Reason) {
	if d := b.dram; d != nil && d.isChunk(addr, bytes) {
		return d.chunk(t, addr, bytes, k == Write), sim.StallDRAM
	}
	return b.next.Access(t, addr, bytes, k)
}

// Port adds a requester. All ports share the channels; each has its own limit
// of outstanding accesses and its own counters.
func (b *Bus) Port(name string) *Port {
	p := &Port{bus: b, name: name, bytes: -1, flight: make([]sim.Time, b.cfg.Outstanding)}
	b.ports = append(b.ports, p)
	return p
}

// Reset frees the channels, resets every port and the level behind.
func (b *Bus) Reset() {
	b.readFree, b.writeFree = 0, 0
	for _, p := range b.ports {
		clear(p.flight)
		p.pos = 0
		p.count = [numBusEvents]int64{}
	}
	b.next.Reset()
}

// Events a port counts.
const (
	BusRead = iota
	BusWrite
	BusReadBytes
	BusWriteBytes
	numBusEvents
)

var busEvents = [numBusEvents]string{"read", "write", "read_bytes", "write_bytes"}

// Port is one requester's side of a Bus. It implements Level; its Reset resets
// the whole bus and what is behind it.
type Port struct {
	bus    *Bus
	name   string
	flight []sim.Time // completion of the last Outstanding accesses, a ring
	pos    int
	count  [numBusEvents]int64

	bytes int      // of the last access
	beats sim.Time // that it takes
}

// Reset implements Level; it resets the bus and everything behind.
func (p *Port) Reset() { p.bus.Reset() }

// Counters are the port's events since Reset, named after the port.
func (p *Port) Counters() []sim.Counter { return counted(p.name, busEvents[:], p.count[:]) }

// Access implements Level.
func (p *Port) Access(t sim.Time, addr uint64, bytes int, k Kind) (sim.Time, sim.Reason) {
	b := p.bus
	if len(p.flight) > 0 {
		t = max(t, p.flight[p.pos]) // the oldest leaves first
	}
	if bytes != p.bytes {
		p.bytes, p.beats = bytes, sim.Time((max(bytes, 1)+b.cfg.BytesPerCycle-1)/b.cfg.BytesPerCycle)
	}
	busy := p.beats * b.cycle
	var done sim.Time
	var from sim.Reason
	if k == Write {
		// Data travels with the request: the memory sees it when the last beat is in.
		start := max(t, b.writeFree)
		b.writeFree = start + busy
		done, from = b.access(start+busy+b.lat, addr, bytes, k)
		p.count[BusWrite]++
		p.count[BusWriteBytes] += int64(bytes)
	} else {
		done, from = b.access(t+b.lat, addr, bytes, k)
		// Beats follow the memory as data arrives (cut-through), and data of
		// different requests may pass each other: the channel is reserved by
		// amount, from the earliest instant this data could be on it.
		b.readFree = max(b.readFree, t+2*b.lat) + busy
		done = max(done+b.lat, b.readFree)
		p.count[BusRead]++
		p.count[BusReadBytes] += int64(bytes)
	}
	if len(p.flight) > 0 {
		p.flight[p.pos] = done
		if p.pos++; p.pos == len(p.flight) {
			p.pos = 0
		}
	}
	return done, from
}
