// Package page makes a page of a benchmark's results: one HTML file that needs neither
// the network nor scripts, can be read in print and walked through by keyboard.
//
// It has what the app's own page has: a table for each group of models with latencies and their difference to the CPU,
// accuracy, validation errors, histograms of latencies and the times of compilations. Every column has its own heading:
// in the app's page those of mel distortion and log F0 are exchanged.
package page

import (
	"cmp"

	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nnsoc/nnsoc/bench/mlts"
	"github.com/nnsoc/nnsoc/bench/report"
)

//go:embed page.html
var source string

var page = sync.OnceValue(func() *template.Template { return template.Must(template.New("page").Parse(source)) })

// About is the origin of the results.
type About struct {
	SoC, Build string
	At         time.Time
	WarmUp     float64 // s
	Run        float64
}

// groups are the headings of the app's page, by the beginning of a model's name and a text within it.
var groups = []struct{ name, with, heading string }{
	{"mobilenet_v1", "quant", "MobileNet v1 Quantized"},
	{"mobilenet_v1", "", "MobileNet v1 Float"},
	{"mobilenet_v2", "quant", "MobileNet v2 Quantized"},
	{"mobilenet_v2", "", "MobileNet v2 Float"},
	{"mobilenet_v3", "uint8", "MobileNet v3 Quantized"},
	{"mobilenet_v3", "", "MobileNet v3 Float"},
	{"tts", "", "LSTM Text-to-speech"},
	{"asr", "", "LSTM Automatic Speech Recognition"},
}

func groupOf(model string) string {
	for _, g := range groups {
		if rest, ok := strings.CutPrefix(model, g.name); ok && strings.Contains(rest, g.with) {
			return g.heading
		}
	}
	return model
}

// headings names what evaluators measure, by their keys; scale converts values to the displayed ones, and moreIsBetter decides
// which differences to the CPU are improvements.
var headings = map[string]struct {
	text         string
	scale        float64
	moreIsBetter bool
	same         float64 // differences below are none
}{
	"top_1": {"Top 1 %", 100, true, 1}, "top_2": {"Top 2 %", 100, true, 1}, "top_3": {"Top 3 %", 100, true, 1},
	"top_4": {"Top 4 %", 100, true, 1}, "top_5": {"Top 5 %", 100, true, 1},
	"max_mel_cep_distortion": {"Max mel-cep distortion, dB", 1, false, 0.01},
	"max_log_f0_error":       {"Max log F0 error", 1, false, 1e-4},
	"max_phone_error_rate":   {"Max phone error rate, %", 1, false, 1},
}

type view struct {
	About
	CSS    template.CSS
	Date   string
	Groups []*group
}

type group struct {
	Name      string
	ID        string
	Accuracy  []string // headings
	Rows      []row
	Errors    []problem
	Missing   []problem
	Graphs    []graph
	Compiling []compiling
}

type row struct {
	Model, Backend, Class string
	Iterations, TestSet   int
	Latency               cell
	Accuracy              []cell
	MaxError              string
}

// cell is a value with its difference to the CPU's.
type cell struct{ Value, Difference, Class string }

type problem struct{ Model, Backend, Text string }

type graph struct {
	Model, Backend, Text string
	From, To             string
	Bars                 []bar
}

type bar struct{ X, Y, Height float64 }

type compiling struct {
	Model, Backend string
	Kinds          [3]kind
	Bytes          int64
}

type kind struct{ Iterations, Mean string }

// Write writes the page of results, those of the CPU before the others of a model.
func Write(w io.Writer, about About, results []*mlts.Result) error {
	v := &view{About: about, CSS: report.CSS(), Date: about.At.Format("2006-01-02 15:04:05")}
	base := map[string]*mlts.Result{}
	for _, r := range results {
		if r.Backend == mlts.BackendCPU && r.Inference != nil {
			base[r.Model] = r
		}
	}
	for _, r := range results {
		g := v.group(groupOf(r.Model))
		if r.Inference == nil {
			text := "skipped: " + r.Skipped
			if r.Failed != "" {
				text = "failed: " + r.Failed
			}
			g.Missing = append(g.Missing, problem{r.Model, r.Backend, text})
			continue
		}
		g.add(r, base[r.Model])
	}
	return page().Execute(w, v)
}

// group is the group of a heading.
func (v *view) group(heading string) *group {
	if i := slices.IndexFunc(v.Groups, func(g *group) bool { return g.Name == heading }); i >= 0 {
		return v.Groups[i]
	}
	g := &group{Name: heading, ID: fmt.Sprintf("group%d", len(v.Groups))}
	v.Groups = append(v.Groups, g)
	return g
}

// add adds a result; base is the CPU's, nil without.
func (g *group) add(r, base *mlts.Result) {
	if g.Accuracy == nil {
		for _, x := range r.Values {
			text := headings[x.Key].text
			text = cmp.Or(text, x.Key)
			g.Accuracy = append(g.Accuracy, text)
		}
	}
	l := r.Inference
	x := row{Model: r.Model, Backend: r.Backend, Class: "normal", Iterations: l.Iterations, TestSet: r.TestSetSize, MaxError: fmt.Sprintf("%.4g", r.MaxSingleError)}
	x.Latency.Value = fmt.Sprintf("%.3f", 1e3*l.MeanSec)
	if base != nil && r != base {
		percent := 100 * (l.MeanSec/base.Inference.MeanSec - 1)
		x.Latency.Difference = fmt.Sprintf("%+.3f ms, %+.1f %%", 1e3*(l.MeanSec-base.Inference.MeanSec), percent)
		x.Latency.Class = judge(percent, 1, false)
	}
	for i := range g.Accuracy {
		var c cell
		if i < len(r.Values) {
			c = accuracy(r, base, i)
		}
		x.Accuracy = append(x.Accuracy, c)
	}
	if len(r.ValidationErrors) > 0 {
		x.Class = "failed"
	}
	g.Rows = append(g.Rows, x)
	for _, e := range r.ValidationErrors {
		g.Errors = append(g.Errors, problem{r.Model, r.Backend, e})
	}
	g.Graphs = append(g.Graphs, histogram(r))
	if c := r.Compilation; c != nil {
		y := compiling{Model: r.Model, Backend: r.Backend, Bytes: c.CacheBytes}
		for k, l := range []*mlts.Latency{c.WithoutCache, c.SaveToCache, c.FromCache} {
			y.Kinds[k] = kind{"-", "-"}
			if l != nil {
				y.Kinds[k] = kind{fmt.Sprint(l.Iterations), fmt.Sprintf("%.3f", 1e3*l.MeanSec)}
			}
		}
		g.Compiling = append(g.Compiling, y)
	}
}

func accuracy(r, base *mlts.Result, i int) cell {
	v := r.Values[i]
	h := headings[v.Key]
	if h.text == "" {
		h.scale = 1
	}
	c := cell{Value: fmt.Sprintf("%.4g", h.scale*v.Value)}
	if base != nil && r != base && i < len(base.Values) {
		d := h.scale * (v.Value - base.Values[i].Value)
		if d != 0 {
			c.Difference, c.Class = fmt.Sprintf("%+.4g", d), judge(d, h.same, h.moreIsBetter)
		}
	}
	return c
}

// judge is the class of a difference.
func judge(difference, same float64, moreIsBetter bool) string {
	switch {
	case math.Abs(difference) < same:
		return "same"
	case (difference > 0) == moreIsBetter:
		return "better"
	}
	return "worse"
}

// Size of a histogram.
const (
	barWidth   = 8
	barsHeight = 60
)

func histogram(r *mlts.Result) graph {
	l := r.Inference
	g := graph{Model: r.Model, Backend: r.Backend, From: fmt.Sprintf("%.3f", 1e3*l.StartSec), To: fmt.Sprintf("%.3f", 1e3*(l.StartSec+float64(mlts.Buckets)*l.StepSec))}
	most := slices.Max(l.Counts[:])
	var told []string
	for i, n := range l.Counts {
		if n > 0 {
			told = append(told, fmt.Sprintf("%.3f ms: %.0f", 1e3*(l.StartSec+float64(i)*l.StepSec), n))
		}
		h := barsHeight * n / most
		g.Bars = append(g.Bars, bar{float64(i * barWidth), barsHeight - h, h})
	}
	g.Text = strings.Join(told, ", ")
	return g
}
