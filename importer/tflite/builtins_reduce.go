package tflite

import (
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

func reduction(op nn.OperationType) func(*conversion) {
	return func(c *conversion) {
		x, keep := c.x(0), c.options.Bool("keep_dims")
		list, ok := c.Ints(c.in[1])
		if !ok || !c.ShapeKnown(x) {
			c.give(0, c.Emit(op, c.out(0), x, c.x(1), c.KeepDims(op, keep)))
			return
		}
		c.give(0, c.Reduce(op, c.out(0), x, list, keep))
	}
}

func argument(op nn.OperationType) func(*conversion) {
	return func(c *conversion) {
		x := c.x(0)
		c.give(0, c.Argument(op, c.out(0), x, c.Axis(c.one(1), c.Rank(x))))
	}
}

func topK(c *conversion) {
	results := c.EmitAll(nn.OpTopkV2, []nn.Operand{c.out(0), c.out(1)}, c.x(0), c.Int32Scalar(c.one(1)))
	c.give(0, results[0])
	c.give(1, results[1])
}
