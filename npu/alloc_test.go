package npu

import (
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

// TestAllocations: a run on a state that has run before allocates its report, which has a few values per operation,
// and the arithmetic of its kernels nothing.
func TestAllocations(t *testing.T) {
	c := mustCore(t, "pixel4")
	p, r := mobilenet(t, c.Spec())
	st := require.V(c.NewState(nil))(t)
	allocations := func(o Options) float64 {
		o.State = st
		return testing.AllocsPerRun(2, func() {
			require.V(c.Run(p, r, o))(t)
		})
	}
	timing, all, functional := allocations(Options{TimingOnly: true}), allocations(Options{}), allocations(Options{Functional: true})
	if all != timing {
		t.Errorf("%v allocations, %v where kernels compute nothing", all, timing)
	}
	rep := require.V(c.Run(p, r, Options{State: st, TimingOnly: true}))(t)
	const fixed, each = 8, 2 // of the report, of each of its regions
	if most := float64(fixed + each*len(rep.Regions)); timing > most || functional > fixed {
		t.Errorf("%v allocations for %d operations, functional %v", timing, len(rep.Regions), functional)
	}
	t.Logf("%v allocations for %d operations, functional %v", timing, len(rep.Regions), functional)
}
