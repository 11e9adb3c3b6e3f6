package onnxfile

import (
	"errors"
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// Limits of a file, far above those of real networks.
const (
	maxDepth    = 16      // of graphs in attributes of one another
	maxMessages = 1 << 21 // nodes, attributes, tensors, values
	maxDecoded  = 1 << 30 // bytes of lists that are decoded
)

// Is reports whether data has the outline of a ModelProto: nothing but its fields, a graph
// among them. The format has no magic number.
func Is(data []byte) bool {
	graph := false
	for len(data) > 0 {
		num, typ, n := protowire.ConsumeTag(data)
		if n < 0 {
			return false
		}
		want, known := modelFields[num]
		if !known || typ != want {
			return false
		}
		graph = graph || num == 7
		data = data[n:]
		if n = protowire.ConsumeFieldValue(num, typ, data); n < 0 {
			return false
		}
		data = data[n:]
	}
	return graph
}

var modelFields = map[protowire.Number]protowire.Type{
	1: protowire.VarintType, 2: protowire.BytesType, 3: protowire.BytesType, 4: protowire.BytesType, 5: protowire.VarintType,
	6: protowire.BytesType, 7: protowire.BytesType, 8: protowire.BytesType, 14: protowire.BytesType, 20: protowire.BytesType,
	25: protowire.BytesType, 26: protowire.BytesType,
}

// Read parses a file. The result aliases data.
func Read(data []byte) (*Model, error) {
	r := &reader{}
	m := &Model{}
	err := r.fields(data, func(f field) error {
		switch f.num {
		case 1:
			return f.int(&m.IRVersion)
		case 2:
			return f.text(&m.Producer)
		case 7:
			if m.Graph != nil {
				return errors.New("a second graph")
			}
			return sub(f, &m.Graph, r.graph)
		case 8:
			return add(r, f, &m.Opsets, r.opset)
		case 25:
			return add(r, f, &m.Functions, r.function)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("at %w", err)
	}
	if m.Graph == nil {
		return nil, errors.New("no graph")
	}
	return m, nil
}

// ReadTensor parses a file of one TensorProto.
func ReadTensor(data []byte) (*Tensor, error) { return (&reader{}).tensor(data) }

// reader holds the bounds of one file.
type reader struct {
	messages, decoded, depth int
}

// field is one field of a message.
type field struct {
	num protowire.Number
	typ protowire.Type
	val []byte // of bytes
	n   uint64 // of the others
}

// place is an error in a field; nested ones read as a path of field numbers.
type place struct {
	num protowire.Number
	err error
}

func (p *place) Error() string {
	var inner *place
	if errors.As(p.err, &inner) {
		return fmt.Sprintf("field %d, %v", p.num, p.err)
	}
	return fmt.Sprintf("field %d: %v", p.num, p.err)
}

func (p *place) Unwrap() error { return p.err }

// fields calls f for each field of a message.
func (r *reader) fields(data []byte, f func(field) error) error {
	if r.messages++; r.messages > maxMessages {
		return &place{0, fmt.Errorf("more than %d messages", maxMessages)}
	}
	for len(data) > 0 {
		num, typ, n := protowire.ConsumeTag(data)
		if n < 0 {
			return &place{0, protowire.ParseError(n)}
		}
		data = data[n:]
		v := field{num: num, typ: typ}
		switch typ {
		case protowire.VarintType:
			v.n, n = protowire.ConsumeVarint(data)
		case protowire.Fixed32Type:
			var x uint32
			x, n = protowire.ConsumeFixed32(data)
			v.n = uint64(x)
		case protowire.Fixed64Type:
			v.n, n = protowire.ConsumeFixed64(data)
		case protowire.BytesType:
			v.val, n = protowire.ConsumeBytes(data)
		default:
			n = protowire.ConsumeFieldValue(num, typ, data)
		}
		if n < 0 {
			return &place{num, protowire.ParseError(n)}
		}
		data = data[n:]
		if err := f(v); err != nil {
			return &place{num, err}
		}
	}
	return nil
}

func (f field) expect(t protowire.Type) error {
	if f.typ != t {
		return fmt.Errorf("wire type %d, want %d", f.typ, t)
	}
	return nil
}

func (f field) int(p *int64) error {
	*p = int64(f.n)
	return f.expect(protowire.VarintType)
}

func (f field) text(p *string) error {
	*p = string(f.val)
	return f.expect(protowire.BytesType)
}

func (f field) texts(p *[]string) error {
	*p = append(*p, string(f.val))
	return f.expect(protowire.BytesType)
}

// sub reads a message that a message holds once.
func sub[T any](f field, p *T, read func([]byte) (T, error)) (err error) {
	if err := f.expect(protowire.BytesType); err != nil {
		return err
	}
	*p, err = read(f.val)
	return err
}

// add reads a message that a message holds repeatedly.
func add[T any](r *reader, f field, p *[]T, read func([]byte) (T, error)) error {
	var v T
	if err := sub(f, &v, read); err != nil {
		return err
	}
	*p = append(*p, v)
	return nil
}

// decode charges n bytes of decoded lists.
func (r *reader) decode(n int) error {
	if r.decoded += n; r.decoded > maxDecoded {
		return fmt.Errorf("lists of more than %d MiB", maxDecoded>>20)
	}
	return nil
}

// varints appends a repeated field of integers, packed or not.
func varints[T int32 | int64 | uint64](r *reader, f field, p *[]T) error {
	if f.typ == protowire.VarintType {
		*p = append(*p, T(f.n))
		return r.decode(8)
	}
	if err := f.expect(protowire.BytesType); err != nil {
		return err
	}
	count := 0
	for _, b := range f.val {
		if b < 0x80 {
			count++
		}
	}
	if err := r.decode(8 * count); err != nil {
		return err
	}
	list := make([]T, 0, count)
	for data := f.val; len(data) > 0; {
		v, n := protowire.ConsumeVarint(data)
		if n < 0 {
			return protowire.ParseError(n)
		}
		list, data = append(list, T(v)), data[n:]
	}
	*p = append(*p, list...)
	return nil
}

// floats appends a repeated field of float32, packed or not.
func floats(r *reader, f field, p *[]float32) error {
	if f.typ == protowire.Fixed32Type {
		*p = append(*p, math.Float32frombits(uint32(f.n)))
		return r.decode(4)
	}
	if err := f.expect(protowire.BytesType); err != nil {
		return err
	}
	if err := r.decode(len(f.val)); err != nil {
		return err
	}
	for data := f.val; len(data) > 0; {
		v, n := protowire.ConsumeFixed32(data)
		if n < 0 {
			return protowire.ParseError(n)
		}
		*p, data = append(*p, math.Float32frombits(v)), data[n:]
	}
	return nil
}

// doubles appends a repeated field of float64, packed or not.
func doubles(r *reader, f field, p *[]float64) error {
	if f.typ == protowire.Fixed64Type {
		*p = append(*p, math.Float64frombits(f.n))
		return r.decode(8)
	}
	if err := f.expect(protowire.BytesType); err != nil {
		return err
	}
	if err := r.decode(len(f.val)); err != nil {
		return err
	}
	for data := f.val; len(data) > 0; {
		v, n := protowire.ConsumeFixed64(data)
		if n < 0 {
			return protowire.ParseError(n)
		}
		*p, data = append(*p, math.Float64frombits(v)), data[n:]
	}
	return nil
}
