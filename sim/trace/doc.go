// Package trace writes timelines in the Chrome trace-event format, which
// chrome://tracing and Perfetto read, and in Perfetto's own format.
//
// Spans are written in the order of the calls; viewers sort them. Chrome's time
// stamps are microseconds with nine decimals, so a femtosecond is kept; Perfetto's are
// nanoseconds.
package trace
