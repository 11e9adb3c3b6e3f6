package nn

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// OperandType is a NNAPI operand type code.
type OperandType int32

// Operand types of HAL 1.0 to 1.3.
const (
	Float32                    OperandType = 0
	Int32                      OperandType = 1
	Uint32                     OperandType = 2
	TensorFloat32              OperandType = 3
	TensorInt32                OperandType = 4
	TensorQuant8Asymm          OperandType = 5
	Bool                       OperandType = 6
	TensorQuant16Symm          OperandType = 7
	TensorFloat16              OperandType = 8
	TensorBool8                OperandType = 9
	Float16                    OperandType = 10
	TensorQuant8SymmPerChannel OperandType = 11
	TensorQuant16Asymm         OperandType = 12
	TensorQuant8Symm           OperandType = 13
	TensorQuant8AsymmSigned    OperandType = 14
	SubgraphRef                OperandType = 15
)

type operandInfo struct {
	name  string
	bytes int
}

var operandInfos = [...]operandInfo{
	Float32:                    {"FLOAT32", 4},
	Int32:                      {"INT32", 4},
	Uint32:                     {"UINT32", 4},
	TensorFloat32:              {"TENSOR_FLOAT32", 4},
	TensorInt32:                {"TENSOR_INT32", 4},
	TensorQuant8Asymm:          {"TENSOR_QUANT8_ASYMM", 1},
	Bool:                       {"BOOL", 1},
	TensorQuant16Symm:          {"TENSOR_QUANT16_SYMM", 2},
	TensorFloat16:              {"TENSOR_FLOAT16", 2},
	TensorBool8:                {"TENSOR_BOOL8", 1},
	Float16:                    {"FLOAT16", 2},
	TensorQuant8SymmPerChannel: {"TENSOR_QUANT8_SYMM_PER_CHANNEL", 1},
	TensorQuant16Asymm:         {"TENSOR_QUANT16_ASYMM", 2},
	TensorQuant8Symm:           {"TENSOR_QUANT8_SYMM", 1},
	TensorQuant8AsymmSigned:    {"TENSOR_QUANT8_ASYMM_SIGNED", 1},
	SubgraphRef:                {"SUBGRAPH", 0},
}

// Valid reports whether t is a type of HAL 1.0 to 1.3. Types of extensions are not.
func (t OperandType) Valid() bool { return t >= 0 && int(t) < len(operandInfos) }

// String returns the HAL's name of the type.
func (t OperandType) String() string {
	if t.Valid() {
		return operandInfos[t].name
	}
	switch t {
	case OEM:
		return "OEM"
	case TensorOEMByte:
		return "TENSOR_OEM_BYTE"
	}
	if x := extensionOperand(t); x != nil {
		return x.name
	}
	if IsExtensionOperandType(t) {
		return extensionText("OperandType", int32(t))
	}
	return fmt.Sprintf("OperandType(%d)", int32(t))
}

// ElementBytes is the size of a scalar of the type or of one tensor element; 0 when only
// a driver knows it, for OEM and a type of an extension that this package does not have.
func (t OperandType) ElementBytes() int {
	if t.Valid() {
		return operandInfos[t].bytes
	}
	if t == TensorOEMByte {
		return 1
	}
	if x := extensionOperand(t); x != nil {
		return int(x.ByteSize)
	}
	return 0
}

// IsScalar reports whether operands of the type have no dimensions. A type of an
// extension that this package does not have counts as one of tensors.
func (t OperandType) IsScalar() bool {
	switch t {
	case Float32, Int32, Uint32, Bool, Float16, SubgraphRef, OEM:
		return true
	}
	return false
}

// IsQuant8 reports whether elements are 8-bit quantized activations.
func (t OperandType) IsQuant8() bool {
	return t == TensorQuant8Asymm || t == TensorQuant8AsymmSigned
}

// ParseOperandType is the inverse of String.
func ParseOperandType(name string) (OperandType, bool) {
	for t, i := range operandInfos {
		if i.name == name {
			return OperandType(t), true
		}
	}
	for _, e := range vendorExtensions {
		for n, x := range e.types {
			if x.name == name {
				return OperandType(ExtensionCode(e.Prefix, uint16(n))), true
			}
		}
	}
	return 0, false
}

// Lifetime is where the value of an operand is stored.
type Lifetime int32

// Lifetimes of HAL 1.3, which counts them from 0: TemporaryVariable + 2 is SubgraphOutput, 2 in OperandLifeTime.
const (
	TemporaryVariable Lifetime = iota + 1
	SubgraphInput
	SubgraphOutput
	ConstantCopy
	ConstantReference
	NoValue
	LifetimeSubgraph
)

var lifetimeNames = [...]string{
	"TEMPORARY_VARIABLE", "SUBGRAPH_INPUT", "SUBGRAPH_OUTPUT", "CONSTANT_COPY",
	"CONSTANT_REFERENCE", "NO_VALUE", "SUBGRAPH",
}

// String returns the HAL's name of the lifetime.
func (l Lifetime) String() string {
	if n := l.HAL(); n >= 0 && int(n) < len(lifetimeNames) {
		return lifetimeNames[n]
	}
	return fmt.Sprintf("Lifetime(%d)", l.HAL())
}

// HAL returns the number of the lifetime in OperandLifeTime.
func (l Lifetime) HAL() int32 { return int32(l - TemporaryVariable) }

// ParseLifetime is the inverse of String.
func ParseLifetime(name string) (Lifetime, bool) {
	for l, n := range lifetimeNames {
		if n == name {
			return TemporaryVariable + Lifetime(l), true
		}
	}
	return 0, false
}

// ChannelQuant are the parameters of TENSOR_QUANT8_SYMM_PER_CHANNEL:
// one scale per index of dimension Dim; the zero point is 0.
type ChannelQuant struct {
	Dim    uint32
	Scales []float32
}

// Operand is one value of a subgraph. A dimension of 0 is unknown, except in
// a request, where it is a zero-sized tensor; a tensor with no dimensions at
// all has unknown rank.
type Operand struct {
	Type       OperandType
	Dimensions []uint32
	Scale      float32
	ZeroPoint  int32
	Channel    *ChannelQuant // only TENSOR_QUANT8_SYMM_PER_CHANNEL
	Extension  []byte        // extraParams.extension: data of an extension's type about the operand
	Lifetime   Lifetime
	// Data is the value of a constant: dense, row-major, little-endian. For
	// LifetimeSubgraph it is a uint32 index into Model.Referenced.
	Data []byte
	// Name is a label for reports; it has no meaning.
	Name string
	// Unmerged is the shape that an input or output of the network has in its file, where that has more than four
	// dimensions: an importer merges the first of them in Dimensions. Files and reports have it; it stays with the client.
	Unmerged []uint32
}

// Unmerge is the shape in files and reports of a tensor of this operand whose dimensions are dims: Unmerged where it
// has as many elements.
func (o *Operand) Unmerge(dims []uint32) []uint32 {
	if o.Unmerged != nil && Elements(o.Unmerged) == Elements(dims) {
		return o.Unmerged
	}
	return dims
}

// IsConst reports whether the operand's value is part of the model.
func (o *Operand) IsConst() bool {
	return o.Lifetime == ConstantCopy || o.Lifetime == ConstantReference
}

// SubgraphOperand is an operand of type SUBGRAPH that refers to a subgraph of Model.Referenced.
func SubgraphOperand(k uint32) Operand {
	return Operand{Type: SubgraphRef, Lifetime: LifetimeSubgraph, Data: binary.LittleEndian.AppendUint32(nil, k)}
}

// Subgraph is the index into Model.Referenced that an operand of type SUBGRAPH has; ok is
// false for another.
func (o *Operand) Subgraph() (k uint32, ok bool) {
	if o.Type != SubgraphRef || o.Lifetime != LifetimeSubgraph || len(o.Data) != 4 {
		return 0, false
	}
	return binary.LittleEndian.Uint32(o.Data), true
}

// Known reports whether rank and every dimension are known.
func (o *Operand) Known() bool {
	if o.Type.IsScalar() || len(o.Dimensions) == 0 && IsForeign(o.Type) {
		return true
	}
	return len(o.Dimensions) > 0 && !slices.Contains(o.Dimensions, 0)
}

// Elements is the product of the dimensions, 1 for a scalar. It is 0 when a
// dimension is 0 and -1 when the product exceeds the addressable size.
func (o *Operand) Elements() int64 { return Elements(o.Dimensions) }

// Bytes is the dense size of the value, -1 when it is not addressable.
func (o *Operand) Bytes() int64 {
	n := o.Elements()
	if n < 0 {
		return -1
	}
	return n * int64(o.Type.ElementBytes())
}

// MaxElements bounds one tensor: 2^31-1 elements, as HIDL's uint32 lengths do.
const MaxElements = 1<<31 - 1

// Elements is the product of dims, or -1 when it exceeds MaxElements.
func Elements(dims []uint32) int64 {
	n := int64(1)
	for _, d := range dims {
		if d != 0 && n > MaxElements/int64(d) {
			return -1
		}
		n *= int64(d)
	}
	return n
}
