package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/run"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// timelineEvent is an event of a timeline in JSON, with the names of its process and track.
type timelineEvent struct {
	Name, Ph string
	Pid, Tid int
	ID       uint64
	Ts, Dur  float64
	Args     map[string]any
	process  string
	track    string
}

// readTimeline lists the spans, counters and arrows of a timeline.
func readTimeline(t *testing.T, path string) (list []timelineEvent, order []string) {
	t.Helper()
	data := require.File(t, path)
	var doc struct{ TraceEvents []timelineEvent }
	require.NoError(t, json.Unmarshal(data, &doc))
	names := map[[2]int]string{}
	for _, e := range doc.TraceEvents {
		switch {
		case e.Ph != "M":
			e.process, e.track = names[[2]int{e.Pid, 0}], names[[2]int{e.Pid, e.Tid}]
			list = append(list, e)
		case strings.HasSuffix(e.Name, "_name"):
			names[[2]int{e.Pid, e.Tid}] = e.Args["name"].(string)
			if e.Tid == 0 {
				order = append(order, e.Args["name"].(string))
			}
		}
	}
	return list, order
}

// TestTraceOfConcurrent: networks, engines and the phone share one time base, an engine is busy exactly when its memory
// traffic and its network's execution show it, no traffic is above what the pins carry, and an arrow leads from each
// execution to the first work of its engine.
func TestTraceOfConcurrent(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.json")
	networks := []string{"mobilenet_v1_0.5_160_float", "mobilenet_v2_1.0_224_quant", "mobilenet_v1_1.0_224_quant"}
	engines := []string{"gpu", "npu", "dsp"}
	var out bytes.Buffer
	args := append([]string{"run", "--concurrent", "--json", "--quiet", "--invocations", "2", "--device", strings.Join(engines, ","), "--trace", path}, networks...)
	if code := execute(args, &out, io.Discard); code != cli.ExitOK {
		t.Fatalf("exit code %d", code)
	}
	var r run.ConcurrentReport
	require.NoError(t, json.Unmarshal(out.Bytes(), &r))
	events, order := readTimeline(t, path)
	var want []string
	for i := range networks {
		want = append(want, networks[i]+" on "+engines[i])
	}
	want = append(want, "gpu", "dsp", "npu", "phone")
	require.Check(t, strings.Join(order, "|") == strings.Join(want, "|"), "processes %q, want %q", order, want)
	type flow struct{ from, to *timelineEvent }
	flows := map[uint64]*flow{}
	find := func(id uint64) *flow {
		if flows[id] == nil {
			flows[id] = &flow{}
		}
		return flows[id]
	}
	traffic, counted := map[string]float64{}, map[string]int{}
	last := map[string]*timelineEvent{}
	executions, executed := 0, map[string]int{}
	for i := range events {
		e := &events[i]
		if e.Ts < 0 || e.Ts+e.Dur > 2*r.TogetherUS {
			t.Fatalf("%s of %s at %v us: the run takes %v", e.Name, e.process, e.Ts, r.TogetherUS)
		}
		switch e.Ph {
		case "s":
			find(e.ID).from = e
		case "f":
			find(e.ID).to = e
		case "X":
			if strings.Contains(e.process, " on ") && strings.HasSuffix(e.Name, "]execution") {
				executions++
				executed[e.process]++
			}
		case "C":
			if !strings.HasSuffix(e.Name, "DRAM (GB/s)") {
				break
			}
			rate := e.Args["value"].(float64)
			require.Check(t, rate <= 1.01*r.PeakGBps, "%s at %v us: %v GB/s through pins for %v", e.Name, e.Ts, rate, r.PeakGBps)
			if before := last[e.Name]; before != nil {
				traffic[e.Name] += before.Args["value"].(float64) * (e.Ts - before.Ts)
			}
			last[e.Name] = e
			counted[e.Name]++
		}
	}
	require.Check(t, executions >= 6 && len(flows) == executions, "%d arrows for %d executions", len(flows), executions)
	for id, f := range flows {
		switch {
		case f.from == nil || f.to == nil:
			t.Errorf("arrow %d has one end: %+v", id, f)
		case !strings.HasSuffix(f.from.process, " on "+f.to.process) || f.to.Ts < f.from.Ts || f.to.Ts > f.from.Ts+2000:
			t.Errorf("arrow %d from %s at %v to %s at %v", id, f.from.process, f.from.Ts, f.to.process, f.to.Ts)
		}
	}
	for i, e := range engines {
		n := &r.Networks[i]
		name := e + " DRAM (GB/s)"
		// An execution of the warm-up and one after the run are drawn in part. The former reads what is not on chip yet,
		// here less than a thousandth of what the pins carry.
		whole := float64(executed[networks[i]+" on "+e])
		want := n.Together.DRAMGBps * n.Together.LatencyUS * whole
		if got := traffic[name]; counted[name] < 20 || !(got > 0.6*want && got < want*(1+2/whole)+0.001*r.PeakGBps*r.TogetherUS) {
			t.Errorf("%s: %.0f KB under %d samples, the report has %.0f", name, got, counted[name], want)
		}
	}
}

// TestStallsOfTrace: the stall shares of an engine add up to all of its cycles while an execution lasts, at each
// instant and on engines whose units work on several operations at once; the area under the counters is its latency.
func TestStallsOfTrace(t *testing.T) {
	for _, engine := range []string{"npu", "dsp", "gpu"} {
		path := filepath.Join(t.TempDir(), "t.json")
		var out bytes.Buffer
		if code := execute([]string{"run", "mobilenet_v1_0.25_128_quant", "--device", engine, "--json", "-q", "--invocations", "1", "--trace", path}, &out, io.Discard); code != cli.ExitOK {
			t.Fatalf("exit code %d", code)
		}
		var r struct {
			Runs []struct {
				Latency float64 `json:"latency_us"`
			}
		}
		require.NoError(t, json.Unmarshal(out.Bytes(), &r))
		events, _ := readTimeline(t, path)
		slices.SortStableFunc(events, func(a, b timelineEvent) int { return cmp.Compare(a.Ts, b.Ts) })
		now, at, area, most := map[string]float64{}, 0.0, 0.0, 0.0
		for _, e := range events {
			if e.Ph != "C" || !strings.HasPrefix(e.Name, "stall: ") {
				continue
			}
			if e.Ts > at {
				sum := 0.0
				for _, v := range now {
					sum += v
				}
				most = max(most, sum)
				area += sum / 100 * (e.Ts - at)
				at = e.Ts
			}
			now[e.Name] = e.Args["value"].(float64)
		}
		if !(most > 99.9 && most < 100.1) {
			t.Errorf("%s: at most %.2f %% of the cycles at once", engine, most)
		}
		if latency := r.Runs[0].Latency; !(math.Abs(area/latency-1) < 0.001) {
			t.Errorf("%s: %.1f us under the counters, the execution takes %.1f", engine, area, latency)
		}
	}
}

// TestTraceOfDevices: in a timeline of several devices one after the other no traffic is above what the pins carry, and none
// is empty; an arrow leads from each execution to its engine; application, engine and phone of each device follow each
// other, and so do the threads of an engine.
func TestTraceOfDevices(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.json")
	engines := []string{"dsp", "npu", "cpu"}
	args := []string{"run", "mobilenet_v1_1.0_224_quant", "--quiet", "--cold", "--invocations", "1", "--device", strings.Join(engines, ","), "--trace", path}
	if code := execute(args, io.Discard, io.Discard); code != cli.ExitOK {
		t.Fatalf("exit code %d", code)
	}
	c := require.V(soc.Load("pixel4"))(t)
	dram := c.DRAM.Config()
	pins := dram.PeakBytesPerSecond() / 1e9
	events, order := readTimeline(t, path)
	var want []string
	for _, e := range engines {
		want = append(want, e+": application", e, e+": phone")
	}
	require.Equal(t, want, order, "processes")
	if got, want := lanes(t, path, "dsp"), []string{"thread 0", "thread 1", "thread 2", "thread 3"}; !slices.Equal(got, want) {
		t.Errorf("lanes of the DSP %q, want %q", got, want)
	}
	most, begun, reached := map[string]float64{}, map[string]int{}, map[string]int{}
	for _, e := range events {
		switch e.Ph {
		case "C":
			if strings.HasSuffix(e.Name, "DRAM (GB/s)") {
				most[e.process] = max(most[e.process], e.Args["value"].(float64))
			}
		case "s":
			begun[e.process]++
		case "f":
			reached[e.process]++
		}
	}
	for _, e := range engines {
		if m := most[e+": phone"]; m < 0.1 || m > 1.01*pins {
			t.Errorf("%s: at most %v GB/s through pins for %v", e, m, pins)
		}
		if n := begun[e+": application"]; n < 1 || n != reached[e] {
			t.Errorf("%s: %d arrows begin at its application, %d reach it", e, n, reached[e])
		}
	}
}

// lanes are the tracks of a process of a timeline, in the order in which they are drawn.
func lanes(t *testing.T, path, process string) (names []string) {
	t.Helper()
	data := require.File(t, path)
	var doc struct {
		TraceEvents []struct {
			Name     string
			Pid, Tid int
			Args     struct {
				Name  json.RawMessage
				Index int `json:"sort_index"`
			}
		}
	}
	require.NoError(t, json.Unmarshal(data, &doc))
	pid, at := 0, map[string]int{}
	track := map[int]string{}
	for _, e := range doc.TraceEvents {
		name := strings.Trim(string(e.Args.Name), `"`)
		switch {
		case e.Name == "process_name" && name == process:
			pid = e.Pid
		case e.Pid != pid:
		case e.Name == "thread_name":
			track[e.Tid], names = name, append(names, name)
		case e.Name == "thread_sort_index":
			at[track[e.Tid]] = e.Args.Index
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Compare(at[a], at[b]) })
	return names
}
