package codeobject

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/nnsoc/nnsoc/internal/try"
)

// MessagePack as far as metadata uses it: nil, booleans, integers, strings,
// arrays and maps with string keys. In Go they are nil, bool, int64 (or int), uint64
// above the range of int64, string, []any and map[string]any.

var errPack = errors.New("metadata note is no MessagePack")

const maxPackDepth = 16

// unpack reads one value and returns its number of bytes.
func unpack(b []byte) (v any, n int, err error) {
	defer try.Catch(&err)
	r := unpacker{b: b}
	v = r.value(0)
	return v, r.at, nil
}

// unpacker reads values one after the other; it ends by package try.
type unpacker struct {
	b  []byte
	at int
}

// value reads one value, at most so deep that maxPackDepth is not passed.
func (r *unpacker) value(depth int) any {
	if depth > maxPackDepth {
		try.E(errPack)
	}
	c := byte(r.number(1))
	switch {
	case c < 0x80, c >= 0xE0:
		return int64(int8(c))
	case c < 0x90:
		return r.dict(uint64(c&15), depth)
	case c < 0xA0:
		return r.array(uint64(c&15), depth)
	case c < 0xC0:
		return string(r.bytes(uint64(c & 31)))
	case c == 0xC0:
		return nil
	case c == 0xC2, c == 0xC3:
		return c == 0xC3
	}
	// The first byte determines the size of the number that follows: the value or the length.
	for _, k := range [...]struct{ first, last, size byte }{{0xCC, 0xCF, 1}, {0xD0, 0xD3, 1}, {0xD9, 0xDB, 1}, {0xDC, 0xDD, 2}, {0xDE, 0xDF, 2}} {
		if c >= k.first && c <= k.last {
			return r.sized(k.first, int(k.size)<<(c-k.first), depth)
		}
	}
	try.E(fmt.Errorf("%w: byte %#x", errPack, c))
	return nil
}

// sized reads a value of the kind whose smallest form begins with first.
func (r *unpacker) sized(first byte, size, depth int) any {
	x := r.number(size)
	switch first {
	case 0xD0:
		return int64(x<<(64-8*size)) >> (64 - 8*size)
	case 0xD9:
		return string(r.bytes(x))
	case 0xDC:
		return r.array(x, depth)
	case 0xDE:
		return r.dict(x, depth)
	}
	if x > math.MaxInt64 {
		return x
	}
	return int64(x)
}

// bytes reads so many bytes.
func (r *unpacker) bytes(n uint64) []byte {
	if n > uint64(len(r.b)-r.at) {
		try.E(errPack)
	}
	r.at += int(n)
	return r.b[r.at-int(n) : r.at]
}

// number reads a big-endian number of some bytes.
func (r *unpacker) number(size int) uint64 {
	x := uint64(0)
	for _, d := range r.bytes(uint64(size)) {
		x = x<<8 | uint64(d)
	}
	return x
}

func (r *unpacker) array(count uint64, depth int) any {
	out := []any{}
	for range count {
		out = append(out, r.value(depth+1))
	}
	return out
}

func (r *unpacker) dict(count uint64, depth int) any {
	out := map[string]any{}
	for range count {
		key, ok := r.value(depth + 1).(string)
		if !ok {
			try.E(fmt.Errorf("%w: a map key is no text", errPack))
		}
		out[key] = r.value(depth + 1)
	}
	return out
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
	case int:
		return pack(b, int64(v))
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
		for _, k := range slices.Sorted(maps.Keys(v)) {
			b = pack(pack(b, k), v[k])
		}
	default:
		try.E(fmt.Errorf("codeobject: metadata has %v, which is %T", v, v))
	}
	return b
}
