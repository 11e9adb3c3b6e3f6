package codeobject

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
)

// MessagePack as far as metadata uses it: nil, booleans, integers, strings,
// arrays and maps with string keys. In Go they are nil, bool, int64, uint64
// above the range of int64, string, []any and map[string]any.

var errPack = errors.New("metadata note is no MessagePack")

const maxPackDepth = 16

// unpack reads one value and says how many bytes it takes.
func unpack(b []byte, depth int) (v any, n int, err error) {
	if len(b) == 0 || depth > maxPackDepth {
		return nil, 0, errPack
	}
	c := b[0]
	uintOf := func(size int) (uint64, bool) {
		if len(b) < 1+size {
			return 0, false
		}
		x := uint64(0)
		for _, d := range b[1 : 1+size] {
			x = x<<8 | uint64(d)
		}
		return x, true
	}
	sized := func(size int, f func(at int, count uint64) (any, int, error)) (any, int, error) {
		x, ok := uintOf(size)
		if !ok {
			return nil, 0, errPack
		}
		return f(1+size, x)
	}
	str := func(at int, count uint64) (any, int, error) {
		if count > uint64(len(b)-at) {
			return nil, 0, errPack
		}
		return string(b[at : at+int(count)]), at + int(count), nil
	}
	array := func(at int, count uint64) (any, int, error) {
		out := []any{}
		for range count {
			v, n, err := unpack(b[at:], depth+1)
			if err != nil {
				return nil, 0, err
			}
			out = append(out, v)
			at += n
		}
		return out, at, nil
	}
	dict := func(at int, count uint64) (any, int, error) {
		out := map[string]any{}
		for range count {
			k, n, err := unpack(b[at:], depth+1)
			if err != nil {
				return nil, 0, err
			}
			at += n
			v, n, err := unpack(b[at:], depth+1)
			if err != nil {
				return nil, 0, err
			}
			at += n
			key, ok := k.(string)
			if !ok {
				return nil, 0, fmt.Errorf("%w: map key %v", errPack, k)
			}
			out[key] = v
		}
		return out, at, nil
	}
	switch {
	case c < 0x80:
		return int64(c), 1, nil
	case c < 0x90:
		return dict(1, uint64(c&15))
	case c < 0xA0:
		return array(1, uint64(c&15))
	case c < 0xC0:
		return str(1, uint64(c&31))
	case c >= 0xE0:
		return int64(int8(c)), 1, nil
	}
	switch c {
	case 0xC0:
		return nil, 1, nil
	case 0xC2, 0xC3:
		return c == 0xC3, 1, nil
	case 0xCC, 0xCD, 0xCE, 0xCF:
		return sized(1<<(c-0xCC), func(at int, x uint64) (any, int, error) {
			if x > math.MaxInt64 {
				return x, at, nil
			}
			return int64(x), at, nil
		})
	case 0xD0, 0xD1, 0xD2, 0xD3:
		size := 1 << (c - 0xD0)
		return sized(size, func(at int, x uint64) (any, int, error) {
			return int64(x<<(64-8*size)) >> (64 - 8*size), at, nil
		})
	case 0xD9, 0xDA, 0xDB:
		return sized(1<<(c-0xD9), str)
	case 0xDC, 0xDD:
		return sized(2<<(c-0xDC), array)
	case 0xDE, 0xDF:
		return sized(2<<(c-0xDE), dict)
	}
	return nil, 0, fmt.Errorf("%w: byte %#x", errPack, c)
}

// pack appends v, map keys in order.
func pack(b []byte, v any) []byte {
	be := binary.BigEndian
	count := func(n int, fix byte, fixMax int, wide byte) {
		switch {
		case n <= fixMax:
			b = append(b, fix|byte(n))
		case n <= math.MaxUint16:
			b = be.AppendUint16(append(b, wide), uint16(n))
		default:
			b = be.AppendUint32(append(b, wide+1), uint32(n))
		}
	}
	switch v := v.(type) {
	case nil:
		return append(b, 0xC0)
	case bool:
		if v {
			return append(b, 0xC3)
		}
		return append(b, 0xC2)
	case uint64:
		return be.AppendUint64(append(b, 0xCF), v)
	case int64:
		switch {
		case v >= 0 && v < 128, v < 0 && v >= -32:
			return append(b, byte(v))
		case v >= 0 && v <= math.MaxUint32:
			return be.AppendUint32(append(b, 0xCE), uint32(v))
		}
		return be.AppendUint64(append(b, 0xD3), uint64(v))
	case string:
		if n := len(v); n > 31 && n < 256 {
			return append(append(b, 0xD9, byte(n)), v...)
		}
		count(len(v), 0xA0, 31, 0xDA)
		return append(b, v...)
	case []any:
		count(len(v), 0x90, 15, 0xDC)
		for _, x := range v {
			b = pack(b, x)
		}
	case map[string]any:
		count(len(v), 0x80, 15, 0xDE)
		keys := make([]string, 0, len(v))
		for k := range v {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		for _, k := range keys {
			b = pack(pack(b, k), v[k])
		}
	}
	return b
}
