package gpu

import (
	"math/bits"

	"github.com/nnsoc/nnsoc/gpu/internal/exec"
	"github.com/nnsoc/nnsoc/gpu/internal/schedule"
	"github.com/nnsoc/nnsoc/gpu/internal/state"
)

// runFunctional executes the work-groups of the dispatches one after the other. The waves of a work-group alternate at
// barriers.
func (m *machine) runFunctional() {
	for _, g := range m.grids {
		if m.begun(g); !m.runGroups() {
			return
		}
		m.tally(0, 0)
	}
}

// runGroups executes the work-groups of a dispatch and reports whether all have ended well.
func (m *machine) runGroups() bool {
	for m.next < m.total {
		if !m.runGroup() {
			return false
		}
	}
	return true
}

// runGroup executes the next work-group of a dispatch and reports whether it has ended well.
func (m *machine) runGroup() bool {
	g := m.newWorkgroup()
	if m.tape != nil {
		m.tape.group(g)
	}
	for g.live > 0 {
		for _, w := range g.waves {
			if !w.done && !w.atBarrier {
				if m.tape != nil {
					m.tape.resume(w)
				}
				if w.runUntilBarrier(); m.Err != nil {
					return false
				}
			}
		}
		if m.tape != nil && m.tape.ldsRace() {
			return false
		}
		// All live waves have reached a barrier: it is complete.
		for _, w := range g.waves {
			w.atBarrier = false
		}
	}
	m.retire(g)
	return true
}

func (w *wave) runUntilBarrier() {
	m := w.machine
	p := m.p
	for {
		pc := w.PC
		u := &p.Ops[pc]
		if u.Unit <= state.UnitTrans {
			end := p.Timed[pc].End
			if !w.checkRun(pc, end) {
				return
			}
			m.visit(pc, end, w.Exec())
			w.passTo(end)
			if m.executed > m.limit {
				m.runaway(w)
				return
			}
			continue
		}
		if !w.checkRun(pc, pc+1) {
			return
		}
		m.Cycle = m.executed + 1
		if !w.step(pc, u) {
			return
		}
		if u.Unit == state.UnitSALU { // it is not recorded, and nothing waits for it
			continue
		}
		if m.tape != nil {
			m.tape.add(w, u)
		}
		switch {
		case u.Control == state.ControlEnd:
			w.done = true
			w.wg.live--
			return
		case u.Control == state.ControlBarrier:
			w.atBarrier, w.barrierPC = true, pc
			return
		case u.Unit == state.UnitSMEM || u.Unit == state.UnitVMEM || u.Unit == state.UnitLDS:
			w.track(u, pc, 0, 0)
			if u.Unit == state.UnitVMEM && u.Details.Access.Mode == state.AccessFlat {
				w.trackGeneric(u, pc, 0, 0)
			}
			m.Block, m.InLDS, m.Swizzled = 0, 0, false
		case u.Control == state.ControlWait:
			w.retire(&p.Timed[pc])
		}
	}
}

// step executes one instruction that is not part of a vector run.
func (w *wave) step(pc int32, u *state.Op) bool {
	m := w.machine
	m.visit(pc, pc+1, w.Exec())
	if m.executed > m.limit {
		m.runaway(w)
		return false
	}
	w.PC = pc + 1
	w.clear = false
	if u.Control == state.ControlWait {
		return true // what follows may run together with what precedes
	}
	w.catchUp()
	return m.Err == nil
}

// passTo lets the program counter pass vector instructions up to end. They are executed before the next instruction
// that can see their results or changes what they read: a vector instruction only does if it writes EXEC or selects its
// registers by M0, and such an instruction ends a run.
func (w *wave) passTo(end int32) {
	w.PC = end
	if w.machine.p.Timed[end-1].Flags&schedule.AtOnce != 0 {
		w.catchUp()
	}
}

// catchUp executes the instructions before PC that have only issued.
func (w *wave) catchUp() {
	exec.Range(&w.Wave, w.undone, w.PC)
	w.undone = w.PC
}

// visit counts the execution of operations [pc, end) under a mask, and notes where it begins for messages: one
// that can fail begins a run.
func (m *machine) visit(pc, end int32, mask uint64) {
	m.Current = pc
	n := int64(bits.OnesCount64(mask))
	from, to := &m.executions[pc], &m.executions[end]
	from.visits++
	from.lanes += n
	to.visits--
	to.lanes -= n
	m.executed += int64(end - pc)
}
