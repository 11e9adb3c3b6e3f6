package lower

import (
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/nn"
)

// TestTensorLimit: operands up to the largest that fits the arena are accepted, and refusals name the first larger one.
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
		l, got := New(nil, g, Machine{}, nil), ""
		l.view.Final = false
		if err := l.checkOperands(&g.Operations[0]); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%v to %v: %q, want %q", c.in, c.out, got, c.want)
		}
	}
}
