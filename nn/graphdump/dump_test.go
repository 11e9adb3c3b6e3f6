package graphdump

import (
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
)

// TestScalarsInLabels: a scalar that two operations share is no node that ties them together.
func TestScalarsInLabels(t *testing.T) {
	tensor := func(l nn.Lifetime) nn.Operand {
		return nn.Operand{Type: nn.TensorFloat32, Dimensions: []uint32{2}, Lifetime: l}
	}
	m := &nn.Model{Main: nn.Subgraph{
		Operands: []nn.Operand{
			tensor(nn.SubgraphInput), tensor(nn.TemporaryVariable), tensor(nn.SubgraphOutput),
			{Type: nn.Int32, Lifetime: nn.ConstantCopy, Data: []byte{3, 0, 0, 0}},
		},
		Operations: []nn.Operation{
			{Type: nn.OpAdd, Inputs: []uint32{0, 0, 3}, Outputs: []uint32{1}},
			{Type: nn.OpMul, Inputs: []uint32{1, 1, 3}, Outputs: []uint32{2}},
		},
		Inputs: []uint32{0}, Outputs: []uint32{2},
	}}
	var b strings.Builder
	require.NoError(t, Write(&b, "shared", m))
	for _, want := range []string{`label="0: ADD\n[2] I32 = 3"`, `label="1: MUL\n[2] I32 = 3"`, "d0 -> n0", "n1 -> d2"} {
		require.Check(t, strings.Contains(b.String(), want), "no %s in\n%s", want, b.String())
	}
	require.Check(t, !strings.Contains(b.String(), "d3"), "the scalar is a node:\n%s", b.String())
}
