package app

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"slices"
	"strings"
	"sync"

	"github.com/nnsoc/nnsoc/bench/applog"
	htmlreport "github.com/nnsoc/nnsoc/bench/report"
)

//go:embed page.html
var pageSource string

var pageTemplate = sync.OnceValue(func() *template.Template { return template.Must(template.New("page").Parse(pageSource)) })

// compilationView is a compilation as the page shows it.
type compilationView struct {
	*compilationEntry
	Heading string
	Notes   []string
	Rows    [][]string // parts: number, device, mean time, operations
	Figures [][2]string
	Points  string // latencies as the points of a line, in a box of 600 by 120
	Top     string // the latency at its upper edge
}

// page is the report as a page of its own.
func (r *report) page() ([]byte, error) {
	view := struct {
		CSS          template.CSS
		Title        string
		Status       int
		Processes    []processEntry
		Compilations []compilationView
	}{htmlreport.CSS(), r.title(), r.ExitStatus, r.Processes, nil}
	for i := range r.Compilations {
		c := &r.Compilations[i]
		v := compilationView{compilationEntry: c, Heading: c.heading(r), Notes: c.notes()}
		for _, row := range c.rows() {
			var cells []string
			for k := range partColumns {
				cells = append(cells, cellText(partColumns[k].Cell(row)))
			}
			v.Rows = append(v.Rows, cells)
		}
		for k := range executionColumns {
			x := &executionColumns[k]
			v.Figures = append(v.Figures, [2]string{strings.TrimSpace(x.Name + " " + x.Unit), cellText(x.Cell(c))})
		}
		v.Points, v.Top = line(c.summary)
		view.Compilations = append(view.Compilations, v)
	}
	var b bytes.Buffer
	err := pageTemplate().Execute(&b, view)
	return b.Bytes(), err
}

func cellText(v any) string {
	switch v := v.(type) {
	case nil:
		return "-"
	case float64:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprint(v)
}

// maxPoints bounds the points of a line; of more executions each point is the largest latency of several.
const maxPoints = 600

// leastSpread is the least difference of latencies that is drawn, as a share of the largest.
const leastSpread = 0.005

// line returns the latencies of a compilation as the points of a line, and the largest; nothing where they are all alike.
func line(s *applog.Summary) (points, top string) {
	var us []float64
	for _, e := range s.Executions {
		if e.Result == applog.Success {
			us = append(us, e.LatencyUs)
		}
	}
	if len(us) < 2 || !(slices.Max(us)-slices.Min(us) >= leastSpread*s.Latency.MaximumUs) || s.Latency.MaximumUs <= 0 {
		return "", ""
	}
	var list []float64
	for group := range slices.Chunk(us, (len(us)+maxPoints-1)/maxPoints) {
		list = append(list, slices.Max(group))
	}
	var b strings.Builder
	for i, x := range list {
		fmt.Fprintf(&b, "%.1f,%.1f ", 600*float64(i)/float64(max(len(list)-1, 1)), 120-115*x/s.Latency.MaximumUs)
	}
	return strings.TrimSpace(b.String()), fmt.Sprintf("%.1f us", s.Latency.MaximumUs)
}
