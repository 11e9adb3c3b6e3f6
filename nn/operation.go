package nn

import "fmt"

// OperationType is a NNAPI operation code, except for experimental operations:
// see Code.
type OperationType int32

// Operations of HAL 1.0 to 1.3.
const (
	OpAdd                        OperationType = 0
	OpAveragePool2D              OperationType = 1
	OpConcatenation              OperationType = 2
	OpConv2D                     OperationType = 3
	OpDepthwiseConv2D            OperationType = 4
	OpDepthToSpace               OperationType = 5
	OpDequantize                 OperationType = 6
	OpEmbeddingLookup            OperationType = 7
	OpFloor                      OperationType = 8
	OpFullyConnected             OperationType = 9
	OpHashtableLookup            OperationType = 10
	OpL2Normalization            OperationType = 11
	OpL2Pool2D                   OperationType = 12
	OpLocalResponseNormalization OperationType = 13
	OpLogistic                   OperationType = 14
	OpLshProjection              OperationType = 15
	OpLstm                       OperationType = 16
	OpMaxPool2D                  OperationType = 17
	OpMul                        OperationType = 18
	OpRelu                       OperationType = 19
	OpRelu1                      OperationType = 20
	OpRelu6                      OperationType = 21
	OpReshape                    OperationType = 22
	OpResizeBilinear             OperationType = 23
	OpRnn                        OperationType = 24
	OpSoftmax                    OperationType = 25
	OpSpaceToDepth               OperationType = 26
	OpSvdf                       OperationType = 27
	OpTanh                       OperationType = 28
	OpBatchToSpaceNd             OperationType = 29
	OpDiv                        OperationType = 30
	OpMean                       OperationType = 31
	OpPad                        OperationType = 32
	OpSpaceToBatchNd             OperationType = 33
	OpSqueeze                    OperationType = 34
	OpStridedSlice               OperationType = 35
	OpSub                        OperationType = 36
	OpTranspose                  OperationType = 37
	OpAbs                        OperationType = 38
	OpArgmax                     OperationType = 39
	OpArgmin                     OperationType = 40
	OpAxisAlignedBboxTransform   OperationType = 41
	OpBidirectionalSequenceLstm  OperationType = 42
	OpBidirectionalSequenceRnn   OperationType = 43
	OpBoxWithNmsLimit            OperationType = 44
	OpCast                       OperationType = 45
	OpChannelShuffle             OperationType = 46
	OpDetectionPostprocessing    OperationType = 47
	OpEqual                      OperationType = 48
	OpExp                        OperationType = 49
	OpExpandDims                 OperationType = 50
	OpGather                     OperationType = 51
	OpGenerateProposals          OperationType = 52
	OpGreater                    OperationType = 53
	OpGreaterEqual               OperationType = 54
	OpGroupedConv2D              OperationType = 55
	OpHeatmapMaxKeypoint         OperationType = 56
	OpInstanceNormalization      OperationType = 57
	OpLess                       OperationType = 58
	OpLessEqual                  OperationType = 59
	OpLog                        OperationType = 60
	OpLogicalAnd                 OperationType = 61
	OpLogicalNot                 OperationType = 62
	OpLogicalOr                  OperationType = 63
	OpLogSoftmax                 OperationType = 64
	OpMaximum                    OperationType = 65
	OpMinimum                    OperationType = 66
	OpNeg                        OperationType = 67
	OpNotEqual                   OperationType = 68
	OpPadV2                      OperationType = 69
	OpPow                        OperationType = 70
	OpPrelu                      OperationType = 71
	OpQuantize                   OperationType = 72
	OpQuantized16bitLstm         OperationType = 73
	OpRandomMultinomial          OperationType = 74
	OpReduceAll                  OperationType = 75
	OpReduceAny                  OperationType = 76
	OpReduceMax                  OperationType = 77
	OpReduceMin                  OperationType = 78
	OpReduceProd                 OperationType = 79
	OpReduceSum                  OperationType = 80
	OpRoiAlign                   OperationType = 81
	OpRoiPooling                 OperationType = 82
	OpRsqrt                      OperationType = 83
	OpSelect                     OperationType = 84
	OpSin                        OperationType = 85
	OpSlice                      OperationType = 86
	OpSplit                      OperationType = 87
	OpSqrt                       OperationType = 88
	OpTile                       OperationType = 89
	OpTopkV2                     OperationType = 90
	OpTransposeConv2D            OperationType = 91
	OpUnidirectionalSequenceLstm OperationType = 92
	OpUnidirectionalSequenceRnn  OperationType = 93
	OpResizeNearestNeighbor      OperationType = 94
	OpQuantizedLstm              OperationType = 95
	OpIf                         OperationType = 96
	OpWhile                      OperationType = 97
	OpElu                        OperationType = 98
	OpHardSwish                  OperationType = 99
	OpFill                       OperationType = 100
	OpRank                       OperationType = 101
)

// Operations of the feature levels above HAL 1.3.
const (
	OpBatchMatmul OperationType = 102 // feature level 6
	OpPack        OperationType = 103
	OpMirrorPad   OperationType = 104 // feature level 7
	OpReverse     OperationType = 105
	// OpDensify is experimental in NNAPI and has a number of its own there, see
	// Code. Here numbers are dense.
	OpDensify OperationType = 106
)

// experimentalCode is NNAPI's number of its first experimental operation.
const experimentalCode = 20000

var operationNames = [...]string{
	OpAdd:                        "ADD",
	OpAveragePool2D:              "AVERAGE_POOL_2D",
	OpConcatenation:              "CONCATENATION",
	OpConv2D:                     "CONV_2D",
	OpDepthwiseConv2D:            "DEPTHWISE_CONV_2D",
	OpDepthToSpace:               "DEPTH_TO_SPACE",
	OpDequantize:                 "DEQUANTIZE",
	OpEmbeddingLookup:            "EMBEDDING_LOOKUP",
	OpFloor:                      "FLOOR",
	OpFullyConnected:             "FULLY_CONNECTED",
	OpHashtableLookup:            "HASHTABLE_LOOKUP",
	OpL2Normalization:            "L2_NORMALIZATION",
	OpL2Pool2D:                   "L2_POOL_2D",
	OpLocalResponseNormalization: "LOCAL_RESPONSE_NORMALIZATION",
	OpLogistic:                   "LOGISTIC",
	OpLshProjection:              "LSH_PROJECTION",
	OpLstm:                       "LSTM",
	OpMaxPool2D:                  "MAX_POOL_2D",
	OpMul:                        "MUL",
	OpRelu:                       "RELU",
	OpRelu1:                      "RELU1",
	OpRelu6:                      "RELU6",
	OpReshape:                    "RESHAPE",
	OpResizeBilinear:             "RESIZE_BILINEAR",
	OpRnn:                        "RNN",
	OpSoftmax:                    "SOFTMAX",
	OpSpaceToDepth:               "SPACE_TO_DEPTH",
	OpSvdf:                       "SVDF",
	OpTanh:                       "TANH",
	OpBatchToSpaceNd:             "BATCH_TO_SPACE_ND",
	OpDiv:                        "DIV",
	OpMean:                       "MEAN",
	OpPad:                        "PAD",
	OpSpaceToBatchNd:             "SPACE_TO_BATCH_ND",
	OpSqueeze:                    "SQUEEZE",
	OpStridedSlice:               "STRIDED_SLICE",
	OpSub:                        "SUB",
	OpTranspose:                  "TRANSPOSE",
	OpAbs:                        "ABS",
	OpArgmax:                     "ARGMAX",
	OpArgmin:                     "ARGMIN",
	OpAxisAlignedBboxTransform:   "AXIS_ALIGNED_BBOX_TRANSFORM",
	OpBidirectionalSequenceLstm:  "BIDIRECTIONAL_SEQUENCE_LSTM",
	OpBidirectionalSequenceRnn:   "BIDIRECTIONAL_SEQUENCE_RNN",
	OpBoxWithNmsLimit:            "BOX_WITH_NMS_LIMIT",
	OpCast:                       "CAST",
	OpChannelShuffle:             "CHANNEL_SHUFFLE",
	OpDetectionPostprocessing:    "DETECTION_POSTPROCESSING",
	OpEqual:                      "EQUAL",
	OpExp:                        "EXP",
	OpExpandDims:                 "EXPAND_DIMS",
	OpGather:                     "GATHER",
	OpGenerateProposals:          "GENERATE_PROPOSALS",
	OpGreater:                    "GREATER",
	OpGreaterEqual:               "GREATER_EQUAL",
	OpGroupedConv2D:              "GROUPED_CONV_2D",
	OpHeatmapMaxKeypoint:         "HEATMAP_MAX_KEYPOINT",
	OpInstanceNormalization:      "INSTANCE_NORMALIZATION",
	OpLess:                       "LESS",
	OpLessEqual:                  "LESS_EQUAL",
	OpLog:                        "LOG",
	OpLogicalAnd:                 "LOGICAL_AND",
	OpLogicalNot:                 "LOGICAL_NOT",
	OpLogicalOr:                  "LOGICAL_OR",
	OpLogSoftmax:                 "LOG_SOFTMAX",
	OpMaximum:                    "MAXIMUM",
	OpMinimum:                    "MINIMUM",
	OpNeg:                        "NEG",
	OpNotEqual:                   "NOT_EQUAL",
	OpPadV2:                      "PAD_V2",
	OpPow:                        "POW",
	OpPrelu:                      "PRELU",
	OpQuantize:                   "QUANTIZE",
	OpQuantized16bitLstm:         "QUANTIZED_16BIT_LSTM",
	OpRandomMultinomial:          "RANDOM_MULTINOMIAL",
	OpReduceAll:                  "REDUCE_ALL",
	OpReduceAny:                  "REDUCE_ANY",
	OpReduceMax:                  "REDUCE_MAX",
	OpReduceMin:                  "REDUCE_MIN",
	OpReduceProd:                 "REDUCE_PROD",
	OpReduceSum:                  "REDUCE_SUM",
	OpRoiAlign:                   "ROI_ALIGN",
	OpRoiPooling:                 "ROI_POOLING",
	OpRsqrt:                      "RSQRT",
	OpSelect:                     "SELECT",
	OpSin:                        "SIN",
	OpSlice:                      "SLICE",
	OpSplit:                      "SPLIT",
	OpSqrt:                       "SQRT",
	OpTile:                       "TILE",
	OpTopkV2:                     "TOPK_V2",
	OpTransposeConv2D:            "TRANSPOSE_CONV_2D",
	OpUnidirectionalSequenceLstm: "UNIDIRECTIONAL_SEQUENCE_LSTM",
	OpUnidirectionalSequenceRnn:  "UNIDIRECTIONAL_SEQUENCE_RNN",
	OpResizeNearestNeighbor:      "RESIZE_NEAREST_NEIGHBOR",
	OpQuantizedLstm:              "QUANTIZED_LSTM",
	OpIf:                         "IF",
	OpWhile:                      "WHILE",
	OpElu:                        "ELU",
	OpHardSwish:                  "HARD_SWISH",
	OpFill:                       "FILL",
	OpRank:                       "RANK",
	OpBatchMatmul:                "BATCH_MATMUL",
	OpPack:                       "PACK",
	OpMirrorPad:                  "MIRROR_PAD",
	OpReverse:                    "REVERSE",
	OpDensify:                    "DENSIFY",
}

// OperationCount is the number of NNAPI's operations, those above HAL 1.3 included; their
// codes are dense. Operations of extensions have codes of their own, see Operations.
const OperationCount = len(operationNames)

// Valid reports whether t is an operation of HAL 1.0 to 1.3, of a later feature level or
// of an extension of this package.
func (t OperationType) Valid() bool {
	return t >= 0 && int(t) < len(operationNames) || extensionOperation(t) != ""
}

// Operations lists every operation that is Valid and that a driver may have: all but HostOperations.
func Operations() []OperationType {
	var list []OperationType
	for t := range OperationType(OperationCount) {
		list = append(list, t)
	}
	for _, e := range vendorExtensions {
		if e.Prefix == hostPrefix {
			continue
		}
		for n := range e.operations {
			list = append(list, OperationType(ExtensionCode(e.Prefix, uint16(n))))
		}
	}
	return list
}

// Code is NNAPI's number of the operation.
func (t OperationType) Code() int32 {
	if t == OpDensify {
		return experimentalCode
	}
	return int32(t)
}

// String returns the HAL's name of the operation.
func (t OperationType) String() string {
	switch name := extensionOperation(t); {
	case name != "":
		return name
	case t.Valid():
		return operationNames[t]
	case IsExtensionOperationType(t):
		return extensionText("OperationType", int32(t))
	case t == OpOEM:
		return "OEM_OPERATION"
	}
	return fmt.Sprintf("OperationType(%d)", int32(t))
}

// ParseOperationType is the inverse of String for operations that are Valid.
func ParseOperationType(name string) (OperationType, bool) {
	for _, t := range Operations() {
		if t.String() == name {
			return t, true
		}
	}
	return 0, false
}
