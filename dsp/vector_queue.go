package dsp

import (
	"github.com/nnsoc/nnsoc/dsp/internal/decode"
	"github.com/nnsoc/nnsoc/sim"
)

// vectorQueue lets a thread run ahead of its vector pipeline: packets whose vectors are still on their way wait in a
// queue, in order, while the thread issues more, other loads among them, until the queue is full. So the load of a
// packet has to be there VectorQueue issue intervals later: then the thread waits for the rest.
type vectorQueue struct {
	late  [maxVectorQueue + 1]lateLoad // a ring
	first uint32
	n     uint32
	moved int64 // cycles that the thread has waited so far, during which it has issued nothing
}

// lateLoad is a vector load that the pipeline waits for.
type lateLoad struct {
	due    int64 // cycle, less what the thread has waited before, at which the thread stops without it
	ready  int64 // cycle
	block  *block
	packet uint16
	why    sim.Reason
}

// settle waits for the loads that thread t cannot run ahead of at a cycle, in which it begins op, and returns how long.
func (tm *timing) settle(t *thread, op *decode.MemOp, cycle int64, ea uint32) (waited int64) {
	q := &t.pipe.queue
	for q.n > 0 {
		l := &q.late[q.first]
		due := l.due + q.moved
		if due > cycle+waited {
			break
		}
		q.first = (q.first + 1) % uint32(len(q.late))
		q.n--
		if l.ready > due {
			waited += tm.waitedFor(t, l.block, l.packet, op, l.why, l.ready-due, ea)
		}
	}
	return waited
}

// vectorLoad times the load of a vector by a packet. One that comes late does not stop the thread yet.
func (tm *timing) vectorLoad(t *thread, packet uint16, cycle int64, ea uint32) (wait int64, why sim.Reason) {
	wait, why = tm.mem.vectorLoad(&t.client, cycle, ea)
	if wait == 0 || tm.spec.VectorQueue == 0 || why == sim.StallScratchpad {
		return wait, why
	}
	q := &t.pipe.queue
	q.late[(q.first+q.n)%uint32(len(q.late))] = lateLoad{
		due: cycle + int64(tm.spec.VectorQueue)*tm.interval*tm.period - q.moved, ready: cycle + wait,
		block: t.pipe.block, packet: packet, why: why,
	}
	q.n++
	return 0, why
}

// drainQueue waits at the end of a block until all vectors that a thread has loaded are there, where it reads one into a
// scalar register or has reached its end, and returns how long.
func (tm *timing) drainQueue(r *run, t *thread, b *block, cycle int64) (waited int64) {
	q := &t.pipe.queue
	if q.n == 0 || !b.Extracts && (t.pipe.rounds > 0 || !t.ended(r)) {
		return 0
	}
	op := decode.MemOp{Kind: decode.VectorLoad, Packet: uint16(len(b.Packets) - 1)}
	waited = tm.settle(t, &op, cycle, 0)
	for ; q.n > 0; q.n-- {
		l := &q.late[q.first]
		q.first = (q.first + 1) % uint32(len(q.late))
		if rest := l.ready - cycle - waited; rest > 0 {
			waited += tm.waitedFor(t, l.block, l.packet, &op, l.why, rest, 0)
		}
	}
	return waited
}
