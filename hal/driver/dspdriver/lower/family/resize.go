package family

import (
	"math"
	"slices"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/resize"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/launch"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/lower"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// samplesOf are the places of samples along an axis.
func samplesOf(a opspec.ResizeAxis) launch.Samples {
	s := launch.Samples{At: [2][]int{a.Lo, a.Hi}}
	for _, f := range a.Frac {
		s.Frac = append(s.Frac, float64(f))
	}
	return s
}

// lowerBilinear lowers RESIZE_BILINEAR: the rows of the input that are needed are
// stretched to the result's width, once with the left and once with the right
// neighbours, and blended.
func lowerBilinear(l *lower.Lowering, _ *nn.Operation, p opspec.Resize) {
	n := p.N * p.OutH * p.OutW * p.C
	someElements.Refuse(n == 0, "shape %v", l.Graph.Operands[p.Output].Dimensions)
	in := l.Flat(p.Input)
	y, x := p.Bilinear()
	ys, xs := samplesOf(y), samplesOf(x)
	if n <= exactBlend && needsFloat(ys, xs) {
		blendExactly(l, &p, in, ys, xs)
		return
	}
	planes, size := p.N, p.C
	var used []int // rows of the input
	place := make([]int, p.H)
	for y := range p.H {
		if slices.Contains(ys.At[0], y) || slices.Contains(ys.At[1], y) {
			place[y] = len(used)
			used = append(used, y)
		}
	}
	width := p.OutW * size
	pitch := layout.RoundUp(width, layout.VectorBytes)
	bytes := int64(planes) * int64(max(p.OutH, len(used))) * int64(pitch)
	maxBytes.Refuse(bytes > layout.MaxArena || 4*pitch > layout.MaxConst/16, "%d rows of %d", planes*p.OutH, pitch)
	var stretched [2]*layout.Tensor
	for k := range stretched {
		stretched[k] = l.NewFlat("neighbours", planes*len(used)*pitch, 1)
		l.Move("neighbours", stretched[k], in, planes*len(used)*p.OutW, func(put func(to, from, n int)) {
			for i := range planes {
				for j, y := range used {
					for x, at := range xs.At[k] {
						put((i*len(used)+j)*pitch+x*size, ((i*p.H+y)*p.W+at)*size, size)
					}
				}
			}
		})
	}
	out := l.FlatResult(p.Output)
	rows := out
	if pitch != width {
		rows = l.NewFlat("rows", planes*p.OutH*pitch, 1)
	}
	l.Add("blend", stretched[:], []*layout.Tensor{rows}, launch.Blend{Xs: xs, Size: size, Pitch: pitch, Planes: planes, Op: p, Bias: lower.UnsignedBias(p.Type), Ys: ys, Used: used, Place: place, Stretched: stretched, Rows: rows})
	if rows == out {
		return
	}
	l.MoveFlat("result", out, rows, 1, []launch.Dim{{N: planes * p.OutH, Src: pitch, Dst: width}, {N: width, Src: 1, Dst: 1}}, 0, 0)
}

const (
	// exactBlend is up to how many elements RESIZE_BILINEAR rounds every step as the
	// reference does, in scalar registers, where fixed point would not give the same.
	exactBlend = 1 << 14
	// blendFraction is up to how many fraction bits the sums of bytes are exact in
	// single precision as well as in fixed point.
	blendFraction = 15
)

// needsFloat reports whether the weights of two axes have so many bits that
// rounding in single precision can show.
func needsFloat(ys, xs launch.Samples) bool {
	return fractionBitsOf(ys.Frac)+fractionBitsOf(xs.Frac) > blendFraction
}

// fractionBitsOf is how many bits behind the point a list needs.
func fractionBitsOf(list []float64) int {
	most := 0
	for _, f := range list {
		n := 0
		for ; n <= blendFraction && f != math.Trunc(f); n++ {
			f *= 2
		}
		most = max(most, n)
	}
	return most
}

// blendExactly lowers a RESIZE_BILINEAR of few elements.
func blendExactly(l *lower.Lowering, p *opspec.Resize, in *layout.Tensor, ys, xs launch.Samples) {
	planes, size := p.N, p.C
	out := l.FlatResult(p.Output)
	k := resize.Exact{Size: size, Bias: int(lower.UnsignedBias(p.Type))}
	l.Add("blend", []*layout.Tensor{in}, []*layout.Tensor{out}, launch.BlendExactly{Kernel: k, Out: out, Planes: planes, Op: p, Ys: ys, Xs: xs, In: in, Size: size})
}

// lowerNearest lowers RESIZE_NEAREST_NEIGHBOR.
func lowerNearest(l *lower.Lowering, _ *nn.Operation, p opspec.Resize) {
	in := l.Flat(p.Input)
	ys, xs := p.Nearest()
	planes, n := p.N, p.C
	someElements.Refuse(planes == 0 || n == 0, "shape %v", l.Graph.Operands[p.Output].Dimensions)
	l.Move("nearest", l.FlatResult(p.Output), in, planes*p.OutH*p.OutW, func(put func(to, from, n int)) {
		to := 0
		for i := range planes {
			for _, y := range ys {
				for _, x := range xs {
					put(to, ((i*p.H+y)*p.W+x)*n, n)
					to += n
				}
			}
		}
	})
}
