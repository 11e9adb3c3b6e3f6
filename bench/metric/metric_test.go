package metric

import (
	"math"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

func score(t *testing.T, name string, out []Output, truth *Truth, labels []string) Score {
	t.Helper()
	m := require.V(Find(name))(t)
	s := require.V(m.Sample(out, truth, labels))(t)
	return s
}

func TestTop(t *testing.T) {
	scores := []Output{{Values: []float64{0.1, 0.5, 0.5, 0.2, 0, 0, 0.3}}}
	for _, c := range []struct {
		metric string
		class  int
		want   float64
	}{
		{"top1", 1, 1}, {"top1", 2, 0}, {"top5", 2, 1}, {"top5", 0, 1}, {"top5", 4, 0},
	} {
		if s := score(t, c.metric, scores, &Truth{Class: c.class}, nil); s.Sum != c.want || s.Count != 1 || s.Top != 1 {
			t.Errorf("%s of class %d: %+v, want %v", c.metric, c.class, s, c.want)
		}
	}
	m := require.V(Find("top1"))(t)
	require.Fails(t, require.Err(m.Sample(nil, &Truth{}, nil)), "a class of no output")
	nan := []Output{{Values: []float64{math.NaN(), math.NaN()}}}
	if s := score(t, "top1", nan, &Truth{}, nil); s.Sum != 0 || s.Top != -1 {
		t.Errorf("NaN counts as right: %+v", s)
	}
}

func TestDifferences(t *testing.T) {
	out := []Output{{Values: []float64{1, 2}}, {Values: []float64{3}}}
	truth := &Truth{Values: [][]float64{{1, 4}, {6}}}
	if s := score(t, "mse", out, truth, nil); s.Sum != 13 || s.Count != 3 {
		t.Errorf("mse %+v", s)
	}
	if s := score(t, "psnr", []Output{{Values: []float64{0}}}, &Truth{Values: [][]float64{{255}}}, nil); s.Sum != 0 {
		t.Errorf("psnr of the largest error: %+v", s)
	}
	if s := score(t, "mse", []Output{{Values: []float64{math.NaN()}}}, &Truth{Values: [][]float64{{1}}}, nil); !math.IsNaN(s.Sum) {
		t.Errorf("NaN is hidden: %+v", s)
	}
}

// TestWords decodes "a cat" with repetitions and blanks: one word of two is
// wrong in "a cart".
func TestWords(t *testing.T) {
	alphabet := []string{"", "a", "c", "t", "-"}
	steps := []int{1, 1, 4, 0, 2, 1, 1, 4, 3, 3}
	var v []float64
	for _, k := range steps {
		row := make([]float64, len(alphabet))
		row[k] = 1
		v = append(v, row...)
	}
	for text, want := range map[string]float64{"A cat": 0, "a cart": 1, "cat": 1, "the big cat": 2} {
		if s := score(t, "wer", []Output{{Values: v}}, &Truth{Text: text}, alphabet); s.Sum != want {
			t.Errorf("%q: %v errors, want %v", text, s.Sum, want)
		}
	}
}

// TestAveragePrecision: figures computed by hand.
func TestAveragePrecision(t *testing.T) {
	box := func(class int, score, x float64) Box {
		return Box{Class: class, Score: score, X0: x, Y0: 0, X1: x + 1, Y1: 1}
	}
	for _, c := range []struct {
		name    string
		samples []Score
		want    float64
	}{
		{"found", []Score{{Boxes: []Box{box(1, 1, 0)}, Found: []Box{box(1, 0.9, 0)}}}, 1},
		{"missed", []Score{{Boxes: []Box{box(1, 1, 0)}}}, 0},
		{"another class", []Score{{Boxes: []Box{box(1, 1, 0)}, Found: []Box{box(2, 0.9, 0)}}}, 0},
		// Overlap 0.8 / 1.2 = 2/3: right at 0.50, 0.55, 0.60 and 0.65.
		{"shifted", []Score{{Boxes: []Box{box(1, 1, 0)}, Found: []Box{box(1, 0.9, 0.2)}}}, 0.4},
		// A better score on nothing halves the precision.
		{"false first", []Score{{Boxes: []Box{box(1, 1, 0)}, Found: []Box{box(1, 0.9, 5), box(1, 0.8, 0)}}}, 0.5},
		{"false last", []Score{{Boxes: []Box{box(1, 1, 0)}, Found: []Box{box(1, 0.9, 0), box(1, 0.8, 5)}}}, 1},
		{"twice", []Score{{Boxes: []Box{box(1, 1, 0), box(1, 1, 9)}, Found: []Box{box(1, 0.9, 0), box(1, 0.8, 0)}}}, 51.0 / 101},
		{"two classes", []Score{{Boxes: []Box{box(1, 1, 0), box(2, 1, 9)}, Found: []Box{box(1, 0.9, 0)}}}, 0.5},
	} {
		m := require.V(Find("map"))(t)
		if got := m.Total(c.samples); !near(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	crowd := box(1, 1, 0)
	crowd.Crowd = true
	samples := []Score{{Boxes: []Box{crowd, box(1, 1, 9)}, Found: []Box{box(1, 0.9, 0), box(1, 0.8, 9)}}}
	if got := averagePrecision(samples); !near(got, 1) {
		t.Errorf("a box on a crowd counts: %v", got)
	}
	// A hundred boxes of another class do not lower this one's figure, but those of its own do.
	for class, want := range map[int]float64{2: 1, 1: 0} {
		sample := Score{Boxes: []Box{box(1, 1, 0)}, Found: []Box{box(1, 0.1, 0)}}
		for k := range maxFound {
			sample.Found = append(sample.Found, box(class, 0.5, float64(10+k)))
		}
		if got := averagePrecision([]Score{sample}); !near(got, want) {
			t.Errorf("behind %d better boxes of class %d: %v, want %v", maxFound, class, got, want)
		}
	}
	require.Check(t, math.IsNaN(averagePrecision(nil)), "a precision of nothing")
}

func TestDetections(t *testing.T) {
	boxes := Output{Shape: []uint32{1, 2, 4}, Values: []float64{0, 0.1, 0.2, 0.3, 0, 0, 1, 1}}
	classes, scores := Output{Shape: []uint32{1, 2}, Values: []float64{7, 3}}, Output{Shape: []uint32{1, 2}, Values: []float64{0.9, 0}}
	for _, out := range [][]Output{{boxes, classes, scores}, {scores, boxes, classes}} {
		s := score(t, "map", out, &Truth{}, nil)
		require.Check(t, len(s.Found) == 1 && s.Found[0] == (Box{Class: 7, Score: 0.9, X0: 0.1, Y0: 0, X1: 0.3, Y1: 0.2}), "found %+v", s.Found)
	}
}
