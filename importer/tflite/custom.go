package tflite

import (
	"encoding/binary"
	"math"

	"github.com/nnsoc/nnsoc/nn"
)

// customs are the custom operators that NNAPI has operations for, by name.
var customs = map[string]*builtin{
	"TFLite_Detection_PostProcess": {name: "TFLite_Detection_PostProcess", version: 1, inputs: [2]int{3, 3}, outputs: [2]int{4, 4}, convert: detectionPostProcess},
	"Convolution2DTransposeBias":   {name: "Convolution2DTransposeBias", version: 1, inputs: [2]int{3, 3}, outputs: [2]int{1, 1}, convert: transposeConvBias},
	"MaxPoolingWithArgmax2D":       {name: "MaxPoolingWithArgmax2D", version: 1, inputs: [2]int{1, 1}, outputs: [2]int{2, 2}, convert: maxPoolPlaces},
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
	p := c.product(0, 1, 2, 0, []int64{1, 2, 3})
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
	c.give(0, c.Emit(nn.OpTransposeConv2D, p.out, p.x, p.w, p.bias, c.Int32Tensor(int64(x[0]), h, v, int64(w[0])), c.Int32Scalar(padding),
		c.Int32Scalar(sw), c.Int32Scalar(sh), c.Int32Scalar(0), c.BoolScalar(false)))
}

// detectionPostProcess decodes boxes and suppresses those that overlap better
// ones. Inputs are encodings, scores with or without a background class, and
// anchors; outputs boxes, classes, scores and how many there are, all float32.
func detectionPostProcess(c *conversion) {
	o, err := flexScalars(c.custom)
	if err != nil {
		c.Failf("%v", err)
	}
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
		c.Failf("scores of %d classes, its options say %d", dims[2], classes)
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
		c.give(k, results[from])
	}
}
