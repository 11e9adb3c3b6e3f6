package exec

import (
	"testing"

	"github.com/nnsoc/nnsoc/gpu/internal/state"
)

// TestRelativeRegisters: M0 may pick each register that the kernel has and that no load is under way to.
func TestRelativeRegisters(t *testing.T) {
	const base = 3
	for _, lanes := range []int{32, 64} {
		for _, pending := range []int{0, 1, 63, 64, 127, 130, 200, 249} {
			var m state.Machine
			m.Program = &state.Program{VGPRs: 250}
			w := state.Wave{Machine: &m, Lanes: lanes}
			w.PendingV[pending/64] = 1 << (pending % 64)
			for r := base; r < 256; r++ {
				m.Err = nil
				at, ok := relative(&w, uint32(base*lanes), uint32(r-base))
				if want := r < 250 && r != pending; ok != want || ok && at != uint32(r*lanes) || (m.Err == nil) != want {
					t.Errorf("%d lanes, v%d under way: v%d is picked at %d: %v, %v", lanes, pending, r, at, ok, m.Err)
				}
			}
		}
	}
}
