package plot

import (
	"bytes"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot/plotter"

	"github.com/nnsoc/nnsoc/internal/require"
)

func TestFrontier(t *testing.T) {
	got := frontier([]Series{
		{Name: "a", Points: plotter.XYs{{X: 3, Y: 1}, {X: 1, Y: 5}, {X: 2, Y: 2}, {X: 2, Y: 4}}, Labels: []string{"x=1", "", "x=2", "x=3"}},
		{Name: "b", Points: plotter.XYs{{X: 4, Y: 1}, {X: 5, Y: 9}, {X: 1, Y: 6}}},
	})
	if want := []corner{{plotter.XY{X: 1, Y: 5}, "a", ""}, {plotter.XY{X: 2, Y: 2}, "a", "x=2"}, {plotter.XY{X: 3, Y: 1}, "a", "x=1"}}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestFormats: each kind in each format begins as that format does, and is the same twice.
func TestFormats(t *testing.T) {
	points := []Series{{Name: "a", Points: plotter.XYs{{X: 1, Y: 2}, {X: 3, Y: 1}}}, {Name: "b", Points: plotter.XYs{{X: 2, Y: 2}}}}
	begin := map[string]string{"x.svg": "<?xml", "x.png": "\x89PNG", "x.pdf": "%PDF"}
	for kind, make := range map[string]func() (*Figure, error){
		"pareto":   func() (*Figure, error) { return Pareto("t", points) },
		"scaling":  func() (*Figure, error) { return Scaling("t", "k", "us", points) },
		"roofline": func() (*Figure, error) { return Roofline("t", points, map[string]Roof{"a": {1e3, 1e2}}) },
		"timeline": func() (*Figure, error) {
			return Timeline("t", []Lane{{"a", []Span{{0, 5, "k"}, {1, 2, "l"}}}, {"b", []Span{{3, 3, "k"}}}})
		},
		"distribution": func() (*Figure, error) { return Distribution("t", points) },
		"bars":         func() (*Figure, error) { return Bars("t", "percent", []Bar{{"a", 3}, {"b", 0}}) },
		"tornado":      func() (*Figure, error) { return Tornado("t", "latency", []Effect{{"k", -1, 2}, {"l", 0, 0}}) },
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

// TestBarsRefuse: figures that no bar has are refused by name, and nothing is drawn of nothing.
func TestBarsRefuse(t *testing.T) {
	for _, x := range []float64{-1, math.NaN(), math.Inf(1)} {
		_, err := Bars("t", "percent", []Bar{{"a", 1}, {"b", x}})
		require.Check(t, err != nil && strings.Contains(err.Error(), "b has"), "%v: %v", x, err)
	}
	_, err := Bars("t", "percent", make([]Bar, maxEffects+1))
	require.Check(t, err != nil && strings.Contains(err.Error(), "41 bars, at most 40"), "%v", err)
	_, err = Bars("t", "percent", nil)
	require.Check(t, err != nil, "a plot of nothing")
}

// TestRoom: no point is on the border of a plot, and no two series look the same.
func TestRoom(t *testing.T) {
	var list []Series
	for i := range 20 {
		list = append(list, Series{Name: string(rune('a' + i)), Points: plotter.XYs{{X: float64(i + 1), Y: float64(20 - i)}}})
	}
	roofs := map[string]Roof{"a": {100, 10}}
	for kind, p := range map[string]*Figure{"pareto": must(Pareto("", list)), "scaling": must(Scaling("", "", "", list)), "roofline": must(Roofline("", list, roofs))} {
		lo, hi := 1.0, 20.0
		if kind == "roofline" { // its axes are of logarithms
			lo, hi = 0, math.Log10(20)
		}
		if !(p.X.Min < lo && p.X.Max > hi && p.Y.Min < lo && p.Y.Max > hi) {
			t.Errorf("%s goes from %v, %v to %v, %v", kind, p.X.Min, p.Y.Min, p.X.Max, p.Y.Max)
		}
	}
	looks := map[string]string{}
	for _, s := range list {
		p := newFigure("", "", "")
		p.HideAxes()
		one := make([]Series, 1+slices.IndexFunc(list, func(x Series) bool { return x.Name == s.Name }))
		one[len(one)-1] = Series{Points: plotter.XYs{{X: 1, Y: 1}}}
		p.Add(marks{one})
		var b bytes.Buffer
		require.NoError(t, Write(&b, "x.svg", p, Sizes["column"]))
		require.Same(t, "", looks[b.String()], s.Name, "looks as")
		looks[b.String()] = s.Name
	}
}

// TestNested: of series at one place each is seen, around those after it.
func TestNested(t *testing.T) {
	at := plotter.XYs{{X: 1, Y: 1}}
	look := func(list ...Series) string {
		f := newFigure("", "", "")
		f.HideAxes()
		f.X.Min, f.X.Max, f.Y.Min, f.Y.Max = 0, 2, 0, 2
		f.Add(marks{list})
		var b bytes.Buffer
		require.NoError(t, Write(&b, "x.svg", f, Sizes["column"]))
		return b.String()
	}
	a, b := Series{Points: at}, Series{}
	require.Check(t, look(a, a) != look(b, a), "a point around another is not seen")
	require.Same(t, look(a, b), look(Series{Points: plotter.XYs{at[0], at[0]}}, b), "one point twice")
	outer, inner := glyph(0), glyph(1)
	both := look(a, a)
	require.Check(t, strings.Index(both, hex(outer.Color)) < strings.Index(both, hex(inner.Color)), "the outer one is drawn first")
}

func hex(c color.Color) string {
	r, g, b, _ := c.RGBA()
	return fmt.Sprintf("#%02X%02X%02X", r>>8, g>>8, b>>8)
}

// TestTicks: marks lie on their axis, and a few of them have names.
func TestTicks(t *testing.T) {
	for _, c := range []struct {
		lo, hi float64
		want   string
	}{{0.5, 200, "1 10 100"}, {3e8, 4e12, "1G 10G 100G 1T"}, {1, 1e9, "1 100 10k 1M 100M"}, {2, 9, ""}} {
		var names []string
		for _, k := range (powerTicks{}).Ticks(math.Log10(c.lo), math.Log10(c.hi)) {
			require.Check(t, k.Value >= math.Log10(c.lo) && k.Value <= math.Log10(c.hi), "%v to %v: %v", c.lo, c.hi, k.Value)
			if k.Label != "" {
				names = append(names, k.Label)
			}
		}
		require.Same(t, c.want, strings.Join(names, " "), fmt.Sprint(c.lo, " to ", c.hi))
	}
}

// TestWords: titles of axes have units in words.
func TestWords(t *testing.T) {
	for column, want := range map[string]string{
		"latency_us": "latency in microseconds", "energy_uj": "energy in microjoules", "total_cycles": "total cycles", "component.cpu_uj": "component cpu in microjoules",
		"counter.dram_bytes": "dram bytes", "mismatches": "mismatches", "stall.us_per_x": "stall us per x",
	} {
		require.Same(t, want, Words(column), column)
	}
	for unit, want := range map[string]string{"MB/s": "megabytes per second", "bytes/cycle": "bytes per cycle", "us": "microseconds", "MT/s": "million transfers per second", "rows": "rows"} {
		require.Same(t, want, Unit(unit), unit)
	}
}

func must(p *Figure, err error) *Figure {
	if err != nil {
		panic(err)
	}
	return p
}

func TestRefusals(t *testing.T) {
	bad := []Series{{Name: "a", Points: plotter.XYs{{X: 1, Y: math.NaN()}}}}
	zero := []Series{{Name: "a", Points: plotter.XYs{{X: 0, Y: 1}}}}
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
		"too many points":   second(Pareto("", []Series{{Name: "a", Points: make(plotter.XYs, maxPoints+1)}})),
		"an unknown format": Write(nil, "x.gif", newFigure("", "", ""), Sizes["page"]),
	} {
		require.Fails(t, err, what, "is drawn")
	}
	require.Report(t, require.Err(Pareto("", zero)), "0 on a plain axis")
}

func second(_ *Figure, err error) error { return err }

// TestPlainTicks: marks are at round numbers with the digits that tell them apart, three to seven on any axis.
func TestPlainTicks(t *testing.T) {
	for _, x := range []struct {
		lo, hi float64
		want   []string
	}{
		{0, 2500, []string{"0", "500", "1000", "1500", "2000", "2500"}},
		{-4.6, 5.4, []string{"-4", "-2", "0", "2", "4"}},
		{0.52, 0.88, []string{"0.6", "0.7", "0.8"}},
		{-5, 6, []string{"-4", "-2", "0", "2", "4", "6"}},
		{1.0, 1.0004, []string{"1.0000", "1.0001", "1.0002", "1.0003", "1.0004"}},
		{0, 4e6, []string{"0", "1M", "2M", "3M", "4M"}},
	} {
		var got []string
		for _, k := range (plainTicks{}).Ticks(x.lo, x.hi) {
			got = append(got, k.Label)
		}
		require.Equal(t, x.want, got, x.lo, x.hi)
	}
	for hi := 1e-9; hi < 1e12; hi *= 1.37 {
		n := len(plainTicks{}.Ticks(0, hi))
		require.Check(t, n >= 3 && n <= maxSteps+1, "%d marks to %v", n, hi)
	}
}
