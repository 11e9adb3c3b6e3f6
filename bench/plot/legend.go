package plot

import (
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// entry is a line of a legend: a mark and what it stands for.
type entry struct {
	mark plot.Thumbnailer
	name string
}

// legend lays entries out in columns of equal width.
type legend struct {
	entries []entry
	style   draw.TextStyle
}

// em is the width of a mark, a little more than the height of a letter; spacing is the height of a line.
func (l legend) em() vg.Length      { return 1.6 * l.style.Font.Size }
func (l legend) spacing() vg.Length { return 1.35 * l.style.Font.Size }

// widest is the width of the widest entry with its mark.
func (l legend) widest() (w vg.Length) {
	for _, e := range l.entries {
		w = max(w, l.style.Width(e.name))
	}
	return w + 1.5*l.em()
}

// beside returns the width of a legend beside the axes of a figure, 0 where it takes more than a fifth of the figure.
func (l legend) beside(width vg.Length) vg.Length {
	if w := l.widest(); w <= width/5 && len(l.entries) > 2 {
		return w
	}
	return 0
}

// columns returns how many entries stand beside each other in a width.
func (l legend) columns(width vg.Length) int {
	return max(1, min(len(l.entries), int(width/(l.widest()+l.em()))))
}

// lines breaks a name at its blanks into lines of at most a width; a word that is longer loses its middle.
func (l legend) lines(name string, width vg.Length) (list []string) {
	for _, word := range strings.Fields(name) {
		word = l.shorten(word, width)
		if n := len(list); n > 0 && l.style.Width(list[n-1]+" "+word) <= width {
			list[n-1] += " " + word
			continue
		}
		list = append(list, word)
	}
	return list
}

// shorten leaves out letters in the middle of a word until it has at most a width.
func (l legend) shorten(word string, width vg.Length) string {
	letters, short := []rune(word), word
	for n := len(letters) - 2; l.style.Width(short) > width && n > 1; n-- {
		short = string(letters[:n-n/2]) + "…" + string(letters[len(letters)-n/2:])
	}
	return short
}

// height returns the height of a legend of a width.
func (l legend) height(width vg.Length) vg.Length {
	n, rows := l.columns(width), 0
	for i := 0; i < len(l.entries); i += n {
		rows += l.row(i, n, width)
	}
	return vg.Length(rows) * l.spacing()
}

// row returns the lines that the entries from i on need, n beside each other.
func (l legend) row(i, n int, width vg.Length) (most int) {
	for _, e := range l.entries[i:min(i+n, len(l.entries))] {
		most = max(most, len(l.lines(e.name, width/vg.Length(n)-1.5*l.em())))
	}
	return most
}

// draw draws the entries from the top left of a canvas.
func (l legend) draw(c draw.Canvas) {
	width := c.Size().X
	n := l.columns(width)
	y := c.Max.Y
	for i := range l.entries {
		if i > 0 && i%n == 0 {
			y -= vg.Length(l.row(i-n, n, width)) * l.spacing()
		}
		x := c.Min.X + vg.Length(i%n)*width/vg.Length(n)
		mark := draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{
			Min: vg.Point{X: x, Y: y - 1.1*l.style.Font.Size}, Max: vg.Point{X: x + l.em(), Y: y - 0.1*l.style.Font.Size},
		}}
		l.entries[i].mark.Thumbnail(&mark)
		for k, text := range l.lines(l.entries[i].name, width/vg.Length(n)-1.5*l.em()) {
			c.FillText(l.style, vg.Point{X: x + 1.3*l.em(), Y: y - l.style.Font.Size - vg.Length(k)*l.spacing()}, text)
		}
	}
}
