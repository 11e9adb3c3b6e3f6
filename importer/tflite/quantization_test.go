package tflite

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// requantized is an operator that NNAPI ties to a quantization, and its real function on reals of shape [1 4 4 2].
type requantized struct {
	op, kind string
	options  fields
	more     []arg
	shape    []int32
	real     func(x []float64) []float64
}

// windows2 is f of each of the four 2x2 windows of both channels.
func windows2(f func(list []float64) float64) func([]float64) []float64 {
	return func(x []float64) (out []float64) {
		for i := range 8 {
			at := i/4*16 + i/2%2*4 + i%2
			out = append(out, f([]float64{x[at], x[at+2], x[at+8], x[at+10]}))
		}
		return out
	}
}

// channelwise is f of all elements of each of both channels.
func channelwise(f func(list []float64) float64) func([]float64) []float64 {
	return func(x []float64) []float64 {
		var c [2][]float64
		for i, v := range x {
			c[i%2] = append(c[i%2], v)
		}
		return []float64{f(c[0]), f(c[1])}
	}
}

func each(f func(v float64) float64) func([]float64) []float64 {
	return func(x []float64) []float64 {
		out := make([]float64, len(x))
		for i, v := range x {
			out[i] = f(v)
		}
		return out
	}
}

func mean(list []float64) float64 {
	sum := 0.0
	for _, v := range list {
		sum += v
	}
	return sum / float64(len(list))
}

func softmaxPairs(x []float64) []float64 {
	out := make([]float64, len(x))
	for i := range x {
		out[i] = 1 / (1 + math.Exp(x[i^1]-x[i]))
	}
	return out
}

func unitPairs(x []float64) []float64 {
	out := make([]float64, len(x))
	for i := range x {
		out[i] = x[i] / math.Max(math.Hypot(x[i], x[i^1]), 1e-6)
	}
	return out
}

// doubled is the bilinear image of twice the rows and columns, corners not aligned.
func doubled(x []float64) (out []float64) {
	for i := range 128 {
		y, c, ch := float64(i/16)/2, float64(i/2%8)/2, i%2
		at := func(r, c float64) float64 { return x[int(min(r, 3))*8+int(min(c, 3))*2+ch] }
		fy, fx := y-math.Floor(y), c-math.Floor(c)
		top := at(math.Floor(y), math.Floor(c))*(1-fx) + at(math.Floor(y), math.Floor(c)+1)*fx
		bottom := at(math.Floor(y)+1, math.Floor(c))*(1-fx) + at(math.Floor(y)+1, math.Floor(c)+1)*fx
		out = append(out, top*(1-fy)+bottom*fy)
	}
	return out
}

func requantizedCases() []requantized {
	image, pooled := dims(1, 4, 4, 2), dims(1, 2, 2, 2)
	halves := fields{"padding": 1, "stride_w": 2, "stride_h": 2, "filter_w": 2, "filter_h": 2}
	halvesRelu6 := fields{"padding": 0, "stride_w": 2, "stride_h": 2, "filter_w": 2, "filter_h": 2, "activation": 3}
	clip := func(lo, hi float64) func(float64) float64 {
		return func(v float64) float64 { return min(max(v, lo), hi) }
	}
	return []requantized{
		{op: "MEAN", kind: "ReducerOptions", options: fields{"keep_dims": true}, more: []arg{k(i32(dims(2), 1, 2))}, shape: dims(1, 1, 1, 2), real: channelwise(mean)},
		{op: "MEAN", kind: "ReducerOptions", more: []arg{k(i32(dims(2), -2, 1))}, shape: dims(1, 2), real: channelwise(mean)},
		{op: "MEAN", kind: "ReducerOptions", more: []arg{k(i32(dims(1), 3))}, shape: dims(1, 4, 4), real: func(x []float64) (out []float64) {
			for pair := range slices.Chunk(x, 2) {
				out = append(out, mean(pair))
			}
			return out
		}},
		{op: "AVERAGE_POOL_2D", kind: "Pool2DOptions", options: halves, shape: pooled, real: windows2(mean)},
		{op: "AVERAGE_POOL_2D", kind: "Pool2DOptions", options: halvesRelu6, shape: pooled, real: func(x []float64) []float64 { return each(clip(0, 6))(windows2(mean)(x)) }},
		{op: "MAX_POOL_2D", kind: "Pool2DOptions", options: halves, shape: pooled, real: windows2(slices.Max[[]float64])},
		{op: "MAX_POOL_2D", kind: "Pool2DOptions", options: halvesRelu6, shape: pooled, real: func(x []float64) []float64 { return each(clip(0, 6))(windows2(slices.Max[[]float64])(x)) }},
		{op: "RESIZE_BILINEAR", kind: "ResizeBilinearOptions", more: []arg{k(i32(dims(2), 8, 8))}, shape: dims(1, 8, 8, 2), real: doubled},
		{op: "RELU", shape: image, real: each(clip(0, math.Inf(1)))},
		{op: "RELU6", shape: image, real: each(clip(0, 6))},
		{op: "RELU_N1_TO_1", shape: image, real: each(clip(-1, 1))},
		{op: "LOGISTIC", shape: image, real: each(func(v float64) float64 { return 1 / (1 + math.Exp(-v)) })},
		{op: "TANH", shape: image, real: each(math.Tanh)},
		{op: "SOFTMAX", kind: "SoftmaxOptions", options: fields{"beta": float32(1)}, shape: image, real: softmaxPairs},
		{op: "L2_NORMALIZATION", shape: image, real: unitPairs},
		{op: "REDUCE_MAX", kind: "ReducerOptions", options: fields{"keep_dims": true}, more: []arg{k(i32(dims(2), 1, 2))}, shape: dims(1, 1, 1, 2), real: channelwise(slices.Max[[]float64])},
		{op: "REDUCE_MIN", kind: "ReducerOptions", options: fields{"keep_dims": true}, more: []arg{k(i32(dims(2), 1, 2))}, shape: dims(1, 1, 1, 2), real: channelwise(slices.Min[[]float64])},
		{op: "TRANSPOSE", more: []arg{k(i32(dims(4), 0, 1, 2, 3))}, shape: image, real: func(x []float64) []float64 { return x }},
		{op: "RESHAPE", more: []arg{k(i32(dims(2), 4, 8))}, shape: dims(4, 8), real: func(x []float64) []float64 { return x }},
	}
}

// TestRoundedOnce holds operators whose output scale NNAPI ties to something else to the quantized real result, over
// ratios of the scales of input and output, zero points and both signs: at most one unit from it, and no bias.
func TestRoundedOnce(t *testing.T) {
	const step = 0.125
	for _, c := range requantizedCases() {
		t.Run(c.op, func(t *testing.T) {
			for _, ratio := range []float64{0.25, 1, 1.5, 2, 4, 8} {
				sum, n := 0.0, 0
				for _, zeros := range [][2]int64{{0, 0}, {-128, -128}, {13, -7}, {127, 100}} {
					for _, signed := range []bool{true, false} {
						for _, e := range c.errors(t, step, step/ratio, zeros, signed) {
							require.Check(t, math.Abs(e) <= 1, "ratio %v, zero points %v, signed %v: %v units from the real result", ratio, zeros, signed, e)
							sum, n = sum+e, n+1
						}
					}
				}
				require.Check(t, math.Abs(sum/float64(n)) < 0.1, "ratio %v: mean error of %v units", ratio, sum/float64(n))
			}
		})
	}
}

// errors is how far the results of an operator on 8-bit inputs are from the quantized real results, in units.
func (c *requantized) errors(t *testing.T, inScale, outScale float64, zeros [2]int64, signed bool) (list []float64) {
	make8, lo := u8, int64(0)
	if signed {
		make8, lo = q8, -128
	} else {
		zeros[0], zeros[1] = zeros[0]+128, zeros[1]+128
	}
	var stored, reals []float64
	for i := range 32 {
		v := min(max(zeros[0]+int64(i*i*37%101-50), lo), lo+255)
		stored, reals = append(stored, float64(v)), append(reals, float64(v-zeros[0])*inScale)
	}
	one := opCase{op: c.op, kind: c.kind, options: c.options, in: append([]arg{make8(float32(inScale), zeros[0], dims(1, 4, 4, 2), stored...)}, c.more...),
		out: []arg{make8(float32(outScale), zeros[1], c.shape)}}
	m := open(t, one.file(), nil)
	result := execute(t, m, one.given())[0]
	o := m.Main.Operands[m.Main.Outputs[0]]
	want := c.real(reals)
	require.Equal(t, len(result.Data), len(want), fmt.Sprintf("elements of %s", c.op))
	for i, r := range want {
		exact := min(max(r/float64(float32(outScale))+float64(zeros[1]), float64(lo)), float64(lo+255))
		got := opspec.Element(o.Type, result.Data[i:])
		e := got - math.Round(exact)
		if math.Abs(got-exact) <= 0.501 { // the nearest step, or either of a tie
			e = 0
		}
		list = append(list, e)
	}
	return list
}
