package onnx

import (
	"slices"

	"github.com/nnsoc/nnsoc/nn"
)

// lossOperators are the losses of classification, in which networks end that are exported with their loss.
var lossOperators = []operator{
	{name: "NegativeLogLikelihoodLoss", inputs: [2]int{2, 3}, convert: func(c *conversion) { c.define(0, c.likelihoodLoss(c.reals(0))) }},
	{name: "SoftmaxCrossEntropyLoss", inputs: [2]int{2, 3}, outputs: [2]int{1, 2}, convert: crossEntropy},
}

// crossEntropy is the loss of the logarithms of shares of classes, which are output 1.
func crossEntropy(c *conversion) {
	x := c.reals(0)
	d := c.classes(x)
	logs := c.Emit(nn.OpLogSoftmax, *c.Operand(x), c.Reshape(x, d), c.ScalarLike(x, 1), c.Int32Scalar(1))
	logs = c.Reshape(logs, c.Dims(x))
	c.define(0, c.likelihoodLoss(logs))
	if c.isRead(1) {
		c.define(1, logs)
	}
}

// classes is the shape of x as batches, classes and what is beside them.
func (c *conversion) classes(x uint32) []uint32 {
	d := c.Dims(x)
	if len(d) < 2 {
		c.Failf("input 0 has shape %v, batches and classes needed", d)
	}
	return []uint32{d[0], d[1], uint32(nn.Elements(d[2:]))}
}

// likelihoodLoss is, for each target t of [N, d...] and x of [N, C, d...], -w[t] x[t], with 0 for targets that are
// ignored: each, their sum, or the sum by that of the weights.
func (c *conversion) likelihoodLoss(x uint32) uint32 {
	d, t := c.classes(x), c.indices(1)
	targets := c.Dims(t)
	if want := slices.Delete(slices.Clone(c.Dims(x)), 1, 2); !slices.Equal(targets, want) {
		c.Failf("targets of shape %v, want %v", targets, want)
	}
	o := nn.Operand{Type: c.Operand(x).Type}
	t = c.Reshape(t, []uint32{d[0], d[2]})
	share := c.OneHot(t, int64(d[1]), c.Like(x, 1), c.Like(x, 0), 1)
	if c.attributes["ignore_index"] != nil {
		kept := c.As(c.Compare(nn.OpNotEqual, t, c.Int32Number(c.int("ignore_index", 0))), o.Type)
		share = c.Binary(nn.OpMul, share, c.Reshape(kept, []uint32{d[0], 1, d[2]}))
	}
	if c.has(2) {
		share = c.Binary(nn.OpMul, share, c.Reshape(c.As(c.reals(2), o.Type), []uint32{1, d[1], 1}))
	}
	losses := c.Unary(nn.OpNeg, c.Reduce(nn.OpReduceSum, o, c.Binary(nn.OpMul, share, c.Reshape(x, d)), []int64{1}, false))
	total := func(x uint32) uint32 { return c.Reduce(nn.OpReduceSum, o, x, []int64{0, 1}, false) }
	switch how := c.text("reduction", "mean"); how {
	case "none":
		return c.Reshape(losses, targets)
	case "sum":
		return total(losses)
	case "mean":
		return c.Binary(nn.OpDiv, total(losses), total(c.Reduce(nn.OpReduceSum, o, share, []int64{1}, false)))
	default:
		c.Refusef("the reduction %q", how)
		return none
	}
}
