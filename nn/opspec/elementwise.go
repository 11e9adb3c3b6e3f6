package opspec

import (
	"slices"

	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/fixedpoint"
	"github.com/nnsoc/nnsoc/nn/quantized"
)

// elementwiseRows are arithmetic, comparison and choice on two tensors, element by element.
var elementwiseRows = []Row{
	{Op: nn.OpAdd, Since: V10, Types: "F32@1.0 Q8@1.0 F16@1.2 Q8S@1.3 I32@1.3", MaxRank: 4, Args: elementwiseArgs,
		Quant: fits(readElementwise, (*Elementwise).AddQuant),
		Work:  added,
		Forms: []Form{
			{V10, "a:T b:T activation:int32", "output:T"},
		}},
	{Op: nn.OpSub, Since: V11, Types: "F32@1.1 F16@1.2 Q8@1.2 Q8S@1.3 I32@1.3", MaxRank: 4, Args: elementwiseArgs,
		Quant: fits(readElementwise, (*Elementwise).AddQuant),
		Work:  added,
		Forms: []Form{
			{V11, "a:T b:T activation:int32", "output:T"},
		}},
	{Op: nn.OpMul, Since: V10, Types: "F32@1.0 Q8@1.0 F16@1.2 Q8S@1.3 I32@1.3", MaxRank: 4, Args: elementwiseArgs,
		Quant: fits(readElementwise, (*Elementwise).MulQuant),
		Work:  WorkRule{Float: 1, Quant: 12},
		Forms: []Form{
			{V10, "a:T b:T activation:int32", "output:T"},
		}},
	{Op: nn.OpDiv, Since: V11, Types: "F32@1.1 F16@1.2 I32@1.3", MaxRank: 4, Args: elementwiseArgs,
		Work: WorkRule{Float: stepsDivide},
		Forms: []Form{
			{V11, "a:T b:T activation:int32", "output:T"},
		}},
	{Op: nn.OpMaximum, Since: V12, Types: number12, Args: elementwiseArgs, Work: compared, Forms: []Form{
		{V12, "a:T b:T", "output:T"},
	}},
	{Op: nn.OpMinimum, Since: V12, Types: number12, Args: elementwiseArgs, Work: compared, Forms: []Form{
		{V12, "a:T b:T", "output:T"},
	}},
	{Op: nn.OpPow, Since: V12, Types: float12, Args: elementwiseArgs, Work: WorkRule{Float: stepsPow}, Forms: []Form{
		{V12, "base:T exponent:T", "output:T"},
	}},
	{Op: nn.OpPrelu, Since: V12, Types: floatQuant12, Args: elementwiseArgs, Work: WorkRule{Float: 2, Quant: 20}, Forms: []Form{
		{V12, "input:T alpha:T", "output:T"},
	}},
	{Op: nn.OpEqual, Since: V12, Types: any12, Args: elementwiseArgs, Work: compared, Forms: []Form{
		{V12, "a:T b:T", "output:B8"},
	}},
	{Op: nn.OpNotEqual, Since: V12, Types: any12, Args: elementwiseArgs, Work: compared, Forms: []Form{
		{V12, "a:T b:T", "output:B8"},
	}},
	{Op: nn.OpLess, Since: V12, Types: any12, Args: elementwiseArgs, Work: compared, Forms: []Form{
		{V12, "a:T b:T", "output:B8"},
	}},
	{Op: nn.OpLessEqual, Since: V12, Types: any12, Args: elementwiseArgs, Work: compared, Forms: []Form{
		{V12, "a:T b:T", "output:B8"},
	}},
	{Op: nn.OpGreater, Since: V12, Types: any12, Args: elementwiseArgs, Work: compared, Forms: []Form{
		{V12, "a:T b:T", "output:B8"},
	}},
	{Op: nn.OpGreaterEqual, Since: V12, Types: any12, Args: elementwiseArgs, Work: compared, Forms: []Form{
		{V12, "a:T b:T", "output:B8"},
	}},
	{Op: nn.OpLogicalAnd, Since: V12, Types: "B8@1.2", Args: elementwiseArgs, Work: same, Forms: []Form{
		{V12, "a:T b:T", "output:T"},
	}},
	{Op: nn.OpLogicalOr, Since: V12, Types: "B8@1.2", Args: elementwiseArgs, Work: same, Forms: []Form{
		{V12, "a:T b:T", "output:T"},
	}},
	{Op: nn.OpSelect, Since: V12, Types: number12, Key: "in1", Args: selectArgs, Work: WorkRule{Float: 2, Quant: stepsRequant}, Forms: []Form{
		{V12, "condition:B8 a:T b:T", "output:T"},
	}},
}

var (
	elementwiseArgs = Arguments[Elementwise]{Read: readElementwise, Shapes: one(func(e *Elementwise) []uint32 { return e.Dims })}
	selectArgs      = Arguments[Select]{Read: readSelect, Shapes: one(func(s *Select) []uint32 { return s.Dims })}
)

// added is one step, or a sum of two scales.
var added = WorkRule{Float: 1, Quant: stepsAdd}

// compared is one step, or a requantization.
var compared = WorkRule{Float: 1, Quant: stepsRequant}

// Elementwise is a binary operation with broadcasting: ADD, SUB, MUL, DIV and
// others of the form (a, b). Strides are in elements, one per output
// dimension, 0 where the operand is repeated.
type Elementwise struct {
	A, B, Output       uint32 // operand indexes
	Type               nn.OperandType
	Dims               []uint32 // of the output
	StridesA, StridesB []int
	// Same: both operands have the output's shape, nothing is repeated.
	Same bool
	Act  nn.FusedActivation
}

func readElementwise(a *Args) (Elementwise, error) {
	nameA, nameB := a.SlotName(0), a.SlotName(1)
	e := Elementwise{A: a.Op.Inputs[0], B: a.Op.Inputs[1], Output: a.Op.Outputs[0], Type: a.Key}
	da := try.V(a.Dims(nameA))
	db := try.V(a.Dims(nameB))
	if r := a.Row.MaxRank; r > 0 && max(len(da), len(db)) > r {
		return e, a.errorf(nameA, "rank %d, at most %d", max(len(da), len(db)), r)
	}
	rank := max(len(da), len(db))
	e.Dims = make([]uint32, rank)
	for i := range rank {
		x, y := trailing(da, rank, i), trailing(db, rank, i)
		if x != y && x != 1 && y != 1 {
			return e, a.errorf(nameB, "shape %v does not broadcast with %v", db, da)
		}
		e.Dims[i] = x
		if x == 1 {
			e.Dims[i] = y
		}
	}
	if nn.Elements(e.Dims) < 0 {
		return e, a.errorf(nameB, "shape %v broadcast with %v is too large", db, da)
	}
	e.StridesA, e.StridesB = broadcastStrides(da, rank), broadcastStrides(db, rank)
	e.Same = nn.Elements(da) == nn.Elements(e.Dims) && nn.Elements(db) == nn.Elements(e.Dims)
	if a.Has("activation") {
		e.Act = try.V(a.activation())
		if e.Type == nn.TensorInt32 && e.Act != nn.ActNone {
			return e, a.errorf("activation", "TENSOR_INT32 allows only NONE")
		}
	}
	return e, nil
}

// trailing is dimension i of d seen as having the given rank.
func trailing(d []uint32, rank, i int) uint32 {
	if j := i - (rank - len(d)); j >= 0 {
		return d[j]
	}
	return 1
}

func broadcastStrides(d []uint32, rank int) []int {
	s := make([]int, rank)
	n := 1
	for i := rank - 1; i >= rank-len(d); i-- {
		x := d[i-(rank-len(d))]
		if x != 1 {
			s[i] = n
		}
		n *= int(x)
	}
	return s
}

// AddQuant returns the arithmetic of a quantized ADD (or SUB, whose second
// term is subtracted).
func (e *Elementwise) AddQuant(v View) (quantized.Add, error) {
	q := quantized.Add{}
	sa, sb, so, err := v.scales(e.A, e.B, e.Output)
	if err != nil {
		return q, err
	}
	twice := 2 * max(sa, sb)
	if q.A, err = fixedpoint.SmallerThanOne("multiplier of the first input", sa/twice); err != nil {
		return q, err
	}
	if q.B, err = fixedpoint.SmallerThanOne("multiplier of the second input", sb/twice); err != nil {
		return q, err
	}
	if q.Out, err = fixedpoint.SmallerThanOne("output multiplier", twice/((1<<quantized.AddShift)*so)); err != nil {
		return q, err
	}
	o := &v.Operands[e.Output]
	q.ZeroA, q.ZeroB, q.OutZero = v.Operands[e.A].ZeroPoint, v.Operands[e.B].ZeroPoint, o.ZeroPoint
	q.Lo, q.Hi = quantized.ActRange(e.Act, o.Type, o.Scale, o.ZeroPoint)
	return q, nil
}

// MulQuant returns the arithmetic of a quantized MUL.
func (e *Elementwise) MulQuant(v View) (quantized.Mul, error) {
	q := quantized.Mul{}
	_, _, so, err := v.scales(e.A, e.B, e.Output)
	if err != nil {
		return q, err
	}
	product := float64(v.Operands[e.A].Scale * v.Operands[e.B].Scale)
	if q.Mult, err = fixedpoint.SmallerThanOne("multiplier", product/so); err != nil {
		return q, err
	}
	o := &v.Operands[e.Output]
	q.ZeroA, q.ZeroB, q.OutZero = v.Operands[e.A].ZeroPoint, v.Operands[e.B].ZeroPoint, o.ZeroPoint
	q.Lo, q.Hi = quantized.ActRange(e.Act, o.Type, o.Scale, o.ZeroPoint)
	return q, nil
}

// PreluQuant returns the arithmetic of a quantized PRELU; A is the input, B
// the slopes.
func (e *Elementwise) PreluQuant(v View) (quantized.Prelu, error) {
	sa, _, so, err := v.scales(e.A, e.B, e.Output)
	if err != nil {
		return quantized.Prelu{}, err
	}
	in, alpha, out := &v.Operands[e.A], &v.Operands[e.B], &v.Operands[e.Output]
	q := quantized.Prelu{InZero: in.ZeroPoint, AlphaZero: alpha.ZeroPoint, OutZero: out.ZeroPoint,
		Positive: fixedpoint.QuantizeMultiplier(sa / so), Negative: fixedpoint.QuantizeMultiplier(float64(in.Scale*alpha.Scale) / so)}
	q.Lo, q.Hi = quantized.Limits(out.Type)
	return q, nil
}

// Select is a SELECT: where Condition is not 0, A, else B; all of one shape.
type Select struct {
	Condition, A, B, Output uint32 // operand indexes
	Type                    nn.OperandType
	Dims                    []uint32
}

func readSelect(a *Args) (Select, error) {
	s := Select{Condition: a.Op.Inputs[0], A: a.Op.Inputs[1], B: a.Op.Inputs[2], Output: a.Op.Outputs[0], Type: a.Key}
	s.Dims = try.V(a.Dims("condition"))
	for _, name := range []string{"a", "b"} {
		d := try.V(a.Dims(name))
		if !slices.Equal(d, s.Dims) {
			return s, a.errorf(name, "shape %v, the condition has %v", d, s.Dims)
		}
	}
	return s, nil
}
