package detection

import (
	"math"

	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/rdna"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// Roi pools the bins of regions. Lanes are elements of the output. Fault, a word of 0, is set
// where a region is not valid.
type Roi struct {
	Align            bool // means of bilinear samples, else maxima
	N, H, W, C       int
	Rois, OutH, OutW int
	StrideH, StrideW float32
	SampleH, SampleW int // 0 is as many as a bin has pixels

	In, Regions, Batches, Out, Fault *layout.Tensor
}

// roiBin is the bin of a lane.
type roiBin struct {
	*rdna.Builder
	*Roi
	y, x          codegen.Reg // of the bin
	image         codegen.Reg // element of the lane's channel at the origin of its image
	region        box
	rowStep, step int // elements from pixel to pixel
}

// Emit implements kernel.Kernel.
func (k *Roi) Emit(a *rdna.Builder) kernel.Grid {
	lane := a.Lane(kernel.FlatGroup)
	b := &roiBin{Builder: a, Roi: k, rowStep: k.W * k.C, step: k.C}
	rest, c := a.DivConstV(lane, k.C, "channel")
	rest, b.x = a.DivConstV(rest, k.OutW, "x")
	var roi codegen.Reg
	roi, b.y = a.DivConstV(rest, k.OutH, "y")
	b.region = loadBox(a, k.Regions, a.ShiftLeft(roi, 2, "region"))
	batch := a.Element(k.Batches, roi)
	valid := b.region.valid(a, batch, k.N)
	a.Fault(k.Fault, valid)
	for i, x := range b.region {
		b.region[i] = a.Choose(0, x, valid)
	}
	b.image = a.Sum(a.Times(a.Choose(0, batch, valid), k.H*k.W*k.C), c)
	name, result := "roi_pooling", b.maximum
	if k.Align {
		name, result = "roi_align", b.align
	}
	a.SetElement(k.Out, lane, result())
	return kernel.Flat(name, k.Rois*k.OutH*k.OutW*k.C)
}

// pixel reads the pixel (y, x) of the lane's channel.
func (b *roiBin) pixel(y, x codegen.Reg) codegen.Reg {
	return b.Element(b.In, b.Sum(b.image, b.Sum(b.Times(y, b.rowStep), b.Times(x, b.step))))
}

// span is the samples of a bin along an axis: the first coordinate of bin i, the distance of
// samples, and their number.
func (b *roiBin) span(from, to, i codegen.Reg, stride float32, bins, samples int) (first, step, n codegen.Reg) {
	start := b.Quotient(from, b.Constant(stride))
	size := b.MaxF(b.SubF(b.Quotient(to, b.Constant(stride)), start), float32(1))
	bin := b.Quotient(size, b.Constant(float32(bins)))
	n = b.Constant(float32(samples))
	if samples == 0 {
		n = b.Op1(rdna2.V_CEIL_F32_E32, b.V("samples"), bin)
	}
	return b.AddF(start, b.MulF(bin, b.ToFloat(i))), b.Quotient(bin, n), n
}

// align is the mean of bilinear samples.
func (b *roiBin) align() codegen.Reg {
	y0, dy, ny := b.span(b.region[1], b.region[3], b.y, b.StrideH, b.OutH, b.SampleH)
	x0, dx, nx := b.span(b.region[0], b.region[2], b.x, b.StrideW, b.OutW, b.SampleW)
	sum, sy := b.Variable(0), b.Variable(float32(0))
	b.While("sample row", max(b.SampleH, 1), func() codegen.Reg { return b.Where(rdna2.V_CMP_LT_F32_E64, sy, ny) }, func() {
		top, bottom, fy := b.bracket(b.AddF(y0, b.MulF(dy, b.AddF(float32(0.5), sy))), b.H)
		sx := b.Variable(float32(0))
		b.While("sample", max(b.SampleW, 1), func() codegen.Reg { return b.Where(rdna2.V_CMP_LT_F32_E64, sx, nx) }, func() {
			left, right, fx := b.bracket(b.AddF(x0, b.MulF(dx, b.AddF(float32(0.5), sx))), b.W)
			gx, gy := b.SubF(float32(1), fx), b.SubF(float32(1), fy)
			v := b.AddF(b.MulF(b.pixel(top, left), b.MulF(gx, gy)), b.MulF(b.pixel(top, right), b.MulF(fx, gy)))
			v = b.AddF(v, b.MulF(b.pixel(bottom, left), b.MulF(gx, fy)))
			v = b.AddF(v, b.MulF(b.pixel(bottom, right), b.MulF(fx, fy)))
			b.Set(sum, b.AddF(sum, v))
			b.Set(sx, b.AddF(float32(1), sx))
		})
		b.Set(sy, b.AddF(float32(1), sy))
	})
	return b.Quotient(sum, b.MulF(nx, ny))
}

// bracket finds the neighbours of a coordinate on an axis of n, the edges continued.
func (b *roiBin) bracket(v codegen.Reg, n int) (lo, hi, frac codegen.Reg) {
	f := b.Op1(rdna2.V_FLOOR_F32_E32, b.V("floor"), v)
	at := b.ToInt(f)
	inside := b.Both(b.Where(rdna2.V_CMP_LE_I32_E64, 0, at), b.Where(rdna2.V_CMP_GT_I32_E64, n-1, at))
	lo = b.Least(b.Greatest(at, 0), n-1)
	return lo, b.Choose(lo, b.Sum(lo, 1), inside), b.Choose(0, b.SubF(v, f), inside)
}

// edges are the pixels of bin i along an axis of n.
func (b *roiBin) edges(from, to, i codegen.Reg, stride float32, bins, n int) (lo, hi codegen.Reg) {
	at := func(v codegen.Reg) codegen.Reg { return b.ToInt(b.RoundHalfAway(b.Quotient(v, b.Constant(stride)))) }
	start := at(from)
	size := b.Greatest(b.Sum(b.Less(at(to), start), 1), 1)
	step := b.Quotient(b.ToFloat(size), b.Constant(float32(bins)))
	edge := func(i codegen.Reg, round rdna2.Op) codegen.Reg {
		e := b.Sum(b.ToInt(b.Op1(round, b.V("edge"), b.MulF(step, b.ToFloat(i)))), start)
		return b.Least(b.Greatest(e, 0), n)
	}
	return edge(i, rdna2.V_FLOOR_F32_E32), edge(b.Sum(i, 1), rdna2.V_CEIL_F32_E32)
}

// maximum is the greatest pixel, 0 of a bin without any.
func (b *roiBin) maximum() codegen.Reg {
	top, bottom := b.edges(b.region[1], b.region[3], b.y, b.StrideH, b.OutH, b.H)
	left, right := b.edges(b.region[0], b.region[2], b.x, b.StrideW, b.OutW, b.W)
	some := b.Both(b.Where(rdna2.V_CMP_LT_I32_E64, top, bottom), b.Where(rdna2.V_CMP_LT_I32_E64, left, right))
	best, y := b.Variable(b.Choose(0, b.Constant(float32(math.Inf(-1))), some)), b.Variable(top)
	b.While("row", 1, func() codegen.Reg { return b.Where(rdna2.V_CMP_LT_I32_E64, y, bottom) }, func() {
		x := b.Variable(left)
		b.While("pixel", 1, func() codegen.Reg { return b.Where(rdna2.V_CMP_LT_I32_E64, x, right) }, func() {
			b.Set(best, b.MaxF(best, b.pixel(y, x)))
			b.Increase(x, 1)
		})
		b.Increase(y, 1)
	})
	return best
}
