package report

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"slices"

	"github.com/nnsoc/nnsoc/bench/glossary"
)

//go:embed page/page.html
var pageHTML string

//go:embed page/page.css
var pageCSS string

//go:embed page/draw.js
var drawJS string

//go:embed page/page.js
var pageJS string

//go:embed page/changes.js
var changesJS string

//go:embed page/network.js
var networkJS string

//go:embed page/roofline.js
var rooflineJS string

//go:embed page/start.js
var startJS string

// Page is one report: files, each with a distinct name.
type Page struct {
	Title     string
	Names     []string
	Files     []json.RawMessage // objects of "run --json"
	Timelines []*Timeline       // by file; nil where there is none
	Advice    []*Advice         // by file; nil where there is none
}

// Advice is what would make the fastest run of a file faster.
type Advice struct {
	Device    string    `json:"device"`
	LatencyUS float64   `json:"latency_us"`
	Changes   []Advised `json:"changes"` // the largest gain first
}

// Advised is a change that was predicted and simulated.
type Advised struct {
	What        string  `json:"change"`
	Why         string  `json:"reason"`
	PredictedUS float64 `json:"predicted_latency_us"`
	SimulatedUS float64 `json:"latency_us"`
	GainPercent float64 `json:"gain_percent"` // of latency, simulated
	Status      string  `json:"status"`       // of the simulation; without "ok" it has no latency
}

// cause is a cause of the glossary with its colour.
type cause struct {
	Name   glossary.Class `json:"name"`
	Colour string         `json:"colour"`
}

// pageData is the data of a page's script.
type pageData struct {
	Names     []string          `json:"names"`
	Files     []json.RawMessage `json:"files"`
	Timelines []*Timeline       `json:"timelines,omitempty"`
	Advice    []*Advice         `json:"advice,omitempty"`
	Diff      *Diff             `json:"diff,omitempty"`
	Layouts   [][]layout        `json:"layouts"` // of the networks, by file and run
	Glossary  []glossary.Word   `json:"glossary"`
	Causes    []cause           `json:"causes"`
	Colours   []string          `json:"colours"` // of networks and strategies
	Devices   map[string]string `json:"device_colours"`
}

// WriteHTML writes a self-contained page. Of two files of one network, or of two recorded runs, it shows the differences from the first
// to the second.
func (p *Page) WriteHTML(w io.Writer) error {
	if len(p.Files) == 0 || len(p.Names) != len(p.Files) {
		return errors.New("a report of nothing")
	}
	d := pageData{Names: p.Names, Files: p.Files, Timelines: p.Timelines, Advice: p.Advice, Glossary: glossary.All(), Colours: glossary.Names(), Devices: map[string]string{}}
	for _, c := range glossary.Classes {
		d.Causes = append(d.Causes, cause{c, c.Colour()})
	}
	files := make([]File, len(p.Files))
	for i := range p.Files {
		if err := json.Unmarshal(p.Files[i], &files[i]); err != nil {
			return fmt.Errorf("%s: %w", p.Names[i], err)
		}
		if err := files[i].check(); err != nil {
			return fmt.Errorf("%s: %w", p.Names[i], err)
		}
		var list []layout
		for k := range files[i].Runs {
			list = append(list, placed(files[i].Runs[k].Operations))
			for _, o := range files[i].Runs[k].Operations {
				d.Devices[o.Device], _ = glossary.Device(o.Device)
			}
		}
		d.Layouts = append(d.Layouts, list)
	}
	// Two networks that were run for the page are no change of one, as two recorded runs may be.
	if recorded := !slices.ContainsFunc(p.Timelines, func(t *Timeline) bool { return t != nil }); len(files) == 2 && (recorded || files[0].Model == files[1].Model) {
		d.Diff, _ = Compare(&files[0], &files[1]) // nothing in common is no change to show
	}
	return write(w, pageHTML, changesJS+pageJS+networkJS+rooflineJS+startJS, p.Title, d)
}

// CSS is the style that all pages of the project share, for light and dark, for phones and paper.
func CSS() template.CSS { return template.CSS(pageCSS) }

// write writes a page with its script and data, and the style and the drawing functions that all pages share.
func write(w io.Writer, page, script, title string, of any) error {
	// encoding/json writes <, > and & as escapes, so that no text of a network ends the script.
	data, err := json.Marshal(of)
	if err != nil {
		return err
	}
	t, err := template.New("page").Parse(page)
	if err != nil {
		return err
	}
	return t.Execute(w, struct {
		Title string
		CSS   template.CSS
		JS    template.JS
		Data  template.JS
	}{title, CSS(), template.JS(drawJS + script), template.JS(data)})
}
