package tflite

import (
	"slices"

	"github.com/nnsoc/nnsoc/nn"
)

// reduceBuiltins are the operators of reduction.
var reduceBuiltins = []builtin{
	{code: 40, name: "MEAN", version: 3, inputs: [2]int{2, 2}, options: "ReducerOptions", convert: reduction(nn.OpMean)},
	{code: 74, name: "SUM", version: 2, inputs: [2]int{2, 2}, options: "ReducerOptions", convert: reduction(nn.OpReduceSum)},
	{code: 81, name: "REDUCE_PROD", version: 2, inputs: [2]int{2, 2}, options: "ReducerOptions", convert: reduction(nn.OpReduceProd)},
	{code: 82, name: "REDUCE_MAX", version: 3, inputs: [2]int{2, 2}, options: "ReducerOptions", convert: reduction(nn.OpReduceMax)},
	{code: 89, name: "REDUCE_MIN", version: 3, inputs: [2]int{2, 2}, options: "ReducerOptions", convert: reduction(nn.OpReduceMin)},
	{code: 91, name: "REDUCE_ANY", version: 1, inputs: [2]int{2, 2}, options: "ReducerOptions", convert: reduction(nn.OpReduceAny)},
	{code: 140, name: "REDUCE_ALL", version: 1, inputs: [2]int{2, 2}, options: "ReducerOptions", convert: reduction(nn.OpReduceAll)},
	{code: 56, name: "ARG_MAX", version: 3, inputs: [2]int{2, 2}, convert: argument(nn.OpArgmax)},
	{code: 79, name: "ARG_MIN", version: 3, inputs: [2]int{2, 2}, convert: argument(nn.OpArgmin)},
	{code: 48, name: "TOPK_V2", version: 3, inputs: [2]int{2, 2}, outputs: [2]int{2, 2}, convert: topK},
}

// keepDims is the flag of a reduction, which MEAN has as an INT32.
func (c *conversion) keepDims(op nn.OperationType, keep bool) uint32 {
	if op != nn.OpMean {
		return c.BoolScalar(keep)
	}
	if keep {
		return c.Int32Scalar(1)
	}
	return c.Int32Scalar(0)
}

func reduction(op nn.OperationType) func(*conversion) {
	return func(c *conversion) {
		x, keep := c.x(0), c.options.bool("keep_dims")
		list, ok := c.Ints(c.in[1])
		if !ok || !c.ShapeKnown(x) {
			c.give(0, c.Emit(op, c.out(0), x, c.x(1), c.keepDims(op, keep)))
			return
		}
		dims := c.Dims(x)
		reduced := make([]bool, len(dims))
		for _, a := range list {
			if len(dims) > 0 { // a scalar stays what it is
				reduced[c.Axis(a, len(dims))] = true
			}
		}
		var axes []int64
		var shape []uint32
		for i, d := range dims {
			switch {
			case reduced[i]:
				axes = append(axes, int64(i))
				if keep {
					shape = append(shape, 1)
				}
			default:
				shape = append(shape, d)
			}
		}
		if len(axes) == 0 {
			c.give(0, x)
			return
		}
		if len(dims) > 4 {
			c.give(0, c.reduceMerged(op, x, axes, shape))
			return
		}
		y := c.Emit(op, c.out(0), x, c.Int32Tensor(axes...), c.keepDims(op, keep))
		if len(shape) == 0 {
			c.SetShape(y, shape)
		}
		c.give(0, y)
	}
}

// reduceMerged reduces more than four dimensions: axes side by side are one
// axis, the middle of three.
func (c *conversion) reduceMerged(op nn.OperationType, x uint32, axes []int64, shape []uint32) uint32 {
	dims := c.Dims(x)
	first, last := int(axes[0]), int(axes[len(axes)-1])
	if last-first+1 != len(axes) {
		c.Refusef("it reduces the axes %v of %d dimensions, which are not side by side", axes, len(dims))
	}
	x = c.Reshape(x, []uint32{uint32(nn.Elements(dims[:first])), uint32(nn.Elements(dims[first : last+1])), uint32(nn.Elements(dims[last+1:]))})
	return c.Reshape(c.Emit(op, c.out(0), x, c.Int32Tensor(1), c.keepDims(op, false)), shape)
}

func argument(op nn.OperationType) func(*conversion) {
	return func(c *conversion) {
		x := c.x(0)
		axis := c.Axis(c.one(1), c.Rank(x))
		if c.Rank(x) > 4 {
			d := c.Dims(x)
			flat := c.Reshape(x, []uint32{uint32(nn.Elements(d[:axis])), d[axis], uint32(nn.Elements(d[axis+1:]))})
			c.give(0, c.Reshape(c.Emit(op, c.out(0), flat, c.Int32Scalar(1)), slices.Delete(slices.Clone(d), axis, axis+1)))
			return
		}
		c.result(op, x, c.Int32Scalar(int64(axis)))
	}
}

func topK(c *conversion) {
	results := c.EmitAll(nn.OpTopkV2, []nn.Operand{c.out(0), c.out(1)}, c.x(0), c.Int32Scalar(c.one(1)))
	c.give(0, results[0])
	c.give(1, results[1])
}
