package main

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/inspect"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/measure"
	"github.com/nnsoc/nnsoc/internal/require"
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
				LatencyParts map[string]float64 `json:"latency_parts_us"`
			}
		}
		var s inspect.TraceSummary
		for b, v := range map[*bytes.Buffer]any{&out: &run, &sum: &s} {
			require.NoError(t, json.Unmarshal(b.Bytes(), v))
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
		if !(math.Abs(s.TotalUs-total) <= 0.01) || s.Overlaps != 0 || len(s.Warnings) > 0 {
			t.Errorf("%s: marks of %v us, the latency is %v us: %+v", c.name, s.TotalUs, total, s)
		}
		for _, cell := range s.Cells {
			want, ok := map[string]float64{
				"LR PE": parts["runtime"], "LD PIO": parts["map"] + parts["clean"], "LD PR": parts["invalidate"] + parts["unmap"],
			}[cell.Layer+" "+cell.Phase]
			if ok && !(math.Abs(cell.Us-want) <= 0.02) {
				t.Errorf("%s: %s %s takes %v us, the parts %v us", c.name, cell.Layer, cell.Phase, cell.Us, want)
			}
		}
		data := require.File(t, path)
		require.Same(t, filepath.Ext(c.name) == ".gz", bytes.HasPrefix(data, []byte{0x1f, 0x8b}), c.name, "compressed")
	}
}

// counters reads the values of the counters of one process from a timeline, by name, each with
// its time in microseconds.
func counters(t *testing.T, data []byte, process string) map[string][][2]float64 {
	t.Helper()
	all := map[string][][2]float64{}
	if data[0] == '{' || data[0] == '[' {
		var doc struct {
			TraceEvents []struct {
				Name, Ph string
				Pid      int
				Ts       float64
				Args     map[string]any
			}
		}
		require.NoError(t, json.Unmarshal(data, &doc))
		pid := -1
		for _, e := range doc.TraceEvents {
			if e.Ph == "M" && e.Name == "process_name" && e.Args["name"] == process {
				pid = e.Pid
			}
		}
		for _, e := range doc.TraceEvents {
			if e.Ph == "C" && e.Pid == pid {
				for _, v := range e.Args {
					all[e.Name] = append(all[e.Name], [2]float64{e.Ts, v.(float64)})
				}
			}
		}
		return all
	}
	each := func(b []byte, f func(n protowire.Number, v uint64, data []byte)) {
		for len(b) > 0 {
			n, kind, used := protowire.ConsumeTag(b)
			if b = b[max(used, 0):]; used < 0 {
				t.Fatal("no tag")
			}
			var v uint64
			var data []byte
			switch kind {
			case protowire.BytesType:
				data, used = protowire.ConsumeBytes(b)
			case protowire.VarintType:
				v, used = protowire.ConsumeVarint(b)
			case protowire.Fixed64Type:
				v, used = protowire.ConsumeFixed64(b)
			}
			if used <= 0 {
				t.Fatalf("field %d of kind %d", n, kind)
			}
			f(n, v, data)
			b = b[used:]
		}
	}
	// Fields of perfetto/trace/*.proto: packet 8 timestamp, 11 event, 60 descriptor; descriptor
	// 1 uuid, 2 name, 3 process (6 name), 5 parent; event 9 type (4 a counter's value), 11
	// track, 44 value.
	names, parents, processes := map[uint64]string{}, map[uint64]uint64{}, map[uint64]string{}
	each(data, func(_ protowire.Number, _ uint64, packet []byte) {
		var at, track, kind, bits uint64
		each(packet, func(n protowire.Number, v uint64, data []byte) {
			switch n {
			case 8:
				at = v
			case 11:
				each(data, func(n protowire.Number, v uint64, _ []byte) {
					switch n {
					case 9:
						kind = v
					case 11:
						track = v
					case 44:
						bits = v
					}
				})
			case 60:
				var uuid, parent uint64
				var name, process string
				each(data, func(n protowire.Number, v uint64, data []byte) {
					switch n {
					case 1:
						uuid = v
					case 2:
						name = string(data)
					case 3:
						each(data, func(n protowire.Number, _ uint64, data []byte) {
							if n == 6 {
								process = string(data)
							}
						})
					case 5:
						parent = v
					}
				})
				names[uuid], parents[uuid], processes[uuid] = name, parent, process
			}
		})
		if kind == 4 && processes[parents[track]] == process {
			all[names[track]] = append(all[names[track]], [2]float64{float64(at) / 1e3, math.Float64frombits(bits)})
		}
	})
	return all
}

// TestCountersOfTrace: a timeline of either format has the bandwidth and the hit rate of the system-level cache for an
// engine that uses it, whose bytes are at least the misses in the report, and the clock of each cluster of a CPU that
// begins cold.
func TestCountersOfTrace(t *testing.T) {
	dir := t.TempDir()
	run := func(file string, args ...string) (map[string][][2]float64, []byte) {
		path := filepath.Join(dir, file)
		var out bytes.Buffer
		if code := execute(append([]string{"run", "--json", "--quiet", "--invocations", "1", "--trace", path}, args...), &out, io.Discard); code != cli.ExitOK {
			t.Fatalf("%s: exit code %d", file, code)
		}
		data := require.File(t, path)
		device := args[len(args)-1]
		return counters(t, data, device+": phone"), out.Bytes()
	}
	var bytesOf []float64
	for _, file := range []string{"t.json", "t.pftrace"} {
		all, report := run(file, "mobilenet_v1_1.0_224_quant", "--device", "dsp")
		var r struct {
			Runs []struct {
				Devices []struct {
					Memory struct {
						SystemCache struct{ Hits, Misses int64 } `json:"system_cache"`
					}
				}
			}
		}
		require.NoError(t, json.Unmarshal(report, &r))
		rate, hits := all["dsp system cache (GB/s)"], all["dsp system cache hits (%)"]
		if len(rate) < 3 || len(hits) != len(rate) || rate[len(rate)-1][1] != 0 {
			t.Fatalf("%s: bandwidth %v, hits %v", file, rate, hits)
		}
		moved, found := 0.0, 0.0
		for i := range rate[:len(rate)-1] {
			kib := rate[i][1] * (rate[i+1][0] - rate[i][0]) / 1.024 // GB/s x us = KB
			moved += kib
			found += kib * hits[i][1] / 100
			if !(hits[i][1] >= 0 && hits[i][1] <= 100) {
				t.Errorf("%s: %v %% hits", file, hits[i])
			}
		}
		c := r.Runs[0].Devices[0].Memory.SystemCache
		lines := float64(c.Hits+c.Misses) * 64 / 1024
		t.Logf("%s: %.0f KiB, %.2f hit; %d hits, %d misses", file, moved, found/moved, c.Hits, c.Misses)
		if c.Hits == 0 || !(moved > 0.95*lines && moved < 1.01*lines) {
			t.Errorf("%s: %.0f KiB under the counter, the report has %d hits and %d misses", file, moved, c.Hits, c.Misses)
		}
		if share := float64(c.Hits) / float64(c.Hits+c.Misses); !(math.Abs(found/moved-share) < 0.1) {
			t.Errorf("%s: %.2f of the bytes hit, %.2f of the lines", file, found/moved, share)
		}
		bytesOf = append(bytesOf, moved)
	}
	require.Check(t, math.Abs(bytesOf[0]/bytesOf[1]-1) < 0.01, "%.0f KiB in JSON and in protobuf", bytesOf)
	for _, file := range []string{"c.json", "c.pftrace"} {
		all, _ := run(file, "inception_v3_float", "--cold", "--device", "cpu")
		for name, want := range map[string][]float64{"cpu clock (MHz)": {825, 940, 1056, 1401}, "host clock (MHz)": {825, 1401, 1497, 1612}} {
			var steps []float64
			for _, x := range all[name] {
				if n := len(steps); n == 0 || steps[n-1] != x[1] {
					steps = append(steps, x[1])
				}
			}
			if len(steps) < len(want) || !slices.Equal(steps[:len(want)], want) || !slices.IsSorted(steps) {
				t.Errorf("%s: %s %v, want %v first", file, name, steps, want)
			}
		}
	}
}
