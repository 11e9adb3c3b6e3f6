package lower

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/driver/gpu/kernel/elementwise"
	"github.com/nnsoc/nnsoc/hal/driver/gpu/layout"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// functions are the kernels of operations on single elements.
var functions = map[nn.OperationType]elementwise.Op{
	nn.OpAdd:       elementwise.Add,
	nn.OpSub:       elementwise.Sub,
	nn.OpMul:       elementwise.Mul,
	nn.OpDiv:       elementwise.Div,
	nn.OpMaximum:   elementwise.Max,
	nn.OpMinimum:   elementwise.Min,
	nn.OpPrelu:     elementwise.Prelu,
	nn.OpRelu:      elementwise.Clamp,
	nn.OpRelu1:     elementwise.Clamp,
	nn.OpRelu6:     elementwise.Clamp,
	nn.OpLogistic:  elementwise.Logistic,
	nn.OpTanh:      elementwise.Tanh,
	nn.OpAbs:       elementwise.Abs,
	nn.OpNeg:       elementwise.Neg,
	nn.OpFloor:     elementwise.Floor,
	nn.OpSqrt:      elementwise.Sqrt,
	nn.OpRsqrt:     elementwise.Rsqrt,
	nn.OpLog:       elementwise.Log,
	nn.OpHardSwish: elementwise.HardSwish,
}

// binary lowers ADD, SUB, MUL, DIV, MAXIMUM, MINIMUM and PRELU.
func (l *Lowering) binary(op *nn.Operation) error {
	e, err := l.view.Elementwise(op)
	if err != nil {
		return err
	}
	if _, err := l.Element(e.Type); err != nil {
		return fmt.Errorf("%s: %w", op.Type, err)
	}
	x, err := l.Value(e.A)
	if err != nil {
		return err
	}
	y, out, err := l.Pair(e.B, e.Output)
	if err != nil {
		return err
	}
	dims := ints(e.Dims)
	axes, err := layout.Collapse(dims, layout.Dense(dims), e.StridesA, e.StridesB)
	if err != nil {
		return fmt.Errorf("%s: %w", op.Type, err)
	}
	f := elementwise.Function{Op: functions[op.Type]}
	f.Lo, f.Hi = opspec.FloatActRange(e.Act)
	l.elementwise(&elementwise.Kernel{Function: f, Axes: axes, In: []*layout.Tensor{x, y}, Out: out})
	return nil
}

// unary lowers the functions of one tensor.
func (l *Lowering) unary(op *nn.Operation) error {
	u, err := l.view.Unary(op)
	if err != nil {
		return err
	}
	if _, err := l.Element(u.Type); err != nil {
		return fmt.Errorf("%s: %w", op.Type, err)
	}
	f := elementwise.Function{Op: functions[op.Type]}
	if f.Op == elementwise.Clamp {
		f.Lo, f.Hi = opspec.FloatActRange(opspec.UnaryActivation(op.Type))
	}
	x, out, err := l.Pair(u.Input, u.Output)
	if err != nil {
		return err
	}
	return l.mapped(f, ints(u.Dims), x, out)
}

// mapped adds a function of one dense tensor.
func (l *Lowering) mapped(f elementwise.Function, dims []int, x, out *layout.Tensor) error {
	dense := layout.Dense(dims)
	axes, err := layout.Collapse(dims, dense, dense)
	if err != nil {
		return err
	}
	l.elementwise(&elementwise.Kernel{Function: f, Axes: axes, In: []*layout.Tensor{x}, Out: out})
	return nil
}

func (l *Lowering) elementwise(k *elementwise.Kernel) { l.Add(k, k.In, []*layout.Tensor{k.Out}) }

// quantize lowers QUANTIZE from a float type.
func (l *Lowering) quantize(op *nn.Operation) error {
	u, err := l.view.Unary(op)
	if err != nil {
		return err
	}
	x, out, err := l.Pair(u.Input, u.Output)
	if err != nil {
		return err
	}
	o := &l.graph.Operands[u.Output]
	if !x.Elem.IsFloat() || out.Elem.IsFloat() {
		return fmt.Errorf("%s: from %s to %s is not supported", op.Type, l.graph.Operands[u.Input].Type, o.Type)
	}
	lo, hi := opspec.QuantLimits(o.Type)
	f := elementwise.Function{Op: elementwise.Quantize, Lo: float32(lo), Hi: float32(hi), Scale: o.Scale, Zero: o.ZeroPoint}
	return l.mapped(f, ints(u.Dims), x, out)
}

// dequantize lowers DEQUANTIZE of 8-bit types and of TENSOR_FLOAT16.
func (l *Lowering) dequantize(op *nn.Operation) error {
	u, err := l.view.Unary(op)
	if err != nil {
		return err
	}
	x, out, err := l.Pair(u.Input, u.Output)
	if err != nil {
		return err
	}
	in := &l.graph.Operands[u.Input]
	if !out.Elem.IsFloat() {
		return fmt.Errorf("%s: to %s is not supported", op.Type, l.graph.Operands[u.Output].Type)
	}
	f := elementwise.Function{Op: elementwise.Copy}
	switch x.Elem {
	case layout.U8:
		f = elementwise.Function{Op: elementwise.Dequantize, Scale: in.Scale, Zero: in.ZeroPoint}
	case layout.I8:
		f = elementwise.Function{Op: elementwise.DequantizeInt, Scale: in.Scale, Zero: in.ZeroPoint}
	}
	return l.mapped(f, ints(u.Dims), x, out)
}

// requantize lowers REQUANTIZE: every lane reads its byte's entry of a table.
func (l *Lowering) requantize(op *nn.Operation) error {
	u, err := l.view.Unary(op)
	if err != nil {
		return err
	}
	x, out, err := l.Pair(u.Input, u.Output)
	if err != nil {
		return err
	}
	t := u.RequantizeTable(l.view)
	f := elementwise.Function{Op: elementwise.Lookup, Table: l.list.Consts.Bytes(t[:])}
	return l.mapped(f, ints(u.Dims), x, out)
}

func ints(d []uint32) []int {
	out := make([]int, len(d))
	for i, x := range d {
		out[i] = int(x)
	}
	return out
}
