package gemm_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/gemm"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kerneltest"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
	"github.com/nnsoc/nnsoc/nn/fixedpoint"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/nn/quantized"
)

// phone is the machine of tests.
var phone = kernel.Machine{Clusters: 2, CUs: 6, SIMDs: 4, WaveLanes: 128, WaveSIMDs: 2, AddressLanes: 4, BroadcastLanes: 7, Line: 64, L2Rate: 164, NearestBytes: 1 << 10, NearestRate: 64,
	L2Latency: 107, ScalarLatency: 30, ScalarLine: 64, DotCycles: 2}

// numbers are n values between -1 and 1, exact in halves.
func numbers(r *rand.Rand, n int) []float32 { return kerneltest.Numbers(r, n, 512, 512) }

// tolerance of sums of products, stored as elements.
func tolerance(e layout.Element) float64 {
	if e == layout.F16 {
		return 1. / 512
	}
	return 1e-5
}

// TestDense: products of all tiles against three loops.
func TestDense(t *testing.T) {
	r := rand.New(rand.NewPCG(25, 1))
	for _, s := range [][3]int{{1, 40, 24}, {3, 40, 24}, {8, 32, 8}, {33, 40, 24}, {50, 130, 16}, {20, 224, 64}, {2, 5, 200}} {
		for _, e := range []layout.Element{layout.F32, layout.F16} {
			for _, act := range [][2]float32{{0, 6}, {float32(math.Inf(-1)), float32(math.Inf(1))}} {
				t.Run(fmt.Sprintf("%v/%s/%v", s, e, act), func(t *testing.T) {
					rows, units, depth := s[0], s[1], s[2]
					k := &gemm.Kernel{
						Shape:   gemm.Shape{Elem: e, Rows: rows, Units: units, Taps: 1, Depth: depth, Lo: act[0], Hi: act[1]},
						Weights: numbers(r, units*depth), Bias: numbers(r, units), In: kerneltest.Tensor(e, rows*depth), Out: kerneltest.Tensor(e, rows*units),
					}
					k.Cut(&phone)
					x := numbers(r, rows*depth)
					for _, cut := range k.Cuts() {
						own := *k
						own.Select(cut.Name)
						c := kerneltest.Case{Kernel: &own, Inputs: []*layout.Tensor{k.In}, Data: [][]byte{kerneltest.Stored(e, x)}, Output: k.Out}
						c.Compare(t, tolerance(e), func(i int) float64 {
							sum := float64(k.Bias[i%units])
							for d := range depth {
								sum += float64(x[i/units*depth+d]) * float64(k.Weights[i%units*depth+d])
							}
							return min(max(sum, float64(act[0])), float64(act[1]))
						})
					}
				})
			}
		}
	}
}

// TestBehind: products of a row that ends within a chunk, of less than one and of several, with as many chunks at once
// as there can be and with one; what is behind the row is not a number.
func TestBehind(t *testing.T) {
	r := rand.New(rand.NewPCG(25, 4))
	for _, depth := range []int{3, 10, 18, 37, 61, 64} {
		for _, step := range []int{0, 8} {
			for _, e := range []layout.Element{layout.F32, layout.F16} {
				const units, behind = 40, 8
				k := &gemm.Kernel{
					Shape:   gemm.Shape{Elem: e, Rows: 1, Units: units, Taps: 1, Depth: depth, Step: step, Lo: -5, Hi: 5},
					Weights: numbers(r, units*depth), Bias: numbers(r, units), In: kerneltest.Tensor(e, depth+behind), Out: kerneltest.Tensor(e, units),
				}
				weights := k.Weights
				k.EndBehind()
				k.Cut(&phone)
				x := numbers(r, depth+behind)
				for i := range behind {
					x[depth+i] = float32(math.NaN())
				}
				c := kerneltest.Case{Kernel: k, Inputs: []*layout.Tensor{k.In}, Data: [][]byte{kerneltest.Stored(e, x)}, Output: k.Out}
				t.Run(fmt.Sprintf("%d by %d, %s", depth, step, e), func(t *testing.T) {
					c.Compare(t, tolerance(e), func(i int) float64 {
						sum := float64(k.Bias[i])
						for d := range depth {
							sum += float64(x[d]) * float64(weights[i*depth+d])
						}
						return min(max(sum, -5), 5)
					})
				})
			}
		}
	}
}

// TestTail: functions of the results of products, of whole tiles and of a rest.
func TestTail(t *testing.T) {
	r := rand.New(rand.NewPCG(25, 3))
	for _, s := range [][3]int{{1, 40, 24}, {33, 64, 24}, {20, 224, 64}} {
		for _, e := range []layout.Element{layout.F32, layout.F16} {
			rows, units, depth := s[0], s[1], s[2]
			k := &gemm.Kernel{
				Shape:   gemm.Shape{Elem: e, Rows: rows, Units: units, Taps: 1, Depth: depth, Lo: 0, Hi: 6},
				Weights: numbers(r, units*depth), Bias: numbers(r, units), In: kerneltest.Tensor(e, rows*depth), Out: kerneltest.Tensor(e, rows*units),
			}
			k.Cut(&phone)
			c := kerneltest.Case{Kernel: k, Inputs: []*layout.Tensor{k.In}, Data: [][]byte{kerneltest.Stored(e, numbers(r, k.In.N))}, Output: k.Out}
			c.CompareTail(t, units, 4*tolerance(e))
		}
	}
}

// TestTable: convolutions whose rows are found by a table, with padding, strides and
// dilation, of two images.
func TestTable(t *testing.T) {
	r := rand.New(rand.NewPCG(25, 2))
	for _, s := range []struct {
		w        opspec.Window
		c, units int
	}{
		{opspec.Window{H: 6, W: 5, KH: 3, KW: 3, StrideH: 1, StrideW: 1, DilationH: 1, DilationW: 1, Top: 1, Bottom: 1, Left: 1, Right: 1, OutH: 6, OutW: 5}, 8, 40},
		{opspec.Window{H: 9, W: 8, KH: 2, KW: 3, StrideH: 2, StrideW: 3, DilationH: 3, DilationW: 2, Top: 2, Left: 3, Right: 1, OutH: 4, OutW: 3}, 16, 70},
		{opspec.Window{H: 3, W: 3, KH: 3, KW: 3, StrideH: 1, StrideW: 1, DilationH: 1, DilationW: 1, OutH: 1, OutW: 1}, 24, 9},
		{opspec.Window{H: 4, W: 4, KH: 1, KW: 1, StrideH: 2, StrideW: 2, DilationH: 1, DilationW: 1, OutH: 2, OutW: 2}, 32, 64},
	} {
		for _, e := range []layout.Element{layout.F32, layout.F16} {
			t.Run(fmt.Sprintf("%+v/%s", s, e), func(t *testing.T) {
				const images = 2
				w, taps := &s.w, s.w.KH*s.w.KW
				rows := images * w.OutH * w.OutW
				k := &gemm.Kernel{
					Shape:  gemm.Shape{Elem: e, Rows: rows, Units: s.units, Taps: taps, Depth: s.c, Lo: -5, Hi: 5, Gather: true},
					Window: s.w, Weights: numbers(r, s.units*taps*s.c), Bias: numbers(r, s.units),
					In: kerneltest.Tensor(e, images*w.H*w.W*s.c), Out: kerneltest.Tensor(e, rows*s.units),
				}
				k.Cut(&phone)
				x := numbers(r, k.In.N)
				c := kerneltest.Case{Kernel: k, Inputs: []*layout.Tensor{k.In}, Data: [][]byte{kerneltest.Stored(e, x)}, Output: k.Out}
				c.Pages.Need(0, s.c*e.Bytes())
				c.Compare(t, tolerance(e), func(i int) float64 {
					row, unit := i/s.units, i%s.units
					image, oy, ox := row/(w.OutH*w.OutW), row/w.OutW%w.OutH, row%w.OutW
					sum := float64(k.Bias[unit])
					for tap := range taps {
						y, xx := oy*w.StrideH-w.Top+tap/w.KW*w.DilationH, ox*w.StrideW-w.Left+tap%w.KW*w.DilationW
						for ch := range s.c {
							if y >= 0 && y < w.H && xx >= 0 && xx < w.W {
								sum += float64(x[((image*w.H+y)*w.W+xx)*s.c+ch]) * float64(k.Weights[(unit*taps+tap)*s.c+ch])
							}
						}
					}
					return min(max(sum, -5), 5)
				})
			})
		}
	}
}

// TestCuts: of the compared tiles the one of the least weight is chosen, and each can be selected.
func TestCuts(t *testing.T) {
	for _, rows := range []int{1, 3, 7, 12, 49, 1000} {
		k := &gemm.Kernel{Shape: gemm.Shape{Elem: layout.F32, Rows: rows, Units: 40, Taps: 1, Depth: 16}, Out: &layout.Tensor{Region: layout.Arena, Elem: layout.F32, N: rows * 40}}
		k.Cut(&phone)
		chosen := 0
		for _, c := range k.Cuts() {
			if c.Chosen {
				chosen++
				for _, x := range k.Cuts() {
					if x.Weight < c.Weight {
						t.Errorf("%d rows: %s weighs %.0f, the chosen %s %.0f", rows, x.Name, x.Weight, c.Name, c.Weight)
					}
				}
			}
		}
		if chosen != 1 {
			t.Errorf("%d rows: %d tiles are chosen", rows, chosen)
		}
		for _, c := range k.Cuts() {
			own := *k
			taken := own.Select(c.Name)
			if i := slices.IndexFunc(own.Cuts(), func(c kernel.Cut) bool { return c.Chosen }); !taken || own.Cuts()[i].Name != c.Name {
				t.Errorf("%d rows: takes %s for %s", rows, own.Cuts()[i].Name, c.Name)
			}
		}
		if k.Select("tile 3x32") {
			t.Error("takes a tile that there is not")
		}
	}
}

// TestTileCycles: estimates of tiles, worked out by hand. A wave's step is u chunks of 16 bytes of the depth.
func TestTileCycles(t *testing.T) {
	type tile struct{ rows, units, depth int }
	quantized := gemm.Shape{Elem: layout.U8}
	quantized.Fixed.FilterZero = 3
	for _, c := range []struct {
		shape gemm.Shape
		tile
		name string
		want float64
	}{
		// One wave, u = 8 chunks of which 4 are loaded at once: 2 pieces of 4 * 4 products, each of which a load of 107 cycles
		// outlasts by 107 - 16; the loads of weights need 8 * 8 cycles; 4 instructions end it on one of 4 SIMDs.
		{gemm.Shape{Elem: layout.F32}, tile{1, 32, 32}, "tile 1x32", 8*8 + 107 + 2*(107-16) + 2*16 + 4./4},
		// Dot products of halves take 2 cycles; two steps.
		{gemm.Shape{Elem: layout.F16}, tile{1, 32, 128}, "tile 1x32", 2*(8*8+107+2*(107-32)+2*32) + 4./4},
		// An odd number of chunks is loaded one by one: a quarter of the loads miss.
		{gemm.Shape{Elem: layout.F32}, tile{1, 32, 12}, "tile 1x32", 3*(8+107+(107./4+30*3./4-4)+4) + 4./4},
		// Rows of 8 bytes also sum their inputs up, and are requantized; two waves of two tiles of units by two of rows
		// share 2 SIMDs of a partition. u = 4 chunks, in 4 pieces of 2 rows: 2 * 4 * 4 * 3 products of 2 cycles.
		{quantized, tile{16, 128, 64}, "tile 8x64", 4*4*2*8 + 107 + 4*2*192 + 8*2*28},
		// 6 waves on each compute unit, whose lines of weights, 4 * 2 * 8 and 4 * 4 * 16 / 64 of input, L2 gives 164 bytes a cycle of.
		{gemm.Shape{Elem: layout.F32}, tile{144, 64, 64}, "tile 4x64", 4*6*((4*2*8+4)*64.*6/164) + 4*2*4*6/4},
	} {
		c.shape.Rows, c.shape.Units, c.shape.Depth, c.shape.Taps = c.rows, c.units, c.depth, 1
		k := &gemm.Kernel{Shape: c.shape, Out: &layout.Tensor{Region: layout.Arena, Elem: c.shape.Elem, N: c.rows * c.units}}
		k.Cut(&phone)
		for _, cut := range k.Cuts() {
			if cut.Name == c.name && !(math.Abs(cut.Weight-c.want) <= 1e-6*c.want) {
				t.Errorf("%+v: %s takes %g cycles, want %g", c.tile, cut.Name, cut.Weight, c.want)
			}
		}
	}
}

// TestQuantized: products of signed and unsigned bytes, by rows and by a table, with one
// multiplier and with one per unit, are those of the reference's arithmetic.
func TestQuantized(t *testing.T) {
	r := rand.New(rand.NewPCG(25, 3))
	w := opspec.Window{H: 5, W: 7, KH: 3, KW: 2, StrideH: 2, StrideW: 1, DilationH: 1, DilationW: 2, Top: 1, Bottom: 1, Left: 1, Right: 1, OutH: 3, OutW: 7}
	dense := opspec.Window{H: 1, W: 1, KH: 1, KW: 1, StrideH: 1, StrideW: 1, DilationH: 1, DilationW: 1, OutH: 1, OutW: 1}
	for _, c := range []struct {
		in, filter layout.Element
		zeros      [2]int32
		perUnit    bool
		w          opspec.Window
		images     int
		depth      int
		units      int
	}{
		{layout.U8, layout.U8, [2]int32{127, 131}, false, w, 2, 16, 40},
		{layout.U8, layout.U8, [2]int32{0, 255}, false, dense, 33, 48, 7},
		{layout.U8, layout.I8, [2]int32{200, 0}, true, w, 1, 32, 70},
		{layout.I8, layout.I8, [2]int32{-128, 0}, true, dense, 17, 64, 33},
		{layout.I8, layout.I8, [2]int32{11, -5}, false, dense, 1, 16, 100},
	} {
		t.Run(fmt.Sprintf("%s/%s/%v/%d", c.in, c.filter, c.perUnit, c.units), func(t *testing.T) {
			taps := c.w.KH * c.w.KW
			bytes := func(n int) []byte {
				b := make([]byte, n)
				for i := range b {
					b[i] = byte(r.Uint32())
				}
				return b
			}
			rows := c.images * c.w.OutH * c.w.OutW
			weights, x := bytes(c.units*taps*c.depth), bytes(c.images*c.w.H*c.w.W*c.depth)
			bias := make([]int32, c.units)
			for i := range bias {
				bias[i] = int32(r.IntN(20000) - 10000)
			}
			q := quantized.GEMM{InZero: c.zeros[0], FilterZero: c.zeros[1], OutZero: 3, Lo: -100, Hi: 120}
			for range c.units {
				q.Mult = append(q.Mult, fixedpoint.QuantizeMultiplier(math.Exp2(-8-3*r.Float64())))
			}
			q.Mult[c.units-1] = fixedpoint.QuantizeMultiplier(1.5)
			if !c.perUnit {
				q.Mult = q.Mult[:1]
			}
			k := &gemm.Kernel{
				Shape: gemm.Shape{Elem: c.in, Rows: rows, Units: c.units, Taps: taps, Depth: c.depth, Gather: taps > 1}, Window: c.w,
				Bytes: gemm.NewQuantized(&q, c.in, c.filter, weights, bias),
				In:    kerneltest.Tensor(c.in, len(x)), Out: kerneltest.Tensor(layout.I8, rows*c.units),
			}
			k.Fixed = k.Bytes.Fixed
			k.Cut(&phone)
			run := kerneltest.Case{Kernel: k, Inputs: []*layout.Tensor{k.In}, Data: [][]byte{x}, Output: k.Out}
			run.Pages.Need(k.Padding(), c.depth)
			xs, ws := kerneltest.Values(c.in, x), kerneltest.Values(c.filter, weights)
			run.Compare(t, 0, func(i int) float64 {
				row, unit := i/c.units, i%c.units
				image, oy, ox := row/(c.w.OutH*c.w.OutW), row/c.w.OutW%c.w.OutH, row%c.w.OutW
				sum := bias[unit]
				for tap := range taps {
					y, xx := oy*c.w.StrideH-c.w.Top+tap/c.w.KW*c.w.DilationH, ox*c.w.StrideW-c.w.Left+tap%c.w.KW*c.w.DilationW
					for d := range c.depth {
						if y >= 0 && y < c.w.H && xx >= 0 && xx < c.w.W {
							sum += (int32(xs[((image*c.w.H+y)*c.w.W+xx)*c.depth+d]) - q.InZero) * (int32(ws[(unit*taps+tap)*c.depth+d]) - q.FilterZero)
						}
					}
				}
				return float64(min(max(q.Multiplier(unit).Apply(sum)+q.OutZero, q.Lo), q.Hi))
			})
		})
	}
}
