package tflite

import (
	"encoding/binary"
	"errors"
	"math"
)

// Types of FlexBuffers values that options of custom operators have.
const (
	flexInt       = 1
	flexUint      = 2
	flexFloat     = 3
	flexString    = 5
	flexIndirect  = 6 // int, uint and float behind an offset: 6, 7, 8
	flexMap       = 9
	flexVector    = 11 // of int, uint and float: 11, 12, 13
	flexBool      = 26
	flexElements  = 1 << 16 // most elements of a vector
	flexKeys      = 1 << 10 // most keys of a map
	flexNameBytes = 256     // longest key
)

var errFlex = errors.New("the FlexBuffers map of its options is damaged")

// flexValue is a value of a map: numbers, one of a scalar, or a text.
type flexValue struct {
	numbers []float64
	scalar  bool
	text    string
}

// flexScalars are the scalars of a FlexBuffers map.
func flexScalars(b []byte) (map[string]float64, error) {
	m, err := flexValues(b)
	scalars := map[string]float64{}
	for name, v := range m {
		if v.scalar {
			scalars[name] = v.numbers[0]
		}
	}
	return scalars, err
}

// flexValues reads a FlexBuffers map: the last byte is the width of the root, the one before it
// the root's packed type, its value an offset to the map. A map is a vector of values, whose
// types follow it, and before it the offset to the vector of keys, the width of keys and the
// number of values. Values that are neither scalars nor vectors of numbers nor texts are left
// out.
func flexValues(b []byte) (map[string]flexValue, error) {
	if len(b) < 3 {
		return nil, errFlex
	}
	width, packed := int(b[len(b)-1]), b[len(b)-2]
	root := len(b) - 2 - width
	if packed>>2 != flexMap || !flexWidth(width) || root < 0 {
		return nil, errFlex
	}
	f := flex{b}
	values, ok := f.back(root, width)
	w := 1 << (packed & 3)
	if !ok || values < 3*w {
		return nil, errFlex
	}
	n, ok1 := f.uint(values-w, w)
	keyWidth, ok2 := f.uint(values-2*w, w)
	keys, ok3 := f.back(values-3*w, w)
	if !ok1 || !ok2 || !ok3 || n > flexKeys || keyWidth > 8 || !flexWidth(int(keyWidth)) {
		return nil, errFlex
	}
	m := map[string]flexValue{}
	for i := range int(n) {
		at, ok := f.back(keys+i*int(keyWidth), int(keyWidth))
		kind := values + int(n)*w + i
		if !ok || kind >= len(b) {
			return nil, errFlex
		}
		name, ok := f.text(at)
		if !ok {
			return nil, errFlex
		}
		v, ok := f.value(values+i*w, w, b[kind])
		if !ok {
			return nil, errFlex
		}
		if v.numbers != nil || v.text != "" {
			m[name] = v
		}
	}
	return m, nil
}

func flexWidth(w int) bool { return w == 1 || w == 2 || w == 4 || w == 8 }

type flex struct{ b []byte }

func (f flex) uint(at, width int) (uint64, bool) {
	if at < 0 || at > len(f.b)-width {
		return 0, false
	}
	var wide [8]byte
	copy(wide[:], f.b[at:at+width])
	return binary.LittleEndian.Uint64(wide[:]), true
}

// back follows an offset, which counts backwards from where it stands.
func (f flex) back(at, width int) (int, bool) {
	v, ok := f.uint(at, width)
	if !ok || v == 0 || v > uint64(at) {
		return 0, false
	}
	return at - int(v), true
}

func (f flex) text(at int) (string, bool) {
	for n := range flexNameBytes {
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
func (f flex) value(at, width int, packed byte) (v flexValue, ok bool) {
	kind, w := int(packed>>2), 1<<(packed&3)
	switch {
	case kind == flexString:
		if at, ok = f.back(at, width); ok {
			v.text, ok = f.text(at)
		}
		return v, ok
	case kind >= flexVector && kind <= flexVector+2:
		at, ok = f.back(at, width)
		n, known := f.uint(at-w, w)
		if !ok || !known || n > flexElements || n > uint64(len(f.b)-at)/uint64(w) {
			return v, false
		}
		for i := range int(n) {
			x, _, ok := f.scalar(at+i*w, w, byte(kind-flexVector+flexInt)<<2)
			if !ok {
				return v, false
			}
			v.numbers = append(v.numbers, x)
		}
		return v, true
	}
	x, scalar, ok := f.scalar(at, width, packed)
	if scalar {
		v.numbers, v.scalar = []float64{x}, true
	}
	return v, ok
}

// scalar reads a value of a map; scalar is false for one that is none.
func (f flex) scalar(at, width int, packed byte) (v float64, scalar, ok bool) {
	kind := int(packed >> 2)
	if kind >= flexIndirect && kind <= flexIndirect+2 {
		if at, ok = f.back(at, width); !ok {
			return 0, false, false
		}
		kind, width = kind-flexIndirect+flexInt, 1<<(packed&3)
	}
	bits, ok := f.uint(at, width)
	if !ok {
		return 0, false, false
	}
	switch kind {
	case flexUint, flexBool:
		return float64(bits), true, true
	case flexInt:
		shift := 64 - 8*width
		return float64(int64(bits<<shift) >> shift), true, true
	case flexFloat:
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
