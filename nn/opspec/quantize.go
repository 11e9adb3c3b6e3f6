package opspec

import (
	"encoding/binary"
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

// codebookRows are the operations of the extension nn.CodebookExtension.
var codebookRows = []Row{
	{Op: nn.OpDecodeCodebook, Since: Extension, Extension: nn.CodebookExtension, Types: "CODEBOOK@extension",
		Args: Arguments[Decode]{Read: readDecode, Shapes: one(func(d *Decode) []uint32 { return d.Dims })},
		Work: WorkRule{Quant: 8},
		Forms: []Form{
			{Extension, "input:T", "output:Q8 | output:Q8S"},
		}},
}

// maxCodebook is how many values codes of one byte can stand for.
const maxCodebook = 256

// Decode is DECODE_CODEBOOK.
type Decode struct {
	Input, Output uint32 // operand indexes
	Dims          []uint32
	Codebook      []float32 // what the codes of the input stand for
}

// readDecode reads the codebook before the shape, so that a bad one is an error even where
// the shape is not known yet.
func readDecode(a *Args) (d Decode, err error) {
	d.Input, d.Output = a.In("input"), a.Op.Outputs[0]
	b := a.View.Operands[d.Input].Extension
	if n := len(b) / 4; len(b)%4 != 0 || n < 2 || n > maxCodebook {
		return d, a.errorf("input", "a codebook of %d bytes as extension data, 2 to %d float32 needed", len(b), maxCodebook)
	}
	for k := 0; k < len(b); k += 4 {
		v := math.Float32frombits(binary.LittleEndian.Uint32(b[k:]))
		if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
			return d, a.errorf("input", "value %d of its codebook is %v", k/4, v)
		}
		d.Codebook = append(d.Codebook, v)
	}
	d.Dims, err = a.Dims("input")
	return d, err
}

// Table maps every code to the output: the value that it stands for, as QUANTIZE rounds and
// clamps it.
func (d *Decode) Table(v View) *[256]byte {
	out := &v.Operands[d.Output]
	lo, hi := QuantLimits(out.Type)
	t := new([256]byte)
	for q := range t {
		real := d.Codebook[min(q, len(d.Codebook)-1)]
		t[q] = byte(QuantizeValue(real, out.Scale, out.ZeroPoint, lo, hi))
	}
	return t
}
