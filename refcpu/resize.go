package refcpu

import (
	"math"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

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
