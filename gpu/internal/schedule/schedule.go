// Package schedule is the static timing of a program's operations: the registers and wait counters of each, its costs,
// the runs of vector instructions that issue without a stall when everything from before the run is ready, and the
// floating-point operations per lane.
package schedule

import (
	"slices"

	"github.com/nnsoc/nnsoc/gpu/internal/state"
)

// maxRun is how many instructions one vector run may have.
const maxRun = 64

// Table is the static timing of a program's operations.
type Table struct {
	Timed  []Op
	Touch  []RegisterSet // of the operation, and of all vector ones up to the next of another kind if it is one
	Vector []bool        // of the operation: it works on lanes
	Flops  []uint8       // of a lane
	Latest int64         // longest latency of a vector instruction, cycles
}

// Costs are the costs of instructions on a machine.
type Costs struct {
	Result    [state.NumClasses]int // cycles until a dependent instruction may issue
	Issue     [state.NumClasses]int // cycles for which an instruction of a wave of the program occupies the vector unit
	LineShift uint                  // log2 of the bytes of a line of code
}

// New is the table of a program.
func New(p *state.Program, costs *Costs) Table {
	n := len(p.Ops)
	t := Table{Timed: make([]Op, n), Touch: make([]RegisterSet, n), Vector: make([]bool, n), Flops: make([]uint8, n)}
	cost := int32(0)
	for i := range p.Ops {
		u, q := &p.Ops[i], &t.Timed[i]
		q.registers(&p.Deps[i])
		q.counted(u)
		q.Unit, q.Line, q.Cost = u.Unit, p.Offsets[i]>>costs.LineShift, cost
		t.Vector[i] = u.Unit <= state.UnitTrans || u.Unit == state.UnitVMEM || u.Unit == state.UnitLDS
		t.Flops[i] = flopsOf(u)
		q.Latency = int32(costs.Result[u.Class])
		if u.Unit > state.UnitTrans {
			continue
		}
		cost += int32(costs.Issue[u.Class])
		t.Latest = max(t.Latest, int64(q.Latency))
	}
	t.runs(p)
	return t
}

// runs finds the runs of vector instructions that issue without a stall when everything from before the run is
// ready.
func (t *Table) runs(p *state.Program) {
	stop := int32(len(p.Ops))
	for i := len(p.Ops) - 1; i >= 0; i-- {
		u, q := &p.Ops[i], &t.Timed[i]
		t.Touch[i].add(&p.Deps[i])
		if u.Unit > state.UnitTrans {
			stop = int32(i)
			q.End = int32(i)
			continue
		}
		if p.Ops[i+1].Unit <= state.UnitTrans {
			t.Touch[i].union(&t.Touch[i+1])
		}
		stop = min(stop, int32(i)+maxRun)
		if q.Flags&AtOnce != 0 || u.Class == state.ClassTrans {
			stop = int32(i) + 1
			q.End = stop
			if u.Class == state.ClassTrans || p.Deps[i].Relative {
				stop = int32(i)
			}
			continue
		}
		// A consumer too early for this result ends the run.
		for j := int32(i) + 1; j < stop && t.Timed[j].Cost-q.Cost < q.Latency; j++ {
			if dependsOn(&p.Deps[j], &p.Deps[i]) {
				stop = j
				break
			}
		}
		q.End = stop
	}
}

// dependsOn reports whether j reads or overwrites what i writes.
func dependsOn(j, i *state.Deps) bool {
	for _, r := range j.VSrc[:j.NVSrc] {
		if r.Overlaps(i.VDst) {
			return true
		}
	}
	if j.VDst.Overlaps(i.VDst) {
		return true
	}
	for _, w := range i.SDst[:i.NSDst] {
		for _, r := range j.SSrc[:j.NSSrc] {
			if r.Overlaps(w) {
				return true
			}
		}
		for _, r := range j.SDst[:j.NSDst] {
			if r.Overlaps(w) {
				return true
			}
		}
	}
	return false
}

// Op is the static timing of an operation. Two of them fill a cache line of the host.
type Op struct {
	V, S    [4]uint8 // vector and scalar registers that it reads or writes, one more than once where there are fewer; see PlainS
	Dst     uint8    // the vector register that a plain one writes
	Unit    state.Unit
	Flags   uint8
	Counter uint8    // which wait counters count it, or that it waits for them
	Cost    int32    // issue cycles of all vector operations before it
	End     int32    // first operation after the stall-free vector run that starts here
	Line    int32    // of code that it is in
	Latency int32    // of its result
	Wait    [3]uint8 // how many operations on each counter a wait leaves
	Bytes   uint8    // of a lane's access
}

// The wait counters of an operation.
const (
	OnVM = 1 << iota
	OnVS
	OnLGKM
	Waits
)

// counted notes the wait counters of an operation.
func (q *Op) counted(u *state.Op) {
	if u.Details != nil && u.Details.Access != nil {
		q.Bytes = uint8(u.Details.Access.Size)
	}
	switch u.Unit {
	case state.UnitVMEM:
		op := u.Details.Access
		q.Counter = OnVM
		if op.Store || op.Atomic != nil && !op.Returns {
			q.Counter = OnVS
		}
		if op.Mode == state.AccessFlat {
			q.Counter |= OnLGKM
		}
	case state.UnitLDS, state.UnitSMEM:
		q.Counter = OnLGKM
	case state.UnitControl:
		if u.Control == state.ControlWait {
			q.Counter = Waits
			q.Wait = [3]uint8{uint8(u.A), uint8(u.C), uint8(u.B)}
		}
	}
}

// Flags of an operation.
const (
	UsesV         = 1 << iota // has vector registers in V
	UsesS                     // has scalar registers in S
	ManyRegisters             // has more registers than V and S hold: Deps lists them
	Plain                     // writes one vector register and nothing else
	AtOnce                    // executes as it issues: it writes EXEC or picks its registers by M0
	PlainS                    // writes scalar registers alone: those in V
)

// registers notes the registers of an operation.
func (q *Op) registers(d *state.Deps) {
	var v, s, to []uint8
	add := func(to []uint8, sp state.Span, last int) []uint8 {
		for r := int(sp.Reg); r < int(sp.Reg)+int(sp.N) && r <= last; r++ {
			if !slices.Contains(to, uint8(r)) {
				to = append(to, uint8(r))
			}
		}
		return to
	}
	for _, sp := range append(d.VSrc[:d.NVSrc:d.NVSrc], d.VDst) {
		v = add(v, sp, 255)
	}
	for _, sp := range append(d.SSrc[:d.NSSrc:d.NSSrc], d.SDst[:d.NSDst]...) {
		s = add(s, sp, state.SCC)
	}
	for _, sp := range d.SDst[:d.NSDst] {
		to = add(to, sp, state.SCC)
	}
	if n := len(to); n > 0 && n <= len(q.V) && len(v) == 0 && !d.Relative {
		q.Flags |= PlainS
		for i := range q.V {
			q.V[i] = to[min(i, n-1)]
		}
	}
	if d.Relative || len(v) > len(q.V) || len(s) > len(q.S) {
		q.Flags |= ManyRegisters
	}
	if d.Relative || d.WritesExec() {
		q.Flags |= AtOnce
	}
	if d.VDst.N == 1 && d.NSDst == 0 && !d.Relative {
		q.Dst = d.VDst.Reg
		q.Flags |= Plain
	}
	for i := range q.V {
		if len(v) > 0 {
			q.Flags |= UsesV
			q.V[i] = v[min(i, len(v)-1)]
		}
		if len(s) > 0 {
			q.Flags |= UsesS
			q.S[i] = s[min(i, len(s)-1)]
		}
	}
}

// RegisterSet is the union of the registers that operations read or write.
type RegisterSet struct {
	V [4]uint64
	S [2]uint64
}

func (t *RegisterSet) add(d *state.Deps) {
	for _, r := range d.VSrc[:d.NVSrc] {
		r.Set(t.V[:])
	}
	d.VDst.Set(t.V[:])
	for _, r := range d.SSrc[:d.NSSrc] {
		if r.Reg < 128 {
			r.Set(t.S[:])
		}
	}
	for _, r := range d.SDst[:d.NSDst] {
		if r.Reg < 128 {
			r.Set(t.S[:])
		}
	}
}

func (t *RegisterSet) union(o *RegisterSet) {
	for i := range t.V {
		t.V[i] |= o.V[i]
	}
	for i := range t.S {
		t.S[i] |= o.S[i]
	}
}
