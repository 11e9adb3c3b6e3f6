// Package family lowers the operations of NNAPI for the NPU: one file per family of operations, one
// table from operation to function (table.go).
package family

import (
	"slices"
	"sync"

	"github.com/nnsoc/nnsoc/hal/driver/graph/legal"
	"github.com/nnsoc/nnsoc/hal/driver/graph/pass"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/lower"
	"github.com/nnsoc/nnsoc/isa/ethosu"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// lowering is a function that a row of the table names.
type lowering = legal.Lower[*lower.Lowering]

type row = legal.Row[*lower.Lowering]

func expands(pass string, into ...nn.OperationType) legal.Action[*lower.Lowering] {
	return legal.Expand[*lower.Lowering](pass, into...)
}

// read lowers by a function of an operation's parameters, which ends by package try where it cannot.
func read[P any](f func(l *lower.Lowering, op *nn.Operation, p P)) legal.Lower[*lower.Lowering] {
	return legal.Read(func(l *lower.Lowering, op *nn.Operation, p P) error { f(l, op, p); return nil })
}

// by lowers by a function that ends in the same way.
func by(f func(l *lower.Lowering, op *nn.Operation)) legal.Lower[*lower.Lowering] {
	return func(l *lower.Lowering, op *nn.Operation) error { f(l, op); return nil }
}

func refuses(why string) legal.Action[*lower.Lowering] { return legal.Refuse[*lower.Lowering](why) }

// passes make a model canonical for the NPU.
var passes = pass.NewPipeline(pass.ResolveShapes, pass.FoldConstants, pass.ConvertNCHW, pass.CancelTransposes,
	pass.ExpandGroupedConv, pass.ExpandTransposeConv, pass.ExpandNearest, pass.ExpandMirrorPad, pass.ExpandSplit, pass.ExpandBatchMatmul,
	pass.AxisLast, pass.JoinReducedAxes, pass.ExplicitPadding, pass.FoldPadding, pass.FuseActivations, pass.RemoveDeadOperations)

// Table has the operations that the NPU accepts.
var Table = sync.OnceValue(func() *legal.Table[*lower.Lowering] {
	return legal.Must(legal.New(config(), allRows()...))
})

// config is what holds for all rows.
func config() legal.Config {
	return legal.Config{Device: "this NPU", Passes: passes, Deferred: knownParameters,
		Rules: []legal.Rule{legal.Stored(moved.Or(otherQuantized, legal.Of(nn.TensorQuant8SymmPerChannel))), legal.ChannelsLast}}
}

func allRows() []row {
	return slices.Concat(productRows, elementwiseRows, reductionRows, moveRows, refusedRows)
}

// moved are the types of elements that can be copied.
var moved = legal.Bytes.Or(legal.Integers, legal.Booleans)

// otherQuantized are the types of quantized tensors that few operations support.
var otherQuantized = legal.Of(nn.TensorQuant8Symm, nn.TensorQuant16Symm, nn.TensorQuant16Asymm)

var convRules = []legal.Rule{sumsFit, maxTaps, paddingRegisters, maxBatches, maxPatches, maxMultiplied, maxProducts, outputScale}

var productRows = []row{
	{Operations: legal.Ops(nn.OpConv2D), Types: legal.Bytes, Action: legal.Legal(read(lowerConv)), Rules: convRules},
	{Operations: legal.Ops(nn.OpDepthwiseConv2D), Types: legal.Bytes, Action: legal.Legal(read(lowerConv)), Rules: convRules},
	{Operations: legal.Ops(nn.OpGroupedConv2D), Types: legal.Bytes, Action: expands(pass.ExpandGroupedConv, nn.OpConv2D, nn.OpConcatenation, nn.OpSlice), Rules: []legal.Rule{sumsFit}},
	{Operations: legal.Ops(nn.OpTransposeConv2D), Types: legal.Bytes, Action: expands(pass.ExpandTransposeConv, nn.OpConv2D, nn.OpConcatenation, nn.OpReverse), Rules: []legal.Rule{sumsFit}},
	{Operations: legal.Ops(nn.OpBatchMatmul), Types: legal.Of(nn.TensorQuant8AsymmSigned),
		Action: expands(pass.ExpandBatchMatmul, nn.OpFullyConnected, nn.OpConcatenation, nn.OpSlice, nn.OpReshape, nn.OpTranspose)},
	{Operations: legal.Ops(nn.OpFullyConnected), Types: legal.Bytes, Action: legal.Legal(read(lowerFullyConnected)), Rules: []legal.Rule{sumsFit, maxProducts, outputScale}},
	{Operations: legal.Ops(nn.OpQuantized16bitLstm), Types: legal.Bytes, Action: legal.Legal(read(lowerLstm16)), Rules: []legal.Rule{gateSums, maxProducts}},
	{Operations: legal.Ops(nn.OpQuantizedLstm), Types: legal.Bytes, Action: legal.Legal(read(lowerLstm8)), Rules: []legal.Rule{gateSums, maxProducts, hiddenZero, maxNormalized}},
	{Operations: legal.Ops(nn.OpAveragePool2D), Types: legal.Bytes, Action: legal.Legal(pooling(true)), Rules: []legal.Rule{maxPoolWindow, paddingRegisters, maxBatches, maxWindows}},
	{Operations: legal.Ops(nn.OpMaxPool2D), Types: legal.Bytes, Action: legal.Legal(pooling(false)), Rules: []legal.Rule{maxPoolWindow, paddingRegisters, maxBatches, maxWindows}},
}

var elementwiseRows = []row{
	{Operations: legal.Ops(nn.OpAdd), Types: legal.Bytes, Action: legal.Legal(read(lowerAdd)), Rules: []legal.Rule{similarScales, maxGroups}},
	{Operations: legal.Ops(nn.OpSub), Types: legal.Bytes, Action: legal.Legal(by(lowerSub)), Rules: []legal.Rule{similarScales}},
	{Operations: legal.Ops(nn.OpMul), Types: legal.Bytes, Action: legal.Legal(read(lowerMul)), Rules: []legal.Rule{outputScale, maxGroups}},
	{Operations: legal.Ops(nn.OpMaximum), Types: legal.Bytes, Action: legal.Legal(extreme(ethosu.EltMax))},
	{Operations: legal.Ops(nn.OpMinimum), Types: legal.Bytes, Action: legal.Legal(extreme(ethosu.EltMin))},
	{Operations: legal.Ops(nn.OpPrelu), Types: legal.Bytes, Action: legal.Legal(by(lowerPrelu)), Rules: []legal.Rule{slopeScales}},
	// A comparison by its results for a < b, a = b and a > b.
	{Operations: legal.Ops(nn.OpEqual), Types: legal.Bytes, Action: legal.Legal(comparison(0, 1, 0))},
	{Operations: legal.Ops(nn.OpNotEqual), Types: legal.Bytes, Action: legal.Legal(comparison(1, 0, 1))},
	{Operations: legal.Ops(nn.OpLess), Types: legal.Bytes, Action: legal.Legal(comparison(1, 0, 0))},
	{Operations: legal.Ops(nn.OpLessEqual), Types: legal.Bytes, Action: legal.Legal(comparison(1, 1, 0))},
	{Operations: legal.Ops(nn.OpGreater), Types: legal.Bytes, Action: legal.Legal(comparison(0, 0, 1))},
	{Operations: legal.Ops(nn.OpGreaterEqual), Types: legal.Bytes, Action: legal.Legal(comparison(0, 1, 1))},
	{Operations: legal.Ops(nn.OpLogicalAnd), Types: legal.Booleans, Action: legal.Legal(logical(ethosu.EltMin))},
	{Operations: legal.Ops(nn.OpLogicalOr), Types: legal.Booleans, Action: legal.Legal(logical(ethosu.EltMax))},
	{Operations: legal.Ops(nn.OpLogicalNot), Types: legal.Booleans, Action: legal.Legal(read(lowerNot))},
	{Operations: legal.Ops(nn.OpSelect), Types: legal.Bytes, Action: legal.Legal(read(lowerChoose)), Rules: []legal.Rule{factors}},
	{Operations: legal.Ops(opspec.Tabled()...), Types: legal.Bytes, Action: legal.Legal(read(lowerByTable))},
	{Operations: legal.Ops(nn.OpRelu, nn.OpRelu1, nn.OpRelu6), Types: legal.Bytes, Action: legal.Legal(read(lowerRelu))},
	{Operations: legal.Ops(nn.OpCast), Types: moved.Or(otherQuantized), Action: legal.Legal(read(lowerCast)), Rules: []legal.Rule{factors, castTypes}},
}

var reductionRows = []row{
	{Operations: legal.Ops(nn.OpSoftmax), Types: legal.Bytes, Action: legal.Legal(read(lowerSoftmax)), Rules: []legal.Rule{lastAxis}},
	{Operations: legal.Ops(nn.OpMean), Types: legal.Bytes, Action: legal.Legal(read(lowerMean)), Rules: []legal.Rule{adjacentAxes, maxMeanWindow, smallMean}},
	{Operations: legal.Ops(nn.OpReduceMax), Types: legal.Bytes, Action: legal.Legal(reduction(ethosu.EltMax)), Rules: []legal.Rule{smallMove}},
	{Operations: legal.Ops(nn.OpReduceMin), Types: legal.Bytes, Action: legal.Legal(reduction(ethosu.EltMin)), Rules: []legal.Rule{smallMove}},
	{Operations: legal.Ops(nn.OpReduceAny), Types: legal.Booleans, Action: legal.Legal(reduction(ethosu.EltMax)), Rules: []legal.Rule{smallMove}},
	{Operations: legal.Ops(nn.OpReduceAll), Types: legal.Booleans, Action: legal.Legal(reduction(ethosu.EltMin)), Rules: []legal.Rule{smallMove}},
	{Operations: legal.Ops(nn.OpArgmax), Types: legal.Bytes, Action: legal.Legal(indexOf(ethosu.EltMax)), Rules: []legal.Rule{lastAxis}},
	{Operations: legal.Ops(nn.OpArgmin), Types: legal.Bytes, Action: legal.Legal(indexOf(ethosu.EltMin)), Rules: []legal.Rule{lastAxis}},
	{Operations: legal.Ops(nn.OpTopkV2), Types: legal.Bytes.Or(legal.Integers), Action: legal.Legal(read(lowerTopK)), Rules: []legal.Rule{maxRanked}},
	{Operations: legal.Ops(nn.OpL2Normalization), Types: legal.Bytes, Action: legal.Legal(read(lowerL2Normalize)), Rules: []legal.Rule{lastAxis, maxSquares, middleZero}},
}

var moveRows = []row{
	{Operations: legal.Ops(nn.OpConcatenation, nn.OpPack), Types: moved, Action: legal.Legal(read(lowerConcat))},
	{Operations: legal.Ops(nn.OpTile), Types: moved, Action: legal.Legal(read(lowerTile)), Rules: []legal.Rule{maxCopies, smallMove}},
	{Operations: legal.Ops(nn.OpDensify), Types: moved.Or(otherQuantized), Action: legal.Legal(read(lowerDensify)), Rules: []legal.Rule{constantTree, distinctIndices, maxRuns, smallMove}},
	{Operations: legal.Ops(nn.OpGather, nn.OpEmbeddingLookup), Types: moved, Action: legal.Legal(read(lowerGatherRows)), Rules: []legal.Rule{constantIndices, maxRuns}},
	{Operations: legal.Ops(nn.OpReshape, nn.OpSqueeze, nn.OpExpandDims), Types: moved, Action: legal.Legal(read(lowerAlias)), Rules: []legal.Rule{smallMove}},
	{Operations: legal.Ops(nn.OpPad, nn.OpPadV2), Types: moved, Action: legal.Legal(read(lowerPad)), Rules: []legal.Rule{constantPadding, maxCopies, smallMove}},
	{Operations: legal.Ops(nn.OpTranspose, nn.OpSlice, nn.OpStridedSlice, nn.OpDepthToSpace, nn.OpSpaceToDepth, nn.OpBatchToSpaceNd, nn.OpSpaceToBatchNd,
		nn.OpChannelShuffle, nn.OpReverse), Types: moved, Action: legal.Legal(read(lowerStrided)), Rules: []legal.Rule{maxCopies, smallMove}},
	{Operations: legal.Ops(nn.OpResizeBilinear), Types: legal.Bytes, Action: legal.Legal(read(lowerBilinear)), Rules: []legal.Rule{fractionalWeights, noTies, maxBlended}},
	{Operations: legal.Ops(nn.OpResizeNearestNeighbor), Types: legal.Bytes, Action: expands(pass.ExpandNearest, nn.OpGather, nn.OpReshape)},
	{Operations: legal.Ops(nn.OpMirrorPad), Types: moved, Action: expands(pass.ExpandMirrorPad, nn.OpGather, nn.OpReshape), Rules: []legal.Rule{smallMove}},
	{Operations: legal.Ops(nn.OpSplit), Types: moved, Action: expands(pass.ExpandSplit, nn.OpSlice)},
}

// refusedRows are the operations that the NPU does not have. The last row takes the types alone that it neither computes on nor
// moves: an operation of other types that no row names is a mistake of the table.
var refusedRows = []row{
	{Operations: legal.Ops(nn.OpBoxWithNmsLimit, nn.OpGenerateProposals), Types: moved, Action: refuses("the NPU has no loops and shapes that depend on data")},
	{Operations: legal.Ops(nn.OpRoiAlign, nn.OpRoiPooling, nn.OpHeatmapMaxKeypoint), Types: legal.Bytes, Action: refuses("the NPU has no addresses that depend on data")},
	{Operations: legal.Ops(nn.OpHashtableLookup), Types: moved, Action: refuses("the NPU does not search for keys")},
	{Operations: legal.Ops(nn.OpBatchMatmul), Types: legal.Integers, Action: refuses("the NPU multiplies bytes")},
	{Operations: legal.Ops(nn.OpDequantize), Types: legal.All, Action: refuses("the NPU has no floating point")},
	{Operations: legal.Ops(nn.OpRank), Types: legal.All, Action: refuses("the NPU has no scalars")},
	{Operations: legal.Ops(nn.OpIf, nn.OpWhile), Types: legal.All, Action: legal.Control[*lower.Lowering]()},
	{Operations: legal.Ops(nn.OpQuantize16, nn.OpDequantize16), Types: legal.All, Action: refuses("the NPU has no floating point")},
	{Operations: legal.Ops(nn.OpAbs, nn.OpAdd, nn.OpArgmax, nn.OpArgmin, nn.OpDiv, nn.OpFill, nn.OpMaximum, nn.OpMinimum, nn.OpMul, nn.OpNeg, nn.OpSelect, nn.OpSub),
		Types: legal.Integers, Action: refuses(lower.OnBytes.Text)},
	{Operations: legal.Ops(nn.OpEqual, nn.OpNotEqual, nn.OpLess, nn.OpLessEqual, nn.OpGreater, nn.OpGreaterEqual), Types: legal.Integers.Or(legal.Booleans), Action: refuses(lower.OnBytes.Text)},
	{Operations: legal.Ops(nn.OpAxisAlignedBboxTransform), Types: legal.Of(nn.TensorQuant16Asymm), Action: refuses(lower.OnBytes.Text)},
	{Operations: legal.Others, Types: legal.Floats.Or(legal.Codes()), Action: refuses(lower.OnBytes.Text)},
}
