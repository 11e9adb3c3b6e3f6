package plot

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/nnsoc/nnsoc/bench/glossary"
	"github.com/nnsoc/nnsoc/internal/require"
)

// textBox is a text of an SVG: its left and right edge, top and bottom, in points from the upper left.
type textBox struct {
	text                     string
	left, right, top, bottom float64
}

var (
	svgText = regexp.MustCompile(`(?s)(<g transform="rotate\(90\)">\s*)?<text x="([-0-9.]+)" y="([-0-9.]+)" transform="[^"]*"\s*style="([^"]*)">([^<]*)</text>`)
	svgSize = regexp.MustCompile(`font-size:([0-9.]+)px`)
	svgPage = regexp.MustCompile(`viewBox="0 0 ([0-9.]+) ([0-9.]+)"`)
)

// boxes are the texts of a figure, with the widths that its own font gives them, and the size of the page.
func boxes(t *testing.T, f *Figure, s Size) (list []textBox, width, height float64) {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, Write(&b, "x.svg", f, s))
	number := func(s string) float64 { return require.V(strconv.ParseFloat(s, 64))(t) }
	page := svgPage.FindStringSubmatch(b.String())
	width, height = number(page[1]), number(page[2])
	for _, m := range svgText.FindAllStringSubmatch(b.String(), -1) {
		style := f.X.Tick.Label
		size := number(svgSize.FindStringSubmatch(m[4])[1])
		style.Font.Size = vg.Length(size)
		x, y := number(m[2]), number(m[3]) // the canvas is flipped, its origin at the lower left
		w, h := float64(style.Width(m[5])), 0.7*size
		if m[1] != "" { // it goes up from x
			list = append(list, textBox{m[5], y - h, y, height - x - w, height - x})
			continue
		}
		list = append(list, textBox{m[5], x, x + w, height + y - h, height + y})
	}
	return list, width, height
}

// crowded are figures with all that has to find its place: long names, many series, points at one place, many rows.
func crowded() map[string]*Figure {
	var list, several []Series
	for i := range 6 {
		s := Series{Name: fmt.Sprintf("mobilenet_v1_0.25 on npu%d, npu.ublock=1x1x%d, dram.mt_per_s=3733", i, 32<<i), Labels: []string{"npu.clock=*0.8", ""}}
		s.Points = plotter.XYs{{X: float64(i + 1), Y: float64(20 - 3*i)}, {X: float64(i + 2), Y: float64(21 - 3*i)}}
		list = append(list, s, Series{Name: fmt.Sprint("the same again ", i), Points: s.Points})
		s.Group = fmt.Sprint("network_", i%2)
		several = append(several, s)
	}
	roofs := map[string]Roof{"npu": {2e12, 3e10}, "dsp": {6e11, 3e10}}
	wide := plotter.XYs{{X: 0.01, Y: 3e6}, {X: 30000, Y: 2e11}}
	var effects []Effect
	var lanes []Lane
	for i := range 24 {
		effects = append(effects, Effect{fmt.Sprintf("npu.path.launch_number_%d_us", i), float64(-i), float64(2 * i)})
		lanes = append(lanes, Lane{fmt.Sprint("dsp thread ", i), []Span{{float64(i), 2000 + float64(i), fmt.Sprint("KIND_OF_OPERATION_", i%9)}, {float64(i), 99, "cpu_wake"}}})
	}
	short := []Series{{Name: "cpu", Points: wide}, {Name: "npu", Points: wide}, {Name: "dsp", Points: wide}}
	return map[string]*Figure{
		"pareto": must(Pareto("energy over latency", list)), "pareto of networks": must(Pareto("", several)), "pareto of devices": must(Pareto("mobilenet on pixel4", short)),
		"scaling":  must(Scaling("", "npu.weights_per_cycle: bytes per cycle", "latency in microseconds", list)),
		"roofline": must(Roofline("roofline", short, roofs)), "sensitivity": must(Tornado("sensitivity", "latency", effects)), "timeline": must(Timeline("a run", lanes)),
	}
}

// TestTextFits: in each kind and size no text is cut by the edge and none overlaps another, every entry of the legend is
// there, and the width is that of the page.
func TestTextFits(t *testing.T) {
	for name, size := range Sizes {
		for kind, f := range crowded() {
			found, width, height := boxes(t, f, size)
			require.Check(t, len(found) >= 6, "%s, %s: %d texts", kind, name, len(found))
			require.Check(t, math.Abs(width-float64(size.Width)) < 1, "%s, %s: %v wide, want %v", kind, name, width, size.Width)
			all := " "
			for i, a := range found {
				all += a.text + " "
				if a.left < 0 || a.right > width || a.top < 0 || a.bottom > height {
					t.Errorf("%s, %s: %q from %.0f, %.0f to %.0f, %.0f of %.0f x %.0f", kind, name, a.text, a.left, a.top, a.right, a.bottom, width, height)
				}
				for _, b := range found[:i] {
					if a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom {
						t.Errorf("%s, %s: %q (%.0f %.0f) overlaps %q (%.0f %.0f)", kind, name, a.text, a.left, a.top, b.text, b.left, b.top)
					}
				}
			}
			for _, e := range f.legend {
				require.Check(t, strings.Contains(all, " "+e.name+" "), "%s, %s: no %q in%s", kind, name, e.name, all)
			}
			if dir := os.Getenv("NNSOC_FIGURES"); dir != "" { // to look at them
				var b bytes.Buffer
				require.NoError(t, Write(&b, "x.png", f, size))
				require.NoError(t, os.WriteFile(filepath.Join(dir, kind+"_"+name+".png"), b.Bytes(), 0o644))
			}
		}
	}
}

// TestShorten: a word that is wider than its place loses its middle.
func TestShorten(t *testing.T) {
	f := newFigure("", "", "")
	f.write(8)
	l := legend{style: f.X.Tick.Label}
	for _, w := range []vg.Length{20, 60, 200} {
		got := l.lines("a_word_that_is_longer_than_most_places and another", w)
		for _, s := range got {
			require.Check(t, l.style.Width(s) <= w, "%q is wider than %v", s, w)
		}
		require.Same(t, w < 200, strings.Contains(got[0], "…"), fmt.Sprint(got))
	}
}

// TestTimelineColours: spans of a cause have its colour, what is no cause has none of a cause.
func TestTimelineColours(t *testing.T) {
	f, err := Timeline("", []Lane{{"a", []Span{{0, 9, "net"}, {0, 1, "binder"}, {2, 8, "execution"}, {3, 4, "CONV_2D"}, {8, 9, "cpu_wake"}}}})
	require.NoError(t, err)
	got := map[string]string{}
	for _, e := range f.legend {
		r, g, b, _ := e.mark.(swatch).Color.RGBA()
		got[e.name] = fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
	}
	want := map[string]string{"net": glossary.Others()[0], "CONV_2D": glossary.Others()[1]}
	for _, c := range []glossary.Class{glossary.Engine, glossary.Software, glossary.WakeUp} {
		want[string(c)] = c.Colour()
	}
	require.Equal(t, want, got)
}
