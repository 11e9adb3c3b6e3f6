package tflite

import (
	"math"

	"github.com/nnsoc/nnsoc/importer/tflite/tflitefile"
)

var (
	shapeCases = []opCase{
		{op: "RESHAPE", in: []arg{f32(dims(2, 2), 1, 2, 3, 4), k(i32(dims(2), 1, -1))}, out: []arg{f32(dims(1, 4), 1, 2, 3, 4)}},
		{op: "RESHAPE", kind: "ReshapeOptions", options: fields{"new_shape": []int32{4, 1}}, in: []arg{i32(dims(2, 2), 1, 2, 3, 4)}, out: []arg{i32(dims(4, 1), 1, 2, 3, 4)}},
		{op: "RESHAPE", in: []arg{f32(dims(4), 1, 2, 3, 4), i32(dims(2), 2, 2)}, out: []arg{f32(dims(2, 2), 1, 2, 3, 4)}}, // shape known during execution
		{op: "RESHAPE", in: []arg{bools(dims(2), 1, 0), k(i32(dims(2), 1, 2))}, out: []arg{bools(dims(1, 2), 1, 0)}},
		{op: "SQUEEZE", kind: "SqueezeOptions", options: fields{"squeeze_dims": []int32{-1}}, in: []arg{f32(dims(1, 2, 1), 1, 2)}, out: []arg{f32(dims(1, 2), 1, 2)}},
		{op: "SQUEEZE", kind: "SqueezeOptions", in: []arg{i32(dims(1, 2, 1), 1, 2)}, out: []arg{i32(dims(2), 1, 2)}},
		{op: "EXPAND_DIMS", in: []arg{f32(dims(2), 1, 2), k(i32(dims(1), -1))}, out: []arg{f32(dims(2, 1), 1, 2)}},
		{op: "TRANSPOSE", in: []arg{f32(dims(2, 2), 1, 2, 3, 4), k(i32(dims(2), 1, 0))}, out: []arg{f32(dims(2, 2), 1, 3, 2, 4)}},
		{op: "TRANSPOSE", in: []arg{i32(dims(2, 2), 1<<20+1, -2, 3, 4), k(i32(dims(2), 1, 0))}, out: []arg{i32(dims(2, 2), 1<<20+1, 3, -2, 4)}},
		{op: "TRANSPOSE", in: []arg{f32(dims(1, 2, 1, 1, 2), 1, 2, 3, 4), k(i32(dims(5), 0, 4, 2, 3, 1))}, out: []arg{f32(dims(1, 2, 1, 1, 2), 1, 3, 2, 4)}},
		{op: "CONCATENATION", kind: "ConcatenationOptions", options: fields{"axis": -1, "activation": 1},
			in: []arg{f32(dims(1, 2), 1, -2), f32(dims(1, 1), 3)}, out: []arg{f32(dims(1, 3), 1, 0, 3)}},
		{op: "CONCATENATION", kind: "ConcatenationOptions", in: []arg{i32(dims(1), 1<<30+1), i32(dims(2), -3, 5)}, out: []arg{i32(dims(3), 1<<30+1, -3, 5)}},
		{op: "CONCATENATION", kind: "ConcatenationOptions", options: fields{"axis": 1},
			in: []arg{f32(dims(2, 1, 1, 1, 1), 1, 2), f32(dims(2, 1, 1, 1, 1), 3, 4)}, out: []arg{f32(dims(2, 2, 1, 1, 1), 1, 3, 2, 4)}},
		{op: "SPLIT", kind: "SplitOptions", options: fields{"num_splits": 2}, in: []arg{k(i32(nil, 1)), f32(dims(1, 2), 1, 2)}, out: []arg{f32(dims(1, 1), 1), f32(dims(1, 1), 2)}},
		{op: "SPLIT_V", kind: "SplitVOptions", options: fields{"num_splits": 2},
			in: []arg{f32(dims(1, 3), 1, 2, 3), k(i32(dims(2), 1, -1)), k(i32(nil, 1))}, out: []arg{f32(dims(1, 1), 1), f32(dims(1, 2), 2, 3)}},
		{op: "PACK", kind: "PackOptions", options: fields{"values_count": 2, "axis": 1}, in: []arg{f32(dims(2), 1, 2), f32(dims(2), 3, 4)}, out: []arg{f32(dims(2, 2), 1, 3, 2, 4)}},
		{op: "PACK", kind: "PackOptions", options: fields{"values_count": 2}, in: []arg{i32(nil, 1), i32(nil, 4)}, out: []arg{i32(dims(2), 1, 4)}},
		{op: "UNPACK", kind: "UnpackOptions", options: fields{"num": 2, "axis": 1}, in: []arg{f32(dims(2, 2), 1, 3, 2, 4)}, out: []arg{f32(dims(2), 1, 2), f32(dims(2), 3, 4)}},
		{op: "UNPACK", kind: "UnpackOptions", options: fields{"num": 1}, in: []arg{f32(dims(1), 5)}, out: []arg{f32(nil, 5)}},
		{op: "SLICE", in: []arg{f32(dims(2, 3), 1, 2, 3, 4, 5, 6), k(i32(dims(2), 0, 1)), k(i32(dims(2), -1, 2))}, out: []arg{f32(dims(2, 2), 2, 3, 5, 6)}},
		{op: "SLICE", in: []arg{f32(dims(3), 1, 2, 3), i32(dims(1), 1), k(i32(dims(1), 2))}, out: []arg{f32(dims(2), 2, 3)}}, // begin known during execution
		{op: "STRIDED_SLICE", kind: "StridedSliceOptions", options: fields{"end_mask": 1, "shrink_axis_mask": 2},
			in: []arg{f32(dims(3, 2), 1, 2, 3, 4, 5, 6), k(i32(dims(2), 1, 1)), k(i32(dims(2), 0, 2)), k(i32(dims(2), 1, 1))}, out: []arg{f32(dims(2), 4, 6)}},
		{op: "STRIDED_SLICE", kind: "StridedSliceOptions", options: fields{"begin_mask": 1, "end_mask": 1},
			in: []arg{f32(dims(3), 1, 2, 3), k(i32(dims(1), 0)), k(i32(dims(1), 0)), k(i32(dims(1), -2))}, out: []arg{f32(dims(2), 3, 1)}},
		{op: "STRIDED_SLICE", kind: "StridedSliceOptions", options: fields{"ellipsis_mask": 1, "new_axis_mask": 2, "shrink_axis_mask": 4},
			in: []arg{i32(dims(2, 2), 1, 2, 3, 4), k(i32(dims(3), 0, 0, -1)), k(i32(dims(3), 0, 0, 0)), k(i32(dims(3), 1, 1, 1))}, out: []arg{i32(dims(2, 1), 2, 4)}},
		{op: "STRIDED_SLICE", kind: "StridedSliceOptions", options: fields{"offset": true},
			in: []arg{i32(dims(5), 1, 2, 3, 4, 5), k(i32(dims(1), 1)), k(i32(dims(1), 3)), k(i32(dims(1), 2))}, out: []arg{i32(dims(2), 2, 4)}},
		{op: "PAD", in: []arg{f32(dims(1, 2), 1, 2), k(i32(dims(2, 2), 0, 1, 1, 0))}, out: []arg{f32(dims(2, 3), 0, 1, 2, 0, 0, 0)}},
		{op: "PAD", in: []arg{q8(1, 5, dims(2), 1, 2), k(i64(dims(1, 2), 1, 0))}, out: []arg{q8(1, 5, dims(3), 5, 1, 2)}},
		{op: "PAD", in: []arg{i32(dims(2), 1<<25+1, 2), k(i32(dims(1, 2), 1, 0))}, out: []arg{i32(dims(3), 0, 1<<25+1, 2)}},
		{op: "PADV2", in: []arg{f32(dims(2), 1, 2), k(i32(dims(1, 2), 1, 0)), k(f32(nil, 7))}, out: []arg{f32(dims(3), 7, 1, 2)}},
		{op: "PADV2", in: []arg{q8(1, 5, dims(2), 1, 2), k(i32(dims(1, 2), 1, 0)), k(q8(1, 5, dims(1), -9))}, out: []arg{q8(1, 5, dims(3), -9, 1, 2)}},
		{op: "MIRROR_PAD", kind: "MirrorPadOptions", options: fields{"mode": 0}, in: []arg{f32(dims(3), 1, 2, 3), k(i32(dims(1, 2), 2, 1))}, out: []arg{f32(dims(6), 3, 2, 1, 2, 3, 2)}},
		{op: "TILE", in: []arg{f32(dims(2), 1, 2), k(i32(dims(1), 2))}, out: []arg{f32(dims(4), 1, 2, 1, 2)}},
		{op: "TILE", in: []arg{bools(dims(1, 2), 1, 0), k(i32(dims(2), 2, 1))}, out: []arg{bools(dims(2, 2), 1, 0, 1, 0)}},
		{op: "BROADCAST_TO", in: []arg{f32(dims(2, 1), 1, 2), k(i32(dims(3), 1, 2, 2))}, out: []arg{f32(dims(1, 2, 2), 1, 1, 2, 2)}},
		{op: "BROADCAST_TO", in: []arg{i32(dims(2, 1), 1, 2), k(i64(dims(5), 1, 1, 2, 2, 2))}, out: []arg{i32(dims(1, 1, 2, 2, 2), 1, 1, 2, 2, 1, 1, 2, 2)}},
		{op: "BROADCAST_ARGS", in: []arg{k(i32(dims(2), 2, 1)), k(i32(dims(3), 4, 1, 5))}, out: []arg{i32(dims(3), 4, 2, 5)}},
		{op: "SHAPE", in: []arg{f32(dims(2, 1), 1, 2)}, out: []arg{i64(dims(2), 2, 1)}},
		{op: "RANK", in: []arg{f32(dims(2, 1), 1, 2)}, out: []arg{i32(nil, 2)}},
		{op: "FILL", in: []arg{k(i32(dims(2), 1, 2)), f32(nil, 7)}, out: []arg{f32(dims(1, 2), 7, 7)}},
		{op: "FILL", in: []arg{i32(dims(2), 1, 2), k(f32(nil, 7))}, out: []arg{f32(dims(1, 2), 7, 7)}}, // shape known during execution
		{op: "RANGE", in: []arg{k(i32(nil, 5)), k(i32(nil, 0)), k(i32(nil, -2))}, out: []arg{i32(dims(3), 5, 3, 1)}},
		{op: "RANGE", in: []arg{k(f32(nil, 0)), k(f32(nil, 1)), k(f32(nil, 0.5))}, out: []arg{f32(dims(2), 0, 0.5)}},
		{op: "REVERSE_V2", in: []arg{f32(dims(2, 2), 1, 2, 3, 4), k(i32(dims(2), 0, -1))}, out: []arg{f32(dims(2, 2), 4, 3, 2, 1)}},
		{op: "SPACE_TO_DEPTH", kind: "SpaceToDepthOptions", options: fields{"block_size": 2}, in: []arg{f32(dims(1, 2, 2, 1), 1, 2, 3, 4)}, out: []arg{f32(dims(1, 1, 1, 4), 1, 2, 3, 4)}},
		{op: "DEPTH_TO_SPACE", kind: "DepthToSpaceOptions", options: fields{"block_size": 2}, in: []arg{f32(dims(1, 1, 1, 4), 1, 2, 3, 4)}, out: []arg{f32(dims(1, 2, 2, 1), 1, 2, 3, 4)}},
		{op: "SPACE_TO_BATCH_ND", in: []arg{f32(dims(1, 2, 2, 1), 1, 2, 3, 4), k(i32(dims(2), 2, 2)), k(i32(dims(2, 2), 0, 0, 0, 0))}, out: []arg{f32(dims(4, 1, 1, 1), 1, 2, 3, 4)}},
		{op: "SPACE_TO_BATCH_ND", in: []arg{f32(dims(1, 3, 1), 1, 2, 3), k(i32(dims(1), 2)), k(i32(dims(1, 2), 1, 0))}, out: []arg{f32(dims(2, 2, 1), 0, 2, 1, 3)}},
		{op: "BATCH_TO_SPACE_ND", in: []arg{f32(dims(4, 1, 1, 1), 1, 2, 3, 4), k(i32(dims(2), 2, 2)), k(i32(dims(2, 2), 1, 0, 0, 0))}, out: []arg{f32(dims(1, 1, 2, 1), 3, 4)}},
		{op: "BATCH_TO_SPACE_ND", in: []arg{f32(dims(2, 2, 1), 0, 2, 1, 3), k(i32(dims(1), 2)), k(i32(dims(1, 2), 1, 0))}, out: []arg{f32(dims(1, 3, 1), 1, 2, 3)}},
		{op: "RESIZE_BILINEAR", kind: "ResizeBilinearOptions", options: fields{"align_corners": true}, in: []arg{f32(dims(1, 1, 2, 1), 1, 3), k(i32(dims(2), 1, 3))}, out: []arg{f32(dims(1, 1, 3, 1), 1, 2, 3)}},
		{op: "RESIZE_NEAREST_NEIGHBOR", kind: "ResizeNearestNeighborOptions", in: []arg{f32(dims(1, 1, 2, 1), 1, 3), k(i32(dims(2), 1, 4))}, out: []arg{f32(dims(1, 1, 4, 1), 1, 1, 3, 3)}},
	}

	indexCases = []opCase{
		{op: "GATHER", kind: "GatherOptions", options: fields{"axis": 1}, in: []arg{f32(dims(2, 2), 1, 2, 3, 4), i32(dims(3), 1, 0, 1)}, out: []arg{f32(dims(2, 3), 2, 1, 2, 4, 3, 4)}},
		{op: "GATHER", kind: "GatherOptions", in: []arg{f32(dims(2, 2), 1, 2, 3, 4), i32(nil, 1)}, out: []arg{f32(dims(2), 3, 4)}},
		{op: "GATHER", kind: "GatherOptions", options: fields{"axis": 1, "batch_dims": 1}, in: []arg{i32(dims(2, 2), 1, 2, 3, 4), i32(dims(2, 1), 1, 0)}, out: []arg{i32(dims(2, 1), 2, 3)}},
		{op: "GATHER_ND", in: []arg{f32(dims(2, 2), 1, 2, 3, 4), i32(dims(2, 2), 1, 1, 0, 1)}, out: []arg{f32(dims(2), 4, 2)}},
		{op: "GATHER_ND", in: []arg{f32(dims(2, 2), 1, 2, 3, 4), k(i32(dims(1, 1), 1))}, out: []arg{f32(dims(1, 2), 3, 4)}},
		{op: "EMBEDDING_LOOKUP", in: []arg{i32(dims(2), 1, 0), k(f32(dims(2, 2), 1, 2, 3, 4))}, out: []arg{f32(dims(2, 2), 3, 4, 1, 2)}},
		{op: "EMBEDDING_LOOKUP", in: []arg{i32(dims(1), 1), k(q8(0.5, 0, dims(2, 2), 1, 2, 3, 4))}, out: []arg{f32(dims(1, 2), 1.5, 2)}},
		{op: "HASHTABLE_LOOKUP", in: []arg{i32(dims(2), 7, 8), k(i32(dims(2), 7, 9)), k(f32(dims(2, 1), 1, 2))}, out: []arg{f32(dims(2, 1), 1, 0), tensorArg(typeUint8, dims(2), []float64{1, 0})}},
		{op: "ONE_HOT", kind: "OneHotOptions", options: fields{"axis": -1}, in: []arg{i32(dims(2), 1, 0), k(i32(nil, 3)), k(f32(nil, 5)), k(f32(nil, 1))}, out: []arg{f32(dims(2, 3), 1, 5, 1, 5, 1, 1)}},
		{op: "REVERSE_SEQUENCE", kind: "ReverseSequenceOptions", options: fields{"seq_dim": 1, "batch_dim": 0},
			in: []arg{f32(dims(2, 3), 1, 2, 3, 4, 5, 6), i32(dims(2), 2, 3)}, out: []arg{f32(dims(2, 3), 2, 1, 3, 6, 5, 4)}},
		{op: "MATRIX_DIAG", in: []arg{f32(dims(2), 3, 4)}, out: []arg{f32(dims(2, 2), 3, 0, 0, 4)}},
		{op: "MATRIX_SET_DIAG", in: []arg{f32(dims(2, 2), 1, 2, 3, 4), f32(dims(2), 8, 9)}, out: []arg{f32(dims(2, 2), 8, 2, 3, 9)}},
		{op: "SCATTER_ND", in: []arg{i32(dims(2, 1), 2, 0), f32(dims(2, 2), 1, 2, 3, 4), k(i32(dims(2), 3, 2))}, out: []arg{f32(dims(3, 2), 3, 4, 0, 0, 1, 2)}},
		{op: "SPARSE_TO_DENSE", in: []arg{i32(dims(2, 1), 2, 0), k(i32(dims(1), 3)), f32(dims(2), 1, 2), k(f32(nil, 9))}, out: []arg{f32(dims(3), 2, 9, 1)}},
		{op: "SEGMENT_SUM", in: []arg{f32(dims(3, 1), 1, 2, 4), k(i32(dims(3), 0, 0, 1))}, out: []arg{f32(dims(2, 1), 3, 4)}},
		{op: "UNSORTED_SEGMENT_SUM", in: []arg{f32(dims(3), 1, 2, 4), i32(dims(3), 1, 0, 1), k(i32(nil, 2))}, out: []arg{f32(dims(2), 2, 5)}},
		{op: "DYNAMIC_UPDATE_SLICE", in: []arg{f32(dims(3), 1, 2, 3), f32(dims(2), 8, 9), k(i32(dims(1), 5))}, out: []arg{f32(dims(3), 1, 8, 9)}},
		{op: "DYNAMIC_UPDATE_SLICE", in: []arg{f32(dims(3, 2), 1, 2, 3, 4, 5, 6), f32(dims(1, 2), 8, 9), i32(dims(2), 1, 0)}, out: []arg{f32(dims(3, 2), 1, 2, 8, 9, 5, 6)}},
		{op: "LSH_PROJECTION", kind: "LSHProjectionOptions", options: fields{"type": 2}, in: []arg{k(f32(dims(1, 1), 0.5)), i32(dims(1), 5)}, out: []arg{within(1, i32(dims(1), 0))}},
	}

	recurrentCases = []opCase{
		{op: "RNN", kind: "RNNOptions", options: fields{"activation": 1},
			in: []arg{f32(dims(1, 1), 2), k(f32(dims(1, 1), 3)), k(f32(dims(1, 1), 1)), k(f32(dims(1), 1)), variableOf(typeFloat32, dims(1, 1))}, out: []arg{f32(dims(1, 1), 7)}},
		{op: "UNIDIRECTIONAL_SEQUENCE_RNN", kind: "SequenceRNNOptions", options: fields{"activation": 0},
			in: []arg{f32(dims(1, 2, 1), 1, 1), k(f32(dims(1, 1), 1)), k(f32(dims(1, 1), 10)), k(f32(dims(1), 0)), variableOf(typeFloat32, dims(1, 1))}, out: []arg{f32(dims(1, 2, 1), 1, 11)}},
		{op: "BIDIRECTIONAL_SEQUENCE_RNN", kind: "BidirectionalSequenceRNNOptions", options: fields{"activation": 0, "merge_outputs": true},
			in: []arg{f32(dims(1, 2, 1), 1, 2), k(f32(dims(1, 1), 1)), k(f32(dims(1, 1), 10)), k(f32(dims(1), 0)), variableOf(typeFloat32, dims(1, 1)),
				k(f32(dims(1, 1), 1)), k(f32(dims(1, 1), 100)), k(f32(dims(1), 0)), variableOf(typeFloat32, dims(1, 1)), without, without, without},
			out: []arg{f32(dims(1, 2, 2), 1, 201, 12, 2)}},
		{op: "LSTM", kind: "LSTMOptions", options: fields{"activation": 4}, in: lstmInputs(f32(dims(1, 1), 1), dims(1, 1)), out: []arg{f32(dims(1, 1), 0.3696064)}},
		{op: "UNIDIRECTIONAL_SEQUENCE_LSTM", kind: "UnidirectionalSequenceLSTMOptions", options: fields{"activation": 4},
			in: lstmInputs(f32(dims(1, 1, 1), 1), dims(1, 1)), out: []arg{f32(dims(1, 1, 1), 0.3696064)}},
		{op: "BIDIRECTIONAL_SEQUENCE_LSTM", kind: "BidirectionalSequenceLSTMOptions", options: fields{"activation": 4, "time_major": false},
			in: bidirectionalInputs(), out: []arg{f32(dims(1, 1, 1), 0.3696064), f32(dims(1, 1, 1), 0.3696064)}},
		{op: "LSTM", kind: "LSTMOptions", options: fields{"activation": 4, "kernel_type": 1},
			in:  []arg{f32(dims(1, 1), 1), f32(dims(1, 1), 0), k(f32(dims(4, 2), 1, 0, 1, 0, 1, 0, 1, 0)), k(f32(dims(4), 0, 0, 0, 0)), f32(dims(1, 1), 0)},
			out: []arg{f32(dims(1, 1), 0.3696064), f32(dims(1, 1), 0.5567702), f32(dims(1, 2), 1, 0), f32(dims(1, 4), 1, 1, 1, 1)}},
		{op: "SVDF", kind: "SVDFOptions", options: fields{"rank": 1},
			in: []arg{f32(dims(1, 2), 1, 2), k(f32(dims(1, 2), 3, 4)), k(f32(dims(1, 2), 5, 2)), k(f32(dims(1), 1)), variableOf(typeFloat32, dims(1, 2))}, out: []arg{f32(dims(1, 1), 23)}},
		{op: "SVDF", kind: "SVDFOptions", options: fields{"rank": 1, "activation": 1},
			in:  []arg{q8(0.5, 0, dims(1, 2), 2, 4), k(q8(1, 0, dims(1, 2), 3, 4)), k(q16(0.5, dims(1, 2), 10, 4)), k(i32(dims(1), 4)), stateOf(typeInt16, 0.5, dims(1, 2))},
			out: []arg{q8(1, 0, dims(1, 1), 23)}},
	}

	customCases = []opCase{
		{op: "QUANTIZE", in: []arg{f32(dims(4), -1, 0.26, 0.5, 1e6)}, out: []arg{quantized(typeInt16, 0.25, math.MinInt16, dims(4), []float64{0, 1, 2, 65535})}},
		{op: "DEQUANTIZE", in: []arg{k(quantized(typeInt16, 0.25, math.MinInt16, dims(2), []float64{-32768, -32764}))}, out: []arg{f32(dims(2), 0, 1)}},
		{op: "DEQUANTIZE", in: []arg{quantized(typeInt16, 0.25, math.MinInt16, dims(2), []float64{0, 4})}, out: []arg{f32(dims(2), 0, 1)}},
		{op: "Convolution2DTransposeBias", custom: []byte{2, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0},
			in: []arg{f32(dims(1, 1, 2, 1), 3, 5), k(f32(dims(1, 1, 2, 1), 1, 10)), k(f32(dims(1), 0.5))}, out: []arg{f32(dims(1, 1, 4, 1), 3.5, 30.5, 5.5, 50.5)}},
		{op: "Convolution2DTransposeBias", custom: []byte{1, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0},
			in: []arg{f32(dims(1, 1, 2, 1), 3, 5), k(f32(dims(1, 1, 2, 1), 1, 10)), k(f32(dims(1), 0))}, out: []arg{f32(dims(1, 1, 4, 1), 3, 30, 5, 50)}},
		{op: "TFLite_Detection_PostProcess", custom: detectionOptions(),
			in:  []arg{f32(dims(1, 2, 4), 0, 0, 0, 0, 0, 0, 0, 0), f32(dims(1, 2, 2), 0.1, 0.9, 0.2, 0.8), k(f32(dims(2, 4), 0.5, 0.5, 1, 1, 0.5, 0.5, 1, 1))},
			out: []arg{f32(dims(1, 2, 4), 0, 0, 1, 1, 0, 0, 0, 0), f32(dims(1, 2), 0, 0), f32(dims(1, 2), 0.9, 0), f32(dims(1), 1)}},
	}
)

func stateOf(code int, scale float32, d []int32) arg {
	a := variableOf(code, d)
	a.Scale, a.Zero = []float32{scale}, []int64{0}
	return a
}

// lstmInputs are a cell of one unit: all input weights 1, no recurrence.
func lstmInputs(x arg, state []int32) []arg {
	one, zero, bias := k(f32(dims(1, 1), 1)), k(f32(dims(1, 1), 0)), k(f32(dims(1), 0))
	return []arg{x, one, one, one, one, zero, zero, zero, zero, without, without, without, bias, bias, bias, bias, without, without,
		variableOf(typeFloat32, state), variableOf(typeFloat32, state)}
}

func bidirectionalInputs() []arg {
	cell := lstmInputs(f32(dims(1, 1, 1), 1), dims(1, 1))
	in := append(append(append([]arg{}, cell[:18]...), cell[1:18]...), cell[18:]...)
	in = append(in, cell[18:]...)
	for len(in) < 48 {
		in = append(in, without)
	}
	return in
}

// detectionOptions is a FlexBuffers map of integers in 8 bits and float32.
func detectionOptions() []byte {
	return tflitefile.FlexMap(map[string]float32{"nms_iou_threshold": 0.5, "nms_score_threshold": 0.3, "h_scale": 5, "w_scale": 5, "x_scale": 10, "y_scale": 10,
		"max_classes_per_detection": 1, "max_detections": 2, "num_classes": 1}, nil)
}
