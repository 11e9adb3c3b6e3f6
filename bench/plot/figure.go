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
	"strconv"
	"strings"

	"github.com/nnsoc/nnsoc/bench/glossary"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// colours colours the series of a figure as reports do; where a figure has more series, those of one colour differ in shape.
var colours = all(glossary.Names()[:8])

// all are colours from #rrggbb.
func all(list []string) (colours []color.RGBA) {
	for _, s := range list {
		colours = append(colours, parse(s))
	}
	return colours
}

func parse(s string) color.RGBA {
	x, _ := strconv.ParseUint(s[1:], 16, 32) // of a table
	return color.RGBA{uint8(x >> 16), uint8(x >> 8), uint8(x), 255}
}

// grey is the colour of what joins points of several series.
var grey = color.RGBA{0x70, 0x70, 0x70, 255}

// Series is a named set of points.
type Series struct {
	Name   string
	Group  string // what may be compared with each other, such as a network; each has a frontier of its own
	Points plotter.XYs
	Labels []string // what each point is, such as its machine; empty, or one per point
}

// Figure is a plot with its legend.
type Figure struct {
	*plot.Plot
	legend []entry
	rows   int // rows with a name each along the y axis, 0 for numbers
}

// newFigure returns a figure with a grid and the titles of its axes.
func newFigure(title, x, y string) *Figure {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	p.X.Tick.Marker, p.Y.Tick.Marker = plainTicks{}, plainTicks{}
	p.Add(plotter.NewGrid())
	return &Figure{Plot: p}
}

// maxPoints bounds the points of a plot (assumed, D-1121).
const maxPoints = 200_000

// check refuses points that no axis has; with logarithmic axes those at 0 and below.
func check(list []Series, logarithmic bool) error {
	n := 0
	for _, s := range list {
		n += len(s.Points)
		if len(s.Labels) > 0 && len(s.Labels) != len(s.Points) {
			return fmt.Errorf("%s has %d labels of %d points", s.Name, len(s.Labels), len(s.Points))
		}
		for _, p := range s.Points {
			for _, v := range [2]float64{p.X, p.Y} {
				if math.IsNaN(v) || math.IsInf(v, 0) || logarithmic && v <= 0 {
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

// line adds a line through points.
func (f *Figure) line(points plotter.XYs, style draw.LineStyle) error {
	l, err := plotter.NewLine(points)
	if err != nil {
		return err
	}
	l.LineStyle = style
	f.Add(l)
	return nil
}

// formats are the endings of files that Write knows.
var formats = []string{"svg", "png", "pdf"}

// Size is the size of a figure: its width, the height of its axes with their titles, and that of its letters. A legend
// below the axes and more than a few rows make the figure higher; its width is the one that a page has.
type Size struct{ Width, Height, Text vg.Length }

// Sizes by their names: one column and both columns of a paper, and a slide.
var Sizes = map[string]Size{
	"column": {3.4 * vg.Inch, 2.2 * vg.Inch, 8}, "page": {7 * vg.Inch, 3.6 * vg.Inch, 9}, "slide": {10 * vg.Inch, 4.8 * vg.Inch, 14},
}

// margin is the space around a figure, gap that between axes and legend.
const margin, gap = vg.Length(4), vg.Length(8)

// Write writes a figure in the format of the file name's ending, its legend beside the axes where it takes at most a
// fifth of the width, or below them.
func Write(w io.Writer, name string, f *Figure, s Size) error {
	format := strings.TrimPrefix(strings.ToLower(filepath.Ext(name)), ".")
	if !slices.Contains(formats, format) {
		return fmt.Errorf("%s: unknown format; there are .%s", name, strings.Join(formats, ", ."))
	}
	f.write(s.Text)
	l := legend{f.legend, f.X.Tick.Label}
	l.style.XAlign, l.style.YAlign = draw.XLeft, draw.YBottom
	height, beside := f.height(s), l.beside(s.Width)
	below := l.height(s.Width - 2*margin)
	switch {
	case len(f.legend) == 0:
		beside, below = 0, 0
	case beside > 0:
		below = 0
	default:
		below += gap
	}
	c, err := draw.NewFormattedCanvas(s.Width, height+below, format)
	if err != nil {
		return err
	}
	page := draw.New(c)
	page.SetColor(color.White)
	page.Fill(page.Rectangle.Path())
	page = draw.Crop(page, margin, -margin, margin, -margin)
	switch {
	case beside > 0:
		l.draw(draw.Crop(page, page.Size().X-beside, 0, 0, -f.titleHeight()))
		page = draw.Crop(page, 0, -beside-gap, 0, 0)
	case below > 0:
		l.draw(draw.Crop(page, 0, 0, 0, below-gap-page.Size().Y))
		page = draw.Crop(page, 0, 0, below, 0)
	}
	f.Draw(page)
	_, err = c.WriteTo(w)
	return err
}

// write sets the size of all letters.
func (f *Figure) write(size vg.Length) {
	sans := font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
	for _, s := range []*draw.TextStyle{&f.X.Label.TextStyle, &f.Y.Label.TextStyle, &f.X.Tick.Label, &f.Y.Tick.Label} {
		s.Font = sans
	}
	f.Title.TextStyle.Font = font.Font{Typeface: "Liberation", Variant: "Sans", Size: 1.15 * size}
	f.Title.Padding = size / 2
}

// height returns the height of the axes with their titles: each row needs a line of text.
func (f *Figure) height(s Size) vg.Length {
	if f.rows == 0 {
		return s.Height
	}
	return max(s.Height/2, vg.Length(f.rows)*1.5*s.Text+5*s.Text+f.titleHeight())
}

// titleHeight is the height of the title, below which a legend beside the axes begins.
func (f *Figure) titleHeight() vg.Length {
	if f.Title.Text == "" {
		return 0
	}
	return f.Title.TextStyle.Height(f.Title.Text) + f.Title.Padding
}

// byX orders points from left to right, of one x from below.
func byX(a, b plotter.XY) int { return cmp.Or(cmp.Compare(a.X, b.X), cmp.Compare(a.Y, b.Y)) }
