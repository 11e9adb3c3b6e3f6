package window_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/rdna"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/window"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kerneltest"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
	"github.com/nnsoc/nnsoc/nn/fixedpoint"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// numbers are n values between -1 and 1, exact in halves.
func numbers(r *rand.Rand, n int) []float32 { return kerneltest.Numbers(r, n, 512, 512) }

// at is an output of a window: what is done with the taps inside the image.
func at(k *window.Kernel, x []float32, i int) float64 {
	w, pos, ch := &k.Window, i/k.OutC, i%k.OutC
	image, oy, ox := pos/(w.OutH*w.OutW), pos/w.OutW%w.OutH, pos%w.OutW
	sum, most, inside := 0.0, math.Inf(-1), 0.0
	for tap := range w.KH * w.KW {
		y, xx := oy*w.StrideH-w.Top+tap/w.KW*w.DilationH, ox*w.StrideW-w.Left+tap%w.KW*w.DilationW
		if y < 0 || y >= w.H || xx < 0 || xx >= w.W {
			continue
		}
		v := float64(x[((image*w.H+y)*w.W+xx)*k.InC+ch/k.Multiplier])
		inside++
		most = max(most, v)
		if k.Mode == window.Depthwise {
			v *= float64(k.Weights[tap*k.OutC+ch])
		}
		sum += v
	}
	switch k.Mode {
	case window.Depthwise:
		sum += float64(k.Bias[ch])
	case window.Average:
		sum /= inside
	default:
		sum = most
	}
	return min(max(sum, float64(k.Lo)), float64(k.Hi))
}

// windows are what the tests slide.
var windows = []opspec.Window{
	{H: 1, W: 9, KH: 1, KW: 3, StrideH: 1, StrideW: 1, DilationH: 1, DilationW: 1, Left: 1, Right: 1, OutH: 1, OutW: 9},
	{H: 7, W: 11, KH: 3, KW: 3, StrideH: 2, StrideW: 1, DilationH: 1, DilationW: 1, Top: 1, Bottom: 1, Left: 1, Right: 1, OutH: 4, OutW: 11},
	{H: 12, W: 9, KH: 5, KW: 4, StrideH: 3, StrideW: 2, DilationH: 2, DilationW: 1, Top: 2, Bottom: 2, Left: 1, Right: 1, OutH: 3, OutW: 4},
	{H: 6, W: 6, KH: 6, KW: 6, StrideH: 1, StrideW: 1, DilationH: 1, DilationW: 1, OutH: 1, OutW: 1},
	{H: 5, W: 60, KH: 3, KW: 43, StrideH: 2, StrideW: 3, DilationH: 1, DilationW: 1, Top: 1, Bottom: 1, Left: 20, Right: 2, OutH: 3, OutW: 14},
	{H: 1, W: 90, KH: 1, KW: 101, StrideH: 1, StrideW: 1, DilationH: 1, DilationW: 1, Left: 50, Right: 50, OutH: 1, OutW: 90},
	{H: 2, W: 50, KH: 2, KW: 40, StrideH: 1, StrideW: 1, DilationH: 1, DilationW: 1, Left: 3, OutH: 1, OutW: 14},
}

// TestWindow slides windows over few channels and over many, by runs of up to eight positions and, where a line has
// more columns, of one, in several lines.
func TestWindow(t *testing.T) {
	r := rand.New(rand.NewPCG(24, 1))
	for _, w := range windows {
		for _, s := range []window.Shape{
			{Mode: window.Depthwise, InC: 5, Multiplier: 1}, {Mode: window.Depthwise, InC: 40, Multiplier: 1, Lo: 0, Hi: 6}, {Mode: window.Depthwise, InC: 3, Multiplier: 4},
			{Mode: window.Depthwise, InC: 12, Multiplier: 3, Lo: -1, Hi: 1}, {Mode: window.Average, InC: 7, Multiplier: 1}, {Mode: window.Average, InC: 70, Multiplier: 1},
			{Mode: window.Maximum, InC: 4, Multiplier: 1, Lo: 0, Hi: 6}, {Mode: window.Maximum, InC: 33, Multiplier: 1},
		} {
			for _, e := range []layout.Element{layout.F32, layout.F16} {
				if s.Mode == window.Depthwise && w.KW > window.MaxColumns {
					continue
				}
				t.Run(fmt.Sprintf("%d/%dx%d/%dx%d/%s", s.Mode, w.KH, w.KW, s.InC, s.Multiplier, e), func(t *testing.T) {
					s.Window, s.Batches, s.OutC = w, 2, s.InC*s.Multiplier
					if s.Lo == s.Hi {
						s.Lo, s.Hi = float32(math.Inf(-1)), float32(math.Inf(1))
					}
					s.In, s.Out = kerneltest.Tensor(e, s.Batches*w.H*w.W*s.InC), kerneltest.Tensor(e, s.Batches*w.OutH*w.OutW*s.OutC)
					k := &window.Kernel{Shape: s}
					if s.Mode == window.Depthwise {
						k.Weights, k.Bias = numbers(r, w.KH*w.KW*s.OutC), numbers(r, s.OutC)
					}
					x := numbers(r, k.In.N)
					c := kerneltest.Case{Kernel: k, Inputs: []*layout.Tensor{k.In}, Data: [][]byte{kerneltest.Stored(e, x)}, Output: k.Out}
					c.Pages.Need(k.Padding(), s.InC*e.Bytes())
					tolerance := 1e-5
					if e == layout.F16 {
						tolerance = 1. / 1024
					}
					c.Compare(t, tolerance, func(i int) float64 { return at(k, x, i) })
				})
			}
		}
	}
}

// TestQuantized slides windows over bytes: results equal the reference's arithmetic.
func TestQuantized(t *testing.T) {
	r := rand.New(rand.NewPCG(24, 2))
	for _, w := range windows {
		for _, s := range []window.Shape{
			{Mode: window.Depthwise, InC: 5, Multiplier: 1}, {Mode: window.Depthwise, InC: 40, Multiplier: 1}, {Mode: window.Depthwise, InC: 12, Multiplier: 3},
			{Mode: window.Average, InC: 7, Multiplier: 1}, {Mode: window.Average, InC: 70, Multiplier: 1},
			{Mode: window.Maximum, InC: 4, Multiplier: 1}, {Mode: window.Maximum, InC: 33, Multiplier: 1},
		} {
			for _, e := range []layout.Element{layout.U8, layout.I8} {
				if s.Mode == window.Depthwise && w.KW > window.MaxColumns {
					continue
				}
				t.Run(fmt.Sprintf("%d/%dx%d/%dx%d/%s", s.Mode, w.KH, w.KW, s.InC, s.Multiplier, e), func(t *testing.T) {
					s.Window, s.Batches, s.OutC = w, 2, s.InC*s.Multiplier
					s.Fixed = rdna.Fixed{InZero: 100, OutZero: 7, Lo: -90, Hi: 99, PerChannel: e == layout.I8}
					if e == layout.U8 {
						s.Fixed.Lo, s.Fixed.Hi, s.Fixed.Mult = 3, 250, fixedpoint.QuantizeMultiplier(0.0007)
					}
					s.In, s.Out = kerneltest.Tensor(e, s.Batches*w.H*w.W*s.InC), kerneltest.Tensor(e, s.Batches*w.OutH*w.OutW*s.OutC)
					k := &window.Kernel{Shape: s}
					if s.Mode == window.Depthwise {
						q := &window.Quantized{Mult: []fixedpoint.Multiplier{s.Fixed.Mult}}
						for range w.KH * w.KW * s.OutC {
							q.Weights = append(q.Weights, int32(r.IntN(511)-255))
						}
						for c := range s.OutC {
							q.Bias = append(q.Bias, int32(r.IntN(20000)-10000))
							if s.Fixed.PerChannel {
								q.Mult = append(q.Mult[:c], fixedpoint.QuantizeMultiplier(math.Exp2(-7-5*r.Float64())))
							}
						}
						k.Bytes = q
					}
					x := make([]byte, k.In.N)
					for i := range x {
						x[i] = byte(r.Uint32())
					}
					c := kerneltest.Case{Kernel: k, Inputs: []*layout.Tensor{k.In}, Data: [][]byte{x}, Output: k.Out}
					c.Pages.Need(k.Padding(), s.InC)
					v := kerneltest.Values(e, x)
					c.Compare(t, 0, func(i int) float64 { return float64(quantizedAt(k, v, i)) })
				})
			}
		}
	}
}

// quantizedAt is an output of a window of bytes.
func quantizedAt(k *window.Kernel, x []float64, i int) int32 {
	w, pos, ch := &k.Window, i/k.OutC, i%k.OutC
	image, oy, ox := pos/(w.OutH*w.OutW), pos/w.OutW%w.OutH, pos%w.OutW
	sum, most, inside := int32(0), int32(math.MinInt32), int32(0)
	for tap := range w.KH * w.KW {
		y, xx := oy*w.StrideH-w.Top+tap/w.KW*w.DilationH, ox*w.StrideW-w.Left+tap%w.KW*w.DilationW
		if y < 0 || y >= w.H || xx < 0 || xx >= w.W {
			continue
		}
		v := int32(x[((image*w.H+y)*w.W+xx)*k.InC+ch/k.Multiplier])
		inside++
		most = max(most, v)
		if k.Mode == window.Depthwise {
			v = (v - k.Fixed.InZero) * k.Bytes.Weights[tap*k.OutC+ch]
		}
		sum += v
	}
	switch k.Mode {
	case window.Depthwise:
		sum = k.Bytes.Mult[min(ch, len(k.Bytes.Mult)-1)].Apply(sum+k.Bytes.Bias[ch]) + k.Fixed.OutZero
	case window.Average:
		sum = int32(math.Round(float64(sum) / float64(inside)))
	default:
		sum = most
	}
	return min(max(sum, k.Fixed.Lo), k.Fixed.Hi)
}
