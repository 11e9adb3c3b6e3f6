package onnx

import (
	"math"
	"slices"

	"github.com/nnsoc/nnsoc/importer/onnx/onnxfile"
	"github.com/nnsoc/nnsoc/nn"
)

// normOperators are the normalizations.
var normOperators = []operator{
	{name: "BatchNormalization", inputs: [2]int{5, 5}, outputs: [2]int{1, 5}, convert: batchNorm},
	{name: "InstanceNormalization", inputs: [2]int{3, 3}, convert: instanceNorm},
	{name: "LayerNormalization", inputs: [2]int{2, 3}, outputs: [2]int{1, 3}, convert: layerNorm},
	{name: "GroupNormalization", inputs: [2]int{3, 3}, convert: groupNorm},
	{name: "MeanVarianceNormalization", inputs: [2]int{1, 1}, convert: meanVarianceNorm},
	{name: "LpNormalization", inputs: [2]int{1, 1}, convert: lpNorm},
	{name: "LRN", inputs: [2]int{1, 1}, convert: lrn},
}

// normOf are factor and summand per channel of a batch normalization whose parameters are
// constants, nil for others:
//
//	y = (x - mean) / sqrt(variance + epsilon) * scale + bias
func (c *conversion) normOf(n *onnxfile.Node) (factor, summand []float32) {
	epsilon := float32(1e-5)
	for _, a := range n.Attributes {
		switch {
		case a.Name == "epsilon":
			epsilon = a.Float
		case a.Name == "training_mode" && a.Int != 0:
			return nil, nil
		}
	}
	var list [4][]float32
	for k := range list {
		l, ok := c.constantFloats(input(n, 1+k))
		if !ok || k > 0 && len(l) != len(list[0]) {
			return nil, nil
		}
		list[k] = l
	}
	for i, scale := range list[0] {
		f := float64(scale) / math.Sqrt(float64(list[3][i])+float64(epsilon))
		factor = append(factor, float32(f))
		summand = append(summand, float32(float64(list[1][i])-float64(list[2][i])*f))
	}
	return factor, summand
}

// alongChannels is a list of one element per channel in a shape that broadcasts.
func (c *conversion) alongChannels(x uint32, image bool, rank int) uint32 {
	shape := slices.Repeat([]uint32{1}, rank)
	if image {
		return x // channels are last
	}
	if rank < 2 {
		return x
	}
	shape[1] = uint32(nn.Elements(c.Dims(x)))
	return c.reshaped(x, shape)
}

func batchNorm(c *conversion) {
	if c.flag("training_mode", 0) || c.wants(1) || c.wants(2) || c.wants(3) || c.wants(4) {
		c.Refusef("it is in training mode")
	}
	x, form := c.alone()
	x = c.asReals(x)
	rank := len(c.shape(c.v(0)))
	along := func(y uint32) uint32 {
		return c.alongChannels(c.As(y, c.Operand(x).Type), isImage(form), rank)
	}
	factor, summand := c.normOf(c.node)
	if factor != nil {
		n := []uint32{uint32(len(factor))}
		y := c.Binary(nn.OpMul, x, along(c.floatLike(x, n, factor)))
		c.giveMoved(0, c.Binary(nn.OpAdd, y, along(c.floatLike(x, n, summand))), form)
		return
	}
	variance := c.reals(4)
	f := c.Unary(nn.OpRsqrt, c.Binary(nn.OpAdd, variance, c.Like(variance, c.float("epsilon", 1e-5))))
	y := c.Binary(nn.OpMul, c.Binary(nn.OpSub, x, along(c.reals(3))), along(f))
	c.giveMoved(0, c.Binary(nn.OpAdd, c.Binary(nn.OpMul, y, along(c.reals(1))), along(c.reals(2))), form)
}

// instanceNorm of images is NNAPI's, whose factor and summand are one number: those of each
// channel follow.
func instanceNorm(c *conversion) {
	v := c.v(0)
	rank := len(c.shape(v))
	epsilon := c.float("epsilon", 1e-5)
	var y uint32
	form := real
	if rank == 4 {
		form = realImage
		x := c.asReals(c.form(v, real, true))
		y = c.Emit(nn.OpInstanceNormalization, *c.Operand(x), x, c.ScalarLike(x, 1), c.ScalarLike(x, 0), c.ScalarLike(x, epsilon), c.BoolScalar(false))
	} else {
		axes := make([]int64, 0, rank)
		for i := 2; i < rank; i++ {
			axes = append(axes, int64(i))
		}
		y, _, _ = c.standardized(c.reals(0), axes, epsilon)
	}
	along := func(k int) uint32 { return c.alongChannels(c.As(c.reals(k), c.Operand(y).Type), isImage(form), rank) }
	c.giveMoved(0, c.Binary(nn.OpAdd, c.Binary(nn.OpMul, y, along(1)), along(2)), form)
}

// standardized is (x - mean) / sqrt(variance + epsilon) along axes.
func (c *conversion) standardized(x uint32, axes []int64, epsilon float32) (y, mean, inverse uint32) {
	o := nn.Operand{Type: c.Operand(x).Type}
	mean = c.Reduce(nn.OpMean, o, x, axes, true)
	d := c.Binary(nn.OpSub, x, mean)
	variance := c.Reduce(nn.OpMean, o, c.Binary(nn.OpMul, d, d), axes, true)
	inverse = c.Unary(nn.OpRsqrt, c.Binary(nn.OpAdd, variance, c.Like(x, epsilon)))
	return c.Binary(nn.OpMul, d, inverse), mean, inverse
}

// layerNorm standardizes all dimensions from an axis on, as one of a matrix.
func layerNorm(c *conversion) {
	x := c.reals(0)
	shape := c.Dims(x)
	axis := c.Axis(c.int("axis", -1), len(shape))
	rows := c.reshaped(x, []uint32{uint32(nn.Elements(shape[:axis])), uint32(nn.Elements(shape[axis:]))})
	y, mean, inverse := c.standardized(rows, []int64{1}, c.float("epsilon", 1e-5))
	for k := 1; k < 3; k++ {
		if !c.has(k) {
			continue
		}
		if d := c.shape(c.v(k)); nn.Elements(d) != nn.Elements(shape[axis:]) && nn.Elements(d) != 1 {
			c.Refusef("input %d has the shape %v, %v needed", k, d, shape[axis:])
		}
	}
	flat := func(k int) uint32 {
		f := c.As(c.reals(k), c.Operand(y).Type)
		return c.reshaped(f, []uint32{uint32(nn.Elements(c.Dims(f)))})
	}
	y = c.Binary(nn.OpMul, y, flat(1))
	if c.has(2) {
		y = c.Binary(nn.OpAdd, y, flat(2))
	}
	c.give(0, c.Reshape(y, shape))
	one := append(slices.Clone(shape[:axis]), slices.Repeat([]uint32{1}, len(shape)-axis)...)
	for k, extra := range []uint32{1: mean, 2: inverse} {
		if k > 0 && c.wants(k) {
			c.give(k, c.Reshape(extra, one))
		}
	}
}

// groupNorm standardizes groups of channels; before version 21 it has a scale per group.
func groupNorm(c *conversion) {
	x := c.reals(0)
	shape := c.Dims(x)
	groups := c.int("num_groups", 0)
	if len(shape) < 3 || groups < 1 || int64(shape[1])%groups != 0 {
		c.Failf("%d groups of shape %v", groups, shape)
	}
	each := uint32(nn.Elements(shape[1:])) / uint32(groups)
	y, _, _ := c.standardized(c.reshaped(x, []uint32{shape[0], uint32(groups), each}), []int64{2}, c.float("epsilon", 1e-5))
	along := func(k int) uint32 {
		f := c.As(c.reals(k), c.Operand(y).Type)
		n := uint32(nn.Elements(c.Dims(f)))
		if n != shape[1] && n != uint32(groups) {
			c.Failf("input %d has %d elements for %d channels in %d groups", k, n, shape[1], groups)
		}
		f = c.BroadcastTo(c.reshaped(f, []uint32{n, 1}), []uint32{n, shape[1] / n})
		return c.Reshape(f, []uint32{shape[1], 1})
	}
	y = c.Reshape(y, []uint32{shape[0], shape[1], uint32(nn.Elements(shape[2:]))})
	y = c.Binary(nn.OpAdd, c.Binary(nn.OpMul, y, along(1)), along(2))
	c.give(0, c.Reshape(y, shape))
}

func meanVarianceNorm(c *conversion) {
	axes := c.ints("axes")
	if axes == nil {
		axes = []int64{0, 2, 3}
	}
	y, _, _ := c.standardized(c.reals(0), axes, 1e-9)
	c.give(0, y)
}

func lpNorm(c *conversion) {
	x := c.reals(0)
	p := c.int("p", 2)
	if p != 1 && p != 2 {
		c.Refusef("this composition takes p = 1 and 2")
	}
	sum := c.Reduce(nn.OpReduceSum, *c.Operand(x), c.norm(x, p), []int64{c.int("axis", -1)}, true)
	if p == 2 {
		sum = c.Unary(nn.OpSqrt, sum)
	}
	c.give(0, c.Binary(nn.OpDiv, x, sum))
}

// lrn is NNAPI's over channels; its alpha is per element of the window.
func lrn(c *conversion) {
	size := c.int("size", 0)
	if size < 1 || size%2 == 0 {
		c.Refusef("its window of %d channels has no middle", size)
	}
	v := c.v(0)
	x := c.asReals(c.form(v, real, true))
	y := c.Emit(nn.OpLocalResponseNormalization, *c.Operand(x), x, c.Int32Scalar((size-1)/2), c.ScalarLike(x, c.float("bias", 1)),
		c.ScalarLike(x, c.float("alpha", 1e-4)/float32(size)), c.ScalarLike(x, c.float("beta", 0.75)))
	c.giveAs(0, realImage, y, len(c.shape(v)))
}
