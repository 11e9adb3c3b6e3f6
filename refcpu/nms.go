package refcpu

import (
	"fmt"
	"sort"

	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
)

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
		return float32(exp(float64(-overlap * overlap / s.sigma)))
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
func prepareNms(v opspec.View, op *nn.Operation) (kern, error) {
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
	return func(x *run) error {
		d, err := x.view.Dims(op.Inputs[0])
		if err != nil {
			return err
		}
		r, err := x.view.Dims(op.Inputs[1])
		if err != nil {
			return err
		}
		if len(d) != 2 || d[1] == 0 || len(r) != 2 || r[0] != d[0] || r[1] != 4*d[1] || len(x.bytes(op.Inputs[2])) != 4*int(d[0]) {
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
func (x *run) give(op *nn.Operation, dims ...[]uint32) error {
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
