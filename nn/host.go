package nn

// HostExtension has the operators of model files that NNAPI's operations do not express and that an app's framework
// computes outside NNAPI, on the CPU. A network with such operators is one model here: no driver has the extension, so
// that partitioning makes a host part of them between the parts of the devices. Package refcpu/hostop computes them.
const HostExtension = "org.nnsoc.host"

const hostPrefix = 3

// Host operations. Each has any number of operands, then a constant TENSOR_INT32 of attributes: see refcpu/hostop.
const (
	OpHostNonZero OperationType = hostPrefix<<prefixBits + iota
	OpHostNonMaxSuppression
	OpHostNonMaxSuppressionPadded
	OpHostUnique
	OpHostCompress
	OpHostBitShift
	OpHostBitwiseAnd
	OpHostBitwiseOr
	OpHostBitwiseXor
	OpHostBitwiseNot
	OpHostReshape
	OpHostExpand
	OpHostSlice
	OpHostPad
	OpHostTrilu
	OpHostRange
	OpHostFill
	OpHostTile
	OpHostSqueeze
	OpHostUnsqueeze
	OpHostGather
	OpHostCumulativeSum
	OpHostTopK
	OpHostOneHot
	OpHostSplit
	OpHostShape
	OpHostStridedSlice
	OpHostGatherNd
	OpHostScatterNd
	OpHostSegment
	OpHostUpdateSlice
	OpHostBitcast
	OpHostAtan2
	OpHostDilate
	OpHostBroadcastShapes
	OpHostSelect
	OpHostResize
	OpHostMaxPool
	OpHostMaxUnpool
	OpHostRoiAlign
	OpHostCountSequences
	OpHostDeterminant
	OpHostCumulativeProduct
	OpHostDeformedColumns

	hostOperationCount = iota
)

// hostNames are the names of the host operations, by their numbers.
var hostNames = [hostOperationCount]string{
	"HOST_NON_ZERO", "HOST_NON_MAX_SUPPRESSION", "HOST_NON_MAX_SUPPRESSION_PADDED", "HOST_UNIQUE", "HOST_COMPRESS", "HOST_BIT_SHIFT",
	"HOST_BITWISE_AND", "HOST_BITWISE_OR", "HOST_BITWISE_XOR", "HOST_BITWISE_NOT", "HOST_RESHAPE", "HOST_EXPAND", "HOST_SLICE", "HOST_PAD",
	"HOST_TRILU", "HOST_RANGE", "HOST_FILL", "HOST_TILE", "HOST_SQUEEZE", "HOST_UNSQUEEZE", "HOST_GATHER", "HOST_CUMULATIVE_SUM", "HOST_TOP_K",
	"HOST_ONE_HOT", "HOST_SPLIT", "HOST_SHAPE", "HOST_STRIDED_SLICE", "HOST_GATHER_ND", "HOST_SCATTER_ND", "HOST_SEGMENT",
	"HOST_UPDATE_SLICE", "HOST_BITCAST", "HOST_ATAN2", "HOST_DILATE", "HOST_BROADCAST_SHAPES", "HOST_SELECT", "HOST_RESIZE",
	"HOST_MAX_POOL", "HOST_MAX_UNPOOL", "HOST_ROI_ALIGN", "HOST_COUNT_SEQUENCES", "HOST_DETERMINANT", "HOST_CUMULATIVE_PRODUCT", "HOST_DEFORMED_COLUMNS",
}

// HostOperations are the host operations in order of their numbers.
func HostOperations() (list []OperationType) {
	for i := range hostNames {
		list = append(list, OpHostNonZero+OperationType(i))
	}
	return list
}

// IsHost reports whether an operation is one of HostExtension, by the code that this package gives it.
func (t OperationType) IsHost() bool {
	prefix, number := SplitExtensionCode(int32(t))
	return prefix == hostPrefix && number < hostOperationCount
}
