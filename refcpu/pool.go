package refcpu

import (
	"math"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/nn/quantized"
)

// poolKernels are the operations that pool an image.
var poolKernels = []operation{
	{op: nn.OpAveragePool2D, prepare: prepareAveragePool},
	{op: nn.OpMaxPool2D, prepare: prepareMaxPool},
	{op: nn.OpL2Pool2D, prepare: prepareL2Pool},
}

// poolFunc reduces the taps of one output pixel: x is the image, off the
// offsets of the taps inside it, c the channels.
type poolFunc[T any] func(dst, x []T, off []int, c int)

// prepareAveragePool is AVERAGE_POOL_2D: the mean of the elements inside the
// image; quantized means round half away from zero.
func prepareAveragePool(v opspec.View, op *nn.Operation) (Kernel, error) {
	return preparePool(v, op, averageFloat, averageQuant)
}

// prepareMaxPool is MAX_POOL_2D.
func prepareMaxPool(v opspec.View, op *nn.Operation) (Kernel, error) {
	return preparePool(v, op, maxFloat, maxQuant)
}

// prepareL2Pool is L2_POOL_2D: the root of the mean square.
func prepareL2Pool(v opspec.View, op *nn.Operation) (Kernel, error) {
	return preparePool(v, op, l2Float, averageQuant)
}

func preparePool(v opspec.View, op *nn.Operation,
	float func(lo, hi float32) poolFunc[float32], quant func(t nn.OperandType, lo, hi int32) poolFunc[byte]) (Kernel, error) {
	p, err := opspec.Read[opspec.Pool](v, op)
	if err != nil {
		return nil, err
	}
	if isFloat(p.Type) {
		f := float(opspec.FloatActRange(p.Act))
		return func(x *Run) error {
			in := x.floats(p.Input, &x.shared)
			out, done := x.floatsOut(p.Output, &x.shared)
			pool(x, &p, out, in, x.shared.Floats, f)
			done()
			return nil
		}, nil
	}
	o := &v.Operands[p.Output]
	lo, hi := quantized.ActRange(p.Act, p.Type, o.Scale, o.ZeroPoint)
	f := quant(p.Type, lo, hi)
	return func(x *Run) error {
		pool(x, &p, x.Bytes(p.Output), x.Bytes(p.Input), x.shared.Bytes, f)
		return nil
	}, nil
}

func pool[T any](x *Run, p *opspec.Pool, out, in []T, scratch func(int) []T, f poolFunc[T]) {
	dst := out
	if p.NCHW {
		t := scratch(len(in))
		toNHWC(t, in, p.N, p.H, p.W, p.C)
		in, dst = t, scratch(len(out))
	}
	x.Parallel(p.N*p.OutH, 1, func(_, lo, hi int) {
		off := make([]int, 0, p.KH*p.KW)
		for row := lo; row < hi; row++ {
			y0 := row%p.OutH*p.StrideH - p.Top
			ky0, ky1 := taps(y0, p.KH, 1, p.H)
			for ox := range p.OutW {
				x0 := ox*p.StrideW - p.Left
				kx0, kx1 := taps(x0, p.KW, 1, p.W)
				off = off[:0]
				for ky := ky0; ky < ky1; ky++ {
					for kx := kx0; kx < kx1; kx++ {
						off = append(off, ((row/p.OutH*p.H+y0+ky)*p.W+x0+kx)*p.C)
					}
				}
				o := (row*p.OutW + ox) * p.C
				f(dst[o:o+p.C], in, off, p.C)
			}
		}
	})
	if p.NCHW {
		toNCHW(out, dst, p.N, p.OutH, p.OutW, p.C)
	}
}

func averageFloat(lo, hi float32) poolFunc[float32] {
	return func(dst, x []float32, off []int, c int) {
		clear(dst)
		for _, o := range off {
			for i, v := range x[o : o+c] {
				dst[i] += v
			}
		}
		n := float32(len(off))
		for i, v := range dst {
			dst[i] = clampF(v/n, lo, hi)
		}
	}
}

func l2Float(lo, hi float32) poolFunc[float32] {
	return func(dst, x []float32, off []int, c int) {
		clear(dst)
		for _, o := range off {
			for i, v := range x[o : o+c] {
				dst[i] += float32(v * v)
			}
		}
		n := float32(len(off))
		for i, v := range dst {
			dst[i] = clampF(float32(math.Sqrt(float64(v/n))), lo, hi)
		}
	}
}

func averageQuant(t nn.OperandType, lo, hi int32) poolFunc[byte] {
	return func(dst, x []byte, off []int, c int) {
		n := int32(len(off))
		for i := range dst {
			sum := int32(0)
			for _, o := range off {
				sum += quantOf(t, x[o+i])
			}
			if sum > 0 {
				sum = (sum + n/2) / max(n, 1)
			} else {
				sum = (sum - n/2) / max(n, 1)
			}
			dst[i] = byte(min(max(sum, lo), hi))
		}
	}
}

func maxFloat(lo, hi float32) poolFunc[float32] {
	return func(dst, x []float32, off []int, c int) {
		fillSlice(dst, -inf32)
		for _, o := range off {
			for i, v := range x[o : o+c] {
				if v > dst[i] { // a NaN is never the greatest, as in TensorFlow Lite's kernels
					dst[i] = v
				}
			}
		}
		for i, v := range dst {
			dst[i] = clampF(v, lo, hi)
		}
	}
}

func maxQuant(t nn.OperandType, lo, hi int32) poolFunc[byte] {
	return func(dst, x []byte, off []int, c int) {
		for i := range dst {
			m := lo
			for _, o := range off {
				m = max(m, quantOf(t, x[o+i]))
			}
			dst[i] = byte(min(m, hi))
		}
	}
}

// resizeKernels scale images.
var resizeKernels = []operation{
	{op: nn.OpResizeBilinear, prepare: read(prepareBilinear)},
	{op: nn.OpResizeNearestNeighbor, prepare: read(prepareNearest)},
}

// prepareBilinear is RESIZE_BILINEAR. Quantized values interpolate as reals
// and round to nearest.
func prepareBilinear(_ opspec.View, _ *nn.Operation, p opspec.Resize) (Kernel, error) {
	ys, xs := p.Bilinear()
	if isFloat(p.Type) {
		return func(x *Run) error {
			in := x.floats(p.Input, &x.shared)
			out, done := x.floatsOut(p.Output, &x.shared)
			bilinear(x, &p, out, in, ys, xs, func(f float32) float32 { return f }, func(f float32) float32 { return f })
			done()
			return nil
		}, nil
	}
	return func(x *Run) error {
		bilinear(x, &p, x.Bytes(p.Output), x.Bytes(p.Input), ys, xs,
			func(b byte) float32 { return float32(quantOf(p.Type, b)) },
			func(f float32) byte { return byte(int32(math.Round(float64(f)))) })
		return nil
	}, nil
}

func bilinear[T any](x *Run, p *opspec.Resize, out, in []T, ys, xs opspec.ResizeAxis, load func(T) float32, store func(float32) T) {
	sn, sy, sx, sc := p.H*p.W*p.C, p.W*p.C, p.C, 1
	on, oy, ox, oc := p.OutH*p.OutW*p.C, p.OutW*p.C, p.C, 1
	if p.NCHW {
		sy, sx, sc, oy, ox, oc = p.W, 1, p.H*p.W, p.OutW, 1, p.OutH*p.OutW
	}
	x.Parallel(p.N*p.OutH, 1, func(_, from, to int) {
		for row := from; row < to; row++ {
			b, y := row/p.OutH, row%p.OutH
			top, bottom, fy := in[b*sn+ys.Lo[y]*sy:], in[b*sn+ys.Hi[y]*sy:], ys.Frac[y]
			for i := range p.OutW {
				l, r, fx := xs.Lo[i]*sx, xs.Hi[i]*sx, xs.Frac[i]
				for c := range p.C {
					k := c * sc
					sum := float32(load(top[l+k]) * (1 - fy) * (1 - fx))
					sum += float32(load(top[r+k]) * (1 - fy) * fx)
					sum += float32(load(bottom[l+k]) * fy * (1 - fx))
					sum += float32(load(bottom[r+k]) * fy * fx)
					out[b*on+y*oy+i*ox+c*oc] = store(sum)
				}
			}
		}
	})
}

// prepareNearest is RESIZE_NEAREST_NEIGHBOR.
func prepareNearest(_ opspec.View, _ *nn.Operation, p opspec.Resize) (Kernel, error) {
	ys, xs := p.Nearest()
	size := p.Type.ElementBytes()
	return func(x *Run) error {
		in, out := x.Bytes(p.Input), x.Bytes(p.Output)
		planes, n := p.N, p.C*size // an element of a plane is n bytes
		if p.NCHW {
			planes, n = p.N*p.C, size
		}
		x.Parallel(planes*p.OutH, 1, func(_, from, to int) {
			for row := from; row < to; row++ {
				src := in[(row/p.OutH*p.H+ys[row%p.OutH])*p.W*n:]
				dst := out[row*p.OutW*n : (row+1)*p.OutW*n]
				for i, s := range xs {
					copy(dst[i*n:(i+1)*n], src[s*n:])
				}
			}
		})
		return nil
	}, nil
}

// toNHWC copies an NCHW image to NHWC.
func toNHWC[T any](dst, src []T, n, h, w, c int) {
	for b := range n {
		for ch := range c {
			s := src[(b*c+ch)*h*w : (b*c+ch+1)*h*w]
			d := dst[b*h*w*c+ch:]
			for i, v := range s {
				d[i*c] = v
			}
		}
	}
}

// toNCHW copies an NHWC image to NCHW.
func toNCHW[T any](dst, src []T, n, h, w, c int) {
	for b := range n {
		for ch := range c {
			d := dst[(b*c+ch)*h*w : (b*c+ch+1)*h*w]
			s := src[b*h*w*c+ch:]
			for i := range d {
				d[i] = s[i*c]
			}
		}
	}
}

// patch copies the elements under a filter at output pixel r into dst, in the order [KH][KW][c]; padding elements
// become fill. A pixel of src has stride elements, of which the first c are copied.
func patch[T any](dst, src []T, g *opspec.Window, c, stride int, fill T, r int) {
	b := r / (g.OutH * g.OutW)
	y0 := r/g.OutW%g.OutH*g.StrideH - g.Top
	x0 := r%g.OutW*g.StrideW - g.Left
	img := src[b*g.H*g.W*stride:]
	o := 0
	for ky := range g.KH {
		y := y0 + ky*g.DilationH
		if y < 0 || y >= g.H {
			fillSlice(dst[o:o+g.KW*c], fill)
			o += g.KW * c
			continue
		}
		if g.DilationW == 1 && c == stride && x0 >= 0 && x0+g.KW <= g.W {
			o += copy(dst[o:o+g.KW*c], img[(y*g.W+x0)*c:])
			continue
		}
		for kx := range g.KW {
			x := x0 + kx*g.DilationW
			if x < 0 || x >= g.W {
				fillSlice(dst[o:o+c], fill)
			} else {
				copy(dst[o:o+c], img[(y*g.W+x)*stride:])
			}
			o += c
		}
	}
}

func fillSlice[T any](s []T, v T) {
	for i := range s {
		s[i] = v
	}
}

// taps is the range of filter taps [lo, hi) that fall inside an axis of size
// in when tap k sits at start + k*dil.
func taps(start, k, dil, in int) (lo, hi int) {
	if start < 0 {
		lo = (-start + dil - 1) / dil
	}
	hi = k
	if last := in - 1 - start; last < (k-1)*dil {
		hi = 0
		if last >= 0 {
			hi = last/dil + 1
		}
	}
	return min(lo, hi), hi
}

// pointwise reports a 1x1 window that moves by single steps without padding:
// its patches are the image's pixels.
func pointwise(g *opspec.Window) bool {
	return g.KH == 1 && g.KW == 1 && g.StrideH == 1 && g.StrideW == 1 && g.OutH == g.H && g.OutW == g.W
}
