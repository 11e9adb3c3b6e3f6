package report

import (
	"math"
	"strings"

	"github.com/nnsoc/nnsoc/nn/graphdump/layered"
)

// Sizes of the graph of a page in pixels: the width of an operation's box, and what two are apart.
const (
	boxWidth = 236
	boxGap   = 20
)

// place is the middle of a box or a bend, in pixels from the left, and its layer from above.
type place [2]float64

// layout is where a page draws the operations of a run and what leads from one to another.
type layout struct {
	Boxes  map[int]place `json:"boxes"` // by the operation's index
	Edges  []route       `json:"edges"`
	Width  float64       `json:"width"` // in pixels
	Layers int           `json:"layers"`
}

type route struct {
	From int     `json:"from"`
	To   int     `json:"to"`
	At   []place `json:"at"`
}

// placed lays out the operations of a network; rows of launches, transfers and operations inside of others have no box.
func placed(ops []Operation) layout {
	at := map[int]int{} // box of an operation
	var indexes []int
	for i := range ops {
		if o := &ops[i]; o.Index >= 0 && !strings.Contains(o.Type, " ") {
			if _, twice := at[o.Index]; !twice {
				at[o.Index] = len(indexes)
				indexes = append(indexes, o.Index)
			}
		}
	}
	var edges []layered.Edge
	for i := range ops {
		to, ok := at[ops[i].Index]
		if !ok || strings.Contains(ops[i].Type, " ") {
			continue
		}
		for _, f := range ops[i].From {
			if from, ok := at[f]; ok {
				edges = append(edges, layered.Edge{From: from, To: to})
			}
		}
	}
	widths := make([]float64, len(indexes))
	for i := range widths {
		widths[i] = boxWidth
	}
	d := layered.Place(widths, edges, boxGap)
	l := layout{Boxes: map[int]place{}, Edges: []route{}, Width: d.Width, Layers: d.Layers}
	for i, b := range d.Boxes {
		l.Boxes[indexes[i]] = placeOf(b)
	}
	for i, r := range d.Routes {
		if r == nil { // an edge of a file that was written by hand and leads backwards
			continue
		}
		e := route{From: indexes[edges[i].From], To: indexes[edges[i].To]}
		for _, p := range r {
			e.At = append(e.At, placeOf(p))
		}
		l.Edges = append(l.Edges, e)
	}
	return l
}

// placeOf rounds to tenths of a pixel.
func placeOf(p layered.Point) place { return place{math.Round(p.X*10) / 10, float64(p.Layer)} }
