package opspec

import (
	"fmt"
	"math"

	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/fixedpoint"
	"github.com/nnsoc/nnsoc/nn/quantized"
)

// unaryRows are functions of one tensor, element by element. Quantized LOGISTIC and TANH
// are tables of 256 entries.
var unaryRows = []Row{
	{Op: nn.OpAbs, Since: V12, Types: "F16@1.2 F32@1.2 I32@1.3", Args: unaryArgs, Work: same, Forms: []Form{
		{V12, "input:T", "output:T"},
	}},
	{Op: nn.OpNeg, Since: V12, Types: "F16@1.2 F32@1.2 I32@1.2", Args: unaryArgs, Work: same, Forms: []Form{
		{V12, "input:T", "output:T"},
	}},
	{Op: nn.OpExp, Since: V12, Types: float12, Args: unaryArgs, Work: WorkRule{Float: stepsExp}, Forms: []Form{
		{V12, "input:T", "output:T"},
	}},
	{Op: nn.OpLog, Since: V12, Types: float12, Args: unaryArgs, Work: WorkRule{Float: stepsExp}, Forms: []Form{
		{V12, "input:T", "output:T"},
	}},
	{Op: nn.OpSin, Since: V12, Types: float12, Args: unaryArgs, Work: WorkRule{Float: stepsExp}, Forms: []Form{
		{V12, "input:T", "output:T"},
	}},
	{Op: nn.OpSqrt, Since: V12, Types: float12, Args: unaryArgs, Work: WorkRule{Float: stepsDivide}, Forms: []Form{
		{V12, "input:T", "output:T"},
	}},
	{Op: nn.OpRsqrt, Since: V12, Types: "F16@1.2 F32@1.2 Q8@FL7 Q8S@FL7", Args: unaryArgs, Table: (*Unary).rsqrtTable,
		Work: WorkRule{Float: stepsDivide, Quant: 2 * stepsRequant},
		Forms: []Form{
			{V12, "input:T", "output:T"},
		}},
	{Op: nn.OpFloor, Since: V10, Types: float10, MaxRank: 4, Args: unaryArgs, Work: same, Forms: []Form{
		{V10, "input:T", "output:T"},
	}},
	{Op: nn.OpLogicalNot, Since: V12, Types: "B8@1.2", Args: unaryArgs, Work: same, Forms: []Form{
		{V12, "input:T", "output:T"},
	}},
	{Op: nn.OpRelu, Since: V10, Types: floatQuant10, SameQuant: true, MaxRank: 4, Clamp: nn.ActRelu, Args: unaryArgs, Work: same, Forms: []Form{
		{V10, "input:T", "output:T"},
	}},
	{Op: nn.OpRelu1, Since: V10, Types: floatQuant10, SameQuant: true, MaxRank: 4, Clamp: nn.ActRelu1, Args: unaryArgs, Work: same, Forms: []Form{
		{V10, "input:T", "output:T"},
	}},
	{Op: nn.OpRelu6, Since: V10, Types: floatQuant10, SameQuant: true, MaxRank: 4, Clamp: nn.ActRelu6, Args: unaryArgs, Work: same, Forms: []Form{
		{V10, "input:T", "output:T"},
	}},
	{Op: nn.OpLogistic, Since: V10, Types: floatQuant10, Out: quant256, MaxRank: 4, Args: unaryArgs, Table: (*Unary).logisticTable,
		Work: WorkRule{Float: stepsSigmoid, Quant: 8},
		Forms: []Form{
			{V10, "input:T", "output:T"},
		}},
	{Op: nn.OpTanh, Since: V10, Types: "F32@1.0 F16@1.2 Q8@1.2 Q8S@1.3", Out: quant128, MaxRank: 4, Args: unaryArgs, Table: (*Unary).tanhTable,
		Work: WorkRule{Float: stepsSigmoid, Quant: 8},
		Forms: []Form{
			{V10, "input:T", "output:T"},
		}},
	{Op: nn.OpElu, Since: V13, Types: "F16@1.3 F32@1.3", Args: unaryArgs, Work: WorkRule{Float: stepsExp + 2}, Forms: []Form{
		{V13, "input:T alpha:S", "output:T"},
	}},
	{Op: nn.OpHardSwish, Since: V13, Types: "F16@1.3 F32@1.3 Q8@1.3 Q8S@1.3", Args: unaryArgs, Table: (*Unary).hardSwishTable,
		Work: WorkRule{Float: 5, Quant: stepsRequant},
		Forms: []Form{
			{V13, "input:T", "output:T"},
		}},
}

var unaryArgs = Arguments[Unary]{Read: readUnary, Shapes: one(func(u *Unary) []uint32 { return u.Dims })}

// Unary is an operation from one tensor to one of the same shape: RELU, RELU1,
// RELU6, LOGISTIC, TANH, QUANTIZE, DEQUANTIZE, REQUANTIZE and the like.
type Unary struct {
	Input, Output uint32 // operand indexes
	Type          nn.OperandType
	Dims          []uint32
	Alpha         float32 // of ELU
	table         func(*Unary, View) (*[256]byte, error)
}

func readUnary(a *Args) (Unary, error) {
	u := Unary{Input: a.In("input"), Output: a.Op.Outputs[0], Type: a.Key, table: a.Row.Table}
	var err error
	u.Dims = try.V(a.Dims("input"))
	if r := a.Row.MaxRank; r > 0 && len(u.Dims) > r {
		return u, a.errorf("input", "rank %d, at most %d", len(u.Dims), r)
	}
	if a.names("alpha") {
		u.Alpha, err = a.Float("alpha")
	}
	return u, err
}

// ByteTable is the output for every input byte, by the Table of the operation's row.
func (u *Unary) ByteTable(v View) (*[256]byte, error) {
	if u.table == nil {
		return nil, fmt.Errorf("an operation on operand %d has no table of bytes", u.Input)
	}
	return u.table(u, v)
}

// Tabled lists the operations whose rows have a Table, in the order of their codes.
func Tabled() (list []nn.OperationType) {
	for _, op := range nn.Operations() {
		if r := Lookup(op); r != nil && r.Table != nil {
			list = append(list, op)
		}
	}
	return list
}

// UnaryActivation is the clamp of an operation that only clamps, RELU, RELU1 or RELU6,
// NONE for others.
func UnaryActivation(t nn.OperationType) nn.FusedActivation {
	if r := Lookup(t); r != nil {
		return r.Clamp
	}
	return nn.ActNone
}

// logisticTable is quantized LOGISTIC for every input byte.
func (u *Unary) logisticTable(v View) (*[256]byte, error) {
	return u.sigmoidTable(v, quant256, func(x, radius int32, m fixedpoint.Multiplier) int32 {
		switch {
		case x <= -radius:
			return 0
		case x >= radius:
			return 255
		}
		return min(fixedpoint.RDPOT(fixedpoint.Logistic(fixedpoint.SRDHM(x<<uint(m.Shift), m.M)), 23), 255)
	})
}

// tanhTable is quantized TANH for every input byte.
func (u *Unary) tanhTable(v View) (*[256]byte, error) {
	return u.sigmoidTable(v, quant128, func(x, radius int32, m fixedpoint.Multiplier) int32 {
		switch {
		case x <= -radius:
			return 0
		case x >= radius:
			return 255
		}
		return min(max(fixedpoint.RDPOT(fixedpoint.Tanh(fixedpoint.SRDHM(x<<uint(m.Shift), m.M)), 24)+128, 0), 255)
	})
}

// sigmoidTable runs f (centred input to an unsigned result) over all bytes.
func (u *Unary) sigmoidTable(v View, out outQuant, f func(x, radius int32, m fixedpoint.Multiplier) int32) (_ *[256]byte, err error) {
	defer try.Catch(&err)
	scale := try.V(v.quantScale(u.Input))
	try.E(v.checkFixedQuant(u.Output, out))
	m := try.V(fixedpoint.GreaterThanOne("input scale times 2^27", scale*(1<<27)))
	if m.Shift > 31 {
		return nil, fmt.Errorf("operand %d has scale %v: too large", u.Input, v.Operands[u.Input].Scale)
	}
	radius := fixedpoint.InputRadius(4, m.Shift)
	in, lo := &v.Operands[u.Input], int32(0)
	if v.Operands[u.Output].Type != nn.TensorQuant8Asymm {
		lo = -128
	}
	t := new([256]byte)
	for i := range t {
		q := int32(i)
		if in.Type != nn.TensorQuant8Asymm {
			q = int32(int8(i))
		}
		t[i] = byte(f(q-in.ZeroPoint, radius, m) + lo)
	}
	return t, nil
}

// rsqrtTable is quantized RSQRT for every input byte: as on reals.
func (u *Unary) rsqrtTable(v View) (*[256]byte, error) {
	return u.realTable(v, func(x float64) float64 { return 1 / math.Sqrt(x) })
}

// realTable is a function of reals for every input byte.
func (u *Unary) realTable(v View, f func(float64) float64) (*[256]byte, error) {
	if _, _, _, err := v.scales(u.Input, u.Input, u.Output); err != nil {
		return nil, err
	}
	in, out := &v.Operands[u.Input], &v.Operands[u.Output]
	lo, hi := quantized.Limits(out.Type)
	t := new([256]byte)
	for i := range t {
		q := int32(i)
		if in.Type != nn.TensorQuant8Asymm {
			q = int32(int8(i))
		}
		real := in.Scale * float32(q-in.ZeroPoint)
		t[i] = byte(quantized.Value(float32(f(float64(real))), out.Scale, out.ZeroPoint, lo, hi))
	}
	return t, nil
}

// hardSwishTable is quantized HARD_SWISH for every input byte: 16-bit fixed
// point in which the input has 7 more bits and relu6(x+3)/6 ranges over
// [0, 2^15).
func (u *Unary) hardSwishTable(v View) (*[256]byte, error) {
	si, so, err := v.scale2(u.Input, u.Output)
	if err != nil {
		return nil, err
	}
	in, out := &v.Operands[u.Input], &v.Operands[u.Output]
	hires := si / 128
	mo, mr := fixedpoint.QuantizeMultiplier(hires/so), fixedpoint.QuantizeMultiplier(hires/(3./32768))
	if mo.Shift > 0 {
		return nil, fmt.Errorf("HARD_SWISH: scales %v to %v need a multiplier above 1", in.Scale, out.Scale)
	}
	lo, hi := quantized.Limits(out.Type)
	outFactor, gateFactor := narrow16(mo.M), narrow16(mr.M)
	t := new([256]byte)
	for i := range t {
		q := int32(i)
		if in.Type != nn.TensorQuant8Asymm {
			q = int32(int8(i))
		}
		x := saturate16((q - in.ZeroPoint) << 7)
		scaled := fixedpoint.Q15.Mul(x, outFactor)
		// The gate: x rescaled so that +-3 is +-2^15, then shifted to [0, 2^15).
		gate := x
		if mr.Shift > 1 {
			gate = shiftLeft16(gate, mr.Shift-1)
		}
		gate = fixedpoint.Q15.Mul(gate, gateFactor)
		if mr.Shift > 0 {
			gate = shiftLeft16(gate, 1)
		} else {
			gate = fixedpoint.RDPOT(gate, -mr.Shift)
		}
		gate = (gate + 1<<15) >> 1
		product := gate * scaled / (1 << 15)
		t[i] = byte(min(max(fixedpoint.RDPOT(product, -mo.Shift)+out.ZeroPoint, lo), hi))
	}
	return t, nil
}

func saturate16(x int32) int32 { return min(max(x, math.MinInt16), math.MaxInt16) }

// narrow16 keeps the high half of a Q0.31 fraction, rounded.
func narrow16(m int32) int32 { return int32(min((int64(m)+1<<15)>>16, math.MaxInt16)) }

func shiftLeft16(x int32, n int) int32 {
	if n > 16 {
		n = 16
	}
	return saturate16(int32(min(max(int64(x)<<uint(n), math.MinInt32), math.MaxInt32)))
}

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
	{Op: nn.OpRequantize, Since: Extension, Extension: nn.QuantizationExtension, Types: "Q8@extension Q8S@extension", Args: unaryArgs, Table: (*Unary).requantizeTable,
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

// requantizeTable maps every byte of a REQUANTIZE's input: zo + (q - zi)*si/so,
// with the multiplier in 32-bit fixed point and rounding as TFLite's QUANTIZE
// between 8-bit types has them, clamped to the output's type.
func (u *Unary) requantizeTable(v View) (*[256]byte, error) {
	in, out := &v.Operands[u.Input], &v.Operands[u.Output]
	m := fixedpoint.QuantizeMultiplier(float64(in.Scale) / float64(out.Scale))
	lo, hi := quantized.Limits(out.Type)
	t := new([256]byte)
	for i := range t {
		q := int32(i)
		if in.Type != nn.TensorQuant8Asymm {
			q = int32(int8(i))
		}
		t[i] = byte(min(max(int64(m.ApplySaturating(q-in.ZeroPoint))+int64(out.ZeroPoint), int64(lo)), int64(hi)))
	}
	return t, nil
}

// codeRows are the operations of extensions that have codes.
func codeRows() (rows []Row) {
	for _, e := range nn.CodeExtensions() {
		rows = append(rows, Row{Op: e.Decode(), Since: Extension, Extension: e.Name, Types: e.TypeName + "@extension",
			Args: Arguments[Decode]{Read: func(a *Args) (Decode, error) { return readDecode(a, e) }, Shapes: one(func(d *Decode) []uint32 { return d.Dims })},
			Work: WorkRule{Quant: 8},
			Forms: []Form{
				{Extension, "input:T", "output:Q8 | output:Q8S"},
			}})
	}
	return rows
}

// Decode makes a quantized tensor of codes.
type Decode struct {
	Input, Output uint32 // operand indexes
	Dims          []uint32
	Values        [256]float32 // what the codes of the input stand for
}

// readDecode reads the values before the shape, so that bad ones are an error even where
// the shape is not known yet.
func readDecode(a *Args, e *nn.CodeExtension) (d Decode, err error) {
	d.Input, d.Output = a.In("input"), a.Op.Outputs[0]
	if d.Values, err = e.Values(a.View.Operands[d.Input].Extension); err != nil {
		return d, a.errorf("input", "%w", err)
	}
	d.Dims, err = a.Dims("input")
	return d, err
}

// Table maps every code to the output: the value that it stands for, as QUANTIZE rounds and
// clamps it.
func (d *Decode) Table(v View) *[256]byte {
	out := &v.Operands[d.Output]
	lo, hi := quantized.Limits(out.Type)
	t := new([256]byte)
	for q, real := range d.Values {
		t[q] = byte(quantized.Value(real, out.Scale, out.ZeroPoint, lo, hi))
	}
	return t
}
