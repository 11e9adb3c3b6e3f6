package hexagonnn

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/builder"
)

// ranged is the indexes of an 8-bit tensor and of the ends of its range among a node's inputs.
type ranged struct{ tensor, low, high int }

// refuse ends rules and readers of arguments with the reason why a node cannot be lowered: see package try.
func refuse(format string, list ...any) any { return try.Failure(fmt.Errorf(format, list...)) }

// attempt runs f and returns the refusal that it ends with.
func attempt(f func()) (err error) {
	defer try.Catch(&err)
	f()
	return nil
}

// args reads the inputs of a node.
type args struct {
	l      *lowering
	n      *node
	ranges func(inputs int) []ranged
}

// source is what input i reads: a constant, or a value of a node before.
func (a *args) source(i int) (constant *node, v value) {
	if i >= len(a.n.inputs) {
		panic(refuse("input %d is missing", i))
	}
	in := a.n.inputs[i]
	n := a.l.graph.nodes[in.Source]
	switch {
	case n == nil:
		panic(refuse("input %d: no node %#x", i, in.Source))
	case n.op == opConst && in.Output == 0:
		return n, value{}
	case n.values == nil:
		panic(refuse("input %d: node %#x is not before this one", i, in.Source))
	case uint64(in.Output) >= uint64(len(n.values)):
		panic(refuse("input %d: output %d of node %#x, which has %d", i, in.Output, in.Source, len(n.values)))
	}
	return nil, n.values[in.Output]
}

// constant is the constant node that input i reads, whose data are count elements of
// size bytes; a negative count is that of its shape.
func (a *args) constant(i, size, count int) *node {
	c, _ := a.source(i)
	if c == nil {
		panic(refuse("input %d must be a constant", i))
	}
	if count < 0 {
		count = int(elements(c.dims))
	}
	if count == 0 || len(c.data) < count*size {
		panic(refuse("input %d: constant %#x has %d bytes, needs %d elements of %d", i, c.id, len(c.data), count, size))
	}
	return c
}

// real is a number known now: a constant, or an end of the range of a node's output.
func (a *args) real(i int) float32 {
	c, v := a.source(i)
	switch {
	case c != nil && len(c.data) >= 4:
		x := float32At(c.data, 0)
		if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
			panic(refuse("input %d: constant %#x is %v", i, c.id, x))
		}
		return x
	case v.kind == valueReal:
		return v.real
	}
	panic(refuse("input %d must be a number known before the graph runs", i))
}

// integers are the elements of an int32 constant.
func (a *args) integers(i int) []int32 {
	c := a.constant(i, 4, -1)
	if len(c.data) > 64 {
		panic(refuse("input %d: %d bytes of parameters", i, len(c.data)))
	}
	list := make([]int32, elements(c.dims))
	for j := range list {
		list[j] = int32(binary.LittleEndian.Uint32(c.data[4*j:]))
	}
	return list
}

// window is the height and width of a constant that is only a shape.
func (a *args) window(i int) (height, width builder.Tensor) {
	c, _ := a.source(i)
	if c == nil || c.dims[1] > math.MaxInt32 || c.dims[2] > math.MaxInt32 {
		panic(refuse("input %d must be a constant whose shape is the window", i))
	}
	return a.l.b.Int32(int32(c.dims[1])), a.l.b.Int32(int32(c.dims[2]))
}

// padding is the implicit padding of the node.
func (a *args) padding() builder.Tensor {
	switch a.n.padding {
	case PadSame:
		return a.l.b.Int32(nn.PaddingSame)
	case PadValid:
		return a.l.b.Int32(nn.PaddingValid)
	}
	panic(refuse("padding %s, want SAME or VALID", a.n.padding))
}

// between is the quantization of the range whose ends are inputs low and high.
func (a *args) between(low, high int) builder.Quant {
	q, err := quantOf(a.real(low), a.real(high))
	if err != nil {
		panic(refuse("inputs %d and %d: %w", low, high, err))
	}
	return q
}

// quant is the quantization that the node reads 8-bit input i with.
func (a *args) quant(i int) builder.Quant {
	for _, r := range a.ranges(len(a.n.inputs)) {
		if r.tensor != i {
			continue
		}
		return a.between(r.low, r.high)
	}
	panic(refuse("input %d has no range", i))
}

// codes is 8-bit input i with its quantization.
func (a *args) codes(i int) (builder.Tensor, builder.Quant) {
	q := a.quant(i)
	c, v := a.source(i)
	switch {
	case c != nil:
		c = a.constant(i, 1, -1)
		return a.l.b.Constant("", nn.TensorQuant8Asymm, q, c.data[:elements(c.dims)], c.dims[:]...), q
	case v.kind != valueTensor || v.quant.Scale == 0:
		panic(refuse("input %d is no 8-bit tensor", i))
	case !same(v.quant, q):
		low, high := rangeOf(v.quant)
		panic(refuse("input %d has the range %v to %v, the node reads it with another", i, low, high))
	}
	return v.tensor, v.quant
}

// floats is float input i.
func (a *args) floats(i int) builder.Tensor {
	c, v := a.source(i)
	switch {
	case c != nil:
		c = a.constant(i, 4, -1)
		return a.l.b.Constant("", nn.TensorFloat32, builder.Quant{}, c.data[:4*elements(c.dims)], c.dims[:]...)
	case v.kind == valueSums && v.sums.scale == 0 && v.sums.units > 0:
		return a.l.finish(v.sums, builder.Quant{})
	case v.kind != valueTensor || v.quant.Scale != 0:
		panic(refuse("input %d is no float tensor", i))
	}
	return v.tensor
}
