package gpu

import (
	"math/bits"

	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem/cache"
)

const never = int64(1) << 62

// ldsUnit is the port of one LDS.
type ldsUnit struct {
	free int64
	used int // bytes allocated
}

// cu is one compute unit.
type cu struct {
	id      int
	cluster int
	simds   []simd
	lds     *ldsUnit
	l0      *cache.Cache
	scalar  *cache.Cache
	icache  *cache.Cache
	gl1     *cache.Cache
	groups  int
	launch  int64 // when the next wave may start

	// The vector memory pipeline takes the lines of an instruction in order and
	// stands still while as many misses are in flight as L0 keeps track of.
	accept int64      // when it takes the next instruction
	hold   sim.Reason // what it stands still for
	at     int
	// Returns of the last misses, and who served them.
	flight     []sim.Time
	flightFrom []sim.Reason
}

// maxWaves bounds WavesPerSIMD.
const maxWaves = 32

// simd is one SIMD: its waves, oldest first, and when each unit is free.
type simd struct {
	cu     *cu
	waves  []*wave
	next   [maxWaves]int64 // of each wave: earliest issue by its own state
	unit   [maxWaves]unit  // and what it issues to
	barred int             // waves at a barrier
	free   [numUnits]int64
	rows   int // register rows in use
	cursor int64
	end    int64  // completion of the last store of a wave that ended
	cand   *int64 // earliest issue of any wave, beside those of the other SIMDs
	pick   int
	second int64 // a bound of the earliest issue of the waves but pick
	after  int   // which of them
	stalls sim.StallTable
}

// buildUnits makes the compute units.
func (m *State) buildUnits() {
	s := m.spec
	n := s.Clusters * s.CUsPerCluster
	m.cus = make([]cu, n)
	m.simds = make([]simd, n*s.SIMDsPerCU)
	m.cands = make([]int64, n*s.SIMDsPerCU)
	m.lds = make([]ldsUnit, n)
	m.fetch = make([][]int64, s.Clusters)
	for i := range m.simds {
		m.simds[i].waves = make([]*wave, 0, s.WavesPerSIMD)
	}
	for i := range m.cus {
		u, k := i, i/s.CUsPerCluster
		if s.LDSPerCluster {
			u = k
		}
		m.cus[i] = cu{
			id: i, cluster: k, simds: m.simds[i*s.SIMDsPerCU : (i+1)*s.SIMDsPerCU],
			lds: &m.lds[u], l0: m.h.l0[i], scalar: m.h.scalar[k], icache: m.h.icache[k], gl1: m.h.gl1,
			flight: make([]sim.Time, s.L0.MSHRs), flightFrom: make([]sim.Reason, s.L0.MSHRs),
		}
	}
}

// clearUnits returns the compute units to the beginning of a run.
func (m *State) clearUnits() {
	for i := range m.cus {
		c := &m.cus[i]
		c.groups, c.launch, c.accept, c.hold, c.at = 0, 0, 0, 0, 0
		clear(c.flight)
		clear(c.flightFrom)
	}
}

// issueVector times a global or scratch access.
func (m *State) issueVector(s *simd, w *wave, u *uop, pc int32, t int64) {
	s.free[unitVMEM] = t + m.halves(w)
	mask := w.mask()
	op := u.x.mem
	done, from := t+1, sim.StallL1
	if lds := mask & m.inLDS; lds != 0 {
		busy := m.conflictCycles(&m.addr, lds, op.size, w.n)
		done, from = m.ldsAccess(s.cu, t, busy), sim.StallScratchpad
		m.count[cntLDSCycles] += busy
		m.count[cntLDSBytes] += int64(op.size) * int64(bits.OnesCount64(lds))
		mask &^= lds
	}
	if mask != 0 {
		d, f := m.vectorAccess(s.cu, t, mask, op, w.n)
		if d > done {
			done, from = d, f
		}
	}
	m.inLDS, m.swizzled = 0, false
	q := &w.vm
	if op.store || op.atomic != nil && !op.ret {
		q = &w.vs
	}
	q.last = max(q.last, done)
	w.track(u, pc, q.last, from)
	if op.mode == memFlat {
		w.trackGeneric(u, pc, q.last, from)
	}
}

// ldsAccess takes the LDS for busy cycles from t on at the earliest and returns
// when the data is there.
func (m *State) ldsAccess(c *cu, t, busy int64) int64 {
	l := c.lds
	begin := max(t, l.free)
	l.free = begin + busy
	return begin + max(busy-1, 0) + int64(m.spec.LDSLatency)
}

// halves is how many cycles a wave takes on a unit of 32 lanes.
func (m *State) halves(w *wave) int64 { return int64(w.n / 32) }

func (m *State) issueLDS(s *simd, w *wave, u *uop, pc int32, t int64) {
	s.free[unitLDS] = t + m.halves(w)
	mask := w.mask()
	op := u.x.mem
	busy := int64(0)
	switch {
	case mask == 0:
	case op.mode != memPlain:
		busy = m.halves(w)
	default:
		busy = m.conflictCycles(&m.addr, mask, op.size, w.n)
		if op.two != 0 {
			busy += m.conflictCycles(&m.addr2, mask, op.size, w.n)
		}
		n := int64(op.size) * int64(bits.OnesCount64(mask))
		if op.two != 0 {
			n *= 2
		}
		m.count[cntLDSBytes] += n
		m.count[cntLDSCycles] += busy
	}
	done := m.ldsAccess(s.cu, t, busy)
	w.lgkm.last = max(w.lgkm.last, done)
	w.track(u, pc, w.lgkm.last, sim.StallScratchpad)
}
