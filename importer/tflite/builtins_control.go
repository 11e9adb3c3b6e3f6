package tflite

import (
	"slices"

	"github.com/nnsoc/nnsoc/nn"
)

// controlBuiltins are the operators of control flow and of state.
var controlBuiltins = []builtin{
	{code: 118, name: "IF", version: 1, inputs: [2]int{1, many}, outputs: [2]int{1, many}, options: "IfOptions", convert: ifOperator},
	{code: 119, name: "WHILE", version: 1, inputs: [2]int{1, many}, outputs: [2]int{1, many}, options: "WhileOptions", convert: whileOperator},
	{code: 129, name: "CALL_ONCE", version: 1, inputs: [2]int{0, many}, outputs: [2]int{-1, many}, options: "CallOnceOptions", convert: callOnce},
	{code: 142, name: "VAR_HANDLE", version: 1, inputs: [2]int{0, 0}, options: "VarHandleOptions", convert: varHandle},
	{code: 143, name: "READ_VARIABLE", version: 1, inputs: [2]int{1, 1}, convert: readVariable},
	{code: 144, name: "ASSIGN_VARIABLE", version: 1, inputs: [2]int{2, 2}, outputs: [2]int{-1, 0}, convert: assignVariable},
}

// value is an operand as a subgraph sees it from outside.
type value struct {
	operand nn.Operand
	shape   []uint32 // in the file's terms
	known   bool
}

func (g *graph) valueOf(x uint32) value {
	v := value{operand: *g.Operand(x), known: g.ShapeKnown(x)}
	v.operand.Data, v.operand.Name = nil, ""
	if v.known {
		v.shape = g.Dims(x)
	}
	return v
}

// widen makes the shape of v one that holds another shape too.
func (v *value) widen(o value) (changed bool) {
	if !v.known || o.known && slices.Equal(v.shape, o.shape) {
		return false
	}
	v.known = false
	d := slices.Clone(v.operand.Dimensions)
	if len(d) != len(o.operand.Dimensions) {
		d = nil
	}
	for i := range d {
		if d[i] != o.operand.Dimensions[i] {
			d[i] = 0
		}
	}
	v.operand.Dimensions = d
	return true
}

// callee converts a subgraph of the file for given inputs. Its shapes follow
// from theirs, so it is converted anew for each use.
func (c *conversion) callee(index int64, in []value) *graph {
	im := c.im
	if im.depth++; im.depth > maxDepth {
		c.Failf("subgraphs nest more than %d deep", maxDepth)
	}
	defer func() { im.depth-- }()
	g, err := im.open(int(index))
	c.Check(err)
	g.resized = true
	inputs := g.table.Vector("inputs")
	if inputs.N != len(in) {
		c.Failf("%d inputs for subgraph %d, which has %d", len(in), index, inputs.N)
	}
	for k, v := range in {
		t := g.tensorAt("input", k, inputs.Int(k))
		o := v.operand
		if want := g.template(t).Type; o.Type != want {
			c.Failf("input %d of subgraph %d is %v, its tensor %v", k, index, o.Type, want)
		}
		shape := v.shape
		g.input(t, o, shape)
		if !v.known {
			x := g.value[t]
			g.Operand(x).Dimensions = o.Dimensions
			delete(g.Shape, x)
		}
	}
	g.convertOperators()
	return g
}

// results are the outputs of a subgraph, in the types of the given values.
func (g *graph) results(types []value) []uint32 {
	outputs := g.table.Vector("outputs")
	if outputs.N != len(types) {
		g.Failf("subgraph %d has %d outputs, %d needed", g.index, outputs.N, len(types))
	}
	list := make([]uint32, outputs.N)
	for k := range list {
		list[k] = g.To(g.load(g.tensorAt("output", k, outputs.Int(k))), types[k].operand)
	}
	return list
}

// arguments are the inputs of an operator from k on.
func (c *conversion) arguments(k int) (operands []uint32, values []value) {
	for ; k < len(c.in); k++ {
		operands = append(operands, c.x(k))
		values = append(values, c.valueOf(c.x(k)))
	}
	return operands, values
}

// defineControl defines the operator's outputs as those of an IF or WHILE.
func (c *conversion) defineControl(op nn.OperationType, outs []value, in []uint32) {
	declared := make([]nn.Operand, len(outs))
	for k := range outs {
		declared[k] = outs[k].operand
	}
	for k, y := range c.EmitAll(op, declared, in...) {
		if outs[k].known {
			c.SetShape(y, outs[k].shape)
		}
		c.define(k, y)
	}
}

func ifOperator(c *conversion) {
	in, values := c.arguments(1)
	types := make([]value, len(c.outTensors))
	for k := range types {
		types[k].operand = c.out(k)
	}
	var refs [2]uint32
	for i, name := range [2]string{"then", "else"} {
		g := c.callee(c.options.Int(name), values)
		for k, x := range g.results(types) {
			v := g.valueOf(x)
			if i == 0 {
				types[k] = v
			} else {
				types[k].widen(v)
			}
			g.Output(x)
		}
		refs[i] = c.Refer(c.im.model, g.Sub)
	}
	c.defineControl(nn.OpIf, types, append([]uint32{c.x(0), refs[0], refs[1]}, in...))
}

// whileOperator converts the body until the shapes of its values hold in every iteration: those that change are left
// open.
func whileOperator(c *conversion) {
	in, values := c.arguments(0)
	var body *graph
	for again := true; again; {
		body, again = c.callee(c.options.Int("body"), values), false
		for k, x := range body.results(values) {
			if values[k].widen(body.valueOf(x)) {
				again = true
			}
		}
	}
	condition := c.callee(c.options.Int("condition"), values)
	for _, x := range body.results(values) {
		body.Output(x)
	}
	condition.Output(condition.results([]value{{operand: nn.Operand{Type: nn.TensorBool8}}})[0])
	if len(c.outTensors) != len(values) {
		c.Failf("%d outputs for %d values", len(c.outTensors), len(values))
	}
	refs := []uint32{c.Refer(c.im.model, condition.Sub), c.Refer(c.im.model, body.Sub)}
	c.defineControl(nn.OpWhile, values, append(refs, in...))
}

// callOnce runs a subgraph at import: its assignments to variables are their initial values.
func callOnce(c *conversion) {
	im := c.im
	if im.depth++; im.depth > maxDepth {
		c.Failf("subgraphs nest more than %d deep", maxDepth)
	}
	defer func() { im.depth-- }()
	g, err := im.open(int(c.options.Int("init")))
	c.Check(err)
	g.initial = true
	if g.table.Vector("inputs").N != 0 {
		c.Failf("the subgraph has inputs")
	}
	g.convertOperators()
	c.defined = len(c.outTensors)
}
