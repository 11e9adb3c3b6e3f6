package onnxfile

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"
)

// fieldNumber is the number of a struct's field in onnx.proto.
type fieldNumber struct {
	num   protowire.Number
	index int
}

var numberings sync.Map // lists of field numbers by type

// numbered lists the tagged fields of a struct by their numbers.
func numbered(t reflect.Type) []fieldNumber {
	if list, ok := numberings.Load(t); ok {
		return list.([]fieldNumber)
	}
	var list []fieldNumber
	for i := range t.NumField() {
		num, err := strconv.Atoi(t.Field(i).Tag.Get("onnx"))
		if err != nil {
			panic(err) // all fields of messages have tags
		}
		list = append(list, fieldNumber{protowire.Number(num), i})
	}
	slices.SortFunc(list, func(a, b fieldNumber) int { return int(a.num - b.num) })
	numberings.Store(t, list)
	return list
}

// fieldSet is a set of field numbers below 64.
type fieldSet uint64

func (s fieldSet) has(num protowire.Number) bool { return s>>num&1 != 0 }

// entry is a StringStringEntryProto.
type entry struct {
	Key   string `onnx:"1"`
	Value string `onnx:"2"`
}

// Model is a ModelProto.
type Model struct {
	IRVersion int64       `onnx:"1"`
	Producer  string      `onnx:"2"`
	Opsets    []Opset     `onnx:"8"`
	Graph     *Graph      `onnx:"7"`
	Functions []*Function `onnx:"25"`
}

// Opset is an OperatorSetIdProto: the version of a domain's operators that a model uses.
type Opset struct {
	Domain  string `onnx:"1"`
	Version int64  `onnx:"2"`
}

// Graph is a GraphProto.
type Graph struct {
	Name         string         `onnx:"2"`
	Nodes        []*Node        `onnx:"1"`
	Initializers []*Tensor      `onnx:"5"`
	Sparse       []SparseTensor `onnx:"15"`
	Inputs       []*Value       `onnx:"11"`
	Outputs      []*Value       `onnx:"12"`
	Values       []*Value       `onnx:"13"` // value_info
}

// SparseTensor is a SparseTensorProto: the elements that are not 0 of a tensor with the name of Values, and their places,
// either [n] in the order of elements or [n, rank].
type SparseTensor struct {
	Values  Tensor  `onnx:"1"`
	Indices Tensor  `onnx:"2"`
	Dims    []int64 `onnx:"3"`
}

// Node is a NodeProto: an operator with its inputs, outputs and attributes. An input or
// output without a name is omitted.
type Node struct {
	Name       string       `onnx:"3"`
	Op         string       `onnx:"4"`
	Domain     string       `onnx:"7"`
	Inputs     []string     `onnx:"1"`
	Outputs    []string     `onnx:"2"`
	Attributes []*Attribute `onnx:"5"`
}

// AttributeType is AttributeProto.AttributeType. The field of the value of type t is numbered t+1, of a sparse tensor 22.
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
	AttributeTensors
	AttributeGraphs
	AttributeSparse
)

// Attribute is an AttributeProto. Ref names an attribute of the enclosing function, whose value it has.
type Attribute struct {
	Name    string        `onnx:"1"`
	Type    AttributeType `onnx:"20"`
	Ref     string        `onnx:"21"`
	Float   float32       `onnx:"2"`
	Int     int64         `onnx:"3"`
	String  string        `onnx:"4"`
	Tensor  *Tensor       `onnx:"5"`
	Graph   *Graph        `onnx:"6"`
	Floats  []float32     `onnx:"7"`
	Ints    []int64       `onnx:"8"`
	Strings []string      `onnx:"9"`
	Sparse  *SparseTensor `onnx:"22"`
}

// omits leaves out the values of other types.
func (a *Attribute) omits(num protowire.Number) bool {
	if num == 22 {
		return a.Type != AttributeSparse
	}
	return num > 1 && num <= protowire.Number(AttributeStrings)+1 && AttributeType(num-1) != a.Type
}

// check finds the type of an attribute in files of old versions: that of its value.
func (a *Attribute) check(present fieldSet) error {
	for t := AttributeFloat; t <= AttributeStrings && a.Type == AttributeUndefined; t++ {
		if present.has(protowire.Number(t + 1)) {
			a.Type = t
		}
	}
	if a.Ref == "" && (a.Type == AttributeTensor && a.Tensor == nil || a.Type == AttributeGraph && a.Graph == nil || a.Type == AttributeSparse && a.Sparse == nil) {
		return fmt.Errorf("attribute %q has no value of its type %d", a.Name, a.Type)
	}
	return nil
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
	Name    string    `onnx:"8"`
	Type    DataType  `onnx:"2"`
	Dims    []int64   `onnx:"1"`
	Raw     []byte    `onnx:"9"`
	Floats  []float32 `onnx:"4"`
	Int32s  []int32   `onnx:"5"` // of all types of 32 bits and less but FLOAT
	Int64s  []int64   `onnx:"7"`
	Doubles []float64 `onnx:"10"`
	Uint64s []uint64  `onnx:"11"` // of UINT32 and UINT64
	Strings [][]byte  `onnx:"6"`
	// External are the entries of external_data (location, offset, length, checksum), if Location is InOtherFile.
	External map[string]string `onnx:"13"`
	Location Location          `onnx:"14"`
}

// Location is TensorProto.DataLocation.
type Location int32

// InOtherFile is the location EXTERNAL.
const InOtherFile Location = 1

func (t *Tensor) omits(num protowire.Number) bool { return num == 14 && t.Location == 0 }

func (t *Tensor) check(present fieldSet) error {
	switch {
	case present.has(3):
		return errors.New("the tensor is stored in segments, which is not supported")
	case t.Location != InOtherFile:
		t.External = nil
	case t.External["location"] == "":
		return fmt.Errorf("tensor %q is in another file, which its entries do not name", t.Name)
	}
	return nil
}

// Value is a ValueInfoProto.
type Value struct {
	Name string
	Type DataType // Undefined for values other than tensors
	Kind string   // "", "sequence", "map", "optional" or "sparse tensor"
	// Of is what each element of a sequence is, and an optional value where it is there; it has no name.
	Of *Value
	// Dims are nil where the rank is not stated.
	Dims []Dim
}

// valueInfo is a Value as it is written.
type valueInfo struct {
	Name string   `onnx:"1"`
	Type typeInfo `onnx:"2"`
}

// typeInfo is a TypeProto.
type typeInfo struct {
	Tensor struct {
		Type  DataType `onnx:"1"`
		Shape *shape   `onnx:"2"`
	} `onnx:"1"`
	Sequence *elementType `onnx:"4"`
	Map      []byte       `onnx:"5"`
	Sparse   []byte       `onnx:"8"`
	Optional *elementType `onnx:"9"`
}

type elementType struct {
	Type typeInfo `onnx:"1"`
}

type shape struct {
	Dims []Dim `onnx:"1"`
}

func (v *Value) decode(r *reader, data []byte) error {
	var x valueInfo
	err := r.message(data, &x)
	*v = *x.Type.value()
	v.Name = x.Name
	return err
}

// value is a value of the type, without a name.
func (t *typeInfo) value() *Value {
	v := &Value{Type: t.Tensor.Type}
	if t.Tensor.Shape != nil {
		v.Dims = append([]Dim{}, t.Tensor.Shape.Dims...)
	}
	switch {
	case t.Sequence != nil:
		v.Kind, v.Of = "sequence", t.Sequence.Type.value()
	case t.Map != nil:
		v.Kind = "map"
	case t.Sparse != nil:
		v.Kind = "sparse tensor"
	case t.Optional != nil:
		v.Kind, v.Of = "optional", t.Optional.Type.value()
	}
	return v
}

func (v *Value) encode() []byte { return appendMessage(nil, &valueInfo{v.Name, v.typeInfo()}) }

// typeInfo is the type of the value.
func (v *Value) typeInfo() (t typeInfo) {
	switch {
	case v.Kind == "sequence" && v.Of != nil:
		t.Sequence = &elementType{v.Of.typeInfo()}
		return t
	case v.Kind == "optional" && v.Of != nil:
		t.Optional = &elementType{v.Of.typeInfo()}
		return t
	}
	t.Tensor.Type = v.Type
	if v.Dims != nil {
		t.Tensor.Shape = &shape{v.Dims}
	}
	return t
}

// Dim is a dimension: a number above 0, or the file's name of an open one.
type Dim struct {
	Size int64  `onnx:"1"`
	Name string `onnx:"2"`
}

func (d *Dim) omits(num protowire.Number) bool { return num == 1 && d.Name != "" }

// Function is a FunctionProto: an operator that the model defines by others.
type Function struct {
	Name       string       `onnx:"1"`
	Domain     string       `onnx:"10"`
	Inputs     []string     `onnx:"4"`
	Outputs    []string     `onnx:"5"`
	Attributes []string     `onnx:"6"`  // names
	Defaults   []*Attribute `onnx:"11"` // attribute_proto
	Nodes      []*Node      `onnx:"7"`
	Opsets     []Opset      `onnx:"9"`
}
