// Package trace writes timelines in the Chrome trace-event format, which
// chrome://tracing and Perfetto read, and in Perfetto's own format.
//
// Spans are written as they come and are not sorted; the viewers do that. Chrome's time
// stamps are microseconds with nine decimals, so a femtosecond is kept; Perfetto's are
// nanoseconds.
package trace
