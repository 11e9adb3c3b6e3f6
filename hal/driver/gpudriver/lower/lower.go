// Package lower lowers a canonical graph to steps: the parts that all lowerings of operations share. The
// lowerings of the families of operations are in package family.
package lower

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"

	"github.com/x448/float16"

	"github.com/nnsoc/nnsoc/hal/driver/compile"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/elementwise"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/step"
	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/hal/driver/graph/legal"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// Operation lowers operations that this driver cannot lower, or otherwise; see
// compile.OperationLowering.
type Operation = compile.OperationLowering[*Lowering]

// Lowering lowers the operations of one graph. It is used twice: to find out whether an
// operation can be lowered, when steps are thrown away, and to lower.
type Lowering struct {
	compile.Legalization[*Lowering]
	graph   *graph.Graph
	view    opspec.View
	relaxed bool
	machine Machine
	exact   map[uint32]bool // storage that stays float32 in a relaxed model
	storage []uint32        // of each operand, see graph.Storage; nil in support queries

	op     int // of the model, being lowered
	values map[uint32]*layout.Tensor
	list   step.List
}

// Machine is what lowering knows of the GPU.
type Machine struct {
	Texels bool           // convolutions of floats use package texel
	Tile   kernel.Machine // by which tiles are chosen
	// Candidates are the cuts that kernels use in place of those of the least weight, by operation.
	Candidates map[int]string
}

// New begins to lower a graph; first come before the table.
func New(t *legal.Table[*Lowering], g *graph.Graph, machine Machine, first []Operation) *Lowering {
	v := g.View()
	return &Lowering{Legalization: compile.Legalize(t, first, g, v), graph: g, view: v, relaxed: g.Relaxed, machine: machine, values: map[uint32]*layout.Tensor{}}
}

// Graph lowers a graph whose operations are all supported.
func Graph(t *legal.Table[*Lowering], g *graph.Graph, machine Machine, first []Operation) (*step.List, error) {
	l := New(t, g, machine, first)
	l.storage = g.Storage()
	l.exact = hashed(g, l.storage)
	keepBeyondHalf(g, l.storage, l.exact)
	constants := 0
	for i := range g.Operands {
		if o := &g.Operands[i]; o.IsConst() {
			constants += int(o.Bytes())
		}
	}
	l.list.Consts.Expect(constants)
	var err error
	if l.list.Inputs, err = l.clients(g.Inputs, true); err != nil {
		return nil, err
	}
	for i := range g.Operations {
		if err := l.Lowers(i); err != nil {
			return nil, fmt.Errorf("operation %d: %w", l.op, err)
		}
	}
	if l.list.Outputs, err = l.clients(g.Outputs, false); err != nil {
		return nil, err
	}
	for _, x := range g.Outputs {
		l.list.Counts = append(l.list.Counts, l.list.Extents[x])
	}
	fuse(&l.list)
	return &l.list, nil
}

// hashed is the storage of the operands whose bits LSH_PROJECTION reads.
func hashed(g *graph.Graph, storage []uint32) map[uint32]bool {
	set := map[uint32]bool{}
	for i := range g.Operations {
		if op := &g.Operations[i]; op.Type == nn.OpLshProjection {
			if p, err := opspec.Read[opspec.Lsh](g.View(), op); err == nil { // else the table has the reason
				set[storage[p.Hash]], set[storage[p.Input]] = true, true
			}
		}
	}
	return set
}

// keepBeyondHalf adds the constants with finite values that a half does not hold, and the results that operations make
// of them: sums that round, such as (x + 1.5*2^23) - 1.5*2^23, would otherwise be infinite.
func keepBeyondHalf(g *graph.Graph, storage []uint32, exact map[uint32]bool) {
	for i := range g.Operations {
		op := &g.Operations[i]
		for _, x := range op.Inputs {
			o := &g.Operands[x]
			if o.Type != nn.TensorFloat32 || o.Lifetime != nn.ConstantCopy || o.Elements() != 1 || len(o.Data) != 4 {
				continue
			}
			v := math.Float32frombits(binary.LittleEndian.Uint32(o.Data))
			if h := float16.Fromfloat32(v); !h.IsInf(0) || math.IsInf(float64(v), 0) {
				continue
			}
			exact[storage[x]] = true
			for _, y := range op.Outputs {
				exact[storage[y]] = true
			}
		}
	}
}

// Lowers lowers operation i; the error is the reason of a refusal.
func (l *Lowering) Lowers(i int) error {
	op := &l.graph.Operations[i]
	l.op = l.graph.Origin[i]
	if err := l.checkOperands(op); err != nil {
		return err
	}
	if l.nothing(op) {
		return nil
	}
	return l.LowerWith(l, op)
}

// nothing reports whether the outputs of an operation are known to be empty.
func (l *Lowering) nothing(op *nn.Operation) bool {
	for _, x := range op.Outputs {
		if o := &l.graph.Operands[x]; !l.view.Final || l.graph.OpenShape(op.Type) || o.Elements() != 0 {
			return false
		}
	}
	return true
}

// Limits of operands.
var (
	SomeElements = legal.Limit("tensors with elements are needed")
	knownShape   = legal.Limit("a known shape is needed")
	maxTensor    = legal.Limit("at most %d MiB", maxTensorBytes>>20)
	notConstant  = legal.Limit("outputs are no constants")
	stored       = legal.Limit("this GPU has no storage for it")
)

// maxTensorBytes bounds a tensor: the arena holds several.
const maxTensorBytes = layout.MaxRegion / 4

// checkOperands refuses operands without a shape, and those that do not fit the
// arena.
func (l *Lowering) checkOperands(op *nn.Operation) error {
	for k, list := range [2][]uint32{op.Inputs, op.Outputs} {
		for _, x := range list {
			if uint64(x) >= uint64(len(l.graph.Operands)) {
				return fmt.Errorf("%s: operand %d of %d does not exist", op.Type, x, len(l.graph.Operands))
			}
			o := &l.graph.Operands[x]
			if o.Lifetime == nn.NoValue || o.Type.IsScalar() || o.IsConst() && len(o.Data) == 0 {
				continue // left out, or read when the model is prepared
			}
			if k == 1 && l.graph.OpenShape(op.Type) {
				continue // the lowering knows a bound
			}
			if !o.Known() && !(l.view.Final && len(o.Dimensions) > 0) {
				return knownShape.Broken("operand %d has the shape %v", x, o.Dimensions)
			}
			if b := o.Bytes(); b < 0 || b > maxTensorBytes {
				return maxTensor.Broken("operand %d has the shape %v", x, o.Dimensions)
			}
		}
	}
	for _, x := range op.Outputs {
		if l.graph.Operands[x].IsConst() {
			return notConstant.Broken("operand %d is one", x)
		}
	}
	return nil
}

// View reads the parameters of operations.
func (l *Lowering) View() opspec.View { return l.view }

// Operand is an operand of the graph, which must not be changed.
func (l *Lowering) Operand(x uint32) *nn.Operand { return &l.graph.Operands[x] }

// elements is how tensors of a type are stored.
var elements = map[nn.OperandType]layout.Element{
	nn.TensorFloat32:              layout.F32,
	nn.TensorFloat16:              layout.F16,
	nn.TensorInt32:                layout.I32,
	nn.TensorBool8:                layout.U8,
	nn.TensorQuant8Asymm:          layout.U8,
	nn.TensorQuant8AsymmSigned:    layout.I8,
	nn.TensorQuant8Symm:           layout.I8,
	nn.TensorQuant8SymmPerChannel: layout.I8,
	nn.TensorQuant16Symm:          layout.I16,
	nn.TensorQuant16Asymm:         layout.U16,
}

// Stored is the rule that operands have such a type.
func Stored() legal.Rule { return legal.Stored(slices.Sorted(maps.Keys(elements))) }

// Element is how an operand of a type is stored.
func (l *Lowering) Element(t nn.OperandType) (layout.Element, error) {
	e, ok := elements[t]
	if !ok {
		return 0, stored.Broken("%s", t)
	}
	if t == nn.TensorFloat32 && l.relaxed {
		e = layout.F16
	}
	return e, nil
}

// Value is the tensor of an operand, dense, in the arena or the constants.
func (l *Lowering) Value(i uint32) (*layout.Tensor, error) {
	if l.storage != nil {
		i = l.storage[i]
	}
	if t := l.values[i]; t != nil {
		return t, nil
	}
	o := &l.graph.Operands[i]
	e, err := l.Element(o.Type)
	if err != nil {
		return nil, err
	}
	if l.exact[i] && e == layout.F16 && o.Type == nn.TensorFloat32 {
		e = layout.F32
	}
	n := int(o.Elements())
	if n == 0 && !l.view.Final {
		return nil, SomeElements.Broken("operand %d has the shape %v", i, o.Dimensions)
	}
	t := &layout.Tensor{Region: layout.Arena, Elem: e, N: n, First: -1}
	if o.IsConst() {
		if err := l.constant(i, t); err != nil {
			return nil, err
		}
	} else {
		l.list.Tensors = append(l.list.Tensors, t)
	}
	l.values[i] = t
	return t, nil
}

// constant stores a constant operand.
func (l *Lowering) constant(i uint32, t *layout.Tensor) error {
	data, err := l.view.Data(i)
	if err != nil {
		return err
	}
	t.Region = layout.Consts
	t.Off = l.list.Consts.Reserve(t.Bytes() + layout.Guard)
	out := l.list.Consts.Data[t.Off:]
	if l.graph.Operands[i].Type != nn.TensorFloat32 || t.Elem != layout.F16 {
		copy(out, data)
		return nil
	}
	for k := range t.N {
		t.Elem.PutFloat(out[2*k:], math.Float32frombits(binary.LittleEndian.Uint32(data[4*k:])))
	}
	return nil
}

// Pair is the input and output tensors of an operation with one of each.
func (l *Lowering) Pair(in, out uint32) (x, y *layout.Tensor, err error) {
	if x, err = l.Value(in); err != nil {
		return nil, nil, err
	}
	y, err = l.Value(out)
	return x, y, err
}

// Temporary is a tensor between two steps of one operation.
func (l *Lowering) Temporary(e layout.Element, n int) *layout.Tensor {
	t := &layout.Tensor{Region: layout.Arena, Elem: e, N: n, First: -1}
	l.list.Tensors = append(l.list.Tensors, t)
	return t
}

// Add appends a step of the operation being lowered.
func (l *Lowering) Add(k kernel.Kernel, reads, writes []*layout.Tensor) {
	if c, ok := k.(kernel.Chooser); ok {
		if name, asked := l.machine.Candidates[l.op]; asked {
			c.Select(name)
		}
	}
	l.list.Steps = append(l.list.Steps, step.Step{Op: l.op, Kernel: k, Reads: reads, Writes: writes})
}

// Launch is Add of a kernel that reads all its tensors but those that it writes. Of these some
// may be nil.
func (l *Lowering) Launch(k kernel.Kernel, writes ...*layout.Tensor) {
	writes = slices.DeleteFunc(writes, func(t *layout.Tensor) bool { return t == nil })
	reads := slices.DeleteFunc(tensors(reflect.ValueOf(k)), func(t *layout.Tensor) bool { return slices.Contains(writes, t) })
	l.Add(k, reads, writes)
}

// tensors are those that the exported fields of a value hold.
func tensors(v reflect.Value) (list []*layout.Tensor) {
	switch v.Kind() {
	case reflect.Pointer:
		if t, ok := v.Interface().(*layout.Tensor); !ok {
			return tensors(v.Elem())
		} else if t != nil {
			return []*layout.Tensor{t}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				list = append(list, tensors(v.Field(i))...)
			}
		}
	case reflect.Slice, reflect.Array:
		if k := v.Type().Elem().Kind(); k != reflect.Pointer && k != reflect.Struct { // of numbers, maybe many
			return nil
		}
		for i := range v.Len() {
			list = append(list, tensors(v.Index(i))...)
		}
	}
	return list
}

// Pages are the pages that padding reads.
func (l *Lowering) Pages() *layout.Pages { return &l.list.Pages }

// InArena is a tensor that tables of arena offsets can point into: a constant is
// copied.
func (l *Lowering) InArena(t *layout.Tensor) *layout.Tensor {
	if t.Region == layout.Arena {
		return t
	}
	c := l.Temporary(t.Elem, t.N)
	l.Convert(t, c)
	return c
}

// Convert changes the storage of a tensor.
func (l *Lowering) Convert(from, to *layout.Tensor) {
	l.Map(elementwise.Function{Op: elementwise.Copy}, from, to)
}

// Map adds a function of one dense tensor.
func (l *Lowering) Map(f elementwise.Function, x, out *layout.Tensor) {
	l.Launch(&elementwise.Kernel{Function: f, Axes: layout.Flat(out.N, 2), In: []*layout.Tensor{x}, Out: out}, out)
}

// Fault lets an execution fail for a reason where a kernel sets a word.
func (l *Lowering) Fault(word *layout.Tensor, reason string) {
	l.list.Faults = append(l.list.Faults, step.Fault{Op: l.op, Word: word, Reason: reason})
}

// Open gives an output a shape, of which the word in count is the number of valid entries when the
// program has run.
func (l *Lowering) Open(x uint32, dims []uint32, count *layout.Tensor) {
	if l.list.Extents == nil {
		l.list.Extents = map[uint32]*layout.Tensor{}
	}
	l.graph.Operands[x].Dimensions = dims
	l.list.Extents[x] = count
}

// Machine is what lowering knows of the GPU.
func (l *Lowering) Machine() *Machine { return &l.machine }

// Constants are the program's constants.
func (l *Lowering) Constants() *layout.Constants { return &l.list.Consts }

// Floats reads a constant float operand as float32.
func (l *Lowering) Floats(i uint32, what string) ([]float32, error) {
	data, err := l.view.Data(i)
	if err != nil {
		return nil, fmt.Errorf("%s is not constant: %w", what, err)
	}
	e := elements[l.graph.Operands[i].Type]
	if e != layout.F32 && e != layout.F16 {
		return nil, stored.Broken("%s of %s", what, l.graph.Operands[i].Type)
	}
	v := make([]float32, len(data)/e.Bytes())
	for k := range v {
		v[k] = e.Float(data[k*e.Bytes():])
	}
	return v, nil
}

// clients are the tensors that exchange data with the client for model inputs or
// outputs: where the storage differs from the operand's type, a tensor of that type
// and a conversion.
func (l *Lowering) clients(operands []uint32, input bool) ([]*layout.Tensor, error) {
	var out []*layout.Tensor
	for _, x := range operands {
		o := &l.graph.Operands[x]
		if input && (o.IsConst() || o.Lifetime == nn.NoValue) { // a parameter, or left out
			out = append(out, nil)
			continue
		}
		if !o.Known() && !l.view.Final || o.Type.IsScalar() {
			return nil, knownShape.Broken("operand %d, an input or output, is %s of shape %v", x, o.Type, o.Dimensions)
		}
		t, err := l.Value(x)
		if err != nil {
			return nil, fmt.Errorf("operand %d: %w", x, err)
		}
		if o.Type == nn.TensorFloat32 && t.Elem == layout.F16 {
			c := l.Temporary(layout.F32, t.N)
			l.op = l.neighbour(x, input)
			if input {
				l.Convert(c, t)
			} else {
				l.Convert(t, c)
			}
			t = c
		}
		out = append(out, t)
	}
	return out, nil
}

// neighbour is the operation that a conversion is charged to: the first reader of a
// model input, the writer of an output.
func (l *Lowering) neighbour(x uint32, input bool) int {
	for i := range l.graph.Operations {
		list := l.graph.Operations[i].Outputs
		if input {
			list = l.graph.Operations[i].Inputs
		}
		for _, y := range list {
			if x == y {
				return l.graph.Origin[i]
			}
		}
	}
	return 0
}
