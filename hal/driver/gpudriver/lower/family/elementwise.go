package family

import (
	"fmt"
	"math"
	"strings"

	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/elementwise"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/lower"
	"github.com/nnsoc/nnsoc/hal/driver/graph/legal"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/nn/quantized"
)

// function is the function that is named after an operation and its elements.
func function(op nn.OperationType, suffix string) elementwise.Op {
	f := elementwise.Op(strings.ToLower(op.String()) + suffix)
	if !f.HasCode() {
		panic(fmt.Sprintf("gpu: function %q of a row has no code", f))
	}
	return f
}

// requireFunctions panics unless each operation has a function with code.
func requireFunctions(list legal.Operations, suffix string) {
	for _, op := range list {
		function(op, suffix)
	}
}

// preparation completes the kernel of a function of two tensors.
type preparation func(l *lower.Lowering, k *elementwise.Kernel, e *opspec.Elementwise)

// pairwise lowers operations on two tensors by functions whose kernel is prepared.
func pairwise(list legal.Operations, suffix string, prepare preparation) lowering {
	requireFunctions(list, suffix)
	return read(func(l *lower.Lowering, op *nn.Operation, e opspec.Elementwise) {
		x := try.V(l.Value(e.A))
		y, out := try.V2(l.Pair(e.B, e.Output))
		dims := ints(e.Dims)
		axes := try.V(layout.Collapse(dims, layout.Dense(dims), e.StridesA, e.StridesB))
		k := &elementwise.Kernel{Function: elementwise.Function{Op: function(op.Type, suffix)}, Axes: axes, In: []*layout.Tensor{x, y}, Out: out}
		prepare(l, k, &e)
		l.Launch(k, out)
	})
}

// bounded is of functions that have their activation.
func bounded(_ *lower.Lowering, k *elementwise.Kernel, e *opspec.Elementwise) {
	k.Lo, k.Hi = opspec.FloatActRange(e.Act)
}

// truths is of tensors whose bytes are false or, whatever else they are, true.
func truths(l *lower.Lowering, k *elementwise.Kernel, e *opspec.Elementwise) {
	for i, t := range k.In {
		k.In[i] = mappedTemporary(l, elementwise.Function{Op: elementwise.Truth}, t, layout.U8)
	}
	bounded(l, k, e)
}

// realValues is of the real values of quantized tensors.
func realValues(l *lower.Lowering, k *elementwise.Kernel, e *opspec.Elementwise) {
	for i, x := range [2]uint32{e.A, e.B} {
		k.In[i] = asReal(l, x, k.In[i])
	}
	k.Lo, k.Hi = opspec.FloatActRange(nn.ActNone)
}

// rescaled is of quantized tensors that are brought to the output's quantization.
func rescaled(l *lower.Lowering, k *elementwise.Kernel, e *opspec.Elementwise) {
	out := l.Operand(e.Output)
	for i, x := range [2]uint32{e.A, e.B} {
		k.In[i] = lookedUp(l, quantized.RescaleTable(l.Operand(x), out), k.In[i])
	}
}

// sum is of ADD and SUB of quantized tensors.
func sum(l *lower.Lowering, k *elementwise.Kernel, e *opspec.Elementwise) {
	q := try.V(e.AddQuant(l.View()))
	k.Fixed = elementwise.Fixed{ZeroA: q.ZeroA, ZeroB: q.ZeroB, OutZero: q.OutZero, A: q.A, B: q.B, Out: q.Out, Shift: quantized.AddShift, Lo: q.Lo, Hi: q.Hi}
}

// product is of MUL of quantized tensors.
func product(l *lower.Lowering, k *elementwise.Kernel, e *opspec.Elementwise) {
	q := try.V(e.MulQuant(l.View()))
	k.Fixed = elementwise.Fixed{ZeroA: q.ZeroA, ZeroB: q.ZeroB, OutZero: q.OutZero, Out: q.Mult, Lo: q.Lo, Hi: q.Hi}
}

// slope is of PRELU of quantized tensors.
func slope(l *lower.Lowering, k *elementwise.Kernel, e *opspec.Elementwise) {
	q := try.V(e.PreluQuant(l.View()))
	k.Fixed = elementwise.Fixed{ZeroA: q.InZero, ZeroB: q.AlphaZero, OutZero: q.OutZero, A: q.Positive, B: q.Negative, Lo: q.Lo, Hi: q.Hi}
}

// asReal is a quantized tensor as float32.
func asReal(l *lower.Lowering, x uint32, t *layout.Tensor) *layout.Tensor {
	o := l.Operand(x)
	return mappedTemporary(l, elementwise.Function{Op: "dequantize", Scale: o.Scale, Zero: o.ZeroPoint}, t, layout.F32)
}

// lookedUp is a tensor of bytes through a table; the same where there is none.
func lookedUp(l *lower.Lowering, t *[256]byte, x *layout.Tensor) *layout.Tensor {
	if t == nil {
		return x
	}
	return mappedTemporary(l, lookupOf(l, t), x, x.Elem)
}

// lookupOf is the function of a table.
func lookupOf(l *lower.Lowering, t *[256]byte) elementwise.Function {
	return elementwise.Function{Op: elementwise.Lookup, Table: l.Constants().Bytes(t[:])}
}

// unary lowers operations on one tensor by functions.
func unary(list legal.Operations, suffix string) lowering {
	requireFunctions(list, suffix)
	return read(func(l *lower.Lowering, op *nn.Operation, u opspec.Unary) {
		x, out := try.V2(l.Pair(u.Input, u.Output))
		l.Map(elementwise.Function{Op: function(op.Type, suffix), Scale: u.Alpha}, x, out)
	})
}

// lowerClamp lowers RELU, RELU1 and RELU6.
func lowerClamp(l *lower.Lowering, op *nn.Operation, u opspec.Unary) {
	x, out := try.V2(l.Pair(u.Input, u.Output))
	f, act, in := elementwise.Function{Op: elementwise.Clamp}, opspec.UnaryActivation(op.Type), l.Operand(u.Input)
	if f.Lo, f.Hi = opspec.FloatActRange(act); !x.Elem.IsFloat() {
		f = elementwise.Function{Op: elementwise.ClampInt}
		f.Fixed.Lo, f.Fixed.Hi = quantized.ActRange(act, in.Type, in.Scale, in.ZeroPoint)
	}
	l.Map(f, x, out)
}

// lowerChoose lowers SELECT, of quantized tensors behind tables that bring them to the output's
// quantization.
func lowerChoose(l *lower.Lowering, _ *nn.Operation, s opspec.Select) {
	c, out := try.V2(l.Pair(s.Condition, s.Output))
	x, y := try.V2(l.Pair(s.A, s.B))
	if s.Type.IsQuant8() {
		o := l.Operand(s.Output)
		x = lookedUp(l, quantized.RescaleTable(l.Operand(s.A), o), x)
		y = lookedUp(l, quantized.RescaleTable(l.Operand(s.B), o), y)
	}
	l.Launch(&elementwise.Kernel{Function: elementwise.Function{Op: "select"}, Axes: layout.Flat(out.N, 4), In: []*layout.Tensor{c, x, y}, Out: out}, out)
}

// mappedTemporary is a function of one dense tensor, stored as e.
func mappedTemporary(l *lower.Lowering, f elementwise.Function, x *layout.Tensor, e layout.Element) *layout.Tensor {
	out := l.Temporary(e, x.N)
	l.Map(f, x, out)
	return out
}

func ints(d []uint32) []int {
	out := make([]int, len(d))
	for i, x := range d {
		out[i] = int(x)
	}
	return out
}

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

// lowerByTable lowers a function of single bytes: every lane reads its byte's entry of the row's table.
func lowerByTable(l *lower.Lowering, _ *nn.Operation, u opspec.Unary) {
	x, out := try.V2(l.Pair(u.Input, u.Output))
	l.Map(lookupOf(l, try.V(u.ByteTable(l.View()))), x, out)
}

// lowerCast lowers CAST, which reads bytes as unsigned whatever their type is. Floats truncate;
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
