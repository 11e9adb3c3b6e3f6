// Package trace writes timelines in the Chrome trace-event format, which
// chrome://tracing and Perfetto read.
//
// Spans are written as they come and are not sorted; the viewers do that. Time
// stamps are microseconds with nine decimals, so a femtosecond is kept.
package trace
