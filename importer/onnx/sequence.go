package onnx

import (
	"fmt"
	"slices"

	"github.com/nnsoc/nnsoc/importer/onnx/onnxfile"
	"github.com/nnsoc/nnsoc/nn"
)

// sequenceOperators are the operators on sequences of tensors and on optional values. A sequence is there during import
// only, as a list of values: exporters write them where a network cuts a tensor into parts and reads parts by number.
// Lengths and positions that an execution decides are refused. A sequence that is an input or an output of the network is one for each
// of its elements there, x[0], x[1], ...; how many an input has, the caller says by their shapes.
var sequenceOperators = []operator{
	{name: "SequenceEmpty", convert: func(c *conversion) { c.bindSequence(nil) }},
	{name: "SequenceConstruct", inputs: [2]int{1, many}, convert: func(c *conversion) { c.bindSequence(c.all()) }},
	{name: "SequenceInsert", inputs: [2]int{2, 3}, convert: func(c *conversion) {
		list := c.sequence(0)
		c.bindSequence(slices.Insert(slices.Clone(list), c.place(2, len(list), len(list), len(list)+1), c.v(1)))
	}},
	{name: "SequenceErase", inputs: [2]int{1, 2}, convert: func(c *conversion) {
		list := c.sequence(0)
		at := c.place(1, len(list)-1, len(list), len(list))
		c.bindSequence(slices.Delete(slices.Clone(list), at, at+1))
	}},
	{name: "SequenceAt", inputs: [2]int{2, 2}, convert: func(c *conversion) {
		list := c.sequence(0)
		c.bind(0, list[c.place(1, 0, len(list), len(list))])
	}},
	{name: "SequenceLength", inputs: [2]int{1, 1}, convert: func(c *conversion) {
		c.defineInts(nil, int64(len(c.sequence(0))))
	}},
	{name: "SplitToSequence", inputs: [2]int{1, 2}, convert: splitToSequence},
	{name: "ConcatFromSequence", inputs: [2]int{1, 1}, convert: concatFromSequence},
	{name: "SequenceMap", inputs: [2]int{1, many}, outputs: [2]int{1, many}, convert: sequenceMap},
	{name: "Optional", inputs: [2]int{0, 1}, convert: func(c *conversion) {
		v := c.valueOf(none)
		v.absent = true
		if c.has(0) {
			v = c.v(0)
		}
		c.bind(0, v)
	}},
	{name: "OptionalGetElement", inputs: [2]int{1, 1}, convert: func(c *conversion) { c.bind(0, c.v(0)) }},
	{name: "OptionalHasElement", inputs: [2]int{0, 1}, convert: func(c *conversion) {
		there := byte(0)
		if c.has(0) && !c.v(0).absent {
			there = 1
		}
		y := c.Constant(nn.Operand{Type: nn.TensorBool8, Dimensions: []uint32{1}, Data: []byte{there}})
		c.SetShape(y, nil)
		c.define(0, y)
	}},
}

// partName is the name of an element of a sequence.
func partName(name string, i int) string { return fmt.Sprintf("%s[%d]", name, i) }

// declareSequence makes an input for each element of a sequence that a shape is given for. One without elements has an
// empty shape given for itself.
func (g *graph) declareSequence(v *onnxfile.Value, shapes map[string][]uint32) {
	empty, given := shapes[v.Name]
	var parts []*value
	for {
		part := *v.Of
		part.Name = partName(v.Name, len(parts))
		if _, ok := shapes[part.Name]; !ok {
			break
		}
		g.declareInput(&part, shapes)
		parts = append(parts, g.values[part.Name])
	}
	switch {
	case len(parts) == 0 && !given:
		g.refuseInput(v, "is a sequence, and the file does not say of how many tensors", fmt.Sprintf("--shape '%s=...' for each of them, in order", partName(v.Name, 0)))
		return
	case given && len(empty)+len(parts) > 0:
		g.Failf("a shape is given for the sequence %q; its elements are %q and so on", v.Name, partName(v.Name, 0))
	}
	g.values[v.Name] = g.sequenceOf(parts)
}

// declareOptional makes an input of an optional value that a shape is given for, and takes others as absent.
func (g *graph) declareOptional(v *onnxfile.Value, shapes map[string][]uint32) {
	there, first := *v.Of, v.Name
	there.Name = v.Name
	_, given := shapes[v.Name]
	if there.Kind == "sequence" && !given {
		first = partName(v.Name, 0)
		_, given = shapes[first]
	}
	if given {
		g.declareInput(&there, shapes)
		return
	}
	g.im.note(fmt.Sprintf("input %q is optional and taken as absent; --shape '%s=...' makes it one", v.Name, first))
	absent := g.valueOf(none)
	absent.absent = true
	g.values[v.Name] = absent
}

// sequence are the values of input k.
func (c *conversion) sequence(k int) []*value {
	v := c.v(k)
	if !v.sequence {
		c.Failf("input %d is a tensor, a sequence is needed", k)
	}
	return v.parts
}

// all are the values of all inputs, none of which may be left out.
func (c *conversion) all() (list []*value) {
	for k := range c.in {
		list = append(list, c.v(k))
	}
	return list
}

func (c *conversion) bindSequence(parts []*value) { c.bind(0, c.sequenceOf(parts)) }

func (g *graph) sequenceOf(parts []*value) *value {
	v := g.valueOf(none)
	v.sequence, v.parts = true, parts
	return v
}

// place is input k, a constant, below places; negative ones count from the end of n parts. It is initial where it is
// left out.
func (c *conversion) place(k, initial, n, places int) int {
	at := int64(initial)
	if c.has(k) {
		at = c.one(k)
	}
	if at < 0 {
		at += int64(n)
	}
	if at < 0 || at >= int64(places) {
		c.Failf("position %d of a sequence of %d", at, n)
	}
	return int(at)
}

// splitToSequence cuts a tensor along an axis: into parts of given lengths, of one length of which the last may be shorter,
// or of length 1.
func splitToSequence(c *conversion) {
	shape := c.shape(c.v(0))
	axis := c.Axis(c.int("axis", 0), len(shape))
	n, keep := int64(shape[axis]), c.flag("keepdims", 1) || c.has(1)
	var sizes []int64
	if c.has(1) && len(c.shape(c.v(1))) == 1 {
		sizes = c.list(1)
	} else {
		each := int64(1)
		if c.has(1) {
			each = c.one(1)
		}
		if each < 1 {
			c.Failf("parts of %d elements", each)
		}
		for left := n; left > 0; left -= each {
			sizes = append(sizes, min(each, left))
		}
	}
	var parts []*value
	at := int64(0)
	for _, size := range sizes {
		if size < 1 || at+size > n {
			c.Refusef("parts of %v elements, dimension %d has %d", sizes, axis, n)
		}
		y := c.standard("Slice", nil, c.v(0), c.valueOf(c.Int32Tensor(at)), c.valueOf(c.Int32Tensor(at+size)), c.valueOf(c.Int32Tensor(int64(axis))))
		if !keep {
			y = c.standard("Squeeze", nil, y, c.valueOf(c.Int32Tensor(int64(axis))))
		}
		parts, at = append(parts, y), at+size
	}
	c.bindSequence(parts)
}

func concatFromSequence(c *conversion) {
	parts := slices.Clone(c.sequence(0))
	if len(parts) == 0 {
		c.Refusef("the sequence is empty")
	}
	a := c.attribute("axis", onnxfile.AttributeInt)
	if a == nil {
		c.Failf("attribute %q is missing", "axis")
	}
	if c.flag("new_axis", 0) {
		for k, v := range parts {
			parts[k] = c.standard("Unsqueeze", nil, v, c.valueOf(c.Int32Tensor(a.Int)))
		}
	}
	c.bind(0, c.standard("Concat", map[string]*onnxfile.Attribute{"axis": a}, parts...))
}

// sequenceMap inlines its body for every part of the first input; other sequences give their part of the same number.
func sequenceMap(c *conversion) {
	body, results := c.body("body"), make([][]*value, len(c.node.Outputs))
	for i := range c.sequence(0) {
		in := c.all()
		for k, v := range in {
			if v.sequence && i >= len(v.parts) {
				c.Failf("input %d is a sequence of %d, the first has %d", k, len(v.parts), len(c.sequence(0)))
			}
			if v.sequence {
				in[k] = v.parts[i]
			}
		}
		for k, v := range c.inline(body, in, "") {
			if k < len(results) {
				results[k] = append(results[k], v)
			}
		}
	}
	for k, parts := range results {
		c.bind(k, c.sequenceOf(parts))
	}
}
