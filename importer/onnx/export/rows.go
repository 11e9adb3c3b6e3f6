package export

import (
	"math"
	"slices"

	"github.com/nnsoc/nnsoc/importer/onnx/onnxfile"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// rows define how the operations of a type are written.
var rows = map[nn.OperationType]func(c *call){
	nn.OpConv2D: conv, nn.OpDepthwiseConv2D: conv, nn.OpGroupedConv2D: conv, nn.OpTransposeConv2D: transposeConv,
	nn.OpAveragePool2D: pool("AveragePool"), nn.OpMaxPool2D: pool("MaxPool"), nn.OpL2Pool2D: l2Pool,
	nn.OpFullyConnected: fullyConnected, nn.OpBatchMatmul: batchMatmul,

	nn.OpAdd: binary("Add"), nn.OpSub: binary("Sub"), nn.OpMul: binary("Mul"), nn.OpDiv: binary("Div"),
	nn.OpMaximum: binary("Max"), nn.OpMinimum: binary("Min"), nn.OpPow: named("Pow", "base", "exponent"), nn.OpPrelu: named("PRelu", "input", "alpha"),
	nn.OpEqual: binary("Equal"), nn.OpLess: binary("Less"), nn.OpLessEqual: binary("LessOrEqual"), nn.OpGreater: binary("Greater"),
	nn.OpGreaterEqual: binary("GreaterOrEqual"), nn.OpLogicalAnd: binary("And"), nn.OpLogicalOr: binary("Or"),
	nn.OpNotEqual: notEqual, nn.OpSelect: named("Where", "condition", "a", "b"),

	nn.OpAbs: unary("Abs"), nn.OpNeg: unary("Neg"), nn.OpExp: unary("Exp"), nn.OpLog: unary("Log"), nn.OpSin: unary("Sin"), nn.OpSqrt: unary("Sqrt"),
	nn.OpFloor: unary("Floor"), nn.OpLogicalNot: unary("Not"), nn.OpRelu: unary("Relu"), nn.OpLogistic: unary("Sigmoid"), nn.OpTanh: unary("Tanh"),
	nn.OpHardSwish: unary("HardSwish"), nn.OpRsqrt: unary("Sqrt", "Reciprocal"), nn.OpQuantize: quantization, nn.OpDequantize: quantization,
	nn.OpRequantize: unary("Identity"), nn.OpRelu1: clip(nn.ActRelu1), nn.OpRelu6: clip(nn.ActRelu6), nn.OpElu: elu, nn.OpCast: cast,

	nn.OpSoftmax: softmax("Softmax"), nn.OpLogSoftmax: softmax("LogSoftmax"), nn.OpL2Normalization: l2Normalization,
	nn.OpLocalResponseNormalization: lrn, nn.OpInstanceNormalization: instanceNormalization,

	nn.OpReshape: reshape, nn.OpSqueeze: reshape, nn.OpExpandDims: reshape, nn.OpTranspose: transpose, nn.OpConcatenation: concat, nn.OpSplit: split,
	nn.OpTile: tile, nn.OpPad: pad, nn.OpPadV2: pad, nn.OpSlice: slice, nn.OpStridedSlice: stridedSlice, nn.OpGather: gather,
	nn.OpArgmax: argument("ArgMax"), nn.OpArgmin: argument("ArgMin"), nn.OpTopkV2: topK,
	nn.OpMean: reduce("ReduceMean"), nn.OpReduceSum: reduce("ReduceSum"), nn.OpReduceProd: reduce("ReduceProd"),
	nn.OpReduceMax: reduce("ReduceMax"), nn.OpReduceMin: reduce("ReduceMin"),
	nn.OpResizeBilinear: resize, nn.OpResizeNearestNeighbor: resize, nn.OpDepthToSpace: blocks("DepthToSpace"), nn.OpSpaceToDepth: blocks("SpaceToDepth"),
}

// operation writes one operation by its row.
func (g *graph) operation(op *nn.Operation) {
	write, ok := rows[op.Type]
	if !ok {
		failf("ONNX has no such operator, or this export none")
	}
	args := try.V(g.view.Bind(op))
	c := &call{graph: g, op: op, args: &args}
	for _, x := range op.Outputs {
		if d := g.in.Operands[x].Dimensions; slices.Contains(d, 0) || len(d) == 0 {
			failf("its output has the shape %v, which is known only during execution", d)
		}
	}
	if c.flag("nchw") {
		failf("its images are in NCHW order, this export supports NHWC")
	}
	write(c)
}

// call is an operation while it is written.
type call struct {
	*graph
	op   *nn.Operation
	args *opspec.Args
}

func (c *call) number(name string) int64 {
	return int64(try.V(c.args.Int32(name)))
}

func (c *call) scalar(name string) float32 {
	return try.V(c.args.Float(name))
}

// flag is the value of a scalar input, false where the form has none.
func (c *call) flag(name string) bool {
	return c.args.Has(name) && try.V(c.args.Bool(name))
}

// list is the value of a tensor of integers.
func (c *call) list(name string) []int64 {
	return wide(try.V(c.args.Int32s(name)))
}

// at is a named input, which must be there.
func (c *call) at(name string) uint32 {
	x := c.args.In(name)
	if x == opspec.None {
		failf("it has no %s", name)
	}
	return x
}

func (c *call) operand(name string) *nn.Operand { return &c.in.Operands[c.at(name)] }

// input is a named input as reals in its own order of dimensions.
func (c *call) input(name string) string { return c.real(c.at(name), plain) }

// image is the input with channels second.
func (c *call) image() string { return c.real(c.at("input"), second) }

// output is operand 0 of the outputs.
func (c *call) output() *nn.Operand { return &c.in.Operands[c.op.Outputs[0]] }

// fresh is a name for an inner tensor.
func (c *call) fresh() string { return c.unique(c.value(c.op.Outputs[0]).base + "/inner") }

// end writes the node of output 0, and a fused activation after it. Names are the operand's own where it is not
// quantized.
func (c *call) end(form int, op string, in []string, attributes ...*onnxfile.Attribute) {
	x := c.op.Outputs[0]
	act := nn.ActNone
	if c.args.Has("activation") {
		act = nn.FusedActivation(c.number("activation"))
	}
	name := func(last bool) string {
		switch {
		case !last || isQuantized(c.output()):
			return c.fresh()
		case form == plain:
			return c.base(x, "")
		}
		return c.unique(c.value(x).base + "/second")
	}
	y := c.node(op, in, name(act == nn.ActNone), attributes...)
	if act != nn.ActNone {
		y = c.activation(act, y, name(true))
	}
	c.result(x, form, y)
}

// activation writes one of NNAPI's activations.
func (c *call) activation(act nn.FusedActivation, x, name string) string {
	lo, hi := float32(0), float32(6)
	switch act {
	case nn.ActRelu:
		return c.node("Relu", []string{x}, name)
	case nn.ActRelu1:
		lo, hi = -1, 1
	case nn.ActRelu6:
	default:
		failf("activation %d", act)
	}
	return c.node("Clip", []string{x, c.constant(lo), c.constant(hi)}, name)
}

// constant is a real in the type of the operation.
func (c *call) constant(v float32) string {
	name := c.floats(c.value(c.op.Outputs[0]).base+"/constant", nil, v)
	if c.args.Key == nn.TensorFloat16 {
		return c.node("Cast", []string{name}, c.fresh(), integer("to", int64(onnxfile.Float16)))
	}
	return name
}

// order is the order of dimensions of an elementwise operation: channels second where its images are available so.
func (c *call) order(names ...string) int {
	shape := c.output().Dimensions
	form := plain
	for _, n := range names {
		x := c.at(n)
		o := &c.in.Operands[x]
		switch {
		case slices.Equal(o.Dimensions, shape) && len(shape) == 4:
			if c.hasSecond(x) {
				form = second
			}
		case nn.Elements(o.Dimensions) == 1 && len(o.Dimensions) <= 1:
		default:
			return plain
		}
	}
	return form
}

// elementwise are the inputs of such an operation in one order.
func (c *call) elementwise(names ...string) (in []string, form int) {
	form = c.order(names...)
	for _, n := range names {
		x := c.at(n)
		if form == second && len(c.in.Operands[x].Dimensions) == 4 {
			in = append(in, c.real(x, second))
		} else {
			in = append(in, c.real(x, plain))
		}
	}
	return in, form
}

func named(op string, names ...string) func(*call) {
	return func(c *call) {
		in, form := c.elementwise(names...)
		c.end(form, op, in)
	}
}

func binary(op string) func(*call) { return named(op, "a", "b") }

// unary writes a chain of functions of one tensor.
func unary(ops ...string) func(*call) {
	return func(c *call) {
		in, form := c.elementwise("input")
		for _, op := range ops[:len(ops)-1] {
			in = []string{c.node(op, in, c.fresh())}
		}
		c.end(form, ops[len(ops)-1], in)
	}
}

// quantization is nothing but for float16, which the format does not quantize.
func quantization(c *call) {
	in, form := c.elementwise("input")
	switch {
	case c.operand("input").Type == nn.TensorFloat16:
		c.end(form, "Cast", in, integer("to", int64(onnxfile.Float)))
	case c.output().Type == nn.TensorFloat16:
		c.end(form, "Cast", in, integer("to", int64(onnxfile.Float16)))
	default:
		c.end(form, "Identity", in)
	}
}

func notEqual(c *call) {
	in, form := c.elementwise("a", "b")
	c.end(form, "Not", []string{c.node("Equal", in, c.fresh())})
}

func clip(act nn.FusedActivation) func(*call) {
	return func(c *call) {
		in, form := c.elementwise("input")
		c.end(form, "Identity", []string{c.activation(act, in[0], c.fresh())})
	}
}

func elu(c *call) {
	in, form := c.elementwise("input")
	c.end(form, "Elu", in, float("alpha", c.scalar("alpha")))
}

func cast(c *call) {
	if isQuantized(c.operand("input")) || isQuantized(c.output()) {
		failf("it casts quantized values, which the format has none of")
	}
	in, form := c.elementwise("input")
	c.end(form, "Cast", in, integer("to", int64(c.typeOf(c.output()))))
}

// axis is the axis counted from the front; initial where the form has none.
func (c *call) axis(initial int64) int64 {
	a := initial
	if c.args.Has("axis") {
		a = c.number("axis")
	}
	if a < 0 {
		a += int64(len(c.operand("input").Dimensions))
	}
	return a
}

func softmax(op string) func(*call) {
	return func(c *call) {
		x := c.input("input")
		if beta := c.scalar("beta"); beta != 1 {
			x = c.node("Mul", []string{x, c.constant(beta)}, c.fresh())
		}
		c.end(plain, op, []string{x}, integer("axis", c.axis(-1)))
	}
}

func l2Normalization(c *call) {
	c.end(plain, "LpNormalization", []string{c.input("input")}, integer("axis", c.axis(-1)), integer("p", 2))
}

func lrn(c *call) {
	if c.axis(-1) != 3 {
		failf("it works along axis %d, the format along channels", c.axis(-1))
	}
	size := 2*c.number("radius") + 1
	c.end(second, "LRN", []string{c.image()}, integer("size", size), float("bias", c.scalar("bias")),
		float("alpha", c.scalar("alpha")*float32(size)), float("beta", c.scalar("beta")))
}

func instanceNormalization(c *call) {
	channels := int(c.operand("input").Dimensions[3])
	vector := func(name string) string {
		return c.floats(c.value(c.op.Outputs[0]).base+"/"+name, []int64{int64(channels)}, slices.Repeat([]float32{c.scalar(name)}, channels)...)
	}
	c.end(second, "InstanceNormalization", []string{c.image(), vector("gamma"), vector("beta")}, float("epsilon", c.scalar("epsilon")))
}

// shapeConstant is the shape of output 0 as a constant.
func (c *call) shapeConstant() string {
	return c.int64s(c.value(c.op.Outputs[0]).base+"/shape", wide(c.output().Dimensions)...)
}

func reshape(c *call) { c.end(plain, "Reshape", []string{c.input("input"), c.shapeConstant()}) }

// transpose reverses the dimensions where it has no permutation.
func transpose(c *call) {
	var perm []int64
	if c.args.Has("perm") {
		perm = c.list("perm")
	} else {
		for i := range c.operand("input").Dimensions {
			perm = append(perm, int64(i))
		}
		slices.Reverse(perm)
	}
	c.end(plain, "Transpose", []string{c.input("input")}, ints("perm", perm...))
}

// concat joins with channels second where all parts are available so.
func concat(c *call) {
	form := second
	list := c.args.Variadic()
	for _, x := range list {
		if !c.hasSecond(x) {
			form = plain
		}
	}
	var in []string
	for _, x := range list {
		in = append(in, c.real(x, form))
	}
	axis := c.number("axis")
	if axis < 0 {
		axis += int64(len(c.output().Dimensions))
	}
	if form == second {
		axis = []int64{0, 2, 3, 1}[axis]
	}
	c.end(form, "Concat", in, integer("axis", axis))
}

func split(c *call) {
	axis := c.axis(0)
	var sizes []int64
	n := &onnxfile.Node{Op: "Split", Attributes: []*onnxfile.Attribute{integer("axis", axis)}}
	for _, x := range c.op.Outputs {
		sizes = append(sizes, int64(c.in.Operands[x].Dimensions[axis]))
		n.Outputs = append(n.Outputs, c.unique(c.value(x).base+"/part"))
	}
	n.Inputs = []string{c.input("input"), c.int64s(c.value(c.op.Outputs[0]).base+"/sizes", sizes...)}
	c.out.Nodes = append(c.out.Nodes, n)
	for k, x := range c.op.Outputs {
		c.result(x, plain, n.Outputs[k])
	}
}

func tile(c *call) {
	c.end(plain, "Tile", []string{c.input("input"), c.int64s(c.value(c.op.Outputs[0]).base+"/times", c.list("multiples")...)})
}

// pad states all paddings before the values, then all after them.
func pad(c *call) {
	list := c.list("paddings")
	n := len(list) / 2
	pads := make([]int64, 2*n)
	for i := range n {
		pads[i], pads[n+i] = list[2*i], list[2*i+1]
	}
	in := []string{c.input("input"), c.int64s(c.value(c.op.Outputs[0]).base+"/pads", pads...)}
	if c.args.Has("pad_value") {
		v := float32(0)
		if o := c.operand("input"); o.Type.IsQuant8() {
			v = float32(c.number("pad_value")-int64(o.ZeroPoint)) * o.Scale
		} else {
			v = c.scalar("pad_value")
		}
		in = append(in, c.constant(v))
	}
	c.end(plain, "Pad", in)
}

// sliced is a Slice by lists of the format.
func (c *call) sliced(starts, ends, steps []int64) []string {
	base := c.value(c.op.Outputs[0]).base
	axes := make([]int64, len(starts))
	for i := range axes {
		axes[i] = int64(i)
	}
	return []string{c.input("input"), c.int64s(base+"/starts", starts...), c.int64s(base+"/ends", ends...), c.int64s(base+"/axes", axes...), c.int64s(base+"/steps", steps...)}
}

func slice(c *call) {
	begin, size := c.list("begin"), c.list("size")
	ends := make([]int64, len(begin))
	for i := range ends {
		if ends[i] = begin[i] + size[i]; size[i] < 0 {
			ends[i] = math.MaxInt64
		}
	}
	c.end(plain, "Slice", c.sliced(begin, ends, slices.Repeat([]int64{1}, len(begin))))
}

func stridedSlice(c *call) {
	begin, end, steps := c.list("begin"), c.list("end"), c.list("strides")
	for i := range begin {
		bit := int64(1) << i
		if c.number("shrink_axis_mask")&bit != 0 {
			end[i] = begin[i] + 1
			if steps[i] = 1; begin[i] == -1 {
				end[i] = math.MaxInt64
			}
			continue
		}
		if c.number("begin_mask")&bit != 0 {
			if begin[i] = 0; steps[i] < 0 {
				begin[i] = math.MaxInt64
			}
		}
		if c.number("end_mask")&bit != 0 {
			if end[i] = math.MaxInt64; steps[i] < 0 {
				end[i] = math.MinInt64
			}
		}
	}
	y := c.node("Slice", c.sliced(begin, end, steps), c.fresh())
	c.end(plain, "Reshape", []string{y, c.shapeConstant()})
}

func gather(c *call) {
	c.end(plain, "Gather", []string{c.input("input"), c.input("indices")}, integer("axis", c.axis(0)))
}

// argument returns int64, which NNAPI has as int32.
func argument(op string) func(*call) {
	return func(c *call) {
		y := c.node(op, []string{c.input("input")}, c.fresh(), integer("axis", c.axis(0)), integer("keepdims", 0))
		y = c.node("Cast", []string{y}, c.fresh(), integer("to", int64(onnxfile.Int32)))
		c.end(plain, "Reshape", []string{y, c.shapeConstant()})
	}
}

func topK(c *call) {
	values, places := c.fresh(), c.fresh()
	k := c.int64s(c.value(c.op.Outputs[0]).base+"/k", c.number("k"))
	c.out.Nodes = append(c.out.Nodes, &onnxfile.Node{Op: "TopK", Inputs: []string{c.input("input"), k}, Outputs: []string{values, places}})
	c.result(c.op.Outputs[0], plain, values)
	c.result(c.op.Outputs[1], plain, c.node("Cast", []string{places}, c.fresh(), integer("to", int64(onnxfile.Int32))))
}

// reduce: axes are an input of ReduceSum and an attribute of the others at this version.
func reduce(op string) func(*call) {
	return func(c *call) {
		axes, keep := c.list("axes"), int64(0)
		if c.op.Type == nn.OpMean {
			keep = min(c.number("keep_dims"), 1)
		} else if c.flag("keep_dims") {
			keep = 1
		}
		in, attributes := []string{c.input("input")}, []*onnxfile.Attribute{integer("keepdims", keep)}
		if op == "ReduceSum" {
			in = append(in, c.int64s(c.value(c.op.Outputs[0]).base+"/axes", axes...))
		} else {
			attributes = append(attributes, ints("axes", axes...))
		}
		y := c.node(op, in, c.fresh(), attributes...)
		c.end(plain, "Reshape", []string{y, c.shapeConstant()}) // of all axes NNAPI leaves one dimension
	}
}
