package trace

import "strings"

// Arg is a named value shown with a span. Value is anything that encodes as
// JSON, or a Flow.
type Arg struct {
	Key   string
	Value any
}

// stallCounter is the prefix of counters of a stall reason's share of a device's cycles.
const stallCounter = "stall: "

// StallCounter is the counter of a reason.
func StallCounter(reason string) string { return stallCounter + reason + " (%)" }

// IsStall reports whether a counter is the share of a stall reason.
func IsStall(counter string) bool { return strings.HasPrefix(counter, stallCounter) }

// Writer streams spans and counters to a file of some format. Its methods may be called
// from several goroutines.
type Writer interface {
	// Span records that a track of a process was busy with name from startFs to endFs (simulated femtoseconds). A span
	// that ends before it starts is drawn empty. Of the spans of a track that begin at one instant the longest is
	// first; others are in any order.
	Span(process, track, name string, startFs, endFs int64, args ...Arg)
	// Processes introduces processes in the order in which they are shown, before those that are not introduced.
	Processes(names ...string)
	// Counter records the value that a counter of a process has from atFs on.
	Counter(process, name string, atFs int64, value float64)
	// Spans is the number of spans so far.
	Spans() int
	// Close ends the trace, at whatever point it is called, and reports the first error of writing.
	Close() error
}
