package family

import (
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/detection"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/launch"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/lower"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// lowerBoxTransform lowers AXIS_ALIGNED_BBOX_TRANSFORM: threads share the regions.
func lowerBoxTransform(l *lower.Lowering, _ *nn.Operation, p opspec.BoxTransform) {
	o := l.Graph.Operands
	byteDeltas.Refuse(!o[p.Deltas].Type.IsQuant8(), "%s", o[p.Deltas].Type)
	in := l.FlatAll(p.Regions, p.Deltas, p.Batches, p.Images)
	k := detection.Boxes{Classes: p.Classes, Images: p.N, Box: lower.AffineOf(&o[p.Regions]), Image: lower.AffineOf(&o[p.Images]), Out: lower.AffineOf(&o[p.Output])}
	out := l.FlatResult(p.Output)
	bad := invalid(l, "a region is upside down, too large or of no image")
	frames := threadScratch(l, 1)
	d := lower.AffineOf(&o[p.Deltas])
	l.Add("boxes", in, []*layout.Tensor{out, bad, frames}, launch.Boxes{Kernel: k, Op: p, Frames: frames, In: in, Out: out, Bad: bad, Deltas: d})
}

// maxHeatmap bounds the side of a map: positions are exact in single precision.
const maxHeatmap = 1 << 10

// lowerHeatmap lowers HEATMAP_MAX_KEYPOINT: threads share the boxes.
func lowerHeatmap(l *lower.Lowering, _ *nn.Operation, p opspec.Heatmap) {
	maxMaps.Refuse(p.Size > maxHeatmap, "%dx%d", p.Size, p.Size)
	heat := l.Flat(p.Heat)
	boxes := l.Flat(p.Regions)
	o := l.Graph.Operands
	k := detection.Heatmap{Size: p.Size, Points: p.Points, Box: lower.AffineOf(&o[p.Regions]), Score: lower.AffineOf(&o[p.Scores]), At: lower.AffineOf(&o[p.Output])}
	scores, points := l.FlatResult(p.Scores), l.FlatResult(p.Output)
	bad := invalid(l, "a box is upside down")
	frames := threadScratch(l, detection.HeatFrame)
	score := lower.AffineOf(&o[p.Heat])
	l.Add("heatmap", []*layout.Tensor{heat, boxes}, []*layout.Tensor{scores, points, bad, frames}, launch.Heatmap{Kernel: k, Op: p, Frames: frames, Heat: heat, Boxes: boxes, Scores: scores, Points: points, Bad: bad, Score: score})
}

// invalid makes the word that a kernel sets when an input is not valid.
func invalid(l *lower.Lowering, reason string) *layout.Tensor {
	bad := l.NewFlat("invalid", layout.VectorBytes, 1)
	bad.External = true
	l.AddFault(bad, reason)
	return bad
}

// threadScratch makes scratch memory of n words for each thread.
func threadScratch(l *lower.Lowering, n int) *layout.Tensor {
	t := l.NewFlat("frames", l.Threads*layout.RoundUp(4*n, layout.VectorBytes), 1)
	return t
}

// regions lowers ROI_ALIGN, or ROI_POOLING: threads share the regions.
func regions(align bool) lowering {
	return by(func(l *lower.Lowering, op *nn.Operation) { regionsOf(l, op, align) })
}

func regionsOf(l *lower.Lowering, op *nn.Operation, align bool) {
	p := try.V(opspec.Read[opspec.Roi](l.View(), op))
	maxRegions.Refuse(p.C > layout.MaxPositions || p.Rois*p.OutH*p.OutW > layout.MaxPositions, "%d of %dx%dx%d", p.Rois, p.OutH, p.OutW, p.C)
	if min(p.StrideH, p.StrideW) < detection.MinNormal { // a quotient by it is not rounded as the reference rounds it
		try.E(minStride.Broken("%g and %g", p.StrideH, p.StrideW))
	}
	in := l.Flat(p.Input)
	regions := l.Flat(p.Regions)
	batches := l.Flat(p.Batches)
	o := l.Graph.Operands
	k := detection.ROI{Align: align, N: p.N, H: p.H, W: p.W, C: p.C, OutH: p.OutH, OutW: p.OutW,
		StrideH: p.StrideH, StrideW: p.StrideW, SampleH: p.SampleH, SampleW: p.SampleW, Box: lower.AffineOf(&o[p.Regions]), Out: lower.AffineOf(&o[p.Output])}
	out := l.FlatResult(p.Output)
	bad := invalid(l, "a region is upside down, too large or of no image")
	frames := threadScratch(l, detection.RoiFrame+p.C)
	value := lower.AffineOf(&o[p.Input])
	l.Add(op.Type.String(), []*layout.Tensor{in, regions, batches}, []*layout.Tensor{out, bad, frames}, launch.ROI{Kernel: k, Value: value, Op: p, Frames: frames, In: in, Regions: regions, Batches: batches, Out: out, Bad: bad})
}

// Bounds of non-maximum suppression: work grows with the square of the boxes.
const (
	maxNmsBoxes = 1 << 12
	maxNmsPairs = 1 << 30
)

// lowerNms lowers BOX_WITH_NMS_LIMIT: one thread does it all, as every decision
// depends on those before it.
func lowerNms(l *lower.Lowering, _ *nn.Operation, p opspec.Nms) {
	maxSuppression.Refuse(p.Boxes > maxNmsBoxes || int64(p.Boxes)*int64(p.Boxes)*int64(p.Classes) > maxNmsPairs, "%d boxes of %d classes", p.Boxes, p.Classes)
	in := l.FlatAll(p.Scores, p.Regions, p.Batches)
	o := l.Graph.Operands
	k := detection.NMS{Boxes: p.Boxes, Classes: p.Classes, AtLeast: p.AtLeast, Overlap: p.Overlap, Sigma: p.Sigma, Least: p.Least, Kind: p.Kernel,
		Limit: p.Limit, In: lower.AffineOf(&o[p.Regions]), OutScore: lower.AffineOf(&o[p.OutScores]), OutBox: lower.AffineOf(&o[p.OutRegions])}
	most := k.Boxes * (k.Classes - 1)
	if k.Limit >= 0 {
		most = int(min(int64(most), int64(k.Limit)*int64(k.Boxes)))
	}
	count := l.NewFlat("detections", 1, 4)
	n := uint32(most)
	out := []*layout.Tensor{count, l.OpenOutput(p.OutScores, []uint32{n}, count), l.OpenOutput(p.OutRegions, []uint32{n, 4}, count),
		l.OpenOutput(p.OutClass, []uint32{n}, count), l.OpenOutput(p.OutBatches, []uint32{n}, count)}
	bad := invalid(l, "a box is upside down")
	if k.Boxes == 0 {
		return
	}
	all := k.Boxes * k.Classes
	work := l.NewFlat("candidates", 4*detection.NmsFrame+layout.RoundUp(4*all, 8)+8*all, 1)
	score := lower.AffineOf(&o[p.Scores])
	l.Add("nms", in, append(out, bad, work), launch.NMS{Kernel: k, In: in, Bad: bad, Score: score, Out: out, Scratch: work})
}

// maxAnchors bounds the anchors of an image: their numbers are exact in single
// precision.
const maxAnchors = 1 << 20

// proposals is the kernel of a GENERATE_PROPOSALS, without the types of its tensors.
func proposals(p *opspec.Proposals) (k detection.Proposals) {
	size := int64(p.N) * int64(p.H) * int64(p.W) * int64(p.Count)
	maxProposals.Refuse(size > maxAnchors, "%d anchors", size)
	k = detection.Proposals{Batches: p.N, H: p.H, W: p.W, Anchors: p.Count, StrideH: p.StrideH, StrideW: p.StrideW, Overlap: p.Overlap, Least: p.Least}
	k.Before = k.All()
	if p.Before > 0 {
		k.Before = min(k.Before, int(p.Before))
	}
	k.After = k.Before
	if p.After > 0 {
		k.After = min(k.After, int(p.After))
	}
	maxProposals.Refuse(int64(k.Before)*int64(k.After)*int64(k.Batches) > maxNmsPairs, "%d of %d proposals of %d images", k.After, k.Before, k.Batches)
	return k
}

// lowerProposals lowers GENERATE_PROPOSALS: one thread does it all, as every
// decision depends on those before it.
func lowerProposals(l *lower.Lowering, _ *nn.Operation, p opspec.Proposals) {
	k := proposals(&p)
	var in [4]*layout.Tensor
	for i, x := range [4]uint32{p.Scores, p.Deltas, p.Anchors, p.Images} {
		in[i] = l.Flat(x)
	}
	o := l.Graph.Operands
	k.Score, k.Anchor, k.Image = lower.AffineOf(&o[p.Scores]), lower.AffineOf(&o[p.Anchors]), lower.AffineOf(&o[p.Images])
	k.OutScore, k.Box = lower.AffineOf(&o[p.OutScores]), lower.AffineOf(&o[p.OutRegions])
	count := l.NewFlat("proposals", 1, 4)
	n := uint32(k.Batches * k.After)
	out := []*layout.Tensor{count, l.OpenOutput(p.OutScores, []uint32{n}, count), l.OpenOutput(p.OutRegions, []uint32{n, 4}, count),
		l.OpenOutput(p.OutBatches, []uint32{n}, count)}
	if n == 0 {
		return
	}
	work := l.NewFlat("anchors by score", 4*(detection.ProposalFrame+256+k.All())+16*k.After, 1)
	l.Add("proposals", in[:], append(out, work), launch.Proposals{Kernel: k, In: in, Deltas: lower.AffineOf(&o[p.Deltas]), Out: out, Scratch: work})
}
