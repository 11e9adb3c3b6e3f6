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

// TestSyntheticFlow follows indices through a composition for negative ones and a new shape: a table of 7 rows.
func TestSyntheticFlow(t *testing.T) {
	ints, truths := nn.Operand{Type: nn.TensorInt32, Dimensions: []uint32{64}}, nn.Operand{Type: nn.TensorBool8, Dimensions: []uint32{64}}
	constant := func(words ...uint32) nn.Operand {
		o := nn.Operand{Type: nn.TensorInt32, Lifetime: nn.ConstantCopy, Dimensions: []uint32{uint32(len(words))}}
		for _, w := range words {
			o.Data = binary.LittleEndian.AppendUint32(o.Data, w)
		}
		return o
	}
	scalar := nn.Operand{Type: nn.Int32, Lifetime: nn.ConstantCopy, Data: make([]byte, 4)}
	g := nn.Subgraph{
		Operands: []nn.Operand{
			0: ints, 1: constant(0), 2: truths, 3: constant(1), 4: ints, 5: constant(7), 6: ints, 7: ints, 8: scalar,
			9: constant(8, 8), 10: {Type: nn.TensorInt32, Dimensions: []uint32{8, 8}}, 11: {Type: nn.TensorFloat32, Dimensions: []uint32{7, 2}}, 12: {Type: nn.TensorFloat32},
		},
		Inputs: []uint32{0},
		Operations: []nn.Operation{
			{Type: nn.OpLess, Inputs: []uint32{0, 1}, Outputs: []uint32{2}},
			{Type: nn.OpSelect, Inputs: []uint32{2, 3, 1}, Outputs: []uint32{4}},
			{Type: nn.OpMul, Inputs: []uint32{4, 5, 8}, Outputs: []uint32{6}},
			{Type: nn.OpAdd, Inputs: []uint32{0, 6, 8}, Outputs: []uint32{7}},
			{Type: nn.OpReshape, Inputs: []uint32{7, 9}, Outputs: []uint32{10}},
			{Type: nn.OpGather, Inputs: []uint32{11, 8, 10}, Outputs: []uint32{12}},
		},
	}
	data := SyntheticInput(&g, 0, 99)
	for at := 0; at < len(data); at += 4 {
		if v := binary.LittleEndian.Uint32(data[at:]); v >= 7 {
			t.Fatalf("index %d of 7", v)
		}
	}
}
