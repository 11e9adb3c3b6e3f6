// Package family lowers the operations of NNAPI for the GPU: one file per family of operations, one
// table from operation to function (table.go).
package family

import (
	"slices"
	"sync"

	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/recurrent"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/lower"
	"github.com/nnsoc/nnsoc/hal/driver/graph/legal"
	"github.com/nnsoc/nnsoc/hal/driver/graph/pass"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// lowering is a function that a row of the table names.
type lowering = legal.Lower[*lower.Lowering]

// read lowers by a function of an operation's parameters, which ends by package try where it cannot.
func read[P any](f func(l *lower.Lowering, op *nn.Operation, p P)) lowering {
	return legal.Read(func(l *lower.Lowering, op *nn.Operation, p P) error { f(l, op, p); return nil })
}

// refuse ends a lowering where a rule is broken.
func refuse(broken bool, r legal.Rule, format string, values ...any) {
	if broken {
		try.E(r.Broken(format, values...))
	}
}

// asReals lowers by kernels that convert quantized tensors to TENSOR_FLOAT32, and results back.
func asReals(f lowering) legal.Action[*lower.Lowering] { return legal.Widen(nn.TensorFloat32, f) }

func refuses(why string) legal.Action[*lower.Lowering] { return legal.Refuse[*lower.Lowering](why) }

// Limits of lowerings: rows of the table name those that an operation alone has.
var (
	maxSequence    = legal.Limit("sequences of at most %d steps", maxSteps)
	maxNormalized  = legal.Limit("layer normalization of at most %d units", recurrent.MaxFixedNorm)
	maxSummands    = legal.Limit("means over at most %d elements", maxMean)
	maxCompared    = legal.Limit("at most %d keys", maxKeys)
	maxRanking     = legal.Limit("at most %d comparisons", maxRanked)
	maxElements    = legal.Limit("at most %d elements", maxTable)
	maxSuppression = legal.Limit("at most %d boxes and %d pairs of them", maxNmsBoxes, maxNmsPairs)
	maxPairs       = legal.Limit("at most %d pairs of boxes", maxNmsPairs)
	maxDetections  = legal.Limit("at least one of each and a class beside the background")

	maxHashed    = legal.Limit("at most %d MiB hashed for each word of the output", maxHashedBytes>>20)
	channelScale = legal.Limit("each channel needs a scale")
)

// passes make a model canonical for the GPU.
var passes = pass.NewPipeline(pass.ResolveShapes, pass.FoldConstants, pass.ConvertNCHW, pass.CancelTransposes,
	pass.ExpandMirrorPad, pass.ExpandSplit, pass.ExpandGroupedConv, pass.ExpandBatchMatmul, pass.ExplicitPadding, pass.FuseActivations, pass.RemoveDeadOperations)

// Table has the operations that the GPU accepts.
var Table = sync.OnceValue(func() *legal.Table[*lower.Lowering] {
	return legal.Must(legal.New(config(), rows()...))
})

// config is what holds for all rows.
func config() legal.Config {
	return legal.Config{Device: "this GPU", Passes: passes, Deferred: legal.DeferredInputs, Rules: []legal.Rule{lower.Stored(), legal.ChannelsLast}}
}

// numbers are the element types that most kernels compute with.
var numbers = legal.Floats.Or(legal.Bytes)

// rows are a row per family of operations and element types.
func rows() []legal.Row[*lower.Lowering] {
	return slices.Concat(productRows, elementwiseRows, reductionRows, moveRows, otherRows)
}

// Cells are kernels of their own: expanded by pass.ExpandCells, whose products and functions are a launch each, the
// zoo's asr_float takes 1.26 of the cycles on a Pixel 4, tts_float 2.10.
var productRows = []legal.Row[*lower.Lowering]{
	{Operations: legal.Ops(nn.OpConv2D, nn.OpDepthwiseConv2D), Types: numbers, Action: legal.Legal(read(lowerConv))},
	{Operations: legal.Ops(nn.OpGroupedConv2D), Types: numbers, Action: legal.Legal(read(lowerGroupedConv)).Or(pass.ExpandGroupedConv, nn.OpConv2D, nn.OpConcatenation, nn.OpSlice)},
	{Operations: legal.Ops(nn.OpTransposeConv2D), Types: numbers, Action: legal.Legal(read(lowerTransposeConv))},
	{Operations: legal.Ops(nn.OpFullyConnected), Types: numbers, Action: legal.Legal(read(lowerFullyConnected))},
	{Operations: legal.Ops(nn.OpAveragePool2D, nn.OpMaxPool2D), Types: numbers, Action: legal.Legal(read(lowerPool))},
	{Operations: legal.Ops(nn.OpL2Pool2D), Types: legal.Floats, Action: legal.Legal(read(lowerPool))},
	{Operations: legal.Ops(nn.OpRnn, nn.OpUnidirectionalSequenceRnn, nn.OpBidirectionalSequenceRnn), Types: legal.Floats, Action: legal.Legal(read(lowerRnn)), Rules: []legal.Rule{maxSequence}},
	{Operations: legal.Ops(nn.OpLstm, nn.OpUnidirectionalSequenceLstm, nn.OpBidirectionalSequenceLstm), Types: legal.Floats, Action: legal.Legal(read(lowerLstm)), Rules: []legal.Rule{maxSequence}},
	{Operations: legal.Ops(nn.OpSvdf), Types: legal.Floats, Action: legal.Legal(read(lowerSvdf))},
	{Operations: legal.Ops(nn.OpQuantized16bitLstm), Types: legal.All, Action: legal.Legal(read(lowerLstm16))},
	{Operations: legal.Ops(nn.OpQuantizedLstm), Types: legal.All, Action: legal.Legal(read(lowerLstm8)), Rules: []legal.Rule{maxNormalized}},
	{Operations: legal.Ops(nn.OpBatchMatmul), Types: legal.Floats.Or(legal.Of(nn.TensorQuant8AsymmSigned)),
		Action: legal.Expand[*lower.Lowering](pass.ExpandBatchMatmul, nn.OpFullyConnected, nn.OpConcatenation, nn.OpSlice, nn.OpReshape, nn.OpTranspose)},
	{Operations: legal.Ops(nn.OpBatchMatmul), Types: legal.Integers, Action: refuses("products of integers of 32 bits have no kernel on this GPU")},
}

// Operations by functions that are named alike.
var (
	arithmetic  = legal.Ops(nn.OpAdd, nn.OpSub, nn.OpMul, nn.OpDiv, nn.OpMaximum, nn.OpMinimum)
	powers      = legal.Ops(nn.OpPow, nn.OpPrelu)
	extremes    = legal.Ops(nn.OpMaximum, nn.OpMinimum)
	sums        = legal.Ops(nn.OpAdd, nn.OpSub)
	products    = legal.Ops(nn.OpMul)
	slopes      = legal.Ops(nn.OpPrelu)
	comparisons = legal.Ops(nn.OpEqual, nn.OpNotEqual, nn.OpLess, nn.OpLessEqual, nn.OpGreater, nn.OpGreaterEqual)
	logic       = legal.Ops(nn.OpLogicalAnd, nn.OpLogicalOr)
	negation    = legal.Ops(nn.OpLogicalNot)
	signs       = legal.Ops(nn.OpAbs, nn.OpNeg)
	functions   = legal.Ops(nn.OpLogistic, nn.OpTanh, nn.OpAbs, nn.OpNeg, nn.OpFloor, nn.OpSqrt, nn.OpRsqrt, nn.OpExp, nn.OpLog, nn.OpSin, nn.OpElu, nn.OpHardSwish)
)

var elementwiseRows = []legal.Row[*lower.Lowering]{
	{Operations: arithmetic, Types: legal.Floats, Action: legal.Legal(pairwise(arithmetic, "", bounded))},
	{Operations: arithmetic, Types: legal.Integers, Action: legal.Legal(pairwise(arithmetic, "_i32", bounded))},
	{Operations: powers, Types: legal.Floats, Action: legal.Legal(pairwise(powers, "", bounded))},
	{Operations: extremes, Types: legal.Bytes, Action: legal.Legal(pairwise(extremes, "_i32", rescaled))},
	{Operations: sums, Types: legal.Bytes, Action: legal.Legal(pairwise(sums, "_q", sum))},
	{Operations: products, Types: legal.Bytes, Action: legal.Legal(pairwise(products, "_q", product))},
	{Operations: slopes, Types: legal.Bytes, Action: legal.Legal(pairwise(slopes, "_q", slope))},
	{Operations: comparisons, Types: legal.Floats, Action: legal.Legal(pairwise(comparisons, "", bounded))},
	{Operations: comparisons, Types: legal.Integers, Action: legal.Legal(pairwise(comparisons, "_i32", bounded))},
	{Operations: comparisons, Types: legal.Booleans, Action: legal.Legal(pairwise(comparisons, "_i32", truths))},
	{Operations: comparisons, Types: legal.Bytes, Action: asReals(pairwise(comparisons, "", realValues))},
	{Operations: logic, Types: legal.Booleans, Action: legal.Legal(pairwise(logic, "", truths))},
	{Operations: functions, Types: legal.Floats, Action: legal.Legal(unary(functions, ""))},
	{Operations: signs, Types: legal.Integers, Action: legal.Legal(unary(signs, "_i32"))},
	{Operations: negation, Types: legal.Booleans, Action: legal.Legal(unary(negation, ""))},
	{Operations: legal.Ops(nn.OpRelu, nn.OpRelu1, nn.OpRelu6), Types: numbers, Action: legal.Legal(read(lowerClamp))},
	{Operations: legal.Ops(nn.OpSelect), Types: numbers.Or(legal.Integers), Action: legal.Legal(read(lowerChoose))},
	{Operations: legal.Ops(nn.OpQuantize), Types: legal.Floats, Action: legal.Legal(read(lowerQuantize))},
	{Operations: legal.Ops(nn.OpDequantize), Types: legal.All, Action: legal.Legal(read(lowerDequantize))},
	{Operations: legal.Ops(opspec.Tabled()...), Types: legal.Bytes, Action: legal.Legal(read(lowerByTable))},
	{Operations: legal.Ops(nn.OpCast), Types: legal.All, Action: legal.Legal(read(lowerCast))},
}

var reductionRows = []legal.Row[*lower.Lowering]{
	{Operations: legal.Ops(nn.OpReduceSum, nn.OpReduceProd), Types: legal.Floats, Action: legal.Legal(read(lowerFold))},
	{Operations: legal.Ops(nn.OpReduceMax, nn.OpReduceMin), Types: numbers, Action: legal.Legal(read(lowerFold))},
	{Operations: legal.Ops(nn.OpReduceAll, nn.OpReduceAny), Types: legal.Booleans, Action: legal.Legal(read(lowerFold))},
	{Operations: legal.Ops(nn.OpMean), Types: legal.Floats, Action: legal.Legal(read(lowerFold))},
	{Operations: legal.Ops(nn.OpMean), Types: legal.Bytes, Action: legal.Legal(read(lowerFold)), Rules: []legal.Rule{maxSummands}},
	{Operations: legal.Ops(nn.OpArgmax, nn.OpArgmin), Types: numbers.Or(legal.Integers), Action: legal.Legal(read(lowerArgument))},
	{Operations: legal.Ops(nn.OpSoftmax), Types: numbers, Action: legal.Legal(read(lowerSoftmax))},
	{Operations: legal.Ops(nn.OpLogSoftmax), Types: legal.Floats, Action: legal.Legal(read(lowerSoftmax))},
	{Operations: legal.Ops(nn.OpL2Normalization), Types: numbers, Action: legal.Legal(read(lowerL2Norm))},
	{Operations: legal.Ops(nn.OpLocalResponseNormalization), Types: legal.Floats, Action: legal.Legal(read(lowerLocalResponseNorm))},
	{Operations: legal.Ops(nn.OpInstanceNormalization), Types: legal.Floats, Action: legal.Legal(read(lowerInstanceNorm))},
}

var moveRows = []legal.Row[*lower.Lowering]{
	{Operations: legal.Ops(nn.OpReshape, nn.OpSqueeze, nn.OpExpandDims), Types: legal.All, Action: legal.Legal(read(lowerReshape))},
	{Operations: legal.Ops(nn.OpConcatenation, nn.OpPack), Types: legal.All, Action: legal.Legal(read(lowerConcat))},
	{Operations: legal.Ops(nn.OpSplit), Types: legal.All, Action: legal.Expand[*lower.Lowering](pass.ExpandSplit, nn.OpSlice)},
	{Operations: legal.Ops(nn.OpTile), Types: legal.All, Action: legal.Legal(read(lowerTile))},
	{Operations: legal.Ops(nn.OpFill), Types: legal.All, Action: legal.Legal(read(lowerFill))},
	{Operations: legal.Ops(nn.OpPad, nn.OpPadV2), Types: legal.All, Action: legal.Legal(read(lowerPad))},
	{Operations: legal.Ops(nn.OpMirrorPad), Types: legal.All, Action: legal.Expand[*lower.Lowering](pass.ExpandMirrorPad, nn.OpGather, nn.OpReshape)},
	{Operations: legal.Ops(nn.OpTranspose, nn.OpSlice, nn.OpStridedSlice, nn.OpDepthToSpace, nn.OpSpaceToDepth, nn.OpBatchToSpaceNd, nn.OpSpaceToBatchNd,
		nn.OpChannelShuffle, nn.OpReverse), Types: legal.All, Action: legal.Legal(read(lowerStrided))},
	{Operations: legal.Ops(nn.OpGather, nn.OpEmbeddingLookup), Types: legal.All, Action: legal.Legal(read(lowerEntries))},
	{Operations: legal.Ops(nn.OpHashtableLookup), Types: legal.All, Action: legal.Legal(read(lowerHashtable)), Rules: []legal.Rule{maxCompared}},
	{Operations: legal.Ops(nn.OpTopkV2), Types: legal.All, Action: legal.Legal(read(lowerTopK)), Rules: []legal.Rule{maxRanking}},
	{Operations: legal.Ops(nn.OpDensify), Types: legal.All, Action: legal.Legal(read(lowerDensify)), Rules: []legal.Rule{maxElements}},
	{Operations: legal.Ops(nn.OpRank), Types: legal.All, Action: refuses("a scalar has no tensor on this GPU")},
}

var otherRows = []legal.Row[*lower.Lowering]{
	{Operations: legal.Ops(nn.OpResizeBilinear, nn.OpResizeNearestNeighbor), Types: numbers, Action: legal.Legal(read(lowerResize))},
	{Operations: legal.Ops(nn.OpRoiAlign, nn.OpRoiPooling), Types: legal.Floats, Action: legal.Legal(read(lowerRoi))},
	{Operations: legal.Ops(nn.OpRoiAlign, nn.OpRoiPooling), Types: legal.Bytes, Action: asReals(read(lowerRoi))},
	{Operations: legal.Ops(nn.OpHeatmapMaxKeypoint), Types: legal.Floats, Action: legal.Legal(read(lowerHeatmap))},
	{Operations: legal.Ops(nn.OpHeatmapMaxKeypoint), Types: legal.Bytes, Action: asReals(read(lowerHeatmap))},
	{Operations: legal.Ops(nn.OpAxisAlignedBboxTransform), Types: legal.Floats, Action: legal.Legal(read(lowerBoxTransform))},
	{Operations: legal.Ops(nn.OpAxisAlignedBboxTransform), Types: legal.Of(nn.TensorQuant16Asymm), Action: asReals(read(lowerBoxTransform))},
	{Operations: legal.Ops(nn.OpBoxWithNmsLimit), Types: legal.Floats, Action: legal.Legal(read(lowerNms)), Rules: []legal.Rule{maxSuppression}},
	{Operations: legal.Ops(nn.OpBoxWithNmsLimit), Types: legal.Bytes, Action: asReals(read(lowerNms)), Rules: []legal.Rule{maxSuppression}},
	{Operations: legal.Ops(nn.OpGenerateProposals), Types: legal.Floats, Action: legal.Legal(read(lowerProposals)), Rules: []legal.Rule{maxPairs}},
	{Operations: legal.Ops(nn.OpGenerateProposals), Types: legal.Bytes, Action: asReals(read(lowerProposals)), Rules: []legal.Rule{maxPairs}},
	{Operations: legal.Ops(nn.OpDetectionPostprocessing), Types: legal.Floats, Action: legal.Legal(read(lowerDetections)), Rules: []legal.Rule{maxDetections}},
	{Operations: legal.Ops(nn.OpLshProjection), Types: legal.All, Action: legal.Legal(read(lowerLsh)), Rules: []legal.Rule{maxHashed}},
	{Operations: legal.Ops(nn.OpRandomMultinomial), Types: legal.Floats, Action: legal.Legal(read(lowerMultinomial))},
	{Operations: legal.Ops(nn.OpIf, nn.OpWhile), Types: legal.All, Action: legal.Control[*lower.Lowering]()},
	{Operations: legal.Others, Types: legal.Codes(), Action: refuses("codes of an extension have no storage on this GPU")},
	{Operations: legal.Ops(nn.OpQuantize16, nn.OpDequantize16), Types: legal.All, Action: refuses("no kernel converts between reals and 16 bits")},
}
