package opspec

import (
	"math"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/fixedpoint"
)

// quantizeRows change the type of a tensor. REQUANTIZE, QUANTIZE_16 and DEQUANTIZE_16 are of an
// extension.
var quantizeRows = []Row{
	{Op: nn.OpQuantize, Since: V12, Types: float12, Args: unaryArgs, Work: WorkRule{Float: 4}, Forms: []Form{
		{V12, "input:T", "output:Q8 | 1.3 output:Q8S"},
	}},
	{Op: nn.OpDequantize, Since: V10, Types: "Q8@1.0 Q8SYM@1.2 Q8CH@1.2 Q8S@1.3", MaxRank: 4, Args: unaryArgs,
		Work: WorkRule{Quant: 8},
		Forms: []Form{
			{V10, "input:T", "output:F32 | 1.2 output:F16"},
		}},
	{Op: nn.OpRequantize, Since: Extension, Extension: nn.QuantizationExtension, Types: "Q8@extension Q8S@extension", Args: unaryArgs,
		Work: WorkRule{Quant: 8},
		Forms: []Form{
			{Extension, "input:T", "output:Q8 | output:Q8S"},
		}},
	{Op: nn.OpQuantize16, Since: Extension, Extension: nn.QuantizationExtension, Types: "F32@extension", Args: unaryArgs, Work: WorkRule{Float: 4},
		Forms: []Form{{Extension, "input:T", "output:Q16"}}},
	{Op: nn.OpDequantize16, Since: Extension, Extension: nn.QuantizationExtension, Types: "Q16@extension", Args: unaryArgs, Work: WorkRule{Quant: 8},
		Forms: []Form{{Extension, "input:T", "output:F32"}}},
	{Op: nn.OpCast, Since: V12, Types: "F16@1.2 F32@1.2 I32@1.2 Q8@1.2 B8@1.3 Q16@1.3 Q16S@1.3 Q8S@1.3 Q8SYM@1.3", Args: unaryArgs,
		Work: WorkRule{Float: 2, Quant: 4},
		Forms: []Form{
			{V12, "input:T", "output:C"},
		}},
}

// QuantizeValue is QUANTIZE of one value: round half away from zero, clamp.
func QuantizeValue(real, scale float32, zero, lo, hi int32) int32 {
	v := math.Round(float64(real/scale)) + float64(zero)
	if !(v > float64(lo)) { // NaN gives the least value
		return lo
	}
	return int32(min(v, float64(hi)))
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
	m := fixedpoint.QuantizeMultiplier(float64(in.Scale) / float64(out.Scale))
	lo, hi := QuantLimits(out.Type)
	t := new([256]byte)
	for i := range t {
		q := int32(i)
		if in.Type != nn.TensorQuant8Asymm {
			q = int32(int8(i))
		}
		t[i] = byte(min(max(int64(m.ApplySaturating(q-in.ZeroPoint))+int64(out.ZeroPoint), int64(lo)), int64(hi)))
	}
	return t
}
