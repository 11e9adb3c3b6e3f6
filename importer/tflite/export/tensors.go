package export

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/nnsoc/nnsoc/importer/tflite/tflitefile"
	"github.com/nnsoc/nnsoc/nn"
)

// Types of tensors, as the format numbers them.
const (
	typeFloat32 = 0
	typeFloat16 = 1
	typeInt32   = 2
	typeUint8   = 3
	typeBool    = 6
	typeInt16   = 7
	typeInt8    = 9
)

// types are the format's types of operands.
var types = map[nn.OperandType]int{
	nn.TensorFloat32: typeFloat32, nn.TensorFloat16: typeFloat16, nn.TensorInt32: typeInt32, nn.TensorBool8: typeBool,
	nn.TensorQuant8Asymm: typeUint8, nn.TensorQuant8AsymmSigned: typeInt8, nn.TensorQuant8Symm: typeInt8,
	nn.TensorQuant8SymmPerChannel: typeInt8, nn.TensorQuant16Symm: typeInt16,
}

// omitted is the index of an input that an operator does without.
const omitted = -1

// tensor is the tensor of an operand, which it writes once.
func (g *graph) tensor(x uint32) int32 {
	if t, ok := g.tensors[x]; ok {
		return t
	}
	o := &g.in.Operands[x]
	if o.Lifetime == nn.NoValue {
		return omitted
	}
	code, ok := types[o.Type]
	if !ok {
		failf("operand %d: the format has no %s", x, o.Type)
	}
	if slices.Contains(o.Dimensions, 0) || len(o.Dimensions) == 0 {
		failf("operand %d: shape %v is unknown or empty", x, o.Dimensions)
	}
	t := tflitefile.Tensor{Name: o.Name, Type: code, Along: 0}
	if t.Name == "" {
		t.Name = fmt.Sprintf("operand%d", x)
	}
	for _, d := range o.Dimensions {
		if d > math.MaxInt32 {
			failf("operand %d: shape %v", x, o.Dimensions)
		}
		t.Shape = append(t.Shape, int32(d))
	}
	switch {
	case o.Channel != nil:
		t.Scale, t.Zero, t.Along = o.Channel.Scales, make([]int64, len(o.Channel.Scales)), int(o.Channel.Dim)
	case o.Scale != 0:
		t.Scale, t.Zero = []float32{o.Scale}, []int64{int64(o.ZeroPoint)}
	}
	if o.IsConst() {
		t.Data = o.Data
	}
	g.tensors[x] = g.add(t)
	return g.tensors[x]
}

// add appends a tensor.
func (g *graph) add(t tflitefile.Tensor) int32 {
	g.out.Tensors = append(g.out.Tensors, t)
	return int32(len(g.out.Tensors) - 1)
}

// ints adds a constant of integers.
func (g *graph) ints(name string, shape []int32, values ...int32) int32 {
	var data []byte
	for _, v := range values {
		data = binary.LittleEndian.AppendUint32(data, uint32(v))
	}
	return g.add(tflitefile.Tensor{Name: name, Type: typeInt32, Shape: shape, Data: data})
}

// vector adds a constant vector of integers.
func (g *graph) vector(name string, values ...int32) int32 {
	return g.ints(name, []int32{int32(len(values))}, values...)
}

// like adds a tensor of the type and quantization of tensor t.
func (g *graph) like(t int32, name string, shape []int32, data []byte) int32 {
	n := g.out.Tensors[t]
	n.Name, n.Shape, n.Data, n.Variable = name, shape, data, false
	return g.add(n)
}

// bias is the bias of a product as a tensor: with scales per channel the format
// states them, NNAPI does not.
func (c *call) bias(filter, bias string) int32 {
	t := c.tensor(c.args.In(bias))
	if t == omitted {
		return t
	}
	f := c.operand(filter)
	if f.Channel != nil && c.operand(bias).Type == nn.TensorInt32 {
		scales := make([]float32, len(f.Channel.Scales))
		for i, s := range f.Channel.Scales {
			scales[i] = s * c.operand("input").Scale
		}
		b := &c.out.Tensors[t]
		b.Scale, b.Zero, b.Along = scales, make([]int64, len(scales)), 0
	}
	return t
}
