package randgraph

import (
	"fmt"
	"slices"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/refcpu"
)

// signature defines how to draw an operation and how exact its result must be. The key types are those of the
// operation's row in nn/opspec.
type signature struct {
	op    nn.OperationType
	class Class
	make  func(g *gen, op nn.OperationType, k nn.OperandType) bool
	// noFloat: the operation means something else in float32.
	noFloat bool
	// filter: an 8-bit operation may have a per-channel filter.
	filter bool
	// sums: it adds values of both signs, in an order of the device's choice.
	sums bool
}

var signatures = slices.Concat(valueSignatures, codeSignatures(), otherSignatures)

// codeSignatures returns the signatures of operations that decode the codes of an extension.
func codeSignatures() (list []signature) {
	for _, e := range nn.CodeExtensions() {
		list = append(list, signature{op: e.Decode(), class: Strict, make: makeRequantize, noFloat: true})
	}
	return list
}

// valueSignatures lists the operations that compute element by element, or windows and sums of products.
var valueSignatures = []signature{
	{op: nn.OpConv2D, class: Conv, make: makeConv, filter: true, sums: true},
	{op: nn.OpDepthwiseConv2D, class: Conv, make: makeConv, filter: true, sums: true},
	{op: nn.OpGroupedConv2D, class: Conv, make: makeGroupedConv, filter: true, sums: true},
	{op: nn.OpTransposeConv2D, class: Conv, make: makeTransposeConv, filter: true, sums: true},
	{op: nn.OpFullyConnected, class: Relaxed, make: makeFullyConnected, sums: true},
	{op: nn.OpAveragePool2D, class: Relaxed, make: makePool, sums: true},
	{op: nn.OpMaxPool2D, class: Relaxed, make: makePool},
	{op: nn.OpL2Pool2D, class: Relaxed, make: makePool},

	{op: nn.OpAdd, class: Medium, make: makeArithmetic},
	{op: nn.OpSub, class: Medium, make: makeArithmetic},
	{op: nn.OpMul, class: Medium, make: makeArithmetic},
	{op: nn.OpDiv, class: Relaxed, make: makeArithmetic},
	{op: nn.OpMaximum, class: Medium, make: makeArithmetic},
	{op: nn.OpMinimum, class: Medium, make: makeArithmetic},
	{op: nn.OpPow, class: Relaxed, make: makeArithmetic},
	{op: nn.OpPrelu, class: Medium, make: makeArithmetic},
	{op: nn.OpEqual, class: Strict, make: makeCompare},
	{op: nn.OpNotEqual, class: Strict, make: makeCompare},
	{op: nn.OpLess, class: Strict, make: makeCompare},
	{op: nn.OpLessEqual, class: Strict, make: makeCompare},
	{op: nn.OpGreater, class: Strict, make: makeCompare},
	{op: nn.OpGreaterEqual, class: Strict, make: makeCompare},
	{op: nn.OpLogicalAnd, class: Strict, make: makeCompare},
	{op: nn.OpLogicalOr, class: Strict, make: makeCompare},
	{op: nn.OpLogicalNot, class: Strict, make: makeUnary},
	{op: nn.OpSelect, class: Strict, make: makeSelect},
	{op: nn.OpAbs, class: Medium, make: makeUnary},
	{op: nn.OpNeg, class: Medium, make: makeUnary},
	{op: nn.OpFloor, class: Medium, make: makeUnary},
	{op: nn.OpRelu, class: Medium, make: makeUnary},
	{op: nn.OpRelu1, class: Medium, make: makeUnary},
	{op: nn.OpRelu6, class: Medium, make: makeUnary},
	{op: nn.OpExp, class: Relaxed, make: makeUnary},
	{op: nn.OpLog, class: Relaxed, make: makeUnary},
	{op: nn.OpSin, class: Relaxed, make: makeUnary},
	{op: nn.OpSqrt, class: Relaxed, make: makeUnary},
	{op: nn.OpRsqrt, class: Relaxed, make: makeUnary},
	{op: nn.OpLogistic, class: Relaxed, make: makeUnary},
	{op: nn.OpTanh, class: Relaxed, make: makeUnary},
	{op: nn.OpHardSwish, class: Relaxed, make: makeUnary},
	{op: nn.OpElu, class: Relaxed, make: makeElu},
	{op: nn.OpSoftmax, class: Relaxed, make: makeSoftmax},
	{op: nn.OpLogSoftmax, class: Relaxed, make: makeSoftmax},
	{op: nn.OpQuantize, class: Medium, make: makeQuantize, noFloat: true},
	{op: nn.OpDequantize, class: Medium, make: makeDequantize, noFloat: true},
	{op: nn.OpRequantize, class: Medium, make: makeRequantize, noFloat: true},
	{op: nn.OpQuantize16, class: Medium, make: makeQuantize16, noFloat: true},
	{op: nn.OpDequantize16, class: Medium, make: makeQuantize16, noFloat: true},
}

// otherSignatures lists all other operations.
var otherSignatures = []signature{
	{op: nn.OpCast, class: Medium, make: makeCast, noFloat: true},

	{op: nn.OpConcatenation, class: Medium, make: makeConcat},
	{op: nn.OpSplit, class: Medium, make: makeSplit},
	{op: nn.OpReshape, class: Strict, make: makeReshape},
	{op: nn.OpSqueeze, class: Strict, make: makeSqueeze},
	{op: nn.OpExpandDims, class: Strict, make: makeExpandDims},
	{op: nn.OpTranspose, class: Strict, make: makeTranspose},
	{op: nn.OpPad, class: Strict, make: makePad},
	{op: nn.OpPadV2, class: Strict, make: makePad},
	{op: nn.OpSlice, class: Strict, make: makeSlice},
	{op: nn.OpStridedSlice, class: Strict, make: makeStridedSlice},
	{op: nn.OpTile, class: Strict, make: makeTile},
	{op: nn.OpGather, class: Strict, make: makeGather},
	{op: nn.OpEmbeddingLookup, class: Strict, make: makeEmbedding},
	{op: nn.OpHashtableLookup, class: Strict, make: makeHashtable, noFloat: true},
	{op: nn.OpFill, class: Strict, make: makeFill},
	{op: nn.OpRank, class: Strict, make: makeRank, noFloat: true},
	{op: nn.OpTopkV2, class: Strict, make: makeTopK},
	{op: nn.OpDepthToSpace, class: Strict, make: makeDepthSpace},
	{op: nn.OpSpaceToDepth, class: Strict, make: makeDepthSpace},
	{op: nn.OpBatchToSpaceNd, class: Strict, make: makeBatchToSpace},
	{op: nn.OpSpaceToBatchNd, class: Strict, make: makeSpaceToBatch},
	{op: nn.OpChannelShuffle, class: Strict, make: makeShuffle},
	{op: nn.OpResizeBilinear, class: Relaxed, make: makeResize, sums: true},
	{op: nn.OpResizeNearestNeighbor, class: Relaxed, make: makeResize},
	{op: nn.OpLshProjection, class: Strict, make: makeLsh, noFloat: true},

	{op: nn.OpMean, class: Relaxed, make: makeReduce, sums: true},
	{op: nn.OpReduceSum, class: Relaxed, make: makeReduce, sums: true},
	{op: nn.OpReduceProd, class: Relaxed, make: makeReduce},
	{op: nn.OpReduceMax, class: Relaxed, make: makeReduce},
	{op: nn.OpReduceMin, class: Relaxed, make: makeReduce},
	{op: nn.OpReduceAll, class: Strict, make: makeReduce},
	{op: nn.OpReduceAny, class: Strict, make: makeReduce},
	{op: nn.OpArgmax, class: Strict, make: makeArg},
	{op: nn.OpArgmin, class: Strict, make: makeArg},
	{op: nn.OpL2Normalization, class: Relaxed, make: makeL2Norm},
	{op: nn.OpLocalResponseNormalization, class: Relaxed, make: makeLRN},
	{op: nn.OpInstanceNormalization, class: Relaxed, make: makeInstanceNorm, sums: true},

	{op: nn.OpRoiAlign, class: Relaxed, make: makeRoi, noFloat: true, sums: true},
	{op: nn.OpRoiPooling, class: Relaxed, make: makeRoi, noFloat: true},
	{op: nn.OpHeatmapMaxKeypoint, class: Relaxed, make: makeHeatmap, noFloat: true},
	{op: nn.OpAxisAlignedBboxTransform, class: Relaxed, make: makeBoxTransform, noFloat: true},
	{op: nn.OpBoxWithNmsLimit, class: Relaxed, make: makeBoxNms, noFloat: true},
	{op: nn.OpGenerateProposals, class: Relaxed, make: makeProposals, noFloat: true},
	{op: nn.OpDetectionPostprocessing, class: Relaxed, make: makeDetection, noFloat: true},

	{op: nn.OpBatchMatmul, class: Relaxed, make: makeBatchMatmul, sums: true},
	{op: nn.OpPack, class: Strict, make: makePack},
	{op: nn.OpMirrorPad, class: Strict, make: makeMirrorPad},
	{op: nn.OpReverse, class: Strict, make: makeReverse},
	{op: nn.OpDensify, class: Strict, make: makeDensify},

	{op: nn.OpRnn, class: Relaxed, make: makeRecurrentStep},
	{op: nn.OpUnidirectionalSequenceRnn, class: Relaxed, make: makeRecurrentSequence},
	{op: nn.OpBidirectionalSequenceRnn, class: Relaxed, make: makeRecurrentSequence},
	{op: nn.OpLstm, class: Relaxed, make: makeRecurrentStep},
	{op: nn.OpUnidirectionalSequenceLstm, class: Relaxed, make: makeRecurrentSequence},
	{op: nn.OpBidirectionalSequenceLstm, class: Relaxed, make: makeRecurrentSequence},
	{op: nn.OpQuantizedLstm, class: Relaxed, make: makeQuantizedLstm, noFloat: true},
	{op: nn.OpQuantized16bitLstm, class: Relaxed, make: makeQuantizedLstm, noFloat: true},
	{op: nn.OpSvdf, class: Relaxed, make: makeSvdf},
	{op: nn.OpIf, class: Medium, make: makeIf},
	{op: nn.OpWhile, class: Medium, make: makeWhile},
}

// Variant is an operation in one type.
type Variant struct {
	Op  nn.OperationType
	Key nn.OperandType
	// PerChannel: the filter is TENSOR_QUANT8_SYMM_PER_CHANNEL.
	PerChannel bool
	sig        *signature
}

// String is like "CONV_2D/TENSOR_QUANT8_ASYMM" or "CONV_2D/TENSOR_QUANT8_ASYMM/per-channel".
func (v Variant) String() string {
	s := fmt.Sprintf("%s/%s", v.Op, v.Key)
	if v.PerChannel {
		s += "/per-channel"
	}
	return s
}

// Table is the operations to draw, and the reference that judges them.
type Table struct {
	operations *refcpu.Table
	signatures []signature
}

// Standard draws the operations of refcpu.Standard.
func Standard() *Table { return &Table{refcpu.Standard(), signatures} }

// Variants lists the possible draws: every operation that has a signature and an implementation in the reference CPU,
// in the types of its row.
func (t *Table) Variants() []Variant {
	var list []Variant
	for i := range t.signatures {
		s := &t.signatures[i]
		r := t.operations.Spec().Lookup(s.op)
		if r == nil || !t.operations.Supported(s.op) {
			continue
		}
		for _, k := range r.KeyTypes() {
			list = append(list, Variant{Op: s.op, Key: k, sig: s})
			if s.filter && k.IsQuant8() {
				list = append(list, Variant{Op: s.op, Key: k, PerChannel: true, sig: s})
			}
		}
	}
	return list
}

// Variants returns the variants that Standard has.
func Variants() []Variant { return Standard().Variants() }
