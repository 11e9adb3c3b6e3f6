package tflite

import (
	"encoding/binary"
	"math"

	"github.com/nnsoc/nnsoc/importer/lowering"
	"github.com/nnsoc/nnsoc/nn"
)

// poolOptions are the options of MediaPipe's poolings, the first fields of TensorFlow Lite's
// structure of a pooling, each of 32 bits: padding (1 SAME, 2 VALID), width and height of the
// stride, width and height of the window, activation.
type poolOptions struct {
	same             bool
	strideW, strideH int64
	width, height    int64
	activation       int64
}

// maxPoolTaps bounds the window of a pooling with places, which takes three operations for each.
const maxPoolTaps = 64

func (c *conversion) poolOptions() poolOptions {
	if len(c.custom) < 24 {
		c.Failf("its options have %d bytes, 24 needed", len(c.custom))
	}
	option := func(i int) int64 { return int64(int32(binary.LittleEndian.Uint32(c.custom[4*i:]))) }
	o := poolOptions{strideW: option(1), strideH: option(2), width: option(3), height: option(4), activation: option(5)}
	switch scheme := option(0); {
	case scheme != 1 && scheme != 2:
		c.Failf("padding %d", scheme)
	case o.strideW < 1 || o.strideH < 1 || o.width < 1 || o.height < 1:
		c.Failf("strides %dx%d, a window of %dx%d", o.strideH, o.strideW, o.height, o.width)
	case o.width > maxPoolTaps || o.height > maxPoolTaps || o.width*o.height > maxPoolTaps:
		c.Refusef("a window of %dx%d, this composition takes %d elements", o.height, o.width, maxPoolTaps)
	default:
		o.same = scheme == 1
	}
	return o
}

// along is how windows of n elements go along an axis of size elements: how many there are and
// what is to be padded.
func (o *poolOptions) along(size, n, stride int64) (count int64, pad [2]int64) {
	if !o.same {
		return (size-n)/stride + 1, pad
	}
	count = (size + stride - 1) / stride
	total := max((count-1)*stride+n-size, 0)
	return count, [2]int64{total / 2, total - total/2}
}

// maxPoolPlaces is MediaPipe's MAX_POOL_2D that says where each greatest element stands, as a
// real 0.1 above row * width + column in the window; the first of equal ones. It is one
// comparison for each element of the window:
//
//	place = x[k] > best ? k + 0.1 : place,  best = max(best, x[k])
func maxPoolPlaces(c *conversion) {
	o := c.poolOptions()
	x := c.As(c.x(0), nn.TensorFloat32)
	dims := c.Dims(x)
	if len(dims) != 4 {
		c.Failf("an input of shape %v", dims)
	}
	h, rows := o.along(int64(dims[1]), o.height, o.strideH)
	w, columns := o.along(int64(dims[2]), o.width, o.strideW)
	if h < 1 || w < 1 {
		c.Failf("a window of %dx%d on an image of %dx%d", o.height, o.width, dims[1], dims[2])
	}
	if rows != [2]int64{} || columns != [2]int64{} {
		x = c.Pad(nn.Operand{Type: nn.TensorFloat32}, x, [][2]int64{{}, rows, columns, {}}, c.ScalarLike(x, -math.MaxFloat32))
	}
	shape := nn.Operand{Type: nn.TensorFloat32, Dimensions: []uint32{dims[0], uint32(h), uint32(w), dims[3]}}
	best, place := none, c.Filled(shape, 0.1)
	for k := range o.height * o.width {
		walks := []lowering.Walk{
			{Step: 1, Count: int64(dims[0])}, {Begin: k / o.width, Step: o.strideH, Count: h}, {Begin: k % o.width, Step: o.strideW, Count: w}, {Step: 1, Count: int64(dims[3])},
		}
		tap := c.window(x, walks)
		if best == none {
			best = tap
			continue
		}
		above := c.Compare(nn.OpGreater, tap, best)
		place = c.Emit(nn.OpSelect, shape, above, c.Filled(shape, float32(k)+0.1), place)
		best = c.Binary(nn.OpMaximum, best, tap)
	}
	c.give(0, c.activated(best, o.activation))
	c.give(1, place)
}

// window is Along whose last step reaches no further than the tensor.
func (c *conversion) window(x uint32, walks []lowering.Walk) uint32 {
	begin, end, steps := make([]int64, len(walks)), make([]int64, len(walks)), make([]int64, len(walks))
	for i, w := range walks {
		begin[i], end[i], steps[i] = w.Begin, w.Begin+(w.Count-1)*w.Step+1, w.Step
	}
	return c.Emit(nn.OpStridedSlice, nn.Operand{Type: nn.TensorFloat32}, x, c.Int32Tensor(begin...), c.Int32Tensor(end...), c.Int32Tensor(steps...),
		c.Int32Scalar(0), c.Int32Scalar(0), c.Int32Scalar(0))
}

// activated applies an activation by its code in TensorFlow Lite.
func (c *conversion) activated(x uint32, code int64) uint32 {
	switch nn.FusedActivation(code) {
	case nn.ActNone:
		return x
	case nn.ActRelu:
		return c.Unary(nn.OpRelu, x)
	case nn.ActRelu1:
		return c.Unary(nn.OpRelu1, x)
	case nn.ActRelu6:
		return c.Unary(nn.OpRelu6, x)
	}
	c.Refusef("activation %d", code)
	return none
}

// maxUnpool is MediaPipe's inverse: each element goes where the second input says in a window of
// zeros. Windows stand beside each other; a place outside of its window puts nothing anywhere.
// For each element of the window the input is kept where its place is that one; rows and
// columns of windows are then joined.
func maxUnpool(c *conversion) {
	o := c.poolOptions()
	if o.strideW != o.width || o.strideH != o.height {
		c.Refusef("windows of %dx%d at strides of %dx%d: this composition takes windows side by side", o.height, o.width, o.strideH, o.strideW)
	}
	x, places := c.As(c.x(0), nn.TensorFloat32), c.As(c.x(1), nn.TensorFloat32)
	dims := c.Dims(x)
	if len(dims) != 4 || len(c.Dims(places)) != 4 {
		c.Failf("inputs of shapes %v and %v", dims, c.Dims(places))
	}
	n, h, w, depth := dims[0], dims[1], dims[2], dims[3]
	place := c.Unary(nn.OpFloor, places)
	shape := nn.Operand{Type: nn.TensorFloat32, Dimensions: dims}
	zero := c.Filled(shape, 0)
	float := func(dims ...uint32) nn.Operand { return nn.Operand{Type: nn.TensorFloat32, Dimensions: dims} }
	fw, fh := uint32(o.width), uint32(o.height)
	var rows []uint32
	for y := range o.height {
		var columns []uint32
		for k := y * o.width; k < (y+1)*o.width; k++ {
			columns = append(columns, c.Emit(nn.OpSelect, shape, c.Compare(nn.OpEqual, place, c.Like(place, float32(k))), x, zero))
		}
		row := c.Concat(float(n, h, w, fw*depth), 3, columns...)
		rows = append(rows, c.Reshape(row, []uint32{n * h, 1, w * fw * depth}))
	}
	y := c.Concat(float(n*h, fh, w*fw*depth), 1, rows...)
	c.give(0, c.Reshape(y, []uint32{n, h * fh, w * fw, depth}))
}
