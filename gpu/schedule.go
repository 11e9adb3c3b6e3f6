package gpu

import "github.com/nnsoc/nnsoc/gpu/internal/state"

// maxRun is how many instructions one vector run may have.
const maxRun = 64

// schedule finds the runs of vector instructions that issue without a stall
// when everything from before the run is ready.
func (p *program) schedule(spec *Spec) {
	n := len(p.Ops)
	p.cost = make([]int32, n+1)
	p.end = make([]int32, n)
	for i := range p.Ops {
		c := int32(1)
		if u := &p.Ops[i]; u.Unit <= state.UnitTrans {
			c = int32(issueCycles(spec, u.Class, p.k.WaveSize))
			p.latest = max(p.latest, int64(spec.Vector[u.Class].Result))
		}
		p.cost[i+1] = p.cost[i] + c
	}
	p.touch = make([]touched, n)
	stop := int32(n)
	for i := n - 1; i >= 0; i-- {
		u := &p.Ops[i]
		p.touch[i].add(&p.Deps[i])
		if u.Unit > state.UnitTrans {
			stop = int32(i)
			p.end[i] = int32(i)
			continue
		}
		stop = min(stop, int32(i)+maxRun)
		if u.Class == ClassTrans || p.Deps[i].WritesExec() || p.Deps[i].Relative {
			stop = int32(i) + 1
			p.end[i] = stop
			if u.Class == ClassTrans || p.Deps[i].Relative {
				stop = int32(i)
			}
			continue
		}
		// Consumers of this result that come too early end the run.
		lat := int32(spec.Vector[u.Class].Result)
		for j := int32(i) + 1; j < stop && p.cost[j]-p.cost[i] < lat; j++ {
			if touches(&p.Deps[j], &p.Deps[i]) {
				stop = j
				break
			}
		}
		p.end[i] = stop
		if i+1 < int(stop) {
			if p.end[i+1] == stop {
				p.touch[i].union(&p.touch[i+1])
			} else {
				for j := int32(i) + 1; j < stop; j++ {
					p.touch[i].add(&p.Deps[j])
				}
			}
		}
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
