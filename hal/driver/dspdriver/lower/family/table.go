// Package family lowers the operations of NNAPI for the DSP: one file per family of operations, one
// table from operation to function (table.go).
package family

import (
	"slices"
	"sync"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/elementwise"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/lower"
	"github.com/nnsoc/nnsoc/hal/driver/graph/legal"
	"github.com/nnsoc/nnsoc/hal/driver/graph/pass"
	"github.com/nnsoc/nnsoc/isa/hexagon"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// lowering is a function that a row of the table names.
type lowering = legal.Lower[*lower.Lowering]

// row is a row of the table of legalization, and the forms of values that its lowering accepts.
type row struct {
	Operations legal.Operations
	Types      legal.Types
	Action     legal.Action[*lower.Lowering]
	Rules      []legal.Rule
	Differs    string
	Forms      lower.Accepts
}

// read lowers by a function of an operation's parameters, which ends by package try where it cannot.
func read[P any](f func(l *lower.Lowering, op *nn.Operation, p P)) lowering {
	return legal.Read(func(l *lower.Lowering, op *nn.Operation, p P) error { f(l, op, p); return nil })
}

// by lowers by a function that ends in the same way.
func by(f func(l *lower.Lowering, op *nn.Operation)) lowering {
	return func(l *lower.Lowering, op *nn.Operation) error { f(l, op); return nil }
}

func refuses(why string) legal.Action[*lower.Lowering] { return legal.Refuse[*lower.Lowering](why) }

// passes make a model canonical for the DSP.
var passes = pass.NewPipeline(pass.ResolveShapes, pass.FoldConstants, pass.ConvertNCHW, pass.CancelTransposes,
	pass.ExpandBatchMatmul, pass.ExplicitPadding, pass.FuseActivations, pass.RemoveDeadOperations)

// Table is the table of what the DSP accepts.
var Table = sync.OnceValue(func() *legal.Table[*lower.Lowering] {
	return legal.Must(legal.New(config(), legalRows()...))
})

// config is what holds for all rows.
func config() legal.Config {
	return legal.Config{Device: "this DSP", Passes: passes, Deferred: legal.DeferredInputs, Rules: []legal.Rule{onIntegers, legal.ChannelsLast}}
}

// legalRows are all rows without the forms of their inputs.
func legalRows() (rows []legal.Row[*lower.Lowering]) {
	for _, r := range allRows() {
		rows = append(rows, legal.Row[*lower.Lowering]{Operations: r.Operations, Types: r.Types, Action: r.Action, Rules: r.Rules, Differs: r.Differs})
	}
	return rows
}

// All is the tables of the families of operations.
var All = sync.OnceValue(func() lower.Families { return lower.Families{Table: Table(), Forms: accepted()} })

// accepted are the forms that the lowerings of operations accept.
var accepted = sync.OnceValue(func() map[nn.OperationType]lower.Accepts {
	forms := map[nn.OperationType]lower.Accepts{}
	for _, r := range allRows() {
		for _, op := range r.Operations {
			f := forms[op]
			forms[op] = lower.Accepts{Pitched: f.Pitched || r.Forms.Pitched, Plain: f.Plain || r.Forms.Plain, Ragged: f.Ragged || r.Forms.Ragged, Makes: f.Makes || r.Forms.Makes, Small: f.Small || r.Forms.Small}
		}
	}
	return forms
})

func allRows() []row {
	return slices.Concat(productRows, elementwiseRows, wordRows, reductionRows, moveRows, detectionRows, codeRows(), refusedRows)
}

// Sets of element types.
var (
	words       = legal.Bytes.Or(legal.Integers)
	allIntegers = words.Or(legal.Booleans, legal.Of(nn.TensorQuant8Symm, nn.TensorQuant16Symm, nn.TensorQuant16Asymm))
)

var (
	productRules = []legal.Rule{maxShift, maxFilter, maxPacked}
	anyForm      = lower.Accepts{Pitched: true, Small: true, Plain: true, Ragged: true, Makes: true}
	small        = lower.Accepts{Pitched: true, Small: true}
	joins        = lower.Accepts{Pitched: true, Plain: true, Ragged: true, Makes: true}
	plain        = lower.Accepts{Pitched: true, Plain: true}
	ragged       = lower.Accepts{Pitched: true, Plain: true, Ragged: true}
	usual        = lower.Accepts{Pitched: true}
)

var productRows = []row{
	{Operations: legal.Ops(nn.OpConv2D), Types: legal.Bytes, Action: legal.Legal(read(lowerConv)), Rules: productRules, Forms: small},
	{Operations: legal.Ops(nn.OpDepthwiseConv2D), Types: legal.Bytes, Action: legal.Legal(read(lowerConv)), Rules: productRules, Forms: usual}, // or small, see accepts
	{Operations: legal.Ops(nn.OpGroupedConv2D), Types: legal.Bytes, Action: legal.Legal(read(lowerGroupedConv)), Rules: productRules, Forms: usual},
	{Operations: legal.Ops(nn.OpTransposeConv2D), Types: legal.Bytes, Action: legal.Legal(read(lowerTransposeConv)), Rules: productRules, Forms: usual},
	{Operations: legal.Ops(nn.OpFullyConnected), Types: legal.Bytes, Action: legal.Legal(read(lowerFullyConnected)), Rules: productRules, Forms: plain},
	{Operations: legal.Ops(nn.OpBatchMatmul), Types: legal.Integers, Action: legal.Legal(read(lowerBatchMatmul)), Rules: []legal.Rule{maxBytes}},
	{Operations: legal.Ops(nn.OpBatchMatmul), Types: legal.Of(nn.TensorQuant8AsymmSigned), Rules: []legal.Rule{maxBytes},
		Action: legal.Legal(read(lowerBatchMatmul)).Or(pass.ExpandBatchMatmul, nn.OpFullyConnected, nn.OpConcatenation, nn.OpSlice, nn.OpReshape, nn.OpTranspose)},
	{Operations: legal.Ops(nn.OpAveragePool2D), Types: legal.Bytes, Action: legal.Legal(read(lowerPool)), Rules: []legal.Rule{maxAveraged}, Forms: ragged},
	{Operations: legal.Ops(nn.OpMaxPool2D), Types: legal.Bytes, Action: legal.Legal(read(lowerPool)), Forms: ragged},
	{Operations: legal.Ops(nn.OpQuantized16bitLstm), Types: legal.Bytes, Action: legal.Legal(read(lowerLstm16)), Rules: []legal.Rule{maxBytes}},
	{Operations: legal.Ops(nn.OpQuantizedLstm), Types: legal.Bytes, Action: legal.Legal(read(lowerLstm8)), Rules: []legal.Rule{maxBytes, hiddenZero}},
}

var elementwiseRows = []row{
	{Operations: legal.Ops(nn.OpAdd), Types: legal.Bytes, Action: legal.Legal(read(lowerAdd)), Forms: anyForm},
	{Operations: legal.Ops(nn.OpSub), Types: legal.Bytes, Action: legal.Legal(read(lowerAdd)), Forms: anyForm},
	{Operations: legal.Ops(nn.OpMul), Types: legal.Bytes, Action: legal.Legal(read(lowerMul)), Forms: anyForm},
	{Operations: legal.Ops(nn.OpMaximum), Types: legal.Bytes, Action: legal.Legal(extreme(hexagon.V6_vmaxub))},
	{Operations: legal.Ops(nn.OpMinimum), Types: legal.Bytes, Action: legal.Legal(extreme(hexagon.V6_vminub))},
	{Operations: legal.Ops(nn.OpRelu, nn.OpRelu1, nn.OpRelu6), Types: legal.Bytes, Action: legal.Legal(read(lowerClamp)), Forms: anyForm},
	{Operations: legal.Ops(opspec.Tabled()...), Types: legal.Bytes, Action: legal.Legal(read(lowerByTable)), Forms: anyForm},
	{Operations: legal.Ops(nn.OpQuantize16, nn.OpDequantize16), Types: legal.All, Action: refuses("no kernel converts between reals and 16 bits")},
	{Operations: legal.Ops(nn.OpQuantize), Types: legal.Floats, Action: legal.Legal(read(lowerQuantize)), Forms: anyForm},
	{Operations: legal.Ops(nn.OpDequantize), Types: legal.All, Action: legal.Legal(by(lowerDequantize)), Rules: []legal.Rule{channelScales, lower.MaxRuns}},
	{Operations: legal.Ops(nn.OpCast), Types: allIntegers.Or(legal.Of(nn.TensorFloat32)), Action: legal.Legal(read(lowerCast)), Rules: []legal.Rule{castTypes}},
	{Operations: legal.Ops(nn.OpPrelu), Types: legal.Bytes, Action: legal.Legal(read(lowerPrelu))},
	{Operations: legal.Ops(nn.OpSelect), Types: words, Action: legal.Legal(read(lowerSelect))},
	{Operations: legal.Ops(nn.OpEqual), Types: words.Or(legal.Booleans), Action: legal.Legal(compares(comparison{relation: equal}))},
	{Operations: legal.Ops(nn.OpNotEqual), Types: words.Or(legal.Booleans), Action: legal.Legal(compares(comparison{relation: equal, not: true}))},
	{Operations: legal.Ops(nn.OpGreater), Types: words.Or(legal.Booleans), Action: legal.Legal(compares(comparison{relation: greater}))},
	{Operations: legal.Ops(nn.OpLess), Types: words.Or(legal.Booleans), Action: legal.Legal(compares(comparison{relation: greater, swap: true}))},
	{Operations: legal.Ops(nn.OpLessEqual), Types: words.Or(legal.Booleans), Action: legal.Legal(compares(comparison{relation: greater, not: true}))},
	{Operations: legal.Ops(nn.OpGreaterEqual), Types: words.Or(legal.Booleans), Action: legal.Legal(compares(comparison{relation: greater, swap: true, not: true}))},
	{Operations: legal.Ops(nn.OpLogicalAnd), Types: legal.Booleans, Action: legal.Legal(logical(hexagon.V6_vand))},
	{Operations: legal.Ops(nn.OpLogicalOr), Types: legal.Booleans, Action: legal.Legal(logical(hexagon.V6_vor))},
	{Operations: legal.Ops(nn.OpLogicalNot), Types: legal.Booleans, Action: legal.Legal(by(lowerNot))},
}

// wordRows are operations on TENSOR_INT32.
var wordRows = []row{
	{Operations: legal.Ops(nn.OpAdd), Types: legal.Integers, Action: legal.Legal(onWords(elementwise.Instruction{Op: hexagon.V6_vaddw}))},
	{Operations: legal.Ops(nn.OpSub), Types: legal.Integers, Action: legal.Legal(onWords(elementwise.Instruction{Op: hexagon.V6_vsubw}))},
	{Operations: legal.Ops(nn.OpMul), Types: legal.Integers, Action: legal.Legal(onWords(elementwise.MulWords{}))},
	{Operations: legal.Ops(nn.OpDiv), Types: legal.Integers, Action: legal.Legal(onWords(elementwise.DivWords{}))},
	{Operations: legal.Ops(nn.OpMaximum), Types: legal.Integers, Action: legal.Legal(onWords(elementwise.Instruction{Op: hexagon.V6_vmaxw}))},
	{Operations: legal.Ops(nn.OpMinimum), Types: legal.Integers, Action: legal.Legal(onWords(elementwise.Instruction{Op: hexagon.V6_vminw}))},
	{Operations: legal.Ops(nn.OpAbs), Types: legal.Integers, Action: legal.Legal(by(lowerAbs))},
	{Operations: legal.Ops(nn.OpNeg), Types: legal.Integers, Action: legal.Legal(by(lowerNeg))},
	{Operations: legal.Ops(nn.OpFill), Types: legal.Integers, Action: legal.Legal(read(lowerFill)), Rules: []legal.Rule{someElements}},
}

var reductionRows = []row{
	{Operations: legal.Ops(nn.OpMean), Types: legal.Bytes, Action: legal.Legal(read(lowerMean)), Forms: ragged},
	{Operations: legal.Ops(nn.OpReduceMax), Types: legal.Bytes, Action: legal.Legal(fold(hexagon.V6_vmaxub)), Rules: []legal.Rule{maxBytes}},
	{Operations: legal.Ops(nn.OpReduceMin), Types: legal.Bytes, Action: legal.Legal(fold(hexagon.V6_vminub)), Rules: []legal.Rule{maxBytes}},
	{Operations: legal.Ops(nn.OpReduceAny), Types: legal.Booleans, Action: legal.Legal(fold(hexagon.V6_vmaxub)), Rules: []legal.Rule{maxBytes}},
	{Operations: legal.Ops(nn.OpReduceAll), Types: legal.Booleans, Action: legal.Legal(fold(hexagon.V6_vminub)), Rules: []legal.Rule{maxBytes}},
	{Operations: legal.Ops(nn.OpArgmax), Types: words, Action: legal.Legal(argument(false)), Rules: []legal.Rule{maxBytes}},
	{Operations: legal.Ops(nn.OpArgmin), Types: words, Action: legal.Legal(argument(true)), Rules: []legal.Rule{maxBytes}},
	{Operations: legal.Ops(nn.OpL2Normalization), Types: legal.Bytes, Action: legal.Legal(read(lowerNorm)), Rules: []legal.Rule{maxNormed}},
	{Operations: legal.Ops(nn.OpSoftmax), Types: legal.Bytes, Action: legal.Legal(read(lowerSoftmax)), Rules: []legal.Rule{maxExponentials}, Forms: plain},
	{Operations: legal.Ops(nn.OpTopkV2), Types: words, Action: legal.Legal(read(lowerTopK)), Rules: []legal.Rule{maxBytes}},
}

var moveRows = []row{
	{Operations: legal.Ops(nn.OpReshape), Types: words, Action: legal.Legal(read(lowerReshape))},
	{Operations: legal.Ops(nn.OpSqueeze), Types: legal.Bytes, Action: legal.Legal(read(lowerReshape))},
	{Operations: legal.Ops(nn.OpExpandDims), Types: words, Action: legal.Legal(read(lowerAlias))},
	{Operations: legal.Ops(nn.OpPad), Types: legal.Bytes, Action: legal.Legal(read(lowerPad)), Rules: []legal.Rule{maxRank}, Forms: small},
	{Operations: legal.Ops(nn.OpPadV2), Types: legal.Bytes, Action: legal.Legal(read(lowerPadV2)), Rules: []legal.Rule{maxBytes}},
	{Operations: legal.Ops(nn.OpMirrorPad), Types: words, Action: legal.Legal(read(lowerMirrorPad)), Rules: []legal.Rule{lower.MaxRuns}},
	{Operations: legal.Ops(nn.OpConcatenation), Types: legal.Bytes, Action: legal.Legal(read(lowerConcat)), Rules: []legal.Rule{maxRank}, Forms: joins},
	{Operations: legal.Ops(nn.OpTranspose), Types: legal.Bytes, Action: legal.Legal(read(lowerTranspose)), Rules: []legal.Rule{lower.MaxRuns}, Forms: small},
	{Operations: legal.Ops(nn.OpStridedSlice, nn.OpDepthToSpace, nn.OpSpaceToDepth, nn.OpBatchToSpaceNd, nn.OpSpaceToBatchNd, nn.OpChannelShuffle),
		Types: legal.Bytes, Action: legal.Legal(read(lowerStrided)), Rules: []legal.Rule{lower.MaxRuns}},
	{Operations: legal.Ops(nn.OpSlice, nn.OpReverse), Types: words, Action: legal.Legal(read(lowerStrided)), Rules: []legal.Rule{lower.MaxRuns}},
	{Operations: legal.Ops(nn.OpSplit), Types: words, Action: legal.Legal(read(lowerSplit)), Rules: []legal.Rule{lower.MaxRuns}},
	{Operations: legal.Ops(nn.OpTile), Types: words, Action: legal.Legal(read(lowerTile)), Rules: []legal.Rule{lower.MaxRuns}},
	{Operations: legal.Ops(nn.OpPack), Types: words, Action: legal.Legal(read(lowerPack)), Rules: []legal.Rule{lower.MaxRuns}},
	{Operations: legal.Ops(nn.OpGather, nn.OpEmbeddingLookup), Types: words, Action: legal.Legal(read(lowerGather)), Rules: []legal.Rule{lower.MaxRuns, maxBytes}},
	{Operations: legal.Ops(nn.OpHashtableLookup), Types: words, Action: legal.Legal(read(lowerHashtable)), Rules: []legal.Rule{maxBytes}},
	{Operations: legal.Ops(nn.OpDensify), Types: allIntegers, Action: legal.Legal(read(lowerDensify)), Rules: []legal.Rule{lower.MaxRuns}},
	{Operations: legal.Ops(nn.OpResizeNearestNeighbor), Types: legal.Bytes, Action: legal.Legal(read(lowerNearest)), Rules: []legal.Rule{someElements, maxBytes}},
	{Operations: legal.Ops(nn.OpResizeBilinear), Types: legal.Bytes, Action: legal.Legal(read(lowerBilinear)), Rules: []legal.Rule{someElements}, Differs: "1 LSB of more than 2^14 elements (D-74)"},
	{Operations: legal.Ops(nn.OpRank), Types: allIntegers.Or(legal.Of(nn.TensorQuant8SymmPerChannel)), Action: legal.Legal(read(lowerRank))},
}

var detectionRows = []row{
	{Operations: legal.Ops(nn.OpRoiAlign), Types: legal.Bytes, Action: legal.Legal(regions(true)), Rules: []legal.Rule{maxRegions, minStride}},
	{Operations: legal.Ops(nn.OpRoiPooling), Types: legal.Bytes, Action: legal.Legal(regions(false)), Rules: []legal.Rule{maxRegions, minStride}},
	{Operations: legal.Ops(nn.OpHeatmapMaxKeypoint), Types: legal.Bytes, Action: legal.Legal(read(lowerHeatmap)), Rules: []legal.Rule{maxMaps}},
	{Operations: legal.Ops(nn.OpAxisAlignedBboxTransform), Types: legal.Of(nn.TensorQuant16Asymm), Action: legal.Legal(read(lowerBoxTransform)), Rules: []legal.Rule{byteDeltas}},
	{Operations: legal.Ops(nn.OpBoxWithNmsLimit), Types: legal.Bytes, Action: legal.Legal(read(lowerNms)), Rules: []legal.Rule{maxSuppression}},
	{Operations: legal.Ops(nn.OpGenerateProposals), Types: legal.Bytes, Action: legal.Legal(read(lowerProposals)), Rules: []legal.Rule{maxProposals}},
}

// refusedRows are the operations that call subgraphs, and those of the types that the DSP lacks: an operation of other types that
// no row names is a mistake of the table.
var refusedRows = []row{
	{Operations: legal.Ops(nn.OpIf, nn.OpWhile), Types: legal.All, Action: legal.Control[*lower.Lowering]()},
	{Operations: legal.Others, Types: legal.Floats, Action: refuses("this DSP computes on integers")},
}

// codeRows are the operations of extensions that have codes.
func codeRows() (rows []row) {
	for _, e := range nn.CodeExtensions() {
		rows = append(rows, row{Operations: legal.Ops(e.Decode()), Types: legal.Of(e.Type()), Action: legal.Legal(read(lowerDecode)), Forms: anyForm})
	}
	return rows
}
