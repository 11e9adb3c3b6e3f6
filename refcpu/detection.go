package refcpu

import (
	"fmt"
	"sort"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/refcpu/internal/kernel"
)

// detectionKernels choose regions by their scores.
var detectionKernels = []operation{
	{op: nn.OpBoxWithNmsLimit, prepare: read(prepareNms), ownShapes: true},
	{op: nn.OpGenerateProposals, prepare: read(prepareProposals), ownShapes: true},
	{op: nn.OpDetectionPostprocessing, prepare: read(prepareDetection)},
}

// suppression rescales the scores of boxes that overlap a better one.
type suppression struct {
	kind      int32
	threshold float32 // intersection over union
	sigma     float32 // of the Gaussian kernel
	least     float32 // scores below drop out
}

func (s *suppression) factor(overlap float32) float32 {
	switch {
	case s.kind == opspec.NmsGaussian:
		return float32(kernel.Exp(float64(-overlap * overlap / s.sigma)))
	case overlap < s.threshold:
		return 1
	case s.kind == opspec.NmsLinear:
		return 1 - overlap
	}
	return 0
}

// run reorders candidates to the survivors, best first; at most limit. scores
// change with soft kernels.
func (s *suppression) run(candidates []int, scores []float32, boxAt func(int) box, limit int) []int {
	n := len(candidates)
	for i := 0; i < n; i++ {
		if i == limit {
			return candidates[:i]
		}
		best := i
		for j := i + 1; j < n; j++ {
			if scores[candidates[j]] > scores[candidates[best]] {
				best = j
			}
		}
		candidates[i], candidates[best] = candidates[best], candidates[i]
		b := boxAt(candidates[i])
		for j := i + 1; j < n; {
			scores[candidates[j]] *= s.factor(iou(b, boxAt(candidates[j])))
			if scores[candidates[j]] >= s.least {
				j++
				continue
			}
			n--
			candidates[j], candidates[n] = candidates[n], candidates[j]
		}
	}
	return candidates[:n]
}

// prepareNms is BOX_WITH_NMS_LIMIT. The number of its boxes depends on values.
func prepareNms(_ opspec.View, op *nn.Operation, p opspec.Nms) (Kernel, error) {
	s := suppression{p.Kernel, p.Overlap, p.Sigma, p.Least}
	limit := int(p.Limit)
	return func(x *Run) error {
		n, classes := p.Boxes, p.Classes
		scores := append([]float32(nil), x.reals(p.Scores)...)
		regions, batches := x.reals(p.Regions), x.int32s(p.Batches)
		for i := range n {
			if err := checkRegions(regions[4*classes*i : 4*classes*(i+1)]); err != nil {
				return err
			}
		}
		boxAt := func(k int) box { return boxOf(regions[4*k : 4*k+4]) }
		var all []int
		for from := 0; from < n; {
			to := from + 1
			for to < n && batches[to] == batches[from] {
				to++
			}
			var found []int
			for c := 1; c < classes; c++ { // class 0 is the background
				var candidates []int
				for i := from; i < to; i++ {
					if k := i*classes + c; scores[k] > p.AtLeast {
						candidates = append(candidates, k)
					}
				}
				if x.budget.work -= int64(len(candidates)) * int64(len(candidates)); x.budget.work < 0 {
					return errLimit
				}
				found = append(found, s.run(candidates, scores, boxAt, len(candidates))...)
			}
			if limit >= 0 && len(found) > limit {
				sort.SliceStable(found, func(i, j int) bool { return scores[found[i]] > scores[found[j]] })
				found = found[:limit]
				sort.SliceStable(found, func(i, j int) bool { return found[i]%classes < found[j]%classes })
			}
			all = append(all, found...)
			from = to
		}
		m := uint32(len(all))
		if err := x.allocOutputs(op, []uint32{m}, []uint32{m, 4}, []uint32{m}, []uint32{m}); err != nil {
			return err
		}
		outScores, outBoxes := x.shared.Floats(len(all)), x.shared.Floats(4*len(all))
		for i, k := range all {
			outScores[i] = scores[k]
			copy(outBoxes[4*i:4*i+4], regions[4*k:])
			x.int32s(p.OutClass)[i] = int32(k % classes)
			x.int32s(p.OutBatches)[i] = batches[k/classes]
		}
		x.setReals(p.OutScores, outScores)
		x.setReals(p.OutRegions, outBoxes)
		return nil
	}, nil
}

// checkRegions refuses boxes that are upside down.
func checkRegions(r []float32) error {
	for i := 0; i+4 <= len(r); i += 4 {
		if !(r[i] <= r[i+2] && r[i+1] <= r[i+3]) {
			return fmt.Errorf("box %d is %v", i/4, r[i:i+4])
		}
	}
	return nil
}

// allocOutputs sets the shapes of all outputs and allocates them.
func (x *Run) allocOutputs(op *nn.Operation, dims ...[]uint32) error {
	for i, idx := range op.Outputs {
		if err := x.view.SetDims(idx, dims[i]); err != nil {
			return fmt.Errorf("output %d (operand %d): %w", i, idx, err)
		}
		if !x.budget.tensor(&x.view.Operands[idx]) {
			return errLimit
		}
		x.alloc(idx, int(x.view.Operands[idx].Bytes()))
	}
	return nil
}

// prepareProposals is GENERATE_PROPOSALS: the anchors of every pixel, moved by
// their deltas, the best of them after suppression.
func prepareProposals(_ opspec.View, op *nn.Operation, p opspec.Proposals) (Kernel, error) {
	s := suppression{kind: opspec.NmsHard, threshold: p.Overlap}
	return func(x *Run) error {
		h, w, n := p.H, p.W, p.Count
		size := h * w * n
		scores, deltas := x.reals(p.Scores), x.reals(p.Deltas)
		anchors, images := x.reals(p.Anchors), x.reals(p.Images)
		var outScores, outBoxes []float32
		var outBatch []int32
		for b := range p.N {
			// Position i is (y, x, anchor) whichever the layout.
			at := func(i, c, of int) int { // element of a tensor with of values per anchor
				y, k, j := i/(w*n), i/n%w, i%n*of+c
				if p.NCHW {
					return ((b*n*of+j)*h+y)*w + k
				}
				return ((b*h+y)*w+k)*n*of + j
			}
			order := make([]int, size)
			value := make([]float32, size)
			for i := range order {
				order[i], value[i] = i, scores[at(i, 0, 1)]
			}
			sort.SliceStable(order, func(i, j int) bool { return value[order[i]] > value[order[j]] })
			if p.Before > 0 && len(order) > int(p.Before) {
				order = order[:p.Before]
			}
			height, width := images[2*b], images[2*b+1]
			small := max(p.Least, 1)
			boxes := make([]box, size)
			kept := order[:0]
			for _, i := range order {
				k := 4 * (i % n)
				sx, sy := float32(float32(i/n%w)*p.StrideW), float32(float32(i/(w*n))*p.StrideH)
				r := box{anchors[k] + sx, anchors[k+1] + sy, anchors[k+2] + sx, anchors[k+3] + sy}
				delta := [4]float32{deltas[at(i, 0, 4)], deltas[at(i, 1, 4)], deltas[at(i, 2, 4)], deltas[at(i, 3, 4)]}
				r = decodeBox(r, delta[:]).clip(height, width)
				boxes[i] = r
				if r[2]-r[0] > small && r[3]-r[1] > small && (r[0]+r[2])/2 < width && (r[1]+r[3])/2 < height {
					kept = append(kept, i)
				}
			}
			if x.budget.work -= int64(len(kept)) * int64(len(kept)); x.budget.work < 0 {
				return errLimit
			}
			limit := len(kept)
			if p.After > 0 {
				limit = min(limit, int(p.After))
			}
			for _, i := range s.hard(kept, value, func(i int) box { return boxes[i] }, limit) {
				outScores = append(outScores, value[i])
				outBoxes = append(outBoxes, boxes[i][:]...)
				outBatch = append(outBatch, int32(b))
			}
		}
		m := uint32(len(outScores))
		if err := x.allocOutputs(op, []uint32{m}, []uint32{m, 4}, []uint32{m}); err != nil {
			return err
		}
		x.setReals(p.OutScores, outScores)
		x.setReals(p.OutRegions, outBoxes)
		copy(x.int32s(p.OutBatches), outBatch)
		return nil
	}, nil
}

// hard keeps, best score first, the boxes that overlap no better one; scores
// may have any sign.
func (s *suppression) hard(candidates []int, scores []float32, boxAt func(int) box, limit int) []int {
	sort.SliceStable(candidates, func(i, j int) bool { return scores[candidates[i]] > scores[candidates[j]] })
	var kept []int
	for _, c := range candidates {
		if len(kept) == limit {
			break
		}
		b, ok := boxAt(c), true
		for _, k := range kept {
			if iou(b, boxAt(k)) >= s.threshold {
				ok = false
				break
			}
		}
		if ok {
			kept = append(kept, c)
		}
	}
	return kept
}

// detection is a DETECTION_POSTPROCESSING.
type detection struct{ opspec.Detection }

// prepareDetection is DETECTION_POSTPROCESSING.
func prepareDetection(_ opspec.View, _ *nn.Operation, p opspec.Detection) (Kernel, error) {
	return (&detection{p}).run, nil
}

func (p *detection) run(x *Run) error {
	m := int(p.Limit)
	scores, deltas, anchors := x.reals(p.Scores), x.reals(p.Deltas), x.reals(p.Anchors)
	outScores := make([]float32, p.Batches*m)
	outBoxes := make([]float32, 4*p.Batches*m)
	classes, counts := x.int32s(p.OutClass), x.int32s(p.OutCount)
	clear(classes)
	for i := range p.Batches {
		own := scores[i*p.Boxes*p.Classes : (i+1)*p.Boxes*p.Classes]
		boxes := make([]box, p.Boxes)
		for k := range boxes {
			boxes[k] = p.decode(deltas[(i*p.Boxes+k)*p.Encoding:], anchors[4*k:])
		}
		var found []int // anchor * classes + class
		if p.Regular {
			found = p.perClass(own, boxes)
		} else {
			found = p.perBox(own, boxes)
		}
		if len(found) > m {
			found = found[:m]
		}
		counts[i] = int32(len(found))
		for k, f := range found {
			outScores[i*m+k] = own[f]
			copy(outBoxes[4*(i*m+k):], boxes[f/p.Classes][:])
			classes[i*m+k] = int32(f%p.Classes - p.FirstLabel())
		}
	}
	x.setReals(p.OutScores, outScores)
	x.setReals(p.OutRegions, outBoxes)
	return nil
}

// decode is a box as (y1, x1, y2, x2) from its encoding and its anchor, both
// (centre y, centre x, height, width).
func (p *detection) decode(d, a []float32) box {
	y, x := float32(d[0]/p.Scale[0]*a[2])+a[0], float32(d[1]/p.Scale[1]*a[3])+a[1]
	h := float32(kernel.Exp(float64(d[2]/p.Scale[2]))) * a[2] / 2
	w := float32(kernel.Exp(float64(d[3]/p.Scale[3]))) * a[3] / 2
	return box{y - h, x - w, y + h, x + w}
}

// perClass suppresses within each class and keeps the best overall.
func (p *detection) perClass(scores []float32, boxes []box) []int {
	s := suppression{threshold: p.Overlap}
	var all []int
	for c := 1; c < p.Classes; c++ { // class 0 is the background
		var candidates []int
		for k := range boxes {
			if f := k*p.Classes + c; scores[f] > p.AtLeast {
				candidates = append(candidates, f)
			}
		}
		all = append(all, s.hard(candidates, scores, func(f int) box { return boxes[f/p.Classes] }, int(p.PerClass))...)
	}
	sort.SliceStable(all, func(i, j int) bool { return scores[all[i]] > scores[all[j]] })
	return all
}

// perBox suppresses by the best class of each box and reports the best classes
// of those kept.
func (p *detection) perBox(scores []float32, boxes []box) []int {
	s := suppression{threshold: p.Overlap}
	ranked := make([][]int, len(boxes))
	best := make([]float32, len(boxes))
	var candidates []int
	for k := range boxes {
		var order []int
		for c := 1; c < p.Classes; c++ { // class 0 is the background
			order = append(order, k*p.Classes+c)
		}
		sort.SliceStable(order, func(i, j int) bool { return scores[order[i]] > scores[order[j]] })
		if len(order) > int(p.ClassesPerBox) {
			order = order[:p.ClassesPerBox]
		}
		ranked[k] = order
		if len(order) > 0 && scores[order[0]] > p.AtLeast {
			best[k] = scores[order[0]]
			candidates = append(candidates, k)
		}
	}
	var all []int
	for _, k := range s.hard(candidates, best, func(k int) box { return boxes[k] }, int(p.Limit)) {
		all = append(all, ranked[k]...)
	}
	return all
}
