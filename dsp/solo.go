package dsp

import (
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// solo moves a thread that runs alone from block to block, as enter and leave do,
// where that needs nothing but blocks and plans that are known: it keeps the time
// in registers and looks at no other thread. It stops between two blocks, or
// behind one that others have to serve before it is timed. What step does is written
// out: a call per block would cost a tenth of the time.
func (tm *timing) solo(r *run, t *thread) error {
	p, m := &t.pipe, tm.mem
	b, w, start := p.block, p.way, p.start
	for t.next != r.halt {
		var v *variant
		if t.next == b.addr {
			if v = w.same; v == nil {
				break
			}
		} else {
			if v = w.next; v == nil || v.block.addr != t.next || v.block.fetched != m.fetches || v.block.vector && !t.vector {
				break
			}
			b = v.block
		}
		rounds := r.roundsOf(t, b)
		cost := int64(rounds) * int64(len(b.packets))
		if r.packets < cost {
			break
		}
		r.packets -= cost
		t.took = 0
		ran := t.exec(b, rounds)
		if ran > 1 {
			t.C[cLC0] -= ran - 1
		}
		if b.runs == 0 {
			r.ran = append(r.ran, b)
		}
		b.runs += int64(ran)
		if t.took == 0 {
			t.next = b.end
		}
		p.block = b
		p.base, p.rounds = 0, rounds-1
		if rounds > 1 {
			p.base = maxMemOps
		}
		if t.fault.kind != faultNone || t.halt != 0 || t.dma.command != dmaNone {
			p.plan, p.left = v, false
			p.next, p.extra, p.late = 0, 0, false
			if err := r.serve(t, b); err != nil {
				return err
			}
		}
		if b.loop0 || b.loop1 {
			t.endLoop(b)
		}
		if !p.left {
			break
		}
		start, w = tm.rounds(r, t, b, v, start)
		if w.lost != 0 {
			start += w.lost
			tm.lose(r, t, b, w)
		}
	}
	p.way, p.start = w, start
	return nil
}

// rounds times what a thread alone has run of a block that it entered at start,
// and answers when it ends and the way out.
func (tm *timing) rounds(r *run, t *thread, b *block, v *variant, start int64) (int64, *way) {
	p, m := &t.pipe, tm.mem
	how := t.wayOut(b)
	var issue, operand, hits int64
	left := p.rounds
	addr := t.addr[p.base:]
	var burst mem.Burst
	line, stored := noLine, noLine // that the burst writes, that was stored to last
	for {
		ops := v.mem
		for i := range ops {
			op, ea := &ops[i], addr[i]
			if ea == skipped {
				continue
			}
			cycle := start + int64(op.cycle)
			var wait int64
			var why sim.Reason
			switch op.kind {
			case scalarLoad:
				if m.hitsAgain(t, ea) {
					hits++
					continue
				}
			case scalarStore:
				if m.lineD(t, ea) == line {
					if wait = m.burstStore(t, cycle, &burst); wait > 0 {
						start += tm.waited(t, &op.memOp, sim.StallQueue, wait, ea)
					}
					continue
				}
			case vectorLoad:
				if m.freeVTCM(ea) {
					continue
				}
			}
			if line != noLine {
				m.endBurst(&burst)
				line = noLine
			}
			switch op.kind {
			case scalarLoad:
				wait, why = m.scalarLoad(t, cycle, m.clock.at(cycle), ea, op.bytes)
			case scalarStore:
				at := m.lineD(t, ea)
				if at == stored {
					line = m.beginBurst(&burst, t, ea)
				}
				if stored = at; line != noLine {
					wait, why = m.burstStore(t, cycle, &burst), sim.StallQueue
				} else {
					wait, why = m.scalarStore(t, cycle, m.clock.at(cycle), ea, op.bytes)
				}
			case vectorLoad:
				wait, why = m.vectorLoad(t, cycle, m.clock.at(cycle), ea)
			case vectorStore:
				wait, why = m.vectorStore(t, cycle, m.clock.at(cycle), ea)
			default:
				wait, why = m.access(t, &op.memOp, i, ea, cycle)
			}
			if wait > 0 {
				start += tm.waited(t, &op.memOp, why, wait, ea)
			}
		}
		start += v.cycles
		issue += v.issue
		operand += v.operand
		v.runs++
		w := &v.ways[how]
		if left == 0 {
			if line != noLine {
				m.endBurst(&burst)
			}
			p.stalls[sim.StallIssue] += issue
			p.stalls[sim.StallOperand] += operand
			p.rounds = 0
			m.skippedD += hits
			return start, w
		}
		left--
		addr = addr[len(ops):]
		if w.same == nil {
			w.same = tm.plan(b, w.exit)
		}
		v = w.same
	}
}

// Scalar stores of a thread alone to one line are timed as a burst from the second
// on: what each of them looks up is looked up once.

// maxScalar is the size of the largest scalar.
const maxScalar = 8

// beginBurst begins a burst of stores to the line of ea, unless they are for
// scalarStore, and answers which line, else noLine.
func (m *memory) beginBurst(b *mem.Burst, t *thread, ea uint32) uint32 {
	behind := uint32(1)<<m.shiftD - 1
	begin := ea &^ behind
	vtcm := begin-m.vtcmBase+behind < m.vtcmBytes+behind // some byte of the line is there
	if vtcm || m.active != 0 || !m.l1d.BeginBurst(b, t.physical(ea), maxScalar) {
		return noLine
	}
	line := m.lineD(t, ea)
	if last := &m.lastD[line&m.setsD]; *last != line {
		*last = noLine // as in scalarStore
	}
	return line
}

// burstStore is scalarStore for a store of a burst.
func (m *memory) burstStore(t *thread, cycle int64, b *mem.Burst) int64 {
	now := m.clock.at(cycle)
	entry := t.pipe.stores.next()
	at := max(now, *entry)
	*entry = b.Write(at)
	if at == now {
		return 0
	}
	return m.stall(cycle, at, 0)
}

func (m *memory) endBurst(b *mem.Burst) { m.events[evL2] += m.l1d.EndBurst(b) }
