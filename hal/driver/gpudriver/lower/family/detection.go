package family

import (
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/detection"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/lower"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// reals is an operand as numbers that a kernel computes with: a quantized one becomes float32.
func reals(l *lower.Lowering, operands ...uint32) []*layout.Tensor {
	var list []*layout.Tensor
	for _, x := range operands {
		t := try.V(l.Value(x))
		if !t.Elem.IsFloat() && l.Operand(x).Type != nn.TensorInt32 {
			t = asReal(l, x, t)
		}
		list = append(list, t)
	}
	return list
}

// quantizations are the steps that quantize results.
type quantizations []func()

// output is where a kernel writes reals for an output.
func (q *quantizations) output(l *lower.Lowering, x uint32) *layout.Tensor {
	out := try.V(l.Value(x))
	if out.Elem.IsFloat() {
		return out
	}
	t := l.Temporary(layout.F32, out.N)
	f := quantizer(l.Operand(x))
	if out.Elem.Bytes() == 2 {
		lo, hi := out.Elem.Limits()
		f.Lo, f.Hi = float32(lo), float32(hi)
	}
	*q = append(*q, func() { l.Map(f, t, out) })
	return t
}

// add adds them.
func (q quantizations) add() {
	for _, f := range q {
		f()
	}
}

// launch adds a kernel and what quantizes its results.
func (q quantizations) launch(l *lower.Lowering, k kernel.Kernel, writes ...*layout.Tensor) {
	l.Launch(k, writes...)
	q.add()
}

// openOutputs gives outputs shapes of n entries, of which the word in count is the number of
// valid ones when the program has run.
func openOutputs(l *lower.Lowering, n int, count *layout.Tensor, outputs ...uint32) {
	for i, x := range outputs {
		dims := []uint32{uint32(n)}
		if i == 1 { // regions
			dims = append(dims, 4)
		}
		l.Open(x, dims, count)
	}
}

// lowerBoxTransform lowers AXIS_ALIGNED_BBOX_TRANSFORM.
func lowerBoxTransform(l *lower.Lowering, op *nn.Operation, p opspec.BoxTransform) {
	in := reals(l, p.Regions, p.Deltas, p.Batches, p.Images)
	var q quantizations
	k := &detection.Transform{Rois: p.Rois, Classes: p.Classes, Images: p.N, Regions: in[0], Deltas: in[1], Batches: in[2], ImageSizes: in[3], Out: q.output(l, p.Output),
		Fault: fault(l, op.Type.String()+": a region is upside down, too large or of no image")}
	q.launch(l, k, k.Out, k.Fault)
}

// lowerRoi lowers ROI_ALIGN and ROI_POOLING.
func lowerRoi(l *lower.Lowering, op *nn.Operation, p opspec.Roi) {
	in := reals(l, p.Input, p.Regions, p.Batches)
	var q quantizations
	k := &detection.Roi{Align: op.Type == nn.OpRoiAlign, N: p.N, H: p.H, W: p.W, C: p.C, Rois: p.Rois, OutH: p.OutH, OutW: p.OutW,
		StrideH: p.StrideH, StrideW: p.StrideW, SampleH: p.SampleH, SampleW: p.SampleW,
		In: in[0], Regions: in[1], Batches: in[2], Out: q.output(l, p.Output), Fault: fault(l, op.Type.String()+": a region is upside down, too large or of no image")}
	q.launch(l, k, k.Out, k.Fault)
}

// lowerHeatmap lowers HEATMAP_MAX_KEYPOINT.
func lowerHeatmap(l *lower.Lowering, op *nn.Operation, p opspec.Heatmap) {
	in := reals(l, p.Heat, p.Regions)
	var q quantizations
	k := &detection.Heatmap{Boxes: p.Boxes, Size: p.Size, Points: p.Points, Heat: in[0], Regions: in[1], Scores: q.output(l, p.Scores), Out: q.output(l, p.Output),
		Fault: fault(l, op.Type.String()+": a box is upside down")}
	q.launch(l, k, k.Scores, k.Out, k.Fault)
}

// Bounds of non-maximum suppression: work grows with the square of the boxes.
const (
	maxNmsBoxes = 1 << 12
	maxNmsPairs = 1 << 30
)

// lowerNms lowers BOX_WITH_NMS_LIMIT.
func lowerNms(l *lower.Lowering, op *nn.Operation, p opspec.Nms) {
	refuse(p.Boxes > maxNmsBoxes || int64(p.Boxes)*int64(p.Boxes)*int64(p.Classes) > maxNmsPairs, maxSuppression, "%d boxes of %d classes", p.Boxes, p.Classes)
	if p.Boxes == 0 || p.Classes < 2 {
		count := l.Temporary(layout.I32, 1)
		openOutputs(l, 1, count, op.Outputs...)
		fillWith(l, 0, count)
		return
	}
	in := reals(l, p.Scores, p.Regions, p.Batches)
	lists := p.Boxes * (p.Classes - 1)
	most := lists
	if p.Limit >= 0 {
		most = int(max(min(int64(most), int64(p.Limit)*int64(p.Boxes)), 1))
	}
	word := func(n int) *layout.Tensor { return l.Temporary(layout.I32, n) }
	n := &detection.Nms{Boxes: p.Boxes, Classes: p.Classes, AtLeast: p.AtLeast, Limit: p.Limit, Kernel: p.Kernel, Overlap: p.Overlap, Sigma: p.Sigma, Least: p.Least,
		Scores: l.Temporary(layout.F32, in[0].N), Regions: in[1], Batches: in[2],
		List: word(lists), Found: word(lists), Kept: word(lists), First: word(lists), Partial: word(32), Count: word(1),
		Fault: fault(l, op.Type.String()+": a box is upside down")}
	l.Convert(in[0], n.Scores)
	openOutputs(l, most, n.Count, p.OutScores, p.OutRegions, p.OutClass, p.OutBatches)
	var q quantizations
	n.OutScores, n.OutRegions = q.output(l, p.OutScores), q.output(l, p.OutRegions)
	n.OutClasses, n.OutBatches = try.V2(l.Pair(p.OutClass, p.OutBatches))
	for _, stage := range []struct {
		kernel.Kernel
		reads, writes []*layout.Tensor
	}{
		{detection.Suppress{Nms: n}, []*layout.Tensor{n.Scores, n.Regions, n.Batches}, []*layout.Tensor{n.Scores, n.List, n.Found, n.Fault}},
		{detection.Limit{Nms: n}, []*layout.Tensor{n.Scores, n.Batches, n.List, n.Found}, []*layout.Tensor{n.Kept}},
		{detection.Scan{Nms: n}, []*layout.Tensor{n.Kept}, []*layout.Tensor{n.First, n.Partial, n.Count}},
		{detection.Collect{Nms: n}, []*layout.Tensor{n.Scores, n.Regions, n.Batches, n.List, n.Kept, n.First}, []*layout.Tensor{n.OutScores, n.OutRegions, n.OutClasses, n.OutBatches}},
	} {
		l.Add(stage.Kernel, stage.reads, stage.writes)
	}
	q.add()
}

// ranked adds the suppression of rows of boxes, best first.
func ranked(l *lower.Lowering, s detection.RankedShape, order, scores, boxes *layout.Tensor) (kept, count *layout.Tensor) {
	kept, count = l.Temporary(layout.I32, s.Rows*s.Limit), l.Temporary(layout.I32, s.Rows)
	l.Launch(&detection.Ranked{RankedShape: s, Order: order, Scores: scores, Boxes2D: boxes, Kept: kept, Count: count}, kept, count)
	return kept, count
}

// lowerProposals lowers GENERATE_PROPOSALS.
func lowerProposals(l *lower.Lowering, _ *nn.Operation, p opspec.Proposals) {
	in := reals(l, p.Scores, p.Deltas, p.Anchors, p.Images)
	all := p.H * p.W * p.Count
	refuse(p.N*all == 0, lower.SomeElements, "%d images of %d anchors", p.N, all)
	before := all
	if p.Before > 0 {
		before = min(before, int(p.Before))
	}
	after := before
	if p.After > 0 {
		after = min(after, int(p.After))
	}
	refuse(int64(p.N)*int64(before)*int64(after) > maxNmsPairs, maxPairs, "%d of %d boxes of %d images", after, before, p.N)
	boxes := l.Temporary(layout.F32, 4*p.N*all)
	l.Launch(&detection.Proposed{Batches: p.N, H: p.H, W: p.W, Anchors: p.Count, StrideH: p.StrideH, StrideW: p.StrideW, Least: p.Least,
		Deltas: in[1], AnchorBoxes: in[2], Images: in[3], Out: boxes}, boxes)
	best, order := l.Temporary(layout.F32, p.N*before), l.Temporary(layout.I32, p.N*before)
	rank(l, in[0], p.N, all, before, best, order)
	s := detection.RankedShape{Rows: p.N, N: before, Groups: p.N, Boxes: all, Limit: after, Overlap: p.Overlap}
	kept, counts := ranked(l, s, order, best, boxes)
	k := &detection.Chosen{RankedShape: s, Order: order, Scores: best, Boxes2D: boxes, Kept: kept, Counts: counts, OutCount: l.Temporary(layout.I32, 1)}
	openOutputs(l, p.N*after, k.OutCount, p.OutScores, p.OutRegions, p.OutBatches)
	var q quantizations
	k.OutScores, k.OutRegions = q.output(l, p.OutScores), q.output(l, p.OutRegions)
	k.OutBatches = try.V(l.Value(p.OutBatches))
	q.launch(l, k, k.OutScores, k.OutRegions, k.OutBatches, k.OutCount)
}

// lowerDetections lowers DETECTION_POSTPROCESSING.
func lowerDetections(l *lower.Lowering, _ *nn.Operation, p opspec.Detection) {
	in := reals(l, p.Scores, p.Deltas, p.Anchors)
	classes := p.Classes - 1 // the first is the background
	refuse(classes < 1 || p.Boxes == 0 || p.Limit < 1 || p.Regular && p.PerClass < 1 || !p.Regular && p.ClassesPerBox < 1,
		maxDetections, "%d boxes of %d classes, %d detections", p.Boxes, classes, p.Limit)
	k := &detection.Detections{Batches: p.Batches, Boxes: p.Boxes, Classes: classes, PerClass: p.Regular, Limit: int(p.Limit), Ranked: min(classes, int(p.ClassesPerBox)), Label: 1 - p.FirstLabel(), Boxes2D: l.Temporary(layout.F32, 4*p.Batches*p.Boxes)}
	l.Launch(&detection.Decoded{Batches: p.Batches, Boxes: p.Boxes, Encoding: p.Encoding, Scale: p.Scale, Deltas: in[1], Anchors: in[2], Out: k.Boxes2D}, k.Boxes2D)
	lowerRankDetections(l, &p, k, in[0])
	var q quantizations
	k.OutScores, k.OutRegions = q.output(l, p.OutScores), q.output(l, p.OutRegions)
	k.OutClasses, k.OutCount = try.V2(l.Pair(p.OutClass, p.OutCount))
	for _, t := range []*layout.Tensor{k.OutScores, k.OutRegions, k.OutClasses} {
		fillWith(l, 0, t)
	}
	q.launch(l, k, k.OutScores, k.OutRegions, k.OutClasses, k.OutCount)
}

// lowerRankDetections ranks boxes and suppresses those that overlap a better one: class by class, or
// by the best class of each box.
func lowerRankDetections(l *lower.Lowering, p *opspec.Detection, k *detection.Detections, scores *layout.Tensor) {
	rows := p.Batches
	r := detection.RankedShape{N: p.Boxes, Groups: p.Batches, Boxes: p.Boxes, Overlap: p.Overlap, Bounded: true, AtLeast: p.AtLeast}
	own := l.Temporary(layout.F32, p.Batches*p.Boxes*k.Classes) // scores without the background
	float := own
	if scores.Elem != own.Elem {
		float = l.Temporary(scores.Elem, own.N)
	}
	if p.Regular {
		rows *= k.Classes
		dims := []int{p.Batches, k.Classes, p.Boxes}
		addCopy(l, scores, float, block{dims: dims, from: []int{p.Boxes * p.Classes, 1, p.Classes}, to: layout.Dense(dims), inAt: 1})
	} else {
		dims := []int{p.Batches * p.Boxes, k.Classes}
		addCopy(l, scores, float, block{dims: dims, from: []int{p.Classes, 1}, to: layout.Dense(dims), inAt: 1})
	}
	if float != own {
		l.Convert(float, own)
	}
	best := own
	r.Limit = min(p.Boxes, int(p.PerClass))
	if !p.Regular {
		n := p.Batches * p.Boxes
		k.ClassScores, k.Classes2D = l.Temporary(layout.F32, n*k.Ranked), l.Temporary(layout.I32, n*k.Ranked)
		rank(l, own, n, k.Classes, k.Ranked, k.ClassScores, k.Classes2D)
		best = l.Temporary(layout.F32, n)
		addCopy(l, k.ClassScores, best, block{dims: []int{n}, from: []int{k.Ranked}, to: []int{1}})
		r.Limit = min(p.Boxes, int(p.Limit))
	}
	r.Rows, k.Survivors = rows, r.Limit
	k.Order, k.Scores = l.Temporary(layout.I32, rows*p.Boxes), l.Temporary(layout.F32, rows*p.Boxes)
	rank(l, best, rows, p.Boxes, p.Boxes, k.Scores, k.Order)
	k.Kept, k.Counts = ranked(l, r, k.Order, k.Scores, k.Boxes2D)
}
