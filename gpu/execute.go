package gpu

import (
	"errors"
	"fmt"
	"math/bits"

	"github.com/nnsoc/nnsoc/gpu/internal/exec"
	"github.com/nnsoc/nnsoc/gpu/internal/schedule"
	"github.com/nnsoc/nnsoc/gpu/internal/state"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// executor executes dispatches: it makes their work-groups and runs the instructions of their waves on registers, LDS
// and memory. It has no units and no caches. A functional run and a recording execute work-group by work-group (run,
// runGroups); a timed one instruction by instruction, as the machine around it issues them (newWorkgroup, step, passTo,
// retire), in the order of its time.
type executor struct {
	state.Machine
	*grid // whose wave executes

	spec       *Spec
	functional bool          // nothing is timed
	unchecked  bool          // see Options.Unchecked
	timed      []schedule.Op // of the program of the grid
	lanes      coalescer     // of the instruction that has executed

	waves  []*wave      // free
	groups []*workgroup // free
	bases  []codeBase
	grids  []*grid // the dispatches under way
	spare  []*grid // for them

	tape     *recording // being recorded or replayed; nil: dispatches execute as they are timed
	executed int64      // instructions
	limit    int64
}

// build makes the executor of a machine description.
func (m *executor) build(s *Spec) {
	m.spec = s
	m.lanes = coalescer{Machine: &m.Machine, spec: s, lineShift: shiftOf(s.L0.Line)}
}

// begin begins a run on the bytes of space.
func (m *executor) begin(space *mem.Space, o *Options) {
	m.Space, m.Segment, m.Err = space, nil, nil
	m.functional, m.unchecked = o.Functional, o.Unchecked
	m.executed, m.limit = 0, o.MaxInstructions
	if m.limit <= 0 {
		m.limit = DefaultMaxInstructions
	}
	m.bases = m.bases[:0]
	m.grid = nil
	m.Cycle = 0
}

// run executes a dispatch alone.
func (m *executor) run(d *Dispatch) error {
	m.grids = m.grids[:0]
	if err := m.newGrid(d); err != nil {
		return err
	}
	m.Err, m.Failed = nil, nil
	m.begun(m.grids[0])
	if m.arguments(); !m.runGroups() {
		return m.fault()
	}
	return nil
}

// runGroups executes the work-groups of a dispatch and reports whether all have ended well.
func (m *executor) runGroups() bool {
	for m.next < m.total {
		if !m.runGroup() {
			return false
		}
	}
	return true
}

// runGroup executes the next work-group of a dispatch and reports whether it has ended well.
func (m *executor) runGroup() bool {
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
	m := w.executor
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
	m := w.executor
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
	if w.executor.p.Timed[end-1].Flags&schedule.AtOnce != 0 {
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
func (m *executor) visit(pc, end int32, mask uint64) {
	m.Current = pc
	n := int64(bits.OnesCount64(mask))
	from, to := &m.executions[pc], &m.executions[end]
	from.visits++
	from.lanes += n
	to.visits--
	to.lanes -= n
	m.executed += int64(end - pc)
}

// fault is the first error of the program, with where it happened.
func (m *executor) fault() error {
	w := m.Failed
	if w == nil {
		return m.Err
	}
	g := w.Group.ID
	return &Fault{
		Kernel: m.p.Name, PC: int(m.p.Offsets[m.FailedAt]), Instr: m.p.Text(m.FailedAt),
		Where: fmt.Sprintf("work-group %d,%d,%d wave %d", g[0], g[1], g[2], w.ID),
		Err:   m.Err,
	}
}

// runaway fails wave w with the error of a kernel that reached the instruction limit; it counts the waves that wait for
// w at a barrier.
func (m *executor) runaway(w *wave) {
	waiting, at := 0, int32(0)
	for _, o := range w.wg.waves {
		if o.atBarrier {
			waiting++
			at = o.barrierPC
		}
	}
	if waiting > 0 {
		w.Fail(fmt.Errorf("instruction limit reached; %d waves of its work-group wait for it at the barrier at pc %#x", waiting, m.p.Offsets[at]))
		return
	}
	w.Fail(errors.New("instruction limit reached; the kernel may not end"))
}

// checks reports whether registers read before their load was waited for are looked for. A recording has been checked.
func (m *executor) checks() bool { return !m.unchecked && !m.replays() }
