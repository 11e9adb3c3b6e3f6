package tflite

import (
	"encoding/binary"
	"math"

	"github.com/nnsoc/nnsoc/importer/lowering"
	"github.com/nnsoc/nnsoc/importer/tflite/internal/flexbuffer"
	"github.com/nnsoc/nnsoc/nn"
)

// customs are the custom operators that NNAPI has operations for, by name.
var customs = map[string]*builtin{
	"TFLite_Detection_PostProcess": {name: "TFLite_Detection_PostProcess", version: 1, inputs: [2]int{3, 3}, outputs: [2]int{4, 4}, convert: detectionPostProcess},
	"Convolution2DTransposeBias":   {name: "Convolution2DTransposeBias", version: 1, inputs: [2]int{3, 3}, outputs: [2]int{1, 1}, convert: transposeConvBias},
	"MaxPoolingWithArgmax2D":       {name: "MaxPoolingWithArgmax2D", version: 1, inputs: [2]int{1, 1}, outputs: [2]int{2, 2}, convert: maxPoolArgmax},
	"MaxUnpooling2D":               {name: "MaxUnpooling2D", version: 1, inputs: [2]int{2, 2}, outputs: [2]int{1, 1}, convert: maxUnpool},
	"TransformTensor":              {name: "TransformTensor", version: 1, inputs: [2]int{2, 2}, outputs: [2]int{1, 1}, convert: transformTensor},
	"TransformTensorBilinear":      {name: "TransformTensorBilinear", version: 2, inputs: [2]int{2, 2}, outputs: [2]int{1, 1}, convert: transformTensor},
	"TransformLandmarks":           {name: "TransformLandmarks", version: 2, inputs: [2]int{2, 2}, outputs: [2]int{1, 1}, convert: transformLandmarks},
	"Landmarks2TransformMatrix":    {name: "Landmarks2TransformMatrix", version: 2, inputs: [2]int{1, 1}, outputs: [2]int{1, 1}, convert: landmarksMatrix},
}

// transposeConvBias is MediaPipe's transposed convolution with a bias: input, weights
// [out, h, w, in] and bias. Its options are TensorFlow Lite's structure of a transposed
// convolution: padding (1 SAME, 2 VALID), width and height of the stride, each of 32 bits.
func transposeConvBias(c *conversion) {
	if len(c.custom) < 12 {
		c.Failf("its options have %d bytes, 12 needed", len(c.custom))
	}
	option := func(i int) int64 { return int64(int32(binary.LittleEndian.Uint32(c.custom[4*i:]))) }
	scheme, sw, sh := option(0), option(1), option(2)
	if sw < 1 || sh < 1 || sw > 1<<10 || sh > 1<<10 {
		c.Failf("strides %d and %d", sh, sw)
	}
	p := c.product(0, 2, 0, []int64{1, 2, 3})
	x, w := c.Dims(p.x), c.Dims(p.w)
	if len(x) != 4 || len(w) != 4 {
		c.Failf("input %v with weights %v", x, w)
	}
	var padding, h, v int64
	switch scheme {
	case 1:
		padding, h, v = nn.PaddingSame, int64(x[1])*sh, int64(x[2])*sw
	case 2:
		padding, h, v = nn.PaddingValid, (int64(x[1])-1)*sh+int64(w[1]), (int64(x[2])-1)*sw+int64(w[2])
	default:
		c.Failf("padding %d", scheme)
	}
	c.define(0, c.Emit(nn.OpTransposeConv2D, p.out, p.x, p.w, p.bias, c.Int32Tensor(int64(x[0]), h, v, int64(w[0])), c.Int32Scalar(padding),
		c.Int32Scalar(sw), c.Int32Scalar(sh), c.Int32Scalar(0), c.BoolScalar(false)))
}

// detectionPostProcess decodes boxes and suppresses those that overlap better
// ones. Inputs are encodings, scores with or without a background class, and
// anchors; outputs boxes, classes, scores and how many there are, all float32.
func detectionPostProcess(c *conversion) {
	o, err := flexbuffer.Scalars(c.custom)
	c.Check(err)
	need := func(name string) float64 {
		v, ok := o[name]
		if !ok {
			c.Failf("its options lack %q", name)
		}
		return v
	}
	or := func(name string, v float64) float64 {
		if given, ok := o[name]; ok {
			return given
		}
		return v
	}
	integer := func(v float64) int64 {
		if !(math.Abs(v) < 1<<31) {
			c.Failf("an option is %v", v)
		}
		return int64(v)
	}
	boxes, scores, anchors := c.As(c.x(0), nn.TensorFloat32), c.As(c.x(1), nn.TensorFloat32), c.As(c.x(2), nn.TensorFloat32)
	dims := c.Dims(scores)
	if len(dims) != 3 {
		c.Failf("scores of shape %v", dims)
	}
	classes := integer(need("num_classes"))
	background := int64(dims[2]) - classes
	if background != 0 && background != 1 {
		c.Failf("scores of %d classes, its options state %d", dims[2], classes)
	}
	if background == 0 { // class 0 is the background in NNAPI, which is never found
		scores = c.Pad(*c.Operand(scores), scores, [][2]int64{{}, {}, {1, 0}}, none)
	}
	n := integer(need("max_detections"))
	if n < 1 || n > 1<<20 {
		c.Failf("%d detections", n)
	}
	real := func(name string) uint32 { return c.ScalarLike(boxes, float32(need(name))) }
	each := uint32(n)
	batch := dims[0]
	float := func(dims ...uint32) nn.Operand { return nn.Operand{Type: nn.TensorFloat32, Dimensions: dims} }
	integers := func(dims ...uint32) nn.Operand { return nn.Operand{Type: nn.TensorInt32, Dimensions: dims} }
	results := c.EmitAll(nn.OpDetectionPostprocessing,
		[]nn.Operand{float(batch, each), float(batch, each, 4), integers(batch, each), integers(batch)},
		scores, boxes, anchors, real("y_scale"), real("x_scale"), real("h_scale"), real("w_scale"),
		c.BoolScalar(or("use_regular_nms", 0) != 0), c.Int32Scalar(n),
		c.Int32Scalar(integer(need("max_classes_per_detection"))), c.Int32Scalar(integer(or("detections_per_class", 100))),
		real("nms_score_threshold"), real("nms_iou_threshold"), c.BoolScalar(false))
	for k, from := range []int{1, 2, 0, 3} { // boxes, classes, scores, count
		c.define(k, results[from])
	}
}

// poolOptions are the options of MediaPipe's poolings, the first fields of TensorFlow Lite's
// structure of a pooling, each of 32 bits: padding (1 SAME, 2 VALID), width and height of the
// stride, width and height of the window, activation.
type poolOptions struct {
	same             bool
	strideW, strideH int64
	width, height    int64
	activation       int64
}

// maxPoolTaps bounds the window of a pooling with places, which needs three operations for each.
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
		c.Refusef("a window of %dx%d, this composition supports %d elements", o.height, o.width, maxPoolTaps)
	default:
		o.same = scheme == 1
	}
	return o
}

// along is the number of windows of n elements along an axis of size elements, and their padding.
func (o *poolOptions) along(size, n, stride int64) (count int64, pad [2]int64) {
	if !o.same {
		return (size-n)/stride + 1, pad
	}
	count = (size + stride - 1) / stride
	total := max((count-1)*stride+n-size, 0)
	return count, [2]int64{total / 2, total - total/2}
}

// maxPoolArgmax is MediaPipe's MAX_POOL_2D that also returns the place of each greatest element, as a real 0.1 above
// row * width + column in the window; the first of equal ones. It is one comparison for each element of the window:
//
//	place = x[k] > best ? k + 0.1 : place,  best = max(best, x[k])
func maxPoolArgmax(c *conversion) {
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
	c.define(0, c.activated(best, o.activation))
	c.define(1, place)
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

// maxUnpool is MediaPipe's inverse: each element is placed where the second input states in a window of zeros. Windows
// are adjacent; a place outside of its window places nothing. For each element of the window the input is kept where
// its place is that one; rows and columns of windows are then joined.
func maxUnpool(c *conversion) {
	o := c.poolOptions()
	if o.strideW != o.width || o.strideH != o.height {
		c.Refusef("windows of %dx%d at strides of %dx%d: this composition supports windows side by side", o.height, o.width, o.strideH, o.strideW)
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
	c.define(0, c.Reshape(y, []uint32{n, h * fh, w * fw, depth}))
}
