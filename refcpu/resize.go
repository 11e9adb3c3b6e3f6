package refcpu

import (
	"math"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// resizeKernels scale images.
var resizeKernels = []operation{
	{op: nn.OpResizeBilinear, prepare: prepareBilinear},
	{op: nn.OpResizeNearestNeighbor, prepare: prepareNearest},
}

// resizeAxis maps output positions of one axis to input positions.
type resizeAxis struct {
	lo, hi []int     // neighbours
	frac   []float32 // weight of hi
}

// bilinearAxis computes the neighbours and weights of RESIZE_BILINEAR.
func bilinearAxis(in, out int, p *opspec.Resize) resizeAxis {
	a := resizeAxis{make([]int, out), make([]int, out), make([]float32, out)}
	scale := resizeScale(in, out, p.AlignCorners)
	for i := range out {
		src := float32(i) * scale
		if p.Center {
			src = float32((float32(i)+0.5)*scale) - 0.5
		}
		at := max(src, 0)
		a.lo[i] = min(int(at), in-1)
		a.hi[i] = min(a.lo[i]+1, in-1)
		a.frac[i] = at - float32(a.lo[i])
		if p.Center && src < 0 {
			a.frac[i] = 0
		}
	}
	return a
}

func resizeScale(in, out int, corners bool) float32 {
	if corners && out > 1 {
		return float32(in-1) / float32(out-1)
	}
	return float32(in) / float32(out)
}

// nearestAxis computes the input position of RESIZE_NEAREST_NEIGHBOR.
func nearestAxis(in, out int, p *opspec.Resize) []int {
	pos := make([]int, out)
	scale := resizeScale(in, out, p.AlignCorners)
	for i := range out {
		f := float64(float32(i) * scale)
		if p.Center {
			f = float64((float32(i) + 0.5) * scale)
		}
		if p.AlignCorners {
			f = math.Round(f)
		}
		pos[i] = max(min(int(math.Floor(f)), in-1), 0)
	}
	return pos
}

// prepareBilinear is RESIZE_BILINEAR. Quantized values interpolate as reals
// and round to nearest.
func prepareBilinear(v opspec.View, op *nn.Operation) (Kernel, error) {
	p, err := v.Resize(op)
	if err != nil {
		return nil, err
	}
	ys, xs := bilinearAxis(p.H, p.OutH, &p), bilinearAxis(p.W, p.OutW, &p)
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

func bilinear[T any](x *Run, p *opspec.Resize, out, in []T, ys, xs resizeAxis, load func(T) float32, store func(float32) T) {
	sn, sy, sx, sc := p.H*p.W*p.C, p.W*p.C, p.C, 1
	on, oy, ox, oc := p.OutH*p.OutW*p.C, p.OutW*p.C, p.C, 1
	if p.NCHW {
		sy, sx, sc, oy, ox, oc = p.W, 1, p.H*p.W, p.OutW, 1, p.OutH*p.OutW
	}
	x.Parallel(p.N*p.OutH, 1, func(_, from, to int) {
		for row := from; row < to; row++ {
			b, y := row/p.OutH, row%p.OutH
			top, bottom, fy := in[b*sn+ys.lo[y]*sy:], in[b*sn+ys.hi[y]*sy:], ys.frac[y]
			for i := range p.OutW {
				l, r, fx := xs.lo[i]*sx, xs.hi[i]*sx, xs.frac[i]
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
func prepareNearest(v opspec.View, op *nn.Operation) (Kernel, error) {
	p, err := v.Resize(op)
	if err != nil {
		return nil, err
	}
	ys, xs := nearestAxis(p.H, p.OutH, &p), nearestAxis(p.W, p.OutW, &p)
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
