package onnx

import (
	"math"
	"slices"

	"github.com/nnsoc/nnsoc/importer/onnx/onnxfile"
	"github.com/nnsoc/nnsoc/nn"
)

// reduceOperators are the operators of reduction.
var reduceOperators = []operator{
	{name: "ReduceMean", inputs: [2]int{1, 2}, convert: reduceMean},
	{name: "ReduceSum", inputs: [2]int{1, 2}, convert: reduction(nn.OpReduceSum)},
	{name: "ReduceProd", inputs: [2]int{1, 2}, convert: reduction(nn.OpReduceProd)},
	{name: "ReduceMax", inputs: [2]int{1, 2}, convert: reduction(nn.OpReduceMax)},
	{name: "ReduceMin", inputs: [2]int{1, 2}, convert: reduction(nn.OpReduceMin)},
	{name: "ReduceL1", inputs: [2]int{1, 2}, convert: composed(true, func(c *conversion, x uint32, sum reducer) uint32 { return sum(c.Unary(nn.OpAbs, x)) })},
	{name: "ReduceL2", inputs: [2]int{1, 2}, convert: composed(false, func(c *conversion, x uint32, sum reducer) uint32 {
		return c.Unary(nn.OpSqrt, sum(c.Binary(nn.OpMul, x, x)))
	})},
	{name: "ReduceSumSquare", inputs: [2]int{1, 2}, convert: composed(true, func(c *conversion, x uint32, sum reducer) uint32 { return sum(c.Binary(nn.OpMul, x, x)) })},
	{name: "ReduceLogSum", inputs: [2]int{1, 2}, convert: composed(false, func(c *conversion, x uint32, sum reducer) uint32 { return c.Unary(nn.OpLog, sum(x)) })},
	{name: "ReduceLogSumExp", inputs: [2]int{1, 2}, convert: reduceLogSumExp},
	{name: "ArgMax", inputs: [2]int{1, 1}, convert: argument(nn.OpArgmax)},
	{name: "ArgMin", inputs: [2]int{1, 1}, convert: argument(nn.OpArgmin)},
	{name: "TopK", inputs: [2]int{1, 2}, outputs: [2]int{2, 2}, convert: topK},
}

// reducedAxes are the axes of a reduction; ok is false where there are none and none means
// that nothing is reduced.
func (c *conversion) reducedAxes() (list []int64, ok bool) {
	rank := c.rank(c.v(0))
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

// reducing is how input 0 is reduced by an operation, and the form to read it in: along constant axes, or in NNAPI's own
// operation along those of the execution. ok is false where nothing is reduced.
func (c *conversion) reducing(keep bool) (by func(op nn.OperationType, x uint32, keep bool) uint32, form int, ok bool) {
	if !c.has(1) || c.IsConst(c.real(c.v(1), false)) {
		axes, ok := c.reducedAxes()
		if !ok {
			return nil, real, false
		}
		form, axes := c.placed(axes, keep)
		return func(op nn.OperationType, x uint32, keep bool) uint32 {
			return c.Reduce(op, *c.Operand(x), x, axes, keep)
		}, form, true
	}
	axes, n := c.raw(1), c.length(1)
	return func(op nn.OperationType, x uint32, keep bool) uint32 {
		y := c.Emit(op, nn.Operand{Type: c.Operand(x).Type}, c.Unmerged(x), axes, c.KeepDims(op, keep))
		switch left := c.Rank(x) - n; {
		case keep:
			c.Operand(y).Dimensions = make([]uint32, c.Rank(x))
		case left > 0:
			c.Operand(y).Dimensions = make([]uint32, left)
		default:
			c.Operand(y).Dimensions = []uint32{1}
			c.SetShape(y, nil)
		}
		return y
	}, real, true
}

// placed are axes and layout of the result for input 0 in a form: an image stays one where its dimensions are kept; of
// other reductions only those over all of height and width read an image, with a result in the file's order.
func (c *conversion) placed(axes []int64, keep bool) (form int, placed []int64) {
	v := c.v(0)
	rank := c.rank(v)
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

func (c *conversion) defineReduced(y uint32, form int, keep bool) {
	if !keep {
		form &^= 1
	}
	c.defineMoved(0, y, form)
}

func reduceMean(c *conversion) {
	keep := c.flag("keepdims", 1)
	if c.has(1) && !c.IsConst(c.real(c.v(1), false)) {
		reduction(nn.OpMean)(c)
		return
	}
	axes, ok := c.reducedAxes()
	if t, quantized := c.quantizable(false, 0); quantized && ok {
		form, axes := c.placed(axes, keep)
		x := c.turned(c.form(c.v(0), quant, form == realImage), t.Type)
		c.defineTarget(c.Reduce(nn.OpMean, t.Operand, x, axes, keep), form == realImage && keep, len(c.shape(c.v(0))), t)
		return
	}
	reduction(nn.OpMean)(c)
}

func reduction(op nn.OperationType) func(*conversion) {
	return func(c *conversion) {
		keep := c.flag("keepdims", 1)
		reduce, form, ok := c.reducing(keep)
		if !ok {
			c.bind(0, c.v(0))
			return
		}
		x := c.number(c.narrow(c.form(c.v(0), real, form == realImage)))
		c.defineReduced(reduce(op, x, keep), form, keep)
	}
}

// reduceLogSumExp is log(sum(exp(x - m))) + m with m the greatest element, so that no power overflows. An infinite m
// counts as the greatest finite number of its sign, since x - m would be no number.
func reduceLogSumExp(c *conversion) {
	keep := c.flag("keepdims", 1)
	reduce, form, ok := c.reducing(keep)
	if !ok {
		c.bind(0, c.v(0))
		return
	}
	x := c.asReals(c.number(c.narrow(c.form(c.v(0), real, form == realImage))))
	most := greatest(c.Operand(x).Type)
	m := c.Clamp(reduce(nn.OpReduceMax, x, true), -most, most)
	sum := reduce(nn.OpReduceSum, c.Unary(nn.OpExp, c.Binary(nn.OpSub, x, m)), keep)
	if !keep {
		m = c.Clamp(reduce(nn.OpReduceMax, x, false), -most, most)
	}
	y := c.Binary(nn.OpAdd, c.Unary(nn.OpLog, sum), m)
	c.defineReduced(c.To(y, *c.Operand(c.x(0))), form, keep)
}

// greatest is the greatest finite number of a type of reals.
func greatest(t nn.OperandType) float32 {
	if t == nn.TensorFloat16 {
		return 65504
	}
	return math.MaxFloat32
}

// composed is a reduction of sums, of reals unless it keeps whole numbers whole.
func composed(whole bool, f func(c *conversion, x uint32, sum reducer) uint32) func(*conversion) {
	return func(c *conversion) {
		keep := c.flag("keepdims", 1)
		reduce, form, ok := c.reducing(keep)
		x := c.number(c.narrow(c.form(c.v(0), real, form == realImage)))
		if whole {
			x = c.plain(x)
		} else {
			x = c.asReals(x)
		}
		y := f(c, x, func(x uint32) uint32 {
			if !ok {
				return x
			}
			return reduce(nn.OpReduceSum, x, keep)
		})
		c.defineReduced(c.To(y, *c.Operand(c.x(0))), form, keep)
	}
}

// argument: of equal elements NNAPI's is the first; the last is the first of the reverse.
func argument(op nn.OperationType) func(*conversion) {
	return func(c *conversion) {
		x := c.x(0)
		axis := c.Axis(c.int("axis", 0), c.Rank(x))
		last := c.flag("select_last_index", 0)
		if last {
			x = c.Reverse(x, axis)
		}
		y := c.Argument(op, nn.Operand{Type: nn.TensorInt32}, x, axis)
		if last {
			y = c.Binary(nn.OpSub, c.BroadcastTo(c.Int32Tensor(int64(c.Dims(x)[axis])-1), c.Dims(y)), y)
		}
		c.define(0, c.kept(x, y, axis))
	}
}

// kept is y with one element along an axis of x that a reduction took away, if the node keeps dimensions.
func (c *conversion) kept(x, y uint32, axis int) uint32 {
	switch {
	case !c.flag("keepdims", 1):
		return y
	case !c.ShapeKnown(x):
		out := nn.Operand{Type: c.Operand(y).Type, Dimensions: slices.Insert(slices.Clone(c.Operand(y).Dimensions), axis, 1)}
		if c.Rank(x) == 1 {
			return y // one element, however many it was chosen from
		}
		return c.Host(nn.OpHostUnsqueeze, []nn.Operand{out}, nil, y, c.Int32Tensor(int64(axis)))[0]
	}
	shape := slices.Clone(c.Dims(x))
	shape[axis] = 1
	return c.Reshape(y, shape)
}

// opposite has the reverse order of x: -x, of integers -1 - x, which all of them have.
func (c *conversion) opposite(x uint32) uint32 {
	if c.Operand(x).Type == nn.TensorInt32 {
		return c.Binary(nn.OpSub, c.Int32Number(-1), x)
	}
	return c.Unary(nn.OpNeg, x)
}

// topK: NNAPI returns the greatest of the last axis in order; the least are those of the opposite.
func topK(c *conversion) {
	x := c.plain(c.x(0))
	shape := c.Dims(x)
	axis := c.Axis(c.int("axis", -1), len(shape))
	k := c.int("k", 0)
	if c.has(1) {
		k = c.one(1)
	}
	switch {
	case k < 0 || k > int64(shape[axis]):
		c.Failf("the %d greatest of %d", k, shape[axis])
	case k == 0 || c.IsEmpty(x):
		kept := slices.Clone(shape)
		kept[axis] = uint32(k)
		c.define(0, c.Empty(*c.Operand(c.x(0)), kept))
		c.define(1, c.Empty(nn.Operand{Type: nn.TensorInt32}, kept))
		return
	}
	least := !c.flag("largest", 1)
	if least {
		x = c.opposite(x)
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
				y = c.opposite(y)
			}
			y = c.integral(c.x(0), y)
		}
		c.define(i, y)
	}
}

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
	switch {
	case c.flag("training_mode", 0) && c.opset >= 14:
		batchNormTraining(c)
		return
	case c.isRead(1) || c.isRead(2) || c.isRead(3) || c.isRead(4):
		c.Refusef("it returns statistics outside training mode, as versions before 14 did in training")
	}
	x, form := c.operand()
	x = c.asReals(x)
	rank := c.rank(c.v(0))
	along := func(y uint32) uint32 {
		return c.alongChannels(c.As(y, c.Operand(x).Type), isImage(form), rank)
	}
	factor, summand := c.normOf(c.node)
	if factor != nil {
		n := []uint32{uint32(len(factor))}
		y := c.Binary(nn.OpMul, x, along(c.floatLike(x, n, factor)))
		c.defineMoved(0, c.Binary(nn.OpAdd, y, along(c.floatLike(x, n, summand))), form)
		return
	}
	variance := c.reals(4)
	f := c.Unary(nn.OpRsqrt, c.Binary(nn.OpAdd, variance, c.Like(variance, c.float("epsilon", 1e-5))))
	y := c.Binary(nn.OpMul, c.Binary(nn.OpSub, x, along(c.reals(3))), along(f))
	c.defineMoved(0, c.Binary(nn.OpAdd, c.Binary(nn.OpMul, y, along(c.reals(1))), along(c.reals(2))), form)
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
	c.defineMoved(0, c.Binary(nn.OpAdd, c.Binary(nn.OpMul, y, along(1)), along(2)), form)
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
	if c.isOpen(c.v(0)) {
		c.layerNormOpen(x)
		return
	}
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
	c.define(0, c.Reshape(y, shape))
	one := append(slices.Clone(shape[:axis]), slices.Repeat([]uint32{1}, len(shape)-axis)...)
	for k, extra := range []uint32{1: mean, 2: inverse} {
		if k > 0 && c.isRead(k) {
			c.define(k, c.Reshape(extra, one))
		}
	}
}

// layerNormOpen standardizes the dimensions from an axis on of a tensor whose shape only an execution knows.
func (c *conversion) layerNormOpen(x uint32) {
	rank := c.Rank(c.Unmerged(x))
	var axes []int64
	for a := c.Axis(c.int("axis", -1), rank); a < rank; a++ {
		axes = append(axes, int64(a))
	}
	y, mean, inverse := c.standardized(x, axes, c.float("epsilon", 1e-5))
	y = c.Binary(nn.OpMul, y, c.As(c.reals(1), c.Operand(y).Type))
	if c.has(2) {
		y = c.Binary(nn.OpAdd, y, c.As(c.reals(2), c.Operand(y).Type))
	}
	for k, z := range []uint32{y, mean, inverse} {
		if k == 0 || c.isRead(k) {
			c.define(k, z)
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
	c.define(0, c.Reshape(y, shape))
}

func meanVarianceNorm(c *conversion) {
	axes := c.ints("axes")
	if axes == nil {
		axes = []int64{0, 2, 3}
	}
	y, _, _ := c.standardized(c.reals(0), axes, 1e-9)
	c.define(0, y)
}

func lpNorm(c *conversion) {
	x := c.reals(0)
	p := c.int("p", 2)
	if p != 1 && p != 2 {
		c.Refusef("this composition supports p = 1 and 2")
	}
	sum := c.Reduce(nn.OpReduceSum, *c.Operand(x), c.norm(x, p), []int64{c.int("axis", -1)}, true)
	if p == 2 {
		sum = c.Unary(nn.OpSqrt, sum)
	}
	// Of zeros the result is zeros: 0 by the least normal number.
	c.define(0, c.Binary(nn.OpDiv, x, c.Binary(nn.OpMaximum, sum, c.Like(sum, map[nn.OperandType]float32{nn.TensorFloat32: 0x1p-126, nn.TensorFloat16: 0x1p-14}[c.Operand(sum).Type]))))
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
	c.defineAs(0, realImage, y, len(c.shape(v)))
}
