// Package tflitefile writes files of the TensorFlow Lite format from tables of values.
package tflitefile

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"

	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/nnsoc/nnsoc/importer/tflite/internal/schema"
)

// Table is a table of the format by names of its fields: numbers, booleans,
// strings, slices of numbers, Tables and slices of Tables. A union is a Table;
// the field before it names its kind.
type Table map[string]any

// Model is a file.
type Model struct {
	Subgraphs  []Subgraph
	Metadata   []Metadata
	Signatures []Signature
	buffers    []Table
	codes      []Table
}

// Metadata is a named buffer that belongs to no tensor.
type Metadata struct {
	Name string
	Data []byte
}

// Signature is a name for a subgraph, with names for its inputs and outputs in their order; "" is none.
type Signature struct {
	Key             string
	Subgraph        int
	Inputs, Outputs []string
}

// table is the signature in the file, given the tensors of its subgraph.
func (s *Signature) table(g *Subgraph) Table {
	maps := func(names []string, tensors []int32) (l []Table) {
		for i, n := range names {
			if n != "" {
				l = append(l, Table{"name": n, "tensor_index": int(tensors[i])})
			}
		}
		return l
	}
	return Table{"signature_key": s.Key, "subgraph_index": s.Subgraph, "inputs": maps(s.Inputs, g.Inputs), "outputs": maps(s.Outputs, g.Outputs)}
}

// Subgraph is one subgraph; inputs and outputs are indices of tensors.
type Subgraph struct {
	Tensors         []Tensor
	Inputs, Outputs []int32
	Operators       []Operator
}

// Tensor is a tensor; Data makes it a constant.
type Tensor struct {
	Name     string
	Type     int // code of the format
	Shape    []int32
	Data     []byte
	Scale    []float32
	Zero     []int64
	Along    int // dimension of several scales
	Variable bool
	More     Table // other fields
}

// Operator applies a builtin operator, or a custom one by name.
type Operator struct {
	Code            int
	Custom          string
	Version         int
	Inputs, Outputs []int32
	Kind            string // name of the table of options
	Options         Table
	CustomOptions   []byte
	Inner           []int32
}

// Bytes writes the file.
func (m *Model) Bytes() []byte {
	w := writer{flatbuffers.NewBuilder(1024)}
	m.buffers, m.codes = []Table{{}}, nil
	var subgraphs []Table
	for _, s := range m.Subgraphs {
		t := Table{"inputs": s.Inputs, "outputs": s.Outputs}
		var tensors, operators []Table
		for _, x := range s.Tensors {
			tensors = append(tensors, m.tensor(x))
		}
		for _, o := range s.Operators {
			operators = append(operators, m.operator(o))
		}
		t["tensors"], t["operators"] = tensors, operators
		subgraphs = append(subgraphs, t)
	}
	model := Table{"version": 3, "subgraphs": subgraphs, "operator_codes": m.codes}
	var metadata []Table
	for _, d := range m.Metadata {
		metadata = append(metadata, Table{"name": d.Name, "buffer": len(m.buffers)})
		m.buffers = append(m.buffers, Table{"data": d.Data})
	}
	if metadata != nil {
		model["metadata"] = metadata
	}
	var signatures []Table
	for _, s := range m.Signatures {
		signatures = append(signatures, s.table(&m.Subgraphs[min(s.Subgraph, len(m.Subgraphs)-1)]))
	}
	if signatures != nil {
		model["signature_defs"] = signatures
	}
	model["buffers"] = m.buffers
	root := w.table("Model", model)
	w.b.FinishWithFileIdentifier(root, []byte("TFL3"))
	return w.b.FinishedBytes()
}

func (m *Model) tensor(x Tensor) Table {
	t := Table{"name": x.Name, "type": x.Type, "shape": x.Shape, "is_variable": x.Variable}
	if x.Data != nil {
		t["buffer"] = len(m.buffers)
		m.buffers = append(m.buffers, Table{"data": x.Data})
	}
	if x.Scale != nil {
		t["quantization"] = Table{"scale": x.Scale, "zero_point": x.Zero, "quantized_dimension": x.Along}
	}
	maps.Copy(t, x.More)
	return t
}

func (m *Model) operator(o Operator) Table {
	t := Table{"opcode_index": len(m.codes), "inputs": o.Inputs, "outputs": o.Outputs}
	m.codes = append(m.codes, Table{
		"deprecated_builtin_code": min(o.Code, 127), "builtin_code": o.Code, "custom_code": o.Custom, "version": max(o.Version, 1),
	})
	if i := slices.Index(schema.OptionUnion2, o.Kind); i >= 0 {
		t["options2_type"], t["options2"] = i+1, typed{o.Kind, o.Options}
	} else if o.Kind != "" {
		t["options_type"], t["options"] = slices.Index(schema.OptionUnion, o.Kind)+1, typed{o.Kind, o.Options}
	}
	if o.CustomOptions != nil {
		t["custom_options"] = o.CustomOptions
	}
	if o.Inner != nil {
		t["intermediates"] = o.Inner
	}
	return t
}

// typed is a table of a union.
type typed struct {
	kind  string
	table Table
}

// Union is a table in a field of a union.
func Union(kind string, t Table) any { return typed{kind, t} }

type writer struct{ b *flatbuffers.Builder }

// dataAlignment is the alignment of constants that readers which map a file expect (force_align of Buffer.data in the
// schema).
const dataAlignment = 16

// table writes the objects that the fields refer to, then the table.
func (w writer) table(name string, t Table) flatbuffers.UOffsetT {
	of := schema.Types()[name]
	if of == nil {
		panic("tflitefile: no table " + name)
	}
	for k := range t {
		of.ID(k)
	}
	refs := make([]flatbuffers.UOffsetT, len(of.Fields))
	for i, f := range of.Fields {
		if v, ok := t[f.Name]; ok {
			refs[i] = w.reference(&f, v)
		}
	}
	w.b.StartObject(len(of.Fields))
	for i, f := range of.Fields {
		v, ok := t[f.Name]
		switch {
		case !ok:
		case f.Kind == schema.Scalar:
			w.scalar(i, &f, number(v))
		case refs[i] != 0:
			w.b.PrependUOffsetTSlot(i, refs[i], 0)
		}
	}
	return w.b.EndObject()
}

func (w writer) scalar(slot int, f *schema.Field, v float64) {
	switch {
	case f.Bytes == 1:
		w.b.PrependInt8(int8(v))
	case f.Float:
		w.b.PrependFloat32(float32(v))
	case f.Bytes == 4:
		w.b.PrependInt32(int32(int64(v)))
	default:
		w.b.PrependInt64(int64(v))
	}
	w.b.Slot(slot)
}

func (w writer) reference(f *schema.Field, v any) flatbuffers.UOffsetT {
	switch f.Kind {
	case schema.Text:
		return w.b.CreateString(v.(string))
	case schema.Vector:
		return w.vector(f, v)
	case schema.SubTable:
		return w.table(f.Of.Name, v.(Table))
	case schema.Union:
		u := v.(typed)
		return w.table(u.kind, u.table)
	case schema.Tables:
		list := v.([]Table)
		at := make([]flatbuffers.UOffsetT, len(list))
		for i, t := range list {
			at[i] = w.table(f.Of.Name, t)
		}
		w.b.StartVector(4, len(at), 4)
		for i := len(at) - 1; i >= 0; i-- {
			w.b.PrependUOffsetT(at[i])
		}
		return w.b.EndVector(len(at))
	}
	return 0
}

func (w writer) vector(f *schema.Field, v any) flatbuffers.UOffsetT {
	if b, ok := v.([]byte); ok && f.Bytes == 1 {
		w.b.Prep(dataAlignment, len(b))
		return w.b.CreateByteVector(b)
	}
	list := reflect.ValueOf(v)
	w.b.StartVector(f.Bytes, list.Len(), f.Bytes)
	for i := list.Len() - 1; i >= 0; i-- {
		x := number(list.Index(i).Interface())
		switch {
		case f.Float:
			w.b.PrependUint32(math.Float32bits(float32(x)))
		case f.Bytes == 1:
			w.b.PrependUint8(uint8(int64(x)))
		case f.Bytes == 2:
			w.b.PrependUint16(uint16(int64(x)))
		case f.Bytes == 4:
			w.b.PrependInt32(int32(int64(x)))
		default:
			w.b.PrependInt64(int64(x))
		}
	}
	return w.b.EndVector(list.Len())
}

func number(v any) float64 {
	r := reflect.ValueOf(v)
	switch {
	case r.CanInt():
		return float64(r.Int())
	case r.CanUint():
		return float64(r.Uint())
	case r.CanFloat():
		return r.Float()
	case r.Kind() == reflect.Bool:
		if r.Bool() {
			return 1
		}
		return 0
	}
	panic(fmt.Sprintf("tflitefile: %v is no number", v))
}
