package exec

import (
	"testing"

	"github.com/nnsoc/nnsoc/gpu/internal/state"
)

// TestRelativeRegisters: M0 picks each register that the kernel has and that no load is under way to, v0 beyond
// them. The number of a register wraps at 32 bits.
func TestRelativeRegisters(t *testing.T) {
	const base = 3
	for _, lanes := range []int{32, 64} {
		for _, pending := range []int{0, 1, 63, 64, 127, 130, 200, 249} {
			var m state.Machine
			m.Program = &state.Program{VGPRs: 250}
			w := state.Wave{Machine: &m, Lanes: lanes}
			w.PendingV[pending/64] = 1 << (pending % 64)
			for r := range 256 {
				m.Err = nil
				at, exists, ok := relative(&w, uint32(base*lanes), uint32(r-base))
				want := r
				if r >= 250 {
					want = 0
				}
				if free := want != pending; ok != free || ok && at != uint32(want*lanes) || exists != (r < 250) || (m.Err == nil) != free {
					t.Errorf("%d lanes, v%d under way: v%d is picked at %d: %v, %v, %v", lanes, pending, r, at, exists, ok, m.Err)
				}
			}
		}
	}
}
