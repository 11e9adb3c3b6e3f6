package gpu

import (
	"slices"

	"github.com/nnsoc/nnsoc/gpu/internal/state"
)

// maxRun is how many instructions one vector run may have.
const maxRun = 64

// timed is what timing knows of an operation. Two of them are a line of the host's cache.
type timed struct {
	v, s    [4]uint8 // vector and scalar registers that it reads or writes, one more than once where there are fewer
	dst     uint8    // the vector register that a plain one writes
	unit    state.Unit
	flags   uint8
	counter uint8    // which wait counters count it, or that it waits for them
	cost    int32    // issue cycles of all vector operations before it
	end     int32    // first operation after the stall-free vector run that starts here
	line    int32    // of code that it is in
	latency int32    // of its result
	wait    [3]uint8 // how many operations on each counter a wait leaves
}

// The wait counters of an operation.
const (
	onVM = 1 << iota
	onVS
	onLGKM
	waits
)

// counted notes the wait counters of an operation.
func (q *timed) counted(u *state.Op) {
	switch u.Unit {
	case state.UnitVMEM:
		op := u.Details.Access
		q.counter = onVM
		if op.Store || op.Atomic != nil && !op.Returns {
			q.counter = onVS
		}
		if op.Mode == state.AccessFlat {
			q.counter |= onLGKM
		}
	case state.UnitLDS, state.UnitSMEM:
		q.counter = onLGKM
	case state.UnitControl:
		if u.Control == state.ControlWait {
			q.counter = waits
			q.wait = [3]uint8{uint8(u.A), uint8(u.C), uint8(u.B)}
		}
	}
}

// Flags of a timed operation.
const (
	usesV  = 1 << iota // has vector registers in v
	usesS              // has scalar registers in s
	many               // has more registers than v and s hold: Deps lists them
	plain              // writes one vector register and nothing else
	atOnce             // executes as it issues: it writes EXEC or picks its registers by M0
)

// registers notes the registers of an operation.
func (q *timed) registers(d *state.Deps) {
	var v, s []uint8
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
	if d.Relative || len(v) > len(q.v) || len(s) > len(q.s) {
		q.flags |= many
	}
	if d.Relative || d.WritesExec() {
		q.flags |= atOnce
	}
	if d.VDst.N == 1 && d.NSDst == 0 && !d.Relative {
		q.dst = d.VDst.Reg
		q.flags |= plain
	}
	for i := range q.v {
		if len(v) > 0 {
			q.flags |= usesV
			q.v[i] = v[min(i, len(v)-1)]
		}
		if len(s) > 0 {
			q.flags |= usesS
			q.s[i] = s[min(i, len(s)-1)]
		}
	}
}

// schedule finds the runs of vector instructions that issue without a stall
// when everything from before the run is ready.
func (p *program) schedule(spec *Spec) {
	n := len(p.Ops)
	p.timed, p.vector, p.flops = make([]timed, n), make([]bool, n), make([]uint8, n)
	cost, shift := int32(0), shiftOf(spec.ICache.Line)
	for i := range p.Ops {
		u, q := &p.Ops[i], &p.timed[i]
		q.registers(&p.Deps[i])
		q.counted(u)
		q.unit, q.line, q.cost = u.Unit, p.Offsets[i]>>shift, cost
		p.vector[i] = u.Unit <= state.UnitTrans || u.Unit == state.UnitVMEM || u.Unit == state.UnitLDS
		p.flops[i] = flopsOf(u)
		q.latency = int32(spec.Vector[u.Class].Result)
		if u.Unit > state.UnitTrans {
			continue
		}
		cost += int32(issueCycles(spec, u.Class, p.k.WaveSize))
		p.latest = max(p.latest, int64(q.latency))
	}
	p.touch = make([]touched, n)
	stop := int32(n)
	for i := n - 1; i >= 0; i-- {
		u, q := &p.Ops[i], &p.timed[i]
		p.touch[i].add(&p.Deps[i])
		if u.Unit > state.UnitTrans {
			stop = int32(i)
			q.end = int32(i)
			continue
		}
		if p.Ops[i+1].Unit <= state.UnitTrans {
			p.touch[i].union(&p.touch[i+1])
		}
		stop = min(stop, int32(i)+maxRun)
		if q.flags&atOnce != 0 || u.Class == ClassTrans {
			stop = int32(i) + 1
			q.end = stop
			if u.Class == ClassTrans || p.Deps[i].Relative {
				stop = int32(i)
			}
			continue
		}
		// Consumers of this result that come too early end the run.
		for j := int32(i) + 1; j < stop && p.timed[j].cost-q.cost < q.latency; j++ {
			if touches(&p.Deps[j], &p.Deps[i]) {
				stop = j
				break
			}
		}
		q.end = stop
	}
}

// issueCycles is how long one instruction takes the vector unit.
func issueCycles(spec *Spec, c Class, waveSize int) int {
	k := spec.Vector[c].Issue
	if c == ClassTrans {
		k = 1
	}
	if waveSize > spec.Lanes {
		k *= waveSize / spec.Lanes
	}
	return k
}

// touches reports whether j reads or overwrites what i writes.
func touches(j, i *state.Deps) bool {
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
