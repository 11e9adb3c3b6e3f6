package trace_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim/trace"
)

type doc struct {
	TraceEvents []struct {
		Ph   string
		Pid  int
		Tid  int
		Ts   float64
		Dur  float64
		Name string
		ID   int
		Args map[string]json.RawMessage
	}
}

func decode(t *testing.T, b []byte) doc {
	t.Helper()
	var d doc
	if err := json.Unmarshal(b, &d); err != nil {
		t.Fatalf("not JSON: %v\n%s", err, b)
	}
	return d
}

func TestSpans(t *testing.T) {
	var b bytes.Buffer
	c := trace.NewChrome(&b)
	c.Span("dsp", "thread 0", `conv "3x3" \ é`+"\x01", 1_500_000_000, 2_750_000_001)
	c.Span("dsp", "dma", "load", 0, 1_000_000_000)
	c.Counter("dsp", "power (W)", 1_000_000, 0.25)
	c.Span("npu", "thread 0", "pool", 5, 3, trace.Arg{Key: "operation", Value: 3}, trace.Arg{Key: "stalls", Value: map[string]int64{"dram": 4}})
	require.NoError(t, c.Close())
	want := `{"displayTimeUnit":"ns","traceEvents":[
{"ph":"M","pid":1,"tid":0,"name":"process_name","args":{"name":"dsp"}},
{"ph":"M","pid":1,"tid":0,"name":"process_sort_index","args":{"sort_index":1}},
{"ph":"M","pid":1,"tid":1,"name":"thread_name","args":{"name":"thread 0"}},
{"ph":"M","pid":1,"tid":1,"name":"thread_sort_index","args":{"sort_index":1}},
{"ph":"X","pid":1,"tid":1,"ts":1.5,"dur":1.250000001,"name":"conv \"3x3\" \\ é\u0001"},
{"ph":"M","pid":1,"tid":2,"name":"thread_name","args":{"name":"dma"}},
{"ph":"M","pid":1,"tid":2,"name":"thread_sort_index","args":{"sort_index":4096}},
{"ph":"X","pid":1,"tid":2,"ts":0,"dur":1,"name":"load"},
{"ph":"C","pid":1,"tid":0,"ts":0.001,"name":"power (W)","args":{"value":0.25}},
{"ph":"M","pid":2,"tid":0,"name":"process_name","args":{"name":"npu"}},
{"ph":"M","pid":2,"tid":0,"name":"process_sort_index","args":{"sort_index":2}},
{"ph":"M","pid":2,"tid":1,"name":"thread_name","args":{"name":"thread 0"}},
{"ph":"M","pid":2,"tid":1,"name":"thread_sort_index","args":{"sort_index":1}},
{"ph":"X","pid":2,"tid":1,"ts":0.000000005,"dur":0,"name":"pool","args":{"operation":3,"stalls":{"dram":4}}}
]}
`
	require.Equal(t, want, b.String(), "trace")
	require.Same(t, 3, c.Spans(), "spans")
	d := decode(t, b.Bytes())
	if len(d.TraceEvents) != 14 || d.TraceEvents[4].Name != "conv \"3x3\" \\ é\x01" {
		t.Errorf("decoded %+v", d)
	}
}

// TestLanesInOrder: units of a kind are shown by their numbers whatever their order, processes in the order in which
// they were introduced.
func TestLanesInOrder(t *testing.T) {
	var a, b bytes.Buffer
	for _, w := range []trace.Writer{trace.NewChrome(&a), trace.NewPerfetto(&b)} {
		w.Processes("application", "dsp", "phone")
		w.Counter("phone", "power (W)", 0, 1)
		for _, track := range []string{"thread 10", "dma", "thread 2", "thread 0", "launch", "dma 1"} {
			w.Span("dsp", track, "x", 0, 1)
		}
		w.Span("application", "application", "x", 0, 1)
		require.NoError(t, w.Close())
	}
	type lane struct {
		rank int
		name string
	}
	want := []string{"application", "dsp", "phone", "application/application", "dsp/thread 0", "dsp/thread 2", "dsp/thread 10", "dsp/dma", "dsp/dma 1", "dsp/launch"}
	check := func(format string, lanes map[string][]lane) {
		t.Helper()
		var got []string
		for _, process := range []string{"", "application", "dsp"} {
			l := lanes[process]
			slices.SortFunc(l, func(a, b lane) int { return a.rank - b.rank })
			for _, x := range l {
				got = append(got, strings.TrimPrefix(process+"/"+x.name, "/"))
			}
		}
		require.Equal(t, want, got, format)
	}
	chrome := map[string][]lane{}
	names, text := map[[2]int]string{}, ""
	for _, e := range decode(t, a.Bytes()).TraceEvents {
		on := [2]int{e.Pid, e.Tid}
		switch rank := 0; e.Name {
		case "process_name", "thread_name":
			require.NoError(t, json.Unmarshal(e.Args["name"], &text))
			names[on] = text
		case "process_sort_index", "thread_sort_index":
			require.NoError(t, json.Unmarshal(e.Args["sort_index"], &rank))
			process := ""
			if e.Tid > 0 {
				process = names[[2]int{e.Pid, 0}]
			}
			chrome[process] = append(chrome[process], lane{rank, names[on]})
		}
	}
	check("chrome", chrome)
	perfetto := map[string][]lane{}
	processes := map[uint64]lane{} // by track: number and name
	for _, p := range parse(t, b.Bytes()) {
		d := parse(t, parse(t, p.bytes).get(60).bytes)
		parent, rank := processes[d.get(5).value], d.get(12).value
		switch {
		case d.has(3):
			x := parse(t, d.get(3).bytes)
			pid := len(perfetto[""]) + 1
			if got := [4]int{int(x.get(1).value), int(x.get(3).value), int(d.get(5).value), int(d.get(11).value)}; got != [4]int{pid, pid, 0, 3} {
				t.Errorf("%s: number, place, parent and order of tracks are %d", x.get(6).bytes, got)
			}
			processes[d.get(1).value] = lane{pid, string(x.get(6).bytes)}
			perfetto[""] = append(perfetto[""], lane{pid, string(x.get(6).bytes)})
		case d.has(4):
			x := parse(t, d.get(4).bytes)
			if x.get(3).value != rank || x.get(1).value != uint64(parent.rank) || x.get(2).value != 1<<16+d.get(1).value {
				t.Errorf("%s of process %d: rank %d; %v", x.get(5).bytes, parent.rank, rank, x)
			}
			perfetto[parent.name] = append(perfetto[parent.name], lane{int(rank), string(x.get(5).bytes)})
		case d.has(8):
			if unit := parse(t, d.get(8).bytes).get(6).bytes; parent.name != "phone" || string(unit) != "W" || string(d.get(2).bytes) != "power (W)" || rank != 1<<24+1 {
				t.Errorf("a counter of %q in %q, rank %d", parent.name, unit, rank)
			}
		}
	}
	check("perfetto", perfetto)
}

func TestCloseEarlyAndTwice(t *testing.T) {
	var b bytes.Buffer
	c := trace.NewChrome(&b)
	require.NoError(t, errors.Join(c.Close(), c.Close()))
	c.Span("late", "track", "is dropped", 0, 1)
	c.Counter("late", "is dropped", 0, 1)
	if d := decode(t, b.Bytes()); len(d.TraceEvents) != 0 {
		t.Errorf("events in an empty trace: %+v", d)
	}
}

func TestExtremes(t *testing.T) {
	var b bytes.Buffer
	c := trace.NewChrome(&b)
	c.Span("", "", "", math.MinInt64, math.MaxInt64)
	c.Span("x", "y", "bad utf8 \xff", -1, math.MaxInt64, trace.Arg{Key: "value", Value: math.NaN()}, trace.Arg{Key: "text", Value: "\x00"})
	c.Counter("x", "infinite", 0, math.Inf(1))
	require.NoError(t, c.Close())
	decode(t, b.Bytes())
}

type full struct{ left int }

func (f *full) Write(p []byte) (int, error) {
	if f.left -= len(p); f.left < 0 {
		return 0, errors.New("disk full")
	}
	return len(p), nil
}

func TestWriteErrorReported(t *testing.T) {
	c := trace.NewChrome(&full{left: 1 << 17})
	for i := range int64(10_000) {
		c.Span("p", "t", "n", i, i+1)
	}
	require.Fails(t, c.Close(), "no error from a full disk")
}

func TestSpanDoesNotAllocate(t *testing.T) {
	c := trace.NewChrome(&full{left: 1 << 40})
	c.Span("device", "track", "name", 0, 1)
	require.Same(t, 0, testing.AllocsPerRun(1000, func() { c.Span("device", "track", "name", 123456789, 223456789) }), "allocations per span")
}

func BenchmarkSpan(b *testing.B) {
	c := trace.NewChrome(&full{left: 1 << 60})
	b.ReportAllocs()
	for i := range b.N {
		c.Span("dsp", "thread 0", "conv", int64(i)*1234567, int64(i)*1234567+999)
	}
}
