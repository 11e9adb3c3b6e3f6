// Package graphdump draws a model as a Graphviz digraph, in the manner of the graph dump
// of AOSP's NNAPI: a node for each operand and each operation of the main subgraph, an
// edge for each use, numbered where an operation has several. Unlike there, constant scalars
// are in the labels of the operations that read them: models share them, and as nodes they
// would connect almost all operations.
package graphdump

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// shortTypes are the names that drawings use; other types have their own.
var shortTypes = map[nn.OperandType]string{
	nn.OEM: "OEM", nn.TensorOEMByte: "TOEMB",
	nn.Float32: "F32", nn.Int32: "I32", nn.Uint32: "U32",
	nn.TensorFloat32: "TF32", nn.TensorInt32: "TI32", nn.TensorQuant8Asymm: "TQ8A",
}

// lifetimes are the marks of operands that are no temporaries.
var lifetimes = map[nn.Lifetime]string{
	nn.ConstantCopy: ": COPY", nn.ConstantReference: ": REF", nn.NoValue: ": NO", nn.LifetimeSubgraph: ": SUBGRAPH",
}

// Devices are the names of the devices on which operations run; nil: unknown.
type Devices []string

// Placement is the device of each operation, and a note in the line below its type; "" and missing ones are not drawn.
type Placement struct {
	Devices Devices
	Notes   []string
	// Colour is the colour of a device and that of text on it, as #rrggbb.
	Colour func(device string) (fill, ink string)
}

// colour is the colour of an operation's device and that of text on it, "" without a device.
func (p *Placement) colour(op int) (fill, ink string) {
	if op >= len(p.Devices) || p.Devices[op] == "" {
		return "", ""
	}
	return p.Colour(p.Devices[op])
}

func (p *Placement) note(op int) string {
	if op >= len(p.Notes) {
		return ""
	}
	return p.Notes[op]
}

// names are the devices, in the order in which they come.
func (d Devices) names() (list []string) {
	for _, n := range d {
		if n != "" && !slices.Contains(list, n) {
			list = append(list, n)
		}
	}
	return list
}

// Write draws a model.
func Write(w io.Writer, title string, m *nn.Model) error {
	return WriteDivided(w, title, m, Placement{})
}

// WriteDivided draws a model, its operations in the colours of their devices, with their notes. Long constants are not printed; the subgraphs that IF and WHILE
// refer to are counted in a comment and not drawn.
func WriteDivided(w io.Writer, title string, m *nn.Model, p Placement) error {
	out := bufio.NewWriter(w)
	if title == "" {
		title = "unnamed"
	}
	fmt.Fprintf(out, "// %s\ndigraph {\n", strings.ReplaceAll(title, "\n", " "))
	m = opspec.Standard().Localize(m) // for the names of extensions' codes
	g := &m.Main
	role := map[uint32]string{}
	for k, x := range g.Inputs {
		role[x] = fmt.Sprintf(" = input[%d]", k)
	}
	for k, x := range g.Outputs {
		role[x] += fmt.Sprintf(" = output[%d]", k)
	}
	for i := range g.Operands {
		o := &g.Operands[i]
		if inLabel(o) && role[uint32(i)] == "" {
			continue
		}
		label := fmt.Sprintf("%d%s%s\\n%s", i, role[uint32(i)], lifetimes[o.Lifetime], shape(o))
		style := ""
		if role[uint32(i)] != "" {
			style = " style=filled fillcolor=black fontcolor=white"
		}
		fmt.Fprintf(out, "    d%d [label=\"%s\"%s]\n", i, label, style)
	}
	for i := range g.Operations {
		op := &g.Operations[i]
		order := ""
		if len(op.Inputs) > 1 {
			order += " ordering=in"
		}
		if len(op.Outputs) > 1 {
			order = " ordering=out"
		}
		label := op.Type.String()
		for k, x := range op.Inputs {
			if o := &g.Operands[x]; inLabel(o) && role[x] == "" {
				label += fmt.Sprintf("\\n[%d] %s", k, shape(o))
			}
		}
		if n := p.note(i); n != "" {
			label += "\\n" + n
		}
		if fill, ink := p.colour(i); fill != "" {
			label += "\\non " + p.Devices[i]
			order += fmt.Sprintf(" style=filled fillcolor=%q fontcolor=%q", fill, ink)
		}
		fmt.Fprintf(out, "    n%d [shape=box%s label=\"%d: %s\"]\n", i, order, i, label)
		for k, x := range op.Inputs {
			if inLabel(&g.Operands[x]) && role[x] == "" {
				continue
			}
			fmt.Fprintf(out, "    d%d -> n%d%s\n", x, i, position(k, len(op.Inputs)))
		}
		for k, x := range op.Outputs {
			fmt.Fprintf(out, "    n%d -> d%d%s\n", i, x, position(k, len(op.Outputs)))
		}
	}
	if n := len(m.Referenced); n > 0 {
		fmt.Fprintf(out, "    // %d referenced subgraphs are not drawn\n", n)
	}
	fmt.Fprintln(out, "}")
	return out.Flush()
}

// inLabel reports operands that are drawn as part of the operations that read them.
func inLabel(o *nn.Operand) bool {
	return o.Lifetime == nn.NoValue || o.IsConst() && o.Type.IsScalar()
}

// position labels one edge of several.
func position(k, n int) string {
	if n == 1 {
		return ""
	}
	return fmt.Sprintf(" [label=%d]", k)
}

// shape is the type of an operand with the value of a scalar or the dimensions of a
// tensor.
func shape(o *nn.Operand) string {
	name := shortTypes[o.Type]
	if name == "" {
		name = o.Type.String()
	}
	if o.Type.IsScalar() {
		if o.IsConst() {
			name += " = " + opspec.ScalarText(o)
		}
		return name
	}
	if len(o.Dimensions) == 0 {
		return name + "(unknown rank)"
	}
	parts := make([]string, len(o.Dimensions))
	for i, d := range o.Dimensions {
		if parts[i] = fmt.Sprint(d); d == 0 {
			parts[i] = "?"
		}
	}
	return name + "(" + strings.Join(parts, "x") + ")"
}
