package nntrace_test

import (
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/hal/nntrace"
	"github.com/nnsoc/nnsoc/internal/require"
)

// FuzzRead: any file is a trace or an error, and any trace has a summary.
func FuzzRead(f *testing.F) {
	f.Add(" app-10 (10) [000] .... 1.000000: tracing_mark_write: B|10|[NN_LA_PO]run\n app-10 (10) [000] .... 1.1: tracing_mark_write: E|10\n")
	f.Add(`{"traceEvents":[{"ph":"X","pid":1,"tid":1,"ts":0,"dur":10,"name":"[SW][NN_LR_PE]a"},{"ph":"E","pid":1,"tid":1,"ts":2}]}`)
	f.Add(`[{"ph":"B","ts":1e300,"name":"[SUB][NN_LO_PU]"}]`)
	f.Add("\n\x10\x50\x01\x68\x01\x40\x05\x5a\x08\x48\x01\x58\x02\xba\x01\x01a")
	f.Fuzz(func(t *testing.T, text string) {
		events, err := nntrace.Read(strings.NewReader(text))
		if err != nil {
			return
		}
		for _, c := range nntrace.Summarize(events).Cells {
			require.Check(t, c.Count >= 0, "%+v", c)
		}
	})
}
