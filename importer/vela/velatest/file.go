// Package velatest writes small TensorFlow Lite files as Vela does, for tests.
package velatest

import (
	"encoding/binary"

	flatbuffers "github.com/google/flatbuffers/go"
)

// Types of tensors, as the format numbers them.
const (
	Float32 = 0
	Int32   = 2
	UInt8   = 3
	String  = 5
	Int8    = 9
)

// Tensor is a tensor of a File. Without Scale it has no quantization.
type Tensor struct {
	Name      string
	Type      int8
	Shape     []int32
	Data      []byte // of a constant
	Scale     float32
	ZeroPoint int64
	Offset    int32 // in the arena, -1 for none
}

// Operator applies a builtin operator without options, or with Custom an
// operator of that name.
type Operator struct {
	Builtin         int32
	Custom          string
	Inputs, Outputs []int32
}

// File is a network of one subgraph.
type File struct {
	Tensors         []Tensor
	Operators       []Operator
	Inputs, Outputs []int32
	NoOffsets       bool // leave OfflineMemoryAllocation out
}

const customBuiltin = 32

// Bytes is the file.
func (f *File) Bytes() []byte {
	b := flatbuffers.NewBuilder(1024)
	var tensors, operators, codes, metadata []flatbuffers.UOffsetT
	buffers := []flatbuffers.UOffsetT{buffer(b, nil)} // 0 is the empty one
	for i := range f.Tensors {
		t := &f.Tensors[i]
		at := 0
		if t.Data != nil {
			at = len(buffers)
			buffers = append(buffers, buffer(b, t.Data))
		}
		tensors = append(tensors, t.write(b, at))
	}
	for i := range f.Operators {
		op := &f.Operators[i]
		codes = append(codes, op.code(b))
		in, out := ints(b, op.Inputs), ints(b, op.Outputs)
		b.StartObject(9)
		b.PrependUint32Slot(0, uint32(i), 0)
		b.PrependUOffsetTSlot(1, in, 0)
		b.PrependUOffsetTSlot(2, out, 0)
		operators = append(operators, b.EndObject())
	}
	if !f.NoOffsets {
		name := b.CreateString("OfflineMemoryAllocation")
		b.StartObject(2)
		b.PrependUOffsetTSlot(0, name, 0)
		b.PrependUint32Slot(1, uint32(len(buffers)), 0)
		metadata = append(metadata, b.EndObject())
		buffers = append(buffers, buffer(b, f.offsets()))
	}
	in, out := ints(b, f.Inputs), ints(b, f.Outputs)
	tv, ov := vector(b, tensors), vector(b, operators)
	b.StartObject(5)
	b.PrependUOffsetTSlot(0, tv, 0)
	b.PrependUOffsetTSlot(1, in, 0)
	b.PrependUOffsetTSlot(2, out, 0)
	b.PrependUOffsetTSlot(3, ov, 0)
	graph := vector(b, []flatbuffers.UOffsetT{b.EndObject()})
	cv, bv, mv := vector(b, codes), vector(b, buffers), vector(b, metadata)
	b.StartObject(8)
	b.PrependUint32Slot(0, 3, 0)
	b.PrependUOffsetTSlot(1, cv, 0)
	b.PrependUOffsetTSlot(2, graph, 0)
	b.PrependUOffsetTSlot(4, bv, 0)
	b.PrependUOffsetTSlot(6, mv, 0)
	b.FinishWithFileIdentifier(b.EndObject(), []byte("TFL3"))
	return b.FinishedBytes()
}

func (t *Tensor) write(b *flatbuffers.Builder, bufferIndex int) flatbuffers.UOffsetT {
	name, shape := b.CreateString(t.Name), ints(b, t.Shape)
	var q flatbuffers.UOffsetT
	if t.Scale != 0 {
		b.StartVector(4, 1, 4)
		b.PrependFloat32(t.Scale)
		scale := b.EndVector(1)
		b.StartVector(8, 1, 8)
		b.PrependInt64(t.ZeroPoint)
		zero := b.EndVector(1)
		b.StartObject(7)
		b.PrependUOffsetTSlot(2, scale, 0)
		b.PrependUOffsetTSlot(3, zero, 0)
		q = b.EndObject()
	}
	b.StartObject(8)
	b.PrependUOffsetTSlot(0, shape, 0)
	b.PrependInt8Slot(1, t.Type, 0)
	b.PrependUint32Slot(2, uint32(bufferIndex), 0)
	b.PrependUOffsetTSlot(3, name, 0)
	b.PrependUOffsetTSlot(4, q, 0)
	return b.EndObject()
}

func (op *Operator) code(b *flatbuffers.Builder) flatbuffers.UOffsetT {
	builtin, custom := op.Builtin, flatbuffers.UOffsetT(0)
	if op.Custom != "" {
		builtin, custom = customBuiltin, b.CreateString(op.Custom)
	}
	b.StartObject(4)
	b.PrependInt8Slot(0, int8(min(builtin, 127)), 0)
	b.PrependUOffsetTSlot(1, custom, 0)
	b.PrependInt32Slot(2, 1, 0)
	b.PrependInt32Slot(3, builtin, 0)
	return b.EndObject()
}

// offsets is the content of OfflineMemoryAllocation.
func (f *File) offsets() []byte {
	var d []byte
	for _, v := range []int32{0, 1, int32(len(f.Tensors))} {
		d = binary.LittleEndian.AppendUint32(d, uint32(v))
	}
	for i := range f.Tensors {
		d = binary.LittleEndian.AppendUint32(d, uint32(f.Tensors[i].Offset))
	}
	return d
}

func buffer(b *flatbuffers.Builder, data []byte) flatbuffers.UOffsetT {
	var v flatbuffers.UOffsetT
	if data != nil {
		b.StartVector(1, len(data), 16)
		for i := len(data) - 1; i >= 0; i-- {
			b.PrependByte(data[i])
		}
		v = b.EndVector(len(data))
	}
	b.StartObject(1)
	b.PrependUOffsetTSlot(0, v, 0)
	return b.EndObject()
}

func ints(b *flatbuffers.Builder, list []int32) flatbuffers.UOffsetT {
	b.StartVector(4, len(list), 4)
	for i := len(list) - 1; i >= 0; i-- {
		b.PrependInt32(list[i])
	}
	return b.EndVector(len(list))
}

func vector(b *flatbuffers.Builder, list []flatbuffers.UOffsetT) flatbuffers.UOffsetT {
	b.StartVector(4, len(list), 4)
	for i := len(list) - 1; i >= 0; i-- {
		b.PrependUOffsetT(list[i])
	}
	return b.EndVector(len(list))
}
