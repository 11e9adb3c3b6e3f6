package hexagonnn

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/builder"
)

// ranged says where among a node's inputs the range of an 8-bit tensor stands.
type ranged struct{ tensor, low, high int }

// args reads the inputs of a node.
type args struct {
	l      *lowering
	n      *node
	ranges func(inputs int) []ranged
}

// source is what input i reads: a constant, or a value of a node before.
func (a *args) source(i int) (constant *node, v value, err error) {
	if i >= len(a.n.inputs) {
		return nil, value{}, fmt.Errorf("input %d is missing", i)
	}
	in := a.n.inputs[i]
	n := a.l.graph.nodes[in.Source]
	switch {
	case n == nil:
		return nil, value{}, fmt.Errorf("input %d: no node %#x", i, in.Source)
	case n.op == opConst && in.Output == 0:
		return n, value{}, nil
	case n.values == nil:
		return nil, value{}, fmt.Errorf("input %d: node %#x is not before this one", i, in.Source)
	case uint64(in.Output) >= uint64(len(n.values)):
		return nil, value{}, fmt.Errorf("input %d: output %d of node %#x, which has %d", i, in.Output, in.Source, len(n.values))
	}
	return nil, n.values[in.Output], nil
}

// constant is the constant node that input i reads, whose data are count elements of
// size bytes; a negative count is that of its shape.
func (a *args) constant(i, size, count int) (*node, error) {
	c, _, err := a.source(i)
	if err != nil {
		return nil, err
	}
	if c == nil {
		return nil, fmt.Errorf("input %d must be a constant", i)
	}
	if count < 0 {
		count = int(elements(c.dims))
	}
	if count == 0 || len(c.data) < count*size {
		return nil, fmt.Errorf("input %d: constant %#x has %d bytes, needs %d elements of %d", i, c.id, len(c.data), count, size)
	}
	return c, nil
}

// real is a number known now: a constant, or an end of the range of a node's output.
func (a *args) real(i int) (float32, error) {
	c, v, err := a.source(i)
	switch {
	case err != nil:
		return 0, err
	case c != nil && len(c.data) >= 4:
		x := float32At(c.data, 0)
		if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
			return 0, fmt.Errorf("input %d: constant %#x is %v", i, c.id, x)
		}
		return x, nil
	case v.kind == valueReal:
		return v.real, nil
	}
	return 0, fmt.Errorf("input %d must be a number known before the graph runs", i)
}

// integers are the elements of an int32 constant.
func (a *args) integers(i int) ([]int32, error) {
	c, err := a.constant(i, 4, -1)
	if err != nil {
		return nil, err
	}
	if len(c.data) > 64 {
		return nil, fmt.Errorf("input %d: %d bytes of parameters", i, len(c.data))
	}
	list := make([]int32, elements(c.dims))
	for j := range list {
		list[j] = int32(binary.LittleEndian.Uint32(c.data[4*j:]))
	}
	return list, nil
}

// window is the height and width of a constant that is only a shape.
func (a *args) window(i int) (height, width builder.Tensor, err error) {
	c, _, err := a.source(i)
	if err != nil {
		return 0, 0, err
	}
	if c == nil || c.dims[1] > math.MaxInt32 || c.dims[2] > math.MaxInt32 {
		return 0, 0, fmt.Errorf("input %d must be a constant whose shape is the window", i)
	}
	return a.l.b.Int32(int32(c.dims[1])), a.l.b.Int32(int32(c.dims[2])), nil
}

// padding is the implicit padding of the node.
func (a *args) padding() (builder.Tensor, error) {
	switch a.n.padding {
	case PadSame:
		return a.l.b.Int32(nn.PaddingSame), nil
	case PadValid:
		return a.l.b.Int32(nn.PaddingValid), nil
	}
	return 0, fmt.Errorf("padding %s, takes SAME or VALID", a.n.padding)
}

// quant is the quantization that the node reads 8-bit input i with.
func (a *args) quant(i int) (builder.Quant, error) {
	for _, r := range a.ranges(len(a.n.inputs)) {
		if r.tensor != i {
			continue
		}
		low, err := a.real(r.low)
		if err != nil {
			return builder.Quant{}, err
		}
		high, err := a.real(r.high)
		if err != nil {
			return builder.Quant{}, err
		}
		q, err := quantOf(low, high)
		if err != nil {
			return q, fmt.Errorf("inputs %d and %d: %w", r.low, r.high, err)
		}
		return q, nil
	}
	return builder.Quant{}, fmt.Errorf("input %d has no range", i)
}

// codes is 8-bit input i with its quantization.
func (a *args) codes(i int) (builder.Tensor, builder.Quant, error) {
	q, err := a.quant(i)
	if err != nil {
		return 0, q, err
	}
	c, v, err := a.source(i)
	switch {
	case err != nil:
		return 0, q, err
	case c != nil:
		if c, err = a.constant(i, 1, -1); err != nil {
			return 0, q, err
		}
		return a.l.b.Constant("", nn.TensorQuant8Asymm, q, c.data[:elements(c.dims)], c.dims[:]...), q, nil
	case v.kind != valueTensor || v.quant.Scale == 0:
		return 0, q, fmt.Errorf("input %d is no 8-bit tensor", i)
	case !same(v.quant, q):
		low, high := rangeOf(v.quant)
		return 0, q, fmt.Errorf("input %d has the range %v to %v, the node reads it with another", i, low, high)
	}
	return v.tensor, v.quant, nil
}

// floats is float input i.
func (a *args) floats(i int) (builder.Tensor, error) {
	c, v, err := a.source(i)
	switch {
	case err != nil:
		return 0, err
	case c != nil:
		if c, err = a.constant(i, 4, -1); err != nil {
			return 0, err
		}
		return a.l.b.Constant("", nn.TensorFloat32, builder.Quant{}, c.data[:4*elements(c.dims)], c.dims[:]...), nil
	case v.kind == valueSums && v.sums.scale == 0 && v.sums.units > 0:
		return a.l.finish(v.sums, builder.Quant{}), nil
	case v.kind != valueTensor || v.quant.Scale != 0:
		return 0, fmt.Errorf("input %d is no float tensor", i)
	}
	return v.tensor, nil
}
