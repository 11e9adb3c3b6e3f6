package onnx_test

import (
	"math"
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/importer/onnx/onnxfile"
	"github.com/nnsoc/nnsoc/internal/oracle"
	"github.com/nnsoc/nnsoc/internal/require"
)

// oddity is a network that few files hold.
type oddity struct {
	name  string
	opset int64
	draw  func(n *network)
}

// strange are networks in the manner of reports about conversions: what a file may say, and few do.
var strange = []oddity{
	{"an output that is an input", 13, func(n *network) { n.out(n.in(onnxfile.Float, 2, 3)); n.out(n.add("Relu", []string{"x0"})) }},
	{"weights of few elements", 13, func(n *network) {
		n.sparse("s", []float32{2, -3}, []int64{2}, 1, 5)
		n.out(n.add("Add", []string{n.in(onnxfile.Float, 2, 3), "s"}))
	}},
	{"weights of few elements by coordinates", 13, func(n *network) {
		n.sparse("s", []float32{2, -3}, []int64{2, 2}, 0, 1, 1, 2)
		n.out(n.add("MatMul", []string{n.in(onnxfile.Float, 4, 2), "s"}))
	}},
	{"an output that is a constant", 13, func(n *network) {
		n.out(n.add("Relu", []string{n.in(onnxfile.Float, 2, 3)}))
		n.out(n.constant(&onnxfile.Tensor{Type: onnxfile.Float, Dims: []int64{2}, Floats: []float32{1, 2}}))
	}},
	{"an output twice through Identity", 13, func(n *network) {
		y := n.add("Relu", []string{n.in(onnxfile.Float, 2, 3)})
		n.out(n.add("Identity", []string{y}))
		n.out(n.add("Identity", []string{y}))
	}},
	{"an input that nothing reads", 13, func(n *network) {
		n.in(onnxfile.Float, 4)
		n.out(n.add("Neg", []string{n.in(onnxfile.Float, 2)}))
	}},
	{"a scalar input", 13, func(n *network) { n.out(n.add("Add", []string{n.in(onnxfile.Float), n.in(onnxfile.Float, 2, 2)})) }},
	{"a scalar output", 13, func(n *network) {
		n.out(n.add("ReduceSum", []string{n.in(onnxfile.Float, 2, 2)}, attribute("keepdims", 0)))
	}},
	{"broadcasting along an axis of old", 6, func(n *network) {
		n.out(n.add("Add", []string{n.in(onnxfile.Float, 2, 3, 4), n.in(onnxfile.Float, 3)}, attribute("broadcast", 1), attribute("axis", 1)))
	}},
	{"broadcasting a tail of old", 6, func(n *network) {
		n.out(n.add("Mul", []string{n.in(onnxfile.Float, 2, 3, 4), n.in(onnxfile.Float, 3, 4)}, attribute("broadcast", 1)))
	}},
	{"an old Gemm with a vector", 6, func(n *network) {
		n.out(n.add("Gemm", []string{n.in(onnxfile.Float, 2, 3), n.in(onnxfile.Float, 3, 4), n.in(onnxfile.Float, 4)}, attribute("broadcast", 1), attribute("beta", 0.5)))
	}},
	{"an old Clip without bounds", 6, func(n *network) { n.out(n.add("Clip", []string{n.in(onnxfile.Float, 5)}, attribute("max", 0.5))) }},
	{"an old Reshape of an attribute", 4, func(n *network) {
		n.out(n.add("Reshape", []string{n.in(onnxfile.Float, 2, 6)}, attribute("shape", []int64{0, -1, 3})))
	}},
	{"an old Dropout with a mask", 7, func(n *network) {
		n.out(n.add("Dropout", []string{n.in(onnxfile.Float, 2, 6)}, attribute("ratio", 0.3)))
	}},
	{"an old BatchNormalization", 7, func(n *network) {
		x := n.in(onnxfile.Float, 1, 2, 3)
		n.out(n.add("BatchNormalization", []string{x, n.pos(2), n.pos(2), n.pos(2), n.pos(2)}, attribute("epsilon", 0.01)))
	}},
	{"an old Pad", 2, func(n *network) {
		n.out(n.add("Pad", []string{n.in(onnxfile.Float, 2, 2)}, attribute("pads", []int64{0, 1, 1, 0}), attribute("value", 3.0)))
	}},
	{"a Pad that cuts", 13, func(n *network) { n.out(n.add("Pad", []string{n.in(onnxfile.Float, 3, 4), n.ints(-1, 1, 0, -2)})) }},
	{"a Pad of named axes", 18, func(n *network) {
		n.out(n.add("Pad", []string{n.in(onnxfile.Float, 2, 3, 4), n.ints(1, 2), "", n.ints(-1)}, attribute("mode", "reflect")))
	}},
	{"a Pad that wraps", 19, func(n *network) {
		n.out(n.add("Pad", []string{n.in(onnxfile.Float, 2, 3), n.ints(0, 2, 0, 1)}, attribute("mode", "wrap")))
	}},
	{"SAME_LOWER of a pool", 13, func(n *network) {
		n.out(n.add("MaxPool", []string{n.in(onnxfile.Float, 1, 2, 5, 6)}, attribute("kernel_shape", []int64{2, 3}), attribute("strides", []int64{2, 2}), attribute("auto_pad", "SAME_LOWER")))
	}},
	{"SAME_UPPER of a sum", 13, func(n *network) {
		n.out(n.add("AveragePool", []string{n.in(onnxfile.Float, 1, 2, 5, 6)}, attribute("kernel_shape", []int64{2, 2}), attribute("strides", []int64{2, 2}), attribute("auto_pad", "SAME_UPPER"), attribute("count_include_pad", 1)))
	}},
	{"a padding of one side", 13, func(n *network) {
		n.out(n.add("Conv", []string{n.in(onnxfile.Float, 1, 2, 5, 5), n.noise(8, 4, 1, 3, 2), n.noise(1, 4)}, attribute("pads", []int64{2, 0, 0, 1}), attribute("group", 2)))
	}},
	{"a padding wider than the kernel", 13, func(n *network) {
		n.out(n.add("Conv", []string{n.in(onnxfile.Float, 1, 2, 3, 3), n.noise(8, 4, 2, 2, 2)}, attribute("pads", []int64{3, 3, 3, 3})))
	}},
	{"weights that are an input", 13, func(n *network) {
		n.out(n.add("Conv", []string{n.in(onnxfile.Float, 1, 2, 5, 5), n.in(onnxfile.Float, 3, 2, 3, 3)}))
	}},
	{"a transposed convolution of gaps", 13, func(n *network) {
		n.out(n.add("ConvTranspose", []string{n.in(onnxfile.Float, 1, 2, 4, 4), n.noise(8, 2, 3, 3, 3)}, attribute("dilations", []int64{2, 1}), attribute("strides", []int64{1, 2}), attribute("pads", []int64{1, 0, 0, 1})))
	}},
	{"a transposed convolution to a shape", 13, func(n *network) {
		n.out(n.add("ConvTranspose", []string{n.in(onnxfile.Float, 1, 2, 4, 4), n.noise(8, 2, 3, 3, 3)}, attribute("strides", []int64{2, 2}), attribute("output_shape", []int64{8, 9}), attribute("auto_pad", "SAME_LOWER")))
	}},
	{"a transposed convolution of groups", 13, func(n *network) {
		n.out(n.add("ConvTranspose", []string{n.in(onnxfile.Float, 1, 4, 3, 5), n.noise(8, 4, 2, 2, 2), n.noise(1, 4)}, attribute("group", 2), attribute("output_padding", []int64{1, 0}), attribute("strides", []int64{2, 1})))
	}},
	{"places in a volume", 20, func(n *network) {
		n.out(n.add("GridSample", []string{n.in(onnxfile.Float, 2, 2, 3, 4, 5), n.in(onnxfile.Float, 2, 2, 3, 2, 3)}, attribute("padding_mode", "reflection")))
	}},
	{"nearest places in a volume", 20, func(n *network) {
		n.out(n.add("GridSample", []string{n.in(onnxfile.Float, 2, 2, 3, 4, 5), n.in(onnxfile.Float, 2, 2, 3, 2, 3)}, attribute("mode", "nearest"), attribute("align_corners", 1)))
	}},
	{"a slice far beyond", 13, func(n *network) {
		n.out(n.add("Slice", []string{n.in(onnxfile.Float, 4, 5), n.ints(-100, 1), n.ints(math.MaxInt64, -1), n.ints(0, -1)}))
	}},
	{"a slice backwards to the start", 13, func(n *network) {
		n.out(n.add("Slice", []string{n.in(onnxfile.Float, 6), n.ints(-1), n.ints(math.MinInt64), n.ints(0), n.ints(-2)}))
	}},
	{"a gather of negative places", 13, func(n *network) {
		n.out(n.add("Gather", []string{n.in(onnxfile.Float, 4, 3), n.ints(-1, 0, -4)}, attribute("axis", 0)))
	}},
	{"an integer quotient", 13, func(n *network) {
		n.out(n.add("Div", []string{n.in(onnxfile.Int32, 6), n.constant(&onnxfile.Tensor{Type: onnxfile.Int32, Dims: []int64{1}, Int32s: []int32{-3}})}), onnxfile.Int32)
	}},
	{"a remainder of negative numbers", 13, func(n *network) {
		n.out(n.add("Mod", []string{n.in(onnxfile.Int32, 6), n.constant(&onnxfile.Tensor{Type: onnxfile.Int32, Dims: []int64{1}, Int32s: []int32{-3}})}), onnxfile.Int32)
	}},
	{"bytes beside signed bytes", 13, func(n *network) {
		a := n.add("DequantizeLinear", []string{n.in(onnxfile.Uint8, 2, 3), n.scalar(0.1), n.byte(onnxfile.Uint8, 128)})
		b := n.add("DequantizeLinear", []string{n.in(onnxfile.Int8, 3, 2), n.scalar(0.2), n.byte(onnxfile.Int8, 0)})
		n.out(n.add("MatMul", []string{a, b}))
	}},
	{"steps along an axis", 13, func(n *network) {
		s := n.constant(&onnxfile.Tensor{Type: onnxfile.Float, Dims: []int64{3}, Floats: []float32{0.1, 0.2, 0.3}})
		z := n.constant(&onnxfile.Tensor{Type: onnxfile.Uint8, Dims: []int64{3}, Raw: []byte{1, 2, 3}})
		n.out(n.add("DequantizeLinear", []string{n.in(onnxfile.Uint8, 2, 3, 2), s, z}, attribute("axis", 1)))
	}},
	{"rounding along an axis", 13, func(n *network) {
		s := n.constant(&onnxfile.Tensor{Type: onnxfile.Float, Dims: []int64{3}, Floats: []float32{0.1, 0.2, 0.3}})
		z := n.constant(&onnxfile.Tensor{Type: onnxfile.Int8, Dims: []int64{3}, Raw: []byte{1, 2, 0xfd}})
		n.out(n.add("QuantizeLinear", []string{n.in(onnxfile.Float, 2, 3), s, z}, attribute("axis", -1)), onnxfile.Int8)
	}},
	{"a softmax of old of three dimensions", 11, func(n *network) { n.out(n.add("Softmax", []string{n.in(onnxfile.Float, 2, 3, 4)})) }},
	{"a branch that reads from outside", 13, func(n *network) {
		x, c := n.in(onnxfile.Float, 3), n.in(onnxfile.Bool)
		n.out(n.choice(c, n.inner(n.node("Add", "t", x, x)), n.inner(n.node("Neg", "e", x))))
	}},
	{"a branch in a branch", 13, func(n *network) {
		x, c := n.in(onnxfile.Float, 3), n.in(onnxfile.Bool)
		deep := n.inner(n.node("Mul", "d", x, x))
		then := &onnxfile.Graph{Name: "then", Nodes: []*onnxfile.Node{{Op: "If", Inputs: []string{c}, Outputs: []string{"b"}, Attributes: []*onnxfile.Attribute{graphAttribute("then_branch", deep), graphAttribute("else_branch", n.inner(n.node("Abs", "f", x)))}}}}
		then.Outputs = []*onnxfile.Value{declared("b", onnxfile.Float, 3)}
		n.out(n.choice(c, then, n.inner(n.node("Neg", "e", x))))
	}},
	{"a loop of no turns with scanned outputs", 13, func(n *network) { n.loop(0) }},
	{"a loop of turns with scanned outputs", 13, func(n *network) { n.loop(3) }},
	{"a product with a vector on the left", 13, func(n *network) {
		n.out(n.add("MatMul", []string{n.in(onnxfile.Float, 3), n.in(onnxfile.Float, 2, 3, 4)}))
	}},
	{"a product with a vector on the right", 13, func(n *network) {
		n.out(n.add("MatMul", []string{n.in(onnxfile.Float, 2, 4, 3), n.in(onnxfile.Float, 3)}))
	}},
	{"a product of two vectors", 13, func(n *network) { n.out(n.add("MatMul", []string{n.in(onnxfile.Float, 3), n.in(onnxfile.Float, 3)})) }},
	{"the greatest of equals from the end", 13, func(n *network) {
		n.out(n.add("ArgMax", []string{n.in(onnxfile.Uint8, 3, 4)}, attribute("axis", -1), attribute("select_last_index", 1), attribute("keepdims", 0)), onnxfile.Int64)
	}},
	{"a sum of no axes", 13, func(n *network) {
		n.out(n.add("ReduceSum", []string{n.in(onnxfile.Float, 2, 3)}, attribute("noop_with_empty_axes", 1)))
	}},
	{"a Sum of four", 13, func(n *network) {
		n.out(n.add("Sum", []string{n.in(onnxfile.Float, 2, 3), n.in(onnxfile.Float, 3), n.in(onnxfile.Float, 1, 1), n.in(onnxfile.Float)}))
	}},
	{"a Mean of one", 13, func(n *network) { n.out(n.add("Mean", []string{n.in(onnxfile.Float, 2, 3)})) }},
	{"a Max of integers", 13, func(n *network) {
		n.out(n.add("Max", []string{n.in(onnxfile.Int32, 2, 3), n.in(onnxfile.Int32, 3)}), onnxfile.Int32)
	}},
	{"a PRelu of channels", 13, func(n *network) {
		n.out(n.add("PRelu", []string{n.in(onnxfile.Float, 2, 3, 4, 4), n.noise(1, 3, 1, 1)}))
	}},
	{"a power of integers", 13, func(n *network) {
		n.out(n.add("Pow", []string{n.in(onnxfile.Float, 2, 3), n.constant(&onnxfile.Tensor{Type: onnxfile.Int32, Dims: []int64{}, Int32s: []int32{2}})}))
	}},
	{"an LSTM of both directions with a start", 14, func(n *network) {
		n.out(n.add("LSTM", []string{n.in(onnxfile.Float, 3, 2, 4), n.noise(4, 2, 12, 4), n.noise(3, 2, 12, 3), n.noise(3, 2, 24), "", n.noise(1, 2, 2, 3), n.noise(1, 2, 2, 3)}, attribute("hidden_size", 3), attribute("direction", "bidirectional")))
	}},
	{"an LSTM that ends early", 14, func(n *network) {
		l := n.constant(&onnxfile.Tensor{Type: onnxfile.Int32, Dims: []int64{2}, Int32s: []int32{1, 3}})
		n.out(n.add("LSTM", []string{n.in(onnxfile.Float, 3, 2, 4), n.noise(4, 1, 12, 4), n.noise(3, 1, 12, 3), "", l}, attribute("hidden_size", 3), attribute("direction", "reverse")))
	}},
	{"a GRU that resets before", 14, func(n *network) {
		n.out(n.add("GRU", []string{n.in(onnxfile.Float, 3, 2, 4), n.noise(4, 1, 9, 4), n.noise(3, 1, 9, 3), n.noise(3, 1, 18)}, attribute("hidden_size", 3), attribute("linear_before_reset", 0)))
	}},
	{"an Einsum of a diagonal", 13, func(n *network) {
		n.out(n.add("Einsum", []string{n.in(onnxfile.Float, 3, 3)}, attribute("equation", "ii->i")))
	}},
	{"an Einsum without an arrow", 13, func(n *network) {
		n.out(n.add("Einsum", []string{n.in(onnxfile.Float, 2, 3), n.in(onnxfile.Float, 3, 4)}, attribute("equation", "ij,jk")))
	}},
	{"depth to space in columns", 13, func(n *network) {
		n.out(n.add("DepthToSpace", []string{n.in(onnxfile.Float, 1, 8, 2, 3)}, attribute("blocksize", 2), attribute("mode", "CRD")))
	}},
	{"a resize to a size that keeps the ratio", 18, func(n *network) {
		n.out(n.add("Resize", []string{n.in(onnxfile.Float, 1, 1, 4, 6), "", "", n.ints(7, 7)}, attribute("axes", []int64{2, 3}), attribute("keep_aspect_ratio_policy", "not_larger"), attribute("mode", "linear")))
	}},
	{"a cubic resize to half", 13, func(n *network) {
		s := n.constant(&onnxfile.Tensor{Type: onnxfile.Float, Dims: []int64{4}, Floats: []float32{1, 1, 0.5, 0.5}})
		n.out(n.add("Resize", []string{n.in(onnxfile.Float, 1, 1, 6, 6), "", s}, attribute("mode", "cubic"), attribute("coordinate_transformation_mode", "pytorch_half_pixel"), attribute("exclude_outside", 1)))
	}},
	{"a nearest resize up of a half", 11, func(n *network) {
		s := n.constant(&onnxfile.Tensor{Type: onnxfile.Float, Dims: []int64{4}, Floats: []float32{1, 1, 1.5, 2.5}})
		n.out(n.add("Resize", []string{n.in(onnxfile.Float, 1, 2, 3, 3), n.constant(&onnxfile.Tensor{Type: onnxfile.Float, Dims: []int64{0}}), s}, attribute("mode", "nearest"), attribute("nearest_mode", "ceil"), attribute("coordinate_transformation_mode", "asymmetric")))
	}},
	{"a pool that rounds up", 13, func(n *network) {
		n.out(n.add("AveragePool", []string{n.in(onnxfile.Float, 1, 1, 6, 6)}, attribute("kernel_shape", []int64{3, 3}), attribute("strides", []int64{2, 2}), attribute("ceil_mode", 1)))
	}},
	{"a wide integer that is compared", 13, func(n *network) {
		n.out(n.add("Less", []string{n.in(onnxfile.Int64, 3), n.constant(&onnxfile.Tensor{Type: onnxfile.Int64, Dims: []int64{}, Int64s: []int64{1 << 40}})}), onnxfile.Bool)
	}},
	{"a wide integer that bounds", 13, func(n *network) {
		n.out(n.add("Clip", []string{n.in(onnxfile.Int64, 3), n.constant(&onnxfile.Tensor{Type: onnxfile.Int64, Dims: []int64{}, Int64s: []int64{0}}), n.constant(&onnxfile.Tensor{Type: onnxfile.Int64, Dims: []int64{}, Int64s: []int64{math.MaxInt64}})}), onnxfile.Int64)
	}},
	{"a cast to bool and back", 13, func(n *network) {
		n.out(n.add("Cast", []string{n.add("Cast", []string{n.in(onnxfile.Float, 4)}, attribute("to", 9))}, attribute("to", 7)), onnxfile.Int64)
	}},
	{"an empty part", 13, func(n *network) {
		x := n.in(onnxfile.Float, 3, 2)
		e := n.add("Slice", []string{x, n.ints(1), n.ints(1), n.ints(0)})
		n.out(n.add("Concat", []string{x, e, x}, attribute("axis", 0)))
	}},
	{"an empty input", 13, func(n *network) { n.out(n.add("Relu", []string{n.in(onnxfile.Float, 0, 2)})) }},
	{"a filled shape of none", 13, func(n *network) {
		n.out(n.add("Add", []string{n.in(onnxfile.Float, 2), n.add("ConstantOfShape", []string{n.constant(&onnxfile.Tensor{Type: onnxfile.Int64, Dims: []int64{0}, Int64s: []int64{}})})}))
	}},
	{"an instance norm of one dimension", 13, func(n *network) {
		n.out(n.add("InstanceNormalization", []string{n.in(onnxfile.Float, 2, 3, 5), n.pos(3), n.pos(3)}))
	}},
	{"a layer norm of two axes", 17, func(n *network) {
		n.out(n.add("LayerNormalization", []string{n.in(onnxfile.Float, 2, 3, 4), n.noise(1, 3, 4), n.noise(1, 3, 4)}, attribute("axis", -2)))
	}},
	{"a training mode that is off", 14, func(n *network) {
		n.out(n.add("Dropout", []string{n.in(onnxfile.Float, 4), n.scalar(0.5), n.constant(&onnxfile.Tensor{Type: onnxfile.Bool, Dims: []int64{}, Raw: []byte{0}})}))
	}},
	{"a Range backwards", 13, func(n *network) {
		i := func(v int64) string {
			return n.constant(&onnxfile.Tensor{Type: onnxfile.Int64, Dims: []int64{}, Int64s: []int64{v}})
		}
		n.out(n.add("Add", []string{n.add("Range", []string{i(5), i(-1), i(-2)}), n.in(onnxfile.Int64, 3)}), onnxfile.Int64)
	}},
	{"halves", 13, func(n *network) {
		n.out(n.add("Softmax", []string{n.in(onnxfile.Float16, 2, 5)}, attribute("axis", -1)), onnxfile.Float16)
	}},
	{"a bidirectional RNN of relu", 14, func(n *network) {
		n.out(n.add("RNN", []string{n.in(onnxfile.Float, 3, 2, 4), n.noise(4, 2, 3, 4), n.noise(3, 2, 3, 3), n.noise(3, 2, 6)}, attribute("hidden_size", 3), attribute("direction", "bidirectional"), &onnxfile.Attribute{Name: "activations", Type: onnxfile.AttributeStrings, Strings: []string{"Relu", "Tanh"}}))
	}},
	{"a GELU by tanh", 20, func(n *network) {
		n.out(n.add("Gelu", []string{n.in(onnxfile.Float, 2, 5)}, attribute("approximate", "tanh")))
	}},
	{"a lower triangle of a diagonal", 14, func(n *network) {
		n.out(n.add("Trilu", []string{n.in(onnxfile.Float, 2, 3, 4), n.constant(&onnxfile.Tensor{Type: onnxfile.Int64, Dims: []int64{}, Int64s: []int64{-1}})}, attribute("upper", 0)))
	}},
	{"a scatter that adds", 16, func(n *network) {
		n.out(n.add("ScatterElements", []string{n.in(onnxfile.Float, 3, 3), n.constant(&onnxfile.Tensor{Type: onnxfile.Int64, Dims: []int64{2, 2}, Int64s: []int64{0, 0, 0, -1}}), n.in(onnxfile.Float, 2, 2)}, attribute("axis", 1), attribute("reduction", "add")))
	}},
	{"a GatherElements of negative places", 13, func(n *network) {
		n.out(n.add("GatherElements", []string{n.in(onnxfile.Float, 3, 3), n.constant(&onnxfile.Tensor{Type: onnxfile.Int64, Dims: []int64{2, 3}, Int64s: []int64{0, -1, 2, 1, 1, -3}})}, attribute("axis", 0)))
	}},
	{"a GatherND of batches", 13, func(n *network) {
		n.out(n.add("GatherND", []string{n.in(onnxfile.Float, 2, 3, 4), n.constant(&onnxfile.Tensor{Type: onnxfile.Int64, Dims: []int64{2, 1}, Int64s: []int64{2, 0}})}, attribute("batch_dims", 1)))
	}},
	{"a sum from the end", 13, func(n *network) {
		n.out(n.add("CumSum", []string{n.in(onnxfile.Float, 2, 3), n.scalarInt(-1)}, attribute("reverse", 1), attribute("exclusive", 1)))
	}},
	{"a thresholded relu", 13, func(n *network) {
		n.out(n.add("ThresholdedRelu", []string{n.in(onnxfile.Float, 6)}, attribute("alpha", 0.5)))
	}},
	{"a hard sigmoid", 13, func(n *network) {
		n.out(n.add("HardSigmoid", []string{n.in(onnxfile.Float, 6)}, attribute("alpha", 0.3), attribute("beta", 0.4)))
	}},
	{"a selu", 13, func(n *network) { n.out(n.add("Selu", []string{n.in(onnxfile.Float, 6)}, attribute("alpha", 1.5))) }},
	{"a celu", 13, func(n *network) { n.out(n.add("Celu", []string{n.in(onnxfile.Float, 6)}, attribute("alpha", 2.0))) }},
	{"a softplus of great numbers", 13, func(n *network) {
		n.out(n.add("Softplus", []string{n.add("Mul", []string{n.in(onnxfile.Float, 6), n.scalar(60)})}))
	}},
	{"is it no number", 13, func(n *network) {
		n.out(n.add("IsNaN", []string{n.add("Log", []string{n.in(onnxfile.Float, 6)})}), onnxfile.Bool)
	}},
	{"is it positive infinity", 13, func(n *network) {
		n.out(n.add("IsInf", []string{n.add("Div", []string{n.in(onnxfile.Float, 6), n.scalar(0)})}, attribute("detect_negative", 0)), onnxfile.Bool)
	}},
	{"a size", 13, func(n *network) { n.in(onnxfile.Float, 6); n.out(n.add("Size", []string{"x0"}), onnxfile.Int64) }},
	{"cubic samples at a border", 20, func(n *network) {
		n.out(n.add("GridSample", []string{n.in(onnxfile.Float, 1, 1, 4, 4), n.in(onnxfile.Float, 1, 2, 3, 2)}, attribute("mode", "cubic"), attribute("padding_mode", "border")))
	}},
	{"a part of a shape", 15, func(n *network) {
		n.out(n.add("Shape", []string{n.in(onnxfile.Float, 6, 2, 3)}, attribute("start", -2)), onnxfile.Int64)
	}},
}

// strangeRefusals are those that the importer refuses, with the reason.
var strangeRefusals = map[string]string{
	"a wide integer that is compared": "values that do not fit 32 bits",
}

// in is an input of noise.
func (n *network) in(of onnxfile.DataType, dims ...int64) string {
	if dims == nil {
		dims = []int64{}
	}
	v := &drawn{name: fmtName(n), of: of, dims: dims}
	n.fill(v)
	n.graph.Inputs = append(n.graph.Inputs, declared(v.name, of, dims...))
	n.inputs = append(n.inputs, v)
	return v.name
}

// out is an output, of FLOAT where of is left out.
func (n *network) out(name string, of ...onnxfile.DataType) {
	v := &onnxfile.Value{Name: name, Type: onnxfile.Float}
	if len(of) > 0 {
		v.Type = of[0]
	}
	n.graph.Outputs = append(n.graph.Outputs, v)
}

// sparse is an initializer [2, 3] of few elements at places.
func (n *network) sparse(name string, elements []float32, dims []int64, places ...int64) {
	n.graph.Sparse = append(n.graph.Sparse, onnxfile.SparseTensor{
		Values:  onnxfile.Tensor{Name: name, Type: onnxfile.Float, Dims: []int64{int64(len(elements))}, Floats: elements},
		Indices: onnxfile.Tensor{Type: onnxfile.Int64, Dims: dims, Int64s: places}, Dims: []int64{2, 3},
	})
}

// pos are positive weights.
func (n *network) pos(size int64) string {
	list := make([]float32, size)
	for i := range list {
		list[i] = float32(i+1) / 4
	}
	return n.constant(&onnxfile.Tensor{Type: onnxfile.Float, Dims: []int64{size}, Floats: list})
}

func (n *network) scalarInt(v int64) string {
	return n.constant(&onnxfile.Tensor{Type: onnxfile.Int64, Dims: []int64{}, Int64s: []int64{v}})
}

func (n *network) node(op, out string, in ...string) *onnxfile.Node {
	return &onnxfile.Node{Op: op, Inputs: in, Outputs: []string{out}}
}

// inner is a graph of a node on names from outside.
func (n *network) inner(node *onnxfile.Node) *onnxfile.Graph {
	return &onnxfile.Graph{Name: node.Outputs[0], Nodes: []*onnxfile.Node{node}, Outputs: []*onnxfile.Value{declared(node.Outputs[0], onnxfile.Float, 3)}}
}

func graphAttribute(name string, g *onnxfile.Graph) *onnxfile.Attribute {
	return &onnxfile.Attribute{Name: name, Type: onnxfile.AttributeGraph, Graph: g}
}

func (n *network) choice(condition string, then, otherwise *onnxfile.Graph) string {
	return n.add("If", []string{condition}, graphAttribute("then_branch", then), graphAttribute("else_branch", otherwise))
}

// loop adds a value in every turn, and scans the sums.
func (n *network) loop(turns int64) {
	x := n.in(onnxfile.Float, 3)
	body := &onnxfile.Graph{
		Name:    "body",
		Nodes:   []*onnxfile.Node{n.node("Add", "next", "sum", x), n.node("Identity", "on", "go"), n.node("Mul", "double", "next", x)},
		Inputs:  []*onnxfile.Value{declared("turn", onnxfile.Int64), declared("go", onnxfile.Bool), declared("sum", onnxfile.Float, 3)},
		Outputs: []*onnxfile.Value{declared("on", onnxfile.Bool), declared("next", onnxfile.Float, 3), declared("double", onnxfile.Float, 3)},
	}
	y := n.add("Loop", []string{n.scalarInt(turns), "", x}, graphAttribute("body", body))
	node := n.graph.Nodes[len(n.graph.Nodes)-1]
	node.Outputs = append(node.Outputs, "scanned")
	n.out(y)
	n.out("scanned")
}

// TestOracleRuntimeStrange holds networks in the manner of reports about conversions against ONNX Runtime.
func TestOracleRuntimeStrange(t *testing.T) {
	oracle.Need(t, "node")
	needRuntime(t)
	var subjects []*subject
	strange := slices.Concat(strange, signalNetworks, hostNetworks, cropNetworks(), openNetworks())
	for seed, c := range strange {
		n := newNetwork(uint64(seed))
		n.opset = c.opset
		c.draw(n)
		n.graph.Name = c.name
		subjects = append(subjects, n.subject())
	}
	compared := 0
	for k, v := range judge(t, subjects) {
		if v.Said != "" {
			t.Logf("%s: ONNX Runtime does not run it: %s", strange[k].name, v.Said)
			continue
		}
		compared++
		err := subjects[k].against(v)
		if reason := strangeRefusals[strange[k].name]; reason != "" {
			require.ErrorContains(t, err, reason)
		} else if err != nil {
			t.Errorf("%s: %v", strange[k].name, err)
		}
	}
	t.Logf("%d networks compared", compared)
}
