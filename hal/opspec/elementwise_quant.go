package opspec

import (
	"fmt"
	"math"

	"github.com/nnsoc/nnsoc/hal/nn"
)

// RescaleTable maps every byte of one 8-bit quantized operand to another's
// quantization as MAXIMUM, MINIMUM and SELECT do:
// round((q - zi) * si / so + zo), clamped; the first product is a float32.
func RescaleTable(in, out *nn.Operand) *[256]byte {
	lo, hi := QuantLimits(out.Type)
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

// PreluQuant is the arithmetic of a quantized PRELU with x = q - InZero:
//
//	x >= 0: out = clamp(Positive.Apply(x) + OutZero)
//	x <  0: out = clamp(Negative.Apply(x * (alpha - AlphaZero)) + OutZero)
type PreluQuant struct {
	InZero, AlphaZero, OutZero int32
	Positive, Negative         Multiplier
	Lo, Hi                     int32
}

// PreluQuant returns the arithmetic of a quantized PRELU; A is the input, B
// the slopes.
func (e *Elementwise) PreluQuant(v View) (PreluQuant, error) {
	sa, _, so, err := v.scales(e.A, e.B, e.Output)
	if err != nil {
		return PreluQuant{}, err
	}
	in, alpha, out := &v.Operands[e.A], &v.Operands[e.B], &v.Operands[e.Output]
	q := PreluQuant{InZero: in.ZeroPoint, AlphaZero: alpha.ZeroPoint, OutZero: out.ZeroPoint,
		Positive: QuantizeMultiplier(sa / so), Negative: QuantizeMultiplier(float64(in.Scale*alpha.Scale) / so)}
	q.Lo, q.Hi = QuantLimits(out.Type)
	return q, nil
}

// Apply computes one element.
func (q *PreluQuant) Apply(x, alpha int32) int32 {
	x -= q.InZero
	if x >= 0 {
		x = q.Positive.Apply(x)
	} else {
		x = q.Negative.Apply(x * (alpha - q.AlphaZero))
	}
	return min(max(x+q.OutZero, q.Lo), q.Hi)
}

// HardSwishTable is quantized HARD_SWISH for every input byte: 16-bit fixed
// point in which the input has 7 more bits and relu6(x+3)/6 ranges over
// [0, 2^15).
func (u *Unary) HardSwishTable(v View) (*[256]byte, error) {
	si, so, err := v.scale2(u.Input, u.Output)
	if err != nil {
		return nil, err
	}
	in, out := &v.Operands[u.Input], &v.Operands[u.Output]
	hires := si / 128
	mo, mr := QuantizeMultiplier(hires/so), QuantizeMultiplier(hires/(3./32768))
	if mo.Shift > 0 {
		return nil, fmt.Errorf("HARD_SWISH: scales %v to %v need a multiplier above 1", in.Scale, out.Scale)
	}
	lo, hi := QuantLimits(out.Type)
	outFactor, gateFactor := narrow16(mo.M), narrow16(mr.M)
	t := new([256]byte)
	for i := range t {
		q := int32(i)
		if in.Type != nn.TensorQuant8Asymm {
			q = int32(int8(i))
		}
		x := saturate16((q - in.ZeroPoint) << 7)
		scaled := Fixed16.Mul(x, outFactor)
		// The gate: x rescaled so that +-3 is +-2^15, then shifted to [0, 2^15).
		gate := x
		if mr.Shift > 1 {
			gate = shiftLeft16(gate, mr.Shift-1)
		}
		gate = Fixed16.Mul(gate, gateFactor)
		if mr.Shift > 0 {
			gate = shiftLeft16(gate, 1)
		} else {
			gate = RDPOT(gate, -mr.Shift)
		}
		gate = (gate + 1<<15) >> 1
		product := gate * scaled / (1 << 15)
		t[i] = byte(min(max(RDPOT(product, -mo.Shift)+out.ZeroPoint, lo), hi))
	}
	return t, nil
}

func (v View) scale2(a, b uint32) (sa, sb float64, err error) {
	if sa, err = v.quantScale(a); err == nil {
		sb, err = v.quantScale(b)
	}
	return
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

// Select is a SELECT: where Condition is not 0, A, else B; all of one shape.
type Select struct {
	Condition, A, B, Output uint32 // operand indexes
	Type                    nn.OperandType
	Dims                    []uint32
}

// Select reads a SELECT.
func (v View) Select(op *nn.Operation) (Select, error) {
	a, err := v.bindAs(op, nn.OpSelect)
	if err != nil {
		return Select{}, err
	}
	s := Select{Condition: op.Inputs[0], A: op.Inputs[1], B: op.Inputs[2], Output: op.Outputs[0], Type: a.Key}
	if s.Dims, err = a.Dims("condition"); err != nil {
		return s, err
	}
	for _, name := range []string{"a", "b"} {
		d, err := a.Dims(name)
		if err != nil {
			return s, err
		}
		if !sameDims(d, s.Dims) {
			return s, a.errorf(name, "shape %v, the condition has %v", d, s.Dims)
		}
	}
	return s, nil
}
