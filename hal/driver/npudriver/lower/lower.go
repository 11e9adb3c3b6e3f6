// Package lower lowers a canonical graph to steps: the parts that all lowerings of operations share. The
// lowerings of the families of operations are in package family.
package lower

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/driver/compile"
	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/hal/driver/graph/legal"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/cost"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/step"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/npu"
)

// Operation lowers operations that this driver cannot lower, or otherwise; see
// compile.OperationLowering.
type Operation = compile.OperationLowering[*Lowering]

// Lowering lowers the operations of one graph to steps. It is used twice: to check
// whether an operation can be lowered, when steps are discarded, and to lower.
type Lowering struct {
	compile.Legalization[*Lowering]
	spec  *npu.Spec
	graph *graph.Graph
	view  opspec.View
	value []int // of an operand; RESHAPE and SQUEEZE share their input's
	op    int   // of the model, being lowered
	list  step.List

	inPlace *InPlace // nil: inputs and outputs are copied
	checks  bool     // steps are thrown away: only whether there is a block counts
	// candidates are the blocks to use where they fit, by operation.
	candidates map[int]string
}

// newLowering begins to lower a graph; first come before the table.
func newLowering(t *legal.Table[*Lowering], s *npu.Spec, g *graph.Graph, first []Operation) *Lowering {
	v := g.View()
	l := &Lowering{Legalization: compile.Legalize(t, first, g, v), spec: s, graph: g, view: v, value: make([]int, len(g.Operands))}
	for i := range l.value {
		l.value[i] = layout.Placed - 1 // none yet
	}
	return l
}

// Anywhere begins to lower single operations of a graph, wherever their inputs come from.
func Anywhere(t *legal.Table[*Lowering], s *npu.Spec, g *graph.Graph, first []Operation) *Lowering {
	l := newLowering(t, s, g, first)
	l.checks = true
	for i := range g.Operands {
		if o := &g.Operands[i]; ElementBytes(o.Type) > 0 && o.Known() && !o.IsConst() {
			l.value[i] = l.Temporary(0)
		}
	}
	return l
}

// Graph lowers a whole graph, with copies of its inputs and outputs.
// Kernels use the blocks that candidates names, by operation, where such a block fits.
func Graph(t *legal.Table[*Lowering], s *npu.Spec, g *graph.Graph, first []Operation, candidates map[int]string) (*step.List, error) {
	l := newLowering(t, s, g, first)
	l.candidates = candidates
	return l.all()
}

// GraphInPlace lowers a whole graph whose inputs and outputs are read and written where they
// are.
func GraphInPlace(t *legal.Table[*Lowering], s *npu.Spec, g *graph.Graph, first []Operation, at InPlace) (*step.List, error) {
	l := newLowering(t, s, g, first)
	l.inPlace, l.list.IO = &at, layout.Align(at.Bytes)
	return l.all()
}

func (l *Lowering) all() (_ *step.List, err error) {
	defer try.Catch(&err)
	g := l.graph
	l.inputs()
	l.placeOutputs()
	for i := range g.Operations {
		if err := l.Lowers(i); err != nil {
			return nil, fmt.Errorf("operation %d: %w", l.op, err)
		}
	}
	l.outputs()
	return &l.list, nil
}

// Lowers lowers operation i; the error is the reason of a refusal.
func (l *Lowering) Lowers(i int) error {
	l.op = l.graph.Origin[i]
	return l.LowerWith(l, &l.graph.Operations[i])
}

// View reads the parameters of operations.
func (l *Lowering) View() opspec.View { return l.view }

// Operand is an operand of the graph, which must not be changed.
func (l *Lowering) Operand(x uint32) *nn.Operand { return &l.graph.Operands[x] }

// Spec is the machine, which must not be changed.
func (l *Lowering) Spec() *npu.Spec { return l.spec }

// Temporary adds a value of n bytes.
func (l *Lowering) Temporary(n int) int {
	l.list.Values = append(l.list.Values, layout.Value{Bytes: layout.Align(n), First: -1})
	return len(l.list.Values) - 1
}

// Quantized checks that x is an 8-bit quantized tensor of known shape.
func (l *Lowering) Quantized(x uint32) *nn.Operand {
	o := &l.graph.Operands[x]
	OnBytes.Refuse(!o.Type.IsQuant8(), "operand %d is %v", x, o.Type)
	return l.Tensor(x)
}

// ElementBytes is the size of an element that feature maps can hold, 0 of other types.
func ElementBytes(t nn.OperandType) int {
	switch {
	case t.IsQuant8(), t == nn.TensorBool8, t == nn.TensorQuant8SymmPerChannel, t == nn.TensorQuant8Symm:
		return 1
	case t == nn.TensorQuant16Symm, t == nn.TensorQuant16Asymm:
		return 2
	case t == nn.TensorInt32:
		return 4
	}
	return 0
}

// Tensor checks that x is a tensor of known shape that can be moved: quantized or of
// integers or truth values.
func (l *Lowering) Tensor(x uint32) *nn.Operand {
	o := &l.graph.Operands[x]
	switch {
	case ElementBytes(o.Type) == 0:
		try.E(movable.Broken("operand %d is %v", x, o.Type))
	case !o.Known():
		try.E(knownShape.Broken("operand %d has the shape %v", x, o.Dimensions))
	case o.Elements() <= 0 || o.Elements() > maxTensorElements:
		try.E(maxTensor.Broken("operand %d has the shape %v", x, o.Dimensions))
	}
	return o
}

// ref is the place of an operand; constants go to region 0.
func (l *Lowering) ref(x uint32) (int, int) {
	o := l.Tensor(x)
	if o.IsConst() {
		allData.Refuse(int64(len(o.Data)) != o.Bytes(), "operand %d has %d", x, len(o.Data))
		return layout.Placed, l.list.Consts.Add(o.Data)
	}
	computed.Refuse(l.value[x] < layout.Placed, "operand %d", x)
	return l.value[x], 0
}

// In is a feature map of an operand that is read, of bytes unless the caller changes it.
func (l *Lowering) In(x uint32, h, w, c int) layout.Ref {
	v, at := l.ref(x)
	return layout.Ref{Value: v, FeatureMap: layout.Dense(at, h, w, c, 1, Signed(l.graph.Operands[x].Type))}
}

// Constant is a feature map of constant data.
func (l *Lowering) Constant(data []byte, h, w, c, bytes int, signed bool) layout.Ref {
	return layout.Ref{Value: layout.Placed, FeatureMap: layout.Dense(l.list.Consts.Add(data), h, w, c, bytes, signed)}
}

// Alias lets an operand have the value of another.
func (l *Lowering) Alias(of, x uint32) { l.value[of] = l.value[x] }

// Out is a feature map of an operand that is written, whose value it creates.
func (l *Lowering) Out(x uint32, h, w, c int) layout.Ref {
	o := l.Tensor(x)
	if l.value[x] < layout.Placed {
		l.value[x] = l.Temporary(int(o.Bytes()))
	}
	return layout.Ref{Value: l.value[x], FeatureMap: layout.Dense(0, h, w, c, 1, Signed(o.Type))}
}

func Signed(t nn.OperandType) bool { return t != nn.TensorQuant8Asymm && t != nn.TensorBool8 }

// Limits of values and feature maps.
var (
	OnBytes    = legal.Limit("this NPU computes on 8-bit quantized tensors")
	movable    = legal.Limit("this NPU moves bytes, integers and truth values")
	knownShape = legal.Limit("a known shape is needed")
	maxTensor  = legal.Limit("at least 1 and at most %d elements", maxTensorElements)
	allData    = legal.Limit("constants need all their bytes")
	computed   = legal.Limit("operands must have a value")
	extents    = legal.Limit("feature maps have at most %d rows, columns and channels and %d elements", MaxExtent, MaxElements)
	fitsSHRAM  = legal.Limit("a block of inputs and sums must fit the SHRAM")
)

// maxTensorElements bounds a value.
const maxTensorElements = 1 << 28

// Bounds of feature maps: heights, widths and depths are in registers of 16 bits, and the core
// supports at most MaxElements.
const (
	MaxExtent   = 1 << 16
	MaxElements = 1 << 25
)

// Add appends a kernel of the current operation, with the block that suits it.
func (l *Lowering) Add(k kernel.Kernel) {
	k.Defaults()
	for _, f := range k.Maps() {
		extents.Refuse(f.H < 1 || f.W < 1 || f.C < 1 || f.H > MaxExtent || f.W > MaxExtent || f.C > MaxExtent ||
			int64(f.H)*int64(f.W)*int64(f.C) > MaxElements, "one of %dx%dx%d", f.H, f.W, f.C)
	}
	if l.checks {
		k.Block = cost.AnyBlock(l.spec, &k)
	} else {
		if k.Weights != nil {
			k.Weights.Bits = k.Weights.Entropy()
		}
		k.Wanted = l.candidates[l.op]
		k.Block = cost.ChooseBlock(l.spec, &k)
	}
	fitsSHRAM.Refuse(k.Block.D == 0, "none of a %dx%d kernel fits %d KiB", k.KH, k.KW, l.spec.ShramBytes>>10)
	l.list.Steps = append(l.list.Steps, step.Step{Op: l.op, Kernel: k})
}

// Copy appends a copy by DMA.
func (l *Lowering) Copy(from, to layout.Ref) {
	l.list.Steps = append(l.list.Steps, step.Step{Op: l.op, Kernel: kernel.Kernel{Shape: kernel.Shape{Kind: kernel.Copy}, IFM: from, OFM: to}})
}
