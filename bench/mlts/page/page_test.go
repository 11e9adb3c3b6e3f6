package page

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/nnsoc/nnsoc/bench/mlts"
	"github.com/nnsoc/nnsoc/internal/browser"
	"github.com/nnsoc/nnsoc/internal/require"
)

var update = flag.Bool("update", false, "write the screenshot of the page to docs again")

// sample are results of two groups: one fails its validation, one was skipped.
func sample() []*mlts.Result {
	latency := func(ms float64) *mlts.Latency {
		l := &mlts.Latency{Iterations: 1000, TotalSec: ms, MeanSec: ms / 1e3, StartSec: ms / 1e3 * 0.9, StepSec: ms / 1e5}
		l.Counts[0], l.Counts[7], l.Counts[31] = 250, 700, 50
		return l
	}
	speech := func(distortion, f0 float64) []mlts.Value {
		return []mlts.Value{{Key: "max_mel_cep_distortion", Value: distortion}, {Key: "max_log_f0_error", Value: f0}}
	}
	top := func(v float64) (list []mlts.Value) {
		for _, k := range []string{"top_1", "top_2", "top_3", "top_4", "top_5"} {
			list = append(list, mlts.Value{Key: k, Value: v})
		}
		return list
	}
	return []*mlts.Result{
		{Model: "tts_float", Backend: mlts.BackendCPU, Inference: latency(2), TestSetSize: 16, Values: speech(1.25, 0.002)},
		{Model: "tts_float", Backend: "TFLite_NNAPI_gpu", Inference: latency(4), TestSetSize: 16, Values: speech(4.5, 0.003), ValidationErrors: []string{"Mel-cep distortion exceeded the limit: 4.5 <b>"}},
		{Model: "mobilenet_v1_1.0_224_quant_topk_aosp", Backend: mlts.BackendCPU, Inference: latency(5), TestSetSize: 8, Values: top(0.75),
			Compilation: &mlts.Compilation{WithoutCache: latency(30), FromCache: latency(3), CacheBytes: 4321}},
		{Model: "mobilenet_v1_1.0_224_quant_topk_aosp", Backend: "TFLite_NNAPI_npu", Inference: latency(3), TestSetSize: 8, Values: top(0.5)},
		{Model: "mobilenet_v1_1.0_224_quant_topk_aosp", Backend: "TFLite_GPU", Skipped: "no GPU"},
	}
}

func write(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	about := About{SoC: "pixel4", Build: "nnsoc", At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), WarmUp: 2, Run: 10}
	require.NoError(t, Write(&b, about, sample()))
	return b.String()
}

// TestPage reads the page as a document.
func TestPage(t *testing.T) {
	text := write(t)
	root := require.V(html.Parse(strings.NewReader(text)))(t)
	checkDocument(t, root)
	for _, bad := range []string{"http://", "https://", "<script", "<link", "@import", "url("} {
		require.Check(t, !strings.Contains(text, bad), "the page has %q: it is to need nothing else", bad)
	}
	require.Check(t, strings.Contains(text, "4.5 &lt;b&gt;"), "the text of an error is not escaped")
}

// checkDocument checks for the required parts of the page.
func checkDocument(t *testing.T, root *html.Node) {
	t.Helper()
	tables := map[string][][]string{} // rows of all tables of a class
	classes := map[string]string{}    // of rows, by their text
	graphs, bars, focus := 0, 0, 0
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		if attribute(n, "tabindex") == "0" || n.Data == "summary" || n.Data == "a" {
			focus++
		}
		switch n.Data {
		case "svg":
			graphs++
			if !strings.Contains(attribute(n, "aria-label"), " ms: 700") {
				t.Errorf("a histogram says %q", attribute(n, "aria-label"))
			}
		case "rect":
			bars++
		case "tr":
			table := n.Parent.Parent
			var cells []string
			for c := range n.ChildNodes() {
				if c.Data == "td" || c.Data == "th" {
					cells = append(cells, textOf(c))
				}
			}
			class := attribute(table, "class")
			tables[class] = append(tables[class], cells)
			classes[strings.Join(cells, "|")] = attribute(n, "class")
		}
	}
	var got []string
	for _, kind := range []string{"results", "errors", "missing", "compiling"} {
		for _, r := range tables[kind] {
			got = append(got, strings.Join(r, "|"))
		}
	}
	want := []string{
		"Name|Backend|Iterations|Test set size|Average latency ms|Max mel-cep distortion, dB|Max log F0 error|Max single error",
		"tts_float|TFLite_CPU|1000|16|2.000|1.25|0.002|0",
		"tts_float|TFLite_NNAPI_gpu|1000|16|4.000 (+2.000 ms, +100.0 %)|4.5 (+3.25)|0.003 (+0.001)|0",
		"Name|Backend|Iterations|Test set size|Average latency ms|Top 1 %|Top 2 %|Top 3 %|Top 4 %|Top 5 %|Max single error",
		"mobilenet_v1_1.0_224_quant_topk_aosp|TFLite_CPU|1000|8|5.000|75|75|75|75|75|0",
		"mobilenet_v1_1.0_224_quant_topk_aosp|TFLite_NNAPI_npu|1000|8|3.000 (-2.000 ms, -40.0 %)|50 (-25)|50 (-25)|50 (-25)|50 (-25)|50 (-25)|0",
		"Name|Backend|Error",
		"tts_float|TFLite_NNAPI_gpu|Mel-cep distortion exceeded the limit: 4.5 <b>",
		"Name|Backend|Why",
		"mobilenet_v1_1.0_224_quant_topk_aosp|TFLite_GPU|skipped: no GPU",
		"Name|Backend|Without cache|Save to cache|Prepare from cache|Cache bytes",
		"iterations|average ms|iterations|average ms|iterations|average ms",
		"mobilenet_v1_1.0_224_quant_topk_aosp|TFLite_CPU|1000|30.000|-|-|1000|3.000|4321",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("the tables are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if classes[want[1]] != "normal base" || classes[want[2]] != "failed" || classes[want[5]] != "normal" {
		t.Errorf("rows are of class %q, %q and %q", classes[want[1]], classes[want[2]], classes[want[5]])
	}
	require.Check(t, graphs == 4 && bars == 4*mlts.Buckets, "%d histograms of %d bars", graphs, bars)
	require.Check(t, focus >= 6, "%d places to go to by keyboard, want the groups, tables and histograms", focus)
}

func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

func textOf(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return strings.TrimSpace(b.String())
}

// TestDifferences: which difference is better depends on the quantity.
func TestDifferences(t *testing.T) {
	text := write(t)
	for what, want := range map[string]string{"+100.0 %": "worse", "-40.0 %": "better", "(+3.25)": "worse", "(-25)": "worse"} {
		m := regexp.MustCompile(`<span class="(\w+)">[^<]*` + regexp.QuoteMeta(strings.ReplaceAll(what, "+", "&#43;"))).FindStringSubmatch(text)
		require.Check(t, m != nil && m[1] == want, "%s is of class %q, want %s", what, m, want)
	}
}

// TestBrowser reads the page's document from a headless browser, and keeps a picture of it.
func TestBrowser(t *testing.T) {
	chromium := browser.New(t)
	dir := t.TempDir()
	file, picture := filepath.Join(dir, "page.html"), filepath.Join(dir, "page.png")
	require.NoError(t, os.WriteFile(file, []byte(write(t)), 0o666))
	root := require.V(html.Parse(strings.NewReader(chromium.DOM(file))))(t)
	checkDocument(t, root)
	chromium.Screenshot(file, picture, "1200,1250")
	b, err := os.ReadFile(picture)
	if err != nil || len(b) < 10000 {
		t.Fatalf("a picture of %d bytes, %v", len(b), err)
	}
	if *update {
		require.NoError(t, os.WriteFile(filepath.Join("..", "..", "..", "docs", "mlts.png"), b, 0o644))
	}
}
