package lower

import (
	"math"

	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/conv"
	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/depthwise"
	"github.com/nnsoc/nnsoc/hal/driver/dsp/layout"
	"github.com/nnsoc/nnsoc/hal/nn"
)

// Layouts are assigned by a pass over the graph, before anything is lowered, from what the
// lowering of each operation takes. A value that readers take in several is in the usual one:
// positions at a pitch of 32, 64 or a multiple of 128 bytes (layout.Tensor).

// Accepts is which layouts of its inputs a lowering takes as they are. Others are converted
// before it, or it converts them.
type Accepts struct {
	// Plain: the bytes of a client, channels side by side. It asks for no halo around them,
	// and passes the tensor on under no other name.
	Plain bool
	// Small: its first input at a pitch of 4, 8 or 16 bytes, as many channels as there are.
	Small bool
	// LikeResult: a small pitch where its result has one.
	LikeResult bool
}

// LayoutReader is an Operation that takes other layouts than the usual one.
type LayoutReader interface {
	Accepts(op *nn.Operation) Accepts
}

// accepted are the layouts that the lowerings of this driver take.
var accepted = map[nn.OperationType]Accepts{
	nn.OpConv2D:         {Small: true},
	nn.OpDequantize:     {LikeResult: true},
	nn.OpQuantize:       {LikeResult: true},
	nn.OpRequantize:     {LikeResult: true},
	nn.OpDecodeCodebook: {LikeResult: true},
	nn.OpLogistic:       {LikeResult: true, Plain: true},
	nn.OpFullyConnected: {Plain: true},
	nn.OpSoftmax:        {Plain: true},
	nn.OpAdd:            {Plain: true},
	nn.OpMul:            {Plain: true},
	nn.OpConcatenation:  {Plain: true},
	nn.OpRelu:           {Plain: true},
	nn.OpRelu1:          {Plain: true},
	nn.OpRelu6:          {Plain: true},
	nn.OpAveragePool2D:  {Plain: true},
	nn.OpMaxPool2D:      {Plain: true},
	nn.OpMean:           {Plain: true},
}

// accepts is which layouts an operation takes.
func (l *Lowering) accepts(op *nn.Operation) Accepts {
	own := base.Choose(l.first, l.view, op)
	if own == nil {
		return accepted[op.Type]
	}
	if r, ok := own.(LayoutReader); ok {
		return r.Accepts(op)
	}
	return Accepts{}
}

// layouts are the layouts that values may have, by operand: those that all readers take.
type layouts struct {
	plain  []bool // the bytes of a client
	narrow []bool // a small pitch, where convolutions and depthwise ones read few channels
	toConv []int  // most operations until a convolution reads a small pitch; see small
}

const (
	// maxToConv is how many operations a small pitch is carried through.
	maxToConv = 4
	never     = math.MaxInt32
)

// small reports whether nothing but convolutions read an operand, directly or through a few
// operations that work on any pitch.
func (a *layouts) small(i uint32) bool { return a.toConv[i] <= maxToConv }

// assignLayouts decides the layouts from the last operation to the first, so that an
// operation's results are decided before its inputs.
func (l *Lowering) assignLayouts() *layouts {
	g := l.graph
	n := len(g.Operands)
	a := &layouts{plain: make([]bool, n), narrow: make([]bool, n), toConv: make([]int, n)}
	read := make([]bool, n)
	for i := range n {
		a.plain[i], a.narrow[i] = true, l.final
	}
	for _, x := range g.Outputs {
		a.toConv[x], a.narrow[x] = never, false
	}
	for k := len(g.Operations) - 1; k >= 0; k-- {
		op := &g.Operations[k]
		takes := l.accepts(op)
		for _, x := range op.Outputs {
			a.narrow[x] = a.narrow[x] && read[x]
		}
		for at, x := range op.Inputs {
			read[x] = true
			a.plain[x] = a.plain[x] && takes.Plain
			a.narrow[x] = a.narrow[x] && at == 0 && l.takesNarrow(op, a)
			switch {
			case takes.Small && at == 0:
			case takes.LikeResult && len(op.Outputs) == 1 && a.small(op.Outputs[0]):
				a.toConv[x] = max(a.toConv[x], a.toConv[op.Outputs[0]]+1)
			default:
				a.toConv[x] = never
			}
		}
	}
	for i := range n {
		a.narrow[i] = a.narrow[i] && read[i]
	}
	return a
}

// takesNarrow reports whether an operation takes positions of few bytes: convolutions do,
// and depthwise ones whose own results may have such.
func (l *Lowering) takesNarrow(op *nn.Operation, a *layouts) bool {
	if op.Type != nn.OpConv2D && op.Type != nn.OpDepthwiseConv2D || base.Choose(l.first, l.view, op) != nil {
		return false
	}
	c, err := l.view.Conv(op)
	if err != nil || c.NCHW {
		return false
	}
	return !c.Depthwise || c.Multiplier == 1 && c.KH*c.KW <= depthwise.MaxTaps && c.StrideW <= 2 && l.packable(c.Filter, c.Bias) && a.narrow[c.Output]
}

// narrowPitch is the pitch of a value of c channels all of whose readers take a small
// one, 0 for the usual one.
func (l *Lowering) narrowPitch(i uint32, c int) int {
	if c > conv.NarrowOutputs || !l.layouts.narrow[i] {
		return 0
	}
	return layout.Shape{C: c}.SmallPitch()
}

// importValue makes the internal form of a dense value. Tensors that only
// convolutions read get the small pitch.
func (l *Lowering) importValue(i uint32, dense *layout.Tensor) {
	o := &l.graph.Operands[i]
	s := layout.ShapeOf(o.Dimensions)
	if dense.Keep && s.C%layout.VectorBytes == 0 && o.Type == nn.TensorQuant8Asymm && l.layouts.plain[i] { // clientForm
		l.Result(i, s.C).Keep = true
		dense.Unplaced, dense.Keep = true, false
		return
	}
	pitch := s.Pitch()
	if l.layouts.small(i) || l.layouts.narrow[i] {
		pitch = s.SmallPitch()
	}
	l.copyTensor(l.Result(i, pitch), dense)
}

// clientForm reports whether the bytes are those that the client sees: nothing
// between positions, rows or images, and values of an unsigned type.
func clientForm(t *layout.Tensor, typ nn.OperandType) bool {
	return !t.Dense && !t.HasHalo() && t.Pitch == t.Shape.C && t.Shape.C%layout.VectorBytes == 0 && typ == nn.TensorQuant8Asymm
}
