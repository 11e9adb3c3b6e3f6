package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/bench/report"
	"github.com/nnsoc/nnsoc/internal/browser"
	"github.com/nnsoc/nnsoc/internal/require"
)

var pageData = regexp.MustCompile(`(?s)<script type="application/json" id="data">(.*?)</script>`)

// printed runs a command line that must succeed and returns its output.
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
	html := require.File(t, path)
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
	}
	require.NoError(t, json.Unmarshal(m[1], &data))
	f := require.V(report.Read("page", bytes.NewReader(firstFile(t, m[1]))))(t)
	var want map[string]any
	require.NoError(t, json.Unmarshal([]byte(printed(t, append([]string{"run", "--json"}, args...)...)), &want))
	for _, x := range []map[string]any{data.Files[0], want} {
		for _, r := range x["runs"].([]any) {
			delete(r.(map[string]any), "host_time")
		}
	}
	require.Equal(t, want, data.Files[0], "the page has other figures (-run +page)")
	if len(data.Timelines[0].Processes) < 4 || len(data.Timelines[0].Counters) < 10 {
		t.Errorf("timeline of %d processes, %d counters", len(data.Timelines[0].Processes), len(data.Timelines[0].Counters))
	}
	// 16 tiles of 256 multiply-accumulates at 474 MHz; four channels of 16 bits at 4266 MT/s.
	// Its memory on chip has 256 bytes per cycle, the system-level cache four banks of 16 bytes at 1 GHz.
	require.Equal(t, report.Roof{MACsPerS: 16 * 256 * 474e6, BytesPerS: 4266e6 * 8, Levels: []report.Level{{Name: "sram", BytesPerS: 256 * 474e6}, {Name: "system_cache", BytesPerS: 64e9}, {Name: "dram", BytesPerS: 4266e6 * 8}}},
		f.Roofs["npu"], "roof of the NPU (-want +page)")
	if got := f.Roofs["cpu"]; got.MACsPerS <= 0 {
		t.Errorf("roof of the CPU %v", got)
	}
	rest := strings.Replace(string(html), "http://www.w3.org/2000/svg", "", -1)
	for _, x := range []string{"http:", "https:", "src=", "href=", "import(", "fetch("} {
		require.Check(t, !strings.Contains(rest, x), "the page has %s", x)
	}
}

// firstFile is the first file of runs in the data of a page.
func firstFile(t *testing.T, data []byte) []byte {
	t.Helper()
	var d struct{ Files []json.RawMessage }
	if err := json.Unmarshal(data, &d); err != nil || len(d.Files) == 0 {
		t.Fatalf("%d files, error %v", len(d.Files), err)
	}
	return d.Files[0]
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
	require.NoError(t, os.WriteFile(before, []byte(text), 0o644))
	f, err := report.Read("run", strings.NewReader(text))
	require.NoError(t, err)
	r, page := &f.Runs[0], dom(t, chromium, path)
	value := func(x float64) string { return `data-value="` + strconv.FormatFloat(x, 'f', -1, 64) + `"` }
	devices, operations := view(t, page, "summary"), view(t, page, "operations")
	if r.FirstUse.FirstUS <= *r.LatencyUS {
		t.Errorf("an idle phone takes %v us, one in use %v", r.FirstUse.FirstUS, *r.LatencyUS)
	}
	for _, x := range []float64{*r.LatencyUS, r.FirstUse.FirstUS, r.FirstUse.CompileUS, *r.EnergyUJ, float64(*r.EngineCycles)} {
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
		"timeline": {`data-op="1"`, "npu / "}, "stalls": {"<title>issue: ", "<title>fetch: ", "1 DEPTHWISE_CONV_2D"}, "memory": {"system cache hits", value(float64(r.Devices[0].Memory.SystemCache.Hits)), ">sram<", value(float64(r.Devices[0].Counters["sram_read_bytes"])), value(float64(r.Devices[0].Counters["dram_write_bytes"]))},
		"phone": {"npu clock (MHz)", "npu temperature (C)", "power (W)"}, "placement": {strconv.Itoa(inside) + " operations on npu"}, "reference": {value(0), value(1001)},
	} {
		for _, x := range want {
			require.Check(t, strings.Contains(view(t, page, id), x), "%s: no %q", id, x)
		}
	}
	require.Check(t, strings.Contains(view(t, page, "changes"), "hidden"), "a report of one run says what changed")

	// The changes between two runs.
	require.NoError(t, os.WriteFile(after, []byte(printed(t, append([]string{"run", "--json", "--preference", "low-power"}, args...)...)), 0o644))
	printed(t, "report", before, after, "-o", path)
	page = dom(t, chromium, path)
	changes := view(t, page, "changes")
	if strings.Contains(changes, "hidden") || !strings.Contains(changes, value(*r.LatencyUS)) || !strings.Contains(changes, "issue +") {
		t.Errorf("what changed:\n%s", changes)
	}
	require.Same(t, 1, strings.Count(view(t, page, "roofline"), `class="axis"`), "roofs in a report of files")
	// A slower clock is the worse in the card, the parts, the operations and the network.
	for _, x := range []struct{ view, what string }{{"changes", `class="card worse"`}, {"changes", `<b class="worse">`}, {"changes", `id="parts"`}, {"operations", `class="worse filled"`}, {"graph", "red: slower"}} {
		require.Check(t, strings.Contains(view(t, page, x.view), x.what), "%s of a slower run: no %s", x.view, x.what)
	}
	require.Check(t, !strings.Contains(page, `class="better`), "a slower run has something better")

	// A plan: the reasons for the places of operations.
	printed(t, "report", "mlperf_tiny_ad_quant", "--device", "auto", "-o", path)
	html := require.V(os.ReadFile(path))(t)
	if f, err = report.Read("page", bytes.NewReader(firstFile(t, pageData.FindSubmatch(html)[1]))); err != nil {
		t.Fatal(err)
	}
	if us := f.Runs[0].PredictedUS; us <= 0 || !strings.Contains(view(t, dom(t, chromium, path), "placement"), value(us)) {
		t.Errorf("the plan of auto: no prediction of %v us", us)
	}
}

// actions are a reader's actions on a page, and its contents then; the report's last script.
const actions = `<script>
const seen = {}, q = s => document.querySelector(s), all = s => [...document.querySelectorAll(s)];
const order = () => all("#operations tbody tr").map(r => Number(r.dataset.op)), press = (e, key) => e.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
const button = (view, text) => all("#" + view + " button").find(b => b.textContent === text);
seen.first = order(); button("operations", "#").click();
button("operations", "time (us)").click(); seen.down = order();
button("operations", "time (us)").click(); seen.up = order();
button("operations", "#").click(); seen.index = order();
const input = q("#operations input"); input.value = "depthwise"; input.dispatchEvent(new Event("input")); seen.filtered = order();
input.value = ""; input.dispatchEvent(new Event("input"));
const first = q('#operations tr[data-op="3"]'); first.focus(); press(first, "Enter");
seen.linked = ["operations", "graph", "timeline", "roofline", "stalls"].map(v => all("#" + v + " .selected").map(e => Number(e.dataset.op)));
seen.said = q("#selection").textContent;
seen.arguments = all("#chosen #arguments tbody tr").map(r => r.cells[0].textContent + " " + r.cells[1].textContent);
const find = q("#search"); find.value = "DEPTHWISE"; find.dispatchEvent(new Event("input")); seen.kept = all("#graph [data-of]:not(.faded)").length; seen.found = q("#found").textContent; find.value = ""; find.dispatchEvent(new Event("input"));
press(first, "ArrowDown"); seen.next = Number(q("#operations tr.selected").dataset.op);
press(q("#graph .scroll"), "ArrowDown"); press(q("#graph .scroll"), "ArrowDown"); press(q("#graph .scroll"), "ArrowUp"); seen.inGraph = Number(q("#graph .selected").dataset.op);
q('#graph rect[data-op="0"]').dispatchEvent(new Event("click")); seen.clicked = Number(q("#operations tr.selected").dataset.op);
const times = () => q("#timeline [data-range]").dataset.range.split(" ").map(Number);
const t0 = times(); press(q("#timeline .scroll"), "+"); const t1 = times(); press(q("#timeline .scroll"), "ArrowRight"); const t2 = times(); button("timeline", "all").click();
seen.zoom = [t0, t1, t2, times()].map(t => [t[0], t[t.length - 1]]);
const fills = () => new Set(all("#graph rect").map(e => e.getAttribute("fill"))).size;
seen.colours = ["device", "time", "energy", "stall"].map(k => { button("graph", k).click(); return [button("graph", k).getAttribute("aria-pressed"), fills()]; });
const dot = op => { const i = q('#operations tr[data-op="' + op + '"] .dot'); return i && i.style.background; }, paint = c => { const e = document.createElement("i"); e.style.background = c; return e.style.background; };
const spans = all("#timeline rect[data-op]").filter(e => e.dataset.op >= 0 && /^\d+ [A-Z]/.test(e.textContent));
seen.spans = [spans.length, spans.filter(e => paint(e.getAttribute("fill")) !== dot(e.dataset.op)).length];
seen.paper = getComputedStyle(document.body).backgroundColor;
seen.small = all("nav select, button, input, .scroll, tr[data-op]").filter(e => e.tabIndex < 0).length;
for (const r of document.styleSheets[0].cssRules) if (r.media && r.media.mediaText === "print") r.media.mediaText = "all";
seen.printed = [getComputedStyle(q("nav")).display, all("svg").filter(g => g.getBoundingClientRect().right > g.closest("section").getBoundingClientRect().right + 1 || g.getBoundingClientRect().height > 22 / 2.54 * 96 + 1).length, getComputedStyle(document.body).backgroundColor];
document.documentElement.dataset.seen = JSON.stringify(seen);
</script></body>`

// TestReportReader uses a page as a reader does, by keyboard and mouse, on paper, in the light
// and in the dark; with -update it keeps pictures.
func TestReportReader(t *testing.T) {
	require.AllTests(t)
	chromium := browser.New(t)
	dir := t.TempDir()
	path, acted, changed := filepath.Join(dir, "out.html"), filepath.Join(dir, "acted.html"), filepath.Join(dir, "changed.html")
	network := "mobilenet_v1_0.25_128_quant"
	printed(t, "report", "-o", path, network, "--device", "npu")
	html := require.File(t, path)
	require.NoError(t, os.WriteFile(acted, bytes.Replace(html, []byte("</body>"), []byte(actions), 1), 0o644))
	file := require.V(report.Read("page", bytes.NewReader(firstFile(t, pageData.FindSubmatch(html)[1]))))(t)
	type state struct {
		First, Down, Up        []int
		Index, Filtered        []int
		Linked                 [][]int
		Arguments              []string
		Kept                   int
		Found                  string
		Said                   string
		Next, InGraph, Clicked int
		Zoom                   [4][2]float64
		Colours                [4][2]any
		Spans                  [2]int // of operations, and those without the colour that their cause has in the table
		Paper                  string
		Small                  int
		Printed                [3]any
	}
	read := func(flags ...string) (s state) {
		m := regexp.MustCompile(`data-seen="([^"]*)"`).FindStringSubmatch(chromium.DOM(acted, flags...))
		if m == nil {
			t.Fatal("the page's script or the reader's has failed")
		}
		require.NoError(t, json.Unmarshal([]byte(strings.ReplaceAll(m[1], "&quot;", `"`)), &s))
		return s
	}
	s := read()
	ops := file.Runs[0].Operations
	order := func(less func(a, b *report.Operation) int, keep func(o *report.Operation) bool) (list []int) {
		sorted := slices.Clone(ops)
		slices.SortStableFunc(sorted, func(a, b report.Operation) int { return less(&a, &b) })
		for i := range sorted {
			if keep(&sorted[i]) {
				list = append(list, sorted[i].Index)
			}
		}
		return list
	}
	every := func(*report.Operation) bool { return true }
	time := func(a, b *report.Operation) int { return cmp.Compare(a.TimeUS, b.TimeUS) }
	index := func(a, b *report.Operation) int { return cmp.Compare(a.Index, b.Index) }
	for what, x := range map[string][2][]int{
		"at first":       {order(func(a, b *report.Operation) int { return time(b, a) }, every), s.First},
		"longest first":  {order(func(a, b *report.Operation) int { return time(b, a) }, every), s.Down},
		"shortest first": {order(time, every), s.Up},
		"by index":       {order(index, every), s.Index},
		"filtered":       {order(index, func(o *report.Operation) bool { return o.Type == "DEPTHWISE_CONV_2D" }), s.Filtered},
	} {
		require.Check(t, slices.Equal(x[0], x[1]), "operations, %s: %v, want %v", what, x[1], x[0])
	}
	for i, l := range s.Linked {
		require.Check(t, len(l) != 0 && !slices.ContainsFunc(l, func(op int) bool { return op != 3 }), "view %d marks operations %v, want 3", i, l)
	}
	for _, x := range []string{"filter 1×3×3×16", "stride w 2", "padding SAME", "activation RELU6", "output 1×32×32×16"} {
		require.Check(t, slices.Contains(s.Arguments, x), "arguments %q, no %q", s.Arguments, x)
	}
	if deep := len(order(index, func(o *report.Operation) bool { return o.Type == "DEPTHWISE_CONV_2D" })); s.Kept != deep || !strings.HasPrefix(s.Found, strconv.Itoa(deep)+" found") {
		t.Errorf("the search leaves %d operations of %d and says %q", s.Kept, deep, s.Found)
	}
	if !strings.HasPrefix(s.Said, "3 DEPTHWISE_CONV_2D on npu: ") || s.Next != 4 || s.InGraph != 5 || s.Clicked != 0 {
		t.Errorf("said %q, the next is %d, in the graph %d, clicked %d", s.Said, s.Next, s.InGraph, s.Clicked)
	}
	a, b := s.Zoom[0][0], s.Zoom[0][1]
	require.Check(t, s.Spans[0] > 10 && s.Spans[1] == 0, "%d spans of operations, %d not in the colour of their cause", s.Spans[0], s.Spans[1])
	want := [4][2]float64{{a, b}, {a + (b-a)/4, a + (b-a)*3/4}, {a + (b-a)*3/8, a + (b-a)*7/8}, {a, b}}
	for i := range want {
		for k := range want[i] {
			require.Check(t, math.Abs(want[i][k]-s.Zoom[i][k]) <= 0.1, "timeline %d goes from %v, want %v", i, s.Zoom[i], want[i])
		}
	}
	for i, c := range s.Colours {
		if n := c[1].(float64); c[0] != "true" || i == 0 && n != 1 || i > 0 && n < 2 {
			t.Errorf("colours %d: pressed %v, %v colours", i, c[0], n)
		}
	}
	light, paper := "rgb(255, 255, 255)", [3]any{"none", 0.0, "rgb(255, 255, 255)"}
	if s.Paper != light || s.Printed != paper || s.Small != 0 {
		t.Errorf("paper %s, printed %v, want %v; %d controls that the keyboard does not reach", s.Paper, s.Printed, paper, s.Small)
	}
	if dark := read(browser.Dark); dark.Paper == light || dark.Printed != paper {
		t.Errorf("dark paper %s, printed %v", dark.Paper, dark.Printed)
	}

	printed(t, "report", "-o", path, network)
	var files []string
	for _, memory := range []string{"4266", "1600"} {
		name := filepath.Join(dir, memory+".json")
		require.NoError(t, os.WriteFile(name, []byte(printed(t, "run", "--json", network, "--device", "npu,gpu", "--set", "dram.mt_per_s="+memory, "--set", "npu.memory[0].kib=512", "--cold")), 0o644))
		files = append(files, name)
	}
	printed(t, append([]string{"report", "-o", changed}, files...)...)
	schedule := filepath.Join(dir, "schedule.html")
	printed(t, "schedule", "doorbell", "--html", schedule)
	for _, x := range []struct {
		page, picture, size string
		flags               []string
	}{
		{path, "report.png", "1300,4600", nil}, {path, "report_dark.png", "1300,1500", []string{browser.Dark}}, {changed, "report_changes.png", "1300,1500", nil}, {schedule, "schedule.png", "1300,1900", nil},
	} {
		picture := filepath.Join(dir, x.picture)
		chromium.Screenshot(x.page, picture, x.size, x.flags...)
		b, err := os.ReadFile(picture)
		if err != nil || len(b) < 50_000 {
			t.Fatalf("%s: %d bytes, %v", x.picture, len(b), err)
		}
		if *update {
			require.NoError(t, os.WriteFile(filepath.Join("..", "..", "docs", x.picture), b, 0o644))
		}
	}
}

// TestReportMany: of several networks each has its own answer, fastest run and speeds; what all say stands once.
func TestReportMany(t *testing.T) {
	chromium := browser.New(t)
	path := filepath.Join(t.TempDir(), "out.html")
	names := []string{"mlperf_tiny_kws_quant", "mlperf_tiny_ad_quant"}
	printed(t, append([]string{"report", "--device", "npu,cpu", "-o", path}, names...)...)
	page := dom(t, chromium, path)
	answer, advice := view(t, page, "answer"), view(t, page, "advice")
	for what, want := range map[string]int{`class="card best"`: 2, "times the speed of cpu": 2, "How far to trust": 1, `<abbr title="`: 2} {
		require.Same(t, want, strings.Count(answer, what), what)
	}
	for _, n := range names {
		require.Check(t, strings.Contains(answer, "<h3>"+n+"</h3>") && strings.Contains(advice, "<h3>"+n+"</h3>"), "%s has no head", n)
	}
}
