package onnx

import (
	"math"
	"slices"

	"github.com/nnsoc/nnsoc/importer/lowering"
	"github.com/nnsoc/nnsoc/nn"
)

// qlinearOperators are the operators of QLinear style and those of integers.
var qlinearOperators = []operator{
	{name: "QLinearConv", inputs: [2]int{8, 9}, convert: qlinearConv},
	{name: "QLinearMatMul", inputs: [2]int{8, 8}, convert: qlinearMatMul},
	{name: "QLinearAdd", domain: microsoft, inputs: [2]int{8, 8}, convert: qlinearBinary(nn.OpAdd)},
	{name: "QLinearMul", domain: microsoft, inputs: [2]int{8, 8}, convert: qlinearBinary(nn.OpMul)},
	{name: "QLinearSigmoid", domain: microsoft, inputs: [2]int{5, 5}, convert: qlinearUnary(func(c *conversion, x uint32, out nn.Operand) uint32 { return c.Emit(nn.OpLogistic, out, x) })},
	{name: "QLinearLeakyRelu", domain: microsoft, inputs: [2]int{5, 5}, convert: qlinearUnary(func(c *conversion, x uint32, out nn.Operand) uint32 {
		return c.leaky(x, c.float("alpha", 0.01), out)
	})},
	{name: "QLinearGlobalAveragePool", domain: microsoft, inputs: [2]int{5, 5}, convert: qlinearGlobalAveragePool},
	{name: "QLinearAveragePool", domain: microsoft, inputs: [2]int{5, 5}, convert: qlinearAveragePool},
	{name: "QLinearSoftmax", domain: microsoft, inputs: [2]int{5, 5}, convert: qlinearSoftmax},
	{name: "QLinearReduceMean", domain: microsoft, inputs: [2]int{5, 5}, convert: func(c *conversion) {
		c.quantizedOut(c.real(c.standardOf(13, "ReduceMean", c.attributes, c.valueOf(c.dequantizedInput(0, 0))), false), 3)
	}},
	{name: "QLinearWhere", domain: microsoft, inputs: [2]int{9, 9}, convert: func(c *conversion) {
		c.quantizedOut(c.real(c.standard("Where", nil, c.v(0), c.valueOf(c.dequantizedInput(1, 0)), c.valueOf(c.dequantizedInput(4, 0))), false), 7)
	}},
	{name: "QLinearConcat", domain: microsoft, inputs: [2]int{5, many}, convert: qlinearConcat},
	{name: "ConvInteger", inputs: [2]int{2, 4}, convert: convInteger},
	{name: "MatMulInteger", inputs: [2]int{2, 4}, convert: matMulInteger},
}

// qlinear is input k with the scale and zero point that follow it, as a quantized tensor.
// Weights with a scale per channel along their first axis are symmetric.
func (c *conversion) qlinear(k int, image bool) *value {
	v := c.v(k)
	o, ok := c.quantization(input(c.node, k+1), input(c.node, k+2))
	if !ok {
		return c.qlinearChannels(k, 0)
	}
	image = image && v.forms[real] == none
	form, rank := quant, 0
	if image {
		form, rank = quantImage, v.rank
	}
	x := c.form(v, real, image)
	if !c.Operand(x).Type.IsQuant8() {
		c.Refusef("input %d is %v", k, c.Operand(x).Type)
	}
	o.Type = c.Operand(x).Type
	return c.valueAs(form, c.reinterpreted(x, o), rank)
}

// qlinearWeights is input k, whose scales and zero points, where there are several, follow an axis.
func (c *conversion) qlinearWeights(k, axis int) *value {
	if _, ok := c.quantization(input(c.node, k+1), input(c.node, k+2)); ok {
		return c.qlinear(k, false)
	}
	return c.qlinearChannels(k, axis)
}

// symmetricColumns reports whether input k has one quantization, or constants with a scale per entry of an axis around
// the middle of their type, which NNAPI has weights of.
func (c *conversion) symmetricColumns(k, axis int) bool {
	if _, ok := c.quantization(input(c.node, k+1), input(c.node, k+2)); ok {
		return true
	}
	x := c.real(c.v(k), false)
	scales, reals := c.constantFloats(input(c.node, k+1))
	shape := c.Dims(x)
	if !c.IsConst(x) || !c.Operand(x).Type.IsQuant8() || !reals || axis >= len(shape) || int(shape[axis]) != len(scales) || len(shape) > 4 ||
		slices.ContainsFunc(scales, func(s float32) bool { return !(s > 0) }) {
		return false
	}
	if !c.has(k + 2) {
		return c.Operand(x).Type == nn.TensorQuant8AsymmSigned
	}
	zeros, ok := c.Ints(c.real(c.v(k+2), false))
	return ok && (len(zeros) == 1 || len(zeros) == len(scales)) && !slices.ContainsFunc(zeros, func(z int64) bool { return z != middleOf(c.Operand(x).Type) })
}

// middleOf is the zero point of symmetric weights of a type: uint8 ones around 128 are symmetric too.
func middleOf(t nn.OperandType) int64 {
	if t == nn.TensorQuant8Asymm {
		return 128
	}
	return 0
}

func (c *conversion) qlinearChannels(k, axis int) *value {
	x := c.real(c.v(k), false)
	if !c.symmetricColumns(k, axis) {
		c.Refusef("input %d of shape %v is no constant of 8 bits with one scale, or one above 0 for each of the entries of dimension %d around the middle of the type", k, c.Dims(x), axis)
	}
	scales, o := c.constants(k+1), *c.Operand(x)
	if o.Type == nn.TensorQuant8Asymm {
		o = *c.Operand(c.turned(x, nn.TensorQuant8AsymmSigned))
	}
	o.Type, o.Scale, o.ZeroPoint = nn.TensorQuant8SymmPerChannel, 0, 0
	o.Channel = &nn.ChannelQuant{Dim: uint32(axis), Scales: slices.Clone(scales)}
	return c.valueAs(quant, c.Add(o), 0)
}

// qlinearOut is the output whose scale and zero point are inputs k and k+1.
func (c *conversion) qlinearOut(k int) target {
	o, ok := c.quantization(input(c.node, k), input(c.node, k+1))
	if !ok {
		c.Refusef("scale and zero point of its output are no constants of one element")
	}
	return target{Operand: o}
}

// defineRaw makes a quantized operand the 8-bit output of a QLinear operator.
func (c *conversion) defineRaw(x uint32, image bool, rank int) {
	form := real
	if image {
		form = realImage
	}
	c.defineAs(0, form, x, rank)
}

func qlinearConv(c *conversion) {
	c.cropWindow()
	p := c.convolution(c.qlinear(0, true), c.qlinear(3, false), c.optional(8))
	p.to, p.quantized = c.qlinearOut(6), true
	y := c.conv(p)
	c.defineRaw(y, true, p.rank)
}

func qlinearMatMul(c *conversion) {
	t := c.qlinearOut(6)
	columns := len(c.shape(c.v(3))) - 1
	_, rows := c.quantization(input(c.node, 1), input(c.node, 2))
	_, whole := c.quantization(input(c.node, 4), input(c.node, 5))
	if !rows || !whole && (columns != 1 || !c.symmetricColumns(3, columns)) { // no weights of NNAPI's
		a, b := c.dequantizedInput(0, len(c.shape(c.v(0)))-2), c.dequantizedInput(3, columns)
		c.quantizedOut(c.matmul(a, c.valueOf(b), false, target{}, none), 6)
		return
	}
	c.defineRaw(c.matmul(c.quant(c.qlinear(0, false), false), c.qlinearWeights(3, columns), true, t, none), false, 0)
}

func qlinearBinary(op nn.OperationType) func(*conversion) {
	return func(c *conversion) {
		t := c.qlinearOut(6)
		c.in = []*value{c.qlinear(0, true), c.qlinear(3, true)}
		s := c.commonLayout(quant, 0, 1)
		s.convert(c, t.Type)
		y := c.Emit(op, t.Operand, s.x[0], s.x[1], c.Int32Scalar(0))
		c.BroadcastShape(y, s.x[0], s.x[1])
		c.defineRaw(y, s.image, s.rank)
	}
}

func qlinearUnary(f func(c *conversion, x uint32, out nn.Operand) uint32) func(*conversion) {
	return func(c *conversion) {
		t := c.qlinearOut(3)
		v := c.qlinear(0, true)
		image := !v.has(quant)
		x := c.turned(c.quant(v, image), t.Type)
		y := f(c, x, t.Operand)
		c.ShapeLike(y, x)
		c.defineRaw(y, image, v.rank)
	}
}

func qlinearGlobalAveragePool(c *conversion) {
	c.channelsSecond()
	t := c.qlinearOut(3)
	v := c.qlinear(0, true)
	x, image := c.quant(v, !v.has(quant)), !v.has(quant)
	c.defineRaw(c.globalPool(nn.OpMean, c.turned(x, t.Type), image, t.Operand), image, v.rank)
}

// channelsSecond refuses the form that ONNX Runtime's optimizer gives to images for its own kernels.
func (c *conversion) channelsSecond() {
	if c.flag("channels_last", 0) {
		c.Refusef("its channels are last")
	}
}

// qlinearAveragePool averages quantized tensors; paddings that count are zero points.
func qlinearAveragePool(c *conversion) {
	c.channelsSecond()
	c.cropWindow()
	t, v := c.qlinearOut(3), c.qlinear(0, true)
	w := c.window(len(c.shape(v)), nil)
	if w.dilation != [2]int64{1, 1} {
		c.Refusef("NNAPI has no average of windows with dilation")
	}
	x := c.turned(c.quant(v, true), t.Type)
	c.defineRaw(c.average(x, w, c.flag("count_include_pad", 0), t.Operand), true, len(c.shape(v)))
}

// qlinearSoftmax is a softmax of reals: those before operator set 13 flatten the dimensions from the axis on.
func qlinearSoftmax(c *conversion) {
	opset := c.int("opset", 0)
	if opset < 1 {
		c.Failf("opset is %d", opset)
	}
	y := c.standardOf(opset, "Softmax", c.attributes, c.valueOf(c.dequantizedInput(0, 0)))
	c.quantizedOut(c.real(y, false), 3)
}

func qlinearConcat(c *conversion) {
	o, ok := c.quantization(input(c.node, 0), input(c.node, 1))
	if !ok {
		c.Refusef("scale and zero point of its output are no constants of one element")
	}
	var list []uint32
	for k := 2; k+2 < len(c.in); k += 3 {
		list = append(list, c.Rescaled(c.quant(c.qlinear(k, false), false), o))
	}
	if len(list) == 0 {
		c.Failf("no values to join")
	}
	c.define(0, c.Concat(o, c.Axis(c.int("axis", 0), c.Rank(list[0])), list...))
}

// centered is an 8-bit input less the zero point of another, in float32, which holds the
// sums of such products exactly up to 2^24: see wholeSums.
func (c *conversion) centered(k, zero int) uint32 {
	x := c.As(c.asInt32(k), nn.TensorFloat32)
	if !c.has(zero) {
		return x
	}
	z := c.As(c.asInt32(zero), nn.TensorFloat32)
	if d := c.Dims(z); nn.Elements(d) != 1 { // of the rows of the first, of the columns of the second
		rank := c.Rank(x)
		along := slices.Repeat([]uint32{1}, rank)
		at := rank - 1
		if k == 0 {
			at = rank - 2
		}
		if at < 0 || len(d) != 1 {
			c.Refusef("input %d has the shape %v", zero, d)
		}
		along[at] = d[0]
		z = c.reshaped(z, along)
	} else {
		z = c.reshaped(z, []uint32{1})
	}
	return c.Binary(nn.OpSub, x, z)
}

// maxExact is the greatest sum that float32 holds exactly with all smaller ones.
const maxExact = 1 << 24

// exactTerms are how many elements of weights along an axis, each with n products, surely sum exactly in float32 when they
// meet bytes less a zero point: all, where the constant weights of each result are small together.
func (c *conversion) exactTerms(w uint32, axis, results int, n uint32) uint32 {
	d := c.Dims(w)
	list, ok := c.floatsOf(w)
	if !ok || len(list) == 0 {
		return max(maxExact/(255*255*max(n, 1)), 1)
	}
	sums, largest := make([]float64, d[results]), 1.0
	inner := int(nn.Elements(d[results+1:]))
	for i, v := range list {
		size := math.Abs(float64(v))
		largest = max(largest, size)
		sums[i/inner%len(sums)] += size
	}
	if 255*slices.Max(sums) <= maxExact {
		return d[axis]
	}
	return max(uint32(maxExact/(255*largest*float64(n))), 1)
}

// wholeSums are sums of products of integers, in parts along an axis of x and of weights each of which is exact; n products
// belong to an element of that axis, and results is the axis of weights that the sums have too.
func (c *conversion) wholeSums(x, w uint32, xAxis, wAxis, results int, n uint32, sum func(x, w uint32) uint32) uint32 {
	terms := c.Dims(w)[wAxis]
	most := c.exactTerms(w, wAxis, results, n)
	y := none
	for from := uint32(0); from < terms; from += most {
		count := min(most, terms-from)
		part := c.As(sum(c.span(x, xAxis, from, count), c.span(w, wAxis, from, count)), nn.TensorInt32)
		if y == none {
			y = part
		} else {
			y = c.Binary(nn.OpAdd, y, part)
		}
	}
	return y
}

// span is a part of a tensor along an axis.
func (c *conversion) span(x uint32, axis int, from, n uint32) uint32 {
	d := c.Dims(x)
	if from == 0 && n == d[axis] {
		return x
	}
	begin, size := make([]int64, len(d)), lowering.Signed(d)
	begin[axis], size[axis] = int64(from), int64(n)
	return c.Slice(x, begin, size)
}

func convInteger(c *conversion) {
	c.cropWindow()
	if c.has(3) && nn.Elements(c.shape(c.v(3))) != 1 {
		c.Refusef("its weights have a zero point per channel")
	}
	x, w := c.centered(0, 2), c.centered(1, 3)
	dx, d := c.Dims(x), c.Dims(w)
	if c.int("group", 1) != 1 || len(d) < 3 || len(dx) != len(d) || dx[1] != d[1] { // few products each, or shapes that are refused
		p := c.convolution(c.valueOf(x), c.valueOf(w), nil)
		c.defineAs(0, realImage, c.As(c.conv(p), nn.TensorInt32), p.rank)
		return
	}
	rank := 0
	y := c.wholeSums(x, w, 1, 1, 0, uint32(nn.Elements(d[2:])), func(x, w uint32) uint32 {
		p := c.convolution(c.valueOf(x), c.valueOf(w), nil)
		rank = p.rank
		return c.conv(p)
	})
	c.defineAs(0, realImage, y, rank)
}

func matMulInteger(c *conversion) {
	a, b := c.centered(0, 2), c.centered(1, 3)
	product := func(a, b uint32) uint32 { return c.matmul(a, c.valueOf(b), false, target{}, none) }
	da, db := c.Dims(a), c.Dims(b)
	if ra, rb := len(da), len(db); ra > 1 && rb > 1 && da[ra-1] == db[rb-2] {
		c.define(0, c.wholeSums(a, b, ra-1, rb-2, rb-1, 1, product))
		return
	}
	c.define(0, c.As(product(a, b), nn.TensorInt32))
}
