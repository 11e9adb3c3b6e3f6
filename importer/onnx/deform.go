package onnx

import (
	"slices"

	"github.com/nnsoc/nnsoc/nn"
)

// deformConv is a convolution whose windows have their elements moved by an input: the host samples them, and the weights
// are multiplied with the samples, group by group.
func deformConv(c *conversion) {
	x, weights := c.reals(0), c.reals(1)
	in, filter, moves := c.Dims(x), c.Dims(weights), c.shape(c.v(2))
	if len(in) != 4 || len(filter) != 4 || len(moves) != 4 {
		c.Refusef("input of shape %v, weights of shape %v and offsets of shape %v: images are supported", in, filter, moves)
	}
	w := c.window(4, []int64{int64(filter[2]), int64(filter[3])})
	size := [2]int64{int64(in[2]), int64(in[3])}
	for i := range size {
		if room := size[i] + w.pads[i][0] + w.pads[i][1] - w.reach(i); room < 0 || room/w.stride[i]+1 != int64(moves[2+i]) {
			c.Failf("offsets of shape %v for an input of shape %v and weights of shape %v", moves, in, filter)
		}
	}
	groups, of := c.int("group", 1), int64(filter[0])
	if groups < 1 || groups > of || of%groups != 0 || int64(in[1]) != groups*int64(filter[1]) {
		c.Failf("weights of shape %v in %d groups for an input of shape %v", filter, groups, in)
	}
	each := filter[2] * filter[3]
	var attributes []int64
	for _, pair := range [][2]int64{w.kernel, w.dilation, w.stride, {w.pads[0][0], w.pads[1][0]}} {
		attributes = append(attributes, pair[:]...)
	}
	factors := none
	if c.has(4) {
		factors = c.reals(4)
	}
	places := moves[2] * moves[3]
	samples := nn.Operand{Type: c.Operand(x).Type, Dimensions: []uint32{in[0], in[1] * each, places}}
	columns := c.Host(nn.OpHostDeformedColumns, []nn.Operand{samples}, append(attributes, c.int("offset_group", 1)), x, c.reals(2), factors)[0]
	columns = c.reshaped(columns, []uint32{in[0], uint32(groups), filter[1] * each, places})
	weights = c.reshaped(c.As(weights, samples.Type), []uint32{1, uint32(groups), uint32(of / groups), filter[1] * each})
	y := c.BatchMatmul(nn.Operand{Type: samples.Type}, weights, columns, false, false)
	y = c.reshaped(y, []uint32{in[0], filter[0], moves[2], moves[3]})
	if c.has(3) {
		bias := c.As(c.reals(3), samples.Type)
		y = c.Binary(nn.OpAdd, y, c.reshaped(bias, append(slices.Clone(c.Dims(bias)), 1, 1)))
	}
	c.define(0, y)
}
