package gpu

import (
	"math/bits"

	"github.com/nnsoc/nnsoc/gpu/internal/state"
	"github.com/nnsoc/nnsoc/sim"
)

const never = int64(1) << (62 - simdBits)

// cu is one compute unit.
type cu struct {
	id      int
	cluster int
	simds   []simd
	groups  int   // resident that need a barrier
	launch  int64 // when the next wave may start
	port
}

// waveBits is the width of the number of a wave of a SIMD.
const waveBits = 5

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
	m.agenda.cands = make([]int64, n*s.SIMDsPerCU)
	for i := range m.simds {
		m.simds[i].waves = make([]*wave, 0, s.WavesPerSIMD)
	}
	for i := range m.cus {
		m.cus[i] = cu{id: i, cluster: i / s.CUsPerCluster, simds: m.simds[i*s.SIMDsPerCU : (i+1)*s.SIMDsPerCU], port: m.h.port(i)}
	}
}

// clearUnits returns the compute units to the beginning of a run.
func (m *machine) clearUnits() {
	for i := range m.cus {
		c := &m.cus[i]
		c.groups, c.launch = 0, 0
		c.port.begin()
	}
}

// issueVector times a global or scratch access.
func (m *machine) issueVector(s *simd, w *wave, u *state.Op, pc int32, t int64) {
	s.free[state.UnitVMEM] = t + halves(w)
	mask := w.Exec()
	op := u.Details.Access
	done, from := t+1, sim.StallL1
	if lds := mask & m.InLDS; lds != 0 {
		busy := m.lanes.conflictCycles(&m.Addr, lds, op.Size, w.Lanes)
		done, from = m.h.accessLDS(&w.wg.cu.port, t, busy, int64(op.Size)*int64(bits.OnesCount64(lds))), sim.StallScratchpad
		mask &^= lds
	}
	if mask != 0 {
		port := m.lanes.touchLines(mask, op, w.Lanes)
		kind := toLoad
		if op.Store {
			kind = toStore
		} else if op.Atomic != nil {
			kind = toModify
		}
		d, f := vectorAccess(m.h, &s.cu.port, t, 0, m.lanes.lines, kind, op.Size*bits.OnesCount64(mask), port)
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

// halves is the number of cycles of a wave on a unit of 32 lanes.
func halves(w *wave) int64 { return int64(w.Lanes / 32) }

// issueLDS times an access that occupies LDS for busy cycles and moves n bytes.
func (m *machine) issueLDS(s *simd, w *wave, u *state.Op, pc int32, t, busy, n int64) {
	s.free[state.UnitLDS] = t + halves(w)
	done := m.h.accessLDS(&w.wg.cu.port, t, busy, n)
	w.lgkm.last = max(w.lgkm.last, done)
	w.track(u, pc, w.lgkm.last, sim.StallScratchpad)
}
