package plot

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"

	"github.com/nnsoc/nnsoc/internal/require"
)

func TestFrontier(t *testing.T) {
	got := frontier(plotter.XYs{{X: 3, Y: 1}, {X: 1, Y: 5}, {X: 2, Y: 2}, {X: 2, Y: 4}, {X: 4, Y: 1}, {X: 5, Y: 9}, {X: 1, Y: 6}})
	if want := (plotter.XYs{{X: 1, Y: 5}, {X: 2, Y: 2}, {X: 3, Y: 1}}); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestFormats: each kind in each format begins as that format does, and is the same twice.
func TestFormats(t *testing.T) {
	points := []Series{{"a", plotter.XYs{{X: 1, Y: 2}, {X: 3, Y: 1}}}, {"b", plotter.XYs{{X: 2, Y: 2}}}}
	begin := map[string]string{"x.svg": "<?xml", "x.png": "\x89PNG", "x.pdf": "%PDF"}
	for kind, make := range map[string]func() (*gonum.Plot, error){
		"pareto":   func() (*gonum.Plot, error) { return Pareto("t", points) },
		"scaling":  func() (*gonum.Plot, error) { return Scaling("t", "k", "us", points) },
		"roofline": func() (*gonum.Plot, error) { return Roofline("t", points, map[string]Roof{"a": {1e3, 1e2}}) },
		"timeline": func() (*gonum.Plot, error) {
			return Timeline("t", []Lane{{"a", []Span{{0, 5, "k"}, {1, 2, "l"}}}, {"b", []Span{{3, 3, "k"}}}})
		},
		"tornado": func() (*gonum.Plot, error) { return Tornado("t", "latency", []Effect{{"k", -1, 2}, {"l", 0, 0}}) },
	} {
		for name, want := range begin {
			var out [2]bytes.Buffer
			for i := range out {
				p := require.V(make())(t, kind)
				if err := Write(&out[i], name, p, Sizes["column"]); err != nil {
					t.Fatalf("%s, %s: %v", kind, name, err)
				}
			}
			if !strings.HasPrefix(out[0].String(), want) || out[0].Len() < 1000 {
				t.Errorf("%s, %s: %d bytes that begin with %.10q", kind, name, out[0].Len(), out[0].String())
			}
			if name != "x.pdf" && !bytes.Equal(out[0].Bytes(), out[1].Bytes()) { // a PDF has its time of writing
				t.Errorf("%s, %s differs from itself", kind, name)
			}
		}
	}
}

// TestRoom: no point is on the border of a plot, and no two series look the same.
func TestRoom(t *testing.T) {
	var list []Series
	for i := range 20 {
		list = append(list, Series{string(rune('a' + i)), plotter.XYs{{X: float64(i + 1), Y: float64(20 - i)}}})
	}
	roofs := map[string]Roof{"a": {100, 10}}
	for kind, p := range map[string]*gonum.Plot{"pareto": must(Pareto("", list)), "scaling": must(Scaling("", "", "", list)), "roofline": must(Roofline("", list, roofs))} {
		if !(p.X.Min < 1 && p.X.Max > 20 && p.Y.Min < 1 && p.Y.Max > 20) {
			t.Errorf("%s goes from %v, %v to %v, %v", kind, p.X.Min, p.Y.Min, p.X.Max, p.Y.Max)
		}
	}
	looks := map[string]string{}
	for _, s := range list {
		p := gonum.New()
		p.HideAxes()
		require.NoError(t, scatter(p, slices.IndexFunc(list, func(x Series) bool { return x.Name == s.Name }), Series{"", plotter.XYs{{X: 1, Y: 1}}}))
		var b bytes.Buffer
		require.NoError(t, Write(&b, "x.svg", p, Sizes["column"]))
		require.Same(t, "", looks[b.String()], s.Name, "looks as")
		looks[b.String()] = s.Name
	}
}

func must(p *gonum.Plot, err error) *gonum.Plot {
	if err != nil {
		panic(err)
	}
	return p
}

func TestRefusals(t *testing.T) {
	bad := []Series{{"a", plotter.XYs{{X: 1, Y: math.NaN()}}}}
	zero := []Series{{"a", plotter.XYs{{X: 0, Y: 1}}}}
	for what, err := range map[string]error{
		"nothing":           second(Pareto("", nil)),
		"NaN":               second(Pareto("", bad)),
		"NaN on a line":     second(Scaling("", "", "", bad)),
		"0 on a log axis":   second(Roofline("", zero, nil)),
		"no effects":        second(Tornado("", "", nil)),
		"infinite effect":   second(Tornado("", "", []Effect{{"k", math.Inf(1), 0}})),
		"no spans":          second(Timeline("", []Lane{{"a", nil}})),
		"a span backwards":  second(Timeline("", []Lane{{"a", []Span{{2, 1, ""}}}})),
		"a span of NaN":     second(Timeline("", []Lane{{"a", []Span{{0, math.NaN(), ""}}}})),
		"too many points":   second(Pareto("", []Series{{"a", make(plotter.XYs, maxPoints+1)}})),
		"an unknown format": Write(nil, "x.gif", gonum.New(), Sizes["page"]),
	} {
		require.Fails(t, err, what, "is drawn")
	}
	require.Report(t, require.Err(Pareto("", zero)), "0 on a plain axis")
}

func second(_ *gonum.Plot, err error) error { return err }
