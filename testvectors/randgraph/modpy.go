package randgraph

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
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
	g := &c.Model.Main
	shape := map[uint32][]uint32{} // of outputs, as the reference gives it
	for i, x := range g.Outputs {
		shape[x] = want[i].Dimensions
	}
	name := make([]string, len(g.Operands))
	count := map[string]int{}
	next := func(prefix string) string {
		count[prefix]++
		return fmt.Sprintf("%s%d", prefix, count[prefix]-1)
	}
	used := make([]bool, len(g.Operands))
	for i := range g.Operations {
		for _, list := range [][]uint32{g.Operations[i].Inputs, g.Operations[i].Outputs} {
			for _, x := range list {
				used[x] = true
			}
		}
	}
	b.WriteByte('\n')
	for i := range g.Operands {
		o := &g.Operands[i]
		if !used[i] {
			continue
		}
		switch {
		case o.Lifetime == nn.SubgraphInput:
			name[i] = next("input")
			fmt.Fprintf(b, "%s = Input(%q, %s%s)\n", name[i], name[i], typeOf(o), extra(o))
		case o.Lifetime == nn.SubgraphOutput:
			name[i] = next("output")
			known := *o
			known.Dimensions = shape[uint32(i)]
			fmt.Fprintf(b, "%s = Output(%q, %s%s)\n", name[i], name[i], typeOf(&known), extra(o))
		case o.Lifetime == nn.TemporaryVariable:
			name[i] = next("internal")
			fmt.Fprintf(b, "%s = Internal(%q, %s%s)\n", name[i], name[i], typeOf(o), extra(o))
		case o.Type.IsScalar():
			name[i] = next("scalar")
			fmt.Fprintf(b, "%s = %s(%q, %s)\n", name[i], scalarClass[o.Type], name[i], literal(o.Type, o.Data))
		default:
			name[i] = next("param")
			fmt.Fprintf(b, "%s = Parameter(%q, %s, %s%s)\n", name[i], name[i], typeOf(o), list(o.Type, o.Data), extra(o))
		}
	}
	b.WriteString("\nmodel = Model()\n")
	for i := range g.Operations {
		op := &g.Operations[i]
		fmt.Fprintf(b, "model = model.Operation(%q", op.Type.String())
		for _, x := range op.Inputs {
			fmt.Fprintf(b, ", %s", name[x])
		}
		b.WriteString(").To(")
		for k, x := range op.Outputs {
			if k > 0 {
				b.WriteString(", ")
			}
			b.WriteString(name[x])
		}
		b.WriteString(")\n")
	}
	b.WriteString("\nExample({\n")
	for k, x := range g.Inputs {
		if used[x] {
			fmt.Fprintf(b, "    %s: %s,\n", name[x], list(g.Operands[x].Type, c.Inputs[k]))
		}
	}
	for k, x := range g.Outputs {
		fmt.Fprintf(b, "    %s: %s,\n", name[x], list(g.Operands[x].Type, want[k].Data))
	}
	b.WriteString("}).DisableLifeTimeVariation()\n")
	return nil
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

// extra is the argument of per-channel quantization.
func extra(o *nn.Operand) string {
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
