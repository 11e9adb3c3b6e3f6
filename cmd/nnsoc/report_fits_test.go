package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/bench/report"
	"github.com/nnsoc/nnsoc/internal/browser"
	"github.com/nnsoc/nnsoc/internal/require"
)

// faultsScript defines faults(document).
//
//go:embed testdata/faults.js
var faultsScript string

// framesScript measures a page at several widths, each in a frame, and keeps what it found in the document.
const framesScript = `
const found = {};
let left = widths.length;
for (const w of widths) {
  const f = document.createElement("iframe");
  f.style = "border:0;height:900px;width:" + w + "px";
  f.srcdoc = page;
  f.addEventListener("load", () => { const d = f.contentDocument; found[w] = d.documentElement.dataset.drawn === "yes" ? faults(d) : ["the script of the page has failed"]; if (--left === 0) document.documentElement.dataset.seen = JSON.stringify(found); });
  document.body.append(f);
}`

var seenData = regexp.MustCompile(`data-seen="([^"]*)"`)

// pageFaults are the faults of a page by width.
func pageFaults(t *testing.T, b *browser.Browser, page string, widths ...int) map[string][]string {
	t.Helper()
	list := require.V(json.Marshal(widths))(t)
	text := require.V(json.Marshal(page))(t) // < and > are escapes, so that the page does not end the script
	frames := filepath.Join(t.TempDir(), "frames.html")
	require.NoError(t, os.WriteFile(frames, []byte("<!doctype html><body><script>"+faultsScript+"const widths = "+string(list)+", page = "+string(text)+";"+framesScript+"</script>"), 0o644))
	m := seenData.FindStringSubmatch(b.DOM(frames))
	if m == nil {
		t.Fatal("the page was not measured")
	}
	var found map[string][]string
	require.NoError(t, json.Unmarshal([]byte(html.UnescapeString(m[1])), &found))
	require.Same(t, len(widths), len(found), "widths")
	return found
}

// TestReportFits: at four widths, from a phone's to a wide window's, no text of a page is cut and none overlaps another, be it of a
// run, of a change or of a schedule; a page that is made to overlap is found out.
func TestReportFits(t *testing.T) {
	chromium := browser.New(t)
	dir := t.TempDir()
	path, before, after := filepath.Join(dir, "out.html"), filepath.Join(dir, "before.json"), filepath.Join(dir, "after.json")
	network := "mobilenet_v1_0.25_128_quant"
	printed(t, "report", "-o", path, network, "--device", "cpu,dsp,npu")
	pages := []string{string(require.File(t, path))}
	for name, flag := range map[string]string{before: "fast", after: "low-power"} {
		require.NoError(t, os.WriteFile(name, []byte(printed(t, "run", "--json", network, "--device", "npu", "--preference", flag)), 0o644))
	}
	printed(t, "report", before, after, "-o", path)
	pages = append(pages, string(require.File(t, path)))
	printed(t, "schedule", "mlperf_tiny_kws_quant", "mlperf_tiny_ad_quant", "--period", "5ms,2ms", "--duration", "40ms", "--strategies", "single,band", "--html", path)
	pages = append(pages, string(require.File(t, path)))
	for i, page := range pages {
		for width, faults := range pageFaults(t, chromium, page, 400, 800, 1280, 1920) {
			require.Check(t, len(faults) == 0, "page %d, %s pixels wide: %d faults:\n%s", i, width, len(faults), strings.Join(faults[:min(10, len(faults))], "\n"))
		}
	}
	// On a sheet of A4 with margins of 12 mm, where tables and pictures do not scroll.
	for i, page := range pages {
		sheet := strings.NewReplacer("@media print", "@media all", "</body>", `<script>dispatchEvent(new Event("beforeprint"));</script></body>`).Replace(page)
		for _, faults := range pageFaults(t, chromium, sheet, 703) {
			require.Check(t, len(faults) == 0, "page %d on paper: %d faults:\n%s", i, len(faults), strings.Join(faults[:min(10, len(faults))], "\n"))
		}
	}
	broken := strings.Replace(pages[0], "</style>", "svg text { font-size: 22px !important }</style>", 1)
	for width, faults := range pageFaults(t, chromium, broken, 400, 1400) {
		require.Check(t, len(faults) > 0, "%s pixels wide: letters of twice the size have no fault", width)
	}
}

// TestReportNumbers: every figure that a page shows of a run is one of run --json, and the changes on top are those of a
// simulation.
func TestReportNumbers(t *testing.T) {
	chromium := browser.New(t)
	dir := t.TempDir()
	path := filepath.Join(dir, "out.html")
	args := []string{"mobilenet_v1_0.25_128_quant", "--device", "dsp,npu"}
	printed(t, append([]string{"report", "-o", path}, args...)...)
	var run any
	text := printed(t, append([]string{"run", "--json"}, args...)...)
	require.NoError(t, json.Unmarshal([]byte(text), &run))
	known := map[float64]bool{0: true}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case float64:
			known[v] = true
		case []any:
			for _, x := range v {
				walk(x)
			}
		case map[string]any:
			for _, x := range v {
				walk(x)
			}
		}
	}
	walk(run)
	f, err := report.Read("run", strings.NewReader(text))
	require.NoError(t, err)
	page := dom(t, chromium, path)
	cells := 0
	for _, id := range []string{"summary", "types", "operations", "memory", "reference"} {
		for _, m := range regexp.MustCompile(`<(?:td|span|div)[^>]* data-value="([^"]+)"`).FindAllStringSubmatch(view(t, page, id), -1) {
			x, err := strconv.ParseFloat(m[1], 64)
			if m[1] == "undefined" || err != nil {
				continue
			}
			cells++
			require.Check(t, known[x] || derived(f, x), "%s shows %s, which run --json has not", id, m[1])
		}
	}
	require.Check(t, cells > 300, "%d figures", cells)
	// Without the marks of words with their meaning and of flags, and the blanks that keep numbers with their units.
	answer := strings.ReplaceAll(html.UnescapeString(regexp.MustCompile(`</?(abbr|span)[^>]*>`).ReplaceAllString(view(t, page, "answer"), "")), "\u00a0", " ")
	for _, line := range run.(map[string]any)["answer"].([]any) {
		require.Check(t, strings.Contains(answer, line.(string)), "the page does not say: %s", line)
	}
	advice := view(t, page, "advice")
	require.Check(t, strings.Count(advice, "<tr>") == 1+3 && strings.Contains(advice, "execute through burst objects"), "changes:\n%s", advice)
}

// derived reports whether a figure is a share of the latency or of the peak, in percent, of a row of a run.
func derived(f *report.File, x float64) bool {
	near := func(y float64) bool { return fmt.Sprintf("%.9g", x) == fmt.Sprintf("%.9g", y) }
	for i := range f.Runs {
		r := &f.Runs[i]
		shares := map[string][2]float64{}
		for k := range r.Operations {
			o := &r.Operations[k]
			for _, key := range []string{o.Device + " " + o.Type, o.Device + " #" + strconv.Itoa(k)} {
				s := shares[key]
				shares[key] = [2]float64{s[0] + o.TimeUS, s[1] + float64(o.MACs)}
			}
		}
		for key, s := range shares {
			device, _, _ := strings.Cut(key, " ")
			if near(100*s[0] / *r.LatencyUS) || s[0] > 0 && near(100*s[1]/(s[0]/1e6)/f.Roofs[device].MACsPerS) {
				return true
			}
		}
	}
	return false
}
