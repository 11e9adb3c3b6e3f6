// Package plot draws results of sweeps, runs and sensitivities for publications, in the
// colours of the reports.
package plot

import (
	"cmp"
	"errors"
	"fmt"
	"image/color"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/nnsoc/nnsoc/internal/try"
)

// colours are Okabe and Ito's, which stay apart for colour-blind readers, as in reports.
var colours = []color.RGBA{
	{0x00, 0x72, 0xb2, 255}, {0xe6, 0x9f, 0x00, 255}, {0x00, 0x9e, 0x73, 255}, {0xcc, 0x79, 0xa7, 255},
	{0x56, 0xb4, 0xe9, 255}, {0xd5, 0x5e, 0x00, 255}, {0xf0, 0xe4, 0x42, 255}, {0x99, 0x99, 0x99, 255},
}

// shapes distinguish the points of series without colours.
var shapes = []draw.GlyphDrawer{draw.CircleGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}, draw.PyramidGlyph{}, draw.RingGlyph{}, draw.BoxGlyph{}, draw.PlusGlyph{}, draw.CrossGlyph{}}

// Series is a named set of points.
type Series struct {
	Name   string
	Points plotter.XYs
}

// maxPoints bounds the points of a plot (assumed, D-1121).
const maxPoints = 200_000

// check refuses points that no axis has; with logarithmic axes those at 0 and below.
func check(list []Series, logX, logY bool) error {
	n := 0
	for _, s := range list {
		n += len(s.Points)
		for _, p := range s.Points {
			for _, v := range [2]struct {
				x   float64
				log bool
			}{{p.X, logX}, {p.Y, logY}} {
				if math.IsNaN(v.x) || math.IsInf(v.x, 0) || v.log && v.x <= 0 {
					return fmt.Errorf("%s has a point at %v, %v", s.Name, p.X, p.Y)
				}
			}
		}
	}
	switch {
	case n == 0:
		return errors.New("there is nothing to draw")
	case n > maxPoints:
		return fmt.Errorf("%d points, at most %d", n, maxPoints)
	}
	return nil
}

// axes are the title and the axes of a plot.
func axes(title, x, y string) *plot.Plot {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	p.Add(plotter.NewGrid())
	return p
}

// logarithmic makes axes logarithmic, with marks at powers of ten.
func logarithmic(list ...*plot.Axis) {
	for _, a := range list {
		a.Scale, a.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	}
}

// pad adds space beside the outermost points, which would be cut in half.
func pad(list ...*plot.Axis) {
	for _, a := range list {
		if _, ok := a.Scale.(plot.LogScale); ok {
			room := math.Pow(a.Max/a.Min, 0.05)
			a.Min, a.Max = a.Min/room, a.Max*room
			continue
		}
		room := 0.05 * (a.Max - a.Min)
		a.Min, a.Max = a.Min-room, a.Max+room
	}
}

// scatter adds the points of a series.
func scatter(p *plot.Plot, i int, s Series) error {
	points, err := plotter.NewScatter(s.Points)
	if err != nil {
		return err
	}
	points.Color, points.Shape, points.Radius = colours[i%len(colours)], shapes[(i+i/len(shapes))%len(shapes)], vg.Points(2.5)
	p.Add(points)
	p.Legend.Add(s.Name, points)
	return nil
}

// line adds a line through points.
func line(p *plot.Plot, i int, points plotter.XYs) error {
	l, err := plotter.NewLine(points)
	if err != nil {
		return err
	}
	l.Color, l.Width = colours[i%len(colours)], vg.Points(1)
	p.Add(l)
	return nil
}

// frontier are the points that no other one beats in both coordinates, from left to right.
func frontier(points plotter.XYs) plotter.XYs {
	sorted := slices.Clone(points)
	slices.SortFunc(sorted, func(a, b plotter.XY) int { return cmp.Or(cmp.Compare(a.X, b.X), cmp.Compare(a.Y, b.Y)) })
	var list plotter.XYs
	for _, p := range sorted {
		if len(list) == 0 || p.Y < list[len(list)-1].Y {
			list = append(list, p)
		}
	}
	return list
}

// Pareto draws energy over latency, and the frontier of all points.
func Pareto(title string, list []Series) (_ *plot.Plot, err error) {
	defer try.Catch(&err)
	try.E(check(list, false, false))
	p := axes(title, "latency (ms)", "energy (mJ)")
	var all plotter.XYs
	for i, s := range list {
		all = append(all, s.Points...)
		if len(list) > 1 { // the numbers of labels on the frontier
			s.Name = fmt.Sprintf("%d %s", i+1, s.Name)
		}
		try.E(scatter(p, i, s))
	}
	front := frontier(all)
	var steps plotter.XYs
	for i, x := range front {
		if i > 0 {
			steps = append(steps, plotter.XY{X: x.X, Y: front[i-1].Y})
		}
		steps = append(steps, x)
	}
	try.E(line(p, len(colours)-1, steps))
	try.E(label(p, front, list))
	pad(&p.X, &p.Y)
	return p, nil
}

// label writes the names of series beside the points of a frontier, where there is more than one series: those alone that
// do not stand within a twentieth of the axes of a label before.
func label(p *plot.Plot, front plotter.XYs, list []Series) error {
	if len(list) < 2 {
		return nil
	}
	var at plotter.XYLabels
	for _, x := range front {
		near := slices.ContainsFunc(at.XYs, func(y plotter.XY) bool { return math.Abs(y.Y-x.Y) < 0.05*(p.Y.Max-p.Y.Min) })
		i := slices.IndexFunc(list, func(s Series) bool { return slices.Contains(s.Points, x) })
		if !near && i >= 0 {
			at.XYs, at.Labels = append(at.XYs, x), append(at.Labels, fmt.Sprint(i+1))
		}
	}
	l, err := plotter.NewLabels(at)
	if err != nil {
		return err
	}
	l.Offset = vg.Point{X: vg.Points(4), Y: vg.Points(3)}
	p.Add(l)
	return nil
}

// Scaling draws a figure over the value of a key, a line per series.
func Scaling(title, key, figure string, list []Series) (_ *plot.Plot, err error) {
	defer try.Catch(&err)
	try.E(check(list, false, false))
	p := axes(title, key, figure)
	p.Y.Min = 0
	for i, s := range list {
		slices.SortStableFunc(s.Points, func(a, b plotter.XY) int { return cmp.Compare(a.X, b.X) })
		try.E(line(p, i, s.Points))
		try.E(scatter(p, i, s))
	}
	top := p.Y.Max
	pad(&p.X, &p.Y)
	p.Y.Min, p.Y.Max = 0, max(p.Y.Max, 1.05*top)
	return p, nil
}

// Roof is the peak of an engine.
type Roof struct{ MACsPerS, BytesPerS float64 }

// Roofline draws multiply-accumulates per second over those per byte of DRAM, each series
// below its roof where there is one.
func Roofline(title string, list []Series, roofs map[string]Roof) (_ *plot.Plot, err error) {
	defer try.Catch(&err)
	try.E(check(list, true, true))
	p := axes(title, "MAC / byte of DRAM", "MAC / s")
	logarithmic(&p.X, &p.Y)
	for i, s := range list {
		try.E(scatter(p, i, s))
		r, ok := roofs[s.Name]
		if !ok {
			continue
		}
		lo, hi, knee := math.Inf(1), 0.0, r.MACsPerS/r.BytesPerS
		for _, x := range s.Points {
			lo, hi = min(lo, x.X), max(hi, x.X)
		}
		lo, hi = min(lo, knee/10), max(hi, knee*10)
		try.E(line(p, i, plotter.XYs{{X: lo, Y: lo * r.BytesPerS}, {X: knee, Y: r.MACsPerS}, {X: hi, Y: r.MACsPerS}}))
	}
	pad(&p.X, &p.Y)
	return p, nil
}

// Effect is the change by a lower and a higher value of a key, in percent.
type Effect struct {
	Key           string
	Lower, Higher float64
}

// maxEffects is the maximum number of bars of a page.
const maxEffects = 40

// Tornado draws effects as bars to both sides of 0, the first at the top.
func Tornado(title, figure string, list []Effect) (*plot.Plot, error) {
	if len(list) == 0 {
		return nil, errors.New("there is nothing to draw")
	}
	list = list[:min(maxEffects, len(list))]
	p := axes(title, "change of "+figure+" (%)", "")
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
	for i, name := range [2]string{"lower", "higher"} {
		b, err := plotter.NewBarChart(sides[i], vg.Points(6))
		if err != nil {
			return nil, err
		}
		b.Horizontal, b.Color, b.LineStyle.Width = true, colours[i], 0
		b.Offset = vg.Points(3 - 6*float64(i))
		p.Add(b)
		p.Legend.Add(name, b)
	}
	p.NominalY(names...)
	p.Y.Min, p.Y.Max = -0.5, float64(len(names))-0.5 // space for the outer bars
	return p, nil
}

// formats are the endings of files that Write knows.
var formats = []string{"svg", "png", "pdf"}

// Size is the width and height of a plot: a column or a page of a two-column paper.
type Size struct{ Width, Height vg.Length }

// Sizes by their names.
var Sizes = map[string]Size{
	"column": {3.4 * vg.Inch, 2.6 * vg.Inch}, "page": {7 * vg.Inch, 4.5 * vg.Inch}, "slide": {10 * vg.Inch, 5.6 * vg.Inch},
}

// Write writes a plot in the format of the file name's ending, its legend beside the axes, or below them where it would
// take more than a third of the width.
func Write(w io.Writer, name string, p *plot.Plot, s Size) error {
	format := strings.TrimPrefix(strings.ToLower(filepath.Ext(name)), ".")
	if !slices.Contains(formats, format) {
		return fmt.Errorf("%s: unknown format; there are .%s", name, strings.Join(formats, ", ."))
	}
	c, err := draw.NewFormattedCanvas(s.Width, s.Height, format)
	if err != nil {
		return err
	}
	page := draw.New(c)
	page.SetColor(color.White)
	page.Fill(page.Rectangle.Path())
	page = draw.Crop(page, margin, -margin, margin, -margin)
	legend := p.Legend
	p.Legend = plot.NewLegend()
	defer func() { p.Legend = legend }()
	if box := legend.Rectangle(page).Size(); box.X > 0 {
		var axes draw.Canvas
		legend.Left, legend.XOffs, legend.YOffs = true, 0, 0
		if wide := box.X + gap; wide <= (page.Max.X-page.Min.X)/3 {
			axes = draw.Crop(page, 0, -wide, 0, 0)
			legend.Top = true
			legend.Draw(draw.Crop(page, page.Max.X-page.Min.X-box.X, 0, 0, -titleHeight(p)))
		} else {
			axes = draw.Crop(page, 0, 0, box.Y+gap, 0)
			legend.Top = false
			legend.Draw(page)
		}
		page = axes
	}
	p.Draw(page)
	_, err = c.WriteTo(w)
	return err
}

// margin is the space around a plot, gap that between axes and legend.
const margin, gap = vg.Length(4), vg.Length(8)

// titleHeight is the height of the title, below which a legend beside the axes begins.
func titleHeight(p *plot.Plot) vg.Length {
	if p.Title.Text == "" {
		return 0
	}
	return p.Title.TextStyle.Height(p.Title.Text) + p.Title.Padding
}
