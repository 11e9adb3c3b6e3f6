package randgraph

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// WriteSpec writes a case as an Android test specification (.mod.py) with the
// reference's results as expected outputs. The comment may have several lines.
func WriteSpec(b *strings.Builder, c *Case, comment string) error {
	want, err := reference(c)
	if err != nil {
		return err
	}
	for _, l := range strings.Split(strings.TrimSpace(comment), "\n") {
		fmt.Fprintf(b, "# %s\n", l)
	}
	w := &specWriter{b: b, count: map[string]int{}}
	b.WriteByte('\n')
	for i := range c.Model.Referenced {
		w.subgraph(fmt.Sprintf("sub%d", i), &c.Model.Referenced[i])
	}
	g := &c.Model.Main
	w.ignored = map[uint32]bool{}
	w.shape = map[uint32][]uint32{}
	undefined := scratch(g)
	for i, x := range g.Inputs {
		w.shape[x] = c.dimensions(i)
	}
	for i, x := range g.Outputs {
		w.shape[x], w.ignored[x] = want[i].Dimensions, undefined[i]
	}
	w.declare("", g)
	b.WriteString("\nmodel = Model()\n")
	w.operations("model", g)
	b.WriteString("\nExample({\n")
	for k, x := range g.Inputs {
		if w.name[x] != "" {
			fmt.Fprintf(b, "    %s: %s,\n", w.name[x], list(g.Operands[x].Type, c.Inputs[k]))
		}
	}
	for k, x := range g.Outputs {
		fmt.Fprintf(b, "    %s: %s,\n", w.name[x], list(g.Operands[x].Type, want[k].Data))
	}
	b.WriteString("}, model=model).DisableLifeTimeVariation()\n")
	return nil
}

// specWriter writes the graphs of a specification.
type specWriter struct {
	b       *strings.Builder
	count   map[string]int      // operands by prefix of their names
	name    []string            // of the operands of the current graph, "" of unused ones
	shape   map[uint32][]uint32 // of inputs, and of the reference's outputs
	ignored map[uint32]bool     // outputs without a defined value
}

func (w *specWriter) next(prefix string) string {
	w.count[prefix]++
	return fmt.Sprintf("%s%d", prefix, w.count[prefix]-1)
}

// subgraph writes a model that control flow refers to, and the reference.
func (w *specWriter) subgraph(name string, g *nn.Subgraph) {
	w.declare(name+"_", g)
	fmt.Fprintf(w.b, "%s = Model(%q)\n", name, name)
	fmt.Fprintf(w.b, "%s.IdentifyInputs(%s)\n", name, w.names(g.Inputs))
	fmt.Fprintf(w.b, "%s.IdentifyOutputs(%s)\n", name, w.names(g.Outputs))
	w.operations(name, g)
	w.b.WriteByte('\n')
}

func (w *specWriter) names(list []uint32) string {
	s := make([]string, len(list))
	for i, x := range list {
		s[i] = w.name[x]
	}
	return strings.Join(s, ", ")
}

// declare writes the operands that operations use, and all inputs of a subgraph.
func (w *specWriter) declare(prefix string, g *nn.Subgraph) {
	w.name = make([]string, len(g.Operands))
	used := make([]bool, len(g.Operands))
	mark := func(list []uint32) {
		for _, x := range list {
			used[x] = true
		}
	}
	for i := range g.Operations {
		mark(g.Operations[i].Inputs)
		mark(g.Operations[i].Outputs)
	}
	if prefix != "" {
		mark(g.Inputs)
	}
	for i := range g.Operands {
		if used[i] {
			w.operand(prefix, uint32(i), &g.Operands[i])
		}
	}
}

// operand writes the declaration of one operand.
func (w *specWriter) operand(prefix string, i uint32, o *nn.Operand) {
	if d, ok := w.shape[i]; ok && !o.Type.IsScalar() {
		known := *o
		known.Dimensions = d
		o = &known
	}
	kind, class := "param", "Parameter"
	value := ""
	switch {
	case o.Lifetime == nn.SubgraphInput:
		kind, class = "input", "Input"
	case o.Lifetime == nn.SubgraphOutput:
		kind, class = "output", "Output"
		if w.ignored[i] {
			class = "IgnoredOutput"
		}
	case o.Lifetime == nn.TemporaryVariable:
		kind, class = "internal", "Internal"
	case o.Lifetime == nn.LifetimeSubgraph:
		w.name[i] = w.next(prefix + "reference")
		sub := fmt.Sprintf("sub%d", binary.LittleEndian.Uint32(o.Data))
		fmt.Fprintf(w.b, "%s = SubgraphReference(%q, %s)\n", w.name[i], w.name[i], sub)
		return
	case o.Type.IsScalar():
		w.name[i] = w.next(prefix + "scalar")
		fmt.Fprintf(w.b, "%s = %s(%q, %s)\n", w.name[i], scalarClass[o.Type], w.name[i], literal(o.Type, o.Data))
		return
	default:
		value = ", " + list(o.Type, o.Data)
	}
	name := w.next(prefix + kind)
	w.name[i] = name
	fmt.Fprintf(w.b, "%s = %s(%q, %s%s%s)\n", name, class, name, typeOf(o), value, extra(o))
}

// operations writes the operations of a graph as those of a model.
func (w *specWriter) operations(model string, g *nn.Subgraph) {
	for i := range g.Operations {
		op := &g.Operations[i]
		fmt.Fprintf(w.b, "%s = %s.Operation(%q, %s).To(%s)\n", model, model, op.Type.String(), w.names(op.Inputs), w.names(op.Outputs))
	}
}

var scalarClass = map[nn.OperandType]string{
	nn.Float32: "Float32Scalar", nn.Float16: "Float16Scalar", nn.Int32: "Int32Scalar", nn.Bool: "BoolScalar",
}

// typeOf is the type tuple of an operand.
func typeOf(o *nn.Operand) string {
	var dims []string
	for _, d := range o.Dimensions {
		dims = append(dims, strconv.Itoa(int(d)))
	}
	s := fmt.Sprintf("(%q, [%s]", o.Type.String(), strings.Join(dims, ", "))
	if o.Scale != 0 || o.ZeroPoint != 0 {
		s += fmt.Sprintf(", %s, %d", float(o.Scale), o.ZeroPoint)
	}
	return s + ")"
}

// extra is the argument of per-channel quantization and of extension data.
func extra(o *nn.Operand) string {
	if len(o.Extension) > 0 {
		return fmt.Sprintf(", extraParams=ExtensionData(\"%x\")", o.Extension)
	}
	if o.Channel == nil {
		return ""
	}
	var scales []string
	for _, s := range o.Channel.Scales {
		scales = append(scales, float(s))
	}
	return fmt.Sprintf(", extraParams=SymmPerChannelQuantParams(channelDim=%d, scales=[%s])", o.Channel.Dim, strings.Join(scales, ", "))
}

// list is a Python list of the elements.
func list(t nn.OperandType, data []byte) string {
	size := t.ElementBytes()
	var b strings.Builder
	b.WriteByte('[')
	for i := 0; i+size <= len(data); i += size {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(literal(t, data[i:]))
	}
	b.WriteByte(']')
	return b.String()
}

// literal is one element in Python.
func literal(t nn.OperandType, data []byte) string {
	v := opspec.Element(t, data)
	switch t {
	case nn.TensorFloat32, nn.Float32, nn.TensorFloat16, nn.Float16:
		return float(float32(v))
	case nn.Bool, nn.TensorBool8:
		if v != 0 {
			return "True"
		}
		return "False"
	}
	return strconv.FormatInt(int64(v), 10)
}

// float is a decimal that reads back as exactly v, through a double.
func float(v float32) string {
	switch f := float64(v); {
	case math.IsNaN(f):
		return `float("nan")`
	case math.IsInf(f, 0):
		if f < 0 {
			return `float("-inf")`
		}
		return `float("inf")`
	}
	s := strconv.FormatFloat(float64(v), 'g', -1, 32)
	if f, err := strconv.ParseFloat(s, 64); err != nil || float32(f) != v {
		s = strconv.FormatFloat(float64(v), 'g', -1, 64)
	}
	if !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	return s
}
