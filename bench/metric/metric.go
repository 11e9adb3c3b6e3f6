// Package metric scores the outputs of a network for the samples of a data set.
//
//	top1, top5  share of samples whose class is among the highest scores
//	mse         mean squared difference of all output elements, real values
//	psnr        10 log10(255^2 / mse), the mean over samples, values 0 to 255
//	wer         word errors (Levenshtein) per word of the transcriptions, greedy CTC
//	map         COCO's mean average precision over IoU 0.50 to 0.95
//
// A sample is scored alone, so that scores can be kept and added up later.
package metric

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/nnsoc/nnsoc/internal/spelling"
)

// Output is a tensor of a network as real values.
type Output struct {
	Shape  []uint32
	Values []float64
}

// Box is an object: class, score and corners relative to the picture.
type Box struct {
	Class          int
	Score          float64
	X0, Y0, X1, Y1 float64
	Crowd          bool
}

// Truth is the ground truth of a sample.
type Truth struct {
	Class  int // -1 when unknown
	Text   string
	Values [][]float64 // per output
	Boxes  []Box
}

// Score is the contribution of a sample. It is kept as JSON.
type Score struct {
	Sum   float64 `json:"sum"`
	Count float64 `json:"count"`
	Found []Box   `json:"found,omitempty"` // of map
	Boxes []Box   `json:"boxes,omitempty"`
	Top   int     `json:"top"` // class with the highest score, -1 without
}

// Metric is one way to score.
type Metric struct {
	Name   string
	Better string // "higher" or "lower"
	Unit   string
	sample func(out []Output, t *Truth, labels []string) (Score, error)
	total  func([]Score) float64 // nil is the sum of sums over that of counts
}

// all are the metrics by name.
func all() []Metric {
	return []Metric{
		{"top1", "higher", "share", top(1), nil}, {"top5", "higher", "share", top(5), nil}, {"mse", "lower", "squared", squared, nil},
		{"wer", "lower", "per word", words, nil}, {"map", "higher", "AP", detections, averagePrecision}, {"psnr", "higher", "dB", noise, nil},
	}
}

// Names lists all metrics.
func Names() []string {
	var l []string
	for _, m := range all() {
		l = append(l, m.Name)
	}
	return l
}

// Find returns the metric of a name.
func Find(name string) (*Metric, error) {
	for _, m := range all() {
		if m.Name == name {
			return &m, nil
		}
	}
	return nil, fmt.Errorf("no metric %q; there are %s", name, strings.Join(Names(), ", "))
}

// Sample scores one sample. Labels are the alphabet of wer.
func (m *Metric) Sample(out []Output, t *Truth, labels []string) (Score, error) {
	s, err := m.sample(out, t, labels)
	if err != nil {
		return s, fmt.Errorf("%s: %w", m.Name, err)
	}
	s.Top = -1
	if len(out) > 0 {
		s.Top = highest(out[0].Values)
	}
	return s, nil
}

// Total is the metric over all samples; NaN for none.
func (m *Metric) Total(scores []Score) float64 {
	if m.total != nil {
		return m.total(scores)
	}
	var sum, count float64
	for i := range scores {
		sum, count = sum+scores[i].Sum, count+scores[i].Count
	}
	return sum / count
}

// highest is the index of the largest value, the first of equals; NaN is no
// value.
func highest(v []float64) int {
	best := -1
	for i, x := range v {
		if !math.IsNaN(x) && (best < 0 || x > v[best]) {
			best = i
		}
	}
	return best
}

// top is whether the class is among the n highest of the first output.
func top(n int) func([]Output, *Truth, []string) (Score, error) {
	return func(out []Output, t *Truth, _ []string) (Score, error) {
		if t.Class < 0 {
			return Score{}, errors.New("the sample has no class")
		}
		if len(out) == 0 {
			return Score{}, errors.New("the network has no output")
		}
		if t.Class >= len(out[0].Values) {
			return Score{}, fmt.Errorf("class %d, the network has %d", t.Class, len(out[0].Values))
		}
		mine := out[0].Values[t.Class]
		before := 0 // classes in front of the right one
		for i, x := range out[0].Values {
			if x > mine || x == mine && i < t.Class {
				before++
			}
		}
		s := Score{Count: 1}
		if before < n && !math.IsNaN(mine) {
			s.Sum = 1
		}
		return s, nil
	}
}

// difference is the sum of squared differences and their number.
func difference(out []Output, t *Truth) (sum, count float64, err error) {
	if len(t.Values) != len(out) {
		return 0, 0, fmt.Errorf("the sample has %d expected outputs, the network %d", len(t.Values), len(out))
	}
	for i := range out {
		if len(out[i].Values) != len(t.Values[i]) {
			return 0, 0, fmt.Errorf("output %d has %d elements, expected are %d", i, len(out[i].Values), len(t.Values[i]))
		}
		for k, x := range out[i].Values {
			d := x - t.Values[i][k]
			sum += d * d
		}
		count += float64(len(out[i].Values))
	}
	return sum, count, nil
}

func squared(out []Output, t *Truth, _ []string) (Score, error) {
	sum, count, err := difference(out, t)
	return Score{Sum: sum, Count: count}, err
}

// peak is the range of pixels.
const peak = 255

func noise(out []Output, t *Truth, _ []string) (Score, error) {
	sum, count, err := difference(out, t)
	if err != nil {
		return Score{}, err
	}
	// A perfect picture counts as one with an error below a thousandth of a step.
	return Score{Sum: 10 * math.Log10(peak*peak/max(sum/count, 1e-6)), Count: 1}, nil
}

// words decodes the first output, scores of symbols over time, as CTC does:
// the best symbol of each step, repetitions and blanks left out. The blank is
// the last symbol of the alphabet.
func words(out []Output, t *Truth, alphabet []string) (Score, error) {
	if len(alphabet) < 2 {
		return Score{}, errors.New("needs the alphabet as labels, the blank last")
	}
	if t.Text == "" {
		return Score{}, errors.New("the sample has no text")
	}
	n := len(alphabet)
	if len(out) == 0 || len(out[0].Values)%n != 0 {
		return Score{}, fmt.Errorf("the output is no row of %d symbols per step", n)
	}
	var text strings.Builder
	last := -1
	for at := 0; at < len(out[0].Values); at += n {
		k := highest(out[0].Values[at : at+n])
		if k >= 0 && k != last && k != n-1 {
			symbol := alphabet[k]
			symbol = cmp.Or(symbol, " ")
			text.WriteString(symbol)
		}
		last = k
	}
	want := strings.Fields(strings.ToLower(t.Text))
	return Score{Sum: float64(spelling.Distance(strings.Fields(strings.ToLower(text.String())), want)), Count: float64(len(want))}, nil
}

// detections reads the outputs of a detector: boxes as rows of y0, x0, y1, x1 relative to the picture, then classes and
// scores, of one number per box, in the order of TensorFlow Lite's detection post-processing; NNAPI's has the scores
// first.
func detections(out []Output, t *Truth, _ []string) (Score, error) {
	boxes := slices.IndexFunc(out, func(o Output) bool {
		return len(o.Shape) >= 2 && o.Shape[len(o.Shape)-1] == 4 && len(o.Shape) <= 3
	})
	if boxes < 0 {
		return Score{}, errors.New("no output has rows of 4 numbers: want a network that ends in detection post-processing")
	}
	n := len(out[boxes].Values) / 4
	var rest []*Output
	for i := range out {
		if i != boxes && len(out[i].Values) == n && !(n == 1 && len(rest) == 2) {
			rest = append(rest, &out[i])
		}
	}
	if len(rest) < 2 {
		return Score{}, fmt.Errorf("%d boxes need classes and scores, one number each", n)
	}
	classes, scores := rest[0], rest[1]
	if boxes != 0 { // NNAPI: scores, boxes, classes
		classes, scores = scores, classes
	}
	s := Score{Boxes: t.Boxes}
	for i := range n {
		b := out[boxes].Values[4*i:]
		if scores.Values[i] > 0 {
			s.Found = append(s.Found, Box{Class: int(classes.Values[i]), Score: scores.Values[i], Y0: b[0], X0: b[1], Y1: b[2], X1: b[3]})
		}
	}
	return s, nil
}
