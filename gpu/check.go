package gpu

import (
	"fmt"

	"github.com/nnsoc/nnsoc/sim"
)

// The checker: RDNA2 has no interlock on memory results, so an instruction
// that touches the destination of a load before its counter was waited for
// sees the old value. That is an error here.

// setBits and clearBits change the bits of a span in a register set.
func setBits(m []uint64, s span) {
	r, n := uint(s.reg), uint(s.n)
	if r>>6 == (r+n-1)>>6 && n < 64 {
		m[r>>6] |= (1<<n - 1) << (r & 63)
		return
	}
	for ; n > 0; n-- {
		m[r>>6] |= 1 << (r & 63)
		r++
	}
}

func clearBits(m []uint64, s span) {
	r, n := uint(s.reg), uint(s.n)
	if r>>6 == (r+n-1)>>6 && n < 64 {
		m[r>>6] &^= (1<<n - 1) << (r & 63)
		return
	}
	for ; n > 0; n-- {
		m[r>>6] &^= 1 << (r & 63)
		r++
	}
}

func anyBit(m []uint64, s span) int {
	for r := int(s.reg); r < int(s.reg)+int(s.n) && r>>6 < len(m); r++ {
		if m[r>>6]>>(r&63)&1 != 0 {
			return r
		}
	}
	return -1
}

// touched is the union of the registers that the uops of a run read or write.
type touched struct {
	v [4]uint64
	s [2]uint64
}

func (t *touched) add(d *deps) {
	for _, r := range d.vr[:d.nvr] {
		setBits(t.v[:], r)
	}
	setBits(t.v[:], d.vw)
	for _, r := range d.sr[:d.nsr] {
		if r.reg < 128 {
			setBits(t.s[:], r)
		}
	}
	for _, r := range d.sw[:d.nsw] {
		if r.reg < 128 {
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

// checkRun reports a register that uops [pc, end) touch while its load is
// outstanding. end is at most the end of the run that starts at pc.
func (w *wave) checkRun(pc, end int32) bool {
	if w.pendV[0]|w.pendV[1]|w.pendV[2]|w.pendV[3]|w.pendS[0]|w.pendS[1] == 0 {
		return true
	}
	t := &w.m.p.touch[pc]
	if t.v[0]&w.pendV[0]|t.v[1]&w.pendV[1]|t.v[2]&w.pendV[2]|t.v[3]&w.pendV[3]|
		t.s[0]&w.pendS[0]|t.s[1]&w.pendS[1] == 0 {
		return true
	}
	return w.checkEach(pc, end)
}

func (w *wave) checkEach(pc, end int32) bool {
	for i := pc; i < end; i++ {
		d := &w.m.p.deps[i]
		bad := func(file string, r int, counter string) bool {
			w.m.cur = i
			w.m.fail(w, fmt.Errorf("%s%d is the target of a load that was not waited for (%s)", file, r, counter))
			return false
		}
		for _, s := range d.vr[:d.nvr] {
			if r := anyBit(w.pendV[:], s); r >= 0 {
				return bad("v", r, w.counterOf(r))
			}
		}
		if r := anyBit(w.pendV[:], d.vw); r >= 0 && !w.ordered(&w.m.p.uops[i], r) {
			return bad("v", r, w.counterOf(r))
		}
		for _, s := range append(d.sr[:d.nsr:d.nsr], d.sw[:d.nsw]...) {
			if r := anyBit(w.pendS[:], s); r >= 0 {
				return bad("s", r, "lgkmcnt")
			}
		}
	}
	return true
}

// ordered reports whether u is a load that returns after the outstanding one
// to the same register: those of one counter return in order.
func (w *wave) ordered(u *uop, r int) bool {
	return u.unit == unitVMEM && w.counterOf(r) == "vmcnt" || u.unit == unitLDS && w.counterOf(r) == "lgkmcnt"
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
func (w *wave) track(u *uop, pc int32, done int64, from sim.Reason) {
	d := &w.m.p.deps[pc]
	e := queued{done: done, from: from}
	q := &w.lgkm
	switch {
	case u.unit == unitSMEM:
		e.scalar = true
		if d.nsw > 0 {
			e.dst, e.regs = uint16(d.sw[0].reg), d.sw[0].n
			if !w.m.opt.Unchecked {
				w.dup = w.dup || anyBit(w.pendS[:], d.sw[0]) >= 0
				setBits(w.pendS[:], d.sw[0])
			}
		}
		q.scalars++
	default:
		if u.unit == unitVMEM {
			q = &w.vm
			if op := u.x.mem; op.store || op.atomic != nil && !op.ret {
				q = &w.vs
			}
		}
		e.dst, e.regs = uint16(d.vw.reg), d.vw.n
		if d.vw.n > 0 && !w.m.opt.Unchecked {
			w.dup = w.dup || anyBit(w.pendV[:], d.vw) >= 0
			setBits(w.pendV[:], d.vw)
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
func (w *wave) trackGeneric(u *uop, pc int32, done int64, from sim.Reason) {
	d := &w.m.p.deps[pc]
	e := queued{done: done, from: from, dst: uint16(d.vw.reg), regs: d.vw.n}
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
		s := span{uint8(e.dst), e.regs}
		if e.scalar {
			clearBits(w.pendS[:], s)
		} else {
			clearBits(w.pendV[:], s)
		}
	}
	if w.dup {
		w.rebuild()
	}
}

// rebuild recomputes what is pending, for registers with two loads under way.
func (w *wave) rebuild() {
	if w.m.opt.Unchecked {
		return
	}
	w.pendV, w.pendS = [4]uint64{}, [2]uint64{}
	for _, q := range []*queue{&w.vm, &w.lgkm} {
		for i := range q.n {
			e := q.at(i)
			if e.regs == 0 {
				continue
			}
			s := span{uint8(e.dst), e.regs}
			if e.scalar {
				setBits(w.pendS[:], s)
			} else {
				setBits(w.pendV[:], s)
			}
		}
	}
	w.dup = w.vm.n+w.lgkm.n > 0
}

// settle takes off the counters what a wait guarantees to be back. Scalar
// loads return in any order, so with one outstanding only a wait for zero
// guarantees anything.
func (w *wave) settle(u *uop) {
	if n := int(u.a); w.vm.n > n {
		w.pop(&w.vm, w.vm.n-n)
	}
	if n := int(u.c); w.vs.n > n {
		w.pop(&w.vs, w.vs.n-n)
	}
	if n := int(u.b); w.lgkm.n > n && (n == 0 || w.lgkm.scalars == 0) {
		w.pop(&w.lgkm, w.lgkm.n-n)
	}
}
