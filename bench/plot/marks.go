package plot

import (
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// shapes distinguish the points of series without colours.
var shapes = []draw.GlyphDrawer{draw.CircleGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}, draw.PyramidGlyph{}, draw.RingGlyph{}, draw.BoxGlyph{}, draw.PlusGlyph{}, draw.CrossGlyph{}}

// radius is how large a point is drawn; grow is by how much a point around others is larger, maxNested how many stand
// around each other.
const radius, grow, maxNested = vg.Length(2.5), vg.Length(2), 4

// glyph is the look of the points of a series.
func glyph(i int) draw.GlyphStyle {
	return draw.GlyphStyle{Color: colours[i%len(colours)], Shape: shapes[(i+i/len(shapes))%len(shapes)], Radius: radius}
}

// marks draws the points of all series. Of points at one place each series has one, around those of the series after it,
// so that all are seen.
type marks struct{ list []Series }

// DataRange implements plot.DataRanger.
func (m marks) DataRange() (x0, x1, y0, y1 float64) {
	x0, x1, y0, y1 = math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	for _, s := range m.list {
		if len(s.Points) > 0 {
			a, b, c, d := plotter.XYRange(s.Points)
			x0, x1, y0, y1 = min(x0, a), max(x1, b), min(y0, c), max(y1, d)
		}
	}
	return x0, x1, y0, y1
}

// Plot implements plot.Plotter.
func (m marks) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	type cell struct{ x, y int }
	type place struct {
		at     vg.Point
		series []int
	}
	var places []*place
	by := map[cell]*place{}
	for i, s := range m.list {
		for _, q := range s.Points {
			at := vg.Point{X: x(q.X), Y: y(q.Y)}
			k := cell{int(math.Round(float64(at.X))), int(math.Round(float64(at.Y)))} // places of a point, 1/72 inch
			if by[k] == nil {
				by[k] = &place{at: at}
				places = append(places, by[k])
			}
			if !slices.Contains(by[k].series, i) {
				by[k].series = append(by[k].series, i)
			}
		}
	}
	for _, e := range places {
		n := min(len(e.series), maxNested)
		for j, i := range e.series[:n] {
			g := glyph(i)
			g.Radius += grow * vg.Length(n-1-j)
			c.DrawGlyph(g, e.at)
		}
	}
}

// mark is a point of a series in the legend, with a line where its points are joined.
type mark struct {
	glyph draw.GlyphStyle
	line  draw.LineStyle
}

// Thumbnail implements plot.Thumbnailer.
func (m mark) Thumbnail(c *draw.Canvas) {
	y := c.Center().Y
	if m.line.Width > 0 {
		c.StrokeLine2(m.line, c.Min.X, y, c.Max.X, y)
	}
	if m.glyph.Shape != nil {
		c.DrawGlyph(m.glyph, c.Center())
	}
}

// swatch is an area of a colour in the legend.
type swatch struct{ color.Color }

// Thumbnail implements plot.Thumbnailer.
func (s swatch) Thumbnail(c *draw.Canvas) {
	c.FillPolygon(s.Color, []vg.Point{{X: c.Min.X, Y: c.Min.Y}, {X: c.Max.X, Y: c.Min.Y}, {X: c.Max.X, Y: c.Max.Y}, {X: c.Min.X, Y: c.Max.Y}})
}

// scatter adds the points of all series, and an entry for each, with the line that joins them.
func (f *Figure) scatter(list []Series, line func(i int) draw.LineStyle) {
	f.Add(marks{list})
	for i, s := range list {
		m := mark{glyph: glyph(i)}
		if line != nil {
			m.line = line(i)
		}
		f.legend = append(f.legend, entry{m, s.Name})
	}
}
