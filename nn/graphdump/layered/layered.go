// Package layered places the boxes of a directed graph in layers, after Sugiyama, Tagawa and Toda (1981): a box lies below
// all that lead to it, an edge bends at each layer that it crosses, the boxes of a layer have the order in which few edges
// cross, and each stands as near to its neighbours' middle as those beside it allow.
package layered

import (
	"cmp"
	"slices"
)

// Edge leads from a box to one of a higher index.
type Edge struct{ From, To int }

// Point is the middle of a box or a bend.
type Point struct {
	X     float64
	Layer int
}

// Drawing has the places of boxes and edges; X is 0 at the left side of the leftmost box.
type Drawing struct {
	Boxes  []Point
	Routes [][]Point // of each edge: its first box, its bends, its last box
	Width  float64
	Layers int
}

// longest is how many layers an edge may cross with bends; a longer one is drawn as one curve, so that a value read
// by thousands of operations does not make millions of bends.
const longest = 32

// sweeps is how often the layers are ordered and then moved, alternately down and up.
const sweeps = 8

// straight is the weight of a tie between two bends beside one to a box: long edges shall not zigzag.
const straight = 4

// node is a box, or the bend of an edge.
type node struct {
	Point
	width       float64
	bend        bool
	order       float64 // in its layer
	above, down []int   // nodes that it is tied to, in the layers next to it
}

type graph struct {
	gap    float64
	nodes  []node
	routes [][]int
	layers [][]int
}

// Place places boxes of given widths, gap apart. Edges that do not lead to a higher index have no route.
func Place(widths []float64, edges []Edge, gap float64) *Drawing {
	g := &graph{gap: gap, routes: make([][]int, len(edges))}
	for _, w := range widths {
		g.nodes = append(g.nodes, node{width: w})
	}
	g.assign(edges)
	for i, e := range edges {
		if e.valid(len(widths)) {
			g.routes[i] = g.tie(e)
		}
	}
	g.order()
	g.move()
	return g.drawing(len(widths))
}

func (e Edge) valid(n int) bool { return e.From >= 0 && e.From < e.To && e.To < n }

// assign puts each box one layer below the lowest that leads to it, and one that nothing leads to just above its readers.
func (g *graph) assign(edges []Edge) {
	in, out := make([][]int, len(g.nodes)), make([][]int, len(g.nodes))
	for _, e := range edges {
		if e.valid(len(g.nodes)) {
			in[e.To], out[e.From] = append(in[e.To], e.From), append(out[e.From], e.To)
		}
	}
	for i := range g.nodes {
		for _, from := range in[i] {
			g.nodes[i].Layer = max(g.nodes[i].Layer, g.nodes[from].Layer+1)
		}
	}
	for i := range g.nodes {
		if len(in[i]) == 0 && len(out[i]) > 0 {
			reader := slices.MinFunc(out[i], func(a, b int) int { return cmp.Compare(g.nodes[a].Layer, g.nodes[b].Layer) })
			g.nodes[i].Layer = g.nodes[reader].Layer - 1
		}
	}
}

// tie adds an edge, with a bend in each layer that it crosses.
func (g *graph) tie(e Edge) []int {
	through := []int{e.From}
	if g.nodes[e.To].Layer-g.nodes[e.From].Layer <= longest {
		for layer := g.nodes[e.From].Layer + 1; layer < g.nodes[e.To].Layer; layer++ {
			g.nodes = append(g.nodes, node{Point: Point{Layer: layer}, width: g.gap, bend: true})
			through = append(through, len(g.nodes)-1)
		}
	}
	through = append(through, e.To)
	for i := range len(through) - 1 {
		a, b := through[i], through[i+1]
		if g.nodes[b].Layer == g.nodes[a].Layer+1 {
			g.nodes[a].down, g.nodes[b].above = append(g.nodes[a].down, b), append(g.nodes[b].above, a)
		}
	}
	return through
}

// order sorts the nodes of each layer by the mean position of their neighbours and keeps the order with the fewest crossings.
func (g *graph) order() {
	for i := range g.nodes {
		for len(g.layers) <= g.nodes[i].Layer {
			g.layers = append(g.layers, nil)
		}
		l := &g.layers[g.nodes[i].Layer]
		g.nodes[i].order = float64(len(*l))
		*l = append(*l, i)
	}
	best, least := g.snapshot(), g.crossings()
	for s := range sweeps {
		for k := range g.layers {
			if s%2 == 1 {
				k = len(g.layers) - 1 - k
			}
			g.sortLayer(g.layers[k], s%2 == 1)
		}
		if n := g.crossings(); n < least {
			best, least = g.snapshot(), n
		}
	}
	g.layers = best
	for _, list := range g.layers {
		for at, i := range list {
			g.nodes[i].order = float64(at)
		}
	}
}

func (g *graph) snapshot() [][]int {
	list := make([][]int, len(g.layers))
	for i, l := range g.layers {
		list[i] = slices.Clone(l)
	}
	return list
}

// near are the neighbours of a node in the layer below it or above it.
func (n *node) near(below bool) []int {
	if below {
		return n.down
	}
	return n.above
}

func (g *graph) sortLayer(list []int, below bool) {
	for _, i := range list {
		n := &g.nodes[i]
		near := n.near(below)
		if len(near) > 0 {
			n.order = 0
			for _, j := range near {
				n.order += g.nodes[j].order / float64(len(near))
			}
		}
	}
	slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(g.nodes[a].order, g.nodes[b].order) })
	for at, i := range list {
		g.nodes[i].order = float64(at)
	}
}

// crossings counts the pairs of ties that cross: inversions of their lower ends, sorted by their upper ends, in a
// Fenwick tree.
func (g *graph) crossings() (n int) {
	for k := range len(g.layers) - 1 {
		tree := make([]int, len(g.layers[k+1])+1)
		seen := 0
		for _, i := range g.layers[k] {
			var ends []int
			for _, j := range g.nodes[i].down {
				ends = append(ends, int(g.nodes[j].order)+1)
			}
			for _, e := range ends {
				n += seen
				for x := e; x > 0; x &= x - 1 {
					n -= tree[x]
				}
			}
			for _, e := range ends { // ties of one node do not cross
				for x := e; x < len(tree); x += x & -x {
					tree[x]++
				}
			}
			seen += len(ends)
		}
	}
	return n
}

// move puts each node at the mean of its neighbours above, then below, and so on; a node without neighbours there stays.
func (g *graph) move() {
	for _, list := range g.layers {
		g.settle(list, make([]float64, len(list)))
	}
	for s := range sweeps + 1 { // the last sweep is one down
		for k := range g.layers {
			if s%2 == 1 {
				k = len(g.layers) - 1 - k
			}
			list := g.layers[k]
			wanted := make([]float64, len(list))
			for at, i := range list {
				wanted[at] = g.middle(&g.nodes[i], s%2 == 1)
			}
			g.settle(list, wanted)
		}
	}
}

// middle is the weighted mean of a node's neighbours.
func (g *graph) middle(n *node, below bool) float64 {
	x, all := 0.0, 0.0
	for _, j := range n.near(below) {
		w := 1.0
		if n.bend && g.nodes[j].bend {
			w = straight
		}
		x, all = x+w*g.nodes[j].X, all+w
	}
	if all == 0 {
		return n.X
	}
	return x / all
}

// settle gives the nodes of a layer the places that differ least, in squares, from those wanted while none overlap: an
// isotonic regression of the places less the room that the nodes before need, by pooling adjacent violators.
func (g *graph) settle(list []int, wanted []float64) {
	type pool struct {
		mean float64
		n    int
	}
	var pools []pool
	room := make([]float64, len(list)) // of the nodes before each
	for k, i := range list {
		if k > 0 {
			room[k] = room[k-1] + g.nodes[list[k-1]].width/2 + g.gap + g.nodes[i].width/2
		}
		p := pool{wanted[k] - room[k], 1}
		for len(pools) > 0 && pools[len(pools)-1].mean > p.mean {
			last := pools[len(pools)-1]
			p = pool{(p.mean*float64(p.n) + last.mean*float64(last.n)) / float64(p.n+last.n), p.n + last.n}
			pools = pools[:len(pools)-1]
		}
		pools = append(pools, p)
	}
	k := 0
	for _, p := range pools {
		for range p.n {
			g.nodes[list[k]].X = p.mean + room[k]
			k++
		}
	}
}

func (g *graph) drawing(boxes int) *Drawing {
	d := &Drawing{Layers: len(g.layers), Routes: make([][]Point, len(g.routes))}
	if len(g.nodes) == 0 {
		return d
	}
	left := g.nodes[0].X
	for i := range g.nodes {
		left = min(left, g.nodes[i].X-g.nodes[i].width/2)
	}
	for i := range g.nodes {
		g.nodes[i].X -= left
		d.Width = max(d.Width, g.nodes[i].X+g.nodes[i].width/2)
	}
	for i := range boxes {
		d.Boxes = append(d.Boxes, g.nodes[i].Point)
	}
	for i, r := range g.routes {
		for _, k := range r {
			d.Routes[i] = append(d.Routes[i], g.nodes[k].Point)
		}
	}
	return d
}
