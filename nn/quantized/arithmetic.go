// Package quantized is the arithmetic of NNAPI's operations on 8-bit quantized tensors, once package opspec
// has made numbers of scales: requantization, softmax, tables from byte to byte.
package quantized

import (
	"math"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/fixedpoint"
)

// Limits are the least and greatest values of an 8-bit quantized type.
func Limits(t nn.OperandType) (lo, hi int32) {
	if t == nn.TensorQuant8Asymm {
		return 0, 255
	}
	return -128, 127
}

// ActRange is the clamp of a fused activation on a quantized output of type t.
func ActRange(act nn.FusedActivation, t nn.OperandType, scale float32, zero int32) (lo, hi int32) {
	lo, hi = Limits(t)
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

// GEMM is the requantization of convolutions and FULLY_CONNECTED:
//
//	acc = sum (qx - InZero) * (qw - FilterZero) + bias
//	out = clamp(Mult.Apply(acc) + OutZero, Lo, Hi)
type GEMM struct {
	InZero, FilterZero, OutZero int32
	Mult                        []fixedpoint.Multiplier // one, or one per output channel
	Lo, Hi                      int32
}

// Multiplier is the multiplier of output channel k.
func (q *GEMM) Multiplier(k int) fixedpoint.Multiplier {
	if len(q.Mult) == 1 {
		return q.Mult[0]
	}
	return q.Mult[k]
}

// AddShift is the left shift of the inputs of a quantized ADD or SUB.
const AddShift = 20

// Add is the arithmetic of a quantized ADD:
//
//	v = A.Apply((qa - ZeroA) << AddShift) + B.Apply((qb - ZeroB) << AddShift)
//	out = clamp(Out.Apply(v) + OutZero, Lo, Hi)
type Add struct {
	ZeroA, ZeroB, OutZero int32
	A, B, Out             fixedpoint.Multiplier
	Lo, Hi                int32
}

// Apply adds two quantized values.
func (q *Add) Apply(a, b int32) int32 {
	v := q.A.Apply((a-q.ZeroA)<<AddShift) + q.B.Apply((b-q.ZeroB)<<AddShift)
	return min(max(q.Out.Apply(v)+q.OutZero, q.Lo), q.Hi)
}

// Mul is the arithmetic of a quantized MUL:
//
//	out = clamp(Mult.Apply((qa - ZeroA) * (qb - ZeroB)) + OutZero, Lo, Hi)
type Mul struct {
	ZeroA, ZeroB, OutZero int32
	Mult                  fixedpoint.Multiplier
	Lo, Hi                int32
}

// Apply multiplies two quantized values.
func (q *Mul) Apply(a, b int32) int32 {
	return min(max(q.Mult.Apply((a-q.ZeroA)*(b-q.ZeroB))+q.OutZero, q.Lo), q.Hi)
}

// Prelu is the arithmetic of a quantized PRELU with x = q - InZero:
//
//	x >= 0: out = clamp(Positive.Apply(x) + OutZero)
//	x <  0: out = clamp(Negative.Apply(x * (alpha - AlphaZero)) + OutZero)
type Prelu struct {
	InZero, AlphaZero, OutZero int32
	Positive, Negative         fixedpoint.Multiplier
	Lo, Hi                     int32
}

// Apply computes one element.
func (q *Prelu) Apply(x, alpha int32) int32 {
	x -= q.InZero
	if x >= 0 {
		x = q.Positive.Apply(x)
	} else {
		x = q.Negative.Apply(x * (alpha - q.AlphaZero))
	}
	return min(max(x+q.OutZero, q.Lo), q.Hi)
}
