package dsp

import (
	"math"

	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/resize"
	"github.com/nnsoc/nnsoc/hal/opspec"
)

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
func needsFloat(ys, xs samples) bool {
	return fractionBitsOf(ys.frac)+fractionBitsOf(xs.frac) > blendFraction
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
func (l *lowering) blendExactly(p *opspec.Resize, in *tensor, ys, xs samples) {
	planes, size := p.N, p.C
	if p.NCHW {
		planes, size = p.N*p.C, 1
	}
	out := l.flatResult(p.Output)
	k := resize.Exact{Size: size, Bias: int(unsignedBias(p.Type))}
	l.addStep("blend", []*tensor{in}, []*tensor{out}, exactBlendWork{k, out, planes, p, ys, xs, in, size})
}

// exactBlendWork weighs four neighbours of each element in single precision.
type exactBlendWork struct {
	k      resize.Exact
	out    *tensor
	planes int
	p      *opspec.Resize
	ys     samples
	xs     samples
	in     *tensor
	size   int
}

func (w exactBlendWork) Launch(l *launcher, _ rowRange) error {
	kern, err := l.linked(w.k)
	if err != nil {
		return err
	}
	var table []uint32
	to := w.out.addr
	for i := range w.planes {
		for y := range w.p.OutH {
			for x := range w.p.OutW {
				for n := range 4 {
					at := (i*w.p.H+w.ys.at[n/2][y])*w.p.W + w.xs.at[n%2][x]
					table = append(table, w.in.addr+uint32(at*w.size))
				}
				table = append(table, to)
				for _, f := range [2]float32{float32(w.ys.frac[y]), float32(w.xs.frac[x])} {
					table = append(table, math.Float32bits(1-f), math.Float32bits(f))
				}
				to += uint32(w.size)
			}
		}
	}
	l.launchTable(kern, table, resize.ExactWords)
	return nil
}
