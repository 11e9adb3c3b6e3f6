package npudriver

import (
	"testing"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/testvectors/drivertest"
)

// TestReshapedConstant: an input that is a constant, as folding makes some,
// is a value like any other.
func TestReshapedConstant(t *testing.T) {
	q := func(l nn.Lifetime, dims ...uint32) nn.Operand {
		return nn.Operand{Type: nn.TensorQuant8Asymm, Scale: 0.5, ZeroPoint: 3, Dimensions: dims, Lifetime: l}
	}
	constant := q(nn.ConstantCopy, 2, 6)
	constant.Data = []byte{0, 1, 2, 3, 40, 50, 60, 70, 80, 90, 100, 255}
	shape := nn.Operand{Type: nn.TensorInt32, Dimensions: []uint32{2}, Lifetime: nn.ConstantCopy, Data: []byte{3, 0, 0, 0, 4, 0, 0, 0}}
	none := nn.Operand{Type: nn.Int32, Lifetime: nn.ConstantCopy, Data: make([]byte, 4)}
	m := &nn.Model{Main: nn.Subgraph{
		Operands: []nn.Operand{constant, shape, q(nn.SubgraphOutput, 3, 4), q(nn.SubgraphInput, 3, 4), none, q(nn.SubgraphOutput, 3, 4)},
		Operations: []nn.Operation{
			{Type: nn.OpReshape, Inputs: []uint32{0, 1}, Outputs: []uint32{2}},
			{Type: nn.OpAdd, Inputs: []uint32{2, 3, 4}, Outputs: []uint32{5}},
		},
		Inputs: []uint32{3}, Outputs: []uint32{2, 5},
	}}
	for _, d := range machines(t) {
		drivertest.Exact(t, d, m, [][]byte{{9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 200, 100}}, false)
	}
}
