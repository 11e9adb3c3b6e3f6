package lower

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/detection"
	"github.com/nnsoc/nnsoc/hal/driver/dsp/launch"
	"github.com/nnsoc/nnsoc/hal/driver/dsp/layout"
	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
)

// maxAnchors bounds the anchors of an image: their numbers are exact in single
// precision.
const maxAnchors = 1 << 20

// readProposals reads the parameters of a GENERATE_PROPOSALS.
func readProposals(v opspec.View, op *nn.Operation) (k detection.Proposals, nchw bool, err error) {
	a, err := v.Bind(op)
	if err != nil {
		return k, false, err
	}
	for _, p := range []struct {
		name string
		dst  *float32
	}{{"height_stride", &k.StrideH}, {"width_stride", &k.StrideW}, {"iou_threshold", &k.Overlap}, {"min_size", &k.Least}} {
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
	k.Batches, k.H, k.W, k.Anchors = int(d[0][0]), int(d[0][1]), int(d[0][2]), int(d[0][3])
	if nchw {
		k.H, k.W, k.Anchors = int(d[0][2]), int(d[0][3]), int(d[0][1])
	}
	size := nn.Elements(d[0])
	if len(d[1]) != 4 || nn.Elements(d[1]) != 4*size || nn.Elements(d[2]) != int64(4*k.Anchors) || nn.Elements(d[3]) != int64(2*k.Batches) {
		return k, false, fmt.Errorf("shapes %v, %v, %v and %v of scores, deltas, anchors and images", d[0], d[1], d[2], d[3])
	}
	if size > maxAnchors {
		return k, false, fmt.Errorf("%d anchors, at most %d", size, maxAnchors)
	}
	k.Before, k.After = k.All(), k.All()
	if before > 0 {
		k.Before = min(k.Before, int(before))
	}
	k.After = k.Before
	if after > 0 {
		k.After = min(k.After, int(after))
	}
	if int64(k.Before)*int64(k.After)*int64(k.Batches) > maxNmsPairs {
		return k, false, fmt.Errorf("%d of %d proposals of %d images, at most %d pairs", k.After, k.Before, k.Batches, maxNmsPairs)
	}
	return k, nchw, nil
}

// lowerProposals lowers GENERATE_PROPOSALS: one thread does it all, as every
// decision depends on those before it.
func lowerProposals(l *Lowering, op *nn.Operation) error {
	k, nchw, err := readProposals(l.view, op)
	if err != nil {
		return err
	}
	var in [4]*layout.Tensor
	for i := range in {
		if i < 2 {
			in[i], err = l.nhwc(op.Inputs[i], nchw)
		} else {
			in[i], err = l.Flat(op.Inputs[i])
		}
		if err != nil {
			return err
		}
	}
	o := l.graph.Operands
	k.Score, k.Anchor, k.Image = affineOf(&o[op.Inputs[0]]), affineOf(&o[op.Inputs[2]]), affineOf(&o[op.Inputs[3]])
	k.OutScore, k.Box = affineOf(&o[op.Outputs[0]]), affineOf(&o[op.Outputs[1]])
	count := l.NewFlat("proposals", 1, 4)
	n := uint32(k.Batches * k.After)
	out := []*layout.Tensor{count}
	for i, dims := range [][]uint32{{n}, {n, 4}, {n}} {
		out = append(out, l.openOutput(op.Outputs[i], dims, count))
	}
	if n == 0 {
		return nil
	}
	work := l.NewFlat("anchors by score", 4*(detection.ProposalFrame+256+k.All())+16*k.After, 1)
	d := affineOf(&o[op.Inputs[1]])
	l.Add("proposals", in[:], append(out, work), launch.Proposals{Kernel: k, In: in, Deltas: d, Out: out, Scratch: work})
	return nil
}
