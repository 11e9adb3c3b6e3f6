package hexagonnn

import (
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/builder"
)

// float adds an operation with a float output, which is the node's only one.
func (a *args) float(op nn.OperationType, inputs ...builder.Tensor) []value {
	return []value{{kind: valueTensor, tensor: a.l.apply(a.n, op, nn.TensorFloat32, builder.Quant{}, inputs...)}}
}

// convFloat reads input, filter and stride.
func convFloat(a *args) []value {
	x := a.floats(0)
	c := a.constant(1, 4, -1)
	s := a.convSums(c, 4)
	s.inputs = []builder.Tensor{x, a.l.b.Constant("", nn.TensorFloat32, builder.Quant{}, s.filter, s.dims...)}
	return []value{{kind: valueSums, sums: s.sums}}
}

func matMulFloat(a *args) []value {
	x := a.floats(0)
	c := a.constant(1, 4, -1)
	in, out := int(elements(c.dims))/int(c.dims[3]), int(c.dims[3])
	w := a.l.b.Constant("", nn.TensorFloat32, builder.Quant{}, transposed(c.data[:4*in*out], in, out, 4), uint32(out), uint32(in))
	return []value{{kind: valueSums, sums: &sums{node: a.n, op: nn.OpFullyConnected, inputs: []builder.Tensor{x, w}, units: out}}}
}

// addBiasFloat gives a convolution its bias; elsewhere it is an addition.
func addBiasFloat(a *args) []value {
	_, v := a.source(0)
	if v.kind != valueSums || v.sums.scale != 0 || v.sums.bias != nil || v.sums.made != nil {
		return binaryFloat(nn.OpAdd, true)(a)
	}
	s := *v.sums
	c := a.constant(1, 4, s.units)
	if elements(c.dims) != uint64(s.units) {
		panic(refuse("input 1 has %d elements, the sums have %d channels", elements(c.dims), s.units))
	}
	t := a.l.b.Constant("", nn.TensorFloat32, builder.Quant{}, c.data[:4*s.units], uint32(s.units))
	s.bias = &t
	return []value{{kind: valueSums, sums: &s}}
}

// binaryFloat is an elementwise operation of two inputs; activation: NNAPI's has a fused
// activation.
func binaryFloat(op nn.OperationType, activation bool) func(*args) []value {
	return func(a *args) []value {
		x := a.floats(0)
		y := a.floats(1)
		in := []builder.Tensor{x, y}
		if activation {
			in = append(in, a.l.b.Int32(int32(nn.ActNone)))
		}
		return a.float(op, in...)
	}
}

// poolFloat reads input, window and stride.
func poolFloat(op nn.OperationType) func(*args) []value {
	return func(a *args) []value {
		x := a.floats(0)
		in := a.poolOptions(x, 1, 2)
		return a.float(op, in...)
	}
}

func clampFloat(a *args) []value {
	x := a.floats(0)
	op := a.clampOp(1)
	return a.float(op, x)
}

func unaryFloat(op nn.OperationType) func(*args) []value {
	return func(a *args) []value {
		x := a.floats(0)
		return a.float(op, x)
	}
}

func softmaxFloat(a *args) []value {
	x := a.floats(0)
	beta := a.beta(1)
	return a.float(nn.OpSoftmax, x, beta)
}

// concatFloat reads the axis and the tensors.
func concatFloat(a *args) []value {
	var in []builder.Tensor
	for i := 1; i < len(a.n.inputs); i++ {
		t := a.floats(i)
		in = append(in, t)
	}
	axis := a.axis(in)
	return a.float(nn.OpConcatenation, append(in, axis)...)
}

func reshapeFloat(a *args) []value {
	x := a.floats(0)
	dims := a.newShape(x)
	return a.float(nn.OpReshape, x, dims)
}

func resizeFloat(a *args) []value {
	x := a.floats(0)
	in := a.resizeOptions(x)
	return a.float(nn.OpResizeBilinear, in...)
}
