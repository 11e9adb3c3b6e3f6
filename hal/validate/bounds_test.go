package validate

import (
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// TestBounds: as many subgraphs and bytes of constants as there may be are valid, one more is not.
func TestBounds(t *testing.T) {
	m := quantConv()
	m.Referenced = slices.Repeat([]nn.Subgraph{m.Main}, MaxSubgraphs)
	require.NoError(t, Model(m))
	m.Referenced = append(m.Referenced, m.Main)
	require.ErrorContains(t, Model(m), "4097 referenced subgraphs, at most 4096")
	m = quantConv()
	m.Main.Operands = append(m.Main.Operands, nn.SubgraphOperand(1))
	m.Referenced = []nn.Subgraph{quantConv().Main, quantConv().Main}
	require.NoError(t, Model(m))
	m.Referenced = m.Referenced[:1]
	require.ErrorContains(t, Model(m), "operand 8: refers to subgraph 1 of 1")

	c := checker{constants: MaxConstants - 12}
	constant := nn.Operand{Type: nn.TensorInt32, Dimensions: []uint32{2}, Lifetime: nn.ConstantCopy, Data: make([]byte, 8)}
	require.NoError(t, c.value(&constant))
	require.ErrorContains(t, c.value(&constant), "constants of the model exceed 2147483648 bytes")
}

// TestCarriedInOrder: each state of a WHILE becomes the input of its own place.
func TestCarriedInOrder(t *testing.T) {
	m := controlModel()
	other := vector()
	other.Scale = 0.25
	m.Main.Operands = append(m.Main.Operands, other, other)
	for k := range m.Referenced {
		s := &m.Referenced[k]
		s.Operands = append(s.Operands, other, other)
		s.Inputs = append(s.Inputs, 2)
	}
	m.Referenced[1].Outputs = append(m.Referenced[1].Outputs, 3)
	c := &checker{model: m, g: &m.Main}
	require.NoError(t, c.loop(&opspec.While{Condition: 3, Body: 4, Inputs: []uint32{1, 5}, Outputs: []uint32{2, 6}}))
}

// TestSameChannels: scales of channels are the same along the same dimension alone.
func TestSameChannels(t *testing.T) {
	a, b := &nn.ChannelQuant{Dim: 1, Scales: []float32{1, 2}}, &nn.ChannelQuant{Dim: 0, Scales: []float32{1, 2}}
	for _, c := range []struct {
		a, b *nn.ChannelQuant
		want bool
	}{{a, a, true}, {a, b, false}, {a, nil, false}, {nil, b, false}, {nil, nil, true}, {a, &nn.ChannelQuant{Dim: 1, Scales: []float32{1, 3}}, false}} {
		require.Same(t, c.want, sameChannels(c.a, c.b), c.a, c.b)
	}
}

// TestExtensionTypes: operand types of an extension have numbers of their own and a size.
func TestExtensionTypes(t *testing.T) {
	typed := func(types ...hal.ExtensionOperandType) hal.Extension {
		return hal.Extension{Name: "com.example", OperandTypes: types}
	}
	one, two := hal.ExtensionOperandType{Type: 1, ByteSize: 4}, hal.ExtensionOperandType{Type: 2, ByteSize: 1}
	require.NoError(t, Extension(typed(one, two)))
	require.ErrorContains(t, Extension(typed(one, two, one)), "operand type 1 is there twice")
	require.ErrorContains(t, Extension(typed(one, hal.ExtensionOperandType{Type: 3})), "operand type 3 has no size")
	require.ErrorContains(t, Extension(typed(slices.Repeat([]hal.ExtensionOperandType{one}, 1<<16+1)...)), "65537 operand types")
}

// TestOpenShapes: an output whose shape only the execution knows may have any buffer, as may one of open rank; an input
// states a shape, which may not be too large.
func TestOpenShapes(t *testing.T) {
	m := quantConv()
	m.Main.Operands[7].Dimensions = nil
	r := func(input, output int) *hal.Request {
		return (&hal.Buffers{Inputs: [][]byte{make([]byte, input)}, Outputs: [][]byte{make([]byte, output)}}).Request()
	}
	for _, n := range []int{0, 1, 18, 1000} {
		require.NoError(t, Request(m, r(36, n)), n, "bytes for the output")
	}
	m.Main.Operands[0].Dimensions = nil
	require.ErrorContains(t, Request(m, r(36, 18)), "the shape of an input must be known")
	stated := r(36, 18)
	stated.Inputs[0].Dimensions = []uint32{1, 3, 3, 4}
	require.NoError(t, Request(m, stated))
	stated.Inputs[0].Dimensions = []uint32{1, 65536, 65536, 4}
	require.ErrorContains(t, Request(m, stated), "shape [1 65536 65536 4] is too large")
	stated.Inputs[0].Dimensions = make([]uint32, MaxRank+1)
	require.ErrorContains(t, Request(m, stated), "is too large")
}
