package dsp

import (
	"github.com/nnsoc/nnsoc/dsp/internal/asm"
	"github.com/nnsoc/nnsoc/dsp/internal/decode"
	"github.com/nnsoc/nnsoc/dsp/internal/state"
	"github.com/nnsoc/nnsoc/sim"
)

// runSingleThread is the loop for a thread that runs alone. It executes and times block after
// block, like enter and leave, as long as blocks and their plans are known: it keeps the time
// in local variables and looks at no other thread. It stops between two blocks, or after a
// block whose fault, halt or DMA command has to be served before the block is timed. The
// body of step is repeated here because a call per block would cost a tenth of the time.
func (tm *timing) runSingleThread(r *run, t *thread) error {
	p, m := &t.pipe, tm.mem
	b, w, start := p.block, p.way, p.start
	var issue, operand int64
	for t.Next != r.halt && start <= tm.cut {
		var v *variant
		if t.Next == b.Addr {
			if v = w.same; v == nil {
				break
			}
		} else {
			if v = w.next; v == nil || v.block.Addr != t.Next {
				if v = tm.known(r, w, t.Next); v == nil {
					break
				}
			}
			if v.block.Counts || v.block.fetched != m.fetches || v.block.Vector && !t.vector {
				break
			}
			b = v.block
		}
		rounds := r.roundsOf(t, b)
		cost := int64(rounds) * int64(len(b.Packets))
		if r.packets < cost {
			break
		}
		r.packets -= cost
		t.Taken = 0
		ran := asm.Run(&t.Thread, &b.Code, rounds)
		if ran > 1 {
			t.C[state.LC0] -= ran - 1
		}
		if b.runs == 0 {
			r.ran = append(r.ran, b)
		}
		b.runs += int64(ran)
		t.packets += int64(ran) * int64(len(b.Packets))
		if t.Taken == 0 {
			t.Next = b.End
		}
		p.block = b
		p.base, p.rounds = 0, rounds-1
		if rounds > 1 {
			p.base = state.MaxMemOps
		}
		if t.Fault.Violation != state.NoViolation || t.Halt != 0 || t.DMA.Command != state.DMANone {
			if err := tm.interrupt(r, t, b, v); err != nil {
				return err
			}
		}
		if b.Loop0 || b.Loop1 {
			t.EndLoop(&b.Code)
		}
		if !p.left {
			break
		}
		if rounds > 1 {
			start, w = tm.rounds(t, b, v, start)
		} else {
			if len(v.mem) > 0 {
				start = tm.round(t, v, t.Addr[:], 1, start)
			} else {
				start += v.cycles
			}
			issue += v.issue
			operand += v.operand
			v.runs++
			w = &v.ways[tm.wayOut(t, b)]
		}
		start += tm.drainQueue(r, t, b, start)
		if w.lost != 0 {
			start += w.lost
			tm.chargeTransition(r, t, b, w)
		}
	}
	tm.store.endStores(start)
	p.stalls[sim.StallIssue] += issue
	p.stalls[sim.StallOperand] += operand
	p.way, p.start = w, start
	return nil
}

// interrupt serves a fault, a halt or a DMA command of a block before the block is timed.
func (tm *timing) interrupt(r *run, t *thread, b *block, v *variant) error {
	p := &t.pipe
	p.plan, p.left = v, false
	p.extra, p.postponed = 0, false
	tm.begin(t)
	return r.serve(t, b)
}

// known returns the plan of the block at addr after way out w, which led elsewhere before, or
// nil if there is no plan yet.
func (tm *timing) known(r *run, w *way, addr uint32) *variant {
	i := (addr - r.prog.Base) / 4
	if addr&3 != 0 || int64(i) >= int64(len(r.blocks)) || r.blocks[i] == nil {
		return nil
	}
	v := tm.planned(r.blocks[i], w.exit)
	if v != nil {
		w.next = v
	}
	return v
}

// rounds times several runs in a row of block b, which a thread that runs alone entered at
// start. It returns when the last run ends and the way out of the block.
func (tm *timing) rounds(t *thread, b *block, v *variant, start int64) (int64, *way) {
	p := &t.pipe
	how := wayOn // a block that runs several rounds has no jumps
	var issue, operand int64
	left := p.rounds
	addr := t.Addr[p.base:]
	for {
		w := &v.ways[how]
		n := uint32(1)
		if w.same == v { // and so are all others
			n += left
		}
		start = tm.round(t, v, addr, n, start)
		issue += int64(n) * v.issue
		operand += int64(n) * v.operand
		v.runs += int64(n)
		if left -= n - 1; left == 0 {
			p.stalls[sim.StallIssue] += issue
			p.stalls[sim.StallOperand] += operand
			p.rounds = 0
			return start, w
		}
		left--
		addr = addr[len(v.mem):]
		if w.same == nil {
			w.same = tm.plan(b, w.exit)
		}
		v = w.same
	}
}

// round times n rounds of a block, the first of which began at start, and returns
// when the last ends.
func (tm *timing) round(t *thread, v *variant, addr []uint32, n uint32, start int64) int64 {
	m, ops := tm.mem, v.mem
	after := burstElsewhere
	if t.pipe.base != 0 {
		after = burstInLoop
	}
	for ; n > 0; n-- {
		for i := 0; i < len(ops); i++ {
			op, ea := &ops[i], addr[i]
			if ea == state.Skipped {
				continue
			}
			cycle := start + int64(op.cycle)
			if t.pipe.queue.n > 0 {
				wait := tm.settle(t, &op.MemOp, cycle, ea)
				start, cycle = start+wait, cycle+wait
			}
			var wait int64
			var why sim.Reason
			switch op.Kind {
			case decode.ScalarLoad:
				if m.hitsAgain(&t.client, ea) {
					m.skippedD++
					continue
				}
				tm.store.endBurst()
				tm.store.run = 0
				wait, why = m.scalarLoad(&t.client, cycle, ea, op.Bytes)
			case decode.ScalarStore:
				if m.lineD(&t.client, ea) == tm.store.line {
					if calm := tm.store.stallFreeStores(&t.client, ops[i:], addr[i:], start); calm > 0 {
						i += calm - 1
						continue
					}
				}
				wait, why = tm.store.scalarStore(&t.client, cycle, ea, op.Bytes, after), sim.StallQueue
			case decode.VectorLoad:
				if m.freeVTCM(ea) {
					continue
				}
				tm.store.endBurst()
				wait, why = tm.vectorLoad(t, op.Packet, cycle, ea)
			case decode.VectorStore:
				tm.store.endStores(cycle)
				wait, why = m.vectorStore(&t.client, cycle, ea)
			case decode.ScatterElements, decode.GatherElements:
				tm.store.endStores(cycle)
				tm.useElements(t.run)
				wait, why = m.access(&t.client, &t.Thread, &op.MemOp, i, ea, cycle)
			default:
				tm.store.endStores(cycle)
				wait, why = m.access(&t.client, &t.Thread, &op.MemOp, i, ea, cycle)
			}
			if wait > 0 {
				start += tm.waited(t, &op.MemOp, why, wait, ea)
			}
		}
		addr = addr[len(ops):]
		start += v.cycles
	}
	return start
}
