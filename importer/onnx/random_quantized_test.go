package onnx_test

import (
	"fmt"
	"slices"

	"github.com/nnsoc/nnsoc/importer/onnx/onnxfile"
)

func fmtName(n *network) string { return fmt.Sprint("x", len(n.inputs)) }

// steps draws a type with steps.
func (n *network) steps() stepped {
	if n.chance(2) {
		return stepped{onnxfile.Uint8, []float32{0.02, 0.05, 0.03125}[n.upTo(3)], byte(n.between(0, 255))}
	}
	return stepped{onnxfile.Int8, []float32{0.02, 0.05, 0.03125}[n.upTo(3)], byte(int8(n.between(-20, 20)))}
}

// toSteps quantizes a value.
func (n *network) toSteps(x *drawn, q stepped) *drawn {
	v := n.result("QuantizeLinear", q.of, x.dims, nil, []string{n.read(x).name, n.scalar(q.step), n.byte(q.of, q.zero)})
	v.step, v.exact, v.most = 1, x.exact, 255
	if x.exact {
		v.step = 0
	}
	return v
}

// toReals dequantizes one.
func (n *network) toReals(x *drawn, q stepped) *drawn {
	v := n.result("DequantizeLinear", onnxfile.Float, x.dims, nil, []string{n.read(x).name, n.scalar(q.step), n.byte(q.of, q.zero)})
	v.step, v.exact = x.step*float64(q.step), x.exact
	return v
}

// pair puts a value through steps and back, as quantizers write it.
func (n *network) pair(x *drawn) *drawn {
	q := n.steps()
	return n.toReals(n.toSteps(x, q), q)
}

// quantizedOperator runs an operator of reals between pairs.
func quantizedOperator(draw func(n *network)) func(n *network) {
	return func(n *network) {
		x := n.some(floats, 1, 4, touchy)
		for i := range n.values {
			if n.values[i] == x { // the operator finds what the pair makes first
				break
			}
		}
		hidden := n.values
		n.values = nil
		y := n.pair(x)
		made := n.values
		n.values = []*drawn{y}
		draw(n)
		last := n.values[len(n.values)-1]
		if last != y && last.of == onnxfile.Float && last.step == 0 {
			n.pair(last)
		}
		n.values = slices.Concat(hidden, made[:1], n.values)
	}
}

// weightsOfSteps is a convolution or product with weights of 8 bits, of a scale for each of the results' channels or one.
func weightsOfSteps(n *network) {
	x := n.pair(n.image(floats, touchy))
	w, list, out := n.drawWindow(x.dims[2:], false)
	group := n.divisor(x.dims[1])
	maps := group * n.between(1, 3)
	raw := n.weights(onnxfile.Int8, append([]int64{maps, x.dims[1] / group}, w.kernel...)...)
	scale, zero := n.scalar(0.01), n.byte(onnxfile.Int8, 0)
	var axis []*onnxfile.Attribute
	if n.opset >= 13 && n.chance(2) {
		scales := make([]float32, maps)
		for i := range scales {
			scales[i] = float32(1+n.upTo(9)) / 512
		}
		scale = n.constant(&onnxfile.Tensor{Type: onnxfile.Float, Dims: []int64{maps}, Floats: scales})
		zero = n.constant(&onnxfile.Tensor{Type: onnxfile.Int8, Dims: []int64{maps}, Raw: make([]byte, maps)})
		axis = append(axis, attribute("axis", 0))
	}
	weights := n.add("DequantizeLinear", []string{raw.name, scale, zero}, axis...)
	y := n.result("Conv", onnxfile.Float, append([]int64{x.dims[0], maps}, out...), nil, []string{n.read(x).name, weights}, append(list, attribute("group", int(group)))...)
	n.pair(y)
}

func dynamicQuantize(n *network) {
	x := n.some(floats, 1, 4, touchy)
	v := n.result("DynamicQuantizeLinear", onnxfile.Uint8, x.dims, nil, []string{x.name})
	v.step, v.most = 1, 255
	n.further(onnxfile.Float, []int64{}, &drawn{})
	n.further(onnxfile.Uint8, []int64{}, v)
}

func integerProduct(n *network) {
	a := n.read(n.input(onnxfile.Uint8, n.between(1, 4), n.between(1, 5)))
	b := n.weights(smalls[n.upTo(2)], a.dims[1], n.between(1, 4))
	in := []string{a.name, b.name}
	if n.chance(2) {
		in = append(in, n.byte(a.of, byte(n.upTo(200))), n.byte(b.of, 3))
	}
	n.result("MatMulInteger", onnxfile.Int32, []int64{a.dims[0], b.dims[1]}, nil, in).exact = true
}

func integerConv(n *network) {
	x := n.read(n.input(onnxfile.Uint8, 1, n.between(1, 3), n.between(2, 6), n.between(2, 6)))
	w, list, out := n.drawWindow(x.dims[2:], false)
	maps := n.between(1, 3)
	in := []string{x.name, n.weights(onnxfile.Uint8, append([]int64{maps, x.dims[1]}, w.kernel...)...).name}
	if n.chance(2) {
		in = append(in, n.byte(onnxfile.Uint8, byte(n.upTo(200))), n.byte(onnxfile.Uint8, 100))
	}
	n.result("ConvInteger", onnxfile.Int32, append([]int64{1, maps}, out...), nil, in, list...).exact = true
}

func quantizedProduct(n *network) {
	x := n.some(floats, 2, 3, touchy)
	q, o := n.steps(), n.steps()
	a := n.toSteps(x, q)
	columns := n.between(1, 4)
	b := n.weights(onnxfile.Int8, a.dims[a.rank()-1], columns)
	if q.of == onnxfile.Int8 {
		o.of = onnxfile.Int8
	} else {
		o.of = onnxfile.Uint8
	}
	s, z := n.params(q)
	os, oz := n.params(o)
	v := n.result("QLinearMatMul", o.of, append(slices.Clone(a.dims[:a.rank()-1]), columns), nil, []string{n.read(a).name, s, z, b.name, n.scalar(0.01), n.byte(onnxfile.Int8, 0), os, oz})
	v.step, v.exact, v.most = 1, false, 255
}

// randomOperators are what random networks consist of.
var randomOperators = []randomOperator{
	unary("Relu", 7, reals, nil), unary("Sigmoid", 7, reals, plain), unary("Tanh", 7, reals, plain), unary("Exp", 7, floats, touchy), unary("Abs", 7, reals, nil),
	unary("Neg", 7, numbers, nil), unary("Floor", 7, reals, touchy), unary("Ceil", 7, reals, touchy), unary("Round", 11, floats, touchy), unary("Sign", 9, numbers, touchy),
	unary("Erf", 9, floats, plain), unary("Softplus", 7, floats, plain), unary("Softsign", 7, floats, plain), unary("Elu", 7, floats, plain, number("alpha", 0.1, 2)),
	unary("Selu", 7, floats, plain), unary("Celu", 12, floats, plain, number("alpha", 0.5, 2)), unary("LeakyRelu", 7, floats, plain, number("alpha", 0.1, 0.9)),
	unary("HardSigmoid", 7, floats, plain, number("alpha", 0.1, 0.9), number("beta", 0.1, 0.9)), unary("HardSwish", 14, floats, plain), unary("Mish", 18, floats, plain),
	unary("ThresholdedRelu", 10, floats, touchy, number("alpha", 0.5, 1.5)), unary("Gelu", 20, floats, plain), unary("Sin", 7, floats, touchy), unary("Cos", 7, floats, touchy),
	unary("Tan", 7, floats, touchy), unary("Atan", 7, floats, plain), unary("Sinh", 9, floats, touchy), unary("Cosh", 9, floats, touchy), unary("Asinh", 9, floats, plain),
	unary("Identity", 7, anything, nil), unary("Dropout", 7, floats, nil), unary("Not", 7, []onnxfile.DataType{onnxfile.Bool}, nil), ofAbsolute("Sqrt"), ofAbsolute("Log"),
	{"Reciprocal", 7, reciprocal}, unary("Shrink", 9, floats, touchy),
	binaryOperator("Add", 7, numbers, sum), binaryOperator("Sub", 7, numbers, sum), binaryOperator("Mul", 7, numbers, product), binaryOperator("Max", 12, numbers, larger), binaryOperator("Min", 12, numbers, larger),
	binaryOperator("Add", 14, smalls, larger), binaryOperator("Sub", 14, smalls, larger), binaryOperator("Mul", 14, smalls, larger), binaryOperator("PRelu", 9, floats, sum), binaryOperator("Sum", 8, floats, sum),
	binaryOperator("Mean", 8, floats, sum),
	{"Div", 7, func(n *network) {
		x := n.some(floats, 0, 5, plain)
		n.result("Div", x.of, x.dims, nil, []string{x.name, n.scalar(1.75)})
	}},
	{"Div", 7, func(n *network) { // of integers: towards zero
		x := n.some(wholes, 0, 5, nil)
		d := n.constant(&onnxfile.Tensor{Type: x.of, Raw: rawElements(x.of, []float64{[]float64{3, -4, 7}[n.upTo(3)]})})
		n.result("Div", x.of, x.dims, []*drawn{x}, []string{x.name, d}).exact = true
	}},
	{"Mod", 10, func(n *network) {
		x := n.some(wholes, 0, 5, nil)
		d := n.constant(&onnxfile.Tensor{Type: x.of, Raw: rawElements(x.of, []float64{[]float64{3, -4, 7}[n.upTo(3)]})})
		n.result("Mod", x.of, x.dims, []*drawn{x}, []string{x.name, d}, attribute("fmod", n.random.IntN(2))).exact = true
	}},
	{"Pow", 7, func(n *network) {
		x := n.some(floats, 0, 5, touchy)
		n.result("Pow", x.of, x.dims, nil, []string{x.name, n.scalar([]float32{2, 3, 0, 1, -1}[n.upTo(5)])})
	}},
	compared("Equal", 11, slices.Concat(floats, wholes)), compared("Greater", 9, slices.Concat(floats, wholes)), compared("Less", 9, slices.Concat(floats, wholes)),
	compared("GreaterOrEqual", 16, floats), compared("LessOrEqual", 16, floats), compared("And", 7, []onnxfile.DataType{onnxfile.Bool}), compared("Or", 7, []onnxfile.DataType{onnxfile.Bool}), compared("Xor", 7, []onnxfile.DataType{onnxfile.Bool}),
	reducing("ReduceSum", 13, slices.Concat(floats, wholes)), reducing("ReduceMean", 18, floats), reducing("ReduceMax", 18, slices.Concat(floats, wholes)), reducing("ReduceMin", 18, slices.Concat(floats, wholes)),
	reducing("ReduceProd", 18, floats), reducing("ReduceL1", 18, floats), reducing("ReduceL2", 18, floats), reducing("ReduceSumSquare", 18, floats), reducing("ReduceLogSumExp", 18, floats),
	winner("ArgMax"), winner("ArgMin"),
	{"Conv", 7, conv}, {"Conv", 7, conv}, {"Conv", 7, conv}, {"ConvTranspose", 7, convTranspose}, {"ConvTranspose", 7, convTranspose},
	{"MaxPool", 7, pool("MaxPool", 10)}, {"AveragePool", 7, pool("AveragePool", 19)}, {"LpPool", 7, pool("LpPool", 18)}, {"MaxPool", 10, roundedUp("MaxPool")}, {"AveragePool", 10, roundedUp("AveragePool")},
	{"GlobalAveragePool", 7, globalPool("GlobalAveragePool")}, {"GlobalMaxPool", 7, globalPool("GlobalMaxPool")}, {"MatMul", 7, matMul}, {"MatMul", 7, matMul}, {"Gemm", 7, gemm}, {"Gemm", 7, gemm},
	{"Softmax", 7, softmax("Softmax")}, {"LogSoftmax", 7, softmax("LogSoftmax")}, {"Hardmax", 7, softmax("Hardmax")},
	{"BatchNormalization", 9, normalized("BatchNormalization")}, {"InstanceNormalization", 7, normalized("InstanceNormalization")}, {"LRN", 7, normalized("LRN")},
	{"LayerNormalization", 17, normalized("LayerNormalization")}, {"LpNormalization", 7, normalized("LpNormalization")}, {"MeanVarianceNormalization", 9, normalized("MeanVarianceNormalization")},
	{"GroupNormalization", 21, normalized("GroupNormalization")}, {"LSTM", 7, recurrent("LSTM", 4)}, {"GRU", 7, recurrent("GRU", 3)}, {"RNN", 7, recurrent("RNN", 1)},
	{"Transpose", 7, transpose}, {"Transpose", 7, transpose}, {"Reshape", 7, reshape}, {"Reshape", 7, reshape}, {"Flatten", 7, flatten}, {"Squeeze", 7, squeeze}, {"Unsqueeze", 7, unsqueeze},
	{"Concat", 7, concat}, {"Concat", 7, concat}, {"Split", 7, split}, {"Slice", 7, slice}, {"Slice", 7, slice}, {"Gather", 7, gather}, {"GatherElements", 11, gatherElements}, {"GatherND", 11, gatherND},
	{"ScatterElements", 11, scatterElements}, {"ScatterND", 11, scatterND}, {"Expand", 8, expand}, {"Tile", 7, tile}, {"Pad", 7, pad}, {"Pad", 7, pad}, {"DepthToSpace", 7, depthToSpace}, {"Trilu", 14, trilu},
	{"CumSum", 11, cumSum}, {"TopK", 7, topK}, {"OneHot", 11, oneHot}, {"Resize", 7, resize}, {"Cast", 7, cast}, {"Cast", 7, cast}, {"NonZero", 9, nonZero}, {"Unique", 11, unique},
	{"Compress", 11, compress}, {"NonMaxSuppression", 11, suppression}, {"Shape", 7, shapeOf}, {"Where", 9, where}, {"Clip", 7, clip},
	{"pair", 10, func(n *network) { n.pair(n.some(floats, 0, 5, touchy)) }},
	{"quantized Conv", 10, weightsOfSteps}, {"quantized Conv", 10, weightsOfSteps}, {"quantized AveragePool", 10, quantizedOperator(globalPool("GlobalAveragePool"))}, {"quantized Softmax", 10, quantizedOperator(softmax("Softmax"))},
	{"quantized Add", 10, quantizedOperator(binaryOperator("Add", 7, floats, sum).draw)}, {"quantized Mul", 10, quantizedOperator(binaryOperator("Mul", 7, floats, sum).draw)}, {"quantized MatMul", 10, quantizedOperator(matMul)},
	{"quantized Gemm", 10, quantizedOperator(gemm)}, {"quantized Concat", 10, quantizedOperator(concat)}, {"quantized ReduceMean", 10, quantizedOperator(reducing("ReduceMean", 18, floats).draw)}, {"quantized Transpose", 10, quantizedOperator(transpose)},
	{"quantized Sigmoid", 10, quantizedOperator(unary("Sigmoid", 7, floats, plain).draw)}, {"quantized LeakyRelu", 10, quantizedOperator(unary("LeakyRelu", 7, floats, plain).draw)}, {"quantized Reshape", 10, quantizedOperator(reshape)},
	{"quantized MaxPool", 10, quantizedOperator(pool("MaxPool", 10))}, {"quantized AveragePool", 10, quantizedOperator(pool("AveragePool", 19))}, {"quantized Sub", 10, quantizedOperator(binaryOperator("Sub", 7, floats, sum).draw)},
	{"DynamicQuantizeLinear", 11, dynamicQuantize}, {"MatMulInteger", 10, integerProduct}, {"ConvInteger", 10, integerConv}, {"QLinearMatMul", 10, quantizedProduct},
}
