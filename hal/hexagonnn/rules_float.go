package hexagonnn

import (
	"fmt"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/builder"
)

// float adds an operation with a float output, which is the node's only one.
func (a *args) float(op nn.OperationType, inputs ...builder.Tensor) []value {
	return []value{{kind: valueTensor, tensor: a.l.apply(a.n, op, nn.TensorFloat32, builder.Quant{}, inputs...)}}
}

// convFloat reads input, filter and stride.
func convFloat(a *args) ([]value, error) {
	x, err := a.floats(0)
	if err != nil {
		return nil, err
	}
	c, err := a.constant(1, 4, -1)
	if err != nil {
		return nil, err
	}
	s, err := a.convSums(x, c, 4)
	if err != nil {
		return nil, err
	}
	s.inputs = []builder.Tensor{x, a.l.b.Constant("", nn.TensorFloat32, builder.Quant{}, s.filter, s.dims...)}
	return []value{{kind: valueSums, sums: s.sums}}, nil
}

func matMulFloat(a *args) ([]value, error) {
	x, err := a.floats(0)
	if err != nil {
		return nil, err
	}
	c, err := a.constant(1, 4, -1)
	if err != nil {
		return nil, err
	}
	in, out := int(elements(c.dims))/int(c.dims[3]), int(c.dims[3])
	w := a.l.b.Constant("", nn.TensorFloat32, builder.Quant{}, transposed(c.data[:4*in*out], in, out, 4), uint32(out), uint32(in))
	return []value{{kind: valueSums, sums: &sums{node: a.n, op: nn.OpFullyConnected, inputs: []builder.Tensor{x, w}, units: out}}}, nil
}

// addBiasFloat gives a convolution its bias; elsewhere it is an addition.
func addBiasFloat(a *args) ([]value, error) {
	_, v, err := a.source(0)
	if err != nil {
		return nil, err
	}
	if v.kind != valueSums || v.sums.scale != 0 || v.sums.bias != nil || v.sums.made != nil {
		return binaryFloat(nn.OpAdd, true)(a)
	}
	s := *v.sums
	c, err := a.constant(1, 4, s.units)
	if err != nil {
		return nil, err
	}
	if elements(c.dims) != uint64(s.units) {
		return nil, fmt.Errorf("input 1 has %d elements, the sums have %d channels", elements(c.dims), s.units)
	}
	t := a.l.b.Constant("", nn.TensorFloat32, builder.Quant{}, c.data[:4*s.units], uint32(s.units))
	s.bias = &t
	return []value{{kind: valueSums, sums: &s}}, nil
}

// binaryFloat is an elementwise operation of two inputs; activation says that NNAPI's has
// a fused one.
func binaryFloat(op nn.OperationType, activation bool) func(*args) ([]value, error) {
	return func(a *args) ([]value, error) {
		x, err := a.floats(0)
		if err != nil {
			return nil, err
		}
		y, err := a.floats(1)
		if err != nil {
			return nil, err
		}
		in := []builder.Tensor{x, y}
		if activation {
			in = append(in, a.l.b.Int32(int32(nn.ActNone)))
		}
		return a.float(op, in...), nil
	}
}

// poolFloat reads input, window and stride.
func poolFloat(op nn.OperationType) func(*args) ([]value, error) {
	return func(a *args) ([]value, error) {
		x, err := a.floats(0)
		if err != nil {
			return nil, err
		}
		in, err := a.poolOptions(x, 1, 2)
		if err != nil {
			return nil, err
		}
		return a.float(op, in...), nil
	}
}

func clampFloat(a *args) ([]value, error) {
	x, err := a.floats(0)
	if err != nil {
		return nil, err
	}
	op, err := a.clampOp(1)
	if err != nil {
		return nil, err
	}
	return a.float(op, x), nil
}

func unaryFloat(op nn.OperationType) func(*args) ([]value, error) {
	return func(a *args) ([]value, error) {
		x, err := a.floats(0)
		if err != nil {
			return nil, err
		}
		return a.float(op, x), nil
	}
}

func softmaxFloat(a *args) ([]value, error) {
	x, err := a.floats(0)
	if err != nil {
		return nil, err
	}
	beta, err := a.beta(1)
	if err != nil {
		return nil, err
	}
	return a.float(nn.OpSoftmax, x, beta), nil
}

// concatFloat reads the axis and the tensors.
func concatFloat(a *args) ([]value, error) {
	var in []builder.Tensor
	for i := 1; i < len(a.n.inputs); i++ {
		t, err := a.floats(i)
		if err != nil {
			return nil, err
		}
		in = append(in, t)
	}
	axis, err := a.axis(in)
	if err != nil {
		return nil, err
	}
	return a.float(nn.OpConcatenation, append(in, axis)...), nil
}

func reshapeFloat(a *args) ([]value, error) {
	x, err := a.floats(0)
	if err != nil {
		return nil, err
	}
	dims, err := a.newShape(x)
	if err != nil {
		return nil, err
	}
	return a.float(nn.OpReshape, x, dims), nil
}

func resizeFloat(a *args) ([]value, error) {
	x, err := a.floats(0)
	if err != nil {
		return nil, err
	}
	in, err := a.resizeOptions(x)
	if err != nil {
		return nil, err
	}
	return a.float(nn.OpResizeBilinear, in...), nil
}
