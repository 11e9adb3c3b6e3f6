package onnx

import (
	"slices"

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
		return c.qlinearChannels(k)
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

func (c *conversion) qlinearChannels(k int) *value {
	x := c.real(c.v(k), false)
	scales, zeros := c.constants(k+1), c.list(k+2)
	o := *c.Operand(x)
	if !o.IsConst() || !o.Type.IsQuant8() || len(zeros) != 1 && len(zeros) != len(scales) {
		c.Refusef("input %d has %d scales and %d zero points", k, len(scales), len(zeros))
	}
	middle := int64(0) // uint8 weights around 128 are symmetric too
	if o.Type == nn.TensorQuant8Asymm {
		middle = 128
	}
	if slices.ContainsFunc(zeros, func(z int64) bool { return z != middle }) {
		c.Refusef("input %d has a scale per channel and the zero points %v", k, zeros)
	}
	if shape := c.Dims(x); len(shape) == 0 || len(shape) > 4 || int(shape[0]) != len(scales) {
		c.Refusef("input %d has %d scales for shape %v", k, len(scales), shape)
	}
	if middle != 0 {
		o = *c.Operand(c.turned(x, nn.TensorQuant8AsymmSigned))
	}
	o.Type, o.Scale, o.ZeroPoint = nn.TensorQuant8SymmPerChannel, 0, 0
	o.Channel = &nn.ChannelQuant{Scales: slices.Clone(scales)}
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
	p := c.convolution(c.qlinear(0, true), c.qlinear(3, false), c.optional(8))
	p.to, p.quantized = c.qlinearOut(6), true
	y := c.conv(p)
	c.defineRaw(y, true, p.rank)
}

func qlinearMatMul(c *conversion) {
	t := c.qlinearOut(6)
	c.defineRaw(c.matmul(c.quant(c.qlinear(0, false), false), c.qlinear(3, false), true, t, none), false, 0)
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
	if c.flag("channels_last", 0) {
		c.Refusef("its channels are last")
	}
	t := c.qlinearOut(3)
	v := c.qlinear(0, true)
	x, image := c.quant(v, !v.has(quant)), !v.has(quant)
	c.defineRaw(c.globalPool(nn.OpMean, c.turned(x, t.Type), image, t.Operand), image, v.rank)
}

func qlinearConcat(c *conversion) {
	o, ok := c.quantization(input(c.node, 0), input(c.node, 1))
	if !ok {
		c.Refusef("scale and zero point of its output are no constants of one element")
	}
	var list []uint32
	for k := 2; k+2 < len(c.in); k += 3 {
		list = append(list, c.To(c.quant(c.qlinear(k, false), false), o))
	}
	if len(list) == 0 {
		c.Failf("no values to join")
	}
	c.define(0, c.Concat(o, c.Axis(c.int("axis", 0), c.Rank(list[0])), list...))
}

// centered is an 8-bit input less the zero point of another, in float32, which holds the
// sums of such products exactly up to 2^24.
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

func convInteger(c *conversion) {
	if c.has(3) && nn.Elements(c.shape(c.v(3))) != 1 {
		c.Refusef("its weights have a zero point per channel")
	}
	p := c.convolution(c.valueOf(c.centered(0, 2)), c.valueOf(c.centered(1, 3)), nil)
	c.defineAs(0, realImage, c.As(c.conv(p), nn.TensorInt32), p.rank)
}

func matMulInteger(c *conversion) {
	a, b := c.centered(0, 2), c.centered(1, 3)
	c.define(0, c.As(c.matmul(a, c.valueOf(b), false, target{}, none), nn.TensorInt32))
}
