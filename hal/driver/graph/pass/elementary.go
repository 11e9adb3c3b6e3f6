package pass

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"

	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/x448/float16"
)

// expandFunctions makes sums and products of functions of one tensor of reals:
//
//	PRELU       max(x, 0) + alpha * min(x, 0)
//	HARD_SWISH  x * min(max(x + 3, 0), 6) / 6
//	ELU         max(x, 0) + alpha * (e^min(x, 0) - 1)
func expandFunctions(g *graph.Graph) (changed bool, err error) {
	return expandAll(g, map[nn.OperationType]expansion{nn.OpPrelu: expandPrelu, nn.OpHardSwish: expandHardSwish, nn.OpElu: expandElu})
}

func expandPrelu(r *rewriter, op *nn.Operation) bool {
	e, err := opspec.Read[opspec.Elementwise](r.g.View(), op)
	if err != nil || !float(r.g, e.A, e.B, e.Output) || !slices.Equal(r.g.Operands[e.A].Dimensions, e.Dims) {
		return false
	}
	x, alpha := r.real(e.A), r.real(e.B)
	negative := r.binary(nn.OpMul, r.binary(nn.OpMinimum, x, r.number(0)), alpha)
	r.into(r.binary(nn.OpAdd, r.unary(nn.OpRelu, x), negative), e.Output)
	return true
}

func expandHardSwish(r *rewriter, op *nn.Operation) bool {
	u, err := opspec.Read[opspec.Unary](r.g.View(), op)
	if err != nil || !float(r.g, u.Input, u.Output) {
		return false
	}
	x := r.real(u.Input)
	gate := r.unary(nn.OpRelu6, r.binary(nn.OpAdd, x, r.number(3)))
	r.into(r.binary(nn.OpDiv, r.binary(nn.OpMul, x, gate), r.number(6)), u.Output)
	return true
}

func expandElu(r *rewriter, op *nn.Operation) bool {
	u, err := opspec.Read[opspec.Unary](r.g.View(), op)
	if err != nil || !float(r.g, u.Input, u.Output) {
		return false
	}
	x := r.real(u.Input)
	e := r.binary(nn.OpSub, r.unary(nn.OpExp, r.binary(nn.OpMinimum, x, r.number(0))), r.number(1))
	r.into(r.binary(nn.OpAdd, r.unary(nn.OpRelu, x), r.binary(nn.OpMul, e, r.number(u.Alpha))), u.Output)
	return true
}

// expandComparisons leaves EQUAL, GREATER and GREATER_EQUAL of six comparisons. a < b is b > a also
// where one is no number.
func expandComparisons(g *graph.Graph) (changed bool, err error) {
	swapped := func(to nn.OperationType) expansion {
		return func(r *rewriter, op *nn.Operation) bool {
			e, err := opspec.Read[opspec.Elementwise](r.g.View(), op)
			if err != nil {
				return false
			}
			r.emit(nn.Operation{Type: to, Inputs: []uint32{e.B, e.A}, Outputs: op.Outputs})
			return true
		}
	}
	return expandAll(g, map[nn.OperationType]expansion{
		nn.OpLess: swapped(nn.OpGreater), nn.OpLessEqual: swapped(nn.OpGreaterEqual),
		nn.OpNotEqual: func(r *rewriter, op *nn.Operation) bool {
			if len(op.Outputs) != 1 {
				return false
			}
			equal := r.g.AddTemporary(op.Outputs[0], r.g.Operands[op.Outputs[0]].Dimensions)
			r.emit(nn.Operation{Type: nn.OpEqual, Inputs: op.Inputs, Outputs: []uint32{equal}})
			r.emit(nn.Operation{Type: nn.OpLogicalNot, Inputs: []uint32{equal}, Outputs: op.Outputs})
			return true
		},
	})
}

// expandJoins makes CONCATENATION of PACK and of PAD_V2, where one of constants surrounds the tensor
// in each dimension.
func expandJoins(g *graph.Graph) (changed bool, err error) {
	return expandAll(g, map[nn.OperationType]expansion{nn.OpPack: expandPack, nn.OpPadV2: expandPad})
}

// joined reports whether CONCATENATION has a type.
func joined(t nn.OperandType) bool {
	return t.IsQuant8() || t == nn.TensorFloat32 || t == nn.TensorFloat16
}

func expandPack(r *rewriter, op *nn.Operation) bool {
	c, err := opspec.Read[opspec.Concat](r.g.View(), op)
	if err != nil || !joined(c.Type) || len(c.Dims) > 4 || len(c.Dims) == 0 || nn.Elements(c.Dims) <= 0 {
		return false
	}
	dims := slices.Clone(c.Dims)
	dims[c.Axis] = 1
	var parts []uint32
	for _, x := range c.Inputs {
		parts = append(parts, r.reshape(x, dims...))
	}
	r.emit(nn.Operation{Type: nn.OpConcatenation, Inputs: append(parts, r.g.AddInt32(int32(c.Axis))), Outputs: op.Outputs})
	return true
}

// maxSurrounding bounds the bytes of constants that an expansion puts around a tensor.
const maxSurrounding = 1 << 20

func expandPad(r *rewriter, op *nn.Operation) bool {
	p, err := opspec.Read[opspec.Pad](r.g.View(), op)
	if err != nil || !joined(p.Type) || p.Value == opspec.None || nn.Elements(p.In) <= 0 || nn.Elements(p.Dims)*int64(p.Type.ElementBytes()) > maxSurrounding {
		return false
	}
	data, err := r.g.View().Data(p.Value)
	if err != nil || len(data) < p.Type.ElementBytes() {
		return false
	}
	element := data[:p.Type.ElementBytes()] // of a quantized tensor: the low byte of the INT32
	if p.Type == nn.TensorFloat16 && len(data) == 4 {
		element = binary.LittleEndian.AppendUint16(nil, float16.Fromfloat32(math.Float32frombits(binary.LittleEndian.Uint32(data))).Bits())
	}
	x, dims := p.Input, slices.Clone(p.In)
	around := func(d, n int) uint32 { // n of a dimension of what there is so far
		part := slices.Clone(dims)
		part[d] = uint32(n)
		y := r.g.AddTemporary(p.Input, part)
		o := &r.g.Operands[y]
		o.Lifetime, o.Data = nn.ConstantCopy, bytes.Repeat(element, int(nn.Elements(part)))
		return y
	}
	grown := false
	for d := range dims {
		before, after := p.Before[d], int(p.Dims[d])-int(p.In[d])-p.Before[d]
		if before+after == 0 {
			continue
		}
		var parts []uint32
		if before > 0 {
			parts = append(parts, around(d, before))
		}
		parts = append(parts, x)
		if after > 0 {
			parts = append(parts, around(d, after))
		}
		dims[d] = p.Dims[d]
		x = r.g.AddTemporary(p.Input, slices.Clone(dims))
		r.emit(nn.Operation{Type: nn.OpConcatenation, Inputs: append(parts, r.g.AddInt32(int32(d))), Outputs: []uint32{x}})
		grown = true
	}
	if !grown {
		r.copy(x, p.Output)
		return true
	}
	r.operations[len(r.operations)-1].Outputs = op.Outputs
	return true
}
