package conformance

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// tensor is an operand of a lifetime.
func tensor(t nn.OperandType, l nn.Lifetime, dims ...uint32) nn.Operand {
	o := nn.Operand{Type: t, Dimensions: dims, Lifetime: l}
	if t.IsQuant8() {
		o.Scale = 0.5
		if t == nn.TensorQuant8Asymm {
			o.ZeroPoint = 2
		}
	}
	return o
}

// int32Scalar is a constant.
func int32Scalar(v int32) nn.Operand {
	return nn.Operand{Type: nn.Int32, Lifetime: nn.ConstantCopy, Data: binary.LittleEndian.AppendUint32(nil, uint32(v))}
}

// addModel adds two tensors of a type and 2x3 elements: operands 0 and 1 to 2, with the
// activation in operand 3.
func addModel(t nn.OperandType) *nn.Model {
	out := tensor(t, nn.SubgraphOutput, 2, 3)
	if t.IsQuant8() {
		out.Scale = 1
	}
	return &nn.Model{Name: "add", Main: nn.Subgraph{
		Operands: []nn.Operand{tensor(t, nn.SubgraphInput, 2, 3), tensor(t, nn.SubgraphInput, 2, 3), out, int32Scalar(0)},
		Operations: []nn.Operation{
			{Type: nn.OpAdd, Inputs: []uint32{0, 1, 3}, Outputs: []uint32{2}},
		},
		Inputs: []uint32{0, 1}, Outputs: []uint32{2},
	}}
}

// reluModel is a RELU of a 2x3 tensor whose output has these dimensions in the model.
func reluModel(t nn.OperandType, dims ...uint32) *nn.Model {
	out := tensor(t, nn.SubgraphOutput, dims...)
	return &nn.Model{Name: "relu", Main: nn.Subgraph{
		Operands:   []nn.Operand{tensor(t, nn.SubgraphInput, 2, 3), out},
		Operations: []nn.Operation{{Type: nn.OpRelu, Inputs: []uint32{0}, Outputs: []uint32{1}}},
		Inputs:     []uint32{0}, Outputs: []uint32{1},
	}}
}

// loopModel counts a TENSOR_INT32 of one element up while it is below 10; endless never
// changes it.
func loopModel(endless bool) *nn.Model {
	i32 := func(l nn.Lifetime, data []byte) nn.Operand {
		return nn.Operand{Type: nn.TensorInt32, Dimensions: []uint32{1}, Lifetime: l, Data: data}
	}
	ref := func(i byte) nn.Operand {
		return nn.Operand{Type: nn.SubgraphRef, Lifetime: nn.LifetimeSubgraph, Data: []byte{i, 0, 0, 0}}
	}
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
				Operands:   []nn.Operand{i32(nn.SubgraphInput, nil), i32(nn.ConstantCopy, []byte{step, 0, 0, 0}), i32(nn.SubgraphOutput, nil), int32Scalar(0)},
				Operations: []nn.Operation{{Type: nn.OpAdd, Inputs: []uint32{0, 1, 3}, Outputs: []uint32{2}}},
				Inputs:     []uint32{0}, Outputs: []uint32{2},
			},
		},
	}
}

// requantModel is the operation of the vendor extension: 8-bit integers of another scale.
func requantModel() *nn.Model {
	m := reluModel(nn.TensorQuant8Asymm, 2, 3)
	m.Name = "requantize"
	m.Main.Operands[1].Scale = 0.25
	m.Main.Operations[0].Type = nn.OpRequantize
	opspec.Standard().Declare(m)
	return m
}

// Models are valid models of all kinds of operands and lifetimes.
func Models() []*nn.Model {
	return append(seeds(), loopModel(false), choiceModel(), fillModel(), requantModel(), reluModel(nn.TensorFloat32))
}

// types are the operand types of the models that checks run on devices.
var types = []nn.OperandType{nn.TensorFloat32, nn.TensorQuant8Asymm}

// supports reports whether a device runs a whole model.
func supports(d hal.Device, m *nn.Model) bool {
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

// supported is the first model of those made from types that the device runs.
// A support query that fails is no answer that a check could be skipped for.
func (t *T) supported(makeModel func(nn.OperandType) *nn.Model) *nn.Model {
	for _, typ := range types {
		m := makeModel(typ)
		s, err := t.Device.SupportedOperations(m)
		t.OK("getSupportedOperations of "+m.Name, err)
		if len(s) == len(m.Main.Operations) && !slices.ContainsFunc(s, func(x hal.Support) bool { return !x.OK }) {
			return m
		}
	}
	t.Skipf("%s declines %s", t.Device.Name(), makeModel(types[0]).Name)
	return nil
}

// takes ends a check of a model that the device declines. A query that fails is no excuse.
func (t *T) takes(m *nn.Model) {
	t.supported(func(nn.OperandType) *nn.Model { return m })
}

// adder prepares the ADD of two tensors.
func (t *T) adder() (hal.PreparedModel, *nn.Model) {
	m := t.supported(addModel)
	return t.prepare(m, hal.PrepareOptions{}), m
}

func (t *T) prepare(m *nn.Model, o hal.PrepareOptions) hal.PreparedModel {
	p, err := t.Device.PrepareModel(m, o)
	t.OK("prepareModel", err)
	return p
}

// values are inputs of an adder and the output that follows: 1..6 + 6 in real numbers.
func values(typ nn.OperandType) (inputs [][]byte, want []byte) {
	code := func(out bool, v float64) []byte {
		if typ == nn.TensorFloat32 {
			return binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(v)))
		}
		o := tensor(typ, nn.SubgraphInput)
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

// sums is the request of an adder.
func sums(m *nn.Model) (b *hal.Buffers, want []byte) {
	in, want := values(m.Main.Operands[0].Type)
	return &hal.Buffers{Inputs: in, Outputs: [][]byte{make([]byte, len(want))}}, want
}

// compute executes an adder and compares the output.
func (t *T) compute(what string, p hal.PreparedModel, m *nn.Model) {
	b, want := sums(m)
	_, err := hal.Execute(p, b)
	t.OK(what, err)
	t.same(what, b.Outputs[0], want)
}

// same compares bytes.
func (t *T) same(what string, got, want []byte) {
	if !bytes.Equal(got, want) {
		t.Errorf("%s: output %v, want %v", what, got, want)
	}
}

// damaged is a copy of a model with a fault.
func damaged(m *nn.Model, damage func(g *nn.Subgraph)) *nn.Model {
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

// measured checks the timing of a successful execution that was measured.
func measured(t *T, res *hal.Result) {
	d, in := res.Timing.OnDevice, res.Timing.InDriver
	if d != hal.NoTime && in != hal.NoTime && d > in {
		t.Errorf("time on device %d, in driver %d", d, in)
	}
}
