package tflite

import (
	"math"

	"github.com/nnsoc/nnsoc/nn"
)

// activationBuiltins are the operators of activation and normalization.
var activationBuiltins = []builtin{
	{code: 19, name: "RELU", version: 3, inputs: [2]int{1, 1}, convert: unary(nn.OpRelu)},
	{code: 20, name: "RELU_N1_TO_1", version: 1, inputs: [2]int{1, 1}, convert: unary(nn.OpRelu1)},
	{code: 21, name: "RELU6", version: 3, inputs: [2]int{1, 1}, convert: unary(nn.OpRelu6)},
	{code: 152, name: "RELU_0_TO_1", version: 1, inputs: [2]int{1, 1}, convert: func(c *conversion) { c.give(0, c.Clamp(c.plain(0), 0, 1)) }},
	{code: 14, name: "LOGISTIC", version: 3, inputs: [2]int{1, 1}, convert: unary(nn.OpLogistic)},
	{code: 28, name: "TANH", version: 3, inputs: [2]int{1, 1}, convert: unary(nn.OpTanh)},
	{code: 111, name: "ELU", version: 1, inputs: [2]int{1, 1}, convert: elu},
	{code: 117, name: "HARD_SWISH", version: 1, inputs: [2]int{1, 1}, convert: unary(nn.OpHardSwish)},
	{code: 150, name: "GELU", version: 2, inputs: [2]int{1, 1}, options: "GeluOptions", convert: gelu},
	{code: 54, name: "PRELU", version: 1, inputs: [2]int{2, 2}, convert: elementwise(nn.OpPrelu)},
	{code: 98, name: "LEAKY_RELU", version: 2, inputs: [2]int{1, 1}, options: "LeakyReluOptions", convert: leakyRelu},
	{code: 25, name: "SOFTMAX", version: 3, inputs: [2]int{1, 1}, options: "SoftmaxOptions", convert: softmax},
	{code: 50, name: "LOG_SOFTMAX", version: 2, inputs: [2]int{1, 1}, convert: logSoftmax},
	{code: 11, name: "L2_NORMALIZATION", version: 2, inputs: [2]int{1, 1}, convert: unary(nn.OpL2Normalization)},
	{code: 13, name: "LOCAL_RESPONSE_NORMALIZATION", version: 1, inputs: [2]int{1, 1}, options: "LocalResponseNormalizationOptions", convert: lrn},
}

func elu(c *conversion) {
	x := c.floats(0)
	y := c.Emit(nn.OpElu, nn.Operand{Type: c.Operand(x).Type}, x, c.scalarLike(x, 1))
	c.ShapeLike(y, x)
	c.give(0, y)
}

// gelu is x / 2 * (1 + erf(x / sqrt 2)), or the approximation by tanh that the
// option asks for. NNAPI has no erf: Abramowitz and Stegun 7.1.26 gives it
// within 1.5e-7.
func gelu(c *conversion) {
	x := c.floats(0)
	mul := func(a uint32, v float32) uint32 { return c.Binary(nn.OpMul, a, c.Like(a, v)) }
	add := func(a uint32, v float32) uint32 { return c.Binary(nn.OpAdd, a, c.Like(a, v)) }
	times := func(a, b uint32) uint32 { return c.Binary(nn.OpMul, a, b) }
	var erf uint32
	if c.options.bool("approximate") {
		cube := times(times(x, x), x)
		erf = c.Unary(nn.OpTanh, mul(c.Binary(nn.OpAdd, x, mul(cube, 0.044715)), float32(math.Sqrt(2/math.Pi))))
	} else {
		z := mul(c.Unary(nn.OpAbs, x), float32(1/math.Sqrt2))
		t := c.Binary(nn.OpDiv, c.Like(x, 1), add(mul(z, 0.3275911), 1))
		sum := mul(t, 1.061405429)
		for _, k := range []float32{-1.453152027, 1.421413741, -0.284496736, 0.254829592} {
			sum = times(add(sum, k), t)
		}
		tail := times(sum, c.Unary(nn.OpExp, c.Unary(nn.OpNeg, times(z, z))))
		erf = times(c.Sign(x), add(c.Unary(nn.OpNeg, tail), 1))
	}
	c.give(0, mul(times(x, add(erf, 1)), 0.5))
}

// leakyRelu is PRELU with one slope. A quantized slope is 1 at a scale of the
// slope.
func leakyRelu(c *conversion) {
	x, alpha := c.x(0), c.options.float("alpha")
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
		c.give(0, y)
		return
	}
	y := c.Emit(nn.OpPrelu, c.out(0), x, slope)
	c.ShapeLike(y, x)
	c.give(0, y)
}

func softmax(c *conversion) {
	x, out := c.x(0), c.out(0)
	if o := c.Operand(x); o.Type != out.Type {
		x, out = c.As(x, nn.TensorFloat32), nn.Operand{Type: nn.TensorFloat32, Dimensions: out.Dimensions}
	}
	in := []uint32{x, c.scalarLike(x, c.options.float("beta"))}
	if n := len(c.Operand(x).Dimensions); n != 2 && n != 4 { // HAL 1.0 has these two ranks
		in = append(in, c.Int32Scalar(-1))
	}
	y := c.Emit(nn.OpSoftmax, out, in...)
	c.ShapeLike(y, x)
	c.give(0, y)
}

func logSoftmax(c *conversion) {
	x := c.floats(0)
	y := c.Emit(nn.OpLogSoftmax, nn.Operand{Type: c.Operand(x).Type}, x, c.scalarLike(x, 1), c.Int32Scalar(-1))
	c.ShapeLike(y, x)
	c.give(0, y)
}

func lrn(c *conversion) {
	x := c.floats(0)
	o := c.options
	c.give(0, c.Emit(nn.OpLocalResponseNormalization, nn.Operand{Type: c.Operand(x).Type}, x, c.option("radius"),
		c.scalarLike(x, o.float("bias")), c.scalarLike(x, o.float("alpha")), c.scalarLike(x, o.float("beta"))))
}
