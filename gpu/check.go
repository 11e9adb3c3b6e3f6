package gpu

import (
	"fmt"

	"github.com/nnsoc/nnsoc/gpu/internal/state"
	"github.com/nnsoc/nnsoc/sim"
)

// The checker: RDNA2 has no interlock on memory results, so an instruction
// that touches the destination of a load before its counter was waited for
// sees the old value. That is an error here.

// setBits and clearBits change the bits of a span in a register set.
func setBits(m []uint64, s state.Span) {
	r, n := uint(s.Reg), uint(s.N)
	if r>>6 == (r+n-1)>>6 && n < 64 {
		m[r>>6] |= (1<<n - 1) << (r & 63)
		return
	}
	for ; n > 0; n-- {
		m[r>>6] |= 1 << (r & 63)
		r++
	}
}

func clearBits(m []uint64, s state.Span) {
	r, n := uint(s.Reg), uint(s.N)
	if r>>6 == (r+n-1)>>6 && n < 64 {
		m[r>>6] &^= (1<<n - 1) << (r & 63)
		return
	}
	for ; n > 0; n-- {
		m[r>>6] &^= 1 << (r & 63)
		r++
	}
}

func anyBit(m []uint64, s state.Span) int {
	for r := int(s.Reg); r < int(s.Reg)+int(s.N) && r>>6 < len(m); r++ {
		if m[r>>6]>>(r&63)&1 != 0 {
			return r
		}
	}
	return -1
}

// touched is the union of the registers that operations read or write.
type touched struct {
	v [4]uint64
	s [2]uint64
}

func (t *touched) add(d *state.Deps) {
	for _, r := range d.VSrc[:d.NVSrc] {
		setBits(t.v[:], r)
	}
	setBits(t.v[:], d.VDst)
	for _, r := range d.SSrc[:d.NSSrc] {
		if r.Reg < 128 {
			setBits(t.s[:], r)
		}
	}
	for _, r := range d.SDst[:d.NSDst] {
		if r.Reg < 128 {
			setBits(t.s[:], r)
		}
	}
}

func (t *touched) union(o *touched) {
	for i := range t.v {
		t.v[i] |= o.v[i]
	}
	for i := range t.s {
		t.s[i] |= o.s[i]
	}
}

// checkRun reports a register that operations [pc, end) touch while its load is
// outstanding. end is at most the end of the run that starts at pc.
func (w *wave) checkRun(pc, end int32) bool { return w.untouched(pc) || w.checkEach(pc, end) }

// untouched reports whether the operation at pc, and if it is a vector one all up to the next of another kind,
// touch no register whose load is outstanding.
func (w *wave) untouched(pc int32) bool {
	if w.PendingV[0]|w.PendingV[1]|w.PendingV[2]|w.PendingV[3]|w.PendingS[0]|w.PendingS[1] == 0 {
		return true
	}
	t := &w.machine.p.touch[pc]
	return t.v[0]&w.PendingV[0]|t.v[1]&w.PendingV[1]|t.v[2]&w.PendingV[2]|t.v[3]&w.PendingV[3]|
		t.s[0]&w.PendingS[0]|t.s[1]&w.PendingS[1] == 0
}

func (w *wave) checkEach(pc, end int32) bool {
	for i := pc; i < end; i++ {
		d := &w.machine.p.Deps[i]
		bad := func(file string, r int, counter string) bool {
			w.machine.Current = i
			w.Fail(fmt.Errorf("%s%d is the target of a load that was not waited for (%s)", file, r, counter))
			return false
		}
		for _, s := range d.VSrc[:d.NVSrc] {
			if r := anyBit(w.PendingV[:], s); r >= 0 {
				return bad("v", r, w.counterOf(r))
			}
		}
		if r := anyBit(w.PendingV[:], d.VDst); r >= 0 && !w.ordered(&w.machine.p.Ops[i], r) {
			return bad("v", r, w.counterOf(r))
		}
		for _, s := range append(d.SSrc[:d.NSSrc:d.NSSrc], d.SDst[:d.NSDst]...) {
			if r := anyBit(w.PendingS[:], s); r >= 0 {
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
		if e := w.lgkm.at(i); !e.scalar && r >= int(e.dst) && r < int(e.dst)+int(e.regs) {
			return "lgkmcnt"
		}
	}
	return "vmcnt"
}

// track notes that a memory instruction is outstanding until done.
func (w *wave) track(u *state.Op, pc int32, done int64, from sim.Reason) {
	d := &w.machine.p.Deps[pc]
	e := queued{done: done, from: from}
	q := &w.lgkm
	switch {
	case u.Unit == state.UnitSMEM:
		e.scalar = true
		if d.NSDst > 0 {
			e.dst, e.regs = uint16(d.SDst[0].Reg), d.SDst[0].N
			if w.machine.checks() {
				w.dup = w.dup || anyBit(w.PendingS[:], d.SDst[0]) >= 0
				setBits(w.PendingS[:], d.SDst[0])
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
		e.dst, e.regs = uint16(d.VDst.Reg), d.VDst.N
		if d.VDst.N > 0 && w.machine.checks() {
			w.dup = w.dup || anyBit(w.PendingV[:], d.VDst) >= 0
			setBits(w.PendingV[:], d.VDst)
		}
	}
	if q.n == len(q.q) {
		// More than the counter holds: the hardware stalled until one was back.
		w.pop(q, 1)
	}
	q.push(e)
}

// trackGeneric notes that a generic access, which track has noted on its own
// counter, is outstanding on the counter of LDS as well.
func (w *wave) trackGeneric(u *state.Op, pc int32, done int64, from sim.Reason) {
	d := &w.machine.p.Deps[pc]
	e := queued{done: done, from: from, dst: uint16(d.VDst.Reg), regs: d.VDst.N}
	q := &w.lgkm
	if q.n == len(q.q) {
		w.pop(q, 1)
	}
	w.dup = w.dup || e.regs > 0 // the registers are there when both have returned
	q.last = max(q.last, done)
	q.push(e)
}

// pop takes the k oldest operations off a counter.
func (w *wave) pop(q *queue, k int) {
	if q.scalars == 0 && w.machine.replays() { // no register is pending
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
		if e.regs == 0 {
			continue
		}
		s := state.Span{Reg: uint8(e.dst), N: e.regs}
		if e.scalar {
			clearBits(w.PendingS[:], s)
		} else {
			clearBits(w.PendingV[:], s)
		}
	}
	if w.dup {
		w.rebuild()
	}
}

// checks reports whether registers read before their load was waited for are looked for. A recording has been checked.
func (m *machine) checks() bool { return !m.opt.Unchecked && !m.replays() }

// rebuild recomputes what is pending, for registers with two loads under way.
func (w *wave) rebuild() {
	if w.machine.opt.Unchecked {
		return
	}
	w.PendingV, w.PendingS = [4]uint64{}, [2]uint64{}
	for _, q := range []*queue{&w.vm, &w.lgkm} {
		for i := range q.n {
			e := q.at(i)
			if e.regs == 0 {
				continue
			}
			s := state.Span{Reg: uint8(e.dst), N: e.regs}
			if e.scalar {
				setBits(w.PendingS[:], s)
			} else {
				setBits(w.PendingV[:], s)
			}
		}
	}
	w.dup = w.vm.n+w.lgkm.n > 0
}

// retire takes off the counters what a wait guarantees to be back. Scalar
// loads return in any order, so with one outstanding only a wait for zero
// guarantees anything.
func (w *wave) retire(u *state.Op) {
	if n := int(u.A); w.vm.n > n {
		w.pop(&w.vm, w.vm.n-n)
	}
	if n := int(u.C); w.vs.n > n {
		w.pop(&w.vs, w.vs.n-n)
	}
	if n := int(u.B); w.lgkm.n > n && (n == 0 || w.lgkm.scalars == 0) {
		w.pop(&w.lgkm, w.lgkm.n-n)
	}
}
