package plot

import (
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Pareto draws energy over latency, and the frontier of each group. The points of frontiers have their name beside them,
// or a letter that the legend explains.
func Pareto(title string, list []Series) (*Figure, error) {
	if err := check(list, false); err != nil {
		return nil, err
	}
	f := newFigure(title, "latency in milliseconds", "energy in millijoules")
	groups, by := []string{}, map[string][]Series{}
	for _, s := range list {
		if by[s.Group] == nil {
			groups = append(groups, s.Group)
		}
		by[s.Group] = append(by[s.Group], s)
	}
	f.scatter(list, nil)
	letters := labels{around: list, figure: f}
	for i, g := range groups {
		front := frontier(by[g])
		style := draw.LineStyle{Color: grey, Width: 1, Dashes: dashes[i%len(dashes)]}
		if err := f.line(steps(front), style); err != nil {
			return nil, fmt.Errorf("plot: frontier of %s: %w", g, err)
		}
		name := "Pareto frontier"
		if len(groups) > 1 {
			name += " of " + g
		}
		f.legend = append(f.legend, entry{mark{line: style}, name})
		for _, p := range spread(front, maxLetters/len(groups)) {
			if len(letters.texts) == maxLetters {
				break
			}
			name := p.name
			if p.what != "" || len(name) > maxName {
				name = string(rune('a' + len(letters.texts)))
				f.legend = append(f.legend, entry{letter{f, name}, strings.TrimSuffix(p.name+", "+p.what, ", ")})
			}
			letters.texts = append(letters.texts, text{p.XY, name})
		}
	}
	f.Add(letters)
	pad(&f.X, &f.Y)
	return f, nil
}

// dashes are the looks of the frontiers of several groups.
var dashes = [][]vg.Length{nil, {4, 2}, {1, 2}, {6, 2, 1, 2}}

// maxLetters is the number of points of frontiers with a name or letter, maxName the length of such a name.
const maxLetters, maxName = 12, 16

// corner is a point of a frontier and what it is.
type corner struct {
	plotter.XY
	name, what string
}

// frontier are the points that no other one beats in both coordinates, from left to right.
func frontier(list []Series) (front []corner) {
	var all []corner
	for _, s := range list {
		for i, p := range s.Points {
			c := corner{XY: p, name: s.Name}
			if len(s.Labels) > 0 {
				c.what = s.Labels[i]
			}
			all = append(all, c)
		}
	}
	slices.SortStableFunc(all, func(a, b corner) int { return byX(a.XY, b.XY) })
	for _, p := range all {
		if len(front) == 0 || p.Y < front[len(front)-1].Y {
			front = append(front, p)
		}
	}
	return front
}

// steps are the corners of a frontier's line.
func steps(front []corner) (line plotter.XYs) {
	for i, p := range front {
		if i > 0 {
			line = append(line, plotter.XY{X: p.X, Y: front[i-1].Y})
		}
		line = append(line, p.XY)
	}
	return line
}

// spread takes at most n corners, its ends among them.
func spread(front []corner, n int) []corner {
	if len(front) <= max(n, 1) {
		return front
	}
	n = max(n, 1)
	list := make([]corner, n)
	for i := range list {
		list[i] = front[i*(len(front)-1)/max(n-1, 1)]
	}
	return list
}

// letter is a text in place of a mark in the legend.
type letter struct {
	figure *Figure
	text   string
}

// Thumbnail implements plot.Thumbnailer.
func (l letter) Thumbnail(c *draw.Canvas) {
	style := l.figure.X.Tick.Label
	style.XAlign, style.YAlign = draw.XCenter, draw.YBottom
	c.FillText(style, vg.Point{X: c.Center().X, Y: c.Min.Y}, l.text)
}
