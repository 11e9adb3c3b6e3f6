package lowering

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/refcpu"
)

// None is the operand of an omitted input and of a value not yet produced.
const None = ^uint32(0)

// Limits of an import, far above those of real networks.
const (
	maxTensorBytes = 1 << 30 // of all activations and computed constants
	maxOperations  = 1 << 18 // of all subgraphs
	maxFolded      = 1 << 29 // bytes of constants that the import computes
	maxFoldWork    = 1 << 31 // bytes and multiply-accumulates of constant folding
)

// Budget is an import's use of its bounds; all its graphs share one.
type Budget struct {
	bytes, folded, foldWork int64
	operations              int
}

// Operation charges an operation, of the file or of NNAPI; false when there are too many.
func (b *Budget) Operation() error {
	if b.operations++; b.operations > maxOperations {
		return fmt.Errorf("more than %d operations", maxOperations)
	}
	return nil
}

// Fault is the panic of a file that is wrong.
type Fault struct{ Err error }

// Error implements error.
func (f *Fault) Error() string { return f.Err.Error() }

// Unwrap returns the cause.
func (f *Fault) Unwrap() error { return f.Err }

// Refusal is the panic of something that NNAPI has no form for.
type Refusal struct{ Reason string }

// Graph is a subgraph under construction.
//
// Its methods fail by panic with a *Fault or a Refusal, which importers convert to errors at their boundaries: the
// whole subgraph and each of its operators.
type Graph struct {
	Sub nn.Subgraph
	// Node is the name of the node of the file whose operations are added, "" where it has none.
	Node string
	// Shape is the file's shape of operands that NNAPI holds in another: scalars as one
	// element, more than four dimensions with the first ones merged.
	Shape map[uint32][]uint32
	// Wide are 64-bit constants with values that 32 bits do not hold.
	Wide map[uint32][]int64

	budget *Budget
	known  map[string]uint32 // constants of the importer by their bytes, so that each exists once
	reals  map[uint32]uint32 // 16-bit values in float32 by operand
}

// New is an empty graph that draws on a budget.
func New(b *Budget) *Graph {
	return &Graph{budget: b, Shape: map[uint32][]uint32{}, Wide: map[uint32][]int64{}, known: map[string]uint32{}, reals: map[uint32]uint32{}}
}

// Failf leaves with an error of the file.
func (g *Graph) Failf(format string, args ...any) { panic(&Fault{fmt.Errorf(format, args...)}) }

// Check leaves with an error of the file where there is one.
func (g *Graph) Check(err error) {
	if err != nil {
		g.Failf("%v", err)
	}
}

// Attempt runs f and returns the refusal it ends with.
func Attempt(f func()) (r *Refusal) {
	defer func() {
		switch e := recover().(type) {
		case nil:
		case Refusal:
			r = &e
		default:
			panic(e)
		}
	}()
	f()
	return nil
}

// Refusef leaves because NNAPI has no form of something.
func (g *Graph) Refusef(format string, args ...any) { panic(Refusal{fmt.Sprintf(format, args...)}) }

// Add appends an operand.
func (g *Graph) Add(o nn.Operand) uint32 {
	if len(g.Sub.Operands) >= 4*maxOperations {
		g.Failf("more than %d operands", 4*maxOperations)
	}
	g.Sub.Operands = append(g.Sub.Operands, o)
	return uint32(len(g.Sub.Operands) - 1)
}

// Spend charges n bytes of tensors.
func (g *Graph) Spend(n int64) {
	if n < 0 || n > maxTensorBytes {
		g.Failf("tensors exceed %d MiB", maxTensorBytes>>20)
	}
	if g.budget.bytes += n; g.budget.bytes > maxTensorBytes {
		g.Failf("tensors exceed %d MiB", maxTensorBytes>>20)
	}
}

// Operand is the operand at x; it moves when operands are added.
func (g *Graph) Operand(x uint32) *nn.Operand { return &g.Sub.Operands[x] }

// IsConst reports whether the value of x is known now.
func (g *Graph) IsConst(x uint32) bool { return x != None && g.Operand(x).IsConst() }

// Constant adds a constant of the importer, once for equal ones.
func (g *Graph) Constant(o nn.Operand) uint32 {
	if n := g.OperandBytes(&o); int64(len(o.Data)) != n {
		g.Failf("a constant %v%v of %d bytes", o.Type, o.Dimensions, len(o.Data))
	}
	o.Lifetime = nn.ConstantCopy
	if len(o.Data) > 256 {
		g.Spend(int64(len(o.Data)))
		return g.Add(o)
	}
	return g.once(fmt.Sprint(o.Type, o.Dimensions, o.Scale, o.ZeroPoint, o.Data), o)
}

// once adds a constant, or returns the one that it added for the key before.
func (g *Graph) once(key string, o nn.Operand) uint32 {
	x, ok := g.known[key]
	if !ok {
		x = g.Add(o)
		g.known[key] = x
	}
	return x
}

// Number is a constant of one element, which is no dimension in the file's terms: results of it and a tensor have the
// tensor's shape, those of it and a scalar are scalars.
func (g *Graph) Number(t nn.OperandType, data []byte) uint32 {
	x := g.once(fmt.Sprint("number ", t, data), nn.Operand{Type: t, Dimensions: []uint32{1}, Data: data, Lifetime: nn.ConstantCopy})
	g.Shape[x] = nil
	return x
}

// Int32Number is a Number of TENSOR_INT32.
func (g *Graph) Int32Number(v int64) uint32 {
	if v < math.MinInt32 || v > math.MaxInt32 {
		g.Failf("%d does not fit 32 bits", v)
	}
	return g.Number(nn.TensorInt32, binary.LittleEndian.AppendUint32(nil, uint32(v)))
}

func (g *Graph) OperandBytes(o *nn.Operand) int64 {
	if o.Type.IsScalar() {
		return int64(o.Type.ElementBytes())
	}
	return o.Bytes()
}

func (g *Graph) Int32Scalar(v int64) uint32 {
	if v < math.MinInt32 || v > math.MaxInt32 {
		g.Failf("%d does not fit 32 bits", v)
	}
	return g.Constant(nn.Operand{Type: nn.Int32, Data: binary.LittleEndian.AppendUint32(nil, uint32(v))})
}

func (g *Graph) BoolScalar(v bool) uint32 {
	b := byte(0)
	if v {
		b = 1
	}
	return g.Constant(nn.Operand{Type: nn.Bool, Data: []byte{b}})
}

// Int32Tensor is a constant TENSOR_INT32 of rank 1.
func (g *Graph) Int32Tensor(list ...int64) uint32 {
	return g.Int32Shaped([]uint32{uint32(len(list))}, list)
}

func (g *Graph) Int32Shaped(dims []uint32, list []int64) uint32 {
	var data []byte
	for _, v := range list {
		if v < math.MinInt32 || v > math.MaxInt32 {
			g.Failf("%d does not fit 32 bits", v)
		}
		data = binary.LittleEndian.AppendUint32(data, uint32(v))
	}
	return g.Constant(nn.Operand{Type: nn.TensorInt32, Dimensions: dims, Data: data})
}

// FloatTensor is a constant TENSOR_FLOAT32.
func (g *Graph) FloatTensor(dims []uint32, list []float32) uint32 {
	data := make([]byte, 0, 4*len(list))
	for _, v := range list {
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(v))
	}
	return g.Constant(nn.Operand{Type: nn.TensorFloat32, Dimensions: dims, Data: data})
}

// Emit adds an operation with one output of the type and quantization of out.
func (g *Graph) Emit(op nn.OperationType, out nn.Operand, in ...uint32) uint32 {
	return g.EmitAll(op, []nn.Operand{out}, in...)[0]
}

// EmitAll adds an operation and returns its outputs. Their types and quantizations are those of outs; their shapes
// follow from the inputs, or are those of outs where they cannot be inferred. An operation of constants is computed at
// once.
func (g *Graph) EmitAll(op nn.OperationType, outs []nn.Operand, in ...uint32) []uint32 {
	if results, ok := g.adapt(op, outs, in); ok {
		return results
	}
	g.Check(g.budget.Operation())
	o := nn.Operation{Type: op, Inputs: slices.Clone(in), Name: g.Node}
	for _, x := range outs {
		x.Lifetime, x.Data, x.Channel, x.Unmerged = nn.TemporaryVariable, nil, nil, nil
		if opspec.HasShapeRule(op) {
			x.Dimensions = nil
		}
		o.Outputs = append(o.Outputs, g.Add(x))
	}
	final := g.shapesFinal(in)
	v := opspec.View{Operands: g.Sub.Operands, Final: final}
	a, err := v.Bind(&o)
	if err != nil {
		g.Refusef("%v", err)
	}
	if err := a.CheckRank(); err != nil {
		g.Refusef("%v: %v", op, err)
	}
	if opspec.HasShapeRule(op) {
		dims, err := a.OutputDims()
		switch {
		case errors.Is(err, opspec.ErrUnknown):
			open := g.openDims(&o)
			for k, x := range o.Outputs {
				if g.Operand(x).Dimensions = outs[k].Dimensions; open != nil && len(open[k]) > 0 {
					g.Operand(x).Dimensions = open[k]
				}
			}
		case err != nil:
			g.Failf("%v", err)
		default:
			for k, x := range o.Outputs {
				g.Operand(x).Dimensions = slices.Clone(dims[k])
			}
		}
	}
	if final && g.allEmpty(o.Outputs) || g.fold(&o) {
		return slices.Clone(o.Outputs)
	}
	for _, x := range o.Outputs {
		if p := g.Operand(x); p.Known() {
			g.Spend(p.Bytes())
		}
	}
	g.Sub.Operations = append(g.Sub.Operations, o)
	return slices.Clone(o.Outputs)
}

// notFolded are operations that are never computed at import: they have inner
// subgraphs or draw random numbers.
var notFolded = []nn.OperationType{nn.OpIf, nn.OpWhile, nn.OpRandomMultinomial}

// fold computes an operation whose inputs are all constants, within bounds.
func (g *Graph) fold(o *nn.Operation) bool {
	if slices.Contains(notFolded, o.Type) {
		return false
	}
	work := int64(0)
	m := &nn.Model{Main: nn.Subgraph{}}
	part := nn.Operation{Type: o.Type}
	for _, x := range o.Inputs {
		p := *g.Operand(x)
		if !p.IsConst() && p.Lifetime != nn.NoValue {
			return false
		}
		work += int64(len(p.Data))
		part.Inputs = append(part.Inputs, uint32(len(m.Main.Operands)))
		m.Main.Operands = append(m.Main.Operands, p)
	}
	for _, x := range o.Outputs {
		p := *g.Operand(x)
		if !p.Known() || p.Elements() < 0 {
			return false
		}
		work += g.OperandBytes(&p)
		p.Lifetime = nn.SubgraphOutput
		i := uint32(len(m.Main.Operands))
		part.Outputs, m.Main.Outputs = append(part.Outputs, i), append(m.Main.Outputs, i)
		m.Main.Operands = append(m.Main.Operands, p)
	}
	m.Main.Operations = []nn.Operation{part}
	work += opspec.ModelView(&m.Main).MACs(&part)
	size := int64(0)
	for _, x := range o.Outputs {
		size += g.OperandBytes(g.Operand(x))
	}
	if work < 0 || g.budget.foldWork+work > maxFoldWork || g.budget.folded+size > maxFolded {
		return false
	}
	g.budget.foldWork += work
	g.budget.folded += size
	g.Spend(size)
	program, err := refcpu.Compile(m)
	g.Check(err)
	values, err := program.Execute(nil, refcpu.Options{})
	g.Check(err)
	for k, x := range o.Outputs {
		p := g.Operand(x)
		p.Lifetime, p.Data = nn.ConstantCopy, values[k].Data
	}
	return true
}

// Held is the shape in which NNAPI holds a tensor of a shape of the file.
func Held(shape []uint32) []uint32 {
	switch n := len(shape); {
	case n == 0:
		return []uint32{1}
	case n > 4:
		merged := nn.Elements(shape[:n-3])
		return append([]uint32{uint32(max(merged, 0))}, shape[n-3:]...)
	}
	return shape
}

// SetShape states the file's shape of x where it is not the one that NNAPI
// holds.
func (g *Graph) SetShape(x uint32, shape []uint32) {
	if len(shape) == 0 || len(shape) > 4 {
		g.Shape[x] = shape
	}
}

// ShapeLike sets the file's shape of x to that of y.
func (g *Graph) ShapeLike(x, y uint32) {
	if s, ok := g.Shape[y]; ok {
		g.Shape[x] = s
	}
}

// ShapeKnown reports whether the shape of x is known before execution.
func (g *Graph) ShapeKnown(x uint32) bool { return g.Operand(x).Known() || g.IsEmpty(x) }

// Dims is the shape of x in the file's terms: empty for a scalar. An unknown
// shape is refused.
func (g *Graph) Dims(x uint32) []uint32 {
	o := g.Operand(x)
	if !g.ShapeKnown(x) {
		g.Refusef("the shape of %q is known only during execution, here it must be known before", o.Name)
	}
	if s, ok := g.Shape[x]; ok {
		return s
	}
	return o.Dimensions
}

// Rank is the rank of x in the file's terms.
func (g *Graph) Rank(x uint32) int {
	if s, ok := g.Shape[x]; ok {
		return len(s)
	}
	o := g.Operand(x)
	if len(o.Dimensions) == 0 {
		g.Refusef("the rank of %q is known only during execution, here it must be known before", o.Name)
	}
	return len(o.Dimensions)
}

// Unmerged is x where NNAPI holds its dimensions as they are: those of a rank above 4 are merged, and numbers that only an
// execution knows cannot count them.
func (g *Graph) Unmerged(x uint32) uint32 {
	if n := len(g.Shape[x]); n > 4 {
		g.Refusef("a tensor of rank %d by numbers that are known only during execution: NNAPI's have at most 4", n)
	}
	return x
}

// Axis resolves an axis that may count from the back.
func (g *Graph) Axis(a int64, rank int) int {
	if a < 0 {
		a += int64(rank)
	}
	if a < 0 || a >= int64(rank) {
		g.Failf("axis %d of rank %d", a, rank)
	}
	return int(a)
}

// CopyOf is x as the result of an operation: outputs of a subgraph can be
// neither its inputs nor constants.
func (g *Graph) CopyOf(x uint32) uint32 {
	o := *g.Operand(x)
	out := o
	o.Data = nil
	op, in := nn.OpMaximum, []uint32{x, x}
	switch {
	case o.Type == nn.TensorBool8:
		op = nn.OpLogicalOr
	case o.Type == nn.TensorQuant16Symm:
		op, in = nn.OpCast, []uint32{x}
	case o.Known() && len(o.Dimensions) <= 4:
		list := make([]int64, len(o.Dimensions))
		for i, d := range o.Dimensions {
			list[i] = int64(d)
		}
		op, in = nn.OpReshape, []uint32{x, g.Int32Tensor(list...)}
	}
	out.Lifetime, out.Data = nn.TemporaryVariable, nil
	y := g.Add(out)
	g.Sub.Operations = append(g.Sub.Operations, nn.Operation{Type: op, Inputs: in, Outputs: []uint32{y}, Name: g.Node})
	g.ShapeLike(y, x)
	return y
}

// Output makes x an output of the subgraph.
func (g *Graph) Output(x uint32) {
	if g.Operand(x).Lifetime != nn.TemporaryVariable {
		x = g.CopyOf(x)
	}
	g.Operand(x).Lifetime = nn.SubgraphOutput
	g.keepShape(x)
	g.Sub.Outputs = append(g.Sub.Outputs, x)
}

// Input makes o an input of the subgraph, of a shape of the file.
func (g *Graph) Input(o nn.Operand, shape []uint32) uint32 {
	o.Lifetime, o.Dimensions = nn.SubgraphInput, Held(shape)
	if o.Known() {
		g.Spend(o.Bytes())
	}
	x := g.Add(o)
	g.SetShape(x, shape)
	g.keepShape(x)
	g.Sub.Inputs = append(g.Sub.Inputs, x)
	return x
}

// keepShape states the file's shape of an input or output with more than four dimensions.
func (g *Graph) keepShape(x uint32) {
	if shape := g.Shape[x]; len(shape) > 4 {
		g.Operand(x).Unmerged = shape
	} else {
		g.Operand(x).Unmerged = nil
	}
}
