package gpu

// span is a range of registers, a vector register v or a scalar one.
type span struct {
	reg, n uint8
}

// deps are the registers an instruction reads and writes, for the scoreboard
// and the checker.
type deps struct {
	vr  [5]span
	sr  [6]span
	vw  span
	sw  [3]span // the destination, then VCC, EXEC or SCC written besides
	nvr uint8
	nsr uint8
	nsw uint8
	rel bool // M0 picks a register: any may be touched
}

func (d *deps) readV(s span) { d.vr[d.nvr] = s; d.nvr++ }

func (d *deps) readS(s span) { d.sr[d.nsr] = s; d.nsr++ }

func (d *deps) writeS(s span) { d.sw[d.nsw] = s; d.nsw++ }

// schedule finds the runs of vector instructions that issue without a stall
// when everything from before the run is ready.
func (p *program) schedule(spec *Spec) {
	n := len(p.uops)
	p.cost = make([]int32, n+1)
	p.end = make([]int32, n)
	for i := range p.uops {
		c := int32(1)
		if u := &p.uops[i]; u.unit <= unitTrans {
			c = int32(issueCycles(spec, u.class, p.k.WaveSize))
			p.latest = max(p.latest, int64(spec.Vector[u.class].Result))
		}
		p.cost[i+1] = p.cost[i] + c
	}
	p.touch = make([]touched, n)
	stop := int32(n)
	for i := n - 1; i >= 0; i-- {
		u := &p.uops[i]
		p.touch[i].add(&p.deps[i])
		if u.unit > unitTrans {
			stop = int32(i)
			p.end[i] = int32(i)
			continue
		}
		stop = min(stop, int32(i)+maxRun)
		if u.class == ClassTrans || writesExec(&p.deps[i]) || p.deps[i].rel {
			stop = int32(i) + 1
			p.end[i] = stop
			if u.class == ClassTrans || p.deps[i].rel {
				stop = int32(i)
			}
			continue
		}
		// Consumers of this result that come too early end the run.
		lat := int32(spec.Vector[u.class].Result)
		for j := int32(i) + 1; j < stop && p.cost[j]-p.cost[i] < lat; j++ {
			if touches(&p.deps[j], &p.deps[i]) {
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
					p.touch[i].add(&p.deps[j])
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

func writesExec(d *deps) bool {
	for _, s := range d.sw[:d.nsw] {
		if overlap(s, span{sEXEC, 2}) {
			return true
		}
	}
	return false
}

func overlap(a, b span) bool {
	return a.n > 0 && b.n > 0 && int(a.reg) < int(b.reg)+int(b.n) && int(b.reg) < int(a.reg)+int(a.n)
}

// touches reports whether j reads or overwrites what i writes.
func touches(j, i *deps) bool {
	for _, r := range j.vr[:j.nvr] {
		if overlap(r, i.vw) {
			return true
		}
	}
	if overlap(j.vw, i.vw) {
		return true
	}
	for _, w := range i.sw[:i.nsw] {
		for _, r := range j.sr[:j.nsr] {
			if overlap(r, w) {
				return true
			}
		}
		for _, r := range j.sw[:j.nsw] {
			if overlap(r, w) {
				return true
			}
		}
	}
	return false
}
