package lower

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/detection"
	"github.com/nnsoc/nnsoc/hal/driver/dsp/launch"
	"github.com/nnsoc/nnsoc/hal/driver/dsp/layout"
	"github.com/nnsoc/nnsoc/hal/driver/dsp/step"
	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
)

// lowerBoxTransform lowers AXIS_ALIGNED_BBOX_TRANSFORM: threads share the regions.
func lowerBoxTransform(l *Lowering, op *nn.Operation) error {
	p, err := l.view.BoxTransform(op)
	if err != nil {
		return err
	}
	o := l.graph.Operands
	if !o[p.Deltas].Type.IsQuant8() {
		return fmt.Errorf("deltas of type %s", o[p.Deltas].Type)
	}
	in, err := l.flatAll(p.Regions, p.Deltas, p.Batches, p.Images)
	if err != nil {
		return err
	}
	k := detection.Boxes{Classes: p.Classes, Images: p.N, Box: affineOf(&o[p.Regions]), Image: affineOf(&o[p.Images]), Out: affineOf(&o[p.Output])}
	out := l.FlatResult(p.Output)
	bad := l.invalid("a region is upside down, too large or of no image")
	frames := l.roomFor(1)
	d := affineOf(&o[p.Deltas])
	l.Add("boxes", in, []*layout.Tensor{out, bad, frames}, launch.Boxes{Kernel: k, Op: p, Frames: frames, In: in, Out: out, Bad: bad, Deltas: d})
	return nil
}

// maxHeatmap bounds the side of a map: positions are exact in single precision.
const maxHeatmap = 1 << 10

// lowerHeatmap lowers HEATMAP_MAX_KEYPOINT: threads share the boxes.
func lowerHeatmap(l *Lowering, op *nn.Operation) error {
	p, err := l.view.Heatmap(op)
	if err != nil {
		return err
	}
	if p.Size > maxHeatmap {
		return fmt.Errorf("maps of %dx%d, at most %d", p.Size, p.Size, maxHeatmap)
	}
	heat, err := l.nhwc(p.Heat, p.NCHW)
	if err != nil {
		return err
	}
	boxes, err := l.Flat(p.Regions)
	if err != nil {
		return err
	}
	o := l.graph.Operands
	k := detection.Heatmap{Size: p.Size, Points: p.Points, Box: affineOf(&o[p.Regions]), Score: affineOf(&o[p.Scores]), At: affineOf(&o[p.Output])}
	scores, points := l.FlatResult(p.Scores), l.FlatResult(p.Output)
	bad := l.invalid("a box is upside down")
	frames := l.roomFor(detection.HeatFrame)
	score := affineOf(&o[p.Heat])
	l.Add("heatmap", []*layout.Tensor{heat, boxes}, []*layout.Tensor{scores, points, bad, frames}, launch.Heatmap{Kernel: k, Op: p, Frames: frames, Heat: heat, Boxes: boxes, Scores: scores, Points: points, Bad: bad, Score: score})
	return nil
}

// nhwc is an image operand in flat form, channels last.
func (l *Lowering) nhwc(i uint32, nchw bool) (*layout.Tensor, error) {
	in, err := l.Flat(i)
	if err != nil || !nchw {
		return in, err
	}
	d := l.graph.Operands[i].Dimensions
	plane := d[2] * d[3]
	out := l.NewFlat(in.Name+" as NHWC", int(nn.Elements(d)), 1)
	return out, l.walk("to NHWC", out, in, []uint32{d[0], plane, d[1]}, []int{int(d[1] * plane), 1, int(plane)}, 0, 1)
}

// invalid makes the word that a kernel sets when an input is not valid.
func (l *Lowering) invalid(reason string) *layout.Tensor {
	bad := l.NewFlat("invalid", layout.VectorBytes, 1)
	bad.Keep = true
	l.list.Faults = append(l.list.Faults, step.Fault{Op: l.op, Word: bad, Reason: reason})
	return bad
}

// roomFor makes scratch memory of n words for each thread.
func (l *Lowering) roomFor(n int) *layout.Tensor {
	t := l.NewFlat("frames", l.Threads*layout.RoundUp(4*n, layout.VectorBytes), 1)
	return t
}

// orderedResult is where a kernel writes the image of an operation's output in
// NHWC order; the returned function puts it into the order of the operand.
func (l *Lowering) orderedResult(i uint32, n, h, w, c int, nchw bool) (*layout.Tensor, func() error) {
	if !nchw {
		return l.FlatResult(i), func() error { return nil }
	}
	t := l.NewFlat("NHWC result", n*h*w*c, 1)
	return t, func() error {
		return l.walk("to NCHW", l.FlatResult(i), t, []uint32{uint32(n), uint32(c), uint32(h * w)}, []int{h * w * c, 1, c}, 0, 1)
	}
}

// lowerRoi lowers ROI_ALIGN and ROI_POOLING: threads share the regions.
func lowerRoi(l *Lowering, op *nn.Operation) error {
	p, err := l.view.Roi(op)
	if err != nil {
		return err
	}
	if p.C > layout.MaxPositions || p.Rois*p.OutH*p.OutW > layout.MaxPositions {
		return fmt.Errorf("%d regions of %dx%dx%d", p.Rois, p.OutH, p.OutW, p.C)
	}
	if min(p.StrideH, p.StrideW) < detection.MinNormal { // a quotient by it is not rounded as the reference rounds it
		return fmt.Errorf("strides %g and %g, none may be below %g", p.StrideH, p.StrideW, detection.MinNormal)
	}
	in, err := l.nhwc(p.Input, p.NCHW)
	if err != nil {
		return err
	}
	regions, err := l.Flat(p.Regions)
	if err != nil {
		return err
	}
	batches, err := l.Flat(p.Batches)
	if err != nil {
		return err
	}
	o := l.graph.Operands
	k := detection.ROI{Align: op.Type == nn.OpRoiAlign, N: p.N, H: p.H, W: p.W, C: p.C, OutH: p.OutH, OutW: p.OutW,
		StrideH: p.StrideH, StrideW: p.StrideW, SampleH: p.SampleH, SampleW: p.SampleW, Box: affineOf(&o[p.Regions]), Out: affineOf(&o[p.Output])}
	out, finish := l.orderedResult(p.Output, p.Rois, p.OutH, p.OutW, p.C, p.NCHW)
	bad := l.invalid("a region is upside down, too large or of no image")
	frames := l.roomFor(detection.RoiFrame + p.C)
	value := affineOf(&o[p.Input])
	l.Add(op.Type.String(), []*layout.Tensor{in, regions, batches}, []*layout.Tensor{out, bad, frames}, launch.ROI{Kernel: k, Value: value, Op: p, Frames: frames, In: in, Regions: regions, Batches: batches, Out: out, Bad: bad})
	return finish()
}

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
