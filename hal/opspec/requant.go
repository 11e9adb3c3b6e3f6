package opspec

import (
	"math"

	"github.com/nnsoc/nnsoc/hal/nn"
)

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

// RequantizeTable maps every byte of a REQUANTIZE's input: zo + (q - zi)*si/so,
// with the multiplier in 32-bit fixed point and rounding as TFLite's QUANTIZE
// between 8-bit types has them, clamped to the output's type.
func (u *Unary) RequantizeTable(v View) *[256]byte {
	in, out := &v.Operands[u.Input], &v.Operands[u.Output]
	m := QuantizeMultiplier(float64(in.Scale) / float64(out.Scale))
	lo, hi := QuantLimits(out.Type)
	t := new([256]byte)
	for i := range t {
		q := int32(i)
		if in.Type != nn.TensorQuant8Asymm {
			q = int32(int8(i))
		}
		t[i] = byte(min(max(int64(m.applySaturating(q-in.ZeroPoint))+int64(out.ZeroPoint), int64(lo)), int64(hi)))
	}
	return t
}

// applySaturating is Apply, except that a left shift that leaves 32 bits
// saturates.
func (m Multiplier) applySaturating(x int32) int32 {
	if m.Shift <= 0 {
		return m.Apply(x)
	}
	wide := int64(x) << min(uint(m.Shift), 32)
	return SRDHM(int32(min(max(wide, math.MinInt32), math.MaxInt32)), m.M)
}

// QuantizeTable is DEQUANTIZE followed by QUANTIZE for every byte of an 8-bit
// quantized operand.
func QuantizeTable(in, out *nn.Operand) *[256]byte {
	lo, hi := QuantLimits(out.Type)
	t := new([256]byte)
	for i := range t {
		q := int32(i)
		if in.Type != nn.TensorQuant8Asymm {
			q = int32(int8(i))
		}
		real := in.Scale * float32(q-in.ZeroPoint)
		t[i] = byte(QuantizeValue(real, out.Scale, out.ZeroPoint, lo, hi))
	}
	return t
}
