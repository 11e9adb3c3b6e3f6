package refcpu

import (
	"encoding/binary"
	"math"
	"runtime"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
)

// words are INT32 values, or FLOAT32 where they are floats.
func words(v ...any) (b []byte) {
	for _, x := range v {
		switch x := x.(type) {
		case int:
			b = binary.LittleEndian.AppendUint32(b, uint32(int32(x)))
		case float32:
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
		}
	}
	return b
}

// TestOpenShapesAreBounded: where values of an execution say how large a result is, too large a one is an error that
// names the bound, before memory is allocated and before anything is computed.
func TestOpenShapesAreBounded(t *testing.T) {
	for _, c := range []struct {
		op     nn.OperationType
		x      []uint32 // float32
		more   []nn.Operand
		values [][]byte // of more that are inputs; nil is a constant
		rank   int
	}{
		{nn.OpPad, []uint32{1, 2, 2, 1}, []nn.Operand{{Type: nn.TensorInt32, Dimensions: []uint32{4, 2}}}, [][]byte{words(0, 0, 9000, 0, 0, 9000, 0, 0)}, 4},
		{nn.OpPadV2, []uint32{2}, []nn.Operand{{Type: nn.TensorInt32, Dimensions: []uint32{1, 2}}, {Type: nn.Float32}}, [][]byte{words(1<<26, 0), words(float32(1))}, 1},
		{nn.OpTile, []uint32{2, 2}, []nn.Operand{{Type: nn.TensorInt32, Dimensions: []uint32{2}}}, [][]byte{words(1<<14, 1<<14)}, 2},
		{nn.OpFill, nil, []nn.Operand{{Type: nn.TensorInt32, Dimensions: []uint32{2}}, {Type: nn.Float32}}, [][]byte{words(1<<14, 1<<14), words(float32(2))}, 2},
		{nn.OpResizeBilinear, []uint32{1, 2, 2, 1}, []nn.Operand{{Type: nn.Int32}, {Type: nn.Int32}}, [][]byte{words(20000), words(20000)}, 4},
		{nn.OpResizeNearestNeighbor, []uint32{1, 2, 2, 1}, []nn.Operand{{Type: nn.Float32}, {Type: nn.Float32}, {Type: nn.Bool, Data: []byte{0}}}, [][]byte{words(float32(1e4)), words(float32(1e4)), nil}, 4},
		{nn.OpSpaceToBatchNd, []uint32{1, 2, 2, 1}, []nn.Operand{{Type: nn.TensorInt32, Dimensions: []uint32{2}, Data: words(2, 2)}, {Type: nn.TensorInt32, Dimensions: []uint32{2, 2}}}, [][]byte{nil, words(0, 20000, 20000, 0)}, 4},
	} {
		t.Run(c.op.String(), func(t *testing.T) {
			var g graph
			var in []uint32
			var inputs []Tensor
			if c.x != nil {
				in = append(in, g.input(nn.TensorFloat32, 0, 0, c.x...))
				inputs = append(inputs, Tensor{Data: make([]byte, 4*nn.Elements(c.x))})
			}
			for i, o := range c.more {
				if o.Lifetime = nn.ConstantCopy; c.values[i] != nil {
					o.Lifetime = nn.SubgraphInput
					g.Inputs, inputs = append(g.Inputs, uint32(len(g.Operands))), append(inputs, Tensor{Data: c.values[i]})
				}
				in = append(in, g.add(o))
			}
			g.op(c.op, []uint32{g.output(nn.TensorFloat32, 0, 0, make([]uint32, c.rank)...)}, in...)
			p := require.V(Compile(g.model()))(t)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := p.Execute(inputs, Options{})
			runtime.ReadMemStats(&after)
			require.ErrorContains(t, err, "an open shape [")
			require.ErrorContains(t, err, "values of the execution may give at most 134217728")
			require.Check(t, after.TotalAlloc-before.TotalAlloc < 80<<20, "%d bytes", after.TotalAlloc-before.TotalAlloc)
		})
	}
}
