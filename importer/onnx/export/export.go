// Package export writes models as ONNX files of operator set 17, which importer/onnx and
// other tools read.
//
// Images stay in NNAPI's order of dimensions, channels last, but for convolutions and their like, which ONNX has with
// channels second: TRANSPOSEs are inserted where neighbours do not agree. Quantized operations become operators on
// reals between DequantizeLinear and QuantizeLinear. A model that the format cannot express is an error that names the
// operation.
package export

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/nnsoc/nnsoc/importer/onnx/onnxfile"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// Versions that files state.
const (
	irVersion = 8
	opset     = 17
)

// maxBytes bounds the constants of a file: a message of protocol buffers has at most 2 GiB.
const maxBytes = 1<<31 - 1<<24

// Bytes is a model as a file.
func Bytes(m *nn.Model) (file []byte, err error) {
	g := &graph{in: &m.Main, view: opspec.ModelView(&m.Main), names: map[string]bool{}, values: map[uint32]*value{}}
	defer func() {
		if err != nil {
			err = fmt.Errorf("onnx: %s%w", g.where, err)
		}
	}()
	defer try.Catch(&err)
	total := int64(0)
	for i := range m.Main.Operands {
		total += int64(len(m.Main.Operands[i].Data))
	}
	if total > maxBytes {
		return nil, fmt.Errorf("%d bytes of constants, at most %d fit a file", total, maxBytes)
	}
	g.out.Name = cmp.Or(m.Name, "main")
	g.write()
	return onnxfile.Append(nil, &onnxfile.Model{
		IRVersion: irVersion, Producer: "nnsoc", Opsets: []onnxfile.Opset{{Version: opset}}, Graph: &g.out,
	}), nil
}

// Forms of an operand's value in the file.
const (
	plain  = iota // the operand's order of dimensions
	second        // an image with channels second
	forms
)

// value is an operand in the file: names of tensors by form, "" where there is none yet. Quantized operands have both a
// tensor of integers and one of the reals that they represent.
type value struct {
	base           string
	reals, integer [forms]string
}

// graph is the main subgraph while it is written.
type graph struct {
	in     *nn.Subgraph
	view   opspec.View
	out    onnxfile.Graph
	names  map[string]bool
	values map[uint32]*value
	where  string // of an error: what is written now, with ": "
}

// failf ends the export of a model.
func failf(format string, args ...any) { try.E(fmt.Errorf(format, args...)) }

func (g *graph) write() {
	for i, x := range g.in.Inputs {
		o := &g.in.Operands[x]
		g.where = fmt.Sprintf("input %d: ", i)
		v := g.value(x)
		g.set(x, plain, v.base)
		g.out.Inputs = append(g.out.Inputs, g.declared(o, v.base))
	}
	for i := range g.in.Operations {
		op := &g.in.Operations[i]
		g.where = fmt.Sprintf("operation %d (%v): ", i, op.Type)
		g.operation(op)
	}
	for i, x := range g.in.Outputs {
		g.where = fmt.Sprintf("output %d: ", i)
		o := &g.in.Operands[x]
		name := g.stored(x, plain)
		if name != g.values[x].base {
			g.node("Identity", []string{name}, g.values[x].base)
		}
		g.out.Outputs = append(g.out.Outputs, g.declared(o, g.values[x].base))
	}
	g.drop()
}

// drop removes unused nodes and constants.
func (g *graph) drop() {
	read := map[string]bool{}
	for _, v := range g.out.Outputs {
		read[v.Name] = true
	}
	for i := len(g.out.Nodes) - 1; i >= 0; i-- {
		n := g.out.Nodes[i]
		if !slices.ContainsFunc(n.Outputs, func(s string) bool { return read[s] }) {
			g.out.Nodes[i] = nil
			continue
		}
		for _, s := range n.Inputs {
			read[s] = true
		}
	}
	g.out.Nodes = slices.DeleteFunc(g.out.Nodes, func(n *onnxfile.Node) bool { return n == nil })
	g.out.Initializers = slices.DeleteFunc(g.out.Initializers, func(t *onnxfile.Tensor) bool { return !read[t.Name] })
}

// unique is a name that nothing has yet.
func (g *graph) unique(name string) string {
	for i, s := 1, name; ; i++ {
		if !g.names[s] {
			g.names[s] = true
			return s
		}
		s = fmt.Sprintf("%s_%d", name, i)
	}
}

// value is an operand's, named at first use.
func (g *graph) value(x uint32) *value {
	v, ok := g.values[x]
	if !ok {
		name := g.in.Operands[x].Name
		if name == "" {
			name = fmt.Sprintf("operand%d", x)
		}
		v = &value{base: g.unique(name)}
		g.values[x] = v
	}
	return v
}

// types are the format's types of operands.
var types = map[nn.OperandType]onnxfile.DataType{
	nn.TensorFloat32: onnxfile.Float, nn.TensorFloat16: onnxfile.Float16, nn.TensorInt32: onnxfile.Int32, nn.TensorBool8: onnxfile.Bool,
	nn.TensorQuant8Asymm: onnxfile.Uint8, nn.TensorQuant8AsymmSigned: onnxfile.Int8, nn.TensorQuant8Symm: onnxfile.Int8,
	nn.TensorQuant8SymmPerChannel: onnxfile.Int8,
}

func (g *graph) typeOf(o *nn.Operand) onnxfile.DataType {
	t, ok := types[o.Type]
	if !ok || o.Type == nn.TensorInt32 && o.Scale != 0 && !o.IsConst() {
		failf("the format has no %v of scale %v", o.Type, o.Scale)
	}
	return t
}

// declared is an input or output of the graph.
func (g *graph) declared(o *nn.Operand, name string) *onnxfile.Value {
	v := &onnxfile.Value{Name: name, Type: g.typeOf(o), Dims: []onnxfile.Dim{}}
	if slices.Contains(o.Dimensions, 0) || len(o.Dimensions) == 0 {
		failf("shape %v is unknown or empty", o.Dimensions)
	}
	for _, d := range o.Dimensions {
		v.Dims = append(v.Dims, onnxfile.Dim{Size: int64(d)})
	}
	return v
}

// isQuantized reports whether elements represent reals by a scale.
func isQuantized(o *nn.Operand) bool {
	return o.Type.IsQuant8() || o.Type == nn.TensorQuant8Symm || o.Channel != nil || o.Type == nn.TensorInt32 && o.Scale != 0
}

// set makes a tensor of the file hold an operand, in its stored form.
func (g *graph) set(x uint32, form int, name string) {
	v := g.value(x)
	if isQuantized(&g.in.Operands[x]) {
		v.integer[form] = name
	} else {
		v.reals[form] = name
	}
}

// result makes reals the value of an operation's output: a quantized one passes a
// QuantizeLinear.
func (g *graph) result(x uint32, form int, name string) {
	o := &g.in.Operands[x]
	if !isQuantized(o) {
		g.set(x, form, name)
		return
	}
	suffix := ""
	if form == second {
		suffix = "/second"
	}
	scale, zero := g.quantization(x, o)
	g.set(x, form, g.node("QuantizeLinear", []string{name, scale, zero}, g.base(x, suffix)))
}

// base is the operand's own name in its own order, a derived one else.
func (g *graph) base(x uint32, suffix string) string {
	v := g.value(x)
	if suffix == "" && v.integer[plain] == "" && v.reals[plain] == "" {
		return v.base
	}
	return g.unique(v.base + suffix)
}

// quantization are the constants of scale and zero point of an operand.
func (g *graph) quantization(x uint32, o *nn.Operand) (scale, zero string) {
	base := g.value(x).base
	if o.Channel != nil {
		z := &onnxfile.Tensor{Name: g.unique(base + "/zero"), Type: onnxfile.Int8, Dims: []int64{int64(len(o.Channel.Scales))}, Raw: make([]byte, len(o.Channel.Scales))}
		g.out.Initializers = append(g.out.Initializers, z)
		return g.floats(base+"/scale", []int64{int64(len(o.Channel.Scales))}, o.Channel.Scales...), z.Name
	}
	z := &onnxfile.Tensor{Name: g.unique(base + "/zero"), Type: g.typeOf(o), Raw: []byte{byte(o.ZeroPoint)}}
	if o.Type == nn.TensorInt32 {
		z.Raw = make([]byte, 4)
	}
	g.out.Initializers = append(g.out.Initializers, z)
	return g.floats(base+"/scale", nil, o.Scale), z.Name
}

// stored is the tensor of an operand as NNAPI stores it.
func (g *graph) stored(x uint32, form int) string {
	o := &g.in.Operands[x]
	v := g.value(x)
	list := &v.reals
	if isQuantized(o) {
		list = &v.integer
	}
	if list[form] != "" {
		return list[form]
	}
	if other := list[form^1]; other != "" {
		list[form] = g.turned(v, other, form)
		return list[form]
	}
	if !o.IsConst() {
		failf("operand %d is read before it is written", x)
	}
	g.out.Initializers = append(g.out.Initializers, g.initializer(v.base, o, o.Dimensions, o.Data))
	list[plain] = v.base
	return g.stored(x, form)
}

func (g *graph) initializer(name string, o *nn.Operand, dims []uint32, data []byte) *onnxfile.Tensor {
	t := &onnxfile.Tensor{Name: name, Type: g.typeOf(o), Raw: data}
	for _, d := range dims {
		t.Dims = append(t.Dims, int64(d))
	}
	return t
}

// turned brings an image into the other order of dimensions.
func (g *graph) turned(v *value, from string, form int) string {
	perm, suffix := []int64{0, 3, 1, 2}, "/second"
	if form == plain {
		perm, suffix = []int64{0, 2, 3, 1}, ""
	}
	name := v.base
	if suffix != "" || v.reals[plain] != "" || v.integer[plain] != "" {
		name = g.unique(v.base + suffix)
	}
	return g.node("Transpose", []string{from}, name, ints("perm", perm...))
}

// real is the tensor of reals, or of unscaled integers, of an operand.
func (g *graph) real(x uint32, form int) string {
	o := &g.in.Operands[x]
	if !isQuantized(o) {
		return g.stored(x, form)
	}
	v := g.value(x)
	if v.reals[form] == "" {
		if form == second && v.integer[second] == "" && len(o.Dimensions) != 4 {
			failf("operand %d of shape %v is no image", x, o.Dimensions)
		}
		scale, zero := g.quantization(x, o)
		in := []string{g.stored(x, form), scale, zero}
		var axis []*onnxfile.Attribute
		if o.Channel != nil {
			axis = append(axis, integer("axis", int64(o.Channel.Dim)))
		}
		v.reals[form] = g.node("DequantizeLinear", in, g.unique(v.base+"/real"), axis...)
	}
	return v.reals[form]
}

// hasSecond reports whether an image is available with channels second only.
func (g *graph) hasSecond(x uint32) bool {
	v := g.value(x)
	return (v.reals[second] != "" || v.integer[second] != "") && v.reals[plain] == "" && v.integer[plain] == ""
}

// node appends a node of one output and returns its name.
func (g *graph) node(op string, in []string, out string, attributes ...*onnxfile.Attribute) string {
	g.out.Nodes = append(g.out.Nodes, &onnxfile.Node{Op: op, Inputs: in, Outputs: []string{out}, Attributes: attributes})
	return out
}

func integer(name string, v int64) *onnxfile.Attribute {
	return &onnxfile.Attribute{Name: name, Type: onnxfile.AttributeInt, Int: v}
}

func ints(name string, v ...int64) *onnxfile.Attribute {
	return &onnxfile.Attribute{Name: name, Type: onnxfile.AttributeInts, Ints: v}
}

func float(name string, v float32) *onnxfile.Attribute {
	return &onnxfile.Attribute{Name: name, Type: onnxfile.AttributeFloat, Float: v}
}

func text(name, v string) *onnxfile.Attribute {
	return &onnxfile.Attribute{Name: name, Type: onnxfile.AttributeString, String: v}
}

// floats adds a constant of reals.
func (g *graph) floats(name string, dims []int64, list ...float32) string {
	t := &onnxfile.Tensor{Name: g.unique(name), Type: onnxfile.Float, Dims: dims, Floats: list}
	g.out.Initializers = append(g.out.Initializers, t)
	return t.Name
}

// int64s adds a constant list, as shapes and axes are.
func (g *graph) int64s(name string, list ...int64) string {
	t := &onnxfile.Tensor{Name: g.unique(name), Type: onnxfile.Int64, Dims: []int64{int64(len(list))}, Int64s: list}
	g.out.Initializers = append(g.out.Initializers, t)
	return t.Name
}

// wide are dimensions as lists of the format have them.
func wide[T int32 | uint32](dims []T) []int64 {
	list := make([]int64, len(dims))
	for i, d := range dims {
		list[i] = int64(d)
	}
	return list
}
