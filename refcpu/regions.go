package refcpu

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/nn/quantized"
	"github.com/nnsoc/nnsoc/refcpu/internal/kernel"
)

// regionKernels are the operations on regions of an image.
var regionKernels = []operation{
	{op: nn.OpRoiAlign, prepare: read(prepareRoiAlign)},
	{op: nn.OpRoiPooling, prepare: read(prepareRoiPooling)},
	{op: nn.OpHeatmapMaxKeypoint, prepare: read(prepareHeatmap)},
	{op: nn.OpAxisAlignedBboxTransform, prepare: read(prepareBoxTransform)},
}

// reals is the value of any float or quantized operand as float32.
func (x *Run) reals(i uint32) []float32 {
	o := &x.view.Operands[i]
	b := x.Bytes(i)
	switch o.Type {
	case nn.TensorFloat32, nn.TensorFloat16:
		return x.floats(i, &x.shared)
	case nn.TensorQuant16Asymm, nn.TensorQuant16Symm:
		f := x.shared.Floats(len(b) / 2)
		for k := range f {
			q := int32(binary.LittleEndian.Uint16(b[2*k:]))
			if o.Type == nn.TensorQuant16Symm {
				q = int32(int16(q))
			}
			f[k] = float32(q-o.ZeroPoint) * o.Scale
		}
		return f
	}
	t := realTable(o)
	f := x.shared.Floats(len(b))
	for k, v := range b {
		f[k] = t[v]
	}
	return f
}

// setReals puts real values into a float or quantized operand, rounding to
// nearest and saturating.
func (x *Run) setReals(i uint32, f []float32) {
	o := &x.view.Operands[i]
	b := x.Bytes(i)
	switch o.Type {
	case nn.TensorFloat32, nn.TensorFloat16:
		out, done := x.floatsOut(i, &x.shared)
		copy(out, f)
		done()
	case nn.TensorQuant16Asymm, nn.TensorQuant16Symm:
		lo, hi := int32(0), int32(math.MaxUint16)
		if o.Type == nn.TensorQuant16Symm {
			lo, hi = math.MinInt16, math.MaxInt16
		}
		for k, v := range f {
			binary.LittleEndian.PutUint16(b[2*k:], uint16(quantized.Value(v, o.Scale, o.ZeroPoint, lo, hi)))
		}
	default:
		lo, hi := quantized.Limits(o.Type)
		for k, v := range f {
			b[k] = byte(quantized.Value(v, o.Scale, o.ZeroPoint, lo, hi))
		}
	}
}

// roiImage accesses the pixels of a Roi's input and output.
type roiImage struct {
	in, out    []float32
	pixel, row int // strides of the input
	c, image   int
	p          *opspec.Roi
}

func newRoiImage(p *opspec.Roi, in, out []float32) roiImage {
	r := roiImage{in: in, out: out, pixel: p.C, row: p.W * p.C, c: 1, image: p.H * p.W * p.C, p: p}
	if p.NCHW {
		r.pixel, r.row, r.c = 1, p.W, p.H*p.W
	}
	return r
}

// set writes channel c of output pixel (y, x) of a region.
func (r *roiImage) set(region, y, x, c int, v float32) {
	p := r.p
	if p.NCHW {
		r.out[((region*p.C+c)*p.OutH+y)*p.OutW+x] = v
	} else {
		r.out[((region*p.OutH+y)*p.OutW+x)*p.C+c] = v
	}
}

// checkRegion refuses regions that are upside down or of no image.
func checkRegion(i int, r []float32, batch int32, n int) error {
	if batch < 0 || int(batch) >= n {
		return fmt.Errorf("region %d is of image %d, there are %d", i, batch, n)
	}
	if !(r[0] <= r[2] && r[1] <= r[3]) || r[2] > 1<<24 || r[3] > 1<<24 || r[0] < -1<<24 || r[1] < -1<<24 {
		return fmt.Errorf("region %d is %v", i, r)
	}
	return nil
}

// prepareRoiAlign is ROI_ALIGN: each bin is the mean of bilinear samples.
func prepareRoiAlign(_ opspec.View, _ *nn.Operation, p opspec.Roi) (Kernel, error) {
	return func(x *Run) error {
		regions, batches := x.reals(p.Regions), x.int32s(p.Batches)
		res := x.shared.Floats(p.Rois * p.OutH * p.OutW * p.C)
		img := newRoiImage(&p, x.reals(p.Input), res)
		acc := make([]float32, p.C)
		for i := range p.Rois {
			r := regions[4*i : 4*i+4]
			if err := checkRegion(i, r, batches[i], p.N); err != nil {
				return err
			}
			x0, y0 := r[0]/p.StrideW, r[1]/p.StrideH
			w, h := max(r[2]/p.StrideW-x0, 1), max(r[3]/p.StrideH-y0, 1)
			binW, binH := w/float32(p.OutW), h/float32(p.OutH)
			nx, ny := p.SampleW, p.SampleH
			if nx == 0 {
				nx = int(math.Ceil(float64(binW)))
			}
			if ny == 0 {
				ny = int(math.Ceil(float64(binH)))
			}
			if x.budget.work -= int64(nx) * int64(ny) * int64(p.OutH*p.OutW) * int64(p.C); x.budget.work < 0 {
				return fmt.Errorf("region %d: %w", i, errLimit)
			}
			base := img.in[int(batches[i])*img.image:]
			for oy := range p.OutH {
				for ox := range p.OutW {
					clear(acc)
					for sy := range ny {
						y := y0 + float32(binH*float32(oy)) + float32(binH/float32(ny)*(float32(sy)+0.5))
						for sx := range nx {
							sample(acc, base, &img, y, x0+float32(binW*float32(ox))+float32(binW/float32(nx)*(float32(sx)+0.5)))
						}
					}
					for c, s := range acc {
						img.set(i, oy, ox, c, s/float32(nx*ny))
					}
				}
			}
		}
		x.setReals(p.Output, res)
		return nil
	}, nil
}

// sample adds the bilinear value at (y, x) to acc.
func sample(acc, in []float32, img *roiImage, y, x float32) {
	y0, y1, fy := bracket(y, img.p.H)
	x0, x1, fx := bracket(x, img.p.W)
	a, b := in[y0*img.row+x0*img.pixel:], in[y0*img.row+x1*img.pixel:]
	c, d := in[y1*img.row+x0*img.pixel:], in[y1*img.row+x1*img.pixel:]
	wa, wb, wc, wd := (1-fx)*(1-fy), fx*(1-fy), (1-fx)*fy, fx*fy
	for k := range acc {
		o := k * img.c
		acc[k] += float32(a[o]*wa) + float32(b[o]*wb) + float32(c[o]*wc) + float32(d[o]*wd)
	}
}

// bracket finds the neighbours of a coordinate on an axis of n, the edges
// continued.
func bracket(v float32, n int) (lo, hi int, frac float32) {
	f := float32(math.Floor(float64(v)))
	lo = int(f)
	if lo >= n-1 {
		return n - 1, n - 1, 0
	}
	if lo < 0 {
		return 0, 0, 0
	}
	return lo, lo + 1, v - f
}

// prepareRoiPooling is ROI_POOLING: each bin is a maximum.
func prepareRoiPooling(v opspec.View, _ *nn.Operation, p opspec.Roi) (Kernel, error) {
	return func(x *Run) error {
		regions, batches := x.reals(p.Regions), x.int32s(p.Batches)
		res := x.shared.Floats(p.Rois * p.OutH * p.OutW * p.C)
		img := newRoiImage(&p, x.reals(p.Input), res)
		for i := range p.Rois {
			r := regions[4*i : 4*i+4]
			if err := checkRegion(i, r, batches[i], p.N); err != nil {
				return err
			}
			round := func(v, s float32) int { return int(math.Round(float64(v / s))) }
			x0, y0 := round(r[0], p.StrideW), round(r[1], p.StrideH)
			w, h := max(round(r[2], p.StrideW)-x0+1, 1), max(round(r[3], p.StrideH)-y0+1, 1)
			base := img.in[int(batches[i])*img.image:]
			for oy := range p.OutH {
				top, bottom := bin(oy, y0, h, p.OutH, p.H)
				for ox := range p.OutW {
					left, right := bin(ox, x0, w, p.OutW, p.W)
					for c := range p.C {
						best := float32(0)
						if top < bottom && left < right {
							best = -inf32
						}
						for y := top; y < bottom; y++ {
							for k := left; k < right; k++ {
								if v := base[y*img.row+k*img.pixel+c*img.c]; v > best {
									best = v
								}
							}
						}
						img.set(i, oy, ox, c, best)
					}
				}
			}
		}
		x.setReals(p.Output, res)
		return nil
	}, nil
}

// bin is the range of input positions of bin i of n over size from start on.
func bin(i, start, size, n, limit int) (lo, hi int) {
	step := float32(size) / float32(n)
	lo = int(math.Floor(float64(step*float32(i)))) + start
	hi = int(math.Ceil(float64(step*float32(i+1)))) + start
	return min(max(lo, 0), limit), min(max(hi, 0), limit)
}

// prepareHeatmap is HEATMAP_MAX_KEYPOINT: the maximum of each map, refined by
// the quadratic through its neighbours.
func prepareHeatmap(v opspec.View, _ *nn.Operation, p opspec.Heatmap) (Kernel, error) {
	return func(x *Run) error {
		heat, regions := x.reals(p.Heat), x.reals(p.Regions)
		scores := x.shared.Floats(p.Boxes * p.Points)
		points := x.shared.Floats(2 * p.Boxes * p.Points)
		for b := range p.Boxes {
			r := regions[4*b : 4*b+4]
			if !(r[0] <= r[2] && r[1] <= r[3]) {
				return fmt.Errorf("box %d is %v", b, r)
			}
			for k := range p.Points {
				at := func(y, x int) float32 {
					if p.NCHW {
						return heat[((b*p.Points+k)*p.Size+y)*p.Size+x]
					}
					return heat[((b*p.Size+y)*p.Size+x)*p.Points+k]
				}
				my, mx := 0, 0
				for y := range p.Size {
					for x := range p.Size {
						if at(y, x) > at(my, mx) {
							my, mx = y, x
						}
					}
				}
				dx, dy, score := refine(at, my, mx, p.Size)
				i := b*p.Points + k
				scores[i] = score
				points[2*i] = r[0] + float32((float32(mx)+dx+0.5)/float32(p.Size)*(r[2]-r[0]))
				points[2*i+1] = r[1] + float32((float32(my)+dy+0.5)/float32(p.Size)*(r[3]-r[1]))
			}
		}
		x.setReals(p.Scores, scores)
		x.setReals(p.Output, points)
		return nil
	}, nil
}

// refine is the maximum of the second-order expansion around (my, mx), as an
// offset of at most 1.5, and its value. Neighbours outside are mirrored.
func refine(at func(y, x int) float32, my, mx, n int) (dx, dy, score float32) {
	mirror := func(i int) int {
		switch {
		case i < 0:
			return 1
		case i >= n:
			return n - 2
		}
		return i
	}
	var g [3][3]float32
	for j := range 3 {
		for i := range 3 {
			g[j][i] = at(mirror(my+j-1), mirror(mx+i-1))
		}
	}
	bx, by := -(g[1][2]-g[1][0])/2, -(g[2][1]-g[0][1])/2
	xx, yy := g[1][0]-float32(2*g[1][1])+g[1][2], g[0][1]-float32(2*g[1][1])+g[2][1]
	xy := (g[2][2] - g[2][0] - g[0][2] + g[0][0]) / 4
	if det := float32(xx*yy) - float32(xy*xy); math.Abs(float64(det)) >= math.Abs(1e-6*float64(xx*yy)) && det != 0 {
		dx, dy = (float32(yy*bx)-float32(xy*by))/det, (float32(xx*by)-float32(xy*bx))/det
	}
	if far := max(dx, -dx, dy, -dy); far > 1.5 {
		dx, dy = dx*1.5/far, dy*1.5/far
	}
	score = g[1][1] - float32(bx*dx) - float32(by*dy) +
		(float32((float32(xx*dx)+float32(xy*dy))*dx)+float32((float32(xy*dx)+float32(yy*dy))*dy))/2
	return dx, dy, score
}

// prepareBoxTransform is AXIS_ALIGNED_BBOX_TRANSFORM.
func prepareBoxTransform(_ opspec.View, _ *nn.Operation, p opspec.BoxTransform) (Kernel, error) {
	return func(x *Run) error {
		regions, deltas, images, batches := x.reals(p.Regions), x.reals(p.Deltas), x.reals(p.Images), x.int32s(p.Batches)
		res := x.shared.Floats(4 * p.Rois * p.Classes)
		for i := range p.Rois {
			r := regions[4*i : 4*i+4]
			if err := checkRegion(i, r, batches[i], p.N); err != nil {
				return err
			}
			size := images[2*batches[i] : 2*batches[i]+2]
			for c := range p.Classes {
				k := 4 * (i*p.Classes + c)
				b := decodeBox(boxOf(r), deltas[k:k+4]).clip(size[0], size[1])
				copy(res[k:k+4], b[:])
			}
		}
		x.setReals(p.Output, res)
		return nil
	}, nil
}

// box is (x1, y1, x2, y2).
type box [4]float32

func boxOf(r []float32) box { return box{r[0], r[1], r[2], r[3]} }

// decodeBox moves the centre by (d0, d1) sizes and scales the sizes by
// kernel.Exp(d2), kernel.Exp(d3).
func decodeBox(b box, d []float32) box {
	w, h := b[2]-b[0], b[3]-b[1]
	cx, cy := (b[0]+b[2])/2+float32(d[0]*w), (b[1]+b[3])/2+float32(d[1]*h)
	w = float32(kernel.Exp(float64(d[2]))) * w / 2
	h = float32(kernel.Exp(float64(d[3]))) * h / 2
	return box{cx - w, cy - h, cx + w, cy + h}
}

// clip moves the corners into an image.
func (b box) clip(h, w float32) box {
	return box{clampF(b[0], 0, w), clampF(b[1], 0, h), clampF(b[2], 0, w), clampF(b[3], 0, h)}
}

// iou is the intersection over union of two boxes.
func iou(a, b box) float32 {
	w := min(a[2], b[2]) - max(a[0], b[0])
	h := min(a[3], b[3]) - max(a[1], b[1])
	if w <= 0 || h <= 0 {
		return 0
	}
	inter := float32(w * h)
	return inter / (float32((a[2]-a[0])*(a[3]-a[1])) + float32((b[2]-b[0])*(b[3]-b[1])) - inter)
}
