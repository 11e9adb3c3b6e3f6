// Package export writes models as TensorFlow Lite files, which importer/tflite
// and other tools read.
//
// An operation becomes the builtin operator of its name; features that the operator lacks are added around it: explicit
// padding is a PAD, a loop's values that it only reads are carried. A model that the format cannot express is an error
// that names the operation. The states of recurrent operations become variable tensors, which the interpreter keeps:
// they are no inputs and outputs of the network any more.
package export

import (
	"fmt"

	"github.com/nnsoc/nnsoc/importer/tflite/tflitefile"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// maxBytes bounds the constants of a file: its offsets are of 31 bits.
const maxBytes = 1<<31 - 1<<24

// Bytes is a model as a file.
func Bytes(m *nn.Model) ([]byte, error) {
	file, _, err := Grouped(m, nil)
	if err != nil {
		return nil, err
	}
	return file.Bytes(), nil
}

// Group is operations of the main subgraph that are written one after the other, or, with a name, the custom operator
// that replaces them.
type Group struct {
	Operations []int
	Name       string
	Options    []byte
	First      []tflitefile.Tensor // inputs in front of the others
	Inputs     []uint32            // operands of the model
	Outputs    []uint32
}

// Grouped is a model as a file whose main subgraph consists of groups, in their order; without
// groups, of its operations. Tensors gives the tensor of each operand of the main subgraph.
func Grouped(m *nn.Model, groups []Group) (file *tflitefile.Model, tensors map[uint32]int32, err error) {
	e := &exporter{model: m, groups: groups, states: map[int]bool{}}
	defer func() {
		if err != nil {
			err = fmt.Errorf("tflite: %s%w", e.where, err)
		}
	}()
	defer try.Catch(&err)
	total := int64(0)
	for g := range m.Subgraphs() {
		for i := range g.Operands {
			total += int64(len(g.Operands[i].Data))
		}
	}
	if total > maxBytes {
		return nil, nil, fmt.Errorf("%d bytes of constants, at most %d fit a file", total, maxBytes)
	}
	e.bodies = bodies(m)
	e.file.Subgraphs = make([]tflitefile.Subgraph, 1+len(m.Referenced))
	for i := range e.file.Subgraphs {
		if g := e.subgraph(i); i == 0 {
			tensors = g.tensors
		}
	}
	e.where = ""
	for _, s := range m.States {
		if !e.states[s.Input] {
			failf("state %d (input %d): no operation of the format keeps it", s.Input, s.Input)
		}
	}
	return &e.file, tensors, nil
}

// customCode is the builtin code of custom operators.
const customCode = 32

// failf ends the export of a model.
func failf(format string, args ...any) { try.E(fmt.Errorf(format, args...)) }

// exporter writes one model.
type exporter struct {
	model  *nn.Model
	groups []Group // of the main subgraph; nil: its operations
	file   tflitefile.Model
	states map[int]bool // inputs of the main subgraph that became variables
	bodies map[int]bool // subgraphs of the file that are bodies of loops
	where  string       // of an error: what is written now, with ": "
}

// graph is a subgraph while it is written.
type graph struct {
	*exporter
	index   int // 0 is the main subgraph, 1+k the referenced subgraph k
	in      *nn.Subgraph
	view    opspec.View
	out     *tflitefile.Subgraph
	tensors map[uint32]int32 // by operand
	dropped map[uint32]bool  // outputs that are states
}

func (e *exporter) subgraph(index int) *graph {
	in := &e.model.Main
	if index > 0 {
		in = &e.model.Referenced[index-1]
	}
	g := &graph{exporter: e, index: index, in: in, view: opspec.ModelView(in), out: &e.file.Subgraphs[index],
		tensors: map[uint32]int32{}, dropped: map[uint32]bool{}}
	for _, x := range in.Inputs {
		g.tensor(x)
	}
	groups := e.groups
	if index > 0 || groups == nil {
		groups = []Group{{}}
		for i := range in.Operations {
			groups[0].Operations = append(groups[0].Operations, i)
		}
	}
	for i := range groups {
		g.group(&groups[i])
	}
	g.where = fmt.Sprintf("subgraph %d: ", index)
	for i, x := range in.Inputs {
		if index > 0 || !e.states[i] {
			g.out.Inputs = append(g.out.Inputs, g.tensor(x))
		}
	}
	for _, x := range in.Outputs {
		if !g.dropped[x] {
			g.out.Outputs = append(g.out.Outputs, g.tensor(x))
		}
	}
	if e.bodies[index] {
		g.carry()
	}
	if index == 0 && len(g.out.Inputs) == 0 && len(in.Inputs) > 0 {
		e.where = ""
		failf("the model has no input but states")
	}
	return g
}

// group writes operations, or the custom operator in their place.
func (g *graph) group(of *Group) {
	if of.Name == "" {
		for _, i := range of.Operations {
			g.where = fmt.Sprintf("subgraph %d operation %d (%s): ", g.index, i, g.in.Operations[i].Type)
			g.operation(&g.in.Operations[i])
		}
		return
	}
	g.where = of.Name + ": "
	o := tflitefile.Operator{Code: customCode, Custom: of.Name, CustomOptions: of.Options}
	for _, t := range of.First {
		o.Inputs = append(o.Inputs, g.add(t))
	}
	for _, x := range of.Inputs {
		o.Inputs = append(o.Inputs, g.tensor(x))
	}
	for _, x := range of.Outputs {
		o.Outputs = append(o.Outputs, g.tensor(x))
	}
	g.out.Operators = append(g.out.Operators, o)
}

// operation writes one operation by its row.
func (g *graph) operation(op *nn.Operation) {
	r, ok := rows[op.Type]
	if !ok {
		failf("TensorFlow Lite has no such builtin operator")
	}
	args := try.V(g.view.Bind(op))
	if args.Key == nn.TensorFloat16 && !r.halves {
		failf("TensorFlow Lite does not compute in float16")
	}
	c := &call{graph: g, op: op, args: &args}
	c.o = tflitefile.Operator{Code: r.code, Version: 1, Kind: r.options, Options: tflitefile.Table{}}
	if r.signed > 0 && args.Key == nn.TensorQuant8AsymmSigned {
		c.o.Version = r.signed
	}
	if c.flag("nchw") {
		failf("its images are in NCHW order, the format has NHWC")
	}
	for _, name := range r.inputs {
		c.input(name)
	}
	for _, x := range op.Outputs {
		c.o.Outputs = append(c.o.Outputs, g.tensor(x))
	}
	if r.write != nil {
		r.write(c)
	}
	g.out.Operators = append(g.out.Operators, c.o)
}

// call is an operation while it is written.
type call struct {
	*graph
	op   *nn.Operation
	args *opspec.Args
	o    tflitefile.Operator
}

// input appends the named input, -1 where it is omitted.
func (c *call) input(name string) {
	x := c.args.In(name)
	if x == opspec.None {
		c.o.Inputs = append(c.o.Inputs, -1)
		return
	}
	c.o.Inputs = append(c.o.Inputs, c.tensor(x))
}

func (c *call) inputs(names ...string) {
	for _, n := range names {
		c.input(n)
	}
}

// number is the value of a scalar input.
func (c *call) number(name string) int32 {
	return try.V(c.args.Int32(name))
}

func (c *call) real(name string) float32 {
	return try.V(c.args.Float(name))
}

// flag is the value of a scalar input, false where the form has none.
func (c *call) flag(name string) bool {
	return c.args.Has(name) && try.V(c.args.Bool(name))
}

// list is the value of a tensor of integers.
func (c *call) list(name string) []int32 {
	return try.V(c.args.Int32s(name))
}

// dims is the shape of the named input.
func (c *call) dims(name string) []uint32 {
	return try.V(c.args.Dims(name))
}

// option stores a field of the table of options.
func (c *call) option(name string, v any) { c.o.Options[name] = v }

func (c *call) operand(name string) *nn.Operand { return &c.in.Operands[c.args.In(name)] }
