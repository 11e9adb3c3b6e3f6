package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nnsoc/nnsoc/bench/report"
	"github.com/nnsoc/nnsoc/internal/browser"
)

var pageData = regexp.MustCompile(`(?s)<script type="application/json" id="data">(.*?)</script>`)

// printed runs a command line that must end well and returns what it prints.
func printed(t *testing.T, args ...string) string {
	t.Helper()
	var out, errs strings.Builder
	if code := execute(args, &out, &errs); code != 0 {
		t.Fatalf("%v: exit code %d: %s", args, code, errs.String())
	}
	return out.String()
}

// TestReportData: the data of a page are those that run prints, and the page fetches nothing.
func TestReportData(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.html")
	args := []string{"mobilenet_v1_0.25_128_quant", "--device", "npu,cpu"}
	printed(t, append([]string{"report", "-o", path}, args...)...)
	html, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	m := pageData.FindSubmatch(html)
	if m == nil {
		t.Fatal("no data in the page")
	}
	var data struct {
		Files     []map[string]any
		Timelines []struct {
			Processes []struct{ Name string }
			Counters  []struct{ Name string }
		}
		Roofs []map[string]report.Roof
	}
	if err := json.Unmarshal(m[1], &data); err != nil {
		t.Fatal(err)
	}
	var want map[string]any
	if err := json.Unmarshal([]byte(printed(t, append([]string{"run", "--json"}, args...)...)), &want); err != nil {
		t.Fatal(err)
	}
	for _, x := range []map[string]any{data.Files[0], want} {
		for _, r := range x["runs"].([]any) {
			delete(r.(map[string]any), "host_user_s")
		}
	}
	if diff := cmp.Diff(want, data.Files[0]); diff != "" {
		t.Errorf("the page has other figures (-run +page):\n%s", diff)
	}
	if len(data.Timelines[0].Processes) < 4 || len(data.Timelines[0].Counters) < 10 {
		t.Errorf("timeline of %d processes, %d counters", len(data.Timelines[0].Processes), len(data.Timelines[0].Counters))
	}
	// 64 x 64 multiply-accumulates at 500 MHz; four channels of 16 bits at 4266 MT/s.
	if got, want := data.Roofs[0]["npu"], (report.Roof{MACsPerS: 64 * 64 * 500e6, BytesPerS: 4266e6 * 8}); got != want {
		t.Errorf("roof of the NPU %v, want %v", got, want)
	}
	if got := data.Roofs[0]["cpu"]; got.MACsPerS <= 0 {
		t.Errorf("roof of the CPU %v", got)
	}
	rest := strings.Replace(string(html), "http://www.w3.org/2000/svg", "", -1)
	for _, x := range []string{"http:", "https:", "src=", "href=", "import(", "fetch("} {
		if strings.Contains(rest, x) {
			t.Errorf("the page has %s", x)
		}
	}
}

// dom is a page after its script has run.
func dom(t *testing.T, b *browser.Browser, path string) string {
	t.Helper()
	text := b.DOM(path)
	if !strings.Contains(text, `data-drawn="yes"`) {
		t.Fatal("the script of the page has failed")
	}
	return text
}

// view is a section of a page.
func view(t *testing.T, page, id string) string {
	t.Helper()
	m := regexp.MustCompile(`(?s)<section id="` + id + `".*?</section>`).FindString(page)
	if m == "" {
		t.Fatalf("no view %s", id)
	}
	return m
}

// TestReportViews looks at each view in a browser.
func TestReportViews(t *testing.T) {
	chromium := browser.New(t)
	dir := t.TempDir()
	path, before, after := filepath.Join(dir, "out.html"), filepath.Join(dir, "before.json"), filepath.Join(dir, "after.json")
	args := []string{"mobilenet_v1_0.25_128_quant", "--device", "npu"}
	printed(t, append([]string{"report", "-o", path}, args...)...)
	text := printed(t, append([]string{"run", "--json"}, args...)...)
	if err := os.WriteFile(before, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := report.Read("run", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	r, page := &f.Runs[0], dom(t, chromium, path)
	value := func(x float64) string { return `data-value="` + strconv.FormatFloat(x, 'f', -1, 64) + `"` }
	devices, operations := view(t, page, "summary"), view(t, page, "operations")
	for _, x := range []float64{*r.LatencyUS, *r.EnergyUJ, float64(*r.Cycles)} {
		if !strings.Contains(devices, value(x)) {
			t.Errorf("devices: no %s", value(x))
		}
	}
	for part, us := range r.LatencyParts {
		if want := "<title>" + part + ": " + strconv.FormatFloat(us, 'f', 2, 64) + " us"; us > 0 && !strings.Contains(devices, want) {
			t.Errorf("parts of the latency: no %s", want)
		}
	}
	macs, inside := 0, 0
	for i := range r.Operations {
		o := &r.Operations[i]
		for _, x := range []float64{o.TimeUS, o.EnergyUJ, float64(o.Cycles), float64(o.DRAMBytes)} {
			if x >= 1e-6 && !strings.Contains(operations, value(x)) {
				t.Errorf("operation %d: no %s", o.Index, value(x))
			}
		}
		if o.MACs > 0 {
			macs++
		}
		if o.Index >= 0 {
			inside++
		}
	}
	for _, c := range []struct {
		view, what string
		want       int
	}{
		{"operations", "<tr data-op=", len(r.Operations)}, {"roofline", `class="node point"`, macs}, {"graph", `<rect `, inside}, {"graph", `class="edge"`, inside - 1},
	} {
		if n := strings.Count(view(t, page, c.view), c.what); n != c.want {
			t.Errorf("%s: %d of %s, want %d", c.view, n, c.what, c.want)
		}
	}
	for id, want := range map[string][]string{
		"timeline": {`data-op="1"`, "npu / "}, "stalls": {"<title>issue: ", "<title>launch: ", "1 DEPTHWISE_CONV_2D"}, "memory": {"system cache hits", value(float64(r.Devices[0].Memory.SystemCache.Hits))},
		"phone": {"npu clock (MHz)", "npu temperature (C)", "power (W)"}, "placement": {strconv.Itoa(inside) + " operations on npu"}, "reference": {value(0), value(1001)},
	} {
		for _, x := range want {
			if !strings.Contains(view(t, page, id), x) {
				t.Errorf("%s: no %q", id, x)
			}
		}
	}
	if view := view(t, page, "changes"); !strings.Contains(view, "hidden") {
		t.Error("a report of one run says what changed")
	}

	// Two runs: what changed.
	if err := os.WriteFile(after, []byte(printed(t, append([]string{"run", "--json", "--preference", "low-power"}, args...)...)), 0o644); err != nil {
		t.Fatal(err)
	}
	printed(t, "report", before, after, "-o", path)
	changes := view(t, dom(t, chromium, path), "changes")
	if strings.Contains(changes, "hidden") || !strings.Contains(changes, value(*r.LatencyUS)) || !strings.Contains(changes, "issue +") {
		t.Errorf("what changed:\n%s", changes)
	}
}
