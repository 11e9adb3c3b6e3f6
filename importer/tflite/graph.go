package tflite

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/refcpu"
)

// none is the operand of an omitted input and of a tensor without a value.
const none = ^uint32(0)

// graph is a subgraph of the file on its way to an nn.Subgraph.
//
// Its methods leave by panic with an *Error or a refusal; catch turns that into
// an error at the borders: the whole subgraph and each of its operators.
type graph struct {
	im      *importer
	index   int // of the subgraph in the file
	table   table
	tensors []table
	sub     nn.Subgraph
	// value is the operand that holds each tensor of the file, none before an
	// operator gives it. Two tensors may share an operand.
	value  []uint32
	states []state
	// shape is the file's shape of operands that NNAPI holds in another: scalars
	// as one element, more than four dimensions with the first ones merged.
	shape map[uint32][]uint32
	// wide are INT64 constants with values that 32 bits do not hold.
	wide map[uint32][]int64
	// known are constants of the importer by their bytes, so that each exists once.
	known map[string]uint32
	// reals are 16-bit values in float32 by operand.
	reals   map[uint32]uint32
	resized bool // the shapes of tensors in the file do not hold
	initial bool // the subgraph of a CALL_ONCE
	// handles are the names of resource variables by tensor.
	handles map[int]string
	where   string
}

// failf leaves with an error of the file.
func (g *graph) failf(format string, args ...any) {
	panic(&Error{g.where, fmt.Errorf(format, args...)})
}

// refusef leaves because NNAPI has no form of something.
func (g *graph) refusef(format string, args ...any) {
	panic(refusal{reason: fmt.Sprintf(format, args...)})
}

// unforeseen begins the error of a file that its operator's conversion does not
// check enough; the tests take it for a failure.
const unforeseen = "the operator's tensors do not fit each other"

// catch ends a panic of failf or refusef.
func (g *graph) catch(err *error) {
	switch e := recover().(type) {
	case nil:
	case *Error:
		*err = e
	case refusal:
		*err = &Error{g.where, errors.New(e.reason)}
	case runtime.Error: // a file that no check foresaw must not end the program
		*err = &Error{g.where, fmt.Errorf("%s: %w", unforeseen, e)}
	default:
		panic(e)
	}
}

// tensorAt checks an index of a tensor.
func (g *graph) tensorAt(what string, k int, t int64) int {
	if t < 0 || t >= int64(len(g.tensors)) {
		g.failf("%s %d names tensor %d of %d", what, k, t, len(g.tensors))
	}
	return int(t)
}

// add appends an operand.
func (g *graph) add(o nn.Operand) uint32 {
	if len(g.sub.Operands) >= 4*maxOperations {
		g.failf("more than %d operands", 4*maxOperations)
	}
	g.sub.Operands = append(g.sub.Operands, o)
	return uint32(len(g.sub.Operands) - 1)
}

// spend charges n bytes of tensors.
func (g *graph) spend(n int64) {
	if n < 0 || n > maxTensorBytes {
		g.failf("tensors exceed %d MiB", maxTensorBytes>>20)
	}
	if g.im.bytes += n; g.im.bytes > maxTensorBytes {
		g.failf("tensors exceed %d MiB", maxTensorBytes>>20)
	}
}

// input makes tensor t an input of the subgraph.
func (g *graph) input(t int, o nn.Operand, shape []uint32) {
	if g.value[t] != none {
		g.failf("tensor %d is an input twice", t)
	}
	o.Lifetime, o.Dimensions = nn.SubgraphInput, held(shape)
	if o.Known() {
		g.spend(o.Bytes())
	}
	x := g.add(o)
	g.value[t] = x
	g.setShape(x, shape)
	g.sub.Inputs = append(g.sub.Inputs, x)
}

// operand is the operand at x; it moves when operands are added.
func (g *graph) operand(x uint32) *nn.Operand { return &g.sub.Operands[x] }

// isConst reports whether the value of x is known now.
func (g *graph) isConst(x uint32) bool { return x != none && g.operand(x).IsConst() }

// constant adds a constant of the importer, once for equal ones.
func (g *graph) constant(o nn.Operand) uint32 {
	if n := g.operandBytes(&o); int64(len(o.Data)) != n {
		g.failf("a constant %v%v of %d bytes", o.Type, o.Dimensions, len(o.Data))
	}
	o.Lifetime = nn.ConstantCopy
	if len(o.Data) > 256 {
		g.spend(int64(len(o.Data)))
		return g.add(o)
	}
	key := fmt.Sprint(o.Type, o.Dimensions, o.Scale, o.ZeroPoint, o.Data)
	x, ok := g.known[key]
	if !ok {
		x = g.add(o)
		g.known[key] = x
	}
	return x
}

func (g *graph) operandBytes(o *nn.Operand) int64 {
	if o.Type.IsScalar() {
		return int64(o.Type.ElementBytes())
	}
	return o.Bytes()
}

func (g *graph) int32Scalar(v int64) uint32 {
	if v < math.MinInt32 || v > math.MaxInt32 {
		g.failf("%d does not fit 32 bits", v)
	}
	return g.constant(nn.Operand{Type: nn.Int32, Data: binary.LittleEndian.AppendUint32(nil, uint32(v))})
}

func (g *graph) boolScalar(v bool) uint32 {
	b := byte(0)
	if v {
		b = 1
	}
	return g.constant(nn.Operand{Type: nn.Bool, Data: []byte{b}})
}

// int32Tensor is a constant TENSOR_INT32 of rank 1.
func (g *graph) int32Tensor(list ...int64) uint32 {
	return g.int32Shaped([]uint32{uint32(len(list))}, list)
}

func (g *graph) int32Shaped(dims []uint32, list []int64) uint32 {
	var data []byte
	for _, v := range list {
		if v < math.MinInt32 || v > math.MaxInt32 {
			g.failf("%d does not fit 32 bits", v)
		}
		data = binary.LittleEndian.AppendUint32(data, uint32(v))
	}
	return g.constant(nn.Operand{Type: nn.TensorInt32, Dimensions: dims, Data: data})
}

// floatTensor is a constant TENSOR_FLOAT32.
func (g *graph) floatTensor(dims []uint32, list []float32) uint32 {
	data := make([]byte, 0, 4*len(list))
	for _, v := range list {
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(v))
	}
	return g.constant(nn.Operand{Type: nn.TensorFloat32, Dimensions: dims, Data: data})
}

// emit adds an operation with one output of the type and quantization of out.
func (g *graph) emit(op nn.OperationType, out nn.Operand, in ...uint32) uint32 {
	return g.emitAll(op, []nn.Operand{out}, in...)[0]
}

// emitAll adds an operation and returns its outputs. Their types and
// quantizations are those of outs; their shapes follow from the inputs, those
// of outs stand where they cannot be known. An operation of constants is
// computed at once.
func (g *graph) emitAll(op nn.OperationType, outs []nn.Operand, in ...uint32) []uint32 {
	if results, ok := g.adapt(op, outs, in); ok {
		return results
	}
	if g.im.operations++; g.im.operations > maxOperations {
		g.failf("more than %d operations", maxOperations)
	}
	o := nn.Operation{Type: op, Inputs: slices.Clone(in)}
	for _, x := range outs {
		x.Lifetime, x.Data, x.Channel = nn.TemporaryVariable, nil, nil
		if opspec.HasShapeRule(op) {
			x.Dimensions = nil
		}
		o.Outputs = append(o.Outputs, g.add(x))
	}
	v := opspec.View{Operands: g.sub.Operands}
	a, err := v.Bind(&o)
	if err != nil {
		g.refusef("%v", err)
	}
	if err := a.CheckRank(); err != nil {
		g.refusef("%v: %v", op, err)
	}
	if opspec.HasShapeRule(op) {
		dims, err := a.OutputDims()
		switch {
		case errors.Is(err, opspec.ErrUnknown):
			for k, x := range o.Outputs {
				g.operand(x).Dimensions = outs[k].Dimensions
			}
		case err != nil:
			g.failf("%v", err)
		default:
			for k, x := range o.Outputs {
				g.operand(x).Dimensions = slices.Clone(dims[k])
			}
		}
	}
	if g.fold(&o) {
		return slices.Clone(o.Outputs)
	}
	for _, x := range o.Outputs {
		if p := g.operand(x); p.Known() {
			g.spend(p.Bytes())
		}
	}
	g.sub.Operations = append(g.sub.Operations, o)
	return slices.Clone(o.Outputs)
}

// notFolded are operations that are never computed at import: they have inner
// subgraphs or draw random numbers.
var notFolded = []nn.OperationType{nn.OpIf, nn.OpWhile, nn.OpRandomMultinomial}

// fold computes an operation whose inputs are all constants, within bounds.
func (g *graph) fold(o *nn.Operation) bool {
	if slices.Contains(notFolded, o.Type) {
		return false
	}
	work := int64(0)
	m := &nn.Model{Main: nn.Subgraph{}}
	part := nn.Operation{Type: o.Type}
	for _, x := range o.Inputs {
		p := *g.operand(x)
		if !p.IsConst() && p.Lifetime != nn.NoValue {
			return false
		}
		work += int64(len(p.Data))
		part.Inputs = append(part.Inputs, uint32(len(m.Main.Operands)))
		m.Main.Operands = append(m.Main.Operands, p)
	}
	for _, x := range o.Outputs {
		p := *g.operand(x)
		if !p.Known() || p.Elements() < 0 {
			return false
		}
		work += g.operandBytes(&p)
		p.Lifetime = nn.SubgraphOutput
		i := uint32(len(m.Main.Operands))
		part.Outputs, m.Main.Outputs = append(part.Outputs, i), append(m.Main.Outputs, i)
		m.Main.Operands = append(m.Main.Operands, p)
	}
	m.Main.Operations = []nn.Operation{part}
	work += opspec.ModelView(&m.Main).MACs(&part)
	size := int64(0)
	for _, x := range o.Outputs {
		size += g.operandBytes(g.operand(x))
	}
	if work < 0 || g.im.foldWork+work > maxFoldWork || g.im.folded+size > maxFolded {
		return false
	}
	g.im.foldWork += work
	g.im.folded += size
	g.spend(size)
	program, err := refcpu.Compile(m)
	if err != nil {
		g.failf("%v", err)
	}
	values, err := program.Execute(nil, refcpu.Options{})
	if err != nil {
		g.failf("%v", err)
	}
	for k, x := range o.Outputs {
		p := g.operand(x)
		p.Lifetime, p.Data = nn.ConstantCopy, values[k].Data
	}
	return true
}

// held is the shape in which NNAPI holds a tensor of a shape of the file.
func held(shape []uint32) []uint32 {
	switch n := len(shape); {
	case n == 0:
		return []uint32{1}
	case n > 4:
		merged := nn.Elements(shape[:n-3])
		return append([]uint32{uint32(max(merged, 0))}, shape[n-3:]...)
	}
	return shape
}

// setShape states the file's shape of x where it is not the one that NNAPI
// holds.
func (g *graph) setShape(x uint32, shape []uint32) {
	if len(shape) == 0 || len(shape) > 4 {
		g.shape[x] = shape
	}
}

// shapeLike gives x the file's shape of y.
func (g *graph) shapeLike(x, y uint32) {
	if s, ok := g.shape[y]; ok {
		g.shape[x] = s
	}
}

// shapeKnown reports whether the shape of x is known before execution.
func (g *graph) shapeKnown(x uint32) bool { return g.operand(x).Known() }

// dims is the shape of x in the file's terms: empty for a scalar. An unknown
// shape is refused.
func (g *graph) dims(x uint32) []uint32 {
	o := g.operand(x)
	if !o.Known() {
		g.refusef("the shape of %q is known only during execution, here it must be known before", o.Name)
	}
	if s, ok := g.shape[x]; ok {
		return s
	}
	return o.Dimensions
}

// rank is the rank of x in the file's terms.
func (g *graph) rank(x uint32) int {
	if s, ok := g.shape[x]; ok {
		return len(s)
	}
	o := g.operand(x)
	if len(o.Dimensions) == 0 {
		g.refusef("the rank of %q is known only during execution, here it must be known before", o.Name)
	}
	return len(o.Dimensions)
}

// axis resolves an axis that may count from the back.
func (g *graph) axis(a int64, rank int) int {
	if a < 0 {
		a += int64(rank)
	}
	if a < 0 || a >= int64(rank) {
		g.failf("axis %d of rank %d", a, rank)
	}
	return int(a)
}

// copyOf is x as the result of an operation: outputs of a subgraph can be
// neither its inputs nor constants.
func (g *graph) copyOf(x uint32) uint32 {
	o := *g.operand(x)
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
		op, in = nn.OpReshape, []uint32{x, g.int32Tensor(list...)}
	}
	out.Lifetime, out.Data = nn.TemporaryVariable, nil
	y := g.add(out)
	g.sub.Operations = append(g.sub.Operations, nn.Operation{Type: op, Inputs: in, Outputs: []uint32{y}})
	g.shapeLike(y, x)
	return y
}

// output makes x an output of the subgraph.
func (g *graph) output(x uint32) {
	if g.operand(x).Lifetime != nn.TemporaryVariable {
		x = g.copyOf(x)
	}
	g.operand(x).Lifetime = nn.SubgraphOutput
	g.sub.Outputs = append(g.sub.Outputs, x)
}

// takeOutputs makes the outputs that the file lists outputs of the subgraph.
func (g *graph) takeOutputs() {
	outputs := g.table.vector("outputs")
	if outputs.n == 0 {
		g.failf("no outputs")
	}
	for k := range outputs.n {
		t := g.tensorAt("output", k, outputs.int(k))
		x := g.load(t)
		if list, ok := g.wide[x]; ok {
			g.failf("output %d is the constant %v, which does not fit 32 bits", k, list)
		}
		g.output(x)
		if o := g.operand(g.sub.Outputs[k]); o.Name == "" {
			o.Name = g.tensors[t].text("name")
		}
	}
}

func (g *graph) compact() { g.compactInto(&g.sub) }

// compactInto drops the operations whose results nothing reads and the operands
// that nothing refers to, and stores the rest in to. Order is kept.
func (g *graph) compactInto(to *nn.Subgraph) {
	s := &g.sub
	used := make([]bool, len(s.Operands))
	lists := [][]uint32{s.Inputs, s.Outputs}
	mark := func(list []uint32) {
		for _, x := range list {
			used[x] = true
		}
	}
	mark(s.Inputs)
	mark(s.Outputs)
	live := make([]bool, len(s.Operations))
	for i := len(s.Operations) - 1; i >= 0; i-- {
		o := &s.Operations[i]
		if slices.ContainsFunc(o.Outputs, func(x uint32) bool { return used[x] }) {
			live[i] = true
			mark(o.Inputs)
			mark(o.Outputs)
			lists = append(lists, o.Inputs, o.Outputs)
		}
	}
	operations := s.Operations[:0]
	for i, o := range s.Operations {
		if live[i] {
			operations = append(operations, o)
		}
	}
	s.Operations = operations
	index, kept := make([]uint32, len(s.Operands)), s.Operands[:0]
	for i, o := range s.Operands {
		if used[i] {
			index[i] = uint32(len(kept))
			kept = append(kept, o)
		}
	}
	clear(s.Operands[len(kept):])
	s.Operands = kept
	for _, l := range lists {
		for i, x := range l {
			l[i] = index[x]
		}
	}
	*to = *s
}
