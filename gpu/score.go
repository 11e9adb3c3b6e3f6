package gpu

import "github.com/nnsoc/nnsoc/sim"

// ready is when the registers of an instruction are, at least t.
func (w *wave) ready(d *deps, t int64) int64 {
	if d.rel {
		return max(t, w.vMax, w.sMax)
	}
	if w.vMax > t {
		for _, s := range d.vr[:d.nvr] {
			for r := int(s.reg); r < int(s.reg)+int(s.n); r++ {
				t = max(t, w.vReady[r&255])
			}
		}
		for r := int(d.vw.reg); r < int(d.vw.reg)+int(d.vw.n); r++ {
			t = max(t, w.vReady[r&255])
		}
	}
	if w.sMax > t {
		for _, s := range d.sr[:d.nsr] {
			for r := s.reg; r < s.reg+s.n && r <= sSCC; r++ {
				t = max(t, w.sReady[r])
			}
		}
		for _, s := range d.sw[:d.nsw] {
			for r := s.reg; r < s.reg+s.n && r <= sSCC; r++ {
				t = max(t, w.sReady[r])
			}
		}
	}
	return t
}

// wrote notes when scalar results are ready.
func (w *wave) wrote(d *deps, t int64) {
	if d.rel {
		for r := range w.sReady {
			w.sReady[r] = max(w.sReady[r], t)
		}
	}
	for _, s := range d.sw[:d.nsw] {
		for r := s.reg; r < s.reg+s.n && r <= sSCC; r++ {
			w.sReady[r] = t
		}
		w.sMax = max(w.sMax, t)
	}
}

func (w *wave) wroteV(d *deps, t int64) {
	if d.rel {
		for r := range w.vReady[:w.m.p.k.VGPRs] {
			w.vReady[r] = max(w.vReady[r], t)
		}
	}
	if d.vw.n > 0 {
		for r := int(d.vw.reg); r < int(d.vw.reg)+int(d.vw.n); r++ {
			w.vReady[r] = t
		}
		w.vMax = max(w.vMax, t)
	}
	if d.nsw > 0 {
		w.wrote(d, t)
	}
}

// prepare works out when the instruction at w.pc can issue, not before t, and
// what it waits for.
func (w *wave) prepare(t int64, why sim.Reason) {
	m := w.m
	u := &m.p.uops[w.pc]
	d := &m.p.deps[w.pc]
	w.next, w.why = t, why
	if line := m.p.offs[w.pc] >> m.codeShift; line != w.line {
		w.until(m.fetchLine(w.simd.cu, w, line, t), sim.StallFetch)
		w.line = line
	}
	if r := w.ready(d, w.next); r > w.next {
		w.until(r, sim.StallOperand)
	}
	switch u.unit {
	case unitVALU, unitTrans, unitVMEM, unitLDS:
		w.until(max(w.sReady[sEXEC], w.sReady[sEXEC+1]), sim.StallOperand)
	}
	full := m.spec.MaxOutstanding
	switch u.unit {
	case unitVMEM:
		if op := u.x.mem; op.store || op.atomic != nil && !op.ret {
			w.room(&w.vs, full)
		} else {
			w.room(&w.vm, full)
		}
		if u.x.mem.mode == memFlat {
			w.room(&w.lgkm, full)
		}
	case unitLDS, unitSMEM:
		w.room(&w.lgkm, full)
	case unitControl:
		if u.ctl == ctlWait {
			w.waitInOrder(&w.vm, int(u.a))
			w.waitInOrder(&w.vs, int(u.c))
			w.waitAny(&w.lgkm, int(u.b))
		}
	}
	w.simd.next[w.slot], w.simd.unit[w.slot] = w.next, u.unit
}

func (w *wave) until(t int64, why sim.Reason) {
	if t > w.next {
		w.next, w.why = t, why
	}
}

// room waits until a counter is below its limit.
func (w *wave) room(q *queue, limit int) {
	if q.n >= limit {
		w.until(q.at(q.n-limit).done, sim.StallQueue)
	}
}

// waitInOrder waits until at most n operations are outstanding.
func (w *wave) waitInOrder(q *queue, n int) {
	if q.n > n {
		e := q.at(q.n - n - 1)
		w.until(e.done, e.from)
	}
}

// waitAny is the same for a counter whose operations return in any order.
func (w *wave) waitAny(q *queue, n int) {
	if q.scalars == 0 {
		w.waitInOrder(q, n)
		return
	}
	if q.n <= n {
		return
	}
	// The time at which all but n are back.
	var done [64]int64
	for i := range q.n {
		done[i] = q.at(i).done
	}
	for k := 0; ; k++ {
		best := 0
		for i := 1; i < q.n; i++ {
			if done[i] < done[best] {
				best = i
			}
		}
		if k == q.n-n-1 {
			w.until(done[best], q.at(best).from)
			return
		}
		done[best] = never
	}
}
