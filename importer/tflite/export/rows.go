package export

import (
	"slices"

	"github.com/nnsoc/nnsoc/importer/tflite/tflitefile"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// row defines how the operations of a type are written.
type row struct {
	code    int      // of the builtin operator
	signed  int      // version that supports signed 8-bit values; 0 where version 1 does
	options string   // the table of its options
	inputs  []string // of the operation, in the order of the operator
	halves  bool     // supports float16
	write   func(c *call)
}

var (
	one  = []string{"input"}
	pair = []string{"a", "b"}
)

// rows are the operations that the format has.
var rows map[nn.OperationType]row

func init() { // the rows of control flow refer to graphs, whose operations have rows
	rows = map[nn.OperationType]row{
		nn.OpConv2D:          {code: 3, signed: 3, options: "Conv2DOptions", write: conv},
		nn.OpGroupedConv2D:   {code: 3, signed: 3, options: "Conv2DOptions", write: conv},
		nn.OpDepthwiseConv2D: {code: 4, signed: 3, options: "DepthwiseConv2DOptions", write: conv},
		nn.OpTransposeConv2D: {code: 67, options: "TransposeConvOptions", write: transposeConv},
		nn.OpFullyConnected:  {code: 9, signed: 4, options: "FullyConnectedOptions", write: fullyConnected},
		nn.OpAveragePool2D:   {code: 1, signed: 2, options: "Pool2DOptions", write: pool},
		nn.OpMaxPool2D:       {code: 17, signed: 2, options: "Pool2DOptions", write: pool},
		nn.OpL2Pool2D:        {code: 12, options: "Pool2DOptions", write: pool},
		nn.OpBatchMatmul:     {code: 126, signed: 2, options: "BatchMatMulOptions", inputs: []string{"lhs", "rhs"}, write: batchMatmul},

		nn.OpAdd:          {code: 0, signed: 2, options: "AddOptions", inputs: pair, write: (*call).activation},
		nn.OpMul:          {code: 18, signed: 2, options: "MulOptions", inputs: pair, write: (*call).activation},
		nn.OpSub:          {code: 41, signed: 2, options: "SubOptions", inputs: pair, write: (*call).activation},
		nn.OpDiv:          {code: 42, options: "DivOptions", inputs: pair, write: (*call).activation},
		nn.OpMaximum:      {code: 55, signed: 2, inputs: pair},
		nn.OpMinimum:      {code: 57, signed: 2, inputs: pair},
		nn.OpPow:          {code: 78, inputs: []string{"base", "exponent"}},
		nn.OpPrelu:        {code: 54, inputs: []string{"input", "alpha"}},
		nn.OpEqual:        {code: 71, signed: 2, inputs: pair},
		nn.OpNotEqual:     {code: 72, signed: 2, inputs: pair},
		nn.OpLess:         {code: 58, signed: 2, inputs: pair},
		nn.OpLessEqual:    {code: 63, signed: 2, inputs: pair},
		nn.OpGreater:      {code: 61, signed: 2, inputs: pair},
		nn.OpGreaterEqual: {code: 62, signed: 2, inputs: pair},
		nn.OpLogicalAnd:   {code: 86, inputs: pair},
		nn.OpLogicalOr:    {code: 84, inputs: pair},
		nn.OpSelect:       {code: 64, inputs: []string{"condition", "a", "b"}},

		nn.OpAbs:        {code: 101, inputs: one},
		nn.OpNeg:        {code: 59, inputs: one},
		nn.OpExp:        {code: 47, inputs: one},
		nn.OpLog:        {code: 73, inputs: one},
		nn.OpSin:        {code: 66, inputs: one},
		nn.OpSqrt:       {code: 75, inputs: one},
		nn.OpRsqrt:      {code: 76, inputs: one},
		nn.OpFloor:      {code: 8, inputs: one},
		nn.OpLogicalNot: {code: 87, inputs: one},
		nn.OpRelu:       {code: 19, signed: 2, inputs: one},
		nn.OpRelu1:      {code: 20, inputs: one},
		nn.OpRelu6:      {code: 21, signed: 2, inputs: one},
		nn.OpLogistic:   {code: 14, signed: 2, inputs: one},
		nn.OpTanh:       {code: 28, signed: 2, inputs: one},
		nn.OpHardSwish:  {code: 117, inputs: one},
		nn.OpQuantize:   {code: quantizeCode, inputs: one},
		nn.OpDequantize: {code: 6, inputs: one, halves: true},
		nn.OpCast:       {code: 53, options: "CastOptions", inputs: one, write: cast},

		nn.OpSoftmax:                    {code: 25, signed: 2, options: "SoftmaxOptions", inputs: one, write: softmax},
		nn.OpLogSoftmax:                 {code: 50, inputs: one, write: logSoftmax},
		nn.OpL2Normalization:            {code: 11, signed: 2, options: "L2NormOptions", inputs: one, write: (*call).lastAxis},
		nn.OpLocalResponseNormalization: {code: 13, options: "LocalResponseNormalizationOptions", inputs: one, write: lrn},

		nn.OpReshape:       {code: 22, options: "ReshapeOptions", inputs: []string{"input", "shape"}},
		nn.OpSqueeze:       {code: 43, options: "SqueezeOptions", inputs: one, write: squeeze},
		nn.OpExpandDims:    {code: 70, inputs: one, write: func(c *call) { c.scalarInput("axis") }},
		nn.OpTranspose:     {code: 39, signed: 2, inputs: one, write: transpose},
		nn.OpConcatenation: {code: 2, signed: 2, options: "ConcatenationOptions", write: concat},
		nn.OpSplit:         {code: 49, signed: 2, options: "SplitOptions", write: split},
		nn.OpTile:          {code: 69, inputs: []string{"input", "multiples"}},
		nn.OpPad:           {code: padCode, signed: 2, inputs: []string{"input", "paddings"}},
		nn.OpPadV2:         {code: padV2Code, signed: 2, inputs: []string{"input", "paddings"}, write: padV2},
		nn.OpSlice:         {code: 65, signed: 2, inputs: []string{"input", "begin", "size"}},
		nn.OpStridedSlice:  {code: 45, signed: 2, options: "StridedSliceOptions", inputs: []string{"input", "begin", "end", "strides"}, write: stridedSlice},
		nn.OpGather:        {code: 36, signed: 2, options: "GatherOptions", inputs: []string{"input", "indices"}, write: gather},
		nn.OpTopkV2:        {code: 48, signed: 2, inputs: one, write: func(c *call) { c.scalarInput("k") }},
		nn.OpArgmax:        {code: 56, signed: 2, options: "ArgMaxOptions", inputs: one, write: argument},
		nn.OpArgmin:        {code: 79, signed: 2, options: "ArgMinOptions", inputs: one, write: argument},

		nn.OpEmbeddingLookup: {code: 7, inputs: []string{"lookups", "values"}},

		nn.OpMean:       {code: 40, signed: 2, options: "ReducerOptions", inputs: []string{"input", "axes"}, write: reduce},
		nn.OpReduceSum:  {code: 74, options: "ReducerOptions", inputs: []string{"input", "axes"}, write: reduce},
		nn.OpReduceProd: {code: 81, options: "ReducerOptions", inputs: []string{"input", "axes"}, write: reduce},
		nn.OpReduceMax:  {code: 82, signed: 2, options: "ReducerOptions", inputs: []string{"input", "axes"}, write: reduce},
		nn.OpReduceMin:  {code: 89, signed: 2, options: "ReducerOptions", inputs: []string{"input", "axes"}, write: reduce},
		nn.OpReduceAny:  {code: 91, options: "ReducerOptions", inputs: []string{"input", "axes"}, write: reduce},
		nn.OpReduceAll:  {code: 140, options: "ReducerOptions", inputs: []string{"input", "axes"}, write: reduce},

		nn.OpResizeBilinear:        {code: 23, signed: 2, options: "ResizeBilinearOptions", inputs: one, write: resize},
		nn.OpResizeNearestNeighbor: {code: 97, signed: 2, options: "ResizeNearestNeighborOptions", inputs: one, write: resize},
		nn.OpSpaceToDepth:          {code: 26, signed: 2, options: "SpaceToDepthOptions", inputs: one, write: blockSize},
		nn.OpDepthToSpace:          {code: 5, signed: 2, options: "DepthToSpaceOptions", inputs: one, write: blockSize},
		nn.OpSpaceToBatchNd:        {code: 38, signed: 2, inputs: []string{"input", "block_shape", "paddings"}},
		nn.OpBatchToSpaceNd:        {code: 37, signed: 2, inputs: []string{"input", "block_shape"}, write: batchToSpace},

		nn.OpLstm:                       {code: 16, options: "LSTMOptions", write: lstm},
		nn.OpUnidirectionalSequenceLstm: {code: 44, options: "UnidirectionalSequenceLSTMOptions", write: sequenceLSTM},
		nn.OpRnn:                        {code: 24, options: "RNNOptions", write: rnn},
		nn.OpUnidirectionalSequenceRnn:  {code: 35, options: "SequenceRNNOptions", write: sequenceRNN},
		nn.OpSvdf:                       {code: 27, options: "SVDFOptions", write: svdf},

		nn.OpIf:    {code: 118, options: "IfOptions", write: ifOperation},
		nn.OpWhile: {code: 119, options: "WhileOptions", write: whileOperation},
	}
}

// scalarInput appends a scalar of the operation as a tensor.
func (c *call) scalarInput(name string) {
	c.o.Inputs = append(c.o.Inputs, c.ints(c.out.Tensors[c.o.Outputs[0]].Name+"/"+name, []int32{1}, c.number(name)))
}

// lastAxis refuses an axis that is not the last dimension, which the operator
// works along.
func (c *call) lastAxis() {
	if !c.args.Has("axis") {
		return
	}
	rank := int32(len(c.dims("input")))
	if axis := c.number("axis"); axis != -1 && axis != rank-1 {
		failf("axis %d of %d dimensions; the format has the last", axis, rank)
	}
}

func batchMatmul(c *call) {
	c.option("adj_x", c.flag("adj_x"))
	c.option("adj_y", c.flag("adj_y"))
}

func cast(c *call) {
	x, y := c.operand("input").Type, c.in.Operands[c.op.Outputs[0]].Type
	quantized := func(t nn.OperandType) bool { return t.IsQuant8() || t == nn.TensorQuant16Symm }
	if quantized(x) || quantized(y) {
		failf("from %s to %s: the format casts quantized values by their scale", x, y)
	}
	c.option("in_data_type", types[x])
	c.option("out_data_type", types[y])
}

func softmax(c *call) {
	c.lastAxis()
	c.option("beta", c.real("beta"))
}

func logSoftmax(c *call) {
	c.lastAxis()
	if b := c.real("beta"); b != 1 {
		failf("beta %v, the format has 1", b)
	}
}

func lrn(c *call) {
	c.lastAxis()
	c.option("radius", c.number("radius"))
	for _, name := range []string{"bias", "alpha", "beta"} {
		c.option(name, c.real(name))
	}
}

// squeeze states the dimensions that it drops; without any all of size 1 go.
func squeeze(c *call) {
	if c.args.Has("dims") {
		c.option("squeeze_dims", c.list("dims"))
	}
}

// transpose states its permutation; NNAPI reverses the dimensions without one.
func transpose(c *call) {
	if c.args.Has("perm") {
		c.input("perm")
		return
	}
	var reversed []int32
	for i := range c.dims("input") {
		reversed = append(reversed, int32(i))
	}
	slices.Reverse(reversed)
	c.o.Inputs = append(c.o.Inputs, c.vector(c.out.Tensors[c.o.Outputs[0]].Name+"/perm", reversed...))
}

// concat brings signed inputs to the quantization of the output, which the
// operator expects of them.
func concat(c *call) {
	y := c.o.Outputs[0]
	for _, x := range c.args.Variadic() {
		t := c.tensor(x)
		from, to := c.out.Tensors[t], c.out.Tensors[y]
		if to.Type == typeInt8 && (!slices.Equal(from.Scale, to.Scale) || !slices.Equal(from.Zero, to.Zero)) {
			scaled := c.like(y, from.Name+"/rescaled", from.Shape, nil)
			c.out.Operators = append(c.out.Operators, tflitefile.Operator{Code: quantizeCode, Version: 2, Inputs: []int32{t}, Outputs: []int32{scaled}})
			t = scaled
		}
		c.o.Inputs = append(c.o.Inputs, t)
	}
	c.option("axis", c.number("axis"))
}

func split(c *call) {
	c.scalarInput("axis")
	c.input("input")
	c.option("num_splits", c.number("count"))
}

// padV2 pads with a value, a tensor of the input's type.
func padV2(c *call) {
	v := c.operand("pad_value")
	if !v.IsConst() {
		failf("its value is known only during execution")
	}
	data := v.Data
	if c.operand("input").Type.IsQuant8() {
		data = data[:1] // an INT32 of the quantized value
	}
	c.o.Inputs = append(c.o.Inputs, c.like(c.o.Inputs[0], c.out.Tensors[c.o.Outputs[0]].Name+"/value", []int32{1}, data))
}

func stridedSlice(c *call) {
	for _, name := range []string{"begin_mask", "end_mask", "shrink_axis_mask"} {
		c.option(name, c.number(name))
	}
}

func gather(c *call) { c.option("axis", c.number("axis")) }

// argument finds the place of an extreme value, an int32.
func argument(c *call) {
	c.scalarInput("axis")
	c.option("output_type", typeInt32)
}

// reduce keeps the dimensions if it should, and counts negative axes as the
// operation does.
func reduce(c *call) {
	keep := false
	if c.op.Type == nn.OpMean {
		keep = c.number("keep_dims") != 0
	} else {
		keep = c.flag("keep_dims")
	}
	c.option("keep_dims", keep)
}

// resize states the size of its output.
func resize(c *call) {
	r := try.V(opspec.Read[opspec.Resize](c.view, c.op))
	c.o.Inputs = append(c.o.Inputs, c.vector(c.out.Tensors[c.o.Outputs[0]].Name+"/size", int32(r.OutH), int32(r.OutW)))
	c.option("align_corners", r.AlignCorners)
	c.option("half_pixel_centers", r.Center)
	if r.Center {
		c.o.Version = 3
	}
}

func blockSize(c *call) { c.option("block_size", c.number("block_size")) }

// batchToSpace crops nothing, as NNAPI's does.
func batchToSpace(c *call) {
	n := int32(len(c.list("block_shape")))
	c.o.Inputs = append(c.o.Inputs, c.ints(c.out.Tensors[c.o.Outputs[0]].Name+"/crops", []int32{n, 2}, make([]int32, 2*n)...))
}
