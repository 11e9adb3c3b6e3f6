package opspec

import "github.com/nnsoc/nnsoc/hal/nn"

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
func (v View) Roi(op *nn.Operation) (Roi, error) {
	a, err := v.bindAs(op, nn.OpRoiAlign, nn.OpRoiPooling)
	if err != nil {
		return Roi{}, err
	}
	r := Roi{Input: a.In("input"), Regions: a.In("roi"), Batches: a.In("batches"), Output: op.Outputs[0], Type: a.Key}
	if r.NCHW, err = a.BoolOr("nchw", false); err != nil {
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
func (v View) Heatmap(op *nn.Operation) (Heatmap, error) {
	a, err := v.bindAs(op, nn.OpHeatmapMaxKeypoint)
	if err != nil {
		return Heatmap{}, err
	}
	h := Heatmap{Heat: a.In("heatmap"), Regions: a.In("boxes"), Scores: op.Outputs[0], Output: op.Outputs[1], Type: a.Key}
	if h.NCHW, err = a.BoolOr("nchw", false); err != nil {
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
func (v View) BoxTransform(op *nn.Operation) (BoxTransform, error) {
	a, err := v.bindAs(op, nn.OpAxisAlignedBboxTransform)
	if err != nil {
		return BoxTransform{}, err
	}
	b := BoxTransform{Regions: a.In("roi"), Deltas: a.In("deltas"), Batches: a.In("batches"), Images: a.In("image_info"),
		Output: op.Outputs[0], Type: a.Key}
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
