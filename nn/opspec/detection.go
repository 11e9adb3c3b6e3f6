package opspec

import (
	"math/bits"

	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
)

// regionRows are the operations on regions of images. The work of ROI_POOLING is an upper
// bound.
var regionRows = []Row{
	{Op: nn.OpRoiAlign, Since: V12, Types: floatQuant12, Args: roiArgs,
		Work: WorkRule{Float: 8, Quant: stepsRequant, Per: units(readRoi, func(r *Roi) []int64 {
			h, w := r.SampleH, r.SampleW
			if h == 0 { // adaptive: at most the map over the bins
				h = 1 + r.H/max(r.OutH, 1)
			}
			if w == 0 {
				w = 1 + r.W/max(r.OutW, 1)
			}
			return n64(r.Rois, r.OutH, r.OutW, r.C, h, w)
		})},
		Forms: []Form{
			{V12, "input:T roi:R batches:I32 out_height:int32 out_width:int32 height_stride:S width_stride:S height_sampling:int32 width_sampling:int32 nchw:bool", "output:T"},
		}},
	{Op: nn.OpRoiPooling, Since: V12, Types: floatQuant12, SameQuant: true, Args: roiArgs,
		Work: WorkRule{Float: 1, Quant: 1, Per: units(readRoi, func(r *Roi) []int64 {
			return n64(r.Rois, r.OutH, r.OutW, r.C, 1+r.H/max(r.OutH, 1), 1+r.W/max(r.OutW, 1))
		})},
		Forms: []Form{
			{V12, "input:T roi:R batches:I32 out_height:int32 out_width:int32 height_stride:S width_stride:S nchw:bool", "output:T"},
		}},
	{Op: nn.OpHeatmapMaxKeypoint, Since: V12, Types: floatQuant12, Args: heatmapArgs,
		Images: []string{"heatmap"},
		Work:   WorkRule{Float: 2, Quant: 4, Per: inputElements},
		Forms: []Form{
			{V12, "heatmap:T boxes:R nchw:bool", "scores:T keypoints:R"},
		}},
	{Op: nn.OpAxisAlignedBboxTransform, Since: V12, Types: "F16@1.2 F32@1.2 Q16@1.2", Args: boxTransformArgs,
		Work: WorkRule{Float: stepsExp, Quant: stepsExp},
		Forms: []Form{
			{V12, "roi:T deltas:D batches:I32 image_info:T", "output:T"},
		}},
}

var (
	roiArgs          = Arguments[Roi]{Read: readRoi, Shapes: one((*Roi).OutputDims)}
	boxTransformArgs = Arguments[BoxTransform]{Read: readBoxTransform, Shapes: one(func(b *BoxTransform) []uint32 { return b.Dims })}
	heatmapArgs      = Arguments[Heatmap]{Read: readHeatmap, Shapes: func(h *Heatmap) [][]uint32 {
		n, k := uint32(h.Boxes), uint32(h.Points)
		return [][]uint32{{n, k}, {n, k, 2}}
	}}
)

// Roi is a ROI_ALIGN or ROI_POOLING: each of Rois regions of an image becomes
// OutH x OutW. A region is (x1, y1, x2, y2) in the original image, which is
// StrideH and StrideW times the size of the input.
type Roi struct {
	Input, Regions, Batches, Output uint32 // operand indexes
	N, H, W, C                      int
	Rois, OutH, OutW                int
	StrideH, StrideW                float32
	SampleH, SampleW                int // ROI_ALIGN: samples per bin, 0 adapts
	NCHW                            bool
}

func readRoi(a *Args) (Roi, error) {
	r := Roi{Input: a.In("input"), Regions: a.In("roi"), Batches: a.In("batches"), Output: a.Op.Outputs[0]}
	r.NCHW = try.V(a.Bool("nchw"))
	r.N, r.H, r.W, r.C = try.V4(a.image("input", r.NCHW))
	r.Rois = try.V(a.regions("roi", "batches", 4))
	for _, p := range []struct {
		name string
		dst  *int
		low  int32
	}{{"out_height", &r.OutH, 1}, {"out_width", &r.OutW, 1}, {"height_sampling", &r.SampleH, 0}, {"width_sampling", &r.SampleW, 0}} {
		if !a.Has(p.name) {
			continue
		}
		x := try.V(a.Int32(p.name))
		if x < p.low || x > 1<<15 {
			return r, a.errorf(p.name, "%d", x)
		}
		*p.dst = int(x)
	}
	for _, p := range []struct {
		name string
		dst  *float32
	}{{"height_stride", &r.StrideH}, {"width_stride", &r.StrideW}} {
		*p.dst = try.V(a.Float(p.name))
		if !(*p.dst > 0) {
			return r, a.errorf(p.name, "%v is not positive", *p.dst)
		}
	}
	if r.H == 0 || r.W == 0 {
		return r, a.errorf("input", "an image of %dx%d", r.H, r.W)
	}
	return r, nil
}

// OutputDims is the shape of the result.
func (r *Roi) OutputDims() []uint32 { return imageDims(r.Rois, r.OutH, r.OutW, r.C, r.NCHW) }

// regions reads the shape of a list of regions, columns values each, and of
// the batch index of each; it returns their number.
func (a *Args) regions(roi, batches string, columns uint32) (int, error) {
	d := try.V(a.Dims(roi))
	b := try.V(a.Dims(batches))
	if len(d) != 2 || d[1] != columns || len(b) != 1 || b[0] != d[0] {
		return 0, a.errorf(roi, "shapes %v and %v, [n, %d] and [n] needed", d, b, columns)
	}
	return int(d[0]), nil
}

// Heatmap is a HEATMAP_MAX_KEYPOINT: the maximum of each of Boxes maps of
// Size x Size with Points channels.
type Heatmap struct {
	Heat, Regions, Scores, Output uint32 // operand indexes
	Boxes, Size, Points           int
	NCHW                          bool
}

func readHeatmap(a *Args) (Heatmap, error) {
	h := Heatmap{Heat: a.In("heatmap"), Regions: a.In("boxes"), Scores: a.Op.Outputs[0], Output: a.Op.Outputs[1]}
	h.NCHW = try.V(a.Bool("nchw"))
	n, y, x, c := try.V4(a.image("heatmap", h.NCHW))
	d := try.V(a.Dims("boxes"))
	if x != y || x < 2 || len(d) != 2 || int(d[0]) != n || d[1] != 4 {
		return h, a.errorf("heatmap", "%d maps of %dx%d for boxes %v", n, y, x, d)
	}
	h.Boxes, h.Size, h.Points = n, x, c
	return h, nil
}

// BoxTransform is an AXIS_ALIGNED_BBOX_TRANSFORM: Rois boxes, each changed by
// Classes deltas and clipped to its image.
type BoxTransform struct {
	Regions, Deltas, Batches, Images, Output uint32 // operand indexes
	Rois, Classes, N                         int
	Dims                                     []uint32
}

func readBoxTransform(a *Args) (BoxTransform, error) {
	b := BoxTransform{Regions: a.In("roi"), Deltas: a.In("deltas"), Batches: a.In("batches"), Images: a.In("image_info"),
		Output: a.Op.Outputs[0]}
	for _, name := range []string{"roi", "image_info"} {
		try.E(a.eighths(name))
	}
	b.Rois = try.V(a.regions("roi", "batches", 4))
	b.Dims = try.V(a.Dims("deltas"))
	images := try.V(a.Dims("image_info"))
	if len(b.Dims) != 2 || int(b.Dims[0]) != b.Rois || b.Dims[1]%4 != 0 || len(images) != 2 || images[1] != 2 {
		return b, a.errorf("deltas", "shapes %v and %v for %d regions", b.Dims, images, b.Rois)
	}
	b.Classes, b.N = int(b.Dims[1]/4), int(images[0])
	return b, nil
}

// eighths checks that quantized coordinates are eighths of a pixel.
func (a *Args) eighths(name string) error {
	if o := &a.View.Operands[a.In(name)]; o.Type == nn.TensorQuant16Asymm && (o.Scale != 0.125 || o.ZeroPoint != 0) {
		return a.errorf(name, "scale %v and zero point %d, 0.125 and 0 needed", o.Scale, o.ZeroPoint)
	}
	return nil
}

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
	Boxes, Classes                              int
	AtLeast                                     float32 // scores up to it are not looked at
	Limit                                       int32   // detections of an image; negative is all
	Kernel                                      int32
	Overlap, Sigma, Least                       float32 // of the kernel; scores below Least drop out
}

func readNms(a *Args) (Nms, error) {
	n := Nms{Scores: a.In("scores"), Regions: a.In("roi"), Batches: a.In("batches"),
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
	d := try.V(a.shaped("scores", -1, -1))
	if d[1] == 0 {
		return n, a.errorf("scores", "shape %v has no class", d)
	}
	n.Boxes = try.V(a.regions("roi", "batches", 4*d[1]))
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
	Batches, Boxes, Classes                   int
	Encoding                                  int        // values of a delta, of which four count
	Scale                                     [4]float32 // of the deltas: y, x, height, width
	Regular                                   bool       // suppression by class, not by box
	Background                                bool       // labels count the background, which is class 0 and never found
	Limit, ClassesPerBox, PerClass            int32      // at most so many detections
	AtLeast, Overlap                          float32    // thresholds of the scores and of the kernel
}

// FirstLabel is subtracted from the number of a class to get its label.
func (p *Detection) FirstLabel() int {
	if p.Background {
		return 0
	}
	return 1
}

func readDetection(a *Args) (Detection, error) {
	p := Detection{Scores: a.In("scores"), Deltas: a.In("deltas"), Anchors: a.In("anchors"),
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
	d := try.V(a.shaped("scores", -1, -1, -1))
	p.Batches, p.Boxes, p.Classes = int(d[0]), int(d[1]), int(d[2])
	d = try.V(a.shaped("deltas", p.Batches, p.Boxes, -1))
	if p.Encoding = int(d[2]); p.Encoding < 4 {
		return p, a.errorf("deltas", "%d values of a box, 4 needed", p.Encoding)
	}
	try.V(a.shaped("anchors", p.Boxes, 4))
	return p, nil
}

// Proposals is a GENERATE_PROPOSALS: for each of N images, the Anchors of every position of
// a map, moved by their deltas, and the best of them after suppression.
type Proposals struct {
	Scores, Deltas, Anchors, Images   uint32 // operand indexes
	OutScores, OutRegions, OutBatches uint32
	N, H, W, Count                    int // Count anchors of a position
	StrideH, StrideW                  float32
	Before, After                     int32   // boxes of an image before and after suppression; not positive: all
	Overlap                           float32 // threshold of the kernel
	Least                             float32 // no side of a box is below it
	NCHW                              bool
}

func readProposals(a *Args) (Proposals, error) {
	p := Proposals{Scores: a.In("scores"), Deltas: a.In("deltas"), Anchors: a.In("anchors"), Images: a.In("image_info"),
		OutScores: a.Out("scores"), OutRegions: a.Out("roi"), OutBatches: a.Out("batches")}
	err := a.scalars(scalar{"height_stride", &p.StrideH}, scalar{"width_stride", &p.StrideW}, scalar{"pre_nms_max", &p.Before},
		scalar{"post_nms_max", &p.After}, scalar{"iou_threshold", &p.Overlap}, scalar{"min_size", &p.Least}, scalar{"nchw", &p.NCHW})
	if err != nil {
		return p, err
	}
	p.N, p.H, p.W, p.Count = try.V4(a.image("scores", p.NCHW))
	n, h, w, values := try.V4(a.image("deltas", p.NCHW))
	if n != p.N || h != p.H || w != p.W || values != 4*p.Count {
		return p, a.errorf("deltas", "%d images of %dx%d with %d values for scores of %d of %dx%d with %d", n, h, w, values, p.N, p.H, p.W, p.Count)
	}
	_ = try.V(a.shaped("anchors", p.Count, 4))
	_, err = a.shaped("image_info", p.N, 2)
	return p, err
}

// suppression is an upper bound of what a non-maximum suppression does: it sorts
// the candidates and compares each with every box that was kept.
func suppression(candidates, kept string) func(*Args, *Work) {
	const iou = 12 // steps: four corners, two areas, a division
	return func(a *Args, w *Work) {
		n := try.V(a.View.elements(a.In(candidates)))
		k := int64(1)
		if kept != "" {
			limit := try.V(a.Int32(kept))
			k = max(int64(limit), 1)
			if limit < 0 {
				k = n // all
			}
		}
		k = min(k, max(n, 1))
		sort := product(a.Op, n, int64(bits.Len64(uint64(n))))
		w.Steps += sort + product(a.Op, n, k, iou)
		w.Lookups += n
	}
}
