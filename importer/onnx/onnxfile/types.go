package onnxfile

import "fmt"

// Model is a ModelProto.
type Model struct {
	IRVersion int64
	Producer  string
	Opsets    []Opset
	Graph     *Graph
	Functions []*Function
}

// Opset is an OperatorSetIdProto: the version of a domain's operators that a model uses.
type Opset struct {
	Domain  string
	Version int64
}

// Graph is a GraphProto.
type Graph struct {
	Name         string
	Nodes        []*Node
	Initializers []*Tensor
	Sparse       []string // names of initializers in sparse form
	Inputs       []*Value
	Outputs      []*Value
	Values       []*Value // value_info
}

// Node is a NodeProto: an operator with its inputs, outputs and attributes. An input or
// output without a name is omitted.
type Node struct {
	Name, Op, Domain string
	Inputs, Outputs  []string
	Attributes       []*Attribute
}

// AttributeType is AttributeProto.AttributeType.
type AttributeType int32

// Types of attributes.
const (
	AttributeUndefined AttributeType = iota
	AttributeFloat
	AttributeInt
	AttributeString
	AttributeTensor
	AttributeGraph
	AttributeFloats
	AttributeInts
	AttributeStrings
)

// Attribute is an AttributeProto. Ref names an attribute of the enclosing function, whose value it has.
type Attribute struct {
	Name    string
	Type    AttributeType
	Ref     string
	Float   float32
	Int     int64
	String  string
	Tensor  *Tensor
	Graph   *Graph
	Floats  []float32
	Ints    []int64
	Strings []string
}

// DataType is TensorProto.DataType.
type DataType int32

// Types of elements.
const (
	Undefined DataType = iota
	Float
	Uint8
	Int8
	Uint16
	Int16
	Int32
	Int64
	String
	Bool
	Float16
	Double
	Uint32
	Uint64
	Complex64
	Complex128
	BFloat16
	Float8E4M3FN
	Float8E4M3FNUZ
	Float8E5M2
	Float8E5M2FNUZ
	Uint4
	Int4
	Float4E2M1
)

var dataTypes = [...]struct {
	name string
	bits int
}{
	Undefined: {"UNDEFINED", 0}, Float: {"FLOAT", 32}, Uint8: {"UINT8", 8}, Int8: {"INT8", 8}, Uint16: {"UINT16", 16},
	Int16: {"INT16", 16}, Int32: {"INT32", 32}, Int64: {"INT64", 64}, String: {"STRING", 0}, Bool: {"BOOL", 8},
	Float16: {"FLOAT16", 16}, Double: {"DOUBLE", 64}, Uint32: {"UINT32", 32}, Uint64: {"UINT64", 64},
	Complex64: {"COMPLEX64", 64}, Complex128: {"COMPLEX128", 128}, BFloat16: {"BFLOAT16", 16},
	Float8E4M3FN: {"FLOAT8E4M3FN", 8}, Float8E4M3FNUZ: {"FLOAT8E4M3FNUZ", 8}, Float8E5M2: {"FLOAT8E5M2", 8},
	Float8E5M2FNUZ: {"FLOAT8E5M2FNUZ", 8}, Uint4: {"UINT4", 4}, Int4: {"INT4", 4}, Float4E2M1: {"FLOAT4E2M1", 4},
}

// String returns the specification's name of the type.
func (t DataType) String() string {
	if t >= 0 && int(t) < len(dataTypes) {
		return dataTypes[t].name
	}
	return fmt.Sprintf("type %d", int32(t))
}

// Bits is the size of an element in raw data; 0 for strings and unknown types.
func (t DataType) Bits() int {
	if t >= 0 && int(t) < len(dataTypes) {
		return dataTypes[t].bits
	}
	return 0
}

// Tensor is a TensorProto. Elements are in Raw, little-endian; in the list of their type; or in another file.
type Tensor struct {
	Name    string
	Type    DataType
	Dims    []int64
	Raw     []byte
	Floats  []float32
	Int32s  []int32 // of all types of 32 bits and less but FLOAT
	Int64s  []int64
	Doubles []float64
	Uint64s []uint64 // of UINT32 and UINT64
	Strings [][]byte
	// External are the entries of external_data (location, offset, length, checksum); nil
	// for a tensor in the file.
	External map[string]string
}

// Value is a ValueInfoProto of a tensor.
type Value struct {
	Name string
	Type DataType // Undefined for values other than tensors
	Kind string   // "", "sequence", "map", "optional" or "sparse tensor"
	// Dims are nil where the rank is not stated.
	Dims []Dim
}

// Dim is a dimension: a number above 0, or the file's name of an open one.
type Dim struct {
	Size int64
	Name string
}

// Function is a FunctionProto: an operator that the model defines by others.
type Function struct {
	Name, Domain    string
	Inputs, Outputs []string
	Attributes      []string     // names
	Defaults        []*Attribute // attribute_proto
	Nodes           []*Node
	Opsets          []Opset
}
