package gpu

import (
	"fmt"

	"github.com/nnsoc/nnsoc/gpu/internal/schedule"
	"github.com/nnsoc/nnsoc/gpu/internal/state"
	"github.com/nnsoc/nnsoc/sim"
)

// The checker: RDNA2 has no interlock on memory results, so an instruction
// that touches the destination of a load before its counter was waited for
// sees the old value. That is an error here.

// checkRun reports a register that operations [pc, end) touch while its load is
// outstanding. end is at most the end of the run that starts at pc.
func (w *wave) checkRun(pc, end int32) bool { return w.untouched(pc) || w.checkEach(pc, end) }

// untouched reports whether the operation at pc, and if it is a vector one all up to the next of another kind,
// touch no register whose load is outstanding.
func (w *wave) untouched(pc int32) bool {
	if w.PendingV[0]|w.PendingV[1]|w.PendingV[2]|w.PendingV[3]|w.PendingS[0]|w.PendingS[1] == 0 {
		return true
	}
	t := &w.executor.p.Touch[pc]
	return t.V[0]&w.PendingV[0]|t.V[1]&w.PendingV[1]|t.V[2]&w.PendingV[2]|t.V[3]&w.PendingV[3]|
		t.S[0]&w.PendingS[0]|t.S[1]&w.PendingS[1] == 0
}

func (w *wave) checkEach(pc, end int32) bool {
	for i := pc; i < end; i++ {
		d := &w.executor.p.Deps[i]
		bad := func(file string, r int, counter string) bool {
			w.executor.Current = i
			w.Fail(fmt.Errorf("%s%d is the target of a load that was not waited for (%s)", file, r, counter))
			return false
		}
		for _, s := range d.VSrc[:d.NVSrc] {
			if r := s.First(w.PendingV[:]); r >= 0 {
				return bad("v", r, w.counterOf(r))
			}
		}
		if r := d.VDst.First(w.PendingV[:]); r >= 0 && !w.ordered(&w.executor.p.Ops[i], r) {
			return bad("v", r, w.counterOf(r))
		}
		for _, s := range append(d.SSrc[:d.NSSrc:d.NSSrc], d.SDst[:d.NSDst]...) {
			if r := s.First(w.PendingS[:]); r >= 0 {
				return bad("s", r, "lgkmcnt")
			}
		}
	}
	return true
}

// ordered reports whether u is a load that returns after the outstanding one
// to the same register: those of one counter return in order.
func (w *wave) ordered(u *state.Op, r int) bool {
	return u.Unit == state.UnitVMEM && w.counterOf(r) == "vmcnt" || u.Unit == state.UnitLDS && w.counterOf(r) == "lgkmcnt"
}

// counterOf names the counter that vector register r waits on.
func (w *wave) counterOf(r int) string {
	for i := range w.lgkm.n {
		if e := w.lgkm.at(i); !e.scalar && r >= int(e.regs.Reg) && r < int(e.regs.Reg)+int(e.regs.N) {
			return "lgkmcnt"
		}
	}
	return "vmcnt"
}

// track notes that a memory instruction is outstanding until done.
func (w *wave) track(u *state.Op, pc int32, done int64, from sim.Reason) {
	d := &w.executor.p.Deps[pc]
	q, regs, scalar := &w.lgkm, d.VDst, u.Unit == state.UnitSMEM
	switch {
	case scalar:
		regs = state.Span{}
		if d.NSDst > 0 {
			regs = d.SDst[0]
			if w.executor.checks() {
				w.dup = w.dup || regs.First(w.PendingS[:]) >= 0
				regs.Set(w.PendingS[:])
			}
		}
		q.scalars++
	default:
		if u.Unit == state.UnitVMEM {
			q = &w.vm
			if op := u.Details.Access; op.Store || op.Atomic != nil && !op.Returns {
				q = &w.vs
			}
		}
		if regs.N > 0 && w.executor.checks() {
			w.dup = w.dup || regs.First(w.PendingV[:]) >= 0
			regs.Set(w.PendingV[:])
		}
	}
	if q.n == len(q.q) {
		// More than the counter holds: the hardware stalled until one was back.
		w.pop(q, 1)
	}
	q.push(done, from, scalar, regs)
}

// trackGeneric notes that a generic access, which track has noted on its own
// counter, is outstanding on the counter of LDS as well.
func (w *wave) trackGeneric(u *state.Op, pc int32, done int64, from sim.Reason) {
	q, regs := &w.lgkm, w.executor.p.Deps[pc].VDst
	if q.n == len(q.q) {
		w.pop(q, 1)
	}
	w.dup = w.dup || regs.N > 0 // the registers are there when both have returned
	q.last = max(q.last, done)
	q.push(done, from, false, regs)
}

// pop removes the k oldest operations from a counter.
func (w *wave) pop(q *queue, k int) {
	if q.scalars == 0 && w.executor.replays() { // no register is pending
		k = min(k, q.n)
		q.head = (q.head + k) & 63
		q.n -= k
		return
	}
	for ; k > 0 && q.n > 0; k-- {
		e := q.at(0)
		q.head = (q.head + 1) & 63
		q.n--
		if e.scalar {
			q.scalars--
		}
		switch {
		case e.regs.N == 0:
		case e.scalar:
			e.regs.Clear(w.PendingS[:])
		default:
			e.regs.Clear(w.PendingV[:])
		}
	}
	if w.dup {
		w.rebuild()
	}
}

// rebuild recomputes the pending registers, for registers with two loads in flight.
func (w *wave) rebuild() {
	if w.executor.unchecked {
		return
	}
	w.PendingV, w.PendingS = [4]uint64{}, [2]uint64{}
	for _, q := range []*queue{&w.vm, &w.lgkm} {
		for i := range q.n {
			e := q.at(i)
			switch {
			case e.regs.N == 0:
			case e.scalar:
				e.regs.Set(w.PendingS[:])
			default:
				e.regs.Set(w.PendingV[:])
			}
		}
	}
	w.dup = w.vm.n+w.lgkm.n > 0
}

// retire removes from the counters the operations that a wait guarantees to have returned. Scalar loads return in any
// order, so with one outstanding only a wait for zero guarantees anything.
func (w *wave) retire(q *schedule.Op) {
	if n := int(q.Wait[0]); w.vm.n > n {
		w.pop(&w.vm, w.vm.n-n)
	}
	if n := int(q.Wait[1]); w.vs.n > n {
		w.pop(&w.vs, w.vs.n-n)
	}
	if n := int(q.Wait[2]); w.lgkm.n > n && (n == 0 || w.lgkm.scalars == 0) {
		w.pop(&w.lgkm, w.lgkm.n-n)
	}
}
