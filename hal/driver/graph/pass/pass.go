package pass

import (
	"fmt"
	"slices"

	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/nn"
)

// Pass changes a graph without changing what it computes.
type Pass struct {
	Name string
	// Run reports whether it changed g. An error means that the model contradicts
	// itself; g is then of no further use.
	Run func(g *graph.Graph) (changed bool, err error)
	// Joins is set for passes that look at several operations at once. What a driver
	// supports is queried for each operation alone, without them.
	Joins bool
	// Model is set for passes that run on the model as it comes only, not on a stage
	// whose shapes an execution has bound.
	Model bool
	// Rounds is set for passes after which floating point sums may be added up in
	// another order. Integers are the same bit for bit.
	Rounds bool
	// Expands are the operations that it replaces by others; nil is none: it changes their
	// form, or moves data.
	Expands []nn.OperationType
	// After names passes that must run before this one where both are chosen, and
	// why the order of the table is what it is.
	After []string
}

// Names of the passes.
const (
	ResolveShapes        = "resolve shapes"
	FoldConstants        = "fold constants"
	ConvertNCHW          = "NCHW to NHWC"
	CancelTransposes     = "cancel transposes"
	ExpandGroupedConv    = "expand grouped convolution"
	ExpandTransposeConv  = "expand transposed convolution"
	ExpandNearest        = "RESIZE_NEAREST_NEIGHBOR to GATHER"
	ExpandMirrorPad      = "MIRROR_PAD to GATHER"
	ExpandSplit          = "SPLIT to SLICE"
	ExpandNormalizations = "expand normalizations"
	ExpandFunctions      = "expand functions"
	ExpandComparisons    = "comparisons to GREATER"
	ExpandJoins          = "PACK and PAD_V2 to CONCATENATION"
	ExpandBilinear       = "expand bilinear resize"
	ExpandBatchMatmul    = "BATCH_MATMUL to FULLY_CONNECTED"
	ExpandCells          = "expand recurrent cells"
	AxisLast             = "axis last"
	JoinReducedAxes      = "join reduced axes"
	ExplicitPadding      = "explicit padding"
	FoldPadding          = "fold padding"
	FuseActivations      = "fuse activations"
	RemoveDeadOperations = "remove dead operations"
)

// passes is every pass, in the order in which a pipeline runs those it has.
var passes = []Pass{
	{Name: ResolveShapes, Run: resolveShapes, Model: true},
	// A folded constant may be a shape, an axis or a filter.
	{Name: FoldConstants, Run: foldConstants, Joins: true, After: []string{ResolveShapes}},
	// The permutation of an image needs its shape.
	{Name: ConvertNCHW, Run: convertNCHW, After: []string{ResolveShapes}},
	// Most pairs stand between two operations that were NCHW.
	{Name: CancelTransposes, Run: cancelTransposes, Joins: true, After: []string{ConvertNCHW}},
	// Expansions know images in NHWC order only.
	{Name: ExpandGroupedConv, Run: expandGroupedConv, Expands: []nn.OperationType{nn.OpGroupedConv2D}, Rounds: true, After: []string{ConvertNCHW}},
	{Name: ExpandTransposeConv, Run: expandTransposeConv, Expands: []nn.OperationType{nn.OpTransposeConv2D}, Rounds: true, After: []string{ConvertNCHW}},
	{Name: ExpandNearest, Run: expandNearest, Expands: []nn.OperationType{nn.OpResizeNearestNeighbor}, After: []string{ConvertNCHW}},
	{Name: ExpandMirrorPad, Run: expandMirrorPad, Expands: []nn.OperationType{nn.OpMirrorPad}, After: []string{ResolveShapes}},
	{Name: ExpandSplit, Run: expandSplit, Expands: []nn.OperationType{nn.OpSplit}, After: []string{ResolveShapes}},
	// What expansions emit may be expanded itself: cells come first.
	{Name: ExpandCells, Run: expandCells, Rounds: true, After: []string{ResolveShapes}, Expands: []nn.OperationType{nn.OpRnn, nn.OpUnidirectionalSequenceRnn,
		nn.OpBidirectionalSequenceRnn, nn.OpLstm, nn.OpUnidirectionalSequenceLstm, nn.OpBidirectionalSequenceLstm, nn.OpSvdf}},
	{Name: ExpandNormalizations, Run: expandNormalizations, Rounds: true, After: []string{ResolveShapes, ConvertNCHW},
		Expands: []nn.OperationType{nn.OpL2Pool2D, nn.OpL2Normalization, nn.OpLocalResponseNormalization, nn.OpInstanceNormalization}},
	{Name: ExpandBilinear, Run: expandBilinear, Rounds: true, After: []string{ResolveShapes, ConvertNCHW}, Expands: []nn.OperationType{nn.OpResizeBilinear}},
	{Name: ExpandBatchMatmul, Run: expandBatchMatmul, Rounds: true, After: []string{ResolveShapes}, Expands: []nn.OperationType{nn.OpBatchMatmul}},
	{Name: ExpandFunctions, Run: expandFunctions, Rounds: true, After: []string{ResolveShapes}, Expands: []nn.OperationType{nn.OpPrelu, nn.OpHardSwish, nn.OpElu}},
	{Name: ExpandComparisons, Run: expandComparisons, After: []string{ResolveShapes}, Expands: []nn.OperationType{nn.OpLess, nn.OpLessEqual, nn.OpNotEqual}},
	{Name: ExpandJoins, Run: expandJoins, After: []string{ResolveShapes}, Expands: []nn.OperationType{nn.OpPack, nn.OpPadV2}},
	{Name: AxisLast, Run: axisLast, After: []string{ResolveShapes}},
	{Name: JoinReducedAxes, Run: joinReducedAxes, After: []string{ResolveShapes}},
	// SAME depends on the size of the image.
	{Name: ExplicitPadding, Run: explicitPadding, After: []string{ResolveShapes, ConvertNCHW, ExpandGroupedConv}},
	// The sum of two paddings is stated in numbers.
	{Name: FoldPadding, Run: foldPadding, Joins: true, After: []string{ExplicitPadding, FoldConstants}},
	{Name: FuseActivations, Run: fuseActivations, Joins: true, After: []string{CancelTransposes}},
	{Name: RemoveDeadOperations, Run: removeDeadOperations, Joins: true, After: []string{FoldConstants, CancelTransposes, FoldPadding}},
}

// PassNames lists the passes in their order.
func PassNames() []string {
	var names []string
	for _, p := range passes {
		names = append(names, p.Name)
	}
	return names
}

// Pipeline is a choice of passes in the order of the table.
type Pipeline []Pass

// NewPipeline returns the named passes. A name that does not exist is a mistake of
// the driver and panics.
func NewPipeline(names ...string) Pipeline {
	var l Pipeline
	for _, p := range passes {
		if slices.Contains(names, p.Name) {
			l = append(l, p)
		}
	}
	if len(l) != len(names) {
		panic(fmt.Sprintf("pass: of %q only %d exist, or one is named twice", names, len(l)))
	}
	return l
}

// Local returns the passes that look at one operation at a time.
func (l Pipeline) Local() Pipeline {
	return slices.DeleteFunc(slices.Clone(l), func(p Pass) bool { return p.Joins })
}

// Bound returns the passes for a stage that an execution has bound.
func (l Pipeline) Bound() Pipeline {
	return slices.DeleteFunc(slices.Clone(l), func(p Pass) bool { return p.Model })
}

// Run runs the passes. After each one, observe is called with its name and the
// graph, unless it is nil.
func (l Pipeline) Run(g *graph.Graph, observe func(pass string, changed bool, g *graph.Graph)) error {
	for i := range l {
		g.Running = graph.Running{Name: l[i].Name, Expands: l[i].Expands}
		changed, err := l[i].Run(g)
		if err != nil {
			return fmt.Errorf("%s: %w", l[i].Name, err)
		}
		if observe != nil {
			observe(l[i].Name, changed, g)
		}
	}
	return nil
}
