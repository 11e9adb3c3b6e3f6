package check

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/cache"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// Tensor is an operand of a lifetime.
func Tensor(t nn.OperandType, l nn.Lifetime, dims ...uint32) nn.Operand {
	o := nn.Operand{Type: t, Dimensions: dims, Lifetime: l}
	if t.IsQuant8() {
		o.Scale = 0.5
		if t == nn.TensorQuant8Asymm {
			o.ZeroPoint = 2
		}
	}
	return o
}

// Int32Scalar is a constant.
func Int32Scalar(v int32) nn.Operand {
	return nn.Operand{Type: nn.Int32, Lifetime: nn.ConstantCopy, Data: binary.LittleEndian.AppendUint32(nil, uint32(v))}
}

// AddModel adds two tensors of a type and 2x3 elements: operands 0 and 1 to 2, with the
// activation in operand 3.
func AddModel(t nn.OperandType) *nn.Model {
	out := Tensor(t, nn.SubgraphOutput, 2, 3)
	if t.IsQuant8() {
		out.Scale = 1
	}
	return &nn.Model{Name: "add", Main: nn.Subgraph{
		Operands: []nn.Operand{Tensor(t, nn.SubgraphInput, 2, 3), Tensor(t, nn.SubgraphInput, 2, 3), out, Int32Scalar(0)},
		Operations: []nn.Operation{
			{Type: nn.OpAdd, Inputs: []uint32{0, 1, 3}, Outputs: []uint32{2}},
		},
		Inputs: []uint32{0, 1}, Outputs: []uint32{2},
	}}
}

// ReluModel is a RELU of a 2x3 tensor whose output has these dimensions in the model.
func ReluModel(t nn.OperandType, dims ...uint32) *nn.Model {
	out := Tensor(t, nn.SubgraphOutput, dims...)
	return &nn.Model{Name: "relu", Main: nn.Subgraph{
		Operands:   []nn.Operand{Tensor(t, nn.SubgraphInput, 2, 3), out},
		Operations: []nn.Operation{{Type: nn.OpRelu, Inputs: []uint32{0}, Outputs: []uint32{1}}},
		Inputs:     []uint32{0}, Outputs: []uint32{1},
	}}
}

// LoopModel counts a TENSOR_INT32 of one element up while it is below 10; endless never
// changes it.
func LoopModel(endless bool) *nn.Model {
	i32 := func(l nn.Lifetime, data []byte) nn.Operand {
		return nn.Operand{Type: nn.TensorInt32, Dimensions: []uint32{1}, Lifetime: l, Data: data}
	}
	ref := nn.SubgraphOperand
	step := byte(1)
	if endless {
		step = 0
	}
	return &nn.Model{
		Name: "loop",
		Main: nn.Subgraph{
			Operands:   []nn.Operand{i32(nn.SubgraphInput, nil), i32(nn.SubgraphOutput, nil), ref(0), ref(1)},
			Operations: []nn.Operation{{Type: nn.OpWhile, Inputs: []uint32{2, 3, 0}, Outputs: []uint32{1}}},
			Inputs:     []uint32{0}, Outputs: []uint32{1},
		},
		Referenced: []nn.Subgraph{
			{
				Operands: []nn.Operand{i32(nn.SubgraphInput, nil), i32(nn.ConstantCopy, []byte{10, 0, 0, 0}),
					{Type: nn.TensorBool8, Dimensions: []uint32{1}, Lifetime: nn.SubgraphOutput}},
				Operations: []nn.Operation{{Type: nn.OpLess, Inputs: []uint32{0, 1}, Outputs: []uint32{2}}},
				Inputs:     []uint32{0}, Outputs: []uint32{2},
			},
			{
				Operands:   []nn.Operand{i32(nn.SubgraphInput, nil), i32(nn.ConstantCopy, []byte{step, 0, 0, 0}), i32(nn.SubgraphOutput, nil), Int32Scalar(0)},
				Operations: []nn.Operation{{Type: nn.OpAdd, Inputs: []uint32{0, 1, 3}, Outputs: []uint32{2}}},
				Inputs:     []uint32{0}, Outputs: []uint32{2},
			},
		},
	}
}

// RequantModel is the operation of the vendor extension: 8-bit integers of another scale.
func RequantModel() *nn.Model {
	m := ReluModel(nn.TensorQuant8Asymm, 2, 3)
	m.Name = "requantize"
	m.Main.Operands[1].Scale = 0.25
	m.Main.Operations[0].Type = nn.OpRequantize
	opspec.Standard().Declare(m)
	return m
}

// Models are valid models of all kinds of operands and lifetimes.
func Models() []*nn.Model {
	return append(Seeds(), LoopModel(false), ChoiceModel(), FillModel(), RequantModel(), ReluModel(nn.TensorFloat32))
}

// types are the operand types of the models that checks run on devices.
var types = []nn.OperandType{nn.TensorFloat32, nn.TensorQuant8Asymm}

// Supports reports whether a device runs a whole model.
func Supports(d hal.Device, m *nn.Model) bool {
	s, err := d.SupportedOperations(m)
	if err != nil {
		return false
	}
	for i := range s {
		if !s[i].OK {
			return false
		}
	}
	return true
}

// Supported is the first model of those made from types that the device runs. A support query that fails is no reason
// to skip a check.
func (t *T) Supported(makeModel func(nn.OperandType) *nn.Model) *nn.Model {
	for _, typ := range types {
		m := makeModel(typ)
		s := V(t.Device.SupportedOperations(m))(t, "getSupportedOperations of "+m.Name)
		if len(s) == len(m.Main.Operations) && !slices.ContainsFunc(s, func(x hal.Support) bool { return !x.OK }) {
			return m
		}
	}
	t.Skipf("%s declines %s", t.Device.Name(), makeModel(types[0]).Name)
	return nil
}

// RequireSupport skips the check if the device declines the model; a query that fails is an error.
func (t *T) RequireSupport(m *nn.Model) {
	t.Supported(func(nn.OperandType) *nn.Model { return m })
}

// Adder prepares the ADD of two tensors.
func (t *T) Adder() (hal.PreparedModel, *nn.Model) {
	m := t.Supported(AddModel)
	return t.Prepare(m, hal.PrepareOptions{}), m
}

func (t *T) Prepare(m *nn.Model, o hal.PrepareOptions) hal.PreparedModel {
	p := V(t.Device.PrepareModel(m, o))(t, "prepareModel")
	return p
}

// Values are inputs of an adder and the output that follows: 1..6 + 6 in real numbers.
func Values(typ nn.OperandType) (inputs [][]byte, want []byte) {
	code := func(out bool, v float64) []byte {
		if typ == nn.TensorFloat32 {
			return binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(v)))
		}
		o := Tensor(typ, nn.SubgraphInput)
		scale := float64(o.Scale)
		if out {
			scale = 1
		}
		return []byte{byte(int(math.Round(v/scale)) + int(o.ZeroPoint))}
	}
	var a, b []byte
	for i := range 6 {
		a, b = append(a, code(false, float64(i+1))...), append(b, code(false, 6)...)
		want = append(want, code(true, float64(i+7))...)
	}
	return [][]byte{a, b}, want
}

// Sums is the request of an adder.
func Sums(m *nn.Model) (b *hal.Buffers, want []byte) {
	in, want := Values(m.Main.Operands[0].Type)
	return &hal.Buffers{Inputs: in, Outputs: [][]byte{make([]byte, len(want))}}, want
}

// Compute executes an adder and compares the output.
func (t *T) Compute(what string, p hal.PreparedModel, m *nn.Model) {
	b, want := Sums(m)
	_, err := hal.Execute(p, b)
	t.OK(what, err)
	t.Same(what, b.Outputs[0], want)
}

// Damaged is a copy of a model with a fault.
func Damaged(m *nn.Model, damage func(g *nn.Subgraph)) *nn.Model {
	c := *m
	c.Main.Operands = append([]nn.Operand(nil), m.Main.Operands...)
	c.Main.Operations = append([]nn.Operation(nil), m.Main.Operations...)
	for i := range c.Main.Operations {
		op := &c.Main.Operations[i]
		op.Inputs, op.Outputs = append([]uint32(nil), op.Inputs...), append([]uint32(nil), op.Outputs...)
	}
	c.Main.Inputs, c.Main.Outputs = append([]uint32(nil), m.Main.Inputs...), append([]uint32(nil), m.Main.Outputs...)
	damage(&c.Main)
	return &c
}

// Measured checks the timing of a successful execution that was measured.
func Measured(t *T, res *hal.Result) {
	d, in := res.Timing.OnDevice, res.Timing.InDriver
	t.Check(d == hal.NoTime || in == hal.NoTime || d <= in, "time on device %d, in driver %d", d, in)
}

// Chain is RELU, RELU6 and RELU1 one after the other.
func Chain(typ nn.OperandType) *nn.Model {
	m := &nn.Model{Name: "chain"}
	g := &m.Main
	for i, l := range []nn.Lifetime{nn.SubgraphInput, nn.TemporaryVariable, nn.TemporaryVariable, nn.SubgraphOutput} {
		g.Operands = append(g.Operands, Tensor(typ, l, 2, 3))
		if i > 0 {
			op := []nn.OperationType{nn.OpRelu, nn.OpRelu6, nn.OpRelu1}[i-1]
			g.Operations = append(g.Operations, nn.Operation{Type: op, Inputs: []uint32{uint32(i - 1)}, Outputs: []uint32{uint32(i)}})
		}
	}
	g.Inputs, g.Outputs = []uint32{0}, []uint32{3}
	return m
}

// Seeds are valid models that are mutated: all kinds of operands and lifetimes.
func Seeds() []*nn.Model {
	filter := Tensor(nn.TensorQuant8Asymm, nn.ConstantCopy, 2, 1, 1, 4)
	filter.Data = make([]byte, 8)
	bias := nn.Operand{Type: nn.TensorInt32, Dimensions: []uint32{2}, Scale: 0.25, Lifetime: nn.ConstantCopy, Data: make([]byte, 8)}
	middle, out := Tensor(nn.TensorQuant8Asymm, nn.TemporaryVariable, 1, 3, 3, 2), Tensor(nn.TensorQuant8Asymm, nn.SubgraphOutput, 1, 3, 3, 2)
	conv := &nn.Model{Name: "conv", Main: nn.Subgraph{
		Operands: []nn.Operand{Tensor(nn.TensorQuant8Asymm, nn.SubgraphInput, 1, 3, 3, 4), filter, bias, Int32Scalar(1), Int32Scalar(1), Int32Scalar(0), middle, out},
		Operations: []nn.Operation{
			{Type: nn.OpConv2D, Inputs: []uint32{0, 1, 2, 3, 4, 4, 5}, Outputs: []uint32{6}},
			{Type: nn.OpRelu6, Inputs: []uint32{6}, Outputs: []uint32{7}},
		},
		Inputs: []uint32{0}, Outputs: []uint32{7},
	}}
	return []*nn.Model{AddModel(nn.TensorFloat32), Chain(nn.TensorQuant8Asymm), conv}
}

// ChoiceModel is IF of two branches, RELU1 and RELU6 of a 2x3 tensor.
func ChoiceModel() *nn.Model {
	ref := nn.SubgraphOperand
	branch := func(op nn.OperationType) nn.Subgraph {
		g := ReluModel(nn.TensorFloat32, 2, 3).Main
		g.Operations[0].Type = op
		return g
	}
	return &nn.Model{Name: "choice", Main: nn.Subgraph{
		Operands: []nn.Operand{{Type: nn.TensorBool8, Dimensions: []uint32{1}, Lifetime: nn.SubgraphInput}, ref(0), ref(1),
			Tensor(nn.TensorFloat32, nn.SubgraphInput, 2, 3), Tensor(nn.TensorFloat32, nn.SubgraphOutput, 2, 3)},
		Operations: []nn.Operation{{Type: nn.OpIf, Inputs: []uint32{0, 1, 2, 3}, Outputs: []uint32{4}}},
		Inputs:     []uint32{0, 3}, Outputs: []uint32{4},
	}, Referenced: []nn.Subgraph{branch(nn.OpRelu1), branch(nn.OpRelu6)}}
}

// FillModel is FILL of a size that an execution brings, then RELU6 and RELU1.
func FillModel() *nn.Model {
	open := func(l nn.Lifetime) nn.Operand {
		return nn.Operand{Type: nn.TensorFloat32, Dimensions: []uint32{0}, Lifetime: l}
	}
	return &nn.Model{Name: "fill", Main: nn.Subgraph{
		Operands: []nn.Operand{
			{Type: nn.TensorInt32, Dimensions: []uint32{1}, Lifetime: nn.SubgraphInput},
			{Type: nn.Float32, Lifetime: nn.ConstantCopy, Data: Floats(1.5)},
			open(nn.TemporaryVariable), open(nn.TemporaryVariable), open(nn.SubgraphOutput),
		},
		Operations: []nn.Operation{
			{Type: nn.OpFill, Inputs: []uint32{0, 1}, Outputs: []uint32{2}},
			{Type: nn.OpRelu6, Inputs: []uint32{2}, Outputs: []uint32{3}},
			{Type: nn.OpRelu1, Inputs: []uint32{3}, Outputs: []uint32{4}},
		},
		Inputs: []uint32{0}, Outputs: []uint32{4},
	}}
}

// Serialized is a model that was written and read again.
func (t *T) Serialized(m *nn.Model) *nn.Model {
	w := &cache.Writer{}
	w.Model(m, true)
	r := cache.NewReader(w.Parts())
	c := r.Model()
	t.OK("a model that was written", r.End())
	return c
}

// Constant is an operand with a value.
func Constant(typ nn.OperandType, data []byte, dims ...uint32) nn.Operand {
	return nn.Operand{Type: typ, Dimensions: dims, Lifetime: nn.ConstantCopy, Data: data}
}

// Contained fails for an error that hides a panic of driver code.
func (t *T) Contained(call string, err error) {
	t.Check(err == nil || !strings.Contains(err.Error(), "panic in "), "%s: %v", call, err)
}
