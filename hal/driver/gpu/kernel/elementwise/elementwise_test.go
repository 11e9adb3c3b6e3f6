package elementwise_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/gpu/kernel/elementwise"
	"github.com/nnsoc/nnsoc/hal/driver/gpu/kerneltest"
	"github.com/nnsoc/nnsoc/hal/driver/gpu/layout"
)

// functions has what each function of floats is, of one number or of two. Those of two
// are bounded by 0 and 6 as a fused activation bounds them, except where none is.
var functions = []struct {
	op        elementwise.Op
	of        func(x, y float64) float64
	two       bool
	lo, hi    float64
	positive  bool    // of numbers above 0 alone
	tolerance float64 // in float32
}{
	{op: elementwise.Copy, of: func(x, _ float64) float64 { return x }},
	{op: elementwise.Add, of: func(x, y float64) float64 { return x + y }, two: true, tolerance: 1e-7},
	{op: elementwise.Sub, of: func(x, y float64) float64 { return x - y }, two: true, lo: -1, hi: 1, tolerance: 1e-7},
	{op: elementwise.Mul, of: func(x, y float64) float64 { return x * y }, two: true, lo: 0, hi: 6, tolerance: 1e-7},
	{op: elementwise.Div, of: func(x, y float64) float64 { return x / y }, two: true, tolerance: 2e-7},
	{op: elementwise.Max, of: math.Max, two: true, lo: 0, hi: math.Inf(1)},
	{op: elementwise.Min, of: math.Min, two: true},
	{op: elementwise.Prelu, of: func(x, y float64) float64 {
		if x > 0 {
			return x
		}
		return x * y
	}, two: true, tolerance: 1e-7},
	{op: elementwise.Clamp, of: func(x, _ float64) float64 { return x }, lo: -1, hi: 1},
	{op: elementwise.Logistic, of: func(x, _ float64) float64 { return 1 / (1 + math.Exp(-x)) }, tolerance: 1e-6},
	{op: elementwise.Tanh, of: func(x, _ float64) float64 { return math.Tanh(x) }, tolerance: 1e-6},
	{op: elementwise.Abs, of: func(x, _ float64) float64 { return math.Abs(x) }},
	{op: elementwise.Neg, of: func(x, _ float64) float64 { return -x }},
	{op: elementwise.Floor, of: func(x, _ float64) float64 { return math.Floor(x) }},
	{op: elementwise.Sqrt, of: func(x, _ float64) float64 { return math.Sqrt(x) }, positive: true, tolerance: 1e-6},
	{op: elementwise.Rsqrt, of: func(x, _ float64) float64 { return 1 / math.Sqrt(x) }, positive: true, tolerance: 1e-6},
	{op: elementwise.Log, of: func(x, _ float64) float64 { return math.Log(x) }, positive: true, tolerance: 1e-6},
	{op: elementwise.HardSwish, of: func(x, _ float64) float64 { return x * min(max(x+3, 0), 6) / 6 }, tolerance: 1e-6},
}

// numbers are n values to compute of, exact in halves: the first are special.
func numbers(r *rand.Rand, n int, positive bool) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(r.IntN(4096)-2048) / 256
		if positive {
			v[i] = float32(1+r.IntN(2048)) / 64
		}
	}
	special := []float32{1, 2, 0.5, 1000, 1. / 1024}
	if !positive {
		special = []float32{0, -0.5, 3, -3, 1000, -1000, 7.5, -20}
	}
	copy(v, special)
	return v
}

// TestFunctions computes every function in both precisions, of dense tensors whose size is a
// multiple of 4 and of others, and of operands that repeat along each axis.
func TestFunctions(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 1))
	for _, f := range functions {
		for _, dims := range [][]int{{64}, {37}, {3, 5, 4}} {
			for _, e := range []layout.Element{layout.F32, layout.F16} {
				for _, repeat := range [][3]bool{{}, {true}, {false, true}, {false, true, true}, {true, false, true}, {true, true, true}} {
					if repeat != [3]bool{} && (!f.two || len(dims) == 1) {
						continue
					}
					t.Run(fmt.Sprintf("%s/%v/%s/%v", f.op, dims, e, repeat), func(t *testing.T) {
						n, dense := layout.Product(dims), layout.Dense(dims)
						x := numbers(r, n, f.positive)
						k := &elementwise.Kernel{Function: elementwise.Function{Op: f.op, Lo: float32(f.lo), Hi: float32(f.hi)}}
						if f.lo == f.hi {
							k.Lo, k.Hi = float32(math.Inf(-1)), float32(math.Inf(1))
						}
						k.In, k.Out = []*layout.Tensor{kerneltest.Tensor(e, n)}, kerneltest.Tensor(e, n)
						c := kerneltest.Case{Kernel: k, Output: k.Out, Data: [][]byte{kerneltest.Stored(e, x)}}
						strides := [][]int{dense, dense}
						y, of := []float32{0}, func(i int) int { return 0 }
						if f.two {
							own := make([]int, len(dims)) // dimensions of the second operand
							for d := range dims {
								if own[d] = dims[d]; repeat[d] {
									own[d] = 1
								}
							}
							second := layout.Dense(own)
							for d := range dims {
								if repeat[d] {
									second[d] = 0
								}
							}
							of = func(i int) (at int) {
								for d := range dims {
									at += i / dense[d] % dims[d] * second[d]
								}
								return at
							}
							m := layout.Product(own)
							y = numbers(r, m, true)
							k.In, strides = append(k.In, kerneltest.Tensor(e, m)), append(strides, second)
							c.Data = append(c.Data, kerneltest.Stored(e, y))
						}
						var err error
						if k.Axes, err = layout.Collapse(dims, strides...); err != nil {
							t.Fatal(err)
						}
						c.Inputs = k.In
						tolerance := f.tolerance
						if e == layout.F16 {
							tolerance += 1. / 2048
						}
						c.Compare(t, tolerance, func(i int) float64 {
							v := f.of(float64(x[i]), float64(y[of(i)]))
							if f.lo != f.hi {
								v = min(max(v, f.lo), f.hi)
							}
							if e == layout.F16 && math.Abs(v) > 65504 {
								v = math.Inf(int(math.Copysign(1, v))) // more than the greatest half
							}
							return v
						})
					})
				}
			}
		}
	}
}

// one is a case of a function of one dense tensor.
func one(f elementwise.Function, in, out layout.Element, data []byte) *kerneltest.Case {
	n := len(data) / in.Bytes()
	k := &elementwise.Kernel{Function: f, In: []*layout.Tensor{kerneltest.Tensor(in, n)}, Out: kerneltest.Tensor(out, n)}
	k.Axes, _ = layout.Collapse([]int{n}, []int{1}, []int{1})
	return &kerneltest.Case{Kernel: k, Inputs: k.In, Output: k.Out, Data: [][]byte{data}}
}

// TestConvert: halves to floats and back.
func TestConvert(t *testing.T) {
	x := numbers(rand.New(rand.NewPCG(21, 2)), 52, false)
	for _, e := range [][2]layout.Element{{layout.F16, layout.F32}, {layout.F32, layout.F16}} {
		c := one(elementwise.Function{Op: elementwise.Copy}, e[0], e[1], kerneltest.Stored(e[0], x))
		c.Compare(t, 0, func(i int) float64 { return float64(x[i]) })
	}
}

// TestQuantize rounds quotients and halves away from zero and saturates, and takes all
// bytes back.
func TestQuantize(t *testing.T) {
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	var x []float32
	for i := -700; i <= 700; i++ {
		x = append(x, float32(i)/8)
	}
	for _, q := range []struct {
		e      layout.Element
		back   elementwise.Op
		lo, hi float64
		zero   int32
	}{{layout.U8, elementwise.Dequantize, 0, 255, 100}, {layout.I8, elementwise.DequantizeInt, -128, 127, -7}} {
		f := elementwise.Function{Op: elementwise.Quantize, Lo: float32(q.lo), Hi: float32(q.hi), Scale: 0.25, Zero: q.zero}
		for _, e := range []layout.Element{layout.F32, layout.F16} {
			one(f, e, q.e, kerneltest.Stored(e, x)).Compare(t, 0, func(i int) float64 {
				return min(max(math.Round(float64(x[i])/0.25)+float64(q.zero), q.lo), q.hi)
			})
			f := elementwise.Function{Op: q.back, Scale: 0.25, Zero: q.zero}
			one(f, q.e, e, all).Compare(t, 0, func(i int) float64 {
				return 0.25 * (float64(kerneltest.Values(q.e, all)[i]) - float64(q.zero))
			})
		}
	}
}

// TestLookup: every byte's entry of a table, of signed and of unsigned bytes.
func TestLookup(t *testing.T) {
	all, table := make([]byte, 256), make([]byte, 256)
	for i := range all {
		all[i], table[i] = byte(i), byte(i*7+3)
	}
	for _, e := range []layout.Element{layout.U8, layout.I8} {
		c := one(elementwise.Function{Op: elementwise.Lookup}, e, layout.U8, all)
		c.Consts.Reserve(300)
		c.Kernel.(*elementwise.Kernel).Table = c.Consts.Bytes(table)
		c.Compare(t, 0, func(i int) float64 { return float64(table[i]) })
	}
}
