package gpu

import (
	"github.com/nnsoc/nnsoc/gpu/internal/schedule"
	"github.com/nnsoc/nnsoc/gpu/internal/state"
	"github.com/nnsoc/nnsoc/sim"
)

// queued is one operation a wait counter still counts.
type queued struct {
	done   int64 // cycle of its return
	from   sim.Reason
	scalar bool       // regs are scalar registers
	regs   state.Span // that a load writes
}

// queue holds the operations of one wait counter, oldest first.
type queue struct {
	q       [64]queued
	head, n int
	scalars int // scalar memory operations among them
	last    int64
}

func (q *queue) at(i int) *queued { return &q.q[(q.head+i)&63] }

func (q *queue) push(done int64, from sim.Reason, scalar bool, regs state.Span) {
	e := &q.q[(q.head+q.n)&63]
	e.done, e.from, e.scalar, e.regs = done, from, scalar, regs
	q.n++
}

// wave is one resident wave and its position in time. Fields read at every issue are first.
type wave struct {
	executor *executor
	simd     *simd
	next     int64 // earliest issue of the instruction at pc
	vMax     int64 // latest of vReady
	sMax     int64
	slot     int   // index in the SIMD's waves
	line     int32 // instruction cache line it last fetched from
	at       int   // next word of the wave's recording
	undone   int32 // first instruction that has issued and is not executed yet; those up to PC are like it
	why      sim.Reason
	clear    bool // no vector instruction up to the next of another kind touches the target of a load
	dup      bool // one register is the target of two outstanding loads

	state.Wave

	vReady [256]int64
	sReady [256]int64 // up to SCC; so long that a number of a register needs no check
	vm, vs queue
	lgkm   queue

	wg              *workgroup
	regs            []uint32
	done, atBarrier bool
	barrierPC       int32
	born            int64 // cycle of its launch
}

// workgroup is one resident work-group.
type workgroup struct {
	state.Workgroup
	grid    *grid
	waves   []*wave
	arrived int
	live    int
	cu      *cu
	number  int64
}

// ready is when the registers of an operation are, at least t.
func (w *wave) ready(pc int32, t int64) int64 {
	q := &w.executor.timed[pc]
	if q.Flags&schedule.ManyRegisters != 0 {
		return w.readyListed(&w.executor.p.Deps[pc], t)
	}
	return w.readyInline(q, t)
}

// readyInline is ready for an operation whose registers are in its record.
func (w *wave) readyInline(q *schedule.Op, t int64) int64 {
	if w.vMax > t && q.Flags&schedule.UsesV != 0 {
		t = max(t, w.vReady[q.V[0]], w.vReady[q.V[1]], w.vReady[q.V[2]], w.vReady[q.V[3]])
	}
	if w.sMax > t && q.Flags&schedule.UsesS != 0 {
		t = max(t, w.sReady[q.S[0]], w.sReady[q.S[1]], w.sReady[q.S[2]], w.sReady[q.S[3]])
	}
	return t
}

// readyListed is ready for any number of registers.
func (w *wave) readyListed(d *state.Deps, t int64) int64 {
	if d.Relative {
		return max(t, w.vMax, w.sMax)
	}
	if w.vMax > t {
		for _, s := range d.VSrc[:d.NVSrc] {
			for r := int(s.Reg); r < int(s.Reg)+int(s.N); r++ {
				t = max(t, w.vReady[r&255])
			}
		}
		for r := int(d.VDst.Reg); r < int(d.VDst.Reg)+int(d.VDst.N); r++ {
			t = max(t, w.vReady[r&255])
		}
	}
	if w.sMax > t {
		for _, s := range d.SSrc[:d.NSSrc] {
			for r := s.Reg; r < s.Reg+s.N && r <= state.SCC; r++ {
				t = max(t, w.sReady[r])
			}
		}
		for _, s := range d.SDst[:d.NSDst] {
			for r := s.Reg; r < s.Reg+s.N && r <= state.SCC; r++ {
				t = max(t, w.sReady[r])
			}
		}
	}
	return t
}

// wroteS notes when the results of an operation without vector ones are ready.
func (w *wave) wroteS(pc int32, t int64) {
	q := &w.executor.timed[pc]
	if q.Flags&schedule.PlainS == 0 {
		w.wrote(&w.executor.p.Deps[pc], t)
		return
	}
	w.sReady[q.V[0]], w.sReady[q.V[1]], w.sReady[q.V[2]], w.sReady[q.V[3]] = t, t, t, t
	w.sMax = max(w.sMax, t)
}

// wrote notes when scalar results are ready.
func (w *wave) wrote(d *state.Deps, t int64) {
	if d.Relative {
		for r := range w.sReady[:state.SCC+1] {
			w.sReady[r] = max(w.sReady[r], t)
		}
	}
	for _, s := range d.SDst[:d.NSDst] {
		for r := s.Reg; r < s.Reg+s.N && r <= state.SCC; r++ {
			w.sReady[r] = t
		}
		w.sMax = max(w.sMax, t)
	}
}

func (w *wave) wroteV(d *state.Deps, t int64) {
	if d.Relative {
		for r := range w.vReady[:w.executor.p.VGPRs] {
			w.vReady[r] = max(w.vReady[r], t)
		}
	}
	if d.VDst.N > 0 {
		for r := int(d.VDst.Reg); r < int(d.VDst.Reg)+int(d.VDst.N); r++ {
			w.vReady[r] = t
		}
		w.vMax = max(w.vMax, t)
	}
	if d.NSDst > 0 {
		w.wrote(d, t)
	}
}

// prepare computes when the instruction of a wave at its PC can issue, not before t, and the reason for the wait.
func (m *machine) prepare(w *wave, t int64, why sim.Reason) {
	q := &m.timed[w.PC]
	w.next, w.why = t, why
	if q.Line != w.line {
		w.until(m.fetcher.line(m.grid, w.simd.cu, q.Line, t), sim.StallFetch)
		w.line = q.Line
	}
	if w.vMax > w.next || w.sMax > w.next {
		if q.Flags&schedule.ManyRegisters == 0 {
			w.until(w.readyInline(q, w.next), sim.StallOperand)
		} else {
			w.until(w.readyListed(&m.p.Deps[w.PC], w.next), sim.StallOperand)
		}
	}
	if w.sMax > w.next && (q.Unit <= state.UnitTrans || q.Unit == state.UnitVMEM || q.Unit == state.UnitLDS) {
		w.until(max(w.sReady[state.EXEC], w.sReady[state.EXEC+1]), sim.StallOperand)
	}
	if q.Counter != 0 {
		w.counters(q)
	}
	w.simd.next[w.slot], w.simd.unit[w.slot] = w.next, q.Unit
}

// counters is the part of prepare for an operation that needs a place in wait counters, or waits for them.
func (w *wave) counters(q *schedule.Op) {
	if q.Counter == schedule.Waits {
		w.waitInOrder(&w.vm, int(q.Wait[0]))
		w.waitInOrder(&w.vs, int(q.Wait[1]))
		w.waitAny(&w.lgkm, int(q.Wait[2]))
		return
	}
	full := w.executor.spec.MaxOutstanding
	if q.Counter&schedule.OnVM != 0 {
		w.waitBelow(&w.vm, full)
	}
	if q.Counter&schedule.OnVS != 0 {
		w.waitBelow(&w.vs, full)
	}
	if q.Counter&schedule.OnLGKM != 0 {
		w.waitBelow(&w.lgkm, full)
	}
}

func (w *wave) until(t int64, why sim.Reason) {
	if t > w.next {
		w.next, w.why = t, why
	}
}

// waitBelow waits until fewer operations than limit are in flight in a queue.
func (w *wave) waitBelow(q *queue, limit int) {
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
