package gpu

import "math/bits"

// runFunctional executes the work-groups one after the other. The waves of a
// work-group take turns at barriers.
func (m *State) runFunctional() {
	for m.next < m.total {
		g := m.newWorkgroup()
		for g.live > 0 {
			for _, w := range g.waves {
				if !w.done && !w.atBarrier {
					if w.runUntilBarrier(); m.err != nil {
						return
					}
				}
			}
			// All live waves stand at a barrier: it is complete.
			for _, w := range g.waves {
				w.atBarrier = false
			}
		}
		m.retire(g)
	}
}

func (w *wave) runUntilBarrier() {
	m := w.m
	p := m.p
	for {
		pc := w.pc
		u := &p.uops[pc]
		if u.unit <= unitTrans {
			end := p.end[pc]
			if !w.checkRun(pc, end) {
				return
			}
			m.visit(pc, end, w.mask())
			for i := pc; i < end; i++ {
				v := &p.uops[i]
				v.fn(w, v)
			}
			w.pc = end
			if m.executed > m.limit {
				m.cur = pc
				m.runaway(w)
				return
			}
			continue
		}
		if !w.checkRun(pc, pc+1) {
			return
		}
		if !w.step(pc, u) {
			return
		}
		switch {
		case u.ctl == ctlEnd:
			w.done = true
			w.wg.live--
			return
		case u.ctl == ctlBarrier:
			w.atBarrier, w.barrierPC = true, pc
			return
		case u.unit == unitSMEM || u.unit == unitVMEM || u.unit == unitLDS:
			w.track(u, pc, 0, 0)
			if u.unit == unitVMEM && u.x.mem.mode == memFlat {
				w.trackGeneric(u, pc, 0, 0)
			}
			m.inLDS, m.swizzled = 0, false
		case u.ctl == ctlWait:
			w.settle(u)
		}
	}
}

// step executes one instruction that is not part of a vector run.
func (w *wave) step(pc int32, u *uop) bool {
	m := w.m
	m.cur = pc
	m.visit(pc, pc+1, w.mask())
	if m.executed > m.limit {
		m.runaway(w)
		return false
	}
	w.pc = pc + 1
	u.fn(w, u)
	return m.err == nil
}

// visit counts the execution of uops [pc, end) under a mask.
func (m *State) visit(pc, end int32, mask uint64) {
	n := int64(bits.OnesCount64(mask))
	m.visits[pc]++
	m.visits[end]--
	m.lanes[pc] += n
	m.lanes[end] -= n
	m.executed += int64(end - pc)
}
