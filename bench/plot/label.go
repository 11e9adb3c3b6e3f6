package plot

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// text is a short text beside a point.
type text struct {
	at   plotter.XY
	text string
}

// labels writes texts beside their points: where they cover neither a point nor another text, above before below and
// right before left. A text without such a place is left out.
type labels struct {
	texts  []text
	around []Series // points that no text may cover
	figure *Figure
}

// maxAround bounds the points that a text is held against.
const maxAround = 2000

// Plot implements plot.Plotter.
func (l labels) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	var taken []vg.Rectangle
	for _, s := range l.around {
		for _, q := range s.Points[:min(len(s.Points), maxAround)] {
			at := vg.Point{X: x(q.X), Y: y(q.Y)}
			r := vg.Point{X: radius, Y: radius}
			taken = append(taken, vg.Rectangle{Min: at.Sub(r), Max: at.Add(r)})
		}
	}
	style := l.figure.X.Tick.Label
	style.XAlign, style.YAlign = draw.XLeft, draw.YBottom
	for _, t := range l.texts {
		at := vg.Point{X: x(t.at.X), Y: y(t.at.Y)}
		w, h := style.Width(t.text), style.Font.Size
		for _, o := range []vg.Point{ // of the text's lower left from the point
			{X: 4, Y: 3}, {X: -4 - w, Y: 3}, {X: 4, Y: -3 - h}, {X: -4 - w, Y: -3 - h}, {X: -w / 2, Y: 6}, {X: -w / 2, Y: -6 - h}, {X: 6, Y: -h / 2}, {X: -6 - w, Y: -h / 2},
		} {
			box := vg.Rectangle{Min: at.Add(o), Max: at.Add(o).Add(vg.Point{X: w, Y: h})}
			if c.Contains(box.Min) && c.Contains(box.Max) && !covers(box, taken) {
				c.FillText(style, box.Min, t.text)
				taken = append(taken, box)
				break
			}
		}
	}
}

// covers says whether a rectangle has a point of another in it.
func covers(a vg.Rectangle, list []vg.Rectangle) bool {
	for _, b := range list {
		if a.Min.X < b.Max.X && b.Min.X < a.Max.X && a.Min.Y < b.Max.Y && b.Min.Y < a.Max.Y {
			return true
		}
	}
	return false
}
