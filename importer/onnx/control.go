package onnx

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/nnsoc/nnsoc/importer/lowering"
	"github.com/nnsoc/nnsoc/importer/onnx/onnxfile"
	"github.com/nnsoc/nnsoc/nn"
)

// controlOperators are the operators of control flow. Branches that a constant chooses and loops of a constant number
// of iterations are inlined; others are NNAPI's IF and WHILE, whose subgraphs have the values that they read from outer
// scopes as inputs.
var controlOperators = []operator{
	{name: "If", inputs: [2]int{1, 1}, outputs: [2]int{1, many}, convert: ifOperator},
	{name: "Loop", inputs: [2]int{2, many}, outputs: [2]int{1, many}, convert: loop},
	{name: "Scan", inputs: [2]int{1, many}, outputs: [2]int{1, many}, convert: scan},
}

// body is a graph attribute.
func (c *conversion) body(name string) *onnxfile.Graph {
	a := c.attribute(name, onnxfile.AttributeGraph)
	if a == nil || a.Graph == nil {
		c.Failf("attribute %q is missing", name)
	}
	return a.Graph
}

// enter begins the scope of a body in the NNAPI subgraph to.
func (c *conversion) enter(file *onnxfile.Graph, to *lowering.Graph) *graph {
	im := c.im
	if im.depth++; im.depth > maxDepth {
		c.Failf("subgraphs nest more than %d deep", maxDepth)
	}
	if im.subgraphs++; im.subgraphs > maxSubgraphs {
		c.Failf("subgraphs are used more than %d times", maxSubgraphs)
	}
	return im.open(file, c.graph, to, c.opset)
}

// leave ends a scope; operators that it could not convert refuse the node around it.
func (c *conversion) leave(refusedBefore int) {
	c.im.depth--
	if len(c.im.refused.Operators) > refusedBefore {
		c.Refusef(passed)
	}
}

// inline converts a body in place, with values for its inputs, and returns its outputs.
func (c *conversion) inline(file *onnxfile.Graph, in []*value, where string) []*value {
	if len(in) != len(file.Inputs) {
		c.Failf("%d inputs for a body that has %d", len(in), len(file.Inputs))
	}
	refused := len(c.im.refused.Operators)
	g := c.enter(file, c.Graph)
	g.where += where
	for k, v := range file.Inputs {
		g.values[v.Name] = in[k]
	}
	g.convertNodes()
	c.leave(refused)
	var out []*value
	for _, v := range file.Outputs {
		out = append(out, g.lookup(v.Name))
	}
	return out
}

// captures are the values, other than constants, that bodies read from outer scopes, in order of names.
func (c *conversion) captures(bodies ...*onnxfile.Graph) (names []string, operands []uint32) {
	all := map[string]bool{}
	for _, b := range bodies {
		for name := range freeNames(b) {
			all[name] = true
		}
	}
	list := make([]string, 0, len(all))
	for name := range all {
		list = append(list, name)
	}
	slices.Sort(list)
	for _, name := range list {
		v, ok := c.find(name)
		if !ok {
			continue // the body's own, or an error there
		}
		if v.missing {
			c.Refusef(passed)
		}
		if x := c.real(v, false); !c.IsConst(x) {
			names, operands = append(names, name), append(operands, x)
		}
	}
	return names, operands
}

// argument is an operand as an input of a subgraph, whose shape is known.
func (c *conversion) argument(x uint32) (o nn.Operand, shape []uint32) {
	o, shape = *c.Operand(x), c.Dims(x)
	o.Data, o.Name = nil, ""
	return o, shape
}

// subgraph converts a body to a separate subgraph.
func (c *conversion) subgraph(file *onnxfile.Graph, names []string, in []uint32) *graph {
	refused := len(c.im.refused.Operators)
	g := c.enter(file, lowering.New(&c.im.budget))
	for k, name := range names {
		o, shape := c.argument(in[k])
		g.input(name, o, shape)
		g.values[name].from = g.Graph
		if v, ok := c.find(name); ok { // read from the scope around it
			g.values[name].short = v.short
		}
	}
	for _, v := range file.Inputs {
		if x := g.values[v.Name]; x != nil {
			x.short = shortType(v.Type)
		}
	}
	g.convertNodes()
	c.leave(refused)
	return g
}

// results are outputs of a subgraph from k on, in the file's order of dimensions.
func (g *graph) results(k int) []uint32 {
	var list []uint32
	for _, v := range g.file.Outputs[k:] {
		value := g.lookup(v.Name)
		if value.missing {
			g.Refusef(passed)
		}
		list = append(list, g.real(value, false))
	}
	return list
}

func ifOperator(c *conversion) {
	then, other := c.body("then_branch"), c.body("else_branch")
	if len(then.Outputs) != len(c.node.Outputs) || len(other.Outputs) != len(c.node.Outputs) {
		c.Failf("branches with %d and %d outputs, %d needed", len(then.Outputs), len(other.Outputs), len(c.node.Outputs))
	}
	if list, ok := c.Ints(c.real(c.v(0), false)); ok {
		if len(list) != 1 {
			c.Failf("a condition of %d elements", len(list))
		}
		chosen, where := then, ", then_branch"
		if list[0] == 0 {
			chosen, where = other, ", else_branch"
		}
		for k, v := range c.inline(chosen, nil, where) {
			c.bind(k, v)
		}
		return
	}
	condition := c.raw(0)
	if n := nn.Elements(c.Dims(condition)); n != 1 {
		c.Failf("a condition of %d elements", n)
	}
	names, in := c.captures(then, other)
	var refs [2]uint32
	var types []nn.Operand
	var shapes [][]uint32
	for i, b := range []*onnxfile.Graph{then, other} {
		g := c.subgraph(b, names, in)
		for k, x := range g.results(0) {
			if i == 0 {
				o := *g.Operand(x)
				o.Data, o.Name, o.Lifetime = nil, "", nn.TemporaryVariable
				types, shapes = append(types, o), append(shapes, g.Dims(x))
			} else {
				x = g.alike(x, types[k])
				if d := g.Dims(x); !slices.Equal(d, shapes[k]) {
					c.Refusef("output %d has the shape %v in one branch and %v in the other", k, shapes[k], d)
				}
			}
			g.Output(x)
		}
		refs[i] = c.Refer(c.im.model, g.Sub)
	}
	for k, y := range c.EmitAll(nn.OpIf, types, append([]uint32{condition, refs[0], refs[1]}, in...)...) {
		c.SetShape(y, shapes[k])
		c.define(k, y)
	}
}

// scalarValue is a constant of no dimensions.
func (c *conversion) scalarValue(o nn.Operand) *value {
	o.Dimensions, o.Lifetime = []uint32{1}, nn.ConstantCopy
	x := c.Add(o)
	c.Shape[x] = nil
	return c.valueOf(x)
}

func (c *conversion) counter(i int64) *value {
	return c.scalarValue(nn.Operand{Type: nn.TensorInt32, Data: binary.LittleEndian.AppendUint32(nil, uint32(i))})
}

// loop inlines iterations while their number and the condition are constants, and is a WHILE where the end depends on
// execution.
func loop(c *conversion) {
	file := c.body("body")
	carried := len(c.in) - 2
	if len(file.Inputs) != 2+carried || len(file.Outputs) < 1+carried || len(file.Outputs)-1 != len(c.node.Outputs) {
		c.Failf("a body with %d inputs and %d outputs for %d values", len(file.Inputs), len(file.Outputs), carried)
	}
	turns, bounded := int64(math.MaxInt32), false
	if c.has(0) {
		if l, ok := c.Ints(c.real(c.v(0), false)); ok && len(l) == 1 {
			turns, bounded = l[0], true
		}
	}
	going := c.scalarValue(nn.Operand{Type: nn.TensorBool8, Data: []byte{1}})
	if c.has(1) {
		going = c.v(1)
	}
	values := slices.Clone(c.in[2:])
	if bounded || !c.has(0) {
		if c.unrolledLoop(file, turns, going, values, carried) {
			return
		}
	}
	if len(file.Outputs)-1 > carried {
		c.Refusef("the number of iterations is known only during execution, and each adds a part of a result: NNAPI's WHILE grows no tensors")
	}
	c.while(file, values, going, turns, bounded)
}

// constantCondition is a condition that is known now.
func (c *conversion) constantCondition(v *value) (on, ok bool) {
	l, ok := c.Ints(c.real(v, false))
	return ok && len(l) == 1 && l[0] != 0, ok && len(l) == 1
}

// unrolledLoop inlines the iterations; false where a condition is no constant, with nothing done.
func (c *conversion) unrolledLoop(file *onnxfile.Graph, iterations int64, running *value, values []*value, carried int) bool {
	mark, given := len(c.Sub.Operations), slices.Clone(values)
	scans := make([][]uint32, len(file.Outputs)-1-carried)
	for i := int64(0); i < iterations; i++ {
		on, known := c.constantCondition(running)
		if !known {
			c.Sub.Operations = c.Sub.Operations[:mark]
			copy(values, given)
			return false
		}
		if !on {
			break
		}
		out := c.inline(file, append([]*value{c.counter(i), running}, values...), fmt.Sprintf(", turn %d", i))
		running = out[0]
		copy(values, out[1:])
		for k, v := range out[1+carried:] {
			x := c.real(v, false)
			scans[k] = append(scans[k], c.Reshape(x, append([]uint32{1}, c.Dims(x)...)))
		}
	}
	for k, v := range values {
		c.bind(k, v)
	}
	for k, list := range scans {
		if len(list) == 0 {
			c.define(carried+k, c.scannedNothing(file.Outputs[1+carried+k]))
			continue
		}
		c.define(carried+k, c.Concat(*c.Operand(list[0]), 0, list...))
	}
	return true
}

// scannedNothing is the output of a loop of no turns, whose shape the file states.
func (c *conversion) scannedNothing(v *onnxfile.Value) uint32 {
	o, ok := nn.Operand{Type: held[v.Type]}, v.Dims != nil
	shape := []int64{0}
	for _, d := range v.Dims {
		ok = ok && d.Size > 0
		shape = append(shape, d.Size)
	}
	if _, known := held[v.Type]; !ok || !known || len(shape) > 4 {
		c.Refusef("it turns no time, and the file does not say of which shape %q is", v.Name)
	}
	if o.Type.IsQuant8() {
		o.Scale = 1
	}
	one := o
	one.Dimensions, o.Dimensions = []uint32{1}, c.Unsigned(shape)
	element := c.Filled(one, 0)
	return c.Host(nn.OpHostFill, []nn.Operand{o}, nil, c.Int32Tensor(shape...), element)[0]
}

// while is NNAPI's. Its values are the condition, the iteration count, the loop-carried values, the bound of iterations
// where that is no constant, and the values that the body reads from outer scopes.
func (c *conversion) while(file *onnxfile.Graph, values []*value, running *value, iterations int64, bounded bool) {
	names := []string{file.Inputs[1].Name, file.Inputs[0].Name}
	in := []uint32{c.real(running, false), c.real(c.counter(0), false)}
	for k, v := range values {
		names, in = append(names, file.Inputs[2+k].Name), append(in, c.real(v, false))
	}
	kept := len(in)
	const limit = "\x00limit"
	if c.has(0) && !bounded {
		names, in = append(names, limit), append(in, c.asInt32(0))
	}
	free, captured := c.captures(file)
	names, in = append(names, free...), append(in, captured...)
	for i, name := range names {
		if name == "" {
			names[i] = fmt.Sprintf("\x00input %d", i)
		}
	}

	body := c.subgraph(file, names, in)
	next := body.results(0)
	one := body.Binary(nn.OpAdd, body.lookup(names[1]).forms[real], body.Int32Number(1))
	next = slices.Insert(next, 1, one)
	for k, x := range next {
		o, shape := c.argument(in[k])
		x = body.alike(x, o)
		if d := body.Dims(x); !slices.Equal(d, shape) && nn.Elements(d) != nn.Elements(shape) || nn.Elements(shape) != 1 && !slices.Equal(d, shape) {
			c.Refusef("a value has the shape %v before a turn and %v behind it", shape, d)
		}
		body.Output(x)
	}
	condition := c.subgraph(&onnxfile.Graph{}, names, in)
	ends := condition.lookup(names[0]).forms[real]
	if bounded || c.has(0) {
		most := condition.Int32Tensor(iterations)
		if !bounded {
			most = condition.lookup(limit).forms[real]
		}
		ends = condition.Compare(nn.OpLogicalAnd, ends, condition.Compare(nn.OpLess, condition.lookup(names[1]).forms[real], most))
	}
	condition.Output(ends)

	outs := make([]nn.Operand, kept)
	for k := range outs {
		outs[k], _ = c.argument(in[k])
		outs[k].Lifetime = nn.TemporaryVariable
	}
	refs := []uint32{c.Refer(c.im.model, condition.Sub), c.Refer(c.im.model, body.Sub)}
	for k, y := range c.EmitAll(nn.OpWhile, outs, append(refs, in...)...) {
		if k >= 2 {
			c.SetShape(y, c.Dims(in[k]))
			c.define(k-2, y)
		}
	}
}

// scan has a step per entry of its sequences, whose number is known: all are inlined.
func scan(c *conversion) {
	file := c.body("body")
	sequences := int(c.int("num_scan_inputs", 0))
	in := c.in
	if c.opset < 9 { // the first input are lengths, the first dimension a batch
		if c.has(0) {
			c.Refusef("its sequences have lengths")
		}
		in = in[1:]
	}
	states := len(in) - sequences
	if sequences < 1 || states < 0 || len(file.Inputs) != len(in) || len(file.Outputs) < states || len(file.Outputs) != len(c.node.Outputs) {
		c.Failf("a body with %d inputs and %d outputs for %d states and %d sequences", len(file.Inputs), len(file.Outputs), states, sequences)
	}
	b := scanBody{conversion: c, file: file, outputs: len(file.Outputs) - states, axes: c.ints("scan_input_axes"), directions: c.ints("scan_input_directions"),
		outAxes: c.ints("scan_output_axes"), outDirections: c.ints("scan_output_directions")}
	if c.opset >= 9 {
		for k, v := range b.unroll(in[:states], in[states:]) {
			c.bind(k, v)
		}
		return
	}
	b.directions = c.ints("directions")
	all := make([][]*value, len(c.node.Outputs)) // of each batch
	for batch := range c.shape(in[0])[0] {
		entries := make([]*value, len(in))
		for k, v := range in {
			entries[k] = c.valueOf(c.entry(c.real(v, false), 0, int64(batch)))
		}
		for k, v := range b.unroll(entries[:states], entries[states:]) {
			all[k] = append(all[k], v)
		}
	}
	for k, list := range all {
		parts := make([]uint32, len(list))
		for b, v := range list {
			x := c.real(v, false)
			parts[b] = c.Reshape(x, append([]uint32{1}, c.Dims(x)...))
		}
		c.define(k, c.Concat(*c.Operand(parts[0]), 0, parts...))
	}
}

// scanBody is the body of a Scan, and its directions over input and output sequences.
type scanBody struct {
	*conversion
	file                   *onnxfile.Graph
	outputs                int // sequences that it makes
	axes, directions       []int64
	outAxes, outDirections []int64
}

// unroll converts the body once per entry of the sequences. It returns the last states, then the sequences that the
// steps make.
func (s *scanBody) unroll(states, sequences []*value) []*value {
	pick := func(list []int64, k int) int64 {
		if k < len(list) {
			return list[k]
		}
		return 0
	}
	items := make([]uint32, len(sequences))
	turns := int64(-1)
	for k, v := range sequences {
		items[k] = s.real(v, false)
		n := int64(s.Dims(items[k])[s.Axis(pick(s.axes, k), s.Rank(items[k]))])
		if turns >= 0 && turns != n {
			s.Failf("sequences of %d and %d entries", turns, n)
		}
		turns = n
	}
	values, scans := slices.Clone(states), make([][]uint32, s.outputs)
	for i := range turns {
		args := slices.Clone(values)
		for k, x := range items {
			at := i
			if pick(s.directions, k) != 0 {
				at = turns - 1 - i
			}
			args = append(args, s.valueOf(s.entry(x, s.Axis(pick(s.axes, k), s.Rank(x)), at)))
		}
		out := s.inline(s.file, args, fmt.Sprintf(", step %d", i))
		copy(values, out)
		for k, v := range out[len(states):] {
			scans[k] = append(scans[k], s.real(v, false))
		}
	}
	for k, list := range scans {
		if pick(s.outDirections, k) != 0 {
			slices.Reverse(list)
		}
		axis := s.Axis(pick(s.outAxes, k), s.Rank(list[0])+1)
		for i, x := range list {
			list[i] = s.Reshape(x, slices.Insert(slices.Clone(s.Dims(x)), axis, 1))
		}
		values = append(values, s.valueOf(s.Concat(*s.Operand(list[0]), axis, list...)))
	}
	return values
}

// entry is one entry along an axis, which is dropped.
func (c *conversion) entry(x uint32, axis int, at int64) uint32 {
	dims := c.Dims(x)
	begin, size := make([]int64, len(dims)), lowering.Signed(dims)
	begin[axis], size[axis] = at, 1
	return c.Reshape(c.Slice(x, begin, size), slices.Delete(slices.Clone(dims), axis, axis+1))
}
