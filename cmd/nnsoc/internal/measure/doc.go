// Package measure runs a compiled network on a machine, once or again and again: the pace of
// invocations, their latencies, a run of simulated minutes, a stream of inputs, and the timeline
// that is drawn of it.
package measure
