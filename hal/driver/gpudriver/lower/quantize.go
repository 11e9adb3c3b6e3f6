package lower

import (
	"math"

	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/elementwise"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// quantize lowers QUANTIZE from a float type.
func (l *Lowering) quantize(op *nn.Operation) error {
	u, x, out, err := l.single(op)
	if err != nil {
		return err
	}
	l.mapped(quantizer(&l.graph.Operands[u.Output]), x, out)
	return nil
}

// quantizer is the function that quantizes reals for an operand.
func quantizer(o *nn.Operand) elementwise.Function {
	lo, hi := opspec.QuantLimits(o.Type)
	return elementwise.Function{Op: elementwise.Quantize, Lo: float32(lo), Hi: float32(hi), Scale: o.Scale, Zero: o.ZeroPoint}
}

// dequantize lowers DEQUANTIZE of 8-bit types and of TENSOR_FLOAT16. Channels with scales of
// their own are the product of the integers with a tensor of scales.
func (l *Lowering) dequantize(op *nn.Operation) error {
	u, x, out, err := l.single(op)
	if err != nil {
		return err
	}
	in := &l.graph.Operands[u.Input]
	switch {
	case x.Elem.IsFloat():
		l.convert(x, out)
	case in.Type == nn.TensorQuant8SymmPerChannel:
		return l.dequantizeChannels(op, in, ints(u.Dims), x, out)
	default:
		l.mapped(elementwise.Function{Op: elementwise.Dequantize, Scale: in.Scale, Zero: in.ZeroPoint}, x, out)
	}
	return nil
}

func (l *Lowering) dequantizeChannels(op *nn.Operation, in *nn.Operand, dims []int, x, out *layout.Tensor) error {
	c := in.Channel
	if c == nil || int(c.Dim) >= len(dims) || len(c.Scales) != dims[c.Dim] {
		return channelScale.Broken("operand type %s of shape %v", in.Type, in.Dimensions)
	}
	dense, scales := layout.Dense(dims), make([]int, len(dims))
	scales[c.Dim] = 1
	axes := try.V(layout.Collapse(dims, dense, dense, scales))
	f := elementwise.Function{Op: elementwise.Mul}
	f.Lo, f.Hi = opspec.FloatActRange(nn.ActNone)
	integers := l.mappedTemporary(elementwise.Function{Op: elementwise.Float}, x, layout.F32)
	l.elementwise(&elementwise.Kernel{Function: f, Axes: axes, In: []*layout.Tensor{integers, l.constantFloats(c.Scales)}, Out: out})
	return nil
}

// requantize lowers REQUANTIZE: every lane reads its byte's entry of a table.
func (l *Lowering) requantize(op *nn.Operation) error {
	u, x, out, err := l.single(op)
	if err != nil {
		return err
	}
	l.mapped(l.lookup(u.RequantizeTable(l.view)), x, out)
	return nil
}

// cast lowers CAST, which takes bytes as unsigned whatever their type is. Floats truncate;
// all saturate.
func (l *Lowering) cast(op *nn.Operation) error {
	u, x, out, err := l.single(op)
	if err != nil {
		return err
	}
	if l.graph.Operands[u.Input].Type == l.graph.Operands[u.Output].Type {
		return l.copyAll(x, out)
	}
	if x.Elem == layout.I8 {
		bytes := l.Temporary(layout.U8, x.N)
		try.E(l.copyAll(x, bytes))
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
	l.mapped(f, x, out)
	return nil
}
