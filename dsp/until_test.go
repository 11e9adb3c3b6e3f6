package dsp

import (
	"errors"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// TestUntil: a run ends at the instant that its options say, after no more packets than its threads can issue until then, of one
// thread, which runs in a loop of its own, and of several. One that ends before is not changed.
func TestUntil(t *testing.T) {
	c := testCore(t)
	const until = 20 * sim.Microsecond
	cycles := sim.Clock{Hz: c.Spec().ClockHz}.Cycle(until)
	endless := assemble(t, codeBase, "again:\n{ r1 = add(r1,#1) }\n{ p0 = tstbit(r1,#1) }\n{ if (p0) jump:t more }\n{ r2 = add(r2,#1) ; r3 = r2 }\n{ jump again }\nmore:\n{ r4 = r1 }\n{ jump again }\n")
	for _, threads := range []int{1, 2, 4} {
		_, err := c.Run(endless, new(mem.Space), []Job{{Entry: codeBase, Threads: threads}}, Options{Until: until, MaxPackets: 2*cycles + 1000})
		if late := (*sim.Late)(nil); !errors.As(err, &late) || late.At != until {
			t.Errorf("%d threads: %v", threads, err)
		}
	}
	ends := assemble(t, codeBase, "{ r1 = #100 }\nagain:\n{ r1 = add(r1,#-1) }\n{ p0 = cmp.gt(r1,#0) }\n{ if (p0) jump:t again }\n{ jumpr r31 }\n")
	var took [2]int64
	for i, end := range []sim.Time{0, sim.Second} {
		rep, err := c.Run(ends, new(mem.Space), []Job{{Entry: codeBase, Threads: 1}}, Options{Until: end})
		require.NoError(t, err)
		took[i] = rep.Cycles
	}
	if took[0] != took[1] || took[0] == 0 {
		t.Errorf("%d cycles", took)
	}
}
