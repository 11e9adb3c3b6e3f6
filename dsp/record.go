package dsp

import (
	"github.com/nnsoc/nnsoc/dsp/internal/decode"
	"github.com/nnsoc/nnsoc/sim"
)

// Recorder keeps single packets of a timed run: those in an address range,
// after the packet at its beginning has run a number of times. Set
// Options.Record to use it; a run without one pays nothing.
type Recorder struct {
	Lo, Hi uint32 // packets at addresses in [Lo,Hi)
	Skip   int64  // executions of the packet at Lo to pass over, by every thread
	Max    int    // packets to keep, of every thread

	Events []PacketEvent // by thread in order of time

	threads [maxThreads]threadRecord
}

// PacketEvent is one execution of a packet: its issue and the waits of its thread, in core cycles from the start of the
// run.
type PacketEvent struct {
	Thread int
	Addr   uint32
	Issue  int64
	// Before it was issued: its instructions had to be fetched, the vector pipeline
	// had not begun the packet before, or an operand was not there yet.
	Fetch    int64
	Vectors  int64
	Operand  int64
	Register string // that operand
	// After it: its memory accesses, and the way to the next packet.
	Waits  []MemoryWait
	Branch int64
}

// MemoryWait is a memory access that the thread waited for.
type MemoryWait struct {
	Reason sim.Reason
	Cycles int64
	Addr   uint32
}

// threadRecord is a recorder's state of a thread.
type threadRecord struct {
	entries int64 // executions of the packet at Lo
	kept    int
	last    int // index of its last event, if kept > 0
	fetch   int64
	waits   []blockWait // of the block that runs
}

type blockWait struct {
	packet uint16
	MemoryWait
}

func (rec *Recorder) fetched(t *thread, wait int64) { rec.threads[t.id].fetch += wait }

func (rec *Recorder) waited(t *thread, op *decode.MemOp, why sim.Reason, wait int64, ea uint32) {
	r := &rec.threads[t.id]
	r.waits = append(r.waits, blockWait{op.Packet, MemoryWait{why, wait, ea}})
}

// after charges a wait between two blocks to the packet before it.
func (rec *Recorder) after(t *thread, why sim.Reason, wait int64) {
	if r := &rec.threads[t.id]; r.kept > 0 {
		e := &rec.Events[r.last]
		e.Waits = append(e.Waits, MemoryWait{Reason: why, Cycles: wait})
	}
}

// left adds the packets of a block that the thread entered in cycle start.
func (rec *Recorder) left(t *thread, b *block, v *variant, start, branch int64) {
	r := &rec.threads[t.id]
	defer func() { r.fetch, r.waits = 0, r.waits[:0] }()
	if r.kept >= rec.Max || b.End <= rec.Lo || b.Addr >= rec.Hi {
		return
	}
	slot, waits := int64(0), r.waits
	for i := range b.Packets {
		slot += int64(v.queued[i] + v.stall[i])
		e := PacketEvent{Thread: t.id, Addr: b.Packets[i].Addr, Issue: start + slot*v.period, Vectors: int64(v.queued[i]) * v.period, Operand: int64(v.stall[i]) * v.period}
		if e.Operand > 0 {
			e.Register = decode.RegisterName(v.cause[i])
		}
		slot++
		if i == 0 {
			e.Fetch = r.fetch
		}
		if i == len(b.Packets)-1 {
			e.Branch = branch
		}
		for len(waits) > 0 && int(waits[0].packet) == i {
			e.Waits = append(e.Waits, waits[0].MemoryWait)
			start += waits[0].Cycles
			waits = waits[1:]
		}
		if e.Addr < rec.Lo || e.Addr >= rec.Hi {
			continue
		}
		if e.Addr == rec.Lo {
			r.entries++
		}
		if r.entries <= rec.Skip || r.kept >= rec.Max {
			continue
		}
		r.kept++
		r.last = len(rec.Events)
		rec.Events = append(rec.Events, e)
	}
}
