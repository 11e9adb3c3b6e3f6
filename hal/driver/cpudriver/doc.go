// Package cpudriver is the driver of the reference CPU: results come from
// refcpu's kernels, costs from refcpu's model of a CPU cluster. It is
// the fallback for operations that other devices refuse, and the unit in which their
// capabilities are given.
package cpudriver
