package dsp

import (
	"encoding/binary"
	"fmt"

	"github.com/nnsoc/nnsoc/dsp/internal/energy"
	"github.com/nnsoc/nnsoc/dsp/internal/state"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// User DMA (V68): every hardware thread has an engine that walks a chain of
// descriptors in memory and copies beside the thread. The instructions end
// their block, so that the engine sees the time at which they execute. Bytes
// and the done bit of a descriptor change when its last write is accepted; a
// functional run copies at once. Their format is in descriptor.go.

// DMASpec describes the engine of one thread.
type DMASpec struct {
	BurstBytes  int // power of two
	Outstanding int // bursts in flight
	StartCycles int // to fetch and start a descriptor
	IssueCycles int // between two bursts
	Queue       int // descriptors in work
}

// copier is the engine of one thread.
type copier struct {
	eng    *mem.DMA // nil in functional mode
	work   []descriptor
	next   uint32  // next descriptor, 0: none
	last   uint32  // last descriptor read
	paused uint32  // where dmpause has stopped, until it has answered
	t      *thread // that has started the engine
	pc     uint32  // and the packet
}

func (c *copier) running() bool { return len(c.work) > 0 || c.next != 0 }

// copiers are the engines of a run.
type copiers struct {
	r      *run
	list   []copier
	err    error // of a chain that ran on while its thread did something else
	memory *memory
	l2     dmaLevel
	vtcm   dmaLevel
	dram   dmaLevel
}

func newCopiers(r *run) (*copiers, error) {
	s := r.spec
	cs := &copiers{r: r, list: make([]copier, s.Threads)}
	if r.timing == nil {
		return cs, nil
	}
	cs.memory = r.timing.mem
	cs.l2 = dmaLevel{cs.memory, cs.memory.l2, energy.L2}
	cs.dram = dmaLevel{cs.memory, cs.memory.dram, evDRAM}
	pad, err := mem.NewScratchpad(mem.ScratchpadConfig{Name: "vtcm", Hz: s.ClockHz, Bytes: max(1, int(s.VTCMBytes)), Banks: 1, BankBytes: 128, LatencyCycles: s.VTCMCycles})
	if err != nil {
		return nil, err
	}
	cs.vtcm = dmaLevel{cs.memory, pad, energy.VTCM}
	for i := range cs.list {
		cs.list[i].eng, err = mem.NewDMA(s.DMA.config(s.ClockHz))
		if err != nil {
			return nil, err
		}
	}
	return cs, nil
}

func (d *DMASpec) config(hz int64) mem.DMAConfig {
	return mem.DMAConfig{Name: "dma", Hz: hz, BurstBytes: d.BurstBytes, Outstanding: d.Outstanding,
		StartCycles: d.StartCycles, IssueCycles: d.IssueCycles, Queue: d.Queue}
}

// dmaLevel counts the engines' accesses to a memory.
type dmaLevel struct {
	m     *memory
	level mem.Level
	event int
}

// evDRAM marks bytes that pass L2 by; they are counted as DRAM traffic.
const evDRAM = -1

// Access implements mem.Level.
func (l *dmaLevel) Access(t sim.Time, addr uint64, bytes int, k mem.Kind) (sim.Time, sim.Reason) {
	if l.event == evDRAM {
		l.m.bypassed += int64(bytes)
	} else {
		l.m.events[l.event]++
	}
	return l.level.Access(t, addr, bytes, k)
}

// Reset implements mem.Level.
func (l *dmaLevel) Reset() { l.level.Reset() }

// level is the memory that serves an address.
func (cs *copiers) level(addr uint32, bypass bool) mem.Level {
	switch {
	case cs.memory.inVTCM(addr):
		return &cs.vtcm
	case bypass:
		return &cs.dram
	}
	return &cs.l2
}

// serve executes the request of t at now; done is false while it waits.
func (cs *copiers) serve(t *thread, now sim.Time) (done bool, err error) {
	q := &t.DMA
	c := &cs.list[t.id]
	c.t, c.pc = t, q.PC
	if err := cs.advance(now); err != nil {
		return false, err
	}
	var answer uint32
	switch q.Command {
	case state.DMAStart, state.DMAResume:
		if c.running() {
			return false, cs.blame(t.id, fmt.Errorf("%s while the engine runs", q.Op))
		}
		c.next = q.A & dmaAddress
	case state.DMALink:
		err = cs.link(c, q.A&dmaAddress, q.B&dmaAddress)
	case state.DMAPoll:
		if len(c.work) > 0 {
			answer = c.work[0].addr
		}
		if c.running() {
			answer |= dmaRunning
		}
	case state.DMAWait:
		if c.running() {
			return false, nil
		}
	case state.DMAPause:
		if c.next != 0 {
			c.paused, c.next = c.next, 0
		}
		if len(c.work) > 0 {
			return false, nil
		}
		answer, c.paused = c.paused, 0
	}
	if q.Out != 0 {
		*t.R(q.Out) = answer
	}
	if err == nil {
		err = cs.start(c, now)
	}
	if err != nil {
		return false, cs.blame(t.id, err)
	}
	q.Command = state.DMANone
	return true, nil
}

// link appends next to the descriptor tail.
func (cs *copiers) link(c *copier, tail, next uint32) error {
	if tail != 0 {
		m := c.t.writable(tail, 16)
		if m == nil {
			return fmt.Errorf("dmlink: no descriptor at %#x: not in writable memory", tail)
		}
		binary.LittleEndian.PutUint32(m, next)
	}
	if !c.running() || tail == 0 || tail == c.last && c.next == 0 {
		c.next = next
	}
	return nil
}

// blame names the packet that started the failing work on the engine of thread i.
func (cs *copiers) blame(i int, err error) error {
	return &Error{Kind: FaultMemory, Packet: cs.list[i].pc, Thread: i, Job: cs.r.job.Name, Rule: err.Error()}
}

// start starts descriptors of the chain while the engine's queue has space.
func (cs *copiers) start(c *copier, now sim.Time) error {
	for c.next != 0 && (c.eng == nil || len(c.work) < cs.r.spec.DMA.Queue) {
		d, err := c.t.descriptor(c.next)
		if err != nil {
			c.next = 0
			return err
		}
		c.last, c.next = d.addr, d.next
		if c.eng == nil {
			c.t.move(&d)
			continue
		}
		if len(c.work) == 0 {
			cs.memory.active++
			cs.memory.due = 0
		}
		x := mem.Descriptor{From: cs.level(d.src, d.bypassSrc), To: cs.level(d.dst, d.bypassDst),
			Src: uint64(d.src), Dst: uint64(d.dst), Bytes: int(d.width), Rows: int(d.rows),
			SrcStride: int64(d.srcStride), DstStride: int64(d.dstStride)}
		if d.rows == 0 {
			x.Bytes = 0
		}
		d.ticket, _ = c.eng.Submit(now, x)
		c.work = append(c.work, d)
	}
	return nil
}

// advance lets every engine work up to now.
func (cs *copiers) advance(now sim.Time) error {
	for i := range cs.list {
		c := &cs.list[i]
		for len(c.work) > 0 {
			c.eng.Advance(now)
			d := &c.work[0]
			if !c.eng.Finished(d.ticket) {
				break
			}
			_, done := c.eng.Wait(d.ticket)
			if done > now {
				break
			}
			c.t.move(d)
			if c.work = append(c.work[:0], c.work[1:]...); len(c.work) == 0 {
				cs.memory.active--
			}
			if err := cs.start(c, done); err != nil && cs.err == nil {
				cs.err = cs.blame(i, err)
			}
		}
	}
	return cs.err
}

// due is the instant of the engines' next event, sim.Never when all rest.
func (cs *copiers) due() sim.Time {
	at := sim.Never
	for i := range cs.list {
		c := &cs.list[i]
		if len(c.work) == 0 {
			continue
		}
		at = min(at, c.eng.Next())
		if d := &c.work[0]; c.eng.Finished(d.ticket) {
			_, done := c.eng.Wait(d.ticket)
			at = min(at, done)
		}
	}
	return at
}

// drain lets the engines end and returns when the last one has.
func (cs *copiers) drain(now sim.Time) (sim.Time, error) {
	for {
		at := cs.due()
		if at == sim.Never {
			return now, cs.err
		}
		now = max(now, at)
		if err := cs.advance(now); err != nil {
			return now, err
		}
	}
}

// counters adds up the engines'.
func (cs *copiers) counters() []sim.Counter {
	var sum []sim.Counter
	for i := range cs.list {
		for k, c := range cs.list[i].eng.Counters() {
			if i == 0 {
				sum = append(sum, c)
			} else {
				sum[k].Value += c.Value
			}
		}
	}
	return sum
}
