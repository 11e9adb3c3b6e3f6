package onnx

import "slices"

// maxPads bounds the magnitude of one padding of a window.
const maxPads = 1 << 20

// cropWindow makes the negative paddings of a convolution or pooling, which cut elements off, a slice of input 0. NNAPI's
// paddings are not negative.
//
//	pads [-1, 2] of 8 elements: elements 1 to 7 with pads [0, 2]
func (c *conversion) cropWindow() {
	list := c.ints("pads")
	if len(list) == 0 || slices.Min(list) >= 0 || slices.Min(list) < -maxPads || 2*len(c.shape(c.v(0))) != len(list)+4 {
		return // the others are read, or refused, with the window
	}
	x, form := c.moved(false)
	rank, n := len(c.shape(c.v(0))), len(list)/2
	pads := make([][2]int64, c.Rank(x))
	for i := range n {
		pads[axisOf(2+i, form, rank)] = [2]int64{list[i], list[n+i]}
	}
	c.in[0] = c.valueAs(form, c.cropped(x, pads), rank)
	for i := range list {
		list[i] = max(list[i], 0)
	}
	c.attributes["pads"] = listOf("pads", list...)
}
