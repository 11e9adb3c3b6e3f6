package gpu

import (
	"fmt"

	"github.com/nnsoc/nnsoc/gpu/internal/state"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// grid is a dispatch under way.
type grid struct {
	p          *program
	d          *Dispatch
	size       [3]int // work-groups
	next       int64  // work-group to place
	total      int64
	running    int64  // work-groups resident
	packet     uint64 // its address; the arguments follow
	code       mem.Segment
	scratch    uint64 // of its first wave in the window
	slots      []bool // scratch slots in use
	executions []executions

	half       int64     // issue cycles of one wave on a SIMD
	fetch      [][]int64 // per cluster: cycle at which each code line is there, 0 unknown
	ready      int64     // when its work-groups may start, never: it waits for a barrier
	offered    bool      // to all compute units
	end        int64     // of its waves
	waveCycles int64     // of its waves that have ended
	moved      traffic   // for its waves, not charged yet

	shares   []sim.StallTable   // by SIMD: while its waves issue
	profiles [][]sim.StallTable // by SIMD and operation, the last row of none
	accesses []memoryEnergy     // of each operation
}

// executions is how many more executions and active lanes an operation has than the one before it.
type executions struct{ visits, lanes int64 }

// newGrid prepares a dispatch.
func (m *executor) newGrid(d *Dispatch) error {
	if d.Kernel == nil {
		return fmt.Errorf("gpu: dispatch without a kernel")
	}
	n := len(m.grids)
	if n == len(m.spare) {
		m.spare = append(m.spare, &grid{})
	}
	g := m.spare[n]
	m.grids = append(m.grids, g)
	var err error
	if g.p, err = d.Kernel.program(m.spec); err != nil {
		return err
	}
	g.d = d
	if err := m.shape(g); err != nil {
		return fmt.Errorf("gpu: kernel %s: %w", d.Kernel.Name, err)
	}
	g.next, g.running = 0, 0
	g.code = mem.Segment{Name: "code", Base: m.codeAt(d.Kernel), Data: d.Kernel.Code, ReadOnly: true}
	g.executions = resized(g.executions, len(g.p.Ops)+1)
	clear(g.slots)
	g.scratch = 0
	if n > 0 {
		before := m.grids[n-1]
		g.scratch = before.scratch + uint64(before.window(m.spec))
	}
	if at := g.scratch + uint64(g.window(m.spec)); n > 0 && at > state.ScratchBytes {
		return fmt.Errorf("gpu: kernel %s: %d bytes of scratch for dispatches beside each other, at most %d", d.Kernel.Name, at, uint64(state.ScratchBytes))
	}
	return nil
}

// window is the scratch of all waves that can be resident.
func (g *grid) window(s *Spec) int {
	return s.Clusters * s.CUsPerCluster * s.SIMDsPerCU * s.WavesPerSIMD * scratchOf(4*g.p.k.scratchDwords()*g.p.k.WaveSize)
}

// begun makes a dispatch the one whose instructions execute.
func (m *executor) begun(g *grid) {
	m.grid = g
	m.timed = g.p.Timed
	m.Machine.Program, m.CodeBase, m.Code = &g.p.Program, g.code.Base, g.code
}

// shape checks the grid and counts work-groups.
func (m *executor) shape(g *grid) error {
	p, d := g.p, g.d
	items := 1
	total := int64(1)
	for i := range 3 {
		n, w := max(d.Grid[i], 1), max(d.Workgroup[i], 1)
		if d.Grid[i] < 0 || d.Workgroup[i] < 0 || n > 1<<31-1 || w > m.spec.MaxWorkgroup {
			return fmt.Errorf("grid %v, work-group %v: out of range", d.Grid, d.Workgroup)
		}
		items *= w
		g.size[i] = (n + w - 1) / w
		if total > 1<<40/int64(g.size[i]) {
			return fmt.Errorf("grid %v: too many work-groups", d.Grid)
		}
		total *= int64(g.size[i])
	}
	if items > m.spec.MaxWorkgroup {
		return fmt.Errorf("work-group of %d work-items, at most %d on this machine", items, m.spec.MaxWorkgroup)
	}
	waves := (items + p.k.WaveSize - 1) / p.k.WaveSize
	rows := rowsOf(m.spec, p.k)
	perSIMD := min(m.spec.WavesPerSIMD, m.spec.VGPRRows/rows)
	simds, where := m.spec.SIMDsPerCU, "compute unit"
	if p.k.WGP {
		simds, where = simds*m.spec.CUsPerCluster, "cluster"
	}
	if waves > perSIMD*simds {
		return fmt.Errorf("work-group of %d waves with %d registers does not fit a %s", waves, p.k.VGPRs, where)
	}
	g.total = total
	return nil
}

// rowsOf is the number of vector register rows that one wave occupies.
func rowsOf(s *Spec, k *Kernel) int {
	g := s.VGPRGranule
	if k.WaveSize == 64 {
		g = max(g/2, 1)
	}
	return (max(k.VGPRs, k.Registers) + g - 1) / g * g * (k.WaveSize / 32)
}

// codeBase is the address of a kernel that names none, during a run.
type codeBase struct {
	kernel *Kernel
	base   uint64
}

// codeAt is the address of a kernel's code: its own, or the next free one in the order in which the run reaches its
// kernels.
func (m *executor) codeAt(k *Kernel) uint64 {
	if k.Base != 0 {
		return k.Base
	}
	next := uint64(state.CodeWindow)
	for i := range m.bases {
		b := &m.bases[i]
		if b.kernel == k {
			return b.base
		}
		next = b.base + uint64(len(b.kernel.Code)+4095)&^4095
	}
	m.bases = append(m.bases, codeBase{k, next})
	return next
}
