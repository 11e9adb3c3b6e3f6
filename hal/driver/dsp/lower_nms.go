package dsp

import (
	"fmt"
	"math"

	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
)

// Bounds of non-maximum suppression: work grows with the square of the boxes.
const (
	maxNmsBoxes = 1 << 12
	maxNmsPairs = 1 << 30
)

// nmsKernel is BOX_WITH_NMS_LIMIT.
type nmsKernel struct {
	boxes, classes int
	limit          int32 // of the detections of an image, below 0 none
	kind           int32 // 0 hard, 1 linear, 2 Gaussian
	atLeast        float32
	overlap, sigma float32
	least          float32
	in             affine // boxes
	outScore       affine
	outBox         affine
}

// readNms reads the parameters of a BOX_WITH_NMS_LIMIT.
func readNms(v opspec.View, op *nn.Operation) (k nmsKernel, err error) {
	a, err := v.Bind(op)
	if err != nil {
		return k, err
	}
	for _, p := range []struct {
		name string
		dst  *float32
	}{{"score_threshold", &k.atLeast}, {"iou_threshold", &k.overlap}, {"sigma", &k.sigma}, {"nms_score_threshold", &k.least}} {
		if *p.dst, err = a.Float(p.name); err != nil {
			return k, err
		}
	}
	if k.kind, err = a.Int32("nms_kernel"); err != nil {
		return k, err
	}
	if k.limit, err = a.Int32("max_detections"); err != nil {
		return k, err
	}
	if k.kind < 0 || k.kind > 2 || k.kind == 2 && !(k.sigma > 0) {
		return k, fmt.Errorf("kernel %d with sigma %v", k.kind, k.sigma)
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
	k.boxes, k.classes = int(d[0][0]), int(d[0][1])
	if k.boxes > maxNmsBoxes || int64(k.boxes)*int64(k.boxes)*int64(k.classes) > maxNmsPairs {
		return k, fmt.Errorf("%d boxes of %d classes, at most %d and %d pairs", k.boxes, k.classes, maxNmsBoxes, maxNmsPairs)
	}
	return k, nil
}

// lowerNms lowers BOX_WITH_NMS_LIMIT: one thread does it all, as every decision
// depends on those before it.
func lowerNms(l *lowering, op *nn.Operation) error {
	k, err := readNms(l.view, op)
	if err != nil {
		return err
	}
	in, err := l.flatAll(op.Inputs[:3]...)
	if err != nil {
		return err
	}
	o := l.graph.Operands
	k.in, k.outScore, k.outBox = affineOf(&o[op.Inputs[1]]), affineOf(&o[op.Outputs[0]]), affineOf(&o[op.Outputs[1]])
	most := k.boxes * (k.classes - 1)
	if k.limit >= 0 {
		most = int(min(int64(most), int64(k.limit)*int64(k.boxes)))
	}
	count := l.newFlat("detections", 1, 4)
	n := uint32(most)
	out := []*tensor{count}
	for i, dims := range [][]uint32{{n}, {n, 4}, {n}, {n}} {
		out = append(out, l.openOutput(op.Outputs[i], dims, count))
	}
	bad := l.invalid("a box is upside down")
	if k.boxes == 0 {
		return nil
	}
	all := k.boxes * k.classes
	work := l.newFlat("candidates", 4*nmsFrame+roundUp(4*all, 8)+8*all, 1)
	l.addStep("nms", in, append(out, bad, work), func(l *lowering, s *step) error {
		kern, err := l.kernel(fmt.Sprintf("nms_%+v", k), k.generate)
		if err != nil {
			return err
		}
		block := []uint32{in[0].addr, in[1].addr, in[2].addr, bad.addr, l.constWords(affineOf(&o[op.Inputs[0]]).reals()), l.constWords(reciprocals())}
		for _, t := range out {
			block = append(block, t.addr)
		}
		l.launch(s, kern, [][]uint32{{l.constWords(block), work.addr}})
		return nil
	})
	return nil
}

// expTerms is where the series of e^-r ends: r is below 0.7.
const expTerms = 20

// reciprocals are 2^64 / n for n from expTerms down to 2, low words first.
func reciprocals() []uint32 {
	var w []uint32
	for n := uint64(expTerms); n > 1; n-- {
		v := math.MaxUint64 / n
		w = append(w, uint32(v), uint32(v>>32))
	}
	return w
}
