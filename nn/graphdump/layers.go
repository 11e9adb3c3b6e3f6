package graphdump

import (
	"cmp"
	"slices"

	"github.com/nnsoc/nnsoc/nn"
)

// node is a box of a drawing: an operation, an input or output of the model, or the bend of a long edge.
type node struct {
	lines       []string
	fill        string
	rounded     bool
	bend        bool
	layer       int
	order       float64 // in its layer
	x, width    float64 // of the middle
	above, down []int   // nodes that it is tied to, in the layers next to it
}

// edge leads from a node to another through bends.
type edge struct {
	through []int
	label   string
}

// drawing is a model in layers, after Sugiyama, Tagawa and Toda (1981): each operation is below all that it reads,
// edges bend at each layer, nodes are ordered by the mean of their neighbours and then put as near below it as
// those beside them allow.
type drawing struct {
	nodes  []node
	edges  []edge
	layers [][]int
}

// longest is how many layers an edge may cross with bends; a longer one is drawn as one curve, so that a value read
// by thousands of operations does not make millions of bends.
const longest = 32

// sweeps is how often the layers are ordered, alternately down and up.
const sweeps = 8

// layered places the nodes of a model.
func layered(m *nn.Model, p Placement) *drawing {
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
		n := node{lines: operationLines(g, i), fill: p.Devices.color(i)}
		if note := p.note(i); note != "" {
			n.lines = slices.Insert(n.lines, 1, note)
		}
		for _, x := range op.Inputs {
			if s := from[x]; s >= 0 {
				n.layer = max(n.layer, d.nodes[s].layer+1)
			}
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
			at := d.add(node{lines: []string{outputName(k, &g.Operands[x]), shape(&g.Operands[x])}, rounded: true, layer: d.nodes[s].layer + 1})
			d.tie(s, at, "")
		}
	}
	d.order()
	d.place()
	return d
}

func (d *drawing) add(n node) int {
	for _, l := range n.lines {
		n.width = max(n.width, textWidth*float64(len(l))+2*margin)
	}
	d.nodes = append(d.nodes, n)
	return len(d.nodes) - 1
}

// tie adds an edge, with a bend in each layer that it crosses.
func (d *drawing) tie(from, to int, label string) {
	e := edge{through: []int{from}, label: label}
	if d.nodes[to].layer-d.nodes[from].layer <= longest {
		for layer := d.nodes[from].layer + 1; layer < d.nodes[to].layer; layer++ {
			e.through = append(e.through, d.add(node{bend: true, layer: layer, width: margin}))
		}
	}
	e.through = append(e.through, to)
	for i := range len(e.through) - 1 {
		a, b := e.through[i], e.through[i+1]
		if d.nodes[b].layer == d.nodes[a].layer+1 {
			d.nodes[a].down, d.nodes[b].above = append(d.nodes[a].down, b), append(d.nodes[b].above, a)
		}
	}
	d.edges = append(d.edges, e)
}

// order sorts the nodes of each layer by the mean position of their neighbours.
func (d *drawing) order() {
	for i := range d.nodes {
		for len(d.layers) <= d.nodes[i].layer {
			d.layers = append(d.layers, nil)
		}
		l := &d.layers[d.nodes[i].layer]
		d.nodes[i].order = float64(len(*l))
		*l = append(*l, i)
	}
	for s := range sweeps {
		for k := range d.layers {
			if s%2 == 1 {
				k = len(d.layers) - 1 - k
			}
			list := d.layers[k]
			for _, i := range list {
				n := &d.nodes[i]
				near := n.above
				if s%2 == 1 {
					near = n.down
				}
				if len(near) > 0 {
					n.order = 0
					for _, j := range near {
						n.order += d.nodes[j].order / float64(len(near))
					}
				}
			}
			slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(d.nodes[a].order, d.nodes[b].order) })
			for at, i := range list {
				d.nodes[i].order = float64(at)
			}
		}
	}
}

// place puts each node below the mean of those above it, as far as its neighbours in the layer allow: from left to
// right, then the layer moves so that its mean position is the intended one.
func (d *drawing) place() {
	for _, list := range d.layers {
		wanted := make([]float64, len(list))
		right, off := 0.0, 0.0
		for k, i := range list {
			n := &d.nodes[i]
			for _, j := range n.above {
				wanted[k] += d.nodes[j].x / float64(len(n.above))
			}
			n.x = wanted[k]
			if k > 0 {
				n.x = max(n.x, right+margin+n.width/2)
			}
			right = n.x + n.width/2
			off += (n.x - wanted[k]) / float64(len(list))
		}
		for _, i := range list {
			d.nodes[i].x -= off
		}
	}
	least := 0.0
	for i := range d.nodes {
		least = min(least, d.nodes[i].x-d.nodes[i].width/2)
	}
	for i := range d.nodes {
		d.nodes[i].x -= least - margin
	}
}
