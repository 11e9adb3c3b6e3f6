package plot

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// solid is the line of a series.
func solid(i int) draw.LineStyle { return draw.LineStyle{Color: colours[i%len(colours)], Width: 1} }

// Scaling draws a figure over the value of a key, a line per series.
func Scaling(title, key, figure string, list []Series) (*Figure, error) {
	if err := check(list, false); err != nil {
		return nil, err
	}
	f := newFigure(title, key, figure)
	f.Y.Min = 0
	for i, s := range list {
		slices.SortStableFunc(s.Points, byX)
		if err := f.line(s.Points, solid(i)); err != nil {
			return nil, fmt.Errorf("plot: line of %s: %w", s.Name, err)
		}
	}
	f.X.Tick.Marker = valueTicks(list)
	f.scatter(list, solid)
	top := f.Y.Max
	pad(&f.X, &f.Y)
	f.Y.Min, f.Y.Max = 0, max(f.Y.Max, 1.05*top)
	return f, nil
}

// Roof is the peak of an engine.
type Roof struct{ MACsPerS, BytesPerS float64 }

// Roofline draws multiply-accumulates per second over those per byte of DRAM, each series
// below its roof where there is one.
func Roofline(title string, list []Series, roofs map[string]Roof) (*Figure, error) {
	if err := check(list, true); err != nil {
		return nil, err
	}
	f := newFigure(title, "multiply-accumulates per byte of DRAM", "multiply-accumulates per second")
	f.X.Tick.Marker, f.Y.Tick.Marker = powerTicks{}, powerTicks{}
	lo, hi := math.Inf(1), 0.0
	for _, s := range list {
		for _, p := range s.Points {
			lo, hi = min(lo, p.X), max(hi, p.X)
		}
		if r, ok := roofs[s.Name]; ok { // both parts of each roof are seen
			knee := r.MACsPerS / r.BytesPerS
			lo, hi = min(lo, knee/10), max(hi, knee*10)
		}
	}
	for i, s := range list {
		if r, ok := roofs[s.Name]; ok {
			knee := r.MACsPerS / r.BytesPerS
			roof := plotter.XYs{{X: lo, Y: lo * r.BytesPerS}, {X: knee, Y: r.MACsPerS}, {X: hi, Y: r.MACsPerS}}
			if err := f.line(logs(roof), solid(i)); err != nil {
				return nil, fmt.Errorf("plot: roof of %s: %w", s.Name, err)
			}
		}
	}
	list = slices.Clone(list)
	for i := range list {
		list[i].Points = logs(list[i].Points)
	}
	f.scatter(list, func(i int) draw.LineStyle {
		if _, ok := roofs[list[i].Name]; ok {
			return solid(i)
		}
		return draw.LineStyle{}
	})
	pad(&f.X, &f.Y)
	return f, nil
}

// Effect is the change by a lower and a higher value of a key, in percent.
type Effect struct {
	Key           string
	Lower, Higher float64
}

// maxEffects is the maximum number of bars of a page.
const maxEffects = 40

// Tornado draws effects as bars to both sides of 0, the first at the top and no more than a page holds: callers put the
// largest first.
func Tornado(title, figure string, list []Effect) (*Figure, error) {
	if len(list) == 0 {
		return nil, errors.New("there is nothing to draw")
	}
	list = list[:min(maxEffects, len(list))]
	f := newFigure(title, "change of "+figure+" in percent", "")
	f.rows = len(list)
	names := make([]string, len(list))
	var sides [2]plotter.Values
	for i := range list {
		e := &list[len(list)-1-i]
		if math.IsNaN(e.Lower+e.Higher) || math.IsInf(e.Lower+e.Higher, 0) {
			return nil, fmt.Errorf("%s changes by %v and %v percent", e.Key, e.Lower, e.Higher)
		}
		names[i] = e.Key
		sides[0], sides[1] = append(sides[0], e.Lower), append(sides[1], e.Higher)
	}
	for i, name := range [2]string{"with a lower value", "with a higher value"} {
		b, err := plotter.NewBarChart(sides[i], vg.Points(5))
		if err != nil {
			return nil, err
		}
		b.Horizontal, b.Color, b.LineStyle.Width = true, colours[i], 0
		b.Offset = vg.Points(2.5 - 5*float64(i))
		f.Add(b)
		f.legend = append(f.legend, entry{swatch{colours[i]}, name})
	}
	f.NominalY(names...)
	f.Y.Min, f.Y.Max = -0.5, float64(len(names))-0.5 // space for the outer bars
	pad(&f.X)
	return f, nil
}
