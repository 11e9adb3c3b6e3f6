package elementwise_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/elementwise"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kerneltest"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn/fixedpoint"
	"github.com/nnsoc/nnsoc/nn/quantized"
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
	{op: "add", of: func(x, y float64) float64 { return x + y }, two: true, tolerance: 1e-7},
	{op: "sub", of: func(x, y float64) float64 { return x - y }, two: true, lo: -1, hi: 1, tolerance: 1e-7},
	{op: "mul", of: func(x, y float64) float64 { return x * y }, two: true, lo: 0, hi: 6, tolerance: 1e-7},
	{op: "div", of: func(x, y float64) float64 { return x / y }, two: true, tolerance: 2e-7},
	{op: "maximum", of: math.Max, two: true, lo: 0, hi: math.Inf(1)},
	{op: "minimum", of: math.Min, two: true},
	{op: "prelu", of: func(x, y float64) float64 {
		if x > 0 {
			return x
		}
		return x * y
	}, two: true, tolerance: 1e-7},
	{op: elementwise.Clamp, of: func(x, _ float64) float64 { return x }, lo: -1, hi: 1},
	{op: "logistic", of: func(x, _ float64) float64 { return 1 / (1 + math.Exp(-x)) }, tolerance: 1e-6},
	{op: "tanh", of: func(x, _ float64) float64 { return math.Tanh(x) }, tolerance: 1e-6},
	{op: "abs", of: func(x, _ float64) float64 { return math.Abs(x) }},
	{op: "neg", of: func(x, _ float64) float64 { return -x }},
	{op: "floor", of: func(x, _ float64) float64 { return math.Floor(x) }},
	{op: "sqrt", of: func(x, _ float64) float64 { return math.Sqrt(x) }, positive: true, tolerance: 1e-6},
	{op: "rsqrt", of: func(x, _ float64) float64 { return 1 / math.Sqrt(x) }, positive: true, tolerance: 1e-6},
	{op: "log", of: func(x, _ float64) float64 { return math.Log(x) }, positive: true, tolerance: 1e-6},
	{op: "exp", of: func(x, _ float64) float64 { return math.Exp(x) }, tolerance: 5e-7},
	{op: "sin", of: func(x, _ float64) float64 { return math.Sin(x) }, tolerance: 1e-6},
	{op: "pow", of: math.Pow, two: true, positive: true, tolerance: 5e-7},
	{op: "equal", of: func(x, y float64) float64 { return truth(x == y) }, two: true},
	{op: "not_equal", of: func(x, y float64) float64 { return truth(x != y) }, two: true},
	{op: "hard_swish", of: func(x, _ float64) float64 { return x * min(max(x+3, 0), 6) / 6 }, tolerance: 1e-6},
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
						k.In, k.Out = []*layout.Tensor{kerneltest.Tensor(e, n)}, kerneltest.Tensor(result(f.op, e), n)
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
							if k.Out.Elem == layout.F32 && math.Abs(v) > math.MaxFloat32 || k.Out.Elem == layout.F16 && math.Abs(v) > 65504 {
								v = math.Inf(int(math.Copysign(1, v))) // more than the greatest number
							}
							return v
						})
					})
				}
			}
		}
	}
}

// TestTail: functions of the results of functions, four elements at a time and, where those of two pixels would be
// neighbours, one by one; of operands that repeat along the first axis or the last.
func TestTail(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 4))
	for _, dims := range [][]int{{6, 8}, {8, 6}, {5, 7}} {
		for _, own := range [][]int{dims, {1, dims[1]}, {dims[0], 1}} {
			for e, tolerance := range map[layout.Element]float64{layout.F32: 1e-6, layout.F16: 1. / 256} {
				n, dense, second := layout.Product(dims), layout.Dense(dims), layout.Dense(own)
				for i := range own {
					if own[i] == 1 {
						second[i] = 0
					}
				}
				k := &elementwise.Kernel{Function: elementwise.Function{Op: "add", Lo: -8, Hi: 8}, In: []*layout.Tensor{kerneltest.Tensor(e, n), kerneltest.Tensor(e, layout.Product(own))}, Out: kerneltest.Tensor(e, n)}
				k.Axes, _ = layout.Collapse(dims, dense, dense, second)
				c := kerneltest.Case{Kernel: k, Inputs: k.In, Output: k.Out}
				for _, x := range k.In {
					c.Data = append(c.Data, kerneltest.Stored(e, numbers(r, x.N, false)))
				}
				t.Run(fmt.Sprintf("%v/%v/%s", dims, own, e), func(t *testing.T) { c.CompareTail(t, dims[1], tolerance) })
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

// TestQuantize: quotients and halves are rounded away from zero and saturate, and all bytes
// are converted back.
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
	}{{layout.U8, "dequantize", 0, 255, 100}, {layout.I8, "dequantize", -128, 127, -7}} {
		f := elementwise.Function{Op: "quantize", Lo: float32(q.lo), Hi: float32(q.hi), Scale: 0.25, Zero: q.zero}
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

// result is the element of a function's result: comparisons give booleans.
func result(op elementwise.Op, e layout.Element) layout.Element {
	if strings.Contains("equal not_equal less less_equal greater greater_equal", string(op)) {
		return layout.U8
	}
	return e
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// integers has what each function of integers is, by hand or by the arithmetic of
// quantized operations.
var integers = []struct {
	op elementwise.Op
	of func(x, y, z int32) int32
	n  int // operands
}{
	{"add_i32", func(x, y, _ int32) int32 { return x + y }, 2},
	{"sub_i32", func(x, y, _ int32) int32 { return x - y }, 2},
	{"mul_i32", func(x, y, _ int32) int32 { return x * y }, 2},
	{"div_i32", func(x, y, _ int32) int32 {
		if y == 0 {
			return 0
		}
		return int32(math.Floor(float64(x) / float64(y))) // exact: both have 32 bits
	}, 2},
	{"maximum_i32", func(x, y, _ int32) int32 { return max(x, y) }, 2},
	{"minimum_i32", func(x, y, _ int32) int32 { return min(x, y) }, 2},
	{"abs_i32", func(x, _, _ int32) int32 { return max(x, -x) }, 1},
	{"neg_i32", func(x, _, _ int32) int32 { return -x }, 1},
	{elementwise.ClampInt, func(x, _, _ int32) int32 { return min(max(x, -1000), 777) }, 1},
	{"equal_i32", func(x, y, _ int32) int32 { return int32(truth(x == y)) }, 2},
	{"not_equal_i32", func(x, y, _ int32) int32 { return int32(truth(x != y)) }, 2},
	{"less_i32", func(x, y, _ int32) int32 { return int32(truth(x < y)) }, 2},
	{"less_equal_i32", func(x, y, _ int32) int32 { return int32(truth(x <= y)) }, 2},
	{"greater_i32", func(x, y, _ int32) int32 { return int32(truth(x > y)) }, 2},
	{"greater_equal_i32", func(x, y, _ int32) int32 { return int32(truth(x >= y)) }, 2},
	{"logical_and", func(x, y, _ int32) int32 { return int32(truth(x != 0 && y != 0)) }, 2},
	{"logical_or", func(x, y, _ int32) int32 { return int32(truth(x != 0 || y != 0)) }, 2},
	{"logical_not", func(x, _, _ int32) int32 { return int32(truth(x == 0)) }, 1},
	{elementwise.Truth, func(x, _, _ int32) int32 { return int32(truth(x != 0)) }, 1},
	{"select", func(x, y, z int32) int32 {
		if x != 0 {
			return y
		}
		return z
	}, 3},
}

// TestIntegers computes every function of integers of each width that holds its result,
// four at a time and one by one.
func TestIntegers(t *testing.T) {
	special := []int32{0, 1, -1, 2, -2, 7, -7, 255, -256, 65535, 1 << 20, math.MaxInt32, math.MinInt32, math.MaxInt32 - 1, math.MinInt32 + 1, 3}
	r := rand.New(rand.NewPCG(21, 3))
	for _, f := range integers {
		for _, n := range []int{256, 251} {
			v := make([][]int32, f.n)
			k := &elementwise.Kernel{Function: elementwise.Function{Op: f.op}, Out: kerneltest.Tensor(layout.I32, n)}
			k.Fixed.Lo, k.Fixed.Hi = -1000, 777
			c := &kerneltest.Case{Kernel: k, Output: k.Out}
			strides := [][]int{{1}}
			for i := range v {
				for j := range n {
					x := special[j/(1+15*(i%2))%len(special)]
					if j >= 200 {
						x = int32(r.Uint32()) >> r.IntN(32)
					}
					v[i] = append(v[i], x)
				}
				if f.n == 3 && i == 0 {
					for j := range v[i] {
						v[i][j] = int32(j % 3)
					}
				}
				k.In = append(k.In, kerneltest.Tensor(layout.I32, n))
				c.Data = append(c.Data, kerneltest.Integers(layout.I32, v[i]))
				strides = append(strides, []int{1})
			}
			k.Axes, _ = layout.Collapse([]int{n}, strides...)
			c.Inputs = k.In
			t.Run(fmt.Sprintf("%s/%d", f.op, n), func(t *testing.T) {
				c.Compare(t, 0, func(i int) float64 {
					arg := [3]int32{}
					for j := range v {
						arg[j] = v[j][i]
					}
					return float64(f.of(arg[0], arg[1], arg[2]))
				})
			})
		}
	}
}

// TestFixed: quantized functions of all pairs of bytes are those of the reference arithmetic.
func TestFixed(t *testing.T) {
	mult := fixedpoint.QuantizeMultiplier
	add := quantized.Add{ZeroA: 3, ZeroB: 120, OutZero: 90, A: mult(0.5), B: mult(0.113), Out: mult(1.7 / (1 << 20)), Lo: 4, Hi: 240}
	mul := quantized.Mul{ZeroA: 128, ZeroB: 7, OutZero: 31, Mult: mult(0.0061), Lo: 0, Hi: 255}
	prelu := quantized.Prelu{InZero: 100, AlphaZero: 50, OutZero: 77, Positive: mult(1.9), Negative: mult(0.004), Lo: 0, Hi: 255}
	fixed := elementwise.Fixed{ZeroA: add.ZeroA, ZeroB: add.ZeroB, OutZero: add.OutZero, A: add.A, B: add.B, Out: add.Out, Shift: quantized.AddShift, Lo: add.Lo, Hi: add.Hi}
	sub := add
	for _, f := range []struct {
		op    elementwise.Op
		fixed elementwise.Fixed
		of    func(x, y int32) int32
	}{
		{"add_q", fixed, add.Apply},
		{"sub_q", fixed, func(x, y int32) int32 {
			v := sub.A.Apply((x-sub.ZeroA)<<quantized.AddShift) - sub.B.Apply((y-sub.ZeroB)<<quantized.AddShift)
			return min(max(sub.Out.Apply(v)+sub.OutZero, sub.Lo), sub.Hi)
		}},
		{"mul_q", elementwise.Fixed{ZeroA: mul.ZeroA, ZeroB: mul.ZeroB, OutZero: mul.OutZero, Out: mul.Mult, Lo: mul.Lo, Hi: mul.Hi}, mul.Apply},
		{"prelu_q", elementwise.Fixed{ZeroA: prelu.InZero, ZeroB: prelu.AlphaZero, OutZero: prelu.OutZero, A: prelu.Positive, B: prelu.Negative, Lo: prelu.Lo, Hi: prelu.Hi}, prelu.Apply},
	} {
		t.Run(string(f.op), func(t *testing.T) {
			const n = 256
			k := &elementwise.Kernel{Function: elementwise.Function{Op: f.op, Fixed: f.fixed}, Out: kerneltest.Tensor(layout.U8, n*n)}
			k.In = []*layout.Tensor{kerneltest.Tensor(layout.U8, n*n), kerneltest.Tensor(layout.U8, n*n)}
			x, y := make([]byte, n*n), make([]byte, n*n)
			for i := range x {
				x[i], y[i] = byte(i), byte(i>>8)
			}
			c := &kerneltest.Case{Kernel: k, Data: [][]byte{x, y}, Output: k.Out}
			k.Axes, _ = layout.Collapse([]int{n * n}, []int{1}, []int{1}, []int{1})
			c.Inputs = k.In
			c.Compare(t, 0, func(i int) float64 { return float64(f.of(int32(x[i]), int32(y[i]))) })
		})
	}
}

// TestSpecialFloats: what is not a number or infinite stays so, as in the reference.
func TestSpecialFloats(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	x := []float32{nan, inf, -inf, 0, 1, -1, nan, 5, -5, 1e-42, 3e38, -3e38, 0.5, -0.5, 1e30, 88}
	y := []float32{1, inf, -inf, 0, nan, 0, nan, inf, 0, 1e-42, 1e-5, 0.5, -inf, inf, 1e30, 1}
	clamp := func(v float64) float64 {
		switch {
		case v < -1:
			return -1
		case v > 6:
			return 6
		}
		return v
	}
	for _, f := range []struct {
		op elementwise.Op
		of func(x, y float64) float64
	}{
		{elementwise.Clamp, func(x, _ float64) float64 { return clamp(x) }},
		{"maximum", func(x, y float64) float64 { return max(x, y) }},
		{"minimum", func(x, y float64) float64 { return min(x, y) }},
		{"div", func(x, y float64) float64 { return x / y }},
		{"exp", func(x, _ float64) float64 { return math.Exp(x) }},
		{"abs", func(x, _ float64) float64 { return math.Abs(x) }},
		{"neg", func(x, _ float64) float64 { return -x }},
		{"less", func(x, y float64) float64 { return truth(x < y) }},
		{"not_equal", func(x, y float64) float64 { return truth(x != y) }},
		{"logistic", func(x, _ float64) float64 { return 1 / (1 + math.Exp(-x)) }},
		{"tanh", func(x, _ float64) float64 { return math.Tanh(x) }},
		{"prelu", func(x, y float64) float64 {
			if x >= 0 {
				return x
			}
			return x * y
		}},
	} {
		t.Run(string(f.op), func(t *testing.T) {
			k := &elementwise.Kernel{Function: elementwise.Function{Op: f.op, Lo: -inf, Hi: inf}, Out: kerneltest.Tensor(result(f.op, layout.F32), len(x))}
			k.In = []*layout.Tensor{kerneltest.Tensor(layout.F32, len(x)), kerneltest.Tensor(layout.F32, len(x))}
			c := &kerneltest.Case{Kernel: k, Data: [][]byte{kerneltest.Bytes(x), kerneltest.Bytes(y)}, Output: k.Out}
			k.Axes, _ = layout.Collapse([]int{len(x)}, []int{1}, []int{1}, []int{1})
			if f.op == elementwise.Clamp {
				k.Lo, k.Hi = -1, 6
			}
			c.Inputs = k.In
			c.Compare(t, 1e-6, func(i int) float64 { return float64(float32(f.of(float64(x[i]), float64(y[i])))) })
		})
	}
}

// TestTanhIsOdd: the function of -x is exactly the negative of that of x, so that what follows finds equal magnitudes equal.
func TestTanhIsOdd(t *testing.T) {
	const n = 512
	r := rand.New(rand.NewPCG(3, 4))
	x := make([]float32, 2*n)
	for i := range n {
		x[i] = float32(r.NormFloat64()) * 4
		x[n+i] = -x[i]
	}
	in, out := kerneltest.Tensor(layout.F32, len(x)), kerneltest.Tensor(layout.F32, len(x))
	k := &elementwise.Kernel{Function: elementwise.Function{Op: "tanh", Lo: float32(math.Inf(-1)), Hi: float32(math.Inf(1))}, Out: out, In: []*layout.Tensor{in}}
	k.Axes, _ = layout.Collapse([]int{len(x)}, []int{1}, []int{1})
	c := &kerneltest.Case{Kernel: k, Inputs: k.In, Data: [][]byte{kerneltest.Bytes(x)}, Output: out}
	res := require.V(c.Run())(t)
	y := res.Floats()
	for i := range n {
		if y[i] != -y[n+i] {
			t.Fatalf("tanh(%g) is %g, tanh(%g) %g", x[i], y[i], x[n+i], y[n+i])
		}
	}
}
