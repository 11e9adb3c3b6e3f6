package opspec

import (
	"fmt"
	"math"

	"github.com/nnsoc/nnsoc/hal/nn"
)

// Multiplier is a positive real number as a 31-bit fraction M / 2^31 in
// [0.5, 1) and a power of two: M * 2^(Shift-31). The zero value is 0.
type Multiplier struct {
	M     int32
	Shift int // positive shifts left
}

// QuantizeMultiplier encodes a real multiplier. Values below 2^-32 become 0.
func QuantizeMultiplier(real float64) Multiplier {
	if !(real > 0) || math.IsInf(real, 0) {
		return Multiplier{}
	}
	f, e := math.Frexp(real)
	m := int64(math.Round(f * (1 << 31)))
	if m == 1<<31 {
		m /= 2
		e++
	}
	if e < -31 {
		return Multiplier{}
	}
	return Multiplier{int32(m), e}
}

// Apply multiplies and rounds as the reference does: shift left, double the
// high half of the product with rounding, shift right with rounding.
func (m Multiplier) Apply(x int32) int32 {
	if m.Shift > 0 {
		return SRDHM(x<<uint(m.Shift), m.M)
	}
	return RDPOT(SRDHM(x, m.M), -m.Shift)
}

// SRDHM is the saturating rounding doubling high multiply: a*b/2^31 rounded to
// nearest, halves upwards. (gemmlowp nudges by the sign and divides towards
// zero, which is the same.) The product of two minimum values saturates.
func SRDHM(a, b int32) int32 {
	return int32(min((int64(a)*int64(b)+1<<30)>>31, math.MaxInt32))
}

// RDPOT divides by 2^n, rounding half away from zero. n is at least 0.
func RDPOT(x int32, n int) int32 {
	if n > 62 {
		return 0
	}
	v := int64(x)
	mask := int64(1)<<uint(n) - 1
	threshold := mask >> 1
	if v < 0 {
		threshold++
	}
	r := v >> uint(n)
	if v&mask > threshold {
		r++
	}
	return int32(r)
}

// QuantLimits are the least and greatest values of an 8-bit quantized type.
func QuantLimits(t nn.OperandType) (lo, hi int32) {
	if t == nn.TensorQuant8Asymm {
		return 0, 255
	}
	return -128, 127
}

// ActRange is the clamp of a fused activation on a quantized output of type t.
func ActRange(act nn.FusedActivation, t nn.OperandType, scale float32, zero int32) (lo, hi int32) {
	lo, hi = QuantLimits(t)
	q := func(real float32) int32 {
		v := math.Round(float64(real/scale)) + float64(zero)
		return int32(min(max(v, math.MinInt32), math.MaxInt32))
	}
	switch act {
	case nn.ActRelu:
		lo = max(lo, q(0))
	case nn.ActRelu6:
		lo, hi = max(lo, q(0)), min(hi, q(6))
	case nn.ActRelu1:
		lo, hi = max(lo, q(-1)), min(hi, q(1))
	}
	return lo, hi
}

// FloatActRange is the clamp of a fused activation on a float output.
func FloatActRange(act nn.FusedActivation) (lo, hi float32) {
	inf := float32(math.Inf(1))
	switch act {
	case nn.ActRelu:
		return 0, inf
	case nn.ActRelu6:
		return 0, 6
	case nn.ActRelu1:
		return -1, 1
	}
	return -inf, inf
}

// GEMMQuant is the requantization of convolutions and FULLY_CONNECTED:
//
//	acc = sum (qx - InZero) * (qw - FilterZero) + bias
//	out = clamp(Mult.Apply(acc) + OutZero, Lo, Hi)
type GEMMQuant struct {
	InZero, FilterZero, OutZero int32
	Mult                        []Multiplier // one, or one per output channel
	Lo, Hi                      int32
}

// Multiplier is the multiplier of output channel k.
func (q *GEMMQuant) Multiplier(k int) Multiplier {
	if len(q.Mult) == 1 {
		return q.Mult[0]
	}
	return q.Mult[k]
}

// quantScale returns the scale of a quantized operand after checking it.
func (v View) quantScale(i uint32) (float64, error) {
	if uint64(i) >= uint64(len(v.Operands)) {
		return 0, fmt.Errorf("operand %d of %d does not exist", i, len(v.Operands))
	}
	s := v.Operands[i].Scale
	if !(s > 0) || math.IsInf(float64(s), 0) {
		return 0, fmt.Errorf("operand %d has scale %v", i, s)
	}
	return float64(s), nil
}

func (v View) gemmQuant(in, filter, bias, out uint32, act nn.FusedActivation, k int, dim uint32) (GEMMQuant, error) {
	q := GEMMQuant{}
	if _, err := v.quantScale(in); err != nil {
		return q, err
	}
	so, err := v.quantScale(out)
	if err != nil {
		return q, err
	}
	oi, of, oo := &v.Operands[in], &v.Operands[filter], &v.Operands[out]
	q.InZero, q.FilterZero, q.OutZero = oi.ZeroPoint, of.ZeroPoint, oo.ZeroPoint
	q.Lo, q.Hi = ActRange(act, oo.Type, oo.Scale, oo.ZeroPoint)
	if of.Type == nn.TensorQuant8SymmPerChannel {
		q.FilterZero = 0
		if of.Channel == nil || len(of.Channel.Scales) != k {
			return q, fmt.Errorf("operand %d needs %d channel scales", filter, k)
		}
		if of.Channel.Dim != dim {
			return q, fmt.Errorf("operand %d has channel dimension %d, %d needed", filter, of.Channel.Dim, dim)
		}
		q.Mult = make([]Multiplier, k)
		for c, s := range of.Channel.Scales {
			q.Mult[c] = QuantizeMultiplier(float64(oi.Scale*s) / so)
		}
		return q, nil
	}
	if _, err := v.quantScale(filter); err != nil {
		return q, err
	}
	product := float64(oi.Scale * of.Scale)
	sb := float64(v.Operands[bias].Scale)
	if !(math.Abs(product-sb) <= 1e-6*min(product, sb)) {
		return q, fmt.Errorf("operand %d (bias) has scale %v, input times filter is %v", bias, sb, product)
	}
	q.Mult = []Multiplier{QuantizeMultiplier(product / so)}
	return q, nil
}

// AddShift is the left shift of the inputs of a quantized ADD or SUB.
const AddShift = 20

// AddQuant is the arithmetic of a quantized ADD:
//
//	v = A.Apply((qa - ZeroA) << AddShift) + B.Apply((qb - ZeroB) << AddShift)
//	out = clamp(Out.Apply(v) + OutZero, Lo, Hi)
type AddQuant struct {
	ZeroA, ZeroB, OutZero int32
	A, B, Out             Multiplier
	Lo, Hi                int32
}

// smallerThanOne encodes a multiplier that must be in (0, 1).
func smallerThanOne(what string, real float64) (Multiplier, error) {
	if !(real > 0 && real < 1) {
		return Multiplier{}, fmt.Errorf("%s %v is not between 0 and 1", what, real)
	}
	m := QuantizeMultiplier(real)
	if m.Shift > 0 {
		return m, fmt.Errorf("%s %v rounds to 1", what, real)
	}
	return m, nil
}

// greaterThanOne encodes a multiplier that must exceed 1.
func greaterThanOne(what string, real float64) (Multiplier, error) {
	if !(real > 1) || math.IsInf(real, 0) {
		return Multiplier{}, fmt.Errorf("%s %v is not greater than 1", what, real)
	}
	return QuantizeMultiplier(real), nil
}

// AddQuant returns the arithmetic of a quantized ADD (or SUB, whose second
// term is subtracted).
func (e *Elementwise) AddQuant(v View) (AddQuant, error) {
	q := AddQuant{}
	sa, sb, so, err := v.scales(e.A, e.B, e.Output)
	if err != nil {
		return q, err
	}
	twice := 2 * max(sa, sb)
	if q.A, err = smallerThanOne("multiplier of the first input", sa/twice); err != nil {
		return q, err
	}
	if q.B, err = smallerThanOne("multiplier of the second input", sb/twice); err != nil {
		return q, err
	}
	if q.Out, err = smallerThanOne("output multiplier", twice/((1<<AddShift)*so)); err != nil {
		return q, err
	}
	o := &v.Operands[e.Output]
	q.ZeroA, q.ZeroB, q.OutZero = v.Operands[e.A].ZeroPoint, v.Operands[e.B].ZeroPoint, o.ZeroPoint
	q.Lo, q.Hi = ActRange(e.Act, o.Type, o.Scale, o.ZeroPoint)
	return q, nil
}

// Apply adds two quantized values.
func (q *AddQuant) Apply(a, b int32) int32 {
	v := q.A.Apply((a-q.ZeroA)<<AddShift) + q.B.Apply((b-q.ZeroB)<<AddShift)
	return min(max(q.Out.Apply(v)+q.OutZero, q.Lo), q.Hi)
}

// MulQuant is the arithmetic of a quantized MUL:
//
//	out = clamp(Mult.Apply((qa - ZeroA) * (qb - ZeroB)) + OutZero, Lo, Hi)
type MulQuant struct {
	ZeroA, ZeroB, OutZero int32
	Mult                  Multiplier
	Lo, Hi                int32
}

// MulQuant returns the arithmetic of a quantized MUL.
func (e *Elementwise) MulQuant(v View) (MulQuant, error) {
	q := MulQuant{}
	_, _, so, err := v.scales(e.A, e.B, e.Output)
	if err != nil {
		return q, err
	}
	product := float64(v.Operands[e.A].Scale * v.Operands[e.B].Scale)
	if q.Mult, err = smallerThanOne("multiplier", product/so); err != nil {
		return q, err
	}
	o := &v.Operands[e.Output]
	q.ZeroA, q.ZeroB, q.OutZero = v.Operands[e.A].ZeroPoint, v.Operands[e.B].ZeroPoint, o.ZeroPoint
	q.Lo, q.Hi = ActRange(e.Act, o.Type, o.Scale, o.ZeroPoint)
	return q, nil
}

// Apply multiplies two quantized values.
func (q *MulQuant) Apply(a, b int32) int32 {
	return min(max(q.Mult.Apply((a-q.ZeroA)*(b-q.ZeroB))+q.OutZero, q.Lo), q.Hi)
}

func (v View) scales(a, b, out uint32) (sa, sb, so float64, err error) {
	if sa, err = v.quantScale(a); err != nil {
		return
	}
	if sb, err = v.quantScale(b); err != nil {
		return
	}
	so, err = v.quantScale(out)
	return
}
