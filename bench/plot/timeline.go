package plot

import (
	"cmp"
	"errors"
	"fmt"
	"image/color"
	"maps"
	"math"
	"slices"

	"github.com/nnsoc/nnsoc/bench/glossary"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Span is a time in microseconds in which a lane of a timeline does something.
type Span struct {
	Start, End float64
	Kind       string // spans of a kind have a colour, those of one cause that of the cause
}

// Lane is a row of a timeline. Spans may be nested.
type Lane struct {
	Name  string
	Spans []Span
}

// Bounds of the contents of a page.
const (
	maxLanes = 64
	maxKinds = 7
)

// other is the kind of spans without their own colour.
const other = "other"

// kindOf is what a span is in the legend: its cause, or its kind.
func kindOf(s *Span) (string, bool) {
	if c := glossary.SpanClass(s.Kind, ""); c != "" {
		return string(c), true
	}
	return s.Kind, false
}

// Timeline draws the spans of lanes over time, the first lane at the top. Spans of a cause have its colour as on pages; of the
// other kinds those with the most time have a colour each. A nested span covers the lower part of the outer one.
func Timeline(title string, lanes []Lane) (*Figure, error) {
	time, causes, spans := map[string]float64{}, map[string]bool{}, 0
	for _, l := range lanes {
		spans += len(l.Spans)
		for _, s := range l.Spans {
			if !(s.End >= s.Start) || math.IsInf(s.Start, 0) || math.IsInf(s.End, 0) {
				return nil, fmt.Errorf("%s has a span from %v to %v", l.Name, s.Start, s.End)
			}
			if kind, cause := kindOf(&s); cause {
				causes[kind] = true
			} else {
				time[kind] += s.End - s.Start
			}
		}
	}
	switch {
	case spans == 0:
		return nil, errors.New("there is nothing to draw")
	case spans > maxPoints || len(lanes) > maxLanes:
		return nil, fmt.Errorf("%d spans in %d lanes, at most %d in %d", spans, len(lanes), maxPoints, maxLanes)
	}
	kinds := slices.SortedFunc(maps.Keys(time), func(a, b string) int { return cmp.Or(cmp.Compare(time[b], time[a]), cmp.Compare(a, b)) })
	b := &bars{lanes: lanes, colours: map[string]color.Color{}}
	f := newFigure(title, "time in microseconds", "")
	f.rows = len(lanes)
	for _, c := range glossary.Classes {
		if causes[string(c)] {
			b.colours[string(c)] = parse(c.Colour())
			f.legend = append(f.legend, entry{swatch{parse(c.Colour())}, string(c)})
		}
	}
	others := all(glossary.Others())
	for i, k := range kinds[:min(maxKinds, len(kinds))] {
		b.colours[k] = others[i]
		f.legend = append(f.legend, entry{swatch{others[i]}, k})
	}
	b.rest = others[maxKinds]
	if len(kinds) > maxKinds {
		f.legend = append(f.legend, entry{swatch{b.rest}, other})
	}
	f.Add(b)
	names := make([]string, len(lanes))
	for i := range lanes {
		names[len(lanes)-1-i] = lanes[i].Name
	}
	f.NominalY(names...)
	f.Y.Min, f.Y.Max = -0.5, float64(len(lanes))-0.5
	f.X.Min, f.X.Max = b.span()
	return f, nil
}

// bars draws the spans of lanes.
type bars struct {
	lanes   []Lane
	colours map[string]color.Color
	rest    color.Color // of the kinds without one
}

func (b *bars) span() (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, l := range b.lanes {
		for _, s := range l.Spans {
			lo, hi = min(lo, s.Start), max(hi, s.End)
		}
	}
	if hi <= lo {
		hi = lo + 1
	}
	return lo, hi
}

// Plot implements plot.Plotter.
func (b *bars) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for i, l := range b.lanes {
		at := float64(len(b.lanes) - 1 - i)
		sorted := slices.Clone(l.Spans) // those around before those inside
		slices.SortStableFunc(sorted, func(a, b Span) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End)) })
		var around []float64 // the ends of the spans around the present one
		for _, s := range sorted {
			for len(around) > 0 && around[len(around)-1] <= s.Start {
				around = around[:len(around)-1]
			}
			top := 0.4 - 0.25*float64(min(len(around), 2))
			around = append(around, s.End)
			kind, _ := kindOf(&s)
			colour, ok := b.colours[kind]
			if !ok {
				colour = b.rest
			}
			left, right := x(s.Start), max(x(s.End), x(s.Start)+vg.Points(0.25)) // a moment is seen too
			low, high := y(at-0.4), y(at+top)
			c.FillPolygon(colour, c.ClipPolygonXY([]vg.Point{{X: left, Y: low}, {X: right, Y: low}, {X: right, Y: high}, {X: left, Y: high}}))
		}
	}
}
