package family

import (
	"testing"

	"github.com/nnsoc/nnsoc/dsp"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/lower"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/plan"
	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/soc"
	"github.com/nnsoc/nnsoc/testvectors/legaltest"
)

// TestSteps: steps list the tensors that their work reads and writes.
func TestSteps(t *testing.T) {
	c := require.V(soc.Load("pixel4"))(t)
	spec := require.V(dsp.FromSoC(c, sim.FastSingleAnswer))(t)
	kernels := &hvx.Cache{}
	constant := func(x *layout.Tensor) bool { return x.Unplaced }
	operations := legaltest.Steps(t, 6, Table().Passes, constant, func(g *graph.Graph) (l legaltest.Lowered[layout.Tensor], err error) {
		list, err := lower.Graph(All(), g, plan.NewObject(&spec, kernels), nil)
		if err != nil {
			return l, err
		}
		l.Inputs, l.Outputs = list.Inputs, list.Outputs
		for _, s := range list.Steps {
			l.Steps = append(l.Steps, legaltest.Step[layout.Tensor]{Work: s.Work, Reads: s.Reads, Writes: s.Writes})
		}
		return l, nil
	})
	if operations < 70 {
		t.Errorf("%d operations are lowered", operations)
	}
}
