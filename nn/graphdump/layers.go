package graphdump

import (
	"slices"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/graphdump/layered"
)

// node is a box of a drawing: an operation, an input or output of the model.
type node struct {
	lines   []string
	fill    string // of its box
	ink     string // of its text
	rounded bool
}

func (n *node) width() (w float64) {
	for _, l := range n.lines {
		w = max(w, textWidth*float64(len(l))+2*margin)
	}
	return w
}

// drawing is a model in layers.
type drawing struct {
	nodes  []node
	edges  []layered.Edge
	labels []string // of edges
	*layered.Drawing
}

// placed gives the nodes of a model their places.
func placed(m *nn.Model, p Placement) *drawing {
	g := &m.Main
	d := &drawing{}
	from := make([]int, len(g.Operands)) // node of each value
	for i := range from {
		from[i] = -1
	}
	for k, x := range g.Inputs {
		from[x] = d.add(node{lines: []string{inputName(k, &g.Operands[x]), shape(&g.Operands[x])}, rounded: true})
	}
	for i := range g.Operations {
		op := &g.Operations[i]
		n := node{lines: operationLines(g, i)}
		n.fill, n.ink = p.colour(i)
		if note := p.note(i); note != "" {
			n.lines = slices.Insert(n.lines, 1, note)
		}
		at := d.add(n)
		for _, x := range op.Inputs {
			if from[x] >= 0 {
				d.tie(from[x], at, shape(&g.Operands[x]))
			}
		}
		for _, x := range op.Outputs {
			from[x] = at
		}
	}
	for k, x := range g.Outputs {
		if s := from[x]; s >= 0 {
			d.tie(s, d.add(node{lines: []string{outputName(k, &g.Operands[x]), shape(&g.Operands[x])}, rounded: true}), "")
		}
	}
	var widths []float64
	for i := range d.nodes {
		widths = append(widths, d.nodes[i].width())
	}
	d.Drawing = layered.Place(widths, d.edges, margin)
	return d
}

func (d *drawing) add(n node) int {
	d.nodes = append(d.nodes, n)
	return len(d.nodes) - 1
}

func (d *drawing) tie(from, to int, label string) {
	d.edges, d.labels = append(d.edges, layered.Edge{From: from, To: to}), append(d.labels, label)
}
