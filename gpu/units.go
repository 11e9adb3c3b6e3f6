package gpu

import (
	"math/bits"

	"github.com/nnsoc/nnsoc/gpu/internal/state"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem/cache"
)

const never = int64(1) << (62 - simdBits)

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
	groups  int   // resident that need a barrier
	launch  int64 // when the next wave may start

	// The vector memory pipeline processes the lines of an instruction in order and stalls while as many misses are in
	// flight as L0 can track.
	accept      int64      // when it accepts the next instruction
	acceptStall sim.Reason // reason of its stall
	at          int
	flight      []miss // the last ones
}

// miss is a miss of L0 under way.
type miss struct {
	at   sim.Time   // of its return
	from sim.Reason // who serves it
}

// maxWaves bounds WavesPerSIMD; unitSlots are the units and more, a power of two, so that no index needs a check.
const (
	maxWaves  = 1 << waveBits
	unitSlots = 16
)

// simd is one SIMD: its waves, oldest first, and when each unit is free.
type simd struct {
	cu     *cu
	cand   *int64 // earliest issue of any wave, kept beside those of the other SIMDs
	pick   int    // its number
	second int64  // a bound of the earliest issue of the other waves, shifted by waveBits, and the number of that wave
	cursor int64
	barred int // waves at a barrier
	waves  []*wave
	unit   [maxWaves]state.Unit // that each wave issues to
	next   [maxWaves]int64      // and when at the earliest, by its own state
	free   [unitSlots]int64
	stalls sim.StallTable
	id     int
	rows   int   // register rows in use
	end    int64 // completion of the last store of a wave that ended

	grid    *grid // whose waves the stalls from mark on are charged to
	mark    sim.StallTable
	profile []sim.StallTable // by operation, and those of none; nil: no profile
}

// buildUnits makes the compute units.
func (m *machine) buildUnits() {
	s := m.spec
	n := s.Clusters * s.CUsPerCluster
	m.cus = make([]cu, n)
	m.simds = make([]simd, n*s.SIMDsPerCU)
	m.cands = make([]int64, n*s.SIMDsPerCU)
	m.lds = make([]ldsUnit, n)
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
			flight: make([]miss, s.L0.MSHRs),
		}
	}
}

// clearUnits returns the compute units to the beginning of a run.
func (m *machine) clearUnits() {
	for i := range m.cus {
		c := &m.cus[i]
		c.groups, c.launch, c.accept, c.acceptStall, c.at = 0, 0, 0, 0, 0
		clear(c.flight)
	}
}

// issueVector times a global or scratch access.
func (m *machine) issueVector(s *simd, w *wave, u *state.Op, pc int32, t int64) {
	s.free[state.UnitVMEM] = t + m.halves(w)
	mask := w.Exec()
	op := u.Details.Access
	done, from := t+1, sim.StallL1
	if lds := mask & m.InLDS; lds != 0 {
		busy := m.conflictCycles(&m.Addr, lds, op.Size, w.Lanes)
		done, from = m.ldsAccess(w.wg.cu, t, busy), sim.StallScratchpad
		m.count[cntLDSCycles] += busy
		m.count[cntLDSBytes] += int64(op.Size) * int64(bits.OnesCount64(lds))
		mask &^= lds
	}
	if mask != 0 {
		port := m.touchLines(mask, op, w.Lanes)
		kind := toLoad
		if op.Store {
			kind = toStore
		} else if op.Atomic != nil {
			kind = toModify
		}
		d, f := vectorAccess(m, s.cu, t, 0, m.lines, kind, op.Size*bits.OnesCount64(mask), port)
		if d > done {
			done, from = d, f
		}
	}
	m.Block, m.InLDS, m.Swizzled = 0, 0, false
	q := &w.vm
	if op.Store || op.Atomic != nil && !op.Returns {
		q = &w.vs
	}
	q.last = max(q.last, done)
	w.track(u, pc, q.last, from)
	if op.Mode == state.AccessFlat {
		w.trackGeneric(u, pc, q.last, from)
	}
}

// ldsAccess occupies the LDS for busy cycles, from t on at the earliest, and returns when the data is there.
func (m *machine) ldsAccess(c *cu, t, busy int64) int64 {
	l := c.lds
	begin := max(t, l.free)
	l.free = begin + busy
	return begin + max(busy-1, 0) + int64(m.spec.LDSLatency)
}

// halves is the number of cycles of a wave on a unit of 32 lanes.
func (m *machine) halves(w *wave) int64 { return int64(w.Lanes / 32) }

// issueLDS times an access that occupies LDS for busy cycles and moves n bytes.
func (m *machine) issueLDS(s *simd, w *wave, u *state.Op, pc int32, t, busy, n int64) {
	s.free[state.UnitLDS] = t + m.halves(w)
	if n > 0 {
		m.count[cntLDSBytes] += n
		m.count[cntLDSCycles] += busy
	}
	done := m.ldsAccess(w.wg.cu, t, busy)
	w.lgkm.last = max(w.lgkm.last, done)
	w.track(u, pc, w.lgkm.last, sim.StallScratchpad)
}

// ldsUse is for how many cycles the executed instruction occupies LDS, and how many bytes it moves.
func (m *machine) ldsUse(w *wave, op *state.Access) (busy, n int64) {
	mask := w.Exec()
	switch {
	case mask == 0:
		return 0, 0
	case op.Mode != state.AccessPlain:
		return m.halves(w), 0
	}
	busy = m.conflictCycles(&m.Addr, mask, op.Size, w.Lanes)
	n = int64(op.Size) * int64(bits.OnesCount64(mask))
	if op.Pair != 0 {
		busy += m.conflictCycles(&m.Addr2, mask, op.Size, w.Lanes)
		n *= 2
	}
	return max(busy, (n+int64(m.spec.LDSRate)-1)/int64(m.spec.LDSRate)), n
}
