package mem

import "github.com/nnsoc/nnsoc/sim"

// DMAConfig describes an engine that copies between two levels.
type DMAConfig struct {
	Name        string
	Hz          int64
	BurstBytes  int // a transfer is split at multiples of it on the source side
	Outstanding int // bursts in flight: read issued, write not yet accepted
	StartCycles int // descriptor fetch and set-up, per descriptor
	IssueCycles int // between two bursts
	Queue       int // descriptors waiting or running
}

// Validate reports every value that is out of range.
func (c *DMAConfig) Validate() error {
	k := checks{what: "dma " + c.Name}
	k.hz(c.Hz)
	k.pow2("BurstBytes", c.BurstBytes, 16, 1<<16)
	k.in("Outstanding", int64(c.Outstanding), 1, 1024)
	k.in("StartCycles", int64(c.StartCycles), 0, 1e6)
	k.in("IssueCycles", int64(c.IssueCycles), 0, 1e4)
	k.in("Queue", int64(c.Queue), 1, maxEntries)
	return k.err()
}

// Descriptor is one transfer of Rows rows of Bytes bytes; Rows 0 means 1.
type Descriptor struct {
	From, To             Level
	Src, Dst             uint64
	Bytes                int
	Rows                 int
	SrcStride, DstStride int64 // from row to row; may be negative or 0
}

// Events a DMA engine counts.
const (
	DMADescriptor = iota
	DMABurst
	DMABytes
	numDMAEvents
)

var dmaEvents = [numDMAEvents]string{"descriptor", "burst", "bytes"}

// Ticket names a submitted descriptor.
type Ticket int64

// DMA copies descriptors in order. It moves only time; the bytes are moved by
// whoever submits the descriptor.
//
// A core that shares memory with the engine calls Advance(now) before its own
// accesses, so that the bursts of both meet in order of time.
type DMA struct {
	cfg    DMAConfig
	queue  []dmaJob // ring
	head   Ticket   // oldest not finished
	tail   Ticket   // next to be given
	flight []sim.Time
	pos    int
	free   sim.Time // earliest issue of the next burst
	cycle  sim.Time
	count  [numDMAEvents]int64
}

type dmaJob struct {
	d           Descriptor
	row, off    int
	started     bool
	submit      sim.Time
	start, done sim.Time
}

// NewDMA builds an engine.
func NewDMA(cfg DMAConfig) (*DMA, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	e := &DMA{cfg: cfg, queue: make([]dmaJob, cfg.Queue), flight: make([]sim.Time, cfg.Outstanding)}
	e.Retime(cfg.Hz)
	return e, nil
}

// Retime sets the clock; latencies keep their cycles.
func (e *DMA) Retime(hz int64) {
	e.cfg.Hz = hz
	e.cycle = period(1, hz)
}

// Reset drops every descriptor and clears the counters. It leaves the levels
// alone.
func (e *DMA) Reset() {
	clear(e.queue)
	clear(e.flight)
	e.head, e.tail, e.pos, e.free = 0, 0, 0, 0
	e.count = [numDMAEvents]int64{}
}

// Counters are the events since Reset, named after the engine.
func (e *DMA) Counters() []sim.Counter {
	return counted(e.cfg.Name, dmaEvents[:], e.count[:])
}

// Submit queues a descriptor at t. When the queue is full the oldest one is
// finished first; at answers when the engine has taken the descriptor.
func (e *DMA) Submit(t sim.Time, d Descriptor) (id Ticket, at sim.Time) {
	if int(e.tail-e.head) == len(e.queue) {
		_, done := e.Wait(e.head)
		t = max(t, done)
	}
	d.Rows = max(d.Rows, 1)
	e.queue[int(e.tail)%len(e.queue)] = dmaJob{d: d, submit: t}
	e.tail++
	e.count[DMADescriptor]++
	return e.tail - 1, t
}

// Busy reports whether a descriptor is not finished.
func (e *DMA) Busy() bool { return e.head != e.tail }

// Next is the earliest instant at which the engine issues another burst; Never
// when it has none.
func (e *DMA) Next() sim.Time {
	if e.head == e.tail {
		return sim.Never
	}
	j := &e.queue[int(e.head)%len(e.queue)]
	if !j.started {
		return max(e.free, j.submit)
	}
	return max(e.free, e.flight[e.pos])
}

// Advance issues every burst that is due up to and including now.
func (e *DMA) Advance(now sim.Time) {
	for e.head != e.tail && e.Next() <= now {
		e.step()
	}
}

// Wait runs the engine until descriptor id is finished and answers when its
// first burst was issued and its last write accepted. Descriptors that finished
// more than Queue submissions ago are forgotten: both answers are 0.
func (e *DMA) Wait(id Ticket) (start, done sim.Time) {
	if id < 0 || id >= e.tail || int(e.tail-id) > len(e.queue) {
		return 0, 0
	}
	for e.head <= id {
		e.step()
	}
	j := &e.queue[int(id)%len(e.queue)]
	return j.start, j.done
}

// Run is Submit and Wait.
func (e *DMA) Run(t sim.Time, d Descriptor) (start, done sim.Time) {
	id, _ := e.Submit(t, d)
	return e.Wait(id)
}

// step sets up the oldest descriptor or issues one of its bursts.
func (e *DMA) step() {
	j := &e.queue[int(e.head)%len(e.queue)]
	if !j.started {
		j.started = true
		at := max(e.free, j.submit)
		e.free = at + sim.Time(e.cfg.StartCycles)*e.cycle
		j.start, j.done = e.free, e.free
		if j.d.Bytes <= 0 {
			e.head++
			return
		}
	}
	at := max(e.free, e.flight[e.pos])
	src := j.d.Src + uint64(int64(j.row)*j.d.SrcStride) + uint64(j.off)
	dst := j.d.Dst + uint64(int64(j.row)*j.d.DstStride) + uint64(j.off)
	n := min(j.d.Bytes-j.off, e.cfg.BurstBytes-int(src&uint64(e.cfg.BurstBytes-1)))
	if j.row == 0 && j.off == 0 {
		j.start = at
	}
	got, _ := j.d.From.Access(at, src, n, Read)
	put, _ := j.d.To.Access(got, dst, n, Write)
	e.flight[e.pos] = put
	if e.pos++; e.pos == len(e.flight) {
		e.pos = 0
	}
	e.free = at + sim.Time(e.cfg.IssueCycles)*e.cycle
	j.done = max(j.done, put)
	e.count[DMABurst]++
	e.count[DMABytes] += int64(n)
	if j.off += n; j.off == j.d.Bytes {
		j.off = 0
		if j.row++; j.row == j.d.Rows {
			e.head++
		}
	}
}
