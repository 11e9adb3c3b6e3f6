package tensor

import (
	"encoding/binary"
	"testing"

	"github.com/nnsoc/nnsoc/nn"
)

// TestSyntheticIndexes: inputs that index a table stay within it; others are
// any numbers.
func TestSyntheticIndexes(t *testing.T) {
	ints := nn.Operand{Type: nn.TensorInt32, Dimensions: []uint32{64}}
	g := nn.Subgraph{
		Operands: []nn.Operand{
			ints, ints, ints,
			{Type: nn.TensorFloat32, Dimensions: []uint32{2, 7}},
			{Type: nn.Int32, Lifetime: nn.ConstantCopy, Data: []byte{0xff, 0xff, 0xff, 0xff}}, // the last axis
			{Type: nn.TensorFloat32, Dimensions: []uint32{5, 2}},
			{Type: nn.TensorFloat32}, {Type: nn.TensorFloat32},
		},
		Inputs: []uint32{0, 1, 2},
		Operations: []nn.Operation{
			{Type: nn.OpGather, Inputs: []uint32{3, 4, 0}, Outputs: []uint32{6}},
			{Type: nn.OpEmbeddingLookup, Inputs: []uint32{1, 5}, Outputs: []uint32{7}},
		},
	}
	for i, bound := range []uint32{7, 5, 0} {
		seen := map[uint32]bool{}
		data := SyntheticInput(&g, i, 99)
		if len(data) != 4*64 {
			t.Fatalf("input %d: %d bytes", i, len(data))
		}
		for at := 0; at < len(data); at += 4 {
			v := binary.LittleEndian.Uint32(data[at:])
			if seen[v] = true; bound > 0 && v >= bound {
				t.Errorf("input %d: index %d of %d", i, v, bound)
			}
		}
		if n := len(seen); n < 5 || bound == 0 && n < 60 {
			t.Errorf("input %d: only %d different values", i, n)
		}
	}
}
