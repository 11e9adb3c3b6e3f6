package capability

import (
	le "encoding/binary"
	"fmt"
	"math"

	"github.com/x448/float16"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/builder"
)

// Workload is one operation of the suite.
type Workload struct {
	Name   string
	Weight float64 // how often it counts
	Model  *nn.Model
}

// layer builds an operation of the suite from input to output.
type layer struct {
	name   string
	weight float64
	build  func(*builder.Builder) builder.Tensor
}

// network are the layers of MobileNet v1 1.0 224 by kind, each in its size and weighted by its count there: 594 million
// multiply-accumulates with weights. A residual addition is added to them.
var network = []layer{
	{"CONV_2D 3x3/2 224x224x3 to 32", 1, conv(224, 3, builder.Conv{Out: 32, Kernel: 3, Stride: 2, Act: builder.ReLU6})},
	{"DEPTHWISE_CONV_2D 3x3 112x112x32", 1, depthwise(112, 32)},
	{"CONV_2D 1x1 56x56x128 to 128", 3, conv(56, 128, builder.Conv{Out: 128, Kernel: 1, Act: builder.ReLU6})},
	{"DEPTHWISE_CONV_2D 3x3 28x28x256", 5, depthwise(28, 256)},
	{"CONV_2D 1x1 14x14x512 to 512", 7, conv(14, 512, builder.Conv{Out: 512, Kernel: 1, Act: builder.ReLU6})},
	{"DEPTHWISE_CONV_2D 3x3 14x14x512", 6, depthwise(14, 512)},
	{"CONV_2D 1x1 7x7x1024 to 1024", 1, conv(7, 1024, builder.Conv{Out: 1024, Kernel: 1, Act: builder.ReLU6})},
	{"ADD 14x14x512", 1, func(b *builder.Builder) builder.Tensor {
		return b.Add(b.Values("x", 1, 14, 14, 512), b.Values("y", 1, 14, 14, 512), builder.NoActivation)
	}},
	{"AVERAGE_POOL_2D 7x7x1024", 1, func(b *builder.Builder) builder.Tensor { return b.GlobalPool(b.Values("x", 1, 7, 7, 1024)) }},
	{"FULLY_CONNECTED 1024 to 1001", 1, func(b *builder.Builder) builder.Tensor {
		return b.Dense(b.Values("x", 1, 1024), 1001, builder.NoActivation)
	}},
	{"SOFTMAX 1001", 1, func(b *builder.Builder) builder.Tensor { return b.Softmax(b.Values("x", 1, 1001)) }},
}

func conv(side, depth uint32, c builder.Conv) func(*builder.Builder) builder.Tensor {
	return func(b *builder.Builder) builder.Tensor { return b.Conv(b.Values("x", 1, side, side, depth), c) }
}

func depthwise(side, depth uint32) func(*builder.Builder) builder.Tensor {
	return func(b *builder.Builder) builder.Tensor {
		return b.Depthwise(b.Values("x", 1, side, side, depth), builder.Conv{Kernel: 3, Act: builder.ReLU6})
	}
}

// operations is how many operations a suite represents with its weights: about those of network.
const operations = 28

// elements is the shape of operations on integers and booleans.
var elements = []uint32{1, 28, 28, 64}

// binary is an operation on two tensors of a type; an activation is its third
// operand for arithmetic.
func binary(op nn.OperationType, t nn.OperandType, activation bool, weight float64) layer {
	return layer{op.String() + " 28x28x64", weight, func(b *builder.Builder) builder.Tensor {
		in := []builder.Tensor{
			b.Input(b.Operand(nn.Operand{Type: t, Dimensions: elements}), "x"), b.Input(b.Operand(nn.Operand{Type: t, Dimensions: elements}), "y"),
		}
		if activation {
			in = append(in, b.Int32(int32(nn.ActNone)))
		}
		return b.Apply(op, t, builder.Quant{}, in...)
	}}
}

// cast is the identity on a type that few operations have as first operand.
func cast(t nn.OperandType, q builder.Quant) layer {
	return layer{"CAST 28x28x64", operations, func(b *builder.Builder) builder.Tensor {
		x := b.Operand(nn.Operand{Type: t, Dimensions: elements, Scale: q.Scale, ZeroPoint: q.ZeroPoint})
		return b.Apply(nn.OpCast, t, q, b.Input(x, "x"))
	}}
}

// suites are the workloads by type of operand; a scalar or filter has the figures of another type.
var suites = []struct {
	operand nn.OperandType
	format  builder.Format
	half    bool // float32 turned into float16
	layers  []layer
}{
	{operand: nn.TensorFloat32, format: builder.Float32, layers: network},
	{operand: nn.TensorFloat16, format: builder.Float32, half: true, layers: network},
	{operand: nn.TensorQuant8Asymm, format: builder.Quant8, layers: network},
	{operand: nn.TensorQuant8AsymmSigned, format: builder.Quant8Signed, layers: network},
	{operand: nn.TensorInt32, layers: []layer{
		binary(nn.OpAdd, nn.TensorInt32, true, operations/2), binary(nn.OpMul, nn.TensorInt32, true, operations/4), binary(nn.OpMaximum, nn.TensorInt32, false, operations/4),
	}},
	{operand: nn.TensorBool8, layers: []layer{
		binary(nn.OpLogicalAnd, nn.TensorBool8, false, operations/2), binary(nn.OpLogicalOr, nn.TensorBool8, false, operations/2),
	}},
	{operand: nn.TensorQuant16Symm, layers: []layer{cast(nn.TensorQuant16Symm, builder.Quant{Scale: 0.5})}},
	{operand: nn.TensorQuant16Asymm, layers: []layer{cast(nn.TensorQuant16Asymm, builder.Quant{Scale: 0.5})}},
	{operand: nn.TensorQuant8Symm, layers: []layer{cast(nn.TensorQuant8Symm, builder.Quant{Scale: 0.5})}},
}

// sameFigures are the types whose figures are those of another one: scalars are never the first operand where time is spent,
// and filters occur with activations.
var sameFigures = map[nn.OperandType]nn.OperandType{
	nn.Float32: nn.TensorFloat32, nn.Float16: nn.TensorFloat16, nn.Int32: nn.TensorInt32, nn.Uint32: nn.TensorInt32, nn.Bool: nn.TensorBool8,
	nn.TensorQuant8SymmPerChannel: nn.TensorQuant8AsymmSigned,
}

// workloads builds the models of a suite.
func workloads(operand nn.OperandType, relaxed bool) ([]Workload, error) {
	var list []Workload
	for _, s := range suites {
		if s.operand != operand {
			continue
		}
		for _, l := range s.layers {
			b := builder.New(builder.Config{Format: s.format, ChannelScales: s.format == builder.Quant8Signed})
			b.Output(l.build(b), "output")
			m, err := b.Model(l.name)
			if err != nil {
				return nil, fmt.Errorf("capability: %v: %w", operand, err)
			}
			if s.half {
				halve(m)
			}
			m.Relaxed = relaxed
			list = append(list, Workload{l.name, l.weight, m})
		}
	}
	return list, nil
}

// halve converts a model of float32 to one of float16.
func halve(m *nn.Model) {
	for i := range m.Main.Operands {
		o := &m.Main.Operands[i]
		switch o.Type {
		case nn.TensorFloat32:
			o.Type = nn.TensorFloat16
		case nn.Float32:
			o.Type = nn.Float16
		default:
			continue
		}
		if !o.IsConst() {
			continue
		}
		half := make([]byte, 0, len(o.Data)/2)
		for at := 0; at+4 <= len(o.Data); at += 4 {
			v := math.Float32frombits(le.LittleEndian.Uint32(o.Data[at:]))
			half = le.LittleEndian.AppendUint16(half, float16.Fromfloat32(v).Bits())
		}
		o.Data = half
	}
}

// control is an IF, or a WHILE of one round, around an addition of float32
// tensors, and the addition alone.
func control(op nn.OperationType) (whole, body *nn.Model) {
	t := nn.Operand{Type: nn.TensorFloat32, Dimensions: elements}
	flag := nn.Operand{Type: nn.TensorBool8, Dimensions: []uint32{1}}
	as := func(o nn.Operand, l nn.Lifetime) nn.Operand { o.Lifetime = l; return o }
	none := nn.Operand{Type: nn.Int32, Lifetime: nn.ConstantCopy, Data: make([]byte, 4)}
	reference := nn.SubgraphOperand
	add := nn.Subgraph{
		Operands:   []nn.Operand{as(t, nn.SubgraphInput), none, as(t, nn.SubgraphOutput)},
		Operations: []nn.Operation{{Type: nn.OpAdd, Inputs: []uint32{0, 0, 1}, Outputs: []uint32{2}}},
		Inputs:     []uint32{0}, Outputs: []uint32{2},
	}
	body = &nn.Model{Name: "body", Main: add}
	if op == nn.OpIf {
		return &nn.Model{Name: "IF", Referenced: []nn.Subgraph{add, add}, Main: nn.Subgraph{
			Operands:   []nn.Operand{as(flag, nn.SubgraphInput), reference(0), reference(1), as(t, nn.SubgraphInput), as(t, nn.SubgraphOutput)},
			Operations: []nn.Operation{{Type: nn.OpIf, Inputs: []uint32{0, 1, 2, 3}, Outputs: []uint32{4}}},
			Inputs:     []uint32{0, 3}, Outputs: []uint32{4},
		}}, body
	}
	// The state is a flag, true at first, and a tensor: one round clears the flag.
	condition := nn.Subgraph{
		Operands: []nn.Operand{as(flag, nn.SubgraphInput), as(t, nn.SubgraphInput), as(flag, nn.SubgraphOutput)},
		Operations: []nn.Operation{
			{Type: nn.OpLogicalOr, Inputs: []uint32{0, 0}, Outputs: []uint32{2}},
		},
		Inputs: []uint32{0, 1}, Outputs: []uint32{2},
	}
	round := nn.Subgraph{
		Operands: []nn.Operand{as(flag, nn.SubgraphInput), as(t, nn.SubgraphInput), none, as(flag, nn.SubgraphOutput), as(t, nn.SubgraphOutput)},
		Operations: []nn.Operation{
			{Type: nn.OpLogicalNot, Inputs: []uint32{0}, Outputs: []uint32{3}},
			{Type: nn.OpAdd, Inputs: []uint32{1, 1, 2}, Outputs: []uint32{4}},
		},
		Inputs: []uint32{0, 1}, Outputs: []uint32{3, 4},
	}
	return &nn.Model{Name: "WHILE", Referenced: []nn.Subgraph{condition, round}, Main: nn.Subgraph{
		Operands: []nn.Operand{
			reference(0), reference(1), as(flag, nn.SubgraphInput), as(t, nn.SubgraphInput), as(flag, nn.SubgraphOutput), as(t, nn.SubgraphOutput),
		},
		Operations: []nn.Operation{{Type: nn.OpWhile, Inputs: []uint32{0, 1, 2, 3}, Outputs: []uint32{4, 5}}},
		Inputs:     []uint32{2, 3}, Outputs: []uint32{4, 5},
	}}, body
}
