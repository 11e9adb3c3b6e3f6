package layered

import (
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

// TestPlace: boxes are below what leads to them, none of a layer overlap, a chain is straight, edges that could be drawn without
// crossings have none, and what nothing leads to is beside its reader's neighbours.
func TestPlace(t *testing.T) {
	const wide = 100.0
	widths := slices.Repeat([]float64{wide}, 9)
	// A chain of 0 to 4 with a branch 0-5-6-4 and an edge across it, a constant 7 of the last layer, and a box 8 alone.
	edges := []Edge{{0, 1}, {1, 2}, {2, 3}, {0, 5}, {5, 6}, {3, 7}, {6, 7}, {4, 7}, {0, 7}, {7, 7}, {8, 2}, {-1, 3}, {3, 99}}
	d := Place(widths, edges, 10)
	for i, e := range edges {
		if !e.valid(len(widths)) {
			require.Equal(t, 0, len(d.Routes[i]), "an edge that leads nowhere")
			continue
		}
		require.Check(t, d.Boxes[e.From].Layer < d.Boxes[e.To].Layer, "%v: layers %d, %d", e, d.Boxes[e.From].Layer, d.Boxes[e.To].Layer)
		require.Same(t, d.Boxes[e.To].Layer-d.Boxes[e.From].Layer+1, len(d.Routes[i]), "places of an edge")
	}
	for i, a := range d.Boxes {
		for _, b := range d.Boxes[:i] {
			require.Check(t, a.Layer != b.Layer || max(a.X-b.X, b.X-a.X) >= wide+10-1e-6, "boxes overlap: %v, %v", a, b)
		}
		require.Check(t, a.X >= wide/2 && a.X <= d.Width-wide/2, "box %d is outside: %v of %v", i, a, d.Width)
	}
	require.Same(t, d.Boxes[7].Layer-1, d.Boxes[4].Layer, "the layer of what nothing leads to")

	chain := Place(widths[:4], edges[:3], 10)
	for _, b := range chain.Boxes {
		require.Equal(t, wide/2, b.X, "a chain bends")
	}
	require.Equal(t, wide, chain.Width)
	require.Equal(t, &Drawing{Routes: [][]Point{}}, Place(nil, nil, 10))
}

// TestCrossings: two layers whose ties are reversed are drawn without a crossing.
func TestCrossings(t *testing.T) {
	g := &graph{gap: 1}
	var edges []Edge
	for i := range 6 {
		g.nodes = append(g.nodes, node{width: 1})
		edges = append(edges, Edge{i, 11 - i})
	}
	g.nodes = append(g.nodes, g.nodes...)
	g.assign(edges)
	for _, e := range edges {
		g.tie(e)
	}
	for i := range g.nodes {
		g.nodes[i].order = float64(i % 6)
	}
	g.layers = [][]int{{0, 1, 2, 3, 4, 5}, {6, 7, 8, 9, 10, 11}}
	require.Same(t, 15, g.crossings(), "crossings of six reversed ties")
	g.layers = nil
	g.order()
	require.Same(t, 0, g.crossings(), "crossings")
}

// TestLong: edges over many layers are curves without bends.
func TestLong(t *testing.T) {
	var edges []Edge
	for i := range 200 {
		edges = append(edges, Edge{i, i + 1}, Edge{0, i + 1})
	}
	d := Place(make([]float64, 201), edges, 10)
	for _, r := range d.Routes {
		require.Check(t, len(r) <= longest+1, "%d bends", len(r)-2)
	}
}
