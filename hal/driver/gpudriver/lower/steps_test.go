package lower

import (
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/testvectors/legaltest"
)

// TestSteps: steps say what their kernels read and write.
func TestSteps(t *testing.T) {
	tiles := kernel.Machine{Clusters: 2, WaveLanes: 32, NearestBytes: 16 << 10, NearestRate: 64, ScalarLine: 64, Rows: 384, CUs: 6, SIMDs: 4, AddressLanes: 64, BroadcastLanes: 64, Line: 64,
		L2Rate: 128, Near: 47, Scalar: 30, Local: 22, LocalBytes: 16 << 10, DotCycles: 1}
	constant := func(x *layout.Tensor) bool { return x.Region == layout.Consts }
	n := 0
	operations := legaltest.Steps(t, 12, Table().Passes, constant, func(g *graph.Graph) (l legaltest.Lowered[layout.Tensor], err error) {
		n++
		list, err := Graph(g, Machine{Texels: n%2 == 0, Tile: tiles}, nil)
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

// TestTensorLimit: operands up to the largest that the arena has room for are taken, and refusals name the first other.
func TestTensorLimit(t *testing.T) {
	for _, c := range []struct {
		in, out []uint32
		typ     nn.OperandType
		want    string
	}{
		{[]uint32{maxTensorBytes / 4}, []uint32{maxTensorBytes / 4}, nn.TensorFloat32, ""},
		{[]uint32{2, maxTensorBytes / 8}, []uint32{2, maxTensorBytes / 8}, nn.TensorFloat32, ""},
		{[]uint32{maxTensorBytes/2 + 1}, []uint32{maxTensorBytes/2 + 1}, nn.TensorFloat16, "operand 0 has the shape [268435457]; at most 512 MiB"},
		{[]uint32{1}, []uint32{maxTensorBytes/4 + 1}, nn.TensorFloat32, "operand 1 has the shape [134217729]; at most 512 MiB"},
		{[]uint32{0, 7}, []uint32{1, 7}, nn.TensorFloat32, "operand 0 has the shape [0 7]; " + knownShape.Text},
	} {
		x, y := nn.Operand{Type: c.typ, Dimensions: c.in, Lifetime: nn.SubgraphInput}, nn.Operand{Type: c.typ, Dimensions: c.out, Lifetime: nn.SubgraphOutput}
		g := graph.FromSubgraph(&nn.Subgraph{Operands: []nn.Operand{x, y}, Operations: []nn.Operation{{Type: nn.OpRelu, Inputs: []uint32{0}, Outputs: []uint32{1}}},
			Inputs: []uint32{0}, Outputs: []uint32{1}})
		l, got := New(g, Machine{}, nil), ""
		l.view.Final = false
		if err := l.checkOperands(&g.Operations[0]); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%v to %v: %q, want %q", c.in, c.out, got, c.want)
		}
	}
}
