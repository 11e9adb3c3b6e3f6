// Package detection works on regions of images and chooses among them: ROI_ALIGN, ROI_POOLING,
// HEATMAP_MAX_KEYPOINT, AXIS_ALIGNED_BBOX_TRANSFORM, BOX_WITH_NMS_LIMIT, GENERATE_PROPOSALS and
// DETECTION_POSTPROCESSING. All are on reals: quantized operands become float32 before. Sums
// and products have the reference's order, so that comparisons decide as there.
package detection

import (
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/rdna"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// box is (x1, y1, x2, y2).
type box [4]codegen.Reg

// loadBox reads four consecutive elements of a tensor.
func loadBox(a *rdna.Builder, t *layout.Tensor, first codegen.Reg) (b box) {
	for i := range b {
		b[i] = a.Element(t, a.Sum(first, i))
	}
	return b
}

// storeBox is the inverse.
func storeBox(a *rdna.Builder, t *layout.Tensor, first codegen.Reg, b box) {
	for i, x := range b {
		a.SetElement(t, a.Sum(first, i), x)
	}
}

// upright is the mask of boxes that are not upside down.
func (b box) upright(a *rdna.Builder) codegen.Reg {
	return a.Both(a.Where(rdna2.V_CMP_LE_F32_E64, b[0], b[2]), a.Where(rdna2.V_CMP_LE_F32_E64, b[1], b[3]))
}

// maxCoordinate is beyond what float32 counts.
const maxCoordinate = 1 << 24

// valid is the mask of regions that are upright, not too large, and of one of n images.
func (b box) valid(a *rdna.Builder, batch codegen.Reg, n int) codegen.Reg {
	m := a.Both(b.upright(a), a.Inside(batch, n))
	for i, limit := range []float32{-maxCoordinate, -maxCoordinate, maxCoordinate, maxCoordinate} {
		op := rdna2.V_CMP_LE_F32_E64
		if i >= 2 {
			op = rdna2.V_CMP_GE_F32_E64
		}
		m = a.Both(m, a.Where(op, limit, b[i]))
	}
	return m
}

// moved is a box whose centre moves by (d0, d1) sizes and whose sizes grow by e^d2 and e^d3.
func (b box) moved(a *rdna.Builder, d box) box {
	w, h := a.SubF(b[2], b[0]), a.SubF(b[3], b[1])
	half := float32(0.5)
	cx := a.AddF(a.MulF(half, a.AddF(b[0], b[2])), a.MulF(d[0], w))
	cy := a.AddF(a.MulF(half, a.AddF(b[1], b[3])), a.MulF(d[1], h))
	w, h = a.MulF(half, a.MulF(a.Exp(d[2]), w)), a.MulF(half, a.MulF(a.Exp(d[3]), h))
	return box{a.SubF(cx, w), a.SubF(cy, h), a.AddF(cx, w), a.AddF(cy, h)}
}

// clip moves the corners into an image; what is not a number stays so.
func (b box) clip(a *rdna.Builder, h, w codegen.Reg) box {
	in := func(x, n codegen.Reg) codegen.Reg {
		return a.Extreme(rdna2.V_MIN_F32_E32, n, a.Extreme(rdna2.V_MAX_F32_E32, a.Constant(float32(0)), x))
	}
	return box{in(b[0], w), in(b[1], h), in(b[2], w), in(b[3], h)}
}

// overlap is the intersection of two boxes over their union.
func overlap(a *rdna.Builder, p, q box) codegen.Reg {
	w := a.SubF(a.MinF(p[2], q[2]), a.MaxF(p[0], q[0]))
	h := a.SubF(a.MinF(p[3], q[3]), a.MaxF(p[1], q[1]))
	apart := a.Any(a.Where(rdna2.V_CMP_GE_F32_E64, 0, w), a.Where(rdna2.V_CMP_GE_F32_E64, 0, h))
	area := func(b box) codegen.Reg { return a.MulF(a.SubF(b[2], b[0]), a.SubF(b[3], b[1])) }
	shared := a.MulF(w, h)
	return a.Choose(a.Quotient(shared, a.SubF(a.AddF(area(p), area(q)), shared)), 0, apart)
}

// Transform moves regions by the deltas of each class and clips them to their images. Lanes
// are regions and classes. Fault, a word of 0, is set where a region is not valid.
type Transform struct {
	Rois, Classes, Images                            int
	Regions, Deltas, Batches, ImageSizes, Out, Fault *layout.Tensor
}

// Emit implements kernel.Kernel.
func (k *Transform) Emit(a *rdna.Builder) kernel.Grid {
	lane := a.Lane(kernel.FlatGroup)
	roi, _ := a.DivConstV(lane, k.Classes, "region")
	region, batch := loadBox(a, k.Regions, a.ShiftLeft(roi, 2, "region")), a.Element(k.Batches, roi)
	valid := region.valid(a, batch, k.Images)
	a.Fault(k.Fault, valid)
	image := a.ShiftLeft(a.Choose(0, batch, valid), 1, "image")
	h, w := a.Element(k.ImageSizes, image), a.Element(k.ImageSizes, a.Sum(image, 1))
	at := a.ShiftLeft(lane, 2, "box")
	storeBox(a, k.Out, at, region.moved(a, loadBox(a, k.Deltas, at)).clip(a, h, w))
	return kernel.Flat("bbox_transform", k.Rois*k.Classes)
}
