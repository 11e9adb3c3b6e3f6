package tflite

import (
	"github.com/nnsoc/nnsoc/nn"
)

// activationBuiltins are the operators of activation and normalization.
var activationBuiltins = []builtin{
	{code: 19, name: "RELU", version: 3, inputs: [2]int{1, 1}, convert: unary(nn.OpRelu)},
	{code: 20, name: "RELU_N1_TO_1", version: 1, inputs: [2]int{1, 1}, convert: unary(nn.OpRelu1)},
	{code: 21, name: "RELU6", version: 3, inputs: [2]int{1, 1}, convert: unary(nn.OpRelu6)},
	{code: 152, name: "RELU_0_TO_1", version: 1, inputs: [2]int{1, 1}, convert: func(c *conversion) { c.define(0, c.Clamp(c.plain(0), 0, 1)) }},
	{code: 14, name: "LOGISTIC", version: 3, inputs: [2]int{1, 1}, convert: unary(nn.OpLogistic)},
	{code: 28, name: "TANH", version: 3, inputs: [2]int{1, 1}, convert: unary(nn.OpTanh)},
	{code: 111, name: "ELU", version: 1, inputs: [2]int{1, 1}, convert: elu},
	{code: 117, name: "HARD_SWISH", version: 1, inputs: [2]int{1, 1}, convert: unary(nn.OpHardSwish)},
	{code: 150, name: "GELU", version: 2, inputs: [2]int{1, 1}, options: "GeluOptions", convert: func(c *conversion) { c.define(0, c.Gelu(c.floats(), c.options.Bool("approximate"))) }},
	{code: 54, name: "PRELU", version: 1, inputs: [2]int{2, 2}, convert: elementwise(nn.OpPrelu)},
	{code: 98, name: "LEAKY_RELU", version: 2, inputs: [2]int{1, 1}, options: "LeakyReluOptions", convert: leakyRelu},
	{code: 25, name: "SOFTMAX", version: 3, inputs: [2]int{1, 1}, options: "SoftmaxOptions", convert: softmax},
	{code: 50, name: "LOG_SOFTMAX", version: 2, inputs: [2]int{1, 1}, convert: logSoftmax},
	{code: 11, name: "L2_NORMALIZATION", version: 2, inputs: [2]int{1, 1}, convert: unary(nn.OpL2Normalization)},
	{code: 13, name: "LOCAL_RESPONSE_NORMALIZATION", version: 1, inputs: [2]int{1, 1}, options: "LocalResponseNormalizationOptions", convert: lrn},
}

func elu(c *conversion) {
	x := c.floats()
	y := c.Emit(nn.OpElu, nn.Operand{Type: c.Operand(x).Type}, x, c.ScalarLike(x, 1))
	c.ShapeLike(y, x)
	c.define(0, y)
}

// leakyRelu is PRELU with one slope. A quantized slope is 1 at a scale of the
// slope.
func leakyRelu(c *conversion) {
	x, alpha := c.x(0), c.options.Float("alpha")
	o := *c.Operand(x)
	var slope uint32
	switch {
	case o.Type.IsQuant8() && alpha > 0:
		slope = c.Constant(nn.Operand{Type: o.Type, Dimensions: []uint32{1}, Scale: alpha, Data: []byte{1}})
	case o.Type == nn.TensorFloat16:
		slope = c.Like(x, alpha)
	default:
		x = c.As(x, nn.TensorFloat32)
		slope = c.Real(alpha)
		y := c.Emit(nn.OpPrelu, nn.Operand{Type: nn.TensorFloat32}, x, slope)
		c.ShapeLike(y, x)
		c.define(0, y)
		return
	}
	y := c.Emit(nn.OpPrelu, c.out(0), x, slope)
	c.ShapeLike(y, x)
	c.define(0, y)
}

func softmax(c *conversion) {
	x, out := c.x(0), c.out(0)
	if o := c.Operand(x); o.Type != out.Type {
		x, out = c.As(x, nn.TensorFloat32), nn.Operand{Type: nn.TensorFloat32, Dimensions: out.Dimensions}
	}
	in := []uint32{x, c.ScalarLike(x, c.options.Float("beta"))}
	if n := len(c.Operand(x).Dimensions); n != 2 && n != 4 { // HAL 1.0 has these two ranks
		in = append(in, c.Int32Scalar(-1))
	}
	y := c.Emit(nn.OpSoftmax, out, in...)
	c.ShapeLike(y, x)
	c.define(0, y)
}

func logSoftmax(c *conversion) {
	x := c.floats()
	y := c.Emit(nn.OpLogSoftmax, nn.Operand{Type: c.Operand(x).Type}, x, c.ScalarLike(x, 1), c.Int32Scalar(-1))
	c.ShapeLike(y, x)
	c.define(0, y)
}

func lrn(c *conversion) {
	x := c.floats()
	o := c.options
	c.define(0, c.Emit(nn.OpLocalResponseNormalization, nn.Operand{Type: c.Operand(x).Type}, x, c.option("radius"),
		c.ScalarLike(x, o.Float("bias")), c.ScalarLike(x, o.Float("alpha")), c.ScalarLike(x, o.Float("beta"))))
}
