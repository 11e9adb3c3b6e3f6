package onnx

import (
	"slices"

	"github.com/nnsoc/nnsoc/nn"
)

// MaxPool with the output Indices, and MaxUnpool, which puts elements back there, run on the host: NNAPI's pooling returns
// the greatest elements alone. Operations of the host call an index of an element in its tensor a place.

// spatialWindow is the window of a pooling along height and width, after that along a depth of one plane where there is
// none, with how often it fits.
func (c *conversion) spatialWindow(shape []uint32) (d depthWindow, w window, count [2]int64) {
	d, at := depthWindow{kernel: 1, stride: 1, dilation: 1, in: 1, out: 1}, c
	if c.isVolume() {
		plane := *c
		d, plane.attributes = c.depth(nil)
		at, shape = &plane, slices.Delete(slices.Clone(shape), 2, 3)
	}
	in := [2]int64{1, int64(shape[len(shape)-1])}
	if len(shape) == 4 {
		in[0] = int64(shape[2])
	}
	w = at.window(len(shape), nil)
	at.resolve(&w, in)
	at.ceil(&w, in)
	for i := range count {
		count[i] = (in[i]+w.pads[i][0]+w.pads[i][1]-w.reach(i))/w.stride[i] + 1
	}
	return d, w, count
}

// maxPoolIndices is MaxPool on the host, which returns the indices as well: counted in the whole tensor, rows first or
// columns first.
func maxPoolIndices(c *conversion) {
	x := c.raw(0)
	shape := c.Dims(x)
	if len(shape) < 3 || len(shape) > 5 {
		c.Refusef("it works on %d dimensions beside batch and channels, here on one to three", len(shape)-2)
	}
	d, w, count := c.spatialWindow(shape)
	order := c.int("storage_order", 0)
	if order != 0 && order != 1 {
		c.Failf("storage_order is %d", order)
	}
	attributes := []int64{order, d.kernel, d.stride, d.dilation, d.before, d.out}
	for i := range count {
		attributes = append(attributes, w.kernel[i], w.stride[i], w.dilation[i], w.pads[i][0], count[i])
	}
	planes := []uint32{shape[0] * shape[1], 1, 1}
	planes = append(planes[:6-len(shape)], shape[2:]...)
	values := *c.Operand(x)
	values.Dimensions = c.Unsigned([]int64{int64(planes[0]), d.out, count[0], count[1]})
	places := nn.Operand{Type: nn.TensorInt32, Dimensions: values.Dimensions}
	out := slices.Concat(shape[:2], values.Dimensions[6-len(shape):])
	for k, y := range c.Host(nn.OpHostMaxPool, []nn.Operand{values, places}, attributes, c.reshaped(x, planes)) {
		if k == 0 || c.isRead(k) {
			c.define(k, c.reshaped(y, out))
		}
	}
}

// maxUnpool puts elements to the places that a pooling found, among zeros. Places count in the shape that the pooling had
// by its window; where an output shape is given, paddings are left out and zeros follow up to it.
func maxUnpool(c *conversion) {
	x := c.reals(0)
	shape := c.Dims(x)
	kernel, strides, pads := c.ints("kernel_shape"), c.ints("strides"), c.ints("pads")
	n := len(shape) - 2
	if strides == nil {
		strides = slices.Repeat([]int64{1}, max(n, 0))
	}
	if pads == nil || c.has(2) {
		pads = make([]int64, 2*max(n, 0))
	}
	if n < 1 || len(kernel) != n || len(strides) != n || len(pads) != 2*n {
		c.Failf("input of shape %v, kernel_shape %v, strides %v, pads %v", shape, kernel, strides, pads)
	}
	from := []int64{int64(shape[0]), int64(shape[1])}
	for i := range n {
		if min(kernel[i], strides[i]) < 1 || max(kernel[i], strides[i], pads[i], pads[n+i]) > 1<<20 || min(pads[i], pads[n+i]) < 0 {
			c.Failf("kernel_shape %v, strides %v, pads %v", kernel, strides, pads)
		}
		from = append(from, (int64(shape[2+i])-1)*strides[i]+kernel[i]-pads[i]-pads[n+i])
	}
	if slices.Min(from) < 1 || slices.Max(from) > nn.MaxElements {
		c.Failf("a result of shape %v", from)
	}
	list := c.Unsigned(from)
	total := nn.Elements(list)
	if total < 0 {
		c.Failf("a result of shape %v, which is too large", from)
	}
	flat := []uint32{uint32(nn.Elements(shape))}
	y := c.Host(nn.OpHostMaxUnpool, []nn.Operand{{Type: c.Operand(x).Type, Dimensions: []uint32{uint32(total)}}}, nil,
		c.reshaped(x, flat), c.reshaped(c.indices(1), flat), c.Int32Tensor(total))[0]
	y = c.reshaped(y, list)
	if c.has(2) {
		y = c.extendedTo(y, from, c.list(2))
	}
	c.define(0, y)
}

// extendedTo is x of a shape with zeros behind it, up to another shape.
func (c *conversion) extendedTo(x uint32, from, to []int64) uint32 {
	if len(to) != len(from) {
		c.Failf("an output of shape %v, its rank is %d", to, len(from))
	}
	behind := make([][2]int64, len(to))
	for i := range to {
		if behind[i][1] = to[i] - from[i]; to[i] < from[i] || to[i] > nn.MaxElements {
			c.Failf("an output of shape %v for elements of shape %v", to, from)
		}
	}
	if slices.Equal(from, to) {
		return x
	}
	return c.Pad(*c.Operand(x), x, behind, none)
}
