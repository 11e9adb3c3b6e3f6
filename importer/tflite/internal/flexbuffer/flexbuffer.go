// Package flexbuffer reads maps in FlexBuffers, the options of TensorFlow Lite's custom operators.
package flexbuffer

import (
	"encoding/binary"
	"errors"
	"math"
)

// Types of FlexBuffers values that options of custom operators have.
const (
	typeInt      = 1
	typeUint     = 2
	typeFloat    = 3
	typeString   = 5
	typeIndirect = 6 // int, uint and float behind an offset: 6, 7, 8
	typeMap      = 9
	typeVector   = 11 // of int, uint and float: 11, 12, 13
	typeBool     = 26
	maxElements  = 1 << 16 // most elements of a vector
	maxKeys      = 1 << 10 // most keys of a map
	maxNameBytes = 256     // longest key
)

var errDamaged = errors.New("the FlexBuffers map of its options is damaged")

// Value is a value of a map: numbers, one of a scalar, or a text.
type Value struct {
	Numbers []float64
	Scalar  bool
	Text    string
}

// Scalars are the scalars of a FlexBuffers map.
func Scalars(b []byte) (map[string]float64, error) {
	m, err := Values(b)
	scalars := map[string]float64{}
	for name, v := range m {
		if v.Scalar {
			scalars[name] = v.Numbers[0]
		}
	}
	return scalars, err
}

// Values reads a FlexBuffers map: the last byte is the width of the root, the one before it
// the root's packed type, its value an offset to the map. A map is a vector of values, whose
// types follow it, and before it the offset to the vector of keys, the width of keys and the
// number of values. Values that are neither scalars nor vectors of numbers nor texts are left
// out.
func Values(b []byte) (map[string]Value, error) {
	if len(b) < 3 {
		return nil, errDamaged
	}
	width, packed := int(b[len(b)-1]), b[len(b)-2]
	root := len(b) - 2 - width
	if packed>>2 != typeMap || !isWidth(width) || root < 0 {
		return nil, errDamaged
	}
	f := reader{b}
	values, ok := f.back(root, width)
	w := 1 << (packed & 3)
	if !ok || values < 3*w {
		return nil, errDamaged
	}
	n, ok1 := f.uint(values-w, w)
	keyWidth, ok2 := f.uint(values-2*w, w)
	keys, ok3 := f.back(values-3*w, w)
	if !ok1 || !ok2 || !ok3 || n > maxKeys || keyWidth > 8 || !isWidth(int(keyWidth)) {
		return nil, errDamaged
	}
	m := map[string]Value{}
	for i := range int(n) {
		at, ok := f.back(keys+i*int(keyWidth), int(keyWidth))
		kind := values + int(n)*w + i
		if !ok || kind >= len(b) {
			return nil, errDamaged
		}
		name, ok := f.text(at)
		if !ok {
			return nil, errDamaged
		}
		v, ok := f.value(values+i*w, w, b[kind])
		if !ok {
			return nil, errDamaged
		}
		if v.Numbers != nil || v.Text != "" {
			m[name] = v
		}
	}
	return m, nil
}

func isWidth(w int) bool { return w == 1 || w == 2 || w == 4 || w == 8 }

type reader struct{ b []byte }

func (f reader) uint(at, width int) (uint64, bool) {
	if at < 0 || at > len(f.b)-width {
		return 0, false
	}
	var wide [8]byte
	copy(wide[:], f.b[at:at+width])
	return binary.LittleEndian.Uint64(wide[:]), true
}

// back follows an offset, which counts backwards from its own position.
func (f reader) back(at, width int) (int, bool) {
	v, ok := f.uint(at, width)
	if !ok || v == 0 || v > uint64(at) {
		return 0, false
	}
	return at - int(v), true
}

func (f reader) text(at int) (string, bool) {
	for n := range maxNameBytes {
		if at+n >= len(f.b) {
			return "", false
		}
		if f.b[at+n] == 0 {
			return string(f.b[at : at+n]), true
		}
	}
	return "", false
}

// value reads a value of a map: nothing for one that is neither numbers nor a text.
func (f reader) value(at, width int, packed byte) (v Value, ok bool) {
	kind, w := int(packed>>2), 1<<(packed&3)
	switch {
	case kind == typeString:
		if at, ok = f.back(at, width); ok {
			v.Text, ok = f.text(at)
		}
		return v, ok
	case kind >= typeVector && kind <= typeVector+2:
		at, ok = f.back(at, width)
		n, known := f.uint(at-w, w)
		if !ok || !known || n > maxElements || n > uint64(len(f.b)-at)/uint64(w) {
			return v, false
		}
		for i := range int(n) {
			x, _, ok := f.scalar(at+i*w, w, byte(kind-typeVector+typeInt)<<2)
			if !ok {
				return v, false
			}
			v.Numbers = append(v.Numbers, x)
		}
		return v, true
	}
	x, scalar, ok := f.scalar(at, width, packed)
	if scalar {
		v.Numbers, v.Scalar = []float64{x}, true
	}
	return v, ok
}

// scalar reads a value of a map; scalar is false for one that is none.
func (f reader) scalar(at, width int, packed byte) (v float64, scalar, ok bool) {
	kind := int(packed >> 2)
	if kind >= typeIndirect && kind <= typeIndirect+2 {
		if at, ok = f.back(at, width); !ok {
			return 0, false, false
		}
		kind, width = kind-typeIndirect+typeInt, 1<<(packed&3)
	}
	bits, ok := f.uint(at, width)
	if !ok {
		return 0, false, false
	}
	switch kind {
	case typeUint, typeBool:
		return float64(bits), true, true
	case typeInt:
		shift := 64 - 8*width
		return float64(int64(bits<<shift) >> shift), true, true
	case typeFloat:
		switch width {
		case 4:
			return float64(math.Float32frombits(uint32(bits))), true, true
		case 8:
			return math.Float64frombits(bits), true, true
		}
		return 0, false, false
	}
	return 0, false, true
}
