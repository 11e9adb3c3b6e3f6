package plot

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/nnsoc/nnsoc/internal/require"
)

// textBox is a text of an SVG: its left and right edge, top and bottom, in points from the upper left.
type textBox struct {
	text                     string
	left, right, top, bottom float64
}

var (
	svgText = regexp.MustCompile(`(?s)<text x="([-0-9.]+)" y="([-0-9.]+)" transform="([^"]*)"\s*style="([^"]*)">([^<]*)</text>`)
	svgSize = regexp.MustCompile(`font-size:([0-9.]+)px`)
	svgMove = regexp.MustCompile(`translate\(([-0-9.e]+),? ?([-0-9.e]+)\)`)
)

// boxes are the texts of a plot that stand upright, with the widths that the plot's own font gives them. The one that is
// turned, the label of the y axis, is checked by its length alone.
func boxes(t *testing.T, p *gonum.Plot, s Size) (list []textBox) {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, Write(&b, "x.svg", p, s))
	for _, m := range svgText.FindAllStringSubmatch(b.String(), -1) {
		number := func(s string) float64 { return require.V(strconv.ParseFloat(s, 64))(t) }
		size := svgSize.FindStringSubmatch(m[4])
		if size == nil || strings.Contains(m[3], "rotate") {
			continue
		}
		style := p.X.Tick.Label
		style.Font.Size = vg.Length(number(size[1]))
		x, y := number(m[1]), -number(m[2]) // the canvas is flipped, its origin at the lower left
		if mv := svgMove.FindStringSubmatch(m[3]); mv != nil {
			x, y = x+number(mv[1]), y-number(mv[2])
		}
		w, h := float64(style.Width(m[5])), number(size[1])
		list = append(list, textBox{m[5], x, x + w, y, y + 0.7*h})
	}
	return list
}

// TestTextFits: in each kind and size no text is cut by the edge and none overlaps another.
func TestTextFits(t *testing.T) {
	var list []Series
	for i := range 5 {
		list = append(list, Series{fmt.Sprintf("mobilenet_v1_0.25 on npu%d", i), plotter.XYs{{X: float64(i + 1), Y: float64(20 - 3*i)}, {X: float64(i + 2), Y: float64(21 - 3*i)}}})
	}
	for name, size := range Sizes {
		for kind, p := range map[string]*gonum.Plot{
			"pareto": must(Pareto("energy over latency", list)), "scaling": must(Scaling("latency", "dram.mt_per_s", "latency (us)", list)),
			"roofline": must(Roofline("roofline", list[:2], map[string]Roof{list[0].Name: {1e3, 1e2}})),
			"tornado":  must(Tornado("sensitivity", "latency", []Effect{{"npu.path.launch_us", -1, 2}, {"dram.mt_per_s", 3, -4}})),
		} {
			found := boxes(t, p, size)
			require.Check(t, len(found) >= 6, "%s, %s: %d texts", kind, name, len(found))
			for i, a := range found {
				if a.left < -1 || a.right > float64(size.Width)+1 {
					t.Errorf("%s, %s: %q from %.0f to %.0f of %.0f", kind, name, a.text, a.left, a.right, float64(size.Width))
				}
				for _, b := range found[:i] {
					if a.left < b.right-1 && b.left < a.right-1 && a.top < b.bottom-1 && b.top < a.bottom-1 {
						t.Errorf("%s, %s: %q (%.0f %.0f) overlaps %q (%.0f %.0f)", kind, name, a.text, a.left, a.top, b.text, b.left, b.top)
					}
				}
			}
		}
	}
}
