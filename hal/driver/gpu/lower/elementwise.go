package lower

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/driver/gpu/kernel/elementwise"
	"github.com/nnsoc/nnsoc/hal/driver/gpu/layout"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// functions are the kernels of operations on single elements, by what they compute with.
var functions = map[nn.OperationType]struct{ float, integer, boolean elementwise.Op }{
	nn.OpAdd:          {float: elementwise.Add, integer: elementwise.AddInt},
	nn.OpSub:          {float: elementwise.Sub, integer: elementwise.SubInt},
	nn.OpMul:          {float: elementwise.Mul, integer: elementwise.MulInt},
	nn.OpDiv:          {float: elementwise.Div, integer: elementwise.DivInt},
	nn.OpMaximum:      {float: elementwise.Max, integer: elementwise.MaxInt},
	nn.OpMinimum:      {float: elementwise.Min, integer: elementwise.MinInt},
	nn.OpPow:          {float: elementwise.Pow},
	nn.OpPrelu:        {float: elementwise.Prelu},
	nn.OpEqual:        {float: elementwise.Equal, integer: elementwise.EqualInt, boolean: elementwise.EqualInt},
	nn.OpNotEqual:     {float: elementwise.NotEqual, integer: elementwise.NotEqualInt, boolean: elementwise.NotEqualInt},
	nn.OpLess:         {float: elementwise.Less, integer: elementwise.LessInt, boolean: elementwise.LessInt},
	nn.OpLessEqual:    {float: elementwise.LessEqual, integer: elementwise.LessEqualInt, boolean: elementwise.LessEqualInt},
	nn.OpGreater:      {float: elementwise.Greater, integer: elementwise.GreaterInt, boolean: elementwise.GreaterInt},
	nn.OpGreaterEqual: {float: elementwise.GreaterEqual, integer: elementwise.GreaterEqualInt, boolean: elementwise.GreaterEqualInt},
	nn.OpLogicalAnd:   {boolean: elementwise.And},
	nn.OpLogicalOr:    {boolean: elementwise.Or},
	nn.OpLogicalNot:   {boolean: elementwise.Not},
	nn.OpRelu:         {float: elementwise.Clamp},
	nn.OpRelu1:        {float: elementwise.Clamp},
	nn.OpRelu6:        {float: elementwise.Clamp},
	nn.OpLogistic:     {float: elementwise.Logistic},
	nn.OpTanh:         {float: elementwise.Tanh},
	nn.OpAbs:          {float: elementwise.Abs, integer: elementwise.AbsInt},
	nn.OpNeg:          {float: elementwise.Neg, integer: elementwise.NegInt},
	nn.OpFloor:        {float: elementwise.Floor},
	nn.OpSqrt:         {float: elementwise.Sqrt},
	nn.OpRsqrt:        {float: elementwise.Rsqrt},
	nn.OpExp:          {float: elementwise.Exp},
	nn.OpLog:          {float: elementwise.Log},
	nn.OpSin:          {float: elementwise.Sin},
	nn.OpElu:          {float: elementwise.Elu},
	nn.OpHardSwish:    {float: elementwise.HardSwish},
}

// function is the kernel of an operation on elements that are not quantized.
func function(op nn.OperationType, t nn.OperandType) (elementwise.Op, error) {
	f, row := elementwise.None, functions[op]
	switch t {
	case nn.TensorFloat32, nn.TensorFloat16:
		f = row.float
	case nn.TensorInt32:
		f = row.integer
	case nn.TensorBool8:
		f = row.boolean
	}
	if f == elementwise.None {
		return f, fmt.Errorf("%s: type %s is not supported", op, t)
	}
	return f, nil
}

// broadcast is the index space of an operation on two tensors.
func broadcast(e *opspec.Elementwise) (layout.Axes, error) {
	dims := ints(e.Dims)
	return layout.Collapse(dims, layout.Dense(dims), e.StridesA, e.StridesB)
}

// binary lowers the operations on two tensors.
func (l *Lowering) binary(op *nn.Operation) error {
	e, err := l.view.Elementwise(op)
	if err != nil {
		return err
	}
	x, err := l.Value(e.A)
	if err != nil {
		return err
	}
	y, out, err := l.Pair(e.B, e.Output)
	if err != nil {
		return err
	}
	axes, err := broadcast(&e)
	if err != nil {
		return fmt.Errorf("%s: %w", op.Type, err)
	}
	k := &elementwise.Kernel{Axes: axes, In: []*layout.Tensor{x, y}, Out: out}
	if e.Type.IsQuant8() {
		if err := l.quantizedBinary(op.Type, &e, k); err != nil {
			return fmt.Errorf("%s: %w", op.Type, err)
		}
	} else {
		if k.Op, err = function(op.Type, e.Type); err != nil {
			return err
		}
		if e.Type == nn.TensorBool8 {
			for i, t := range k.In {
				k.In[i] = l.mappedTemporary(elementwise.Function{Op: elementwise.Truth}, t, layout.U8)
			}
		}
		k.Lo, k.Hi = opspec.FloatActRange(e.Act)
	}
	l.elementwise(k)
	return nil
}

// quantizedBinary completes the kernel of an operation on two 8-bit quantized tensors.
func (l *Lowering) quantizedBinary(op nn.OperationType, e *opspec.Elementwise, k *elementwise.Kernel) error {
	switch op {
	case nn.OpAdd, nn.OpSub:
		q, err := e.AddQuant(l.view)
		k.Op = elementwise.FixedAdd
		if op == nn.OpSub {
			k.Op = elementwise.FixedSub
		}
		k.Fixed = elementwise.Fixed{ZeroA: q.ZeroA, ZeroB: q.ZeroB, OutZero: q.OutZero, A: q.A, B: q.B, Out: q.Out, Shift: opspec.AddShift, Lo: q.Lo, Hi: q.Hi}
		return err
	case nn.OpMul:
		q, err := e.MulQuant(l.view)
		k.Op = elementwise.FixedMul
		k.Fixed = elementwise.Fixed{ZeroA: q.ZeroA, ZeroB: q.ZeroB, OutZero: q.OutZero, Out: q.Mult, Lo: q.Lo, Hi: q.Hi}
		return err
	case nn.OpPrelu:
		q, err := e.PreluQuant(l.view)
		k.Op = elementwise.FixedPrelu
		k.Fixed = elementwise.Fixed{ZeroA: q.InZero, ZeroB: q.AlphaZero, OutZero: q.OutZero, A: q.Positive, B: q.Negative, Lo: q.Lo, Hi: q.Hi}
		return err
	case nn.OpMaximum, nn.OpMinimum: // of inputs brought to the output's quantization
		out := &l.graph.Operands[e.Output]
		for i, x := range [2]uint32{e.A, e.B} {
			k.In[i] = l.lookedUp(opspec.RescaleTable(&l.graph.Operands[x], out), k.In[i])
		}
		k.Op = functions[op].integer
		return nil
	}
	for i, x := range [2]uint32{e.A, e.B} { // comparisons are of the reals
		k.In[i] = l.real(x, k.In[i])
	}
	var err error
	k.Op, err = function(op, nn.TensorFloat32)
	k.Lo, k.Hi = opspec.FloatActRange(nn.ActNone)
	return err
}

// real is a quantized tensor as float32.
func (l *Lowering) real(x uint32, t *layout.Tensor) *layout.Tensor {
	o := &l.graph.Operands[x]
	return l.mappedTemporary(elementwise.Function{Op: elementwise.Dequantize, Scale: o.Scale, Zero: o.ZeroPoint}, t, layout.F32)
}

// lookedUp is a tensor of bytes through a table; the same where there is none.
func (l *Lowering) lookedUp(t *[256]byte, x *layout.Tensor) *layout.Tensor {
	if t == nil {
		return x
	}
	return l.mappedTemporary(l.lookup(t), x, x.Elem)
}

// lookup is the function of a table.
func (l *Lowering) lookup(t *[256]byte) elementwise.Function {
	return elementwise.Function{Op: elementwise.Lookup, Table: l.list.Consts.Bytes(t[:])}
}

// unary lowers the functions of one tensor.
func (l *Lowering) unary(op *nn.Operation) error {
	u, err := l.view.Unary(op)
	if err != nil {
		return err
	}
	x, out, err := l.Pair(u.Input, u.Output)
	if err != nil {
		return err
	}
	f := elementwise.Function{Scale: u.Alpha}
	if u.Type.IsQuant8() {
		if f, err = l.quantizedUnary(op.Type, &u); err != nil {
			return fmt.Errorf("%s: %w", op.Type, err)
		}
	} else if f.Op, err = function(op.Type, u.Type); err != nil {
		return err
	}
	if f.Op == elementwise.Clamp {
		f.Lo, f.Hi = opspec.FloatActRange(opspec.UnaryActivation(op.Type))
	}
	l.mapped(f, x, out)
	return nil
}

// tables make the table of a function of 8-bit quantized elements.
var tables = map[nn.OperationType]func(*opspec.Unary, opspec.View) (*[256]byte, error){
	nn.OpLogistic:  (*opspec.Unary).LogisticTable,
	nn.OpTanh:      (*opspec.Unary).TanhTable,
	nn.OpHardSwish: (*opspec.Unary).HardSwishTable,
	nn.OpRsqrt:     (*opspec.Unary).RsqrtTable,
}

// quantizedUnary is the function of 8-bit quantized elements.
func (l *Lowering) quantizedUnary(op nn.OperationType, u *opspec.Unary) (f elementwise.Function, err error) {
	if act := opspec.UnaryActivation(op); act != nn.ActNone {
		in := &l.graph.Operands[u.Input]
		f.Op = elementwise.ClampInt
		f.Fixed.Lo, f.Fixed.Hi = opspec.ActRange(act, in.Type, in.Scale, in.ZeroPoint)
		return f, nil
	}
	table := tables[op]
	if table == nil {
		return f, fmt.Errorf("type %s is not supported", u.Type)
	}
	t, err := table(u, l.view)
	if err != nil {
		return f, err
	}
	return l.lookup(t), nil
}

// choose lowers SELECT, of quantized tensors behind tables that bring them to the output's
// quantization.
func (l *Lowering) choose(op *nn.Operation) error {
	s, err := l.view.Select(op)
	if err != nil {
		return err
	}
	c, out, err := l.Pair(s.Condition, s.Output)
	if err != nil {
		return err
	}
	x, y, err := l.Pair(s.A, s.B)
	if err != nil {
		return err
	}
	if s.Type.IsQuant8() {
		o := &l.graph.Operands[s.Output]
		x = l.lookedUp(opspec.RescaleTable(&l.graph.Operands[s.A], o), x)
		y = l.lookedUp(opspec.RescaleTable(&l.graph.Operands[s.B], o), y)
	}
	l.elementwise(&elementwise.Kernel{Function: elementwise.Function{Op: elementwise.Select}, Axes: flat(out.N, 4), In: []*layout.Tensor{c, x, y}, Out: out})
	return nil
}

// mapped adds a function of one dense tensor.
func (l *Lowering) mapped(f elementwise.Function, x, out *layout.Tensor) {
	l.elementwise(&elementwise.Kernel{Function: f, Axes: flat(out.N, 2), In: []*layout.Tensor{x}, Out: out})
}

// mappedTemporary is a function of one dense tensor, stored as e.
func (l *Lowering) mappedTemporary(f elementwise.Function, x *layout.Tensor, e layout.Element) *layout.Tensor {
	out := l.Temporary(e, x.N)
	l.mapped(f, x, out)
	return out
}

// flat is the index space of n consecutive elements of several operands.
func flat(n, operands int) layout.Axes {
	a := layout.Axes{Len: 1}
	a.Axis[0].N = n
	for i := range operands {
		a.Axis[0].Strides[i] = 1
	}
	return a
}

func (l *Lowering) elementwise(k *elementwise.Kernel) { l.Add(k, k.In, []*layout.Tensor{k.Out}) }

func ints(d []uint32) []int {
	out := make([]int, len(d))
	for i, x := range d {
		out[i] = int(x)
	}
	return out
}
