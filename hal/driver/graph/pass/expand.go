package pass

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// Expansions of operations on reals compute in TENSOR_FLOAT32: a TENSOR_FLOAT16 becomes one by CAST, and
// the result becomes TENSOR_FLOAT16 once, as the reference rounds.

// real is a float operand as TENSOR_FLOAT32.
func (r *rewriter) real(x uint32) uint32 {
	o := &r.g.Operands[x]
	if o.Type == nn.TensorFloat32 {
		return x
	}
	y := r.temporary(o.Dimensions)
	r.emit(nn.Operation{Type: nn.OpCast, Inputs: []uint32{x}, Outputs: []uint32{y}})
	return y
}

// temporary is a TENSOR_FLOAT32 of a shape.
func (r *rewriter) temporary(dims []uint32) uint32 {
	return r.g.AddOperand(nn.Operand{Type: nn.TensorFloat32, Dimensions: dims, Lifetime: nn.TemporaryVariable})
}

// numbers is a constant TENSOR_FLOAT32.
func (r *rewriter) numbers(dims []uint32, v ...float32) uint32 {
	var data []byte
	for _, x := range v {
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(x))
	}
	return r.g.AddOperand(nn.Operand{Type: nn.TensorFloat32, Dimensions: dims, Lifetime: nn.ConstantCopy, Data: data})
}

// number is a constant of one element.
func (r *rewriter) number(v float32) uint32 { return r.numbers([]uint32{1}, v) }

// apply is the result of an operation whose other inputs are scalars or parameters, of a shape.
func (r *rewriter) apply(op nn.OperationType, dims []uint32, inputs ...uint32) uint32 {
	y := r.temporary(dims)
	r.emit(nn.Operation{Type: op, Inputs: inputs, Outputs: []uint32{y}})
	return y
}

// unary is a function of one tensor.
func (r *rewriter) unary(op nn.OperationType, x uint32) uint32 {
	return r.apply(op, r.g.Operands[x].Dimensions, x)
}

// binary is an operation on two tensors; the second may be repeated.
func (r *rewriter) binary(op nn.OperationType, x, y uint32) uint32 {
	inputs := []uint32{x, y}
	switch op {
	case nn.OpAdd, nn.OpSub, nn.OpMul, nn.OpDiv:
		inputs = append(inputs, r.g.AddInt32(int32(nn.ActNone)))
	}
	return r.apply(op, r.g.Operands[x].Dimensions, inputs...)
}

// sum adds up one dimension, which stays with one element.
func (r *rewriter) sum(x uint32, axes ...int32) uint32 {
	dims := slices.Clone(r.g.Operands[x].Dimensions)
	for _, a := range axes {
		dims[a] = 1
	}
	return r.apply(nn.OpReduceSum, dims, x, r.g.AddInt32s(axes...), r.g.AddBool(true))
}

// mean is the mean over dimensions, which stay with one element.
func (r *rewriter) mean(x uint32, axes ...int32) uint32 {
	dims := slices.Clone(r.g.Operands[x].Dimensions)
	for _, a := range axes {
		dims[a] = 1
	}
	return r.apply(nn.OpMean, dims, x, r.g.AddInt32s(axes...), r.g.AddInt32(1))
}

// dense is x times the transposed rows of w, plus a bias.
func (r *rewriter) dense(x, w, bias uint32) uint32 {
	dims := []uint32{r.g.Operands[x].Dimensions[0], r.g.Operands[w].Dimensions[0]}
	return r.apply(nn.OpFullyConnected, dims, x, w, bias, r.g.AddInt32(int32(nn.ActNone)))
}

// into makes y, an output of the operation that is expanded, of x, which is the last result.
func (r *rewriter) into(x, y uint32) {
	last := len(r.operations) - 1
	if r.g.Operands[x].Type != r.g.Operands[y].Type {
		r.emit(nn.Operation{Type: nn.OpCast, Inputs: []uint32{x}, Outputs: []uint32{y}})
	} else if last >= 0 && slices.Equal(r.operations[last].Outputs, []uint32{x}) && slices.Equal(r.g.Operands[x].Dimensions, r.g.Operands[y].Dimensions) {
		r.operations[last].Outputs = []uint32{y}
	} else {
		r.copy(x, y)
	}
}

// float reports whether an expansion on reals supports operands: floats of known shapes of at most
// rank 4, with elements.
func float(g *graph.Graph, operands ...uint32) bool {
	for _, x := range operands {
		if x == opspec.None {
			continue
		}
		o := &g.Operands[x]
		if o.Type != nn.TensorFloat32 && o.Type != nn.TensorFloat16 || !o.Known() || o.Elements() <= 0 || len(o.Dimensions) > 4 {
			return false
		}
	}
	return true
}

// activated is x behind a fused activation.
func (r *rewriter) activated(x uint32, act nn.FusedActivation) uint32 {
	switch act {
	case nn.ActRelu:
		return r.unary(nn.OpRelu, x)
	case nn.ActRelu1:
		return r.unary(nn.OpRelu1, x)
	case nn.ActRelu6:
		return r.unary(nn.OpRelu6, x)
	}
	return x
}
