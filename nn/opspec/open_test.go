package opspec

import (
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
)

// TestCheckOpen: results that values make larger than MaxOpenBytes are refused, not those that are as large because the
// inputs' shapes are, or because the inputs take as much.
func TestCheckOpen(t *testing.T) {
	for _, c := range []struct {
		name     string
		lifetime nn.Lifetime // of the multiples
		bytes    int         // of the input
		ok       bool
	}{
		{"multiples of the execution", nn.SubgraphInput, 8, false},
		{"multiples of the model", nn.ConstantCopy, 8, true},
		{"an input of that size", nn.SubgraphInput, 1 << 28, true},
	} {
		multiples := []byte{0, 0, 0, 8} // 2^27
		v := View{Bound: true, Table: Standard(), Operands: []nn.Operand{
			{Type: nn.TensorQuant8Asymm, Scale: 1, Dimensions: []uint32{2}, Lifetime: nn.SubgraphInput, Data: make([]byte, 2)},
			{Type: nn.TensorInt32, Dimensions: []uint32{1}, Lifetime: c.lifetime, Data: multiples},
			{Type: nn.TensorQuant8Asymm, Scale: 1, Dimensions: []uint32{0}, Lifetime: nn.SubgraphOutput},
		}}
		op := &nn.Operation{Type: nn.OpTile, Inputs: []uint32{0, 1}, Outputs: []uint32{2}}
		dims := require.V(v.OutputDims(op))(t, c.name)
		if c.bytes > 8 {
			v.Operands[0].Data = make([]byte, c.bytes)
		}
		err := v.CheckOpen(op, dims)
		require.Check(t, (err == nil) == c.ok, "%s: %v", c.name, err)
		if !c.ok {
			require.ErrorContains(t, err, "TILE: output 0 (operand 2): an open shape [268435456] of TENSOR_QUANT8_ASYMM has 268435456 bytes: values of the execution may give at most 134217728")
		}
	}
	require.ErrorContains(t, CheckOpenShape(nn.TensorFloat32, []uint32{1 << 20, 1 << 20}, 0), "is too large: values of the execution may give at most 134217728 bytes")
}
