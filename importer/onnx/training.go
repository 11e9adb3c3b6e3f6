package onnx

import (
	"math"
	"slices"

	"github.com/nnsoc/nnsoc/importer/onnx/onnxfile"
	"github.com/nnsoc/nnsoc/nn"
)

// preview is the domain of the operators of training.
const preview = "ai.onnx.preview.training"

// trainingOperators are the steps of optimizers. Their inputs are the rate R, the count of steps T, then lists of tensors of
// one length: weights X, gradients G, and moments; their outputs the new weights and moments.
var trainingOperators = []operator{
	{name: "Adagrad", domain: preview, inputs: [2]int{5, many}, outputs: [2]int{2, many}, convert: optimizer(1, (*conversion).adagrad)},
	{name: "Adam", domain: preview, inputs: [2]int{6, many}, outputs: [2]int{3, many}, convert: optimizer(2, (*conversion).adam)},
	{name: "Momentum", domain: preview, inputs: [2]int{5, many}, outputs: [2]int{2, many}, convert: optimizer(1, (*conversion).momentum)},
	{name: "Gradient", domain: preview, lacks: noGradient},
}

// descent is a step for one tensor of weights. The gradient has the share of the weights that the attribute
// norm_coefficient gives added.
type descent struct {
	rate, steps, weights, gradient uint32
	moments                        []uint32
}

// optimizer steps with each tensor of weights, which has so many moments.
func optimizer(moments int, step func(*conversion, descent) (weights uint32, moved []uint32)) func(*conversion) {
	return func(c *conversion) {
		n := (len(c.in) - 2) / (2 + moments)
		if n < 1 || len(c.in) != 2+n*(2+moments) || len(c.node.Outputs) > n*(1+moments) {
			c.Failf("%d inputs and %d outputs, each tensor of weights has a gradient and %d moments", len(c.in), len(c.node.Outputs), moments)
		}
		single := func(k int) uint32 { return c.As(c.reals(k), nn.TensorFloat32) }
		for i := range n {
			d := descent{rate: single(0), steps: single(1), weights: single(2 + i)}
			d.gradient = c.Binary(nn.OpAdd, c.times(d.weights, c.float("norm_coefficient", 0)), single(2+n+i))
			for m := range moments {
				d.moments = append(d.moments, single(2+(2+m)*n+i))
			}
			weights, moved := step(c, d)
			for k, y := range append([]uint32{weights}, moved...) {
				c.define(k*n+i, y)
			}
		}
	}
}

// either is a where a condition holds, else b, of any shapes.
func (c *conversion) either(condition, a, b uint32) uint32 {
	return c.real(c.standard("Where", nil, c.valueOf(condition), c.valueOf(a), c.valueOf(b)), false)
}

// times is x times a number.
func (c *conversion) times(x uint32, factor float32) uint32 {
	return c.Binary(nn.OpMul, x, c.Like(x, factor))
}

// towards is share * a + (1 - share) * b.
func (c *conversion) towards(a, b uint32, share float32) uint32 {
	return c.Binary(nn.OpAdd, c.times(a, share), c.times(b, float32(1-float64(share))))
}

// normalized is step / (sqrt(square) + epsilon).
func (c *conversion) normalized(step, square uint32) uint32 {
	root := c.Unary(nn.OpSqrt, square)
	return c.Binary(nn.OpDiv, step, c.Binary(nn.OpAdd, root, c.Like(root, c.float("epsilon", 1e-6))))
}

// adagrad divides the gradient by the root of the sum of its squares so far, H:
//
//	H' = H + G^2,  X' = X - R / (1 + T decay) G / (sqrt(H') + epsilon)
func (c *conversion) adagrad(d descent) (weights uint32, moved []uint32) {
	slow := c.times(d.steps, c.float("decay_factor", 0))
	rate := c.Binary(nn.OpDiv, d.rate, c.Binary(nn.OpAdd, slow, c.Like(slow, 1)))
	squares := c.Binary(nn.OpAdd, d.moments[0], c.Binary(nn.OpMul, d.gradient, d.gradient))
	step := c.Binary(nn.OpMul, rate, c.normalized(d.gradient, squares))
	return c.Binary(nn.OpSub, d.weights, step), []uint32{squares}
}

// adam averages the gradient, V, and its square, H, and mends what the averages lack at first:
//
//	V' = alpha V + (1 - alpha) G,  H' = beta H + (1 - beta) G^2
//	X' = X - R sqrt(1 - beta^T) / (1 - alpha^T) V' / (sqrt(H') + epsilon),  without the factor where T is 0
func (c *conversion) adam(d descent) (weights uint32, moved []uint32) {
	alpha, beta := c.float("alpha", 0.9), c.float("beta", 0.999)
	average := c.towards(d.moments[0], d.gradient, alpha)
	squares := c.towards(d.moments[1], c.Binary(nn.OpMul, d.gradient, d.gradient), beta)
	factor := c.Binary(nn.OpDiv, c.Unary(nn.OpSqrt, c.biasCorrection(beta, d.steps)), c.biasCorrection(alpha, d.steps))
	begun := c.Compare(nn.OpGreater, d.steps, c.Like(d.steps, 0))
	rate := c.either(begun, c.Binary(nn.OpMul, d.rate, factor), d.rate)
	weights = c.Binary(nn.OpSub, d.weights, c.Binary(nn.OpMul, rate, c.normalized(average, squares)))
	return c.times(weights, float32(1-float64(c.float("norm_coefficient_post", 0)))), []uint32{average, squares}
}

// biasCorrection is 1 - share^steps, what an average that begins at 0 lacks. With z = -ln(share) steps, it is 1 - e^-z where z is above 1, and below, where that would
// cancel, 2 sinh(z / 2) e^(-z / 2).
func (c *conversion) biasCorrection(share float32, steps uint32) uint32 {
	if !(share > 0 && share < 1) {
		c.Refusef("an average with the share %v, above 0 and below 1 is supported", share)
	}
	z := c.times(steps, float32(-math.Log(float64(share))))
	one := c.Like(z, 1)
	far := c.Binary(nn.OpSub, one, c.Unary(nn.OpExp, c.Unary(nn.OpNeg, z)))
	half := c.times(c.Binary(nn.OpMinimum, z, one), 0.5)
	near := c.times(c.Binary(nn.OpMul, sinh(c, half), c.Unary(nn.OpExp, c.Unary(nn.OpNeg, half))), 2)
	return c.either(c.Compare(nn.OpGreater, z, one), far, near)
}

// momentum moves on with a share of the last step, V:
//
//	V' = alpha V + beta G, beta being 1 where T is 0,  X' = X - R V', mode nesterov: X - R (G + alpha V')
func (c *conversion) momentum(d descent) (weights uint32, moved []uint32) {
	for _, name := range []string{"alpha", "beta"} {
		if c.attribute(name, onnxfile.AttributeFloat) == nil {
			c.Failf("attribute %q is missing", name)
		}
	}
	alpha := c.float("alpha", 0)
	begun := c.Compare(nn.OpGreater, d.steps, c.Like(d.steps, 0))
	beta := c.either(begun, c.Like(d.steps, c.float("beta", 0)), c.Like(d.steps, 1))
	step := c.Binary(nn.OpAdd, c.times(d.moments[0], alpha), c.Binary(nn.OpMul, beta, d.gradient))
	along := step
	switch mode := c.text("mode", ""); mode {
	case "standard":
	case "nesterov":
		along = c.Binary(nn.OpAdd, d.gradient, c.times(step, alpha))
	default:
		c.Failf("mode %q", mode)
	}
	return c.Binary(nn.OpSub, d.weights, c.Binary(nn.OpMul, d.rate, along)), []uint32{step}
}

// batchNormTraining standardizes by the mean and the variance of the batch, and moves those that are inputs towards them.
func batchNormTraining(c *conversion) {
	x, form := c.operand()
	x = c.asReals(x)
	rank := len(c.shape(c.v(0)))
	if rank < 2 {
		c.Failf("input 0 has rank %d, batches and channels needed", rank)
	}
	channels := axisOf(1, form, rank)
	var axes []int64
	for i := range c.Dims(x) {
		if i != channels {
			axes = append(axes, int64(i))
		}
	}
	of := nn.Operand{Type: c.Operand(x).Type}
	mean := c.Reduce(nn.OpMean, of, x, axes, true)
	off := c.Binary(nn.OpSub, x, mean)
	variance := c.Reduce(nn.OpMean, of, c.Binary(nn.OpMul, off, off), axes, true)
	inverse := c.Unary(nn.OpRsqrt, c.Binary(nn.OpAdd, variance, c.Like(x, c.float("epsilon", 1e-5))))
	along := func(k int) uint32 { return c.alongChannels(c.As(c.reals(k), of.Type), isImage(form), rank) }
	y := c.Binary(nn.OpMul, c.Binary(nn.OpMul, off, inverse), along(1))
	c.defineMoved(0, c.Binary(nn.OpAdd, y, along(2)), form)
	for k, statistic := range []uint32{1: mean, 2: variance} {
		if k > 0 && c.isRead(k) {
			before := c.reals(2 + k)
			c.define(k, c.towards(before, c.As(c.reshaped(statistic, slices.Clone(c.Dims(before))), c.Operand(before).Type), c.float("momentum", 0.9)))
		}
	}
}
