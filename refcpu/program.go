package refcpu

import (
	"errors"
	"fmt"
	"sync"

	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
)

// Limits bound what a model may ask of the host.
type Limits struct {
	// Bytes bounds the sum of all tensors of an execution.
	Bytes int64
	// Work bounds the multiply-accumulates and element steps of an execution.
	Work int64
}

// Config changes how a program is compiled. The zero value is Compile's.
type Config struct {
	// Limits; a zero field has a default: 1 GiB of tensors, 2^42 steps.
	Limits Limits
	// RoundOnce requantizes signed CONV_2D and FULLY_CONNECTED with a single
	// rounding, as TensorFlow Lite's optimized kernels do, instead of NNAPI's
	// two. Networks recorded with those kernels can then be compared exactly.
	RoundOnce bool
}

// kern executes a prepared operation on the buffers of a run.
type kern func(x *run) error

// prepare turns an operation into a kernel. It fails with opspec.ErrUnknown
// when a shape or a parameter is known only during execution.
type prepare func(v opspec.View, op *nn.Operation) (kern, error)

// operations holds the implementation of each operation, in the file named
// after it.
var operations = [nn.OperationCount]prepare{
	nn.OpAbs:                        prepareMath,
	nn.OpAdd:                        prepareAdd,
	nn.OpArgmax:                     prepareArg,
	nn.OpArgmin:                     prepareArg,
	nn.OpAveragePool2D:              prepareAveragePool,
	nn.OpAxisAlignedBboxTransform:   prepareBoxTransform,
	nn.OpBatchMatmul:                prepareBatchMatmul,
	nn.OpBatchToSpaceNd:             prepareStrided,
	nn.OpBidirectionalSequenceLstm:  prepareLstmBidirectional,
	nn.OpBidirectionalSequenceRnn:   prepareRnnBidirectional,
	nn.OpBoxWithNmsLimit:            prepareNms,
	nn.OpCast:                       prepareCast,
	nn.OpChannelShuffle:             prepareStrided,
	nn.OpConcatenation:              prepareConcat,
	nn.OpConv2D:                     prepareConv,
	nn.OpDensify:                    prepareDensify,
	nn.OpDepthToSpace:               prepareStrided,
	nn.OpDepthwiseConv2D:            prepareDepthwise,
	nn.OpDequantize:                 prepareDequantize,
	nn.OpDetectionPostprocessing:    prepareDetection,
	nn.OpDiv:                        prepareDiv,
	nn.OpElu:                        prepareElu,
	nn.OpEmbeddingLookup:            prepareGather,
	nn.OpEqual:                      prepareCompare,
	nn.OpExp:                        prepareMath,
	nn.OpExpandDims:                 prepareCopy,
	nn.OpFill:                       prepareFill,
	nn.OpFloor:                      prepareMath,
	nn.OpFullyConnected:             prepareFullyConnected,
	nn.OpGather:                     prepareGather,
	nn.OpGenerateProposals:          prepareProposals,
	nn.OpGreater:                    prepareCompare,
	nn.OpGreaterEqual:               prepareCompare,
	nn.OpGroupedConv2D:              prepareGroupedConv,
	nn.OpHardSwish:                  prepareHardSwish,
	nn.OpHashtableLookup:            prepareHashtable,
	nn.OpHeatmapMaxKeypoint:         prepareHeatmap,
	nn.OpInstanceNormalization:      prepareInstanceNorm,
	nn.OpL2Normalization:            prepareL2Norm,
	nn.OpL2Pool2D:                   prepareL2Pool,
	nn.OpLess:                       prepareCompare,
	nn.OpLessEqual:                  prepareCompare,
	nn.OpLocalResponseNormalization: prepareLRN,
	nn.OpLog:                        prepareMath,
	nn.OpLogSoftmax:                 prepareLogSoftmax,
	nn.OpLogicalAnd:                 prepareLogical,
	nn.OpLogicalNot:                 prepareNot,
	nn.OpLogicalOr:                  prepareLogical,
	nn.OpLogistic:                   prepareLogistic,
	nn.OpLshProjection:              prepareLsh,
	nn.OpLstm:                       prepareLstm,
	nn.OpMaxPool2D:                  prepareMaxPool,
	nn.OpMaximum:                    prepareMaximum,
	nn.OpMean:                       prepareMean,
	nn.OpMinimum:                    prepareMinimum,
	nn.OpMirrorPad:                  prepareMirrorPad,
	nn.OpMul:                        prepareMul,
	nn.OpNeg:                        prepareMath,
	nn.OpNotEqual:                   prepareCompare,
	nn.OpPack:                       prepareConcat,
	nn.OpPad:                        preparePad,
	nn.OpPadV2:                      preparePad,
	nn.OpPow:                        preparePow,
	nn.OpPrelu:                      preparePrelu,
	nn.OpQuantize:                   prepareQuantize,
	nn.OpRequantize:                 prepareRequantize,
	nn.OpQuantized16bitLstm:         prepareQuantized16Lstm,
	nn.OpQuantizedLstm:              prepareQuantizedLstm,
	nn.OpRandomMultinomial:          prepareMultinomial,
	nn.OpRank:                       prepareRank,
	nn.OpReduceAll:                  prepareReduce,
	nn.OpReduceAny:                  prepareReduce,
	nn.OpReduceMax:                  prepareReduce,
	nn.OpReduceMin:                  prepareReduce,
	nn.OpReduceProd:                 prepareReduce,
	nn.OpReduceSum:                  prepareReduce,
	nn.OpRelu:                       prepareRelu,
	nn.OpRelu1:                      prepareRelu,
	nn.OpRelu6:                      prepareRelu,
	nn.OpReshape:                    prepareCopy,
	nn.OpResizeBilinear:             prepareBilinear,
	nn.OpResizeNearestNeighbor:      prepareNearest,
	nn.OpReverse:                    prepareStrided,
	nn.OpRnn:                        prepareRnn,
	nn.OpRoiAlign:                   prepareRoiAlign,
	nn.OpRoiPooling:                 prepareRoiPooling,
	nn.OpRsqrt:                      prepareMath,
	nn.OpSelect:                     prepareSelect,
	nn.OpSin:                        prepareMath,
	nn.OpSlice:                      prepareStrided,
	nn.OpSoftmax:                    prepareSoftmax,
	nn.OpSpaceToBatchNd:             prepareStrided,
	nn.OpSpaceToDepth:               prepareStrided,
	nn.OpSplit:                      prepareSplit,
	nn.OpSqrt:                       prepareMath,
	nn.OpSqueeze:                    prepareCopy,
	nn.OpStridedSlice:               prepareStrided,
	nn.OpSub:                        prepareSub,
	nn.OpSvdf:                       prepareSvdf,
	nn.OpTanh:                       prepareTanh,
	nn.OpTile:                       prepareTile,
	nn.OpTopkV2:                     prepareTopK,
	nn.OpTranspose:                  prepareStrided,
	nn.OpTransposeConv2D:            prepareTransposeConv,
	nn.OpUnidirectionalSequenceLstm: prepareLstmSequence,
	nn.OpUnidirectionalSequenceRnn:  prepareRnnSequence,
}

// Supported reports whether the reference has the operation, apart from its
// types and parameters.
func Supported(t nn.OperationType) bool { return implementation(t) != nil }

// Program is a compiled model. Runs may happen at the same time.
type Program struct {
	model     *nn.Model
	graph     *nn.Subgraph // main, with inferred shapes
	children  []*Program   // of the referenced subgraphs
	limits    Limits
	roundOnce bool
	// kernels[i] is nil when operation i is prepared while it runs.
	kernels []kern
	static  bool
	work    int64     // of one execution of a static program
	states  sync.Pool // *run of a static program
}

// Compile prepares a model, which should have passed validation and must not
// change while the program is in use. An operation or a combination that the
// reference lacks is an error that names it.
func Compile(m *nn.Model) (*Program, error) { return CompileConfig(m, Config{}) }

// CompileConfig is Compile with a configuration.
func CompileConfig(m *nn.Model, cfg Config) (*Program, error) {
	limits := cfg.Limits
	if limits.Bytes == 0 {
		limits.Bytes = 1 << 30
	}
	if limits.Work == 0 {
		limits.Work = 1 << 42
	}
	budget := limits.budget()
	children := make([]*Program, len(m.Referenced))
	for i := range children {
		p, err := compile(m, &m.Referenced[i], limits, &budget)
		if err != nil {
			return nil, fmt.Errorf("refcpu: subgraph %d: %w", i, err)
		}
		children[i] = p
	}
	main, err := compile(m, &m.Main, limits, &budget)
	if err != nil {
		return nil, fmt.Errorf("refcpu: %w", err)
	}
	for _, p := range append(children, main) {
		p.children, p.roundOnce = children, cfg.RoundOnce
	}
	return main, nil
}

// compile prepares one subgraph.
func compile(m *nn.Model, source *nn.Subgraph, limits Limits, budget *budget) (*Program, error) {
	for i := range source.Operations {
		if t := source.Operations[i].Type; !Supported(t) {
			return nil, fmt.Errorf("operation %d: %s is not supported", i, t)
		}
	}
	g, err := opspec.Resolve(source)
	if err != nil {
		return nil, err
	}
	alignConstants(g)
	p := &Program{model: m, graph: g, limits: limits, kernels: make([]kern, len(g.Operations)), static: true}
	for i := range g.Operands {
		o := &g.Operands[i]
		p.static = p.static && (o.Known() || o.Lifetime == nn.NoValue || o.IsConst() && len(o.Data) == 0)
		if o.Known() && !budget.tensor(o) {
			return nil, fmt.Errorf("tensors of the model exceed %d bytes", limits.Bytes)
		}
	}
	v := opspec.ModelView(g)
	before := budget.work
	for i := range g.Operations {
		op := &g.Operations[i]
		if selfShaped(op.Type) {
			p.static = false
		}
		if dims, err := v.OutputDims(op); err == nil && !budget.operation(v, op, dims) {
			return nil, fmt.Errorf("operation %d: %s: the model exceeds %d steps of work", i, op.Type, limits.Work)
		}
		k, err := implementation(op.Type)(v, op)
		switch {
		case errors.Is(err, opspec.ErrUnknown):
			p.static = false
		case err != nil:
			return nil, fmt.Errorf("operation %d: %w", i, err)
		}
		p.kernels[i] = k
	}
	p.work = before - budget.work
	return p, nil
}

// budget counts down what a model may use.
type budget struct{ bytes, work int64 }

func (l Limits) budget() budget { return budget{l.Bytes, l.Work} }

func (b *budget) tensor(o *nn.Operand) bool {
	n := o.Bytes()
	if n < 0 || n > b.bytes {
		return false
	}
	b.bytes -= n
	return true
}

// operation charges the multiply-accumulates and every element read or written.
func (b *budget) operation(v opspec.View, op *nn.Operation, out [][]uint32) bool {
	work := v.MACs(op)
	if work < 0 {
		return false
	}
	taps := int64(1)
	if p, err := v.Pool(op); err == nil {
		taps = int64(p.KH) * int64(p.KW)
		if taps > b.work {
			return false
		}
	}
	for _, d := range out {
		n := nn.Elements(d)
		if n < 0 || n > b.work/taps {
			return false
		}
		work += n * taps
		if work > b.work {
			return false
		}
	}
	for _, i := range op.Inputs {
		if n := v.Operands[i].Elements(); n > 0 {
			work += n
		}
	}
	b.work -= work
	return b.work >= 0
}

// Model returns the model the program was compiled from.
func (p *Program) Model() *nn.Model { return p.model }

// OutputDims returns the shapes of the outputs, nil for one that only an
// execution knows.
func (p *Program) OutputDims() [][]uint32 {
	out := make([][]uint32, len(p.graph.Outputs))
	for i, x := range p.graph.Outputs {
		if o := &p.graph.Operands[x]; o.Known() {
			out[i] = o.Dimensions
		}
	}
	return out
}
