package report

import (
	"bytes"
	"encoding/json"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

func number(x float64) *float64 { return &x }

func op(index int, typ string, us float64, stalls map[string]int64) Operation {
	return Operation{Index: index, Type: typ, Device: "npu", TimeUS: us, Stalls: stalls, Outputs: [][]uint32{{1, uint32(len(typ))}}}
}

func file(latency float64, ops ...Operation) *File {
	f := &File{SchemaVersion: SchemaVersion, SoC: "s", Runs: []Run{{
		Device: "npu", Status: "ok", LatencyUS: number(latency), EnergyUJ: number(1), Operations: ops,
		Devices: []Part{{Device: "npu", ClockMHz: 100}},
	}}}
	f.Model = "m"
	return f
}

// TestCompare: differences are in the order of their size, with the stalls that are most of them.
func TestCompare(t *testing.T) {
	a := file(10, op(0, "A", 3, map[string]int64{"issue": 200, "dma": 100}), op(1, "B", 6, map[string]int64{"issue": 600}), op(-1, "LAUNCH", 1, map[string]int64{"launch": 100}))
	b := file(13, op(0, "A", 2, map[string]int64{"issue": 100, "dma": 100}), op(1, "B", 10, map[string]int64{"issue": 590, "dma": 350, "bank": 60}), op(-1, "LAUNCH", 1, map[string]int64{"launch": 100}))
	d := require.V(Compare(a, b))(t)
	r := d.Runs[0]
	if r.LatencyUS.Percent() != 30 || r.Same != 1 || len(r.Operations) != 2 {
		t.Fatalf("%+v", r)
	}
	require.Check(t, r.Operations[0].Type == "B" && r.Operations[1].Type == "A", "order %s, %s", r.Operations[0].Type, r.Operations[1].Type)
	// 3.5 us of 4 us: enough, and the issue stalls changed in the other direction.
	require.Equal(t, []WhyChange{{"dma", Change{0, 3.5}}}, r.Operations[0].Explain(), "why")
	if len(r.Operations[1].Counters) != 0 || len(r.Events) != 0 {
		t.Errorf("counters of engines that do not count: %v, %v", r.Operations[1].Counters, r.Events)
	}
	if p, what := d.Worst(); p != 30 || what != "latency on npu" {
		t.Errorf("worst %v of %s", p, what)
	}
}

// TestCompareCounters: events that differ are in the order of their change in percent, those of
// two engines are not compared.
func TestCompareCounters(t *testing.T) {
	counted := func(device string, counters map[string]int64) *File {
		f := file(1, op(0, "A", 1, nil))
		f.Runs[0].Operations[0].Counters, f.Runs[0].Devices[0].Counters = counters, counters
		f.Runs[0].Operations[0].Device = device
		return f
	}
	a := counted("npu", map[string]int64{"same": 5, "half": 10, "gone": 1, "more": 100})
	d, err := Compare(a, counted("npu", map[string]int64{"same": 5, "half": 5, "new": 7, "more": 101}))
	require.NoError(t, err)
	want := []CounterChange{{"new", Change{0, 7}}, {"gone", Change{1, 0}}, {"half", Change{10, 5}}, {"more", Change{100, 101}}}
	r := d.Runs[0]
	if r.Same != 0 || len(r.Operations) != 1 {
		t.Fatalf("%+v", r)
	}
	for what, got := range map[string][]CounterChange{"operation": r.Operations[0].Counters, "run": r.Events} {
		require.Equal(t, want, got, what)
	}
	if d, err = Compare(a, counted("gpu", map[string]int64{"same": 6})); err != nil || d.Runs[0].Operations[0].Counters != nil {
		t.Errorf("events of two engines: %v, error %v", d.Runs[0].Operations[0].Counters, err)
	}
}

// TestCompareNetworks: an operation that is new or gone does not shift all others.
func TestCompareNetworks(t *testing.T) {
	a := file(10, op(0, "A", 1, nil), op(1, "BB", 2, nil), op(2, "CCC", 3, nil))
	b := file(10, op(0, "A", 1, nil), op(1, "CCC", 3, nil), op(2, "DDDD", 4, nil))
	d := require.V(Compare(a, b))(t)
	r := d.Runs[0]
	if r.Same != 2 || len(r.Operations) != 2 {
		t.Fatalf("%+v", r)
	}
	if o := r.Operations[0]; o.Type != "DDDD" || o.Where != [2]string{"", "npu"} {
		t.Errorf("%+v, want DDDD to be new", o)
	}
	if o := r.Operations[1]; o.Type != "BB" || o.Where != [2]string{"npu", ""} {
		t.Errorf("%+v, want BB to be gone", o)
	}
}

// TestCompareLarge: networks too large for a table of subsequences are paired by place.
func TestCompareLarge(t *testing.T) {
	var list []Operation
	for i := range 5000 {
		list = append(list, op(i, "A", 1, nil))
	}
	other := append([]Operation(nil), list...)
	other[3].TimeUS = 2
	d, err := Compare(file(1, list...), file(1, other...))
	require.Check(t, err == nil && d.Runs[0].Same == 4999, "%v, error %v", d, err)
}

func TestChange(t *testing.T) {
	for _, c := range []struct {
		c    Change
		want float64
	}{{Change{2, 3}, 50}, {Change{-2, -3}, -50}, {Change{0, 0}, 0}, {Change{0, 1}, math.Inf(1)}} {
		if got := c.c.Percent(); got != c.want {
			t.Errorf("%v: %v %%, want %v", c.c, got, c.want)
		}
	}
}

func TestNumber(t *testing.T) {
	for _, s := range []string{"1.5", `"NaN"`, `"+Inf"`, `"-Inf"`, "0"} {
		var n Number
		require.Report(t, json.Unmarshal([]byte(s), &n), s)
		require.Same(t, s, string(require.V(json.Marshal(n))(t)))
	}
	var n Number
	require.Check(t, json.Unmarshal([]byte(`"x"`), &n) != nil, `"x" is a number`)
}

func FuzzRead(f *testing.F) {
	f.Add(`{"schema_version":4,"runs":[{"device":"npu","latency_us":1,"energy_uj":1,"operations":[{"index":0,"stall_cycles":{"a":1}}]}]}`)
	f.Fuzz(func(t *testing.T, s string) {
		a, err := Read("x", strings.NewReader(s))
		if err != nil {
			return
		}
		d, err := Compare(a, a)
		if err != nil {
			return
		}
		for _, r := range d.Runs {
			require.Check(t, len(r.Operations) == 0, "differs from itself: %+v", r.Operations)
		}
	})
}

// TestSchedulePage: the page holds its data, draws with the functions of the other page and fetches nothing; a name ends no
// script.
func TestSchedulePage(t *testing.T) {
	s := Schedule{Title: "<script>", Scenarios: []ScheduleScenario{{
		Name: "door", Networks: []string{"</script>"}, Engines: []string{"npu"}, DurationMS: 10,
		Strategies: []ScheduleStrategy{{Name: "single", Jobs: []ScheduleJob{{EndMS: 2, DeadlineMS: 1}}, Spans: []ScheduleSpan{{StartMS: 1, EndMS: 2}}}},
	}}}
	var b bytes.Buffer
	require.NoError(t, s.WriteHTML(&b))
	page := b.String()
	for _, want := range []string{"&lt;script&gt;", `\u003c/script\u003e`, `"deadline_ms":1`, "function timeline()", "function el("} {
		require.Check(t, strings.Contains(page, want), "no %s", want)
	}
	require.Same(t, 2, strings.Count(page, "</script>"), "ends of scripts")
	require.Check(t, !regexp.MustCompile(`(src|href)=|fetch\(`).MatchString(page), "the page fetches something")
	require.Check(t, (&Schedule{}).WriteHTML(&b) != nil, "a page of nothing")
}
