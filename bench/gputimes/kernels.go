package gputimes

import (
	"bytes"
	_ "embed"
	"encoding/binary"
	"encoding/csv"
	"fmt"
	"strconv"

	"github.com/nnsoc/nnsoc/nn"
)

//go:embed kernels.tsv
var kernelsTable []byte

// Kernel is a measured kernel: an operation of one square image, its bias and a fused
// activation included.
type Kernel struct {
	Operation   string  `json:"operation"` // average_pool, conv, depthwise, fully_connected, grouped, max_pool or mean
	InSize      int     `json:"in_hw"`
	InChannels  int     `json:"in_channels"`
	OutSize     int     `json:"out_hw"`
	OutChannels int     `json:"out_channels"` // per input channel, of depthwise
	Window      int     `json:"filter_hw"`
	Stride      int     `json:"stride"`
	Groups      int     `json:"group_count"`
	Us          float64 `json:"published_us"`
}

// Class is the class of kernels that a kernel is judged with.
func (k *Kernel) Class() string {
	switch {
	case k.Operation == "conv" && k.InSize == 1:
		return "conv of one position"
	case k.Operation == "conv" && k.Window == 1:
		return "conv 1x1"
	case k.Operation == "conv" && k.Window == 3:
		return "conv 3x3"
	case k.Operation == "conv":
		return "conv, larger"
	case k.Operation == "average_pool", k.Operation == "max_pool", k.Operation == "mean":
		return "pooling"
	}
	return k.Operation
}

// Kernels reads the table.
func Kernels() ([]Kernel, error) {
	r := csv.NewReader(bytes.NewReader(kernelsTable))
	r.Comma, r.Comment = '\t', '#'
	lines, err := r.ReadAll()
	if err != nil {
		return nil, err
	}
	var list []Kernel
	for _, f := range lines[1:] {
		k := Kernel{Operation: f[0]}
		for i, to := range []*int{&k.InSize, &k.InChannels, &k.OutSize, &k.OutChannels, &k.Window, &k.Stride, &k.Groups} {
			if *to, err = strconv.Atoi(f[1+i]); err != nil {
				return nil, fmt.Errorf("gpu: %v: %w", f, err)
			}
		}
		if k.Us, err = strconv.ParseFloat(f[9], 64); err != nil {
			return nil, fmt.Errorf("gpu: %v: %w", f, err)
		}
		list = append(list, k)
	}
	return list, nil
}

// model is the operation with constant weights, in TENSOR_FLOAT16, behind another that has just
// written its input, as in the middle of a network.
func (k *Kernel) model() *nn.Model {
	b := &modelBuilder{}
	in := b.tensor(nn.TemporaryVariable, 1, k.InSize, k.InSize, k.InChannels)
	b.add(nn.OpRelu, []uint32{b.tensor(nn.SubgraphInput, 1, k.InSize, k.InSize, k.InChannels)}, in)
	out := k.OutChannels
	before, after := k.padding()
	pads := b.ints(before, after, before, after)
	strides, relu := b.ints(k.Stride, k.Stride), b.ints(int(nn.ActRelu))
	switch k.Operation {
	case "conv", "grouped":
		filter, bias := b.tensor(nn.ConstantCopy, out, k.Window, k.Window, k.InChannels/k.Groups), b.tensor(nn.ConstantCopy, out)
		inputs := append(append([]uint32{in, filter, bias}, pads...), strides...)
		if k.Operation == "grouped" {
			b.add(nn.OpGroupedConv2D, append(append(inputs, b.ints(k.Groups)...), append(relu, b.flag())...), b.tensor(nn.SubgraphOutput, 1, k.OutSize, k.OutSize, out))
		} else {
			b.add(nn.OpConv2D, append(inputs, relu...), b.tensor(nn.SubgraphOutput, 1, k.OutSize, k.OutSize, out))
		}
	case "depthwise":
		out *= k.InChannels
		filter, bias := b.tensor(nn.ConstantCopy, 1, k.Window, k.Window, out), b.tensor(nn.ConstantCopy, out)
		inputs := append(append([]uint32{in, filter, bias}, pads...), strides...)
		b.add(nn.OpDepthwiseConv2D, append(append(inputs, b.ints(k.OutChannels)...), relu...), b.tensor(nn.SubgraphOutput, 1, k.OutSize, k.OutSize, out))
	case "average_pool", "max_pool":
		op := nn.OpAveragePool2D
		if k.Operation == "max_pool" {
			op = nn.OpMaxPool2D
		}
		inputs := append(append(append([]uint32{in}, pads...), strides...), b.ints(k.Window, k.Window, int(nn.ActNone))...)
		b.add(op, inputs, b.tensor(nn.SubgraphOutput, 1, k.OutSize, k.OutSize, k.InChannels))
	case "mean":
		axes := b.constant(nn.TensorInt32, words(1, 2), 2)
		b.add(nn.OpMean, append([]uint32{in, axes}, b.ints(0)...), b.tensor(nn.SubgraphOutput, 1, k.InChannels))
	case "fully_connected":
		filter, bias := b.tensor(nn.ConstantCopy, out, k.InSize*k.InSize*k.InChannels), b.tensor(nn.ConstantCopy, out)
		b.add(nn.OpFullyConnected, append([]uint32{in, filter, bias}, relu...), b.tensor(nn.SubgraphOutput, 1, out))
	default:
		return nil
	}
	return &b.m
}

// padding is the difference of the sizes, divided between both ends, with the larger part behind.
func (k *Kernel) padding() (before, after int) {
	all := max((k.OutSize-1)*k.Stride+k.Window-k.InSize, 0)
	return all / 2, all - all/2
}

// modelBuilder makes a model of one operation.
type modelBuilder struct{ m nn.Model }

func (b *modelBuilder) operand(o nn.Operand) uint32 {
	g := &b.m.Main
	g.Operands = append(g.Operands, o)
	return uint32(len(g.Operands) - 1)
}

// tensor is a tensor of halves; constants have small values.
func (b *modelBuilder) tensor(l nn.Lifetime, dims ...int) uint32 {
	o := nn.Operand{Type: nn.TensorFloat16, Lifetime: l}
	for _, d := range dims {
		o.Dimensions = append(o.Dimensions, uint32(d))
	}
	if l == nn.ConstantCopy {
		o.Data = make([]byte, o.Bytes())
		for i := 0; i < len(o.Data); i += 2 {
			binary.LittleEndian.PutUint16(o.Data[i:], uint16(0x2c00+i%1024)) // 1/16 to 1/8
		}
	}
	x := b.operand(o)
	switch l {
	case nn.SubgraphInput:
		b.m.Main.Inputs = append(b.m.Main.Inputs, x)
	case nn.SubgraphOutput:
		b.m.Main.Outputs = append(b.m.Main.Outputs, x)
	}
	return x
}

func (b *modelBuilder) constant(t nn.OperandType, data []byte, dims ...uint32) uint32 {
	return b.operand(nn.Operand{Type: t, Dimensions: dims, Lifetime: nn.ConstantCopy, Data: data})
}

// ints are scalars.
func (b *modelBuilder) ints(values ...int) (list []uint32) {
	for _, v := range values {
		list = append(list, b.constant(nn.Int32, words(v)))
	}
	return list
}

func (b *modelBuilder) flag() uint32 { return b.constant(nn.Bool, []byte{0}) }

func words(values ...int) (data []byte) {
	for _, v := range values {
		data = binary.LittleEndian.AppendUint32(data, uint32(v))
	}
	return data
}

// add appends an operation.
func (b *modelBuilder) add(op nn.OperationType, inputs []uint32, out uint32) {
	g := &b.m.Main
	g.Operations = append(g.Operations, nn.Operation{Type: op, Inputs: inputs, Outputs: []uint32{out}})
}
