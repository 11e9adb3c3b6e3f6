package dsp

import "github.com/nnsoc/nnsoc/hal/nn"

// lowerFunc lowers one operation.
type lowerFunc func(l *lowering, op *nn.Operation) error

// lowerings are the operations this driver knows.
var lowerings = [nn.OperationCount]lowerFunc{
	nn.OpConv2D:          lowerConv,
	nn.OpDepthwiseConv2D: lowerConv,
	nn.OpFullyConnected:  lowerFullyConnected,
	nn.OpAveragePool2D:   lowerPool,
	nn.OpMaxPool2D:       lowerPool,
	nn.OpMean:            lowerMean,
	nn.OpAdd:             lowerAdd,
	nn.OpMul:             lowerMul,
	nn.OpRelu:            lowerUnary,
	nn.OpRelu1:           lowerUnary,
	nn.OpRelu6:           lowerUnary,
	nn.OpLogistic:        lowerUnary,
	nn.OpTanh:            lowerUnary,
	nn.OpHardSwish:       lowerUnary,
	nn.OpQuantize:        lowerUnary,
	nn.OpDequantize:      lowerDequantize,
	nn.OpSoftmax:         lowerSoftmax,
	nn.OpReshape:         lowerReshape,
	nn.OpSqueeze:         lowerReshape,
	nn.OpPad:             lowerPad,
	nn.OpConcatenation:   lowerConcat,

	nn.OpGroupedConv2D:         lowerConvVariant,
	nn.OpTransposeConv2D:       lowerConvVariant,
	nn.OpTranspose:             lowerStrided,
	nn.OpSlice:                 lowerStrided,
	nn.OpStridedSlice:          lowerStrided,
	nn.OpDepthToSpace:          lowerStrided,
	nn.OpSpaceToDepth:          lowerStrided,
	nn.OpBatchToSpaceNd:        lowerStrided,
	nn.OpSpaceToBatchNd:        lowerStrided,
	nn.OpChannelShuffle:        lowerStrided,
	nn.OpPadV2:                 lowerPadV2,
	nn.OpSplit:                 lowerSplit,
	nn.OpTile:                  lowerTile,
	nn.OpExpandDims:            lowerAlias,
	nn.OpGather:                lowerGather,
	nn.OpEmbeddingLookup:       lowerGather,
	nn.OpResizeNearestNeighbor: lowerNearest,
	nn.OpSub:                   lowerAdd,
	nn.OpMaximum:               lowerExtreme,
	nn.OpMinimum:               lowerExtreme,
	nn.OpPrelu:                 lowerPrelu,
	nn.OpSelect:                lowerSelect,
	nn.OpEqual:                 lowerCompare,
	nn.OpNotEqual:              lowerCompare,
	nn.OpLess:                  lowerCompare,
	nn.OpLessEqual:             lowerCompare,
	nn.OpGreater:               lowerCompare,
	nn.OpGreaterEqual:          lowerCompare,
	nn.OpLogicalAnd:            lowerLogical,
	nn.OpLogicalOr:             lowerLogical,
	nn.OpLogicalNot:            lowerUnaryFlat,
	nn.OpAbs:                   lowerUnaryFlat,
	nn.OpNeg:                   lowerUnaryFlat,
	nn.OpCast:                  lowerCast,
	nn.OpFill:                  lowerFill,
}

// integers are the operations with a form for TENSOR_INT32 or TENSOR_BOOL8 here.
var integers = [nn.OperationCount]bool{
	nn.OpSlice: true,
	nn.OpSplit: true, nn.OpTile: true, nn.OpExpandDims: true, nn.OpGather: true, nn.OpEmbeddingLookup: true,
	nn.OpAdd: true, nn.OpSub: true, nn.OpMul: true, nn.OpMaximum: true, nn.OpMinimum: true, nn.OpAbs: true, nn.OpNeg: true,
	nn.OpEqual: true, nn.OpNotEqual: true, nn.OpLess: true, nn.OpLessEqual: true, nn.OpGreater: true, nn.OpGreaterEqual: true,
	nn.OpLogicalAnd: true, nn.OpLogicalOr: true, nn.OpLogicalNot: true, nn.OpSelect: true, nn.OpCast: true, nn.OpFill: true,
}
