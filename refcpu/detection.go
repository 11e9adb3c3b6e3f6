package refcpu

import (
	"fmt"
	"sort"

	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
	"github.com/nnsoc/nnsoc/refcpu/internal/kernel"
)

// detectionKernels choose regions by their scores.
var detectionKernels = []operation{
	{op: nn.OpBoxWithNmsLimit, prepare: prepareNms, ownShapes: true},
	{op: nn.OpGenerateProposals, prepare: prepareProposals, ownShapes: true},
	{op: nn.OpDetectionPostprocessing, prepare: prepareDetection, ownShapes: true},
}

// Kernels of non-maximum suppression.
const (
	nmsHard     = 0
	nmsLinear   = 1
	nmsGaussian = 2
)

// suppression rescales the scores of boxes that overlap a better one.
type suppression struct {
	kind      int32
	threshold float32 // intersection over union
	sigma     float32 // of the Gaussian kernel
	least     float32 // scores below drop out
}

func (s *suppression) factor(overlap float32) float32 {
	switch {
	case s.kind == nmsGaussian:
		return float32(kernel.Exp(float64(-overlap * overlap / s.sigma)))
	case overlap < s.threshold:
		return 1
	case s.kind == nmsLinear:
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

// prepareNms is BOX_WITH_NMS_LIMIT. How many boxes it gives depends on values.
func prepareNms(v opspec.View, op *nn.Operation) (Kernel, error) {
	a, err := v.Bind(op)
	if err != nil {
		return nil, err
	}
	var s suppression
	var atLeast float32
	for _, p := range []struct {
		name string
		dst  *float32
	}{{"score_threshold", &atLeast}, {"iou_threshold", &s.threshold}, {"sigma", &s.sigma}, {"nms_score_threshold", &s.least}} {
		if *p.dst, err = a.Float(p.name); err != nil {
			return nil, err
		}
	}
	if s.kind, err = a.Int32("nms_kernel"); err != nil {
		return nil, err
	}
	limit, err := a.Int32("max_detections")
	if err != nil {
		return nil, err
	}
	if s.kind < nmsHard || s.kind > nmsGaussian || s.kind == nmsGaussian && !(s.sigma > 0) {
		return nil, fmt.Errorf("BOX_WITH_NMS_LIMIT: kernel %d with sigma %v", s.kind, s.sigma)
	}
	return func(x *Run) error {
		d, err := x.view.Dims(op.Inputs[0])
		if err != nil {
			return err
		}
		r, err := x.view.Dims(op.Inputs[1])
		if err != nil {
			return err
		}
		if len(d) != 2 || d[1] == 0 || len(r) != 2 || r[0] != d[0] || r[1] != 4*d[1] || len(x.Bytes(op.Inputs[2])) != 4*int(d[0]) {
			return fmt.Errorf("shapes %v and %v of scores and boxes", d, r)
		}
		n, classes := int(d[0]), int(d[1])
		scores := append([]float32(nil), x.reals(op.Inputs[0])...)
		regions, batches := x.reals(op.Inputs[1]), x.int32s(op.Inputs[2])
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
					if k := i*classes + c; scores[k] > atLeast {
						candidates = append(candidates, k)
					}
				}
				if x.left.work -= int64(len(candidates)) * int64(len(candidates)); x.left.work < 0 {
					return errLimit
				}
				found = append(found, s.run(candidates, scores, boxAt, len(candidates))...)
			}
			if limit >= 0 && len(found) > int(limit) {
				sort.SliceStable(found, func(i, j int) bool { return scores[found[i]] > scores[found[j]] })
				found = found[:limit]
				sort.SliceStable(found, func(i, j int) bool { return found[i]%classes < found[j]%classes })
			}
			all = append(all, found...)
			from = to
		}
		m := uint32(len(all))
		if err := x.give(op, []uint32{m}, []uint32{m, 4}, []uint32{m}, []uint32{m}); err != nil {
			return err
		}
		outScores, outBoxes := x.shared.floats(len(all)), x.shared.floats(4*len(all))
		for i, k := range all {
			outScores[i] = scores[k]
			copy(outBoxes[4*i:4*i+4], regions[4*k:])
			x.int32s(op.Outputs[2])[i] = int32(k % classes)
			x.int32s(op.Outputs[3])[i] = batches[k/classes]
		}
		x.setReals(op.Outputs[0], outScores)
		x.setReals(op.Outputs[1], outBoxes)
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

// give sets the shapes of all outputs and allocates them.
func (x *Run) give(op *nn.Operation, dims ...[]uint32) error {
	for i, idx := range op.Outputs {
		if err := x.view.SetDims(idx, dims[i]); err != nil {
			return fmt.Errorf("output %d (operand %d): %w", i, idx, err)
		}
		if !x.left.tensor(&x.view.Operands[idx]) {
			return errLimit
		}
		x.alloc(idx, int(x.view.Operands[idx].Bytes()))
	}
	return nil
}

// prepareProposals is GENERATE_PROPOSALS: the anchors of every pixel, moved by
// their deltas, the best of them after suppression.
func prepareProposals(v opspec.View, op *nn.Operation) (Kernel, error) {
	a, err := v.Bind(op)
	if err != nil {
		return nil, err
	}
	var strideH, strideW, least float32
	s := suppression{kind: nmsHard}
	for _, p := range []struct {
		name string
		dst  *float32
	}{{"height_stride", &strideH}, {"width_stride", &strideW}, {"iou_threshold", &s.threshold}, {"min_size", &least}} {
		if *p.dst, err = a.Float(p.name); err != nil {
			return nil, err
		}
	}
	before, err := a.Int32("pre_nms_max")
	if err != nil {
		return nil, err
	}
	after, err := a.Int32("post_nms_max")
	if err != nil {
		return nil, err
	}
	nchw, err := a.BoolOr("nchw", false)
	if err != nil {
		return nil, err
	}
	return func(x *Run) error {
		d, err := x.view.Dims(op.Inputs[0])
		if err != nil {
			return err
		}
		if len(d) != 4 {
			return fmt.Errorf("scores of shape %v", d)
		}
		h, w, n := int(d[1]), int(d[2]), int(d[3])
		if nchw {
			h, w, n = int(d[2]), int(d[3]), int(d[1])
		}
		batches, size := int(d[0]), h*w*n
		scores, deltas := x.reals(op.Inputs[0]), x.reals(op.Inputs[1])
		anchors, images := x.reals(op.Inputs[2]), x.reals(op.Inputs[3])
		if len(deltas) != 4*len(scores) || len(anchors) != 4*n || len(images) != 2*batches {
			return fmt.Errorf("%d scores, %d deltas, %d anchors and %d image sizes", len(scores), len(deltas), len(anchors), len(images))
		}
		var outScores, outBoxes []float32
		var outBatch []int32
		for b := range batches {
			// Position i is (y, x, anchor) whichever the layout.
			at := func(i, c, of int) int { // element of a tensor with of values per anchor
				y, k, j := i/(w*n), i/n%w, i%n*of+c
				if nchw {
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
			if before > 0 && len(order) > int(before) {
				order = order[:before]
			}
			height, width := images[2*b], images[2*b+1]
			small := max(least, 1)
			boxes := make([]box, size)
			kept := order[:0]
			for _, i := range order {
				k := 4 * (i % n)
				sx, sy := float32(float32(i/n%w)*strideW), float32(float32(i/(w*n))*strideH)
				r := box{anchors[k] + sx, anchors[k+1] + sy, anchors[k+2] + sx, anchors[k+3] + sy}
				delta := [4]float32{deltas[at(i, 0, 4)], deltas[at(i, 1, 4)], deltas[at(i, 2, 4)], deltas[at(i, 3, 4)]}
				r = decodeBox(r, delta[:]).clip(height, width)
				boxes[i] = r
				if r[2]-r[0] > small && r[3]-r[1] > small && (r[0]+r[2])/2 < width && (r[1]+r[3])/2 < height {
					kept = append(kept, i)
				}
			}
			if x.left.work -= int64(len(kept)) * int64(len(kept)); x.left.work < 0 {
				return errLimit
			}
			limit := len(kept)
			if after > 0 {
				limit = min(limit, int(after))
			}
			for _, i := range s.hard(kept, value, func(i int) box { return boxes[i] }, limit) {
				outScores = append(outScores, value[i])
				outBoxes = append(outBoxes, boxes[i][:]...)
				outBatch = append(outBatch, int32(b))
			}
		}
		m := uint32(len(outScores))
		if err := x.give(op, []uint32{m}, []uint32{m, 4}, []uint32{m}); err != nil {
			return err
		}
		x.setReals(op.Outputs[0], outScores)
		x.setReals(op.Outputs[1], outBoxes)
		copy(x.int32s(op.Outputs[2]), outBatch)
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

// detection are the parameters of DETECTION_POSTPROCESSING.
type detection struct {
	scale                           [4]float32 // y, x, h, w
	regular, background             bool
	max, classesPerBox, maxPerClass int32
	atLeast, overlap                float32
	batches, anchors, classes       int
	encoding                        int
}

// prepareDetection is DETECTION_POSTPROCESSING.
func prepareDetection(v opspec.View, op *nn.Operation) (Kernel, error) {
	a, err := v.Bind(op)
	if err != nil {
		return nil, err
	}
	var p detection
	for i, name := range []string{"scale_y", "scale_x", "scale_h", "scale_w"} {
		if p.scale[i], err = a.Float(name); err != nil {
			return nil, err
		}
	}
	for _, f := range []struct {
		name string
		dst  *float32
	}{{"score_threshold", &p.atLeast}, {"iou_threshold", &p.overlap}} {
		if *f.dst, err = a.Float(f.name); err != nil {
			return nil, err
		}
	}
	for _, f := range []struct {
		name string
		dst  *int32
	}{{"max_detections", &p.max}, {"max_classes_per_detection", &p.classesPerBox}, {"max_detections_per_class", &p.maxPerClass}} {
		if *f.dst, err = a.Int32(f.name); err != nil {
			return nil, err
		}
	}
	if p.regular, err = a.BoolOr("use_regular_nms", false); err != nil {
		return nil, err
	}
	if p.background, err = a.BoolOr("is_bg_in_label", false); err != nil {
		return nil, err
	}
	if p.max < 1 || p.classesPerBox < 1 && !p.regular || p.maxPerClass < 1 && p.regular {
		return nil, fmt.Errorf("DETECTION_POSTPROCESSING: limits %d, %d and %d", p.max, p.classesPerBox, p.maxPerClass)
	}
	return func(x *Run) error { return p.run(x, op) }, nil
}

func (p detection) run(x *Run, op *nn.Operation) error {
	d, err := x.view.Dims(op.Inputs[0])
	if err != nil {
		return err
	}
	e, err := x.view.Dims(op.Inputs[1])
	if err != nil {
		return err
	}
	if len(d) != 3 || len(e) != 3 || e[0] != d[0] || e[1] != d[1] || e[2] < 4 || len(x.Bytes(op.Inputs[2])) != 4*int(d[1])*x.view.Operands[op.Inputs[2]].Type.ElementBytes() {
		return fmt.Errorf("shapes %v and %v", d, e)
	}
	p.batches, p.anchors, p.classes, p.encoding = int(d[0]), int(d[1]), int(d[2]), int(e[2])
	b, m := d[0], uint32(p.max)
	if err := x.give(op, []uint32{b, m}, []uint32{b, m, 4}, []uint32{b, m}, []uint32{b}); err != nil {
		return err
	}
	scores, deltas, anchors := x.reals(op.Inputs[0]), x.reals(op.Inputs[1]), x.reals(op.Inputs[2])
	outScores := make([]float32, p.batches*int(m))
	outBoxes := make([]float32, 4*p.batches*int(m))
	classes, counts := x.int32s(op.Outputs[2]), x.int32s(op.Outputs[3])
	clear(classes)
	for i := range p.batches {
		own := scores[i*p.anchors*p.classes : (i+1)*p.anchors*p.classes]
		boxes := make([]box, p.anchors)
		for k := range boxes {
			boxes[k] = p.decode(deltas[(i*p.anchors+k)*p.encoding:], anchors[4*k:])
		}
		var found []int // anchor * classes + class
		if p.regular {
			found = p.perClass(own, boxes)
		} else {
			found = p.perBox(own, boxes)
		}
		if len(found) > int(m) {
			found = found[:m]
		}
		counts[i] = int32(len(found))
		first := 0
		if p.background {
			first = 1
		}
		for k, f := range found {
			outScores[i*int(m)+k] = own[f]
			copy(outBoxes[4*(i*int(m)+k):], boxes[f/p.classes][:])
			classes[i*int(m)+k] = int32(f%p.classes - first)
		}
	}
	x.setReals(op.Outputs[0], outScores)
	x.setReals(op.Outputs[1], outBoxes)
	return nil
}

// decode is a box as (y1, x1, y2, x2) from its encoding and its anchor, both
// (centre y, centre x, height, width).
func (p *detection) decode(d, a []float32) box {
	y, x := float32(d[0]/p.scale[0]*a[2])+a[0], float32(d[1]/p.scale[1]*a[3])+a[1]
	h := float32(kernel.Exp(float64(d[2]/p.scale[2]))) * a[2] / 2
	w := float32(kernel.Exp(float64(d[3]/p.scale[3]))) * a[3] / 2
	return box{y - h, x - w, y + h, x + w}
}

// perClass suppresses within each class and keeps the best overall.
func (p *detection) perClass(scores []float32, boxes []box) []int {
	s := suppression{threshold: p.overlap}
	first := 0
	if p.background {
		first = 1
	}
	var all []int
	for c := first; c < p.classes; c++ {
		var candidates []int
		for k := range boxes {
			if f := k*p.classes + c; scores[f] > p.atLeast {
				candidates = append(candidates, f)
			}
		}
		all = append(all, s.hard(candidates, scores, func(f int) box { return boxes[f/p.classes] }, int(p.maxPerClass))...)
	}
	sort.SliceStable(all, func(i, j int) bool { return scores[all[i]] > scores[all[j]] })
	return all
}

// perBox suppresses by the best class of each box and reports the best classes
// of those kept.
func (p *detection) perBox(scores []float32, boxes []box) []int {
	s := suppression{threshold: p.overlap}
	first := 0
	if p.background {
		first = 1
	}
	ranked := make([][]int, len(boxes))
	best := make([]float32, len(boxes))
	var candidates []int
	for k := range boxes {
		var order []int
		for c := first; c < p.classes; c++ {
			order = append(order, k*p.classes+c)
		}
		sort.SliceStable(order, func(i, j int) bool { return scores[order[i]] > scores[order[j]] })
		if len(order) > int(p.classesPerBox) {
			order = order[:p.classesPerBox]
		}
		ranked[k] = order
		if len(order) > 0 && scores[order[0]] > p.atLeast {
			best[k] = scores[order[0]]
			candidates = append(candidates, k)
		}
	}
	var all []int
	for _, k := range s.hard(candidates, best, func(k int) box { return boxes[k] }, int(p.max)) {
		all = append(all, ranked[k]...)
	}
	return all
}
