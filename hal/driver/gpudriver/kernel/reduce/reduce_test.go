package reduce_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/reduce"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kerneltest"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
	"github.com/nnsoc/nnsoc/nn/fixedpoint"
	"github.com/nnsoc/nnsoc/nn/quantized"
)

// numbers are n values between -8 and 8, exact in halves.
func numbers(r *rand.Rand, n int) []float32 { return kerneltest.Numbers(r, n, 2048, 256) }

// TestSoftmax: depths below, at and above the lanes of a wave, along the last axis and
// another one, and values so far apart that most results are 0.
func TestSoftmax(t *testing.T) {
	r := rand.New(rand.NewPCG(22, 1))
	for _, s := range []struct {
		Outer, Depth, Inner int
		Beta                float32
	}{
		{Outer: 3, Depth: 50, Inner: 1, Beta: 1}, {Outer: 2, Depth: 32, Inner: 5, Beta: 0.25}, {Outer: 1, Depth: 1, Inner: 3, Beta: 1},
		{Outer: 4, Depth: 7, Inner: 2, Beta: 100}, {Outer: 1, Depth: 97, Inner: 1, Beta: 2},
	} {
		for _, e := range []layout.Element{layout.F32, layout.F16} {
			t.Run(fmt.Sprintf("%+v/%s", s, e), func(t *testing.T) {
				n := s.Outer * s.Depth * s.Inner
				in, out, x := kerneltest.Tensor(e, n), kerneltest.Tensor(e, n), numbers(r, n)
				c := kerneltest.Case{Kernel: &reduce.Softmax{Rows: reduce.Rows{Outer: s.Outer, Depth: s.Depth, Inner: s.Inner, In: in, Out: out}, Beta: s.Beta}, Inputs: []*layout.Tensor{in},
					Data: [][]byte{kerneltest.Stored(e, x)}, Output: out}
				tolerance := 3e-6
				if e == layout.F16 {
					tolerance = 1. / 1024
				}
				c.Compare(t, tolerance, func(i int) float64 {
					first := i/(s.Depth*s.Inner)*s.Depth*s.Inner + i%s.Inner
					sum := 0.0
					for d := range s.Depth {
						sum += math.Exp(float64(s.Beta) * (float64(x[first+d*s.Inner]) - float64(x[i])))
					}
					return 1 / sum
				})
			})
		}
	}
}

// TestMean: one axis and two, next to each other and apart.
func TestMean(t *testing.T) {
	r := rand.New(rand.NewPCG(22, 2))
	for _, s := range []struct {
		dims    []int
		reduced []bool
	}{
		{[]int{7, 40}, []bool{true, false}}, {[]int{40, 9}, []bool{false, true}}, {[]int{2, 3, 4, 5}, []bool{true, false, true, false}},
		{[]int{3, 6, 5}, []bool{false, true, true}}, {[]int{11}, []bool{true}}, {[]int{4, 1}, []bool{false, true}},
	} {
		for _, e := range []layout.Element{layout.F32, layout.F16} {
			t.Run(fmt.Sprintf("%v/%v/%s", s.dims, s.reduced, e), func(t *testing.T) {
				var dims, strides [2][]int // kept, reduced
				dense := layout.Dense(s.dims)
				for d, n := range s.dims {
					set := 0
					if s.reduced[d] {
						set = 1
					}
					dims[set], strides[set] = append(dims[set], n), append(strides[set], dense[d])
				}
				m := &reduce.Fold{FoldShape: reduce.FoldShape{Op: "mean", Count: layout.Product(dims[1])}}
				var err error
				if m.Kept, err = layout.Collapse(dims[0], strides[0]); err != nil {
					t.Fatal(err)
				}
				if m.Reduced, err = layout.Collapse(dims[1], strides[1]); err != nil {
					t.Fatal(err)
				}
				n := layout.Product(s.dims)
				m.In, m.Out = kerneltest.Tensor(e, n), kerneltest.Tensor(e, layout.Product(dims[0]))
				x := numbers(r, n)
				// Every element counts for the result with its indexes along the kept axes.
				want := make([]float64, m.Out.N)
				for i, v := range x {
					to := 0
					for d, size := range s.dims {
						if !s.reduced[d] {
							to = to*size + i/dense[d]%size
						}
					}
					want[to] += float64(v) / float64(m.Count)
				}
				c := kerneltest.Case{Kernel: m, Inputs: []*layout.Tensor{m.In}, Data: [][]byte{kerneltest.Stored(e, x)}, Output: m.Out}
				tolerance := 1e-6
				if e == layout.F16 {
					tolerance = 1. / 1024
				}
				c.Compare(t, tolerance, func(i int) float64 { return want[i] })
			})
		}
	}
}

// rowShapes are [Outer][Depth][Inner] whose rows a lane has for itself, and that the lanes of a
// wave share, with and without a rest.
var rowShapes = [][3]int{{3, 5, 2}, {2, 32, 1}, {3, 50, 3}, {1, 97, 1}, {2, 33, 40}, {1, 150, 40}}

// rowOf is the index of the first element of the row of element i, and the row's stride.
func rowOf(s [3]int, i int) (first, stride int) {
	return i/(s[1]*s[2])*s[1]*s[2] + i%s[2], s[2]
}

// TestNormalize: rows of all shapes have length 1, or mean and deviation as requested.
func TestNormalize(t *testing.T) {
	r := rand.New(rand.NewPCG(22, 3))
	for _, s := range rowShapes {
		n := s[0] * s[1] * s[2]
		x := numbers(r, n)
		moments := func(i int) (mean, squares float64) {
			first, stride := rowOf(s, i)
			for d := range s[1] {
				v := float64(x[first+d*stride])
				mean, squares = mean+v/float64(s[1]), squares+v*v
			}
			return mean, squares
		}
		in, out := kerneltest.Tensor(layout.F32, n), kerneltest.Tensor(layout.F32, n)
		rows := reduce.Rows{Outer: s[0], Depth: s[1], Inner: s[2], In: in, Out: out}
		scale, shift := kerneltest.Tensor(layout.F16, s[1]), kerneltest.Tensor(layout.F32, s[1])
		scales, shifts := numbers(r, s[1]), numbers(r, s[1])
		kernels := map[string]kernel.Kernel{"l2": &reduce.L2Norm{Rows: rows}, "instance": &reduce.Norm{Rows: rows, Gamma: 2, Beta: 3, Epsilon: 0.5}}
		if s[2] == 1 {
			kernels["layer"] = &reduce.Norm{Rows: rows, Gamma: 2, Beta: 3, Epsilon: 0.5, Scale: scale, Shift: shift}
		}
		for name, k := range kernels {
			t.Run(fmt.Sprintf("%s/%v", name, s), func(t *testing.T) {
				c := kerneltest.Case{Kernel: k, Inputs: []*layout.Tensor{in, scale, shift}, Output: out,
					Data: [][]byte{kerneltest.Stored(layout.F32, x), kerneltest.Stored(layout.F16, scales), kerneltest.Stored(layout.F32, shifts)}}
				c.Compare(t, 1e-5, func(i int) float64 {
					mean, squares := moments(i)
					if name == "l2" {
						return float64(x[i]) / math.Sqrt(squares)
					}
					y := (float64(x[i])-mean)/math.Sqrt(squares/float64(s[1])-mean*mean+0.5)*2 + 3
					if name == "layer" {
						y = y*float64(scales[i%s[1]]) + float64(shifts[i%s[1]])
					}
					return y
				})
			})
		}
	}
}

// TestInfiniteNorm: what divides rows may be infinite: finite elements become zeros then, infinite ones no numbers.
func TestInfiniteNorm(t *testing.T) {
	for _, s := range [][3]int{{1, 4, 1}, {1, 40, 1}} {
		n := s[1]
		in, out := kerneltest.Tensor(layout.F32, n), kerneltest.Tensor(layout.F32, n)
		long := make([]float32, n) // whose squares are beyond float32
		long[0], long[1] = 1e30, -1e30
		infinite := make([]float32, n)
		infinite[0], infinite[1] = float32(math.Inf(1)), 3
		for name, c := range map[string]struct {
			k kernel.Kernel
			x []float32
			f func(i int) float64
		}{
			"l2": {&reduce.L2Norm{Rows: reduce.Rows{Outer: s[0], Depth: s[1], Inner: s[2], In: in, Out: out}}, infinite, func(i int) float64 {
				return float64(infinite[i]) / math.Inf(1)
			}},
			"instance": {&reduce.Norm{Rows: reduce.Rows{Outer: s[0], Depth: s[1], Inner: s[2], In: in, Out: out}, Gamma: 2, Beta: 3, Epsilon: 0.5},
				long, func(int) float64 { return 3 }},
		} {
			t.Run(fmt.Sprintf("%s/%v", name, s), func(t *testing.T) {
				one := kerneltest.Case{Kernel: c.k, Inputs: []*layout.Tensor{in}, Data: [][]byte{kerneltest.Stored(layout.F32, c.x)}, Output: out}
				one.Compare(t, 0, c.f)
			})
		}
	}
}

// TestQuantizedSoftmax: results equal the reference's arithmetic, in 1/256.
func TestQuantizedSoftmax(t *testing.T) {
	r := rand.New(rand.NewPCG(22, 4))
	q := quantized.Softmax{Mult: fixedpoint.Multiplier{M: 1 << 30, Shift: 22}, DiffMin: -255, Lo: 0, Hi: 255} // 1/16 a step
	for _, s := range rowShapes {
		t.Run(fmt.Sprint(s), func(t *testing.T) {
			n := s[0] * s[1] * s[2]
			data := make([]byte, n)
			for i := range data {
				data[i] = byte(r.IntN(256))
			}
			in, out := kerneltest.Tensor(layout.U8, n), kerneltest.Tensor(layout.U8, n)
			c := kerneltest.Case{Kernel: &reduce.QuantizedSoftmax{Rows: reduce.Rows{Outer: s[0], Depth: s[1], Inner: s[2], In: in, Out: out}, Quant: q},
				Inputs: []*layout.Tensor{in}, Data: [][]byte{data}, Output: out}
			c.Compare(t, 0, func(i int) float64 {
				first, stride := rowOf(s, i)
				top, sum := int32(0), int32(0)
				for d := range s[1] {
					top = max(top, int32(data[first+d*stride]))
				}
				for d := range s[1] {
					sum += quantized.SoftmaxSumTerm(q.Exp(int32(data[first+d*stride]) - top))
				}
				scale, shift := quantized.SoftmaxScale(sum)
				return float64(q.Finish(q.Exp(int32(data[i])-top), scale, shift))
			})
		})
	}
}
