package opspec

import "github.com/nnsoc/nnsoc/hal/nn"

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
	Type                            nn.OperandType
	N, H, W, C                      int
	Rois, OutH, OutW                int
	StrideH, StrideW                float32
	SampleH, SampleW                int // ROI_ALIGN: samples per bin, 0 adapts
	NCHW                            bool
}

// Roi reads a ROI_ALIGN or ROI_POOLING.
func (v View) Roi(op *nn.Operation) (Roi, error) { return Read[Roi](v, op) }

func readRoi(a *Args) (Roi, error) {
	r := Roi{Input: a.In("input"), Regions: a.In("roi"), Batches: a.In("batches"), Output: a.Op.Outputs[0], Type: a.Key}
	var err error
	if r.NCHW, err = a.Bool("nchw"); err != nil {
		return r, err
	}
	if r.N, r.H, r.W, r.C, err = a.image("input", r.NCHW); err != nil {
		return r, err
	}
	if r.Rois, err = a.regions("roi", "batches", 4); err != nil {
		return r, err
	}
	for _, p := range []struct {
		name string
		dst  *int
		low  int32
	}{{"out_height", &r.OutH, 1}, {"out_width", &r.OutW, 1}, {"height_sampling", &r.SampleH, 0}, {"width_sampling", &r.SampleW, 0}} {
		if !a.Has(p.name) {
			continue
		}
		x, err := a.Int32(p.name)
		if err != nil {
			return r, err
		}
		if x < p.low || x > 1<<15 {
			return r, a.errorf(p.name, "%d", x)
		}
		*p.dst = int(x)
	}
	for _, p := range []struct {
		name string
		dst  *float32
	}{{"height_stride", &r.StrideH}, {"width_stride", &r.StrideW}} {
		if *p.dst, err = a.Float(p.name); err != nil {
			return r, err
		}
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
	d, err := a.Dims(roi)
	if err != nil {
		return 0, err
	}
	b, err := a.Dims(batches)
	if err != nil {
		return 0, err
	}
	if len(d) != 2 || d[1] != columns || len(b) != 1 || b[0] != d[0] {
		return 0, a.errorf(roi, "shapes %v and %v, [n, %d] and [n] needed", d, b, columns)
	}
	return int(d[0]), nil
}

// Heatmap is a HEATMAP_MAX_KEYPOINT: the maximum of each of Boxes maps of
// Size x Size with Points channels.
type Heatmap struct {
	Heat, Regions, Scores, Output uint32 // operand indexes
	Type                          nn.OperandType
	Boxes, Size, Points           int
	NCHW                          bool
}

// Heatmap reads a HEATMAP_MAX_KEYPOINT.
func (v View) Heatmap(op *nn.Operation) (Heatmap, error) { return Read[Heatmap](v, op) }

func readHeatmap(a *Args) (Heatmap, error) {
	h := Heatmap{Heat: a.In("heatmap"), Regions: a.In("boxes"), Scores: a.Op.Outputs[0], Output: a.Op.Outputs[1], Type: a.Key}
	var err error
	if h.NCHW, err = a.Bool("nchw"); err != nil {
		return h, err
	}
	n, y, x, c, err := a.image("heatmap", h.NCHW)
	if err != nil {
		return h, err
	}
	d, err := a.Dims("boxes")
	if err != nil {
		return h, err
	}
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
	Type                                     nn.OperandType
	Rois, Classes, N                         int
	Dims                                     []uint32
}

// BoxTransform reads an AXIS_ALIGNED_BBOX_TRANSFORM.
func (v View) BoxTransform(op *nn.Operation) (BoxTransform, error) { return Read[BoxTransform](v, op) }

func readBoxTransform(a *Args) (BoxTransform, error) {
	b := BoxTransform{Regions: a.In("roi"), Deltas: a.In("deltas"), Batches: a.In("batches"), Images: a.In("image_info"),
		Output: a.Op.Outputs[0], Type: a.Key}
	var err error
	if b.Rois, err = a.regions("roi", "batches", 4); err != nil {
		return b, err
	}
	if b.Dims, err = a.Dims("deltas"); err != nil {
		return b, err
	}
	images, err := a.Dims("image_info")
	if err != nil {
		return b, err
	}
	if len(b.Dims) != 2 || int(b.Dims[0]) != b.Rois || b.Dims[1]%4 != 0 || len(images) != 2 || images[1] != 2 {
		return b, a.errorf("deltas", "shapes %v and %v for %d regions", b.Dims, images, b.Rois)
	}
	b.Classes, b.N = int(b.Dims[1]/4), int(images[0])
	return b, nil
}
