package tflite

import (
	"slices"

	"github.com/nnsoc/nnsoc/nn"
)

// stableBuiltins are the operators of StableHLO that operators of TensorFlow Lite are equal to.
var stableBuiltins = []builtin{
	{code: 206, name: "STABLEHLO_COMPOSITE", version: 1, inputs: [2]int{0, many}, outputs: [2]int{1, many}, options: "StableHLOCompositeOptions", convert: composite},
	{code: 162, name: "STABLEHLO_LOGISTIC", version: 1, inputs: [2]int{1, 1}, convert: unary(nn.OpLogistic)},
	{code: 163, name: "STABLEHLO_ADD", version: 1, inputs: [2]int{2, 2}, convert: stableBinary(nn.OpAdd)},
	{code: 164, name: "STABLEHLO_DIVIDE", version: 1, inputs: [2]int{2, 2}, convert: stableDivide},
	{code: 165, name: "STABLEHLO_MULTIPLY", version: 1, inputs: [2]int{2, 2}, convert: stableBinary(nn.OpMul)},
	{code: 166, name: "STABLEHLO_MAXIMUM", version: 1, inputs: [2]int{2, 2}, convert: elementwise(nn.OpMaximum)},
	{code: 175, name: "STABLEHLO_ABS", version: 1, inputs: [2]int{1, 1}, convert: unary(nn.OpAbs)},
	{code: 177, name: "STABLEHLO_COSINE", version: 1, inputs: [2]int{1, 1}, convert: func(c *conversion) { c.define(0, c.Cos(c.plain(0))) }},
	{code: 178, name: "STABLEHLO_EXPONENTIAL", version: 1, inputs: [2]int{1, 1}, convert: unary(nn.OpExp)},
	{code: 179, name: "STABLEHLO_FLOOR", version: 1, inputs: [2]int{1, 1}, convert: unary(nn.OpFloor)},
	{code: 180, name: "STABLEHLO_LOG", version: 1, inputs: [2]int{1, 1}, convert: unary(nn.OpLog)},
	{code: 181, name: "STABLEHLO_MINIMUM", version: 1, inputs: [2]int{2, 2}, convert: elementwise(nn.OpMinimum)},
	{code: 182, name: "STABLEHLO_NEGATE", version: 1, inputs: [2]int{1, 1}, convert: unary(nn.OpNeg)},
	{code: 184, name: "STABLEHLO_POWER", version: 1, inputs: [2]int{2, 2}, convert: elementwise(nn.OpPow)},
	{code: 186, name: "STABLEHLO_RSQRT", version: 1, inputs: [2]int{1, 1}, convert: unary(nn.OpRsqrt)},
	{code: 188, name: "STABLEHLO_SUBTRACT", version: 1, inputs: [2]int{2, 2}, convert: stableBinary(nn.OpSub)},
	{code: 189, name: "STABLEHLO_TANH", version: 1, inputs: [2]int{1, 1}, convert: unary(nn.OpTanh)},
	{code: 168, name: "STABLEHLO_CLAMP", version: 1, inputs: [2]int{3, 3}, convert: stableClamp},
	{code: 176, name: "STABLEHLO_AND", version: 1, inputs: [2]int{2, 2}, convert: stableLogic(nn.OpLogicalAnd)},
	{code: 183, name: "STABLEHLO_OR", version: 1, inputs: [2]int{2, 2}, convert: stableLogic(nn.OpLogicalOr)},
	{code: 185, name: "STABLEHLO_REMAINDER", version: 1, inputs: [2]int{2, 2}, convert: stableRemainder},
	{code: 187, name: "STABLEHLO_SELECT", version: 1, inputs: [2]int{3, 3}, convert: selectBy},
	{code: 191, name: "STABLEHLO_COMPARE", version: 1, inputs: [2]int{2, 2}, options: "StablehloCompareOptions", convert: stableCompare},
	{code: 192, name: "STABLEHLO_CONVERT", version: 1, inputs: [2]int{1, 1}, convert: cast},
	{code: 173, name: "STABLEHLO_CUSTOM_CALL", version: 1, inputs: [2]int{0, many}, outputs: [2]int{0, many}, options: "StablehloCustomCallOptions", convert: func(c *conversion) {
		c.Refusef("it calls %q, whose definition is not in the file", c.options.Text("call_target_name"))
	}},

	{code: 167, name: "STABLEHLO_RESHAPE", version: 1, inputs: [2]int{1, 1}, convert: stableReshape},
	{code: 170, name: "STABLEHLO_BROADCAST_IN_DIM", version: 1, inputs: [2]int{1, 1}, options: "StablehloBroadcastInDimOptions", convert: stableBroadcast},
	{code: 202, name: "STABLEHLO_TRANSPOSE", version: 1, inputs: [2]int{1, 1}, options: "StablehloTransposeOptions", convert: stableTranspose},
	{code: 169, name: "STABLEHLO_CONCATENATE", version: 1, inputs: [2]int{1, many}, options: "StablehloConcatenateOptions", convert: func(c *conversion) { c.concatenation("dimension", func(x uint32) uint32 { return x }) }},
	{code: 172, name: "STABLEHLO_SLICE", version: 1, inputs: [2]int{1, 1}, options: "StablehloSliceOptions", convert: stableSlice},
	{code: 193, name: "STABLEHLO_DYNAMIC_SLICE", version: 1, inputs: [2]int{1, many}, options: "StablehloDynamicSliceOptions", convert: stableDynamicSlice},
	{code: 194, name: "STABLEHLO_DYNAMIC_UPDATE_SLICE", version: 1, inputs: [2]int{2, many}, convert: stableDynamicUpdate},
	{code: 195, name: "STABLEHLO_PAD", version: 1, inputs: [2]int{2, 2}, options: "StablehloPadOptions", convert: stablePad},
	{code: 196, name: "STABLEHLO_IOTA", version: 1, inputs: [2]int{0, 0}, options: "StablehloIotaOptions", convert: stableIota},
	{code: 201, name: "STABLEHLO_GATHER", version: 1, inputs: [2]int{2, 2}, options: "StablehloGatherOptions", convert: stableGather},

	{code: 197, name: "STABLEHLO_DOT_GENERAL", version: 1, inputs: [2]int{2, 2}, options: "StablehloDotGeneralOptions", convert: stableDot},
	{code: 171, name: "STABLEHLO_CONVOLUTION", version: 1, inputs: [2]int{2, 2}, options: "StablehloConvolutionOptions", convert: stableConvolution},
	{code: 174, name: "STABLEHLO_REDUCE", version: 1, inputs: [2]int{2, many}, outputs: [2]int{1, many}, options: "StablehloReduceOptions", convert: stableReduce},
	{code: 198, name: "STABLEHLO_REDUCE_WINDOW", version: 1, inputs: [2]int{2, many}, outputs: [2]int{1, many}, options: "StablehloReduceWindowOptions", convert: stableReduceWindow},
	{code: 199, name: "STABLEHLO_SORT", version: 1, inputs: [2]int{1, many}, outputs: [2]int{1, many}, options: "StablehloSortOptions", convert: stableSort},
	{code: 200, name: "STABLEHLO_WHILE", version: 1, inputs: [2]int{1, many}, outputs: [2]int{1, many}, options: "StablehloWhileOptions", convert: whileOperator},
}

// stableBinary is arithmetic without a fused activation.
func stableBinary(op nn.OperationType) func(*conversion) {
	return func(c *conversion) {
		a, b := c.Aligned(c.plain(0), c.plain(1))
		c.define(0, c.Binary(op, a, b))
	}
}

// stableDivide rounds quotients of integers towards zero.
func stableDivide(c *conversion) {
	if c.Operand(c.plain(0)).Type == nn.TensorInt32 {
		c.define(0, c.TruncDiv(c.plain(0), c.plain(1)))
		return
	}
	stableBinary(nn.OpDiv)(c)
}

// stableClamp is min(max(x, least), greatest) of the inputs least, x and greatest.
func stableClamp(c *conversion) {
	x, least := c.Aligned(c.plain(1), c.plain(0))
	x, greatest := c.Aligned(c.Binary(nn.OpMaximum, x, least), c.plain(2))
	c.define(0, c.Binary(nn.OpMinimum, x, greatest))
}

func stableLogic(op nn.OperationType) func(*conversion) {
	return func(c *conversion) {
		if c.typeOf() != nn.TensorBool8 {
			c.Refusef("NNAPI has no operations on bits of integers")
		}
		elementwise(op)(c)
	}
}

// stableRemainder is what division leaves, with the sign of the dividend.
//
//	sign(a) (|a| - floor(|a| / |b|) |b|)
func stableRemainder(c *conversion) {
	a, b := c.Aligned(c.plain(0), c.plain(1))
	n, d := c.Unary(nn.OpAbs, a), c.Unary(nn.OpAbs, b)
	rest := c.Binary(nn.OpSub, n, c.Binary(nn.OpMul, c.FloorDiv(n, d), d))
	c.define(0, c.Binary(nn.OpMul, c.Sign(a), rest))
}

// Comparisons by code.
var stableDirections = []nn.OperationType{nn.OpEqual, nn.OpNotEqual, nn.OpGreaterEqual, nn.OpGreater, nn.OpLessEqual, nn.OpLess}

func stableCompare(c *conversion) {
	const totalOrder = 2 // of the types of comparison
	code := c.options.Int("comparison_direction")
	if code < 0 || code >= int64(len(stableDirections)) {
		c.Failf("comparison direction %d is unknown", code)
	}
	if c.options.Int("compare_type") == totalOrder {
		c.Refusef("it compares in total order, in which -0 is less than 0 and NaN greater than all")
	}
	elementwise(stableDirections[code])(c)
}

// each is an option that is a list of integers, one for each of n dimensions; where the file omits it, each is initial.
func (c *conversion) each(option string, n int, initial int64) []int64 {
	list := c.options.Vector(option).Ints()
	if len(list) == 0 {
		return slices.Repeat([]int64{initial}, n)
	}
	if len(list) != n {
		c.Failf("%s has %d elements for %d dimensions", option, len(list), n)
	}
	return list
}

// axes is an option that is a list of different dimensions of rank.
func (c *conversion) axes(option string, rank int) []int {
	list := c.options.Vector(option).Ints()
	axes := make([]int, len(list))
	for i, a := range list {
		axes[i] = c.Axis(a, rank)
		if slices.Contains(axes[:i], axes[i]) {
			c.Failf("%s %v names dimension %d twice", option, list, a)
		}
	}
	return axes
}

// withoutAxes are the dimensions of rank that the lists do not have.
func withoutAxes(rank int, lists ...[]int) (rest []int) {
	for a := range rank {
		if !slices.Contains(slices.Concat(lists...), a) {
			rest = append(rest, a)
		}
	}
	return rest
}

// pick are the dimensions at axes.
func pick(dims []uint32, axes []int) (l []uint32) {
	for _, a := range axes {
		l = append(l, dims[a])
	}
	return l
}

// stated is the shape of the result that the file states, which is the only place that has it.
func (c *conversion) stated() []uint32 {
	shape := c.fileShape(c.outTensors[0])
	if slices.Contains(shape, 0) {
		c.Refusef("the file leaves the shape of its result open: %v", shape)
	}
	return shape
}

// composite is an operator that carries its own definition: a subgraph, whose operators take its place.
func composite(c *conversion) {
	im := c.im
	if im.depth++; im.depth > maxDepth {
		c.Failf("subgraphs nest more than %d deep", maxDepth)
	}
	defer func() { im.depth-- }()
	g, err := im.open(int(c.options.Int("decomposition")))
	c.Check(err)
	g.Graph, g.resized, g.initial = c.Graph, true, c.initial
	inputs, outputs := g.table.Vector("inputs"), g.table.Vector("outputs")
	if inputs.N != len(c.in) || outputs.N != len(c.outTensors) {
		c.Failf("%q has %d inputs and %d outputs, its definition, subgraph %d, %d and %d",
			c.options.Text("name"), len(c.in), len(c.outTensors), g.index, inputs.N, outputs.N)
	}
	for k := range inputs.N {
		t := g.tensorAt("input", k, inputs.Int(k))
		if want := g.template(t); c.Operand(c.x(k)).Type != want.Type {
			c.Failf("input %d of subgraph %d is %v, its tensor %v", k, g.index, c.Operand(c.x(k)).Type, want.Type)
		}
		g.value[t] = c.x(k)
	}
	g.convertOperators()
	for k := range outputs.N {
		c.define(k, g.load(g.tensorAt("output", k, outputs.Int(k))))
	}
}
