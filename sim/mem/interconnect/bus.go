package interconnect

import (
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
	"github.com/nnsoc/nnsoc/sim/mem/dram"
	"github.com/nnsoc/nnsoc/sim/mem/internal/model"
)

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
	k := model.Checks{What: "bus " + c.Name}
	k.Hz(c.Hz)
	k.In("BytesPerCycle", int64(c.BytesPerCycle), 1, 1<<16)
	k.In("LatencyCycles", int64(c.LatencyCycles), 0, 1e6)
	k.In("Outstanding", int64(c.Outstanding), 0, model.MaxEntries)
	return k.Err()
}

// Arbiter orders the masters of a shared bus. A port calls Enter before an access
// reaches the bus; Enter returns when no other master can still issue an access
// before (t, master). Until then it may run other masters.
type Arbiter interface {
	Enter(t sim.Time, master int)
}

// Bus is shared by its Ports. Requests are granted in the order of the calls.
type Bus struct {
	cfg        BusConfig
	next       mem.Level
	arbiter    Arbiter      // nil: the calls are in order by themselves
	dram       *dram.DRAM   // next, when it is that
	cache      *SystemCache // the same
	master     *int         // of the access under way, in one of them
	busy       int          // ports that share the background power
	readFree   sim.Time
	writeFree  sim.Time
	lat, cycle sim.Time
	ports      []*Port
}

// NewBus builds a bus in front of next.
func NewBus(cfg BusConfig, next mem.Level) (*Bus, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	b := &Bus{cfg: cfg, next: next, master: new(int)}
	switch next := next.(type) {
	case *dram.DRAM:
		b.dram, b.master = next, &next.Master
	case *SystemCache:
		b.cache, b.master = next, &next.master
	}
	b.Retime(cfg.Hz)
	return b, nil
}

// Retime sets the clock; latencies keep their cycles.
func (b *Bus) Retime(hz int64) {
	b.cfg.Hz = hz
	b.lat = model.Period(b.cfg.LatencyCycles, hz)
	b.cycle = model.Period(1, hz)
	for _, p := range b.ports {
		p.bytes = -1
	}
}

// Share lets an arbiter order the accesses of all ports; nil ends it. The memory
// behind a shared bus outlives the runs of its masters: Reset of a port does
// nothing, only Reset of the bus makes it cold.
func (b *Bus) Share(a Arbiter) { b.arbiter = a }

// Busy sets how many ports share the background power of the memories behind a shared bus.
func (b *Bus) Busy(ports int) { b.busy = ports }

// Port adds a requester. All ports share the channels; each has its own limit
// of outstanding accesses and its own counters.
func (b *Bus) Port(name string) *Port {
	p := &Port{bus: b, name: name, master: len(b.ports), bytes: -1, flight: make([]sim.Time, b.cfg.Outstanding)}
	b.ports = append(b.ports, p)
	return p
}

// Reset frees the channels, resets every port and the level behind.
func (b *Bus) Reset() {
	b.Quiesce()
	b.next.Reset()
}

// Quiesce is Reset without the level behind.
func (b *Bus) Quiesce() {
	b.readFree, b.writeFree = 0, 0
	for _, p := range b.ports {
		clear(p.flight)
		p.pos = 0
		p.count = [numBusEvents]int64{}
		p.others = 0
	}
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

// Port is one requester's side of a Bus. It implements Level.
type Port struct {
	bus    *Bus
	name   string
	master int        // index among the ports
	flight []sim.Time // completion of the last Outstanding accesses, a ring
	pos    int
	count  [numBusEvents]int64

	base   sim.Time // of the requester's times on the bus's clock
	offset uint64   // of its addresses in memory
	others float64  // pJ that are not its requester's; see Disown

	bytes int      // of the last access
	busy  sim.Time // for which it occupies a channel
}

// Reset implements Level; it resets the bus and everything behind, unless the bus
// is shared.
func (p *Port) Reset() {
	if p.bus.arbiter == nil {
		p.bus.Reset()
	}
}

// Place sets where the requester's time 0 is on the clock of the bus, and its address 0
// in memory.
func (p *Port) Place(base sim.Time, offset uint64) { p.base, p.offset = base, offset }

// Master is the port's number for an Arbiter: 0 for the first port.
func (p *Port) Master() int { return p.master }

// Counters are the port's events since Reset, named after the port.
func (p *Port) Counters() []sim.Counter { return model.Counted(p.name, busEvents[:], p.count[:]) }

// Access implements Level.
func (p *Port) Access(t sim.Time, addr uint64, bytes int, k mem.Kind) (sim.Time, sim.Reason) {
	if d := p.bus.dram; d != nil && d.IsChunk(addr, bytes) {
		if k == mem.Write {
			return p.Write(t, addr, bytes), sim.StallDRAM
		}
		return p.Read(t, addr, bytes), sim.StallDRAM
	}
	t += p.base
	addr += p.offset
	p.enter(t)
	if k == mem.Write {
		done, from := p.bus.next.Access(p.beginWrite(t, bytes), addr, bytes, k)
		return p.end(done) - p.base, from
	}
	t = p.beginRead(t, bytes)
	done, from := p.bus.next.Access(t, addr, bytes, k)
	return p.endRead(done) - p.base, from
}

// Serves reports whether Read and Write serve n bytes within n-byte boundaries.
func (p *Port) Serves(n int) bool {
	d := p.bus.dram
	return d != nil && n > 0 && n&(n-1) == 0 && n <= d.ChunkBytes()
}

// Read is Access where a channel of a DRAM serves it.
func (p *Port) Read(t sim.Time, addr uint64, bytes int) sim.Time {
	b := p.bus
	t += p.base
	addr += p.offset
	p.enter(t)
	if len(p.flight) > 0 || bytes != p.bytes {
		t = p.beginRead(t, bytes)
		return p.endRead(b.dram.Read(t, addr, bytes)) - p.base
	}
	b.readFree = max(b.readFree, t+2*b.lat) + p.busy // as beginRead and endRead do
	p.count[BusRead]++
	p.count[BusReadBytes] += int64(bytes)
	return max(b.dram.Read(t+b.lat, addr, bytes)+b.lat, b.readFree) - p.base
}

// Write is Read the other way.
func (p *Port) Write(t sim.Time, addr uint64, bytes int) sim.Time {
	b := p.bus
	t += p.base
	addr += p.offset
	p.enter(t)
	if len(p.flight) > 0 || bytes != p.bytes {
		return p.end(b.dram.Write(p.beginWrite(t, bytes), addr, bytes)) - p.base
	}
	b.writeFree = max(t, b.writeFree) + p.busy // as beginWrite does
	p.count[BusWrite]++
	p.count[BusWriteBytes] += int64(bytes)
	return b.dram.Write(b.writeFree+b.lat, addr, bytes) - p.base
}

// begin waits for the oldest access in flight, which leaves first, and returns how long bytes occupy a channel.
func (p *Port) begin(t sim.Time, bytes int) (start, busy sim.Time) {
	if len(p.flight) > 0 {
		t = max(t, p.flight[p.pos])
	}
	if bytes != p.bytes {
		p.setBytes(bytes)
	}
	return t, p.busy
}

// enter waits for the masters that are earlier, and sets the master of the access.
func (p *Port) enter(t sim.Time) {
	*p.bus.master = p.master
	if a := p.bus.arbiter; a != nil {
		a.Enter(t, p.master)
	}
}

func (p *Port) setBytes(n int) {
	p.bytes, p.busy = n, sim.Time((max(n, 1)+p.bus.cfg.BytesPerCycle-1)/p.bus.cfg.BytesPerCycle)*p.bus.cycle
}

// beginWrite returns when the memory sees the last beat: data travels with the request.
func (p *Port) beginWrite(t sim.Time, bytes int) sim.Time {
	b := p.bus
	t, busy := p.begin(t, bytes)
	b.writeFree = max(t, b.writeFree) + busy
	p.count[BusWrite]++
	p.count[BusWriteBytes] += int64(bytes)
	return b.writeFree + b.lat
}

// beginRead returns when the memory sees the request. Beats follow as data arrives (cut-through), and data of different
// requests may pass each other: the channel is reserved by amount, from the earliest instant this data could be on it.
func (p *Port) beginRead(t sim.Time, bytes int) sim.Time {
	b := p.bus
	t, busy := p.begin(t, bytes)
	b.readFree = max(b.readFree, t+2*b.lat) + busy
	p.count[BusRead]++
	p.count[BusReadBytes] += int64(bytes)
	return t + b.lat
}

// endRead returns when the last beat has arrived that left the memory at done.
func (p *Port) endRead(done sim.Time) sim.Time {
	return p.end(max(done+p.bus.lat, p.bus.readFree))
}

// end notes that the access is in flight until done.
func (p *Port) end(done sim.Time) sim.Time {
	if len(p.flight) > 0 {
		p.flight[p.pos] = done
		if p.pos++; p.pos == len(p.flight) {
			p.pos = 0
		}
	}
	return done
}
