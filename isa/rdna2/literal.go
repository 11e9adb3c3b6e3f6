package rdna2

import (
	"math"
	"strconv"
	"strings"
)

// Numbers of assembler sources as operands. What a number means depends on the operand's kind: 1.0 is a double, a float
// or a half there, 1 an integer of its size, whose bits a float operand takes as they are. A number of which an inline
// constant has the bits becomes one; the rest become literals of 32 bits, the upper half of a double.

// number is a number of a source: an integer, or else a float.
type number struct {
	integer bool
	i       int64
	f       float64
}

// parseNumber reads an integer or a float.
func parseNumber(s string) (number, bool) {
	if v, ok := parseInt(s); ok {
		return number{integer: true, i: v}, true
	}
	digits := strings.TrimPrefix(s, "-")
	if digits == "" || digits[0] != '.' && (digits[0] < '0' || digits[0] > '9') || strings.Contains(digits, "_") {
		return number{}, false
	}
	f, err := strconv.ParseFloat(s, 64)
	return number{f: f}, err == nil && !math.IsInf(f, 0)
}

// bytes is the size of an operand of a kind.
func (k Kind) bytes() uint {
	switch k {
	case B16, F16:
		return 2
	case B64, F64:
		return 8
	}
	return 4
}

// modified is the number with its sign bit, in an operand of kind k, cleared and flipped.
func (n number) modified(k Kind, neg, abs bool) number {
	sign := int64(1) << (8*k.bytes() - 1)
	switch {
	case n.integer && abs:
		n.i &^= sign
	case abs:
		n.f = math.Abs(n.f)
	}
	switch {
	case n.integer && neg:
		n.i ^= sign
	case neg:
		n.f = -n.f
	}
	return n
}

// parseConstant reads a constant as an operand of kind k: an inline code, or LiteralK and the literal. The signs are those
// of an encoding without sign modifiers: they change the bits of a float, but not those of an integer as a double.
func parseConstant(s string, k Kind, neg, abs bool) (code uint16, lit uint32, ok bool) {
	n, ok := parseNumber(s)
	if !ok || n.integer && !n.fits(k) {
		return 0, 0, false
	}
	if (neg || abs) && (!k.float() || k == F64 && n.integer) {
		return 0, 0, false
	}
	return n.modified(k, neg, abs).constant(k)
}

// float reports whether an operand of a kind is a float, whose bits sign modifiers change.
func (k Kind) float() bool { return k == F16 || k == F32 || k == F64 }

// isInt reports whether a source's number is an integer.
func isInt(s string) bool {
	_, ok := parseInt(s)
	return ok
}

// upperHalf reports whether a source's number is an integer that no inline constant has the bits of: a double has it as
// its upper half.
func upperHalf(s string) bool {
	v, ok := parseInt(s)
	_, inline := inline64(uint64(v))
	return ok && !inline
}

// constant is the number as an operand of kind k.
func (n number) constant(k Kind) (code uint16, lit uint32, ok bool) {
	switch k {
	case B64, F64:
		return n.constant64(k)
	case B16, F16, V2F16:
		return n.constant16(k)
	}
	return n.constant32() // a packed operand of integers has floats of 32 bits, as in SP3
}

// fits reports whether the bits of an integer fit an operand; those of 64 bits have literals of 32.
func (n number) fits(k Kind) bool {
	switch k.bytes() {
	case 2:
		return n.i >= math.MinInt16 && n.i <= math.MaxUint16
	case 8:
		if _, ok := inline64(uint64(n.i)); ok {
			return true
		}
	}
	return n.i >= math.MinInt32 && n.i <= math.MaxUint32
}

func (n number) constant32() (code uint16, lit uint32, ok bool) {
	v := uint32(n.i)
	if !n.integer {
		f := float32(n.f)
		if math.IsInf(float64(f), 0) || math.Abs(n.f) < 0x1p-126 && float64(f) != n.f {
			return 0, 0, false
		}
		v = math.Float32bits(f)
	}
	if c, ok := inline32(v); ok {
		return c, 0, true
	}
	return LiteralK, v, true
}

func (n number) constant64(k Kind) (code uint16, lit uint32, ok bool) {
	v := uint64(n.i)
	if !n.integer {
		v = math.Float64bits(n.f)
	}
	if c, ok := inline64(v); ok {
		return c, 0, true
	}
	switch {
	case !n.integer:
		return LiteralK, uint32(v >> 32), k == F64
	case k == F64:
		if c, ok := inline64(v << 32); ok {
			return c, 0, true
		}
	}
	return LiteralK, uint32(v), true
}

func (n number) constant16(k Kind) (code uint16, lit uint32, ok bool) {
	if !n.integer && k == B16 { // the bits of a single that a half can be near, as LLVM makes them
		if _, ok := toHalf(n.f); !ok {
			return 0, 0, false
		}
		return n.constant32()
	}
	v := n.i
	if !n.integer {
		h, ok := toHalf(n.f)
		if !ok {
			return 0, 0, false
		}
		v = int64(h)
	}
	switch k {
	case F16:
		v = int64(int16(v))
	case V2F16:
		v = int64(int32(v))
	}
	if c, ok := Int(int(v)); ok {
		return c, 0, true
	}
	if c, ok := inlineHalf(uint16(v)); ok && (!n.integer || k == F16 || k == V2F16 && v == int64(uint16(v))) {
		return c, 0, true
	}
	if k.bytes() == 2 {
		v = int64(uint16(v))
	}
	return LiteralK, uint32(v), true
}

// toHalf rounds to half precision, to the nearest even; ok is false for numbers beyond its range and, unless they are
// exact, below that of its normal numbers.
func toHalf(f float64) (h uint16, ok bool) {
	sign := uint16(math.Float64bits(f) >> 48 & 0x8000)
	f = math.Abs(f)
	if f < 0x1p-14 {
		m := f * 0x1p24
		return sign | uint16(m), m == math.Trunc(m)
	}
	frac, exp := math.Frexp(f) // f = frac * 2^exp, frac in [0.5, 1)
	m := int(math.RoundToEven(frac * 2048))
	bits := (exp+13)<<10 + m
	return sign | uint16(bits), bits < 0x7c00
}

// inlineHalf is the inline constant with these bits as a half.
func inlineHalf(v uint16) (uint16, bool) {
	for i, h := range half {
		if h == v {
			return uint16(ConstHalf + i), true
		}
	}
	return 0, false
}

// inline64 is the inline constant with these bits as a 64-bit operand.
func inline64(v uint64) (uint16, bool) {
	if n := int64(v); n >= -16 && n <= 64 {
		return Int(int(n))
	}
	for i, d := range double {
		if d == v {
			return uint16(ConstHalf + i), true
		}
	}
	return 0, false
}
