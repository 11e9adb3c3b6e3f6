package tflite

import (
	"fmt"
	"slices"
	"sync"

	"github.com/nnsoc/nnsoc/importer/lowering"
	"github.com/nnsoc/nnsoc/importer/tflite/internal/flatbuffer"
	"github.com/nnsoc/nnsoc/importer/tflite/internal/schema"
	"github.com/nnsoc/nnsoc/nn"
)

// builtin is the row of one builtin operator: its name in the format, its operands and its conversion to operations of
// NNAPI. Rows are in the files of their families, builtins_*.go.
type builtin struct {
	code    int
	name    string
	version int // the highest whose meaning the row has
	// inputs and outputs are the bounds of their numbers in an operator; outputs are one by default.
	inputs, outputs [2]int
	options         string // the table of the schema that its options are read from
	complex         int    // its handling of complex numbers
	convert         func(c *conversion)
	// lacks is the reason why NNAPI has no form of an operator without convert.
	lacks string
}

// many bounds lists of inputs and outputs that the format leaves open.
const many = 1 << 12

// builtins are the rows by code.
var builtins = sync.OnceValue(func() map[int]*builtin {
	rows := map[int]*builtin{}
	for _, family := range [][]builtin{
		convBuiltins, mathBuiltins, activationBuiltins, shapeBuiltins, sliceBuiltins, indexBuiltins, reduceBuiltins, recurrentBuiltins,
		controlBuiltins, quantizationBuiltins, signalBuiltins, hostBuiltins, stableBuiltins, absentBuiltins,
	} {
		for i := range family {
			r := &family[i]
			if rows[r.code] != nil {
				panic(fmt.Sprintf("tflite: two rows for operator %d", r.code))
			}
			if r.outputs == [2]int{} {
				r.outputs = [2]int{1, 1}
			}
			rows[r.code] = r
		}
	}
	return rows
})

// Codes of builtin operators that the importer itself knows.
const customCode = 32

// conversion is one operator of the file while it is converted.
type conversion struct {
	*graph
	in []uint32 // operands, none where an input is omitted
	// The file's tensors: outputs, inputs (-1 where omitted) and inner values.
	outTensors, inTensors, innerTensors []int
	options                             flatbuffer.Table
	custom                              []byte // options of a custom operator
	version                             int    // of the operator
	defined                             int    // outputs that have a value
}

// convertOperators converts all operators of the subgraph in order.
func (g *graph) convertOperators() {
	for i := range g.table.Tables("operators") {
		g.operator(i, g.table.TableAt("operators", i))
		g.where, g.Node = "", ""
	}
}

// operator converts one operator. One that NNAPI cannot express is noted, and its outputs get the shapes that the file
// states, so that the rest of the network is examined too.
func (g *graph) operator(i int, op flatbuffer.Table) {
	im := g.im
	code, custom, version := g.opcode(i, op)
	name := fmt.Sprintf("operator %d", code)
	row := im.rows[code]
	if row != nil {
		name = row.name
	}
	if code == customCode {
		name = fmt.Sprintf("CUSTOM %q", custom)
		row = customs[custom]
	}
	g.where = fmt.Sprintf("subgraph %d operator %d (%s)", g.index, i, name)
	g.Node = g.nodeName(op)
	g.Check(im.budget.Operation())
	c := g.conversion(op, version)
	err := lowering.Attempt(func() {
		c.bindOutputs(op)
		switch {
		case row == nil && code == customCode:
			g.Refusef("the custom operator is not known")
		case row == nil:
			g.Refusef("the operator is not known")
		case row.convert == nil:
			g.Refusef("%s", row.lacks)
		case version > row.version:
			g.Refusef("version %d is not known, versions to %d are", version, row.version)
		}
		c.bindInputs(op, row)
		c.checkSteps(row.name)
		c.readOptions(op, row)
		c.convertParts(row)
		c.checkOutputs()
	})
	if err == nil {
		return
	}
	if reason, ok := g.host(op, row, version); ok {
		return
	} else if reason != "" && reason != err.Reason {
		err.Reason += "; on the host: " + reason
	}
	im.refused[place{g.index, i}] = refusal{name + optionsText(op), err.Reason, g.Node, insteadOf(code, custom, row)}
	for _, t := range c.outTensors {
		o, ok := g.declare(t)
		if !ok {
			o = nn.Operand{Type: nn.TensorInt32, Lifetime: nn.TemporaryVariable}
		}
		shape := g.fileShape(t)
		o.Dimensions = lowering.Held(shape)
		g.value[t] = g.Add(o)
		g.SetShape(g.value[t], shape)
	}
}

// nodeName is what reports call an operator, which has no name in the file: the tensor that it computes first.
func (g *graph) nodeName(op flatbuffer.Table) string {
	list := op.Vector("outputs")
	if list.N == 0 {
		return ""
	}
	if t := list.Int(0); t >= 0 && t < int64(len(g.tensors)) {
		return g.tensors[t].Text("name")
	}
	return ""
}

// conversion begins the conversion of an operator.
func (g *graph) conversion(op flatbuffer.Table, version int) *conversion {
	return &conversion{graph: g, custom: op.Bytes("custom_options"), version: version}
}

// checkOutputs is an error where an output has no value.
func (c *conversion) checkOutputs() {
	if c.defined != len(c.outTensors) {
		c.Failf("%d of %d outputs have a value", c.defined, len(c.outTensors))
	}
}

// opcode is the code of an operator, the name of a custom one and its version.
func (g *graph) opcode(i int, op flatbuffer.Table) (code int, custom string, version int) {
	k, n := op.Int("opcode_index"), g.im.root.Tables("operator_codes")
	if k < 0 || k >= int64(n) {
		g.where = fmt.Sprintf("subgraph %d operator %d", g.index, i)
		g.Failf("operator code %d of %d", k, n)
	}
	t := g.im.root.TableAt("operator_codes", int(k))
	// Codes above 127 do not fit the field of old files; new files fill both.
	code = int(max(t.Int("builtin_code"), t.Int("deprecated_builtin_code")))
	return code, t.Text("custom_code"), int(t.Int("version"))
}

func (c *conversion) bindOutputs(op flatbuffer.Table) {
	list := op.Vector("outputs")
	for k := range list.N {
		c.outTensors = append(c.outTensors, c.tensorAt("output", k, list.Int(k)))
	}
}

// bindInputs loads the inputs and checks how many there are.
func (c *conversion) bindInputs(op flatbuffer.Table, row *builtin) {
	list := op.Vector("inputs")
	if n := len(c.outTensors); list.N < row.inputs[0] || list.N > row.inputs[1] || n < row.outputs[0] || n > row.outputs[1] {
		c.Failf("%d inputs and %d outputs, %d to %d and %d to %d needed", list.N, n, row.inputs[0], row.inputs[1], row.outputs[0], row.outputs[1])
	}
	for k := range list.N {
		t := list.Int(k)
		if t == -1 {
			c.in, c.inTensors = append(c.in, none), append(c.inTensors, -1)
			continue
		}
		i := c.tensorAt("input", k, t)
		c.inTensors = append(c.inTensors, i)
		if c.tensors[i].Int("type") == typeResource {
			c.in = append(c.in, none) // a handle: its operators look it up by tensor
			continue
		}
		c.in = append(c.in, c.load(i))
	}
	inner := op.Vector("intermediates")
	for k := range inner.N {
		c.innerTensors = append(c.innerTensors, c.tensorAt("intermediate", k, inner.Int(k)))
	}
}

// readOptions opens the table of options that the row names. A file without
// them has the initial values.
func (c *conversion) readOptions(op flatbuffer.Table, row *builtin) {
	if row.options == "" {
		return
	}
	t := schema.Types()[row.options]
	c.options = flatbuffer.Table{T: t}
	field, union := "options", schema.OptionUnion
	if slices.Contains(schema.OptionUnion2, row.options) {
		field, union = "options2", schema.OptionUnion2
	}
	kind := op.Int(field+"_type") & 0xff
	if kind == 0 || !op.Has(field) {
		return
	}
	if kind > int64(len(union)) || union[kind-1] != row.options {
		c.Failf("options of kind %d, want %s", kind, row.options)
	}
	u, ok, err := op.Union(field, t)
	c.Check(err)
	if ok {
		c.known(u, row.name)
		c.options = u
	}
}

// x is input k, which must be there.
func (c *conversion) x(k int) uint32 {
	if k >= len(c.in) || c.in[k] == none {
		c.Failf("input %d is missing", k)
	}
	if w, ok := c.Wide[c.in[k]]; ok {
		c.Refusef("input %d is a constant of %d-bit integers (%d elements) with values that do not fit 32 bits", k, 64, len(w))
	}
	return c.in[k]
}

// has reports whether input k is there.
func (c *conversion) has(k int) bool { return k < len(c.in) && c.in[k] != none }

// typeOf is the type of input 0.
func (c *conversion) typeOf() nn.OperandType { return c.Operand(c.x(0)).Type }

// list is the value of input k, a constant of integers.
func (c *conversion) list(k int) []int64 {
	if !c.has(k) {
		c.Failf("input %d is missing", k)
	}
	l, ok := c.Ints(c.in[k])
	if !ok {
		c.Refusef("input %d (%q) is known only during execution, NNAPI needs it before", k, c.Operand(c.in[k]).Name)
	}
	return l
}

// one is the value of input k, a constant of one integer.
func (c *conversion) one(k int) int64 {
	l := c.list(k)
	if len(l) != 1 {
		c.Failf("input %d has %d elements, want 1", k, len(l))
	}
	return l[0]
}

// out is output k as an operand without value; its shape is the file's, known for every input.
func (c *conversion) out(k int) nn.Operand {
	o := c.template(c.outTensors[k])
	if shape := c.openShape(c.outTensors[k]); len(shape) > 0 {
		o.Dimensions = lowering.Held(shape)
	}
	return o
}

// define sets output k to x, converted to its type and quantization.
func (c *conversion) define(k int, x uint32) {
	t := c.outTensors[k]
	if scale, ok := c.unsigned16(t); ok {
		x = c.inSteps(x, scale)
	}
	y := c.To(x, c.out(k))
	if y == x {
		c.ShapeLike(y, x)
	}
	o := c.Operand(y)
	if o.Lifetime == nn.TemporaryVariable {
		o.Name = c.template(t).Name
	}
	if _, ok := c.Shape[y]; !ok && len(o.Dimensions) == 1 && o.Dimensions[0] == 1 && c.tensors[t].Vector("shape").N == 0 {
		if o.Lifetime == nn.ConstantCopy || o.Lifetime == nn.ConstantReference {
			y = c.Add(*o) // constants of one element may be shared
		}
		c.Shape[y] = nil
	}
	c.value[t] = y
	c.defined++
}

// result emits an operation on the operator's output.
func (c *conversion) result(op nn.OperationType, in ...uint32) {
	c.define(0, c.Emit(op, c.out(0), in...))
}

// floats is input 0 in float32 or float16.
func (c *conversion) floats() uint32 {
	x := c.x(0)
	if c.Operand(x).Type == nn.TensorFloat16 {
		return x
	}
	return c.As(x, nn.TensorFloat32)
}

// activation is the operand of a fused activation and, for one that NNAPI does not fuse, the operations to add.
func (c *conversion) activation() (fused uint32, then func(uint32) uint32) {
	code := c.options.Int("activation")
	then = func(x uint32) uint32 { return x }
	switch {
	case code >= 0 && code <= int64(nn.ActRelu6): // the codes of both agree
		return c.Int32Scalar(code), then
	case code == 4:
		return c.Int32Scalar(0), func(x uint32) uint32 { return c.Unary(nn.OpTanh, c.unfused(x, "TANH")) }
	case code == 5:
		return c.Int32Scalar(0), func(x uint32) uint32 { return c.Sign(c.unfused(x, "SIGN_BIT")) }
	}
	c.Failf("fused activation %d is unknown", code)
	return 0, nil
}

// unfused is x, the result that an activation follows which NNAPI does not fuse. A quantized one is rounded to the steps of
// the activation's result already.
func (c *conversion) unfused(x uint32, activation string) uint32 {
	if c.Operand(x).Type.IsQuant8() {
		c.Refusef("its fused activation %s is of a quantized result; an operator of its own would do", activation)
	}
	return x
}

// activate applies the fused activation to x by separate operations.
func (c *conversion) activate(x uint32) uint32 {
	_, then := c.activation()
	ops := []nn.OperationType{nn.ActRelu: nn.OpRelu, nn.ActRelu1: nn.OpRelu1, nn.ActRelu6: nn.OpRelu6}
	if code := c.options.Int("activation"); code > 0 && code <= int64(nn.ActRelu6) {
		o := *c.Operand(x)
		return c.Emit(ops[code], o, x)
	}
	return then(x)
}

// padding is the operand of an implicit padding.
func (c *conversion) padding() uint32 {
	switch code := c.options.Int("padding"); code {
	case 0:
		return c.Int32Scalar(nn.PaddingSame)
	case 1:
		return c.Int32Scalar(nn.PaddingValid)
	default:
		c.Failf("padding %d is unknown", code)
	}
	return 0
}

// counted fails where the options state another number than the operator has; absent options state 0.
func (c *conversion) counted(option string, has int) {
	if n := c.options.Int(option); n != 0 && n != int64(has) {
		c.Failf("%s is %d, it has %d", option, n, has)
	}
}

// option is the operand of an int32 option.
func (c *conversion) option(name string) uint32 { return c.Int32Scalar(c.options.Int(name)) }
