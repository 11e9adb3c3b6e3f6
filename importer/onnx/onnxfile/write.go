package onnxfile

import (
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// Append appends the file of a model.
func Append(b []byte, m *Model) []byte {
	b = integer(b, 1, m.IRVersion)
	b = text(b, 2, m.Producer)
	b = message(b, 7, appendGraph(nil, m.Graph))
	for _, o := range m.Opsets {
		b = message(b, 8, integer(text(nil, 1, o.Domain), 2, o.Version))
	}
	for _, f := range m.Functions {
		b = message(b, 25, appendFunction(nil, f))
	}
	return b
}

func message(b []byte, num protowire.Number, body []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, num, protowire.BytesType), body)
}

func text(b []byte, num protowire.Number, s string) []byte {
	if s == "" {
		return b
	}
	return message(b, num, []byte(s))
}

// texts writes empty ones too: they are omitted inputs.
func texts(b []byte, num protowire.Number, list []string) []byte {
	for _, s := range list {
		b = message(b, num, []byte(s))
	}
	return b
}

func integer(b []byte, num protowire.Number, v int64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, num, protowire.VarintType), uint64(v))
}

func packedInts[T int32 | int64 | uint64](b []byte, num protowire.Number, list []T) []byte {
	if len(list) == 0 {
		return b
	}
	var body []byte
	for _, v := range list {
		body = protowire.AppendVarint(body, uint64(v))
	}
	return message(b, num, body)
}

func packedFloats(b []byte, num protowire.Number, list []float32) []byte {
	if len(list) == 0 {
		return b
	}
	var body []byte
	for _, v := range list {
		body = protowire.AppendFixed32(body, math.Float32bits(v))
	}
	return message(b, num, body)
}

func appendGraph(b []byte, g *Graph) []byte {
	for _, n := range g.Nodes {
		b = message(b, 1, appendNode(nil, n))
	}
	b = text(b, 2, g.Name)
	for _, t := range g.Initializers {
		b = message(b, 5, appendTensor(nil, t))
	}
	for i, list := range [][]*Value{g.Inputs, g.Outputs, g.Values} {
		for _, v := range list {
			b = message(b, protowire.Number(11+i), appendValue(nil, v))
		}
	}
	return b
}

func appendNode(b []byte, n *Node) []byte {
	b = texts(b, 1, n.Inputs)
	b = texts(b, 2, n.Outputs)
	b = text(b, 3, n.Name)
	b = text(b, 4, n.Op)
	for _, a := range n.Attributes {
		b = message(b, 5, appendAttribute(nil, a))
	}
	return text(b, 7, n.Domain)
}

func appendAttribute(b []byte, a *Attribute) []byte {
	b = text(b, 1, a.Name)
	switch a.Type {
	case AttributeFloat:
		b = protowire.AppendFixed32(protowire.AppendTag(b, 2, protowire.Fixed32Type), math.Float32bits(a.Float))
	case AttributeInt:
		b = integer(b, 3, a.Int)
	case AttributeString:
		b = message(b, 4, []byte(a.String))
	case AttributeTensor:
		b = message(b, 5, appendTensor(nil, a.Tensor))
	case AttributeGraph:
		b = message(b, 6, appendGraph(nil, a.Graph))
	case AttributeFloats:
		b = packedFloats(b, 7, a.Floats)
	case AttributeInts:
		b = packedInts(b, 8, a.Ints)
	case AttributeStrings:
		b = texts(b, 9, a.Strings)
	}
	b = integer(b, 20, int64(a.Type))
	return text(b, 21, a.Ref)
}

// appendTensor appends a tensor, with its entries of external data where it has some.
func appendTensor(b []byte, t *Tensor) []byte {
	b = packedInts(b, 1, t.Dims)
	b = integer(b, 2, int64(t.Type))
	b = packedFloats(b, 4, t.Floats)
	b = packedInts(b, 5, t.Int32s)
	for _, s := range t.Strings {
		b = message(b, 6, s)
	}
	b = packedInts(b, 7, t.Int64s)
	b = text(b, 8, t.Name)
	if t.Raw != nil {
		b = message(b, 9, t.Raw)
	}
	if len(t.Doubles) > 0 {
		var body []byte
		for _, v := range t.Doubles {
			body = protowire.AppendFixed64(body, math.Float64bits(v))
		}
		b = message(b, 10, body)
	}
	b = packedInts(b, 11, t.Uint64s)
	if t.External == nil {
		return b
	}
	for _, key := range []string{"location", "offset", "length", "checksum"} {
		if v, ok := t.External[key]; ok {
			b = message(b, 13, text(text(nil, 1, key), 2, v))
		}
	}
	return integer(b, 14, 1)
}

func appendValue(b []byte, v *Value) []byte {
	b = text(b, 1, v.Name)
	tensor := integer(nil, 1, int64(v.Type))
	if v.Dims != nil {
		var shape []byte
		for _, d := range v.Dims {
			if d.Name != "" {
				shape = message(shape, 1, text(nil, 2, d.Name))
			} else {
				shape = message(shape, 1, integer(nil, 1, d.Size))
			}
		}
		tensor = message(tensor, 2, shape)
	}
	return message(b, 2, message(nil, 1, tensor))
}

func appendFunction(b []byte, f *Function) []byte {
	b = text(b, 1, f.Name)
	b = texts(b, 4, f.Inputs)
	b = texts(b, 5, f.Outputs)
	b = texts(b, 6, f.Attributes)
	for _, n := range f.Nodes {
		b = message(b, 7, appendNode(nil, n))
	}
	for _, o := range f.Opsets {
		b = message(b, 9, integer(text(nil, 1, o.Domain), 2, o.Version))
	}
	b = text(b, 10, f.Domain)
	for _, a := range f.Defaults {
		b = message(b, 11, appendAttribute(nil, a))
	}
	return b
}
