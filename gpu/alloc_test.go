package gpu

import (
	"testing"

	"github.com/nnsoc/nnsoc/gpu/internal/state"
	"github.com/nnsoc/nnsoc/internal/require"
)

// TestAllocations: in steady state a run allocates its report, and nothing by work-group, wave or instruction.
func TestAllocations(t *testing.T) {
	c := newCore(t, nil)
	k := kernelOf(t, 32, base+`v_lshlrev_b32 v1, 2, v0
		s_mov_b32 s6, 20
		loop:
		global_load_dword v2, v1, s[4:5]
		s_waitcnt vmcnt(0)
		v_add_f32 v3, v2, v2
		ds_write_b32 v1, v3
		s_barrier
		s_sub_u32 s6, s6, 1
		s_cmp_lg_u32 s6, 0
		s_cbranch_scc1 loop
		global_store_dword v1, v3, s[4:5]`)
	s, _ := space(t, 1<<16)
	for _, functional := range []bool{false, true} {
		run := func(groups int) float64 {
			d := []Dispatch{{Kernel: k, Grid: [3]int{64 * groups}, Workgroup: [3]int{64}, Kernarg: args(dataBase)}}
			return testing.AllocsPerRun(3, func() {
				if _, err := c.Run(s, d, Options{Functional: functional}); err != nil {
					t.Fatal(err)
				}
			})
		}
		run(500)
		few, many := run(1), run(500)
		if many != few || many > 200 {
			t.Errorf("functional %v: %.0f allocations for 500 work-groups, %.0f for one", functional, many, few)
		}
	}
}

// TestPooledWave: a wave reused from the pool behaves as a new one, whatever it ran before.
func TestPooledWave(t *testing.T) {
	for _, size := range []int{32, 64} {
		c := newCore(t, nil)
		s, _ := space(t, 64)
		k := kernelOf(t, size, "v_mov_b32 v9, 1")
		k.ScratchBytes = 30 // eight dwords a lane: one granule of a wave32, two of a wave64
		require.V(c.Run(s, []Dispatch{{Kernel: k, Grid: [3]int{64}, Workgroup: [3]int{64}}}, Options{executeTimed: true}))(t)
		m, g := c.state.m, &workgroup{}
		type kept struct {
			pc, undone, line int32
			at, id, lanes    int
			high             uint64
			pendingV         [4]uint64
			pendingS         [2]uint64
			flags            [4]bool
			queues           [3][3]int
			last             [3]int64
			vMax, sMax       int64
			vReady, sReady   [256]int64
			s                [state.NumSGPRs]uint32
			simd             *simd
			group            *workgroup
			first, inner     uint32
			scratch          int
			base             uint64  // of scratch
			stack            [2]byte // first and last
		}
		look := func(w *wave) (k kept) {
			k = kept{pc: w.PC, undone: w.undone, line: w.line, at: w.at, id: w.ID, lanes: w.Lanes, high: w.High, pendingV: w.PendingV, pendingS: w.PendingS,
				flags: [4]bool{w.dup, w.clear, w.done, w.atBarrier}, vMax: w.vMax, sMax: w.sMax, s: w.S, simd: w.simd, group: w.wg,
				first: w.Reg(0)[0], inner: w.Reg(9)[size-1], scratch: len(w.Scratch), base: w.ScratchBase, stack: [2]byte{w.Scratch[0], w.Scratch[32*size-1]}}
			for i, q := range []*queue{&w.vm, &w.vs, &w.lgkm} {
				k.queues[i], k.last[i] = [3]int{q.n, q.scalars}, q.last
			}
			copy(k.vReady[:m.p.k.VGPRs], w.vReady[:])
			copy(k.sReady[:state.SCC+1], w.sReady[:])
			return k
		}
		pool := m.waves
		m.waves = nil
		want := kept{pc: m.p.Entry, undone: m.p.Entry, line: -1, id: 3, lanes: size, high: uint64(size/64) * (0xFFFFFFFF << 32), group: g, scratch: 32 * size, base: state.ScratchWindow}
		if got := look(m.newWave(g, 3)); got != want {
			t.Errorf("wave%d: new\n%+v, want\n%+v", size, got, want)
		}
		w := pool[len(pool)-1]
		w.PC, w.undone, w.line, w.at, w.ID, w.Lanes, w.High = 7, 7, 7, 7, 7, 96-size, 7
		w.PendingV, w.PendingS = [4]uint64{1, 2, 4, 8}, [2]uint64{1, 2}
		w.Scratch[0], w.Scratch[32*size-1] = 7, 7
		w.dup, w.clear, w.done, w.atBarrier, w.vMax, w.sMax, w.simd = true, true, true, true, 7, 7, &m.simds[0]
		for _, q := range []*queue{&w.vm, &w.vs, &w.lgkm} {
			q.push(0, 0, true, state.Span{})
			q.scalars, q.last = 1, 9
		}
		for i := range w.regs {
			w.regs[i] = 9
		}
		for i := range w.vReady {
			w.vReady[i], w.sReady[i] = 9, 9
		}
		for i := range w.S {
			w.S[i] = 9
		}
		m.waves = []*wave{w}
		want.base += uint64(32 * size) // behind that of the wave before
		if got := m.newWave(g, 3); got != w || look(got) != want {
			t.Errorf("wave%d: from the pool\n%+v, want\n%+v", size, look(got), want)
		}
	}
}
