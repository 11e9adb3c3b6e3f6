// Package lower turns the operations of a canonical graph into steps: one file per family
// of operations, one table from operation to function.
package lower

import (
	"fmt"
	"maps"
	"slices"

	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/hal/driver/npu/cost"
	"github.com/nnsoc/nnsoc/hal/driver/npu/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/npu/layout"
	"github.com/nnsoc/nnsoc/hal/driver/npu/step"
	"github.com/nnsoc/nnsoc/isa/ethosu"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/fixedpoint"
	"github.com/nnsoc/nnsoc/nn/opspec"
	core "github.com/nnsoc/nnsoc/npu"
)

// Operation lowers operations that this driver cannot lower, or otherwise; see
// base.OperationLowering.
type Operation = base.OperationLowering[*Lowering]

// Lowering turns the operations of one graph into steps. It is used twice: to ask
// whether an operation can be lowered, when steps are thrown away, and to lower.
type Lowering struct {
	spec  *core.Spec
	graph *graph.Graph
	view  opspec.View
	first []Operation // asked before the table
	value []int       // of an operand; RESHAPE and SQUEEZE share their input's
	op    int         // of the model, being lowered
	list  step.List
}

// New begins to lower a graph; first are asked before this driver's own lowerings.
func New(s *core.Spec, g *graph.Graph, first []Operation) *Lowering {
	l := &Lowering{spec: s, graph: g, view: g.View(), first: first, value: make([]int, len(g.Operands))}
	for i := range l.value {
		l.value[i] = layout.Placed - 1 // none yet
	}
	return l
}

// Anywhere begins to lower single operations of a graph, wherever their inputs come from.
func Anywhere(s *core.Spec, g *graph.Graph, first []Operation) *Lowering {
	l := New(s, g, first)
	for i := range g.Operands {
		if o := &g.Operands[i]; elementBytes(o.Type) > 0 && o.Known() && !o.IsConst() {
			l.value[i] = l.Temporary(0)
		}
	}
	return l
}

// Graph lowers a whole graph.
func Graph(s *core.Spec, g *graph.Graph, first []Operation) (*step.List, error) {
	l := New(s, g, first)
	if err := l.inputs(); err != nil {
		return nil, err
	}
	for i := range g.Operations {
		if err := l.Lower(i); err != nil {
			return nil, fmt.Errorf("operation %d (%v): %w", l.op, g.Operations[i].Type, err)
		}
	}
	if err := l.outputs(); err != nil {
		return nil, err
	}
	return &l.list, nil
}

// lowerings are the operations this driver has, by NNAPI code.
var lowerings = map[nn.OperationType]func(*Lowering, *nn.Operation) error{
	nn.OpConv2D:          (*Lowering).conv,
	nn.OpDepthwiseConv2D: (*Lowering).conv,
	nn.OpFullyConnected:  (*Lowering).fullyConnected,
	nn.OpAveragePool2D:   (*Lowering).pool,
	nn.OpMaxPool2D:       (*Lowering).pool,
	nn.OpAdd:             (*Lowering).add,
	nn.OpMul:             (*Lowering).mul,
	nn.OpSub:             (*Lowering).sub,
	nn.OpMaximum:         (*Lowering).extreme,
	nn.OpMinimum:         (*Lowering).extreme,
	nn.OpPrelu:           (*Lowering).prelu,
	nn.OpEqual:           (*Lowering).compare,
	nn.OpNotEqual:        (*Lowering).compare,
	nn.OpLess:            (*Lowering).compare,
	nn.OpLessEqual:       (*Lowering).compare,
	nn.OpGreater:         (*Lowering).compare,
	nn.OpGreaterEqual:    (*Lowering).compare,
	nn.OpSelect:          (*Lowering).choose,
	nn.OpConcatenation:   (*Lowering).concat,
	nn.OpPack:            (*Lowering).concat,
	nn.OpTile:            (*Lowering).tile,
	nn.OpDensify:         (*Lowering).densify,
	nn.OpResizeBilinear:  (*Lowering).bilinear,
	nn.OpGather:          (*Lowering).gatherRows,
	nn.OpEmbeddingLookup: (*Lowering).gatherRows,
	nn.OpExpandDims:      (*Lowering).alias,
	nn.OpReshape:         (*Lowering).alias,
	nn.OpSqueeze:         (*Lowering).alias,
	nn.OpSoftmax:         (*Lowering).softmax,
	nn.OpLogistic:        (*Lowering).byteFunction,
	nn.OpTanh:            (*Lowering).byteFunction,
	nn.OpRsqrt:           (*Lowering).byteFunction,
	nn.OpHardSwish:       (*Lowering).byteFunction,
	nn.OpRelu:            (*Lowering).relu,
	nn.OpRelu1:           (*Lowering).relu,
	nn.OpRelu6:           (*Lowering).relu,
	nn.OpPad:             (*Lowering).pad,
	nn.OpPadV2:           (*Lowering).pad,
	nn.OpMean:            (*Lowering).mean,
	nn.OpReduceMax:       (*Lowering).reduceExtreme,
	nn.OpReduceMin:       (*Lowering).reduceExtreme,
	nn.OpArgmax:          (*Lowering).indexOf,
	nn.OpArgmin:          (*Lowering).indexOf,
	nn.OpL2Normalization: (*Lowering).l2Normalize,
	nn.OpCast:            (*Lowering).cast,
	nn.OpTranspose:       (*Lowering).strided,
	nn.OpSlice:           (*Lowering).strided,
	nn.OpStridedSlice:    (*Lowering).strided,
	nn.OpDepthToSpace:    (*Lowering).strided,
	nn.OpSpaceToDepth:    (*Lowering).strided,
	nn.OpBatchToSpaceNd:  (*Lowering).strided,
	nn.OpSpaceToBatchNd:  (*Lowering).strided,
	nn.OpChannelShuffle:  (*Lowering).strided,
	nn.OpReverse:         (*Lowering).strided,
	nn.OpRequantize:      (*Lowering).requantize,
}

// expanded are the operations that passes make others of once their parameters are known.
var expanded = map[nn.OperationType]bool{
	nn.OpGroupedConv2D: true, nn.OpTransposeConv2D: true, nn.OpResizeNearestNeighbor: true, nn.OpMirrorPad: true, nn.OpSplit: true,
}

// Has returns why no lowering takes operation i, whatever its parameters are.
func (l *Lowering) Has(i int) error {
	op := &l.graph.Operations[i]
	if base.Choose(l.first, l.view, op) != nil {
		return nil
	}
	if lowerings[op.Type] == nil && !expanded[op.Type] {
		return fmt.Errorf("%v has no lowering on this NPU", op.Type)
	}
	// The accumulators saturate where the reference wraps.
	return l.view.SumsFit(op)
}

// Lower lowers operation i.
func (l *Lowering) Lower(i int) error {
	l.op = l.graph.Origin[i]
	op := &l.graph.Operations[i]
	if own := base.Choose(l.first, l.view, op); own != nil {
		return own.Lower(l, op)
	}
	f := lowerings[op.Type]
	if f == nil && expanded[op.Type] {
		return fmt.Errorf("%v: no expansion takes its types and sizes", op.Type)
	}
	if f == nil {
		return fmt.Errorf("%v has no lowering on this NPU", op.Type)
	}
	return f(l, op)
}

// Most elements of inputs of operations that are promised before their parameters are known: a
// copy of each element, or a mean over all of them, is within the limits of one operation.
const (
	deferredMove = maxMoves
	deferredMean = 256
)

// Defers returns why operation i cannot be promised before its parameters are known.
func (l *Lowering) Defers(i int) error {
	op := &l.graph.Operations[i]
	most := int64(deferredMove)
	switch {
	case op.Type == nn.OpMean:
		most = deferredMean
	case opspec.IsStrided(op.Type), graph.IsReshape(op.Type), op.Type == nn.OpPad, op.Type == nn.OpPadV2, op.Type == nn.OpMirrorPad, op.Type == nn.OpTile, op.Type == nn.OpDensify,
		op.Type == nn.OpReduceMax, op.Type == nn.OpReduceMin:
	default:
		return fmt.Errorf("%v: parameters and shapes must be known when the model is prepared", op.Type)
	}
	x := l.graph.Input(op)
	if x == opspec.None {
		return fmt.Errorf("%v: no input", op.Type)
	}
	o, err := l.tensor(x)
	if err != nil {
		return fmt.Errorf("%v: %w", op.Type, err)
	}
	if n := o.Elements(); n > most {
		return fmt.Errorf("%v: with %d elements parameters and shapes must be known when the model is prepared; up to %d they need not", op.Type, n, most)
	}
	return nil
}

// View reads the parameters of operations.
func (l *Lowering) View() opspec.View { return l.view }

// Operand is an operand of the graph, which must not be changed.
func (l *Lowering) Operand(x uint32) *nn.Operand { return &l.graph.Operands[x] }

// Spec is the machine, which must not be changed.
func (l *Lowering) Spec() *core.Spec { return l.spec }

// Temporary adds a value of n bytes.
func (l *Lowering) Temporary(n int) int {
	l.list.Values = append(l.list.Values, layout.Value{Bytes: layout.Align(n), First: -1})
	return len(l.list.Values) - 1
}

// operand checks that x is an 8-bit quantized tensor of known shape.
func (l *Lowering) operand(x uint32) (*nn.Operand, error) {
	if o := &l.graph.Operands[x]; !o.Type.IsQuant8() {
		return nil, fmt.Errorf("operand %d is %v: this NPU computes on 8-bit quantized tensors", x, o.Type)
	}
	return l.tensor(x)
}

// elementBytes is the size of an element that feature maps can hold, 0 of other types.
func elementBytes(t nn.OperandType) int {
	switch {
	case t.IsQuant8(), t == nn.TensorBool8, t == nn.TensorQuant8SymmPerChannel:
		return 1
	case t == nn.TensorInt32:
		return 4
	}
	return 0
}

// tensor checks that x is a tensor of known shape that can be moved: 8-bit quantized or of
// integers or truth values.
func (l *Lowering) tensor(x uint32) (*nn.Operand, error) {
	o := &l.graph.Operands[x]
	switch {
	case elementBytes(o.Type) == 0:
		return nil, fmt.Errorf("operand %d is %v: this NPU computes on 8-bit quantized tensors", x, o.Type)
	case !o.Known():
		return nil, fmt.Errorf("operand %d has the unknown shape %v", x, o.Dimensions)
	case o.Elements() <= 0 || o.Elements() > 1<<28:
		return nil, fmt.Errorf("operand %d has %d elements", x, o.Elements())
	}
	return o, nil
}

// ref is the place of an operand; constants go to region 0.
func (l *Lowering) ref(x uint32) (int, int, error) {
	o, err := l.tensor(x)
	if err != nil {
		return 0, 0, err
	}
	if o.IsConst() {
		if int64(len(o.Data)) != o.Bytes() {
			return 0, 0, fmt.Errorf("operand %d has %d bytes of data", x, len(o.Data))
		}
		return layout.Placed, l.list.Consts.Add(o.Data), nil
	}
	if l.value[x] < layout.Placed {
		return 0, 0, fmt.Errorf("operand %d has no value", x)
	}
	return l.value[x], 0, nil
}

// In is a feature map of an operand that is read, of bytes unless the caller changes it.
func (l *Lowering) In(x uint32, h, w, c int) (layout.Ref, error) {
	v, at, err := l.ref(x)
	return layout.Ref{Value: v, FeatureMap: layout.Dense(at, h, w, c, 1, isSigned(l.graph.Operands[x].Type))}, err
}

// Out is a feature map of an operand that is written, whose value it creates.
func (l *Lowering) Out(x uint32, h, w, c int) (layout.Ref, error) {
	o, err := l.tensor(x)
	if err != nil {
		return layout.Ref{}, err
	}
	if l.value[x] < layout.Placed {
		l.value[x] = l.Temporary(int(o.Bytes()))
	}
	return layout.Ref{Value: l.value[x], FeatureMap: layout.Dense(0, h, w, c, 1, isSigned(o.Type))}, nil
}

func isSigned(t nn.OperandType) bool { return t != nn.TensorQuant8Asymm && t != nn.TensorBool8 }

// Bounds of feature maps: heights, widths and depths are in registers of 16 bits, and the core
// takes so many elements.
const (
	maxExtent   = 1 << 16
	maxElements = 1 << 25
)

// Add appends a kernel of the current operation, with the block that suits it.
func (l *Lowering) Add(k kernel.Kernel) error {
	k.Defaults()
	for _, f := range k.Maps() {
		if f.H < 1 || f.W < 1 || f.C < 1 || f.H > maxExtent || f.W > maxExtent || f.C > maxExtent {
			return fmt.Errorf("feature map of %dx%dx%d exceeds the 16-bit extents of the command set", f.H, f.W, f.C)
		}
		if int64(f.H)*int64(f.W)*int64(f.C) > maxElements {
			return fmt.Errorf("feature map of %dx%dx%d: more than %d elements", f.H, f.W, f.C, maxElements)
		}
	}
	if k.Weights != nil {
		k.Weights.Bits = k.Weights.Entropy()
	}
	k.Block = cost.ChooseBlock(l.spec, &k)
	if k.Block.D == 0 {
		return fmt.Errorf("no block of a %dx%d kernel fits %d KiB of SHRAM", k.KH, k.KW, l.spec.ShramBytes>>10)
	}
	l.list.Steps = append(l.list.Steps, step.Step{Op: l.op, Kernel: k})
	return nil
}

// copy appends a copy by DMA.
func (l *Lowering) copy(from, to layout.Ref) {
	l.list.Steps = append(l.list.Steps, step.Step{Op: l.op, Kernel: kernel.Kernel{Shape: kernel.Shape{Kind: kernel.Copy}, IFM: from, OFM: to}})
}

// doubleRound is the rounding of gemmlowp's multiplier.
const doubleRound = ethosu.RoundDouble

// hardware is a multiplier as scale and right shift.
func hardware(m fixedpoint.Multiplier) (scale uint32, shift int, err error) {
	if shift = 31 - m.Shift; shift < 0 || shift > 63 {
		return 0, 0, fmt.Errorf("multiplier %d * 2^%d is out of the range of the output scale", m.M, m.Shift-31)
	}
	return uint32(m.M), shift, nil
}

// Operations are the operations that this driver has, in the order of their codes.
func Operations() []nn.OperationType {
	list := append(slices.Collect(maps.Keys(lowerings)), slices.Collect(maps.Keys(expanded))...)
	slices.Sort(list)
	return list
}
