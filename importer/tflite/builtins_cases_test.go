package tflite

import (
	"math"

	"github.com/nnsoc/nnsoc/importer/tflite/tflitefile"
)

// fields are options by name.
type fields = tflitefile.Table

var (
	act = func(code int) fields { return fields{"activation": code} }

	convCases = []opCase{
		{op: "CONV_2D", kind: "Conv2DOptions", options: fields{"padding": 1, "stride_w": 1, "stride_h": 1, "activation": 1},
			in:  []arg{f32(dims(1, 2, 2, 1), 1, 2, 3, 4), k(f32(dims(2, 1, 1, 1), 2, -1)), k(f32(dims(2), 1, 0.5))},
			out: []arg{f32(dims(1, 2, 2, 2), 3, 0, 5, 0, 7, 0, 9, 0)}},
		{op: "CONV_2D", kind: "Conv2DOptions", options: fields{"padding": 0, "stride_w": 1, "stride_h": 1, "activation": 4}, // TANH, no bias
			in: []arg{f32(dims(1, 1, 2, 1), 0.5, -1), k(f32(dims(1, 1, 1, 1), 1))}, out: []arg{f32(dims(1, 1, 2, 1), 0.46211716, -0.76159416)}},
		{op: "CONV_2D", kind: "Conv2DOptions", options: fields{"padding": 1, "stride_w": 1, "stride_h": 1}, // groups
			in: []arg{f32(dims(1, 1, 1, 2), 3, 5), k(f32(dims(2, 1, 1, 1), 2, 10)), without}, out: []arg{f32(dims(1, 1, 1, 2), 6, 50)}},
		{op: "CONV_2D", kind: "Conv2DOptions", options: fields{"padding": 1, "stride_w": 1, "stride_h": 1}, // int8, a scale per channel
			in:  []arg{q8(0.5, 0, dims(1, 1, 1, 1), 4), k(channels(dims(2, 1, 1, 1), 0, []float32{0.5, 0.25}, 4, 8)), k(i32(dims(2), 4, 8))},
			out: []arg{q8(1, 0, dims(1, 1, 1, 2), 5, 5)}},
		{op: "CONV_2D", kind: "Conv2DOptions", options: fields{"padding": 1, "stride_w": 1, "stride_h": 1}, // hybrid
			in: []arg{f32(dims(1, 1, 1, 2), 1.27, 0.5), k(q8(0.5, 0, dims(1, 1, 1, 2), 2, 4)), k(f32(dims(1), 0))}, out: []arg{f32(dims(1, 1, 1, 1), 2.27)}},
		{op: "CONV_2D", kind: "Conv2DOptions", options: fields{"padding": 1, "stride_w": 1, "stride_h": 1}, // 16x8, bias of 64 bits
			in:  []arg{q16(0.001, dims(1, 1, 1, 2), 1000, -2000), k(channels(dims(1, 1, 1, 2), 0, nil, 10, 20)), k(i64(dims(1), 500))},
			out: []arg{within(1, q16(0.001, dims(1, 1, 1, 1), -2950))}},
		{op: "DEPTHWISE_CONV_2D", kind: "DepthwiseConv2DOptions", options: fields{"padding": 1, "stride_w": 1, "stride_h": 1},
			in: []arg{f32(dims(1, 1, 1, 2), 3, 5), k(f32(dims(1, 1, 1, 4), 1, 2, 3, 4)), k(f32(dims(4), 0, 0, 0, 1))}, out: []arg{f32(dims(1, 1, 1, 4), 3, 6, 15, 21)}},
		{op: "DEPTHWISE_CONV_2D", kind: "DepthwiseConv2DOptions", options: fields{"padding": 0, "stride_w": 1, "stride_h": 1, "dilation_w": 2},
			in: []arg{f32(dims(1, 1, 3, 1), 1, 2, 3), k(f32(dims(1, 1, 3, 1), 1, 10, 100)), without}, out: []arg{f32(dims(1, 1, 3, 1), 310, 20, 31)}},
		{op: "DEPTHWISE_CONV_2D", kind: "DepthwiseConv2DOptions", options: fields{"padding": 1, "stride_w": 1, "stride_h": 1}, // hybrid: asymmetric with any number of channels, 0.2 is 20 of 255 steps
			in:  []arg{f32(dims(1, 1, 2, 1), 2.55, 0.2), k(q8(0.5, 0, dims(1, 1, 2, 1), 0, 2)), k(f32(dims(1), 0))},
			out: []arg{f32(dims(1, 1, 1, 1), 0.2)}},
		{op: "TRANSPOSE_CONV", kind: "TransposeConvOptions", options: fields{"padding": 1, "stride_w": 2, "stride_h": 1},
			in: []arg{k(i32(dims(4), 1, 1, 4, 1)), k(f32(dims(1, 1, 2, 1), 1, 10)), f32(dims(1, 1, 2, 1), 3, 5)}, out: []arg{f32(dims(1, 1, 4, 1), 3, 30, 5, 50)}},
		{op: "TRANSPOSE_CONV", kind: "TransposeConvOptions", options: fields{"padding": 1, "stride_w": 2, "stride_h": 1}, // wider than natural: what no window reaches is the bias
			in:  []arg{k(i32(dims(4), 1, 1, 7, 1)), k(f32(dims(1, 1, 2, 1), 1, 10)), f32(dims(1, 1, 2, 1), 3, 5), k(f32(dims(1), 2))},
			out: []arg{f32(dims(1, 1, 7, 1), 5, 32, 7, 52, 2, 2, 2)}},
		{op: "TRANSPOSE_CONV", kind: "TransposeConvOptions", options: fields{"padding": 1, "stride_w": 1, "stride_h": 2}, // lower and narrower
			in:  []arg{k(i32(dims(4), 1, 3, 2, 1)), k(f32(dims(1, 2, 2, 1), 1, 10, 100, 1000)), f32(dims(1, 2, 2, 1), 1, 2, 3, 4)},
			out: []arg{f32(dims(1, 3, 2, 1), 1, 12, 100, 1200, 3, 34)}},
		{op: "FULLY_CONNECTED", kind: "FullyConnectedOptions", options: fields{"keep_num_dims": true},
			in: []arg{f32(dims(1, 2, 2), 1, 2, 3, 4), k(f32(dims(1, 2), 10, 1)), without}, out: []arg{f32(dims(1, 2, 1), 12, 34)}},
		{op: "FULLY_CONNECTED", kind: "FullyConnectedOptions",
			in: []arg{f32(dims(4), 1, 2, 3, 4), k(f32(dims(1, 2), 10, 1)), k(f32(dims(1), 5))}, out: []arg{f32(dims(2, 1), 17, 39)}},
		{op: "FULLY_CONNECTED", kind: "FullyConnectedOptions", // int8, a scale per channel
			in: []arg{q8(1, 1, dims(1, 2), 3, 5), k(channels(dims(2, 2), 0, []float32{1, 0.5}, 1, 2, 4, 6)), k(i32(dims(2), 0, 2))}, out: []arg{q8(1, 0, dims(1, 2), 10, 17)}},
		{op: "FULLY_CONNECTED", kind: "FullyConnectedOptions", options: fields{"asymmetric_quantize_inputs": true}, // hybrid
			in: []arg{f32(dims(1, 2), 0, 2.55), k(q8(1, 0, dims(1, 2), 7, 2)), without}, out: []arg{f32(dims(1, 1), 5.1)}},
		{op: "AVERAGE_POOL_2D", kind: "Pool2DOptions", options: fields{"padding": 1, "stride_w": 2, "stride_h": 2, "filter_w": 2, "filter_h": 2},
			in: []arg{f32(dims(1, 2, 2, 1), 1, 2, 3, 6)}, out: []arg{f32(dims(1, 1, 1, 1), 3)}},
		{op: "MAX_POOL_2D", kind: "Pool2DOptions", options: fields{"padding": 1, "stride_w": 2, "stride_h": 2, "filter_w": 2, "filter_h": 2, "activation": 3},
			in: []arg{f32(dims(1, 2, 2, 1), 1, 2, 3, 8)}, out: []arg{f32(dims(1, 1, 1, 1), 6)}},
		{op: "MAX_POOL_2D", kind: "Pool2DOptions", options: fields{"padding": 1, "stride_w": 2, "stride_h": 2, "filter_w": 2, "filter_h": 2},
			in: []arg{q16(0.5, dims(1, 2, 2, 1), -300, 2, 3, 800)}, out: []arg{q16(0.5, dims(1, 1, 1, 1), 800)}},
		{op: "L2_POOL_2D", kind: "Pool2DOptions", options: fields{"padding": 1, "stride_w": 2, "stride_h": 1, "filter_w": 2, "filter_h": 1},
			in: []arg{f32(dims(1, 1, 2, 1), 1, 7)}, out: []arg{f32(dims(1, 1, 1, 1), 5)}},
		{op: "BATCH_MATMUL", kind: "BatchMatMulOptions", options: fields{"adj_y": true},
			in: []arg{f32(dims(2, 1, 2), 1, 2, 3, 4), f32(dims(1, 1, 2), 10, 1)}, out: []arg{f32(dims(2, 1, 1), 12, 34)}},
		{op: "BATCH_MATMUL", kind: "BatchMatMulOptions",
			in: []arg{f32(dims(1, 1, 2, 1, 1), 3, 5), f32(dims(1, 2, 2, 1, 1), 1, 2, 3, 4)}, out: []arg{f32(dims(1, 2, 2, 1, 1), 3, 10, 9, 20)}},
	}

	mathCases = []opCase{
		{op: "ADD", kind: "AddOptions", options: act(1), in: []arg{f32(dims(2), 1, -5), f32(dims(1), 2)}, out: []arg{f32(dims(2), 3, 0)}},
		{op: "ADD", kind: "AddOptions", in: []arg{f32(dims(1, 2, 1, 1, 2), 1, 2, 3, 4), f32(dims(2, 1, 1, 1), 10, 20)}, out: []arg{f32(dims(1, 2, 1, 1, 2), 11, 12, 23, 24)}},
		{op: "ADD", kind: "AddOptions", in: []arg{q16(0.5, dims(2), 10, 20), q16(1, dims(2), 1, -3)}, out: []arg{q16(0.25, dims(2), 24, 28)}},
		{op: "MUL", kind: "MulOptions", in: []arg{i32(dims(2), 3, -4), k(i32(nil, 5))}, out: []arg{i32(dims(2), 15, -20)}},
		{op: "SUB", kind: "SubOptions", in: []arg{f32(dims(2), 3, -4), k(f32(nil, 5))}, out: []arg{f32(dims(2), -2, -9)}},
		{op: "DIV", kind: "DivOptions", in: []arg{f32(dims(2), 3, -4), k(f32(nil, 2))}, out: []arg{f32(dims(2), 1.5, -2)}},
		{op: "DIV", kind: "DivOptions", in: []arg{i32(dims(4), 7, -7, 7, -7), i32(dims(4), 2, 2, -2, -2)}, out: []arg{i32(dims(4), 3, -3, -3, 3)}},
		{op: "DIV", kind: "DivOptions", in: []arg{u8(0.5, 0, dims(2), 8, 12), u8(1, 0, dims(2), 2, 3)}, out: []arg{u8(0.5, 0, dims(2), 4, 4)}},
		{op: "FLOOR_DIV", in: []arg{i32(dims(2), 7, -7), k(i32(dims(1), 2))}, out: []arg{i32(dims(2), 3, -4)}},
		{op: "FLOOR_DIV", in: []arg{f32(dims(2), 7, -7), k(f32(dims(1), 2))}, out: []arg{f32(dims(2), 3, -4)}},
		{op: "FLOOR_MOD", in: []arg{i64(dims(3), 7, -7, 5), k(i64(dims(3), 3, 3, -3))}, out: []arg{i64(dims(3), 1, 2, -1)}},
		{op: "MAXIMUM", in: []arg{f32(dims(2), 7, -7), k(f32(dims(1), 2))}, out: []arg{f32(dims(2), 7, 2)}},
		{op: "MINIMUM", in: []arg{i32(dims(2), 7, -7), k(i32(dims(1), 2))}, out: []arg{i32(dims(2), 2, -7)}},
		{op: "POW", in: []arg{f32(dims(2), 2, 3), k(f32(dims(1), 2))}, out: []arg{f32(dims(2), 4, 9)}},
		{op: "SQUARED_DIFFERENCE", in: []arg{f32(dims(2), 2, 3), f32(dims(2), 5, 4)}, out: []arg{f32(dims(2), 9, 1)}},
		{op: "SQUARED_DIFFERENCE", in: []arg{q8(0.5, 0, dims(2), 4, 6), q8(1, 0, dims(2), 5, 4)}, out: []arg{q8(0.5, -10, dims(2), 8, -8)}},
		{op: "SQUARE", in: []arg{f32(dims(2), 2, -3)}, out: []arg{f32(dims(2), 4, 9)}},
		{op: "ADD_N", in: []arg{f32(dims(2), 2, -3), f32(dims(2), 1, 1), f32(dims(2), 4, 5)}, out: []arg{f32(dims(2), 7, 3)}},
		{op: "ABS", in: []arg{f32(dims(2), 2, -3)}, out: []arg{f32(dims(2), 2, 3)}},
		{op: "ABS", in: []arg{q8(0.5, 0, dims(2), 4, -6)}, out: []arg{q8(0.5, 0, dims(2), 4, 6)}},
		{op: "NEG", in: []arg{i32(dims(2), 2, -3)}, out: []arg{i32(dims(2), -2, 3)}},
		{op: "EXP", in: []arg{f32(dims(2), 0, 1)}, out: []arg{f32(dims(2), 1, 2.7182818)}},
		{op: "LOG", in: []arg{f32(dims(2), 1, 2)}, out: []arg{f32(dims(2), 0, 0.6931472)}},
		{op: "SIN", in: []arg{f32(dims(2), 0, 1)}, out: []arg{f32(dims(2), 0, 0.841471)}},
		{op: "COS", in: []arg{f32(dims(3), 0, 1, -2)}, out: []arg{f32(dims(3), 1, 0.5403023, -0.4161468)}},
		{op: "SQRT", in: []arg{f32(dims(2), 4, 2)}, out: []arg{f32(dims(2), 2, 1.4142135)}},
		{op: "RSQRT", in: []arg{f32(dims(2), 4, 1)}, out: []arg{f32(dims(2), 0.5, 1)}},
		{op: "FLOOR", in: []arg{f32(dims(2), 1.5, -1.5)}, out: []arg{f32(dims(2), 1, -2)}},
		{op: "CEIL", in: []arg{f32(dims(2), 1.5, -1.5)}, out: []arg{f32(dims(2), 2, -1)}},
		{op: "ROUND", in: []arg{f32(dims(8), 0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 0.49999997, 2.6)}, out: []arg{f32(dims(8), 0, 2, 2, 0, -2, -2, 0, 3)}},
		{op: "SIGN", in: []arg{f32(dims(3), 0.5, 0, -2)}, out: []arg{f32(dims(3), 1, 0, -1)}},
		{op: "ZEROS_LIKE", in: []arg{i32(dims(3), 5, 0, -2)}, out: []arg{i32(dims(3), 0, 0, 0)}},
		{op: "CAST", kind: "CastOptions", in: []arg{f32(dims(3), 2.7, -2.7, 0)}, out: []arg{i32(dims(3), 2, -2, 0)}},
		{op: "CAST", kind: "CastOptions", in: []arg{tensorArg(typeUint8, dims(2), []float64{3, 255})}, out: []arg{f32(dims(2), 3, 255)}},
		{op: "CAST", kind: "CastOptions", in: []arg{i64(dims(2), 3, -1)}, out: []arg{i32(dims(2), 3, -1)}},
		{op: "CAST", kind: "CastOptions", in: []arg{bools(dims(2), 1, 0)}, out: []arg{f32(dims(2), 1, 0)}},
		{op: "CAST", kind: "CastOptions", in: []arg{i32(dims(5), 257, 0, 3, -1, 128)}, out: []arg{tensorArg(typeUint8, dims(5), []float64{1, 0, 3, 255, 128})}},
		{op: "CAST", kind: "CastOptions", in: []arg{i32(dims(5), 257, 0, 3, -1, 128)}, out: []arg{tensorArg(typeInt8, dims(5), []float64{1, 0, 3, -1, -128})}},
		{op: "CAST", kind: "CastOptions", in: []arg{i64(dims(4), 65537, -1, 32768, -32769)}, out: []arg{tensorArg(typeInt16, dims(4), []float64{1, -1, -32768, 32767})}},
		{op: "CAST", kind: "CastOptions", in: []arg{tensorArg(typeUint8, dims(3), []float64{200, 3, 128})}, out: []arg{tensorArg(typeInt8, dims(3), []float64{-56, 3, -128})}},
		{op: "CAST", kind: "CastOptions", in: []arg{tensorArg(typeInt8, dims(3), []float64{-56, 3, -128})}, out: []arg{tensorArg(typeUint8, dims(3), []float64{200, 3, 128})}},
		{op: "CAST", kind: "CastOptions", in: []arg{tensorArg(typeInt8, dims(3), []float64{-56, 3, -128})}, out: []arg{tensorArg(typeInt16, dims(3), []float64{-56, 3, -128})}},
		{op: "CAST", kind: "CastOptions", in: []arg{q8(0.3, 7, dims(3), -56, 3, -128)}, out: []arg{i32(dims(3), -56, 3, -128)}},
		{op: "CAST", kind: "CastOptions", in: []arg{q8(0.3, 7, dims(3), -56, 3, -128)}, out: []arg{f32(dims(3), -56, 3, -128)}},
		{op: "CUMSUM", kind: "CumsumOptions", in: []arg{f32(dims(2, 3), 1, 2, 3, 4, 5, 6), k(i32(nil, 1))}, out: []arg{f32(dims(2, 3), 1, 3, 6, 4, 9, 15)}},
		{op: "CUMSUM", kind: "CumsumOptions", options: fields{"exclusive": true, "reverse": true},
			in: []arg{i32(dims(3, 1), 1, 2, 3), k(i32(nil, 0))}, out: []arg{i32(dims(3, 1), 5, 3, 0)}},
		{op: "BUCKETIZE", kind: "BucketizeOptions", options: fields{"boundaries": []float32{0, 10, 100}},
			in: []arg{f32(dims(2, 2), -5, 0, 99, 1000)}, out: []arg{i32(dims(2, 2), 0, 1, 2, 3)}},
		{op: "EQUAL", in: []arg{i32(dims(2), 2, 3), k(i32(nil, 3))}, out: []arg{bools(dims(2), 0, 1)}},
		{op: "NOT_EQUAL", in: []arg{bools(dims(2), 0, 1), bools(dims(2), 1, 1)}, out: []arg{bools(dims(2), 1, 0)}},
		{op: "LESS", in: []arg{f32(dims(2), 2, 3), k(f32(nil, 3))}, out: []arg{bools(dims(2), 1, 0)}},
		{op: "LESS_EQUAL", in: []arg{f32(dims(2), 2, 3), k(f32(nil, 3))}, out: []arg{bools(dims(2), 1, 1)}},
		{op: "GREATER", in: []arg{f32(dims(2), 2, 4), k(f32(nil, 3))}, out: []arg{bools(dims(2), 0, 1)}},
		{op: "GREATER_EQUAL", in: []arg{q8(1, 0, dims(2), 2, 4), k(q8(1, 0, nil, 3))}, out: []arg{bools(dims(2), 0, 1)}},
		{op: "LOGICAL_OR", in: []arg{bools(dims(2), 0, 1), bools(dims(1), 0)}, out: []arg{bools(dims(2), 0, 1)}},
		{op: "LOGICAL_AND", in: []arg{bools(dims(2), 0, 1), bools(dims(1), 1)}, out: []arg{bools(dims(2), 0, 1)}},
		{op: "LOGICAL_NOT", in: []arg{bools(dims(2), 0, 1)}, out: []arg{bools(dims(2), 1, 0)}},
		{op: "BITWISE_XOR", in: []arg{bools(dims(2), 0, 1), bools(dims(2), 1, 1)}, out: []arg{bools(dims(2), 1, 0)}},
		{op: "SELECT", in: []arg{bools(dims(2), 0, 1), f32(dims(2, 3), 1, 2, 3, 4, 5, 6), f32(dims(2, 3), 0, 0, 0, 0, 0, 0)}, out: []arg{f32(dims(2, 3), 0, 0, 0, 4, 5, 6)}},
		{op: "SELECT_V2", in: []arg{bools(dims(2, 1), 0, 1), f32(dims(2), 1, 2), k(f32(nil, 9))}, out: []arg{f32(dims(2, 2), 9, 9, 1, 2)}},
	}

	activationCases = []opCase{
		{op: "RELU", in: []arg{f32(dims(2), 2, -3)}, out: []arg{f32(dims(2), 2, 0)}},
		{op: "RELU", in: []arg{q8(0.5, 0, dims(2), 4, -3)}, out: []arg{q8(0.25, -10, dims(2), -2, -10)}},
		{op: "RELU_N1_TO_1", in: []arg{f32(dims(2), 2, -3)}, out: []arg{f32(dims(2), 1, -1)}},
		{op: "RELU6", in: []arg{f32(dims(2), 8, -3)}, out: []arg{f32(dims(2), 6, 0)}},
		{op: "RELU_0_TO_1", in: []arg{f32(dims(2), 8, -3)}, out: []arg{f32(dims(2), 1, 0)}},
		{op: "LOGISTIC", in: []arg{f32(dims(2), 0, 1)}, out: []arg{f32(dims(2), 0.5, 0.7310586)}},
		{op: "LOGISTIC", in: []arg{q16(1.0/4096, dims(2), 0, 4096)}, out: []arg{within(1, q16(1.0/32768, dims(2), 16384, 23955))}},
		{op: "TANH", in: []arg{f32(dims(2), 0, 1)}, out: []arg{f32(dims(2), 0, 0.7615942)}},
		{op: "ELU", in: []arg{f32(dims(2), 2, -1)}, out: []arg{f32(dims(2), 2, -0.6321206)}},
		{op: "HARD_SWISH", in: []arg{f32(dims(2), 4, -1)}, out: []arg{f32(dims(2), 4, -0.3333333)}},
		{op: "GELU", kind: "GeluOptions", in: []arg{f32(dims(4), 1, -1, 0, 3)}, out: []arg{f32(dims(4), 0.8413447, -0.1586553, 0, 2.9959502)}},
		{op: "GELU", kind: "GeluOptions", options: fields{"approximate": true}, in: []arg{f32(dims(2), 1, -1)}, out: []arg{f32(dims(2), 0.841192, -0.158808)}},
		{op: "PRELU", in: []arg{f32(dims(1, 1, 1, 2), -2, -4), k(f32(dims(1, 1, 2), 0.5, 0.25))}, out: []arg{f32(dims(1, 1, 1, 2), -1, -1)}},
		{op: "LEAKY_RELU", kind: "LeakyReluOptions", options: fields{"alpha": 0.5}, in: []arg{f32(dims(2), 2, -4)}, out: []arg{f32(dims(2), 2, -2)}},
		{op: "LEAKY_RELU", kind: "LeakyReluOptions", options: fields{"alpha": 0.5}, in: []arg{q8(1, 0, dims(2), 2, -4)}, out: []arg{q8(1, 0, dims(2), 2, -2)}},
		{op: "SOFTMAX", kind: "SoftmaxOptions", options: fields{"beta": 1}, in: []arg{f32(dims(2), 0, 0)}, out: []arg{f32(dims(2), 0.5, 0.5)}},
		{op: "SOFTMAX", kind: "SoftmaxOptions", options: fields{"beta": 1}, in: []arg{f32(dims(1, 1, 1, 1, 2), 0, 0)}, out: []arg{f32(dims(1, 1, 1, 1, 2), 0.5, 0.5)}},
		{op: "SOFTMAX", kind: "SoftmaxOptions", options: fields{"beta": 1}, in: []arg{q8(1, 0, dims(1, 2), 0, 0)}, out: []arg{q8(1.0/256, -128, dims(1, 2), 0, 0)}},
		{op: "LOG_SOFTMAX", in: []arg{f32(dims(1, 2), 0, 0)}, out: []arg{f32(dims(1, 2), -0.6931472, -0.6931472)}},
		{op: "L2_NORMALIZATION", in: []arg{f32(dims(1, 2), 3, 4)}, out: []arg{f32(dims(1, 2), 0.6, 0.8)}},
		{op: "LOCAL_RESPONSE_NORMALIZATION", kind: "LocalResponseNormalizationOptions", options: fields{"radius": 1, "bias": 1, "alpha": 1, "beta": 1},
			in: []arg{f32(dims(1, 1, 1, 2), 1, 2)}, out: []arg{f32(dims(1, 1, 1, 2), 0.16666667, 0.33333334)}},
	}

	reduceCases = []opCase{
		{op: "MEAN", kind: "ReducerOptions", in: []arg{f32(dims(2, 2), 1, 2, 3, 6), k(i32(dims(1), -1))}, out: []arg{f32(dims(2), 1.5, 4.5)}},
		{op: "MEAN", kind: "ReducerOptions", options: fields{"keep_dims": true}, in: []arg{f32(dims(1, 1, 2, 2, 1), 1, 2, 3, 6), k(i32(dims(2), 2, 3))}, out: []arg{f32(dims(1, 1, 1, 1, 1), 3)}},
		{op: "SUM", kind: "ReducerOptions", in: []arg{f32(dims(2, 2), 1, 2, 3, 6), k(i32(nil, 0))}, out: []arg{f32(dims(2), 4, 8)}},
		{op: "SUM", kind: "ReducerOptions", in: []arg{q8(0.5, 0, dims(2, 2), 1, 2, 3, 6), k(i32(dims(1), 0))}, out: []arg{q8(1, 0, dims(2), 2, 4)}},
		{op: "SUM", kind: "ReducerOptions", in: []arg{i32(dims(2, 2), 1, 2, 3, 6), k(i32(dims(2), 0, 1))}, out: []arg{i32(nil, 12)}},
		{op: "REDUCE_PROD", kind: "ReducerOptions", in: []arg{f32(dims(2, 2), 1, 2, 3, 6), k(i32(dims(1), 0))}, out: []arg{f32(dims(2), 3, 12)}},
		{op: "REDUCE_MAX", kind: "ReducerOptions", in: []arg{f32(dims(2, 2), 1, 2, 3, 6), k(i32(dims(1), 0))}, out: []arg{f32(dims(2), 3, 6)}},
		// Integers that float32 does not hold.
		{op: "SUM", kind: "ReducerOptions", in: []arg{i32(dims(5), 1<<24+1, 1<<30, 1, -1<<29, 1), k(i32(dims(1), 0))}, out: []arg{i32(nil, 1<<29+1<<24+3)}},
		{op: "REDUCE_MIN", kind: "ReducerOptions", in: []arg{i32(dims(2, 2), 1<<24+1, 1<<24+2, 1<<24+3, 5), k(i32(dims(1), 1))}, out: []arg{i32(dims(2), 1<<24+1, 5)}},
		{op: "REDUCE_PROD", kind: "ReducerOptions", in: []arg{i32(dims(3), 1<<13+1, 3, 1<<13+1), k(i32(dims(1), 0))}, out: []arg{i32(nil, 3*(1<<26+1<<14+1))}},
		{op: "CUMSUM", kind: "CumsumOptions", in: []arg{i32(dims(3), 1<<25+1, 1<<26, 3), k(i32(nil, 0))}, out: []arg{i32(dims(3), 1<<25+1, 1<<25+1<<26+1, 1<<25+1<<26+4)}},
		{op: "SCATTER_ND", in: []arg{i32(dims(2, 1), 2, 2), i32(dims(2), 1<<24+1, -1<<26), k(i32(dims(1), 3))}, out: []arg{i32(dims(3), 0, 0, 1<<24+1-1<<26)}},
		{op: "SCATTER_ND", in: []arg{k(i32(dims(2, 1), 2, 0)), f32(dims(2), math.Inf(1), 3), k(i32(dims(1), 3))}, out: []arg{f32(dims(3), 3, 0, math.Inf(1))}},
		{op: "BATCH_MATMUL", kind: "BatchMatMulOptions", options: fields{"adj_y": true}, in: []arg{i32(dims(1, 2), 1<<13+1, 3), i32(dims(1, 2), 1<<13+1, 5)}, out: []arg{i32(dims(1, 1), 1<<26+1<<14+16)}},
		{op: "REDUCE_MIN", kind: "ReducerOptions", options: fields{"keep_dims": true}, in: []arg{f32(dims(2, 2), 1, 2, 3, 6), k(i32(dims(1), 0))}, out: []arg{f32(dims(1, 2), 1, 2)}},
		{op: "REDUCE_ANY", kind: "ReducerOptions", in: []arg{bools(dims(2, 2), 0, 1, 0, 0), k(i32(dims(1), 1))}, out: []arg{bools(dims(2), 1, 0)}},
		{op: "REDUCE_ALL", kind: "ReducerOptions", in: []arg{bools(dims(2, 2), 1, 1, 0, 1), k(i32(dims(1), 1))}, out: []arg{bools(dims(2), 1, 0)}},
		{op: "ARG_MAX", in: []arg{f32(dims(2, 2), 1, 2, 6, 3), k(i32(nil, -1))}, out: []arg{i64(dims(2), 1, 0)}},
		{op: "ARG_MIN", in: []arg{f32(dims(2), 1, 0), k(i32(nil, 0))}, out: []arg{i32(nil, 1)}},
		{op: "TOPK_V2", in: []arg{f32(dims(3), 1, 9, 5), k(i32(nil, 2))}, out: []arg{f32(dims(2), 9, 5), i32(dims(2), 1, 2)}},
	}

	quantizationCases = []opCase{
		{op: "QUANTIZE", in: []arg{f32(dims(2), 1, -2)}, out: []arg{q8(0.5, 3, dims(2), 5, -1)}},
		{op: "QUANTIZE", in: []arg{u8(0.5, 0, dims(2), 10, 4)}, out: []arg{q8(1, -3, dims(2), 2, -1)}},
		{op: "QUANTIZE", in: []arg{f32(dims(2), 1.5, -2)}, out: []arg{q16(0.001, dims(2), 1500, -2000)}},
		{op: "DEQUANTIZE", in: []arg{q8(0.5, 3, dims(2), 5, -1)}, out: []arg{f32(dims(2), 1, -2)}},
		{op: "DEQUANTIZE", in: []arg{f16(dims(2), 5, -1)}, out: []arg{f32(dims(2), 5, -1)}},
		{op: "DEQUANTIZE", in: []arg{k(f16(dims(2), 5, -1))}, out: []arg{f32(dims(2), 5, -1)}},
		{op: "DENSIFY", in: []arg{k(sparse(f32(dims(2, 3), 7, 8)))}, out: []arg{f32(dims(2, 3), 0, 7, 0, 0, 0, 8)}},
		{op: "DENSIFY", in: []arg{k(blockSparse(q8(0.5, 0, dims(4, 4), 1, 0, 0, 4, 2, 3, 0, 0, 5, 0, 0, 6)))},
			out: []arg{q8(0.5, 0, dims(4, 4), 1, 0, 2, 3, 0, 4, 0, 0, 0, 0, 5, 0, 0, 0, 0, 6)}},
		{op: "FAKE_QUANT", kind: "FakeQuantOptions", options: fields{"min": 0, "max": 2.55, "num_bits": 8},
			in: []arg{f32(dims(3), 0.014, -1, 5)}, out: []arg{f32(dims(3), 0.01, 0, 2.55)}},
	}
)

// channels is an int8 tensor with a scale per index along a dimension; without
// scales one of 0.001 for all.
func channels(d []int32, along int, scales []float32, v ...float64) arg {
	a := tensorArg(typeInt8, d, v)
	a.Scale, a.Along = scales, along
	if scales == nil {
		a.Scale = []float32{0.1}
	}
	a.Zero = make([]int64, len(a.Scale))
	return a
}

// sparse stores a matrix of two rows with one value each, in columns 1 and 2.
func sparse(a arg) arg {
	a.More = fields{"sparsity": fields{
		"traversal_order": []int32{0, 1},
		"dim_metadata": []tflitefile.Table{
			{"format": 0, "dense_size": 2},
			{"format": 1, "segments_type": 1, "segments": tflitefile.Union("Int32Vector", fields{"values": []int32{0, 1, 2}}),
				"indices_type": 3, "indices": tflitefile.Union("Uint8Vector", fields{"values": []uint8{1, 2}})},
		},
	}}
	return a
}

// blockSparse stores a 4x4 matrix as three blocks of 2x2: two in the upper half,
// the right one in the lower.
func blockSparse(a arg) arg {
	a.More = fields{"sparsity": fields{
		"traversal_order": []int32{0, 1, 2, 3}, "block_map": []int32{0, 1},
		"dim_metadata": []tflitefile.Table{
			{"format": 0, "dense_size": 2},
			{"format": 1, "segments_type": 2, "segments": tflitefile.Union("Uint16Vector", fields{"values": []uint16{0, 2, 3}}),
				"indices_type": 1, "indices": tflitefile.Union("Int32Vector", fields{"values": []int32{0, 1, 1}})},
			{"format": 0, "dense_size": 2}, {"format": 0, "dense_size": 2},
		},
	}}
	return a
}
