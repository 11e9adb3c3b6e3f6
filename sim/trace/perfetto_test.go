package trace_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim/trace"
)

// message is a protobuf message without its schema: the fields in order.
type message []field

type field struct {
	number protowire.Number
	value  uint64 // of numbers
	bytes  []byte // of messages and strings
}

func parse(t *testing.T, b []byte) (m message) {
	t.Helper()
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			t.Fatal(protowire.ParseError(n))
		}
		b = b[n:]
		f := field{number: number}
		switch kind {
		case protowire.VarintType:
			f.value, n = protowire.ConsumeVarint(b)
		case protowire.Fixed64Type:
			f.value, n = protowire.ConsumeFixed64(b)
		case protowire.BytesType:
			f.bytes, n = protowire.ConsumeBytes(b)
		default:
			t.Fatalf("field %d of type %d", number, kind)
		}
		if n < 0 {
			t.Fatal(protowire.ParseError(n))
		}
		b = b[n:]
		m = append(m, f)
	}
	return m
}

func (m message) get(n protowire.Number) field {
	for _, f := range m {
		if f.number == n {
			return f
		}
	}
	return field{}
}

func (m message) has(n protowire.Number) bool {
	return slices.ContainsFunc(m, func(f field) bool { return f.number == n })
}

// readPerfetto lists the spans and samples of a trace as a viewer shows them: packets in
// the order of their times, an end closes the innermost slice of its track.
func readPerfetto(t *testing.T, data []byte) (lines []string) {
	t.Helper()
	names, keys, tracks := map[uint64]string{}, map[uint64]string{}, map[uint64]string{}
	type event struct {
		at uint64
		message
	}
	var events []event
	for _, p := range parse(t, data) {
		packet := parse(t, p.bytes)
		if p.number != 1 || packet.get(10).value != 1 || !packet.has(13) {
			t.Fatalf("packet %v", packet)
		}
		for _, f := range parse(t, packet.get(12).bytes) {
			entry := parse(t, f.bytes)
			map[protowire.Number]map[uint64]string{2: names, 3: keys}[f.number][entry.get(1).value] = string(entry.get(2).bytes)
		}
		if packet.has(60) {
			d := parse(t, packet.get(60).bytes)
			name := string(d.get(2).bytes)
			if d.has(3) {
				name = string(parse(t, d.get(3).bytes).get(6).bytes)
			}
			if d.has(4) {
				name = string(parse(t, d.get(4).bytes).get(5).bytes)
			}
			if parent := d.get(5).value; parent != 0 {
				name = tracks[parent] + "/" + name
			}
			tracks[d.get(1).value] = name
		}
		if packet.has(11) {
			events = append(events, event{packet.get(8).value, parse(t, packet.get(11).bytes)})
		}
	}
	slices.SortStableFunc(events, func(a, b event) int { return int(int64(a.at) - int64(b.at)) })
	open := map[uint64][]string{}
	for _, e := range events {
		uuid := e.get(11).value
		switch e.get(9).value {
		case 1:
			name := names[e.get(10).value]
			if !e.has(10) {
				name = string(e.get(23).bytes)
			}
			text := fmt.Sprintf("%s: %s from %d", tracks[uuid], name, e.at)
			for _, f := range e.message {
				if f.number == 47 || f.number == 48 {
					lines = append(lines, fmt.Sprintf("flow %d ends %v on %s at %d", f.value, f.number == 48, tracks[uuid], e.at))
				}
				if f.number == 4 {
					a := parse(t, f.bytes)
					text += " " + keys[a.get(1).value] + "=" + annotation(a[1])
				}
			}
			open[uuid] = append(open[uuid], text)
		case 2:
			n := len(open[uuid]) - 1
			if n < 0 {
				t.Fatalf("track %s: a slice ends at %d that did not begin", tracks[uuid], e.at)
			}
			lines = append(lines, fmt.Sprintf("%s to %d", open[uuid][n], e.at))
			open[uuid] = open[uuid][:n]
		case 4:
			lines = append(lines, fmt.Sprintf("%s is %g at %d", tracks[uuid], math.Float64frombits(e.get(44).value), e.at))
		}
	}
	for uuid, l := range open {
		if len(l) > 0 {
			t.Errorf("track %s: %d slices do not end", tracks[uuid], len(l))
		}
	}
	slices.Sort(lines)
	return lines
}

func annotation(f field) string {
	switch f.number {
	case 4:
		return fmt.Sprint(int64(f.value))
	case 5:
		return fmt.Sprint(math.Float64frombits(f.value))
	}
	return string(f.bytes)
}

// readChrome lists the same of a Chrome trace.
func readChrome(t *testing.T, data []byte) (lines []string) {
	t.Helper()
	names := map[[2]int]string{}
	ns := func(us float64) uint64 { return uint64(math.Floor(us*1e3 + 1e-6)) }
	for _, e := range decode(t, data).TraceEvents {
		on := [2]int{e.Pid, e.Tid}
		args := e.Args
		text := func(raw json.RawMessage) (s string) {
			if json.Unmarshal(raw, &s) != nil {
				s = string(raw)
			}
			return s
		}
		switch e.Ph {
		case "M":
			if raw, ok := args["name"]; ok {
				names[on] = text(raw)
			}
		case "s", "f":
			lines = append(lines, fmt.Sprintf("flow %d ends %v on %s/%s at %d", e.ID, e.Ph == "f", names[[2]int{e.Pid, 0}], names[on], ns(e.Ts)))
		case "X":
			line := fmt.Sprintf("%s/%s: %s from %d", names[[2]int{e.Pid, 0}], names[on], e.Name, ns(e.Ts))
			for _, key := range []string{"operation", "share", "kernel", "stalls"} {
				if raw, ok := args[key]; ok {
					line += " " + key + "=" + text(raw)
				}
			}
			lines = append(lines, fmt.Sprintf("%s to %d", line, ns(e.Ts+e.Dur)))
		case "C":
			lines = append(lines, fmt.Sprintf("%s/%s is %s at %d", names[on], e.Name, args["value"], ns(e.Ts)))
		}
	}
	slices.Sort(lines)
	return lines
}

// TestPerfettoEqualsChrome: both formats have the same spans, arguments and counters.
func TestPerfettoEqualsChrome(t *testing.T) {
	var a, b bytes.Buffer
	chrome, perfetto := trace.NewChrome(&a), trace.NewPerfetto(&b)
	for _, w := range []trace.Writer{chrome, perfetto} {
		for i := range int64(100) {
			at := i * 10e6
			device := []string{"dsp", "npu"}[i%2]
			w.Span(device, "thread 0", fmt.Sprint("conv ", i%7), at, at+9e6, trace.Arg{Key: "operation", Value: i}, trace.Arg{Key: "share", Value: 0.5},
				trace.Arg{Key: "kernel", Value: "é \"3x3\""}, trace.Arg{Key: "stalls", Value: map[string]int64{"dram": 4}})
			w.Span(device, "thread 0", "inside", at+2e6, at+9e6)
			w.Span(device, "dma", "load", at, at, trace.Arg{Key: "submission", Value: trace.Flow{ID: uint64(i + 1), Ends: true}})
			w.Span("application", "call", "launch", at, at+1e6, trace.Arg{Key: "submission", Value: trace.Flow{ID: uint64(i + 1)}}, trace.Arg{Key: "share", Value: 0.5})
			w.Counter(device, "power (W)", at, float64(i)/8)
		}
		w.Span("dsp", "thread 0", "backwards", 2000e6, 1000e6)
		require.NoError(t, w.Close())
		require.Same(t, 401, w.Spans(), "spans")
	}
	require.Equal(t, readChrome(t, a.Bytes()), readPerfetto(t, b.Bytes()), "Chrome (-) and Perfetto (+)")
	if b.Len() > a.Len()/2 {
		t.Errorf("%d bytes, %d in JSON", b.Len(), a.Len())
	}
}

// TestPerfettoExtremes: names of any bytes, times and numbers of any size, writes that
// fail and calls after the end.
func TestPerfettoExtremes(t *testing.T) {
	var b bytes.Buffer
	p := trace.NewPerfetto(&b)
	p.Span("", "", "bad utf8 \xff", math.MinInt64, math.MaxInt64, trace.Arg{Key: "x", Value: math.NaN()}, trace.Arg{Key: "f", Value: func() {}})
	p.Counter("x", "infinite", 0, math.Inf(1))
	for i := range 1 << 17 { // more names than are numbered
		p.Span("a", "b", strings.Repeat("n", 100)+fmt.Sprint(i), int64(i)*1e6, int64(i)*1e6)
	}
	require.NoError(t, errors.Join(p.Close(), p.Close()))
	p.Span("late", "is", "dropped", 0, 1)
	lines := readPerfetto(t, b.Bytes())
	if len(lines) != 1<<17+2 || !slices.Contains(lines, fmt.Sprintf("a/b: %s131071 from 131071 to 131071", strings.Repeat("n", 100))) {
		t.Errorf("%d lines: %.200q", len(lines), lines)
	}
	broken := trace.NewPerfetto(&full{left: 1 << 12})
	for i := range int64(10_000) {
		broken.Span("p", "t", "n", i, i+1)
	}
	if broken.Close() == nil {
		t.Error("no error from a full disk")
	}
}

// TestPerfettoNames: 65536 names of events are numbered, or fewer of together 16 MiB; others are written in full, and a trace holds all.
func TestPerfettoNames(t *testing.T) {
	for _, c := range []struct{ names, bytes, numbered int }{{1<<16 + 5, 8, 1 << 16}, {20, 1 << 20, 16}, {20, 1<<20 + 1, 15}} {
		var b bytes.Buffer
		p := trace.NewPerfetto(&b)
		for i := range c.names {
			p.Span("a", "b", fmt.Sprintf("%08d%s", i, strings.Repeat(".", c.bytes-8)), 0, 1)
		}
		require.NoError(t, p.Close())
		numbered, full := 0, 0
		for _, f := range parse(t, b.Bytes()) {
			packet := parse(t, f.bytes)
			numbered += len(parse(t, packet.get(12).bytes))
			if parse(t, packet.get(11).bytes).has(23) {
				full++
			}
		}
		if numbered != c.numbered || full != c.names-c.numbered {
			t.Errorf("%d names of %d bytes: %d are numbered, %d in full", c.names, c.bytes, numbered, full)
		}
	}
}

func BenchmarkPerfettoSpan(b *testing.B) {
	p := trace.NewPerfetto(&full{left: 1 << 60})
	b.ReportAllocs()
	for i := range b.N {
		p.Span("dsp", "thread 0", "conv", int64(i)*1234567, int64(i)*1234567+999)
	}
}
