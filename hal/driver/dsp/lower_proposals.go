package dsp

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
)

// maxAnchors bounds the anchors of an image: their numbers are exact in single
// precision.
const maxAnchors = 1 << 20

// proposalsKernel is GENERATE_PROPOSALS on scores and deltas in NHWC order.
type proposalsKernel struct {
	batches, h, w, anchors int
	strideH, strideW       float32
	overlap, least         float32
	before, after          int // anchors of an image to look at, and to keep
	anchor, image          affine
	score, outScore, box   affine
}

// all is the number of anchors of an image.
func (k *proposalsKernel) all() int { return k.h * k.w * k.anchors }

// readProposals reads the parameters of a GENERATE_PROPOSALS.
func readProposals(v opspec.View, op *nn.Operation) (k proposalsKernel, nchw bool, err error) {
	a, err := v.Bind(op)
	if err != nil {
		return k, false, err
	}
	for _, p := range []struct {
		name string
		dst  *float32
	}{{"height_stride", &k.strideH}, {"width_stride", &k.strideW}, {"iou_threshold", &k.overlap}, {"min_size", &k.least}} {
		if *p.dst, err = a.Float(p.name); err != nil {
			return k, false, err
		}
	}
	before, err := a.Int32("pre_nms_max")
	if err != nil {
		return k, false, err
	}
	after, err := a.Int32("post_nms_max")
	if err != nil {
		return k, false, err
	}
	if nchw, err = a.BoolOr("nchw", false); err != nil {
		return k, false, err
	}
	var d [4][]uint32
	for i := range d {
		if d[i], err = v.Dims(op.Inputs[i]); err != nil {
			return k, false, err
		}
	}
	if len(d[0]) != 4 {
		return k, false, fmt.Errorf("scores of shape %v", d[0])
	}
	k.batches, k.h, k.w, k.anchors = int(d[0][0]), int(d[0][1]), int(d[0][2]), int(d[0][3])
	if nchw {
		k.h, k.w, k.anchors = int(d[0][2]), int(d[0][3]), int(d[0][1])
	}
	size := nn.Elements(d[0])
	if len(d[1]) != 4 || nn.Elements(d[1]) != 4*size || nn.Elements(d[2]) != int64(4*k.anchors) || nn.Elements(d[3]) != int64(2*k.batches) {
		return k, false, fmt.Errorf("shapes %v, %v, %v and %v of scores, deltas, anchors and images", d[0], d[1], d[2], d[3])
	}
	if size > maxAnchors {
		return k, false, fmt.Errorf("%d anchors, at most %d", size, maxAnchors)
	}
	k.before, k.after = k.all(), k.all()
	if before > 0 {
		k.before = min(k.before, int(before))
	}
	k.after = k.before
	if after > 0 {
		k.after = min(k.after, int(after))
	}
	if int64(k.before)*int64(k.after)*int64(k.batches) > maxNmsPairs {
		return k, false, fmt.Errorf("%d of %d proposals of %d images, at most %d pairs", k.after, k.before, k.batches, maxNmsPairs)
	}
	return k, nchw, nil
}

// lowerProposals lowers GENERATE_PROPOSALS: one thread does it all, as every
// decision depends on those before it.
func lowerProposals(l *lowering, op *nn.Operation) error {
	k, nchw, err := readProposals(l.view, op)
	if err != nil {
		return err
	}
	var in [4]*tensor
	for i := range in {
		if i < 2 {
			in[i], err = l.nhwc(op.Inputs[i], nchw)
		} else {
			in[i], err = l.flat(op.Inputs[i])
		}
		if err != nil {
			return err
		}
	}
	o := l.graph.Operands
	k.score, k.anchor, k.image = affineOf(&o[op.Inputs[0]]), affineOf(&o[op.Inputs[2]]), affineOf(&o[op.Inputs[3]])
	k.outScore, k.box = affineOf(&o[op.Outputs[0]]), affineOf(&o[op.Outputs[1]])
	count := l.newFlat("proposals", 1, 4)
	n := uint32(k.batches * k.after)
	out := []*tensor{count}
	for i, dims := range [][]uint32{{n}, {n, 4}, {n}} {
		out = append(out, l.openOutput(op.Outputs[i], dims, count))
	}
	if n == 0 {
		return nil
	}
	work := l.newFlat("anchors by score", 4*(proposalFrame+256+k.all())+16*k.after, 1)
	l.addStep("proposals", in[:], append(out, work), func(l *lowering, s *step) error {
		kern, err := l.kernel(fmt.Sprintf("proposals_%+v", k), k.generate)
		if err != nil {
			return err
		}
		d := affineOf(&o[op.Inputs[1]])
		block := []uint32{in[0].addr, in[1].addr, in[2].addr, in[3].addr, l.constWords(k.score.reals()), l.constWords(d.reals()), l.constWords(d.exponentials())}
		for _, t := range out {
			block = append(block, t.addr)
		}
		l.launch(s, kern, [][]uint32{{l.constWords(block), work.addr}})
		return nil
	})
	return nil
}
