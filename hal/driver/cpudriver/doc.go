// Package cpudriver is the driver of the reference CPU: what it computes comes from
// refcpu's kernels, what it costs from refcpu's model of a CPU cluster. It is
// the device that runs what the others decline, and the unit in which their
// capabilities are given.
package cpudriver
