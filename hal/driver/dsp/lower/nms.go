package lower

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/detection"
	"github.com/nnsoc/nnsoc/hal/driver/dsp/launch"
	"github.com/nnsoc/nnsoc/hal/driver/dsp/layout"
	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
)

// Bounds of non-maximum suppression: work grows with the square of the boxes.
const (
	maxNmsBoxes = 1 << 12
	maxNmsPairs = 1 << 30
)

// readNms reads the parameters of a BOX_WITH_NMS_LIMIT.
func readNms(v opspec.View, op *nn.Operation) (k detection.NMS, err error) {
	a, err := v.Bind(op)
	if err != nil {
		return k, err
	}
	for _, p := range []struct {
		name string
		dst  *float32
	}{{"score_threshold", &k.AtLeast}, {"iou_threshold", &k.Overlap}, {"sigma", &k.Sigma}, {"nms_score_threshold", &k.Least}} {
		if *p.dst, err = a.Float(p.name); err != nil {
			return k, err
		}
	}
	if k.Kind, err = a.Int32("nms_kernel"); err != nil {
		return k, err
	}
	if k.Limit, err = a.Int32("max_detections"); err != nil {
		return k, err
	}
	if k.Kind < 0 || k.Kind > 2 || k.Kind == 2 && !(k.Sigma > 0) {
		return k, fmt.Errorf("kernel %d with sigma %v", k.Kind, k.Sigma)
	}
	var d [3][]uint32
	for i := range d {
		if d[i], err = v.Dims(op.Inputs[i]); err != nil {
			return k, err
		}
	}
	if len(d[0]) != 2 || len(d[1]) != 2 || len(d[2]) != 1 || d[0][1] == 0 || d[1][0] != d[0][0] || d[1][1] != 4*d[0][1] || d[2][0] != d[0][0] {
		return k, fmt.Errorf("shapes %v, %v and %v of scores, boxes and images", d[0], d[1], d[2])
	}
	k.Boxes, k.Classes = int(d[0][0]), int(d[0][1])
	if k.Boxes > maxNmsBoxes || int64(k.Boxes)*int64(k.Boxes)*int64(k.Classes) > maxNmsPairs {
		return k, fmt.Errorf("%d boxes of %d classes, at most %d and %d pairs", k.Boxes, k.Classes, maxNmsBoxes, maxNmsPairs)
	}
	return k, nil
}

// lowerNms lowers BOX_WITH_NMS_LIMIT: one thread does it all, as every decision
// depends on those before it.
func lowerNms(l *Lowering, op *nn.Operation) error {
	k, err := readNms(l.view, op)
	if err != nil {
		return err
	}
	in, err := l.flatAll(op.Inputs[:3]...)
	if err != nil {
		return err
	}
	o := l.graph.Operands
	k.In, k.OutScore, k.OutBox = affineOf(&o[op.Inputs[1]]), affineOf(&o[op.Outputs[0]]), affineOf(&o[op.Outputs[1]])
	most := k.Boxes * (k.Classes - 1)
	if k.Limit >= 0 {
		most = int(min(int64(most), int64(k.Limit)*int64(k.Boxes)))
	}
	count := l.NewFlat("detections", 1, 4)
	n := uint32(most)
	out := []*layout.Tensor{count}
	for i, dims := range [][]uint32{{n}, {n, 4}, {n}, {n}} {
		out = append(out, l.openOutput(op.Outputs[i], dims, count))
	}
	bad := l.invalid("a box is upside down")
	if k.Boxes == 0 {
		return nil
	}
	all := k.Boxes * k.Classes
	work := l.NewFlat("candidates", 4*detection.NmsFrame+layout.RoundUp(4*all, 8)+8*all, 1)
	score := affineOf(&o[op.Inputs[0]])
	l.Add("nms", in, append(out, bad, work), launch.NMS{Kernel: k, In: in, Bad: bad, Score: score, Out: out, Scratch: work})
	return nil
}
