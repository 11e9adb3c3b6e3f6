package dsp

import (
	"encoding/binary"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

// TestGEMM checks a product against plain arithmetic, functional and timed, and the invariants of a report.
func TestGEMM(t *testing.T) {
	c := testCore(t)
	for _, threads := range []int{1, 2, 3, 4} {
		for _, functional := range []bool{true, false} {
			g := newGEMM(t, 256, 16, 64, threads)
			rep := require.V(c.Run(g.prog, g.space, g.jobs, Options{Functional: functional}))(t)
			for n := range 16 {
				for p := range 256 {
					// 16 vectors per job: channel-major, four vectors of 32 positions each
					job := (n/4)*2 + p/128
					o := ((n/4*4)*256+p/128*512)*4 + (n%4*4+p%128/32)*128 + p%32*4
					if got := int32(binary.LittleEndian.Uint32(g.out[o:])); got != g.want(p, n) {
						t.Fatalf("threads %d functional %v job %d: channel %d position %d: %d, want %d", threads, functional, job, n, p, got, g.want(p, n))
					}
				}
			}
			if functional {
				continue
			}
			if rep.Stalls.Total() != rep.Cycles || rep.Cycles == 0 {
				t.Errorf("stalls %d, cycles %d", rep.Stalls.Total(), rep.Cycles)
			}
			t.Logf("threads %d: %d cycles %v, %.0f pJ %v", threads, rep.Cycles, rep.Stalls, rep.EnergyPJ, rep.Counters)
		}
	}
}
