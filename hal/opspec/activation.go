package opspec

import (
	"fmt"
	"math"

	"github.com/nnsoc/nnsoc/hal/nn"
)

// SoftmaxQuant is the arithmetic of a quantized SOFTMAX along one row:
//
//	diff = q - max(q); entries with diff < DiffMin give 0
//	e    = ExpNegative(SRDHM(diff << Mult.Shift, Mult.M), 5)   Q0.31, see Exp
//	sum  = sum of RDPOT(e, 12)                                 Q12.19
//	scale, shift = SoftmaxScale(sum)
//	out  = clamp(RDPOT(SRDHM(scale, e), shift) + Lo, Lo, Hi)
type SoftmaxQuant struct {
	Mult    Multiplier
	DiffMin int32
	Lo, Hi  int32
}

// Quant returns the arithmetic of a quantized SOFTMAX.
func (s *Softmax) Quant(v View) (SoftmaxQuant, error) {
	q := SoftmaxQuant{}
	scale, err := v.quantScale(s.Input)
	if err != nil {
		return q, err
	}
	if err := v.checkFixedQuant(s.Output, quant256); err != nil {
		return q, err
	}
	real := min(float64(s.Beta)*scale*(1<<26), 1<<31-1)
	if q.Mult, err = greaterThanOne("softmax: beta times scale", real); err != nil {
		return q, err
	}
	q.DiffMin = -inputRadius(5, q.Mult.Shift)
	q.Lo, q.Hi = QuantLimits(v.Operands[s.Output].Type)
	return q, nil
}

// Exp is exp of a difference to the maximum (0 to -255) in Q0.31, 0 below DiffMin.
func (q *SoftmaxQuant) Exp(diff int32) int32 {
	if diff < q.DiffMin {
		return 0
	}
	return ExpNegative(SRDHM(diff<<uint(q.Mult.Shift), q.Mult.M), 5)
}

// ExpTable is Exp for differences 0 to -255, by their absolute value.
func (q *SoftmaxQuant) ExpTable() *[256]int32 {
	t := new([256]int32)
	for i := range t {
		t[i] = q.Exp(int32(-i))
	}
	return t
}

// SoftmaxSumTerm is what an exponential adds to the sum.
func SoftmaxSumTerm(e int32) int32 { return RDPOT(e, 12) }

// SoftmaxScale is the reciprocal of a row's sum (Q12.19, not 0) as a Q0.31
// factor and the right shift that turns factor times exponential into 1/256 units.
func SoftmaxScale(sum int32) (scale int32, shift int) {
	scale, over := reciprocalOfSum(sum)
	return scale, over + 31 - 8
}

// Finish turns an exponential into the output value of its row.
func (q *SoftmaxQuant) Finish(e, scale int32, shift int) int32 {
	return min(max(RDPOT(SRDHM(scale, e), shift)+q.Lo, q.Lo), q.Hi)
}

// checkFixedQuant checks an output whose quantization the operation fixes.
func (v View) checkFixedQuant(i uint32, f OutQuant) error {
	o := &v.Operands[i]
	scale, zero := fixedQuant(f, o.Type)
	if f != AnyQuant && (o.Scale != scale || o.ZeroPoint != zero) {
		return fmt.Errorf("operand %d has scale %v and zero point %d, the operation gives %v and %d",
			i, o.Scale, o.ZeroPoint, scale, zero)
	}
	return nil
}

func fixedQuant(f OutQuant, t nn.OperandType) (scale float32, zero int32) {
	lo, _ := QuantLimits(t)
	if f == quant128 {
		return 1. / 128, lo + 128
	}
	return 1. / 256, lo
}

// FixedOutQuant is the scale and zero point that the output of an operation
// must have when its type is t; ok is false when the operation fixes none.
func (r *Row) FixedOutQuant(t nn.OperandType) (scale float32, zero int32, ok bool) {
	if r.Out == AnyQuant || !t.IsQuant8() {
		return 0, 0, false
	}
	scale, zero = fixedQuant(r.Out, t)
	return scale, zero, true
}

// LogisticTable is quantized LOGISTIC for every input byte.
func (u *Unary) LogisticTable(v View) (*[256]byte, error) {
	return u.sigmoidTable(v, quant256, func(x, radius int32, m Multiplier) int32 {
		switch {
		case x <= -radius:
			return 0
		case x >= radius:
			return 255
		}
		return min(RDPOT(Logistic(SRDHM(x<<uint(m.Shift), m.M)), 23), 255)
	})
}

// TanhTable is quantized TANH for every input byte.
func (u *Unary) TanhTable(v View) (*[256]byte, error) {
	return u.sigmoidTable(v, quant128, func(x, radius int32, m Multiplier) int32 {
		switch {
		case x <= -radius:
			return 0
		case x >= radius:
			return 255
		}
		return min(max(RDPOT(Tanh(SRDHM(x<<uint(m.Shift), m.M)), 24)+128, 0), 255)
	})
}

// RsqrtTable is quantized RSQRT for every input byte: as on reals.
func (u *Unary) RsqrtTable(v View) (*[256]byte, error) {
	if _, _, _, err := v.scales(u.Input, u.Input, u.Output); err != nil {
		return nil, err
	}
	in, out := &v.Operands[u.Input], &v.Operands[u.Output]
	lo, hi := QuantLimits(out.Type)
	t := new([256]byte)
	for i := range t {
		q := int32(i)
		if in.Type != nn.TensorQuant8Asymm {
			q = int32(int8(i))
		}
		real := in.Scale * float32(q-in.ZeroPoint)
		t[i] = byte(QuantizeValue(float32(1/math.Sqrt(float64(real))), out.Scale, out.ZeroPoint, lo, hi))
	}
	return t, nil
}

// sigmoidTable runs f (centred input to an unsigned result) over all bytes.
func (u *Unary) sigmoidTable(v View, out OutQuant, f func(x, radius int32, m Multiplier) int32) (*[256]byte, error) {
	scale, err := v.quantScale(u.Input)
	if err != nil {
		return nil, err
	}
	if err := v.checkFixedQuant(u.Output, out); err != nil {
		return nil, err
	}
	m, err := greaterThanOne("input scale times 2^27", scale*(1<<27))
	if err != nil {
		return nil, err
	}
	if m.Shift > 31 {
		return nil, fmt.Errorf("operand %d has scale %v: too large", u.Input, v.Operands[u.Input].Scale)
	}
	radius := inputRadius(4, m.Shift)
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

// QuantizeValue is QUANTIZE of one value: round half away from zero, clamp.
func QuantizeValue(real, scale float32, zero, lo, hi int32) int32 {
	v := math.Round(float64(real/scale)) + float64(zero)
	if !(v > float64(lo)) { // NaN gives the least value
		return lo
	}
	return int32(min(v, float64(hi)))
}
