package mem

import (
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem/internal/model"
)

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
	k := model.Checks{What: "dma " + c.Name}
	k.Hz(c.Hz)
	k.Pow2("BurstBytes", c.BurstBytes, 16, 1<<16)
	k.In("Outstanding", int64(c.Outstanding), 1, 1024)
	k.In("StartCycles", int64(c.StartCycles), 0, 1e6)
	k.In("IssueCycles", int64(c.IssueCycles), 0, 1e4)
	k.In("Queue", int64(c.Queue), 1, model.MaxEntries)
	return k.Err()
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

// DMA copies descriptors in order. It models only time; the submitter of the descriptor copies the bytes.
//
// A burst is two events: the read when it is issued and the write when its data has arrived. A core that shares memory
// with the engine calls Advance(now) before its own accesses, so that the accesses of both reach a level in order of
// time.
type DMA struct {
	cfg    DMAConfig
	queue  []dmaJob // ring
	issue  Ticket   // oldest with bursts to issue
	head   Ticket   // oldest not finished
	tail   Ticket   // next to be issued
	flight []dmaBurst
	first  int      // oldest read whose write has not been made
	reads  int      // reads whose write has not been made
	free   sim.Time // earliest issue of the next burst
	cycle  sim.Time
	count  [numDMAEvents]int64
}

type dmaJob struct {
	d           Descriptor
	row, off    int
	started     bool
	bursts      int // issued and not yet written
	submit      sim.Time
	start, done sim.Time
}

type dmaBurst struct {
	job   Ticket
	dst   uint64
	bytes int
	got   sim.Time // data is in the engine
	free  sim.Time // write accepted, slot empty
}

// NewDMA builds an engine.
func NewDMA(cfg DMAConfig) (*DMA, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	e := &DMA{cfg: cfg, queue: make([]dmaJob, cfg.Queue), flight: make([]dmaBurst, cfg.Outstanding)}
	e.Retime(cfg.Hz)
	return e, nil
}

// Retime sets the clock; latencies keep their cycles.
func (e *DMA) Retime(hz int64) {
	e.cfg.Hz = hz
	e.cycle = model.Period(1, hz)
}

// Reset drops every descriptor and clears the counters. It leaves the levels
// alone.
func (e *DMA) Reset() {
	clear(e.queue)
	clear(e.flight)
	e.issue, e.head, e.tail, e.first, e.reads, e.free = 0, 0, 0, 0, 0, 0
	e.count = [numDMAEvents]int64{}
}

// Counters are the events since Reset, named after the engine.
func (e *DMA) Counters() []sim.Counter {
	return model.Counted(e.cfg.Name, dmaEvents[:], e.count[:])
}

func (e *DMA) job(id Ticket) *dmaJob { return &e.queue[int(id%Ticket(len(e.queue)))] }

// Submit queues a descriptor at t. When the queue is full the oldest one is finished first; at is when the engine has
// accepted the descriptor.
func (e *DMA) Submit(t sim.Time, d Descriptor) (id Ticket, at sim.Time) {
	if int(e.tail-e.head) == len(e.queue) {
		_, done := e.Wait(e.head)
		t = max(t, done)
	}
	d.Rows = max(d.Rows, 1)
	*e.job(e.tail) = dmaJob{d: d, submit: t}
	e.tail++
	e.count[DMADescriptor]++
	return e.tail - 1, t
}

// Busy reports whether a descriptor is not finished.
func (e *DMA) Busy() bool { return e.head != e.tail }

// Next is the instant of the engine's next event, Never when it has none.
func (e *DMA) Next() sim.Time { return min(e.nextRead(), e.nextWrite()) }

// nextRead is when the next burst can be issued, as far as is known now.
func (e *DMA) nextRead() sim.Time {
	if e.issue == e.tail || e.reads == len(e.flight) {
		return sim.Never
	}
	slot := &e.flight[(e.first+e.reads)%len(e.flight)]
	if j := e.job(e.issue); !j.started {
		return max(e.free, j.submit)
	}
	return max(e.free, slot.free)
}

func (e *DMA) nextWrite() sim.Time {
	if e.reads == 0 {
		return sim.Never
	}
	return e.flight[e.first].got
}

// Advance makes every access that is due up to and including now.
func (e *DMA) Advance(now sim.Time) {
	for e.head != e.tail && e.Next() <= now {
		e.step()
	}
}

// Finished reports whether every write of descriptor id has been made.
func (e *DMA) Finished(id Ticket) bool { return id < e.head }

// Wait runs the engine until descriptor id is finished and returns when its first burst was issued and its last write
// accepted. Descriptors that were submitted more than Queue submissions ago are forgotten: both results are 0.
func (e *DMA) Wait(id Ticket) (start, done sim.Time) {
	if id < 0 || id >= e.tail || int64(e.tail-id) > int64(len(e.queue)) {
		return 0, 0
	}
	for e.head <= id {
		e.step()
	}
	j := e.job(id)
	return j.start, j.done
}

// Run is Submit and Wait.
func (e *DMA) Run(t sim.Time, d Descriptor) (start, done sim.Time) {
	id, _ := e.Submit(t, d)
	return e.Wait(id)
}

// step processes the next event: a write whose data has arrived before a read that could be issued at the same instant.
func (e *DMA) step() {
	if r := e.nextRead(); r < e.nextWrite() {
		e.read(r)
	} else {
		e.write()
	}
}

// read sets a descriptor up or issues its next burst.
func (e *DMA) read(at sim.Time) {
	j := e.job(e.issue)
	if !j.started {
		j.started = true
		e.free = at + sim.Time(e.cfg.StartCycles)*e.cycle
		j.start, j.done = e.free, e.free
		if j.d.Bytes <= 0 {
			e.issue++
			e.retire()
		}
		return
	}
	if j.row == 0 && j.off == 0 {
		j.start = at
	}
	src := j.d.Src + uint64(int64(j.row)*j.d.SrcStride) + uint64(j.off)
	n := min(j.d.Bytes-j.off, e.cfg.BurstBytes-int(src&uint64(e.cfg.BurstBytes-1)))
	got, _ := j.d.From.Access(at, src, n, Read)
	b := &e.flight[(e.first+e.reads)%len(e.flight)]
	e.reads++
	b.job, b.bytes, b.got = e.issue, n, got
	b.dst = j.d.Dst + uint64(int64(j.row)*j.d.DstStride) + uint64(j.off)
	e.free = at + sim.Time(e.cfg.IssueCycles)*e.cycle
	e.count[DMABurst]++
	e.count[DMABytes] += int64(n)
	j.bursts++
	if j.off += n; j.off == j.d.Bytes {
		j.off = 0
		if j.row++; j.row == j.d.Rows {
			e.issue++
		}
	}
}

// write issues the write of the oldest data that has arrived.
func (e *DMA) write() {
	b := &e.flight[e.first]
	j := e.job(b.job)
	b.free, _ = j.d.To.Access(b.got, b.dst, b.bytes, Write)
	j.done = max(j.done, b.free)
	j.bursts--
	e.reads--
	if e.first++; e.first == len(e.flight) {
		e.first = 0
	}
	e.retire()
}

// retire forgets descriptors that are finished, oldest first.
func (e *DMA) retire() {
	for e.head < e.issue && e.job(e.head).bursts == 0 {
		e.head++
	}
}
