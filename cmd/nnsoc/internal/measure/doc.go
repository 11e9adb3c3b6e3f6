// Package measure runs a compiled network on a machine, once or repeatedly: the pace of
// invocations, their latencies, a run of simulated minutes, a stream of inputs, and their
// timeline.
package measure
