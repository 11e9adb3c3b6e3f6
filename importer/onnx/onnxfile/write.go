package onnxfile

import (
	"maps"
	"math"
	"reflect"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// Append appends the file of a model.
func Append(b []byte, m *Model) []byte { return appendMessage(b, m) }

func appendMessage(b []byte, message any) []byte {
	if e, ok := message.(interface{ encode() []byte }); ok {
		return append(b, e.encode()...)
	}
	o, selective := message.(interface{ omits(protowire.Number) bool })
	v := reflect.ValueOf(message).Elem()
	for _, x := range numbered(v.Type()) {
		if !selective || !o.omits(x.num) {
			b = appendField(b, x.num, v.Field(x.index))
		}
	}
	return b
}

func bytes(b []byte, num protowire.Number, body []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, num, protowire.BytesType), body)
}

// packed appends a list of numbers, unless it is empty.
func packed[T any](b []byte, num protowire.Number, list []T, appendOne func([]byte, T) []byte) []byte {
	if len(list) == 0 {
		return b
	}
	var body []byte
	for _, v := range list {
		body = appendOne(body, v)
	}
	return bytes(b, num, body)
}

func appendVarint[T int32 | int64 | uint64](b []byte, v T) []byte {
	return protowire.AppendVarint(b, uint64(v))
}

func appendFloat(b []byte, v float32) []byte {
	return protowire.AppendFixed32(b, math.Float32bits(v))
}

// appendField appends a field. Empty texts and lists are left out, zeros are not.
func appendField(b []byte, num protowire.Number, v reflect.Value) []byte {
	switch x := v.Interface().(type) {
	case []int32:
		return packed(b, num, x, appendVarint)
	case []int64:
		return packed(b, num, x, appendVarint)
	case []uint64:
		return packed(b, num, x, appendVarint)
	case []float32:
		return packed(b, num, x, appendFloat)
	case []float64:
		return packed(b, num, x, func(b []byte, v float64) []byte { return protowire.AppendFixed64(b, math.Float64bits(v)) })
	case float32:
		return appendFloat(protowire.AppendTag(b, num, protowire.Fixed32Type), x)
	case []byte:
		if x != nil {
			b = bytes(b, num, x)
		}
		return b
	case string:
		if x != "" {
			b = bytes(b, num, []byte(x))
		}
		return b
	case []string: // empty ones are omitted inputs
		for _, s := range x {
			b = bytes(b, num, []byte(s))
		}
		return b
	case map[string]string:
		for _, key := range slices.Sorted(maps.Keys(x)) {
			b = bytes(b, num, appendMessage(nil, &entry{key, x[key]}))
		}
		return b
	}
	switch v.Kind() {
	case reflect.Int32, reflect.Int64:
		return appendVarint(protowire.AppendTag(b, num, protowire.VarintType), v.Int())
	case reflect.Slice:
		for i := range v.Len() {
			b = appendField(b, num, v.Index(i))
		}
		return b
	case reflect.Pointer:
		if v.IsNil() {
			return b
		}
		v = v.Elem()
	}
	return bytes(b, num, appendMessage(nil, v.Addr().Interface()))
}
