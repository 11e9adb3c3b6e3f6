package onnxfile

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// Limits of a file, far above those of real networks.
const (
	maxDepth    = 64      // of messages in one another: a graph in an attribute of another is three
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
	m := &Model{}
	err := (&reader{}).message(data, m)
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, fmt.Errorf("at %w: the file of %d bytes is cut off, or is no ONNX model", err, len(data))
	case err != nil && !Is(data):
		return nil, fmt.Errorf("at %w: the file is damaged, or is no ONNX model", err)
	case err != nil:
		return nil, fmt.Errorf("at %w", err)
	case m.Graph == nil:
		return nil, errors.New("no graph")
	}
	return m, nil
}

// ReadTensor parses a file of one TensorProto.
func ReadTensor(data []byte) (*Tensor, error) {
	t := &Tensor{}
	return t, (&reader{}).message(data, t)
}

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
		case protowire.VarintType, protowire.Fixed32Type, protowire.Fixed64Type:
			v.n, n = number(typ, data)
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

// number reads a number of a wire type; the count of bytes is negative for an error.
func number(t protowire.Type, data []byte) (uint64, int) {
	switch t {
	case protowire.Fixed32Type:
		x, n := protowire.ConsumeFixed32(data)
		return uint64(x), n
	case protowire.Fixed64Type:
		return protowire.ConsumeFixed64(data)
	}
	return protowire.ConsumeVarint(data)
}

// message reads a message into the fields of a struct that are tagged with its numbers. Other fields are skipped.
func (r *reader) message(data []byte, into any) error {
	if r.depth++; r.depth > maxDepth {
		return fmt.Errorf("messages nest more than %d deep", maxDepth)
	}
	defer func() { r.depth-- }()
	if d, ok := into.(interface{ decode(*reader, []byte) error }); ok {
		return d.decode(r, data)
	}
	v := reflect.ValueOf(into).Elem()
	known := numbered(v.Type())
	var present fieldSet
	err := r.fields(data, func(f field) error {
		present |= 1 << f.num
		for _, x := range known {
			if x.num == f.num {
				return r.value(f, v.Field(x.index))
			}
		}
		return nil
	})
	if c, ok := into.(interface{ check(fieldSet) error }); ok && err == nil {
		return c.check(present)
	}
	return err
}

// value reads a field, or one more element of a repeated one.
func (r *reader) value(f field, v reflect.Value) error {
	want := protowire.BytesType
	switch p := v.Addr().Interface().(type) {
	case *[]int32:
		return numbers(r, f, p, protowire.VarintType, func(x uint64) int32 { return int32(x) })
	case *[]int64:
		return numbers(r, f, p, protowire.VarintType, func(x uint64) int64 { return int64(x) })
	case *[]uint64:
		return numbers(r, f, p, protowire.VarintType, func(x uint64) uint64 { return x })
	case *[]float32:
		return numbers(r, f, p, protowire.Fixed32Type, func(x uint64) float32 { return math.Float32frombits(uint32(x)) })
	case *[]float64:
		return numbers(r, f, p, protowire.Fixed64Type, math.Float64frombits)
	case *[]byte:
		*p = f.val
	case *string:
		*p = string(f.val)
	case *float32:
		*p, want = math.Float32frombits(uint32(f.n)), protowire.Fixed32Type
	case *map[string]string:
		var e entry
		if *p == nil {
			*p = map[string]string{}
		}
		err := r.message(f.val, &e)
		(*p)[e.Key] = e.Value
		return cmp.Or(f.expect(want), err)
	default:
		return r.nested(f, v)
	}
	return f.expect(want)
}

// nested reads a field by its kind: a number with a name, a message, or an element of a list of other than numbers.
func (r *reader) nested(f field, v reflect.Value) error {
	switch v.Kind() {
	case reflect.Int32, reflect.Int64:
		v.SetInt(int64(f.n))
		return f.expect(protowire.VarintType)
	case reflect.Slice:
		v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem())))
		return r.value(f, v.Index(v.Len()-1))
	case reflect.Pointer:
		if !v.IsNil() {
			return errors.New("given twice")
		}
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	if err := f.expect(protowire.BytesType); err != nil {
		return err
	}
	return r.message(f.val, v.Addr().Interface())
}

// decode charges n bytes of decoded lists.
func (r *reader) decode(n int) error {
	if r.decoded += n; r.decoded > maxDecoded {
		return fmt.Errorf("lists of more than %d MiB", maxDecoded>>20)
	}
	return nil
}

// numbers appends a repeated field of a wire type, packed or not.
func numbers[T any](r *reader, f field, p *[]T, t protowire.Type, of func(uint64) T) error {
	if f.typ == t {
		*p = append(*p, of(f.n))
		return r.decode(8)
	}
	if err := f.expect(protowire.BytesType); err != nil {
		return err
	}
	count := len(f.val) / 4
	if t == protowire.VarintType {
		count = 0
		for _, b := range f.val {
			if b < 0x80 {
				count++
			}
		}
	}
	if err := r.decode(8 * count); err != nil {
		return err
	}
	*p = slices.Grow(*p, count)
	for data := f.val; len(data) > 0; {
		x, n := number(t, data)
		if n < 0 {
			return protowire.ParseError(n)
		}
		*p, data = append(*p, of(x)), data[n:]
	}
	return nil
}
