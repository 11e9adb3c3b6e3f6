package family

import (
	"math"

	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/elementwise"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/lower"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/nn/quantized"
)

// lowerQuantize lowers QUANTIZE from a float type.
func lowerQuantize(l *lower.Lowering, _ *nn.Operation, u opspec.Unary) {
	x, out := try.V2(l.Pair(u.Input, u.Output))
	l.Map(quantizer(l.Operand(u.Output)), x, out)
}

// quantizer is the function that quantizes reals for an operand.
func quantizer(o *nn.Operand) elementwise.Function {
	lo, hi := quantized.Limits(o.Type)
	return elementwise.Function{Op: "quantize", Lo: float32(lo), Hi: float32(hi), Scale: o.Scale, Zero: o.ZeroPoint}
}

// lowerDequantize lowers DEQUANTIZE of 8-bit types and of TENSOR_FLOAT16. Channels with scales of
// their own are the product of the integers with a tensor of scales.
func lowerDequantize(l *lower.Lowering, _ *nn.Operation, u opspec.Unary) {
	x, out := try.V2(l.Pair(u.Input, u.Output))
	in := l.Operand(u.Input)
	switch {
	case x.Elem.IsFloat():
		l.Convert(x, out)
	case in.Type == nn.TensorQuant8SymmPerChannel:
		lowerDequantizeChannels(l, in, ints(u.Dims), x, out)
	default:
		l.Map(elementwise.Function{Op: "dequantize", Scale: in.Scale, Zero: in.ZeroPoint}, x, out)
	}
}

func lowerDequantizeChannels(l *lower.Lowering, in *nn.Operand, dims []int, x, out *layout.Tensor) {
	c := in.Channel
	refuse(c == nil || int(c.Dim) >= len(dims) || len(c.Scales) != dims[c.Dim], channelScale, "operand type %s of shape %v", in.Type, in.Dimensions)
	dense, scales := layout.Dense(dims), make([]int, len(dims))
	scales[c.Dim] = 1
	axes := try.V(layout.Collapse(dims, dense, dense, scales))
	f := elementwise.Function{Op: "mul"}
	f.Lo, f.Hi = opspec.FloatActRange(nn.ActNone)
	integers := mappedTemporary(l, elementwise.Function{Op: elementwise.Float}, x, layout.F32)
	l.Launch(&elementwise.Kernel{Function: f, Axes: axes, In: []*layout.Tensor{integers, constantFloats(l, c.Scales)}, Out: out}, out)
}

// lowerRequantize lowers REQUANTIZE: every lane reads its byte's entry of a table.
func lowerRequantize(l *lower.Lowering, _ *nn.Operation, u opspec.Unary) {
	x, out := try.V2(l.Pair(u.Input, u.Output))
	l.Map(lookupOf(l, u.RequantizeTable(l.View())), x, out)
}

// lowerCast lowers CAST, which takes bytes as unsigned whatever their type is. Floats truncate;
// all saturate.
func lowerCast(l *lower.Lowering, _ *nn.Operation, u opspec.Unary) {
	x, out := try.V2(l.Pair(u.Input, u.Output))
	if l.Operand(u.Input).Type == l.Operand(u.Output).Type {
		copyAll(l, x, out)
		return
	}
	if x.Elem == layout.I8 {
		bytes := l.Temporary(layout.U8, x.N)
		copyAll(l, x, bytes)
		x = bytes
	}
	f := elementwise.Function{Op: elementwise.Copy}
	switch from, to := x.Elem.IsFloat(), out.Elem.IsFloat(); {
	case from && to:
	case to:
		f.Op = elementwise.Float
	default:
		f.Op = elementwise.ClampInt
		if from {
			f.Op = elementwise.Integer
		}
		f.Fixed.Lo, f.Fixed.Hi = math.MinInt32, math.MaxInt32
		if out.Elem.Bytes() == 1 {
			f.Fixed.Lo, f.Fixed.Hi = 0, math.MaxUint8
		}
	}
	l.Map(f, x, out)
}
