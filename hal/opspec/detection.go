package opspec

import (
	"math/bits"

	"github.com/nnsoc/nnsoc/hal/nn"
)

// detectionRows choose regions by their scores. The work of suppressions is an upper bound.
var detectionRows = []Row{
	{Op: nn.OpBoxWithNmsLimit, Since: V12, Types: floatQuant12, Args: nmsArgs, Open: true,
		Work: WorkRule{Float: 2, Quant: 4, Per: inputElements, Also: suppression("scores", "max_detections")},
		Forms: []Form{
			{V12, "scores:T roi:R batches:I32 score_threshold:S max_detections:int32 nms_kernel:int32 iou_threshold:S sigma:S nms_score_threshold:S", "scores:T roi:R classes:I32 batches:I32"},
		}},
	{Op: nn.OpDetectionPostprocessing, Since: V12, Types: float12, Args: detectionArgs,
		Work: WorkRule{Float: stepsExp, Per: inputElements, Also: suppression("scores", "max_detections")},
		Forms: []Form{
			{V12, "scores:T deltas:T anchors:T scale_y:S scale_x:S scale_h:S scale_w:S use_regular_nms:bool max_detections:int32 " +
				"max_classes_per_detection:int32 max_detections_per_class:int32 score_threshold:S iou_threshold:S is_bg_in_label:bool", "scores:T roi:T classes:I32 count:I32"},
		}},
	{Op: nn.OpGenerateProposals, Since: V12, Types: floatQuant12, Args: proposalsArgs, Open: true,
		Images: []string{"scores", "deltas"},
		Work:   WorkRule{Float: stepsExp, Quant: 2 * stepsExp, Per: inputElements, Also: suppression("scores", "post_nms_max")},
		Forms: []Form{
			{V12, "scores:T deltas:T anchors:A image_info:R height_stride:S width_stride:S pre_nms_max:int32 post_nms_max:int32 iou_threshold:S min_size:S nchw:bool", "scores:T roi:R batches:I32"},
		}},
}

var (
	nmsArgs       = Arguments[Nms]{Read: readNms}
	detectionArgs = Arguments[Detection]{Read: readDetection, Shapes: func(d *Detection) [][]uint32 {
		n, m := uint32(d.Batches), uint32(d.Limit)
		return [][]uint32{{n, m}, {n, m, 4}, {n, m}, {n}}
	}}
	proposalsArgs = Arguments[Proposals]{Read: readProposals}
)

// Kernels of non-maximum suppression: by what the score of a box that overlaps a better
// one by o is multiplied.
const (
	NmsHard     = 0 // 0 from the threshold on
	NmsLinear   = 1 // 1 - o from the threshold on
	NmsGaussian = 2 // exp(-o^2 / sigma)
)

// Nms is a BOX_WITH_NMS_LIMIT: of Boxes regions with a score and a box for each of
// Classes, class 0 the background, those that no better one of their class suppresses.
type Nms struct {
	Scores, Regions, Batches                    uint32 // operand indexes
	OutScores, OutRegions, OutClass, OutBatches uint32
	Type                                        nn.OperandType
	Boxes, Classes                              int
	AtLeast                                     float32 // scores up to it are not looked at
	Limit                                       int32   // detections of an image; negative is all
	Kernel                                      int32
	Overlap, Sigma, Least                       float32 // of the kernel; scores below Least drop out
}

// Nms reads a BOX_WITH_NMS_LIMIT.
func (v View) Nms(op *nn.Operation) (Nms, error) { return Read[Nms](v, op) }

func readNms(a *Args) (Nms, error) {
	n := Nms{Scores: a.In("scores"), Regions: a.In("roi"), Batches: a.In("batches"), Type: a.Key,
		OutScores: a.Out("scores"), OutRegions: a.Out("roi"), OutClass: a.Out("classes"), OutBatches: a.Out("batches")}
	if err := a.scalars(scalar{"score_threshold", &n.AtLeast}, scalar{"max_detections", &n.Limit}, scalar{"nms_kernel", &n.Kernel},
		scalar{"iou_threshold", &n.Overlap}, scalar{"sigma", &n.Sigma}, scalar{"nms_score_threshold", &n.Least}); err != nil {
		return n, err
	}
	if n.Kernel < NmsHard || n.Kernel > NmsGaussian {
		return n, a.errorf("nms_kernel", "%d is not 0 to 2", n.Kernel)
	}
	if n.Kernel == NmsGaussian && !(n.Sigma > 0) {
		return n, a.errorf("sigma", "%v is not positive", n.Sigma)
	}
	d, err := a.shaped("scores", -1, -1)
	if err != nil {
		return n, err
	}
	if d[1] == 0 {
		return n, a.errorf("scores", "shape %v has no class", d)
	}
	if n.Boxes, err = a.regions("roi", "batches", 4*d[1]); err != nil {
		return n, err
	}
	if n.Boxes != int(d[0]) {
		return n, a.errorf("scores", "shape %v for %d regions", d, n.Boxes)
	}
	n.Classes = int(d[1])
	return n, nil
}

// Detection is a DETECTION_POSTPROCESSING: for each of Batches images, boxes decoded from
// Deltas and Anchors of which suppression leaves at most Limit.
type Detection struct {
	Scores, Deltas, Anchors                   uint32 // operand indexes
	OutScores, OutRegions, OutClass, OutCount uint32
	Type                                      nn.OperandType
	Batches, Boxes, Classes                   int
	Encoding                                  int        // values of a delta, of which four count
	Scale                                     [4]float32 // of the deltas: y, x, height, width
	Regular                                   bool       // suppression by class, not by box
	Background                                bool       // class 0 is none
	Limit, ClassesPerBox, PerClass            int32      // at most so many detections
	AtLeast, Overlap                          float32    // thresholds of the scores and of the kernel
}

// Detection reads a DETECTION_POSTPROCESSING.
func (v View) Detection(op *nn.Operation) (Detection, error) { return Read[Detection](v, op) }

func readDetection(a *Args) (Detection, error) {
	p := Detection{Scores: a.In("scores"), Deltas: a.In("deltas"), Anchors: a.In("anchors"), Type: a.Key,
		OutScores: a.Out("scores"), OutRegions: a.Out("roi"), OutClass: a.Out("classes"), OutCount: a.Out("count")}
	if err := a.scalars(scalar{"scale_y", &p.Scale[0]}, scalar{"scale_x", &p.Scale[1]}, scalar{"scale_h", &p.Scale[2]}, scalar{"scale_w", &p.Scale[3]},
		scalar{"use_regular_nms", &p.Regular}, scalar{"max_detections", &p.Limit}, scalar{"max_classes_per_detection", &p.ClassesPerBox},
		scalar{"max_detections_per_class", &p.PerClass}, scalar{"score_threshold", &p.AtLeast}, scalar{"iou_threshold", &p.Overlap},
		scalar{"is_bg_in_label", &p.Background}); err != nil {
		return p, err
	}
	switch {
	case p.Limit < 1:
		return p, a.errorf("max_detections", "%d is not positive", p.Limit)
	case !p.Regular && p.ClassesPerBox < 1:
		return p, a.errorf("max_classes_per_detection", "%d is not positive", p.ClassesPerBox)
	case p.Regular && p.PerClass < 1:
		return p, a.errorf("max_detections_per_class", "%d is not positive", p.PerClass)
	}
	d, err := a.shaped("scores", -1, -1, -1)
	if err != nil {
		return p, err
	}
	p.Batches, p.Boxes, p.Classes = int(d[0]), int(d[1]), int(d[2])
	if d, err = a.shaped("deltas", p.Batches, p.Boxes, -1); err != nil {
		return p, err
	}
	if p.Encoding = int(d[2]); p.Encoding < 4 {
		return p, a.errorf("deltas", "%d values of a box, 4 needed", p.Encoding)
	}
	_, err = a.shaped("anchors", p.Boxes, 4)
	return p, err
}

// Proposals is a GENERATE_PROPOSALS: for each of N images, the Anchors of every position of
// a map, moved by their deltas, and the best of them after suppression.
type Proposals struct {
	Scores, Deltas, Anchors, Images   uint32 // operand indexes
	OutScores, OutRegions, OutBatches uint32
	Type                              nn.OperandType
	N, H, W, Count                    int // Count anchors of a position
	StrideH, StrideW                  float32
	Before, After                     int32   // boxes of an image that suppression takes, and leaves; not positive is all
	Overlap                           float32 // threshold of the kernel
	Least                             float32 // no side of a box is below it
	NCHW                              bool
}

// Proposals reads a GENERATE_PROPOSALS.
func (v View) Proposals(op *nn.Operation) (Proposals, error) { return Read[Proposals](v, op) }

func readProposals(a *Args) (Proposals, error) {
	p := Proposals{Scores: a.In("scores"), Deltas: a.In("deltas"), Anchors: a.In("anchors"), Images: a.In("image_info"), Type: a.Key,
		OutScores: a.Out("scores"), OutRegions: a.Out("roi"), OutBatches: a.Out("batches")}
	err := a.scalars(scalar{"height_stride", &p.StrideH}, scalar{"width_stride", &p.StrideW}, scalar{"pre_nms_max", &p.Before},
		scalar{"post_nms_max", &p.After}, scalar{"iou_threshold", &p.Overlap}, scalar{"min_size", &p.Least}, scalar{"nchw", &p.NCHW})
	if err != nil {
		return p, err
	}
	if p.N, p.H, p.W, p.Count, err = a.image("scores", p.NCHW); err != nil {
		return p, err
	}
	n, h, w, values, err := a.image("deltas", p.NCHW)
	if err != nil {
		return p, err
	}
	if n != p.N || h != p.H || w != p.W || values != 4*p.Count {
		return p, a.errorf("deltas", "%d images of %dx%d with %d values for scores of %d of %dx%d with %d", n, h, w, values, p.N, p.H, p.W, p.Count)
	}
	if _, err = a.shaped("anchors", p.Count, 4); err != nil {
		return p, err
	}
	_, err = a.shaped("image_info", p.N, 2)
	return p, err
}

// suppression is an upper bound of what a non-maximum suppression does: it sorts
// the candidates and compares each with every box that was kept.
func suppression(candidates, kept string) func(*Args, *Work) error {
	const iou = 12 // steps: four corners, two areas, a division
	return func(a *Args, w *Work) error {
		n, err := a.View.elements(a.In(candidates))
		if err != nil {
			return err
		}
		k := int64(1)
		if kept != "" {
			limit, err := a.Int32(kept)
			if err != nil {
				return err
			}
			k = max(int64(limit), 1)
			if limit < 0 {
				k = n // all
			}
		}
		k = min(k, max(n, 1))
		sort, err := product(a.Op, n, int64(bits.Len64(uint64(n))))
		if err != nil {
			return err
		}
		compare, err := product(a.Op, n, k, iou)
		if err != nil {
			return err
		}
		w.Steps += sort + compare
		w.Lookups += n
		return nil
	}
}
