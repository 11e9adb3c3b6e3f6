package tflite

import (
	"maps"
	"math"
	"testing"

	"github.com/nnsoc/nnsoc/importer/tflite/tflitefile"
	"github.com/nnsoc/nnsoc/internal/require"
)

var stableCases = []opCase{
	{op: "STABLEHLO_LOGISTIC", in: []arg{f32(dims(2), 0, 1)}, out: []arg{f32(dims(2), 0.5, 0.7310586)}},
	{op: "STABLEHLO_ADD", in: []arg{f32(dims(2), 1, 2), f32(dims(2), 3, 5)}, out: []arg{f32(dims(2), 4, 7)}},
	{op: "STABLEHLO_SUBTRACT", in: []arg{i32(dims(2), 1, 2), i32(dims(2), 3, 5)}, out: []arg{i32(dims(2), -2, -3)}},
	{op: "STABLEHLO_MULTIPLY", in: []arg{f32(dims(2), 1, 2), f32(dims(2), 3, 5)}, out: []arg{f32(dims(2), 3, 10)}},
	{op: "STABLEHLO_DIVIDE", in: []arg{f32(dims(2), 1, 2), f32(dims(2), 4, 5)}, out: []arg{f32(dims(2), 0.25, 0.4)}},
	{op: "STABLEHLO_DIVIDE", in: []arg{i32(dims(2), -7, 7), i32(dims(2), 2, 2)}, out: []arg{i32(dims(2), -3, 3)}},
	{op: "STABLEHLO_MAXIMUM", in: []arg{f32(dims(2), 1, 9), f32(dims(2), 3, 5)}, out: []arg{f32(dims(2), 3, 9)}},
	{op: "STABLEHLO_MINIMUM", in: []arg{f32(dims(2), 1, 9), f32(dims(2), 3, 5)}, out: []arg{f32(dims(2), 1, 5)}},
	{op: "STABLEHLO_POWER", in: []arg{f32(dims(2), 2, 9), f32(dims(2), 3, 0.5)}, out: []arg{f32(dims(2), 8, 3)}},
	{op: "STABLEHLO_ABS", in: []arg{f32(dims(2), 1, -2)}, out: []arg{f32(dims(2), 1, 2)}},
	{op: "STABLEHLO_NEGATE", in: []arg{f32(dims(2), 1, -2)}, out: []arg{f32(dims(2), -1, 2)}},
	{op: "STABLEHLO_FLOOR", in: []arg{f32(dims(2), 1.5, -1.5)}, out: []arg{f32(dims(2), 1, -2)}},
	{op: "STABLEHLO_EXPONENTIAL", in: []arg{f32(dims(2), 0, 1)}, out: []arg{f32(dims(2), 1, 2.7182817)}},
	{op: "STABLEHLO_LOG", in: []arg{f32(dims(2), 1, 2.7182817)}, out: []arg{f32(dims(2), 0, 1)}},
	{op: "STABLEHLO_RSQRT", in: []arg{f32(dims(2), 4, 1)}, out: []arg{f32(dims(2), 0.5, 1)}},
	{op: "STABLEHLO_TANH", in: []arg{f32(dims(2), 0, 1)}, out: []arg{f32(dims(2), 0, 0.7615942)}},
	{op: "STABLEHLO_CLAMP", in: []arg{f32(dims(), 1), f32(dims(3), 0, 2, 9), f32(dims(), 3)}, out: []arg{f32(dims(3), 1, 2, 3)}},
	{op: "STABLEHLO_AND", in: []arg{bools(dims(2), 1, 1), bools(dims(2), 1, 0)}, out: []arg{bools(dims(2), 1, 0)}},
	{op: "STABLEHLO_OR", in: []arg{bools(dims(2), 0, 1), bools(dims(2), 0, 0)}, out: []arg{bools(dims(2), 0, 1)}},
	{op: "STABLEHLO_REMAINDER", in: []arg{i32(dims(4), -7, 7, -6, 6), i32(dims(4), 3, -3, 3, 4)}, out: []arg{i32(dims(4), -1, 1, 0, 2)}},
	{op: "STABLEHLO_REMAINDER", in: []arg{f32(dims(3), -7.5, 7.5, 1), f32(dims(3), 2, -2, 4)}, out: []arg{f32(dims(3), -1.5, 1.5, 1)}},
	{op: "STABLEHLO_SELECT", in: []arg{bools(dims(2), 1, 0), f32(dims(2), 1, 2), f32(dims(2), 3, 4)}, out: []arg{f32(dims(2), 1, 4)}},
	{op: "STABLEHLO_SELECT", in: []arg{bools(dims(), 0), i32(dims(2), 1, 2), i32(dims(2), 3, 4)}, out: []arg{i32(dims(2), 3, 4)}},
	compared(0, 0, 1, 0), compared(1, 1, 0, 1), compared(2, 0, 1, 1), compared(3, 0, 0, 1), compared(4, 1, 1, 0), compared(5, 1, 0, 0),
	{op: "STABLEHLO_CONVERT", in: []arg{f32(dims(2), -1.7, 2.9)}, out: []arg{i32(dims(2), -1, 2)}},
	{op: "STABLEHLO_CONVERT", in: []arg{bools(dims(2), 0, 1)}, out: []arg{f32(dims(2), 0, 1)}},
	{op: "STABLEHLO_RESHAPE", in: []arg{f32(dims(2, 2), 1, 2, 3, 4)}, out: []arg{f32(dims(1, 4, 1), 1, 2, 3, 4)}},
	{op: "STABLEHLO_BROADCAST_IN_DIM", kind: "StablehloBroadcastInDimOptions", options: fields{"broadcast_dimensions": []int64{1}}, in: []arg{f32(dims(2), 1, 2)}, out: []arg{f32(dims(2, 2), 1, 2, 1, 2)}},
	{op: "STABLEHLO_BROADCAST_IN_DIM", kind: "StablehloBroadcastInDimOptions", options: fields{"broadcast_dimensions": []int64{0}}, in: []arg{i32(dims(2), 1, 2)}, out: []arg{i32(dims(2, 2), 1, 1, 2, 2)}},
	{op: "STABLEHLO_BROADCAST_IN_DIM", kind: "StablehloBroadcastInDimOptions", options: fields{"broadcast_dimensions": []int64{2, 0}}, in: []arg{f32(dims(2, 1), 1, 2)}, out: []arg{f32(dims(2, 1, 2), 1, 2, 1, 2)}},
	{op: "STABLEHLO_BROADCAST_IN_DIM", in: []arg{f32(dims(), 7)}, out: []arg{f32(dims(2), 7, 7)}},
	{op: "STABLEHLO_TRANSPOSE", kind: "StablehloTransposeOptions", options: fields{"permutation": []int64{1, 0}}, in: []arg{f32(dims(1, 2), 1, 2)}, out: []arg{f32(dims(2, 1), 1, 2)}},
	{op: "STABLEHLO_TRANSPOSE", kind: "StablehloTransposeOptions", options: fields{"permutation": []int64{2, 0, 1}}, in: []arg{f32(dims(2, 1, 2), 1, 2, 3, 4)}, out: []arg{f32(dims(2, 2, 1), 1, 3, 2, 4)}},
	{op: "STABLEHLO_CONCATENATE", kind: "StablehloConcatenateOptions", options: fields{"dimension": int64(1)}, in: []arg{f32(dims(1, 2), 1, 2), f32(dims(1, 1), 3)}, out: []arg{f32(dims(1, 3), 1, 2, 3)}},
	{op: "STABLEHLO_SLICE", kind: "StablehloSliceOptions", options: fields{"start_indices": []int64{0, 1}, "limit_indices": []int64{1, 5}, "strides": []int64{1, 3}}, in: []arg{f32(dims(1, 5), 1, 2, 3, 4, 5)}, out: []arg{f32(dims(1, 2), 2, 5)}},
	dynamicSlice(i32(dims(), 1), 2, 3), dynamicSlice(k(i32(dims(), 1)), 2, 3), dynamicSlice(i32(dims(), 7), 3, 4), dynamicSlice(i32(dims(), -7), 1, 2),
	{op: "STABLEHLO_DYNAMIC_UPDATE_SLICE", in: []arg{f32(dims(1, 4), 1, 2, 3, 4), f32(dims(1, 1), 9), i32(dims(), 0), i32(dims(), 2)}, out: []arg{f32(dims(1, 4), 1, 2, 9, 4)}},
	{op: "STABLEHLO_DYNAMIC_UPDATE_SLICE", in: []arg{f32(dims(4), 1, 2, 3, 4), f32(dims(2), 8, 9), k(i32(dims(), 3))}, out: []arg{f32(dims(4), 1, 2, 8, 9)}},
	padded(f32(dims(3), 1, 2, 3), []int64{1}, []int64{2}, []int64{0}, f32(dims(6), 7, 1, 2, 3, 7, 7)),
	padded(f32(dims(3), 1, 2, 3), []int64{0}, []int64{0}, []int64{1}, f32(dims(5), 1, 7, 2, 7, 3)),
	padded(f32(dims(3), 1, 2, 3), []int64{-1}, []int64{1}, []int64{1}, f32(dims(5), 7, 2, 7, 3, 7)),
	padded(i32(dims(1, 2, 1, 1, 2), 1, 1<<24+1, 3, 4), []int64{0, 1, 0, 0, 0}, []int64{0, 0, 0, 0, 0}, []int64{0, 0, 0, 0, 0}, i32(dims(1, 3, 1, 1, 2), 7, 7, 1, 1<<24+1, 3, 4)),
	{op: "STABLEHLO_IOTA", kind: "StablehloIotaOptions", options: fields{"iota_dimension": int64(1)}, out: []arg{f32(dims(2, 3), 0, 1, 2, 0, 1, 2)}},
	gathered(fields{"offset_dims": []int64{1}, "collapsed_slice_dims": []int64{0}, "start_index_map": []int64{0}, "index_vector_dim": int64(1), "slice_sizes": []int64{1, 2}}, i32(dims(3), 2, 0, 9), f32(dims(3, 2), 5, 6, 1, 2, 5, 6)),
	gathered(fields{"offset_dims": []int64{0}, "collapsed_slice_dims": []int64{1}, "start_index_map": []int64{1}, "index_vector_dim": int64(1), "slice_sizes": []int64{3, 1}}, i32(dims(1, 1), 1), f32(dims(3, 1), 2, 4, 6)),
	gathered(fields{"collapsed_slice_dims": []int64{0, 1}, "start_index_map": []int64{1, 0}, "index_vector_dim": int64(0), "slice_sizes": []int64{1, 1}}, i32(dims(2, 2), 1, 0, 2, 1), f32(dims(2), 6, 3)),
	gathered(fields{"offset_dims": []int64{0, 2}, "start_index_map": []int64{0}, "index_vector_dim": int64(1), "slice_sizes": []int64{1, 2}}, i32(dims(1), 1), f32(dims(1, 1, 2), 3, 4)),
	{op: "STABLEHLO_DOT_GENERAL", kind: "StablehloDotGeneralOptions", options: fields{"lhs_contracting_dimensions": []int64{1}, "rhs_contracting_dimensions": []int64{0}},
		in: []arg{f32(dims(1, 2), 1, 2), f32(dims(2, 2), 3, 4, 5, 6)}, out: []arg{f32(dims(1, 2), 13, 16)}},
	{op: "STABLEHLO_DOT_GENERAL", kind: "StablehloDotGeneralOptions", options: fields{"lhs_batching_dimensions": []int64{1}, "rhs_batching_dimensions": []int64{0}, "lhs_contracting_dimensions": []int64{0}, "rhs_contracting_dimensions": []int64{2}},
		in: []arg{f32(dims(2, 2), 1, 2, 3, 4), f32(dims(2, 1, 2), 1, 10, 100, 1000)}, out: []arg{f32(dims(2, 1), 31, 4200)}},
	{op: "STABLEHLO_DOT_GENERAL", kind: "StablehloDotGeneralOptions", options: fields{"lhs_contracting_dimensions": []int64{0}, "rhs_contracting_dimensions": []int64{0}},
		in: []arg{i8(dims(3), 127, 127, 1), i8(dims(3), 127, -128, 1)}, out: []arg{i32(dims(), -126)}},
	convolved(fields{}, dims(1, 3, 3, 1), dims(2, 2, 1, 1), f32(dims(1, 2, 2, 1), 37, 47, 67, 77)),
	convolved(fields{"window_strides": []int64{2, 2}, "padding": []int64{1, 0, 0, 1}}, dims(1, 3, 3, 1), dims(2, 2, 1, 1), f32(dims(1, 2, 2, 1), 11, 9, 67, 33)),
	convolved(fields{"padding": []int64{-1, 0, 0, 0}, "window_reversal": []int64{1, 1}}, dims(1, 3, 3, 1), dims(2, 2, 1, 1), f32(dims(1, 1, 2, 1), 4*4+5*3+7*2+8, 5*4+6*3+8*2+9)),
	convolved(fields{"lhs_dilation": []int64{2, 2}}, dims(1, 2, 2, 1), dims(2, 2, 1, 1), f32(dims(1, 2, 2, 1), 1, 4, 9, 16)),
	convolved(fields{"rhs_dilation": []int64{2, 2}}, dims(1, 3, 3, 1), dims(2, 2, 1, 1), f32(dims(1, 1, 1, 1), 1+2*3+3*7+4*9)),
	convolved(fields{"feature_group_count": int64(2)}, dims(1, 1, 1, 2), dims(1, 1, 1, 4), f32(dims(1, 1, 1, 4), 1, 2, 6, 8)),
	convolved(fields{"feature_group_count": int64(2)}, dims(1, 1, 1, 4), dims(1, 1, 2, 4), f32(dims(1, 1, 1, 4), 1+10, 2+12, 9+28, 12+32)),
	{op: "STABLEHLO_CONVOLUTION", kind: "StablehloConvolutionOptions", options: fields{ // [N, C, W] with [O, I, W]
		"input_batch_dimension": int64(0), "input_feature_dimension": int64(1), "input_spatial_dimensions": []int64{2},
		"kernel_output_feature_dimension": int64(0), "kernel_input_feature_dimension": int64(1), "kernel_spatial_dimensions": []int64{2},
		"output_batch_dimension": int64(0), "output_feature_dimension": int64(1), "output_spatial_dimensions": []int64{2}, "padding": []int64{1, 0},
	}, in: []arg{f32(dims(1, 2, 3), 1, 2, 3, 4, 5, 6), f32(dims(1, 2, 2), 1, 10, 100, 1000)}, out: []arg{f32(dims(1, 1, 3), 4010, 5421, 6532)}},
	{op: "STABLEHLO_COSINE", in: []arg{f32(dims(2), 0, 1)}, out: []arg{f32(dims(2), 1, 0.5403023)}},
}

// i8 are plain integers of 8 bits.
func i8(dims []int32, v ...float64) arg { return tensorArg(typeInt8, dims, v) }

// compared are 1 2 3 compared with 2 2 2 in a direction.
func compared(direction int, want ...float64) opCase {
	return opCase{op: "STABLEHLO_COMPARE", kind: "StablehloCompareOptions", options: fields{"comparison_direction": direction},
		in: []arg{f32(dims(3), 1, 2, 3), f32(dims(3), 2, 2, 2)}, out: []arg{bools(dims(3), want...)}}
}

// dynamicSlice are two elements of 1 2 3 4.
func dynamicSlice(at arg, want ...float64) opCase {
	return opCase{op: "STABLEHLO_DYNAMIC_SLICE", kind: "StablehloDynamicSliceOptions", options: fields{"slice_sizes": []int64{1, 2}},
		in: []arg{f32(dims(1, 4), 1, 2, 3, 4), i32(dims(), 0), at}, out: []arg{f32(dims(1, 2), want...)}}
}

// padded pads with 7.
func padded(x arg, low, high, between []int64, want arg) opCase {
	value := k(f32(dims(), 7))
	if x.Type == typeInt32 {
		value = k(i32(dims(), 7))
	}
	return opCase{op: "STABLEHLO_PAD", kind: "StablehloPadOptions", options: fields{"edge_padding_low": low, "edge_padding_high": high, "interior_padding": between}, in: []arg{x, value}, out: []arg{want}}
}

// gathered gathers from the rows 1 2, 3 4 and 5 6.
func gathered(options fields, at, want arg) opCase {
	return opCase{op: "STABLEHLO_GATHER", kind: "StablehloGatherOptions", options: options, in: []arg{f32(dims(3, 2), 1, 2, 3, 4, 5, 6), at}, out: []arg{want}}
}

// convolved counts up in [N, H, W, C] and weights [H, W, I, O].
func convolved(more fields, x, w []int32, want arg) opCase {
	options := fields{
		"input_batch_dimension": int64(0), "input_feature_dimension": int64(3), "input_spatial_dimensions": []int64{1, 2},
		"kernel_output_feature_dimension": int64(3), "kernel_input_feature_dimension": int64(2), "kernel_spatial_dimensions": []int64{0, 1},
		"output_batch_dimension": int64(0), "output_feature_dimension": int64(3), "output_spatial_dimensions": []int64{1, 2},
	}
	maps.Copy(options, more)
	counted := func(dims []int32) arg {
		n := 1
		for _, d := range dims {
			n *= int(d)
		}
		var v []float64
		for i := range n {
			v = append(v, float64(i+1))
		}
		return f32(dims, v...)
	}
	return opCase{op: "STABLEHLO_CONVOLUTION", kind: "StablehloConvolutionOptions", options: options, in: []arg{counted(x), counted(w)}, out: []arg{want}}
}

// bodyOf is a subgraph of one operator on two scalars.
func bodyOf(op string, of func([]int32, ...float64) arg, out arg) tflitefile.Subgraph {
	return subgraph([]arg{of(dims()), of(dims()), out}, []int32{0, 1}, []int32{2}, apply(op, []int32{0, 1}, []int32{2}))
}

// TestStableBodies: operators whose bodies are subgraphs.
func TestStableBodies(t *testing.T) {
	one := func(op, kind string, options fields, x, first, want arg, body tflitefile.Subgraph) {
		t.Helper()
		options["body"] = 1
		o := apply(op, []int32{0, 1}, []int32{2})
		o.Kind, o.Options = kind, options
		m := open(t, networkOf(subgraph([]arg{x, k(first), want}, []int32{0}, []int32{2}, o), body), nil)
		require.Equal(t, execute(t, m, [][]byte{x.bytes()})[0].Data, want.bytes(), "%s %v", op, options)
	}
	reduced := func(op string, first float64, want ...float64) {
		t.Helper()
		one("STABLEHLO_REDUCE", "StablehloReduceOptions", fields{"dimensions": []int64{1}}, f32(dims(2, 3), 1, 2, 3, 4, 5, 6), f32(dims(), first), f32(dims(2), want...), bodyOf(op, f32, f32(dims())))
	}
	reduced("STABLEHLO_ADD", 0, 6, 15)
	reduced("STABLEHLO_ADD", 10, 16, 25)
	reduced("STABLEHLO_MULTIPLY", 1, 6, 120)
	reduced("STABLEHLO_MAXIMUM", math.Inf(-1), 3, 6)
	reduced("MAXIMUM", 4, 4, 6)
	reduced("STABLEHLO_MINIMUM", math.Inf(1), 1, 4)
	one("STABLEHLO_REDUCE", "StablehloReduceOptions", fields{"dimensions": []int64{0, 1}}, bools(dims(1, 2), 1, 0), bools(dims(), 1), bools(dims(), 0), bodyOf("STABLEHLO_AND", bools, bools(dims())))

	window := func(op string, first float64, size, strides, padding []int64, want arg) {
		t.Helper()
		one("STABLEHLO_REDUCE_WINDOW", "StablehloReduceWindowOptions", fields{"window_dimensions": size, "window_strides": strides, "padding": padding},
			f32(dims(1, 3, 3, 1), 1, 2, 3, 4, 5, 6, 7, 8, 9), f32(dims(), first), want, bodyOf(op, f32, f32(dims())))
	}
	window("STABLEHLO_MAXIMUM", math.Inf(-1), []int64{1, 2, 2, 1}, []int64{1, 2, 2, 1}, []int64{0, 0, 0, 1, 0, 1, 0, 0}, f32(dims(1, 2, 2, 1), 5, 6, 8, 9))
	window("STABLEHLO_MINIMUM", math.Inf(1), []int64{1, 2, 2, 1}, nil, nil, f32(dims(1, 2, 2, 1), 1, 2, 4, 5))
	window("STABLEHLO_ADD", 0, []int64{1, 3, 3, 1}, nil, []int64{0, 0, 1, 1, 1, 1, 0, 0}, f32(dims(1, 3, 3, 1), 12, 21, 16, 27, 45, 33, 24, 39, 28))
	window("STABLEHLO_ADD", 0, []int64{1, 1, 3, 1}, nil, []int64{0, 0, 0, 0, 2, 0, 0, 0}, f32(dims(1, 3, 3, 1), 1, 3, 6, 4, 9, 15, 7, 15, 24))

	for direction, want := range map[int][]float64{3: {3, 2, 1}, 5: {1, 2, 3}} {
		compare := apply("STABLEHLO_COMPARE", []int32{0, 1}, []int32{2})
		compare.Kind, compare.Options = "StablehloCompareOptions", fields{"comparison_direction": direction}
		sort := apply("STABLEHLO_SORT", []int32{0}, []int32{1})
		sort.Kind, sort.Options = "StablehloSortOptions", fields{"dimension": int64(0), "comparator": 1}
		x := f32(dims(3, 1), 2, 3, 1)
		m := open(t, networkOf(subgraph([]arg{x, x}, []int32{0}, []int32{1}, sort), subgraph([]arg{f32(dims()), f32(dims()), bools(dims())}, []int32{0, 1}, []int32{2}, compare)), nil)
		require.Equal(t, execute(t, m, [][]byte{x.bytes()})[0].Data, f32(nil, want...).bytes(), "sorted")
	}

	compare := apply("STABLEHLO_COMPARE", []int32{0, 1}, []int32{2})
	compare.Kind, compare.Options = "StablehloCompareOptions", fields{"comparison_direction": 5}
	loop := apply("STABLEHLO_WHILE", []int32{0}, []int32{1})
	loop.Kind, loop.Options = "StablehloWhileOptions", fields{"condition": 1, "body": 2}
	x := f32(dims(1), 3)
	m := open(t, networkOf(subgraph([]arg{x, x}, []int32{0}, []int32{1}, loop),
		subgraph([]arg{x, k(f32(dims(1), 20)), bools(dims(1))}, []int32{0}, []int32{2}, compare),
		subgraph([]arg{x, x}, []int32{0}, []int32{1}, apply("STABLEHLO_ADD", []int32{0, 0}, []int32{1}))), nil)
	require.Equal(t, execute(t, m, [][]byte{x.bytes()})[0].Data, f32(nil, 24).bytes(), "doubled until 20")
}

// TestStableRefusals: what NNAPI cannot express is refused with its options and the reason.
func TestStableRefusals(t *testing.T) {
	x := f32(dims(1, 2))
	for want, c := range map[string]opCase{
		`STABLEHLO_CUSTOM_CALL(call_target_name="tpu.fused") (1): it calls "tpu.fused", whose definition is not in the file`: {op: "STABLEHLO_CUSTOM_CALL", kind: "StablehloCustomCallOptions", options: fields{"call_target_name": "tpu.fused"}, in: []arg{x}, out: []arg{x}},
		"it compares in total order":                            {op: "STABLEHLO_COMPARE", kind: "StablehloCompareOptions", options: fields{"compare_type": 2}, in: []arg{x, x}, out: []arg{bools(dims(1, 2))}},
		"it gathers parts of 1 of 2 elements along dimension 1": gathered(fields{"start_index_map": []int64{0}, "index_vector_dim": int64(1), "slice_sizes": []int64{1, 1}}, i32(dims(1), 0), x),
		"batch_group_count is 2":                                convolved(fields{"batch_group_count": int64(2)}, dims(2, 1, 1, 1), dims(1, 1, 1, 2), x),
		"its value is known only during execution":              {op: "STABLEHLO_PAD", kind: "StablehloPadOptions", in: []arg{x, f32(dims())}, out: []arg{x}},
		"NNAPI has no operations on bits":                       {op: "STABLEHLO_AND", in: []arg{i32(dims(1), 1), i32(dims(1), 2)}, out: []arg{i32(dims(1))}},
		"STABLEHLO_SCATTER":                                     {op: "STABLEHLO_SCATTER", in: []arg{x, i32(dims(1)), x}, out: []arg{x}},
	} {
		require.ErrorContains(t, require.Err(Import(c.file(), nil)), want)
	}
	o := apply("STABLEHLO_REDUCE", []int32{0, 1}, []int32{2})
	o.Kind, o.Options = "StablehloReduceOptions", fields{"dimensions": []int64{1}, "body": 1}
	file := networkOf(subgraph([]arg{x, k(f32(dims(), 0)), f32(dims(1))}, []int32{0}, []int32{2}, o), bodyOf("STABLEHLO_DIVIDE", f32, f32(dims())))
	require.ErrorContains(t, require.Err(Import(file, nil)), "its body, subgraph 1, is no sum, product, maximum or minimum")
}

// TestComposite: a composite is what its decomposition computes, also one within another.
func TestComposite(t *testing.T) {
	x := f32(dims(1, 2))
	call := func(subgraph int, in, out []int32) tflitefile.Operator {
		o := apply("STABLEHLO_COMPOSITE", in, out)
		o.Kind, o.Options = "StableHLOCompositeOptions", fields{"name": "odml.scaled", "decomposition": subgraph}
		return o
	}
	file := networkOf(
		subgraph([]arg{x, x, x}, []int32{0}, []int32{2}, call(1, []int32{0}, []int32{1}), call(1, []int32{1}, []int32{2})),
		subgraph([]arg{x, x}, []int32{0}, []int32{1}, call(2, []int32{0, 0}, []int32{1})),
		subgraph([]arg{x, x, k(f32(dims(1), 3)), x, x}, []int32{0, 1}, []int32{4}, apply("STABLEHLO_ADD", []int32{0, 1}, []int32{3}), apply("STABLEHLO_MULTIPLY", []int32{3, 2}, []int32{4})))
	got := floatsOf(execute(t, open(t, file, nil), [][]byte{f32(nil, 1, -2).bytes()})[0].Data)
	require.Equal(t, got, []float32{36, -72}, "x times 6, twice")

	for want, file := range map[string][]byte{
		"nest more than 16 deep": networkOf(subgraph([]arg{x, x}, []int32{0}, []int32{1}, call(0, []int32{0}, []int32{1}))),
		"subgraph 7 of 1":        networkOf(subgraph([]arg{x, x}, []int32{0}, []int32{1}, call(7, []int32{0}, []int32{1}))),
		`"odml.scaled" has 2 inputs and 1 outputs, its definition, subgraph 1, 1 and 1`: networkOf(subgraph([]arg{x, x}, []int32{0}, []int32{1}, call(1, []int32{0, 0}, []int32{1})),
			subgraph([]arg{x, x}, []int32{0}, []int32{1}, apply("STABLEHLO_ABS", []int32{0}, []int32{1}))),
	} {
		require.ErrorContains(t, require.Err(Import(file, nil)), want)
	}
}

// withBodies are the rows that TestStableBodies and TestStableRefusals test.
func withBodies() (l []builtin) {
	for _, r := range stableBuiltins {
		switch r.name {
		case "STABLEHLO_REDUCE", "STABLEHLO_REDUCE_WINDOW", "STABLEHLO_SORT", "STABLEHLO_WHILE", "STABLEHLO_CUSTOM_CALL":
			l = append(l, r)
		}
	}
	return l
}
