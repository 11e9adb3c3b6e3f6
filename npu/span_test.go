package npu

import (
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/isa/ethosu"
	"github.com/nnsoc/nnsoc/sim"
)

// TestSpansNest: concurrent kernels are on separate tracks, since no viewer draws spans that cross.
func TestSpansNest(t *testing.T) {
	kernels, overlaps := 0, 0
	for _, name := range []string{"pixel4", "ethos-u55-128", "ethos-u65-512"} {
		c := mustCore(t, name)
		m := newMachine(c.Spec(), 1)
		for i := range 6 { // none reads the output of another
			l := conv(8, 8, 16, 16, 1, 1)
			l.in, l.ofm = i*8192, i*8192+4096
			m.emit(t, l)
		}
		p := m.program(t)
		p.Commands = replace(t, p.Commands, ethosu.SetBlockDep, 3, 0)
		spans := map[string][]sim.Span{}
		var all []sim.Span
		require.V(c.Run(p, &Regions{m.flash, make([]byte, 1<<17)}, Options{Span: func(s sim.Span) {
			for _, o := range spans[s.Track] {
				if o.Start < s.Start && s.Start < o.End && o.End < s.End {
					t.Errorf("%s: %s crosses %v to %v", name, s.Track, o, s)
				}
			}
			spans[s.Track] = append(spans[s.Track], s)
			if s.Track != "dma" {
				kernels++
				for _, o := range all {
					if s.Start < o.End {
						overlaps++
					}
				}
				all = append(all, s)
			}
		}}))(t)
	}
	if kernels != 18 || overlaps == 0 {
		t.Errorf("%d kernels, %d of them at a time", kernels, overlaps)
	}
}
