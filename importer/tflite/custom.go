package tflite

import (
	"math"

	"github.com/nnsoc/nnsoc/nn"
)

// customs are the custom operators that NNAPI has operations for, by name.
var customs = map[string]*builtin{
	"TFLite_Detection_PostProcess": {name: "TFLite_Detection_PostProcess", version: 1, inputs: [2]int{3, 3}, outputs: [2]int{4, 4}, convert: detectionPostProcess},
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
		real("nms_score_threshold"), real("nms_iou_threshold"), c.BoolScalar(background == 1))
	for k, from := range []int{1, 2, 0, 3} { // boxes, classes, scores, count
		c.give(k, results[from])
	}
}
