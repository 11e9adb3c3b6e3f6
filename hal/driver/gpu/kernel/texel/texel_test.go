package texel_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/gpu/kernel/texel"
	"github.com/nnsoc/nnsoc/hal/driver/gpu/kerneltest"
	"github.com/nnsoc/nnsoc/hal/driver/gpu/layout"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// numbers are n values between -1 and 1, exact in halves.
func numbers(r *rand.Rand, n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(r.IntN(1024)-512) / 512
	}
	return v
}

// shapes are convolutions of all blocks, with and without a rest in channels, units, lines and
// columns, with padding, strides, dilation, groups and weights that fit the constants.
var shapes = []struct {
	w                                opspec.Window
	batches, channels, units, groups int
	clusters                         int // more of them make blocks smaller
	name                             string
}{
	{opspec.Window{H: 9, W: 7, KH: 1, KW: 1, StrideH: 1, StrideW: 1, DilationH: 1, DilationW: 1, OutH: 9, OutW: 7}, 1, 20, 204, 1, 1, "texel_2x2x2"},
	{opspec.Window{H: 9, W: 7, KH: 3, KW: 3, StrideH: 1, StrideW: 1, DilationH: 1, DilationW: 1, Top: 1, Bottom: 1, Left: 1, Right: 1, OutH: 9, OutW: 7}, 2, 6, 40, 1, 1, "texel_2x1x1"},
	{opspec.Window{H: 9, W: 8, KH: 2, KW: 3, StrideH: 2, StrideW: 3, DilationH: 3, DilationW: 2, Top: 2, Left: 3, Right: 1, OutH: 4, OutW: 3}, 2, 16, 70, 1, 1, "texel_1x1x1"},
	{opspec.Window{H: 11, W: 11, KH: 3, KW: 3, StrideH: 2, StrideW: 2, DilationH: 1, DilationW: 1, OutH: 5, OutW: 5}, 3, 3, 101, 1, 1, "texel_2x1x2"},
	{opspec.Window{H: 7, W: 7, KH: 3, KW: 3, StrideH: 1, StrideW: 1, DilationH: 1, DilationW: 1, Top: 1, Bottom: 1, Left: 1, Right: 1, OutH: 7, OutW: 7}, 1, 24, 48, 4, 1, "texel_1x1x1"},
	{opspec.Window{H: 14, W: 14, KH: 3, KW: 3, StrideH: 1, StrideW: 1, DilationH: 1, DilationW: 1, Top: 1, Bottom: 1, Left: 1, Right: 1, OutH: 14, OutW: 14}, 1, 15, 60, 3, 1, "texel_2x1x1"},
	{opspec.Window{H: 1, W: 1, KH: 1, KW: 1, StrideH: 1, StrideW: 1, DilationH: 1, DilationW: 1, OutH: 1, OutW: 1}, 1, 64, 250, 1, 1, "texel_1x1x1"},
	{opspec.Window{H: 9, W: 7, KH: 1, KW: 1, StrideH: 2, StrideW: 2, DilationH: 1, DilationW: 1, OutH: 5, OutW: 4}, 2, 30, 26, 1, 1, "texel_constants"},
	{opspec.Window{H: 9, W: 7, KH: 3, KW: 3, StrideH: 1, StrideW: 1, DilationH: 1, DilationW: 1, Top: 1, Bottom: 1, Left: 1, Right: 1, OutH: 9, OutW: 7}, 1, 2, 24, 1, 1, "texel_constants"},
	{opspec.Window{H: 9, W: 7, KH: 1, KW: 1, StrideH: 1, StrideW: 1, DilationH: 1, DilationW: 1, OutH: 9, OutW: 7}, 2, 54, 20, 1, 1, "texel_constants"},
	{opspec.Window{H: 9, W: 7, KH: 1, KW: 1, StrideH: 1, StrideW: 1, DilationH: 1, DilationW: 1, OutH: 9, OutW: 7}, 3, 64, 10, 1, 1, "texel_constants"},
	{opspec.Window{H: 9, W: 7, KH: 1, KW: 1, StrideH: 1, StrideW: 1, DilationH: 1, DilationW: 1, OutH: 9, OutW: 7}, 1, 13, 32, 1, 1, "texel_constants"},
}

// TestConv: convolutions against their sum, and neighbours that are not numbers stay outside.
func TestConv(t *testing.T) {
	r := rand.New(rand.NewPCG(26, 1))
	for _, s := range shapes {
		for e, tolerance := range map[layout.Element]float64{layout.F32: 1e-5, layout.F16: 1. / 512} {
			t.Run(fmt.Sprintf("%s/%d-%d/%s", s.name, s.channels, s.units, e), func(t *testing.T) {
				w, taps := &s.w, s.w.KH*s.w.KW
				rows, depth := s.batches*w.OutH*w.OutW, s.channels/s.groups
				k := &texel.Kernel{
					Shape:   texel.Shape{Elem: e, Window: s.w, Batches: s.batches, InC: s.channels, OutC: s.units, Groups: s.groups, Lo: -5, Hi: 5},
					Weights: numbers(r, s.units*taps*depth), Bias: numbers(r, s.units),
					In: kerneltest.Tensor(e, s.batches*w.H*w.W*s.channels), Out: kerneltest.Tensor(e, rows*s.units),
				}
				k.Cut(s.clusters)
				x := numbers(r, k.In.N)
				x[k.In.N-1] = float32(math.NaN())
				c := kerneltest.Case{Kernel: k, Inputs: []*layout.Tensor{k.In}, Data: [][]byte{kerneltest.Stored(e, x)}, Output: k.Out}
				c.Pages.Need(0, s.channels*e.Bytes())
				c.Compare(t, tolerance, func(i int) float64 {
					row, unit := i/s.units, i%s.units
					image, oy, ox := row/(w.OutH*w.OutW), row/w.OutW%w.OutH, row%w.OutW
					first := unit / (s.units / s.groups) * depth
					sum := float64(k.Bias[unit])
					for tap := range taps {
						y, xx := oy*w.StrideH-w.Top+tap/w.KW*w.DilationH, ox*w.StrideW-w.Left+tap%w.KW*w.DilationW
						for ch := range depth {
							if y >= 0 && y < w.H && xx >= 0 && xx < w.W {
								sum += float64(x[((image*w.H+y)*w.W+xx)*s.channels+first+ch]) * float64(k.Weights[(unit*taps+tap)*depth+ch])
							}
						}
					}
					return min(max(sum, -5), 5)
				})
				if got := c.Kernel.(*texel.Kernel); e == layout.F16 {
					chosen := ""
					for _, x := range got.Cuts() {
						if x.Chosen {
							chosen += x.Name
							if x.Work != got.Work() {
								t.Errorf("%s does %+v, the kernel %+v", x.Name, x.Work, got.Work())
							}
						}
					}
					if chosen == "" {
						t.Error("no cut is chosen")
					}
					if name := (texel.Key{Shape: got.Shape}).Name(); name != s.name+"_f16" {
						t.Errorf("the kernel is %s, want %s_f16", name, s.name)
					}
				}
			})
		}
	}
}
