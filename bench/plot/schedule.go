package plot

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// Distribution draws how many percent of results take at most so long, a line per series: its points are latencies in milliseconds and percent.
func Distribution(title string, list []Series) (*Figure, error) {
	if err := check(list, false); err != nil {
		return nil, err
	}
	f := newFigure(title, "latency in milliseconds", "results in percent")
	for i, s := range list {
		style := solid(i)
		style.Dashes = dashes[i/len(colours)%len(dashes)] // colours repeat
		if err := f.line(s.Points, style); err != nil {
			return nil, err
		}
		f.legend = append(f.legend, entry{mark{line: style}, s.Name})
	}
	pad(&f.X)
	f.Y.Min, f.Y.Max = 0, 100
	return f, nil
}

// Bar is a figure with a name.
type Bar struct {
	Name  string
	Value float64 // 0 or more
}

// Bars draws figures as horizontal bars, the first at the top.
func Bars(title, figure string, list []Bar) (*Figure, error) {
	if len(list) == 0 {
		return nil, errors.New("there is nothing to draw")
	}
	if len(list) > maxEffects {
		return nil, fmt.Errorf("%d bars, at most %d can be read", len(list), maxEffects)
	}
	f := newFigure(title, figure, "")
	f.rows = len(list)
	names, values := make([]string, len(list)), make(plotter.Values, len(list))
	most := 0.0
	for i, b := range list {
		if !(b.Value >= 0) || math.IsInf(b.Value, 0) {
			return nil, fmt.Errorf("%s has %v", b.Name, b.Value)
		}
		names[len(list)-1-i], values[len(list)-1-i] = b.Name, b.Value
		most = max(most, b.Value)
	}
	bars, err := plotter.NewBarChart(values, vg.Points(7))
	if err != nil {
		return nil, err
	}
	bars.Horizontal, bars.Color, bars.LineStyle.Width = true, colours[0], 0
	f.Add(bars)
	f.NominalY(names...)
	f.X.Min, f.X.Max = 0, 1.05*most
	if most == 0 {
		f.X.Max = 1
	}
	f.Y.Min, f.Y.Max = -0.5, float64(len(names))-0.5
	return f, nil
}
