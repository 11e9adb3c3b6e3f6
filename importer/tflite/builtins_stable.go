package tflite

import (
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
