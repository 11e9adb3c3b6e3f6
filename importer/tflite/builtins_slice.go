package tflite

import (
	"slices"

	"github.com/nnsoc/nnsoc/importer/lowering"
	"github.com/nnsoc/nnsoc/nn"
)

// sliceBuiltins are the operators that extract parts of a tensor, or reverse an axis.
var sliceBuiltins = []builtin{
	{code: 49, name: "SPLIT", version: 4, inputs: [2]int{2, 2}, complex: complexEach, outputs: [2]int{1, many}, options: "SplitOptions", convert: split},
	{code: 102, name: "SPLIT_V", version: 2, inputs: [2]int{3, 3}, complex: complexEach, outputs: [2]int{1, many}, options: "SplitVOptions", convert: splitV},
	{code: 88, name: "UNPACK", version: 4, inputs: [2]int{1, 1}, complex: complexEach, outputs: [2]int{1, many}, options: "UnpackOptions", convert: unpack},
	{code: 65, name: "SLICE", version: 6, inputs: [2]int{3, 3}, complex: complexEach, convert: sliceOperator},
	{code: 45, name: "STRIDED_SLICE", version: 8, inputs: [2]int{4, 4}, complex: complexEach, options: "StridedSliceOptions", convert: stridedSlice},
	{code: 105, name: "REVERSE_V2", version: 3, inputs: [2]int{2, 2}, convert: reverse},
}

// stridedSlice resolves masks, ellipsis and new axes where the bounds are constants. NNAPI's operation has neither of
// the last two.
func stridedSlice(c *conversion) {
	x := c.x(0)
	begin, ok1 := c.Ints(c.in[1])
	end, ok2 := c.Ints(c.in[2])
	steps, ok3 := c.Ints(c.in[3])
	if !ok1 || !ok2 || !ok3 || !c.ShapeKnown(x) {
		if c.options.Int("ellipsis_mask") != 0 || c.options.Int("new_axis_mask") != 0 || c.options.Bool("offset") {
			c.Refusef("its bounds are known only during execution, NNAPI has no ellipsis, new axes or offsets there")
		}
		c.result(nn.OpStridedSlice, c.Unmerged(x), c.x(1), c.x(2), c.x(3), c.option("begin_mask"), c.option("end_mask"), c.option("shrink_axis_mask"))
		return
	}
	if len(begin) != len(end) || len(begin) != len(steps) || len(begin) > 16 {
		c.Failf("begin %v, end %v and steps %v", begin, end, steps)
	}
	walks, shape := c.walks(begin, end, steps, c.Dims(x))
	c.define(0, c.Reshape(c.Along(x, walks), shape))
}

// walks resolves the bounds: the walk along each axis of the input, and the
// shape of the result.
func (c *conversion) walks(begin, end, steps []int64, dims []uint32) (walks []lowering.Walk, shape []uint32) {
	bit := func(mask string, i int) bool { return c.options.Int(mask)>>i&1 != 0 }
	fresh := 0
	for i := range begin {
		if bit("new_axis_mask", i) && !bit("ellipsis_mask", i) {
			fresh++
		}
	}
	ellipsis := false
	for i := range begin {
		switch {
		case bit("ellipsis_mask", i):
			if ellipsis {
				c.Failf("two ellipses")
			}
			ellipsis = true
			for n := len(dims) + fresh - len(begin) + 1; n > 0 && len(walks) < len(dims); n-- {
				d := dims[len(walks)]
				walks, shape = append(walks, lowering.Walk{Step: 1, Count: int64(d)}), append(shape, d)
			}
			continue
		case bit("new_axis_mask", i):
			shape = append(shape, 1)
			continue
		case len(walks) >= len(dims):
			c.Failf("%d bounds for rank %d", len(begin), len(dims))
		}
		e := end[i]
		if c.options.Bool("offset") {
			e += begin[i]
		}
		w := c.Bound(begin[i], e, steps[i], int64(dims[len(walks)]), bit("begin_mask", i), bit("end_mask", i), bit("shrink_axis_mask", i))
		if w.Count <= 0 {
			c.Refusef("the result is empty")
		}
		if walks = append(walks, w); !w.Shrink {
			shape = append(shape, uint32(w.Count))
		}
	}
	for len(walks) < len(dims) {
		d := dims[len(walks)]
		walks, shape = append(walks, lowering.Walk{Step: 1, Count: int64(d)}), append(shape, d)
	}
	return walks, shape
}

func split(c *conversion) {
	x, n := c.x(1), len(c.outTensors)
	c.counted("num_splits", n)
	axis := c.Axis(c.one(0), c.Rank(x))
	if c.Rank(x) > 4 {
		size := int64(c.Dims(x)[axis]) / int64(n)
		c.slices(x, axis, slices.Repeat([]int64{size}, n))
		return
	}
	outs := make([]nn.Operand, n)
	for k := range outs {
		outs[k] = c.out(k)
	}
	for k, y := range c.EmitAll(nn.OpSplit, outs, x, c.Int32Scalar(int64(axis)), c.Int32Scalar(int64(n))) {
		c.define(k, y)
	}
}

// slices extracts consecutive parts of x along an axis.
func (c *conversion) slices(x uint32, axis int, sizes []int64) {
	dims := c.Dims(x)
	begin, size := make([]int64, len(dims)), lowering.Signed(dims)
	for k, n := range sizes {
		if n < 0 || begin[axis]+n > int64(dims[axis]) {
			c.Failf("parts of %v elements, dimension %d has %d", sizes, axis, dims[axis])
		}
		if n == 0 {
			c.Refusef("part %d is empty", k)
		}
		size[axis] = n
		c.define(k, c.Slice(x, slices.Clone(begin), slices.Clone(size)))
		begin[axis] += n
	}
}

func splitV(c *conversion) {
	c.counted("num_splits", len(c.outTensors))
	x := c.x(0)
	dims := c.Dims(x)
	axis, sizes := c.Axis(c.one(2), len(dims)), slices.Clone(c.list(1))
	if len(sizes) != len(c.outTensors) {
		c.Failf("%d sizes for %d outputs", len(sizes), len(c.outTensors))
	}
	rest := int64(dims[axis])
	open := slices.Index(sizes, -1)
	for i, n := range sizes {
		if i != open {
			rest -= n
		}
	}
	if open >= 0 {
		sizes[open] = rest
	}
	c.slices(x, axis, sizes)
}

func unpack(c *conversion) {
	x := c.x(0)
	dims, n := c.Dims(x), len(c.outTensors)
	c.counted("num", n)
	axis := c.Axis(c.options.Int("axis"), len(dims))
	if len(dims) == 0 || dims[axis] != uint32(n) {
		c.Failf("%d outputs of shape %v", n, dims)
	}
	shape := slices.Delete(slices.Clone(dims), axis, axis+1)
	if n == 1 {
		c.define(0, c.Reshape(x, shape))
		return
	}
	flat := c.Reshape(x, []uint32{uint32(nn.Elements(dims[:axis])), uint32(n), uint32(nn.Elements(dims[axis+1:]))})
	outs := make([]nn.Operand, n)
	for k := range outs {
		outs[k] = c.out(k)
	}
	for k, y := range c.EmitAll(nn.OpSplit, outs, flat, c.Int32Scalar(1), c.Int32Scalar(int64(n))) {
		c.define(k, c.Reshape(y, shape))
	}
}

func sliceOperator(c *conversion) {
	x := c.x(0)
	begin, ok := c.Ints(c.in[1])
	size, known := c.Ints(c.in[2])
	if !ok || !known || !c.ShapeKnown(x) {
		c.result(nn.OpSlice, c.Unmerged(x), c.x(1), c.x(2))
		return
	}
	dims := c.Dims(x)
	if len(begin) != len(dims) || len(size) != len(dims) {
		c.Failf("begin %v and size %v for shape %v", begin, size, dims)
	}
	begin, size = slices.Clone(begin), slices.Clone(size)
	for i, d := range dims {
		if size[i] == -1 {
			size[i] = int64(d) - begin[i]
		}
		if begin[i] < 0 || size[i] < 0 || begin[i] > int64(d) || begin[i]+size[i] > int64(d) {
			c.Failf("begin %v and size %v for shape %v", begin, size, dims)
		}
		if size[i] == 0 {
			c.Refusef("the result is empty")
		}
	}
	c.define(0, c.Slice(x, begin, size))
}

// reverse reverses one axis after the other.
func reverse(c *conversion) {
	x := c.x(0)
	rank := c.Rank(x)
	for _, a := range c.list(1) {
		x = c.Reverse(x, c.Axis(a, rank))
	}
	c.define(0, x)
}
