package nntrace_test

import (
	"bytes"
	"io"
	"runtime"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/nnsoc/nnsoc/hal/nntrace"
	"github.com/nnsoc/nnsoc/internal/require"
)

// bytesField and number append fields of a message.
func bytesField(b []byte, n protowire.Number, v []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, n, protowire.BytesType), v)
}

func number(b []byte, n protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, n, protowire.VarintType), v)
}

// TestReadPerfetto: slices of track events with names interned by each sequence, in
// packets that are not sorted, and marks of atrace in ftrace events.
func TestReadPerfetto(t *testing.T) {
	event := func(kind, track, id uint64) []byte {
		e := number(number(nil, 9, kind), 11, track)
		if id > 0 {
			e = number(e, 10, id)
		}
		return e
	}
	packet := func(sequence, at, flags uint64, name string, event []byte) []byte {
		p := number(number(number(nil, 8, at), 10, sequence), 13, flags)
		if name != "" {
			p = bytesField(p, 12, bytesField(nil, 2, bytesField(number(nil, 1, 7), 2, []byte(name))))
		}
		return bytesField(nil, 1, bytesField(p, 11, event))
	}
	printed := func(at uint64, text string) []byte {
		e := number(number(nil, 1, at), 2, 42)
		return bytesField(nil, 2, bytesField(e, 3, bytesField(nil, 2, []byte(text))))
	}
	file := bytes.Join([][]byte{
		packet(1, 3000, 1, "[NN_LR_PE]run", event(1, 5, 7)),
		packet(1, 9000, 2, "", event(2, 5, 0)),
		packet(2, 4000, 1, "[NN_LI_PE]call", event(1, 5, 7)), // the same number, another sequence
		packet(2, 6000, 2, "", event(2, 5, 0)),
		bytesField(nil, 1, bytesField(nil, 1, append(printed(1000, "B|10|[NN_LD_PP]prepare\n"), printed(2500, "E|10\n")...))),
	}, nil)
	events := require.V(nntrace.Read(bytes.NewReader(file)))(t)
	want := []nntrace.Event{
		{Thread: "42", Name: "[NN_LD_PP]prepare", Begin: true, Us: 1},
		{Thread: "42", Us: 2.5},
		{Thread: "track 5", Name: "[NN_LR_PE]run", Begin: true, Us: 3},
		{Thread: "track 5", Name: "[NN_LI_PE]call", Begin: true, Us: 4},
		{Thread: "track 5", Us: 6},
		{Thread: "track 5", Us: 9},
	}
	require.Equal(t, want, events)
	for name, data := range map[string][]byte{
		"cut short":                    file[:len(file)-3],
		"a name that was not interned": packet(1, 0, 2, "", event(1, 5, 7)),
	} {
		require.Fails(t, require.Err(nntrace.Read(bytes.NewReader(data))), name)
	}
	text := "\n app-10 (10) [000] .... 1.000000: tracing_mark_write: B|10|[NN_LA_PO]run\n"
	require.Same(t, 1, len(require.V(nntrace.Read(strings.NewReader(text)))(t)), "text that begins like a packet")
}

// endless repeats a part of a trace n times.
func endless(part []byte, n int) io.Reader {
	parts := make([]io.Reader, n)
	for i := range parts {
		parts[i] = bytes.NewReader(part)
	}
	return io.MultiReader(parts...)
}

// TestReadTakesSlicesOnly: memory grows with the slices alone, so that traces larger than it can
// be read; a packet or an event without an end is an error.
func TestReadTakesSlicesOnly(t *testing.T) {
	padding := bytesField(nil, 1, bytesField(nil, 900, make([]byte, 1<<16)))
	slice := bytesField(nil, 1, number(bytesField(nil, 11, bytesField(number(number(nil, 9, 1), 11, 5), 23, []byte("[NN_LR_PE]run"))), 8, 3000))
	other := []byte(`{"ph":"M","args":"` + strings.Repeat("x", 1<<16) + `"},`)
	const copies = 1000
	for name, in := range map[string]io.Reader{
		"Perfetto": io.MultiReader(bytes.NewReader(slice), endless(padding, copies)),
		"Chrome":   io.MultiReader(strings.NewReader(`[`), endless(other, copies), strings.NewReader(`{"ph":"B","name":"[NN_LR_PE]run","ts":3}]`)),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		events, err := nntrace.Read(in)
		runtime.ReadMemStats(&after)
		require.Check(t, err == nil && len(events) == 1 && events[0].Name == "[NN_LR_PE]run" && events[0].Us == 3, "%s: %v, %v", name, events, err)
		if took := after.TotalAlloc - before.TotalAlloc; took > copies<<16/8 {
			t.Errorf("%s: a trace of %d MiB took %d MiB", name, copies<<16>>20, took>>20)
		}
	}
	long := protowire.AppendVarint([]byte{0x0a}, 1<<33)
	long = append(long, number(nil, 8, 1)...)
	for name, in := range map[string]io.Reader{
		"a packet of 8 GiB":       endless(append(long, make([]byte, 1<<16)...), 1),
		"a string without an end": io.MultiReader(strings.NewReader(`["`), endless(bytes.Repeat([]byte("x"), 1<<16), 2000)),
		"no list":                 strings.NewReader(`{"traceEvents":7}`),
		"an object cut short":     strings.NewReader(`{"traceEvents":[{"ph":"B"}`),
	} {
		if events, err := nntrace.Read(in); err == nil {
			t.Errorf("%s: %d events", name, len(events))
		}
	}
}
