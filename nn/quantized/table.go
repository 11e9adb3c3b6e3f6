package quantized

import (
	"math"

	"github.com/nnsoc/nnsoc/nn"
)

// Value is QUANTIZE of one value: round half away from zero, clamp.
func Value(real, scale float32, zero, lo, hi int32) int32 {
	v := math.Round(float64(real/scale)) + float64(zero)
	if !(v > float64(lo)) { // NaN gives the least value
		return lo
	}
	return int32(min(v, float64(hi)))
}

// QuantizeTable is DEQUANTIZE followed by QUANTIZE for every byte of an 8-bit
// quantized operand.
func QuantizeTable(in, out *nn.Operand) *[256]byte {
	lo, hi := Limits(out.Type)
	t := new([256]byte)
	for i := range t {
		q := int32(i)
		if in.Type != nn.TensorQuant8Asymm {
			q = int32(int8(i))
		}
		real := in.Scale * float32(q-in.ZeroPoint)
		t[i] = byte(Value(real, out.Scale, out.ZeroPoint, lo, hi))
	}
	return t
}

// RequantTable maps every byte of one 8-bit quantized operand to another's
// quantization as CONCATENATION does, nil when both are the same:
// round(q * (si/so) - zi * (si/so)) + zo in float32, clamped, on the unsigned
// form of both types.
func RequantTable(in, out *nn.Operand) *[256]byte {
	if in.Scale == out.Scale && in.ZeroPoint == out.ZeroPoint {
		return nil
	}
	shift := int32(0)
	if in.Type != nn.TensorQuant8Asymm {
		shift = 128
	}
	scale := in.Scale * (1 / out.Scale)
	bias := -float32(in.ZeroPoint+shift) * scale
	t := new([256]byte)
	for i := range t {
		q := int32(i)
		if shift != 0 {
			q = int32(int8(i)) + shift
		}
		v := math.Round(float64(float32(float32(q)*scale)+bias)) + float64(out.ZeroPoint+shift)
		t[i] = byte(int32(min(max(v, 0), 255)) - shift)
	}
	return t
}

// RescaleTable maps every byte of one 8-bit quantized operand to another's
// quantization as MAXIMUM, MINIMUM and SELECT do:
// round((q - zi) * si / so + zo), clamped; the first product is a float32.
func RescaleTable(in, out *nn.Operand) *[256]byte {
	lo, hi := Limits(out.Type)
	t := new([256]byte)
	for i := range t {
		q := int32(i)
		if in.Type != nn.TensorQuant8Asymm {
			q = int32(int8(i))
		}
		v := float64(float32(q-in.ZeroPoint)*in.Scale)/float64(out.Scale) + float64(out.ZeroPoint)
		t[i] = byte(int32(min(max(math.Round(v), float64(lo)), float64(hi))))
	}
	return t
}
