package graphdump

import (
	"bufio"
	"cmp"
	"fmt"
	"html"
	"io"
	"strings"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// Sizes of a drawing in pixels.
const (
	margin     = 12
	textWidth  = 6.7 // of a letter of 11 pixels in a typewriter's font
	lineHeight = 14
	layerGap   = 36
)

// SVG draws a model as an SVG file that needs no other program: operations as boxes in the colours of their devices,
// values as edges, constants in the labels of the operations that read them.
func SVG(w io.Writer, title string, m *nn.Model, p Placement) error {
	m = opspec.Standard().Localize(m)
	d := placed(m, p)
	top, height := d.heights()
	width := d.Width + 2*margin
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" font-family="monospace" font-size="11">`+"\n<title>%s</title>\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
		width, height, html.EscapeString(title))
	at := float64(margin)
	for _, n := range p.Devices.names() {
		fill, _ := p.Colour(n)
		fmt.Fprintf(out, "<rect x=\"%.0f\" y=\"%d\" width=\"12\" height=\"12\" fill=\"%s\" stroke=\"black\"/><text x=\"%.0f\" y=\"%d\">%s</text>\n", at, margin, fill, at+16, margin+10, html.EscapeString(n))
		at += 16 + textWidth*float64(len(n)) + margin
	}
	for i := range d.edges {
		d.edge(out, i, top)
	}
	for i := range d.nodes {
		d.nodes[i].draw(out, margin+d.Boxes[i].X, top[d.Boxes[i].Layer])
	}
	fmt.Fprintln(out, "</svg>")
	return out.Flush()
}

// heights are where each layer begins, and where the drawing ends.
func (d *drawing) heights() (top []float64, end float64) {
	lines := make([]int, d.Layers)
	for i := range d.nodes {
		l := &lines[d.Boxes[i].Layer]
		*l = max(*l, len(d.nodes[i].lines))
	}
	end = 3 * margin
	for _, n := range lines {
		top = append(top, end)
		end += float64(n)*lineHeight + margin + layerGap
	}
	return top, end
}

func (n *node) height() float64 { return float64(len(n.lines))*lineHeight + margin }

// edge draws an edge from the lower side of its first node to the upper side of its last.
func (d *drawing) edge(out io.Writer, i int, top []float64) {
	route := d.Routes[i]
	x, y := margin+route[0].X, top[route[0].Layer]+d.nodes[d.edges[i].From].height()
	fmt.Fprintf(out, "<path d=\"M%.1f %.1f", x, y)
	for _, n := range route[1:] {
		to, below := margin+n.X, top[n.Layer]
		middle := (y + below) / 2
		fmt.Fprintf(out, "C%.1f %.1f %.1f %.1f %.1f %.1f", x, middle, to, middle, to, below)
		x, y = to, below
	}
	fmt.Fprint(out, "\" fill=\"none\" stroke=\"#555\"/>\n")
	fmt.Fprintf(out, "<path d=\"M%.1f %.1fl-3.5 -7h7z\" fill=\"#555\"/>\n", x, y)
	if label := d.labels[i]; label != "" {
		fmt.Fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" fill=\"#555\" font-size=\"9\">%s</text>\n", x+6, y-9, html.EscapeString(label))
	}
}

// draw draws a node around x, below top.
func (n *node) draw(out io.Writer, x, top float64) {
	fill, round := n.fill, 0
	fill = cmp.Or(fill, "white")
	if n.rounded {
		round, fill = 8, "#e0e0e0"
	}
	w := n.width()
	fmt.Fprintf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"%d\" fill=\"%s\" stroke=\"black\"/>\n", x-w/2, top, w, n.height(), round, fill)
	for k, l := range n.lines {
		fmt.Fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\" fill=\"%s\">%s</text>\n", x, top+float64(k+1)*lineHeight, cmp.Or(n.ink, "black"), html.EscapeString(l))
	}
}

func inputName(k int, o *nn.Operand) string {
	return strings.TrimSpace(fmt.Sprintf("input %d %s", k, o.Name))
}
func outputName(k int, o *nn.Operand) string {
	return strings.TrimSpace(fmt.Sprintf("output %d %s", k, o.Name))
}

// maxLines bounds the constants in the label of one operation.
const maxLines = 12

// operationLines are the type of an operation and the constants that it reads.
func operationLines(g *nn.Subgraph, i int) []string {
	op := &g.Operations[i]
	lines := []string{fmt.Sprintf("%d: %v", i, op.Type)}
	for k, x := range op.Inputs {
		o := &g.Operands[x]
		if !o.IsConst() {
			continue
		}
		if len(lines) > maxLines {
			return append(lines, "...")
		}
		lines = append(lines, fmt.Sprintf("[%d] %s", k, shape(o)))
	}
	return lines
}
