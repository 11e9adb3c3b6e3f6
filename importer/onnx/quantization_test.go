package onnx

import (
	"math"
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/importer/onnx/onnxfile"
	"github.com/nnsoc/nnsoc/internal/require"
)

// between is an operator between DequantizeLinear and QuantizeLinear, and its real function on reals of shape [1 2 4 4].
type between struct {
	op         string
	attributes []*onnxfile.Attribute
	more       []*onnxfile.Tensor
	real       func(x []float64) []float64
}

// overPlanes is f of each of the two 4x4 planes.
func overPlanes(f func(list []float64) float64) func([]float64) []float64 {
	return func(x []float64) []float64 { return []float64{f(x[:16]), f(x[16:])} }
}

// overWindows is f of each of the four 2x2 windows of both planes.
func overWindows(f func(list []float64) float64) func([]float64) []float64 {
	return func(x []float64) (out []float64) {
		for i := range 8 {
			at := i/2*8 + i%2*2
			out = append(out, f([]float64{x[at], x[at+1], x[at+4], x[at+5]}))
		}
		return out
	}
}

func eachElement(f func(v float64) float64) func([]float64) []float64 {
	return func(x []float64) (out []float64) {
		for _, v := range x {
			out = append(out, f(v))
		}
		return out
	}
}

func average(list []float64) float64 {
	sum := 0.0
	for _, v := range list {
		sum += v
	}
	return sum / float64(len(list))
}

// softmaxRows is the softmax of each row of four.
func softmaxRows(x []float64) (out []float64) {
	for row := range slices.Chunk(x, 4) {
		sum := 0.0
		for _, v := range row {
			sum += math.Exp(v)
		}
		for _, v := range row {
			out = append(out, math.Exp(v)/sum)
		}
	}
	return out
}

// TestRoundedOnce holds operators between DequantizeLinear and QuantizeLinear whose output scale NNAPI ties to something
// else to the quantized real result, over ratios of the scales, zero points and both signs: at most one unit from it, and no
// bias. TestRoundedOnce of importer/tflite is its twin.
func TestRoundedOnce(t *testing.T) {
	window := []*onnxfile.Attribute{intsAttribute("kernel_shape", 2, 2), intsAttribute("strides", 2, 2)}
	for _, c := range []between{
		{op: "GlobalAveragePool", real: overPlanes(average)},
		{op: "GlobalMaxPool", real: overPlanes(slices.Max[[]float64])},
		{op: "ReduceMean", attributes: []*onnxfile.Attribute{intsAttribute("axes", 2, 3)}, real: overPlanes(average)},
		{op: "ReduceMax", attributes: []*onnxfile.Attribute{intsAttribute("axes", 2, 3)}, real: overPlanes(slices.Max[[]float64])},
		{op: "AveragePool", attributes: window, real: overWindows(average)},
		{op: "MaxPool", attributes: window, real: overWindows(slices.Max[[]float64])},
		{op: "Relu", real: eachElement(func(v float64) float64 { return max(v, 0) })},
		{op: "Clip", more: []*onnxfile.Tensor{floatTensor("lo", nil, 0), floatTensor("hi", nil, 6)}, real: eachElement(func(v float64) float64 { return min(max(v, 0), 6) })},
		{op: "Sigmoid", real: eachElement(func(v float64) float64 { return 1 / (1 + math.Exp(-v)) })},
		{op: "Tanh", real: eachElement(math.Tanh)},
		{op: "Softmax", real: softmaxRows},
	} {
		t.Run(c.op, func(t *testing.T) {
			for _, ratio := range []float64{0.25, 1, 1.5, 2, 4, 8} {
				sum, n := 0.0, 0
				for _, zeros := range [][2]int{{0, 0}, {-128, -128}, {13, -7}, {127, 100}} {
					for _, signed := range []bool{true, false} {
						for _, e := range c.errors(t, 0.125, 0.125/ratio, zeros, signed) {
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

// errors is how far the results of an operator between 8-bit values are from the quantized real results, in units.
func (c *between) errors(t *testing.T, inScale, outScale float64, zeros [2]int, signed bool) (list []float64) {
	kind, lo := onnxfile.Uint8, 0
	if signed {
		kind, lo = onnxfile.Int8, -128
	} else {
		zeros[0], zeros[1] = zeros[0]+128, zeros[1]+128
	}
	var in []byte
	var reals []float64
	for i := range 32 {
		v := min(max(zeros[0]+i*i*37%101-50, lo), lo+255)
		in, reals = append(in, byte(v)), append(reals, float64(v-zeros[0])*inScale)
	}
	want := c.real(reals)
	operands := []string{"x_real"}
	for _, more := range c.more {
		operands = append(operands, more.Name)
	}
	m := written(t, model(&onnxfile.Graph{
		Nodes: []*onnxfile.Node{
			node("DequantizeLinear", []string{"x", "sx", "zx"}, []string{"x_real"}),
			node(c.op, operands, []string{"y_real"}, c.attributes...),
			node("QuantizeLinear", []string{"y_real", "sy", "zy"}, []string{"y"}),
		},
		Initializers: append([]*onnxfile.Tensor{
			floatTensor("sx", nil, float32(inScale)), byteTensor(kind, "zx", nil, byte(zeros[0])),
			floatTensor("sy", nil, float32(outScale)), byteTensor(kind, "zy", nil, byte(zeros[1])),
		}, c.more...),
		Inputs: []*onnxfile.Value{typed(kind, "x", 1, 2, 4, 4)}, Outputs: []*onnxfile.Value{{Name: "y", Type: kind}},
	}, 13), nil)
	got := run(t, m, in)
	require.Equal(t, len(got), len(want), c.op)
	for i, r := range want {
		exact := min(max(r/float64(float32(outScale))+float64(zeros[1]), float64(lo)), float64(lo+255))
		e := got[i] - math.Round(exact)
		if math.Abs(got[i]-exact) <= 0.501 { // the nearest step, or either of a tie
			e = 0
		}
		list = append(list, e)
	}
	return list
}
