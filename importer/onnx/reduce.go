package onnx

import (
	"slices"

	"github.com/nnsoc/nnsoc/nn"
)

// reduceOperators are the operators of reduction.
var reduceOperators = []operator{
	{name: "ReduceMean", inputs: [2]int{1, 2}, convert: reduceMean},
	{name: "ReduceSum", inputs: [2]int{1, 2}, convert: reduction(nn.OpReduceSum)},
	{name: "ReduceProd", inputs: [2]int{1, 2}, convert: reduction(nn.OpReduceProd)},
	{name: "ReduceMax", inputs: [2]int{1, 2}, convert: reduction(nn.OpReduceMax)},
	{name: "ReduceMin", inputs: [2]int{1, 2}, convert: reduction(nn.OpReduceMin)},
	{name: "ReduceL1", inputs: [2]int{1, 2}, convert: composed(func(c *conversion, x uint32, sum reducer) uint32 { return sum(c.Unary(nn.OpAbs, x)) })},
	{name: "ReduceL2", inputs: [2]int{1, 2}, convert: composed(func(c *conversion, x uint32, sum reducer) uint32 {
		return c.Unary(nn.OpSqrt, sum(c.Binary(nn.OpMul, x, x)))
	})},
	{name: "ReduceSumSquare", inputs: [2]int{1, 2}, convert: composed(func(c *conversion, x uint32, sum reducer) uint32 { return sum(c.Binary(nn.OpMul, x, x)) })},
	{name: "ReduceLogSum", inputs: [2]int{1, 2}, convert: composed(func(c *conversion, x uint32, sum reducer) uint32 { return c.Unary(nn.OpLog, sum(x)) })},
	{name: "ReduceLogSumExp", inputs: [2]int{1, 2}, convert: composed(func(c *conversion, x uint32, sum reducer) uint32 {
		return c.Unary(nn.OpLog, sum(c.Unary(nn.OpExp, x)))
	})},
	{name: "ArgMax", inputs: [2]int{1, 1}, convert: argument(nn.OpArgmax)},
	{name: "ArgMin", inputs: [2]int{1, 1}, convert: argument(nn.OpArgmin)},
	{name: "TopK", inputs: [2]int{1, 2}, outputs: [2]int{2, 2}, convert: topK},
}

// reducedAxes are the axes of a reduction; ok is false where there are none and none means
// that nothing is reduced.
func (c *conversion) reducedAxes() (list []int64, ok bool) {
	rank := len(c.shape(c.v(0)))
	list = c.axes(1)
	if len(list) == 0 {
		if c.flag("noop_with_empty_axes", 0) {
			return nil, false
		}
		for i := range rank {
			list = append(list, int64(i))
		}
	}
	for i, a := range list {
		list[i] = int64(c.Axis(a, rank))
	}
	return list, true
}

// reducer reduces along the axes of the operator.
type reducer func(x uint32) uint32

// placed are axes and order of the result for input 0 in a form: an image stays one where
// its dimensions are kept, and is none of the other reductions but those of all of height
// and width, whose rest is in the file's order.
func (c *conversion) placed(axes []int64, keep bool) (form int, placed []int64) {
	v := c.v(0)
	rank := len(c.shape(v))
	plain := v.has(real) || v.has(quant)
	if plain || rank != 4 {
		return real, axes
	}
	for _, a := range axes {
		placed = append(placed, int64(imageAxis(int(a), rank)))
	}
	sorted := slices.Sorted(slices.Values(axes))
	if keep || slices.Equal(sorted, []int64{2, 3}) || slices.Equal(sorted, []int64{1, 2, 3}) || slices.Equal(sorted, []int64{0, 1, 2, 3}) {
		return realImage, placed
	}
	return real, axes
}

func (c *conversion) giveReduced(y uint32, form int, keep bool) {
	if !keep {
		form &^= 1
	}
	c.giveMoved(0, y, form)
}

func reduceMean(c *conversion) {
	keep := c.flag("keepdims", 1)
	axes, ok := c.reducedAxes()
	if t, quantized := c.quantizable(false, 0); quantized && ok {
		form, axes := c.placed(axes, keep)
		x := c.turned(c.form(c.v(0), quant, form == realImage), t.Type)
		c.giveTarget(c.Reduce(nn.OpMean, t.Operand, x, axes, keep), form == realImage && keep, len(c.shape(c.v(0))), t)
		return
	}
	reduction(nn.OpMean)(c)
}

func reduction(op nn.OperationType) func(*conversion) {
	return func(c *conversion) {
		keep := c.flag("keepdims", 1)
		axes, ok := c.reducedAxes()
		if !ok {
			c.bind(0, c.v(0))
			return
		}
		form, axes := c.placed(axes, keep)
		x := c.number(c.narrow(c.form(c.v(0), real, form == realImage)))
		y := c.Reduce(op, *c.Operand(x), x, axes, keep)
		c.giveReduced(y, form, keep)
	}
}

// composed is a reduction of sums of reals.
func composed(f func(c *conversion, x uint32, sum reducer) uint32) func(*conversion) {
	return func(c *conversion) {
		keep := c.flag("keepdims", 1)
		axes, ok := c.reducedAxes()
		form := real
		if ok {
			form, axes = c.placed(axes, keep)
		}
		x := c.asReals(c.number(c.narrow(c.form(c.v(0), real, form == realImage))))
		y := f(c, x, func(x uint32) uint32 { return c.Reduce(nn.OpReduceSum, *c.Operand(x), x, axes, keep) })
		c.giveReduced(c.To(y, *c.Operand(c.x(0))), form, keep)
	}
}

// argument: of equal elements NNAPI's is the first; the last is the first of the reverse.
func argument(op nn.OperationType) func(*conversion) {
	return func(c *conversion) {
		x := c.x(0)
		shape := c.Dims(x)
		axis := c.Axis(c.int("axis", 0), len(shape))
		last := c.flag("select_last_index", 0)
		if last {
			x = c.Reverse(x, axis)
		}
		y := c.Argument(op, nn.Operand{Type: nn.TensorInt32}, x, axis)
		if last {
			y = c.Binary(nn.OpSub, c.BroadcastTo(c.Int32Tensor(int64(shape[axis])-1), c.Dims(y)), y)
		}
		if c.flag("keepdims", 1) {
			kept := slices.Clone(shape)
			kept[axis] = 1
			y = c.Reshape(y, kept)
		}
		c.give(0, y)
	}
}

// topK: NNAPI's are the greatest of the last axis in order; the least are those of -x.
func topK(c *conversion) {
	x := c.plain(c.x(0))
	shape := c.Dims(x)
	axis := c.Axis(c.int("axis", -1), len(shape))
	k := c.int("k", 0)
	if c.has(1) {
		k = c.one(1)
	}
	if k < 1 || k > int64(shape[axis]) {
		c.Failf("the %d greatest of %d", k, shape[axis])
	}
	least := !c.flag("largest", 1)
	if least {
		x = c.Unary(nn.OpNeg, x)
	}
	perm := make([]int, len(shape))
	for i := range perm {
		perm[i] = i
	}
	perm[axis], perm[len(shape)-1] = len(shape)-1, axis
	x = c.transposed(x, perm)
	outs := []nn.Operand{{Type: c.Operand(x).Type}, {Type: nn.TensorInt32}}
	flat := c.Reshape(x, []uint32{uint32(nn.Elements(shape)) / shape[axis], shape[axis]})
	results := c.EmitAll(nn.OpTopkV2, outs, flat, c.Int32Scalar(k))
	kept := slices.Clone(c.Dims(x))
	kept[len(kept)-1] = uint32(k)
	for i, y := range results {
		y = c.transposed(c.Reshape(y, kept), perm)
		if i == 0 {
			if least {
				y = c.Unary(nn.OpNeg, y)
			}
			y = c.integral(c.x(0), y)
		}
		c.give(i, y)
	}
}
