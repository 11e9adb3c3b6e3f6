package family

import (
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/lower"
	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/testvectors/legaltest"
)

// TestSteps: steps list the tensors that their kernels read and write.
func TestSteps(t *testing.T) {
	tiles := kernel.Machine{Clusters: 2, WaveLanes: 32, NearestBytes: 16 << 10, NearestRate: 64, ScalarLine: 64, Rows: 384, CUs: 6, SIMDs: 4, AddressLanes: 64, BroadcastLanes: 64, Line: 64,
		L2Rate: 128, L2Latency: 47, ScalarLatency: 30, DotCycles: 1}
	constant := func(x *layout.Tensor) bool { return x.Region == layout.Consts }
	n := 0
	operations := legaltest.Steps(t, 12, Table().Passes, constant, func(g *graph.Graph) (l legaltest.Lowered[layout.Tensor], err error) {
		n++
		list, err := lower.Graph(Table(), g, lower.Machine{Texels: n%2 == 0, Tile: tiles}, nil)
		if err != nil {
			return l, err
		}
		l.Inputs, l.Outputs = list.Inputs, list.Outputs
		for _, s := range list.Steps {
			l.Steps = append(l.Steps, legaltest.Step[layout.Tensor]{Work: s.Kernel, Reads: s.Reads, Writes: s.Writes})
		}
		return l, nil
	})
	if operations < 90 {
		t.Errorf("%d operations are lowered", operations)
	}
}
