package cli

import (
	"bytes"
	"cmp"
	"encoding"
	"encoding/json"
	"io"
	"math"
	"reflect"
	"strings"

	"github.com/nnsoc/nnsoc/internal/try"
)

// PrintJSON writes v as indented JSON. Numbers that JSON lacks are the strings
// "NaN", "+Inf" and "-Inf"; everything else is as encoding/json has it.
func PrintJSON(w io.Writer, v any) error {
	raw, err := encodeJSON(v)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := json.Indent(&b, raw, "", "  "); err != nil {
		return err
	}
	b.WriteByte('\n')
	_, err = w.Write(b.Bytes())
	return err
}

// encodeJSON is json.Marshal with names for the numbers that JSON lacks.
func encodeJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	err := appendJSON(&b, reflect.ValueOf(v))
	return b.Bytes(), err
}

func appendJSON(b *bytes.Buffer, v reflect.Value) error {
	if !v.IsValid() {
		b.WriteString("null")
		return nil
	}
	switch v.Interface().(type) {
	case json.Marshaler, encoding.TextMarshaler:
		return appendPlain(b, v)
	}
	switch v.Kind() {
	case reflect.Float32, reflect.Float64:
		switch f := v.Float(); {
		case math.IsNaN(f):
			b.WriteString(`"NaN"`)
		case math.IsInf(f, 1):
			b.WriteString(`"+Inf"`)
		case math.IsInf(f, -1):
			b.WriteString(`"-Inf"`)
		default:
			return appendPlain(b, v)
		}
		return nil
	case reflect.Pointer, reflect.Interface:
		return appendJSON(b, v.Elem())
	case reflect.Struct:
		b.WriteByte('{')
		err := appendFields(b, v)
		b.WriteByte('}')
		return err
	case reflect.Slice, reflect.Array:
		if v.Kind() == reflect.Slice && (v.IsNil() || v.Type().Elem().Kind() == reflect.Uint8) {
			return appendPlain(b, v)
		}
		b.WriteByte('[')
		for i := range v.Len() {
			separate(b)
			if err := appendJSON(b, v.Index(i)); err != nil {
				return err
			}
		}
		b.WriteByte(']')
		return nil
	case reflect.Map:
		if v.IsNil() {
			return appendPlain(b, v)
		}
		return appendMap(b, v)
	}
	return appendPlain(b, v)
}

// appendMap writes a map in the order of its keys, which encoding/json sorts.
func appendMap(b *bytes.Buffer, v reflect.Value) (err error) {
	defer try.Catch(&err)
	values := map[string]json.RawMessage{}
	for it := v.MapRange(); it.Next(); {
		var name bytes.Buffer
		try.E(appendPlain(&name, it.Key()))
		var x bytes.Buffer
		try.E(appendJSON(&x, it.Value()))
		key := name.String()
		if key[0] == '"' {
			try.E(json.Unmarshal(name.Bytes(), &key))
		}
		values[key] = x.Bytes()
	}
	return appendPlain(b, reflect.ValueOf(values))
}

// embedded returns the struct whose fields replace field f; nothing when f is a nil pointer to one.
func embedded(f reflect.StructField, v reflect.Value, name string) (x reflect.Value, ok bool) {
	if !f.Anonymous || name != "" {
		return x, false
	}
	if v.Kind() == reflect.Pointer {
		return v.Elem(), f.Type.Elem().Kind() == reflect.Struct
	}
	return v, v.Kind() == reflect.Struct
}

// appendFields writes the fields of a struct and of the structs embedded in it.
func appendFields(b *bytes.Buffer, v reflect.Value) (err error) {
	defer try.Catch(&err)
	t := v.Type()
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if x, ok := embedded(f, v.Field(i), name); ok {
			if !x.IsValid() {
				continue
			}
			try.E(appendFields(b, x))
			continue
		}
		if !f.IsExported() || name == "-" || strings.Contains(options, "omitempty") && isEmpty(v.Field(i)) {
			continue
		}
		name = cmp.Or(name, f.Name)
		separate(b)
		try.E(appendPlain(b, reflect.ValueOf(name)))
		b.WriteByte(':')
		try.E(appendJSON(b, v.Field(i)))
	}
	return nil
}

// separate writes a comma unless a value opens its list.
func separate(b *bytes.Buffer) {
	if last := b.Bytes()[b.Len()-1]; last != '{' && last != '[' {
		b.WriteByte(',')
	}
}

// isEmpty is the meaning of omitempty.
func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.Map, reflect.Array, reflect.String:
		return v.Len() == 0
	case reflect.Struct:
		return false
	}
	return v.IsZero()
}

func appendPlain(b *bytes.Buffer, v reflect.Value) error {
	raw, err := json.Marshal(v.Interface())
	b.Write(raw)
	return err
}
