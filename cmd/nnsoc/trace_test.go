package main

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/inspect"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/measure"
)

// TestTraceOfRun: a timeline in each format, compressed or not, has the marks of NNAPI,
// and the time of each layer in each phase is that of the latency parts in the report.
func TestTraceOfRun(t *testing.T) {
	dir := t.TempDir()
	var first inspect.TraceSummary
	for _, c := range []struct{ name, format string }{
		{"t.json", ""}, {"t.pftrace", ""}, {"t.json.gz", ""}, {"t.perfetto-trace.gz", ""}, {"t.bin", measure.TracePerfetto}, {"u.pftrace", measure.TraceJSON},
	} {
		path := filepath.Join(dir, c.name)
		args := []string{"run", "mobilenet_v1_0.25_128_quant", "--device", "dsp", "--json", "--quiet", "--invocations", "2", "--trace", path}
		if c.format != "" {
			args = append(args, "--trace-format", c.format)
		}
		var out, sum bytes.Buffer
		if code := execute(args, &out, io.Discard); code != cli.ExitOK {
			t.Fatalf("%s: exit code %d", c.name, code)
		}
		if code := execute([]string{"trace-summary", path, "--json"}, &sum, io.Discard); code != cli.ExitOK {
			t.Fatalf("%s: exit code %d of trace-summary", c.name, code)
		}
		var run struct {
			Runs []struct {
				LatencyParts map[string]float64 `json:"latency_parts"`
			}
		}
		var s inspect.TraceSummary
		for b, v := range map[*bytes.Buffer]any{&out: &run, &sum: &s} {
			if err := json.Unmarshal(b.Bytes(), v); err != nil {
				t.Fatal(err)
			}
		}
		s.File = ""
		if first.Marks == 0 {
			first = s
		}
		// Perfetto counts nanoseconds.
		if diff := cmp.Diff(first, s, cmpopts.EquateApprox(0, 0.02)); diff != "" {
			t.Errorf("%s: (-t.json +it)\n%s", c.name, diff)
		}
		parts := run.Runs[0].LatencyParts
		total := 0.0
		for _, us := range parts {
			total += us
		}
		if math.Abs(s.TotalUs-total) > 0.01 || s.Overlaps != 0 || len(s.Warnings) > 0 {
			t.Errorf("%s: marks of %v us, the latency is %v us: %+v", c.name, s.TotalUs, total, s)
		}
		for _, cell := range s.Cells {
			want, ok := map[string]float64{
				"LR PE": parts["runtime"], "LD PIO": parts["map"] + parts["clean"], "LD PR": parts["invalidate"] + parts["unmap"],
			}[cell.Layer+" "+cell.Phase]
			if ok && math.Abs(cell.Us-want) > 0.02 {
				t.Errorf("%s: %s %s takes %v us, the parts %v us", c.name, cell.Layer, cell.Phase, cell.Us, want)
			}
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if zipped := bytes.HasPrefix(data, []byte{0x1f, 0x8b}); zipped != (filepath.Ext(c.name) == ".gz") {
			t.Errorf("%s: compressed: %v", c.name, zipped)
		}
	}
}
