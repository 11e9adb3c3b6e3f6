package onnx

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/nnsoc/nnsoc/importer/lowering"
	"github.com/nnsoc/nnsoc/importer/onnx/onnxfile"
	"github.com/nnsoc/nnsoc/internal/spelling"
	"github.com/nnsoc/nnsoc/nn"
)

// operator is the row of one operator: its operands and its conversion to operations of NNAPI. Rows are in the files of
// their families.
type operator struct {
	name   string
	domain string // "" is the standard's
	// inputs and outputs are the bounds of their numbers in a node; outputs are one by default.
	inputs, outputs [2]int
	convert         func(c *conversion)
	// lacks is the reason why NNAPI has no form of an operator without convert.
	lacks string
}

// many bounds lists of inputs and outputs that the format leaves open.
const many = 1 << 12

// operators are the rows by domain and name.
var operators = sync.OnceValue(func() map[[2]string]*operator {
	rows := map[[2]string]*operator{}
	for _, family := range [][]operator{
		convOperators, poolOperators, matmulOperators, mathOperators, activationOperators, normOperators, shapeOperators, sliceOperators,
		indexOperators, reduceOperators, lossOperators, trainingOperators, signalOperators, resizeOperators, gridOperators, recurrentOperators, controlOperators, sequenceOperators, quantizationOperators, qlinearOperators, quantizedProducts, transformerOperators, absentOperators,
	} {
		for i := range family {
			r := &family[i]
			key := [2]string{r.domain, r.name}
			if rows[key] != nil {
				panic(fmt.Sprintf("onnx: two rows for operator %s", r.name))
			}
			if r.outputs == [2]int{} {
				r.outputs = [2]int{1, 1}
			}
			rows[key] = r
		}
	}
	return rows
})

// conversion is one node of the file while it is converted.
type conversion struct {
	*graph
	node       *onnxfile.Node
	attributes map[string]*onnxfile.Attribute
	in         []*value // nil where an input is omitted
}

// convertNodes converts the nodes of the scope in order.
func (g *graph) convertNodes() {
	where := g.where
	for i, n := range g.file.Nodes {
		if !g.fused[n] {
			g.convertNode(i, n)
		}
		g.where = where
	}
}

// convertNode converts one node. What NNAPI cannot express is noted, and its outputs count
// as missing: nodes that read them are passed over, so that the rest is looked at too.
func (g *graph) convertNode(i int, n *onnxfile.Node) {
	label := fmt.Sprintf("node %d", i)
	if n.Name != "" {
		label += fmt.Sprintf(" %q", n.Name)
	}
	if g.where != "" {
		label = g.where + ", " + label
	}
	g.where = label + " (" + word(n.Op) + ")"
	g.Node = nodeName(n)
	g.Check(g.im.budget.Operation())
	c := g.conversion(n)
	r := lowering.Attempt(func() { g.convert(c) })
	if r == nil {
		return
	}
	if r.Reason != passed {
		instead := g.instead(n, r.Reason)
		reason, ok := g.host(c)
		switch {
		case ok:
			return
		case reason == passed:
			r.Reason = passed
		case reason != "" && reason != r.Reason:
			r.Reason += "; on the host: " + reason
		}
		if r.Reason != passed {
			g.im.refused.Add(describe(n), r.Reason, nodeName(n), instead)
		}
	}
	for _, name := range n.Outputs {
		if name != "" {
			g.values[name] = &value{missing: true}
		}
	}
}

// nodeName is what reports call a node: its name or, where it has none, its first output.
func nodeName(n *onnxfile.Node) string {
	if n.Name != "" || len(n.Outputs) == 0 {
		return n.Name
	}
	return n.Outputs[0]
}

// instead is the nearest thing that works in the place of a refused node, "" where none is known.
func (g *graph) instead(n *onnxfile.Node, reason string) string {
	key := [2]string{domain(n.Domain), n.Op}
	if g.im.rows[key] != nil || g.im.functions[key] != nil {
		return insteadOf[reason]
	}
	var known []string
	for other, row := range g.im.rows {
		if other[0] == key[0] && row.convert != nil {
			known = append(known, other[1])
		}
	}
	slices.Sort(known)
	if name := spelling.Closest(n.Op, known); name != "" {
		return name + " is read"
	}
	return "a function of the model that defines it, as exporters write them, or the network cut in front of it"
}

// passed is the reason of a node that reads an output of a refused one.
const passed = "an input is missing"

// conversion begins the conversion of a node.
func (g *graph) conversion(n *onnxfile.Node) *conversion {
	c := &conversion{graph: g, node: n, attributes: map[string]*onnxfile.Attribute{}}
	for _, a := range n.Attributes {
		if a.Ref != "" {
			given, ok := g.arguments[a.Ref]
			if !ok {
				continue // of the function's caller, which left it out
			}
			named := *given
			named.Name = a.Name
			a = &named
		}
		c.attributes[a.Name] = a
	}
	return c
}

// convert converts a node by the row of its operator, or by the function of that name.
func (g *graph) convert(c *conversion) {
	n := c.node
	key := [2]string{domain(n.Domain), n.Op}
	row := g.im.rows[key]
	function := g.im.functions[key]
	switch {
	case function != nil:
	case row == nil && key[0] != "":
		g.Refusef("the operator of domain %q is not known", key[0])
	case row == nil:
		g.Refusef("the operator is not known")
	case row.convert == nil:
		g.Refusef("%s", row.lacks)
	}
	if !c.readInputs() {
		g.Refusef(passed)
	}
	if function != nil {
		c.call(function)
		return
	}
	outputs := len(n.Outputs)
	for outputs > row.outputs[0] && n.Outputs[outputs-1] == "" {
		outputs--
	}
	for len(c.in) > row.inputs[0] && c.in[len(c.in)-1] == nil {
		c.in = c.in[:len(c.in)-1]
	}
	if k := len(c.in); k < row.inputs[0] || k > row.inputs[1] || outputs < row.outputs[0] || outputs > row.outputs[1] {
		g.Failf("%d inputs and %d outputs, %d to %d and %d to %d needed", k, outputs, row.inputs[0], row.inputs[1], row.outputs[0], row.outputs[1])
	}
	row.convert(c)
	c.keepShort()
	for _, name := range n.Outputs[:outputs] {
		if _, ok := g.values[name]; name != "" && !ok && len(g.uses[name]) > 0 {
			g.Refusef("its output %q is not computed here", name)
		}
	}
}

// readInputs looks up the inputs; false where one is the output of a refused node.
func (c *conversion) readInputs() bool {
	there := true
	c.in = nil
	for _, name := range c.node.Inputs {
		if name == "" {
			c.in = append(c.in, nil)
			continue
		}
		v := c.lookup(name)
		there = there && !v.missing
		c.in = append(c.in, v)
	}
	return there
}

// word is a name of the file as messages write it.
func word(name string) string { return spelling.Short(name, 100) }

// describe is an operator with its attributes, as messages name it.
func describe(n *onnxfile.Node) string {
	var list []string
	for _, a := range n.Attributes {
		list = append(list, word(a.Name)+"="+attributeText(a))
	}
	slices.Sort(list)
	name := word(n.Op)
	if d := domain(n.Domain); d != "" {
		name = word(d) + "." + name
	}
	if len(list) == 0 {
		return name
	}
	return name + "(" + strings.Join(list, ", ") + ")"
}

func attributeText(a *onnxfile.Attribute) string {
	short := func(n int, text string) string {
		if n > 8 {
			return fmt.Sprintf("[%d elements]", n)
		}
		return strings.ReplaceAll(text, " ", ",")
	}
	if a.Ref != "" {
		return word(a.Ref)
	}
	switch a.Type {
	case onnxfile.AttributeFloat:
		return strconv.FormatFloat(float64(a.Float), 'g', -1, 32)
	case onnxfile.AttributeInt:
		return strconv.FormatInt(a.Int, 10)
	case onnxfile.AttributeString:
		if len(a.String) > 32 {
			return fmt.Sprintf("%q...", a.String[:32])
		}
		return strconv.Quote(a.String)
	case onnxfile.AttributeFloats:
		return short(len(a.Floats), fmt.Sprint(a.Floats))
	case onnxfile.AttributeInts:
		return short(len(a.Ints), fmt.Sprint(a.Ints))
	case onnxfile.AttributeStrings:
		return short(len(a.Strings), fmt.Sprintf("%q", a.Strings))
	case onnxfile.AttributeTensor:
		return fmt.Sprintf("%v%v", a.Tensor.Type, a.Tensor.Dims)
	case onnxfile.AttributeGraph:
		return fmt.Sprintf("{%d nodes}", len(a.Graph.Nodes))
	}
	return "?"
}

// attribute is one of a type; nil when it is not there.
func (c *conversion) attribute(name string, t onnxfile.AttributeType) *onnxfile.Attribute {
	a := c.attributes[name]
	if a != nil && a.Type != t {
		c.Failf("attribute %q has type %d, want %d", name, a.Type, t)
	}
	return a
}

// int is an integer attribute or its initial value.
func (c *conversion) int(name string, initial int64) int64 {
	if a := c.attribute(name, onnxfile.AttributeInt); a != nil {
		return a.Int
	}
	return initial
}

func (c *conversion) flag(name string, initial int64) bool { return c.int(name, initial) != 0 }

func (c *conversion) float(name string, initial float32) float32 {
	if a := c.attribute(name, onnxfile.AttributeFloat); a != nil {
		return a.Float
	}
	return initial
}

func (c *conversion) text(name, initial string) string {
	if a := c.attribute(name, onnxfile.AttributeString); a != nil {
		return a.String
	}
	return initial
}

// ints is an attribute of integers, nil when it is not there.
func (c *conversion) ints(name string) []int64 {
	if a := c.attribute(name, onnxfile.AttributeInts); a != nil {
		return slices.Clone(a.Ints)
	}
	return nil
}

func (c *conversion) floats(name string) []float32 {
	if a := c.attribute(name, onnxfile.AttributeFloats); a != nil {
		return a.Floats
	}
	return nil
}

func (c *conversion) texts(name string) []string {
	if a := c.attribute(name, onnxfile.AttributeStrings); a != nil {
		return a.Strings
	}
	return nil
}

// has reports whether input k is there.
func (c *conversion) has(k int) bool { return k < len(c.in) && c.in[k] != nil }

// v is the value of input k.
func (c *conversion) v(k int) *value {
	if !c.has(k) {
		c.Failf("input %d is missing", k)
	}
	return c.in[k]
}

// isRead reports whether output k is read.
func (c *conversion) isRead(k int) bool {
	return k < len(c.node.Outputs) && c.node.Outputs[k] != "" && len(c.uses[c.node.Outputs[k]]) > 0
}

// x is input k in the file's order of dimensions, as a number for arithmetic: 8-bit integers that result from a
// quantization become int32.
func (c *conversion) x(k int) uint32 { return c.number(c.narrow(c.real(c.v(k), false))) }

// raw is input k in the file's order of dimensions, to be moved as it is.
func (c *conversion) raw(k int) uint32 { return c.narrow(c.real(c.v(k), false)) }

// narrow refuses constants with values that 32 bits do not hold.
func (c *conversion) narrow(x uint32) uint32 {
	if w, ok := c.Wide[x]; ok {
		c.Refusef("it reads a constant of 64-bit integers (%d elements) with values that do not fit 32 bits", len(w))
	}
	return x
}

// number is x in a type for arithmetic.
func (g *graph) number(x uint32) uint32 {
	if o := g.Operand(x); o.Type.IsQuant8() && (o.Scale != 1 || o.ZeroPoint != 0) {
		return g.steps(x)
	}
	return x
}

// steps are the 8-bit integers that a tensor is stored as, in int32. NNAPI's CAST reads the unsigned ones; the signed
// are the reals they represent, in steps.
func (g *graph) steps(x uint32) uint32 {
	o := *g.Operand(x)
	if o.Type == nn.TensorQuant8AsymmSigned {
		reals := g.As(x, nn.TensorFloat32)
		if o.Scale != 1 {
			reals = g.Round(g.Binary(nn.OpDiv, reals, g.Real(o.Scale)))
		}
		x = g.As(reals, nn.TensorInt32)
		if o.ZeroPoint != 0 {
			x = g.Binary(nn.OpAdd, x, g.Int32Number(int64(o.ZeroPoint)))
		}
		return x
	}
	y := g.Emit(nn.OpCast, nn.Operand{Type: nn.TensorInt32}, x)
	g.ShapeLike(y, x)
	return y
}

// reals is input k in float32 or float16.
func (c *conversion) reals(k int) uint32 { return c.asReals(c.x(k)) }

func (g *graph) asReals(x uint32) uint32 {
	if g.Operand(x).Type == nn.TensorFloat16 {
		return x
	}
	return g.As(x, nn.TensorFloat32)
}

// list is the value of input k, a constant of integers.
func (c *conversion) list(k int) []int64 {
	l, ok := c.Ints(c.real(c.v(k), false))
	if !ok {
		c.Refusef("input %d (%q) is known only during execution, NNAPI needs it before", k, c.node.Inputs[k])
	}
	return slices.Clone(l)
}

// one is the value of input k, a constant of one integer.
func (c *conversion) one(k int) int64 {
	l := c.list(k)
	if len(l) != 1 {
		c.Failf("input %d has %d elements, want 1", k, len(l))
	}
	return l[0]
}

// constants are the elements of input k, a constant of reals.
func (c *conversion) constants(k int) []float32 {
	x := c.asReals(c.real(c.v(k), false))
	if !c.IsConst(x) {
		c.Refusef("input %d (%q) is known only during execution, NNAPI needs it before", k, c.node.Inputs[k])
	}
	l, _ := c.floatsOf(x)
	return l
}

// scalar is a constant of one real, or an initial value where input k is omitted.
func (c *conversion) scalar(k int, initial float32) float32 {
	if !c.has(k) {
		return initial
	}
	l := c.constants(k)
	if len(l) != 1 {
		c.Failf("input %d has %d elements, want 1", k, len(l))
	}
	return l[0]
}

// define sets output k to x, in the file's order of dimensions.
func (c *conversion) define(k int, x uint32) { c.bind(k, c.valueOf(x)) }

// defineAs makes x the value of output k in one form.
func (c *conversion) defineAs(k, form int, x uint32, rank int) { c.bind(k, c.valueAs(form, x, rank)) }

func (c *conversion) bind(k int, v *value) {
	if k >= len(c.node.Outputs) {
		return
	}
	name := c.node.Outputs[k]
	if name == "" {
		return
	}
	if v.forms == plainValue(none).forms && !v.sequence && !v.absent && !v.missing {
		c.Refusef("it sums or joins no elements")
	}
	for _, x := range v.forms {
		if x != none && c.Operand(x).Lifetime == nn.TemporaryVariable && c.Operand(x).Name == "" {
			c.Operand(x).Name = name
		}
	}
	c.values[name] = v
}

// call inlines a function of the model.
func (c *conversion) call(f *onnxfile.Function) {
	im := c.im
	if im.depth++; im.depth > maxDepth {
		c.Failf("functions nest more than %d deep", maxDepth)
	}
	defer func() { im.depth-- }()
	opset := c.opset
	if len(f.Opsets) > 0 {
		v, err := standardOpset(f.Opsets)
		if err != nil {
			c.Failf("function %s: %v", f.Name, err)
		}
		opset = v
	}
	body := &onnxfile.Graph{Nodes: f.Nodes}
	for _, name := range f.Outputs {
		body.Outputs = append(body.Outputs, &onnxfile.Value{Name: name})
	}
	g := im.open(body, nil, c.Graph, opset)
	g.where, g.arguments = c.where, map[string]*onnxfile.Attribute{}
	for _, a := range f.Defaults {
		g.arguments[a.Name] = a
	}
	maps.Copy(g.arguments, c.attributes)
	if len(c.in) > len(f.Inputs) || len(c.node.Outputs) > len(f.Outputs) {
		c.Failf("%d inputs and %d outputs, function %s has %d and %d", len(c.in), len(c.node.Outputs), f.Name, len(f.Inputs), len(f.Outputs))
	}
	for k, name := range f.Inputs {
		if c.has(k) {
			g.values[name] = c.in[k]
		}
	}
	g.convertNodes()
	for k := range c.node.Outputs {
		if c.isRead(k) {
			v := g.lookup(f.Outputs[k])
			c.bind(k, v)
		}
	}
}
