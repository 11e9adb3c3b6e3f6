package validate

import (
	"errors"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
)

// quantConv is a valid CONV_2D followed by a RELU:
// 0 input, 1 filter, 2 bias, 3 padding, 4 stride, 5 activation, 6 temporary, 7 output.
func quantConv() *nn.Model {
	i32 := func(v byte) nn.Operand {
		return nn.Operand{Type: nn.Int32, Lifetime: nn.ConstantCopy, Data: []byte{v, 0, 0, 0}}
	}
	q8 := func(l nn.Lifetime, scale float32, zero int32, dims ...uint32) nn.Operand {
		return nn.Operand{Type: nn.TensorQuant8Asymm, Dimensions: dims, Scale: scale, ZeroPoint: zero, Lifetime: l}
	}
	filter := q8(nn.ConstantCopy, 0.5, 3, 2, 1, 1, 4)
	filter.Data = make([]byte, 8)
	return &nn.Model{Main: nn.Subgraph{
		Operands: []nn.Operand{
			q8(nn.SubgraphInput, 0.5, 128, 1, 3, 3, 4), filter,
			{Type: nn.TensorInt32, Dimensions: []uint32{2}, Scale: 0.25, Lifetime: nn.ConstantCopy, Data: make([]byte, 8)},
			i32(1), i32(1), i32(0),
			q8(nn.TemporaryVariable, 1, 10, 1, 3, 3, 2), q8(nn.SubgraphOutput, 1, 10, 1, 3, 3, 2),
		},
		Operations: []nn.Operation{
			{Type: nn.OpConv2D, Inputs: []uint32{0, 1, 2, 3, 4, 4, 5}, Outputs: []uint32{6}},
			{Type: nn.OpRelu, Inputs: []uint32{6}, Outputs: []uint32{7}},
		},
		Inputs: []uint32{0}, Outputs: []uint32{7},
	}}
}

func TestModel(t *testing.T) {
	require.NoError(t, Model(quantConv()))
	for _, c := range []struct {
		want   string
		damage func(g *nn.Subgraph)
	}{
		{"there are no operations", func(g *nn.Subgraph) { g.Operations = nil }},
		{"there are no outputs", func(g *nn.Subgraph) { g.Outputs = nil }},
		{"operand 0: no operand type 99", func(g *nn.Subgraph) { g.Operands[0].Type = 99 }},
		{"operand 0: rank 40", func(g *nn.Subgraph) { g.Operands[0].Dimensions = make([]uint32, 40) }},
		{"operand 3: a scalar INT32 has no dimensions", func(g *nn.Subgraph) { g.Operands[3].Dimensions = []uint32{1} }},
		{"operand 0: shape [1 65536 65536 4] is too large", func(g *nn.Subgraph) { g.Operands[0].Dimensions = []uint32{1, 65536, 65536, 4} }},
		{"operand 0: lifetime SUBGRAPH_INPUT with 1 bytes", func(g *nn.Subgraph) { g.Operands[0].Data = []byte{1} }},
		{"operand 1: 7 bytes of data, TENSOR_QUANT8_ASYMM [2 1 1 4] has 8", func(g *nn.Subgraph) { g.Operands[1].Data = make([]byte, 7) }},
		{"operand 1: a constant of unknown shape", func(g *nn.Subgraph) { g.Operands[1].Dimensions = []uint32{0, 1, 1, 4} }},
		{"operand 6: no lifetime 77", func(g *nn.Subgraph) { g.Operands[6].Lifetime = nn.TemporaryVariable + 77 }},
		{"operand 6: no lifetime -1", func(g *nn.Subgraph) { g.Operands[6].Lifetime = 0 }},
		{"operand 0: TENSOR_QUANT8_ASYMM with scale 0", func(g *nn.Subgraph) { g.Operands[0].Scale = 0 }},
		{"operand 0: TENSOR_QUANT8_ASYMM with zero point 256", func(g *nn.Subgraph) { g.Operands[0].ZeroPoint = 256 }},
		{"operand 2: TENSOR_INT32 with zero point 1", func(g *nn.Subgraph) { g.Operands[2].ZeroPoint = 1 }},
		{"operand 3: INT32 with scale 1", func(g *nn.Subgraph) { g.Operands[3].Scale = 1 }},
		{"without channel quantization", func(g *nn.Subgraph) {
			g.Operands[1].Type, g.Operands[1].Scale, g.Operands[1].ZeroPoint = nn.TensorQuant8SymmPerChannel, 0, 0
		}},
		{"1 channel scales for dimension 0", func(g *nn.Subgraph) {
			g.Operands[1].Type, g.Operands[1].Scale, g.Operands[1].ZeroPoint = nn.TensorQuant8SymmPerChannel, 0, 0
			g.Operands[1].Channel = &nn.ChannelQuant{Scales: []float32{1}}
		}},
		{"input 0 is operand 50 of 8", func(g *nn.Subgraph) { g.Inputs[0] = 50 }},
		{"input 0 is operand 6 of lifetime TEMPORARY_VARIABLE", func(g *nn.Subgraph) { g.Inputs[0] = 6 }},
		{"operand 0 has lifetime SUBGRAPH_INPUT but is not listed", func(g *nn.Subgraph) { g.Inputs = nil }},
		{"output 1 is operand 7 again", func(g *nn.Subgraph) { g.Outputs = []uint32{7, 7} }},
		{"operation 0 (CONV_2D): input 0 reads operand 6 before it is written", func(g *nn.Subgraph) { g.Operations[0].Inputs[0] = 6 }},
		{"operation 1 (RELU): input 0 is operand 8 of 8", func(g *nn.Subgraph) { g.Operations[1].Inputs[0] = 8 }},
		{"operation 1 (RELU): output 0 writes operand 6 a second time", func(g *nn.Subgraph) { g.Operations[1].Outputs[0] = 6 }},
		{"operation 1 (RELU): output 0 is operand 1 of lifetime CONSTANT_COPY", func(g *nn.Subgraph) { g.Operations[1].Outputs[0] = 1 }},
		{"operand 7 is an output that no operation writes", func(g *nn.Subgraph) { g.Operations = g.Operations[:1] }},
		{"operation 0 (CONV_2D): CONV_2D: 6 inputs fit no form", func(g *nn.Subgraph) { g.Operations[0].Inputs = g.Operations[0].Inputs[:6] }},
		{"input 2 (bias, operand 2) cannot be TENSOR_FLOAT32", func(g *nn.Subgraph) { g.Operands[2].Type, g.Operands[2].Scale = nn.TensorFloat32, 0 }},
		{"depth 3, the input's is 4", func(g *nn.Subgraph) {
			g.Operands[1].Dimensions, g.Operands[1].Data = []uint32{2, 1, 1, 3}, make([]byte, 6)
		}},
		{"(bias) has scale 0.3", func(g *nn.Subgraph) { g.Operands[2].Scale = 0.3 }},
		{"output 0 is operand 6: declared shape [1 3 2 2]", func(g *nn.Subgraph) { g.Operands[6].Dimensions = []uint32{1, 3, 2, 2} }},
		{"stride_w: 0 is not positive", func(g *nn.Subgraph) { g.Operands[4].Data = make([]byte, 4) }},
		{"(operand 7) has scale 2 and zero point 10, operand 6 has 1", func(g *nn.Subgraph) { g.Operands[7].Scale = 2 }},
		{"no such operation", func(g *nn.Subgraph) { g.Operations[1].Type = 1234 }},
		{"may not be omitted", func(g *nn.Subgraph) { g.Operands[2].Lifetime, g.Operands[2].Data = nn.NoValue, nil }},
		{"may not be omitted", func(g *nn.Subgraph) { g.Operands[2].Data = nil }},
		{"refers to subgraph 3 of 0", func(g *nn.Subgraph) {
			g.Operands = append(g.Operands, nn.SubgraphOperand(3))
		}},
	} {
		m := quantConv()
		c.damage(&m.Main)
		err := Model(m)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
			continue
		}
		require.Same(t, hal.InvalidArgument, hal.StatusOf(err), c.want, "has status")
	}
	m := quantConv()
	m.Main.Operands[4].Data = make([]byte, 4)
	var e *Error
	if !errors.As(Model(m), &e) || e.Operation != 0 || e.Type != nn.OpConv2D || e.Subgraph != -1 {
		t.Errorf("the error does not say where: %+v", e)
	}
	require.Check(t, Model(nil) != nil, "no model passes")
}

// TestSameQuant: every input of PACK has the output's quantization; an operand
// that only steers an operation need not.
func TestSameQuant(t *testing.T) {
	tensor := func(typ nn.OperandType, l nn.Lifetime, scale float32, dims ...uint32) nn.Operand {
		return nn.Operand{Type: typ, Dimensions: dims, Scale: scale, Lifetime: l}
	}
	pack := func(second float32) *nn.Model {
		const q8 = nn.TensorQuant8Asymm
		return &nn.Model{Main: nn.Subgraph{
			Operands: []nn.Operand{
				{Type: nn.Int32, Lifetime: nn.ConstantCopy, Data: make([]byte, 4)},
				tensor(q8, nn.SubgraphInput, 0.5, 3), tensor(q8, nn.SubgraphInput, second, 3), tensor(q8, nn.SubgraphOutput, 0.5, 2, 3),
			},
			Operations: []nn.Operation{{Type: nn.OpPack, Inputs: []uint32{0, 1, 2}, Outputs: []uint32{3}}},
			Inputs:     []uint32{1, 2}, Outputs: []uint32{3},
		}}
	}
	require.Report(t, Model(pack(0.5)))
	require.ErrorContains(t, Model(pack(0.25)), "scale 0.5 and zero point 0, operand 2 has 0.25")
	tile := &nn.Model{Main: nn.Subgraph{
		Operands: []nn.Operand{tensor(nn.TensorInt32, nn.SubgraphInput, 0.5, 3), tensor(nn.TensorInt32, nn.SubgraphInput, 0, 1),
			tensor(nn.TensorInt32, nn.SubgraphOutput, 0.5, 0)},
		Operations: []nn.Operation{{Type: nn.OpTile, Inputs: []uint32{0, 1}, Outputs: []uint32{2}}},
		Inputs:     []uint32{0, 1}, Outputs: []uint32{2},
	}}
	require.Report(t, Model(tile))
}

func TestSubgraphCycle(t *testing.T) {
	ref := nn.SubgraphOperand
	m := quantConv()
	a, b := quantConv().Main, quantConv().Main
	m.Main.Operands = append(m.Main.Operands, ref(0))
	a.Operands = append(a.Operands, ref(1))
	m.Referenced = []nn.Subgraph{a, b}
	require.NoError(t, Model(m))
	m.Referenced[1].Operands = append(m.Referenced[1].Operands, ref(0))
	require.ErrorContains(t, Model(m), "refers to itself", "a cycle of subgraphs")
}

func TestRequest(t *testing.T) {
	m := quantConv()
	good := func() *hal.Buffers {
		return &hal.Buffers{Inputs: [][]byte{make([]byte, 36)}, Outputs: [][]byte{make([]byte, 18)}}
	}
	require.NoError(t, Request(m, good().Request()))
	for _, c := range []struct {
		status hal.Status
		damage func(r *hal.Buffers)
	}{
		{hal.InvalidArgument, func(r *hal.Buffers) { r.Inputs = nil }},
		{hal.InvalidArgument, func(r *hal.Buffers) { r.Inputs[0] = r.Inputs[0][1:] }},
		{hal.InvalidArgument, func(r *hal.Buffers) { r.Outputs = append(r.Outputs, nil) }},
		{hal.InvalidArgument, func(r *hal.Buffers) { r.Outputs[0] = r.Outputs[0][1:] }},
	} {
		r := good()
		c.damage(r)
		if err := Request(m, r.Request()); hal.StatusOf(err) != c.status {
			t.Errorf("%v has status %s, want %s", err, hal.StatusOf(err), c.status)
		}
	}
	require.Check(t, Request(nil, good().Request()) != nil && Request(m, nil) != nil, "nothing passes")
}
