package onnx_test

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/importer/onnx"
	"github.com/nnsoc/nnsoc/importer/onnx/onnxfile"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/refcpu"
)

// corner is a network with its right result, worked out by hand from the standard.
type corner struct {
	name  string
	opset int64
	draw  func(n *network) string
	of    onnxfile.DataType
	dims  []int64
	want  []float64
}

// given adds an input with its elements.
func (n *network) given(of onnxfile.DataType, dims []int64, elements ...float64) string {
	v := &drawn{name: fmtName(n), of: of, dims: dims, data: elements}
	n.graph.Inputs = append(n.graph.Inputs, declared(v.name, of, dims...))
	n.inputs = append(n.inputs, v)
	return v.name
}

// stepsOf are reals as integers of a type in steps from a zero point, cast to reals.
func (n *network) stepsOf(of onnxfile.DataType, zero int32, step float32, reals ...float64) string {
	z := n.constant(&onnxfile.Tensor{Type: of, Dims: []int64{}, Int32s: []int32{zero}})
	y := n.add("QuantizeLinear", []string{n.given(onnxfile.Float, []int64{int64(len(reals))}, reals...), n.scalar(step), z})
	return n.add("Cast", []string{y}, attribute("to", int(onnxfile.Float)))
}

func (n *network) whole(of onnxfile.DataType, v float64) string {
	return n.constant(&onnxfile.Tensor{Type: of, Raw: rawElements(of, []float64{v})})
}

// inSteps takes a real input to steps and back before an operator, and its result to other steps.
func (n *network) inSteps(x string, in, out stepped, node func(x string) string) string {
	return n.quantized(node(n.reals(n.quantized(x, in), in)), out)
}

var corners = []corner{
	{"steps of UINT16 reach 65535", 21, func(n *network) string {
		return n.stepsOf(onnxfile.Uint16, 30000, 0.001, 40, -40, 0.0125)
	}, onnxfile.Float, []int64{3}, []float64{65535, 0, 30012}},
	{"steps of INT16", 21, func(n *network) string {
		return n.stepsOf(onnxfile.Int16, -5, 0.001, 40, -40, 0.0135)
	}, onnxfile.Float, []int64{3}, []float64{32767, -32768, 9}},
	{"steps of UINT4 end at 15", 21, func(n *network) string {
		return n.add("Add", []string{n.stepsOf(onnxfile.Uint4, 7, 0.5, 40, -40, 1.25), n.scalar(0.5)})
	}, onnxfile.Float, []int64{3}, []float64{15.5, 0.5, 9.5}},
	{"steps of INT4 are between -8 and 7", 21, func(n *network) string {
		return n.stepsOf(onnxfile.Int4, 1, 0.5, 40, -40, 1.25)
	}, onnxfile.Float, []int64{3}, []float64{7, -8, 3}},
	{"steps of a stated type", 21, func(n *network) string {
		x := n.given(onnxfile.Float, []int64{3}, 40, -40, 0.0125)
		y := n.add("QuantizeLinear", []string{x, n.scalar(0.001)}, attribute("output_dtype", int(onnxfile.Int16)))
		return n.add("Cast", []string{y}, attribute("to", int(onnxfile.Float)))
	}, onnxfile.Float, []int64{3}, []float64{32767, -32768, 12}},
	{"a result that is quantized to a stated type", 21, func(n *network) string {
		x := n.reals(n.quantized(n.given(onnxfile.Float, []int64{2}, -1.5, 2), stepped{onnxfile.Uint8, 0.25, 128}), stepped{onnxfile.Uint8, 0.25, 128})
		y := n.add("QuantizeLinear", []string{n.add("Add", []string{x, x}), n.scalar(0.5)}, attribute("output_dtype", int(onnxfile.Int8)))
		return n.add("Cast", []string{y}, attribute("to", int(onnxfile.Float)))
	}, onnxfile.Float, []int64{2}, []float64{-6, 8}},
	{"powers beyond 2^24 are exact", 15, func(n *network) string {
		base := n.given(onnxfile.Int32, []int64{8}, 3, 7, -5, 2, -1, 0, 1, 3)
		return n.add("Pow", []string{base, n.given(onnxfile.Int32, []int64{8}, 19, 10, 11, 30, 101, 0, -77, -1)})
	}, onnxfile.Int32, []int64{8}, []float64{1162261467, 282475249, -48828125, 1 << 30, -1, 1, 1, 0}},
	{"a power of a fraction is cut off", 15, func(n *network) string {
		return n.add("Pow", []string{n.given(onnxfile.Int32, []int64{4}, 4, 7, 9, 25), n.scalar(1.5)})
	}, onnxfile.Int32, []int64{4}, []float64{8, 18, 27, 125}},
	{"BFLOAT16 has 8 bits of an integer", 13, func(n *network) string {
		y := n.add("Cast", []string{n.given(onnxfile.Int32, []int64{3}, 1001, 77777, -12345)}, attribute("to", int(onnxfile.BFloat16)))
		return n.add("Cast", []string{y}, attribute("to", int(onnxfile.Float)))
	}, onnxfile.Float, []int64{3}, []float64{1000, 77824, -12352}},
	{"INT4 of an integer wraps", 21, func(n *network) string {
		y := n.add("Cast", []string{n.given(onnxfile.Int32, []int64{4}, 9, -9, 5, 260)}, attribute("to", int(onnxfile.Int4)))
		return n.add("Cast", []string{y}, attribute("to", int(onnxfile.Float)))
	}, onnxfile.Float, []int64{4}, []float64{-7, 7, 5, 4}},
	{"a constant of few elements", 13, func(n *network) string {
		sparse := &onnxfile.SparseTensor{
			Values:  onnxfile.Tensor{Type: onnxfile.Float, Dims: []int64{2}, Floats: []float32{2, -3}},
			Indices: onnxfile.Tensor{Type: onnxfile.Int64, Dims: []int64{2}, Int64s: []int64{1, 5}}, Dims: []int64{2, 3},
		}
		y := n.add("Constant", nil, &onnxfile.Attribute{Name: "sparse_value", Type: onnxfile.AttributeSparse, Sparse: sparse})
		return n.add("Add", []string{n.given(onnxfile.Float, []int64{1}, 0.5), y})
	}, onnxfile.Float, []int64{2, 3}, []float64{0.5, 2.5, 0.5, 0.5, 0.5, -2.5}},
	{"an index that is a scalar input removes the dimension", 13, func(n *network) string {
		return n.add("Gather", []string{n.given(onnxfile.Float, []int64{2, 3}, 1, 2, 3, 4, 5, 6), n.given(onnxfile.Int64, nil, -1)}, attribute("axis", 1))
	}, onnxfile.Float, []int64{2}, []float64{3, 6}},
	{"a scalar stays one through a composition", 13, func(n *network) string {
		x := n.add("Gather", []string{n.given(onnxfile.Float, []int64{2}, 4, 0), n.whole(onnxfile.Int64, 1)})
		return n.add("Unsqueeze", []string{n.add("Atan", []string{x}), n.ints(0)})
	}, onnxfile.Float, []int64{1}, []float64{0}},
	{"joined steps are rounded once", 13, func(n *network) string { // 81 steps of 0.02 are 32.4 of 0.05
		return n.inSteps(n.given(onnxfile.Float, []int64{1}, 1.62), stepped{onnxfile.Uint8, 0.02, 87}, stepped{onnxfile.Uint8, 0.05, 1}, func(x string) string {
			return n.add("Concat", []string{x, x}, attribute("axis", 0))
		})
	}, onnxfile.Uint8, []int64{2}, []float64{33, 33}},
	{"scattered integers stay as they are", 18, func(n *network) string {
		q := n.quantized(n.given(onnxfile.Float, []int64{2}, 0.1, 0.2), stepped{onnxfile.Uint8, 0.05, 100})
		at := n.constant(&onnxfile.Tensor{Type: onnxfile.Int64, Dims: []int64{1, 1}, Int64s: []int64{1}})
		return n.add("ScatterND", []string{q, at, n.given(onnxfile.Uint8, []int64{1}, 208)})
	}, onnxfile.Uint8, []int64{2}, []float64{102, 208}},
	{"scattered constants stay as they are", 18, func(n *network) string {
		q := n.quantized(n.given(onnxfile.Float, []int64{2}, 0.1, 0.2), stepped{onnxfile.Uint8, 0.05, 100})
		w := n.constant(&onnxfile.Tensor{Type: onnxfile.Uint8, Dims: []int64{1}, Raw: []byte{208}})
		return n.add("ScatterElements", []string{q, n.ints(0), w}, attribute("axis", 0))
	}, onnxfile.Uint8, []int64{2}, []float64{208, 104}},
	{"joined integers stay as they are", 13, func(n *network) string {
		q := n.quantized(n.given(onnxfile.Float, []int64{1}, 0.1), stepped{onnxfile.Uint8, 0.05, 100})
		return n.add("Concat", []string{q, n.given(onnxfile.Uint8, []int64{2}, 208, 7)}, attribute("axis", 0))
	}, onnxfile.Uint8, []int64{3}, []float64{102, 208, 7}},
	{"a padding beyond the steps of its operand", 13, func(n *network) string {
		return n.inSteps(n.given(onnxfile.Float, []int64{1}, 0.5), stepped{onnxfile.Uint8, 0.03125, 214}, stepped{onnxfile.Uint8, 0.03125, 0}, func(x string) string {
			return n.add("Pad", []string{x, n.ints(1, 0), n.scalar(2.5)})
		})
	}, onnxfile.Uint8, []int64{2}, []float64{80, 16}},
	{"a padding of integers that have steps", 13, func(n *network) string {
		q := n.quantized(n.given(onnxfile.Float, []int64{1}, 0.1), stepped{onnxfile.Uint8, 0.05, 100})
		return n.add("Pad", []string{q, n.ints(1, 1), n.byte(onnxfile.Uint8, 3)})
	}, onnxfile.Uint8, []int64{3}, []float64{3, 102, 3}},
	{"a padding of integers", 13, func(n *network) string {
		return n.add("Pad", []string{n.given(onnxfile.Int64, []int64{2}, 1<<30+1, -5), n.ints(0, 1), n.whole(onnxfile.Int64, 12)})
	}, onnxfile.Int64, []int64{3}, []float64{1<<30 + 1, -5, 12}},
	{"a padding of truths", 13, func(n *network) string {
		return n.add("Pad", []string{n.given(onnxfile.Bool, []int64{1}, 0), n.ints(1, 0), n.whole(onnxfile.Bool, 1)})
	}, onnxfile.Bool, []int64{2}, []float64{1, 0}},
	{"a padding of the second of five dimensions", 13, func(n *network) string {
		return n.add("Pad", []string{n.given(onnxfile.Float, []int64{2, 1, 1, 1, 2}, 1, 2, 3, 4), n.ints(0, 1, 0, 0, 0, 0, 0, 0, 0, 0), n.scalar(9)})
	}, onnxfile.Float, []int64{2, 2, 1, 1, 2}, []float64{9, 9, 1, 2, 9, 9, 3, 4}},
	{"zeros have no norm", 13, func(n *network) string {
		return n.add("LpNormalization", []string{n.given(onnxfile.Float, []int64{2, 2}, 3, -4, 0, 0)}, attribute("axis", 1))
	}, onnxfile.Float, []int64{2, 2}, []float64{0.6, -0.8, 0, 0}},
	{"a mean of steps over the first of two dimensions", 13, func(n *network) string {
		return n.inSteps(n.given(onnxfile.Float, []int64{2, 2}, 1, 2, 2, 4), stepped{onnxfile.Uint8, 0.25, 0}, stepped{onnxfile.Uint8, 0.5, 0}, func(x string) string {
			return n.add("ReduceMean", []string{x}, attribute("axes", []int64{0}), attribute("keepdims", 0))
		})
	}, onnxfile.Uint8, []int64{2}, []float64{3, 6}},
	{"a sum over the first and the last of five dimensions", 13, func(n *network) string {
		return n.add("ReduceSum", []string{n.given(onnxfile.Float, []int64{2, 1, 2, 1, 2}, 1, 2, 3, 4, 5, 6, 7, 8), n.ints(0, 4)}, attribute("keepdims", 0))
	}, onnxfile.Float, []int64{1, 2, 1}, []float64{14, 22}},
	{"an average with dilation counts the image alone", 19, func(n *network) string {
		return n.add("AveragePool", []string{n.given(onnxfile.Float, []int64{1, 1, 4}, 1, 2, 4, 8)}, attribute("kernel_shape", []int64{2}), attribute("dilations", []int64{2}), attribute("pads", []int64{1, 0}))
	}, onnxfile.Float, []int64{1, 1, 3}, []float64{2, 2.5, 5}},
	{"an average with dilation counts paddings", 19, func(n *network) string {
		return n.add("AveragePool", []string{n.given(onnxfile.Float, []int64{1, 1, 4}, 1, 2, 4, 8)}, attribute("kernel_shape", []int64{2}), attribute("dilations", []int64{2}), attribute("pads", []int64{1, 0}), attribute("count_include_pad", 1))
	}, onnxfile.Float, []int64{1, 1, 3}, []float64{1, 2.5, 5}},
	{"a norm with dilation", 18, func(n *network) string {
		return n.add("LpPool", []string{n.given(onnxfile.Float, []int64{1, 1, 3}, 3, 100, -4)}, attribute("kernel_shape", []int64{2}), attribute("dilations", []int64{2}), attribute("p", 2))
	}, onnxfile.Float, []int64{1, 1, 1}, []float64{5}},
	{"scales of blocks of the execution", 21, func(n *network) string {
		s := n.constant(&onnxfile.Tensor{Type: onnxfile.Float, Dims: []int64{1, 2}, Floats: []float32{0.5, 2}})
		return n.add("DequantizeLinear", []string{n.given(onnxfile.Int8, []int64{1, 3}, 4, -6, 7), s}, attribute("axis", 1), attribute("block_size", 2))
	}, onnxfile.Float, []int64{1, 3}, []float64{2, -3, 14}},
	{"a weighted loss", 13, func(n *network) string {
		x, t := n.given(onnxfile.Float, []int64{1, 2, 2}, 1, 2, 3, 4), n.given(onnxfile.Int64, []int64{1, 2}, 1, 0)
		return n.add("NegativeLogLikelihoodLoss", []string{x, t, n.given(onnxfile.Float, []int64{2}, 2, 1)})
	}, onnxfile.Float, nil, []float64{-7.0 / 3}},
	{"a loss that leaves a class out", 13, func(n *network) string {
		x, t := n.given(onnxfile.Float, []int64{1, 2, 2}, 1, 2, 3, 4), n.given(onnxfile.Int64, []int64{1, 2}, 1, 0)
		return n.add("NegativeLogLikelihoodLoss", []string{x, t}, attribute("ignore_index", 0), attribute("reduction", "none"))
	}, onnxfile.Float, []int64{1, 2}, []float64{-3, 0}},
	{"a scalar by axes of the execution", 13, func(n *network) string {
		return n.add("Unsqueeze", []string{n.add("Squeeze", []string{n.given(onnxfile.Float, []int64{1, 1}, 5), n.given(onnxfile.Int64, []int64{2}, 0, -1)}), n.given(onnxfile.Int64, []int64{1}, 0)})
	}, onnxfile.Float, []int64{1}, []float64{5}},
	{"parts by number", 13, func(n *network) string {
		s := n.add("SplitToSequence", []string{n.given(onnxfile.Float, []int64{1, 5}, 1, 2, 3, 4, 5), n.whole(onnxfile.Int64, 2)}, attribute("axis", -1))
		s = n.add("SequenceErase", []string{s, n.whole(onnxfile.Int64, -2)})
		s = n.add("SequenceInsert", []string{s, n.add("SequenceAt", []string{s, n.whole(onnxfile.Int64, -1)}), n.whole(onnxfile.Int64, 0)})
		return n.add("ConcatFromSequence", []string{s}, attribute("axis", 1))
	}, onnxfile.Float, []int64{1, 4}, []float64{5, 1, 2, 5}},
	{"as many as parts", 13, func(n *network) string {
		s := n.add("SequenceConstruct", []string{n.given(onnxfile.Float, []int64{2}, 1, 2), n.given(onnxfile.Float, []int64{1}, 3)})
		return n.add("SequenceLength", []string{n.add("Identity", []string{s})})
	}, onnxfile.Int64, nil, []float64{2}},
	{"parts on top of each other", 13, func(n *network) string {
		s := n.add("SplitToSequence", []string{n.given(onnxfile.Float, []int64{2, 2}, 1, 2, 3, 4)}, attribute("axis", 1), attribute("keepdims", 0))
		return n.add("ConcatFromSequence", []string{s}, attribute("axis", 0), attribute("new_axis", 1))
	}, onnxfile.Float, []int64{2, 2}, []float64{1, 3, 2, 4}},
	{"bounds that float32 does not hold", 13, func(n *network) string {
		return n.add("Clip", []string{n.given(onnxfile.Int64, []int64{3}, 1<<30, 5, -1<<30), n.scalarInt(-(1<<24 + 1)), n.scalarInt(1<<24 + 1)})
	}, onnxfile.Int64, []int64{3}, []float64{1<<24 + 1, 5, -(1<<24 + 1)}},
	{"bounds that 32 bits do not hold", 13, func(n *network) string {
		return n.add("Clip", []string{n.given(onnxfile.Int64, []int64{2}, -7, 5), n.scalarInt(0), n.scalarInt(math.MaxInt64)})
	}, onnxfile.Int64, []int64{2}, []float64{0, 5}},
	{"a loop of no turns that scans", 13, func(n *network) string {
		n.loop(0)
		return "scanned"
	}, onnxfile.Float, []int64{0, 3}, []float64{}},
	{"weights of few elements", 13, func(n *network) string {
		n.sparse("s", []float32{2, -3}, []int64{2, 2}, 0, 1, 1, 2)
		return n.add("Add", []string{n.given(onnxfile.Float, []int64{1}, 1), "s"})
	}, onnxfile.Float, []int64{2, 3}, []float64{1, 3, 1, 1, 1, -2}},
	{"a size of the execution", 13, func(n *network) string {
		return n.add("Resize", []string{n.given(onnxfile.Float, []int64{1, 1, 1, 2}, 1, 2), "", "", n.given(onnxfile.Int64, []int64{4}, 1, 1, 1, 4)}, attribute("mode", "linear"))
	}, onnxfile.Float, []int64{1, 1, 1, 4}, []float64{1, 1.25, 1.75, 2}},
	{"scales of the execution", 9, func(n *network) string {
		return n.add("Upsample", []string{n.given(onnxfile.Float, []int64{1, 2}, 1, 2), n.given(onnxfile.Float, []int64{2}, 1, 2)})
	}, onnxfile.Float, []int64{1, 4}, []float64{1, 1, 2, 2}},
	{"a norm along axes of the execution", 18, func(n *network) string {
		return n.add("ReduceL2", []string{n.given(onnxfile.Float, []int64{2, 2}, 3, 4, 6, 8), n.given(onnxfile.Int64, []int64{1}, -1)}, attribute("keepdims", 0))
	}, onnxfile.Float, []int64{2}, []float64{5, 10}},
	{"a nearest resize by a scale that float64 has not", 13, func(n *network) string {
		s := n.constant(&onnxfile.Tensor{Type: onnxfile.Float, Dims: []int64{1}, Floats: []float32{2.6}})
		return n.add("Resize", []string{n.given(onnxfile.Float, []int64{7}, 0, 1, 2, 3, 4, 5, 6), "", s}, attribute("nearest_mode", "ceil"), attribute("coordinate_transformation_mode", "asymmetric"))
	}, onnxfile.Float, []int64{18}, []float64{0, 1, 1, 2, 2, 2, 3, 3, 4, 4, 4, 5, 5, 5, 6, 6, 6, 6}},
	{"bytes between bytes", 13, func(n *network) string {
		s := n.constant(&onnxfile.Tensor{Type: onnxfile.Float, Dims: []int64{4}, Floats: []float32{1, 1, 1, 2}})
		return n.add("Resize", []string{n.given(onnxfile.Int8, []int64{1, 1, 1, 2}, -7, 7), "", s}, attribute("mode", "linear"))
	}, onnxfile.Int8, []int64{1, 1, 1, 4}, []float64{-7, -3, 3, 7}},
	{"integers between integers", 13, func(n *network) string {
		s := n.constant(&onnxfile.Tensor{Type: onnxfile.Float, Dims: []int64{1}, Floats: []float32{2}})
		return n.add("Resize", []string{n.given(onnxfile.Int32, []int64{2}, -7, 7), "", s}, attribute("mode", "linear"))
	}, onnxfile.Int32, []int64{4}, []float64{-7, -3, 3, 7}},
	{"a wrapping pad of what a crop leaves", 19, func(n *network) string {
		return n.add("Pad", []string{n.given(onnxfile.Float, []int64{4}, 0, 1, 2, 3), n.ints(-1, 2)}, attribute("mode", "wrap"))
	}, onnxfile.Float, []int64{5}, []float64{1, 2, 3, 1, 2}},
	{"lengths of the execution", 14, func(n *network) string {
		w, l := n.constant(&onnxfile.Tensor{Type: onnxfile.Float, Dims: []int64{1, 1, 1}, Floats: []float32{1}}), n.given(onnxfile.Int32, []int64{2}, 1, 2)
		return n.add("RNN", []string{n.given(onnxfile.Float, []int64{2, 2, 1}, 1, 2, 3, 4), w, w, "", l}, attribute("hidden_size", 1),
			&onnxfile.Attribute{Name: "activations", Type: onnxfile.AttributeStrings, Strings: []string{"relu"}})
	}, onnxfile.Float, []int64{2, 1, 2, 1}, []float64{1, 2, 0, 6}},
	{"a sum of great integers", 13, func(n *network) string {
		return n.add("ReduceSum", []string{n.given(onnxfile.Int32, []int64{1, 5}, 1<<24+1, 1<<30, 1, -1<<29, 1), n.ints(1)}, attribute("keepdims", 0))
	}, onnxfile.Int32, []int64{1}, []float64{1<<30 - 1<<29 + 1<<24 + 3}},
	{"a mean of great integers", 13, func(n *network) string {
		return n.add("ReduceMean", []string{n.given(onnxfile.Int32, []int64{2, 2}, 1<<30, 1<<25+1, 1, -1<<26)}, attribute("axes", []int64{0}), attribute("keepdims", 0))
	}, onnxfile.Int32, []int64{2}, []float64{1 << 29, -(1<<24 - 1)}},
	{"a norm of integers", 13, func(n *network) string {
		return n.add("ReduceL1", []string{n.given(onnxfile.Int32, []int64{2}, 1<<24+1, -1<<25)}, attribute("keepdims", 0))
	}, onnxfile.Int32, nil, []float64{1<<25 + 1<<24 + 1}},
	{"a product of integers", 13, func(n *network) string {
		return n.add("MatMul", []string{n.given(onnxfile.Int32, []int64{1, 2}, 1<<13+1, 3), n.given(onnxfile.Int32, []int64{2, 2}, 1<<13+1, 2, 5, 7)})
	}, onnxfile.Int32, []int64{1, 2}, []float64{1<<26 + 1<<14 + 16, 1<<14 + 23}},
	{"a sum of products of integers", 13, func(n *network) string {
		return n.add("Einsum", []string{n.given(onnxfile.Int32, []int64{2}, 1<<13+1, 3), n.given(onnxfile.Int32, []int64{2}, 1<<13+1, 5)}, attribute("equation", "i,i"))
	}, onnxfile.Int32, nil, []float64{1<<26 + 1<<14 + 16}},
	{"sums so far of great integers", 14, func(n *network) string {
		x := n.given(onnxfile.Int32, []int64{2, 3}, 1<<25+1, 1<<26+1, 7, 1, 2, 3)
		return n.add("CumSum", []string{x, n.whole(onnxfile.Int32, 1)}, attribute("exclusive", 1), attribute("reverse", 1))
	}, onnxfile.Int32, []int64{2, 3}, []float64{1<<26 + 8, 7, 0, 5, 3, 0}},
	{"a scatter beside infinities", 13, func(n *network) string {
		x, at := n.given(onnxfile.Float, []int64{3}, 1, math.Inf(-1), 3), n.given(onnxfile.Int64, []int64{1}, -1)
		return n.add("ScatterElements", []string{x, at, n.given(onnxfile.Float, []int64{1}, math.Inf(1))})
	}, onnxfile.Float, []int64{3}, []float64{1, math.Inf(-1), math.Inf(1)}},
	{"a scatter of great integers", 16, func(n *network) string {
		x, at := n.given(onnxfile.Int32, []int64{3}, 1<<25+1, 2, -1<<29-1), n.given(onnxfile.Int64, []int64{3}, 0, 2, 0)
		return n.add("ScatterElements", []string{x, at, n.given(onnxfile.Int32, []int64{3}, 1<<24+1, 1<<30+1, 1)}, attribute("reduction", "add"))
	}, onnxfile.Int32, []int64{3}, []float64{1<<25 + 1<<24 + 3, 2, 1 << 29}},
	{"a greatest of great integers", 18, func(n *network) string {
		x, at := n.given(onnxfile.Int32, []int64{2}, math.MinInt32, 1<<24+1), n.given(onnxfile.Int64, []int64{2}, 1, 1)
		return n.add("ScatterElements", []string{x, at, n.given(onnxfile.Int32, []int64{2}, 1<<24+3, 5)}, attribute("reduction", "max"))
	}, onnxfile.Int32, []int64{2}, []float64{math.MinInt32, 1<<24 + 3}},
	{"the least integer", 11, func(n *network) string {
		y := n.add("TopK", []string{n.given(onnxfile.Int32, []int64{3}, 5, math.MinInt32, 7), n.ints(2)}, attribute("largest", 0))
		node := n.graph.Nodes[len(n.graph.Nodes)-1]
		node.Outputs = append(node.Outputs, "places")
		return y
	}, onnxfile.Int32, []int64{2}, []float64{math.MinInt32, 5}},
	{"a great integer above zero", 14, func(n *network) string {
		return n.add("Relu", []string{n.given(onnxfile.Int32, []int64{2}, 1<<24+1, -1<<24-1)})
	}, onnxfile.Int32, []int64{2}, []float64{1<<24 + 1, 0}},
	{"a pad of a great integer", 13, func(n *network) string {
		return n.add("Pad", []string{n.given(onnxfile.Int32, []int64{1}, 3), n.ints(1, 0), n.whole(onnxfile.Int32, 1<<30+1)})
	}, onnxfile.Int32, []int64{2}, []float64{1<<30 + 1, 3}},
	{"bytes whose products are great together", 13, func(n *network) string {
		full := make([]byte, 301)
		for i := range full {
			full[i] = 255
		}
		x := n.constant(&onnxfile.Tensor{Type: onnxfile.Uint8, Dims: []int64{301, 1}, Raw: full})
		a := n.add("Expand", []string{n.given(onnxfile.Uint8, []int64{1, 1}, 255), n.ints(1, 301)})
		return n.add("MatMulInteger", []string{a, x})
	}, onnxfile.Int32, []int64{1, 1}, []float64{255 * 255 * 301}},
	{"a norm of windows that reach beyond the image", 18, func(n *network) string {
		return n.add("LpPool", []string{n.given(onnxfile.Float, []int64{1, 1, 4}, 1, 3, 4, 5)}, attribute("kernel_shape", []int64{3}), attribute("strides", []int64{2}), attribute("ceil_mode", 1), attribute("p", 1))
	}, onnxfile.Float, []int64{1, 1, 2}, []float64{8, 9}},
	{"a norm of the third power", 13, func(n *network) string {
		return n.add("GlobalLpPool", []string{n.given(onnxfile.Float, []int64{1, 1, 3}, -3, 4, 5)}, attribute("p", 3))
	}, onnxfile.Float, []int64{1, 1, 1}, []float64{6}},
	{"products up to each element", 26, func(n *network) string {
		return n.add("CumProd", []string{n.given(onnxfile.Float, []int64{2, 3}, 1, 2, 3, 4, 5, 6), n.whole(onnxfile.Int64, -1)}, attribute("exclusive", 1))
	}, onnxfile.Float, []int64{2, 3}, []float64{1, 1, 2, 1, 4, 20}},
	{"the bits of reals", 26, func(n *network) string {
		return n.add("BitCast", []string{n.given(onnxfile.Float, []int64{2}, 1, -2)}, attribute("to", int(onnxfile.Int32)))
	}, onnxfile.Int32, []int64{2}, []float64{0x3f800000, -1 << 30}},
	{"a window of halves", 17, func(n *network) string {
		w := n.add("HannWindow", []string{n.whole(onnxfile.Int64, 4)}, attribute("output_datatype", int(onnxfile.Float16)))
		return n.add("Add", []string{w, n.given(onnxfile.Float16, []int64{1}, 1)})
	}, onnxfile.Float16, []int64{4}, []float64{1, 1.5, 2, 1.5}},
	{"a transform of halves", 17, func(n *network) string {
		return n.add("DFT", []string{n.given(onnxfile.Float16, []int64{1, 4, 1}, 1, 2, 3, 4)})
	}, onnxfile.Float16, []int64{1, 4, 2}, []float64{10, 0, -2, 2, -2, 0, -2, -2}},
	{"a loss of logits", 13, func(n *network) string {
		x, t := n.given(onnxfile.Float, []int64{2, 2}, 0, 0, 0, math.Log(3)), n.given(onnxfile.Int64, []int64{2}, 1, 0)
		return n.add("SoftmaxCrossEntropyLoss", []string{x, t}, attribute("reduction", "sum"))
	}, onnxfile.Float, nil, []float64{math.Log(8)}},
}

// TestSequenceRefusals: sequences that NNAPI's tensors cannot be, and positions that are none.
func TestSequenceRefusals(t *testing.T) {
	for want, draw := range map[string]func(n *network, s string) string{
		"Relu (1): it reads a sequence as a tensor": func(n *network, s string) string { return n.add("Relu", []string{s}) },
		"position 2 of a sequence of 2":             func(n *network, s string) string { return n.add("SequenceAt", []string{s, n.whole(onnxfile.Int64, 2)}) },
		"position -1 of a sequence of 2": func(n *network, s string) string {
			return n.add("SequenceErase", []string{s, n.whole(onnxfile.Int64, -3)})
		},
		"(\"x1\") is known only during execution": func(n *network, s string) string {
			return n.add("SequenceAt", []string{s, n.given(onnxfile.Int64, nil, 1)})
		},
		"input 0 is a tensor, a sequence is needed":              func(n *network, s string) string { return n.add("SequenceLength", []string{"x0"}) },
		"it reads an optional value that is absent":              func(n *network, s string) string { return n.add("Relu", []string{n.add("Optional", nil)}) },
		"output \"t1\" (1): is an optional value that is absent": func(n *network, s string) string { return n.add("Optional", nil) },
	} {
		n := &network{opset: 15}
		s := n.add("SplitToSequence", []string{n.given(onnxfile.Float, []int64{2}, 1, 2)})
		n.graph.Outputs = []*onnxfile.Value{{Name: draw(n, s), Type: onnxfile.Float}}
		_, err := onnx.Import(n.bytes(), nil)
		require.ErrorContains(t, err, want)
	}
}

// sequenceNet reads a sequence "s" and an optional tensor "o", and has a sequence and whether the tensor is there as outputs.
func sequenceNet(kind string) *network {
	n := &network{opset: 16}
	tensors := &onnxfile.Value{Type: onnxfile.Float}
	n.graph.Inputs = []*onnxfile.Value{
		{Name: "s", Kind: kind, Of: &onnxfile.Value{Type: onnxfile.Float, Dims: []onnxfile.Dim{{Name: "n"}}}}, {Name: "o", Kind: "optional", Of: tensors},
	}
	y := n.add("SequenceInsert", []string{"s", n.add("SequenceAt", []string{"s", n.whole(onnxfile.Int64, -1)}), n.whole(onnxfile.Int64, 0)})
	n.graph.Outputs = []*onnxfile.Value{{Name: y, Kind: "sequence", Of: tensors}, {Name: n.add("OptionalHasElement", []string{"o"}), Type: onnxfile.Bool}}
	return n
}

// TestSequencesOfNetworks: a sequence that is an input or an output is one for each element.
func TestSequencesOfNetworks(t *testing.T) {
	var notes []string
	m, err := onnx.Import(sequenceNet("sequence").bytes(), &onnx.Options{
		Shapes: map[string][]uint32{"s[0]": {2}, "s[1]": {3}}, Note: func(text string) { notes = append(notes, text) },
	})
	require.NoError(t, err)
	names := func(list []uint32) (s []string) {
		for _, x := range list {
			s = append(s, fmt.Sprint(m.Main.Operands[x].Name, m.Main.Operands[x].Dimensions))
		}
		return s
	}
	require.Equal(t, strings.Join(names(m.Main.Inputs), " "), "s[0][2] s[1][3]", "inputs")
	require.Equal(t, strings.Join(names(m.Main.Outputs), " "), "t1[0][3] t1[1][2] t1[2][3] t2[1]", "outputs")
	require.Equal(t, strings.Join(notes, " "), "input \"o\" is optional and taken as absent; --shape 'o=...' makes it one", "notes")
	p := require.V(refcpu.Compile(m))(t)
	give := func(list ...float64) refcpu.Tensor {
		return refcpu.Tensor{Dimensions: []uint32{uint32(len(list))}, Data: rawElements(onnxfile.Float, list)}
	}
	got := require.V(p.Execute([]refcpu.Tensor{give(1, 2), give(3, 4, 5)}, refcpu.Options{}))(t)
	for k, want := range [][]float64{{3, 4, 5}, {1, 2}, {3, 4, 5}} {
		require.Check(t, bytes.Equal(got[k].Data, rawElements(onnxfile.Float, want)), "element %d is %v, want %v", k, got[k].Data, want)
	}
	require.Check(t, got[3].Data[0] == 0, "the absent tensor is there")
	for _, c := range []struct {
		kind, want string
		shapes     map[string][]uint32
	}{
		{"sequence", "input \"s\" (1): is a sequence, and the file does not say of how many tensors; instead: --shape 's[0]=...' for each of them, in order", nil},
		{"sequence", "a shape is given for the sequence \"s\"; its elements are \"s[0]\" and so on", map[string][]uint32{"s": {2}}},
		{"sequence", "a shape is given for \"s[2]\"; the inputs are \"s\", \"o\"", map[string][]uint32{"s[0]": {2}, "s[2]": {2}}},
		{"sequence", "position -1 of a sequence of 0", map[string][]uint32{"s": {}}},
		{"optional", "input 0 is a tensor, a sequence is needed", map[string][]uint32{"s": {2}}},
	} {
		_, err := onnx.Import(sequenceNet(c.kind).bytes(), &onnx.Options{Shapes: c.shapes})
		require.ErrorContains(t, err, c.want)
	}
}

// TestUnsigned: integers above 63 bits are refused, since they would be read as negative ones.
func TestUnsigned(t *testing.T) {
	for _, c := range []onnxfile.Tensor{{Uint64s: []uint64{5, math.MaxUint64}}, {Raw: []byte{5, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255}}} {
		n := &network{opset: 15}
		c.Type, c.Dims = onnxfile.Uint64, []int64{2}
		n.graph.Outputs = []*onnxfile.Value{{Name: n.add("Cast", []string{n.constant(&c)}, attribute("to", int(onnxfile.Float))), Type: onnxfile.Float}}
		_, err := onnx.Import(n.bytes(), nil)
		require.ErrorContains(t, err, "has the element 18446744073709551615 of UINT64")
	}
}

// TestSparseErrors: places of sparse tensors are in them, one for each element.
func TestSparseErrors(t *testing.T) {
	for want, places := range map[string][]int64{"place 6 of 6": {0, 6}, "place -1 of 6": {-1, 0}, "places of shape [3] for 2": {0, 1, 2}} {
		n := newNetwork(1)
		n.opset = 13
		n.sparse("s", []float32{2, -3}, []int64{int64(len(places))}, places...)
		n.out(n.add("Add", []string{n.given(onnxfile.Float, []int64{1}, 1), "s"}))
		_, err := onnx.Import(n.bytes(), nil)
		require.ErrorContains(t, err, want)
	}
}

// TestCorners holds corners of operators, which random networks found beside ONNX Runtime.
func TestCorners(t *testing.T) {
	for _, c := range corners {
		n := newNetwork(1)
		n.opset = c.opset
		y := c.draw(n)
		n.graph.Outputs = []*onnxfile.Value{{Name: y, Type: c.of}}
		err := n.subject().against(verdict{Outputs: []runtimeTensor{{Name: y, Type: runtimeTypes[c.of], Dims: unsigned(c.dims), Raw: rawElements(c.of, c.want)}}})
		require.Check(t, err == nil, "%s: %v", c.name, err)
	}
}
