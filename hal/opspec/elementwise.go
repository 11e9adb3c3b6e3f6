package opspec

import (
	"github.com/nnsoc/nnsoc/hal/nn"
)

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

// Elementwise reads a binary operation.
func (v View) Elementwise(op *nn.Operation) (Elementwise, error) {
	a, err := v.bindAs(op, nn.OpAdd, nn.OpMul, nn.OpSub, nn.OpDiv, nn.OpMaximum, nn.OpMinimum, nn.OpPow, nn.OpPrelu,
		nn.OpEqual, nn.OpNotEqual, nn.OpLess, nn.OpLessEqual, nn.OpGreater, nn.OpGreaterEqual,
		nn.OpLogicalAnd, nn.OpLogicalOr)
	if err != nil {
		return Elementwise{}, err
	}
	nameA, nameB := a.SlotName(0), a.SlotName(1)
	e := Elementwise{A: op.Inputs[0], B: op.Inputs[1], Output: op.Outputs[0], Type: a.Key}
	da, err := a.Dims(nameA)
	if err != nil {
		return e, err
	}
	db, err := a.Dims(nameB)
	if err != nil {
		return e, err
	}
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
		if e.Act, err = a.activation(); err != nil {
			return e, err
		}
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

// Unary is an operation from one tensor to one of the same shape: RELU, RELU1,
// RELU6, LOGISTIC, TANH, QUANTIZE, DEQUANTIZE, REQUANTIZE and the like.
type Unary struct {
	Input, Output uint32 // operand indexes
	Type          nn.OperandType
	Dims          []uint32
}

// Unary reads a unary operation.
func (v View) Unary(op *nn.Operation) (Unary, error) {
	a, err := v.bindAs(op, nn.OpRelu, nn.OpRelu1, nn.OpRelu6, nn.OpLogistic, nn.OpTanh, nn.OpQuantize, nn.OpDequantize, nn.OpRequantize,
		nn.OpAbs, nn.OpNeg, nn.OpExp, nn.OpLog, nn.OpSin, nn.OpSqrt, nn.OpRsqrt, nn.OpFloor, nn.OpLogicalNot,
		nn.OpHardSwish, nn.OpElu, nn.OpCast)
	if err != nil {
		return Unary{}, err
	}
	u := Unary{Input: a.In("input"), Output: op.Outputs[0], Type: a.Key}
	if u.Dims, err = a.Dims("input"); err != nil {
		return u, err
	}
	if r := a.Row.MaxRank; r > 0 && len(u.Dims) > r {
		return u, a.errorf("input", "rank %d, at most %d", len(u.Dims), r)
	}
	return u, nil
}

// UnaryActivation is the clamp that RELU, RELU1 and RELU6 apply.
func UnaryActivation(t nn.OperationType) nn.FusedActivation {
	switch t {
	case nn.OpRelu:
		return nn.ActRelu
	case nn.OpRelu1:
		return nn.ActRelu1
	case nn.OpRelu6:
		return nn.ActRelu6
	}
	return nn.ActNone
}

// Softmax is a SOFTMAX, seen as [Outer, Depth, Inner] with the softmax along
// Depth.
type Softmax struct {
	Input, Output       uint32 // operand indexes
	Type                nn.OperandType
	Dims                []uint32
	Beta                float32
	Axis                int
	Outer, Depth, Inner int
}

// Softmax reads a SOFTMAX.
func (v View) Softmax(op *nn.Operation) (Softmax, error) {
	a, err := v.bindAs(op, nn.OpSoftmax, nn.OpLogSoftmax)
	if err != nil {
		return Softmax{}, err
	}
	s := Softmax{Input: a.In("input"), Output: op.Outputs[0], Type: a.Key}
	if s.Dims, err = a.Dims("input"); err != nil {
		return s, err
	}
	if r := a.Row.MaxRank; len(s.Dims) == 0 || r > 0 && len(s.Dims) > r {
		return s, a.errorf("input", "rank %d, 1 to %d needed", len(s.Dims), r)
	}
	if s.Beta, err = a.Float("beta"); err != nil {
		return s, err
	}
	if !(s.Beta > 0) {
		return s, a.errorf("beta", "%v is not positive", s.Beta)
	}
	ax, err := a.Int32Or("axis", -1)
	if err != nil {
		return s, err
	}
	if s.Axis, err = axis(ax, len(s.Dims)); err != nil {
		return s, a.errorf("axis", "%w", err)
	}
	s.Outer, s.Depth, s.Inner = splitAt(s.Dims, s.Axis)
	return s, nil
}

// splitAt views a shape as [outer, dims[axis], inner].
func splitAt(dims []uint32, axis int) (outer, depth, inner int) {
	return int(nn.Elements(dims[:axis])), int(dims[axis]), int(nn.Elements(dims[axis+1:]))
}
