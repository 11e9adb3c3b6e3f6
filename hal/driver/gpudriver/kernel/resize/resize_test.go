package resize_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/resize"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kerneltest"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// put stores a number as an element, integers with halves rounded away from zero.
func put(e layout.Element, b []byte, x float32) {
	if e.IsFloat() {
		e.PutFloat(b, x)
		return
	}
	b[0] = byte(int32(math.Round(float64(x))))
}

// bilinear is an output of four corners and their weights.
func bilinear(at func(y, x int) float32, y, x *opspec.ResizeAxis, oy, ox int) float32 {
	fy, fx := y.Frac[oy], x.Frac[ox]
	gy, gx := 1-fy, 1-fx
	sum := at(y.Lo[oy], x.Lo[ox]) * gy * gx
	sum += float32(at(y.Lo[oy], x.Hi[ox]) * gy * fx)
	sum += float32(at(y.Hi[oy], x.Lo[ox]) * fy * gx)
	sum += float32(at(y.Hi[oy], x.Hi[ox]) * fy * fx)
	return sum
}

// machine is one by which forms are compared.
var machine = kernel.Machine{CUs: 2, SIMDs: 4, AddressLanes: 4, NearestRate: 64, L2Rate: 64, L2Latency: 100}

// TestResize, in each form: lanes of one channel to four, the last of which overlap; rows of a few lanes; a row and several in a
// wave, of the same rows of the input and of others; images that grow, shrink and stay; rounding of halves.
func TestResize(t *testing.T) {
	rng := rand.New(rand.NewPCG(43, 6))
	for _, r := range []opspec.Resize{
		{N: 1, H: 1, W: 1, C: 8, OutH: 5, OutW: 3},
		{N: 2, H: 3, W: 4, C: 1, OutH: 7, OutW: 9, Center: true},
		{N: 1, H: 3, W: 3, C: 21, OutH: 66, OutW: 33},
		{N: 1, H: 2, W: 2, C: 5, OutH: 37, OutW: 70, AlignCorners: true},
		{N: 3, H: 8, W: 9, C: 4, OutH: 4, OutW: 3},
		{N: 1, H: 4, W: 4, C: 3, OutH: 130, OutW: 100, Center: true},
		{N: 3, H: 7, W: 2, C: 7, OutH: 50, OutW: 3, Center: true},
		{N: 1, H: 2, W: 3, C: 18, OutH: 4, OutW: 6},
		{N: 2, H: 5, W: 4, C: 2, OutH: 9, OutW: 37, AlignCorners: true},
	} {
		for _, e := range []layout.Element{layout.F32, layout.F16, layout.U8, layout.I8} {
			for _, smooth := range []bool{true, false} {
				t.Run(fmt.Sprintf("%dx%dx%dx%d to %dx%d %s %t", r.N, r.H, r.W, r.C, r.OutH, r.OutW, e, smooth), func(t *testing.T) {
					in, out := kerneltest.Tensor(e, r.N*r.H*r.W*r.C), kerneltest.Tensor(e, r.N*r.OutH*r.OutW*r.C)
					k := &resize.Kernel{Batches: r.N, H: r.H, W: r.W, C: r.C, OutH: r.OutH, OutW: r.OutW, Bilinear: smooth, In: in, Out: out}
					if smooth {
						k.Y, k.X = r.Bilinear()
					} else {
						k.Y.Lo, k.X.Lo = r.Nearest()
					}
					size := e.Bytes()
					data, want := make([]byte, in.Bytes()), make([]byte, out.Bytes())
					for i := range in.N {
						put(e, data[i*size:], float32(int8(rng.Uint32())))
					}
					values := kerneltest.Values(e, data)
					for i := range out.N {
						n, oy, ox, c := i/(r.OutH*r.OutW*r.C), i/(r.OutW*r.C)%r.OutH, i/r.C%r.OutW, i%r.C
						at := func(y, x int) float32 { return float32(values[((n*r.H+y)*r.W+x)*r.C+c]) }
						if smooth {
							put(e, want[i*size:], bilinear(at, &k.Y, &k.X, oy, ox))
						} else {
							put(e, want[i*size:], at(k.Y.Lo[oy], k.X.Lo[ox]))
						}
					}
					k.Cut(&machine)
					for _, cut := range k.Cuts() {
						require.Check(t, k.Select(cut.Name), "no form %q", cut.Name)
						got := require.V((&kerneltest.Case{Kernel: k, Inputs: []*layout.Tensor{in}, Data: [][]byte{data}, Output: out}).Run())(t)
						if !bytes.Equal(got.Output, want) {
							t.Errorf("%s: %v\nwant %v", cut.Name, kerneltest.Values(e, got.Output), kerneltest.Values(e, want))
						}
					}
				})
			}
		}
	}
}
